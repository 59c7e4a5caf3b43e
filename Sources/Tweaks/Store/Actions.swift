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
            let next = state.withLock { state -> (CFunction, RunningCall)? in
                let action = state.tweaks[key]?.actions.first { !done.contains($0) }
                guard let action else { return nil }
                let call = RunningCall(.action(action.code), code: action.code)
                state.delivery.begin(call)
                return (action, call)
            }
            guard let (action, call) = next else { return }
            callProgram { action() }
            state.withLock { $0.delivery.end(call) }
            done.append(action)
        }
    }
}

extension TweakEntry {
    /// The functions that are declared under the name.
    fileprivate var actions: [CFunction] {
        cells.all.filter(\.owner.declares).compactMap(\.cell.action)
    }
}

extension CFunction {
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
