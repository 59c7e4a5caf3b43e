public import TweakFormats

/// A schema of GSettings with a key for each feature.
public struct SettingsSchema {
    private let id: String
    private let keys: [(name: String, feature: PlacedFeature)]

    /// Makes names of keys for all features.
    ///
    /// - Parameters:
    ///   - features: The features. A part has the names of the features around it before its own.
    ///   - id: The schema's id, such as `org.example.Player.features`.
    ///   - origin: Where the features are from.
    /// - Throws: ``FormatError`` if two features would have one key.
    public init(_ features: FeatureSet, id: String, origin: Origin) throws(FormatError) {
        self.id = id
        var featuresByKey: [String: PlacedFeature] = [:]
        var keys: [(name: String, feature: PlacedFeature)] = []
        for feature in features.all {
            let key = Self.key(feature.path)
            if let other = featuresByKey.updateValue(feature, forKey: key) {
                throw .invalid(
                    path: origin.path, place: (origin.environment.map { [$0] } ?? []) + feature.path,
                    reason:
                        "its key would be \(key), and that of \(other.path.joined(separator: ".")) too; rename one"
                )
            }
            keys.append((key, feature))
        }
        self.keys = keys
    }

    /// Whether a text can be an id: names of letters, digits and hyphens with points between them.
    public static func isID(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count > 1
            && parts.allSatisfy { part in
                part.first?.isLetter == true
                    && part.unicodeScalars.allSatisfy {
                        $0.isASCII
                            && ($0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "-")
                    }
            }
    }

    /// A key has small letters, digits and single hyphens between them, and begins with a letter. Other characters are
    /// their numbers.
    private static func key(_ path: [String]) -> String {
        var key = ""
        for scalar in path.joined(separator: "-").lowercased().unicodeScalars {
            let isKept = ("a"..."z").contains(scalar) || ("0"..."9").contains(scalar)
            if isKept {
                key.unicodeScalars.append(scalar)
            } else if !scalar.isASCII {
                key += "u\(String(scalar.value, radix: 16))"
            } else if !key.isEmpty, key.last != "-" {
                key += "-"
            }
        }
        if key.last == "-" { key.removeLast() }
        return key.first?.isLetter == true ? key : "feature" + (key.isEmpty ? "" : "-") + key
    }

    /// The schema, to be put into `glib-2.0/schemas` and compiled with `glib-compile-schemas`.
    public var file: GeneratedFile {
        var lines = [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<schemalist>",
            "  <schema id=\"\(id)\" path=\"/\(id.replacing(".", with: "/"))/\">",
        ]
        for (name, feature) in keys {
            lines += [
                "    <key name=\"\(name)\" type=\"b\">", "      <default>\(feature.isEnabled)</default>",
                "      <summary>\(Self.escaped(feature.path.joined(separator: " / ")))</summary>",
            ]
            if let description = feature.description {
                lines.append("      <description>\(Self.escaped(description))</description>")
            }
            lines.append("    </key>")
        }
        return GeneratedFile(name: "\(id).gschema.xml", lines: lines + ["  </schema>", "</schemalist>"])
    }

    private static func escaped(_ text: String) -> String {
        xmlEscaped(text)
    }
}
