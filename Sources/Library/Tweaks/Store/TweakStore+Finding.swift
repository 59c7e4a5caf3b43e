// SPDX-License-Identifier: BSD-3-Clause
public import TweakRecords

extension TweakStore {
    @usableFromInline
    func find(
        _ category: String, _ collection: String, _ name: String, _ type: TweakType
    ) throws(TweakError) -> FoundTweak {
        // Repeated lookups are the most common case.
        if let found = state.withLock({ $0.tweaks.withEntry(category, collection, name) { $0.found } }),
            found.type == type
        {
            return found
        }
        let key = TweakKey(category, collection, name)
        let found = withDecodedState { state -> FoundTweak? in
            guard let entry = state.tweaks[key] else { return nil }
            _ = state.handle(of: entry)
            return entry.found
        }
        guard let found else {
            guard let monitor = state.withLock({ $0.tweaks[key]?.declaration }) else { throw unknown(key) }
            throw .refused(.isMonitor(monitor))
        }
        guard found.type == type else { throw .otherType(try declaration(of: key), asked: type) }
        return found
    }

    /// Returns the name in the record with this cell.
    func key(ofCell cell: UInt) -> TweakKey {
        state.withLock { $0.key(ofCell: cell) }
    }

    func lastChange(of key: TweakKey) -> (change: TweakChange, time: Duration)? {
        state.withLock { $0.tweaks[key]?.lastChange }
    }
}

/// The data of a handle in Swift.
@usableFromInline
struct FoundTweak: Sendable {
    @usableFromInline let cell: UInt
    @usableFromInline let type: TweakType
    @usableFromInline let isOptional: Bool
    @usableFromInline let defaultValue: TweakValue
}
