internal import Glibc
internal import TweakSystem

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
    private static let lockTimeout: Duration = .seconds(10)

    /// Names a file. Several files may have one lock.
    package init(path: String, lockPath: String? = nil) {
        self.path = path
        self.lockPath = lockPath ?? path + ".lock"
    }

    /// The content; `nil` if there is no file.
    package func read() throws(OverridesError) -> [UInt8]? {
        var status = stat()
        // What is no file is not even opened: that alone does something to some devices.
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

    private var notRegular: OverridesError { .corrupt(path: path, reason: "it is no regular file") }

    package func failure(_ action: String, _ path: String? = nil) -> OverridesError {
        .system(action: action, path: path ?? self.path, reason: systemMessage())
    }

    /// Makes the directories above the file, for the user alone as the XDG Base Directory Specification asks.
    package func makeDirectories() throws(OverridesError) {
        var end = path.startIndex
        while let slash = path[end...].dropFirst().firstIndex(of: "/") {
            end = slash
            let directory = String(path[..<slash])
            guard mkdir(directory, 0o700) == 0 || errno == EEXIST || access(directory, F_OK) == 0 else {
                throw failure("make directory", directory)
            }
        }
    }

    /// Runs `body` while no other process or thread does with this lock.
    package func withLock<Result>(_ body: () throws(OverridesError) -> Result) throws(OverridesError)
        -> Result
    {
        let descriptor = try openLock()
        defer { close(descriptor) }
        return try withFileLock(descriptor, patience: Self.lockTimeout) { error throws(OverridesError) in
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
            action: "lock", path: lockPath, reason: "it is no regular file")
        var status = stat()
        guard lstat(lockPath, &status) != 0 || status.isRegularFile else { throw notRegular }
        let descriptor = openFile(lockPath, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
        guard descriptor >= 0 else { throw failure("open", lockPath) }
        guard fstat(descriptor, &status) == 0, status.isRegularFile else {
            close(descriptor)
            throw notRegular
        }
        return descriptor
    }

    /// Puts a new file in the place of the old one. Call with the lock held: the temporary name is always the same,
    /// so that one left by a process that was killed is replaced and none pile up.
    package func replace(with bytes: [UInt8]) throws(OverridesError) {
        // A link to a file elsewhere, in a dotfiles repository say, stays one.
        let target = realPath(path) ?? path
        let temporary = target + ".tmp"
        do throws(OverridesError) {
            try write(bytes, to: temporary)
            guard rename(temporary, target) == 0 else { throw failure("rename", temporary) }
        } catch {
            unlink(temporary)
            throw error
        }
        try syncDirectory(of: target)
    }

    private func write(_ bytes: [UInt8], to temporary: String) throws(OverridesError) {
        let descriptor = try create(temporary)
        defer { close(descriptor) }
        // In a program without standard output the file has its number for a moment, in which another thread may print.
        guard writeAll(bytes, to: descriptor), ftruncate(descriptor, off_t(bytes.count)) == 0,
            fchmod(descriptor, 0o600) == 0, allowingForks({ fsync(descriptor) }) == 0
        else { throw failure("write", temporary) }
    }

    /// Makes a file. One that is there is not written into: it may have another name, or be something else.
    private func create(_ temporary: String) throws(OverridesError) -> CInt {
        for _ in 1...10 {
            let descriptor = openFile(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
            if descriptor >= 0 { return descriptor }
            guard errno == EEXIST else { throw failure("create", temporary) }
            guard unlink(temporary) == 0 || errno == ENOENT else { throw failure("remove", temporary) }
        }
        throw .system(action: "create", path: temporary, reason: "others make it again and again")
    }

    /// Makes the rename itself durable.
    private func syncDirectory(of file: String) throws(OverridesError) {
        let directory = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
        let descriptor = openFile(directory, O_RDONLY | O_DIRECTORY)
        guard descriptor >= 0 else { throw failure("open", directory) }
        defer { close(descriptor) }
        // Some file systems cannot sync a directory and say so with EINVAL.
        guard allowingForks({ fsync(descriptor) }) == 0 || errno == EINVAL else {
            throw failure("sync", directory)
        }
    }
}
