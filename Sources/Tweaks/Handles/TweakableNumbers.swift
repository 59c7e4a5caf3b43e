public import CTweaks
public import TweakRecords

extension Bool: TweakableValue {
    /// One byte.
    public static var tweakType: TweakType { .bool }
    /// Takes only a Bool.
    public init?(tweakValue: TweakValue) {
        guard case .bool(let value) = tweakValue else { return nil }
        self = value
    }
    /// A Bool.
    public var tweakValue: TweakValue { .bool(self) }
    /// Reads the byte.
    @inlinable @inline(__always)
    public static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Bool) -> Bool {
        fbtweak__load_8(cell.assumingMemoryBound(to: UInt8.self)) != 0
    }
}

extension Double: TweakableValue {
    /// Eight bytes.
    public static var tweakType: TweakType { .double }
    /// Takes a floating-point number and an integer.
    public init?(tweakValue: TweakValue) {
        switch tweakValue {
        case .double(let value): self = value
        case .integer(let value): self = Double(value)
        default: return nil
        }
    }
    /// A floating-point number.
    public var tweakValue: TweakValue { .double(self) }
    /// Reads the eight bytes.
    @inlinable @inline(__always)
    public static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Double) -> Double
    {
        Double(bitPattern: fbtweak__load_64(cell.assumingMemoryBound(to: UInt64.self)))
    }
}

extension Float: TweakableValue {
    /// Four bytes.
    public static var tweakType: TweakType { .float }
    /// Takes a floating-point number and an integer.
    public init?(tweakValue: TweakValue) {
        guard let value = Double(tweakValue: tweakValue) else { return nil }
        self.init(value)
    }
    /// The number that is written in the same way, so that 0.1 stays 0.1.
    public var tweakValue: TweakValue { .double(Double(shortest: self)) }
    /// Reads the four bytes.
    @inlinable @inline(__always)
    public static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Float) -> Float {
        Float(bitPattern: fbtweak__load_32(cell.assumingMemoryBound(to: UInt32.self)))
    }
}

extension FixedWidthInteger where Self: TweakableValue {
    /// Takes an integer in the range of the type.
    public init?(tweakValue: TweakValue) {
        guard case .integer(let value) = tweakValue else { return nil }
        self.init(exactly: value)
    }
    /// An integer.
    public var tweakValue: TweakValue { .integer(Int128(self)) }
}

extension Int: TweakableValue {
    /// Eight bytes.
    public static var tweakType: TweakType { .int64 }
    /// Reads the integer.
    @inlinable @inline(__always)
    public static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Int) -> Int {
        Int(truncatingIfNeeded: fbtweak__load_64(cell.assumingMemoryBound(to: UInt64.self)))
    }
}

extension Int8: TweakableValue {
    /// One byte.
    public static var tweakType: TweakType { .int8 }
    /// Reads the integer.
    @inlinable @inline(__always)
    public static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Int8) -> Int8 {
        Int8(truncatingIfNeeded: fbtweak__load_8(cell.assumingMemoryBound(to: UInt8.self)))
    }
}

extension Int16: TweakableValue {
    /// Two bytes.
    public static var tweakType: TweakType { .int16 }
    /// Reads the integer.
    @inlinable @inline(__always)
    public static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Int16) -> Int16 {
        Int16(truncatingIfNeeded: fbtweak__load_16(cell.assumingMemoryBound(to: UInt16.self)))
    }
}

extension Int32: TweakableValue {
    /// Four bytes.
    public static var tweakType: TweakType { .int32 }
    /// Reads the integer.
    @inlinable @inline(__always)
    public static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Int32) -> Int32 {
        Int32(truncatingIfNeeded: fbtweak__load_32(cell.assumingMemoryBound(to: UInt32.self)))
    }
}

extension Int64: TweakableValue {
    /// Eight bytes.
    public static var tweakType: TweakType { .int64 }
    /// Reads the integer.
    @inlinable @inline(__always)
    public static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Int64) -> Int64 {
        Int64(truncatingIfNeeded: fbtweak__load_64(cell.assumingMemoryBound(to: UInt64.self)))
    }
}

extension UInt: TweakableValue {
    /// Eight bytes.
    public static var tweakType: TweakType { .uint64 }
    /// Reads the integer.
    @inlinable @inline(__always)
    public static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> UInt) -> UInt {
        UInt(truncatingIfNeeded: fbtweak__load_64(cell.assumingMemoryBound(to: UInt64.self)))
    }
}

extension UInt8: TweakableValue {
    /// One byte.
    public static var tweakType: TweakType { .uint8 }
    /// Reads the integer.
    @inlinable @inline(__always)
    public static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> UInt8) -> UInt8 {
        UInt8(truncatingIfNeeded: fbtweak__load_8(cell.assumingMemoryBound(to: UInt8.self)))
    }
}

extension UInt16: TweakableValue {
    /// Two bytes.
    public static var tweakType: TweakType { .uint16 }
    /// Reads the integer.
    @inlinable @inline(__always)
    public static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> UInt16) -> UInt16
    {
        UInt16(truncatingIfNeeded: fbtweak__load_16(cell.assumingMemoryBound(to: UInt16.self)))
    }
}

extension UInt32: TweakableValue {
    /// Four bytes.
    public static var tweakType: TweakType { .uint32 }
    /// Reads the integer.
    @inlinable @inline(__always)
    public static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> UInt32) -> UInt32
    {
        UInt32(truncatingIfNeeded: fbtweak__load_32(cell.assumingMemoryBound(to: UInt32.self)))
    }
}

extension UInt64: TweakableValue {
    /// Eight bytes.
    public static var tweakType: TweakType { .uint64 }
    /// Reads the integer.
    @inlinable @inline(__always)
    public static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> UInt64) -> UInt64
    {
        UInt64(truncatingIfNeeded: fbtweak__load_64(cell.assumingMemoryBound(to: UInt64.self)))
    }
}
