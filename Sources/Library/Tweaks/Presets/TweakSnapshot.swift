// SPDX-License-Identifier: BSD-3-Clause
internal import TweakJSON
public import TweakRecords

/// The values of all tweaks of a store at one moment.
///
/// Snapshots can be compared, encoded with `Codable`, and restored.
public struct TweakSnapshot: Hashable, Sendable {
    struct Entry: Hashable {
        let type: TweakType
        let value: TweakValue
        let isOverride: Bool
    }

    var entries: [TweakKey: Entry] = [:]

    /// The names of the tweaks, sorted.
    public var keys: [TweakKey] { entries.keys.sorted() }

    /// The value of a tweak, or `nil` if the store did not have it.
    public subscript(key: TweakKey) -> TweakValue? { entries[key]?.value }

    /// Returns the tweaks whose values differ between two snapshots, or that only one of the snapshots has,
    /// sorted by name.
    public func differences(from other: TweakSnapshot) -> [TweakKey] {
        Set(entries.keys).union(other.entries.keys).filter { self[$0] != other[$0] }.sorted()
    }
}

extension TweakStore {
    /// Returns the current values of all tweaks, without actions. For a tweak with a lease the snapshot has
    /// the value that the lease hides, and during a ramp the target.
    public func snapshot() -> TweakSnapshot {
        var snapshot = TweakSnapshot()
        for tweak in lastingStatuses() where tweak.declaration.hasKeptValue {
            snapshot.entries[tweak.declaration.key] = TweakSnapshot.Entry(
                type: tweak.declaration.type, value: tweak.value, isOverride: tweak.source == .overrides)
        }
        return snapshot
    }

    /// Sets tweaks to the values of a snapshot, as one change. Tweaks that had their defaults are reset;
    /// those not in the snapshot stay as they are.
    ///
    /// - Returns: The values that could not be restored, with reasons.
    @discardableResult
    public func restore(_ snapshot: TweakSnapshot) -> TweakReport {
        apply(snapshot.keys) { (declaration) throws(TweakError) in
            // A read-only tweak never changes.
            guard let entry = snapshot.entries[declaration.key], !declaration.isReadOnly else { return .keep }
            guard entry.isOverride || entry.value != declaration.defaultValue else { return .reset }
            do throws(TweakValueError) { return .set(try declaration.admit(entry.value)) } catch {
                throw .refused(error)
            }
        }
    }
}

// Embedded Swift has no Codable.
#if !hasFeature(Embedded)
extension TweakSnapshot: Codable {
    private enum EntryKeys: CodingKey { case type, value, isSet }

    /// Decodes the format of ``encode(to:)``.
    ///
    /// - Throws: `DecodingError`, which names the tweak.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: JSONName.self)
        for name in container.allKeys {
            let entry = try container.nestedContainer(keyedBy: EntryKeys.self, forKey: name)
            let typeName = try entry.decode(String.self, forKey: .type)
            let coded: TweakValue =
                if let flag = try? entry.decode(Bool.self, forKey: .value) {
                    .bool(flag)
                } else if let number = try? entry.decode(Int64.self, forKey: .value) {
                    .integer(Int128(number))
                } else if let number = try? entry.decode(UInt64.self, forKey: .value) {
                    .integer(Int128(number))
                } else if let number = try? entry.decode(Double.self, forKey: .value) {
                    .double(number)
                } else {
                    .string(try entry.decode(String.self, forKey: .value))
                }
            guard let key = TweakKey(name.stringValue), let type = TweakType(typeName),
                let value = JSONValue.scalar(coded).value(of: type)
            else {
                throw DecodingError.dataCorruptedError(
                    forKey: name, in: container,
                    debugDescription:
                        "\(name.stringValue): no tweak of type \(typeName) has the value \(coded.quoted)")
            }
            entries[key] = Entry(
                type: type, value: value, isOverride: try entry.decode(Bool.self, forKey: .isSet))
        }
    }

    /// Encodes an object with a member for each tweak: `"Category/Collection/Name": {"type", "value",
    /// "isSet"}`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: JSONName.self)
        for (key, entry) in entries {
            var coded = container.nestedContainer(
                keyedBy: EntryKeys.self, forKey: JSONName(stringValue: "\(key)"))
            try coded.encode("\(entry.type)", forKey: .type)
            try coded.encode(entry.value, forKey: .value)
            try coded.encode(entry.isOverride, forKey: .isSet)
        }
    }
}
#endif
