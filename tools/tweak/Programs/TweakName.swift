import Glibc
import TweakText
import Tweaks

/// A tweak as a person names it: the last one to three levels of its key, whole or in part.
struct TweakName {
    let text: String
    /// The levels that were given; those before them are empty.
    private let levels: TweakKey
    private let count: Int

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
        for isMeant in [isWhole, isPart] {
            for ignoresCase in [false, true] {
                let meant = keys.filter { key in
                    zip(levels.last(count), key.last(count)).allSatisfy { given, level in
                        ignoresCase ? isMeant(given.lowercased(), level.lowercased()) : isMeant(given, level)
                    }
                }
                if let first = meant.first, meant.count == 1 { return first }
                if !meant.isEmpty { throw ambiguous(meant) }
            }
        }
        throw unknown(keys)
    }

    private func isWhole(_ given: String, _ level: String) -> Bool { given == level }

    private func isPart(_ given: String, _ level: String) -> Bool {
        !given.isEmpty && (level.hasPrefix(given) || level.hasSuffix(given))
    }

    private func ambiguous(_ keys: [TweakKey]) -> Failure {
        let most = 10
        return Failure(
            "\(text): \(keys.count) tweaks could be meant; write more of the name",
            details: keys.sorted().prefix(most).map(\.description)
                + (keys.count > most ? ["and \(keys.count - most) more"] : []), EX_DATAERR)
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
