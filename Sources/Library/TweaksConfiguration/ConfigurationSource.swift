// SPDX-License-Identifier: BSD-3-Clause
#if Configuration
public import Configuration
internal import Synchronization
public import Tweaks

/// A provider that gives tweaks the values of a swift-configuration provider.
///
///     let source = ConfigurationSource(try await FileProvider<JSONSnapshot>(filePath: "config.json"))
///     try TweakStore.shared.add(source, below: .overrides)
///
/// Configuration providers do not list their keys, so the provider is queried for the tweaks that the store
/// has when the source is added. Changes are followed if the provider supports watching.
public final class ConfigurationSource: TweakProvider {
    private struct Watching {
        var task: Task<Void, Never>?
        var snapshot: any ConfigSnapshot
    }

    /// The source's name: the given one, or the configuration provider's.
    public let source: TweakSource
    private let provider: any ConfigProvider
    /// The store, not retained because it retains the source.
    private weak let store: TweakStore?
    private let names: ConfigurationNames
    private let watching: Mutex<Watching>

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - provider: The provider of the values.
    ///   - name: The source's name; `nil` for the provider's name.
    ///   - store: The store that the source will be added to.
    ///   - names: The mapping between keys and tweaks.
    public init(
        _ provider: any ConfigProvider, name: String? = nil, store: TweakStore = .shared,
        names: ConfigurationNames = ConfigurationNames()
    ) {
        source = TweakSource(name ?? provider.providerName)
        self.provider = provider
        self.store = store
        self.names = names
        watching = Mutex(Watching(snapshot: provider.snapshot()))
    }

    /// The tweaks of the store that the configuration provider has a value for.
    public var keys: Set<TweakKey> {
        get throws {
            let tweaks = store?.categories.flatMap(\.collections).flatMap(\.tweaks).map(\.declaration)
            return try Set((tweaks ?? []).filter { try value(of: $0) != nil }.map(\.key))
        }
    }

    /// Returns the configuration provider's value for a tweak.
    ///
    /// - Throws: The provider's errors, such as a value of another type.
    public func value(for key: TweakKey) throws -> ProvidedValue? {
        guard let declaration = try? store?.status(of: key).declaration else { return nil }
        return try value(of: declaration)
    }

    private func value(of tweak: TweakDeclaration) throws -> ProvidedValue? {
        guard let type = tweak.type.configType else { return nil }
        let snapshot = watching.withLock { $0.snapshot }
        let found = try snapshot.value(forKey: names.key(for: tweak.key), type: type)
        return found.value.flatMap(\.content.tweakValue).map { .value($0) }
    }

    /// Reports changes of the configuration provider to a handler, until called with `nil`.
    public func onChange(_ report: (@Sendable (TweakProviderChange) -> Void)?) {
        let before = watching.withLock { watching in
            defer { watching.task = report.map(watch) }
            return watching.task
        }
        before?.cancel()
    }

    deinit { watching.withLock { $0.task }?.cancel() }

    private func watch(_ report: @escaping @Sendable (TweakProviderChange) -> Void) -> Task<Void, Never> {
        Task { [provider, weak self] in
            try? await provider.watchSnapshot { snapshots in
                for await snapshot in snapshots {
                    guard let self else { return }
                    self.watching.withLock { $0.snapshot = snapshot }
                    report(.everything)
                }
            }
        }
    }
}
#endif
