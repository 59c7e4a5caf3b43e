internal import TweakRecords

/// `Features.plist` of FlipTheSwitch: for each feature, by its flat name, `enabled` and, if it has one, `description`.
extension FeatureSet {
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
                    path: path, place: [name.text] + (member.map { [$0] } ?? []),
                    reason: "\(value?.summary ?? "nothing") is here, but \(expectation) is expected")
            }
            guard case .dictionary(let members) = entry else { throw failure(nil, entry, "a dictionary") }
            guard case .scalar(.bool(let isEnabled))? = members["enabled"] else {
                throw failure("enabled", members["enabled"], "true or false")
            }
            var feature = Feature(name: name.text, isEnabled: isEnabled)
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
        let entries = all.map { feature in
            var entry: [ByteText: WrittenPropertyList] = ["enabled": .flag(feature.isEnabled)]
            entry["description"] = feature.details.map { .text($0) }
            return (ByteText(feature.flatName), WrittenPropertyList.dictionary(entry))
        }
        // Flat names are different.
        return WrittenPropertyList.dictionary(Dictionary(entries) { first, _ in first }).xml
    }
}
