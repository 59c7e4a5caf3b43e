// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import TweakClient
import TweakProtocol
import TweakRecords

extension Program {
    /// Warns about tweaks that do not have the value that a change gave them, after waiting briefly for the program to pass
    /// their gates.
    ///
    /// - Parameter ineffective: The tweaks as they were right after the change, or `nil`.
    func reportIneffective(_ ineffective: [IneffectiveValue]?) throws(Failure) {
        guard let ineffective, !ineffective.isEmpty else { return }
        let former = Dictionary(ineffective.map { ($0.tweak, $0) }) { $1 }
        var tweaks: [JSONTweak] = []
        if former.count > 16 {
            tweaks = try self.tweaks().filter { former[$0.declaration.key] != nil }
        } else {
            for key in former.keys.sorted() { if let tweak = try tweak(key) { tweaks.append(tweak) } }
        }
        let warnings = try SetCommand.passed(tweaks, in: self).compactMap { tweak -> Warning? in
            let key = tweak.declaration.key
            if tweak.pendingValue != nil {
                return Warning("\(key): \(waitingLine(tweak))", .waiting, tweak: key)
            }
            // The program has passed the gate.
            guard former[key]?.pendingValue == nil else { return nil }
            return Warning("\(key): \(tweak.precedenceText)", .hidden, tweak: key)
        }
        for warning in warnings.beginning({ Warning($0) }) { warning.write() }
    }

    private func waitingLine(_ tweak: JSONTweak) -> String {
        let pending = tweak.pendingValue.map { tweak.declaration.text(of: $0) } ?? ""
        return waitingText(tweak).map { "\(pending) \($0)" } ?? "\(pending) takes effect after a restart"
    }
}

extension JSONTweak {
    /// The provider that decides, and its value: `kill takes precedence with 3`.
    var precedenceText: String {
        let value = value.map { declaration.text(of: $0) } ?? "nothing"
        return "\(leaseText ?? source ?? "another source") takes precedence with \(value)"
    }
}
