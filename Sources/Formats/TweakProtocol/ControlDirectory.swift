// SPDX-License-Identifier: BSD-3-Clause
internal import CTweakSystem
internal import Glibc
internal import TweakSystem

/// A directory with the control sockets of a user's programs, each named `<process>.sock`.
package struct ControlDirectory: Hashable, Sendable {
    package let path: String

    /// The reason why a directory cannot be used.
    package struct Problem: Error, CustomStringConvertible {
        package let description: String
        package init(description: String) { self.description = description }
    }

    /// Refers to a directory, which need not exist.
    package init(path: String) { self.path = path }

    /// The possible places of a process's socket; the first whose parent directory exists is used.
    ///
    /// 1. `$XDG_RUNTIME_DIR/tweaks`, or `/run/user/<user>/tweaks` if that variable is not an absolute path;
    /// 2. `$RUNTIME_DIRECTORY/tweaks`, in the directory that systemd creates for a service, see systemd.exec(5);
    /// 3. `/tmp/tweaks-<user>`.
    ///
    /// An `XDG_RUNTIME_DIR` outside of `/run/user` is the only place, unless it belongs to another user: `su` and
    /// daemons keep the variable when they change the user, and the XDG Base Directory Specification requires that the
    /// directory belong to the user.
    ///
    /// - Parameters:
    ///   - environment: Returns a variable of the process.
    ///   - root: The root directory of the process.
    package static func candidates(
        user: UInt32, root: String = "", environment: (String) -> String?
    ) -> [ControlDirectory] {
        func absolute(_ path: String?) -> String? { path.flatMap { $0.hasPrefix("/") ? $0 : nil } }
        var session = absolute(environment("XDG_RUNTIME_DIR")) ?? "/run/user/\(user)"
        if !session.hasPrefix("/run/user/") {
            // An unreachable directory does not belong to the user either.
            let isOthers = stat(path: root + session).map { $0.st_uid != user } ?? (errno == EACCES)
            guard isOthers else { return [ControlDirectory(path: session + "/tweaks")] }
            session = "/run/user/\(user)"
        }
        let ofSession = ControlDirectory(path: session + "/tweaks")
        // A service may have several, separated by colons.
        let service = absolute(environment("RUNTIME_DIRECTORY")?.split(separator: ":").first.map(String.init))
        let ofService = service.map { ControlDirectory(path: $0 + "/tweaks") }
        return [ofSession, ofService, ControlDirectory(path: "/tmp/tweaks-\(user)")].compactMap { $0 }
    }

    /// The possible places for a process that changed its user: where that user looks, who cannot see the process's
    /// environment. So variables that concern the former user and the service are ignored.
    package static func candidates(
        ofChanged user: UInt32, root: String = "", environment: (String) -> String?
    ) -> [ControlDirectory] {
        candidates(user: user, root: root) { name in
            name == "XDG_RUNTIME_DIR"
                ? environment(name).flatMap { $0.hasPrefix("/run/user/") ? nil : $0 } : nil
        }
    }

    /// The possible places for this process.
    package static var ownCandidates: [ControlDirectory] {
        candidates(user: geteuid(), environment: TweakSystem.environment)
    }

    /// The directory of the current user.
    package static var ofUser: ControlDirectory? { ownCandidates.first { $0.canBeThere } }

    /// Whether the parent directory exists.
    package var canBeThere: Bool { access(base, F_OK) == 0 }

    /// Whether only this user can create files in it.
    package var isOfThisUser: Bool { (try? check(path, geteuid(), forbidden: 0o022)) != nil }

    /// The parent directory.
    private var base: String { containingFolder(of: path) }

    /// The socket of a process.
    package func socket(of process: Int32) -> String { "\(path)/\(process).sock" }

    /// The processes with a socket here, sorted, whether they are running or not.
    package var processes: [Int32] {
        directoryEntries(path).compactMap { process($0, suffix: ".sock") }.sorted()
    }

    /// The timeout for a process that is creating or removing sockets, which takes less than a millisecond unless it is
    /// stopped.
    private static let patience: Duration = .milliseconds(100)

    /// Removes the sockets of processes that have ended without doing so, or now run another program.
    package func removeAbandoned() {
        let directory = open()
        defer { if directory >= 0 { close(directory) } }
        withLock(of: directory) { if $0 { removeAbandonedWithLock() } }
    }

    /// Opens the directory for locking.
    package func open() -> CInt { openFile(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) }

    /// Runs `body` under the lock of the directory. Without it, a process could remove a socket that it considers
    /// abandoned but that another one has just replaced.
    ///
    /// - Parameters:
    ///   - directory: The result of ``open()``.
    ///   - body: Gets whether the lock is held. If not, it must not remove anything.
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

    /// The path of this process's socket until it accepts connections.
    package var temporarySocket: String { "\(path)/\(getpid())\(Self.temporarySuffix)" }

    /// Creates the directory if necessary, and checks that no other user can replace its content.
    ///
    /// - Parameter user: The user of the process, which may be temporarily another one.
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

    /// In a directory such as /tmp everybody can create files, but only their owners can rename or remove them.
    private func checkBase(_ user: UInt32) throws(Problem) {
        // For services with a dynamic user, systemd creates links.
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
