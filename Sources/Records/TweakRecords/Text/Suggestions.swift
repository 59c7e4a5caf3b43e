// SPDX-License-Identifier: BSD-3-Clause

// Suggestions for mistyped names.

extension Collection where Element == TweakKey {
    /// Returns the keys most similar to a mistyped one, at most three, most similar first.
    public func nearest(to key: TweakKey) -> [TweakKey] { nearest(to: key, levels: 3) }

    /// Returns keys as ``nearest(to:)`` does, for a name of which only the last levels were given; the others
    /// are ignored.
    package func nearest(to key: TweakKey, levels: Int) -> [TweakKey] {
        let wanted = Spelling(key.text(ofLast: levels), name: key.name)
        return wanted.nearest(among: self) { Spelling($0.text(ofLast: levels), name: $0.name) }
    }
}

extension Collection where Element == String {
    /// Returns the texts most similar to a mistyped one, at most three, most similar first.
    package func nearest(to text: String) -> [String] {
        Spelling(text, name: text).nearest(among: self) { Spelling($0, name: $0) }
    }
}

/// The end of a message about an unknown name: `; did you mean this or that?`, or nothing.
package func didYouMean(_ suggestions: [String]) -> String {
    suggestions.isEmpty ? "" : "; did you mean \(suggestions.joined(separator: " or "))?"
}

extension TweakKey {
    fileprivate func text(ofLast levels: Int) -> String {
        "\(TweakKey(levels > 2 ? category : "", levels > 1 ? collection : "", name))"
    }
}

/// A text in the form for comparison, without case.
private struct Spelling {
    /// Longer texts are not compared, because it takes long and nobody mistypes them.
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
        .prefix(3).map { $0.candidate }
    }

    /// The distance to another text; `nil` if they are too different to be confused.
    private func distance(to other: Spelling) -> Int? {
        guard !other.name.isEmpty else { return nil }
        if name == other.name { return 0 }
        let limit = name.count <= 3 ? 1 : max(2, name.count / 3)
        if abs(scalars.count - other.scalars.count) <= limit {
            let distance = editDistance(scalars, other.scalars)
            if distance <= limit { return distance }
        }
        // A part of the name, possibly inside a word.
        return name.utf8.count >= 3 && other.contains(name) ? limit + 1 : nil
    }

    /// The standard library's method pulls in its regular expressions, a megabyte.
    private func contains(_ part: String) -> Bool {
        var rest = name.utf8[...]
        while rest.count >= part.utf8.count {
            if rest.starts(with: part.utf8) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}

/// The number of insertions, deletions, replacements and swaps of neighbours between two texts: the optimal
/// string alignment distance of Damerau and Levenshtein.
private func editDistance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
    // Each row has one more element than there are columns, so `j + 1` is valid.
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
