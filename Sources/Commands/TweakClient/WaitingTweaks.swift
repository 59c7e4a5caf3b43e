// SPDX-License-Identifier: BSD-3-Clause
package import TweakProtocol
internal import TweakRecords
internal import TweakSystem

extension JSONTweak {
    /// The name of the gate that a new value waits for; `nil` if none waits, or only for a restart.
    package var awaitedGate: String? { pendingValue == nil || declaration.needsRestart ? nil : gate }
}

extension Program {
    /// The text for a tweak whose value waits for a gate: `waits for the gate Motor; not passed for 12 s`.
    ///
    /// - Returns: `nil` if none waits.
    package func waitingText(_ tweak: JSONTweak) -> String? {
        guard let gate = tweak.awaitedGate else { return nil }
        let passed = (try? explain(tweak.declaration.key))?.gate?.passedText
        return "waits for the gate \(gate)" + (passed.map { "; \($0)" } ?? "")
    }
}

extension ExplainTweak.Answer.Gate {
    /// `last passed 12 s ago`, or `not passed for 12 s` if something waits; `nil` if nobody knows.
    package var passedText: String? {
        // A program without the library does not note it.
        guard let waitingSince else { return lastPassed.map { "last passed \(ageText(since: $0)) ago" } }
        return lastPassed == nil ? "not passed yet" : "not passed for \(ageText(since: waitingSince))"
    }

    /// `for 3 s`; `nil` if nothing waits.
    package var waitingText: String? { waitingSince.map { "for \(ageText(since: $0))" } }
}

/// The time since a time since 1970, roughly.
private func ageText(since time: Double) -> String {
    let seconds = max(0, Duration.since1970 / .seconds(1) - time)
    // A program may send any number.
    return ageText(seconds: Int(exactly: seconds.rounded(.down)) ?? 0)
}

/// A number of seconds as people say it, roughly.
package func ageText(seconds: Int) -> String {
    switch seconds {
    case ..<120: "\(seconds) s"
    case ..<7200: "\(seconds / 60) min"
    case ..<172_800: "\(seconds / 3600) h"
    default: "\(seconds / 86400) days"
    }
}
