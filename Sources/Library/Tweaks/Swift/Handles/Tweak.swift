// SPDX-License-Identifier: BSD-3-Clause
public import FBTweak
public import TweakRecords

/// A typed handle of a tweak, for reading, setting and observing it.
///
///     let stiffness = try TweakStore.shared.tweak("Spring", "Physics", "Stiffness", as: Double.self)
///     spring.stiffness = stiffness.value
///     try stiffness.set(240)
///
/// A handle is small, cheap to copy, and usable on every thread. It stays valid when the tweak is removed or
/// the library that declares it is closed; its value is the default then.
public struct Tweak<Value: TweakableValue>: Sendable {
    /// The address of the cell, as a number because pointers are not Sendable; 0 for a constant.
    @usableFromInline let cell: UInt
    @usableFromInline let fallback: Value
    /// The tweak's store; `nil` for the shared one, which a read does not touch.
    @usableFromInline let privateStore: TweakStore?

    /// Creates the handle of a record in the binary. For macro expansions only.
    ///
    /// - Parameters:
    ///   - record: The record of a tweak of this type, valid as long as the handle is used.
    ///   - fallback: The default in the record.
    @inlinable @inline(__always)
    public init(__record record: UnsafeRawPointer, default fallback: Value) {
        cell = UInt(bitPattern: record + 8)
        self.fallback = fallback
        privateStore = nil
    }

    /// Creates a constant handle. For macro expansions only, where tweaks are disabled.
    @inlinable @inline(__always)
    public init(__constant constant: Value) {
        cell = 0
        fallback = constant
        privateStore = nil
    }

    @inlinable @inline(__always)
    init(cell: UInt, default fallback: Value, in privateStore: TweakStore?) {
        self.cell = cell
        self.fallback = fallback
        self.privateStore = privateStore
    }

    /// The current value. Reading never fails; it is one load, after two tests if the compiler cannot see
    /// that a macro made the handle.
    ///
    /// Assigning is ``set(_:)`` for code that cannot throw: the store logs a refused value.
    public var value: Value {
        @inlinable @inline(__always)
        get {
            guard let cell = UnsafeRawPointer(bitPattern: cell) else { return fallback }
            if privateStore != nil { return valueInTask(cell) }
            return Value.__load(cell, default: fallback)
        }
        nonmutating set {
            do throws(TweakError) { try set(newValue) } catch { store.diagnostics.warn("\(error)") }
        }
    }

    /// Reads the tweak of a private store. Not inlined, so that other reads stay a few instructions.
    @inlinable @inline(never)
    func valueInTask(_ cell: UnsafeRawPointer) -> Value {
        __tweak(cell, scoped: true, default: fallback)
    }

    @inlinable package var store: TweakStore { privateStore ?? .ofProcess }
}

// MARK: - What it is

extension Tweak {
    /// The tweak's name; three empty strings where tweaks are disabled, because the binary then contains no
    /// names.
    public var key: TweakKey { cell == 0 ? TweakKey("", "", "") : store.key(ofCell: cell) }

    /// The tweak's declaration, or `nil` if nothing declares it any more or tweaks are disabled.
    public var declaration: TweakDeclaration? {
        guard cell != 0, let declaration = try? store.declaration(of: key),
            declaration.type == Value.tweakType
        else {
            return nil
        }
        return declaration
    }

    /// The default in the binary.
    public var defaultValue: Value {
        (declaration?.defaultValue).flatMap(Value.init(tweakValue:)) ?? fallback
    }

    /// The minimum and maximum; `nil` where only the type limits the value.
    public var limits: (minimum: Value?, maximum: Value?) {
        let declaration = declaration
        return (
            declaration?.minimum.flatMap(Value.init(tweakValue:)),
            declaration?.maximum.flatMap(Value.init(tweakValue:))
        )
    }

    /// The only allowed values; empty if the tweak has no choices. The ``declaration`` has their labels.
    public var choices: [Value] {
        let declared = declaration?.choices ?? []
        return (declared.isEmpty ? Value.tweakChoices : declared).compactMap {
            Value(tweakValue: $0.value)
        }
    }

    /// The provider of the current value.
    public var source: TweakSource {
        cell == 0 ? .binary : (try? store.status(of: key))?.source ?? .binary
    }

    /// The last change since the process started, with its time since 1970; `nil` if there was none.
    ///
    /// `Date(timeIntervalSince1970: time / .seconds(1))` converts the time for Foundation.
    public var lastChange: (change: Change, time: Duration)? {
        guard cell != 0, let last = store.lastChange(of: key), let change = Change(last.change) else {
            return nil
        }
        return (change, last.time)
    }
}

extension Tweak: CustomStringConvertible {
    /// The name and the value: `Spring/Drawing/Gain = 0.75`. Where tweaks are disabled, the value alone,
    /// because the binary then contains no names.
    public var description: String { cell == 0 ? "\(value)" : "\(key) = \(value)" }
}

// MARK: - Changing

extension Tweak {
    /// Sets the tweak and keeps the value as an override.
    ///
    /// A number outside the limits is clamped. Where tweaks are disabled, this does nothing.
    ///
    /// - Returns: The value as applied.
    /// - Throws: ``TweakError`` if nothing declares the tweak any more or it refuses the value.
    @inlinable @discardableResult
    public func set(_ value: Value) throws(TweakError) -> Value {
        if cell == 0 { return fallback }
        let taken = try store.set(value.tweakValue, of: Value.tweakType, forCell: cell)
        return Value(tweakValue: taken) ?? value
    }

    /// Resets the tweak: removes its override, so that the next provider or the default decides.
    ///
    /// - Throws: ``TweakError`` if nothing declares the tweak any more.
    public func reset() throws(TweakError) {
        if cell != 0 { try store.reset(key) }
    }
}

extension TweakStore {
    /// Sets the tweak of a handle.
    ///
    /// - Returns: The value as applied.
    @usableFromInline
    func set(
        _ value: TweakValue, of type: TweakType, forCell cell: UInt
    ) throws(TweakError) -> TweakValue {
        try set(.value(value), of: type, for: key(ofCell: cell)).value
    }
}

extension Tweak {
    /// Creates the handle of a tweak from a C handle, such as one that `FBTweakInline` makes in a header.
    ///
    /// - Throws: ``TweakError`` if the handle is `NULL` or the tweak has another type.
    public init(_ handle: UnsafePointer<fbtweak>?) throws(TweakError) {
        guard let handle, let declaration = TweakDeclaration(record: UnsafeRawPointer(handle)) else {
            throw .invalid(TweakKey("", "", ""), reason: "there is no tweak: the handle is NULL")
        }
        self = try TweakStore.ofProcess.tweak(declaration.key)
    }

    /// The tweak's C handle, for the functions of `fbtweak.h`, valid until the process exits; `nil` for
    /// tweaks of private stores, which C does not have, and where tweaks are disabled.
    public var cHandle: UnsafePointer<fbtweak>? {
        cell == 0 || privateStore != nil ? nil : store.handle(of: key)
    }
}
