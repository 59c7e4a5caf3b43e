internal import CTweakSystem
internal import CTweaks
internal import Glibc
internal import TweakOverrides
internal import TweakRecords
internal import TweakSystem

/// Writes overrides in the background, bursts as one.
///
/// The first change of a burst is written at once, later ones at most every 50 ms. The thread that does it exists
/// only during a burst; it has a stack of 512 KiB.
final class OverridesWriter: Sendable {
    private static let interval: useconds_t = 50_000

    private typealias Changes = [TweakKey: TweakValue?]

    private struct Queue {
        var changes: Changes = [:]
        /// What is being written at this moment.
        var inFlight: Changes = [:]
        /// What the process that this one was forked from had not written yet, and its number.
        var inherited: (changes: Changes, parent: pid_t)?
        /// Whether the last flush at exit has begun, so that no thread can be relied on.
        var isExiting = false
        /// The generation whose thread will try those that have not been tried yet; after a fork the child has none.
        var trying: UInt32?
        var phase = Phase.idle
        /// Why the last attempt to write failed, if it did.
        var problem: OverridesError?
        var waiting: [@Sendable (OverridesError?) -> Void] = []
    }

    private enum Phase { case idle, writing, pausing }

    /// Why there is none, if there is none.
    private let target: Result<OverridesFile, OverridesError>
    /// Held while the file is written or read, so that ``flush()`` returns after a write that is under way. The value
    /// says nothing; with an empty one ThreadSanitizer takes each access for one of the object's first bytes.
    private let fileAccess = Guarded(false)
    private let process = getpid()
    private let report: @Sendable (String) -> Void
    private let queue = Guarded(Queue())
    private let worker = SerialQueue(stackSize: BackgroundThread.smallStack, patience: 0)

    init(
        _ target: Result<OverridesFile, OverridesError>, report: @escaping @Sendable (String) -> Void
    ) {
        self.target = target
        self.report = report
    }

    convenience init(file: OverridesFile, report: @escaping @Sendable (String) -> Void) {
        self.init(.success(file), report: report)
    }

    var file: OverridesFile? { try? target.get() }

    /// The lock of what is pending, which a fork waits for. It is never held while the file is written.
    var lockForFork: any HeldWhileForking { queue }

    /// A writer for a child that was forked: another thread may hold the lock of the file. What is pending is the
    /// parent's to write, unless it ends without, as `daemon(3)` has it end.
    ///
    /// Call with ``lockForFork`` let go of.
    func forChild() -> OverridesWriter {
        let writer = OverridesWriter(target, report: report)
        let unwritten = queue.withLock { $0.inFlight.merging($0.changes) { $1 } }
        guard !unwritten.isEmpty else { return writer }
        writer.queue.withLock { $0.inherited = (unwritten, process) }
        return writer
    }

    /// Writes what the parent of this process has not, if it is gone. Otherwise that is left to it for ever.
    func settleInheritance() {
        let isParentGone = queue.withLock { queue in
            defer { queue.inherited = nil }
            return Self.claimInheritance(&queue)
        }
        if isParentGone { _ = addWrite() }
    }

    /// - Returns: Whether there is more to write than before.
    private static func claimInheritance(_ queue: inout Queue) -> Bool {
        guard let (changes, parent) = queue.inherited, getppid() != parent else { return false }
        queue.changes.merge(changes) { own, _ in own }
        queue.inherited = nil
        return true
    }

    /// Takes a change to be written.
    ///
    /// - Returns: Whether a thread will; otherwise the caller owes a ``flush()``.
    @discardableResult
    func enqueue(_ value: TweakValue?, for key: TweakKey) -> Bool {
        let (isFirst, isExiting) = queue.withLock { queue in
            queue.changes.updateValue(value, forKey: key)
            // What this process sets is newer.
            queue.inherited?.changes.removeValue(forKey: key)
            guard !queue.isExiting else { return (true, true) }
            defer { queue.trying = fbtweak__generation() }
            return (queue.trying != fbtweak__generation(), false)
        }
        if !isExiting { _ = Self.flushEarlyAtExit }
        if !isFirst || !isExiting && addWrite() { return true }
        queue.withLock { $0.trying = nil }
        return false
    }

    /// What the library registers before `main` runs among the destructors of libraries. By then no thread shall write:
    /// glibc's memusage cannot free any more what it has given.
    private static let flushEarlyAtExit: Void = { _ = atexit { TweakStore.flushAllAtExit(isLast: false) } }()

    /// Without a file there is nothing to wait for.
    private func addWrite() -> Bool { file != nil && worker.add(write) }

    /// Calls back when what is pending has been tried to be written, with the reason if that failed; at once if nothing
    /// is, or if there is a pause between two attempts, with the reason of the last one. Calls come in order and with a
    /// lock held.
    func afterAttempt(_ body: @escaping @Sendable (OverridesError?) -> Void) {
        queue.withLock { queue in
            if queue.phase == .writing || queue.phase == .idle && queue.trying != nil {
                queue.waiting.append(body)
            } else {
                body(queue.problem)
            }
        }
    }

    /// Writes what is pending, on this thread.
    ///
    /// - Returns: Whether nothing is pending any more. What could not be written is tried again with the next change.
    @discardableResult
    func flush() -> Bool {
        let (problem, isDone) = fileAccess.withSlowLock { _ -> (String?, Bool) in
            let changes = queue.withLock { queue in
                _ = Self.claimInheritance(&queue)
                queue.inFlight = queue.changes
                queue.changes = [:]
                queue.trying = nil
                return queue.inFlight
            }
            guard !changes.isEmpty else { return (nil, true) }
            defer { queue.withLock { $0.inFlight = [:] } }
            do throws(OverridesError) {
                let file = try target.get()
                guard fbtweak__has_memory() else {
                    throw .system(action: "write", path: file.path, reason: systemMessage(ENOMEM))
                }
                let problem = try file.update(changes)
                queue.withLock { $0.problem = nil }
                return (problem, true)
            } catch {
                queue.withLock { queue in
                    queue.changes.merge(changes) { newer, _ in newer }
                    queue.problem = error
                }
                return (error.withConsequence, false)
            }
        }
        // Reported without the lock: the program's log handler may call the store.
        if let problem { report(problem) }
        return isDone
    }

    /// Flushes, unless this is the writer of the process that this one was forked from.
    ///
    /// - Parameter isLast: Whether what is set from now on, in destructors of libraries, is written by who sets it.
    func flushAtExit(isLast: Bool) {
        guard getpid() == process else { return }
        if isLast { queue.withLock { $0.isExiting = true } }
        flush()
    }

    /// What the file holds, `nil` if there is none, and the tweaks whose changes are still to be written into it.
    ///
    /// No write is under way meanwhile, so whatever was enqueued before is in one of the two. What could not be written
    /// is tried again if it can be read: that may have been the reason.
    func read() throws(OverridesError) -> (content: [UInt8]?, unwritten: Set<TweakKey>) {
        let (content, unwritten, isOverdue) = try fileAccess.withSlowLock { _ throws(OverridesError) in
            let content = try target.get().read()
            return queue.withLock { queue in
                let isOverdue = queue.problem != nil && queue.trying == nil && !queue.changes.isEmpty
                return (content, Set(queue.changes.keys), isOverdue)
            }
        }
        if isOverdue { _ = addWrite() }
        return (content, unwritten)
    }

    private func write() {
        queue.withLock { $0.phase = .writing }
        flush()
        queue.withLock { queue in
            queue.phase = .pausing
            for body in queue.waiting { body(queue.problem) }
            queue.waiting = []
        }
        allowingForks { _ = usleep(Self.interval) }
        queue.withLock { $0.phase = .idle }
    }
}

extension OverridesError {
    /// The message for who has set something.
    fileprivate var withConsequence: String {
        // It says so itself.
        if case .noDirectory = self { return description }
        return "\(self); what was set is not kept yet, and is tried again with the next change"
    }
}
