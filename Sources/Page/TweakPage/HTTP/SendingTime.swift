// SPDX-License-Identifier: BSD-3-Clause
#if UI
import Glibc
import HTTPTypes
import TweakSystem

/// The time at which a page made a request, so that a request that was held up changes nothing.
///
/// The page estimates it from the times in the events and answers of this server, so the clocks of the machines do not
/// matter, and the estimate is never later than the true time. Other clients can leave it out.
struct SendingTime {
    /// In milliseconds of the server's clock, which continues while the machine sleeps.
    let time: Int

    /// The field with the time, in requests and answers.
    static let field = HTTPField.Name("Tweaks-Time")
    /// The age from which a request is refused, in milliseconds. After the same time the page gives up a change.
    static let mostAge = 5000

    /// The time of the request that the current task answers.
    @TaskLocal static var current: SendingTime?

    /// The server's clock.
    static var now: Int { Int(nanoseconds(of: CLOCK_BOOTTIME) / 1_000_000) }

    init?(_ headers: HTTPFields) throws(RequestProblem) {
        guard let text = Self.field.flatMap({ headers[$0] }) else { return nil }
        guard let time = Int(text) else { throw RequestProblem(.badRequest, "malformed Tweaks-Time") }
        self.time = time
    }

    /// Why the request is refused, or `nil` if it has arrived in time.
    var problem: String? {
        let age = Self.now - time
        guard abs(age) > Self.mostAge else { return nil }
        return age > 0
            ? "it arrived after \(age / 1000) s and is ignored; a change must arrive within "
                + "\(Self.mostAge / 1000) s"
            : "it was sent to another run of the server and is ignored"
    }
}
#endif
