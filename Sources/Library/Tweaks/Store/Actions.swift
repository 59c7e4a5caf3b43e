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

/// A registered closure of an action that a ``TweakStore`` made.
public final class TweakAction: Sendable {
    /// The name of the action.
    public let key: TweakKey
    private let closure: ActionClosure
    private let store: TweakStore

    init(_ key: TweakKey, _ closure: ActionClosure, in store: TweakStore) {
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

/// The closure of a Swift action. The action's record has a C function, whose context this is.
final class ActionClosure: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// The key of the closure in its store.
    var number: StableNumber { StableNumber(UInt(bitPattern: context)) }

    var function: CFunction {
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
    func callAsFunction() {
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
