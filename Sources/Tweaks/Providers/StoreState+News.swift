internal import TweakJSON
internal import TweakRecords

extension StoreState {
    /// What news of a provider change in the process.
    struct Outcome {
        var news: ProviderChain.News
        /// What they do to the tweaks that they are about.
        var effects = ProvidedEffects()
        var messages: [String] = []

        /// What changes now, sorted by name, if somebody wants to know.
        var changes: [TweakChange] { effects.changes.sorted { $0.key < $1.key } }
    }

    /// What a document that was read again changes among the overrides.
    ///
    /// - Parameter unwritten: The tweaks whose values are still to be written into it. They keep the ones they have, and
    ///   so do those that have been set since it was read.
    func news(of document: OverridesDocument, except unwritten: Set<TweakKey>) -> ProviderChain.News {
        let kept = unwritten.union(setWhileReloading ?? [])
        return news(of: .overrides, having: document.provided, where: { !kept.contains($0) })
    }

    /// What is different in all that a provider has.
    func news(
        of source: TweakSource, having values: [TweakKey: ProvidedValue],
        where isWanted: (TweakKey) -> Bool = { _ in true }
    ) -> ProviderChain.News {
        let known = chain[source]
        var news = ProviderChain.News(source: source)
        for (key, value) in values where known[key] != value && isWanted(key) { news.values[key] = value }
        for key in known.keys where values[key] == nil && isWanted(key) { news.gone.insert(key) }
        return news
    }

    /// What news change. Only the records of tweaks that they are about are decoded.
    func outcome(of news: ProviderChain.News) -> Outcome {
        let before = chain[news.source]
        var after = chain
        after.news = [news]
        var outcome = Outcome(news: news)
        // As a rule nothing stands above.
        let layer = chain.isHighest(news.source) ? chain.index(of: news.source) : nil
        let provided = Array(news.values.values)
        let keys = Array(news.values.keys) + news.gone
        outcome.effects = effects(on: keys, before: chain) { tweak, index in
            // Those behind them are gone.
            guard index < provided.count else { return after.resolve(tweak) }
            let provided = provided[index]
            if before[tweak.key] != nil {
                do throws(TweakValueError) { _ = try provided.admission(for: tweak) } catch {
                    // As with a set that is refused, the tweak keeps its value.
                    outcome.messages.append("\(news.source) ignored: \(error)")
                    outcome.news.values[tweak.key] = nil
                    return nil
                }
            }
            let first = layer.map { ProviderChain.FirstWord(layer: $0, provided: provided) }
            return after.resolve(tweak, first)
        }
        return outcome
    }

    /// What another chain, with the same values, changes.
    func outcome(of chain: ProviderChain) -> Outcome {
        let (keys, words) = chain.firstWords
        return Outcome(
            news: ProviderChain.News(source: .binary),
            effects: effects(on: keys, before: self.chain) { chain.resolve($0, words[$1]) })
    }

    /// Takes over news, and leaves the changes for observers.
    ///
    /// - Returns: Whether there are any.
    mutating func take(_ news: ProviderChain.News) -> Bool {
        let outcome = decodedOutcome { $0.outcome(of: news) }
        chain.takeFailures(of: news)
        chain.take(outcome.news)
        let hasChanges = take(outcome)
        declare(outcome)
        return hasChanges
    }

    /// Takes over another order of the chain, and leaves the changes for observers.
    ///
    /// - Returns: Whether there are any.
    mutating func take(_ chain: ProviderChain) -> Bool {
        let outcome = decodedOutcome { $0.outcome(of: chain) }
        self.chain = chain
        return take(outcome)
    }

    private mutating func decodedOutcome(_ outcome: (StoreState) -> Outcome) -> Outcome {
        let first = outcome(self)
        guard first.effects.needsDecoding else { return first }
        // Decoded later, a tweak that needs a restart would have its new value.
        decode()
        return outcome(self)
    }

    /// Takes over values that the chain gives now.
    private mutating func take(_ outcome: Outcome) -> Bool {
        messages += outcome.messages + outcome.effects.messages
        for (key, resolution) in outcome.effects.decoded {
            messages += resolution.messages
            if let index = entries.index(forKey: key) { _ = entries.values[index].take(resolution) }
        }
        outcome.effects.store()
        let changes = outcome.changes
        undelivered.append(contentsOf: changes)
        return !changes.isEmpty
    }

    /// Has tweaks that only providers know come and go.
    private mutating func declare(_ outcome: Outcome) {
        for key in outcome.effects.missing where entries[key] == nil {
            if let declaration = outcome.news.declaration(key) { undeclared[key] = declaration }
        }
        var isMissing = false
        for key in outcome.news.gone where chain.opinions(on: key).isEmpty {
            undeclared[key] = nil
            guard let cells = entries[key]?.cells, cells.contains(where: { $0.owner == .provided }) else {
                continue
            }
            replaceCells(of: key, with: cells.filter { $0.owner != .provided })
            isMissing = isMissing || entries[key] == nil
        }
        // It looks at every tweak.
        if isMissing { _ = forgetMissing() }
    }

    /// Makes the tweaks that only providers know.
    mutating func addUndeclared() {
        let declarations = undeclared.values.sorted { $0.key < $1.key }
        undeclared = [:]
        for declaration in declarations where entries[declaration.key] == nil {
            let handle = handles[declaration.key] ?? Handle(declaration)
            replaceHandle(of: declaration.key, with: handle)
            add(declaration, OwnedCell(handle.cell, .provided))
        }
    }
}

extension OverridesDocument {
    /// What it holds, by name.
    var provided: [TweakKey: ProvidedValue] {
        var provided = [TweakKey: ProvidedValue](minimumCapacity: count)
        forEach { key, entry in
            provided[key] = entry.tweakValue.map(ProvidedValue.value) ?? .unusable(entry.summary)
        }
        return provided
    }
}
