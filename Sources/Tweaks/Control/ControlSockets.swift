internal import CTweakSystem
internal import CTweaks
internal import Glibc
internal import TweakOverrides
internal import TweakProtocol
internal import TweakSystem

/// The sockets by which this process is reached, so that their files are gone when it is.
struct ControlSockets: Sendable {
    private var paths: [String] = []
    private var isExiting = false

    /// A fork waits for its lock.
    static let own = Guarded(ControlSockets())

    /// Makes a socket that takes connections. Its file appears when it does.
    ///
    /// - Returns: `nil` if the process is about to exit.
    /// - Throws: ``ControlDirectory/Problem``.
    static func listen(in directory: ControlDirectory) throws(ControlDirectory.Problem) -> Descriptor? {
        try directory.prepare()
        let opened = Descriptor.make(directory.open)
        defer { opened?.close() }
        return try directory.withLock(of: opened?.number ?? -1) { isAlone throws(ControlDirectory.Problem) in
            if isAlone { directory.removeAbandonedWithLock() }
            return try makeSocket(in: directory)
        }
    }

    private static func makeSocket(
        in directory: ControlDirectory
    ) throws(ControlDirectory.Problem) -> Descriptor? {
        try own.withLock { sockets throws(ControlDirectory.Problem) in
            guard !sockets.isExiting else { return nil }
            let (path, temporary) = (directory.socket(of: getpid()), directory.temporarySocket)
            unlink(temporary)
            guard let listener = Descriptor.make({ fbtweak__listen(temporary) }) else {
                throw .init(description: "cannot listen at \(temporary): \(systemMessage())")
            }
            guard rename(temporary, path) == 0 else {
                let reason = systemMessage()
                unlink(temporary)
                listener.close()
                throw .init(description: "cannot rename \(temporary): \(reason)")
            }
            sockets.paths.append(path)
            return listener
        }
    }

    /// Removes the file of a socket that takes no connections any more.
    static func remove(in directory: ControlDirectory) {
        let path = directory.socket(of: getpid())
        own.withLock { sockets in
            sockets.paths.removeAll { $0 == path }
            unlink(path)
        }
    }

    /// Removes all files of this process, for ever.
    static func removeAtExit() {
        own.withLock { sockets in
            sockets.isExiting = true
            for path in sockets.paths { unlink(path) }
        }
    }

    /// Leaves the files to the process that this one was forked from.
    static func forget() { own.withLock { $0.paths = [] } }
}

extension TweakStore {
    /// Lets the user's programs see and change the tweaks from now on, unless `TWEAKS_CONTROL=0` is in the environment.
    func serveRequests() {
        guard !fbtweak__is_privileged(), !isSwitchedOff("TWEAKS_CONTROL"),
            let directory = ControlDirectory.ofUser
        else { return }
        serveRequests(in: directory)
    }

    /// - Parameter worker: What calls observers, if it is not the one that also takes over changes of files.
    func serveRequests(in directory: ControlDirectory, worker: SerialQueue? = nil) {
        _ = EventLoop.wait { thread, _ in
            Endpoint(of: self, in: directory, on: thread, worker: worker ?? thread.worker)
        }
    }

    /// Calls back when the overrides have been written, or will be in a moment, with the reason if that has failed.
    func afterWriting(_ body: @escaping @Sendable (OverridesError?) -> Void) {
        guard let writer else { return body(nil) }
        writer.afterAttempt(body)
    }
}
