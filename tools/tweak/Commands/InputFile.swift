import Glibc
import Tweaks

/// Reads a file, which may be a pipe, to its end.
///
/// - Parameter path: `nil` for standard input.
func readInput(_ path: String?) throws(Failure) -> [UInt8] {
    let name = path ?? "standard input"
    let descriptor = path.map { open($0, O_RDONLY | O_CLOEXEC) } ?? STDIN_FILENO
    guard descriptor >= 0 else { throw Failure("\(name): \(String(cString: strerror(errno)))", EX_NOINPUT) }
    defer { if path != nil { close(descriptor) } }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = read(descriptor, &part, part.count)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw Failure("\(name): \(String(cString: strerror(errno)))", EX_IOERR) }
        guard count > 0 else { return bytes }
        bytes += part.prefix(count)
        guard bytes.count <= KeptFile.largestSize else {
            throw Failure("\(name): it has more than \(KeptFile.largestSize) bytes", EX_DATAERR)
        }
    }
}
