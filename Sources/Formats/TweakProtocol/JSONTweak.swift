internal import TweakJSON
package import TweakRecords

/// The JSON form of a tweak, of its declaration alone or with what it has in a program. Keys are a promise to scripts;
/// what there is not has no key.
package struct JSONTweak: Hashable, Sendable {
    package var declaration: TweakDeclaration
    /// The value that the program has, or starts with.
    package var value: TweakValue?
    /// Who gave the value.
    package var source: String?
    /// The value at the next start of a program that runs, if that is another one.
    package var pendingValue: TweakValue?

    package init(
        _ declaration: TweakDeclaration, value: TweakValue? = nil, source: String? = nil,
        pendingValue: TweakValue? = nil
    ) {
        self.declaration = declaration
        self.value = value
        self.source = source
        self.pendingValue = pendingValue
    }
}

extension JSONTweak: Codable {
    private enum CodingKeys: String, CodingKey {
        case tweak, category, collection, name, type, `default`, value, source, pendingValue
        case minimum, maximum, step, choices, precision, scale, pair, unit, title, description, group
        case monitor, readOnly, needsRestart, owner, expires, location
    }

    private struct Choice: Codable {
        let value: JSONValue
        let label: String?
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(declaration.key, forKey: .tweak)
        try container.encode(declaration.key.category, forKey: .category)
        try container.encode(declaration.key.collection, forKey: .collection)
        try container.encode(declaration.key.name, forKey: .name)
        try container.encode(declaration.type.description, forKey: .type)
        try container.encode(declaration.defaultValue, forKey: .default)
        try container.encodeIfPresent(value, forKey: .value)
        try container.encodeIfPresent(source, forKey: .source)
        try container.encodeIfPresent(pendingValue, forKey: .pendingValue)
        try container.encodeIfPresent(declaration.minimum, forKey: .minimum)
        try container.encodeIfPresent(declaration.maximum, forKey: .maximum)
        try container.encodeIfPresent(declaration.step, forKey: .step)
        if !declaration.choices.isEmpty {
            let choices = declaration.choices.map { Choice(value: .scalar($0.value), label: $0.label) }
            try container.encode(choices, forKey: .choices)
        }
        try container.encodeIfPresent(declaration.precision, forKey: .precision)
        try container.encodeIfPresent(declaration.scale?.name, forKey: .scale)
        try container.encodeIfPresent(declaration.pair, forKey: .pair)
        try container.encodeIfPresent(declaration.unit, forKey: .unit)
        try container.encodeIfPresent(declaration.title, forKey: .title)
        try container.encodeIfPresent(declaration.description, forKey: .description)
        try container.encodeIfPresent(declaration.group, forKey: .group)
        if declaration.isMonitor { try container.encode(true, forKey: .monitor) }
        if declaration.isReadOnly { try container.encode(true, forKey: .readOnly) }
        if declaration.needsRestart { try container.encode(true, forKey: .needsRestart) }
        try container.encodeIfPresent(declaration.owner, forKey: .owner)
        try container.encodeIfPresent(declaration.expiryDate, forKey: .expires)
        try container.encodeIfPresent(declaration.location, forKey: .location)
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let typeName = try container.decode(String.self, forKey: .type)
        guard let type = TweakType(typeName) else {
            throw DecodingError.dataCorruptedError(
                forKey: .type, in: container, debugDescription: "there is no type \(typeName)")
        }
        func value(_ key: CodingKeys) throws -> TweakValue? {
            guard container.contains(key) else { return nil }
            return try container.decode(JSONValue.self, forKey: key).value(of: type)
        }
        var attributes: [TweakDeclaration.Attribute] = []
        let texts: [(name: String, key: CodingKeys)] = [
            ("scale", .scale), ("pair", .pair), ("unit", .unit), ("title", .title), ("doc", .description),
            ("group", .group), ("owner", .owner), ("expires", .expires), ("at", .location),
        ]
        for (name, key) in texts {
            guard let text = try container.decodeIfPresent(String.self, forKey: key) else { continue }
            attributes.append(TweakDeclaration.Attribute(key: name, value: text))
        }
        if let precision = try container.decodeIfPresent(Int.self, forKey: .precision) {
            attributes.append(TweakDeclaration.Attribute(key: "precision", value: "\(precision)"))
        }
        let isMonitor = try container.decodeIfPresent(Bool.self, forKey: .monitor) == true
        for (name, key) in [("read-only", CodingKeys.readOnly), ("needs-restart", .needsRestart)]
        where try !(isMonitor && key == .readOnly)
            && container.decodeIfPresent(Bool.self, forKey: key) == true
        {
            attributes.append(TweakDeclaration.Attribute(key: name, value: ""))
        }
        let choices = try container.decodeIfPresent([Choice].self, forKey: .choices) ?? []
        declaration = TweakDeclaration(
            key: TweakKey(
                try container.decode(String.self, forKey: .category),
                try container.decode(String.self, forKey: .collection),
                try container.decode(String.self, forKey: .name)),
            type: type, defaultValue: try value(.default) ?? .nothing, minimum: try value(.minimum),
            maximum: try value(.maximum), step: try value(.step),
            choices: choices.compactMap { choice in
                choice.value.value(of: type).map { TweakChoice($0, label: choice.label) }
            },
            attributes: attributes, isMonitor: isMonitor)
        self.value = try value(.value)
        source = try container.decodeIfPresent(String.self, forKey: .source)
        pendingValue = try value(.pendingValue)
    }
}
