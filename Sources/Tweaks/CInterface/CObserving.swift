internal import FBTweak
internal import TweakRecords

// The functions of fbtweak.h that observe tweaks. The header says what each of them does.

@c(fbtweak__observe)
func observe(
    queue: OpaquePointer?, tweak: UnsafePointer<fbtweak>?, willChange: fbtweak_callback?,
    didChange: fbtweak_callback?,
    context: UnsafeMutableRawPointer?
) -> fbtweak_token {
    do throws(CFailure) {
        let key = try tweak.map { (tweak) throws(CFailure) in try TweakStore.shared.declaration(of: tweak).key
        }
        let will = willChange.map { CCallback(function: $0, context: context) }
        let did = didChange.map { CCallback(function: $0, context: context) }
        guard let code = (did ?? will)?.code else { throw .refused("there is no function to call back") }
        return TweakStore.shared.observe(key, will, did, code: code, queue: queue.map(ChangeQueue.at))
    } catch {
        _ = error.report()
        return 0
    }
}

@c(fbtweak__unobserve)
func unobserve(token: fbtweak_token) {
    TweakStore.shared.stopObserving { $0.id == token }
}

/// A function of C with its context.
///
/// `@unchecked Sendable`: the header tells that the function is called on the threads that make changes.
struct CCallback: @unchecked Sendable {
    let function: fbtweak_callback
    let context: UnsafeMutableRawPointer?

    var code: UInt { UInt(bitPattern: unsafeBitCast(function, to: UnsafeRawPointer.self)) }

    func callAsFunction(_ change: TweakChange) {
        guard let tweak = TweakStore.shared.handle(of: change.key) else { return }
        let type = TweakType(rawValue: tweak.pointee.type) ?? .bool
        var change = fbtweak_change(
            tweak: tweak, old_value: fbtweak_value(change.oldValue, type),
            new_value: fbtweak_value(change.newValue, type),
            source: TextPool.address(of: change.source.description))
        function(&change, context)
    }
}

extension TweakStore {
    fileprivate func observe(
        _ key: TweakKey?, _ will: CCallback?, _ did: CCallback?, code: UInt, queue: ChangeQueue?
    ) -> UInt64 {
        let id = withDecodedState { state -> UInt64 in
            guard key.map({ state.entries[$0] != nil }) ?? true else { return 0 }
            let id = state.observers.nextID
            let willChange = will.map { will in { @Sendable in will($0) } }
            var didChange = did.map { did in { @Sendable in did($0) } }
            if let queue, let did { didChange = { queue.append($0, for: id, did) } }
            state.observers.add(
                ObserverList.Observer(
                    id: id, keys: key.map { [$0] }, willChange: willChange,
                    didChange: didChange.map { .eachChange($0) },
                    since: state.undelivered.lastNumber, code: code, endsWithTweak: key != nil))
            return id
        }
        if id != 0 { queue?.observers.withLock { _ = $0.insert(id) } }
        return id
    }

    /// Removes observers, and returns when none of them is running on another thread.
    func stopObserving(where matches: (ObserverList.Observer) -> Bool) {
        let removed = state.withLock { $0.observers.remove(where: matches) }
        let targets = Set(removed.map { RunningCall.Target.observer($0.id) })
        waitForCalls { targets.contains($0.target) }
    }
}
