import Glibc

/// A variable of the environment; `nil` if it is not set, or empty.
func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
}

extension String {
    /// The text as one word of a shell's command line.
    var shellQuoted: String { "'" + replacing("'", with: "'\\''") + "'" }
}
