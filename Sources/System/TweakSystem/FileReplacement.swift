// SPDX-License-Identifier: BSD-3-Clause
package import Glibc

/// An error in writing a file or a directory.
package struct FileError: Error {
    package let action: String
    package let path: String
    package let reason: String
    /// The error number of the system call that failed: `EMLINK` if the file has other names, `ESTALE` if it is not the
    /// one that was read.
    package let number: CInt

    package init(_ action: String, _ path: String, reason: String? = nil, number: CInt = errno) {
        (self.action, self.path, self.number) = (action, path, number)
        self.reason = reason ?? systemMessage(number)
    }
}

extension FileError: CustomStringConvertible {
    package var description: String { "cannot \(action) \(path): \(reason)" }
}

/// The symbolic links that may be followed on the way to a folder.
package enum FollowedLinks: Sendable {
    /// All; for root only those that belong to root, because whoever made another one would choose where root writes.
    case usual
    /// None, for a path without links, in which a link was put in the meantime.
    case none
}

/// Replaces a file atomically.
///
/// A reader sees the complete old or the complete new file, also after a crash of the process or of the machine: the
/// content is on disk before the rename, and the new name is when ``commit(isFlushed:)`` returns. A link is replaced, not
/// followed; to follow it, pass the result of `realPath`.
///
/// The folder is opened once, and the files in it are found relative to it, so that nobody who moves it, or puts a link
/// in its place, chooses where the new file goes.
///
/// The new file has the owner, the group, the access list and the other extended attributes of the old one. If that is
/// impossible, nothing is replaced; neither is a file with several names (hard links), of which only one would have the
/// new content.
package struct FileReplacement: Sendable {
    private let folder: OpenFolder
    private let path: String
    private let name, temporary: String
    /// The content that the old file must have; `nil` for any.
    private let expected: [UInt8]?

    /// The name of the temporary file if the writer holds a lock.
    package static func temporary(of path: String) -> String { path + ".tmp" }

    /// Writes the new file beside the one that it will replace.
    ///
    /// - Parameters:
    ///   - path: The file, which need not exist.
    ///   - permissions: The permissions of the new file, unless an access list decides them; `nil` for those of the old
    ///     one, or 0666 less the umask.
    ///   - isLocked: Whether the caller holds a lock that all writers take. Then the temporary file always has the same
    ///     name, so that one left by a killed process is replaced and none pile up.
    ///   - isFlushed: Whether to flush the content to disk. Otherwise the caller must do so before ``commit(isFlushed:)``.
    ///   - links: The links that may be followed on the way to the folder.
    ///   - expected: The content that the old file must have; `nil` for any.
    /// - Throws: ``FileError``; then no file is left behind.
    package init(
        of path: String, with bytes: [UInt8], permissions: mode_t? = nil, isLocked: Bool = false,
        isFlushed: Bool = true, following links: FollowedLinks = .usual, expecting expected: [UInt8]? = nil
    ) throws(FileError) {
        (self.path, self.expected) = (path, expected)
        folder = try OpenFolder(of: path, following: links)
        name = fileName(of: path)
        temporary = isLocked ? Self.temporary(of: name) : "\(name).\(getpid()).tmp"
        let former = try OldFile(name, at: path, in: folder)
        defer { former?.close() }
        try check(former)
        let descriptor = try create(former == nil ? permissions ?? 0o666 : 0o600)
        defer { close(descriptor) }
        do throws(FileError) {
            // Without standard output the file may have its number for a moment, in which another thread may print.
            guard writeAll(bytes, to: descriptor), ftruncate(descriptor, off_t(bytes.count)) == 0 else {
                throw FileError("write", temporaryPath)
            }
            try former?.giveAttributes(to: descriptor)
            // The permissions are part of an access list.
            let exact = former?.hasAccessList == true ? nil : permissions ?? former?.permissions
            guard exact.map({ fchmod(descriptor, $0) == 0 }) ?? true,
                !isFlushed || allowingForks({ fsync(descriptor) }) == 0
            else { throw FileError("write", temporaryPath) }
        } catch {
            discard()
            throw error
        }
    }

    private var temporaryPath: String { resolvedPath(temporary, relativeTo: path) }

    /// Throws if the old file may not be replaced.
    private func check(_ former: OldFile?) throws(FileError) {
        guard let expected else { return }
        guard former?.has(expected) == true else {
            throw FileError("replace", path, reason: "it has changed meanwhile", number: ESTALE)
        }
    }

    /// Throws ``FileError`` with `ESTALE` unless the old file still has the expected content.
    package func checkExpected() throws(FileError) {
        guard expected != nil else { return }
        let former = try OldFile(name, at: path, in: folder)
        defer { former?.close() }
        try check(former)
    }

    /// Creates the temporary file. An existing one is not reused: it may be a link or a special file.
    private func create(_ permissions: mode_t) throws(FileError) -> CInt {
        for _ in 1...10 {
            let descriptor = openFile(
                temporary, in: folder.descriptor, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: permissions)
            if descriptor >= 0 { return descriptor }
            guard errno == EEXIST else { throw FileError("create", temporaryPath) }
            guard remove() == 0 || errno == ENOENT else { throw FileError("remove", temporaryPath) }
        }
        throw FileError("create", temporaryPath, reason: "other processes keep creating it", number: EEXIST)
    }

    /// Renames the new file over the old one.
    ///
    /// - Parameter isFlushed: Whether to flush the new name to disk.
    /// - Throws: ``FileError``; the old file is still there, unless only syncing the directory failed.
    package func commit(isFlushed: Bool = true) throws(FileError) {
        let isRenamed = withPath(temporary) { from in
            withPath(name) { renameat(folder.descriptor, from, folder.descriptor, $0) } == 0
        }
        guard isRenamed else {
            let error = FileError("rename", temporaryPath)
            discard()
            throw error
        }
        // Some file systems cannot sync a directory, and return EINVAL; one that cannot be listed cannot be synced.
        guard
            !isFlushed || allowingForks({ fsync(folder.descriptor) }) == 0 || errno == EINVAL
                || errno == EBADF
        else { throw FileError("sync", containingFolder(of: path)) }
    }

    /// Removes the new file.
    package func discard() { _ = remove() }

    private func remove() -> CInt { withPath(temporary) { unlinkat(folder.descriptor, $0, 0) } }

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
            continue
        }
        let error = errno
        if error != EEXIST, !isAccessible(folder) {
            throw FileError("make directory", folder, number: error)
        }
    }
    return made
}
