// SPDX-License-Identifier: BSD-3-Clause
/// An optional tweak, of an `Optional` in Swift, has the attribute `optional`, and is a bool, an int64, a
/// float, a double or a string. Its values are those of its type, and none.
extension TweakDeclaration {
    /// Whether the tweak can have no value, as an `Optional` in Swift.
    public var isOptional: Bool {
        guard attributeList.contains("optional"), !isMonitor else { return false }
        switch type {
        case .bool, .int64, .float, .double, .string: return true
        default: return false
        }
    }

    /// Whether the tweak always has a number or a Bool, so that samples can be taken.
    package var canBeSampled: Bool { type.canBeMonitored && !isOptional }

    /// The name of the type, such as `double`, or `double?` of an optional tweak.
    package var typeName: String { isOptional ? "\(type)?" : "\(type)" }
}

extension TweakValue {
    /// The value of an empty optional tweak: the text `none`.
    public static var absent: TweakValue { .string("none") }

    /// The value as that of an optional tweak: a backslash comes before a text that would be `none` without
    /// its backslashes.
    package var inOptional: TweakValue {
        guard case .string(let text) = self, Self.isNone(text) else { return self }
        return .string("\\" + text)
    }

    /// The value in that of an optional tweak; `nil` for none.
    package var outOfOptional: TweakValue? {
        guard case .string(let text) = self else { return self }
        return Self.optionalText(text).map { .string($0) }
    }

    /// Returns the text in the value of an optional tweak; `nil` for none.
    public static func optionalText(_ text: String) -> String? {
        if text == "none" { return nil }
        return isNone(text) ? String(text.dropFirst()) : text
    }

    private static func isNone(_ text: String) -> Bool {
        text.utf8.drop { $0 == UInt8(ascii: "\\") }.elementsEqual("none".utf8)
    }

    /// The cell of an optional tweak that has no value: 2 for a bool, the smallest int64, or a NaN; `nil` for
    /// other types.
    package static func emptyCell(_ type: TweakType) -> UInt64? {
        switch type {
        case .bool: 2
        case .int64: UInt64(bitPattern: .min)
        case .float: UInt64(Float.nan.bitPattern)
        case .double: Double.nan.bitPattern
        default: nil
        }
    }
}
