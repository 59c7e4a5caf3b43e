internal import Glibc
internal import TweakELF
internal import TweakFormats
internal import TweakOverrides
internal import TweakProtocol
internal import TweakRecords
internal import TweakSystem

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

    /// Writes the message and the details to standard error.
    ///
    /// - Parameters:
    ///   - title: The title of the program, if there are several.
    ///   - command: The name of the command.
    public func write(about title: String? = nil, of command: String = "tweak") {
        printMessage(((subject ?? title).map { $0 + ": " } ?? "") + message, of: command)
        for detail in details { printError("  " + printable(detail)) }
    }
}

extension [String] {
    /// The first ten, and how many more there are, for ``Failure/details``.
    public var beginning: [String] {
        prefix(10) + (count > 10 ? ["and \(count - 10) more"] : [])
    }
}

// MARK: - Errors of the library's modules

extension Failure {
    /// The failure that an error is: here is decided which status a command ends with.
    public init(_ error: any Error) { self.init("\(error)", Self.exitCode(of: error)) }

    private static func exitCode(of error: any Error) -> Int32 {
        switch error {
        case is TweakValueError, is TweakError, is FormatError, OverridesError.corrupt: EX_DATAERR
        case is OverridesError, is FileError: EX_IOERR
        case ELFError.cannotOpen: EX_NOINPUT
        case is ELFError: EX_DATAERR
        case let error as ControlError:
            switch error.code {
            case .unknownTweak, .refused, .noAction: EX_DATAERR
            case .busy: EX_TEMPFAIL
            case .notKept: EX_IOERR
            case .unknownMethod: EX_UNAVAILABLE
            default: EX_PROTOCOL
            }
        default: EX_SOFTWARE
        }
    }
}

/// Turns what another module throws into what ends a command.
public func failing<Result>(_ body: () throws -> Result) throws(Failure) -> Result {
    do { return try body() } catch let failure as Failure { throw failure } catch { throw Failure(error) }
}
