internal import CTweakSystem
internal import Glibc
internal import TweakSystem

/// A directory with the sockets by which programs of a user are reached. Each socket is `<process>.sock`.
package struct ControlDirectory: Hashable, Sendable {
    package let path: String

    /// Why a directory is not used.
    package struct Problem: Error, CustomStringConvertible {
        package let description: String
        package init(description: String) { self.description = description }
    }

    /// Names a directory.
    package init(path: String) { self.path = path }

    /// Where a process has its socket: in the first of these that is in a directory that there is.
    ///
    /// 1. `$XDG_RUNTIME_DIR/tweaks`, or `/run/user/<user>/tweaks` if that variable names no absolute path;
    /// 2. `$RUNTIME_DIRECTORY/tweaks`, in what systemd makes for a service, see systemd.exec(5);
    /// 3. `/tmp/tweaks-<user>`.
    ///
    /// Who lets `XDG_RUNTIME_DIR` lead elsewhere than into `/run/user` means that place alone, unless it is another
    /// user's: `su` and daemons keep the variable when they become another user, and the XDG Base Directory Specification
    /// says that the directory belongs to the user.
    ///
    /// - Parameters:
    ///   - environment: A variable of the process.
    ///   - root: The root directory of the process.
    package static func candidates(
        user: UInt32, root: String = "", environment: (String) -> String?
    ) -> [ControlDirectory] {
        func absolute(_ path: String?) -> String? { path.flatMap { $0.hasPrefix("/") ? $0 : nil } }
        var session = absolute(environment("XDG_RUNTIME_DIR")) ?? "/run/user/\(user)"
        if !session.hasPrefix("/run/user/") {
            // One that cannot be reached is none of the user's either.
            let isOthers = stat(path: root + session).map { $0.st_uid != user } ?? (errno == EACCES)
            guard isOthers else { return [ControlDirectory(path: session + "/tweaks")] }
            session = "/run/user/\(user)"
        }
        let ofSession = ControlDirectory(path: session + "/tweaks")
        // A service may have several, with colons between them.
        let service = absolute(environment("RUNTIME_DIRECTORY")?.split(separator: ":").first.map(String.init))
        let ofService = service.map { ControlDirectory(path: $0 + "/tweaks") }
        return [ofSession, ofService, ControlDirectory(path: "/tmp/tweaks-\(user)")].compactMap(\.self)
    }

    /// Where a process has it that has become another user since it began: where that user looks, who cannot see its
    /// environment. So this is without what the variables say of the user that it was, and of its service.
    package static func candidates(
        ofChanged user: UInt32, root: String = "", environment: (String) -> String?
    ) -> [ControlDirectory] {
        candidates(user: user, root: root) { name in
            name == "XDG_RUNTIME_DIR"
                ? environment(name).flatMap { $0.hasPrefix("/run/user/") ? nil : $0 } : nil
        }
    }

    /// Those of this process.
    package static var ownCandidates: [ControlDirectory] {
        candidates(user: geteuid(), environment: TweakSystem.environment)
    }

    /// The directory of the user that the process runs as.
    package static var ofUser: ControlDirectory? { ownCandidates.first(where: \.canBeThere) }

    /// Whether there is the directory that it is in.
    package var canBeThere: Bool { access(base, F_OK) == 0 }

    /// Whether nobody else can put anything there.
    package var isOfThisUser: Bool { (try? check(path, geteuid(), forbidden: 0o022)) != nil }

    /// The directory that it is in.
    private var base: String { containingFolder(of: path) }

    /// The socket of a process.
    package func socket(of process: Int32) -> String { "\(path)/\(process).sock" }

    /// The processes that have a socket here, in order, whether they are there or not.
    package var processes: [Int32] {
        directoryEntries(path).compactMap { process($0, suffix: ".sock") }.sorted()
    }

    /// How long to wait for a process that makes or removes sockets at this moment. It takes less than a millisecond
    /// unless it is stopped.
    private static let patience: Duration = .milliseconds(100)

    /// Removes the sockets of processes that have ended without doing so, or have become other programs.
    package func removeAbandoned() {
        let directory = open()
        defer { if directory >= 0 { close(directory) } }
        withLock(of: directory) { if $0 { removeAbandonedWithLock() } }
    }

    /// Opens the directory, to lock it.
    package func open() -> CInt { openFile(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) }

    /// Runs `body` while no other process does the same. Otherwise one could find that a socket is abandoned, and remove
    /// the new one that another has put in its place meanwhile.
    ///
    /// - Parameters:
    ///   - directory: What ``open()`` has returned.
    ///   - body: Gets whether it is so. If not, it must not remove anything.
    package func withLock<Result, Failure>(
        of directory: CInt, _ body: (Bool) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard directory >= 0 else { return try body(false) }
        return try withFileLock(directory, patience: Self.patience) { error throws(Failure) in
            try body(error == 0)
        }
    }

    package func removeAbandonedWithLock() {
        for name in directoryEntries(path) {
            let file = "\(path)/\(name)"
            if process(name, suffix: ".sock") != nil {
                if fbtweak__is_abandoned(file) { unlink(file) }
            } else if let owner = process(name, suffix: Self.temporarySuffix), kill(owner, 0) != 0,
                errno == ESRCH
            {
                unlink(file)
            }
        }
    }

    private static let temporarySuffix = ".sock.new"

    /// Where the socket of this process is until it takes connections.
    package var temporarySocket: String { "\(path)/\(getpid())\(Self.temporarySuffix)" }

    /// Makes the directory if it is not there, and sees that nobody else can put anything in its place.
    ///
    /// - Parameter user: Who the process is. It may be another one for a moment.
    package func prepare(for user: UInt32 = geteuid()) throws(Problem) {
        guard !hasOtherRoot else {
            throw Problem(description: "cannot use \(path): the process has changed its root directory")
        }
        try checkBase(user)
        let isMade = mkdir(path, 0o700) == 0
        guard isMade || errno == EEXIST else {
            throw Problem(description: "cannot make \(path): \(systemMessage())")
        }
        do throws(Problem) { try check(path, user, forbidden: 0o077) } catch {
            if isMade { rmdir(path) }
            throw error
        }
    }

    /// In a directory like /tmp everybody may make something, and nobody but its owner may rename or remove it.
    private func checkBase(_ user: UInt32) throws(Problem) {
        // systemd makes links to those of services whose user lasts as long as they do.
        let base = realPath(base) ?? base
        let status = try status(of: base)
        guard status.st_uid != 0 || status.st_mode & mode_t(S_ISVTX) == 0 else { return }
        try check(base, user, forbidden: 0o022)
    }

    private func status(of directory: String) throws(Problem) -> stat {
        var status = stat()
        guard lstat(directory, &status) == 0 else {
            throw Problem(description: "cannot use \(directory): \(systemMessage())")
        }
        guard status.isDirectory else { throw Problem(description: "\(directory) is not a directory") }
        return status
    }

    private func check(_ directory: String, _ user: UInt32, forbidden: mode_t) throws(Problem) {
        let status = try status(of: directory)
        guard status.st_uid == user else {
            throw Problem(description: "\(directory) belongs to the user \(status.st_uid), not \(user)")
        }
        guard status.st_mode & forbidden == 0 else {
            throw Problem(
                description: "\(directory) is open to other users: its mode is 0"
                    + String(status.st_mode & 0o7777, radix: 8))
        }
    }

    private func process(_ name: String, suffix: String) -> Int32? {
        guard name.hasSuffix(suffix), let process = Int32(name.dropLast(suffix.count)), process > 0 else {
            return nil
        }
        return process
    }
}
