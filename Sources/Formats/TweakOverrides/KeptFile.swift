// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
package import TweakSystem

/// A file that is replaced atomically and never changed in place, so that a reader sees the state before or after a
/// write. Writers are serialised by a lock on a file beside it.
///
/// A file on which another one is mounted cannot be replaced. It is changed in place, and writers also lock the file
/// itself, because those in other containers have another directory.
package struct KeptFile: Hashable, Sendable {
    /// The file's path.
    package let path: String
    private let lockPath: String

    /// Nobody edits more by hand; a larger file is not ours and is treated as corrupt. 16 MiB.
    package static let largestSize = 16 << 20

    /// The timeout of the lock. A holder keeps it for one read and one write, so after this time it has been stopped or
    /// hangs.
    package static let lockTimeout: Duration = .seconds(10)

    /// Refers to a file, which need not exist. Several files may share a lock.
    package init(path: String, lockPath: String? = nil) {
        self.path = path
        self.lockPath = lockPath ?? path + ".lock"
    }

    /// Reads the file; `nil` if it does not exist.
    package func read() throws(OverridesError) -> [UInt8]? {
        try checkRoot()
        var status = stat()
        // Only regular files are opened, because opening some devices has side effects.
        guard stat(path, &status) == 0 else {
            if errno == ENOENT { return nil }
            throw failure("read")
        }
        guard status.isRegularFile else { throw notRegular }
        let descriptor = openFile(path, O_RDONLY)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("read")
        }
        defer { close(descriptor) }
        guard fstat(descriptor, &status) == 0 else { throw failure("read") }
        guard status.isRegularFile else { throw notRegular }
        guard status.st_size <= Self.largestSize else {
            throw .corrupt(
                path: path, reason: "it has \(status.st_size) bytes, at most \(Self.largestSize) are read")
        }
        guard let bytes = readToEnd(descriptor, limit: Self.largestSize) else { throw failure("read") }
        return bytes
    }

    /// Throws unless only root and the user of this process can write or replace the file.
    package func checkWriters() throws(OverridesError) {
        var path = path
        for _ in 1...3 {
            var status = stat()
            guard lstat(path, &status) == 0 else { return }
            // The target of a link is checked.
            if path != self.path, status.st_mode & S_IFMT == S_IFLNK { stat(path, &status) }
            // In a world-writable directory, such as /tmp, the sticky bit prevents others from replacing files.
            let isSticky = status.isDirectory && status.st_mode & S_ISVTX != 0
            guard status.st_uid == 0 || status.st_uid == geteuid(), isSticky || status.st_mode & 0o022 == 0,
                path != self.path || status.isRegularFile
            else {
                throw .corrupt(
                    path: self.path, reason: "it is ignored, because other users can write \(path)")
            }
            path = containingFolder(of: path)
        }
    }

    /// After chroot(2) the path refers to another place, where the application has no files.
    private func checkRoot() throws(OverridesError) {
        guard hasOtherRoot else { return }
        throw .system(action: "use", path: path, reason: "the process has changed its root directory")
    }

    /// The reason why this process cannot read or replace the file, or `nil`.
    var obstacle: String? {
        if isMountPoint(target) { return access(path, R_OK | W_OK) == 0 ? nil : systemMessage() }
        for (file, rights) in [(path, R_OK), (lockPath, R_OK | W_OK)]
        where access(file, rights) != 0 && errno != ENOENT {
            return systemMessage()
        }
        // Missing directories are created.
        var directory = path
        repeat {
            directory = containingFolder(of: directory)
            if access(directory, W_OK | X_OK) == 0 { return nil }
        } while errno == ENOENT && directory != "."
        return systemMessage()
    }

    private var notRegular: OverridesError { .corrupt(path: path, reason: "it is not a regular file") }

    package func failure(_ action: String, _ path: String? = nil) -> OverridesError {
        .system(action: action, path: path ?? self.path, reason: systemMessage())
    }

    /// Creates the directories of the file, private to the user, as the XDG Base Directory Specification requires.
    package func makeDirectories() throws(OverridesError) {
        try checkRoot()
        do throws(FileError) {
            try makeFolders(containingFolder(of: path), permissions: 0o700)
        } catch { throw OverridesError(error) }
    }

    /// Runs `body` while no other process or thread holds this lock.
    ///
    /// - Parameters:
    ///   - patience: The timeout.
    ///   - unlocked: Called if the file system has no locks; then `body` runs without.
    package func withLock<Result>(
        patience: Duration = lockTimeout, unlocked: (OverridesWarning) -> Void = { _ in },
        _ body: () throws(OverridesError) -> Result
    ) throws(OverridesError) -> Result {
        try checkRoot()
        let target = target
        guard isMountPoint(target) else {
            return try withLock(openLock(), lockPath, patience, unlocked, body)
        }
        let file = openToLock(target, O_RDWR | O_NOFOLLOW)
        guard file >= 0 else { throw failure("open") }
        // In a container the directory may be root's.
        guard let lock = try? openLock() else {
            return try withLock(file, target, patience, unlocked, body)
        }
        return try withLock(lock, lockPath, patience, unlocked) { () throws(OverridesError) in
            try withLock(file, target, patience, unlocked, body)
        }
    }

    /// - Parameter descriptor: It is closed afterwards.
    private func withLock<Result>(
        _ descriptor: CInt, _ path: String, _ patience: Duration, _ unlocked: (OverridesWarning) -> Void,
        _ body: () throws(OverridesError) -> Result
    ) throws(OverridesError) -> Result {
        defer { closeLocked(descriptor) }
        return try withFileLock(descriptor, patience: patience) { error throws(OverridesError) in
            switch error {
            case 0: return try body()
            case EWOULDBLOCK, EINTR:
                throw .system(action: "lock", path: path, reason: "another process has held it for 10 s")
            case _ where meansNoLocks(error):
                unlocked(.unlocked(path: path, reason: systemMessage(error)))
                return try body()
            default:
                throw .system(action: "lock", path: path, reason: systemMessage(error))
            }
        }
    }

    private func openLock() throws(OverridesError) -> CInt {
        let notRegular = OverridesError.system(
            action: "lock", path: lockPath, reason: "it is not a regular file")
        var status = stat()
        guard lstat(lockPath, &status) != 0 || status.isRegularFile else { throw notRegular }
        let descriptor = openToLock(lockPath, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
        guard descriptor >= 0 else { throw failure("open", lockPath) }
        guard fstat(descriptor, &status) == 0, status.isRegularFile else {
            closeLocked(descriptor)
            throw notRegular
        }
        return descriptor
    }

    /// The file after resolving links, so that a link into a dotfiles repository, for example, remains one.
    private var target: String { followedPath(path) }

    /// Removes temporary files of writers that were killed or called exec. Those of running writers stay.
    package func removeRemains() {
        let temporary = FileReplacement.temporary(of: target)
        guard access(temporary, F_OK) == 0 else { return }
        try? withLock(patience: .zero) { () throws(OverridesError) in _ = unlink(temporary) }
    }

    /// Replaces the file by a new one, private to the user. Call it with the lock held.
    package func replace(with bytes: [UInt8]) throws(OverridesError) {
        let target = target
        do throws(FileError) {
            if isMountPoint(target) {
                try overwrite(target, with: bytes, limit: Self.largestSize)
            } else {
                try FileReplacement.replace(target, with: bytes, permissions: 0o600, isLocked: true)
            }
        } catch { throw OverridesError(error) }
    }

    /// Replaces a file that cannot be read, and keeps it under another name beside it; of a link to something else, such
    /// as a device, the link. Call it with the lock held.
    ///
    /// - Returns: The path of the former file.
    /// - Throws: ``OverridesError``; then the former file has its name.
    func replaceBroken(with bytes: [UInt8]) throws(OverridesError) -> String {
        let target = target
        do throws(FileError) {
            guard !isMountPoint(target) else {
                let aside = try nameForBroken(target)
                guard let content = readWhole(target, limit: Self.largestSize) else {
                    throw FileError("read", target)
                }
                // Limits what it reads, too.
                try FileReplacement.replace(aside, with: content, permissions: 0o600)
                do throws(FileError) {
                    try overwrite(target, with: bytes, limit: Self.largestSize)
                } catch {
                    _ = withPath(aside) { unlink($0) }
                    throw error
                }
                return aside
            }
            guard stat(path: target)?.isRegularFile ?? false else {
                let aside = try moveAside(path)
                try FileReplacement.replace(path, with: bytes, permissions: 0o600, isLocked: true)
                return aside
            }
            // Written before the former file is moved, which therefore keeps its name if the disk is full.
            let new = try FileReplacement(of: target, with: bytes, permissions: 0o600, isLocked: true)
            let aside: String
            do throws(FileError) { aside = try moveAside(target) } catch {
                new.discard()
                throw error
            }
            do throws(FileError) { try new.commit() } catch {
                if !isAccessible(target) {
                    _ = withPath(aside) { from in withPath(target) { rename(from, $0) } }
                }
                throw error
            }
            return aside
        } catch { throw OverridesError(error) }
    }

    /// Renames a file that cannot be read; of a link to something else, such as a device, the link. Call it with the lock
    /// held.
    ///
    /// - Returns: The new path.
    func moveAside() throws(OverridesError) -> String {
        let target = target
        let isFile = stat(path: target)?.isRegularFile ?? false
        do throws(FileError) { return try moveAside(isFile ? target : path) } catch {
            throw OverridesError(error)
        }
    }

    private func moveAside(_ target: String) throws(FileError) -> String {
        let aside = try nameForBroken(target)
        guard withPath(target, { from in withPath(aside) { rename(from, $0) } }) == 0 else {
            throw FileError("rename", target)
        }
        return aside
    }

    private func nameForBroken(_ target: String) throws(FileError) -> String {
        for number in 1...1000 {
            let aside = "\(target).broken" + (number == 1 ? "" : "-\(number)")
            var status = stat()
            if withPath(aside, { lstat($0, &status) }) != 0, errno == ENOENT { return aside }
        }
        throw FileError("rename", target, reason: "there are 1000 broken files beside it")
    }
}

extension OverridesError {
    /// The error for a file that could not be written.
    package init(_ error: FileError) {
        self = .system(action: error.action, path: error.path, reason: error.reason)
    }
}
