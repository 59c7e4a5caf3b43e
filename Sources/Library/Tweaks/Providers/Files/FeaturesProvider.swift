// SPDX-License-Identifier: BSD-3-Clause
internal import TweakFormats
public import TweakRecords
internal import TweakSystem

/// A provider of the features in a file: a `features.json` with environments, or a `Features.plist`.
///
///     try store.add(FeaturesProvider(file: "features.json", environment: "beta"), above: nil)
///
/// Every feature is a Bool tweak, named as ``FeatureSwitch`` describes, whether a binary declares it or not.
///
/// A store with this provider follows the file.
public final class FeaturesProvider: FileProvider {
    /// The provider's name: the given one, or the file's.
    public let source: TweakSource
    let files: [String]
    private let features: ReadFiles<[TweakKey: PlacedFeature]>

    /// Creates a provider and reads the file.
    ///
    /// - Parameters:
    ///   - file: The path. A file that ends in `.plist` is a property list.
    ///   - environment: The environment to read from JSON.
    ///   - name: The name of the provider.
    /// - Throws: ``ProviderFileError`` if the file cannot be read, ``FormatError`` if it is malformed.
    public init(file: String, environment: String = "default", name: String? = nil) throws(ProviderFailure) {
        source = TweakSource(name ?? lastComponent(of: file))
        files = [file]
        features = try ReadFiles { () throws(ProviderFailure) in try Self.read(file, environment) }
    }

    /// Reads the file again. If that fails, nothing changes. Stores call this when the file changes.
    ///
    /// - Throws: The errors of ``init(file:environment:name:)``.
    public func reload() throws(ProviderFailure) { try features.reload() }

    private static func read(
        _ file: String, _ environment: String
    ) throws(ProviderFailure) -> [TweakKey: PlacedFeature] {
        let content = try providerFile(file)
        do throws(FormatError) {
            var features: [TweakKey: PlacedFeature] = [:]
            for feature in try FeatureSet(file: content, path: file, environment: environment).all
            where features[feature.key] == nil {
                features[feature.key] = feature
            }
            return features
        } catch {
            throw providerFailure(error)
        }
    }

    /// The names of the features' tweaks.
    public var keys: Set<TweakKey> { Set(features.content.keys) }

    /// Returns whether the feature's own switch is on.
    public func value(for key: TweakKey) -> ProvidedValue? {
        features.content[key].map { .value(.bool($0.isEnabled)) }
    }

    /// Returns the declaration of a feature: a Bool with the description in the file.
    public func declaration(of key: TweakKey) -> TweakDeclaration? {
        features.content[key].map(TweakDeclaration.init)
    }

    var tweaks: ReadTweaks {
        let features = features.content
        return ReadTweaks(values: features.mapValues { .value(.bool($0.isEnabled)) }) {
            features[$0].map(TweakDeclaration.init)
        }
    }

    /// Sets the handler to call after the file has been read again.
    public func onChange(_ report: (@Sendable (TweakProviderChange) -> Void)?) {
        features.onChange(report)
    }
}
