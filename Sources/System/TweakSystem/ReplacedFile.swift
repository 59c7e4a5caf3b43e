// SPDX-License-Identifier: BSD-3-Clause
internal import CTweakSystem
internal import Glibc

/// The file that links lead to, which need not exist; the path itself if they lead nowhere. Root makes no file where a
/// link of another user leads.
package func followedPath(_ path: String) -> String {
    if let path = realPath(path) { return path }
    guard geteuid() != 0 else { return (try? linkTarget(of: path)) ?? path }
    var target = path
    // As many as the kernel follows.
    for _ in 0...40 {
        guard let link = readLink(target) else { return target }
        target = resolvedPath(link, relativeTo: target)
    }
    return path
}

/// The file to replace for a path that may be a link, so that the link remains: its target, which need not exist.
///
/// - Throws: ``FileError`` for root if it is a link of another user.
package func linkTarget(of path: String) throws(FileError) -> String {
    guard geteuid() == 0 else { return readLink(path) == nil ? path : followedPath(path) }
    var target = path
    // As many as the kernel follows.
    for _ in 0...40 {
        let link: String?
        do throws(FileError) {
            link = try OpenFolder(of: target, following: .usual).linkOfRoot(at: target)
        } catch {
            // The folder will be made.
            guard error.number == ENOENT else { throw error }
            return target
        }
        guard let link else { return target }
        target = resolvedPath(link, relativeTo: target)
    }
    throw FileError("open", path, number: ELOOP)
}

/// The path of a file or a folder without symbolic links, as of `realPath`; `nil` also for root if a link of another user
/// leads there, because that user would choose what root reads and writes.
package func trustedPath(_ path: String) -> String? {
    guard geteuid() == 0 else { return realPath(path) }
    let folder = withPath(path) { fbtweak__open_folder($0, FBTWEAK__LINKS_OF_ROOT) }
    if folder >= 0 {
        defer { close(folder) }
        return readLink("/proc/self/fd/\(folder)")
    }
    guard errno == ENOTDIR, let target = try? linkTarget(of: path),
        let opened = try? OpenFolder(of: target, following: .usual),
        let real = readLink("/proc/self/fd/\(opened.descriptor)")
    else { return nil }
    return (real == "/" ? "" : real) + "/" + fileName(of: target)
}

/// The folder of a file, opened once.
final class OpenFolder: Sendable {
    let descriptor: CInt

    init(of path: String, following links: FollowedLinks) throws(FileError) {
        let folder = containingFolder(of: path)
        let followed =
            switch links {
            case .none: FBTWEAK__NO_LINKS
            case .usual: geteuid() == 0 ? FBTWEAK__LINKS_OF_ROOT : FBTWEAK__ALL_LINKS
            }
        descriptor = withPath(folder) { fbtweak__open_folder($0, followed) }
        guard descriptor < 0 else { return }
        guard errno == ELOOP else { throw FileError("open", folder) }
        switch links {
        case .none:
            throw FileError(
                "open", folder, reason: "a symbolic link has come into its path", number: ELOOP)
        case .usual: throw geteuid() == 0 ? Self.linkOfOthers(folder) : FileError("open", folder)
        }
    }

    /// The target of a link in the folder; `nil` if there is none.
    func linkOfRoot(at path: String) throws(FileError) -> String? {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let size = withPath(fileName(of: path)) { fbtweak__link_of_root(descriptor, $0, &target) }
        guard size >= 0 else { throw errno == ELOOP ? Self.linkOfOthers(path) : FileError("open", path) }
        return size == 0 ? nil : pathText(target)
    }

    private static func linkOfOthers(_ path: String) -> FileError {
        FileError(
            "open", path, reason: "root does not follow a symbolic link that belongs to another user",
            number: ELOOP)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}

/// The file that is replaced. Close it.
struct OldFile {
    private let descriptor: CInt
    private let status: stat
    private let path: String

    /// - Returns: `nil` if there is none, or a link, which is replaced.
    /// - Throws: ``FileError`` if it cannot be replaced by another one that differs in its content alone.
    init?(_ name: String, at path: String, in folder: OpenFolder) throws(FileError) {
        self.path = path
        var status = stat()
        guard withPath(name, { fstatat(folder.descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else {
            guard errno == ENOENT else { throw FileError("read", path) }
            return nil
        }
        if status.st_mode & S_IFMT == S_IFLNK {
            // Such as /dev/stdout.
            let isThere = withPath(name) { fstatat(folder.descriptor, $0, &status, 0) } == 0
            guard !isThere || status.isRegularFile else { throw Self.isNotRegular(path) }
            return nil
        }
        // Devices and pipes are not even opened.
        guard status.isRegularFile else { throw Self.isNotRegular(path) }
        descriptor = openFile(name, in: folder.descriptor, O_RDONLY | O_NOFOLLOW)
        guard descriptor >= 0 else { throw FileError("read", path) }
        let isOpened = fstat(descriptor, &status) == 0
        self.status = status
        guard isOpened, status.isRegularFile else {
            Glibc.close(descriptor)
            throw Self.isNotRegular(path)
        }
        guard status.st_nlink <= 1 else {
            Glibc.close(descriptor)
            throw FileError(
                "replace", path,
                reason:
                    "it has \(status.st_nlink) hard links, and only one of them would get the new content",
                number: EMLINK)
        }
    }

    private static func isNotRegular(_ path: String) -> FileError {
        FileError("replace", path, reason: "it is not a regular file", number: EINVAL)
    }

    func close() { Glibc.close(descriptor) }

    var permissions: mode_t { status.st_mode & 0o777 }
    var hasAccessList: Bool { fbtweak__has_access_list(descriptor) }

    func has(_ content: [UInt8]) -> Bool {
        status.st_size == content.count && readToEnd(descriptor, limit: content.count) == content
    }

    /// Gives the new file the owner, the group and the extended attributes.
    func giveAttributes(to new: CInt) throws(FileError) {
        var own = stat()
        guard fstat(new, &own) == 0 else { throw FileError("read", path) }
        if own.st_uid != status.st_uid || own.st_gid != status.st_gid {
            // Only root can give a file to others; a group is one of the process's own.
            let owner = own.st_uid == status.st_uid ? uid_t.max : status.st_uid
            guard fchown(new, owner, status.st_gid) == 0 else {
                throw FileError(
                    "replace", path, reason: "its owner or group cannot be kept: \(systemMessage())")
            }
        }
        var failed = [CChar](repeating: 0, count: 256)
        guard fbtweak__copy_attributes(descriptor, new, &failed) else {
            let name = pathText(failed)
            throw FileError(
                "replace", path,
                reason:
                    "its extended \(name.isEmpty ? "attributes" : "attribute \(name)") cannot be kept: \(systemMessage())"
            )
        }
    }
}
