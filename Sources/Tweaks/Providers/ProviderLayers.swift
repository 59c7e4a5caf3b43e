internal import TweakRecords

/// What decides the value of a tweak.
struct Resolution {
    var value: TweakValue
    var source: TweakSource
    /// What is wrong with the values on the way to it.
    var messages: [String] = []
}

/// What the providers of a store say, in their order. The first that has a value which the tweak can take decides.
struct ProviderLayers {
    /// One provider as far as the store knows it.
    struct Layer {
        let source: TweakSource
        var values: [TweakKey: ProvidedValue] = [:]
        /// Why it last had no value for a tweak, though it should.
        var failures: [TweakKey: any Error] = [:]
        /// What asks the provider; `nil` for what the store itself keeps.
        var feed: ProviderFeed?
    }

    /// The highest first.
    private(set) var all: [Layer] = [.session, .environment, .overrides].map { Layer(source: $0) }
    /// Who keeps what a person sets: the first that can, the session excepted.
    private(set) var keeper = TweakSource.overrides

    /// Whether no provider has a value for anything.
    var isEmpty: Bool { all.allSatisfy(\.values.isEmpty) }

    /// The tweaks that some provider has a value for.
    var keys: Set<TweakKey> { all.reduce(into: []) { $0.formUnion($1.values.keys) } }

    // MARK: The order

    mutating func insert(_ layer: Layer, at index: Int) {
        all.insert(layer, at: index)
        findKeeper()
    }

    mutating func remove(_ source: TweakSource) {
        all.removeAll { $0.source == source }
        findKeeper()
    }

    /// The same layers in another order; `nil` if that does not name each of them once.
    func ordered(_ sources: [TweakSource]) -> ProviderLayers? {
        guard sources.count == all.count, Set(sources) == Set(all.map(\.source)) else { return nil }
        var layers = self
        layers.all = sources.compactMap { index(of: $0).map { all[$0] } }
        layers.findKeeper()
        return layers
    }

    private mutating func findKeeper() {
        keeper =
            all.first { $0.source == .overrides || $0.feed?.provider is any MutableTweakProvider }?.source
            ?? .overrides
    }

    /// Whether a source is one that the store keeps itself and a person changes.
    func keepsItself(_ source: TweakSource) -> Bool { source == .overrides || source == .session }

    func index(of source: TweakSource) -> Int? { all.indices.first { all[$0].source == source } }

    var feeds: [ProviderFeed] { all.compactMap(\.feed) }

    func feed(of source: TweakSource) -> ProviderFeed? { index(of: source).flatMap { all[$0].feed } }

    // MARK: The values

    subscript(source: TweakSource) -> [TweakKey: ProvidedValue] {
        get { index(of: source).map { all[$0].values } ?? [:] }
        _modify {
            if let index = index(of: source) {
                yield &all[index].values
            } else {
                var none: [TweakKey: ProvidedValue] = [:]
                yield &none
            }
        }
    }

    /// The value of a tweak.
    func resolve(_ tweak: TweakDeclaration) -> Resolution { resolve(tweak, isAdmitted: false) { _ in nil } }

    /// The value of a tweak, as if the layers had an update already.
    ///
    /// - Parameter index: Where in the update the tweak is.
    func resolve(_ tweak: TweakDeclaration, after update: ValueUpdate, at index: Int) -> Resolution {
        resolve(tweak, isAdmitted: update.isAdmitted) { source in
            if source == update.source { return .some(update.opinions[index].provided) }
            return update.endsSession && source == .session ? .some(nil) : nil
        }
    }

    /// - Parameters:
    ///   - isAdmitted: Whether the tweak has admitted what is new.
    ///   - opinion: What a provider says anew, if it does.
    @inline(__always)
    private func resolve(
        _ tweak: TweakDeclaration, isAdmitted: Bool, _ opinion: (TweakSource) -> ProvidedValue??
    ) -> Resolution {
        var messages: [String] = []
        for index in all.indices {
            let source = all[index].source
            let provided: ProvidedValue?
            if let new = opinion(source) {
                if isAdmitted, case .value(let value)? = new {
                    return Resolution(value: value, source: source, messages: messages)
                }
                provided = new
            } else {
                provided = all[index].values.isEmpty ? nil : all[index].values[tweak.key]
            }
            guard let provided else { continue }
            do throws(TweakValueError) {
                let admission = try provided.admission(for: tweak)
                if admission.wasClamped {
                    messages.append(
                        "\(tweak.key): the \(source) is outside the limits and taken as "
                            + "\(admission.value); allowed: \(tweak.allowed)")
                }
                return Resolution(value: admission.value, source: source, messages: messages)
            } catch {
                messages.append("\(source) ignored: \(error)")
            }
        }
        return Resolution(value: tweak.defaultValue, source: .binary, messages: messages)
    }

    /// What each provider that has a value for a tweak says, the highest first.
    func opinions(on key: TweakKey) -> [(source: TweakSource, provided: ProvidedValue)] {
        all.compactMap { layer in layer.values[key].map { (layer.source, $0) } }
    }

    /// Takes over what an update says.
    ///
    /// - Parameters:
    ///   - refused: Where in the update are values that the tweaks refuse.
    ///   - changed: Called with what differs from what the provider had.
    mutating func commit(
        _ update: ValueUpdate, except refused: Set<Int>, _ changed: (TweakKey, ProvidedValue?) -> Void
    ) {
        guard let index = index(of: update.source) else { return }
        if all[index].values.isEmpty { all[index].values.reserveCapacity(update.opinions.count) }
        let endsSession = update.endsSession && !self[.session].isEmpty
        for opinion in update.opinions.indices where !refused.contains(opinion) {
            let (key, provided) = update.opinions[opinion]
            let old: ProvidedValue?
            if let provided {
                old = all[index].values.updateValue(provided, forKey: key)
            } else {
                old = all[index].values.removeValue(forKey: key)
            }
            if old != provided { changed(key, provided) }
            if endsSession { self[.session][key] = nil }
            if !all[index].failures.isEmpty { all[index].failures[key] = nil }
        }
        if !update.failures.isEmpty { all[index].failures.merge(update.failures) { $1 } }
    }

    /// Whether a provider has a value that it cannot decrypt.
    func isEncrypted(_ key: TweakKey) -> Bool {
        all.contains { $0.failures[key] as? FeatureError == .decryptionClosureNotProvided(key) }
    }
}
