// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

// Every process with tweaks has feeds of the files that an agent may write, so code here runs at each start, even
// without files. Generic metadata and conformance lookups would cost some pages.

/// A store's exclusive right to a provider.
final class ProviderClaim: Sendable {
    /// The providers of all stores. There are few.
    static let all = Guarded<[UInt]>([])

    private let number: UInt

    /// - Returns: `nil` if another store has the provider.
    init?(_ provider: any TweakProvider) {
        let number = UInt(bitPattern: ObjectIdentifier(provider as AnyObject))
        self.number = number
        let isMine = Self.all.withLock { all in
            guard !all.contains(number) else { return false }
            all.append(number)
            return true
        }
        guard isMine else { return nil }
    }

    deinit { Self.all.withLock { all in all.removeAll { $0 == number } } }
}

/// Queries a provider for its reported changes. One thread at a time does so, and also handles what other threads
/// report meanwhile, so the last value is never lost.
final class ProviderFeed: Sendable {
    private struct Work {
        var changed: Set<TweakKey> = []
        var everythingChanged = false
        /// The load to notify observers of after that.
        var load: TweakLoad?
        /// The last problem reported to observers; `nil` after a successful load.
        var problem: String?
        var isBusy = false
        var isRemoved = false
        var claim: ProviderClaim?

        mutating func note(_ problem: String?, of source: TweakSource) {
            self.problem = problem
            load = TweakLoad(source: source, problem: problem)
        }
    }

    let provider: any TweakProvider
    /// The same provider, if it reads files.
    let fileProvider: (any FileProvider)?
    /// The same provider, if it keeps what a person sets.
    let mutableProvider: (any MutableTweakProvider)?
    let listsAllKeys: Bool
    private let work: Guarded<Work>
    private let store: WeakReference<TweakStore>

    /// - Returns: `nil` if a store has the provider already.
    init?(
        _ provider: any TweakProvider, _ fileProvider: (any FileProvider)?,
        _ mutableProvider: (any MutableTweakProvider)?, of store: TweakStore
    ) {
        guard let claim = ProviderClaim(provider) else { return nil }
        work = Guarded(Work(claim: claim))
        self.provider = provider
        self.fileProvider = fileProvider
        self.mutableProvider = mutableProvider
        listsAllKeys = provider.listsAllKeys
        self.store = WeakReference(store)
    }

    /// Starts listening to the provider, and queries everything.
    func begin() {
        provider.onChange { [feed = WeakReference(self)] change in
            guard let feed = feed.object else { return }
            // A provider that changes once will change again, and decoded tweaks need no search.
            if let store = feed.store.object, feed.hasOrHadValues(in: store) {
                store.withDecodedState { _ in }
            }
            feed.report(change)
        }
        report(.everything)
        store.object?.followFiles(of: self)
    }

    /// Whether the provider has or had values. Most agents' files are missing, which is reported when watching begins.
    private func hasOrHadValues(in store: TweakStore) -> Bool {
        guard let tweaks = fileProvider?.tweaks else { return true }
        return !tweaks.values.isEmpty || !tweaks.failures.isEmpty
            || !store.state.withLock { $0.layers[provider.source].isEmpty }
    }

    func end() {
        work.withLock { $0.isRemoved = true }
        provider.onChange(nil)
        // Another store may now use the provider.
        work.withLock { $0.claim = nil }
        EventLoop.current.withLock { $0?.wake() }
    }

    func report(_ change: TweakProviderChange) {
        let isMine = work.withLock { work in
            switch change {
            case .tweaks(let keys): work.changed.formUnion(keys)
            case .everything: work.everythingChanged = true
            case .loaded:
                work.everythingChanged = true
                work.note(nil, of: provider.source)
            case .failed(let problem):
                if problem != work.problem { work.note(problem, of: provider.source) }
            }
            defer { work.isBusy = true }
            return !work.isBusy
        }
        guard isMine else { return }
        while let (keys, isEverything, load) = next() {
            guard let store = store.object else { continue }
            if isEverything || !keys.isEmpty,
                let update = isEverything ? everything(store) : some(keys, store)
            {
                store.apply { [source = provider.source] state in
                    // Once removed, a feed applies no more values.
                    state.layers.feed(of: source) === self && !isRemoved ? update : nil
                }
            }
            if let load { store.deliver(load) }
        }
    }

    var isRemoved: Bool { work.withLock { $0.isRemoved } }

    private func next() -> (keys: Set<TweakKey>, isEverything: Bool, load: TweakLoad?)? {
        work.withLock { work in
            guard !work.isRemoved, work.everythingChanged || !work.changed.isEmpty || work.load != nil else {
                work.isBusy = false
                return nil
            }
            defer {
                work.changed = []
                work.everythingChanged = false
                work.load = nil
            }
            return (work.changed, work.everythingChanged, work.load)
        }
    }

    private func everything(_ store: TweakStore) -> ValueUpdate? {
        let (known, former) = store.state.withLock { state in
            (state.layers[provider.source], state.layers.declarations(of: provider.source))
        }
        if let fileProvider {
            let tweaks = fileProvider.tweaks
            if tweaks.values.isEmpty, tweaks.failures.isEmpty, known.isEmpty { return nil }
            for (key, error) in tweaks.failures { warn(error, key, store) }
            let update = ValueUpdate(
                of: provider.source, by: .provider(provider.source), replacing: known, with: tweaks.values,
                except: { tweaks.failures[$0] != nil },
                // The declaration may be new where the value is not.
                renewing: { former[$0] != tweaks.declaration($0) })
            update.declarations.others = tweaks.declaration
            update.failures = tweaks.failures
            update.secrets = tweaks.secrets
            return update
        }
        do {
            let keys = try provider.keys.union(known.keys)
            if listsAllKeys { return some(keys, store) }
            return some(
                keys.union(store.allKeys()).union(store.state.withLock { $0.askedFor }), store)
        } catch {
            store.diagnostics.warn("\(provider.source): \(error); its values stay as they are")
            return nil
        }
    }

    private func some(_ keys: Set<TweakKey>, _ store: TweakStore) -> ValueUpdate {
        var opinions = ShortList<ValueUpdate.Opinion>()
        var declarations = ProvidedDeclarations()
        var failures: [TweakKey: ProviderFailure] = [:]
        opinions.reserveCapacity(keys.count)
        for key in keys {
            do {
                let provided = try provider.value(for: key)
                opinions.append(.init(key: key, provided: provided))
                guard provided != nil else { continue }
                declarations.some[key] = provider.declaration(of: key)
            } catch {
                failures[key] = error
                warn(error, key, store)
            }
        }
        let update = ValueUpdate(of: provider.source, by: .provider(provider.source), opinions)
        (update.declarations, update.failures) = (declarations, failures)
        return update
    }

    private func warn(_ error: ProviderFailure, _ key: TweakKey, _ store: TweakStore) {
        let message = "\(error)"
        // By words: errors of others may name the tweak, too. Only the text depends on it.
        store.diagnostics.warn(
            "\(provider.source) ignored: " + (message.hasPrefix("\(key): ") ? message : "\(key): \(message)"))
    }
}
