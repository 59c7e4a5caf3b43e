public import TweakRecords

extension Collection where Element == TweakKey {
    /// The keys that a person who wrote another one may have meant, the most similar first, at most three.
    public func nearest(to key: TweakKey) -> [TweakKey] { nearest(to: key, levels: 3) }

    /// The same for a name of which only the last levels were given; the others do not count.
    package func nearest(to key: TweakKey, levels: Int) -> [TweakKey] {
        let wanted = key.scalars(ofLast: levels)
        let limit = Swift.max(2, key.name.count / 3)
        return
            compactMap { candidate -> (key: TweakKey, distance: Int)? in
                if candidate.name.lowercased() == key.name.lowercased() { return (candidate, 0) }
                let distance = editDistance(wanted, candidate.scalars(ofLast: levels))
                return distance <= limit ? (candidate, distance) : nil
            }
            .sorted { ($0.distance, $0.key) < ($1.distance, $1.key) }
            .prefix(3).map(\.key)
    }
}

extension TweakKey {
    fileprivate func scalars(ofLast levels: Int) -> [Unicode.Scalar] {
        let shortened = TweakKey(levels > 2 ? category : "", levels > 1 ? collection : "", name)
        return Array("\(shortened)".lowercased().unicodeScalars)
    }
}

/// The number of insertions, deletions and replacements between two texts, by Wagner and Fischer.
private func editDistance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
    // One more than there are columns, so that `j + 1` is inside.
    var row = Array(0...right.count)
    for (i, a) in left.enumerated() {
        var diagonal = row[0]
        row[0] = i + 1
        for (j, b) in right.enumerated() {
            let replaced = diagonal + (a == b ? 0 : 1)
            diagonal = row[j + 1]
            row[j + 1] = Swift.min(replaced, row[j] + 1, diagonal + 1)
        }
    }
    return row[right.count]
}
