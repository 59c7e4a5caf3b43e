internal import Glibc

extension TweakStore {
    /// Has what is waiting to be written be written when the process exits.
    func flushAtExitOfProcess() {
        let isFirst = keptStores.withLock { stores in
            let isFirst = stores == nil
            stores = (stores ?? []).filter { $0.store != nil } + [WeakStore(store: self)]
            return isFirst
        }
        if isFirst {
            atexit { keptStores.withLock { $0 }?.forEach { $0.store?.flushAtExit() } }
        }
    }
}

struct WeakStore: Sendable {
    weak let store: TweakStore?
}

/// Stores with a file; `nil` before the first one.
let keptStores = Guarded<[WeakStore]?>(nil)
