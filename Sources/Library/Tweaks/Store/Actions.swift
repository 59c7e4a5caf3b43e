internal import CTweaks
public import TweakRecords

extension TweakStore {
    /// Runs an action on this thread: all functions that are declared under its name, in the order of declaration, each
    /// once.
    ///
    /// - Throws: ``TweakError`` if nothing declares such a tweak, or it is not an action.
    public func run(_ key: TweakKey) throws(TweakError) {
        let declaration = try declaration(of: key)
        guard declaration.type == .action else { throw .noAction(declaration) }
        var done: [CFunction] = []
        while true {
            // One after the other, since the image of the next may be closed meanwhile.
            let next = state.withLock { state -> (CFunction, RunningCall, ActionClosure?)? in
                let action = state.tweaks[key]?.actions.first { !done.contains($0) }
                guard let action else { return nil }
                let call = RunningCall(.action(action.code), code: action.code)
                state.delivery.begin(call)
                // It may be removed while it runs.
                return (action, call, state.closures[action.contextNumber])
            }
            guard let (action, call, closure) = next else { return }
            withExtendedLifetime(closure) { callProgram { action() } }
            state.withLock { $0.delivery.end(call) }
            done.append(action)
        }
    }
}

// MARK: - Making

/// A closure that an action runs, see ``TweakStore/makeAction(_:_:_:title:description:group:owner:_:)``.
public final class TweakAction: Sendable {
    /// The name of the action.
    public let key: TweakKey
    private let closure: ActionClosure
    private let store: TweakStore

    fileprivate init(_ key: TweakKey, _ closure: ActionClosure, in store: TweakStore) {
        (self.key, self.closure, self.store) = (key, closure, store)
    }

    /// Takes the closure away, and the action if it has no other one. A call that is running goes on.
    public func remove() {
        store.withDecodedState { state in
            guard state.closures.removeValue(forKey: closure.number) != nil else { return }
            state.removeCells(of: key) { $0.owner == .made && $0.cell.action == closure.function }
        }
    }
}

extension TweakStore {
    /// Makes an action while the program runs, or gives one a further closure: all of one name are run, in the order in
    /// which they came.
    ///
    ///     let clear = try store.makeAction("Spring", "Drawing", "Clear") { canvas.clear() }
    ///     try store.run(clear.key)
    ///     clear.remove()
    ///
    /// - Parameters:
    ///   - category: The first level of the name.
    ///   - collection: The second level.
    ///   - name: The third level.
    ///   - title: What a person sees instead of the name.
    ///   - description: What it does, for a person.
    ///   - group: Under which heading a person finds it.
    ///   - owner: Who looks after it.
    ///   - body: What is run, on the thread that calls ``run(_:)``, or on a thread of the library if a person asks for it.
    /// - Returns: What removes the closure. It need not be held.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the name is none, ``TweakError/exists(_:)`` if the program has a tweak of
    ///   this name that has a value.
    @discardableResult
    public func makeAction(
        _ category: String, _ collection: String, _ name: String, title: String? = nil,
        description: String? = nil, group: String? = nil, owner: String? = nil,
        _ body: @escaping @Sendable () -> Void
    ) throws(TweakError) -> TweakAction {
        try makeAction(
            TweakKey(category, collection, name),
            [("title", title), ("doc", description), ("group", group), ("owner", owner)], body)
    }

    /// Makes an action that runs on the main actor, as ``makeAction(_:_:_:title:description:group:owner:_:)`` does one that
    /// runs where it is asked for.
    ///
    ///     try store.makeAction("Game", "Play", "Start again", on: MainActor.self) { board.clear() }
    ///
    /// Running it returns when the main actor has been given the closure.
    ///
    /// - Parameters:
    ///   - category: The first level of the name.
    ///   - collection: The second level.
    ///   - name: The third level.
    ///   - title: What a person sees instead of the name.
    ///   - description: What it does, for a person.
    ///   - group: Under which heading a person finds it.
    ///   - owner: Who looks after it.
    ///   - actor: `MainActor.self`.
    ///   - body: What is run.
    /// - Returns: What removes the closure. It need not be held.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the name is none, ``TweakError/exists(_:)`` if the program has a tweak of
    ///   this name that has a value.
    @discardableResult
    public func makeAction(
        _ category: String, _ collection: String, _ name: String, title: String? = nil,
        description: String? = nil, group: String? = nil, owner: String? = nil, on actor: MainActor.Type,
        _ body: @escaping @MainActor @Sendable () -> Void
    ) throws(TweakError) -> TweakAction {
        try makeAction(
            category, collection, name, title: title, description: description, group: group, owner: owner
        ) { Task { @MainActor in body() } }
    }

    /// Makes an action that runs on an actor, as ``makeAction(_:_:_:title:description:group:owner:_:)`` does one that runs
    /// where it is asked for.
    ///
    ///     try store.makeAction("Game", "Play", "Start again", on: simulation) { $0.clear() }
    ///
    /// Running it returns when the actor has been given the closure. The action does not keep the actor; without it nothing
    /// is run.
    ///
    /// - Parameters:
    ///   - category: The first level of the name.
    ///   - collection: The second level.
    ///   - name: The third level.
    ///   - title: What a person sees instead of the name.
    ///   - description: What it does, for a person.
    ///   - group: Under which heading a person finds it.
    ///   - owner: Who looks after it.
    ///   - actor: Where the closure runs.
    ///   - body: What is run, of the actor.
    /// - Returns: What removes the closure. It need not be held.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the name is none, ``TweakError/exists(_:)`` if the program has a tweak of
    ///   this name that has a value.
    @discardableResult
    public func makeAction<Isolation: Actor>(
        _ category: String, _ collection: String, _ name: String, title: String? = nil,
        description: String? = nil, group: String? = nil, owner: String? = nil, on actor: Isolation,
        _ body: @escaping @Sendable (isolated Isolation) -> Void
    ) throws(TweakError) -> TweakAction {
        try makeAction(
            category, collection, name, title: title, description: description, group: group, owner: owner
        ) { [weak actor] in Task { await actor?.run { body($0) } } }
    }

    private func makeAction(
        _ key: TweakKey, _ texts: [(String, String?)], _ body: @escaping @Sendable () -> Void
    ) throws(TweakError) -> TweakAction {
        let declaration = try TweakDeclaration(
            key: key, type: .action, defaultValue: .nothing,
            attributes: texts.compactMap { name, text in text.map { .init(key: name, value: $0) } }
        ).checked()
        let closure = ActionClosure(body)
        _ = try makeHandle(declaration, closure.function) { $0.closures[closure.number] = closure }
        return TweakAction(key, closure, in: self)
    }
}

/// What an action of Swift runs. Its record has a function of C, whose context this is.
final class ActionClosure: Sendable {
    private let body: @Sendable () -> Void

    fileprivate init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// What the closures of a store are found by.
    fileprivate var number: StableNumber { StableNumber(UInt(bitPattern: context)) }

    fileprivate var function: CFunction {
        let function: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
            guard let context else { return }
            Unmanaged<ActionClosure>.fromOpaque(context).takeUnretainedValue().body()
        }
        return CFunction(
            code: UInt(bitPattern: unsafeBitCast(function, to: UnsafeRawPointer.self)), context: context)
    }
}

extension TweakEntry {
    /// The functions that are declared under the name.
    fileprivate var actions: [CFunction] {
        cells.all.filter(\.owner.declares).compactMap(\.cell.action)
    }
}

extension CFunction {
    var contextNumber: StableNumber { StableNumber(UInt(bitPattern: context)) }

    /// Calls the function of an action.
    fileprivate func callAsFunction() {
        typealias Function = @convention(c) (UnsafeMutableRawPointer?) -> Void
        guard let address = UnsafeRawPointer(bitPattern: code) else { return }
        fbtweak__call_action(unsafeBitCast(address, to: Function.self), context)
    }
}

extension Cell {
    /// What an action's record holds where others have the current value and the default.
    var action: CFunction? {
        get {
            guard type == .action else { return nil }
            let code = address.load(as: UInt.self)
            return code == 0
                ? nil : CFunction(code: code, context: (address + 8).load(as: UnsafeMutableRawPointer?.self))
        }
        nonmutating set {
            address.storeBytes(of: newValue?.code ?? 0, as: UInt.self)
            (address + 8).storeBytes(of: newValue?.context, as: UnsafeMutableRawPointer?.self)
        }
    }
}
