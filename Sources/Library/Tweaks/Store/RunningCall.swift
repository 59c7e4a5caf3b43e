internal import CTweaks
internal import Glibc
internal import TweakSystem

/// A call into the program, so that nobody takes away what it uses before it has returned.
struct RunningCall: Equatable, Sendable {
    enum Target: Equatable, Sendable {
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

/// Called by `calls.cpp` for a C function, which only the shared store calls.
@c(fbtweak__abandon_call)
func abandonCall() { TweakStore.shared.abandonCall() }

/// Runs the program's code. Every call of it goes through here.
func callProgram(_ body: () -> Void) {
    fbtweak__count_calls(1)
    allowingForks(body)
    fbtweak__count_calls(-1)
}

extension TweakStore {
    /// Puts right what a call was part of that does not return: its thread ends, or an exception goes on to a caller that is
    /// not C.
    fileprivate func abandonCall() {
        let thread = RunningCall.currentThread
        let isLeft = state.withLock { state in
            state.delivery.abandon(on: thread)
            return state.delivery.isLeft
        }
        if isLeft { handOn() }
    }
}

// The state of a store, for those who may not keep the store.
extension Guarded<StoreState> {
    /// Calls an observer, unless it has been removed.
    func call(_ observer: UInt64, _ body: () -> Void) {
        guard let call = withLock({ $0.delivery.begin(observer) }) else { return }
        callProgram(body)
        withLock { $0.delivery.end(call) }
    }

    /// Returns when none of some observers is running on another thread.
    func waitForCalls(of observers: [ObserverList.Observer]) {
        guard !observers.isEmpty else { return }
        waitForCalls { call in observers.contains { call.target == .observer($0.id) } }
    }

    /// Returns when no call of a kind is running on another thread.
    func waitForCalls(where matches: (RunningCall) -> Bool) {
        let thread = RunningCall.currentThread
        allowingForks {
            wait { state in
                !state.delivery.runningCalls.contains { $0.thread != thread && matches($0) }
            }
        }
    }
}
