public import TweakRecords

extension TweakStore {
    /// Runs an action on this thread: all functions that are declared under its name, in the order of declaration, each
    /// once.
    ///
    /// - Throws: ``TweakError`` if nothing declares such a tweak, or it is no action.
    public func run(_ key: TweakKey) throws(TweakError) {
        let declaration = try entry(of: key).declaration
        guard declaration.type == .action else { throw .noAction(declaration) }
        let calls = state.withLock { state -> [(CFunction, RunningCall)] in
            var seen: Set<CFunction> = []
            let cells = state.entries[key]?.cells.filter(\.owner.declares) ?? []
            let actions = cells.compactMap(\.cell.action).filter { seen.insert($0).inserted }
            let calls = actions.map { ($0, RunningCall(.action($0.code), code: $0.code)) }
            state.runningCalls += calls.map(\.1)
            return calls
        }
        for (action, call) in calls { run(call) { action() } }
    }
}

extension CFunction {
    /// Calls the function of an action.
    fileprivate func callAsFunction() {
        typealias Function = @convention(c) (UnsafeMutableRawPointer?) -> Void
        guard let address = UnsafeRawPointer(bitPattern: code) else { return }
        unsafeBitCast(address, to: Function.self)(context)
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
