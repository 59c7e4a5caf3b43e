// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
internal import FBTweak
internal import TweakRecords

// The functions of fbtweak.h that observe tweaks, documented in the header.

@_cdecl("fbtweak__observe")
func observe(
    queue: OpaquePointer?, tweak: UnsafePointer<fbtweak>?, willChange: fbtweak_callback?,
    didChange: fbtweak_callback?,
    context: UnsafeMutableRawPointer?
) -> fbtweak_token {
    TweakStore.ofProcess.start()
    do throws(CFailure) {
        let key = try tweak.map { (tweak) throws(CFailure) in try TweakStore.ofProcess.key(of: tweak) }
        let will = willChange.map { CFunction($0, context) }
        let did = didChange.map { CFunction($0, context) }
        guard let code = (did ?? will)?.code else { throw .refused("there is no function to call back") }
        return TweakStore.ofProcess.observe(key, will, did, code: code, queue: queue.map(ChangeQueue.at))
    } catch {
        _ = error.report()
        return 0
    }
}

@_cdecl("fbtweak__observe_loads")
func observeLoads(callback: fbtweak_load_callback?, context: UnsafeMutableRawPointer?) -> fbtweak_token {
    guard let callback else {
        _ = CFailure.refused("there is no function to call back").report()
        return 0
    }
    let function = CFunction(unsafeBitCast(callback, to: fbtweak_callback.self), context)
    TweakStore.ofProcess.start()
    return TweakStore.ofProcess.state.withLock { state in
        state.delivery.add { id, since in
            ObserverList.Observer(
                id: id, keys: [], willChange: nil, didChange: .loads { function.tell($0) }, since: since,
                code: function.code)
        }
    }
}

@_cdecl("fbtweak__run_in")
func runIn(queue: OpaquePointer?, tweak: UnsafePointer<fbtweak>?) -> fbtweak_token {
    do throws(CFailure) {
        guard let queue = queue.map(ChangeQueue.at) else { throw .refused("there is no queue") }
        let key = try tweak.map { (tweak) throws(CFailure) in try TweakStore.ofProcess.key(of: tweak) }
        let id = TweakStore.ofProcess.state.withLock { state in
            state.delivery.add { id, since in
                ObserverList.Observer(
                    id: id, keys: [], willChange: nil,
                    didChange: .requests(of: key) { queue.append($0, $1, for: id) }, since: since)
            }
        }
        queue.observers.withLock { $0.append(id) }
        return id
    } catch {
        _ = error.report()
        return 0
    }
}

@_cdecl("fbtweak__unobserve")
func unobserve(token: fbtweak_token) {
    TweakStore.ofProcess.stopObserving { $0.id == token }
}

extension CFunction {
    fileprivate init(_ callback: fbtweak_callback, _ context: UnsafeMutableRawPointer?) {
        self.init(
            code: UInt(bitPattern: unsafeBitCast(callback, to: UnsafeRawPointer.self)), context: context)
    }

    /// Calls an observer, unless the tweak is gone; the call before reported the default.
    func callAsFunction(_ change: TweakChange) {
        guard change.newValue != .nothing, let tweak = TweakStore.ofProcess.handle(of: change.key),
            let address = UnsafeRawPointer(bitPattern: code)
        else { return }
        let type = TweakType(rawValue: tweak.pointee.type) ?? .bool
        var change = fbtweak_change(
            tweak: tweak, old_value: fbtweak_value(change.oldValue, type),
            new_value: fbtweak_value(change.newValue, type),
            source: TextPool.address(of: change.source.description))
        fbtweak__call_observer(unsafeBitCast(address, to: Function.self), &change, context)
    }

    /// Calls an observer of loads.
    fileprivate func tell(_ load: TweakLoad) {
        guard let address = UnsafeRawPointer(bitPattern: code) else { return }
        let call = { (problem: UnsafePointer<CChar>?) in
            var load = fbtweak_load(
                provider: TextPool.address(of: load.source.description), problem: problem)
            fbtweak__call_observer(unsafeBitCast(address, to: Function.self), &load, context)
        }
        if let problem = load.problem { problem.withCString(call) } else { call(nil) }
    }

    private typealias Function = @convention(c) (UnsafeRawPointer?, UnsafeMutableRawPointer?) -> Void
}

extension TweakStore {
    fileprivate func observe(
        _ key: TweakKey?, _ will: CFunction?, _ did: CFunction?, code: UInt, queue: ChangeQueue?
    ) -> UInt64 {
        let id = withDecodedState { state -> UInt64 in
            guard key.map({ state.tweaks[$0] != nil }) ?? true else { return 0 }
            let willChange = will.map { will in { @Sendable in will($0) } }
            return state.delivery.add { id, since in
                var didChange = did.map { did in { @Sendable in did($0) } }
                if let queue, let did { didChange = { queue.append($0, for: id, did) } }
                return ObserverList.Observer(
                    id: id, keys: key.map { [$0] }, willChange: willChange,
                    didChange: didChange.map { .eachChange($0) }, since: since, code: code,
                    endsWithTweak: key != nil)
            }
        }
        if id != 0 { queue?.observers.withLock { $0.append(id) } }
        return id
    }

    /// Removes observers, and returns when none of them is running on another thread.
    func stopObserving(where matches: (ObserverList.Observer) -> Bool) {
        let removed = state.withLock { state in
            state.delivery.removeObservers(where: matches)
            return state.delivery.drainRemoved()
        }
        state.waitForCalls(of: removed)
    }
}
