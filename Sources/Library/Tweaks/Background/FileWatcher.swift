// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
internal import TweakSystem

/// Calls back when files change: written in place, also under another name, replaced, removed, or reached through a
/// changed directory or symbolic link.
///
/// The library thread waits for inotify; its worker calls back, because that runs the program's observers. One watcher
/// serves all files of the process, because a user may have as few as 128 inotify instances. Without inotify, or when
/// its instances or watches are used up, files are polled twice a second.
final class FileWatcher: EventLoop.Source {
    /// The time after which a missing file counts as removed. Some editors and git remove the old file first.
    private static let absence: Duration = .milliseconds(100)
    /// The delay before a retry when no thread could be started.
    private static let patience: Duration = .seconds(1)
    /// The poll interval for files that inotify does not watch.
    private static let pause: Duration = .milliseconds(500)

    private static let ownEvents = UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_ONLYDIR)
    /// Events of the file itself: its directory does not report writes through another mount or hard link.
    private static let fileEvents = UInt32(IN_CLOSE_WRITE)
    private static let entryEvents =
        ownEvents | UInt32(IN_CLOSE_WRITE) | UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE)
        | UInt32(IN_MOVED_FROM) | UInt32(IN_ATTRIB)

    /// A directory on the way to a file, or the file itself.
    fileprivate struct Step {
        let watch: CInt
        let path: String
        /// The entry to watch, NUL-terminated; empty to watch only the directory or file itself.
        let name: [CChar]
    }

    /// A file to watch.
    struct File: Sendable {
        let path: String
        /// Returns whether the file is still wanted. Checked whenever the thread wakes up.
        var isWanted: @Sendable () -> Bool = { true }
        /// Called with the reason if the file cannot be watched.
        let report: @Sendable (String) -> Void
        /// Called after a change, and once when watching begins. `isComplete` is true if the file was closed after
        /// writing or renamed into place.
        let changed: @Sendable (_ isComplete: Bool) -> Void
    }

    /// A watched file and its state.
    fileprivate final class Followed {
        let file: File
        var steps: [Step] = []
        /// Set if the events being read concern the file; true if the change is complete.
        var unnoted: Bool?
        /// Set if there is a change that the worker does not know of; true if the change is complete.
        var happened: Bool?
        var deadline: ContinuousClock.Instant?
        /// The same for a change that the worker knows of but has not handled, so that one call covers several events.
        let handedOver = Guarded<Bool?>(nil)
        /// The file's identity at the last poll, if inotify does not watch it.
        var seen: Sight?

        init(_ file: File) { self.file = file }

        func isConcerned(by event: inotify_event, _ name: Slice<UnsafeRawBufferPointer>) -> Bool {
            // The event queue overflowed.
            if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { return true }
            return steps.contains { step in
                step.watch == event.wd
                    && (name.isEmpty
                        || !step.name.isEmpty && step.name.withUnsafeBytes { name.starts(with: $0) })
            }
        }
    }

    /// Tells apart two files that had the same path.
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
    /// `nil` if all files are polled.
    private let descriptor: Descriptor?
    private var inotify: CInt { descriptor?.number ?? -1 }
    private var files: [Followed] = []
    /// The reason why there is no descriptor.
    private var error: CInt = 0
    private var hasSaidWhy = false

    /// Follows a file until it is no longer wanted.
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
                "cannot watch \(file.path), so changes take effect at the next start: \(systemMessage(EAGAIN))"
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

    /// Polls a file from now on. Reports the reason for the first one.
    private func look(at followed: Followed, because error: CInt) {
        guard followed.seen == nil else { return }
        followed.seen = Sight(followed.file.path)
        guard !hasSaidWhy else { return }
        hasSaidWhy = true
        // The errors of inotify(7) at its limits.
        let hint = [EMFILE, ENOSPC].contains(error) ? " (the limits are in /proc/sys/fs/inotify)" : ""
        let message =
            "cannot watch \(followed.file.path), so it is polled twice a second: \(systemMessage(error))\(hint)"
        _ = worker.add { [report = followed.file.report] in report(message) }
    }

    private var isUsable: Bool { descriptor?.isOurs ?? true }

    var awaited: [pollfd] {
        descriptor.map { [pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0)] } ?? []
    }

    var deadline: ContinuousClock.Instant? { files.compactMap { $0.deadline }.min() }

    func handle(_ awaited: ArraySlice<pollfd>) -> Bool {
        let unwanted = files.filter { !$0.file.isWanted() }
        if !unwanted.isEmpty {
            files.removeAll { followed in unwanted.contains { $0 === followed } }
            guard !files.isEmpty else {
                end()
                return false
            }
            release(unwanted.flatMap { $0.steps })
        }
        if let event = awaited.first, event.revents != 0 {
            // The number may by now be another file's, whose events are not ours: EINVAL in that case.
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

    /// - Returns: Whether there may be more. The process may have lost the permission to read.
    private func readEvents() -> Bool {
        // On the stack, large enough for the longest name.
        withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { buffer in
            let count = read(inotify, buffer.baseAddress, buffer.count)
            guard count >= 0 || errno == EAGAIN || errno == EINTR else {
                let message =
                    "cannot read file events, so changes take effect at the next start: "
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
    /// Watches every existing directory on the path, and returns when all of them existed at once.
    private func watchPath(of followed: Followed) {
        guard descriptor != nil else { return }
        // Directories may disappear as fast as they are found, but not for long.
        for _ in 1...100 {
            guard let steps = stepsToFile(followed) else { continue }
            let former = followed.steps
            followed.steps = steps
            release(former)
            return
        }
    }

    /// Stops watching directories that no file needs any more.
    private func release(_ former: [Step]) {
        let needed = files.flatMap { $0.steps }
        for step in former {
            let others = needed.filter { $0.watch == step.watch }
            if others.isEmpty {
                inotify_rm_watch(inotify, step.watch)
            } else if !step.name.isEmpty, others.allSatisfy({ $0.name.isEmpty }) {
                inotify_add_watch(inotify, step.path, Self.ownEvents)
            }
        }
    }

    /// Each directory is watched before its entry is looked up, and all of them before the file is read, so every later
    /// change is an event.
    ///
    /// Watching the entries of a large directory takes the kernel milliseconds and wakes the thread for each new file.
    /// For most directories it suffices to know when they are moved or removed; the file, its directory and the one
    /// above are replaced more often.
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
                        watch: watch, path: directory + "/",
                        name: isNamed ? Array(String(name).utf8CString) : []))
            } else if isNamed || error != EACCES, isUsable {
                look(at: followed, because: error)
            }
            if isMissing { break }
            guard let target else {
                directory = entry
                if names.isEmpty, let step = stepOfFile(entry, followed) { steps.append(step) }
                continue
            }
            links += 1
            // The kernel's limit.
            guard links <= 40 else { break }
            if target.hasPrefix("/") { directory = "" }
            names += target.split(separator: "/").reversed()
        }
        return steps
    }

    /// Watches the file itself.
    ///
    /// - Returns: `nil` if that is not possible.
    private func stepOfFile(_ path: String, _ followed: Followed) -> Step? {
        guard stat(path: path)?.isRegularFile ?? false else { return nil }
        // Without permission to read it there is nothing to follow.
        let watch = inotify_add_watch(inotify, path, Self.fileEvents)
        if watch >= 0 { return Step(watch: watch, path: path, name: []) }
        if errno == ENOSPC || errno == ENOMEM { look(at: followed, because: errno) }
        return nil
    }
}
