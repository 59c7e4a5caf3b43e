// SPDX-License-Identifier: BSD-3-Clause
/// The value of a tweak of any type.
///
/// Integers of every width and signedness are `integer`, floating-point numbers of both widths are
/// `double`. A Bool is never a number and a number never a Bool.
public enum TweakValue: Hashable, Sendable {
    /// A Bool.
    case bool(Bool)
    /// An integer of 8 to 64 bits, signed or unsigned.
    case integer(Int128)
    /// A Float or a Double.
    case double(Double)
    /// Text without a NUL character.
    case string(String)
    /// A colour.
    case color(TweakColor)
    /// No value, as for an action.
    case nothing
}

extension TweakValue: CustomStringConvertible {
    /// The value as a person writes it: `true`, `42`, `4.5`, `#3366cc`, or the text itself.
    public var description: String {
        switch self {
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let value): value
        case .color(let value): "\(value)"
        case .nothing: "–"
        }
    }

    /// The value in messages: a string is in quotation marks, with its own escaped by backslashes.
    package var quoted: String {
        guard case .string(let text) = self else { return "\(self)" }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"")
            + "\""
    }
}

/// Returns whether the first number is not above the second; also true unless both are numbers.
func areInOrder(_ low: TweakValue?, _ high: TweakValue?) -> Bool {
    switch (low, high) {
    case (.double(let low)?, .double(let high)?): low <= high
    case (.integer(let low)?, .integer(let high)?): low <= high
    default: true
    }
}

extension TweakValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral
{
    /// Creates a Bool.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an integer.
    public init(integerLiteral value: Int64) { self = .integer(Int128(value)) }
    /// Creates a floating-point number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
}

// Embedded Swift has no Codable.
#if !hasFeature(Embedded)
extension TweakValue: Encodable {
    /// Encodes a Bool, a number, a string or null. Infinities and NaN, which JSON lacks, and colours are
    /// encoded as strings.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .bool(let value): try container.encode(value)
        case .integer(let value):
            if let signed = Int64(exactly: value) {
                try container.encode(signed)
            } else {
                try container.encode(UInt64(clamping: value))
            }
        case .double(let value) where value.isFinite: try container.encode(value)
        case .double(let value): try container.encode("\(value)")
        case .string(let value): try container.encode(value)
        case .color(let value): try container.encode("\(value)")
        case .nothing: try container.encodeNil()
        }
    }
}
#endif

extension TweakValue {
    /// The type to assume for a tweak of which only the value is known: `int64` or, above its range, `uint64`
    /// for an integer, `double` for other numbers, `action` for nothing.
    public var naturalType: TweakType {
        switch self {
        case .bool: .bool
        case .integer(let number): number > Int128(Int64.max) ? .uint64 : .int64
        case .double: .double
        case .string: .string
        case .color: .color
        case .nothing: .action
        }
    }
}

// Embedded Swift has no values of protocol types.
#if !hasFeature(Embedded)
extension TweakValue {
    /// The value as a Swift type: a `Bool`, an `Int` or, above its range, a `UInt64`, a `Double`, a `String`
    /// or a ``TweakColor``; `nil` for nothing.
    public var swiftValue: (any Hashable & Sendable)? {
        switch self {
        case .bool(let value): value
        case .integer(let value): Int(exactly: value) ?? UInt64(clamping: value) as any Hashable & Sendable
        case .double(let value): value
        case .string(let value): value
        case .color(let value): value
        case .nothing: nil
        }
    }
}
#endif

/// A choice of a tweak.
public struct TweakChoice: Hashable, Sendable {
    /// The value, of the tweak's type.
    public var value: TweakValue
    /// The label for people; `nil` to show the value.
    public var label: String?

    /// Creates a choice.
    public init(_ value: TweakValue, label: String? = nil) {
        self.value = value
        self.label = label
    }
}

extension TweakChoice {
    /// The text for people: the label, or else the value. A case of an enumeration has its own name.
    package var name: String { label ?? "\(value)" }
}

extension TweakChoice: CustomStringConvertible {
    /// The value, followed by the label: `2 (hard)`.
    public var description: String { value.quoted + (label.map { " (\($0))" } ?? "") }
}

/// A colour in sRGB with straight alpha.
public struct TweakColor: Hashable, Sendable {
    /// The components, from 0 to 255.
    public var red, green, blue: UInt8
    /// The opacity, from 0 (transparent) to 255 (opaque).
    public var alpha: UInt8

    /// Creates a colour from its components.
    @inlinable
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }
}

extension TweakColor {
    /// Creates a colour from components between 0 and 1; others are clamped.
    public init(red: Double, green: Double, blue: Double, opacity: Double) {
        // The maximum of NaN and 0 is 0.
        func byte(_ component: Double) -> UInt8 { UInt8(min(.maximum(component, 0), 1) * 255 + 0.5) }
        self.init(red: byte(red), green: byte(green), blue: byte(blue), alpha: byte(opacity))
    }
}

extension TweakColor: LosslessStringConvertible {
    /// Parses `#rrggbb`, `#rrggbbaa`, `#rgb` or `#rgba`, with or without `#`, or a CSS name, in any case.
    public init?(_ text: String) {
        let name = text.lowercased()
        let hexadecimal =
            ColorName.all[name] ?? (name.utf8.first == UInt8(ascii: "#") ? String(name.dropFirst()) : name)
        var digits = hexadecimal.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == hexadecimal.utf8.count, digits.count > 2 else { return nil }
        if digits.count < 6 { digits = digits.flatMap { [$0, $0] } }
        guard digits.count == 6 || digits.count == 8 else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        self.init(red: bytes[0], green: bytes[1], blue: bytes[2], alpha: bytes.count == 4 ? bytes[3] : 255)
    }

    /// `#rrggbb`, or `#rrggbbaa` if the colour is not opaque.
    public var description: String {
        "#" + [red, green, blue, alpha].prefix(alpha == 255 ? 3 : 4).hexadecimal
    }
}
