// SPDX-License-Identifier: BSD-3-Clause
public import TweakRecords

/// The result of applying several values together.
public struct TweakReport: Sendable {
    /// The tweaks that were set.
    public internal(set) var applied: [TweakKey] = []
    /// The applied tweaks whose values were clamped to the limits.
    public internal(set) var clamped: [TweakKey] = []
    /// The names of tweaks that the store does not have.
    public internal(set) var unknown: [TweakKey] = []
    /// The existing tweaks that were not set, with the reasons.
    public internal(set) var refused: [TweakKey: TweakError] = [:]

    /// Whether every value was applied unchanged.
    public var isComplete: Bool { clamped.isEmpty && unknown.isEmpty && refused.isEmpty }
}

extension TweakReport: CustomStringConvertible {
    /// The number of applied values, and a line for each that was not applied unchanged.
    public var description: String {
        let lines =
            clamped.map { "\($0): the value was outside the limits and has been clamped" }
            + unknown.map { "\($0): no such tweak" }
            + refused.sorted { $0.key < $1.key }.map { "\($0.value)" }
        return ([counted(applied.count, "tweak was", "tweaks were") + " set"] + lines).joined(separator: "\n")
    }
}

/// The outcome for one of several tweaks that are changed together.
enum TweakOutcome {
    case set(TweakDeclaration.Admission)
    case reset
    case keep
}

extension TweakStore {
    /// Applies values as one change, except those that cannot be applied.
    ///
    /// The tweaks are looked up and changed under one hold of the lock, so if an image is opened or closed at
    /// the same time, all of its tweaks change or none.
    ///
    /// - Parameters:
    ///   - keys: The tweaks, each once.
    ///   - resettingOthers: Whether all other tweaks are reset to their defaults.
    ///   - choose: Chooses the value of a tweak. Called with the store's lock.
    func apply(
        _ keys: [TweakKey], resettingOthers: Bool = false,
        _ choose: (TweakDeclaration) throws(TweakError) -> TweakOutcome
    ) -> TweakReport {
        var report = TweakReport()
        // The changes, if a provider of the program keeps them.
        var provided: [(key: TweakKey, value: TweakValue?)] = []
        apply { state in
            state.decode()
            report = TweakReport()
            provided = []
            let changes = state.changes(of: keys, resettingOthers: resettingOthers, &report, choose)
            let keeper = state.layers.keeper
            let update = ValueUpdate(changes, in: keeper, by: .program)
            if let problem = state.gateProblem(of: update) {
                report.refused[problem.key] = problem.error
                (report.applied, report.clamped) = ([], [])
                return nil
            }
            if state.layers.keepsItself(keeper) { return update }
            provided = changes
            return nil
        }
        if !provided.isEmpty { changeOrReport(provided) }
        return report
    }
}

extension StoreState {
    /// Returns the changes of several tweaks.
    ///
    /// - Parameter report: Collects the outcome for each tweak.
    fileprivate func changes(
        of keys: [TweakKey], resettingOthers: Bool, _ report: inout TweakReport,
        _ choose: (TweakDeclaration) throws(TweakError) -> TweakOutcome
    ) -> [(key: TweakKey, value: TweakValue?)] {
        var changes: [(key: TweakKey, value: TweakValue?)] = []
        for key in keys {
            guard let declaration = tweaks[key]?.declaration else {
                report.unknown.append(key)
                continue
            }
            do throws(TweakError) {
                switch try choose(declaration) {
                case .set(let admission):
                    changes.append((key, admission.value))
                    if admission.wasClamped { report.clamped.append(key) }
                case .reset where declaration.type == .action: throw .refused(.isAction(declaration))
                case .reset: changes.append((key, nil))
                case .keep: break
                }
                report.applied.append(key)
            } catch {
                report.refused[key] = error
            }
        }
        guard resettingOthers else { return changes }
        var values: [TweakKey: TweakValue?] = [:]
        for change in changes { values.updateValue(change.value, forKey: change.key) }
        return tweaks.all.filter { $0.declaration.type != .action }.map { ($0.key, values[$0.key] ?? nil) }
    }

    /// Returns the reason why an update does not fit into a gate, with one of the gate's tweaks; `nil` if the
    /// update fits.
    fileprivate mutating func gateProblem(of update: ValueUpdate) -> (key: TweakKey, error: TweakError)? {
        do throws(TweakError) { try checkGates(update) } catch {
            guard case .gate(let name, _, _) = error else { return nil }
            let key = update.opinions.compactMap { $0.key }.first {
                gates.mailbox(of: $0)?.name.description == name
            }
            return key.map { ($0, error) }
        }
        return nil
    }
}
