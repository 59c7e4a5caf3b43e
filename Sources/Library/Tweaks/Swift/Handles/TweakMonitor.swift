// SPDX-License-Identifier: BSD-3-Clause
public import CTweaks

/// A type that monitors can have: Bool, an integer of 8 to 64 bits, Float or Double.
public protocol MonitoredValue: TweakableValue {
    /// Writes a cell with one relaxed atomic store. For monitors only.
    ///
    /// - Parameter cell: The eight bytes at offset 8 of a record of the type.
    func __store(in cell: UnsafeMutableRawPointer)
}

extension Bool: MonitoredValue {
    /// Writes the byte of a Bool.
    @inlinable @inline(__always)
    public func __store(in cell: UnsafeMutableRawPointer) {
        fbtweak__store_bool(cell.assumingMemoryBound(to: Bool.self), self)
    }
}

extension Double: MonitoredValue {
    /// Writes the eight bytes of a Double.
    @inlinable @inline(__always)
    public func __store(in cell: UnsafeMutableRawPointer) {
        fbtweak__store_64(cell.assumingMemoryBound(to: UInt64.self), bitPattern)
    }
}

extension Float: MonitoredValue {
    /// Writes the four bytes of a Float.
    @inlinable @inline(__always)
    public func __store(in cell: UnsafeMutableRawPointer) {
        fbtweak__store_32(cell.assumingMemoryBound(to: UInt32.self), bitPattern)
    }
}

// The extension below implements these.
extension Int: MonitoredValue {}
extension Int8: MonitoredValue {}
extension Int16: MonitoredValue {}
extension Int32: MonitoredValue {}
extension Int64: MonitoredValue {}
extension UInt: MonitoredValue {}
extension UInt8: MonitoredValue {}
extension UInt16: MonitoredValue {}
extension UInt32: MonitoredValue {}
extension UInt64: MonitoredValue {}

extension FixedWidthInteger where Self: MonitoredValue {
    /// Writes an integer. Specialised for a type, only one of the stores remains.
    @inlinable @inline(__always)
    public func __store(in cell: UnsafeMutableRawPointer) {
        switch Self.bitWidth {
        case 8: fbtweak__store_8(cell.assumingMemoryBound(to: UInt8.self), UInt8(truncatingIfNeeded: self))
        case 16:
            fbtweak__store_16(cell.assumingMemoryBound(to: UInt16.self), UInt16(truncatingIfNeeded: self))
        case 32:
            fbtweak__store_32(cell.assumingMemoryBound(to: UInt32.self), UInt32(truncatingIfNeeded: self))
        default:
            fbtweak__store_64(cell.assumingMemoryBound(to: UInt64.self), UInt64(truncatingIfNeeded: self))
        }
    }
}

/// A monitor made at run time: a number that the program stores, and that people see but cannot set.
///
///     let load = try store.makeMonitor("Server", "State", "Load", of: Double.self, in: 0...1)
///     load.store(0.75)
///
/// It is usable on every thread until the process exits.
public struct TweakMonitor<Value: MonitoredValue>: Sendable {
    @usableFromInline let cell: UInt

    /// Stores the value, with one relaxed atomic store.
    @inlinable @inline(__always)
    public func store(_ value: Value) {
        guard let cell = UnsafeMutableRawPointer(bitPattern: cell) else { return }
        value.__store(in: cell)
    }
}

/// Stores a monitor's value. For macro expansions only.
///
/// - Parameters:
///   - cell: The eight bytes at offset 8 of a record of the type.
///   - value: The value.
@inlinable @inline(__always)
public func __monitor<Value: MonitoredValue>(_ cell: UnsafeMutableRawPointer, _ value: Value) {
    value.__store(in: cell)
}

/// Stands in for a monitor where tweaks are disabled. For macro expansions only.
///
/// - Parameter value: An expression that is not evaluated. It makes the compiler count variables used only by
///   a monitor as used.
@inlinable @inline(__always)
public func __unevaluated<Value>(_ value: @autoclosure () -> Value) {}
