/// Reads a cell. For the expansions of macros only.
///
/// `TweakableValue.__load` does the same, but has the build of this library, not that of the program, decide whether
/// values in scopes come first.
///
/// - Parameters:
///   - cell: The eight bytes at offset 8 of a record of the type.
///   - scoped: Whether the values of `TweakStore.withValues` come first.
///   - fallback: The default in the binary.
@inlinable @inline(__always)
public func __tweak<Value: TweakableValue>(
    _ cell: UnsafeRawPointer, scoped: Bool, default fallback: @autoclosure () -> Value
) -> Value {
    if scoped, let value: Value = __scopedValue(of: cell) { return value }
    return Value.__read(cell, default: fallback())
}

/// Reads the cell of an enumeration with texts as raw values. For the expansions of macros only.
@inlinable @inline(__always)
public func __textEnumeration<Value: TweakableEnum>(
    _ cell: UnsafeRawPointer, scoped: Bool, default fallback: @autoclosure () -> Value
) -> Value where Value.RawValue == String {
    __tweak(cell, scoped: scoped, default: fallback())
}

/// Reads the cell of an enumeration with integers as raw values. For the expansions of macros only.
@inlinable @inline(__always)
public func __integerEnumeration<Value: TweakableEnum>(
    _ cell: UnsafeRawPointer, scoped: Bool, default fallback: @autoclosure () -> Value
) -> Value where Value.RawValue == Int {
    __tweak(cell, scoped: scoped, default: fallback())
}
