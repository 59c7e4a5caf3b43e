// SPDX-License-Identifier: BSD-3-Clause
/// The kind of an error, which determines the exit status of a command, the HTTP status of the page's server, and
/// whether a reader retries.
package enum FailureKind {
    /// The command line or the request is wrong.
    case usage
    /// A name, a value or the content of a file is not acceptable.
    case invalid
    /// A file, a program or something else that is named does not exist.
    case missing
    /// The program has ended or does not listen, or a part that is needed is not installed.
    case unavailable
    /// Something else failed.
    case failed
    /// The system refused an operation, such as creating a socket.
    case system
    /// A file cannot be created.
    case cannotCreate
    /// A file could not be read or written.
    case inputOutput
    /// There was no answer in time; a retry may succeed.
    case busy
    /// An answer is malformed.
    case garbled
    /// This user lacks the permission.
    case forbidden
    /// The configuration is invalid.
    case misconfigured
    /// The result of a check is negative.
    case negative
    /// A program to start cannot be executed.
    case notExecutable
    /// A program to start does not exist.
    case notFound
}

/// An error with a kind. Errors without one are treated as invalid input.
package protocol ClassifiedError: Error {
    var kind: FailureKind { get }
}
