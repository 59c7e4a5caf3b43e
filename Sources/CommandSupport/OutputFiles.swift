internal import Glibc

/// Files that a command makes together: all of them are replaced, or none.
///
/// A file that has its content already is left alone, so that what is built from it is not built again.
public struct OutputFiles {
    private var waiting: [(temporary: String, path: String)] = []
    private var madeDirectories: [String] = []

    private init() {}

    /// Writes files.
    ///
    /// - Parameter files: Paths and contents. Folders that are missing are made.
    /// - Returns: Whether each file was written; the others have their content already.
    /// - Throws: ``Failure`` with `EX_CANTCREAT`; no file has changed then.
    public static func write(_ files: [(path: String, bytes: [UInt8])]) throws(Failure) -> [Bool] {
        var output = OutputFiles()
        do throws(Failure) {
            var isWritten: [Bool] = []
            for (path, bytes) in files { isWritten.append(try output.prepare(path, bytes)) }
            try output.replace()
            return isWritten
        } catch {
            output.discard()
            throw error
        }
    }

    /// Writes a temporary file beside the one that it will replace.
    private mutating func prepare(_ path: String, _ bytes: [UInt8]) throws(Failure) -> Bool {
        // A link to a file elsewhere stays one.
        let target = Self.resolved(path)
        var status = stat()
        let exists = stat(target, &status) == 0
        if exists, status.st_mode & S_IFMT != S_IFREG {
            throw Failure("\(path): it is no regular file", EX_CANTCREAT)
        }
        if exists, (try? readInput(target)) == bytes { return false }
        for slash in target.indices.dropFirst() where target[slash] == "/" {
            let directory = String(target[..<slash])
            if mkdir(directory, 0o777) == 0 { madeDirectories.append(directory) }
        }
        let temporary = "\(target).\(getpid()).tmp"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw systemFailure("create", path) }
        waiting.append((temporary, target))
        defer { close(descriptor) }
        if exists { fchmod(descriptor, status.st_mode & 0o777) }
        var written = 0
        while written < bytes.count {
            let result = bytes.withUnsafeBytes { buffer in
                Glibc.write(descriptor, buffer.baseAddress.map { $0 + written }, buffer.count - written)
            }
            if result < 0, errno == EINTR { continue }
            guard result > 0 else { throw systemFailure("write", path) }
            written += result
        }
        return true
    }

    private mutating func replace() throws(Failure) {
        while let (temporary, path) = waiting.first {
            guard rename(temporary, path) == 0 else { throw systemFailure("replace", path) }
            waiting.removeFirst()
        }
        madeDirectories = []
    }

    private func discard() {
        for (temporary, _) in waiting { unlink(temporary) }
        for directory in madeDirectories.reversed() { rmdir(directory) }
    }

    private static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}

/// A failure of the system's last call.
private func systemFailure(_ action: String, _ path: String) -> Failure {
    Failure("cannot \(action) \(path): \(String(cString: strerror(errno)))", EX_CANTCREAT)
}
