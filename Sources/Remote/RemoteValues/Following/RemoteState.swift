#if Remote
internal import FoundationEssentials
internal import TweakOverrides
internal import TweakSystem

/// What programs are told of one application's values, and whether its source can be read.
///
/// What was believed once stays until something better is there.
package struct RemoteState: Sendable {
    /// What the programs are told.
    var file: ProvidedFile
    /// Why and since when nothing could be loaded; `nil` while it works.
    private(set) var failure: LastingFailure?
    private(set) var outcome = Outcome.unchanged
    /// What to tell a person, once.
    var messages: [String] = []

    /// The result of a check, in a word.
    package enum Outcome: String, CaseIterable, Sendable {
        case loaded, unchanged, failed
    }

    /// Begins with what an earlier agent has left.
    init(last: ProvidedFile?) {
        file = last ?? ProvidedFile()
        // A source that was away is still away if the agent begins anew.
        failure = file.problem.flatMap(LastingFailure.init(text:))
    }

    /// Notes that ``file`` has what the source has.
    ///
    /// - Parameter isNew: Whether that is something else than before.
    mutating func succeed(isNew: Bool) {
        let now = timestamp(.since1970)
        if isNew || file.loaded == nil {
            (file.loaded, outcome) = (now, .loaded)
        } else if outcome == .failed {
            outcome = .unchanged
        }
        file.checked = now
        if let failure { messages.append("loaded again, after failures since \(failure.since)") }
        (failure, file.problem) = (nil, nil)
    }

    /// Notes that nothing could be loaded.
    mutating func fail(_ problem: FetchProblem) {
        let time = Duration.since1970
        var earlier = failure.flatMap { $0.isOlder == problem.isOlder ? $0 : nil }
        // What is older goes on, so that its revision changes, and it is the same reason.
        if problem.isOlder { earlier?.reason = problem.message }
        if earlier?.reason != problem.message {
            let kept = file.loaded.map { "; what was loaded at \($0) stays" } ?? "; nothing was loaded before"
            messages.append(problem.message + kept)
        }
        let now = timestamp(time)
        // A time that is to come is that of a clock that was wrong.
        if let since = earlier.flatMap({ instant($0.since) }), since > time { earlier?.since = now }
        let failure = LastingFailure(problem, after: earlier, at: now)
        (self.failure, file.problem, file.checked, outcome) = (failure, failure.text, now, .failed)
    }

    /// Notes that everything was told.
    mutating func noteTold() {
        messages = []
        if outcome == .loaded { outcome = .unchanged }
    }
}

/// A time as RFC 3339 has it, in seconds.
func timestamp(_ time: Duration) -> String {
    Date(timeIntervalSince1970: Double(time.components.seconds)).ISO8601Format()
}

/// The time that a text of ``timestamp(_:)`` says; `nil` if it is something else.
func instant(_ timestamp: String) -> Duration? {
    (try? Date(timestamp, strategy: .iso8601)).map { .seconds($0.timeIntervalSince1970) }
}

/// Why nothing can be loaded now, and since when nothing could be, perhaps for other reasons at first.
struct LastingFailure {
    var reason: String
    /// As RFC 3339 has times.
    var since: String
    /// Whether the source knows only something older.
    let isOlder: Bool
    /// Whether there were other reasons before.
    private let isAfterOthers: Bool

    private static let since = " since "
    private static let afterOthers = ", after other failures"

    init(_ problem: FetchProblem, after earlier: LastingFailure?, at now: String) {
        (reason, isOlder) = (problem.message, problem.isOlder)
        since = earlier?.since ?? now
        isAfterOthers = earlier.map { $0.isAfterOthers || $0.reason != problem.message } ?? false
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
        isOlder = text.contains(FetchProblem.older)
    }

    /// What programs are told.
    var text: String { reason + (isAfterOthers ? Self.afterOthers : "") + Self.since + since }
}
#endif
