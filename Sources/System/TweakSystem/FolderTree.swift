// SPDX-License-Identifier: BSD-3-Clause
package import Glibc

/// A folder and everything below it. Symbolic links are not followed.
package struct FolderTree {
    /// A file, a link or a folder below the folder.
    package struct Entry {
        /// The path, relative to the folder.
        package let path: String
        /// The status of the entry itself, also if it is a link.
        package let status: stat
    }

    /// Deeper folders are refused. Each is open while its content is visited.
    private static let deepest = 16

    private let path: String

    /// - Parameter path: The folder; links on the way to it are followed, but it is none itself.
    package init(path: String) { self.path = path }

    /// All entries, each folder behind its content, sorted by name.
    package func entries() throws(FileError) -> [Entry] {
        var entries: [Entry] = []
        try visit { (entry, _, _) throws(FileError) in entries.append(entry) }
        return entries
    }

    /// Removes the folder and everything in it. The targets of links stay.
    ///
    /// - Throws: ``FileError`` at the first entry that cannot be removed; the rest stays.
    package func remove() throws(FileError) {
        try visit { (entry, folder, name) throws(FileError) in
            let flags = entry.status.isDirectory ? AT_REMOVEDIR : 0
            guard withPath(name, { unlinkat(folder, $0, flags) }) == 0 else {
                throw FileError("remove", "\(path)/\(entry.path)")
            }
        }
        guard withPath(path, { rmdir($0) }) == 0 else { throw FileError("remove", path) }
    }

    /// - Parameter body: Called with an entry, the descriptor of its folder, and its name there.
    private func visit(_ body: (Entry, CInt, String) throws(FileError) -> Void) throws(FileError) {
        try visit(AT_FDCWD, path, nil, body)
    }

    /// - Parameters:
    ///   - name: The name of a folder in the open one.
    ///   - relative: Its path, relative to the folder of this type; `nil` for that.
    private func visit(
        _ parent: CInt, _ name: String, _ relative: String?,
        _ body: (Entry, CInt, String) throws(FileError) -> Void
    ) throws(FileError) {
        let whole = relative.map { "\(path)/\($0)" } ?? path
        guard (relative?.utf8.count { $0 == UInt8(ascii: "/") } ?? 0) < Self.deepest else {
            throw FileError("read", whole, reason: "it is nested too deeply")
        }
        let descriptor = openFile(name, in: parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        guard descriptor >= 0 else { throw FileError("read", whole) }
        defer { close(descriptor) }
        for name in try content(of: descriptor, whole).sorted() {
            var status = stat()
            let entry = relative.map { "\($0)/\(name)" } ?? name
            guard withPath(name, { fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else {
                if errno == ENOENT { continue }
                throw FileError("read", "\(path)/\(entry)")
            }
            if status.isDirectory { try visit(descriptor, name, entry, body) }
            try body(Entry(path: entry, status: status), descriptor, name)
        }
    }

    /// The names in an open folder, without `.` and `..`.
    private func content(of folder: CInt, _ path: String) throws(FileError) -> [String] {
        // The folder is read from its beginning, by a descriptor of its own.
        let descriptor = openFile(".", in: folder, O_RDONLY | O_DIRECTORY)
        guard descriptor >= 0 else { throw FileError("read", path) }
        guard let names = names(inFolder: descriptor) else { throw FileError("read", path) }
        return names.filter { $0 != "." && $0 != ".." }
    }
}
