internal import CTweaks
internal import Glibc
public import Logging
internal import TweakOverrides
public import TweakRecords
internal import TweakSystem

/// The tweaks of this process: their declarations, their current values, and who watches them.
///
///     let key = TweakKey("Spring", "Physics", "Stiffness")
///     try TweakStore.shared.set(240, for: key)
///
/// Every method may be called on every thread. Observers are called on the thread that makes the change, without any
/// lock held, so they may call the store. What others write into the overrides file, and what they ask for through the
/// socket of <doc:ControlProtocol>, a thread of the library does; it blocks all signals.
public final class TweakStore: Sendable {
    /// The store that the tweaks of the executable and its libraries are in before `main` begins.
    public static let shared = TweakStore()

    @usableFromInline var isShared: Bool { self === Self.shared }

    let state = Guarded(StoreState())
    let diagnostics = Diagnostics()
    let tracker = ChangeTracker()
    /// Whether the overrides of this application are read and kept.
    let hasStarted = Guarded(false)

    /// Where values that are set are kept.
    public enum Overrides: Hashable, Sendable {
        /// In memory.
        case none
        /// In this file, which has the format of ``OverridesFile``. It need not be there.
        case file(path: String)
    }

    /// Makes a private store, for a test or for values that are none of the program's own. It has no tweaks until some
    /// are made, and stays as long as somebody holds it, or a handle of one of its tweaks.
    ///
    /// - Parameters:
    ///   - overrides: Where values that are set are kept. Those that are in the file already are taken over.
    ///   - logger: Where the store says what went wrong, see ``logger``.
    public init(overrides: Overrides = .none, logger: Logger? = nil) {
        if let logger { self.logger = logger }
        guard case .file(let path) = overrides else { return }
        keepOverrides(in: OverridesFile(path: path))
        flushAtExitOfProcess()
    }

    /// Where the store says what went wrong: a corrupt file, an override that a tweak cannot take. Each message
    /// comes once. Standard error unless another logger is set.
    public var logger: Logger {
        get { diagnostics.logger }
        set { diagnostics.logger = newValue }
    }

    // MARK: Reading

    /// All tweaks: categories and collections sorted by name, tweaks in the order of declaration.
    public var categories: [TweakCategory] {
        withDecodedState { state in
            return Dictionary(grouping: state.statuses) { ByteText($0.declaration.key.category) }
                .sorted { $0.key < $1.key }
                .map { category, tweaks in
                    let collections = Dictionary(grouping: tweaks) { ByteText($0.declaration.key.collection) }
                        .sorted { $0.key < $1.key }
                        .map { TweakCollection(name: $0.key.text, tweaks: $0.value) }
                    return TweakCategory(name: category.text, collections: collections)
                }
        }
    }

    /// One tweak.
    ///
    /// - Throws: ``TweakError/unknown(_:nearest:)``, or ``TweakError/encrypted(_:)``.
    public func status(of key: TweakKey) throws(TweakError) -> TweakStatus {
        let status = try storedStatus(of: key)
        guard let value = ScopedValues.current?.value(of: key, in: self) else { return status }
        return TweakStatus(
            declaration: status.declaration, value: value, source: .scope, pendingValue: nil)
    }

    /// The current value of a tweak.
    ///
    /// - Throws: ``TweakError/unknown(_:nearest:)``.
    public func value(of key: TweakKey) throws(TweakError) -> TweakValue {
        if let value = ScopedValues.current?.value(of: key, in: self) { return value }
        if let value = withDecodedState({ $0.tweaks[key]?.value }) { return value }
        throw unknown(key)
    }

    /// The current value of a tweak, or a default for a name that nothing declares, which is reported once.
    public func value(of key: TweakKey, default defaultValue: TweakValue) -> TweakValue {
        do throws(TweakError) {
            return try value(of: key)
        } catch {
            diagnostics.warn("\(error)")
            return defaultValue
        }
    }

    // MARK: Changing

    /// Sets a tweak and keeps the value as an override.
    ///
    /// The order is: observers' `willChange`, the cells, the file in the background, observers' `didChange`. If the tweak has
    /// the value already nobody is told, but from now on it is an override, which stays whatever other providers say. Of a
    /// tweak that needs a restart only the file changes, see ``TweakStatus/pendingValue``.
    ///
    /// - Returns: The value that the tweak takes, and whether it was clamped to the limits.
    /// - Throws: ``TweakError`` if the tweak does not exist or cannot take the value; it keeps the one it has.
    @discardableResult
    public func set(_ value: TweakValue, for key: TweakKey) throws(TweakError) -> TweakDeclaration.Admission {
        try set(key) { (declaration, _) throws(TweakValueError) in try declaration.admit(value) }
    }

    /// Gives a tweak a value in one of the providers, which may be below others that have one too.
    ///
    /// With ``TweakSource/session`` the value is for as long as the process lives. A person who sets the tweak in the
    /// other way, or resets it, ends that.
    ///
    /// - Parameters:
    ///   - value: The value; `nil` takes the one away that the provider has.
    ///   - key: The tweak.
    ///   - source: ``TweakSource/session``, ``TweakSource/overrides``, or the source of a ``MutableTweakProvider``.
    /// - Throws: ``TweakError`` if the tweak does not exist or cannot take the value, or the provider cannot keep it.
    public func set(_ value: TweakValue?, for key: TweakKey, in source: TweakSource) throws(TweakError) {
        if let value {
            _ = try set(key, in: source) { (declaration, _) throws(TweakValueError) in
                try declaration.admit(value)
            }
        } else {
            try checkHasValue(key)
            try change([(key, nil)], in: source)
        }
    }

    /// Takes the override of a tweak away, so that it has its default again.
    ///
    /// - Throws: ``TweakError`` if the tweak does not exist or is an action.
    public func reset(_ key: TweakKey) throws(TweakError) {
        try checkHasValue(key)
        try change([(key, nil)])
    }

    /// Takes all overrides of this store's tweaks away, as one change. What a provider cannot forget is reported.
    public func resetAll() {
        changeOrReport(allKeys().map { ($0, nil) })
    }

    /// Writes changes that are waiting to be written, and returns when they are on disk or have failed. The store
    /// does so by itself within 50 ms, and when the process exits.
    public func flush() {
        writer?.flush()
        diagnostics.finish()
    }

    // MARK: Observing

    /// Calls back when the value of a tweak changes.
    ///
    /// Calls of `didChange` come one at a time, in the order of the changes. A change made inside a callback is
    /// delivered after the callback has returned.
    ///
    /// - Parameters:
    ///   - key: The tweak; `nil` for all.
    ///   - willChange: Called while the old value is still there.
    ///   - didChange: Called when the new value is.
    /// - Returns: The observation, which lasts as long as it is held.
    public func observe(
        _ key: TweakKey? = nil, willChange: (@Sendable (TweakChange) -> Void)? = nil,
        didChange: (@Sendable (TweakChange) -> Void)? = nil
    ) -> TweakObservation {
        addObserver(of: key.map { [$0] }, willChange: willChange) { _ in didChange.map { .eachChange($0) } }
    }
}

// MARK: - The overrides file

extension TweakStore {
    /// What writes the overrides; `nil` if they are not kept.
    var writer: OverridesWriter? { state.withLock { $0.writer } }

    /// Applies the overrides in a file, and writes changes into it from now on.
    func keepOverrides(in file: OverridesFile) {
        let writer = OverridesWriter(file: file, report: diagnostics.warn)
        state.withLock { $0.writer = writer }
        do throws(OverridesError) {
            let (document, problem) = try file.loadSettingAside()
            if let problem { diagnostics.warn(problem) }
            guard !document.isEmpty else { return }
            withState { state in
                state.layers[.overrides] = document.provided
                state.decode(only: Array(state.layers[.overrides].keys))
            }
        } catch {
            diagnostics.warn("\(error)")
        }
    }
}

// MARK: - The state

extension TweakStore {
    func withDecodedState<Result>(_ body: (inout StoreState) -> Result) -> Result {
        withState { state in
            state.decode()
            return body(&state)
        }
    }

    /// Runs `body` with the lock held and reports afterwards what it left to report.
    func withState<Result, Failure>(
        _ body: (inout StoreState) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let (result, rest) = try state.withLock { (state) throws(Failure) in
            let result = try body(&state)
            return (result, state.drainRest())
        }
        if let rest {
            for message in rest.messages { diagnostics.warn(message) }
            for feed in rest.feeds { feed.report(.tweaks(rest.unasked)) }
        }
        return result
    }

    /// One tweak, whatever the task has for itself.
    func storedStatus(of key: TweakKey) throws(TweakError) -> TweakStatus {
        if let status = withDecodedState({ $0.status(of: key) }) { return status }
        throw unknown(key)
    }

    /// What a tweak's declaration says.
    func declaration(of key: TweakKey) throws(TweakError) -> TweakDeclaration {
        if let declaration = withDecodedState({ $0.status(of: key)?.declaration }) { return declaration }
        throw unknown(key)
    }

    func unknown(_ key: TweakKey) -> TweakError {
        if state.withLock({ $0.layers.isEncrypted(key) }) { return .encrypted(key) }
        return .unknown(key, nearest: allKeys().nearest(to: key))
    }

    /// All tweaks, in the order of declaration.
    func statuses() -> [TweakStatus] { withDecodedState { $0.statuses } }

    /// All names, in the order of declaration.
    func allKeys() -> [TweakKey] { withDecodedState { $0.tweaks.all.map(\.key) } }
}
