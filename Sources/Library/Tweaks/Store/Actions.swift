// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
public import TweakRecords

extension TweakStore {
    /// Runs an action on this thread: each function declared under its name once, in the order of
    /// declaration.
    ///
    /// It returns when all of them have returned. A closure for an actor counts as returned when it has been
    /// handed over.
    ///
    /// - Throws: ``TweakError`` if nothing declares the action, or the tweak is not an action.
    public func run(_ key: TweakKey) throws(TweakError) { try run(key, as: ActionRun()) }

    func run(_ key: TweakKey, as run: ActionRun) throws(TweakError) {
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
            guard let (action, call, closure) = next else { break }
            var function = action
            if let closure {
                function = closure.call(as: run)
            } else if action.context == nil, declaration.isForMainActor {
                function = CFunction(code: action.code, context: run.makeContext())
            }
            callProgram { function() }
            state.withLock { $0.delivery.end(call) }
            done.append(action)
        }
        run.end()
    }
}

/// The registration of an action's closure, made at run time by a ``TweakStore``.
public final class TweakAction: Sendable {
    /// The name of the action.
    public let key: TweakKey
    private let closure: ActionClosure
    private let store: TweakStore

    init(_ key: TweakKey, _ closure: ActionClosure, in store: TweakStore) {
        (self.key, self.closure, self.store) = (key, closure, store)
    }

    /// Removes the closure, and the action if it has no other one. A running call continues.
    public func remove() {
        store.withDecodedState { state in
            guard state.closures.removeValue(forKey: closure.number) != nil else { return }
            state.removeCells(of: key) { $0.owner == .made && $0.cell.action == closure.function }
        }
    }
}

/// The closure of a Swift action. The action's record has a C function, whose context this is.
final class ActionClosure: Sendable {
    private let taker: String?
    private let body: @Sendable (ActionRun) -> Void

    /// - Parameters:
    ///   - taker: The name of the actor or queue that runs the action after the body has returned and then
    ///     ends that part of the run; `nil` if the body runs the action.
    ///   - body: The closure that the library calls.
    init(handsTo taker: String?, _ body: @escaping @Sendable (ActionRun) -> Void) {
        (self.taker, self.body) = (taker, body)
    }

    private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// The key of the closure in its store.
    var number: StableNumber { StableNumber(UInt(bitPattern: context)) }

    /// The function in the record. The store calls that of ``call(as:)`` instead.
    var function: CFunction { Self.function(context) }

    /// Returns the function of one run, to be called once.
    func call(as run: ActionRun) -> CFunction {
        if let taker { run.handOver(to: taker) }
        return Self.function(Unmanaged.passRetained(Call(closure: self, run: run)).toOpaque())
    }

    private final class Call {
        let closure: ActionClosure
        let run: ActionRun

        init(closure: ActionClosure, run: ActionRun) { (self.closure, self.run) = (closure, run) }
    }

    private static func function(_ context: UnsafeMutableRawPointer) -> CFunction {
        let function: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
            guard let context else { return }
            let call = Unmanaged<Call>.fromOpaque(context).takeRetainedValue()
            call.closure.body(call.run)
        }
        return CFunction(
            code: UInt(bitPattern: unsafeBitCast(function, to: UnsafeRawPointer.self)), context: context)
    }
}

extension TweakDeclaration {
    /// Whether the function hands the action to the main actor.
    fileprivate var isForMainActor: Bool { attributes.contains { $0.key == "actor" && $0.value == "main" } }
}

extension TweakEntry {
    /// The functions declared under the action's name.
    fileprivate var actions: [CFunction] {
        cells.all.filter { $0.owner.declares }.compactMap { $0.cell.action }
    }
}

extension CFunction {
    var contextNumber: StableNumber { StableNumber(UInt(bitPattern: context)) }

    /// Calls the function of an action.
    func callAsFunction() {
        typealias Function = @convention(c) (UnsafeMutableRawPointer?) -> Void
        guard let address = UnsafeRawPointer(bitPattern: code) else { return }
        fbtweak__call_action(unsafeBitCast(address, to: Function.self), context)
    }
}

extension Cell {
    /// The function in an action's record, in place of current value and default.
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
