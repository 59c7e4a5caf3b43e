// SPDX-License-Identifier: BSD-3-Clause
package import TweakJSON
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
    /// The lease that gives the current value, or `nil`.
    package var lease: JSONLease?
    /// The way to another value, or `nil`.
    package var ramp: JSONRamp?

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

/// The JSON form of a lease.
package struct JSONLease: Codable, Hashable, Sendable {
    /// The client that made it, such as `tweak 4711 ada`.
    package var by: String
    /// The seconds until it ends; `nil` if it ends with the client's connection.
    package var remaining: Double?
    /// The value when all leases of the tweak have ended.
    package var hiddenValue: JSONValue?

    package init(by: String, remaining: Double?, hiddenValue: JSONValue? = nil) {
        (self.by, self.remaining, self.hiddenValue) = (by, remaining, hiddenValue)
    }

    fileprivate var json: JSONValue {
        var members: JSONObject = [:]
        members["by"] = .scalar(.string(by))
        members["remaining"] = remaining.map { .scalar(.double($0)) }
        members["hiddenValue"] = hiddenValue
        return .object(members)
    }
}

/// The JSON form of a gradual change.
package struct JSONRamp: Codable, Hashable, Sendable {
    /// The value at the end.
    package var target: JSONValue
    /// The seconds until then.
    package var remaining: Double

    package init(target: JSONValue, remaining: Double) { (self.target, self.remaining) = (target, remaining) }

    fileprivate var json: JSONValue {
        var members: JSONObject = [:]
        members["target"] = target
        members["remaining"] = .scalar(.double(remaining))
        return .object(members)
    }
}

extension JSONTweak: Codable {
    private struct Choice: Decodable {
        let value: JSONValue
        let label: String?
    }

    /// Lists have thousands, and a container for each would take most of the time.
    package func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }

    private var json: JSONValue {
        var members: JSONObject = [:]
        members["tweak"] = text(declaration.key.description)
        members["category"] = text(declaration.key.category)
        members["collection"] = text(declaration.key.collection)
        members["name"] = text(declaration.key.name)
        members["type"] = text(declaration.type.description)
        members["default"] = .scalar(declaration.defaultValue)
        members["value"] = value.map(JSONValue.scalar)
        members["source"] = source.map(text)
        members["pendingValue"] = pendingValue.map(JSONValue.scalar)
        members["gate"] = gate.map(text)
        members["lease"] = lease?.json
        members["ramp"] = ramp?.json
        if declaration.isMonitor { members["monitor"] = .scalar(.bool(true)) }
        for option in TweakOption.all {
            switch option.setting(declaration) {
            case .value(let value)?: members[option.name] = .scalar(value)
            case .choices(let choices)?:
                members[option.name] = .array(
                    choices.map { choice in
                        var members: JSONObject = ["value": .scalar(choice.value)]
                        members["label"] = choice.label.map(text)
                        return .object(members)
                    })
            case nil: break
            }
        }
        return .object(members)
    }

    private func text(_ text: String) -> JSONValue { .scalar(.string(text)) }

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
        lease = try container.decodeIfPresent(JSONLease.self, forKey: "lease")
        ramp = try container.decodeIfPresent(JSONRamp.self, forKey: "ramp")
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
