// SPDX-License-Identifier: BSD-3-Clause
internal import TweakJSON
internal import TweakRecords

/// A named set of values to keep, share and apply.
///
/// Its JSON is nested by category, collection and name, like an overrides file:
///
///     {
///       "name": "Snappy",
///       "tweaks": { "Spring": { "Physics": { "Damping": 12, "Stiffness": 240 } } }
///     }
public struct TweakPreset: Hashable, Sendable {
    /// The preset's name, for people.
    public var name: String
    /// The values, including those of tweaks that a program does not have.
    public var values: OverridesDocument
    /// The other members of the JSON.
    private var others: JSONObject = [:]

    /// Creates a preset from values, such as those of an overrides file.
    public init(name: String, values: OverridesDocument = OverridesDocument()) {
        self.name = name
        self.values = values
    }

    /// Reads a preset.
    ///
    /// - Parameters:
    ///   - json: The text, with at most 100 nested objects.
    ///   - path: The path for error messages.
    /// - Throws: ``OverridesError/corrupt(path:reason:)`` if the text is not a preset.
    public init(json: String, path: String = "the preset") throws(OverridesError) {
        others = try OverridesDocument.object(json: Array(json.utf8), path: path)
        guard case .scalar(.string(let name))? = others.removeValue(forKey: "name") else {
            throw .corrupt(path: path, reason: "it has no text \"name\"")
        }
        guard case .object(let tweaks)? = others.removeValue(forKey: "tweaks") else {
            throw .corrupt(path: path, reason: "it has no object \"tweaks\"")
        }
        self.name = name
        values = OverridesDocument()
        values.root = tweaks
        try values.checkNesting(path)
    }

    /// The preset as JSON for people, sorted by name, with a newline at the end.
    public var json: String {
        var root = others
        root["name"] = .scalar(.string(name))
        root["tweaks"] = .object(values.root)
        return String(decoding: OverridesDocument.json(root), as: UTF8.self)
    }
}

extension OverridesDocument {
    /// Reads the values of a preset, or of an overrides file.
    ///
    /// - Parameters:
    ///   - json: The text, with at most 100 nested objects.
    ///   - path: The path for error messages.
    /// - Throws: ``OverridesError/corrupt(path:reason:)`` if the text is neither.
    package init(importing json: [UInt8], path: String) throws(OverridesError) {
        let document = try OverridesDocument(json: json, path: path)
        // In an overrides file it would be a category, which is an object.
        if case .scalar? = document.root["name"] {
            self = try TweakPreset(json: String(decoding: json, as: UTF8.self), path: path).values
        } else {
            try document.checkNesting(path)
            self = document
        }
    }
}
