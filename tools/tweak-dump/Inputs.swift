// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import TweakELF
import TweakSystem

/// The name of standard input in messages.
let standardInput = "standard input"

/// Opens standard input. A pipe is first copied into an unnamed file, because ELF files are not read from start to end.
func openStandardInput() throws(ELFError) -> ELFFile {
    var status = stat()
    guard fstat(STDIN_FILENO, &status) == 0 else {
        throw .cannotOpen(path: standardInput, reason: systemMessage())
    }
    if status.isRegularFile { return try ELFFile(descriptor: dup(STDIN_FILENO), path: standardInput) }
    var template = Array((getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp").utf8CString.dropLast())
    template += "/tweak-dump-XXXXXX".utf8CString
    let copy = mkstemp(&template)
    guard copy >= 0 else { throw .cannotOpen(path: standardInput, reason: systemMessage()) }
    unlink(template)
    do throws(ELFError) { try copyStandardInput(to: copy) } catch {
        close(copy)
        throw error
    }
    return try ELFFile(descriptor: copy, path: standardInput)
}

private func copyStandardInput(to copy: CInt) throws(ELFError) {
    /// Larger input is not a program, or would fill the disk.
    let most = 1 << 30
    var count = 0
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let result = read(STDIN_FILENO, &buffer, buffer.count)
        if result < 0, errno == EINTR { continue }
        guard result >= 0 else { throw .cannotOpen(path: standardInput, reason: systemMessage()) }
        guard result > 0 else { return }
        count += result
        // If the first byte is wrong, do not read to an end that may never come.
        guard count > result || buffer[0] == 0x7F || buffer[0] == UInt8(ascii: "!") else {
            throw .notELF(path: standardInput, reason: "it does not begin like one")
        }
        guard count <= most else {
            throw .notELF(
                path: standardInput, reason: "it has more than \(most) bytes; name the file instead")
        }
        var written = 0
        while written < result {
            let size = buffer.withUnsafeBytes {
                write(copy, $0.baseAddress.map { $0 + written }, result - written)
            }
            if size < 0, errno == EINTR { continue }
            guard size > 0 else { throw .cannotOpen(path: standardInput, reason: systemMessage()) }
            written += size
        }
    }
}

/// Finds the files below a folder, sorted by name. Links, devices, pipes and sockets are skipped.
struct DirectoryWalk {
    private struct Identity: Hashable {
        let device: UInt64
        let inode: UInt64
    }

    /// The visited folders, because a folder may be mounted inside itself.
    private var seen: Set<Identity> = []

    /// - Parameters:
    ///   - body: Called with the path of each file.
    ///   - failed: Called for folders that cannot be read.
    mutating func forEachFile(
        below directory: String, _ body: (String) -> Void, failed: (ELFError) -> Void
    ) {
        visit(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOCTTY, body, failed)
    }

    private mutating func visit(
        _ path: String, _ flags: CInt, _ body: (String) -> Void, _ failed: (ELFError) -> Void
    ) {
        var files: [(name: String, isDirectory: Bool)] = []
        let descriptor = withPath(path.isEmpty ? "." : path) { open($0, flags) }
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0, let directory = fdopendir(descriptor) else {
            failed(.cannotOpen(path: path, reason: systemMessage()))
            if descriptor >= 0 { close(descriptor) }
            return
        }
        let identity = Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        if seen.insert(identity).inserted {
            while let entry = readdir(directory) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                    name.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { pathText($0) }
                }
                guard name != ".", name != ".." else { continue }
                switch type(of: entry, in: descriptor) {
                case DT_DIR: files.append((name, true))
                case DT_REG: files.append((name, false))
                default: break
                }
            }
        }
        closedir(directory)
        files.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        for (name, isDirectory) in files {
            let inside = path.isEmpty || path.hasSuffix("/") ? path + name : "\(path)/\(name)"
            if isDirectory { visit(inside, flags | O_NOFOLLOW, body, failed) } else { body(inside) }
        }
    }

    /// Not every file system reports the types of entries.
    private func type(of entry: UnsafeMutablePointer<dirent>, in directory: CInt) -> Int {
        if Int(entry.pointee.d_type) != DT_UNKNOWN { return Int(entry.pointee.d_type) }
        var status = stat()
        let result = withUnsafePointer(to: &entry.pointee.d_name) { name in
            name.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX)) {
                fstatat(directory, $0, &status, AT_SYMLINK_NOFOLLOW)
            }
        }
        guard result == 0 else { return DT_UNKNOWN }
        return status.isRegularFile ? DT_REG : status.isDirectory ? DT_DIR : DT_UNKNOWN
    }
}
