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

    /// The value as a message shows it: a text in quotation marks.
    package var quoted: String {
        if case .string(let text) = self { "\"\(text)\"" } else { "\(self)" }
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
