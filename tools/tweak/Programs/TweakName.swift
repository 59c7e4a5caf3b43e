import Glibc
import CommandSupport
import Tweaks

/// A tweak as a person names it: the last one to three levels of its key, whole or in part.
struct TweakName {
    let text: String
    /// The levels that were given; those before them are empty.
    let levels: TweakKey
    let count: Int

    init(_ text: String) throws(Failure) {
        count = text.unicodeScalars.count { $0 == "/" } + 1
        guard 1...3 ~= count, let levels = TweakKey(String(repeating: "/", count: 3 - count) + text) else {
            throw Failure(
                "\(text): a tweak is named Category/Collection/Name, with %2F for a slash and %25 for a percent sign "
                    + "inside a level; the first levels may be left out", EX_USAGE)
        }
        self.text = text
        self.levels = levels
    }

    /// The key that this is if it is a whole one.
    var key: TweakKey? { count == 3 ? levels : nil }

    /// The tweak that is meant.
    ///
    /// - Throws: ``Failure`` if there is none or there are several.
    func key(among keys: [TweakKey]) throws(Failure) -> TweakKey {
        if let key, keys.contains(key) { return key }
        let meant = meant(among: keys)
        guard let first = meant.first else { throw unknown(keys) }
        guard meant.count == 1 else { throw ambiguous(meant.sorted().map(\.description), "tweaks") }
        return first
    }

    /// Those that the name fits best: more than one if it is not clear.
    func meant(among keys: [TweakKey]) -> [TweakKey] {
        for isMeant in [isWhole, isPart] {
            for ignoresCase in [false, true] {
                let meant = keys.filter { key in
                    zip(levels.last(count), key.last(count)).allSatisfy { given, level in
                        ignoresCase ? isMeant(given.lowercased(), level.lowercased()) : isMeant(given, level)
                    }
                }
                if !meant.isEmpty { return meant }
            }
        }
        return []
    }

    private func isWhole(_ given: String, _ level: String) -> Bool { given == level }

    private func isPart(_ given: String, _ level: String) -> Bool {
        !given.isEmpty && (level.hasPrefix(given) || level.hasSuffix(given))
    }

    func ambiguous(_ meant: [String], _ what: String) -> Failure {
        let most = 10
        return Failure(
            "\(text): \(meant.count) \(what) could be meant; write more of the name",
            details: meant.prefix(most) + (meant.count > most ? ["and \(meant.count - most) more"] : []),
            EX_DATAERR)
    }

    private func unknown(_ keys: [TweakKey]) -> Failure {
        let error = TweakError.unknown(levels, nearest: keys.nearest(to: levels, levels: count))
        // Without the levels that were not given.
        return Failure(String("\(error)".dropFirst(3 - count)), EX_DATAERR)
    }
}

extension TweakKey {
    fileprivate func last(_ count: Int) -> ArraySlice<String> { [category, collection, name].suffix(count) }
}
