package import TweakRecords

/// Any JSON, so that what this build does not know is written back as it was read.
package enum JSONValue: Hashable, Sendable {
    case null
    case scalar(TweakValue)
    case array([JSONValue])
    case object([String: JSONValue])

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
        // A wrong guess costs an error, so the likely comes first.
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let number = try? container.decode(Int64.self) {
            self = .scalar(.integer(Int128(number)))
        } else if let number = try? container.decode(UInt64.self) {
            self = .scalar(.integer(Int128(number)))
        } else if let number = try? container.decode(Double.self) {
            self = .scalar(.double(number))
        } else if let flag = try? container.decode(Bool.self) {
            self = .scalar(.bool(flag))
        } else if let text = try? container.decode(String.self) {
            self = .scalar(.string(text))
        } else if let array = try? container.decode([JSONValue].self) {
            self = .array(array)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .scalar(let value): try value.encode(to: encoder)
        case .array(let array): try array.encode(to: encoder)
        case .object(let object): try object.encode(to: encoder)
        }
    }
}
