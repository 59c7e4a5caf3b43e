internal import Glibc

extension OverridesFile {
    /// How long a writer waits for its turn. A holder keeps the lock for one read and one write, so this long
    /// means that it is stopped or hangs.
    private static let lockTimeout: Duration = .seconds(10)

    /// Makes the directories above the file, for the user alone as the XDG Base Directory Specification asks.
    func makeDirectories() throws(OverridesError) {
        var end = path.startIndex
        while let slash = path[end...].dropFirst().firstIndex(of: "/") {
            end = slash
            let directory = String(path[..<slash])
            guard mkdir(directory, 0o700) == 0 || errno == EEXIST || access(directory, F_OK) == 0 else {
                throw failure("make directory", directory)
            }
        }
    }

    /// Runs `body` while no other process or thread does for this file. The kernel frees the lock of a process that
    /// dies.
    func withLock<Result>(_ body: () throws(OverridesError) -> Result) throws(OverridesError) -> Result {
        let lockPath = path + ".lock"
        let descriptor = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("open", lockPath) }
        defer { close(descriptor) }
        let deadline = ContinuousClock.now + Self.lockTimeout
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw failure("lock", lockPath) }
            guard ContinuousClock.now < deadline else {
                throw .system(action: "lock", path: lockPath, reason: "another process has held it for 10 s")
            }
            allowingForks { _ = usleep(500) }
        }
        // Closing is not enough: a child that was forked meanwhile has the descriptor too.
        defer { flock(descriptor, LOCK_UN) }
        return try body()
    }

    /// Puts a new file in the place of the old one. Call with the lock held: the temporary name is always the same,
    /// so that one left by a process that was killed is used again and none pile up.
    func replace(with document: OverridesDocument) throws(OverridesError) {
        let bytes: [UInt8]
        do { bytes = try document.json() } catch {
            throw .system(action: "encode", path: path, reason: "\(error)")
        }
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
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("create", temporary) }
        defer { close(descriptor) }
        var written = 0
        while written < bytes.count {
            let result = bytes.withUnsafeBytes { buffer in
                Glibc.write(descriptor, buffer.baseAddress.map { $0 + written }, bytes.count - written)
            }
            if result < 0, errno == EINTR { continue }
            guard result > 0 else { throw failure("write", temporary) }
            written += result
        }
        guard fchmod(descriptor, 0o600) == 0, allowingForks({ fsync(descriptor) }) == 0 else {
            throw failure("write", temporary)
        }
    }

    /// Makes the rename itself durable.
    private func syncDirectory(of file: String) throws(OverridesError) {
        let directory = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", directory) }
        defer { close(descriptor) }
        // Some file systems cannot sync a directory and say so with EINVAL.
        guard allowingForks({ fsync(descriptor) }) == 0 || errno == EINVAL else {
            throw failure("sync", directory)
        }
    }
}

/// The path without links, or `nil` if it leads nowhere.
package func realPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
}
