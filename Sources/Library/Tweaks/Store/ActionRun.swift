// SPDX-License-Identifier: BSD-3-Clause

/// One run of an action, of which a part may go on elsewhere after the action's functions have returned.
///
/// `@unchecked Sendable`: the lock of all runs guards what changes.
final class ActionRun: @unchecked Sendable {
    private static let lock = Guarded(())

    private var taker: String?
    /// The calls of functions, and what they have handed over.
    private var partsLeft = 1
    private var isLost = false
    private var ends: [@Sendable (_ isLost: Bool) -> Void] = []

    /// Who else runs a part of it, as in the answer of the protocol's `run`.
    var place: String? { Self.lock.withLock { _ in taker } }
    var isOver: Bool { Self.lock.withLock { _ in partsLeft == 0 } }

    /// A part is for somebody else, who calls ``end(isLost:)`` after it.
    func handOver(to place: String) {
        Self.lock.withLock { _ in
            partsLeft += 1
            taker = place
        }
    }

    /// A part is over.
    ///
    /// - Parameter isLost: Whether it was never run, because who should run it is gone.
    func end(isLost: Bool = false) {
        let isOver = Self.lock.withLock { _ in
            partsLeft -= 1
            self.isLost = self.isLost || isLost
            return partsLeft == 0
        }
        // Nothing changes any more.
        if isOver { for end in ends { end(self.isLost) } }
    }

    /// Calls a function once all parts are over, or now if they are.
    func whenOver(_ body: @escaping @Sendable (_ isLost: Bool) -> Void) {
        let isOver = Self.lock.withLock { _ in
            if partsLeft > 0 { ends.append(body) }
            return partsLeft == 0
        }
        if isOver { body(isLost) }
    }
}

// MARK: - Functions that hand over

/// What the library gives the function of an action with the attribute `actor`, so that any library of the process can
/// be told of the end.
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
    /// The context for the function of a record with the attribute `actor`, which is used once.
    var context: UnsafeMutableRawPointer {
        handOver(to: "mainActor")
        let context = UnsafeMutablePointer<RunContext>.allocate(capacity: 1)
        context.initialize(to: RunContext(run: self))
        return UnsafeMutableRawPointer(context)
    }
}

/// Tells the library that the main actor has run an action. For macro expansions only.
///
/// - Parameter context: The address that the library gave the function of the action's record; 0 if it does not ask.
public func __ended(_ context: UInt) {
    guard let context = UnsafeMutableRawPointer(bitPattern: context) else { return }
    context.load(as: (@convention(c) (UnsafeMutableRawPointer) -> Void).self)(context)
}
