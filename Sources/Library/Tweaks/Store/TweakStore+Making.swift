// SPDX-License-Identifier: BSD-3-Clause
public import TweakRecords

extension TweakStore {
    /// Makes a tweak at run time. Its override, if any, applies at once.
    ///
    /// The declaration takes precedence over a provider's.
    ///
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the declaration is invalid, ``TweakError/exists(_:)``
    ///   if the program has a tweak of this name.
    public func make(_ declaration: TweakDeclaration) throws(TweakError) {
        let declaration = try declaration.checked()
        guard declaration.type != .action else {
            throw .invalid(declaration.key, reason: "an action needs a function, see makeAction")
        }
        _ = try makeHandle(declaration, nil)
    }

    /// Removes a tweak made at run time, with its closures and the C variables bound to it. Its override is
    /// kept, and its handles return the default from now on. C observers end with it; Swift observers are
    /// called again if it is made again.
    ///
    /// - Throws: ``TweakError/notMade(_:)`` if the tweak was not made at run time.
    public func remove(_ key: TweakKey) throws(TweakError) {
        let removed = withDecodedState { state -> ([ObserverList.Observer], [ActionClosure])? in
            let made = state.tweaks[key]?.cells.all.filter { $0.owner == .made } ?? []
            guard !made.isEmpty else { return nil }
            let functions = made.compactMap { $0.cell.action }
            state.removeCells(of: key) { $0.owner == .made }
            // The closures are the program's, and are released without the lock.
            let closures = functions.compactMap { state.closures.removeValue(forKey: $0.contextNumber) }
            return (state.delivery.drainRemoved(), closures)
        }
        guard let removed else { throw .notMade(key) }
        state.waitForCalls(of: removed.0)
    }

    /// - Parameter addClosure: Adds the Swift closure that the action's function calls, beside others that
    ///   the action may have.
    func makeHandle(
        _ declaration: TweakDeclaration, _ action: CFunction?,
        _ addClosure: ((inout StoreState) -> Void)? = nil
    ) throws(TweakError) -> Handle {
        startIfShared()
        let made = withDecodedState { state in
            let made = state.addRecord(declaration, .made, action, isFurther: addClosure != nil)
            if made != nil { addClosure?(&state) }
            return made
        }
        guard let made else { throw .exists(declaration.key) }
        // A tweak that only a provider declared may have had another type.
        deliverChanges()
        return made
    }
}
