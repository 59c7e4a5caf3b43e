// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// Maps names of older systems to tweaks.
struct ImportedNames {
    /// The program's tweaks, by their names in older systems.
    private let facebookTweaks: [ByteText: [TweakKey]]
    private let features: [ByteText: [TweakKey]]
    private let variables: [ByteText: [TweakKey]]

    /// - Parameter known: The program's tweaks.
    init(known: [TweakKey]) {
        facebookTweaks = Dictionary(grouping: known) {
            ByteText("\($0.category)-\($0.collection)-\($0.name)")
        }
        let placed = known.filter { $0.category == PlacedFeature.category }
        variables = Dictionary(grouping: placed) { ByteText($0.name) }
        features = Dictionary(grouping: placed) { key in
            ByteText(
                key.name == "enabled"
                    ? TweakKey.escape(key.collection)
                    : key.name.unicodeScalars.split(separator: "/").last.map(String.init) ?? "")
        }
    }

    /// The reason why an entry cannot be mapped to a tweak.
    struct Unclear: Error {
        let reason: String
    }

    /// A name has hyphens between its levels, and may have more within them.
    func keysOfFacebookTweak(_ name: String) -> Result<[TweakKey], Unclear> {
        let keys = facebookTweaks[ByteText(name)] ?? []
        let parts = name.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        if keys.count == 1 { return .success(keys) }
        if keys.isEmpty, parts.count == 3 { return .success([TweakKey(parts[0], parts[1], parts[2])]) }
        guard keys.isEmpty else { return .failure(ambiguity(keys)) }
        return .failure(
            Unclear(
                reason: parts.count < 3
                    ? "a category, a collection and a name are expected, with hyphens between them"
                    : "its levels are ambiguous, and no known tweak matches"
            ))
    }

    /// A feature is stored under its own name, without the features around it.
    func keysOfFeature(_ name: String) -> Result<[TweakKey], Unclear> {
        let keys = features[ByteText(TweakKey.escape(name))] ?? []
        if keys.count > 1 { return .failure(ambiguity(keys)) }
        return .success(keys.isEmpty ? [TweakKey(PlacedFeature.category, name, "enabled")] : keys)
    }

    /// A variable is stored without its feature, so variables of the same name share a value.
    func keysOfVariable(_ name: String) -> Result<[TweakKey], Unclear> {
        variables[ByteText(name)].map { .success($0) }
            ?? .failure(
                Unclear(reason: "its feature is not stored, and no known feature has the variable"))
    }

    private func ambiguity(_ keys: [TweakKey]) -> Unclear {
        Unclear(reason: "it could be any of \(keys.map { $0.description }.joined(separator: ", "))")
    }
}
