// SPDX-License-Identifier: BSD-3-Clause
internal import CTweakSystem
internal import CTweaks
internal import Glibc
internal import TweakOverrides
internal import TweakRecords
internal import TweakSystem

/// Writes overrides in the background, a burst of changes in few writes.
///
/// The first change of a burst is written at once, later ones at most every 50 ms unless somebody waits. The writing thread exists only
/// during a burst; it has a stack of 512 KiB.
final class OverridesWriter: Sendable {
    private static let interval: useconds_t = 50_000
    private static let slices: useconds_t = 10
    /// The maximum number of problems of which clients are told later.
    private static let mostUntold = 16

    typealias Changes = [TweakKey: TweakValue?]

    private struct Queue {
        var changes: Changes = [:]
        /// The changes being written.
        var inFlight: Changes = [:]
        /// The number of changes so far.
        var count: UInt64 = 0
        /// The number of changes that are written; `nil` before the first change. Forked children see it, too.
        var written: SharedNumber?
        /// Oldest first.
        var inherited: [InheritedChanges] = []
        /// The inherited ones among the pending changes.
        var claimed: [InheritedChanges] = []
        /// Whether the last flush at exit has begun, so that no thread can be relied on.
        var isExiting = false
        /// The generation whose thread will write the pending changes; after a fork the child has no such thread.
        var trying: UInt32?
        var phase = Phase.idle
        /// The error of the last attempt to write, if it failed.
        var problem: OverridesError?
        var waiting: [Attempt] = []
        /// The content of the file when this process last read or wrote it; `nil` if there was none, or it was never readable.
        var known: [UInt8]?
        /// The problems with writing of which no client has been told yet.
        var untold: [OverridesWarning] = []
        /// Whether there was no lock.
        var hasLackedLock = false

        /// Notes problems with writing. That there is no lock is told once.
        mutating func note(_ warnings: [OverridesWarning]) {
            for warning in warnings where untold.count < OverridesWriter.mostUntold {
                if case .unlocked = warning {
                    if hasLackedLock { continue }
                    hasLackedLock = true
                }
                untold.append(warning)
            }
        }

        /// The number of changes, of ``count``, that the last attempt to write included.
        var attempted: UInt64 = 0

        /// Removes those who wait for nothing but the last attempt.
        mutating func removeAnswerable() -> [Attempt] {
            let isAnswerable = { [attempted] (attempt: Attempt) in attempt.count <= attempted }
            defer { waiting.removeAll(where: isAnswerable) }
            return waiting.filter(isAnswerable)
        }

        /// Calls back after an attempt to write.
        mutating func report(to waiting: [Attempt]) {
            // An error has no room for them.
            let warnings = problem == nil ? untold : []
            if problem == nil, waiting.contains(where: { $0.isOfChange }) { untold = [] }
            for attempt in waiting { attempt.body(problem, attempt.isOfChange ? warnings : []) }
        }

        /// Counts a change, before it is added.
        mutating func countChange() {
            count += 1
            if written == nil { written = SharedNumber() }
        }

        /// Adds the inherited changes that nobody else writes.
        ///
        /// - Returns: Whether changes were added.
        mutating func claimInheritance() -> Bool {
            // In this order, because an ancestor may write and end in between.
            let unwritten = inherited.map { ($0, isOurs: $0.areLeftToUs) }.filter { !$0.0.areWritten }
            let ours = unwritten.filter { $0.isOurs }.map { $0.0 }
            inherited = unwritten.filter { !$0.isOurs }.map { $0.0 }
            guard !ours.isEmpty else { return false }
            countChange()
            for inherited in ours.reversed() { changes.addMissing(inherited.changes) }
            claimed += ours
            return true
        }
    }

    /// Somebody who waits for an attempt to write.
    private struct Attempt {
        /// Whether a change of the waiting one is written, so that problems concern it.
        let isOfChange: Bool
        /// The number of changes that the attempt must include; 0 for any.
        let count: UInt64
        let body: @Sendable (OverridesError?, [OverridesWarning]) -> Void
    }

    private enum Phase { case idle, writing, pausing }

    /// The file, or the reason why there is none.
    private let target: Result<OverridesFile, OverridesError>
    /// Held while the file is written or read, so that ``flush()`` waits for a write in progress. The value is
    /// meaningless, but with an empty type ThreadSanitizer would take each access for one to the object's first bytes.
    private let fileAccess = Guarded(false)
    private let process = getpid()
    private let report: @Sendable (String) -> Void
    private let queue = Guarded(Queue())
    private let worker = SerialQueue(
        stackSize: BackgroundThread.smallStack, patience: 0, restsAtExit: true)

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

    /// The lock of the pending changes, which a fork waits for. It is never held while the file is written.
    var lockForFork: any HeldWhileForking { queue }

    /// A writer for a forked child, because another thread of the parent may hold the lock of the file.
    ///
    /// Call it without ``lockForFork``.
    func forChild() -> OverridesWriter {
        let writer = OverridesWriter(target, report: report)
        let (inherited, known) = queue.withLock { queue in
            var inherited = queue.inherited.map { $0.forChild(of: process) }
            var unwritten = queue.changes
            unwritten.addMissing(queue.inFlight)
            if !unwritten.isEmpty, let written = queue.written {
                inherited.append(
                    InheritedChanges(
                        changes: unwritten, ancestors: [process], written: written, count: queue.count))
            }
            return (inherited, queue.known)
        }
        writer.queue.withLock { ($0.inherited, $0.known) = (inherited, known) }
        return writer
    }

    /// Writes the inherited changes that nobody else writes.
    ///
    /// - Returns: `false` if others may still write some.
    func settleInheritance() -> Bool {
        let (isClaimed, isSettled) = queue.withLock { ($0.claimInheritance(), $0.inherited.isEmpty) }
        if isClaimed { _ = addWrite() }
        return isSettled
    }

    /// Queues a change.
    ///
    /// - Returns: `false` if no thread will write it, so that the caller must ``flush()``.
    @discardableResult
    func enqueue(_ value: TweakValue?, for key: TweakKey) -> Bool {
        let (isFirst, isExiting) = queue.withLock { queue in
            queue.countChange()
            queue.changes.updateValue(value, forKey: key)
            // The change of this process is newer.
            for index in queue.inherited.indices { queue.inherited[index].changes[key] = nil }
            guard !queue.isExiting else { return (true, true) }
            defer { queue.trying = fbtweak__generation() }
            return (queue.trying != fbtweak__generation(), false)
        }
        if !isExiting { _ = TweakStore.flushEarlyAtExit }
        if !isFirst || !isExiting && addWrite() { return true }
        queue.withLock { $0.trying = nil }
        return false
    }

    /// Without a file there is nothing to wait for.
    private func addWrite() -> Bool { file != nil && worker.add(write) }

    /// Notes what the file has at the start.
    func begin(with content: [UInt8]?) { queue.withLock { $0.known = content } }

    /// Calls back after an attempt to write the pending changes, with the error if it failed, and the other problems
    /// since a client was last told of one. Calls back at once if nothing is pending. Calls come in order and with a lock
    /// held.
    ///
    /// - Parameters:
    ///   - isOfChange: Whether the caller has made a change.
    ///   - isFirst: Whether the attempt must include the last change. Otherwise an attempt that has begun is enough, and
    ///     between two attempts the error of the last one.
    func afterAttempt(
        isOfChange: Bool, isFirst: Bool,
        _ body: @escaping @Sendable (OverridesError?, [OverridesWarning]) -> Void
    ) {
        queue.withLock { queue in
            let isPending = queue.trying != nil
            let attempt = Attempt(
                isOfChange: isOfChange, count: isFirst && isPending ? queue.count : 0, body: body)
            if queue.phase == .writing || isPending && (queue.phase == .idle || isFirst) {
                queue.waiting.append(attempt)
            } else {
                queue.report(to: [attempt])
            }
        }
    }

    /// Writes the pending changes on this thread.
    ///
    /// - Returns: Whether nothing is pending any more. Failed writes are retried with the next change.
    @discardableResult
    func flush() -> Bool {
        let (problems, isDone) = fileAccess.withSlowLock { _ -> ([String], Bool) in
            let (changes, claimed, count, known) = queue.withLock { queue in
                _ = queue.claimInheritance()
                queue.inFlight = queue.changes
                queue.changes = [:]
                queue.trying = nil
                queue.attempted = queue.count
                return (queue.inFlight, queue.claimed, queue.count, queue.known)
            }
            guard !changes.isEmpty else { return ([], true) }
            defer { queue.withLock { $0.inFlight = [:] } }
            do throws(OverridesError) {
                let file = try target.get()
                guard fbtweak__has_memory() else {
                    throw .system(action: "write", path: file.path, reason: systemMessage(ENOMEM))
                }
                let (content, warnings) = try file.update(changes, ifCorrupt: .replace(known: known))
                queue.withLock { queue in
                    queue.problem = nil
                    queue.known = content
                    queue.note(warnings)
                    queue.written?.value = count
                    queue.claimed.removeFirst(claimed.count)
                }
                for inherited in claimed { inherited.written.value = inherited.count }
                return (warnings.map { "\($0)" }, true)
            } catch {
                queue.withLock { queue in
                    queue.changes.addMissing(changes)
                    queue.problem = error
                }
                return ([error.withConsequence], false)
            }
        }
        // Reported without the lock, because the program's log handler may call the store.
        for problem in problems { report(problem) }
        return isDone
    }

    /// Flushes, unless this is the writer of the parent process.
    ///
    /// - Parameter isLast: Whether changes made from now on, in destructors of libraries, are written by the thread
    ///   that makes them.
    func flushAtExit(isLast: Bool) {
        guard getpid() == process else { return }
        if isLast { queue.withLock { $0.isExiting = true } }
        flush()
    }

    /// The content of the file, `nil` if there is none, the overrides in it, and the tweaks whose changes are not written
    /// yet.
    ///
    /// No write is in progress meanwhile, so every change queued before is in one of the two. If the file can be read,
    /// failed writes are retried, because an unreadable file may have been the reason.
    func read() throws(OverridesError) -> (
        content: [UInt8]?, document: Result<OverridesDocument, OverridesError>, unwritten: Set<TweakKey>
    ) {
        let (content, document, unwritten, isOverdue) = try fileAccess.withSlowLock {
            _ throws(OverridesError) in
            let file = try target.get()
            let content = try file.read()
            let document: Result<OverridesDocument, OverridesError>
            do throws(OverridesError) {
                document = .success(try OverridesDocument(content: content, path: file.path))
            } catch {
                document = .failure(error)
            }
            return queue.withLock { queue in
                if case .success = document { queue.known = content }
                let isOverdue = queue.problem != nil && queue.trying == nil && !queue.changes.isEmpty
                return (content, document, Set(queue.changes.keys), isOverdue)
            }
        }
        if isOverdue { _ = addWrite() }
        return (content, document, unwritten)
    }

    private func write() {
        queue.withLock { $0.phase = .writing }
        flush()
        queue.withLock { queue in
            queue.phase = .pausing
            queue.report(to: queue.removeAnswerable())
        }
        // Nobody waits longer than a slice.
        for _ in 0..<Self.slices where queue.withLock({ $0.waiting.isEmpty }) {
            worker.rest { _ = usleep(Self.interval / Self.slices) }
        }
        queue.withLock { $0.phase = .idle }
    }
}

extension OverridesError {
    /// The message for the code that made a change.
    fileprivate var withConsequence: String {
        // This one describes the consequence itself.
        if case .noDirectory = self { return description }
        return "\(self); changes are not kept yet; the next change retries"
    }
}
