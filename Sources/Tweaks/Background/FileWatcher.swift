internal import Glibc
internal import TweakSystem

/// Calls back when a file changes, whichever way: written in place, replaced, removed, or reached by another way because
/// a directory or symbolic link that leads to it did.
///
/// The library's thread waits for inotify; its worker calls back, since that runs the program's observers.
final class FileWatcher: EventLoop.Source {
    /// How long a file may be missing before that counts. Some editors and git remove the old one first.
    private static let absence: Duration = .milliseconds(100)
    /// How long to wait for what there are too many threads for.
    private static let patience: Duration = .seconds(1)

    private static let ownEvents = UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_ONLYDIR)
    private static let entryEvents =
        ownEvents | UInt32(IN_CLOSE_WRITE) | UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE)
        | UInt32(IN_MOVED_FROM) | UInt32(IN_ATTRIB)

    /// A directory on the way to the file.
    private struct Step {
        let watch: CInt
        let directory: String
        /// The entry that matters, with a NUL; empty if only the directory itself does.
        let name: [CChar]
    }

    private let path: String
    private let worker: SerialQueue
    private let isWanted: @Sendable () -> Bool
    private let report: @Sendable (String) -> Void
    private let changed: @Sendable (_ isComplete: Bool) -> Void
    private let descriptor: Descriptor
    private var inotify: CInt { descriptor.number }
    private var steps: [Step] = []
    /// Whether something happened of which the worker does not know, and then whether it is complete.
    private var happened: Bool?
    private(set) var deadline: ContinuousClock.Instant?
    /// The same of what the worker knows but has not begun with, so that there is one call for all of it.
    private let handedOver = Guarded<Bool?>(nil)

    /// Makes a watcher for the library's thread.
    ///
    /// - Parameters:
    ///   - isWanted: Whether to go on. It is asked whenever the thread wakes up.
    ///   - report: Called with what is wrong if the file cannot be watched.
    ///   - changed: Called after something happened, and once when the file begins to be watched. `isComplete` says
    ///     whether a file was closed after writing or came by a rename.
    /// - Returns: `nil` if there is no inotify; that is reported.
    init?(
        path: String, worker: SerialQueue, isWanted: @escaping @Sendable () -> Bool = { true },
        report: @escaping @Sendable (String) -> Void,
        changed: @escaping @Sendable (_ isComplete: Bool) -> Void
    ) {
        self.path = path
        self.worker = worker
        self.isWanted = isWanted
        self.report = report
        self.changed = changed
        guard let descriptor = Descriptor.make({ inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK)) }) else {
            let message = Self.message(path, errno)
            _ = worker.add { report(message) }
            return nil
        }
        self.descriptor = descriptor
        noteEvent(isComplete: true)
    }

    static func message(_ path: String, _ error: CInt) -> String {
        "cannot watch \(path), so changes count from the next start on: \(systemMessage(error)) "
            + "(inotify's limits are in /proc/sys/fs/inotify)"
    }

    var awaited: [pollfd] { [pollfd(fd: inotify, events: Int16(POLLIN), revents: 0)] }

    func handle(_ awaited: ArraySlice<pollfd>) -> Bool {
        guard isWanted() else {
            descriptor.close()
            return false
        }
        if awaited.first?.revents != 0 {
            // The number may be another file's by now, whose data is none of ours: for that this is EINVAL.
            guard descriptor.isOurs, inotify_add_watch(inotify, "", Self.entryEvents) < 0, errno == ENOENT
            else {
                descriptor.close()
                return false
            }
            readEvents()
        }
        if let deadline, deadline <= .now { handOver() }
        return true
    }
}

// MARK: - Events

extension FileWatcher {
    private func readEvents() {
        // On the stack, with room for the longest name.
        withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { buffer in
            let count = read(inotify, buffer.baseAddress, buffer.count)
            var rest = UnsafeRawBufferPointer(rebasing: buffer[..<max(count, 0)])[...]
            var isConcerned = false
            var isComplete = false
            while rest.count >= MemoryLayout<inotify_event>.size {
                let event = UnsafeRawBufferPointer(rebasing: rest).loadUnaligned(as: inotify_event.self)
                let name = rest.dropFirst(MemoryLayout<inotify_event>.size).prefix(Int(event.len))
                rest = rest[name.endIndex...]
                guard concernsFile(event, UnsafeRawBufferPointer(rebasing: name)) else { continue }
                isConcerned = true
                if event.mask & UInt32(IN_CLOSE_WRITE | IN_MOVED_TO) != 0 { isComplete = true }
            }
            if isConcerned { noteEvent(isComplete: isComplete) }
        }
    }

    private func concernsFile(_ event: inotify_event, _ name: UnsafeRawBufferPointer) -> Bool {
        // Some were lost.
        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { return true }
        return steps.contains { step in
            step.watch == event.wd
                && (name.isEmpty || !step.name.isEmpty && step.name.withUnsafeBytes { name.starts(with: $0) })
        }
    }

    private func noteEvent(isComplete: Bool) {
        happened = (happened ?? false) || isComplete
        watchPath()
        if access(path, F_OK) == 0 {
            handOver()
        } else if deadline == nil {
            deadline = .now + Self.absence
        }
    }

    private func handOver() {
        guard let isComplete = happened else { return }
        let isFirst = handedOver.withLock { handedOver in
            defer { handedOver = (handedOver ?? false) || isComplete }
            return handedOver == nil
        }
        let call = { @Sendable [changed, handedOver] in
            let isComplete = handedOver.withLock { handedOver in
                defer { handedOver = nil }
                return handedOver
            }
            changed(isComplete ?? false)
        }
        guard !isFirst || worker.add(call) else {
            handedOver.withLock { $0 = nil }
            deadline = .now + Self.patience
            return
        }
        happened = nil
        deadline = nil
    }
}

// MARK: - The way to the file

extension FileWatcher {
    /// Watches every directory on the way to the file, as far as there is one, and returns when all were there
    /// at once.
    private func watchPath() {
        // Somebody may take away directories as fast as they are found, but not for long.
        for _ in 1...100 {
            guard let steps = stepsToFile() else { continue }
            let watches = Set(steps.map(\.watch))
            let named = Set(steps.filter { !$0.name.isEmpty }.map(\.watch))
            for step in self.steps where !named.contains(step.watch) {
                if !watches.contains(step.watch) {
                    inotify_rm_watch(inotify, step.watch)
                } else if !step.name.isEmpty {
                    inotify_add_watch(inotify, step.directory, Self.ownEvents)
                }
            }
            self.steps = steps
            return
        }
    }

    /// Each directory is watched before its entry is looked up, and all before the file is read, so that whatever
    /// changes afterwards is an event.
    ///
    /// To watch the entries of a directory takes the kernel milliseconds if there are many, and wakes the thread
    /// whenever a file appears. Of most it is enough to know when they are moved or removed themselves; the
    /// file, its directory and the one above are made and removed more often.
    private func stepsToFile() -> [Step]? {
        var steps: [Step] = []
        var directory = ""
        var names = Array(path.split(separator: "/").reversed())
        var links = 0
        while let name = names.popLast() {
            if name == "." { continue }
            if name == ".." {
                directory = directory.lastIndex(of: "/").map { String(directory[..<$0]) } ?? ""
                continue
            }
            let entry = "\(directory)/\(name)"
            var isNamed = names.count <= 2
            var wasNamed: Bool
            var (watch, error): (CInt, CInt)
            var target: String?
            var isMissing: Bool
            repeat {
                wasNamed = isNamed
                let events = (isNamed ? Self.entryEvents : Self.ownEvents) | UInt32(IN_MASK_ADD)
                watch = inotify_add_watch(inotify, directory + "/", events)
                error = watch < 0 ? errno : 0
                target = readLink(entry)
                isMissing = target == nil && access(names.isEmpty ? entry : entry + "/", F_OK) != 0
                isNamed = isNamed || target != nil || isMissing
            } while isNamed != wasNamed

            if error == ENOENT || error == ENOTDIR { return nil }
            if watch >= 0 {
                steps.append(
                    Step(
                        watch: watch, directory: directory + "/",
                        name: isNamed ? Array(String(name).utf8CString) : []))
            } else if isNamed || error != EACCES, descriptor.isOurs {
                let message = Self.message(path, error)
                _ = worker.add { [report] in report(message) }
            }
            if isMissing { break }
            guard let target else {
                directory = entry
                continue
            }
            links += 1
            // As many as the kernel follows.
            guard links <= 40 else { break }
            if target.hasPrefix("/") { directory = "" }
            names += target.split(separator: "/").reversed()
        }
        return steps
    }
}
