// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
internal import Glibc
internal import TweakOverrides
public import TweakRecords
internal import TweakSystem

/// A process's tweaks, with their declarations, current values, providers and observers.
///
///     let key = TweakKey("Spring", "Physics", "Stiffness")
///     try TweakStore.shared.set(240, for: key)
///
/// Every method may be called on every thread. Observers are called on the thread that makes the change,
/// without any lock held, so they may call the store. Changes of the overrides file, and requests through the
/// socket of <doc:ControlProtocol>, are handled on a library thread, which blocks all signals.
public final class TweakStore: Sendable {
    /// The store ``shared``, for the library.
    @usableFromInline static let ofProcess = TweakStore()

    @usableFromInline var isShared: Bool { self === Self.ofProcess }

    let state = Guarded(StoreState())
    let diagnostics = Diagnostics()
    #if !hasFeature(Embedded)
    let tracker = ChangeTracker()
    #endif
    /// Whether the overrides of this application are read and kept.
    let hasStarted = Guarded(false)

    /// The place where a store keeps overrides.
    public enum Overrides: Hashable, Sendable {
        /// Overrides are kept in memory only.
        case none
        /// Overrides are kept in this file, in the format of ``OverridesFile``. The file need not exist.
        case file(path: String)
    }

    /// Creates a store without tweaks that keeps overrides in memory only.
    init() {}

    // MARK: Reading

    /// All tweaks: categories and collections sorted by name, tweaks in the order of declaration.
    public var categories: [TweakCategory] {
        withDecodedState { $0.statuses }.grouped { $0.declaration.key.category }.map { category, tweaks in
            TweakCategory(
                name: category,
                collections: tweaks.grouped { $0.declaration.key.collection }.map { name, tweaks in
                    TweakCollection(name: name, tweaks: tweaks)
                })
        }
    }

    /// The names of tweaks in the order of ``categories``; `nil` matches every name of a level.
    func keys(_ category: String?, _ collection: String?) -> [TweakKey] {
        let keys = allKeys().filter { key in
            category?.hasSameBytes(as: key.category) ?? true
                && collection?.hasSameBytes(as: key.collection) ?? true
        }
        return keys.grouped { $0.category }.flatMap { _, keys in
            keys.grouped { $0.collection }.flatMap { $0.elements }
        }
    }

    // MARK: Changing

    /// Sets a tweak and keeps the value as an override.
    ///
    /// The store calls observers' `willChange`, stores the value in the cells, has it written to the file in
    /// the background, and calls observers' `didChange`. If the tweak has the value already, no observer is
    /// called, but the value becomes an override, which stays whatever other providers have. For a tweak that
    /// needs a restart only the file changes; see ``TweakStatus/pendingValue``.
    ///
    /// - Returns: The value as applied, and whether it was clamped to the limits.
    /// - Throws: ``TweakError`` if the tweak does not exist or refuses the value; it then keeps its value.
    @discardableResult
    public func set(_ value: TweakValue, for key: TweakKey) throws(TweakError) -> TweakDeclaration.Admission {
        try set(.value(value), for: key)
    }

    /// Sets a tweak's value in one provider. The value of a provider with higher precedence still counts.
    ///
    /// With ``TweakSource/session`` the value lasts until the process exits, or until the tweak is set with
    /// ``set(_:for:)`` or by a person, or reset.
    ///
    /// - Parameters:
    ///   - value: The value; `nil` resets the tweak in this provider.
    ///   - key: The tweak.
    ///   - source: ``TweakSource/session``, ``TweakSource/overrides``, or the source of a
    ///     ``MutableTweakProvider``.
    /// - Throws: ``TweakError`` if the tweak does not exist or refuses the value, or the provider cannot keep
    ///   it.
    public func set(_ value: TweakValue?, for key: TweakKey, in source: TweakSource) throws(TweakError) {
        if let value {
            _ = try set(.value(value), for: key, in: source)
        } else {
            try checkHasValue(key)
            try change([(key, nil)], in: source)
        }
    }

    /// Resets a tweak: removes its override, so that the next provider or the default decides.
    ///
    /// - Throws: ``TweakError`` if the tweak does not exist or is an action.
    public func reset(_ key: TweakKey) throws(TweakError) {
        try reset(key, by: .program)
    }

    func reset(_ key: TweakKey, by author: ChangeAuthor) throws(TweakError) {
        try checkHasValue(key)
        try change([(key, nil)], by: author)
    }

    /// Resets all tweaks of this store, as one change. If a provider cannot remove a value, that is reported.
    public func resetAll() { changeOrReport(allKeys().map { ($0, nil) }) }

    /// Flushes pending writes, and returns when they are on disk or have failed. The store does this by
    /// itself within 50 ms, and at exit.
    public func flush() {
        writer?.flush()
        diagnostics.finish()
    }

    // MARK: Observing

    /// Calls closures before and after the value of a tweak changes.
    ///
    /// Calls of `didChange` come one at a time, in the order of the changes. A change made inside a callback
    /// is delivered after the callback has returned.
    ///
    /// - Parameters:
    ///   - key: The tweak; `nil` for all.
    ///   - willChange: Called before the change.
    ///   - didChange: Called after the change.
    /// - Returns: The observation, which ends when it is released.
    public func observe(
        _ key: TweakKey? = nil, willChange: (@Sendable (TweakChange) -> Void)? = nil,
        didChange: (@Sendable (TweakChange) -> Void)? = nil
    ) -> TweakObservation {
        addObserver(of: key.map { [$0] }, willChange: willChange) { _ in didChange.map { .eachChange($0) } }
    }
}

// MARK: - The overrides file

extension TweakStore {
    /// The writer of overrides; `nil` if they are kept in memory only.
    var writer: OverridesWriter? { state.withLock { $0.writer } }

    /// Applies the overrides in a file, and writes changes into it from now on.
    func keepOverrides(in file: OverridesFile) {
        let writer = OverridesWriter(file: file, report: diagnostics.warn)
        state.withLock { $0.writer = writer }
        do throws(OverridesError) {
            let (document, content) = try file.loadAtStart()
            writer.begin(with: content)
            guard !document.isEmpty else { return }
            // The document's memory is free again before tweaks are decoded.
            let (provided, baked) = (document.provided, document.bakedKeys)
            let isWritten = withState { state in
                state.layers[.overrides] = provided
                state.decode(only: Array(state.layers[.overrides].keys))
                state.baked = baked
                return state.dropBaked()
            }
            if !isWritten { flush() }
        } catch .corrupt(let path, let reason) {
            let error = OverridesError.corrupt(path: path, reason: reason)
            diagnostics.warn(
                "\(error); the program starts without overrides, and follows the file once it is fixed",
                onceFor: error.identity(in: (try? file.read()) ?? nil))
        } catch {
            diagnostics.warn("\(error)")
        }
    }
}

// MARK: - The state

extension TweakStore {
    func withDecodedState<Result>(_ body: (inout StoreState) -> Result) -> Result {
        while true {
            let result = withState { state -> Result? in
                state.decode()
                return state.knowsTypes ? body(&state) : nil
            }
            if let result { return result }
            describeTypes()
        }
    }

    /// Runs `body` with the lock held, and then reports its messages.
    func withState<Result, Failure>(
        _ body: (inout StoreState) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let (result, rest, callsForWatch) = try state.withLock { (state) throws(Failure) in
            let result = try body(&state)
            return (result, state.drainRest(), state.gates.drainCallForWatch())
        }
        if callsForWatch { watchGates() }
        if let rest { finish(rest) }
        return result
    }

    /// Does what must not be done with the lock held. It is a function of its own because the one above is generic.
    private func finish(_ rest: StoreState.Rest) {
        for message in rest.messages { diagnostics.warn(message) }
        for feed in rest.feeds { feed.report(.tweaks(rest.unasked)) }
        if !rest.newlySet.isEmpty { lookForReaders(of: rest.newlySet) }
    }

    /// Returns the status of a tweak, ignoring values of the task.
    func storedStatus(of key: TweakKey) throws(TweakError) -> TweakStatus {
        if let status = withDecodedState({ $0.status(of: key) }) { return status }
        throw unknown(key)
    }

    /// Returns the declaration of a tweak.
    func declaration(of key: TweakKey) throws(TweakError) -> TweakDeclaration {
        if let declaration = withDecodedState({ $0.status(of: key)?.declaration }) { return declaration }
        throw unknown(key)
    }

    func unknown(_ key: TweakKey) -> TweakError {
        if state.withLock({ $0.layers.isEncrypted(key) }) { return .encrypted(key) }
        return .unknown(key, nearest: allKeys().nearest(to: key))
    }

    /// Returns the status of all tweaks, in the order of declaration.
    func statuses() -> [TweakStatus] { withDecodedState { $0.statuses } }

    /// Returns the status of all tweaks as it will be without leases and ramps, in the order of declaration.
    func lastingStatuses() -> [TweakStatus] { withDecodedState { $0.tweaks.all.map($0.lastingStatus) } }

    /// Returns all names, in the order of declaration.
    func allKeys() -> [TweakKey] { withDecodedState { $0.tweaks.all.map { $0.key } } }
}

extension Sequence {
    /// Groups the elements by a name, and sorts the groups by it. In a group they keep their order.
    fileprivate func grouped(by name: (Element) -> String) -> [(name: String, elements: [Element])] {
        Dictionary(grouping: self) { ByteText(name($0)) }.sorted { $0.key < $1.key }
            .map { (name: $0.key.text, elements: $0.value) }
    }
}
