internal import CTweaks
internal import Glibc

/// A call into the program, so that nobody takes away what it uses before it has returned.
struct RunningCall: Hashable, Sendable {
    enum Target: Hashable, Sendable {
        /// An observer, by its id.
        case observer(UInt64)
        /// An action, by the address of its function.
        case action(UInt)
    }

    let target: Target
    /// The address of the code; `nil` if it is Swift's to keep.
    let code: UInt?
    let thread: UInt

    init(_ target: Target, code: UInt?) {
        self.target = target
        self.code = code
        thread = Self.currentThread
    }

    static var currentThread: UInt { UInt(pthread_self()) }
}

extension TweakStore {
    /// Calls an observer, unless it has been removed.
    func call(_ observer: UInt64, _ body: () -> Void) {
        if let call = state.withLock({ $0.begin(observer) }) { run(call, body) }
    }

    /// Makes a call that is among the running ones already.
    func run(_ call: RunningCall, _ body: () -> Void) {
        Self.run(body)
        state.withLock { $0.end(call) }
    }

    static func run(_ body: () -> Void) {
        fbtweak__count_calls(1)
        allowingForks(body)
        fbtweak__count_calls(-1)
    }

    /// Returns when none of some observers is running on another thread.
    func waitForCalls(of observers: [ObserverList.Observer]) {
        let targets = Set(observers.map { RunningCall.Target.observer($0.id) })
        waitForCalls { targets.contains($0.target) }
    }

    /// Returns when no call of a kind is running on another thread.
    func waitForCalls(where matches: (RunningCall) -> Bool) {
        let thread = RunningCall.currentThread
        allowingForks {
            state.wait { state in !state.runningCalls.contains { $0.thread != thread && matches($0) } }
        }
    }
}

extension StoreState {
    /// Begins to call an observer.
    ///
    /// - Returns: `nil` if it has been removed.
    mutating func begin(_ observer: UInt64) -> RunningCall? {
        guard let observer = observers[observer] else { return nil }
        let call = RunningCall(.observer(observer.id), code: observer.code)
        runningCalls.append(call)
        return call
    }

    mutating func end(_ call: RunningCall?) {
        if let call, let index = runningCalls.lastIndex(of: call) { runningCalls.remove(at: index) }
    }
}
