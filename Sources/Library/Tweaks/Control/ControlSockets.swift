// SPDX-License-Identifier: BSD-3-Clause
internal import CTweakSystem
internal import CTweaks
internal import Glibc
internal import TweakOverrides
internal import TweakProtocol
internal import TweakSystem

/// The sockets of this process, so that their files are removed when it exits.
struct ControlSockets: Sendable {
    private var paths: [String] = []
    private var isExiting = false

    /// A fork waits for its lock.
    static let own = Guarded(ControlSockets())

    /// Creates a listening socket. Its file appears once it listens.
    ///
    /// - Returns: `nil` if the process is about to exit.
    /// - Throws: ``ControlDirectory/Problem``.
    static func listen(
        in directory: ControlDirectory, as user: UInt32
    ) throws(ControlDirectory.Problem) -> Descriptor? {
        try directory.prepare(for: user)
        let opened = Descriptor.make(directory.open)
        defer { opened?.close() }
        return try directory.withLock(of: opened?.number ?? -1) { isAlone throws(ControlDirectory.Problem) in
            if isAlone { directory.removeAbandonedWithLock() }
            return try makeSocket(in: directory, as: user)
        }
    }

    private static func makeSocket(
        in directory: ControlDirectory, as user: UInt32
    ) throws(ControlDirectory.Problem) -> Descriptor? {
        try own.withLock { sockets throws(ControlDirectory.Problem) in
            guard !sockets.isExiting else { return nil }
            let (path, temporary) = (directory.socket(of: getpid()), directory.temporarySocket)
            unlink(temporary)
            guard let listener = Descriptor.make({ fbtweak__listen(temporary, user) }) else {
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

    /// Removes the file of a socket that no longer listens.
    static func remove(in directory: ControlDirectory) {
        let path = directory.socket(of: getpid())
        own.withLock { sockets in
            sockets.paths.removeAll { $0 == path }
            unlink(path)
        }
    }

    /// Removes all socket files of this process, for good.
    static func removeAtExit() {
        TweakStore.lookForExitInside()
        let remove = { (sockets: inout ControlSockets) in
            sockets.isExiting = true
            for path in sockets.paths { unlink(path) }
        }
        if fbtweak__exits_inside() { own.withLockIfFree(remove) } else { own.withLock(remove) }
    }

    /// Leaves the files to the parent after a fork.
    static func forget() { own.withLock { $0.paths = [] } }
}

/// The user that the process runs as, and where that user looks for its socket.
struct ControlPlaces: Sendable {
    /// The user and the environment at the start of the library: the program may change both later, and reading the
    /// environment would race with that.
    static let own = ControlPlaces()

    private let firstUser = geteuid()
    private let session = environment("XDG_RUNTIME_DIR")
    private let service = environment("RUNTIME_DIRECTORY")

    /// The current user; `nil` while the effective user is a temporary one.
    static var user: UInt32? {
        var user: UInt32 = 0
        return fbtweak__user(&user) ? user : nil
    }

    /// The current user if it changed since the start of the library, or `nil`.
    var newUser: UInt32? { Self.user.flatMap { $0 == firstUser ? nil : $0 } }

    /// The directory where a user looks for the socket, or `nil`.
    func directory(of user: UInt32) -> ControlDirectory? {
        let environment = { (name: String) in name == "XDG_RUNTIME_DIR" ? session : service }
        let candidates =
            user == firstUser
            ? ControlDirectory.candidates(user: user, environment: environment)
            : ControlDirectory.candidates(ofChanged: user, environment: environment)
        return candidates.first(where: { $0.canBeThere })
    }
}

extension TweakStore {
    /// Lets the user's programs read and change the tweaks from now on, unless `TWEAKS_CONTROL=0` is in the
    /// environment.
    func serveRequests() {
        let places = ControlPlaces.own
        guard !fbtweak__is_privileged(), !isSwitchedOff("TWEAKS_CONTROL") else { return }
        serveRequests { places.directory(of: $0) }
    }

    /// - Parameter worker: Calls observers, if not the thread that also applies file changes.
    func serveRequests(in directory: ControlDirectory, worker: SerialQueue? = nil) {
        serveRequests(worker: worker) { _ in directory }
    }

    private func serveRequests(
        worker: SerialQueue? = nil, at place: @escaping @Sendable (_ user: UInt32) -> ControlDirectory?
    ) {
        _ = EventLoop.wait { thread, _ in
            Endpoint(of: self, at: place, on: thread, worker: worker ?? thread.worker)
        }
    }

    /// Calls back when the overrides have been written or are about to be, see
    /// ``OverridesWriter/afterAttempt(isOfChange:isFirst:_:)``.
    func afterWriting(
        isOfChange: Bool, isFirst: Bool,
        _ body: @escaping @Sendable (OverridesError?, [OverridesWarning]) -> Void
    ) {
        guard let writer else { return body(nil, []) }
        writer.afterAttempt(isOfChange: isOfChange, isFirst: isFirst, body)
    }
}
