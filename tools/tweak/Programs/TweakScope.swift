import Glibc
import TweakProtocol
import CommandSupport
import Tweaks

/// Some of a program's tweaks.
enum TweakScope {
    case tweak(TweakKey)
    /// A category, or a collection of it.
    case group(category: String, collection: String?)
    case all

    func contains(_ key: TweakKey) -> Bool {
        switch self {
        case .tweak(let tweak): key == tweak
        case .group(let category, let collection):
            key.category == category && (collection == nil || key.collection == collection)
        case .all: true
        }
    }
}

extension TweakScope {
    /// Reads `Category/`, `Category/Collection/` or `Collection/`, which may be as short as a ``TweakName``. A category
    /// goes before a collection of the same name.
    ///
    /// - Throws: ``Failure`` if there are no such tweaks, or several groups are meant.
    init(_ text: String, among tweaks: [JSONTweak]) throws(Failure) {
        let name = try TweakName(text.hasSuffix("/") ? String(text.dropLast()) : text)
        guard name.key == nil else {
            throw Failure(
                "\(text): several tweaks are named Category/, Category/Collection/ or Collection/", EX_USAGE)
        }
        // As keys that end with what a name ends with.
        let keys = tweaks.map(\.declaration.key)
        let categories = Set(keys.map { TweakKey("", "", $0.category) })
        let collections = Set(keys.map { TweakKey("", $0.category, $0.collection) })
        let isCategory = categories.contains { $0.name == name.levels.name } && name.count == 1
        let meant = isCategory ? [name.levels] : name.meant(among: categories.union(collections).sorted())
        guard let group = meant.first else { throw Failure("\(text): there are no such tweaks", EX_DATAERR) }
        guard meant.count == 1 else {
            throw name.ambiguous(meant.map { "\($0)".trimmingPrefix(while: { $0 == "/" }) + "/" }, "groups")
        }
        self =
            group.collection.isEmpty && categories.contains(group)
            ? .group(category: group.name, collection: nil)
            : .group(category: group.collection, collection: group.name)
    }
}
