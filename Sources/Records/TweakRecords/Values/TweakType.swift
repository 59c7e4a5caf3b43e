// SPDX-License-Identifier: BSD-3-Clause
/// The type of a tweak. The raw value is the type byte of a record.
public enum TweakType: UInt8, Sendable, CaseIterable {
    /// C `bool`, Swift `Bool`.
    case bool = 1
    /// A signed integer of 8 bits.
    case int8 = 2
    /// A signed integer of 16 bits.
    case int16 = 3
    /// A signed integer of 32 bits.
    case int32 = 4
    /// A signed integer of 64 bits.
    case int64 = 5
    /// An unsigned integer of 8 bits.
    case uint8 = 6
    /// An unsigned integer of 16 bits.
    case uint16 = 7
    /// An unsigned integer of 32 bits.
    case uint32 = 8
    /// An unsigned integer of 64 bits.
    case uint64 = 9
    /// An IEEE 754 number of 32 bits.
    case float = 10
    /// An IEEE 754 number of 64 bits.
    case double = 11
    /// UTF-8 text.
    case string = 12
    /// A colour; see ``TweakColor``.
    case color = 13
    /// A function to run, without a value.
    case action = 14

    /// The range of an integer type; `nil` for other types.
    public var integerRange: ClosedRange<Int128>? {
        switch self {
        case .int8: Int128(Int8.min)...Int128(Int8.max)
        case .int16: Int128(Int16.min)...Int128(Int16.max)
        case .int32: Int128(Int32.min)...Int128(Int32.max)
        case .int64: Int128(Int64.min)...Int128(Int64.max)
        case .uint8: 0...Int128(UInt8.max)
        case .uint16: 0...Int128(UInt16.max)
        case .uint32: 0...Int128(UInt32.max)
        case .uint64: 0...Int128(UInt64.max)
        case .bool, .float, .double, .string, .color, .action: nil
        }
    }

    /// Whether values are ordered and so can have limits.
    public var isNumeric: Bool { integerRange != nil || self == .float || self == .double }

    /// Whether monitors can have this type: numbers and Bools.
    public var canBeMonitored: Bool { isNumeric || self == .bool }

    /// The name with an article: `a bool`, `an int32`.
    package var withArticle: String {
        switch self {
        case .int8, .int16, .int32, .int64, .action: "an \(self)"
        default: "a \(self)"
        }
    }

    /// The number of bytes in a cell; a string's cell holds an address in all 8, an action has none.
    public var byteCount: Int {
        switch self {
        case .action: 0
        case .bool, .int8, .uint8: 1
        case .int16, .uint16: 2
        case .int32, .uint32, .float, .color: 4
        case .int64, .uint64, .double, .string: 8
        }
    }
}

extension TweakType: LosslessStringConvertible {
    /// Creates the type with a name, such as `double`; `nil` if no type has it.
    public init?(_ description: String) {
        guard let type = Self.allCases.first(where: { $0.description == description }) else { return nil }
        self = type
    }

    /// The name in commands and files: `bool`, `int32`, `double`, `string`, …
    public var description: String {
        switch self {
        case .bool: "bool"
        case .int8: "int8"
        case .int16: "int16"
        case .int32: "int32"
        case .int64: "int64"
        case .uint8: "uint8"
        case .uint16: "uint16"
        case .uint32: "uint32"
        case .uint64: "uint64"
        case .float: "float"
        case .double: "double"
        case .string: "string"
        case .color: "color"
        case .action: "action"
        }
    }
}
