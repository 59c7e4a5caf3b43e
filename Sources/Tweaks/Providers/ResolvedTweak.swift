internal import TweakRecords

/// A tweak with the value that it has, and the one that providers give it.
struct ResolvedTweak {
    let key: TweakKey
    let type: TweakType
    let needsRestart: Bool
    let value: TweakValue
    let resolution: ProviderChain.Resolution
    /// The cells in records that are not decoded.
    var undecoded: [Cell] = []

    init(_ declaration: TweakDeclaration, value: TweakValue, _ resolution: ProviderChain.Resolution) {
        key = declaration.key
        type = declaration.type
        needsRestart = declaration.needsRestart
        self.value = value
        self.resolution = resolution
    }

    /// The change; `nil` if the value stays, until a restart at least.
    var change: TweakChange? {
        guard !needsRestart, resolution.value != value else { return nil }
        return TweakChange(
            key: key, oldValue: value, newValue: resolution.value, source: resolution.source)
    }
}

extension StoreState {
    /// Tweaks with the values that they have and get, also of records that are not decoded yet.
    ///
    /// - Parameters:
    ///   - keys: The names, each once.
    ///   - before: What the cells of records that are not decoded have been given.
    ///   - resolve: The value that a tweak gets; `nil` for one that is left out.
    func tweaks(
        _ keys: [TweakKey], before: ProviderChain,
        resolvedBy resolve: (TweakDeclaration) -> ProviderChain.Resolution?
    ) -> [ResolvedTweak] {
        var found = keys.map { key in
            entries[key].flatMap { entry in
                resolve(entry.declaration).map { ResolvedTweak(entry.declaration, value: entry.value, $0) }
            }
        }
        guard !undecoded.isEmpty else { return found.compactMap { $0 } }
        let matcher = RecordMatcher(keys)
        for records in undecoded.lazy.flatMap(\.records) {
            matcher.forEachMatch(in: records) { range, index in
                guard
                    let declaration = try? TweakDeclaration(
                        record: records.bytes, in: range, byteOrder: .native),
                    let cell = Cell(records, range, declaration.type)
                else { return }
                if found[index] == nil, entries[keys[index]] == nil, let resolution = resolve(declaration) {
                    found[index] = ResolvedTweak(
                        declaration, value: before.resolve(declaration).value, resolution)
                }
                if found[index]?.type == declaration.type { found[index]?.undecoded.append(cell) }
            }
        }
        return found.compactMap { $0 }
    }
}
