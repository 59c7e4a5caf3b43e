internal import CTweakSystem
package import Glibc

// Files, processes and locks as the library and the commands use them. Whether something worked is in the result, and why
// not in `errno`, as with the system's own functions.

/// What the system says of an error.
package func systemMessage(_ number: CInt = errno) -> String { String(cString: strerror(number)) }

// MARK: - Files

/// Opens a file for as long as it takes to read or write it.
///
/// The number is none of the three standard ones. A FIFO, a device or a lease of another process is not waited for, and a
/// terminal does not become that of the process.
///
/// - Returns: The number, or -1.
package func openFile(_ path: String, _ flags: CInt, mode: UInt32 = 0) -> CInt {
    fbtweak__open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode)
}

/// Reads a file from where it is to its end, or until there is more than somebody takes.
///
/// - Returns: The bytes, more than `limit` if the file has more; `nil` if they could not be read.
package func readToEnd(_ descriptor: CInt, limit: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    while bytes.count <= limit {
        let count = withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { part in
            let count = read(descriptor, part.baseAddress, part.count)
            if count > 0 { bytes.append(contentsOf: part.prefix(count)) }
            return count
        }
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { return nil }
        if count == 0 { break }
    }
    return bytes
}

/// Writes to the beginning of a file, of which the process gets no signal.
///
/// - Returns: Whether all bytes were written.
package func writeAll(_ bytes: [UInt8], to descriptor: CInt) -> Bool {
    var written = 0
    while written < bytes.count {
        let count = bytes.withUnsafeBytes { buffer in
            fbtweak__write(
                descriptor, buffer.baseAddress.map { $0 + written }, buffer.count - written, off_t(written))
        }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        written += count
    }
    return true
}

extension stat {
    package var isRegularFile: Bool { st_mode & S_IFMT == S_IFREG }
    package var isDirectory: Bool { st_mode & S_IFMT == S_IFDIR }

    /// What there is at a path, or where a link there leads; `nil` if that cannot be known.
    package init?(path: String) {
        self.init()
        guard stat(path, &self) == 0 else { return nil }
    }
}

/// The names of what is in a directory; none if it cannot be read.
package func directoryEntries(_ path: String) -> [String] {
    let descriptor = openFile(path, O_RDONLY | O_DIRECTORY)
    guard descriptor >= 0 else { return [] }
    guard let directory = fdopendir(descriptor) else {
        close(descriptor)
        return []
    }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
        names.append(
            withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) {
                    String(cString: $0)
                }
            })
    }
    return names
}

/// The path without links, or `nil` if it leads nowhere.
package func realPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
}

/// Where a symbolic link leads; `nil` if there is none.
package func readLink(_ path: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = buffer.withUnsafeMutableBytes { bytes in
        bytes.withMemoryRebound(to: CChar.self) { characters in
            characters.baseAddress.map { readlink(path, $0, characters.count) } ?? -1
        }
    }
    return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
}

/// What a program is called by the path of its executable.
package func lastComponent(of path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
}

// MARK: - Processes

/// The file of a running program, without links; `nil` if it is not ours to know, or /proc is not there.
///
/// - Parameter process: A process id, or `self`.
package func executablePath(of process: String = "self") -> String? {
    guard let path = readLink("/proc/\(process)/exe") else { return process == "self" ? executedFile : nil }
    // What the kernel adds when the file has been removed or replaced.
    let suffix = " (deleted)"
    return path.hasSuffix(suffix) ? String(path.dropLast(suffix.count)) : path
}

/// The file that the kernel was asked to execute, without links, for processes without /proc; `nil` if it is not there
/// any more. The loader asks first, before the program changes its working directory.
private let executedFile: String? = {
    guard let name = fbtweak__executed_file(),
        let path = realPath(String(cString: name)), access(path, X_OK) == 0
    else { return nil }
    return path
}()

/// A variable of the environment; `nil` if it is not set, or empty.
package func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
}

// MARK: - Waiting

/// Runs something during which a fork need not wait for this thread: what waits, or calls the program's code.
///
/// The Swift runtime has locks of its own, which it takes when a type is used for the first time. A child that was
/// forked while another thread has one of them waits for it for ever. So a fork waits until the library does nothing on
/// other threads, which takes a moment; see `forks.c`.
package func allowingForks<Result, Failure>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    let held = fbtweak__allow_forks()
    defer { if held { _ = fbtweak__hold_forks() } }
    return try body()
}

/// Runs something while no other process or thread does with the lock of the same file. The kernel frees the lock of a
/// process that dies.
///
/// - Parameters:
///   - descriptor: Of the open file.
///   - patience: How long to wait for others.
///   - body: Gets 0 if it has the lock, else why not: `EWOULDBLOCK` if others had it all the time.
package func withFileLock<Result, Failure>(
    _ descriptor: CInt, patience: Duration, _ body: (_ error: CInt) throws(Failure) -> Result
) throws(Failure) -> Result {
    let deadline = ContinuousClock.now + patience
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
        let error = errno
        guard error == EWOULDBLOCK || error == EINTR, ContinuousClock.now < deadline else {
            return try body(error)
        }
        allowingForks { _ = usleep(500) }
    }
    // Closing is not enough: a child that was forked meanwhile has the descriptor too.
    defer { flock(descriptor, LOCK_UN) }
    return try body(0)
}

extension Duration {
    /// The time since 1970, by the clock of the system.
    package static var since1970: Duration {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
