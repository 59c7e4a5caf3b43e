// SPDX-License-Identifier: BSD-3-Clause
public import CTweaks
public import TweakRecords

extension Bool: TweakableValue {
    /// The type to record: `bool`, of one byte.
    public static var tweakType: TweakType { .bool }
    /// Converts a stored Bool; `nil` for anything else.
    public init?(tweakValue: TweakValue) {
        guard case .bool(let value) = tweakValue else { return nil }
        self = value
    }
    /// The stored form: a Bool.
    public var tweakValue: TweakValue { .bool(self) }
    /// Reads the cell of a Bool, one byte.
    @inlinable @inline(__always)
    public static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Bool) -> Bool {
        fbtweak__load_bool(cell.assumingMemoryBound(to: Bool.self))
    }
}

extension Double: TweakableValue {
    /// The type to record: `double`, of eight bytes.
    public static var tweakType: TweakType { .double }
    /// Converts a stored floating-point number or integer; `nil` for anything else.
    public init?(tweakValue: TweakValue) {
        switch tweakValue {
        case .double(let value): self = value
        case .integer(let value): self = Double(value)
        default: return nil
        }
    }
    /// The stored form: a floating-point number.
    public var tweakValue: TweakValue { .double(self) }
    /// Reads the cell of a `Double`, eight bytes.
    @inlinable @inline(__always)
    public static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Double) -> Double
    {
        Double(bitPattern: fbtweak__load_64(cell.assumingMemoryBound(to: UInt64.self)))
    }
}

extension Float: TweakableValue {
    /// The type to record: `float`, of four bytes.
    public static var tweakType: TweakType { .float }
    /// Converts a stored floating-point number or integer; `nil` for anything else.
    public init?(tweakValue: TweakValue) {
        guard let value = Double(tweakValue: tweakValue) else { return nil }
        self.init(value)
    }
    /// The stored form: the `Double` with the same shortest decimal form, so that 0.1 stays 0.1.
    public var tweakValue: TweakValue { .double(Double(shortest: self)) }
    /// Reads the cell of a `Float`, four bytes.
    @inlinable @inline(__always)
    public static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Float) -> Float {
        Float(bitPattern: fbtweak__load_32(cell.assumingMemoryBound(to: UInt32.self)))
    }
}

// The extension below implements these.
extension Int: TweakableValue {}
extension Int8: TweakableValue {}
extension Int16: TweakableValue {}
extension Int32: TweakableValue {}
extension Int64: TweakableValue {}
extension UInt: TweakableValue {}
extension UInt8: TweakableValue {}
extension UInt16: TweakableValue {}
extension UInt32: TweakableValue {}
extension UInt64: TweakableValue {}

extension FixedWidthInteger where Self: TweakableValue {
    /// The type to record: the integer of this width and signedness, or of 64 bits for wider ones.
    public static var tweakType: TweakType {
        switch (bitWidth, isSigned) {
        case (8, true): .int8
        case (8, false): .uint8
        case (16, true): .int16
        case (16, false): .uint16
        case (32, true): .int32
        case (32, false): .uint32
        case (_, true): .int64
        case (_, false): .uint64
        }
    }
    /// Converts a stored integer in the range of the type; `nil` for anything else.
    public init?(tweakValue: TweakValue) {
        guard case .integer(let value) = tweakValue else { return nil }
        self.init(exactly: value)
    }
    /// The stored form: an integer.
    public var tweakValue: TweakValue { .integer(Int128(self)) }
    /// Reads the cell of an integer. Specialised for a type, only one of the loads remains.
    @inlinable @inline(__always)
    public static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Self) -> Self {
        switch bitWidth {
        case 8: Self(truncatingIfNeeded: fbtweak__load_8(cell.assumingMemoryBound(to: UInt8.self)))
        case 16: Self(truncatingIfNeeded: fbtweak__load_16(cell.assumingMemoryBound(to: UInt16.self)))
        case 32: Self(truncatingIfNeeded: fbtweak__load_32(cell.assumingMemoryBound(to: UInt32.self)))
        default: Self(truncatingIfNeeded: fbtweak__load_64(cell.assumingMemoryBound(to: UInt64.self)))
        }
    }
}
