internal import Glibc
@_exported public import TweakFailures
internal import TweakRecords
package import TweakSystem

/// What ends a command, or a request to the page: what happened, and a message that says so.
package struct Failure: Error {
    package typealias Kind = FailureKind

    /// What was wrong, where, and what is allowed. It may hold what others wrote.
    package let message: String
    /// Lines below it.
    package var details: [String]
    /// The title of the program, if it is about the program as a whole.
    package let subject: String?
    package let kind: Kind
    /// The status that the command ends with.
    package let exitCode: Int32

    /// Makes a failure.
    ///
    /// - Parameter exitCode: That of another program, which did the work; `nil` for that of the kind.
    package init(
        _ message: String, details: [String] = [], about subject: String? = nil, _ kind: Kind,
        exitCode: Int32? = nil
    ) {
        self.message = message
        self.details = details
        self.subject = subject
        self.kind = kind
        self.exitCode = exitCode ?? kind.exitCode
    }

    /// Makes a failure of an error of another module.
    package init(_ error: any Error) {
        self.init("\(error)", (error as? any ClassifiedError)?.kind ?? .invalid)
    }

    /// Writes the message and the details to standard error.
    ///
    /// - Parameters:
    ///   - title: The title of the program, if there are several.
    ///   - command: The name of the command.
    package func write(about title: String? = nil, of command: String = "tweak") {
        printMessage(((subject ?? title).map { $0 + ": " } ?? "") + message, of: command)
        for detail in details { printError("  " + printable(detail)) }
    }
}

extension FileError: ClassifiedError {
    package var kind: FailureKind { .inputOutput }
}

extension FailureKind {
    /// The status of sysexits.h.
    package var exitCode: Int32 {
        switch self {
        case .usage: EX_USAGE
        case .invalid: EX_DATAERR
        case .missing: EX_NOINPUT
        case .unavailable: EX_UNAVAILABLE
        case .failed: EX_SOFTWARE
        case .system: EX_OSERR
        case .cannotCreate: EX_CANTCREAT
        case .inputOutput: EX_IOERR
        case .busy: EX_TEMPFAIL
        case .garbled: EX_PROTOCOL
        case .forbidden: EX_NOPERM
        case .misconfigured: EX_CONFIG
        case .negative: EXIT_FAILURE
        // As env(1) and nohup(1) end.
        case .notExecutable: 126
        case .notFound: 127
        }
    }
}

extension [String] {
    /// The first ten, and how many more there are, for ``Failure/details``.
    package var beginning: [String] {
        prefix(10) + (count > 10 ? ["and \(count - 10) more"] : [])
    }
}

/// Turns what another module throws into what ends a command.
package func failing<Result>(_ body: () throws -> Result) throws(Failure) -> Result {
    do { return try body() } catch let failure as Failure { throw failure } catch { throw Failure(error) }
}
