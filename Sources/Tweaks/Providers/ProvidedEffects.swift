internal import TweakRecords

/// A tweak with the value that it has, and the one that providers give it.
struct ResolvedTweak {
    let key: TweakKey
    let type: TweakType
    let needsRestart: Bool
    let value: TweakValue
    let resolution: ProviderChain.Resolution

    init(_ declaration: TweakDeclaration, value: TweakValue, _ resolution: ProviderChain.Resolution) {
        key = declaration.key
        type = declaration.type
        needsRestart = declaration.needsRestart
        self.value = value
        self.resolution = resolution
    }

    /// Whether the value does not stay, until a restart at least.
    var changes: Bool { !needsRestart && resolution.value != value }

    /// The change; `nil` if there is none, until a restart at least.
    var change: TweakChange? {
        guard changes else { return nil }
        return TweakChange(
            key: key, oldValue: value, newValue: resolution.value, source: resolution.source)
    }
}

/// Tweaks of some names.
struct ResolvedTweaks {
    var all: [ResolvedTweak] = []
    /// Cells in records that are not decoded, and the indexes of their tweaks.
    var undecoded: [(tweak: Int, cell: Cell)] = []
    /// The names of no tweak, or one that is left out.
    var missing: [TweakKey] = []
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
    ) -> ResolvedTweaks {
        var tweaks = ResolvedTweaks()
        tweaks.all.reserveCapacity(keys.count)
        /// Where the tweaks of the keys are.
        var places = [Int?](repeating: nil, count: keys.count)
        for (index, key) in keys.enumerated() {
            guard let entry = entries[key], let resolution = resolve(entry.declaration) else { continue }
            places[index] = tweaks.all.count
            tweaks.all.append(ResolvedTweak(entry.declaration, value: entry.value, resolution))
        }
        if !undecoded.isEmpty {
            let nothingBefore = before.isEmpty
            tweaks.undecoded.reserveCapacity(keys.count)
            let matcher = RecordMatcher(keys)
            for records in undecoded.lazy.flatMap(\.records) {
                matcher.forEachMatch(in: records) { range, index in
                    let key = keys[index]
                    guard
                        let declaration = try? TweakDeclaration(
                            resolving: records.bytes, in: range, byteOrder: .native, of: key),
                        let cell = Cell(records, range, declaration.type)
                    else { return }
                    if places[index] == nil, entries[key] == nil, let resolution = resolve(declaration) {
                        places[index] = tweaks.all.count
                        let value =
                            nothingBefore ? declaration.defaultValue : before.resolve(declaration).value
                        tweaks.all.append(ResolvedTweak(declaration, value: value, resolution))
                    }
                    if let tweak = places[index], tweaks.all[tweak].type == declaration.type {
                        tweaks.undecoded.append((tweak, cell))
                    }
                }
            }
        }
        for (index, key) in keys.enumerated() where places[index] == nil { tweaks.missing.append(key) }
        return tweaks
    }
}
