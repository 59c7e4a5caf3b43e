// SPDX-License-Identifier: BSD-3-Clause
#if Configuration
public import Configuration
public import Tweaks

/// A swift-configuration provider that serves the tweaks of a store.
///
///     let config = ConfigReader(provider: TweakConfigProvider(tuning: EnvironmentVariablesProvider()))
///     let timeout = config.double(forKey: "http.client.timeout", default: 30)   // the tweak http/client/timeout
///
/// With a provider to tune, each key that is read and has a value there becomes a tweak with that value as
/// its default, changeable at run time. ``ConfigurationNames`` maps keys to tweaks.
///
/// A value keeps the tweak's type: a Bool or a string cannot be read as an integer. An integer can also be
/// read as a double, and lists and bytes are stored as strings; see ``TweakConfigProvider/OtherType``.
public struct TweakConfigProvider: Sendable {
    private let store: TweakStore
    private let names: ConfigurationNames
    private let upstream: (any ConfigProvider)?

    /// An error for a tweak that does not have the requested type.
    public struct OtherType: Error, CustomStringConvertible {
        /// The tweak, its type, and the requested type.
        public let description: String
    }

    /// Creates a provider.
    ///
    /// - Parameters:
    ///   - upstream: The provider of values that are not tweaks yet; `nil` to serve only tweaks.
    ///   - store: The store of the tweaks.
    ///   - names: The mapping between keys and tweaks.
    public init(
        tuning upstream: (any ConfigProvider)? = nil, store: TweakStore = .shared,
        names: ConfigurationNames = ConfigurationNames()
    ) {
        self.upstream = upstream
        self.store = store
        self.names = names
    }

    /// Makes a tweak with the upstream's value as its default.
    private func declare(_ key: TweakKey, _ value: ConfigContent?) {
        guard let value = value?.tweakValue else { return }
        // A concurrent declaration is as good.
        try? store.make(TweakDeclaration(key: key, type: value.naturalType, defaultValue: value))
    }

    fileprivate static func result(
        _ key: TweakKey, _ value: TweakValue, _ type: ConfigType
    ) throws -> LookupResult {
        guard let content = ConfigContent(value, as: type) else {
            throw OtherType(description: "\(key): it is of type \(value.naturalType), not \(type)")
        }
        return LookupResult(encodedKey: "\(key)", value: ConfigValue(content, isSecret: false))
    }
}

extension TweakConfigProvider: ConfigProvider {
    /// The provider's name: `TweakConfigProvider`, with the name of the upstream.
    public var providerName: String {
        "TweakConfigProvider\(upstream.map { "[\($0.providerName)]" } ?? "")"
    }

    /// Returns the current value of a tweak.
    ///
    /// - Throws: ``OtherType``, and errors of the upstream.
    public func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
        let tweak = names.tweak(for: key)
        if let value = try? store.value(of: tweak) { return try Self.result(tweak, value, type) }
        guard let found = try upstream?.value(forKey: key, type: type), found.value != nil else {
            return LookupResult(encodedKey: "\(tweak)", value: nil)
        }
        guard found.value?.isSecret == false else { return found }
        declare(tweak, found.value?.content)
        return found
    }

    /// Returns the current value of a tweak, or the value that the upstream fetches for a key without a
    /// tweak.
    ///
    /// - Throws: ``OtherType``, and errors of the upstream.
    public func fetchValue(forKey key: AbsoluteConfigKey, type: ConfigType) async throws -> LookupResult {
        let tweak = names.tweak(for: key)
        if let upstream, (try? store.value(of: tweak)) == nil {
            let found = try await upstream.fetchValue(forKey: key, type: type)
            if found.value?.isSecret != false { return found }
            declare(tweak, found.value?.content)
        }
        return try value(forKey: key, type: type)
    }

    /// Passes a handler the current value of a tweak, and the latest one after each change. Values that
    /// arrive while one is handled are merged.
    ///
    /// - Throws: Errors of the handler.
    public func watchValue<Return: ~Copyable>(
        forKey key: AbsoluteConfigKey, type: ConfigType,
        updatesHandler: (ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>) async throws ->
            Return
    ) async throws -> Return {
        try await watch(names.tweak(for: key), updatesHandler) { provider in
            Result { try provider.value(forKey: key, type: type) }
        }
    }

    /// Returns all current values.
    public func snapshot() -> any ConfigSnapshot {
        TweakConfigSnapshot(
            providerName: providerName, names: names, values: store.snapshot(), upstream: upstream?.snapshot()
        )
    }

    /// Passes a handler all current values, and the latest ones after each change.
    ///
    /// - Throws: Errors of the handler.
    public func watchSnapshot<Return: ~Copyable>(
        updatesHandler: (ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws -> Return
    ) async throws -> Return {
        try await watch(nil, updatesHandler) { $0.snapshot() }
    }

    private func watch<Update, Return: ~Copyable>(
        _ key: TweakKey?, _ handle: (ConfigUpdatesAsyncSequence<Update, Never>) async throws -> Return,
        _ update: @escaping @Sendable (TweakConfigProvider) -> Update
    ) async throws -> Return {
        let (signals, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let observation = store.observe(key, didChange: { _ in continuation.yield() })
        defer { observation.cancel() }
        continuation.yield()
        return try await handle(ConfigUpdatesAsyncSequence(signals.map { update(self) }))
    }
}

private struct TweakConfigSnapshot: ConfigSnapshot {
    let providerName: String
    let names: ConfigurationNames
    let values: TweakSnapshot
    let upstream: (any ConfigSnapshot)?

    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
        let tweak = names.tweak(for: key)
        if let value = values[tweak] { return try TweakConfigProvider.result(tweak, value, type) }
        return try upstream?.value(forKey: key, type: type)
            ?? LookupResult(encodedKey: "\(tweak)", value: nil)
    }
}
#endif
