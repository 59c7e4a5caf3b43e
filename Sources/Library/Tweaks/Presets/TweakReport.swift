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
    ///   - set: Sets one of them in a batch; returns whether the value was clamped.
    func apply(
        _ keys: [TweakKey], resettingOthers: Bool = false, allOrNothing: Bool = false,
        by author: ChangeAuthor = .program,
        _ set: (inout TweakBatch, TweakKey, TweakDeclaration) throws(TweakError) -> Bool
    ) -> TweakReport {
        var report = TweakReport()
        batch(by: author) { batch in
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
            if allOrNothing, !report.unknown.isEmpty || !report.refused.isEmpty {
                (report.applied, report.clamped) = ([], [])
                batch = TweakBatch(of: self)
            }
        }
        return report
    }
}
