internal import TweakRecords

/// All features of a program.
public struct FeatureSet: Hashable, Sendable {
    /// The top-level features, sorted by name.
    public let features: [Feature]
    /// All features, each before its parts, neighbours sorted by name.
    public let all: [PlacedFeature]

    /// Makes a set of top-level features with different names; of those with one name the first counts.
    public init(_ features: [Feature]) {
        self.features = Self.sorted(features)
        var paths: [(path: [String], feature: Feature)] = []
        Self.place(self.features, in: [], &paths)
        let counts = Dictionary(paths.map { (ByteText($0.feature.name), 1) }, uniquingKeysWith: +)
        all = paths.map { path, feature in
            let isPlain = counts[ByteText(feature.name)] == 1 && TweakKey.escape(feature.name) == feature.name
            return PlacedFeature(
                path: path, isEnabled: feature.isEnabled, details: feature.details,
                flatName: isPlain ? feature.name : PlacedFeature.joined(path))
        }
    }

    private static func sorted(_ features: [Feature]) -> [Feature] {
        Dictionary(features.map { (ByteText($0.name), $0) }) { first, _ in first }.sorted { $0.key < $1.key }
            .map(\.value)
            .map {
                Feature(
                    name: $0.name, isEnabled: $0.isEnabled, details: $0.details, parts: sorted($0.parts))
            }
    }

    private static func place(
        _ features: [Feature], in outer: [String], _ paths: inout [(path: [String], feature: Feature)]
    ) {
        for feature in features {
            let path = outer + [feature.name]
            paths.append((path, feature))
            place(feature.parts, in: path, &paths)
        }
    }
}
