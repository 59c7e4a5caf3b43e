// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import FoundationEssentials
internal import TweakJSON
package import TweakOverrides
internal import TweakRecords
internal import TweakSystem

/// The values of one application for its programs, and the state of their origin.
///
/// Valid values stay until newer valid ones replace them.
package struct RemoteState: Sendable {
    /// The file for programs.
    package var file: ProvidedFile
    /// The reason and start of a failure; `nil` while loading works.
    private(set) var failure: LastingFailure?
    private(set) var outcome = Outcome.unchanged
    /// The revision of etcd up to which all changes are known, when one of them came last; `nil` for other origins.
    var knownRevision: Int?
    /// The tweaks whose values in etcd are not for all hosts.
    var targeted: Set<TweakKey> = []
    /// Messages for people, to be reported once.
    var messages: [String] = []

    /// The result of a check.
    package enum Outcome: String, CaseIterable, Sendable {
        case loaded, unchanged, failed
    }

    /// Starts from the file of an earlier agent.
    init(last: ProvidedFile?) {
        file = last ?? ProvidedFile()
        // A failure continues when the agent restarts.
        failure = LastingFailure(in: file)
    }

    /// Records that ``file`` is up to date.
    ///
    /// - Parameter isNew: Whether its values have changed.
    package mutating func succeed(isNew: Bool) {
        let now = timestamp(.since1970)
        if isNew || file.loaded == nil {
            (file.loaded, outcome) = (now, .loaded)
        } else if outcome == .failed {
            outcome = .unchanged
        }
        file.checked = now
        if let failure { messages.append("loaded again, after failures since \(failure.since)") }
        failure = nil
        (file.problem, file.failure) = (nil, [:])
    }

    /// Records a failure.
    mutating func fail(_ problem: FetchProblem) {
        let time = Duration.since1970
        var earlier = failure.flatMap { $0.isOlder == problem.isOlder ? $0 : nil }
        // The older revision may change while the reason stays the same.
        if problem.isOlder { earlier?.reason = problem.message }
        if earlier?.reason != problem.message {
            let kept =
                file.loaded.map { "; the values loaded at \($0) stay" } ?? "; nothing was loaded before"
            messages.append(problem.message + kept)
        }
        let now = timestamp(time)
        // A time in the future is from a wrong clock.
        if let since = earlier.flatMap({ instant($0.since) }), since > time { earlier?.since = now }
        let failure = LastingFailure(problem, after: earlier, at: now)
        (self.failure, file.checked, outcome) = (failure, now, .failed)
        (file.problem, file.failure) = (failure.text, failure.json)
    }

    /// Records that everything was reported.
    mutating func noteTold() {
        messages = []
        if outcome == .loaded { outcome = .unchanged }
    }
}

/// A time in the format of RFC 3339, in seconds.
func timestamp(_ time: Duration) -> String {
    Date(timeIntervalSince1970: Double(time.components.seconds)).ISO8601Format()
}

/// Parses a time in the format of RFC 3339; `nil` if the text is malformed, or if there is no such day or hour.
package func instant(_ timestamp: String) -> Duration? {
    // Foundation takes November 31 for December 1, and 24:00 for the next day.
    let utc = "\(timestamp.prefix(19))Z"
    guard let time = try? Date(timestamp, strategy: .iso8601),
        let local = try? Date(utc, strategy: .iso8601), local.ISO8601Format() == utc
    else { return nil }
    return .seconds(time.timeIntervalSince1970)
}

/// A failure to load, with its current reason and its start, possibly for other reasons.
struct LastingFailure {
    var reason: String
    /// In the format of RFC 3339.
    var since: String
    /// Whether the origin only has something older.
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

    /// Reads ``json``, or in a file of an agent of 1.0.0-beta.1 ``text``.
    ///
    /// - Returns: `nil` if there was no failure, or its description is malformed.
    init?(in file: ProvidedFile) {
        func text(_ name: String) -> String? {
            if case .scalar(.string(let text))? = file.failure[name] { text } else { nil }
        }
        if let reason = text("reason"), let since = text("since") {
            (self.reason, self.since) = (reason, since)
            isOlder = file.failure["isOlder"] == .scalar(true)
            isAfterOthers = file.failure["isAfterOthers"] == .scalar(true)
            return
        }
        // By words: those agents write nothing else.
        guard let text = file.problem else { return nil }
        let parts = text.split(separator: Self.since, omittingEmptySubsequences: false)
        guard parts.count > 1, let time = parts.last else { return nil }
        let words = parts.dropLast().joined(separator: Self.since)
        isAfterOthers = words.hasSuffix(Self.afterOthers)
        reason = isAfterOthers ? String(words.dropLast(Self.afterOthers.count)) : words
        since = String(time)
        isOlder = words.contains(FetchProblem.older)
    }

    /// The members for the next agent.
    var json: JSONObject {
        var members: JSONObject = ["reason": .scalar(.string(reason)), "since": .scalar(.string(since))]
        if isOlder { members["isOlder"] = .scalar(true) }
        if isAfterOthers { members["isAfterOthers"] = .scalar(true) }
        return members
    }

    /// The text for programs.
    var text: String { reason + (isAfterOthers ? Self.afterOthers : "") + Self.since + since }
}
#endif
