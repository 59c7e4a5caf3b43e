package import Glibc

/// Why a file or a folder could not be written.
package struct FileError: Error {
    package let action: String
    package let path: String
    package let reason: String

    package init(_ action: String, _ path: String, reason: String = systemMessage()) {
        (self.action, self.path, self.reason) = (action, path, reason)
    }
}

extension FileError: ClassifiedError {
    package var kind: FailureKind { .inputOutput }
}

extension FileError: CustomStringConvertible {
    package var description: String { "cannot \(action) \(path): \(reason)" }
}

/// Puts a new file in the place of another one at once.
///
/// A reader sees the whole file as it was before or the whole new one, and so does whoever looks after a crash of the
/// process or of the machine: the content is on disk before it takes the place, and the new name is when ``commit()``
/// returns. A link is replaced, not followed; to follow it, name what `realPath` returns.
package struct FileReplacement: Sendable {
    private let path: String
    private let temporary: String

    /// The name of the temporary file of a writer that holds a lock.
    package static func temporary(of path: String) -> String { path + ".tmp" }

    /// Writes the new file beside the one that it will replace.
    ///
    /// - Parameters:
    ///   - path: The file, which need not exist.
    ///   - permissions: Of the new file; `nil` for those of the former one, or what the umask leaves of 0666.
    ///   - isLocked: Whether the caller holds a lock that all writers take. Then the name of the temporary file is always the
    ///     same, so that one left by a process that was killed is replaced and none pile up.
    /// - Throws: ``FileError``; nothing is left behind.
    package init(
        of path: String, with bytes: [UInt8], permissions: mode_t? = nil, isLocked: Bool = false
    ) throws(FileError) {
        self.path = path
        temporary = isLocked ? Self.temporary(of: path) : "\(path).\(getpid()).tmp"
        let former = stat(path: path)
        // Nobody wants a device or a pipe to be replaced.
        guard former?.isRegularFile ?? true else {
            throw FileError("replace", path, reason: "it is not a regular file")
        }
        let descriptor = try create(permissions ?? 0o666)
        defer { close(descriptor) }
        let exact = permissions ?? former.map { $0.st_mode & 0o777 }
        // In a program without standard output the file has its number for a moment, in which another thread may print.
        guard writeAll(bytes, to: descriptor), ftruncate(descriptor, off_t(bytes.count)) == 0,
            exact.map({ fchmod(descriptor, $0) == 0 }) ?? true, allowingForks({ fsync(descriptor) }) == 0
        else {
            let error = FileError("write", temporary)
            discard()
            throw error
        }
    }

    /// Makes the temporary file. One that is there is not written into: it may have another name, or be something else.
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

    /// Lets the new file take the place of the former one.
    ///
    /// - Throws: ``FileError``; the former file is still there, unless only the name could not be synced.
    package func commit() throws(FileError) {
        guard withPath(temporary, { from in withPath(path) { rename(from, $0) } }) == 0 else {
            let error = FileError("rename", temporary)
            discard()
            throw error
        }
        let folder = containingFolder(of: path)
        let descriptor = openFile(folder, O_RDONLY | O_DIRECTORY)
        guard descriptor >= 0 else { throw FileError("open", folder) }
        defer { close(descriptor) }
        // Some file systems cannot sync a folder and say so with EINVAL.
        guard allowingForks({ fsync(descriptor) }) == 0 || errno == EINVAL else {
            throw FileError("sync", folder)
        }
    }

    /// Removes the new file instead.
    package func discard() { _ = withPath(temporary) { unlink($0) } }

    /// Replaces a file with what was written beside it.
    package static func replace(
        _ path: String, with bytes: [UInt8], permissions: mode_t? = nil, isLocked: Bool = false
    ) throws(FileError) {
        try FileReplacement(of: path, with: bytes, permissions: permissions, isLocked: isLocked).commit()
    }
}

/// Makes the folders of a path that do not exist yet.
///
/// - Returns: Those that were made, outermost first.
@discardableResult
package func makeFolders(_ path: String, permissions: mode_t) throws(FileError) -> [String] {
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
