internal import Glibc
internal import TweakRecords

/// Writes overrides in the background, bursts as one.
///
/// The first change of a burst is written at once, later ones at most every 50 ms. The thread that does it exists
/// only during a burst; it has a stack of 512 KiB.
final class OverridesWriter: Sendable {
    private static let interval: useconds_t = 50_000

    private struct Queue {
        var changes: [TweakKey: TweakValue?] = [:]
        /// Whether some of them have not been tried yet.
        var hasUntried = false
        /// The process whose thread is at work: after a fork the child has none.
        var workingProcess: pid_t?
    }

    private let file: OverridesFile
    /// Held while the file is written or read, so that ``flush()`` returns after a write that is under way. The value
    /// says nothing; with an empty one ThreadSanitizer takes each access for one of the object's first bytes.
    private let fileAccess = Guarded(false)
    private let process = getpid()
    private let report: @Sendable (String) -> Void
    private let queue = Guarded(Queue())

    init(file: OverridesFile, report: @escaping @Sendable (String) -> Void) {
        self.file = file
        self.report = report
    }

    /// A writer for a child that was forked. What is pending is the parent's to write, and the locks may be held by a
    /// thread that the child does not have.
    func forChild() -> OverridesWriter { OverridesWriter(file: file, report: report) }

    /// Takes a change to be written.
    ///
    /// - Returns: Whether a thread will; otherwise the caller owes a ``flush()``.
    @discardableResult
    func enqueue(_ value: TweakValue?, for key: TweakKey) -> Bool {
        let needsThread = queue.withLock { queue in
            queue.changes.updateValue(value, forKey: key)
            queue.hasUntried = true
            guard queue.workingProcess != getpid() else { return false }
            queue.workingProcess = getpid()
            return true
        }
        guard needsThread else { return true }
        if let thread = BackgroundThread(stackSize: 512 << 10, work) {
            thread.detach()
            return true
        }
        queue.withLock { $0.workingProcess = nil }
        return false
    }

    /// Writes what is pending, on this thread.
    ///
    /// - Returns: Whether nothing is pending any more. What could not be written is tried again with the next change.
    @discardableResult
    func flush() -> Bool {
        let (problem, isDone) = fileAccess.withLock { _ -> (String?, Bool) in
            let changes = queue.withLock { queue in
                defer { queue.changes = [:] }
                queue.hasUntried = false
                return queue.changes
            }
            guard !changes.isEmpty else { return (nil, true) }
            do throws(OverridesError) {
                return (try file.update(changes), true)
            } catch {
                queue.withLock { $0.changes.merge(changes) { newer, _ in newer } }
                return ("\(error)", false)
            }
        }
        // Reported without the lock: the program's log handler may call the store.
        if let problem { report(problem) }
        return isDone
    }

    /// Flushes, unless this is the writer of the process that this one was forked from.
    func flushAtExit() {
        if getpid() == process { flush() }
    }

    /// What the file holds, `nil` if there is none, and the tweaks whose changes are still to be written into it.
    ///
    /// No write is under way meanwhile, so whatever was enqueued before is in one of the two.
    func read() throws(OverridesError) -> (content: [UInt8]?, unwritten: Set<TweakKey>) {
        try fileAccess.withLock { _ throws(OverridesError) in
            (try file.read(), queue.withLock { Set($0.changes.keys) })
        }
    }

    private func work() {
        var goesOn = true
        while goesOn {
            flush()
            usleep(Self.interval)
            goesOn = queue.withLock { queue in
                guard queue.hasUntried else {
                    queue.workingProcess = nil
                    return false
                }
                return true
            }
        }
    }
}
