// SPDX-License-Identifier: BSD-3-Clause
internal import CTweakSystem
internal import Glibc

// A file on which another one is mounted, as containers do with single files, cannot be replaced: rename(2) fails with
// EBUSY. Its content is overwritten instead.

/// Returns whether something is mounted at a path.
///
/// - Parameter path: An absolute path without links.
package func isMountPoint(_ path: String) -> Bool {
    // Reading the table costs the start of a program more than the rest of the file.
    let answer = withPath(path) { fbtweak__is_mount_root($0) }
    guard answer < 0 else { return answer > 0 }
    guard let table = readWhole("/proc/self/mountinfo") else { return false }
    // The kernel escapes these in proc_pid_mountinfo(5).
    let escaped = withPath(path) { path in
        UnsafeBufferPointer(start: path, count: strlen(path)).flatMap { character -> [UInt8] in
            switch UInt8(truncatingIfNeeded: character) {
            case UInt8(ascii: " "): Array("\\040".utf8)
            case UInt8(ascii: "\t"): Array("\\011".utf8)
            case UInt8(ascii: "\n"): Array("\\012".utf8)
            case UInt8(ascii: "\\"): Array("\\134".utf8)
            case let byte: [byte]
            }
        }
    }
    return table.split(separator: UInt8(ascii: "\n")).contains { line in
        line.split(separator: UInt8(ascii: " "), maxSplits: 5).dropFirst(4).first?.elementsEqual(escaped)
            ?? false
    }
}

/// Overwrites a file. Until this returns, and after a crash, readers may see a part of the new content.
///
/// - Parameter limit: The maximum size of the old content, which is restored if writing fails.
/// - Throws: ``FileError``; then the file has its old content, unless that could not be restored either.
package func overwrite(_ path: String, with bytes: [UInt8], limit: Int) throws(FileError) {
    let descriptor = openFile(path, O_RDWR | O_NOFOLLOW)
    guard descriptor >= 0 else { throw FileError("open", path) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw FileError("read", path) }
    guard status.isRegularFile else {
        throw FileError("overwrite", path, reason: "it is not a regular file")
    }
    guard let old = readToEnd(descriptor, limit: limit) else { throw FileError("read", path) }
    guard old.count <= limit else {
        throw FileError("overwrite", path, reason: "it has more than \(limit) bytes")
    }
    // First what needs new space, so that a full disk changes nothing.
    let common = min(old.count, bytes.count)
    guard writeAll(Array(bytes[common...]), to: descriptor, at: common) else {
        let error = FileError("write", path)
        ftruncate(descriptor, off_t(old.count))
        throw error
    }
    guard writeAll(Array(bytes[..<common]), to: descriptor),
        ftruncate(descriptor, off_t(bytes.count)) == 0,
        allowingForks({ fsync(descriptor) }) == 0
    else {
        let error = FileError("write", path)
        _ = writeAll(old, to: descriptor)
        ftruncate(descriptor, off_t(old.count))
        throw error
    }
}
