// SPDX-License-Identifier: BSD-3-Clause
public import CTweaks
public import TweakRecords

/// A type whose `Optional` can be a tweak: `Bool`, `Int`, `Float`, `Double` or `String`.
public protocol TweakableWrapped: TweakableValue {
    /// Reads the cell of an optional tweak with one relaxed atomic load.
    static func __readOptional(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Self?) -> Self?
}

extension Bool: TweakableWrapped {
    /// Reads the cell of an optional Bool, whose byte is 2 for `nil`.
    @inlinable @inline(__always)
    public static func __readOptional(
        _ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Bool?
    ) -> Bool? {
        let byte = fbtweak__load_8(cell.assumingMemoryBound(to: UInt8.self))
        return byte == 2 ? nil : byte != 0
    }
}

extension Int: TweakableWrapped {
    /// Reads the cell of an optional integer, which is `Int.min` for `nil`.
    @inlinable @inline(__always)
    public static func __readOptional(
        _ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Int?
    ) -> Int? {
        let number = Int.__read(cell, default: 0)
        return number == .min ? nil : number
    }
}

// The extension below implements these.
extension Float: TweakableWrapped {}
extension Double: TweakableWrapped {}

extension BinaryFloatingPoint where Self: TweakableWrapped {
    /// Reads the cell of an optional floating-point number, which is NaN for `nil`.
    @inlinable @inline(__always)
    public static func __readOptional(
        _ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Self?
    ) -> Self? {
        let number = Self.__read(cell, default: 0)
        return number.isNaN ? nil : number
    }
}

extension String: TweakableWrapped {
    /// Copies the string that the cell of an optional string points to, which is `none` for `nil`.
    @inlinable @inline(__always)
    public static func __readOptional(
        _ cell: UnsafeRawPointer, default fallback: @autoclosure () -> String?
    ) -> String? {
        __text(cell).map(TweakValue.optionalText) ?? fallback()
    }
}

/// An `Optional` as the value of a tweak, where `nil` is "no value".
extension Optional: TweakableValue where Wrapped: TweakableWrapped {
    /// The type to record: that of the wrapped value.
    public static var tweakType: TweakType { Wrapped.tweakType }
    /// `true`: a value can be absent.
    public static var tweakIsOptional: Bool { true }
    /// The unit of the wrapped value.
    public static var tweakUnit: String? { Wrapped.tweakUnit }
    /// Converts what the wrapped type converts, and ``TweakValue/absent`` to `nil`.
    public init?(tweakValue: TweakValue) {
        guard let wrapped = tweakValue.outOfOptional else {
            self = nil
            return
        }
        guard let value = Wrapped(tweakValue: wrapped) else { return nil }
        self = value
    }
    /// The stored form: that of the wrapped value, or ``TweakValue/absent`` for `nil`.
    public var tweakValue: TweakValue { self?.tweakValue.inOptional ?? .absent }
    /// Reads the cell of an optional tweak.
    @inlinable @inline(__always)
    public static func __read(
        _ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Wrapped?
    ) -> Wrapped? {
        Wrapped.__readOptional(cell, default: fallback())
    }
}

extension TweakStore {
    /// Makes an optional tweak with limits at run time.
    ///
    ///     let limit = try store.make(TweakKey("Robot", "Arm", "Speed limit"), default: nil, in: 0.1...2)
    ///
    /// - Parameters:
    ///   - key: The name.
    ///   - default: The default.
    ///   - limits: The minimum and maximum; a range such as `0...` or `...100` has only one.
    ///   - unit: The unit, such as `kg`.
    ///   - description: A description for people.
    ///   - owner: The person or team responsible.
    ///   - expires: The last day on which the tweak should exist, as `YYYY-MM-DD`.
    ///   - readOnly: Whether the tweak can be seen but not set.
    ///   - needsRestart: Whether a new value takes effect at the program's next start.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the declaration is invalid, ``TweakError/exists(_:)``
    ///   if the program has a tweak of this name.
    @discardableResult
    public func make<Wrapped: TweakableWrapped & Comparable>(
        _ key: TweakKey, default: Wrapped?, in limits: some TweakLimits<Wrapped>, unit: String? = nil,
        description: String? = nil, owner: String? = nil, expires: String? = nil, readOnly: Bool = false,
        needsRestart: Bool = false
    ) throws(TweakError) -> Tweak<Wrapped?> {
        try make(
            key, `default`, minimum: limits.tweakMinimum.map { $0 }, maximum: limits.tweakMaximum.map { $0 },
            texts: ["unit": unit, "doc": description, "owner": owner, "expires": expires],
            flags: ["read-only": readOnly, "needs-restart": needsRestart])
    }

    /// Makes an optional tweak with limits at run time, from the three levels of its name.
    ///
    /// - Parameters:
    ///   - category: The first level of the name.
    ///   - collection: The second level.
    ///   - name: The third level.
    ///   - default: The default.
    ///   - limits: The minimum and maximum; a range such as `0...` or `...100` has only one.
    ///   - unit: The unit, such as `kg`.
    ///   - description: A description for people.
    ///   - owner: The person or team responsible.
    ///   - expires: The last day on which the tweak should exist, as `YYYY-MM-DD`.
    ///   - readOnly: Whether the tweak can be seen but not set.
    ///   - needsRestart: Whether a new value takes effect at the program's next start.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the declaration is invalid, ``TweakError/exists(_:)``
    ///   if the program has a tweak of this name.
    @discardableResult
    @_alwaysEmitIntoClient
    public func make<Wrapped: TweakableWrapped & Comparable>(
        _ category: String, _ collection: String, _ name: String, default: Wrapped?,
        in limits: some TweakLimits<Wrapped>, unit: String? = nil, description: String? = nil,
        owner: String? = nil, expires: String? = nil, readOnly: Bool = false, needsRestart: Bool = false
    ) throws(TweakError) -> Tweak<Wrapped?> {
        try make(
            TweakKey(category, collection, name), default: `default`, in: limits, unit: unit,
            description: description, owner: owner, expires: expires, readOnly: readOnly,
            needsRestart: needsRestart)
    }
}
