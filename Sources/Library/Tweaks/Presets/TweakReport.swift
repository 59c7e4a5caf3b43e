// SPDX-License-Identifier: BSD-3-Clause
public import TweakRecords

/// The result of applying several values together.
public struct TweakReport: Sendable {
    /// The tweaks that were set.
    public internal(set) var applied: [TweakKey] = []
    /// The tweaks among them whose values were outside the limits and were clamped.
    public internal(set) var clamped: [TweakKey] = []
    /// Names of tweaks that the store does not have.
    public internal(set) var unknown: [TweakKey] = []
    /// The errors of the tweaks that were not set.
    public internal(set) var refused: [TweakKey: TweakError] = [:]

    /// Whether every value was applied unchanged.
    public var isComplete: Bool { clamped.isEmpty && unknown.isEmpty && refused.isEmpty }
}

extension TweakReport: CustomStringConvertible {
    /// The number of applied values, and a line for each that was not applied unchanged.
    public var description: String {
        let lines =
            clamped.map { "\($0): the value was outside the limits and has been clamped" }
            + unknown.map { "\($0): there is no such tweak" }
            + refused.sorted { $0.key < $1.key }.map { "\($0.value)" }
        return ([counted(applied.count, "tweak was", "tweaks were") + " set"] + lines).joined(separator: "\n")
    }
}

extension TweakStore {
    /// Applies values as one change, except those that cannot be applied.
    ///
    /// - Parameters:
    ///   - keys: The tweaks.
    ///   - resettingOthers: Whether all other tweaks are reset to their defaults.
    ///   - allOrNothing: Whether nothing changes if one of the values cannot be applied.
    ///   - author: Who applies them.
    ///   - terms: How long they count, and how fast they are reached.
    ///   - set: Sets one of them in a batch; returns whether the value was clamped.
    func apply(
        _ keys: [TweakKey], resettingOthers: Bool = false, allOrNothing: Bool = false,
        by author: ChangeAuthor = .program, on terms: SetTerms = .usual,
        _ set: (inout TweakBatch, TweakKey, TweakDeclaration) throws(TweakError) -> Bool
    ) -> TweakReport {
        var report = TweakReport()
        batch(by: author, on: terms) { batch in
            if resettingOthers {
                for key in allKeys() { try? batch.reset(key) }
            }
            for key in keys {
                guard let declaration = try? declaration(of: key) else {
                    report.unknown.append(key)
                    continue
                }
                do throws(TweakError) {
                    if try set(&batch, key, declaration) { report.clamped.append(key) }
                    report.applied.append(key)
                } catch {
                    report.refused[key] = error
                }
            }
            if let (key, error) = gateProblem(of: batch.changes) { report.refused[key] = error }
            let isTooMuch = report.refused.values.contains { if case .gate = $0 { true } else { false } }
            if isTooMuch || allOrNothing, !report.unknown.isEmpty || !report.refused.isEmpty {
                (report.applied, report.clamped) = ([], [])
                batch = TweakBatch(of: self)
            }
        }
        return report
    }

    /// Why changes do not fit into a gate, with one of the tweaks below it; `nil` if they do.
    private func gateProblem(
        of changes: [(key: TweakKey, value: TweakValue?)]
    ) -> (key: TweakKey, error: TweakError)? {
        withState { state in
            let update = ValueUpdate(changes, in: state.layers.keeper, by: .program)
            do throws(TweakError) { try state.checkGates(update) } catch {
                guard case .gate(let name, _, _) = error,
                    let key = changes.first(where: {
                        state.gates.mailbox(of: $0.key)?.name.description == name
                    })?.key
                else { return nil }
                return (key, error)
            }
            return nil
        }
    }
}
