import Glibc
import TweakProtocol
import TweakText
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
    /// Reads `Category/` or `Category/Collection/`, in any case if it is unambiguous.
    ///
    /// - Throws: ``Failure`` if there are no such tweaks.
    init(_ text: String, among tweaks: [JSONTweak]) throws(Failure) {
        let depth = text.unicodeScalars.count { $0 == "/" }
        guard 1...2 ~= depth, let wanted = TweakKey(depth == 1 ? text + "/" : text), wanted.name.isEmpty
        else {
            throw Failure("\(text): several tweaks are named Category/ or Category/Collection/", EX_USAGE)
        }
        let groups = Set(
            tweaks.map(\.declaration.key).map { TweakKey($0.category, depth == 1 ? "" : $0.collection, "") })
        let similar = groups.filter { "\($0)".lowercased() == "\(wanted)".lowercased() }
        guard let group = groups.contains(wanted) ? wanted : similar.first,
            similar.count == 1 || group == wanted
        else {
            let isAmbiguous = !similar.isEmpty
            throw Failure(
                "\(text): "
                    + (isAmbiguous ? "it differs from several only in case" : "there are no such tweaks"),
                EX_DATAERR)
        }
        self = .group(category: group.category, collection: depth == 1 ? nil : group.collection)
    }
}
