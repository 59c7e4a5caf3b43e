import ArgumentParser
import CommandSupport

/// Runs a command and turns a failure into its message and exit status.
func reportingFailure<Result>(_ body: () throws(Failure) -> Result) throws -> Result {
    do throws(Failure) {
        return try body()
    } catch {
        error.write()
        throw ExitCode(error.exitCode)
    }
}

func warn(_ message: String) { printMessage("warning: " + message) }

extension String {
    /// The text as one word of a shell's command line.
    var shellQuoted: String { "'" + replacing("'", with: "'\\''") + "'" }
}
