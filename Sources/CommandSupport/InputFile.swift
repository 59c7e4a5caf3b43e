internal import Glibc

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
    let descriptor = path.map { open($0, flags) } ?? STDIN_FILENO
    guard descriptor >= 0 else { throw Failure("\(name): \(String(cString: strerror(errno)))", EX_NOINPUT) }
    defer { if path != nil { close(descriptor) } }
    var status = stat()
    guard isNamed || (fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG) else {
        throw Failure("\(name): it is no regular file", EX_NOINPUT)
    }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = read(descriptor, &part, part.count)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw Failure("\(name): \(String(cString: strerror(errno)))", EX_IOERR) }
        guard count > 0 else { return bytes }
        bytes += part.prefix(count)
        guard bytes.count <= largestSize else {
            throw Failure("\(name): it has more than \(largestSize) bytes", EX_DATAERR)
        }
    }
}
