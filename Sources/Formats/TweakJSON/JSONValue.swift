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
