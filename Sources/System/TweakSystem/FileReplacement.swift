// SPDX-License-Identifier: BSD-3-Clause
package import Glibc

/// An error in writing a file or a directory.
package struct FileError: Error {
    package let action: String
    package let path: String
    package let reason: String

    package init(_ action: String, _ path: String, reason: String = systemMessage()) {
        (self.action, self.path, self.reason) = (action, path, reason)
    }
}

extension FileError: CustomStringConvertible {
    package var description: String { "cannot \(action) \(path): \(reason)" }
}

/// Replaces a file atomically.
///
/// A reader sees the complete old or the complete new file, also after a crash of the process or of the machine: the
/// content is on disk before the rename, and the new name is when ``commit(isFlushed:)`` returns. A link is replaced, not
/// followed; to follow it, pass the result of `realPath`.
package struct FileReplacement: Sendable {
    private let path: String
    private let temporary: String

    /// The name of the temporary file if the writer holds a lock.
    package static func temporary(of path: String) -> String { path + ".tmp" }

    /// Writes the new file beside the one that it will replace.
    ///
    /// - Parameters:
    ///   - path: The file, which need not exist.
    ///   - permissions: The permissions of the new file; `nil` for those of the old one, or 0666 less the umask.
    ///   - isLocked: Whether the caller holds a lock that all writers take. Then the temporary file always has the same
    ///     name, so that one left by a killed process is replaced and none pile up.
    ///   - isFlushed: Whether to flush the content to disk. Otherwise the caller must do so before ``commit(isFlushed:)``.
    /// - Throws: ``FileError``; then no file is left behind.
    package init(
        of path: String, with bytes: [UInt8], permissions: mode_t? = nil, isLocked: Bool = false,
        isFlushed: Bool = true
    ) throws(FileError) {
        self.path = path
        temporary = isLocked ? Self.temporary(of: path) : "\(path).\(getpid()).tmp"
        let former = stat(path: path)
        // Devices and pipes are never replaced.
        guard former?.isRegularFile ?? true else {
            throw FileError("replace", path, reason: "it is not a regular file")
        }
        let descriptor = try create(permissions ?? 0o666)
        defer { close(descriptor) }
        let exact = permissions ?? former.map { $0.st_mode & 0o777 }
        // Without standard output the file may have its number for a moment, in which another thread may print.
        guard writeAll(bytes, to: descriptor), ftruncate(descriptor, off_t(bytes.count)) == 0,
            exact.map({ fchmod(descriptor, $0) == 0 }) ?? true,
            !isFlushed || allowingForks({ fsync(descriptor) }) == 0
        else {
            let error = FileError("write", temporary)
            discard()
            throw error
        }
    }

    /// Creates the temporary file. An existing one is not reused: it may be a link or a special file.
    private func create(_ permissions: mode_t) throws(FileError) -> CInt {
        for _ in 1...10 {
            let descriptor = openFile(
                temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: permissions)
            if descriptor >= 0 { return descriptor }
            guard errno == EEXIST else { throw FileError("create", temporary) }
            guard withPath(temporary, { unlink($0) }) == 0 || errno == ENOENT else {
                throw FileError("remove", temporary)
            }
        }
        throw FileError("create", temporary, reason: "others make it again and again")
    }

    /// Renames the new file over the old one.
    ///
    /// - Parameter isFlushed: Whether to flush the new name to disk.
    /// - Throws: ``FileError``; the old file is still there, unless only syncing the directory failed.
    package func commit(isFlushed: Bool = true) throws(FileError) {
        guard withPath(temporary, { from in withPath(path) { rename(from, $0) } }) == 0 else {
            let error = FileError("rename", temporary)
            discard()
            throw error
        }
        guard isFlushed else { return }
        let folder = containingFolder(of: path)
        let descriptor = openFile(folder, O_RDONLY | O_DIRECTORY)
        guard descriptor >= 0 else { throw FileError("open", folder) }
        defer { close(descriptor) }
        // Some file systems cannot sync a directory, and return EINVAL.
        guard allowingForks({ fsync(descriptor) }) == 0 || errno == EINVAL else {
            throw FileError("sync", folder)
        }
    }

    /// Removes the new file.
    package func discard() { _ = withPath(temporary) { unlink($0) } }

    /// Replaces a file in one step.
    package static func replace(
        _ path: String, with bytes: [UInt8], permissions: mode_t? = nil, isLocked: Bool = false
    ) throws(FileError) {
        try FileReplacement(of: path, with: bytes, permissions: permissions, isLocked: isLocked).commit()
    }
}

/// Creates the missing directories of a path.
///
/// - Returns: The new directories, outermost first.
@discardableResult
package func makeFolders(_ path: String, permissions: mode_t) throws(FileError) -> [String] {
    if withPath(path, { mkdir($0, permissions) }) == 0 { return [path] }
    // Usually it exists.
    if errno == EEXIST { return [] }
    var made: [String] = []
    var ends = path.utf8.indices.filter { path.utf8[$0] == UInt8(ascii: "/") && $0 != path.startIndex }
    ends.append(path.endIndex)
    for end in ends {
        let folder = String(path[..<end])
        if withPath(folder, { mkdir($0, permissions) }) == 0 {
            made.append(folder)
        } else if errno != EEXIST, !isAccessible(folder) {
            throw FileError("make directory", folder)
        }
    }
    return made
}
