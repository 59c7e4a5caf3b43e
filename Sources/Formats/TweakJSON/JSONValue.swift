// SPDX-License-Identifier: BSD-3-Clause
package import TweakRecords

/// The members of an object. Names are compared by their bytes, like names of tweaks.
package typealias JSONObject = [ByteText: JSONValue]

extension JSONObject {
    /// The value of the member with this name, or `nil`.
    package subscript(name: String) -> JSONValue? {
        get { self[ByteText(name)] }
        set { self[ByteText(name)] = newValue }
    }
}

/// Any JSON value, so that unknown parts can be written back unchanged.
package enum JSONValue: Hashable, Sendable {
    case null
    case scalar(TweakValue)
    case array([JSONValue])
    case object(JSONObject)

    /// The value for a tweak; `nil` for null, an array or an object.
    package var tweakValue: TweakValue? {
        if case .scalar(let value) = self { value } else { nil }
    }

    /// The merged members if both values are objects, the other value if neither is, or else `nil`.
    func merged(with other: JSONValue) -> JSONValue? {
        guard case .object(var members) = self else {
            if case .object = other { return nil }
            return other
        }
        guard case .object(let others) = other else { return nil }
        for (name, value) in others {
            guard let known = members[name] else {
                members[name] = value
                continue
            }
            guard let merged = known.merged(with: value) else { return nil }
            members[name] = merged
        }
        return .object(members)
    }

    /// A description of the value for error messages.
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
    /// A tweak's value; null for ``TweakValue/nothing``.
    package init(_ value: TweakValue) { self = value == .nothing ? .null : .scalar(value) }

    /// The value in the representation of a tweak's type, including infinities and NaN, which are strings in JSON. It
    /// may be outside the limits, and of an optional tweak of this type.
    package func value(of type: TweakType) -> TweakValue? {
        switch (type, self) {
        case (_, .scalar(.absent)) where TweakValue.emptyCell(type) != nil: return .absent
        case (.action, .null): return .nothing
        case (.float, .scalar(.string(let text))), (.double, .scalar(.string(let text))):
            return Double(text).flatMap { $0.isFinite ? nil : .double($0) }
        default:
            let tweak = TweakDeclaration(key: noKey, type: type, defaultValue: .nothing)
            return tweakValue.flatMap { try? tweak.admit($0).value }
        }
    }
}

/// The key of a declaration whose errors are not shown. Making one takes longer than the check.
private let noKey = TweakKey("", "", "")

extension TweakDeclaration {
    /// Checks a JSON value against the type and the limits or choices.
    package func admit(_ json: JSONValue) throws(TweakValueError) -> Admission {
        if json == .null, isOptional { return try admit(.absent) }
        guard let value = json.tweakValue else { throw .wrongType(self, given: json.summary) }
        return try admit(value)
    }
}
