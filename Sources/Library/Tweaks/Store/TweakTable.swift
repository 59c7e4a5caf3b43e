// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// The tweaks of a store, by name and in the order of declaration.
///
/// A hash table of indexes, so that a million tweaks take a few bytes each beyond their entries, and a removal moves
/// nothing. Finding one of 1,000 tweaks by name without reference counting takes 76 ns instead of 125 (`tools/bench
/// change`).
///
/// `RecordMatcher` has a similar table, keyed by the names' bytes in records, without removal. A type for both would
/// make a lookup here half as slow again, because it retains the array of places.
///
/// `@unchecked Sendable` without exclusivity checks: the table is reached through the state of a store, with its lock
/// held. The checks were 2 % of a start.
final class TweakTable: @unchecked Sendable {
    /// `nil` where a tweak was removed. The references are unmanaged: counting them would take longer than the rest of
    /// a lookup.
    @exclusivity(unchecked) private var entries: [Unmanaged<TweakEntry>?] = []
    /// Upper half: the upper half of a name's hash. Lower half: the index of its entry plus 1. 0 in free places. An
    /// entry is in the place given by the hash, or the next one that was free. At least a third of the places are free.
    @exclusivity(unchecked) private var places: [UInt64] = []
    @exclusivity(unchecked) private(set) var count = 0
    /// A number that changes with the names in the table.
    @exclusivity(unchecked) private(set) var generation: UInt64 = 0

    deinit { for entry in entries { entry?.release() } }

    /// All tweaks, in the order of declaration.
    var all: some Sequence<TweakEntry> { entries.lazy.compactMap { $0?.takeUnretainedValue() } }

    subscript(key: TweakKey) -> TweakEntry? {
        find(hash: key.levelsHash) { $0.key == key }?.takeUnretainedValue()
    }

    /// Calls the body with the tweak of a name, without creating a key.
    @inline(__always)
    func withEntry<Result>(
        _ category: String, _ collection: String, _ name: String, _ body: (TweakEntry) -> Result?
    ) -> Result? {
        let entry = find(hash: TweakKey.hash(of: category, collection, name)) {
            $0.key.hasLevels(category, collection, name)
        }
        return entry?._withUnsafeGuaranteedRef(body)
    }

    /// The same for a name in C, without creating strings.
    @inline(__always)
    func withEntry<Result>(
        _ category: UnsafeRawBufferPointer, _ collection: UnsafeRawBufferPointer,
        _ name: UnsafeRawBufferPointer,
        _ body: (TweakEntry) -> Result?
    ) -> Result? {
        let entry = find(hash: TweakKey.hash(of: category, collection, name)) {
            $0.key.hasLevels(category, collection, name)
        }
        return entry?._withUnsafeGuaranteedRef(body)
    }

    /// Makes room for more tweaks at once.
    func reserveCapacity(for more: Int) {
        guard (count + more) * 3 > places.count * 2 else { return }
        entries.reserveCapacity(entries.count + more)
        rebuild(for: count + more)
    }

    /// Adds a tweak with a new name.
    func append(_ entry: TweakEntry) {
        if (count + 1) * 3 > places.count * 2 || entries.count > Self.largestIndex { rebuild(for: count + 1) }
        entries.append(Unmanaged.passRetained(entry))
        count += 1
        generation &+= 1
        insert(entries.count - 1, Self.hash(of: entry.key))
    }

    func remove(_ key: TweakKey) {
        guard let entry = self[key] else { return }
        var place = firstPlace(of: Self.hash(of: key))
        // The entry is in the table, and no place before it is empty.
        while entries[Self.index(places[place])]?.takeUnretainedValue() !== entry {
            place = self.place(after: place)
        }
        entries[Self.index(places[place])]?.release()
        entries[Self.index(places[place])] = nil
        count -= 1
        generation &+= 1
        close(place)
        if entries.count > 64, entries.count > 2 * count { rebuild(for: count + 1) }
    }

    /// Sorts the tweaks by their places.
    func sort() {
        let sorted = entries.compactMap { $0 }
            .sorted { $0.takeUnretainedValue().place < $1.takeUnretainedValue().place }
        entries = sorted.map(Optional.some)
        rebuild(for: count + 1)
    }

    // MARK: The hash table

    private static let hashBits: UInt64 = 0xffff_ffff_0000_0000
    private static let largestIndex = Int(UInt32.max) - 2

    private static func hash(of key: TweakKey) -> UInt64 { key.levelsHash & hashBits }

    /// The index of an entry from the content of a place that is not empty.
    private static func index(_ content: UInt64) -> Int { Int(content & ~hashBits) - 1 }

    private func firstPlace(of hash: UInt64) -> Int { Int(hash >> 32) & (places.count - 1) }
    private func place(after place: Int) -> Int { (place + 1) & (places.count - 1) }

    @inline(__always)
    private func find(hash: UInt64, where isNamed: (TweakEntry) -> Bool) -> Unmanaged<TweakEntry>? {
        guard !places.isEmpty else { return nil }
        let hash = hash & Self.hashBits
        var place = firstPlace(of: hash)
        while places[place] != 0 {
            let content = places[place]
            if content & Self.hashBits == hash, let entry = entries[Self.index(content)],
                entry._withUnsafeGuaranteedRef({ isNamed($0) })
            {
                return entry
            }
            place = self.place(after: place)
        }
        return nil
    }

    // At least a third of the places are empty, so every search ends.
    private func insert(_ index: Int, _ hash: UInt64) {
        var place = firstPlace(of: hash)
        while places[place] != 0 { place = self.place(after: place) }
        places[place] = hash | UInt64(index + 1)
    }

    /// Frees a place, and moves the following entries that would no longer be found.
    private func close(_ free: Int) {
        var free = free
        var place = self.place(after: free)
        while places[place] != 0 {
            let wanted = firstPlace(of: places[place])
            // The distance from the wanted place, now and after the move, around the end of the table.
            let distance = (place - wanted) & (places.count - 1)
            if distance >= (place - free) & (places.count - 1) {
                places[free] = places[place]
                free = place
            }
            place = self.place(after: place)
        }
        places[free] = 0
    }

    /// - Parameter room: The number of tweaks to have room for.
    private func rebuild(for room: Int) {
        entries.removeAll { $0 == nil }
        var size = 4
        while size < 2 * room { size *= 2 }
        places = Array(repeating: 0, count: size)
        for (index, entry) in entries.enumerated() {
            if let entry { insert(index, Self.hash(of: entry.takeUnretainedValue().key)) }
        }
    }
}
