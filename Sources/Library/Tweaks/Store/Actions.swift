// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
public import TweakRecords

extension TweakStore {
    /// Runs an action on this thread: all functions declared under its name, in the order of declaration, each once.
    ///
    /// - Throws: ``TweakError`` if nothing declares the action, or the tweak is not an action.
    public func run(_ key: TweakKey) throws(TweakError) {
        let declaration = try declaration(of: key)
        guard declaration.type == .action else { throw .noAction(declaration) }
        var done: [CFunction] = []
        while true {
            // One at a time, because the next function's image may be closed meanwhile.
            let next = state.withLock { state -> (CFunction, RunningCall, ActionClosure?)? in
                let action = state.tweaks[key]?.actions.first { !done.contains($0) }
                guard let action else { return nil }
                let call = RunningCall(.action(action.code), code: action.code)
                state.delivery.begin(call)
                // The closure may be removed while it runs.
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

/// A registered closure of an action, see ``TweakStore/makeAction(_:_:_:title:description:group:owner:_:)``.
public final class TweakAction: Sendable {
    /// The name of the action.
    public let key: TweakKey
    private let closure: ActionClosure
    private let store: TweakStore

    fileprivate init(_ key: TweakKey, _ closure: ActionClosure, in store: TweakStore) {
        (self.key, self.closure, self.store) = (key, closure, store)
    }

    /// Removes the closure, and the action if it has no other. A running call continues.
    public func remove() {
        store.withDecodedState { state in
            guard state.closures.removeValue(forKey: closure.number) != nil else { return }
            state.removeCells(of: key) { $0.owner == .made && $0.cell.action == closure.function }
        }
    }
}

extension TweakStore {
    /// Makes an action at run time, or adds a closure to one: all closures of a name run, in the order in which they
    /// were added.
    ///
    ///     let clear = try store.makeAction("Spring", "Drawing", "Clear") { canvas.clear() }
    ///     try store.run(clear.key)
    ///     clear.remove()
    ///
    /// - Parameters:
    ///   - category: The first level of the name.
    ///   - collection: The second level.
    ///   - name: The third level.
    ///   - title: The name that people see.
    ///   - description: A description for people.
    ///   - group: The heading under which people see it.
    ///   - owner: The person or team responsible.
    ///   - body: Runs on the thread that calls ``run(_:)``, or on a library thread if a person requests the action.
    /// - Returns: The registration, which removes the closure. It need not be held.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the name is invalid, ``TweakError/exists(_:)`` if the program has
    ///   a tweak with a value of this name.
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

    /// Makes an action that runs on the main actor; see ``makeAction(_:_:_:title:description:group:owner:_:)``.
    ///
    ///     try store.makeAction("Game", "Play", "Start again", on: MainActor.self) { board.clear() }
    ///
    /// Running it returns once the closure has been handed to the main actor.
    ///
    /// - Parameters:
    ///   - category: The first level of the name.
    ///   - collection: The second level.
    ///   - name: The third level.
    ///   - title: The name that people see.
    ///   - description: A description for people.
    ///   - group: The heading under which people see it.
    ///   - owner: The person or team responsible.
    ///   - actor: `MainActor.self`.
    ///   - body: The action.
    /// - Returns: The registration, which removes the closure. It need not be held.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the name is invalid, ``TweakError/exists(_:)`` if the program has
    ///   a tweak with a value of this name.
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

    /// Makes an action that runs on an actor; see ``makeAction(_:_:_:title:description:group:owner:_:)``.
    ///
    ///     try store.makeAction("Game", "Play", "Start again", on: simulation) { $0.clear() }
    ///
    /// Running it returns once the closure has been handed to the actor. The action does not retain the actor; once it
    /// is gone, nothing runs.
    ///
    /// - Parameters:
    ///   - category: The first level of the name.
    ///   - collection: The second level.
    ///   - name: The third level.
    ///   - title: The name that people see.
    ///   - description: A description for people.
    ///   - group: The heading under which people see it.
    ///   - owner: The person or team responsible.
    ///   - actor: The actor that runs the closure.
    ///   - body: The action; gets the actor.
    /// - Returns: The registration, which removes the closure. It need not be held.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the name is invalid, ``TweakError/exists(_:)`` if the program has
    ///   a tweak with a value of this name.
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

/// The closure of a Swift action. The action's record has a C function, whose context this is.
final class ActionClosure: Sendable {
    private let body: @Sendable () -> Void

    fileprivate init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// The key of the closure in its store.
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
    /// The functions declared under the name.
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
    /// The function in an action's record, which is in place of current value and default.
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
