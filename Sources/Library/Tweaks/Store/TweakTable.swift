internal import TweakRecords

/// The tweaks of a store, by name and in the order of declaration.
///
/// A hash table of indexes, so that a million tweaks take a few bytes each beyond their entries, and a removal moves nothing.
/// Finding one of 1,000 tweaks by its name counts no references, and takes 76 ns instead of 125 (`tools/bench change`).
///
/// `RecordMatcher` has such a table too, of names as bytes of records, from which nothing is removed. A type for both makes a lookup
/// here half as slow again, because the array of places is retained for it.
///
/// `@unchecked Sendable`, and exclusivity is not checked: it is reached through the state of a store, with its lock, which keeps
/// accesses apart. The checks were 2 % of a start.
final class TweakTable: @unchecked Sendable {
    /// `nil` where one was removed. They are retained here: to count references at each look at one would take longer than the
    /// rest of finding it.
    @exclusivity(unchecked) private var entries: [Unmanaged<TweakEntry>?] = []
    /// In the upper half the upper half of a name's hash, in the lower the index of its entry and 1; 0 where nothing is. An
    /// entry is in the place that the hash tells, or in the next that was free. A third of the places are free at least.
    @exclusivity(unchecked) private var places: [UInt64] = []
    @exclusivity(unchecked) private(set) var count = 0

    deinit { for entry in entries { entry?.release() } }

    /// All tweaks, in the order of declaration.
    var all: some Sequence<TweakEntry> { entries.lazy.compactMap { $0?.takeUnretainedValue() } }

    subscript(key: TweakKey) -> TweakEntry? {
        find(hash: key.levelsHash) { $0.key == key }?.takeUnretainedValue()
    }

    /// What a closure says of the tweak of a name, of which nobody needs to make a key.
    @inline(__always)
    func withEntry<Result>(
        _ category: String, _ collection: String, _ name: String, _ body: (TweakEntry) -> Result?
    ) -> Result? {
        let entry = find(hash: TweakKey.hash(of: category, collection, name)) {
            $0.key.hasLevels(category, collection, name)
        }
        return entry?._withUnsafeGuaranteedRef(body)
    }

    /// Adds a tweak whose name is not there yet.
    func append(_ entry: TweakEntry) {
        if (count + 1) * 3 > places.count * 2 || entries.count > Self.largestIndex { rebuild() }
        entries.append(Unmanaged.passRetained(entry))
        count += 1
        insert(entries.count - 1, Self.hash(of: entry.key))
    }

    func remove(_ key: TweakKey) {
        guard let entry = self[key] else { return }
        var place = firstPlace(of: Self.hash(of: key))
        // It is in the table, and no place before its own is empty.
        while entries[Self.index(places[place])]?.takeUnretainedValue() !== entry {
            place = self.place(after: place)
        }
        entries[Self.index(places[place])]?.release()
        entries[Self.index(places[place])] = nil
        count -= 1
        close(place)
        if entries.count > 64, entries.count > 2 * count { rebuild() }
    }

    /// Puts the tweaks into the order of their places.
    func sort() {
        entries = entries.compactMap(\.self)
            .sorted { $0.takeUnretainedValue().place < $1.takeUnretainedValue().place }
        rebuild()
    }

    // MARK: The hash table

    private static let hashBits: UInt64 = 0xffff_ffff_0000_0000
    private static let largestIndex = Int(UInt32.max) - 2

    private static func hash(of key: TweakKey) -> UInt64 { key.levelsHash & hashBits }

    /// The index of an entry, by a place that is not empty: there is an index and 1 in it.
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

    // A third of the places at least are empty, so every search ends.
    private func insert(_ index: Int, _ hash: UInt64) {
        var place = firstPlace(of: hash)
        while places[place] != 0 { place = self.place(after: place) }
        places[place] = hash | UInt64(index + 1)
    }

    /// Frees a place, and moves those behind it that would not be found any more.
    private func close(_ free: Int) {
        var free = free
        var place = self.place(after: free)
        while places[place] != 0 {
            let wanted = firstPlace(of: places[place])
            // How far it is from where it belongs, and how far it would be, around the end of the table.
            let distance = (place - wanted) & (places.count - 1)
            if distance >= (place - free) & (places.count - 1) {
                places[free] = places[place]
                free = place
            }
            place = self.place(after: place)
        }
        places[free] = 0
    }

    private func rebuild() {
        entries.removeAll { $0 == nil }
        var size = 4
        while size < 2 * (count + 1) { size *= 2 }
        places = Array(repeating: 0, count: size)
        for (index, entry) in entries.enumerated() {
            if let entry { insert(index, Self.hash(of: entry.takeUnretainedValue().key)) }
        }
    }
}
