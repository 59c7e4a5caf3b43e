// SPDX-License-Identifier: BSD-3-Clause
extension TweakableValue {
    /// Reads a cell. For macro expansions only.
    ///
    /// In a release build this is one load. In a debug build, such as a test build, the values of
    /// ``TweakStore/withValues(_:_:)-([TweakKey:TweakValue],_)`` take precedence.
    ///
    /// - Parameters:
    ///   - cell: The eight bytes at offset 8 of a record of ``tweakType``.
    ///   - fallback: The default in the binary.
    @inlinable @inline(__always)
    public static func __load(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Self) -> Self {
        #if DEBUG
        if let value: Self = __scopedValue(of: cell) { return value }
        #endif
        return __read(cell, default: fallback())
    }
}

/// Reads a cell. For macro expansions only.
///
/// Here the program's build decides whether scoped values take precedence; in `TweakableValue.__load` the
/// library's build does.
///
/// - Parameters:
///   - cell: The eight bytes at offset 8 of a record of the type.
///   - scoped: Whether the values of `TweakStore.withValues` take precedence.
///   - fallback: The default in the binary.
@inlinable @inline(__always)
public func __tweak<Value: TweakableValue>(
    _ cell: UnsafeRawPointer, scoped: Bool, default fallback: @autoclosure () -> Value
) -> Value {
    if scoped, let value: Value = __scopedValue(of: cell) { return value }
    return Value.__read(cell, default: fallback())
}

/// Reads the cell of a `Double` as another floating-point type, such as `CGFloat`. For macro expansions only.
///
/// - Parameters:
///   - cell: The eight bytes at offset 8 of a record of a `Double`.
///   - scoped: Whether the values of `TweakStore.withValues` take precedence.
///   - fallback: The default in the binary.
@inlinable @inline(__always)
public func __converted<Value: BinaryFloatingPoint>(
    _ cell: UnsafeRawPointer, scoped: Bool, default fallback: @autoclosure () -> Value
) -> Value {
    Value(__tweak(cell, scoped: scoped, default: Double(fallback())))
}

/// Reads the cell of a type that is stored as its raw value. For macro expansions only.
///
/// - Parameters:
///   - cell: The eight bytes at offset 8 of a record of the raw value's type.
///   - type: The type that the record has.
///   - scoped: Whether the values of `TweakStore.withValues` take precedence.
///   - fallback: The default in the binary.
@inlinable @inline(__always)
public func __tweak<Value: TweakableRawRepresentable>(
    _ cell: UnsafeRawPointer, as type: Value.RawValue.Type, scoped: Bool,
    default fallback: @autoclosure () -> Value
) -> Value {
    __tweak(cell, scoped: scoped, default: fallback())
}

/// The overload for a record whose type is not the raw value's. Using it is an error.
@available(
    *, unavailable,
    message:
        "it has other raw values: for a Double write 45.0, for cases of integers choices:, as [1: \"a\"], and Int raw values"
)
public func __tweak<Value: TweakableRawRepresentable, Other>(
    _ cell: UnsafeRawPointer, as type: Other.Type, scoped: Bool, default fallback: @autoclosure () -> Value
) -> Value {
    fallback()
}

/// The overload for a type that is not stored as a raw value. Using it is an error.
@available(
    *, unavailable,
    message:
        "the type must be a TweakableEnum, as in enum Mode: String, CaseIterable, TweakableEnum, or another TweakableRawRepresentable"
)
public func __tweak<Value, Other>(
    _ cell: UnsafeRawPointer, as type: Other.Type, scoped: Bool, default fallback: @autoclosure () -> Value
) -> Value {
    fallback()
}

/// Returns the value of a variable whose type is a typealias. For macro expansions only.
///
/// - Parameters:
///   - value: The value.
///   - literal: The type of the variable's literal.
///   - declared: The declared type.
@inlinable @inline(__always)
public func __aliased<Value>(_ value: Value, _ literal: Value.Type, as declared: Value.Type) -> Value {
    value
}

/// The overload for a variable whose type is not that of its literal. Using it is an error.
@available(
    *, unavailable,
    message:
        "the value must be a literal of the variable's type: write 1.0 for a Double, and name another type itself, not a typealias, as in var value: Float = 1"
)
public func __aliased<Literal, Declared>(
    _ value: Literal, _ literal: Literal.Type, as declared: Declared.Type
) -> Declared {
    // No program that compiles calls it, and there is no value of the type to return.
    fatalError()
}
