internal import TweakRecords

/// What the providers of a store say, in their order. The first that has a value which the tweak can take decides.
struct ProviderChain {
    /// One provider as far as the store knows it.
    struct Layer {
        let source: TweakSource
        var values: [TweakKey: ProvidedValue] = [:]
        /// Why it last had no value for a tweak, though it should.
        var failures: [TweakKey: any Error] = [:]
        /// What asks the provider; `nil` for what the store itself keeps.
        var feed: ProviderFeed?
    }

    /// What decides the value of a tweak.
    struct Resolution {
        var value: TweakValue
        var source: TweakSource
        /// What is wrong with the values on the way to it.
        var messages: [String] = []
    }

    /// Values that a provider has now, and that the chain does not have yet.
    struct News {
        let source: TweakSource
        var values: [TweakKey: ProvidedValue] = [:]
        /// Tweaks that it has no value for any more.
        var gone: Set<TweakKey> = []
        /// What the provider knows of a tweak that no binary needs to declare. It asks nobody.
        var declaration: @Sendable (TweakKey) -> TweakDeclaration? = { _ in nil }
        /// Tweaks that it could not say anything about. They keep the values that they have.
        var failures: [TweakKey: any Error] = [:]
    }

    /// The highest first.
    private(set) var layers: [Layer] = [.session, .environment, .overrides].map { Layer(source: $0) }
    /// Who keeps what a person sets: the first that can, the session excepted.
    private(set) var keeper = TweakSource.overrides
    /// What is resolved as if it were in the chain already.
    var news: [News] = []

    /// Whether no provider has a value for anything.
    var isEmpty: Bool { layers.allSatisfy(\.values.isEmpty) }

    /// What the first provider says that has a value for a tweak.
    struct FirstWord {
        let layer: Int
        let provided: ProvidedValue
    }

    /// The tweaks that some provider has a value for, each once, and what the first says that has one.
    var firstWords: (keys: [TweakKey], words: [FirstWord]) {
        var keys: [TweakKey] = []
        var words: [FirstWord] = []
        for (layer, own) in layers.enumerated() where !own.values.isEmpty {
            keys.reserveCapacity(keys.count + own.values.count)
            words.reserveCapacity(keys.count + own.values.count)
            let above = layers[..<layer].map(\.values).filter { !$0.isEmpty }
            for (key, provided) in own.values where !above.contains(where: { $0[key] != nil }) {
                keys.append(key)
                words.append(FirstWord(layer: layer, provided: provided))
            }
        }
        return (keys, words)
    }

    mutating func insert(_ layer: Layer, at index: Int) {
        layers.insert(layer, at: index)
        findKeeper()
    }

    mutating func remove(_ source: TweakSource) {
        layers.removeAll { $0.source == source }
        findKeeper()
    }

    /// The same chain in another order; `nil` if that does not name each of its providers once.
    func ordered(_ sources: [TweakSource]) -> ProviderChain? {
        guard sources.count == layers.count, Set(sources) == Set(layers.map(\.source)) else { return nil }
        var chain = self
        chain.layers = sources.compactMap { index(of: $0).map { layers[$0] } }
        chain.findKeeper()
        return chain
    }

    private mutating func findKeeper() {
        keeper =
            layers.first { $0.source == .overrides || $0.feed?.provider is any MutableTweakProvider }?.source
            ?? .overrides
    }

    var feeds: [ProviderFeed] { layers.compactMap(\.feed) }

    func feed(of source: TweakSource) -> ProviderFeed? { index(of: source).flatMap { layers[$0].feed } }

    /// Whether no provider above this one has a value for anything.
    func isHighest(_ source: TweakSource) -> Bool {
        for index in layers.indices {
            if layers[index].source == source { return true }
            if !layers[index].values.isEmpty { return false }
        }
        return false
    }

    func index(of source: TweakSource) -> Int? { layers.indices.first { layers[$0].source == source } }

    subscript(source: TweakSource) -> [TweakKey: ProvidedValue] {
        get { index(of: source).map { layers[$0].values } ?? [:] }
        _modify {
            if let index = index(of: source) {
                yield &layers[index].values
            } else {
                var none: [TweakKey: ProvidedValue] = [:]
                yield &none
            }
        }
    }

    /// The value of a tweak.
    ///
    /// - Parameters:
    ///   - source: The highest provider that is asked; `nil` for all.
    ///   - first: What the first provider says that has a value, if it is known already.
    func resolve(
        _ tweak: TweakDeclaration, from source: TweakSource? = nil, _ first: FirstWord? = nil
    ) -> Resolution {
        var messages: [String] = []
        for index in layers.indices[(first?.layer ?? source.flatMap(index) ?? 0)...] {
            let known = index == first?.layer ? first?.provided : nil
            guard let provided = known ?? provided(by: index, for: tweak.key) else { continue }
            do throws(TweakValueError) {
                let admission = try provided.admission(for: tweak)
                if admission.wasClamped {
                    messages.append(
                        "\(tweak.key): the \(layers[index].source) is outside the limits and taken as "
                            + "\(admission.value); allowed: \(tweak.allowed)")
                }
                return Resolution(value: admission.value, source: layers[index].source, messages: messages)
            } catch {
                messages.append("\(layers[index].source) ignored: \(error)")
            }
        }
        return Resolution(value: tweak.defaultValue, source: .binary, messages: messages)
    }

    /// What each provider that has a value for a tweak says, the highest first.
    func opinions(on key: TweakKey) -> [(source: TweakSource, provided: ProvidedValue)] {
        layers.indices.compactMap { index in
            provided(by: index, for: key).map { (layers[index].source, $0) }
        }
    }

    /// Takes over values.
    mutating func take(_ news: News) {
        guard let index = index(of: news.source) else { return }
        if layers[index].values.isEmpty {
            layers[index].values = news.values
        } else {
            layers[index].values.merge(news.values) { $1 }
            for key in news.gone { layers[index].values[key] = nil }
        }
    }

    /// Takes over what a provider could not say.
    mutating func takeFailures(of news: News) {
        guard let index = index(of: news.source) else { return }
        if !layers[index].failures.isEmpty {
            for key in news.values.keys { layers[index].failures[key] = nil }
            for key in news.gone { layers[index].failures[key] = nil }
        }
        layers[index].failures.merge(news.failures) { $1 }
    }

    /// Whether a provider has a value that it cannot decrypt.
    func isEncrypted(_ key: TweakKey) -> Bool {
        layers.contains { $0.failures[key] as? FeatureError == .decryptionClosureNotProvided(key) }
    }

    /// What the provider at an index says. Neither its layer nor news are taken out, which would take longer than to
    /// look into them.
    private func provided(by index: Int, for key: TweakKey) -> ProvidedValue? {
        for new in news.indices where news[new].source == layers[index].source {
            if let provided = news[new].values[key] { return provided }
            if news[new].gone.contains(key) { return nil }
        }
        return layers[index].values[key]
    }
}
