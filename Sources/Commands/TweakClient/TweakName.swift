// SPDX-License-Identifier: BSD-3-Clause
package import CommandSupport
internal import Glibc
internal import TweakFormats
package import TweakProtocol
package import TweakRecords

/// A tweak's name as typed: the last one to three levels of its key, whole or abbreviated. A feature may be named with
/// or without its `enabled`.
package struct TweakName {
    package let text: String
    /// The levels that were typed; missing first levels are empty.
    package let levels: TweakKey
    package let count: Int

    package init(_ text: String) throws(Failure) {
        count = text.unicodeScalars.count { $0 == "/" } + 1
        guard 1...3 ~= count, let levels = TweakKey(String(repeating: "/", count: 3 - count) + text) else {
            throw Failure(
                "\(text): a tweak is named Category/Collection/Name, with %2F for a slash and %25 for a percent sign "
                    + "inside a level; the first levels may be left out", .usage)
        }
        self.text = text
        self.levels = levels
    }

    /// The key, if all levels were typed.
    package var key: TweakKey? { count == 3 ? levels : nil }

    /// The tweak with this name.
    ///
    /// - Throws: ``Failure`` if no tweak or several match.
    package func key(among keys: [TweakKey]) throws(Failure) -> TweakKey {
        if let key, keys.contains(key) { return key }
        let meant = meant(among: keys)
        guard let first = meant.first else { throw unknown(keys) }
        guard meant.count == 1 else { throw ambiguous(meant.sorted().map(\.description), "tweaks") }
        return first
    }

    /// The best matches: several if the name is ambiguous.
    package func meant(among keys: [TweakKey]) -> [TweakKey] {
        for isMeant in [isWhole, isPart] {
            for ignoresCase in [false, true] {
                let meant = keys.filter { key in
                    zip(levels.last(count), key.last(count)).allSatisfy { given, level in
                        ignoresCase ? isMeant(given.folded, level.folded) : isMeant(given, level)
                    }
                }
                if !meant.isEmpty { return meant }
            }
        }
        let features = keys.filter { PlacedFeature.key(of: [$0.collection]) == $0 }
        guard count < 3, let feature, let name = try? TweakName("\(feature)") else { return [] }
        return name.meant(among: features)
    }

    /// The switch of the feature with this name.
    package var feature: TweakKey? {
        switch count {
        case 1: PlacedFeature.key(of: [levels.name])
        case 2 where levels.collection == PlacedFeature.category: PlacedFeature.key(of: [levels.name])
        case 2:
            levels.name == PlacedFeature.key(of: [levels.collection]).name
                ? PlacedFeature.key(of: [levels.collection]) : nil
        default: key
        }
    }

    private func isWhole(_ given: String, _ level: String) -> Bool { given == level }

    private func isPart(_ given: String, _ level: String) -> Bool {
        !given.isEmpty && (level.hasPrefix(given) || level.hasSuffix(given))
    }

    package func ambiguous(_ meant: [String], _ what: String) -> Failure {
        Failure(
            "\(text): \(meant.count) \(what) could be meant; write more of the name",
            details: meant.beginning,
            .invalid)
    }

    private func unknown(_ keys: [TweakKey]) -> Failure {
        if let group = try? TweakScope(text, among: keys) {
            let names = keys.filter(group.contains).map(\.description)
            return Failure(
                "\(text): it is \(counted(names.count, "tweak", "tweaks")); name one",
                details: names.beginning, .invalid)
        }
        if let slashed = try? TweakName(text.replacing(".", with: "/")), slashed.count > count,
            let meant = slashed.meant(among: keys).first
        {
            return Failure(
                "\(text): the levels of a name have slashes between them; write \(meant)", .invalid)
        }
        let nearest = keys.nearest(to: levels, levels: count)
        // Without the levels that were not typed.
        let error = String("\(TweakError.unknown(levels, nearest: nearest))".dropFirst(3 - count))
        return Failure(error + (nearest.isEmpty ? "; tweak list shows all" : ""), .invalid)
    }
}

extension String {
    /// The text for comparison: case-insensitive, and with one spelling of colour.
    package var folded: String { lowercased().replacing("colour", with: "color") }
}

extension TweakKey {
    fileprivate func last(_ count: Int) -> ArraySlice<String> { [category, collection, name].suffix(count) }
}

/// Some tweaks of a program.
package enum TweakScope {
    case tweak(TweakKey)
    /// A category, or a collection of it.
    case group(category: String, collection: String?)
    case all

    package func contains(_ key: TweakKey) -> Bool {
        switch self {
        case .tweak(let tweak): key == tweak
        case .group(let category, let collection):
            key.category == category && (collection == nil || key.collection == collection)
        case .all: true
        }
    }
}

extension TweakScope {
    /// Parses `Category/`, `Category/Collection/` or `Collection/`, abbreviated like a ``TweakName``. A category takes
    /// precedence over a collection of the same name.
    ///
    /// - Throws: ``Failure`` if there are no such tweaks, or several groups match.
    package init(_ text: String, among tweaks: [JSONTweak]) throws(Failure) {
        self = try TweakScope(text, among: tweaks.map(\.declaration.key))
    }

    fileprivate init(_ text: String, among keys: [TweakKey]) throws(Failure) {
        let name = try TweakName(text.hasSuffix("/") ? String(text.dropLast()) : text)
        guard name.key == nil else {
            throw Failure(
                "\(text): several tweaks are named Category/, Category/Collection/ or Collection/", .usage)
        }
        // The categories as keys, to match them as names are.
        let categories = Set(keys.map { TweakKey("", "", $0.category) })
        let collections = Set(keys.map { TweakKey("", $0.category, $0.collection) })
        let isCategory = categories.contains { $0.name == name.levels.name } && name.count == 1
        let meant = isCategory ? [name.levels] : name.meant(among: categories.union(collections).sorted())
        guard let group = meant.first else {
            let groups = Set(keys.map(\.category) + keys.map(\.collection)).nearest(to: name.levels.name)
            throw Failure(
                "\(text): there are no such tweaks" + didYouMean(groups.map { $0 + "/" }), .invalid)
        }
        guard meant.count == 1 else {
            throw name.ambiguous(meant.map { "\($0)".trimmingPrefix(while: { $0 == "/" }) + "/" }, "groups")
        }
        self =
            group.collection.isEmpty && categories.contains(group)
            ? .group(category: group.name, collection: nil)
            : .group(category: group.collection, collection: group.name)
    }
}
