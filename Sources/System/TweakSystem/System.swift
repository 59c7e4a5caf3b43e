internal import CTweakSystem
package import Glibc

// Files, processes and locks as the library and the commands use them. Whether something worked is in the result, and why
// not in `errno`, as with the system's own functions.

/// What the system says of an error.
package func systemMessage(_ number: CInt = errno) -> String { String(cString: strerror(number)) }

// MARK: - Paths

/// A path as text, which is the same bytes again when it is used.
///
/// A byte that is not UTF-8 is a scalar of its own, for private use: U+10FE80 to U+10FEFF stand for 0x80 to 0xFF. What is
/// UTF-8 for one of these is taken for four such bytes.
package func pathText(_ bytes: UnsafePointer<CChar>) -> String {
    let text = String(cString: bytes)
    // In UTF-8 such a scalar begins with the first of these bytes, and what repairs a text with the second.
    guard text.utf8.contains(where: { $0 == 0xF4 || $0 == 0xEF }) else { return text }
    var path = ""
    var rest = Array(UnsafeBufferPointer(start: bytes, count: strlen(bytes))).map(UInt8.init(bitPattern:))[
        ...]
    while let first = rest.first {
        let scalar = (1...4).lazy.compactMap { String(validating: rest.prefix($0), as: UTF8.self) }
            .first { !$0.isEmpty && !$0.unicodeScalars.contains(where: \.isPathByte) }
        path += scalar ?? String(Unicode.Scalar(0x10FE00 + UInt32(first)) ?? "\u{FFFD}")
        rest = rest.dropFirst(scalar?.utf8.count ?? 1)
    }
    return path
}

/// Calls a function with the bytes of a path, see ``pathText(_:)``.
package func withPath<Result>(_ path: String, _ body: (UnsafePointer<CChar>) -> Result) -> Result {
    guard path.utf8.contains(0xF4), path.unicodeScalars.contains(where: \.isPathByte) else {
        return path.withCString(body)
    }
    let bytes = path.unicodeScalars.flatMap { scalar in
        scalar.isPathByte ? [UInt8(truncatingIfNeeded: scalar.value)] : Array(String(scalar).utf8)
    }
    return (bytes + [0]).withUnsafeBytes { bytes in
        bytes.withMemoryRebound(to: CChar.self) { $0.baseAddress.map(body) } ?? "".withCString(body)
    }
}

extension Unicode.Scalar {
    /// Whether it stands for a byte of a path, see ``pathText(_:)``.
    fileprivate var isPathByte: Bool { 0x10FE80...0x10FEFF ~= value }
}

/// A part of a path as text for people and as a name, in which nothing stands for bytes.
package func repaired(_ path: String) -> String {
    guard path.utf8.contains(0xF4) else { return path }
    return withPath(path) { String(cString: $0) }
}

/// Whether a file is there, and can be used so.
package func isAccessible(_ path: String, _ mode: CInt = F_OK) -> Bool {
    withPath(path) { access($0, mode) } == 0
}

// MARK: - Files

/// Opens a file for as long as it takes to read or write it.
///
/// The number is none of the three standard ones. A FIFO, a device or a lease of another process is not waited for, and a
/// terminal does not become that of the process.
///
/// - Returns: The number, or -1.
package func openFile(_ path: String, _ flags: CInt, mode: UInt32 = 0) -> CInt {
    withPath(path) { fbtweak__open($0, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode) }
}

/// Opens a file to lock it. A child that is forked closes it, so that the lock ends with this process.
///
/// - Returns: The number, or -1. It is closed with ``closeLocked(_:)``.
package func openToLock(_ path: String, _ flags: CInt, mode: UInt32 = 0) -> CInt {
    holdingForks {
        let descriptor = openFile(path, flags, mode: mode)
        if descriptor >= 0 { fbtweak__close_in_children(descriptor) }
        return descriptor
    }
}

/// Closes what ``openToLock(_:_:mode:)`` has opened.
package func closeLocked(_ descriptor: CInt) {
    holdingForks {
        close(descriptor)
        fbtweak__keep_in_children(descriptor)
    }
}

/// Whether the process has another root directory than when it started, so that no path leads where it did.
package var hasOtherRoot: Bool { fbtweak__has_other_root() }

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
        guard withPath(path, { stat($0, &self) }) == 0 else { return nil }
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
                    pathText($0)
                }
            })
    }
    return names
}

/// The path without links, or `nil` if it leads nowhere.
package func realPath(_ path: String) -> String? {
    guard let resolved = withPath(path, { realpath($0, nil) }) else { return nil }
    defer { free(resolved) }
    return pathText(resolved)
}

/// Where a symbolic link leads; `nil` if there is none.
package func readLink(_ path: String) -> String? {
    // The last one stays 0.
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = withPath(path) { readlink($0, &buffer, Int(PATH_MAX) - 1) }
    return count > 0 ? pathText(buffer) : nil
}

/// The folder of a file, as dirname(1) prints it: `.` for a name without a slash, `/` for a file in the root directory.
package func containingFolder(of path: String) -> String {
    // By bytes, because a slash with a combining mark behind it is a different `Character`.
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
}

/// A path as it is meant in a file or a link: relative to the folder of that file.
package func resolvedPath(_ path: String, relativeTo file: String) -> String {
    let slash = UInt8(ascii: "/")
    guard path.utf8.first != slash, let end = file.utf8.lastIndex(of: slash) else { return path }
    return file[..<end] + "/" + path
}

/// What a program is called by the path of its executable.
package func lastComponent(of path: String) -> String {
    repaired(path.split(separator: "/").last.map(String.init) ?? path)
}

// MARK: - Programs

/// Why a shell cannot execute a program by its name.
package enum ProgramSearchError: Error {
    case notFound
    /// The reason names the last file that was tried.
    case notExecutable(reason: String)
}

/// The file that a shell executes by a name.
///
/// - Parameters:
///   - name: A path, or a name without a slash, which is looked for in the folders of the search path.
///   - searchPath: The value of `PATH`; `nil` for the default of the C library.
package func findExecutable(
    named name: String, in searchPath: String? = getenv("PATH").map { String(cString: $0) }
) throws(ProgramSearchError) -> String {
    let folders = (searchPath ?? "/bin:/usr/bin").split(separator: ":", omittingEmptySubsequences: false)
    let candidates =
        name.utf8.contains(UInt8(ascii: "/"))
        ? [name] : folders.map { ($0.isEmpty ? "." : $0) + "/" + name }
    var error = ProgramSearchError.notFound
    for path in candidates where !name.isEmpty {
        guard let status = stat(path: path) else {
            if errno != ENOENT, errno != ENOTDIR {
                error = .notExecutable(reason: "\(path): \(systemMessage())")
            }
            continue
        }
        if !status.isRegularFile {
            let what = status.isDirectory ? "it is a directory" : "it is not a regular file"
            error = .notExecutable(reason: "\(path): \(what)")
        } else if !isAccessible(path, X_OK) {
            error = .notExecutable(reason: "\(path): it cannot be executed: \(systemMessage())")
        } else {
            return path
        }
    }
    throw error
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

/// Runs something short during which no other thread forks.
private func holdingForks<Result>(_ body: () -> Result) -> Result {
    let began = fbtweak__hold_forks()
    defer { if began { _ = fbtweak__allow_forks() } }
    return body()
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
