/// What an error is about, for the code that decides what to do next: a command ends with a status, the page's server
/// answers with one of HTTP, and a reader tries again or gives up.
package enum FailureKind: Equatable {
    /// The command line or the request is wrong.
    case usage
    /// A name, a value or the content of a file is not acceptable.
    case invalid
    /// A file, a program or something else that is named does not exist.
    case missing
    /// The program has ended or does not listen, or a part that is needed is not installed.
    case unavailable
    /// Something else that should work did not.
    case failed
    /// The system refused something, such as a socket.
    case system
    /// A file cannot be created.
    case cannotCreate
    /// A file could not be read or written.
    case inputOutput
    /// There was no answer in time; the same may work later.
    case busy
    /// An answer makes no sense.
    case garbled
    /// This user may not do that.
    case forbidden
    /// A configuration is wrong.
    case misconfigured
    /// The answer to a check is no.
    case negative
    /// A program that was to be started cannot be executed.
    case notExecutable
    /// A program that was to be started does not exist.
    case notFound
    /// Another program, which did part of the work, ended with this status.
    case status(Int32)
}

/// An error that says what it is about. One that does not is about what was given.
package protocol ClassifiedError: Error {
    var kind: FailureKind { get }
}
