internal import Glibc
package import TweakFormats
package import TweakOverrides
package import TweakRecords
internal import TweakSystem

/// The largest file that a command reads. 16 MiB.
private let largestSize = 16 << 20

/// Reads a file, which may be a pipe, to its end.
///
/// - Parameters:
///   - path: `nil` for standard input.
///   - isNamed: Whether the user has named it, who may then want to wait for a pipe. Otherwise it must be a file.
/// - Throws: ``Failure``, with `EX_NOINPUT` if there is no such file, with `EX_DATAERR` if it has more than 16 MiB.
public func readInput(_ path: String?, isNamed: Bool = true) throws(Failure) -> [UInt8] {
    let name = path ?? "standard input"
    let flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (isNamed ? 0 : O_NONBLOCK)
    let descriptor = path.map { withPath($0) { open($0, flags) } } ?? STDIN_FILENO
    guard descriptor >= 0 else { throw Failure("\(name): \(systemMessage())", EX_NOINPUT) }
    defer { if path != nil { close(descriptor) } }
    var status = stat()
    guard isNamed || (fstat(descriptor, &status) == 0 && status.isRegularFile) else {
        throw Failure("\(name): it is not a regular file", EX_NOINPUT)
    }
    guard let bytes = readToEnd(descriptor, limit: largestSize) else {
        throw Failure("\(name): \(systemMessage())", EX_IOERR)
    }
    guard bytes.count <= largestSize else {
        throw Failure("\(name): it has more than \(largestSize) bytes", EX_DATAERR)
    }
    return bytes
}

/// Reads values for tweaks from a file of this system or of an older one.
///
/// - Parameters:
///   - path: What the file is called in a message.
///   - known: The tweaks of the program, which are asked for if the file is of an older system.
/// - Returns: The values, and what in a file of an older system is none for a tweak of the program.
package func importedValues(
    _ bytes: [UInt8], path: String, known: () throws(Failure) -> [TweakKey]
) throws(Failure) -> (OverridesDocument, leftOut: [ImportedOverrides.Problem]) {
    guard ImportedOverrides.recognizes(bytes) else {
        return (try failing { try OverridesDocument(importing: bytes, path: path) }, [])
    }
    let known = try known()
    let imported = try failing { try ImportedOverrides(bytes, path: path, known: known) }
    var values = OverridesDocument()
    for override in imported.overrides { values.set(override.value, for: override.key) }
    return (values, imported.problems)
}

/// Writes files that belong together: all of them are replaced, or none.
///
/// A file that has its content already is left alone, so that what is built from it is not built again.
///
/// - Parameter files: Paths and contents. Folders that are missing are made.
/// - Returns: Whether each file was written; the others have their content already.
/// - Throws: ``Failure`` with `EX_CANTCREAT`; no file has changed then.
public func writeFiles(_ files: [(path: String, bytes: [UInt8])]) throws(Failure) -> [Bool] {
    var prepared: [FileReplacement] = []
    var folders: [String] = []
    do throws(FileError) {
        var isWritten: [Bool] = []
        for (path, bytes) in files {
            // A link to a file elsewhere stays one.
            let target = readLink(path).flatMap { _ in realPath(path) } ?? path
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
        throw Failure("\(error)", EX_CANTCREAT)
    }
}
