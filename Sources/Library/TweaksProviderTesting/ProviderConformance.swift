// SPDX-License-Identifier: BSD-3-Clause
internal import Dispatch
internal import Glibc
internal import Synchronization
public import Tweaks

/// Checks that a provider conforms to the documentation of ``TweakProvider``.
///
///     try ProviderConformance(of: provider, holding: [key: 240]) { key, value in
///         settings.write(value, for: key)
///     }.check()
///
/// It works with every testing library: a violation is an error that ``check()`` throws.
public struct ProviderConformance: Sendable {
    private let provider: any TweakProvider
    private let values: [TweakKey: TweakValue]
    private let change: (@Sendable (TweakKey, TweakValue?) throws -> Void)?
    private let patience: Duration

    /// A requirement that the provider violates.
    public struct Violation: Error, CustomStringConvertible {
        /// The problem, with the tweak and the values.
        public let description: String
    }

    /// Creates the checks of a provider.
    ///
    /// - Parameters:
    ///   - provider: The provider, not in any store yet.
    ///   - values: All initial values of the provider, at least one.
    ///   - patience: The time within which the provider must report a change.
    ///   - change: A closure that changes, adds or, with `nil`, removes a value without using the provider;
    ///     `nil` for a provider whose values never change.
    public init(
        of provider: any TweakProvider, holding values: [TweakKey: TweakValue],
        patience: Duration = .seconds(5),
        change: (@Sendable (TweakKey, TweakValue?) throws -> Void)? = nil
    ) {
        self.provider = provider
        self.values = values
        self.patience = patience
        self.change = change
    }

    /// Runs all checks, which takes at most a few seconds. Afterwards the provider has its initial values
    /// again.
    ///
    /// - Throws: ``Violation``, or an error of the provider or the closure.
    public func check() throws {
        guard !values.isEmpty else { throw Violation(description: "the provider holds no value") }
        try checkAnswers()
        try checkThreads()
        let store = try storeWithTweaks()
        try store.add(provider, above: .session)
        for (key, value) in values { try expect(key, value, in: store, "from the beginning") }
        if let change {
            for (key, value) in values { try checkChanges(key, value, in: store, "behind its back", change) }
        }
        if let provider = provider as? any MutableTweakProvider {
            for (key, value) in values {
                try checkChanges(key, value, in: store, "through it") { try provider.set($1, for: $0) }
            }
        }
        try checkRemoval(store)
    }

    private func checkAnswers() throws {
        let unknown = TweakKey("Provider Conformance", "No such collection", "No such tweak")
        try expect(provider.source != .binary, "its source is the binary's")
        try expect(try provider.value(for: unknown) == nil, "it has a value for a name that it does not hold")
        let keys = try provider.keys
        try expect(!keys.contains(unknown), "it lists a name that it does not hold")
        for key in values.keys {
            try expect(keys.contains(key), "\(key): it is not in the list of names")
            try expect(try provider.value(for: key) != nil, "\(key): there is no value")
        }
        for key in keys {
            try expect(try provider.value(for: key) != nil, "\(key): it is listed and has no value")
        }
    }

    private func checkThreads() throws {
        let problems = Mutex<[String]>([])
        let expected = try values.keys.map { ($0, try provider.value(for: $0)) }
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for (key, value) in (0..<100).flatMap({ _ in expected })
            where (try? provider.value(for: key)) != value {
                problems.withLock { $0.append("\(key): it answers differently on several threads") }
            }
        }
        if let problem = problems.withLock({ $0.first }) { throw Violation(description: problem) }
    }

    private func checkChanges(
        _ key: TweakKey, _ value: TweakValue, in store: TweakStore, _ how: String,
        _ change: (TweakKey, TweakValue?) throws -> Void
    ) throws {
        let other = other(than: value)
        let changes = Mutex<[TweakChange]>([])
        let observation = store.observe(didChange: { change in changes.withLock { $0.append(change) } })
        defer { observation.cancel() }
        try change(key, other)
        try expect(key, other, in: store, "after a change \(how)")
        // Observers are notified after the value has changed, perhaps on another thread.
        wait { changes.withLock { !$0.isEmpty } }
        let told = changes.withLock { $0 }
        try expect(
            told.count == 1 && told[0].key == key && told[0].source == provider.source,
            "\(key): a change \(how) reached observers as \(told)")
        try change(key, nil)
        try expect(
            key, try store.status(of: key).declaration.defaultValue, in: store, "after a removal \(how)")
        try change(key, value)
        try expect(key, value, in: store, "after it was added again \(how)")
    }

    private func checkRemoval(_ store: TweakStore) throws {
        try store.remove(providerOf: provider.source)
        for key in values.keys {
            try expect(
                key, try store.status(of: key).declaration.defaultValue, in: store, "without the provider")
        }
    }

    /// Returns a store with a tweak for each value, whose default is another value.
    private func storeWithTweaks() throws -> TweakStore {
        let store = TweakStore()
        for (key, value) in values {
            try store.make(
                TweakDeclaration(key: key, type: value.naturalType, defaultValue: other(than: value)))
        }
        return store
    }

    private func other(than value: TweakValue) -> TweakValue {
        switch value {
        case .bool(let flag): .bool(!flag)
        case .integer(let number): .integer(number == 77 ? 78 : 77)
        case .double(let number): .double(number == 0.75 ? 0.5 : 0.75)
        case .string(let text): .string(text + "?")
        case .color(let color): .color(TweakColor(red: ~color.red, green: color.green, blue: color.blue))
        case .nothing: .nothing
        }
    }

    private func expect(_ key: TweakKey, _ value: TweakValue, in store: TweakStore, _ when: String) throws {
        try wait { try store.value(of: key) == value }
        let current = try store.value(of: key)
        try expect(current == value, "\(key): it should be \(value) \(when), but is \(current)")
    }

    private func wait(until condition: () throws -> Bool) rethrows {
        let deadline = ContinuousClock.now + patience
        while try !condition(), ContinuousClock.now < deadline { usleep(1000) }
    }

    private func expect(_ condition: @autoclosure () throws -> Bool, _ problem: @autoclosure () -> String)
        throws
    {
        guard try condition() else { throw Violation(description: problem()) }
    }
}
