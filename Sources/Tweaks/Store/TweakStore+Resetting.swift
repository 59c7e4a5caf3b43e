internal import TweakRecords

extension TweakStore {
    /// Takes the overrides of a category away, as one change.
    ///
    /// - Throws: ``TweakError/noTweaks(in:)``.
    public func reset(category: String) throws(TweakError) { try reset(category, nil) }

    /// Takes the overrides of a collection away, as one change.
    ///
    /// - Parameters:
    ///   - category: The category that the collection is in.
    ///   - collection: The name of the collection.
    /// - Throws: ``TweakError/noTweaks(in:)``.
    public func reset(category: String, collection: String) throws(TweakError) {
        try reset(category, collection)
    }

    /// All tweaks where a level is `nil`.
    func reset(_ category: String?, _ collection: String?) throws(TweakError) {
        let keys = keys(category, collection)
        guard !keys.isEmpty || category == nil else {
            throw .noTweaks(in: [category, collection].compactMap(\.self).joined(separator: "/"))
        }
        try change(keys.map { ($0, nil) })
    }

    /// The names of tweaks in the order of ``categories``, of all where a level is `nil`.
    func keys(_ category: String?, _ collection: String?) -> [TweakKey] {
        categories.filter { category?.hasSameBytes(as: $0.name) ?? true }
            .flatMap(\.collections).filter { collection?.hasSameBytes(as: $0.name) ?? true }
            .flatMap { $0.tweaks.map(\.declaration.key) }
    }
}
