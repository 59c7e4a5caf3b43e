internal import TweakFormats
public import TweakRecords
internal import TweakSystem

/// Features in a file: `features.json` with environments, or a `Features.plist`.
///
///     try store.add(FeaturesProvider(file: "features.json", environment: "beta"), above: nil)
///
/// Every feature is a Bool tweak, named as ``FeatureSwitch`` tells, whether a binary declares it or not.
///
/// A store that has the provider follows the file.
public final class FeaturesProvider: FileProvider {
    /// The name of the file, or another one.
    public let source: TweakSource
    let files: [String]
    private let features: ReadFiles<[TweakKey: PlacedFeature]>

    /// Reads the file.
    ///
    /// - Parameters:
    ///   - file: Its path. One that ends in `.plist` is a property list.
    ///   - environment: Which features are meant, for JSON.
    ///   - name: What the values are labelled with.
    /// - Throws: ``ProviderFileError`` if the file cannot be read, `FormatError` if it is none of the format.
    public init(file: String, environment: String = "default", name: String? = nil) throws {
        source = TweakSource(name ?? lastComponent(of: file))
        files = [file]
        features = try ReadFiles { try Self.read(file, environment) }
    }

    /// Reads the file again. If it cannot be read, everything stays as it is. Stores do it when the file changes.
    ///
    /// - Throws: As ``init(file:environment:name:)``.
    public func reload() throws { try features.reload() }

    private static func read(_ file: String, _ environment: String) throws -> [TweakKey: PlacedFeature] {
        let features = try FeatureSet(file: providerFile(file), path: file, environment: environment)
        return Dictionary(features.all.map { ($0.key, $0) }) { first, _ in first }
    }

    /// The tweaks of the features.
    public var keys: Set<TweakKey> { Set(features.content.keys) }

    /// Whether the feature's own switch is on.
    public func value(for key: TweakKey) -> ProvidedValue? {
        features.content[key].map { .value(.bool($0.isEnabled)) }
    }

    /// A Bool with the file's description.
    public func declaration(of key: TweakKey) -> TweakDeclaration? {
        features.content[key].map(TweakDeclaration.init)
    }

    var tweaks: ReadTweaks {
        let features = features.content
        return ReadTweaks(values: features.mapValues { .value(.bool($0.isEnabled)) }) {
            features[$0].map(TweakDeclaration.init)
        }
    }

    /// Takes what is called when the file has been read again.
    public func onChange(_ report: (@Sendable (TweakProviderChange) -> Void)?) {
        features.onChange(report)
    }
}
