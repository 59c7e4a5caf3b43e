// SPDX-License-Identifier: BSD-3-Clause

/// One run of an action, parts of which may continue elsewhere after the action's functions have returned.
///
/// `@unchecked Sendable`: one lock for all runs guards the variables.
final class ActionRun: @unchecked Sendable {
    private static let lock = Guarded(())

    private var taker: String?
    /// The number of unfinished parts: one for the calls of the action's functions, and one for each part
    /// that was handed over.
    private var partsLeft = 1
    private var isLost = false
    private var ends: [@Sendable (_ isLost: Bool) -> Void] = []

    /// The actor or queue that a part was handed to, as the protocol's answer to `run` names it; `nil` if
    /// none was.
    var handedTo: String? { Self.lock.withLock { _ in taker } }
    var isOver: Bool { Self.lock.withLock { _ in partsLeft == 0 } }

    /// Counts a part that an actor or a queue will run. It must end with a call of ``end(isLost:)``.
    func handOver(to taker: String) {
        Self.lock.withLock { _ in
            partsLeft += 1
            self.taker = taker
        }
    }

    /// Ends a part of the run.
    ///
    /// - Parameter isLost: Whether the part will never run, because the actor or the queue is gone.
    func end(isLost: Bool = false) {
        let isOver = Self.lock.withLock { _ in
            partsLeft -= 1
            self.isLost = self.isLost || isLost
            return partsLeft == 0
        }
        // Nothing changes any more.
        if isOver { for end in ends { end(self.isLost) } }
    }

    /// Calls a function when all parts have ended, or now if they have.
    func whenOver(_ body: @escaping @Sendable (_ isLost: Bool) -> Void) {
        let isOver = Self.lock.withLock { _ in
            if partsLeft > 0 { ends.append(body) }
            return partsLeft == 0
        }
        if isOver { body(isLost) }
    }
}

// MARK: - Functions that hand over

/// The argument of the function in an action's record with the attribute `actor`. It begins with a C
/// function, because the code that calls it may use another copy of the library.
private struct RunContext {
    /// The first member, which ``__ended(_:)`` calls.
    let end: @convention(c) (_ context: UnsafeMutableRawPointer) -> Void = { context in
        let context = context.assumingMemoryBound(to: RunContext.self)
        context.pointee.run.end()
        context.deinitialize(count: 1)
        context.deallocate()
    }
    let run: ActionRun
}

extension ActionRun {
    /// Hands a part to the main actor.
    ///
    /// - Returns: The argument for one call of the function of a record with the attribute `actor`.
    func makeContext() -> UnsafeMutableRawPointer {
        handOver(to: "mainActor")
        let context = UnsafeMutablePointer<RunContext>.allocate(capacity: 1)
        context.initialize(to: RunContext(run: self))
        return UnsafeMutableRawPointer(context)
    }
}

/// Reports to the library that the main actor has run an action. For macro expansions only.
///
/// - Parameter context: The argument of the action's function as a number; 0 if the library needs no report.
public func __ended(_ context: UInt) {
    guard let context = UnsafeMutableRawPointer(bitPattern: context) else { return }
    context.load(as: (@convention(c) (UnsafeMutableRawPointer) -> Void).self)(context)
}
