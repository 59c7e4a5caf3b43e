// SPDX-License-Identifier: BSD-3-Clause
public import CTweaks
public import TweakRecords

/// Values that are in effect for one task; see ``TweakStore/withValues(_:_:)-([TweakKey:TweakValue],_)``.
@usableFromInline struct ScopedValues: Sendable {
    private struct Name: Hashable {
        let store: ObjectIdentifier
        let key: TweakKey
    }

    @TaskLocal private static var ofTask: ScopedValues?
    @usableFromInline static var variable: TaskLocal<ScopedValues?> { $ofTask }
    static var current: ScopedValues? { fbtweak__has_scopes() ? ofTask : nil }

    private var values: [Name: TweakValue] = [:]
    /// The same values by the addresses of their cells.
    private(set) var cells: [UInt: TweakValue] = [:]

    func value(of key: TweakKey, in store: TweakStore) -> TweakValue? {
        values[Name(store: ObjectIdentifier(store), key: key)]
    }

    /// Calls a closure with the values in effect for its task.
    @_alwaysEmitIntoClient
    func run<Result, Failure>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        fbtweak__count_scopes(1)
        defer { fbtweak__count_scopes(-1) }
        return try Self.variable.withValue(self) { Swift.Result(catching: body) }.get()
    }

    /// Calls an asynchronous closure with the values in effect for its task.
    @_alwaysEmitIntoClient
    func run<Result, Failure>(
        isolation: isolated (any Actor)?, _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        fbtweak__count_scopes(1)
        defer { fbtweak__count_scopes(-1) }
        let result: Swift.Result<Result, Failure> = await Self.variable.withValue(self) {
            do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// Returns the task's values with additional ones for a store.
    static func adding(_ values: [TweakKey: TweakValue], in store: TweakStore) throws(TweakError) -> Self {
        var scope = current ?? ScopedValues()
        for (key, value) in values {
            var declaration = try store.declaration(of: key)
            // A test may override read-only tweaks.
            declaration.attributes.removeAll { $0.key == "read-only" }
            let admission: TweakDeclaration.Admission
            do throws(TweakValueError) { admission = try declaration.admit(value) } catch {
                throw .refused(error)
            }
            store.reportClamping(admission, of: value, for: key)
            let admitted = admission.value
            scope.values[Name(store: ObjectIdentifier(store), key: key)] = admitted
            let cells = store.withDecodedState { state -> [OwnedCell] in
                // Later handles of the tweak are then in the scope, too.
                _ = state.handle(of: key)
                return state.tweaks[key]?.cells.all ?? []
            }
            for cell in cells { scope.cells[cell.cell.number] = admitted }
        }
        return scope
    }
}

/// Returns the current task's value for a cell. For code inlined into programs only.
@inlinable @inline(__always)
public func __scopedValue<Value: TweakableValue>(of cell: UnsafeRawPointer) -> Value? {
    fbtweak__has_scopes() ? valueInScope(of: cell) : nil
}

@usableFromInline
func valueInScope<Value: TweakableValue>(of cell: UnsafeRawPointer) -> Value? {
    ScopedValues.current?.cells[UInt(bitPattern: cell)].flatMap(Value.init(tweakValue:))
}

extension TweakStore {
    /// Replaces the values of tweaks while a closure runs, for tests.
    ///
    ///     try store.withValues([TweakKey("Spring", "Physics", "Mass"): 2.0]) {
    ///         #expect(spring().period > before)
    ///     }
    ///
    /// Only this task, its child tasks and tasks that it starts with `Task { }` see the values, so parallel
    /// tests do not affect each other. No observers are called, nothing is kept, and changes made during the
    /// call become visible after it.
    ///
    /// The values apply to ``value(of:)``, ``status(of:)``, handles of private stores, and in a debug build
    /// to every read in Swift. They do not apply to C, detached tasks, other threads and observers. In a
    /// release build they do not apply to reads of the shared store's tweaks, because such a read is one load
    /// and cannot check the task; that is reported.
    ///
    /// - Parameters:
    ///   - values: The values by name, as ``set(_:for:)`` takes them. Read-only tweaks accept values here,
    ///     too.
    ///   - body: The code to run.
    /// - Returns: What the closure returns.
    /// - Throws: ``TweakError`` if a tweak does not exist or cannot take its value, and what the closure
    ///   throws.
    @_alwaysEmitIntoClient
    public func withValues<Result>(
        _ values: [TweakKey: TweakValue], _ body: () throws -> Result
    ) throws -> Result {
        try openScope(values).run(body)
    }

    /// Replaces the values of tweaks while an asynchronous closure runs, for tests.
    ///
    /// - Parameters:
    ///   - values: The values by name, as ``set(_:for:)`` takes them. Read-only tweaks accept values here,
    ///     too.
    ///   - isolation: The caller's actor.
    ///   - body: The code to run.
    /// - Returns: What the closure returns.
    /// - Throws: ``TweakError`` if a tweak does not exist or cannot take its value, and what the closure
    ///   throws.
    @_alwaysEmitIntoClient
    public func withValues<Result>(
        _ values: [TweakKey: TweakValue], isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async throws -> Result {
        try await openScope(values).run(isolation: isolation, body)
    }

    /// Replaces the values of tweaks, given as Swift values, while a closure runs.
    ///
    /// - Parameters:
    ///   - values: The values by name.
    ///   - body: The code to run.
    /// - Returns: What the closure returns.
    /// - Throws: ``TweakError`` if a tweak does not exist or cannot take its value, and what the closure
    ///   throws.
    @_alwaysEmitIntoClient @_disfavoredOverload
    public func withValues<Result>(
        _ values: [TweakKey: any TweakableValue], _ body: () throws -> Result
    ) throws -> Result {
        try withValues(values.mapValues(\.tweakValue), body)
    }

    /// Replaces the values of tweaks, given as Swift values, while an asynchronous closure runs.
    ///
    /// - Parameters:
    ///   - values: The values by name.
    ///   - isolation: The caller's actor.
    ///   - body: The code to run.
    /// - Returns: What the closure returns.
    /// - Throws: ``TweakError`` if a tweak does not exist or cannot take its value, and what the closure
    ///   throws.
    @_alwaysEmitIntoClient @_disfavoredOverload
    public func withValues<Result>(
        _ values: [TweakKey: any TweakableValue], isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async throws -> Result {
        try await withValues(values.mapValues(\.tweakValue), isolation: isolation, body)
    }

    @usableFromInline func openScope(_ values: [TweakKey: TweakValue]) throws(TweakError) -> ScopedValues {
        let scope = try ScopedValues.adding(values, in: self)
        #if !DEBUG
        if self === TweakStore.ofProcess {
            diagnostics.warn(
                "withValues: in a release build the values are seen by the store, but not by #tweak and "
                    + "handles; use a debug build or a private store")
        }
        #endif
        return scope
    }

    /// Returns the task's values with a new one for a tweak; `nil` if the tweak refuses the value, which is
    /// reported.
    @usableFromInline
    func scope(withCell cell: UInt, _ value: TweakValue) -> ScopedValues? {
        do throws(TweakError) { return try openScope([key(ofCell: cell): value]) } catch {
            reportMistake("\(error)")
            return nil
        }
    }

    /// Reports a number that a tweak clamps, see ``reportMistake(_:)``.
    package func reportClamping(
        _ admission: TweakDeclaration.Admission, of value: TweakValue, for key: TweakKey
    ) {
        guard admission.wasClamped else { return }
        reportMistake("\(key): \(value) is outside of its limits, and becomes \(admission.value)")
    }

    /// Reports a value that a test gives to a tweak and that the tweak clamps or refuses: with
    /// `TweaksTesting`, as an issue of the running test.
    private func reportMistake(_ message: String) {
        if !fbtweak__fails_test(message) { diagnostics.warn(message) }
    }
}

extension Tweak {
    /// Replaces the tweak's value while a closure runs, for tests; see
    /// ``TweakStore/withValues(_:_:)-([TweakKey:TweakValue],_)``.
    ///
    ///     mass.withValue(4) { #expect(spring().period > before) }
    ///
    /// If the tweak clamps or refuses the value, that is an issue of the running test with `TweaksTesting`,
    /// and is logged otherwise. After a refusal, or if nothing declares the tweak any more, the closure runs
    /// with the current value. Where tweaks are disabled, it runs with the default.
    ///
    /// - Returns: What the closure returns.
    /// - Throws: What the closure throws.
    @_alwaysEmitIntoClient
    public func withValue<Result, Failure>(
        _ value: Value, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard cell != 0, let scope = store.scope(withCell: cell, value.tweakValue) else { return try body() }
        return try scope.run(body)
    }

    /// Replaces the tweak's value while an asynchronous closure runs, for tests, as ``withValue(_:_:)`` does.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - isolation: The caller's actor.
    ///   - body: The code to run.
    /// - Returns: What the closure returns.
    /// - Throws: What the closure throws.
    @_alwaysEmitIntoClient
    public func withValue<Result, Failure>(
        _ value: Value, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        guard cell != 0, let scope = store.scope(withCell: cell, value.tweakValue) else {
            return try await body()
        }
        return try await scope.run(isolation: isolation, body)
    }
}
