internal import TweakRecords

/// What values that providers give do to tweaks.
struct ProvidedEffects {
    /// Tweaks that are decoded, and what decides their values.
    var decoded: [(key: TweakKey, resolution: ProviderChain.Resolution)] = []
    /// Cells in records that are not decoded and whose values are others now, with the indexes of those.
    var cells: [(cell: Cell, value: Int)] = []
    var values: [TweakValue] = []
    /// What changes now, in no order, if somebody wants to know.
    var changes: [TweakChange] = []
    var messages: [String] = []
    /// The names of no tweak, or one that is left out.
    var missing: [TweakKey] = []
    /// Whether a tweak that is not decoded would have to keep its value until a restart.
    var needsDecoding = false
}

extension StoreState {
    /// What values that providers give to tweaks do to them, also to those in records that are not decoded yet.
    ///
    /// - Parameters:
    ///   - keys: The names, each once.
    ///   - before: What the cells of records that are not decoded have been given.
    ///   - resolve: The value that a tweak gets, whose name has an index; `nil` for one that is left out.
    func effects(
        on keys: [TweakKey], before: ProviderChain,
        resolvedBy resolve: (TweakDeclaration, Int) -> ProviderChain.Resolution?
    ) -> ProvidedEffects {
        var effects = ProvidedEffects()
        // Of thousands of tweaks at the start it takes a while, and nobody listens yet.
        let isListening = !observers.isEmpty || undelivered.listener != nil
        /// What the first record or entry of each name says.
        var places = [Place](repeating: Place(), count: keys.count)
        for (index, key) in keys.enumerated() {
            guard let entry = entries[key], let resolution = resolve(entry.declaration, index) else {
                continue
            }
            places[index] = Place(type: entry.declaration.type)
            effects.decoded.append((key, resolution))
            guard let change = entry.change(to: resolution) else { continue }
            places[index].value = effects.add(change.newValue)
            if isListening { effects.changes.append(change) }
        }
        let nothingBefore = before.isEmpty
        let matcher = undecoded.isEmpty ? nil : RecordMatcher(keys)
        if matcher != nil {
            effects.cells.reserveCapacity(keys.count)
            effects.values.reserveCapacity(keys.count)
        }
        for records in undecoded.lazy.flatMap(\.records) {
            matcher?.forEachMatch(in: records) { range, index in
                let key = keys[index]
                guard
                    let declaration = try? TweakDeclaration(
                        resolving: records.bytes, in: range, byteOrder: .native, of: key),
                    let cell = Cell(records, range, declaration.type)
                else { return }
                if places[index].type == nil, entries[key] == nil,
                    let resolution = resolve(declaration, index)
                {
                    let value = nothingBefore ? declaration.defaultValue : before.resolve(declaration).value
                    places[index] = effects.add(declaration, value, resolution, isListening)
                }
                let place = places[index]
                if place.type == declaration.type, place.value >= 0 {
                    effects.cells.append((cell, Int(place.value)))
                }
            }
        }
        for (index, key) in keys.enumerated() where places[index].type == nil { effects.missing.append(key) }
        return effects
    }
}

/// What is known of a name.
private struct Place {
    /// The type of the tweak; `nil` if none has been found.
    var type: TweakType?
    /// The index of its new value; -1 if it stays the same.
    var value: Int32 = -1
}

extension ProvidedEffects {
    /// Gives the cells in records that are not decoded their values.
    func store() {
        for (cell, value) in cells { cell.store(values[value]) }
    }

    /// Adds a tweak that is not decoded.
    fileprivate mutating func add(
        _ declaration: TweakDeclaration, _ value: TweakValue, _ resolution: ProviderChain.Resolution,
        _ isListening: Bool
    ) -> Place {
        messages += resolution.messages
        guard resolution.value != value else { return Place(type: declaration.type) }
        needsDecoding = needsDecoding || declaration.needsRestart
        if isListening {
            changes.append(
                TweakChange(
                    key: declaration.key, oldValue: value, newValue: resolution.value,
                    source: resolution.source))
        }
        return Place(type: declaration.type, value: add(resolution.value))
    }

    fileprivate mutating func add(_ value: TweakValue) -> Int32 {
        values.append(value)
        return Int32(values.count - 1)
    }
}
