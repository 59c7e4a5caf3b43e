#if Remote
internal import Glibc
package import TweakOverrides
internal import TweakRecords
internal import TweakSystem
package import TweakTargeting

/// What is known of one application's values, and what its programs are told.
///
/// What was believed once stays until something better is there.
package struct RemoteState: Sendable {
    private let application: RemoteApplication
    /// What the programs are told.
    package private(set) var file: ProvidedFile
    /// What the server sent last of what was believed.
    package private(set) var fetched: FetchedFile?
    private var document: RemoteDocument?
    /// Where the server tells that something has changed.
    package var streams: [String] { document?.flags?.streams ?? [] }
    /// Why and since when nothing could be loaded; `nil` while it works.
    private var failure: LastingFailure?
    /// What was said of the document that is believed.
    private var saidProblems: [String] = []

    /// Begins with what an earlier agent has left.
    package init(_ application: RemoteApplication, last: ProvidedFile?) {
        self.application = application
        file = last ?? ProvidedFile()
        // A server that was away is still away if the agent begins anew.
        failure = file.problem.flatMap(LastingFailure.init(text:))
        guard file.from.map({ !$0.hasSameBytes(as: application.url.text) }) ?? true else { return }
        // Another server counts its versions in another way.
        file.version = nil
        file.from = application.url.text
    }

    /// What a check has come to.
    package struct Result: Sendable {
        package var outcome: Outcome
        /// What to tell a person, once.
        package var messages: [String] = []
    }

    /// What a check has come to, in a word.
    package enum Outcome: String, CaseIterable, Sendable {
        case loaded, unchanged, failed
    }

    /// Takes what a check has brought.
    ///
    /// - Parameters:
    ///   - answer: What was loaded; `nil` if the server still has what it had.
    ///   - facts: Of this host at this moment: after an upgrade other features are on.
    package mutating func take(
        _ answer: Swift.Result<FetchedFile?, FetchProblem>, facts: HostFacts, at time: Duration = .since1970
    ) -> Result {
        let now = timestamp(time)
        do {
            var result = Result(outcome: .unchanged)
            if let new = try answer.get() {
                let document = try believe(new.bytes)
                if document != self.document { result.outcome = .loaded }
                (fetched, self.document) = (new, document)
                let problems = document.problems
                if problems != saidProblems { result.messages += problems }
                saidProblems = problems
            }
            guard let document else { return fail("the server says that nothing has changed", now) }
            var provided = document.provided(for: facts)
            provided.from = application.url.text
            provided.loaded = result.outcome == .loaded ? now : file.loaded ?? now
            provided.checked = now
            file = provided
            if let failure { result.messages.append("loaded again, after failures since \(failure.since)") }
            failure = nil
            return result
        } catch let problem as FetchProblem {
            return fail(problem.message, now)
        } catch {
            return fail("\(error)", now)
        }
    }

    private mutating func fail(_ message: String, _ now: String) -> Result {
        var result = Result(outcome: .failed)
        if message != failure?.reason {
            let kept = file.loaded.map { "; what was loaded at \($0) stays" } ?? "; nothing was loaded before"
            result.messages.append(message + kept)
        }
        failure = LastingFailure(reason: message, after: failure, at: now)
        file.problem = failure?.text
        file.checked = now
        return result
    }

    /// - Throws: Why not.
    private func believe(_ bytes: [UInt8]) throws -> RemoteDocument {
        let path = lastComponent(of: application.url.text)
        let document =
            if let names = application.evaluation?.names {
                RemoteDocument(try EvaluatedFlags(json: bytes, path: path, names: names))
            } else {
                try RemoteDocument(json: bytes, path: path)
            }
        let lowest = [file.version, application.lowestVersion].compactMap(\.self).max()
        if let lowest {
            guard let version = document.version else {
                throw FetchProblem(message: "it has no version, and \(lowest) or more is expected")
            }
            guard version >= lowest else {
                throw FetchProblem(message: "its version is \(version), and \(lowest) or more is expected")
            }
        }
        return document
    }
}

/// A time as RFC 3339 has it, in seconds.
func timestamp(_ time: Duration) -> String {
    var seconds = time_t(time.components.seconds)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    func two(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }
    return "\(Int(parts.tm_year) + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        + "T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
}

/// The time that a text of ``timestamp(_:)`` says; `nil` if it is something else.
func instant(_ timestamp: String) -> Duration? {
    let numbers = timestamp.split { "-T:Z".contains($0) }.compactMap { Int32($0) }
    guard timestamp.utf8.count == 20, numbers.count == 6 else { return nil }
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (numbers[0] - 1900, numbers[1] - 1, numbers[2])
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (numbers[3], numbers[4], numbers[5])
    return .seconds(timegm(&parts))
}

/// Why nothing can be loaded now, and since when nothing could be, perhaps for other reasons at first.
struct LastingFailure {
    var reason: String
    /// As RFC 3339 has times.
    var since: String
    /// Whether there were other reasons before.
    private let isAfterOthers: Bool

    private static let since = " since "
    private static let afterOthers = ", after other failures"

    init(reason: String, after earlier: LastingFailure?, at now: String) {
        self.reason = reason
        since = earlier?.since ?? now
        isAfterOthers = earlier.map { $0.isAfterOthers || $0.reason != reason } ?? false
    }

    /// Reads ``text``.
    ///
    /// - Returns: `nil` if it is something else.
    init?(text: String) {
        let parts = text.split(separator: Self.since, omittingEmptySubsequences: false)
        guard parts.count > 1, let time = parts.last else { return nil }
        let words = parts.dropLast().joined(separator: Self.since)
        isAfterOthers = words.hasSuffix(Self.afterOthers)
        reason = isAfterOthers ? String(words.dropLast(Self.afterOthers.count)) : words
        since = String(time)
    }

    /// What programs are told.
    var text: String { reason + (isAfterOthers ? Self.afterOthers : "") + Self.since + since }
}
#endif
