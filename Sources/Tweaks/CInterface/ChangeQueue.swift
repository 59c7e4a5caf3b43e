internal import CTweaks
internal import FBTweak
internal import Glibc
internal import TweakRecords

// The queue of fbtweak.h. The header says what each function does.

@c(fbtweak__queue_make)
func makeQueue() -> OpaquePointer? {
    guard let queue = ChangeQueue() else {
        _ = CFailure.refused("a queue cannot be made: \(String(cString: strerror(errno)))").report()
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
    private struct Address: Hashable {
        let observer: UInt64
        let key: TweakKey
    }
    private struct Waiting {
        var changes: [Address: (change: TweakChange, callback: CFunction)] = [:]
        var order: [Address] = []
    }

    /// Readable while something waits: eventfd(2).
    let descriptor: CInt
    /// Who observes in this queue. Some may have ended.
    let observers = Guarded<Set<UInt64>>([])
    private let waiting = Guarded(Waiting())

    init?() {
        descriptor = fbtweak__make_event()
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    static func at(_ pointer: OpaquePointer) -> ChangeQueue {
        Unmanaged<ChangeQueue>.fromOpaque(UnsafeRawPointer(pointer)).takeUnretainedValue()
    }

    /// Adds a change to what waits, as one with an earlier change of the same tweak.
    func append(_ change: TweakChange, for observer: UInt64, _ callback: CFunction) {
        let address = Address(observer: observer, key: change.key)
        waiting.withLock { waiting in
            let first = waiting.changes[address]?.change
            if first == nil { waiting.order.append(address) }
            let sum = TweakChange(
                key: change.key, oldValue: first?.oldValue ?? change.oldValue, newValue: change.newValue,
                source: change.source)
            waiting.changes[address] = (sum, callback)
            fbtweak__raise_event(descriptor)
        }
    }

    /// Calls back with what waits.
    ///
    /// - Returns: How many calls that were.
    func deliver() -> Int {
        let delivery = waiting.withLock { waiting in
            fbtweak__lower_event(descriptor)
            defer { waiting = Waiting() }
            return waiting
        }
        var count = 0
        for address in delivery.order {
            guard let (change, callback) = delivery.changes[address], change.oldValue != change.newValue
            else {
                continue
            }
            TweakStore.shared.call(address.observer) {
                callback(change)
                count += 1
            }
        }
        return count
    }
}
