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

/// Files that a command makes together: all of them are replaced, or none.
///
/// A file that has its content already is left alone, so that what is built from it is not built again.
public struct OutputFiles {
    private var waiting: [(temporary: String, path: String)] = []
    private var madeDirectories: [String] = []

    private init() {}

    /// Writes files.
    ///
    /// - Parameter files: Paths and contents. Folders that are missing are made.
    /// - Returns: Whether each file was written; the others have their content already.
    /// - Throws: ``Failure`` with `EX_CANTCREAT`; no file has changed then.
    public static func write(_ files: [(path: String, bytes: [UInt8])]) throws(Failure) -> [Bool] {
        var output = OutputFiles()
        do throws(Failure) {
            var isWritten: [Bool] = []
            for (path, bytes) in files { isWritten.append(try output.prepare(path, bytes)) }
            try output.replace()
            return isWritten
        } catch {
            output.discard()
            throw error
        }
    }

    /// Writes a temporary file beside the one that it will replace.
    private mutating func prepare(_ path: String, _ bytes: [UInt8]) throws(Failure) -> Bool {
        // A link to a file elsewhere stays one.
        let target = realPath(path) ?? path
        let status = stat(path: target)
        if let status {
            guard status.isRegularFile else {
                throw Failure("\(path): it is not a regular file", EX_CANTCREAT)
            }
            if (try? readInput(target)) == bytes { return false }
        }
        for slash in target.indices.dropFirst() where target[slash] == "/" {
            let directory = String(target[..<slash])
            if mkdir(directory, 0o777) == 0 { madeDirectories.append(directory) }
        }
        let temporary = "\(target).\(getpid()).tmp"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw systemFailure("create", path) }
        waiting.append((temporary, target))
        defer { close(descriptor) }
        if let status { fchmod(descriptor, status.st_mode & 0o777) }
        guard writeAll(bytes, to: descriptor) else { throw systemFailure("write", path) }
        return true
    }

    private mutating func replace() throws(Failure) {
        while let (temporary, path) = waiting.first {
            guard rename(temporary, path) == 0 else { throw systemFailure("replace", path) }
            waiting.removeFirst()
        }
        madeDirectories = []
    }

    private func discard() {
        for (temporary, _) in waiting { unlink(temporary) }
        for directory in madeDirectories.reversed() { rmdir(directory) }
    }
}

/// A failure of the system's last call.
private func systemFailure(_ action: String, _ path: String) -> Failure {
    Failure("cannot \(action) \(path): \(systemMessage())", EX_CANTCREAT)
}
