internal import TweakJSON
package import TweakRecords

/// The JSON form of a tweak: its declaration, possibly with its state in a program. Scripts rely on the keys; missing
/// properties have no key.
package struct JSONTweak: Hashable, Sendable {
    package var declaration: TweakDeclaration
    /// The current or the initial value in the program.
    package var value: TweakValue?
    /// The provider of the current value.
    package var source: String?
    /// The value after the next start of a running program, or after its loop has passed the gate, if it differs.
    package var pendingValue: TweakValue?
    /// The name of the gate that changes of the tweak wait for.
    package var gate: String?

    package init(
        _ declaration: TweakDeclaration, value: TweakValue? = nil, source: String? = nil,
        pendingValue: TweakValue? = nil, gate: String? = nil
    ) {
        self.declaration = declaration
        self.value = value
        self.source = source
        self.pendingValue = pendingValue
        self.gate = gate
    }
}

extension JSONTweak: Codable {
    private struct Choice: Codable {
        let value: JSONValue
        let label: String?
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: JSONName.self)
        try container.encode(declaration.key, forKey: "tweak")
        try container.encode(declaration.key.category, forKey: "category")
        try container.encode(declaration.key.collection, forKey: "collection")
        try container.encode(declaration.key.name, forKey: "name")
        try container.encode(declaration.type.description, forKey: "type")
        try container.encode(declaration.defaultValue, forKey: "default")
        try container.encodeIfPresent(value, forKey: "value")
        try container.encodeIfPresent(source, forKey: "source")
        try container.encodeIfPresent(pendingValue, forKey: "pendingValue")
        try container.encodeIfPresent(gate, forKey: "gate")
        if declaration.isMonitor { try container.encode(true, forKey: "monitor") }
        for option in TweakOption.all {
            let name = JSONName(stringValue: option.name)
            switch option.setting(declaration) {
            case .value(let value)?: try container.encode(value, forKey: name)
            case .choices(let choices)?:
                try container.encode(
                    choices.map { Choice(value: .scalar($0.value), label: $0.label) }, forKey: name)
            case nil: break
            }
        }
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: JSONName.self)
        let typeName = try container.decode(String.self, forKey: "type")
        guard let type = TweakType(typeName) else {
            throw DecodingError.dataCorruptedError(
                forKey: "type", in: container, debugDescription: "there is no type \(typeName)")
        }
        func value(_ name: JSONName) throws -> TweakValue? {
            guard container.contains(name) else { return nil }
            return try container.decode(JSONValue.self, forKey: name).value(of: type)
        }
        let isMonitor = try container.decodeIfPresent(Bool.self, forKey: "monitor") == true
        let choices = try container.decodeIfPresent([Choice].self, forKey: "choices") ?? []
        declaration = TweakDeclaration(
            key: TweakKey(
                try container.decode(String.self, forKey: "category"),
                try container.decode(String.self, forKey: "collection"),
                try container.decode(String.self, forKey: "name")),
            type: type, defaultValue: try value("default") ?? .nothing, minimum: try value("minimum"),
            maximum: try value("maximum"), step: try value("step"),
            choices: choices.compactMap { choice in
                choice.value.value(of: type).map { TweakChoice($0, label: choice.label) }
            },
            attributes: try TweakOption.all.compactMap { option in
                // A monitor is always read-only.
                guard let key = option.attribute, !(isMonitor && key == "read-only") else { return nil }
                return try container.text(of: option).map { TweakDeclaration.Attribute(key: key, value: $0) }
            },
            isMonitor: isMonitor)
        self.value = try value("value")
        source = try container.decodeIfPresent(String.self, forKey: "source")
        pendingValue = try value("pendingValue")
        gate = try container.decodeIfPresent(String.self, forKey: "gate")
    }
}

extension KeyedDecodingContainer<JSONName> {
    /// The value of an option's attribute, or `nil`.
    fileprivate func text(of option: TweakOption) throws -> String? {
        let name = JSONName(stringValue: option.name)
        return switch option.form {
        case .field: nil
        case .text: try decodeIfPresent(String.self, forKey: name)
        case .digits: try decodeIfPresent(Int.self, forKey: name).map(String.init)
        case .flag: try decodeIfPresent(Bool.self, forKey: name) == true ? "" : nil
        }
    }
}
