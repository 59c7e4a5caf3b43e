// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
internal import TweakSystem

/// The largest file that a command reads: 16 MiB.
private let largestSize = 16 << 20

/// Reads a file or a pipe to its end.
///
/// - Parameters:
///   - path: `nil` for standard input.
/// - isNamed: Whether the user named the file, and may want to wait for a pipe. Otherwise it must be a regular file.
/// - Throws: ``Failure`` with ``Failure/Kind/missing`` if there is no such file, with `.invalid` if it is larger than
///   16 MiB.
package func readInput(_ path: String?, isNamed: Bool = true) throws(Failure) -> [UInt8] {
    let name = path ?? "standard input"
    let flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (isNamed ? 0 : O_NONBLOCK)
    let descriptor = path.map { withPath($0) { open($0, flags) } } ?? STDIN_FILENO
    guard descriptor >= 0 else { throw Failure("\(name): \(systemMessage())", .missing) }
    defer { if path != nil { close(descriptor) } }
    var status = stat()
    guard isNamed || (fstat(descriptor, &status) == 0 && status.isRegularFile) else {
        throw Failure("\(name): it is not a regular file", .missing)
    }
    guard let bytes = readToEnd(descriptor, limit: largestSize) else {
        throw Failure("\(name): \(systemMessage())", .inputOutput)
    }
    guard bytes.count <= largestSize else {
        throw Failure("\(name): it has more than \(largestSize) bytes", .invalid)
    }
    return bytes
}

/// The path of an existing folder, without symbolic links.
///
/// - Throws: ``Failure`` with `.missing` if there is no such folder, or for root if a link of another user leads there.
package func existingFolder(_ path: String) throws(Failure) -> String {
    guard let folder = trustedPath(path), stat(path: folder)?.isDirectory == true else {
        throw Failure("\(path): no such folder", .missing)
    }
    return folder
}

/// Writes files that belong together: replaces all of them or none.
///
/// A file that already has this content is left alone, so that nothing is rebuilt because of it.
///
/// - Parameter files: Paths and contents. Missing folders are created.
/// - Returns: For each file, whether it was written; the others already had their content.
/// - Throws: ``Failure`` with `.cannotCreate`, and no file has changed.
package func writeFiles(_ files: [(path: String, bytes: [UInt8])]) throws(Failure) -> [Bool] {
    var prepared: [FileReplacement] = []
    var folders: [String] = []
    do throws(FileError) {
        var isWritten: [Bool] = []
        for (path, bytes) in files {
            // A symbolic link is kept, and its target replaced.
            let target = try linkTarget(of: path)
            let isSame = (try? readInput(target, isNamed: false)) == bytes
            isWritten.append(!isSame)
            if isSame { continue }
            folders += try makeFolders(containingFolder(of: target), permissions: 0o777)
            prepared.append(try FileReplacement(of: target, with: bytes))
        }
        while let file = prepared.first {
            try file.commit()
            prepared.removeFirst()
            folders = []
        }
        return isWritten
    } catch {
        for file in prepared { file.discard() }
        for folder in folders.reversed() { rmdir(folder) }
        throw Failure("\(error)", .cannotCreate)
    }
}
