// SPDX-License-Identifier: BSD-3-Clause
package import TweakRecords

/// A tweak's name as typed: the last one to three levels of its key, whole or abbreviated. A feature may be named with
/// or without its `enabled`.
///
/// A program resolves the names in requests, and commands those of programs that do not run.
package struct TweakName {
    package let text: String
    /// The levels that were typed; missing first levels are empty.
    package let levels: TweakKey
    package let count: Int

    /// Parses a name.
    ///
    /// - Throws: ``TweakNameError/malformed(_:)``.
    package init(parsing text: String) throws(TweakNameError) {
        var slashes = 0
        for byte in text.utf8 where byte == UInt8(ascii: "/") { slashes += 1 }
        guard slashes <= 2, let levels = TweakKey(String(repeating: "/", count: 2 - slashes) + text) else {
            throw .malformed(text)
        }
        (self.text, self.levels, count) = (text, levels, slashes + 1)
    }

    /// The key, if all levels were typed.
    package var key: TweakKey? { count == 3 ? levels : nil }

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
}

/// A name that means no tweak or several.
package enum TweakNameError: Error {
    /// It has too many levels, or an invalid escape.
    case malformed(String)
    /// Similar names come first the most similar one. The levels that were not typed are empty.
    case unknown(levels: TweakKey, count: Int, nearest: [TweakKey])
    /// Several tweaks could be meant, sorted by name.
    case ambiguous(String, [TweakKey])
    /// It is the name of a category or a collection, with these tweaks.
    case group(String, [TweakKey])
    /// It has dots where this tweak's name has slashes.
    case dotted(String, TweakKey)
    /// It has three levels, which is no group.
    case malformedGroup(String)
    case unknownGroup(String, nearest: [String])
    case ambiguousGroup(String, [String])

    /// The tweaks that were probably meant.
    package var nearest: [TweakKey] {
        switch self {
        case .unknown(_, _, let nearest): nearest
        case .ambiguous(_, let keys), .group(_, let keys): keys
        case .dotted(_, let key): [key]
        case .malformed, .malformedGroup, .unknownGroup, .ambiguousGroup: []
        }
    }
}

extension TweakNameError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .malformed(let text):
            "\(text): a tweak is named Category/Collection/Name, with %2F for a slash and %25 for a percent sign "
                + "inside a level; the first levels may be left out"
        case .unknown(let levels, let count, let nearest):
            // Without the levels that were not typed.
            String("\(TweakError.unknown(levels, nearest: nearest))".dropFirst(3 - count))
        case .ambiguous(let text, let keys):
            "\(text): \(keys.count) tweaks match; give more of the name"
        case .group(let text, let keys):
            "\(text): it is \(counted(keys.count, "tweak", "tweaks")); name one"
        case .dotted(let text, let key):
            "\(text): the levels of a name have slashes between them; write \(key)"
        case .malformedGroup(let text):
            "\(text): several tweaks are named Category/, Category/Collection/ or Collection/"
        case .unknownGroup(let text, let nearest):
            "\(text): no such tweaks" + didYouMean(nearest)
        case .ambiguousGroup(let text, let groups):
            "\(text): \(groups.count) groups match; give more of the name"
        }
    }
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

/// The names of a program's tweaks, for finding several by what people typed.
package struct TweakNames {
    package let keys: [TweakKey]
    /// The last levels of the keys in the form for comparison without case, made when first needed.
    private var folded: [[String]]?

    package init(_ keys: [TweakKey]) { self.keys = keys }

    /// The tweak with a name.
    ///
    /// - Throws: ``TweakNameError`` if no tweak or several match.
    package mutating func key(of name: TweakName) throws(TweakNameError) -> TweakKey {
        let meant = meant(by: name)
        guard let first = meant.first else { throw unknown(name) }
        guard meant.count == 1 else { throw .ambiguous(name.text, meant.sorted()) }
        return first
    }

    private mutating func unknown(_ name: TweakName) -> TweakNameError {
        if let group = try? group(of: name.text) { return .group(name.text, keys.filter(group.contains)) }
        let slashed = String(
            decoding: name.text.utf8.map { $0 == UInt8(ascii: ".") ? UInt8(ascii: "/") : $0 }, as: UTF8.self)
        if let slashed = try? TweakName(parsing: slashed), slashed.count > name.count,
            let key = meant(by: slashed).first
        {
            return .dotted(name.text, key)
        }
        return unrelated(name)
    }

    private func unrelated(_ name: TweakName) -> TweakNameError {
        .unknown(
            levels: name.levels, count: name.count,
            nearest: keys.nearest(to: name.levels, levels: name.count))
    }

    /// The tweak with a complete name.
    ///
    /// - Throws: ``TweakNameError`` if there is none.
    package func key(exactly name: TweakName) throws(TweakNameError) -> TweakKey {
        guard let key = name.key, keys.contains(key) else { throw unrelated(name) }
        return key
    }

    /// The tweaks of `Category/`, `Category/Collection/` or `Collection/`, abbreviated like a ``TweakName``. A category
    /// takes precedence over a collection of the same name.
    ///
    /// - Throws: ``TweakNameError`` if there are no such tweaks, or several groups match.
    package func group(of text: String) throws(TweakNameError) -> TweakScope {
        let name = try TweakName(parsing: text.hasSuffix("/") ? String(text.dropLast()) : text)
        guard name.key == nil else { throw .malformedGroup(text) }
        // The categories as keys, to match them as names are.
        let categories = Set(keys.map { TweakKey("", "", $0.category) })
        let collections = Set(keys.map { TweakKey("", $0.category, $0.collection) })
        let isCategory = categories.contains { $0.name == name.levels.name } && name.count == 1
        var groups = TweakNames(isCategory ? [] : categories.union(collections).sorted())
        let meant = isCategory ? [name.levels] : groups.meant(by: name)
        guard let group = meant.first else {
            let names = Set(keys.map { $0.category } + keys.map { $0.collection })
            throw .unknownGroup(text, nearest: names.nearest(to: name.levels.name).map { $0 + "/" })
        }
        guard meant.count == 1 else {
            throw .ambiguousGroup(text, meant.map { String("\($0)".drop { $0 == "/" }) + "/" })
        }
        return group.collection.isEmpty && categories.contains(group)
            ? .group(category: group.name, collection: nil)
            : .group(category: group.collection, collection: group.name)
    }

    /// The best matches: several if the name is ambiguous.
    package mutating func meant(by name: TweakName) -> [TweakKey] {
        if let key = name.key, keys.contains(key) { return [key] }
        let levels = name.levels.last(name.count)
        let foldedLevels = levels.map { $0.folded }
        for isMeant in [isWhole, isPart] {
            var meant = keys.filter { key in zip(levels, key.last(name.count)).allSatisfy(isMeant) }
            if meant.isEmpty {
                let folded = foldedKeys()
                meant = keys.indices.filter { index in
                    zip(foldedLevels, folded[index].suffix(name.count)).allSatisfy(isMeant)
                }.map { keys[$0] }
            }
            if !meant.isEmpty { return meant }
        }
        guard name.count < 3, let feature = name.feature,
            let whole = try? TweakName(parsing: "\(feature)")
        else { return [] }
        var features = TweakNames(keys.filter { PlacedFeature.key(of: [$0.collection]) == $0 })
        return features.meant(by: whole)
    }

    private mutating func foldedKeys() -> [[String]] {
        if let folded { return folded }
        let new = keys.map { [$0.category.folded, $0.collection.folded, $0.name.folded] }
        folded = new
        return new
    }

    private func isWhole(_ given: String, _ level: String) -> Bool { given == level }

    private func isPart(_ given: String, _ level: String) -> Bool {
        !given.isEmpty && (level.hasPrefix(given) || level.hasSuffix(given))
    }
}

extension TweakKey {
    fileprivate func last(_ count: Int) -> ArraySlice<String> { [category, collection, name].suffix(count) }
}

extension String {
    /// The text for comparison: case-insensitive, and with one spelling of colour.
    package var folded: String {
        let lower = lowercased()
        let british = Array("colour".utf8)
        guard lower.utf8.count >= british.count else { return lower }
        // By bytes, because `replacing` brings the regular expressions, a megabyte, into the library.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(lower.utf8.count)
        for byte in lower.utf8 {
            bytes.append(byte)
            if byte == UInt8(ascii: "r"), bytes.count >= british.count,
                bytes.suffix(british.count).elementsEqual(british)
            {
                bytes.removeLast(2)
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
