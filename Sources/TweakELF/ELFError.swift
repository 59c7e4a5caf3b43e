/// Why a file could not be inspected.
public enum ELFError: Error, Hashable {
    /// The file is missing or may not be read. The reason is the system's.
    case cannotOpen(path: String, reason: String)
    /// The file is something else than an ELF object or an archive of them.
    case notELF(path: String, reason: String)
    /// The file begins like an ELF object but is cut off or contradicts itself.
    case broken(path: String, reason: String)
    /// A member of an archive is left out.
    case skipped(path: String, reason: String)
}

extension ELFError: CustomStringConvertible {
    /// The file and the reason, on one line.
    public var description: String {
        switch self {
        case .cannotOpen(let path, let reason): "\(path): \(reason)"
        case .notELF(let path, let reason): "\(path): not an ELF file: \(reason)"
        case .broken(let path, let reason): "\(path): broken ELF file: \(reason)"
        case .skipped(let path, let reason): "\(path): skipped: \(reason)"
        }
    }
}
