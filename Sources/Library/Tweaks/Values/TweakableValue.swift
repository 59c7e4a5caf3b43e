// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
public import TweakRecords

/// A type that a tweak's value can have.
///
/// `Bool`, `Int` and the integers of 8 to 64 bits, `Float`, `Double`, `String`, `Duration` and ``TweakColor``
/// conform, as do arrays of `Int`, `Double` or `String`, an `Optional` of `Bool`, `Int`, `Float`, `Double` or
/// `String`, enumerations declared as ``TweakableEnum``, and other types with raw values declared as
/// ``TweakableRawRepresentable``. The macros support all of these. Other types specify how they are stored:
///
///     extension Angle: TweakableValue {
///         static var tweakType: TweakType { .double }
///         init?(tweakValue: TweakValue) {
///             guard let degrees = Double(tweakValue: tweakValue) else { return nil }
///             self.init(degrees: degrees)
///         }
///         var tweakValue: TweakValue { .double(degrees) }
///     }
public protocol TweakableValue: Sendable, Equatable {
    /// The type to write into a tweak's record.
    static var tweakType: TweakType { get }
    /// The only allowed values, such as an enumeration's cases; empty if all values are allowed.
    static var tweakChoices: [TweakChoice] { get }
    /// The type of the elements, if the values are arrays; `nil` otherwise.
    static var tweakElement: TweakType? { get }
    /// Whether a value can be absent, such as `nil` of an `Optional`.
    static var tweakIsOptional: Bool { get }
    /// The unit of the numbers if a declaration has none, such as `s` for a `Duration`.
    static var tweakUnit: String? { get }
    /// Converts a value from the store; `nil` if the value is not of this type.
    init?(tweakValue: TweakValue)
    /// The value in the form in which the store keeps it.
    var tweakValue: TweakValue { get }
    /// Reads a cell with one relaxed atomic load. There is a default implementation; the library's own types
    /// have faster ones.
    ///
    /// - Parameters:
    ///   - cell: The eight bytes at offset 8 of a record of ``tweakType``.
    ///   - fallback: The default in the binary, for a null string or a value that is not of this type.
    static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Self) -> Self
}

extension TweakableValue {
    /// Empty: all values are allowed.
    public static var tweakChoices: [TweakChoice] { [] }
    /// `nil`: not an array.
    public static var tweakElement: TweakType? { nil }
    /// `false`: a value is never absent.
    public static var tweakIsOptional: Bool { false }
    /// `nil`: no unit.
    public static var tweakUnit: String? { nil }

    /// Reads a cell of any type.
    public static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Self) -> Self {
        decode(cell, tweakType).flatMap(Self.init(tweakValue:)) ?? fallback()
    }
}

/// Decodes a cell; `nil` for a null string.
func decode(_ cell: UnsafeRawPointer, _ type: TweakType) -> TweakValue? {
    switch type {
    case .bool: Bool.__read(cell, default: false).tweakValue
    case .int8: Int8.__read(cell, default: 0).tweakValue
    case .int16: Int16.__read(cell, default: 0).tweakValue
    case .int32: Int32.__read(cell, default: 0).tweakValue
    case .int64: Int64.__read(cell, default: 0).tweakValue
    case .uint8: UInt8.__read(cell, default: 0).tweakValue
    case .uint16: UInt16.__read(cell, default: 0).tweakValue
    case .uint32: UInt32.__read(cell, default: 0).tweakValue
    case .uint64: UInt64.__read(cell, default: 0).tweakValue
    case .float: Float.__read(cell, default: 0).tweakValue
    case .double: Double.__read(cell, default: 0).tweakValue
    case .string: String.__text(cell).map { .string($0) }
    case .color: TweakColor.__read(cell, default: TweakColor(red: 0, green: 0, blue: 0)).tweakValue
    case .action: nil
    }
}
