// SPDX-License-Identifier: BSD-3-Clause
internal import CTweakSystem
package import Glibc

// Files, processes and locks for the library and the commands. As with system calls, the result indicates success, and
// `errno` has the reason for a failure.

/// The system's message for an error.
package func systemMessage(_ number: CInt = errno) -> String { String(cString: strerror(number)) }

// MARK: - Paths

/// A path as text that can be converted back to the same bytes.
///
/// Each byte that is not UTF-8 becomes a private-use scalar: U+10FE80 to U+10FEFF for 0x80 to 0xFF. The UTF-8 encoding
/// of such a scalar is itself treated as four such bytes.
package func pathText(_ bytes: UnsafePointer<CChar>) -> String {
    let text = String(cString: bytes)
    // In UTF-8 such scalars start with the first of these bytes, and the replacement character with the second.
    guard text.utf8.contains(where: { $0 == 0xF4 || $0 == 0xEF }) else { return text }
    var path = ""
    var rest = Array(UnsafeBufferPointer(start: bytes, count: strlen(bytes))).map(
        UInt8.init(truncatingIfNeeded:))[
            ...]
    while let first = rest.first {
        let scalar = (1...4).lazy.compactMap { String(validating: rest.prefix($0), as: UTF8.self) }
            .first { !$0.isEmpty && !$0.unicodeScalars.contains(where: { $0.isPathByte }) }
        path += scalar ?? String(Unicode.Scalar(0x10FE00 + UInt32(first)) ?? "\u{FFFD}")
        rest = rest.dropFirst(scalar?.utf8.count ?? 1)
    }
    return path
}

/// Calls a function with the bytes of a path, see ``pathText(_:)``.
package func withPath<Result>(_ path: String, _ body: (UnsafePointer<CChar>) -> Result) -> Result {
    guard path.utf8.contains(0xF4), path.unicodeScalars.contains(where: { $0.isPathByte }) else {
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
    /// Whether it represents a byte of a path, see ``pathText(_:)``.
    fileprivate var isPathByte: Bool { 0x10FE80...0x10FEFF ~= value }
}

/// A path component as text for people, without scalars that represent bytes.
package func repaired(_ path: String) -> String {
    guard path.utf8.contains(0xF4) else { return path }
    return withPath(path) { String(cString: $0) }
}

/// Returns whether a file exists and permits an access mode.
package func isAccessible(_ path: String, _ mode: CInt = F_OK) -> Bool {
    withPath(path) { access($0, mode) } == 0
}

/// Returns whether a text is meant as the path of a program: it has a slash, or there is such a file. A folder is none.
package func isPath(_ text: String) -> Bool {
    text.utf8.contains(UInt8(ascii: "/")) || stat(path: text).map { !$0.isDirectory } ?? false
}

// MARK: - Files

/// Opens a file for one read or write.
///
/// The descriptor is not one of the three standard ones. Opening does not block on FIFOs, devices or leases, and a
/// terminal does not become the controlling one.
///
/// - Returns: The descriptor, or -1.
package func openFile(_ path: String, _ flags: CInt, mode: UInt32 = 0) -> CInt {
    openFile(path, in: AT_FDCWD, flags, mode: mode)
}

/// Opens a file in an open folder, see ``openFile(_:_:mode:)``.
func openFile(_ name: String, in folder: CInt, _ flags: CInt, mode: UInt32 = 0) -> CInt {
    withPath(name) { fbtweak__open(folder, $0, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode) }
}

/// Opens a file to lock it. A forked child closes it, so that the lock ends with this process.
///
/// - Returns: The descriptor, or -1. Close it with ``closeLocked(_:)``.
package func openToLock(_ path: String, _ flags: CInt, mode: UInt32 = 0) -> CInt {
    holdingForks {
        let descriptor = openFile(path, flags, mode: mode)
        if descriptor >= 0 { fbtweak__close_in_children(descriptor) }
        return descriptor
    }
}

/// Closes a descriptor of ``openToLock(_:_:mode:)``.
package func closeLocked(_ descriptor: CInt) {
    holdingForks {
        close(descriptor)
        fbtweak__keep_in_children(descriptor)
    }
}

/// Whether the process has changed its root directory since the start, so that paths have other meanings.
package var hasOtherRoot: Bool { fbtweak__has_other_root() }

/// Reads a file from its current position to the end, or until a limit is exceeded.
///
/// - Returns: The bytes, more than `limit` if the file is larger; `nil` if they could not be read.
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

/// Reads a file, such as one of the kernel.
///
/// - Returns: The bytes, more than `limit` if the file is larger; `nil` if they could not be read.
package func readWhole(_ path: String, limit: Int = 64 << 20) -> [UInt8]? {
    let descriptor = openFile(path, O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return readToEnd(descriptor, limit: limit)
}

/// Writes to the start of a file, or another position, without raising a signal.
///
/// - Returns: Whether all bytes were written.
package func writeAll(_ bytes: [UInt8], to descriptor: CInt, at position: Int = 0) -> Bool {
    var written = 0
    while written < bytes.count {
        let count = bytes.withUnsafeBytes { buffer in
            fbtweak__write(
                descriptor, buffer.baseAddress.map { $0 + written }, buffer.count - written,
                off_t(position + written))
        }
        if count < 0, errno == EINTR { continue }
        if count == 0 { errno = ENOSPC }
        guard count > 0 else { return false }
        written += count
    }
    return true
}

/// Flushes the file system of an open file or directory.
///
/// - Returns: Whether that succeeded. Linux before 5.8 does not report write errors here.
package func flushFileSystem(of descriptor: CInt) -> Bool {
    allowingForks { fbtweak__flush_file_system(descriptor) }
}

extension stat {
    package var isRegularFile: Bool { st_mode & S_IFMT == S_IFREG }
    package var isDirectory: Bool { st_mode & S_IFMT == S_IFDIR }

    /// The status of a path, following links; `nil` if it is not accessible.
    package init?(path: String) {
        self.init()
        guard withPath(path, { stat($0, &self) }) == 0 else { return nil }
    }
}

/// The names in a directory; empty if it cannot be read.
package func directoryEntries(_ path: String) -> [String] {
    let descriptor = openFile(path, O_RDONLY | O_DIRECTORY)
    return descriptor < 0 ? [] : names(inFolder: descriptor) ?? []
}

/// The names in an open directory, with `.` and `..`.
///
/// - Parameter descriptor: It is closed.
/// - Returns: `nil` if the directory cannot be read.
func names(inFolder descriptor: CInt) -> [String]? {
    guard let directory = fdopendir(descriptor) else {
        close(descriptor)
        return nil
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

/// The path with links resolved, or `nil` if it does not exist.
package func realPath(_ path: String) -> String? {
    guard let resolved = withPath(path, { realpath($0, nil) }) else { return nil }
    defer { free(resolved) }
    return pathText(resolved)
}

/// The target of a symbolic link, or `nil`.
package func readLink(_ path: String) -> String? {
    // The last byte stays 0.
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = withPath(path) { readlink($0, &buffer, Int(PATH_MAX) - 1) }
    return count > 0 ? pathText(buffer) : nil
}

/// The directory of a file, as printed by dirname(1): `.` for a name without a slash, `/` for a file in the root
/// directory.
package func containingFolder(of path: String) -> String {
    // By bytes, because a slash and a following combining mark are another `Character`.
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
}

/// The name of a file in its ``containingFolder(of:)``, as the system has it.
func fileName(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
    return String(path[path.utf8.index(after: slash)...])
}

/// Resolves a path in a file or a link, relative to the directory of that file.
package func resolvedPath(_ path: String, relativeTo file: String) -> String {
    let slash = UInt8(ascii: "/")
    guard path.utf8.first != slash, let end = file.utf8.lastIndex(of: slash) else { return path }
    return file[..<end] + "/" + path
}

/// The name of a program, from the path of its executable.
package func lastComponent(of path: String) -> String {
    // By bytes, as above, and because every process with the library calls this at its start.
    let slash = UInt8(ascii: "/")
    guard let last = path.utf8.lastIndex(where: { $0 != slash }) else { return repaired(path) }
    let start = path.utf8[..<last].lastIndex(of: slash).map { path.utf8.index(after: $0) }
    return repaired(String(Substring(path.utf8[(start ?? path.startIndex)...last])))
}

// MARK: - Programs

/// The reason why a shell cannot execute a program by its name.
package enum ProgramSearchError: Error {
    case notFound
    /// The reason names the last file that was tried.
    case notExecutable(reason: String)
}

/// Finds the file that a shell would execute for a name.
///
/// - Parameters:
///   - name: A path, or a name without a slash to look up in the search path.
///   - searchPath: The value of `PATH`; `nil` for the C library's default.
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

/// The executable of a running process, with links resolved; `nil` if access is denied, or without /proc.
///
/// - Parameter process: A process id, or `self`.
package func executablePath(of process: String = "self") -> String? {
    guard let path = readLink("/proc/\(process)/exe") else { return process == "self" ? executedFile : nil }
    return withoutDeletionMark(path) { literal in
        let file = stat(path: "/proc/\(process)/exe")
        return [literal, "/proc/\(process)/root" + literal].contains {
            guard let file, let named = stat(path: $0) else { return false }
            return named.st_dev == file.st_dev && named.st_ino == file.st_ino
        }
    }
}

/// Returns whether the executable of a running process was removed or replaced since it started.
///
/// - Parameter process: A process id, or `self`.
package func executableIsReplaced(of process: String = "self") -> Bool {
    let link = readLink("/proc/\(process)/exe")
    return link != nil && link != executablePath(of: process)
}

/// A path without the mark that the kernel appends to the path of a file that was removed or replaced.
///
/// - Parameter isName: Returns whether the path with the mark is the name of the file, which then really ends like this.
package func withoutDeletionMark(_ path: String, unless isName: (String) -> Bool) -> String {
    let mark = " (deleted)"
    guard path.hasSuffix(mark), !isName(path) else { return path }
    return String(path.dropLast(mark.count))
}

/// The file that the kernel executed, with links resolved, for processes without /proc; `nil` if it no longer exists.
/// The loader reads this first, before the program changes its working directory.
private let executedFile: String? = {
    guard let name = fbtweak__executed_file(),
        let path = realPath(String(cString: name)), access(path, X_OK) == 0
    else { return nil }
    return path
}()

/// An environment variable; `nil` if it is not set, or empty.
package func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
}

// MARK: - Waiting

/// Runs code during which forks need not wait for this thread: code that waits, or calls the program's code.
///
/// The Swift runtime takes locks of its own when a type is used for the first time. A child forked while another thread
/// has one of them would wait for it for ever. So a fork briefly waits until other threads have left the library; see
/// `forks.c`.
///
/// `errno` is that of the code.
package func allowingForks<Result, Failure>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    let held = fbtweak__allow_forks()
    defer {
        if held {
            let error = errno
            _ = fbtweak__hold_forks()
            errno = error
        }
    }
    return try body()
}

/// Runs short code during which no other thread forks.
private func holdingForks<Result>(_ body: () -> Result) -> Result {
    let began = fbtweak__hold_forks()
    defer { if began { _ = fbtweak__allow_forks() } }
    return body()
}

/// Returns whether locking a file failed because its file system has no locks, such as NFS without its lock service.
package func meansNoLocks(_ error: CInt) -> Bool { [ENOLCK, EOPNOTSUPP, ENOSYS].contains(error) }

/// Runs code while holding the lock of a file. The kernel releases the lock of a process that dies.
///
/// The lock is that of flock(2), or on file systems without it that of fcntl(2), for which the descriptor must be
/// writable.
///
/// - Parameters:
///   - descriptor: The descriptor of the file.
///   - patience: The timeout.
///   - body: Gets 0 if the lock is held, or else the error: `EWOULDBLOCK` after the timeout, and one that
///     ``meansNoLocks(_:)`` if neither lock exists.
package func withFileLock<Result, Failure>(
    _ descriptor: CInt, patience: Duration, _ body: (_ error: CInt) throws(Failure) -> Result
) throws(Failure) -> Result {
    let deadline = ContinuousClock.now + patience
    var isOfDescription = false
    while true {
        let error = tryToLock(descriptor, &isOfDescription)
        if error == 0 { break }
        guard error == EWOULDBLOCK || error == EINTR, ContinuousClock.now < deadline else {
            return try body(error)
        }
        allowingForks { _ = usleep(500) }
    }
    // Closing is not enough, because a child forked meanwhile has the descriptor, too.
    defer {
        if isOfDescription {
            _ = fbtweak__lock_description(descriptor, false)
        } else {
            flock(descriptor, LOCK_UN)
        }
    }
    return try body(0)
}

/// - Parameter isOfDescription: Set if the lock is one of fcntl(2).
/// - Returns: 0, or the error.
private func tryToLock(_ descriptor: CInt, _ isOfDescription: inout Bool) -> CInt {
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return 0 }
    let error = errno
    guard meansNoLocks(error) else { return error }
    isOfDescription = fbtweak__lock_description(descriptor, true)
    if isOfDescription { return 0 }
    return errno == EAGAIN || errno == EACCES ? EWOULDBLOCK : error
}

/// The time of a clock in nanoseconds: since 1970 for `CLOCK_REALTIME`, since the start of the machine for
/// `CLOCK_MONOTONIC`.
package func nanoseconds(of clock: CInt) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
}

extension Duration {
    /// The time since 1970, by the system clock.
    package static var since1970: Duration {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
