// SPDX-License-Identifier: BSD-3-Clause
internal import CTweakSystem
internal import CTweaks
internal import FBTweak
internal import Glibc
internal import TweakRecords
internal import TweakSystem

// The queue of fbtweak.h, documented in the header.

@_cdecl("fbtweak__queue_make")
func makeQueue() -> OpaquePointer? {
    guard let queue = ChangeQueue() else {
        _ = CFailure.refused("a queue cannot be made: \(systemMessage())").report()
        return nil
    }
    return OpaquePointer(Unmanaged.passRetained(queue).toOpaque())
}

@_cdecl("fbtweak__queue_descriptor")
func descriptor(queue: OpaquePointer?) -> CInt {
    queue.map(ChangeQueue.at)?.descriptor ?? -1
}

@_cdecl("fbtweak__queue_deliver")
func deliver(queue: OpaquePointer?) -> Int {
    queue.map(ChangeQueue.at)?.deliver() ?? 0
}

@_cdecl("fbtweak__queue_destroy")
func destroy(queue: OpaquePointer?) {
    guard let queue else { return }
    let observers = ChangeQueue.at(queue).observers.withLock { $0 }
    TweakStore.ofProcess.stopObserving { observers.contains($0.id) }
    Unmanaged<ChangeQueue>.fromOpaque(UnsafeRawPointer(queue)).release()
}

/// Changes, and actions to run, that wait until the program takes them.
final class ChangeQueue: Sendable {
    /// Readable while something waits: an eventfd(2).
    let descriptor: CInt
    /// The ids of the observers that use this queue. Some may have ended.
    let observers = Guarded<[UInt64]>([])
    private struct Waiting {
        var changes = CoalescedChanges<CFunction>()
        /// Each action once, with the id of its observer.
        var actions: [(observer: UInt64, key: TweakKey, run: ActionRun)] = []
    }
    private let waiting = Guarded(Waiting())

    init?() {
        descriptor = fbtweak__make_event()
        if descriptor < 0 { return nil }
    }

    deinit {
        for action in waiting.withLock({ $0.actions }) { action.run.end(isLost: true) }
        close(descriptor)
    }

    static func at(_ pointer: OpaquePointer) -> ChangeQueue {
        Unmanaged<ChangeQueue>.fromOpaque(UnsafeRawPointer(pointer)).takeUnretainedValue()
    }

    /// Adds a change to the queue.
    func append(_ change: TweakChange, for observer: UInt64, _ callback: CFunction) {
        // Merged with the change to the default, it would look to C like no change.
        guard change.newValue != .nothing else { return }
        waiting.withLock { waiting in
            waiting.changes.add(change, for: observer, note: callback)
            fbtweak__raise_event(descriptor)
        }
    }

    /// Hands a run of an action to the queue. One of the action that waits already is for all.
    func append(_ action: TweakKey, _ run: ActionRun, for observer: UInt64) {
        run.handOver(to: "queue")
        waiting.withLock { waiting in
            let known = waiting.actions.first { $0.observer == observer && $0.key == action }
            let whole = known?.run ?? ActionRun()
            whole.whenOver { run.end(isLost: $0) }
            if known != nil { return }
            waiting.actions.append((observer, action, whole))
            fbtweak__raise_event(descriptor)
        }
    }

    /// Calls back with the waiting changes, and runs the actions.
    ///
    /// - Returns: The number of calls.
    func deliver() -> Int {
        let delivery = waiting.withLock { waiting in
            _ = fbtweak__lower_event(descriptor)
            defer { waiting.actions = [] }
            return (changes: waiting.changes.drainAll(), actions: waiting.actions)
        }
        var count = 0
        for (change, observer, callback) in delivery.changes {
            TweakStore.ofProcess.state.call(observer) {
                callback(change)
                count += 1
            }
        }
        for (observer, key, run) in delivery.actions {
            // The tweak or the observer may be gone.
            guard TweakStore.ofProcess.state.withLock({ $0.delivery.observers[observer] != nil }),
                (try? TweakStore.ofProcess.run(key, as: run)) != nil
            else {
                run.end(isLost: true)
                continue
            }
            count += 1
        }
        return count
    }
}
