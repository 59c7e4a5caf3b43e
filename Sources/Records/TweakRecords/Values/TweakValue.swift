/// The value of a tweak, whatever its type.
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
    /// What an action has.
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

    /// The value as a message shows it: a text in quotation marks, with a backslash before its own.
    package var quoted: String {
        guard case .string(let text) = self else { return "\(self)" }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"")
            + "\""
    }
}

/// Whether of two numbers the first is not above the second; also if one is not there or no number.
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
    /// Makes a Bool.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Makes an integer.
    public init(integerLiteral value: Int64) { self = .integer(Int128(value)) }
    /// Makes a floating-point number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Makes a text.
    public init(stringLiteral value: String) { self = .string(value) }
}

extension TweakValue: Encodable {
    /// Writes a Bool, a number, a string or null. An infinity and NaN, which JSON lacks, and a colour are written as
    /// text.
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

extension TweakValue {
    /// The type of a tweak of which only the value is known: `int64` or, above that, `uint64` for an integer, `double` for other
    /// numbers, `action` for nothing.
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

extension TweakValue {
    /// The value as Swift has it: a `Bool`, an `Int` or, above its largest one, a `UInt64`, a `Double`, a `String` or a
    /// ``TweakColor``; `nil` for nothing.
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

/// One of the values that a tweak with choices can have.
public struct TweakChoice: Hashable, Sendable {
    /// The value, of the tweak's type.
    public var value: TweakValue
    /// What a person sees; `nil` if that is the value.
    public var label: String?

    /// Makes a choice.
    public init(_ value: TweakValue, label: String? = nil) {
        self.value = value
        self.label = label
    }
}

extension TweakChoice: CustomStringConvertible {
    /// The value with the label behind it: `2 (hard)`.
    public var description: String { value.quoted + (label.map { " (\($0))" } ?? "") }
}

/// A colour in sRGB with straight alpha.
public struct TweakColor: Hashable, Sendable {
    /// The components, from 0 to 255.
    public var red, green, blue: UInt8
    /// From 0, which is transparent, to 255.
    public var alpha: UInt8

    /// Makes a colour of its components.
    @inlinable
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }
}

extension TweakColor {
    /// Makes a colour of components from 0 to 1. What is outside becomes the nearest.
    public init(red: Double, green: Double, blue: Double, opacity: Double) {
        // The maximum of what is not a number and 0 is 0.
        func byte(_ component: Double) -> UInt8 { UInt8(min(.maximum(component, 0), 1) * 255 + 0.5) }
        self.init(red: byte(red), green: byte(green), blue: byte(blue), alpha: byte(opacity))
    }
}

extension TweakColor: LosslessStringConvertible {
    /// Reads `#rrggbb`, `#rrggbbaa`, `#rgb` or `#rgba`, also without the `#`, or a name of CSS, in any case.
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
