/// What ends a command: a message for standard error, and an exit status of sysexits.h.
public struct Failure: Error {
    /// What was wrong, where, and what is allowed. It may hold what others wrote.
    public let message: String
    /// Lines below it.
    public var details: [String]
    /// The title of the program, if it is about the program as a whole.
    public let subject: String?
    /// The exit status.
    public let exitCode: Int32

    /// Makes a failure.
    public init(_ message: String, details: [String] = [], about subject: String? = nil, _ exitCode: Int32) {
        self.message = message
        self.details = details
        self.subject = subject
        self.exitCode = exitCode
    }
}
