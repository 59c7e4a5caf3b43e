public import FBTweak
public import TweakRecords

/// A tweak in Swift: its value, and all that there is to know and do about it.
///
///     let stiffness = try TweakStore.shared.tweak("Spring", "Physics", "Stiffness", as: Double.self)
///     spring.stiffness = stiffness.value
///     try stiffness.set(240)
///
/// A handle is small and free to copy, and may be used on every thread. It stays valid when the tweak is removed, or the
/// library that declares it is closed: the value is the default then.
public struct Tweak<Value: TweakableValue>: Sendable {
    /// The address of the cell, as a number since a pointer is not Sendable; 0 of a constant.
    @usableFromInline let cell: UInt
    @usableFromInline let fallback: Value
    /// `nil` for the shared store, which is not reached for a read.
    @usableFromInline let privateStore: TweakStore?

    /// Makes the handle of a record in the binary. For the expansions of macros only.
    ///
    /// - Parameters:
    ///   - record: The record of a tweak of this type, there for as long as the handle is used.
    ///   - fallback: The default in the record.
    @inlinable @inline(__always)
    public init(__record record: UnsafeRawPointer, default fallback: Value) {
        cell = UInt(bitPattern: record + 8)
        self.fallback = fallback
        privateStore = nil
    }

    /// Makes a handle that has a value and nothing else. For the expansions of macros only, where tweaks are disabled.
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

    /// The current value. Getting it is one load and never fails.
    ///
    /// Setting it is ``set(_:)``, for where nothing can be thrown: what is refused the store's logger reports.
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

    /// The value of a private store's tweak. Apart, so that a read of the others stays a few instructions.
    @inlinable @inline(never)
    func valueInTask(_ cell: UnsafeRawPointer) -> Value {
        __tweak(cell, scoped: true, default: fallback)
    }

    @inlinable var store: TweakStore { privateStore ?? .shared }
}

// MARK: - What it is

extension Tweak {
    /// The tweak's name. Three empty texts where tweaks are disabled, since then no name is in the binary.
    public var key: TweakKey { cell == 0 ? TweakKey("", "", "") : store.key(ofCell: cell) }

    /// What the program says about the tweak. `nil` if nothing declares it any more, and where tweaks are disabled.
    public var declaration: TweakDeclaration? {
        guard cell != 0, let declaration = try? store.declaration(of: key),
            declaration.type == Value.tweakType
        else {
            return nil
        }
        return declaration
    }

    /// The value in the binary.
    public var defaultValue: Value {
        (declaration?.defaultValue).flatMap(Value.init(tweakValue:)) ?? fallback
    }

    /// The smallest and the largest value; `nil` where only the type limits it.
    public var limits: (minimum: Value?, maximum: Value?) {
        let declaration = declaration
        return (
            declaration?.minimum.flatMap(Value.init(tweakValue:)),
            declaration?.maximum.flatMap(Value.init(tweakValue:))
        )
    }

    /// The only values that the tweak takes; empty if it takes others. Their labels are in the ``declaration``.
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

    /// The last change since the process has started, and its time since 1970; `nil` if there was none.
    ///
    /// `Date(timeIntervalSince1970: time / .seconds(1))` is that time as Foundation has it.
    public var lastChange: (change: Change, time: Duration)? {
        guard cell != 0, let last = store.lastChange(of: key), let change = Change(last.change) else {
            return nil
        }
        return (change, last.time)
    }
}

// MARK: - Changing

extension Tweak {
    /// Sets the tweak and keeps the value as an override.
    ///
    /// A number outside the limits is clamped. Where tweaks are disabled nothing happens.
    ///
    /// - Returns: The value that the tweak takes.
    /// - Throws: ``TweakError`` if nothing declares the tweak any more or it cannot take the value.
    @inlinable @discardableResult
    public func set(_ value: Value) throws(TweakError) -> Value {
        if cell == 0 { return fallback }
        let taken = try store.set(value.tweakValue, of: Value.tweakType, forCell: cell)
        return Value(tweakValue: taken) ?? value
    }

    /// Takes the override away, so that the tweak has its default again.
    ///
    /// - Throws: ``TweakError`` if nothing declares the tweak any more.
    public func reset() throws(TweakError) {
        if cell != 0 { try store.reset(key) }
    }
}

extension TweakStore {
    /// Sets the tweak of a handle.
    ///
    /// - Returns: The value that it takes.
    @usableFromInline
    func set(
        _ value: TweakValue, of type: TweakType, forCell cell: UInt
    ) throws(TweakError) -> TweakValue {
        try set(key(ofCell: cell)) { (declaration, _) throws(TweakValueError) in
            try declaration.admit(value, of: type)
        }.value
    }
}

extension TweakDeclaration {
    /// What ``admit(_:)`` says, for a value of just the tweak's type.
    func admit(_ value: TweakValue, of type: TweakType) throws(TweakValueError) -> Admission {
        guard type == self.type else { throw .wrongType(self, given: value.quoted) }
        return try admit(value)
    }
}

extension Tweak {
    /// The tweak of a handle of `fbtweak.h`, such as `FBTweakInline` makes in a C header.
    ///
    /// - Throws: ``TweakError`` if the handle is `NULL`, or the tweak is of another type.
    public init(_ handle: UnsafePointer<fbtweak>?) throws(TweakError) {
        guard let handle, let declaration = TweakDeclaration(record: UnsafeRawPointer(handle)) else {
            throw .invalid(TweakKey("", "", ""), reason: "there is no tweak: the handle is NULL")
        }
        self = try TweakStore.shared.tweak(declaration.key)
    }

    /// The handle of the tweak for functions of `fbtweak.h`; valid for as long as the process. `nil` for the tweaks of
    /// private stores, which C does not have, and where tweaks are disabled.
    public var cHandle: UnsafePointer<fbtweak>? {
        cell == 0 || privateStore != nil ? nil : store.handle(of: key)
    }
}
