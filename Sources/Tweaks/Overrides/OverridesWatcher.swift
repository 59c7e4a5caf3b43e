internal import Glibc

/// Calls back when a file changes, whichever way: written in place, replaced, removed, or reached by another way because
/// a directory or symbolic link that leads to it did.
///
/// One thread waits for inotify and nothing else. What is to be done is done on a second one, which lasts as long as
/// that takes: it runs the program's observers and so has a stack like the program's threads. In a child that was
/// forked neither exists, and the child does not follow the file.
final class OverridesWatcher: Sendable {
    /// How long the process has run before the file is watched. The kernel takes some milliseconds to end a process that
    /// has watches, which one that ends at once need not pay.
    private static let startDelay: useconds_t = 250_000
    /// How long a file may be missing before that counts. Some editors and git remove the old one first.
    private static let absence: Duration = .milliseconds(100)

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
    private let steps = Guarded<[Step]>([])
    private let report: @Sendable (String) -> Void
    private let changed: @Sendable (_ isComplete: Bool) -> Void

    /// - Parameter changed: Called after something happened, and once when the file begins to be watched. `isComplete`
    ///   says whether a file was closed after writing or came by a rename.
    init(
        path: String, report: @escaping @Sendable (String) -> Void,
        changed: @escaping @Sendable (_ isComplete: Bool) -> Void
    ) {
        self.path = path
        self.report = report
        self.changed = changed
    }

    func start() {
        // The small stack is too small for a program with large thread-local variables.
        guard let thread = BackgroundThread(stackSize: 64 << 10, follow) ?? BackgroundThread(follow) else {
            return reportFailure(EAGAIN)
        }
        thread.detach()
    }

    private func reportFailure(_ error: CInt) {
        report(
            "cannot watch \(path), so changes count from the next start on: \(String(cString: strerror(error))) "
                + "(inotify's limits are in /proc/sys/fs/inotify)")
    }
}

// MARK: - Waiting

extension OverridesWatcher {
    private struct Events {
        var concernFile = false
        var isComplete = false
    }

    private func follow() {
        usleep(Self.startDelay)
        let inotify = inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK))
        guard inotify >= 0 else {
            let error = errno
            return inThread { self.reportFailure(error) }
        }
        var events: Events? = Events(concernFile: true, isComplete: true)
        while let happened = events {
            if happened.concernFile { inThread { self.takeOver(happened, inotify) } }
            events = nextEvents(inotify, timeout: -1)
        }
    }

    /// Runs `body` to its end in a thread of its own.
    private func inThread(_ body: @escaping @Sendable () -> Void) {
        while true {
            if let thread = BackgroundThread(body) { return thread.join() }
            sleep(1)
        }
    }

    /// - Parameter timeout: In milliseconds; -1 for none.
    /// - Returns: `nil` if the program has closed the descriptor.
    private func nextEvents(_ inotify: CInt, timeout: CInt) -> Events? {
        var descriptor = pollfd(fd: inotify, events: Int16(POLLIN), revents: 0)
        guard poll(&descriptor, 1, timeout) > 0 else { return Events() }
        // The number may be another file's by now, whose data is none of ours: for that this is EINVAL.
        guard inotify_add_watch(inotify, "", Self.entryEvents) < 0, errno == ENOENT else { return nil }
        // On the stack, with room for the longest name.
        return withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { buffer in
            let count = read(inotify, buffer.baseAddress, buffer.count)
            return events(UnsafeRawBufferPointer(rebasing: buffer[..<max(count, 0)]))
        }
    }

    private func events(_ bytes: UnsafeRawBufferPointer) -> Events {
        var events = Events()
        var rest = bytes[...]
        while rest.count >= MemoryLayout<inotify_event>.size {
            let event = UnsafeRawBufferPointer(rebasing: rest).loadUnaligned(as: inotify_event.self)
            let name = rest.dropFirst(MemoryLayout<inotify_event>.size).prefix(Int(event.len))
            rest = rest[name.endIndex...]
            guard concernsFile(event, UnsafeRawBufferPointer(rebasing: name)) else { continue }
            events.concernFile = true
            if event.mask & UInt32(IN_CLOSE_WRITE | IN_MOVED_TO) != 0 { events.isComplete = true }
        }
        return events
    }

    private func concernsFile(_ event: inotify_event, _ name: UnsafeRawBufferPointer) -> Bool {
        // Some were lost.
        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { return true }
        return steps.withLock { steps in
            steps.contains { step in
                step.watch == event.wd
                    && (name.isEmpty
                        || !step.name.isEmpty && step.name.withUnsafeBytes { name.starts(with: $0) })
            }
        }
    }
}

// MARK: - Following

extension OverridesWatcher {
    private func takeOver(_ events: Events, _ inotify: CInt) {
        var isComplete = events.isComplete
        let deadline = ContinuousClock.now + Self.absence
        watchPath(inotify)
        while access(path, F_OK) != 0 {
            let left = (deadline - ContinuousClock.now) / .milliseconds(1)
            guard left > 0, let more = nextEvents(inotify, timeout: CInt(left.rounded(.up))) else { break }
            if more.isComplete { isComplete = true }
            watchPath(inotify)
        }
        changed(isComplete)
    }

    /// Watches every directory on the way to the file, as far as there is one, and returns when all were there
    /// at once.
    private func watchPath(_ inotify: CInt) {
        // Somebody may take away directories as fast as they are found, but not for long.
        for _ in 1...100 {
            guard let steps = stepsToFile(inotify) else { continue }
            let watches = Set(steps.map(\.watch))
            let named = Set(steps.filter { !$0.name.isEmpty }.map(\.watch))
            self.steps.withLock { before in
                for step in before where !named.contains(step.watch) {
                    if !watches.contains(step.watch) {
                        inotify_rm_watch(inotify, step.watch)
                    } else if !step.name.isEmpty {
                        inotify_add_watch(inotify, step.directory, Self.ownEvents)
                    }
                }
                before = steps
            }
            return
        }
    }

    /// Each directory is watched before its entry is looked up, and all before the file is read, so that whatever
    /// changes afterwards is an event.
    ///
    /// To watch the entries of a directory takes the kernel milliseconds if there are many, and wakes the thread
    /// whenever a file appears. Of most it is enough to know when they are moved or removed themselves; the
    /// file, its directory and the one above are made and removed more often.
    private func stepsToFile(_ inotify: CInt) -> [Step]? {
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
            } else if isNamed || error != EACCES {
                reportFailure(error)
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
