/// Why overrides could not be read or written.
public enum OverridesError: Error, Hashable {
    /// No directory for settings is known: neither `XDG_CONFIG_HOME` nor `HOME` is an absolute path, or the
    /// process runs with more rights than its user.
    case noDirectory(reason: String)
    /// The file holds something else than overrides.
    case corrupt(path: String, reason: String)
    /// A file or directory could not be read, made, locked or written.
    case system(action: String, path: String, reason: String)
}

extension OverridesError: CustomStringConvertible {
    /// What failed, where, and why.
    public var description: String {
        switch self {
        case .noDirectory(let reason): "overrides cannot be kept: \(reason)"
        case .corrupt(let path, let reason): "\(path): \(reason)"
        case .system(let action, let path, let reason): "cannot \(action) \(path): \(reason)"
        }
    }
}
