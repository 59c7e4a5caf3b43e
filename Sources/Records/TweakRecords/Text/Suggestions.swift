// What a person may have meant who wrote a name that there is not.

extension Collection where Element == TweakKey {
    /// The keys that a person who wrote another one may have meant, the most similar first, at most three.
    public func nearest(to key: TweakKey) -> [TweakKey] { nearest(to: key, levels: 3) }

    /// The same for a name of which only the last levels were given; the others do not count.
    package func nearest(to key: TweakKey, levels: Int) -> [TweakKey] {
        let wanted = Spelling(key.text(ofLast: levels), name: key.name)
        return wanted.nearest(among: self) { Spelling($0.text(ofLast: levels), name: $0.name) }
    }
}

extension Collection where Element == String {
    /// The texts that a person who wrote another one may have meant, the most similar first, at most three.
    package func nearest(to text: String) -> [String] {
        Spelling(text, name: text).nearest(among: self) { Spelling($0, name: $0) }
    }
}

/// Behind a message of what there is not: `; did you mean this or that?`, or nothing.
package func didYouMean(_ suggestions: [String]) -> String {
    suggestions.isEmpty ? "" : "; did you mean \(suggestions.joined(separator: " or "))?"
}

extension TweakKey {
    fileprivate func text(ofLast levels: Int) -> String {
        "\(TweakKey(levels > 2 ? category : "", levels > 1 ? collection : "", name))"
    }
}

/// A text as it is compared with others, without upper and lower case.
private struct Spelling {
    /// Nobody mistypes a longer one, and it would take long to compare.
    private static let longest = 300

    let scalars: [Unicode.Scalar]
    let name: String

    init(_ text: String, name: String) {
        let isShort = text.utf8.count <= Self.longest
        scalars = isShort ? Array(text.lowercased().unicodeScalars) : []
        self.name = isShort ? name.lowercased() : ""
    }

    func nearest<Candidate: Comparable>(
        among candidates: some Collection<Candidate>, _ spelling: (Candidate) -> Spelling
    ) -> [Candidate] {
        guard !name.isEmpty else { return [] }
        return candidates.compactMap { candidate in
            distance(to: spelling(candidate)).map { (candidate: candidate, distance: $0) }
        }
        .sorted { ($0.distance, $0.candidate) < ($1.distance, $1.candidate) }
        .prefix(3).map(\.candidate)
    }

    /// How different they are; `nil` if nobody would take one for the other.
    private func distance(to other: Spelling) -> Int? {
        guard !other.name.isEmpty else { return nil }
        if name == other.name { return 0 }
        let limit = name.count <= 3 ? 1 : max(2, name.count / 3)
        if abs(scalars.count - other.scalars.count) <= limit {
            let distance = editDistance(scalars, other.scalars)
            if distance <= limit { return distance }
        }
        // A part of the name, inside a word too.
        return name.utf8.count >= 3 && other.contains(name) ? limit + 1 : nil
    }

    /// That of the standard library for texts brings its regular expressions, which take a megabyte.
    private func contains(_ part: String) -> Bool {
        var rest = name.utf8[...]
        while rest.count >= part.utf8.count {
            if rest.starts(with: part.utf8) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}

/// The number of insertions, deletions, replacements and exchanges of neighbours between two texts: the optimal string
/// alignment distance of Damerau and Levenshtein.
private func editDistance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
    // Each has one more than there are columns, so that `j + 1` is inside.
    var (before, last) = ([Int](), Array(0...right.count))
    for (i, a) in left.enumerated() {
        var row = [i + 1]
        for (j, b) in right.enumerated() {
            var distance = min(last[j] + (a == b ? 0 : 1), row[j] + 1, last[j + 1] + 1)
            if i > 0, j > 0, a == right[j - 1], left[i - 1] == b {
                distance = min(distance, before[j - 1] + 1)
            }
            row.append(distance)
        }
        (before, last) = (last, row)
    }
    return last[right.count]
}
