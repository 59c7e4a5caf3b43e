// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
@_exported public import TweakFailures
internal import TweakRecords
package import TweakSystem

/// An error that ends a command, or a request to the page, with a message that says what happened.
package struct Failure: Error {
    package typealias Kind = FailureKind

    /// Says what was wrong, where, and what is allowed. May contain text of others.
    package let message: String
    /// Further lines below the message.
    package var details: [String]
    /// The title of the program, if the failure is about the program as a whole.
    package let subject: String?
    package let kind: Kind
    /// The exit status of the command.
    package let exitCode: Int32

    /// Makes a failure.
    ///
    /// - Parameter exitCode: The status of another program that did the work; `nil` for the status of the kind.
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

    /// Makes a failure from an error of another module.
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
    /// The status in sysexits.h.
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

extension Array {
    /// The first ten elements, and one made of the number of further ones.
    package func beginning(_ more: (String) -> Element) -> [Element] {
        prefix(10) + (count > 10 ? [more("and \(count - 10) more")] : [])
    }
}

extension [String] {
    /// The first ten elements, and the number of further ones, for ``Failure/details``.
    package var beginning: [String] { beginning { $0 } }
}

/// Turns an error of another module into a failure.
package func failing<Result>(_ body: () throws -> Result) throws(Failure) -> Result {
    do { return try body() } catch let failure as Failure { throw failure } catch { throw Failure(error) }
}
