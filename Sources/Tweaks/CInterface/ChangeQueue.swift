internal import CTweakSystem
internal import CTweaks
internal import FBTweak
internal import Glibc
internal import TweakRecords
internal import TweakSystem

// The queue of fbtweak.h. The header says what each function does.

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

/// Changes that wait until the program asks for them.
final class ChangeQueue: Sendable {
    /// Readable while something waits: eventfd(2).
    let descriptor: CInt
    /// Who observes in this queue. Some may have ended.
    let observers = Guarded<[UInt64]>([])
    private let waiting = Guarded(CoalescedChanges<CFunction>())

    init?() {
        descriptor = fbtweak__make_event()
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    static func at(_ pointer: OpaquePointer) -> ChangeQueue {
        Unmanaged<ChangeQueue>.fromOpaque(UnsafeRawPointer(pointer)).takeUnretainedValue()
    }

    /// Adds a change to what waits.
    func append(_ change: TweakChange, for observer: UInt64, _ callback: CFunction) {
        waiting.withLock { waiting in
            waiting.add(change, for: observer, note: callback)
            fbtweak__raise_event(descriptor)
        }
    }

    /// Calls back with what waits.
    ///
    /// - Returns: How many calls that were.
    func deliver() -> Int {
        let delivery = waiting.withLock { waiting in
            _ = fbtweak__lower_event(descriptor)
            return waiting.drainAll()
        }
        var count = 0
        for (change, observer, callback) in delivery {
            TweakStore.shared.state.call(observer) {
                callback(change)
                count += 1
            }
        }
        return count
    }
}
