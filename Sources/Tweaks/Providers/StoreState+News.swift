internal import TweakJSON
internal import TweakRecords

extension StoreState {
    /// What news of a provider change in the process.
    struct Outcome {
        var news: ProviderChain.News
        /// The tweaks that the news are about, with the values that they have afterwards.
        var tweaks: [TweakKey: Entry]
        var changes: [TweakChange] = []
        var messages: [String] = []

        /// Finds the changes when a chain gives the values.
        mutating func resolve(by chain: ProviderChain) {
            for tweak in tweaks.values {
                let resolution = chain.resolve(tweak.declaration)
                messages += resolution.messages
                if let change = tweak.change(to: resolution) { changes.append(change) }
            }
            changes.sort { $0.key < $1.key }
        }
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
        for key in known.keys where values[key] == nil && isWanted(key) {
            news.values.updateValue(nil, forKey: key)
        }
        return news
    }

    /// What news change. Only the records of tweaks that they are about are decoded.
    func outcome(of news: ProviderChain.News) -> Outcome {
        var after = chain
        after.news = [news]
        var outcome = Outcome(news: news, tweaks: entries(of: Set(news.values.keys)))
        for (key, entry) in outcome.tweaks {
            guard let provided = news.values[key] ?? nil, chain[news.source][key] != nil else { continue }
            do throws(TweakValueError) { _ = try provided.admission(for: entry.declaration) } catch {
                // As with a set that is refused, the tweak keeps its value.
                outcome.messages.append("\(news.source) ignored: \(error)")
                outcome.news.values[key] = nil
                outcome.tweaks[key] = nil
            }
        }
        outcome.resolve(by: after)
        return outcome
    }

    /// Takes over news, and leaves the changes for observers.
    ///
    /// - Returns: Whether there are any.
    mutating func take(_ news: ProviderChain.News) -> Bool {
        var outcome = outcome(of: news)
        if outcome.tweaks.contains(where: { $0.value.declaration.needsRestart && entries[$0.key] == nil }) {
            // Decoded later, it would have its new value.
            decode()
            outcome = self.outcome(of: news)
        }
        chain.takeFailures(of: news)
        for (key, provided) in outcome.news.values { chain[news.source][key] = provided }
        let hasChanges = take(outcome)
        declare(outcome.news)
        return hasChanges
    }

    /// Takes over values that the chain gives now.
    mutating func take(_ outcome: Outcome) -> Bool {
        messages += outcome.messages
        for (key, tweak) in outcome.tweaks {
            let resolution = chain.resolve(tweak.declaration)
            if entries[key]?.take(resolution) == nil, entries[key] == nil {
                var tweak = tweak
                _ = tweak.take(resolution)
            }
        }
        undelivered.append(contentsOf: outcome.changes)
        return !outcome.changes.isEmpty
    }

    /// Has tweaks that only providers know come and go.
    private mutating func declare(_ news: ProviderChain.News) {
        for (key, declaration) in news.declarations where entries[key] == nil {
            undeclared[key] = declaration
        }
        for (key, provided) in news.values where provided == nil && chain.opinions(on: key).isEmpty {
            undeclared[key] = nil
            guard let cells = entries[key]?.cells, cells.contains(where: { $0.owner == .provided }) else {
                continue
            }
            replaceCells(of: key, with: cells.filter { $0.owner != .provided })
        }
        _ = forgetMissing()
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
        keys.reduce(into: [:]) { values, key in
            values[key] = self[key].map { entry in
                entry.tweakValue.map(ProvidedValue.value) ?? .unusable(entry.summary)
            }
        }
    }
}
