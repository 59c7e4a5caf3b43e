// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
internal import TweakSystem

/// A call into the program, tracked so that nothing it uses is removed before it returns.
struct RunningCall: Equatable, Sendable {
    enum Target: Equatable, Sendable {
        /// An observer, by its id.
        case observer(UInt64)
        /// An action, by the address of its function.
        case action(UInt)
        /// The function of a type record.
        case type
    }

    let target: Target
    /// The address of the code; `nil` if Swift keeps it alive.
    let code: UInt?
    let thread: UInt

    init(_ target: Target, code: UInt?) {
        self.target = target
        self.code = code
        thread = Self.currentThread
    }

    static var currentThread: UInt { fbtweak__current_thread() }
}

/// Called by `calls.cpp` for C functions, which only the shared store calls.
@_cdecl("fbtweak__abandon_call")
func abandonCall() { TweakStore.ofProcess.abandonCall() }

/// Runs the program's code. Every call into the program goes through here.
func callProgram(_ body: () -> Void) {
    fbtweak__count_calls(1)
    allowingForks(body)
    fbtweak__count_calls(-1)
}

extension TweakStore {
    /// Cleans up after a call that does not return, because its thread ends or an exception propagates to a caller that
    /// is not C.
    fileprivate func abandonCall() {
        let thread = RunningCall.currentThread
        let isLeft = state.withLock { state in
            state.delivery.abandon(on: thread)
            return state.delivery.isLeft
        }
        if isLeft { handOn() }
    }
}

// On the state of a store, for callers that must not retain the store.
extension Guarded<StoreState> {
    /// Calls an observer, unless it has been removed.
    func call(_ observer: UInt64, _ body: () -> Void) {
        guard let call = withLock({ $0.delivery.begin(observer) }) else { return }
        callProgram(body)
        withLock { $0.delivery.end(call) }
    }

    /// Returns when none of these observers is running on another thread.
    func waitForCalls(of observers: [ObserverList.Observer]) {
        guard !observers.isEmpty else { return }
        waitForCalls { call in observers.contains { call.target == .observer($0.id) } }
    }

    /// Returns when no matching call is running on another thread.
    func waitForCalls(where matches: (RunningCall) -> Bool) {
        let thread = RunningCall.currentThread
        allowingForks {
            wait { state in
                !state.delivery.runningCalls.contains { $0.thread != thread && matches($0) }
            }
        }
    }
}
