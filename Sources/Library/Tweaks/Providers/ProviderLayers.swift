// SPDX-License-Identifier: BSD-3-Clause
internal import TweakFormats
internal import TweakRecords

/// The value of a tweak and its provider.
struct Resolution {
    var value: TweakValue
    var source: TweakSource
}

/// A provider's declarations of tweaks that no binary needs to declare.
struct ProvidedDeclarations: Sendable {
    /// The declarations that were queried one by one.
    var some: [TweakKey: TweakDeclaration] = [:]
    /// The other declarations. It is called with the store's lock held and runs only the library's code.
    var others: @Sendable (TweakKey) -> TweakDeclaration? = { _ in nil }

    subscript(key: TweakKey) -> TweakDeclaration? { some[key] ?? others(key) }
}

/// The values of a store's providers, in their order. The first value that the tweak accepts counts.
struct ProviderLayers {
    /// The values and failures of one provider.
    struct Layer {
        let source: TweakSource
        var values: [TweakKey: ProvidedValue] = [:]
        var declarations = ProvidedDeclarations()
        /// The errors of tweaks that should have values and have none.
        var failures: [TweakKey: ProviderFailure] = [:]
        /// Queries the provider; `nil` for the store's own layers.
        var feed: ProviderFeed?

        func value(of key: TweakKey) -> ProvidedValue? {
            // Even a lookup in an empty dictionary computes a hash.
            values.isEmpty ? nil : values[key]
        }
    }

    /// Highest precedence first.
    private(set) var all: [Layer] = [.session, .environment, .overrides].map { Layer(source: $0) }
    /// The provider that keeps what a person sets: the first that can, except the session.
    private(set) var keeper = TweakSource.overrides
    /// The providers that are queried for every tweak.
    private(set) var askedForAll: [ProviderFeed] = []
    /// The leases, whose values are in a layer of their own, below the session's, while there are any.
    private(set) var leases = Leases()
    /// The indices of the layers of leases, of the session and of kills.
    private var leaseLayer: Int?, sessionLayer: Int? = 0, killLayer: Int?
    /// The values that adopted variables had before they got one of a provider. The program may have stored them, so
    /// they are not always the defaults.
    var ownValues: [TweakKey: TweakValue] = [:]

    /// Whether no provider has any value.
    var isEmpty: Bool { all.allSatisfy { $0.values.isEmpty } }

    /// The tweaks that any provider has a value for.
    var keys: Set<TweakKey> { all.reduce(into: []) { $0.formUnion($1.values.keys) } }

    // MARK: The order

    mutating func insert(_ layer: Layer, at index: Int) {
        // In the most common case, avoids the metadata of a collection of one.
        if index == all.endIndex { all.append(layer) } else { all.insert(layer, at: index) }
        placeKills()
        findKeeper()
    }

    mutating func remove(_ source: TweakSource) {
        all.removeAll { $0.source == source }
        findKeeper()
    }

    /// The providers in their order, without leases and kills, whose places are fixed.
    var sources: [TweakSource] { all.map { $0.source }.filter { $0 != .lease && $0 != .kill } }

    /// The same layers in another order; `nil` unless that names each of ``sources`` once.
    func ordered(_ order: [TweakSource]) -> ProviderLayers? {
        let sources = sources
        guard order.count == sources.count, sources.allSatisfy(order.contains) else { return nil }
        var layers = self
        layers.all = order.compactMap { index(of: $0).map { all[$0] } }
        if let leaseLayer {
            layers.all.insert(all[leaseLayer], at: layers.index(of: .session).map { $0 + 1 } ?? 0)
        }
        if let kills = index(of: .kill) { layers.all.append(all[kills]) }
        layers.placeKills()
        layers.findKeeper()
        return layers
    }

    /// Moves kills above all other providers but the session, if that is first, and its leases.
    private mutating func placeKills() {
        guard let index = index(of: .kill) else { return }
        let kills = all.remove(at: index)
        all.insert(kills, at: all.prefix { $0.source == .session || $0.source == .lease }.count)
    }

    private mutating func findKeeper() {
        (leaseLayer, sessionLayer, killLayer) = (index(of: .lease), index(of: .session), index(of: .kill))
        askedForAll = []
        for layer in all {
            if let feed = layer.feed, !feed.listsAllKeys { askedForAll.append(feed) }
        }
        keeper =
            all.first { $0.source == .overrides || $0.feed?.mutableProvider != nil }?.source ?? .overrides
    }

    /// Whether the store itself keeps the values of this source and a person can change them.
    func keepsItself(_ source: TweakSource) -> Bool { source == .overrides || source == .session }

    func index(of source: TweakSource) -> Int? { all.indices.first { all[$0].source == source } }

    var feeds: [ProviderFeed] { all.compactMap { $0.feed } }

    func feed(of source: TweakSource) -> ProviderFeed? { index(of: source).flatMap { all[$0].feed } }

    // MARK: Leases

    mutating func openLeases(of connection: ClientIdentity) { leases.open(connection) }

    mutating func closeLeases(of connection: ClientIdentity) { leases.close(connection) }

    /// The change that begins leases.
    mutating func beginLeases(
        _ values: [(key: TweakKey, value: TweakValue)], _ terms: Lease.Terms, by author: ChangeAuthor
    ) -> Leases.Change {
        // An update is planned with the layer.
        if leaseLayer == nil {
            insert(Layer(source: .lease), at: sessionLayer.map { $0 + 1 } ?? 0)
        }
        return leases.beginning(values, terms, by: author)
    }

    private mutating func commit(_ change: Leases.Change) {
        leases.apply(change)
        guard let leaseLayer else { return }
        for (key, value) in change.values { all[leaseLayer].values[key] = value.map(ProvidedValue.value) }
        if leases.isEmpty { remove(.lease) }
    }

    /// The same layers as they will be when all leases have ended.
    var withoutLeases: ProviderLayers {
        var layers = self
        layers.remove(.lease)
        return layers
    }

    /// Whether any tweak can have leases or a kill.
    var haveLeasesOrKills: Bool { !leases.isEmpty || killLayer != nil }

    func isKilled(_ key: TweakKey) -> Bool {
        killLayer.map { all[$0].value(of: key) != nil } ?? false
    }

    /// The same layers as they will be when all leases and kills have ended.
    var withoutLeasesAndKills: ProviderLayers {
        var layers = withoutLeases
        layers.remove(.kill)
        return layers
    }

    /// The same layers without those above a provider.
    func from(_ source: TweakSource) -> ProviderLayers {
        var layers = self
        layers.all.removeFirst(index(of: source) ?? 0)
        layers.findKeeper()
        return layers
    }

    // MARK: The values

    func declarations(of source: TweakSource) -> ProvidedDeclarations {
        index(of: source).map { all[$0].declarations } ?? ProvidedDeclarations()
    }

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

    /// The value of a tweak. Messages about invalid values are dropped.
    func resolve(_ tweak: TweakDeclaration) -> Resolution {
        var messages: [String] = []
        return resolve(tweak, &messages)
    }

    /// The value of a tweak.
    func resolve(_ tweak: TweakDeclaration, _ messages: inout [String]) -> Resolution {
        resolve(tweak, after: nil, nil, in: nil, &messages)
    }

    /// The value of a tweak as it would be after an update.
    ///
    /// - Parameters:
    ///   - new: The update's value for the tweak.
    ///   - layer: The index of the update's provider.
    ///   - messages: Collects messages about invalid values.
    func resolve(
        _ tweak: TweakDeclaration, after update: ValueUpdate?, _ new: ProvidedValue?, in layer: Int?,
        _ messages: inout [String]
    ) -> Resolution {
        for index in all.indices {
            let isUpdated = index == layer
            if index == sessionLayer, !isUpdated, let session = update?.session {
                guard let value = session[tweak.key] else { continue }
                return Resolution(value: value, source: all[index].source)
            }
            var provided = isUpdated ? new : all[index].value(of: tweak.key)
            if index == leaseLayer, let value = update?.leases.value(of: tweak.key) {
                provided = value.map(ProvidedValue.value)
            }
            guard let provided else { continue }
            let source = all[index].source
            if isUpdated, update?.isAdmitted == true, case .value(let value) = provided {
                return Resolution(value: value, source: source)
            }
            do throws(TweakValueError) {
                let admission = try provided.admission(for: tweak)
                if admission.wasClamped {
                    messages.append(
                        "\(tweak.key): the \(source) is outside the limits and clamped to "
                            + "\(admission.value); allowed: \(tweak.allowed)")
                }
                return Resolution(value: admission.value, source: source)
            } catch {
                messages.append("\(source) ignored: \(error)")
            }
        }
        let own = ownValues.isEmpty ? nil : ownValues[tweak.key]
        return Resolution(value: own ?? tweak.defaultValue, source: .binary)
    }

    /// The providers' values for a tweak, highest precedence first.
    func opinions(on key: TweakKey) -> [(source: TweakSource, provided: ProvidedValue)] {
        all.compactMap { layer in layer.values[key].map { (layer.source, $0) } }
    }

    /// The value with the highest precedence for a name that nothing declares.
    func value(ofUndeclared key: TweakKey) -> TweakValue {
        for (_, provided) in opinions(on: key) {
            if case .value(let value) = provided { return value }
        }
        return .nothing
    }

    /// The declaration of a tweak by the highest provider that has one.
    func declaration(of key: TweakKey) -> TweakDeclaration? { declaration(of: key, after: nil, nil, in: nil) }

    /// The declaration of a tweak by the highest provider that has one, as it would be after an update; see
    /// ``resolve(_:after:_:in:_:)``. A feature for which providers only have a value is declared by that value.
    ///
    /// Never inlined, because the optimizer of Swift 6.3.1 crashes when it specializes this for no update.
    @inline(never)
    func declaration(
        of key: TweakKey, after update: ValueUpdate?, _ new: ProvidedValue?, in layer: Int?
    ) -> TweakDeclaration? {
        var highest: ProvidedValue?
        for index in all.indices {
            let isUpdated = index == layer
            // The store's own layers declare nothing.
            guard all[index].feed != nil, let provided = isUpdated ? new : all[index].value(of: key)
            else { continue }
            let declarations = isUpdated ? update?.declarations : all[index].declarations
            if let declaration = declarations?[key] { return declaration }
            highest = highest ?? provided
        }
        guard case .value(let value)? = highest else { return nil }
        return TweakDeclaration(feature: key, having: value)
    }

    /// The provider that introduces a tweak that the program does not declare. One of the program's own comes before an
    /// agent's, which knows only the name and a value.
    func introducer(of key: TweakKey) -> TweakSource? {
        let providing = all.filter { $0.feed != nil && $0.value(of: key) != nil }
        let introducer =
            providing.first { $0.declarations[key] != nil }
            ?? providing.first { !$0.source.isOfAgents } ?? providing.first
        return introducer?.source
    }

    /// Applies an update.
    ///
    /// - Parameters:
    ///   - index: The index of the update's provider.
    ///   - refused: The indices of values in the update that their tweaks refuse.
    ///   - changed: Called for values that differ from the provider's former ones.
    mutating func commit(
        _ update: ValueUpdate, to index: Int?, except refused: Set<Int>,
        _ changed: (TweakKey, ProvidedValue?) -> Void
    ) {
        defer { if !update.leases.isEmpty { commit(update.leases) } }
        guard let index, all.indices.contains(index) else { return }
        if all[index].values.isEmpty { all[index].values.reserveCapacity(update.opinions.count) }
        update.opinions.forEach { number, opinion in
            guard refused.isEmpty || !refused.contains(number) else { return }
            let old: ProvidedValue?
            if let provided = opinion.provided {
                old = all[index].values.updateValue(provided, forKey: opinion.key)
            } else {
                old = all[index].values.removeValue(forKey: opinion.key)
            }
            if old != opinion.provided { changed(opinion.key, opinion.provided) }
            if let session = update.session, let sessionLayer,
                !all[sessionLayer].values.isEmpty || !session.isEmpty
            {
                all[sessionLayer].values[opinion.key] = session[opinion.key].map(ProvidedValue.value)
            }
            if !all[index].failures.isEmpty { all[index].failures[opinion.key] = nil }
            if !update.isAdmitted {
                all[index].declarations.some[opinion.key] = update.declarations.some[opinion.key]
            }
        }
        if !update.isAdmitted { all[index].declarations.others = update.declarations.others }
        for (key, failure) in update.failures { all[index].failures[key] = failure }
    }

    /// Whether a provider failed to give a value for a tweak.
    func fail(_ key: TweakKey) -> Bool { all.contains { $0.failures[key] != nil } }

    /// Whether a provider has a value that it cannot decrypt.
    func isEncrypted(_ key: TweakKey) -> Bool {
        all.contains { $0.failures[key]?.tweakError == .encrypted(key) }
    }
}
