/// Why a tweak could not be found, read, set, made or removed.
public enum TweakError: Error, Hashable {
    /// No image of the process declares such a tweak. The nearest names are suggestions for a person.
    case unknown(TweakKey, nearest: [TweakKey])
    /// The tweak cannot take the value.
    case refused(TweakValueError)
    /// Only an action can be run.
    case noAction(TweakDeclaration)
    /// The tweak is of another type than the one that was asked for.
    case otherType(TweakDeclaration, asked: TweakType)
    /// There is no tweak in this category, or in this collection of it.
    case noTweaks(in: String)
    /// The program has a tweak of this name already.
    case exists(TweakKey)
    /// No tweak of this name was made while the program runs, so it cannot be removed.
    case notMade(TweakKey)
    /// The providers cannot be in such an order; the text says why.
    case order(String)
    /// The provider has values that nobody can set.
    case notMutable(TweakSource)
    /// The provider could not keep a value.
    case notKept(TweakKey, TweakSource, reason: String)
    /// The declaration makes no sense.
    case invalid(TweakKey, reason: String)
}

extension TweakError: CustomStringConvertible {
    /// What was wrong, and what is allowed.
    public var description: String {
        switch self {
        case .unknown(let key, let nearest):
            "\(key): there is no such tweak"
                + (nearest.isEmpty
                    ? "" : "; did you mean \(nearest.map(\.description).joined(separator: " or "))?")
        case .refused(let error): "\(error)"
        case .noAction(let tweak):
            "\(tweak.key): it cannot be run, it is not an action but of type \(tweak.type)"
        case .otherType(let tweak, let type): "\(tweak.key): it is of type \(tweak.type), not \(type)"
        case .noTweaks(let name): "\(name): there are no such tweaks"
        case .exists(let key): "\(key): there is a tweak of this name already"
        case .notMade(let key): "\(key): no tweak of this name was made while the program runs"
        case .order(let reason): reason
        case .notMutable(let source): "values of the provider \(source) cannot be set"
        case .notKept(let key, let source, let reason):
            "\(key): the provider \(source) did not keep it: \(reason)"
        case .invalid(let key, let reason): "\(key): \(reason)"
        }
    }
}

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
