// SPDX-License-Identifier: BSD-3-Clause
internal import CTweakSystem
internal import CTweaks
internal import FBTweak
internal import Glibc
internal import TweakRecords
internal import TweakSystem

// The queue of fbtweak.h, documented in the header.

@c(fbtweak__queue_make)
func makeQueue() -> OpaquePointer? {
    guard let queue = ChangeQueue() else {
        _ = CFailure.refused("a queue cannot be made: \(systemMessage())").report()
        return nil
    }
    return OpaquePointer(Unmanaged.passRetained(queue).toOpaque())
}

@c(fbtweak__queue_descriptor)
func descriptor(queue: OpaquePointer?) -> CInt {
    queue.map(ChangeQueue.at)?.descriptor ?? -1
}

@c(fbtweak__queue_deliver)
func deliver(queue: OpaquePointer?) -> Int {
    queue.map(ChangeQueue.at)?.deliver() ?? 0
}

@c(fbtweak__queue_destroy)
func destroy(queue: OpaquePointer?) {
    guard let queue else { return }
    let observers = ChangeQueue.at(queue).observers.withLock { $0 }
    TweakStore.shared.stopObserving { observers.contains($0.id) }
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
        var actions: [(observer: UInt64, key: TweakKey)] = []
    }
    private let waiting = Guarded(Waiting())

    init?() {
        descriptor = fbtweak__make_event()
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

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

    /// Adds an action to the queue, unless it waits already.
    func append(_ action: TweakKey, for observer: UInt64) {
        waiting.withLock { waiting in
            guard !waiting.actions.contains(where: { $0 == (observer, action) }) else { return }
            waiting.actions.append((observer, action))
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
            TweakStore.shared.state.call(observer) {
                callback(change)
                count += 1
            }
        }
        for (observer, key) in delivery.actions {
            // The tweak or the observer may be gone.
            guard TweakStore.shared.state.withLock({ $0.delivery.observers[observer] != nil }),
                (try? TweakStore.shared.run(key)) != nil
            else { continue }
            count += 1
        }
        return count
    }
}
