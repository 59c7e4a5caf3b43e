internal import Glibc
internal import TweakSystem

/// Calls back when files change, whichever way: written in place, replaced, removed, or reached by another way because a
/// directory or symbolic link that leads to one did.
///
/// The library's thread waits for inotify; its worker calls back, since that runs the program's observers. All files that
/// a process follows are with one watcher: a user may have as few as 128 of inotify's descriptors. Where there is none
/// left, or no inotify, the files are looked at twice a second.
final class FileWatcher: EventLoop.Source {
    /// How long a file may be missing before that counts. Some editors and git remove the old one first.
    private static let absence: Duration = .milliseconds(100)
    /// How long to wait for what there are too many threads for.
    private static let patience: Duration = .seconds(1)
    /// How long until a file is looked at again that inotify does not watch.
    private static let pause: Duration = .milliseconds(500)

    private static let ownEvents = UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_ONLYDIR)
    private static let entryEvents =
        ownEvents | UInt32(IN_CLOSE_WRITE) | UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE)
        | UInt32(IN_MOVED_FROM) | UInt32(IN_ATTRIB)

    /// A directory on the way to a file.
    fileprivate struct Step {
        let watch: CInt
        let directory: String
        /// The entry that matters, with a NUL; empty if only the directory itself does.
        let name: [CChar]
    }

    /// What to do when a file changes.
    struct File: Sendable {
        let path: String
        /// Whether to go on. It is asked whenever the thread wakes up.
        var isWanted: @Sendable () -> Bool = { true }
        /// Called with what is wrong if the file cannot be watched.
        let report: @Sendable (String) -> Void
        /// Called after something happened, and once when the file begins to be watched. `isComplete` says whether the
        /// file was closed after writing or came by a rename.
        let changed: @Sendable (_ isComplete: Bool) -> Void
    }

    /// A file with what is known about it.
    fileprivate final class Followed {
        let file: File
        var steps: [Step] = []
        /// Whether something is among the events that are being read, and then whether it is complete.
        var unnoted: Bool?
        /// Whether something happened of which the worker does not know, and then whether it is complete.
        var happened: Bool?
        var deadline: ContinuousClock.Instant?
        /// The same of what the worker knows but has not begun with, so that there is one call for all of it.
        let handedOver = Guarded<Bool?>(nil)
        /// What the file was when it was last looked at, if inotify does not watch it.
        var seen: Sight?

        init(_ file: File) { self.file = file }

        func isConcerned(by event: inotify_event, _ name: Slice<UnsafeRawBufferPointer>) -> Bool {
            // Some were lost.
            if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { return true }
            return steps.contains { step in
                step.watch == event.wd
                    && (name.isEmpty
                        || !step.name.isEmpty && step.name.withUnsafeBytes { name.starts(with: $0) })
            }
        }
    }

    /// What tells a file from a later one at its path.
    fileprivate struct Sight: Equatable {
        let node: UInt64
        let size: Int
        let seconds: Int
        let nanoseconds: Int

        init(_ path: String) {
            let status = stat(path: path) ?? stat()
            (node, size) = (UInt64(status.st_ino), Int(status.st_size))
            (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        }
    }

    private let worker: SerialQueue
    /// `nil` if all files are looked at.
    private let descriptor: Descriptor?
    private var inotify: CInt { descriptor?.number ?? -1 }
    private var files: [Followed] = []
    /// Why there is no descriptor.
    private var error: CInt = 0
    private var hasSaidWhy = false

    /// Follows a file until it is not wanted any more.
    static func follow(_ file: File) {
        let hasThread = EventLoop.wait { thread, sources in
            for case let watcher as FileWatcher in sources where watcher.isUsable {
                watcher.add(file)
                return nil
            }
            let watcher = FileWatcher(worker: thread.worker)
            watcher.add(file)
            return watcher
        }
        if !hasThread {
            file.report(
                "cannot watch \(file.path), so changes count from the next start on: \(systemMessage(EAGAIN))"
            )
        }
    }

    private init(worker: SerialQueue) {
        self.worker = worker
        descriptor = Descriptor.make { inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK)) }
        if descriptor == nil { error = errno }
    }

    private func add(_ file: File) {
        let followed = Followed(file)
        files.append(followed)
        if descriptor == nil { look(at: followed, because: error) }
        noteEvent(followed, isComplete: true)
    }

    /// Looks at a file from now on. Why is said of the first one.
    private func look(at followed: Followed, because error: CInt) {
        guard followed.seen == nil else { return }
        followed.seen = Sight(followed.file.path)
        guard !hasSaidWhy else { return }
        hasSaidWhy = true
        // Those that inotify(7) gives at its limits.
        let hint = [EMFILE, ENOSPC].contains(error) ? " (the limits are in /proc/sys/fs/inotify)" : ""
        let message =
            "cannot watch \(followed.file.path), so it is looked at twice a second: \(systemMessage(error))\(hint)"
        _ = worker.add { [report = followed.file.report] in report(message) }
    }

    private var isUsable: Bool { descriptor?.isOurs ?? true }

    var awaited: [pollfd] {
        descriptor.map { [pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0)] } ?? []
    }

    var deadline: ContinuousClock.Instant? { files.compactMap(\.deadline).min() }

    func handle(_ awaited: ArraySlice<pollfd>) -> Bool {
        let unwanted = files.filter { !$0.file.isWanted() }
        if !unwanted.isEmpty {
            files.removeAll { followed in unwanted.contains { $0 === followed } }
            guard !files.isEmpty else {
                end()
                return false
            }
            release(unwanted.flatMap(\.steps))
        }
        if let event = awaited.first, event.revents != 0 {
            // The number may be another file's by now, whose data is none of ours: for that this is EINVAL.
            guard isUsable, inotify_add_watch(inotify, "", Self.entryEvents) < 0, errno == ENOENT,
                readEvents()
            else {
                end()
                return false
            }
        }
        for followed in files {
            guard let deadline = followed.deadline, deadline <= .now else { continue }
            if let seen = followed.seen, followed.happened == nil {
                let sight = Sight(followed.file.path)
                followed.deadline = .now + Self.pause
                guard sight != seen else { continue }
                followed.seen = sight
                followed.happened = true
            }
            handOver(followed)
        }
        return true
    }
}

// MARK: - Events

extension FileWatcher {
    func end() { descriptor?.close() }

    /// - Returns: Whether there may be more: the process may have given up the right to read.
    private func readEvents() -> Bool {
        // On the stack, with room for the longest name.
        withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { buffer in
            let count = read(inotify, buffer.baseAddress, buffer.count)
            guard count >= 0 || errno == EAGAIN || errno == EINTR else {
                let message =
                    "cannot read what happens to files, so changes count from the next start on: "
                    + systemMessage()
                if let report = files.first?.file.report { _ = worker.add { report(message) } }
                return false
            }
            var rest = UnsafeRawBufferPointer(rebasing: buffer[..<max(count, 0)])[...]
            while rest.count >= MemoryLayout<inotify_event>.size {
                let event = UnsafeRawBufferPointer(rebasing: rest).loadUnaligned(as: inotify_event.self)
                let name = rest.dropFirst(MemoryLayout<inotify_event>.size).prefix(Int(event.len))
                rest = rest[name.endIndex...]
                for followed in files where followed.isConcerned(by: event, name) {
                    let isComplete = event.mask & UInt32(IN_CLOSE_WRITE | IN_MOVED_TO) != 0
                    followed.unnoted = (followed.unnoted ?? false) || isComplete
                }
            }
            for followed in files {
                guard let isComplete = followed.unnoted else { continue }
                followed.unnoted = nil
                noteEvent(followed, isComplete: isComplete)
            }
            return true
        }
    }

    private func noteEvent(_ followed: Followed, isComplete: Bool) {
        followed.happened = (followed.happened ?? false) || isComplete
        watchPath(of: followed)
        if access(followed.file.path, F_OK) == 0 {
            handOver(followed)
        } else if followed.deadline == nil {
            followed.deadline = .now + Self.absence
        }
    }

    private func handOver(_ followed: Followed) {
        guard let isComplete = followed.happened else { return }
        let handedOver = followed.handedOver
        let isFirst = handedOver.withLock { handedOver in
            defer { handedOver = (handedOver ?? false) || isComplete }
            return handedOver == nil
        }
        let call = { @Sendable [changed = followed.file.changed] in
            let isComplete = handedOver.withLock { handedOver in
                defer { handedOver = nil }
                return handedOver
            }
            changed(isComplete ?? false)
        }
        guard !isFirst || worker.add(call) else {
            handedOver.withLock { $0 = nil }
            followed.deadline = .now + Self.patience
            return
        }
        followed.happened = nil
        followed.deadline = followed.seen.map { _ in .now + Self.pause }
    }
}

// MARK: - The way to the file

extension FileWatcher {
    /// Watches every directory on the way to the file, as far as there is one, and returns when all were there
    /// at once.
    private func watchPath(of followed: Followed) {
        guard descriptor != nil else { return }
        // Somebody may take away directories as fast as they are found, but not for long.
        for _ in 1...100 {
            guard let steps = stepsToFile(followed) else { continue }
            let former = followed.steps
            followed.steps = steps
            release(former)
            return
        }
    }

    /// Stops to watch what no file needs any more.
    private func release(_ former: [Step]) {
        let needed = files.flatMap(\.steps)
        let watches = Set(needed.map(\.watch))
        let named = Set(needed.filter { !$0.name.isEmpty }.map(\.watch))
        for step in former where !named.contains(step.watch) {
            if !watches.contains(step.watch) {
                inotify_rm_watch(inotify, step.watch)
            } else if !step.name.isEmpty {
                inotify_add_watch(inotify, step.directory, Self.ownEvents)
            }
        }
    }

    /// Each directory is watched before its entry is looked up, and all before the file is read, so that whatever
    /// changes afterwards is an event.
    ///
    /// To watch the entries of a directory takes the kernel milliseconds if there are many, and wakes the thread
    /// whenever a file appears. Of most it is enough to know when they are moved or removed themselves; the
    /// file, its directory and the one above are made and removed more often.
    private func stepsToFile(_ followed: Followed) -> [Step]? {
        var steps: [Step] = []
        var directory = ""
        var names = Array(followed.file.path.split(separator: "/").reversed())
        var links = 0
        while let name = names.popLast() {
            if name == "." { continue }
            if name == ".." {
                directory = String(resolvedPath("", relativeTo: directory).unicodeScalars.dropLast())
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
            } else if isNamed || error != EACCES, isUsable {
                look(at: followed, because: error)
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
