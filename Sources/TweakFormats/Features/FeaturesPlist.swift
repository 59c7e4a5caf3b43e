internal import FoundationEssentials
internal import TweakRecords

/// `Features.plist` of FlipTheSwitch: for each feature, by its flat name, `enabled` and, if it has one, `description`.
extension FeatureSet {
    private struct Entry: Encodable {
        let enabled: Bool
        let description: String?
    }

    /// Reads a list. The features are all top-level ones: it does not say which is a part of which.
    ///
    /// - Parameters:
    ///   - plist: The bytes, XML or binary.
    ///   - path: Where they are from, for the messages of errors.
    /// - Throws: ``FormatError`` if they are no such list.
    public init(plist: [UInt8], path: String) throws(FormatError) {
        let list = try PropertyList(plist, path: path)
        guard case .dictionary(let entries) = list else {
            throw .malformed(path: path, reason: "\(list.summary) is here, but a dictionary is expected")
        }
        var features: [Feature] = []
        for (name, entry) in entries.sorted(by: { $0.key < $1.key }) {
            func failure(_ member: String?, _ value: PropertyList?, _ expectation: String) -> FormatError {
                .invalid(
                    path: path, place: [name] + (member.map { [$0] } ?? []),
                    reason: "\(value?.summary ?? "nothing") is here, but \(expectation) is expected")
            }
            guard case .dictionary(let members) = entry else { throw failure(nil, entry, "a dictionary") }
            guard case .scalar(.bool(let isEnabled))? = members["enabled"] else {
                throw failure("enabled", members["enabled"], "true or false")
            }
            var feature = Feature(name: name, isEnabled: isEnabled)
            if let details = members["description"] {
                guard case .scalar(.string(let text)) = details else {
                    throw failure("description", details, "text")
                }
                feature.details = text
            }
            features.append(feature)
        }
        self.init(features)
    }

    /// The list as XML, sorted by name.
    public var plist: [UInt8] {
        let entries = all.map {
            ($0.flatName, Entry(enabled: $0.isEnabled, description: $0.details.map(xmlText)))
        }
        // Flat names are different, and what is encoded has a form in a property list.
        return (try? xmlPropertyList(Dictionary(entries) { first, _ in first })) ?? []
    }
}

/// A value as a property list in XML, sorted by key, with a newline at the end.
package func xmlPropertyList(_ value: some Encodable) throws -> [UInt8] {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .xml
    return Array(try encoder.encode(value))
}

/// A text without the control characters that XML cannot have, which become spaces.
package func xmlText(_ text: String) -> String {
    String(
        String.UnicodeScalarView(
            text.unicodeScalars.map {
                switch $0.value {
                case 0x9, 0xA, 0xD, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...: $0
                default: " "
                }
            }))
}
