package import TweakRecords

/// The members of an object. Their names are compared by their bytes, as names of tweaks are.
package typealias JSONObject = [ByteText: JSONValue]

extension JSONObject {
    /// The value of a member; `nil` if there is none of this name.
    package subscript(name: String) -> JSONValue? {
        get { self[ByteText(name)] }
        set { self[ByteText(name)] = newValue }
    }
}

/// Any JSON, so that what this build does not know is written back as it was read.
package enum JSONValue: Hashable, Sendable {
    case null
    case scalar(TweakValue)
    case array([JSONValue])
    case object(JSONObject)

    /// The value that a tweak could take; `nil` for null, an array or an object.
    package var tweakValue: TweakValue? {
        if case .scalar(let value) = self { value } else { nil }
    }

    /// What the value is, for an error message.
    package var summary: String {
        switch self {
        case .null: "null"
        case .scalar(let value): value.quoted
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension JSONValue: Codable {
    package init(from decoder: any Decoder) throws {
        // A wrong guess costs an error, so the likely comes first: objects for category, collection and name, then
        // values.
        if decoder.codingPath.count < 3, let object = try? decoder.container(keyedBy: JSONName.self) {
            self = try Self(object)
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let number = try? container.decode(Int64.self) {
            self = .scalar(.integer(Int128(number)))
        } else if let number = try? container.decode(UInt64.self) {
            self = .scalar(.integer(Int128(number)))
        } else if let number = try Self.double(container) {
            self = .scalar(.double(number))
        } else if let flag = try? container.decode(Bool.self) {
            self = .scalar(.bool(flag))
        } else if let text = try? container.decode(String.self) {
            self = .scalar(.string(text))
        } else if var elements = try? decoder.unkeyedContainer() {
            var array: [JSONValue] = []
            while !elements.isAtEnd { array.append(try elements.decode(JSONValue.self)) }
            self = .array(array)
        } else {
            self = try Self(decoder.container(keyedBy: JSONName.self))
        }
    }

    /// A floating-point number; `nil` for what is not a number.
    private static func double(_ container: any SingleValueDecodingContainer) throws -> Double? {
        do {
            return try container.decode(Double.self)
        } catch DecodingError.typeMismatch {
            return nil
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: outOfRange())
        }
    }

    private init(_ container: KeyedDecodingContainer<JSONName>) throws {
        var object: JSONObject = [:]
        for name in container.allKeys {
            object[name.stringValue] = try container.decode(JSONValue.self, forKey: name)
        }
        self = .object(object)
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .scalar(let value): try value.encode(to: encoder)
        case .array(let array): try array.encode(to: encoder)
        case .object(let object):
            var container = encoder.container(keyedBy: JSONName.self)
            for (name, value) in object {
                try container.encode(value, forKey: JSONName(stringValue: name.text))
            }
        }
    }
}

extension JSONValue {
    /// The value as a tweak of a type has it, also if it is an infinity or NaN, which are texts in JSON. It may be
    /// outside the limits.
    package func value(of type: TweakType) -> TweakValue? {
        switch (type, self) {
        case (.action, .null): return .nothing
        case (.float, .scalar(.string(let text))), (.double, .scalar(.string(let text))):
            return Double(text).flatMap { $0.isFinite ? nil : .double($0) }
        default:
            let tweak = TweakDeclaration(key: TweakKey("", "", ""), type: type, defaultValue: .nothing)
            return tweakValue.flatMap { try? tweak.admit($0).value }
        }
    }
}

extension TweakDeclaration {
    /// Checks a value of JSON against the type and the limits or choices.
    package func admit(_ json: JSONValue) throws(TweakValueError) -> Admission {
        guard let value = json.tweakValue else { throw .wrongType(self, given: json.summary) }
        return try admit(value)
    }
}
