internal import Glibc
package import TweakSystem

/// A file that is replaced as a whole and never changed in place, so that a reader sees the state before or after a
/// write. Writers take turns by a lock on a file beside it.
package struct KeptFile: Hashable, Sendable {
    /// Where it is.
    package let path: String
    private let lockPath: String

    /// No person edits more; a larger file is somebody else's and is treated as corrupt. 16 MiB.
    package static let largestSize = 16 << 20

    /// How long a writer waits for its turn. A holder keeps the lock for one read and one write, so this long
    /// means that it is stopped or hangs.
    package static let lockTimeout: Duration = .seconds(10)

    /// Names a file. Several files may have one lock.
    package init(path: String, lockPath: String? = nil) {
        self.path = path
        self.lockPath = lockPath ?? path + ".lock"
    }

    /// The content; `nil` if there is no file.
    package func read() throws(OverridesError) -> [UInt8]? {
        try checkRoot()
        var status = stat()
        // Only a file is opened: to open some devices does something to them.
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

    /// Expects that nobody but root and the user of this process can write the file, or put another one in its place.
    package func checkWriters() throws(OverridesError) {
        var path = path
        for _ in 1...3 {
            var status = stat()
            guard lstat(path, &status) == 0 else { return }
            // A link leads to what somebody else may write.
            if path != self.path, status.st_mode & S_IFMT == S_IFLNK { stat(path, &status) }
            // In a directory that everybody may write, such as /tmp, this bit keeps others from replacing what is there.
            let isSticky = status.isDirectory && status.st_mode & S_ISVTX != 0
            guard status.st_uid == 0 || status.st_uid == geteuid(), isSticky || status.st_mode & 0o022 == 0,
                path != self.path || status.isRegularFile
            else {
                throw .corrupt(
                    path: self.path, reason: "it is not believed, since others can write \(path)")
            }
            path = containingFolder(of: path)
        }
    }

    /// After chroot(2) the path leads to another place, where nothing of this application belongs.
    private func checkRoot() throws(OverridesError) {
        guard hasOtherRoot else { return }
        throw .system(action: "use", path: path, reason: "the process has changed its root directory")
    }

    /// Why this process cannot read the file or put another one in its place; `nil` if it can.
    var obstacle: String? {
        for (file, rights) in [(path, R_OK), (lockPath, R_OK | W_OK)]
        where access(file, rights) != 0 && errno != ENOENT {
            return systemMessage()
        }
        // Where there is nothing yet, directories are made.
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

    /// Makes the directories above the file, for the user alone as the XDG Base Directory Specification asks.
    package func makeDirectories() throws(OverridesError) {
        try checkRoot()
        do throws(FileError) {
            try makeFolders(containingFolder(of: path), permissions: 0o700)
        } catch { throw OverridesError(error) }
    }

    /// Runs `body` while no other process or thread does with this lock.
    package func withLock<Result>(
        patience: Duration = lockTimeout, _ body: () throws(OverridesError) -> Result
    ) throws(OverridesError) -> Result {
        try checkRoot()
        let descriptor = try openLock()
        defer { closeLocked(descriptor) }
        return try withFileLock(descriptor, patience: patience) { error throws(OverridesError) in
            switch error {
            case 0: return try body()
            case EWOULDBLOCK, EINTR:
                throw .system(action: "lock", path: lockPath, reason: "another process has held it for 10 s")
            default:
                throw .system(action: "lock", path: lockPath, reason: systemMessage(error))
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

    /// The file itself: a link to one elsewhere, in a dotfiles repository say, stays one.
    private var target: String { realPath(path) ?? path }

    /// Removes what a writer has left that was killed, or called exec. A writer that is at work keeps its file.
    package func removeRemains() {
        let temporary = FileReplacement.temporary(of: target)
        guard access(temporary, F_OK) == 0 else { return }
        try? withLock(patience: .zero) { () throws(OverridesError) in _ = unlink(temporary) }
    }

    /// Puts a new file, for the user alone, in the place of the old one. Call with the lock held.
    package func replace(with bytes: [UInt8]) throws(OverridesError) {
        do throws(FileError) {
            try FileReplacement.replace(target, with: bytes, permissions: 0o600, isLocked: true)
        } catch { throw OverridesError(error) }
    }
}

extension OverridesError {
    /// The error for a file that could not be written.
    package init(_ error: FileError) {
        self = .system(action: error.action, path: error.path, reason: error.reason)
    }
}
