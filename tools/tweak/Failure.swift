import ArgumentParser
import Glibc
import CommandSupport
import Tweaks

extension Failure {
    init(_ error: TweakValueError) { self.init("\(error)", EX_DATAERR) }

    init(_ error: OverridesError) {
        let isCorrupt = if case .corrupt = error { true } else { false }
        self.init("\(error)", isCorrupt ? EX_DATAERR : EX_IOERR)
    }

    /// Says it on standard error.
    ///
    /// - Parameter title: Of the program, if there are several.
    func write(about title: String? = nil) {
        writeMessage(((subject ?? title).map { $0 + ": " } ?? "") + message)
        for detail in details { printError("  " + printable(detail)) }
    }
}

/// Runs a command and turns a failure into its message and exit status.
func reportingFailure<Result>(_ body: () throws(Failure) -> Result) throws -> Result {
    do throws(Failure) {
        return try body()
    } catch {
        error.write()
        throw ExitCode(error.exitCode)
    }
}

/// Turns what went wrong with a file into a failure.
func withFiles<Result>(_ body: () throws(OverridesError) -> Result) throws(Failure) -> Result {
    do throws(OverridesError) { return try body() } catch { throw Failure(error) }
}

/// Writes a line to standard error.
func writeMessage(_ message: String) { printError("tweak: " + printable(message)) }

func warn(_ message: String) { writeMessage("warning: " + message) }
