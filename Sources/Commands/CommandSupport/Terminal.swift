internal import Glibc
internal import TweakRecords
internal import TweakSystem

// What a command says, and how it ends.

/// A text as it may be shown: what a terminal would take as a command is written as `\u{…}`.
package func printable(_ text: String) -> String { text.printable }

/// JSON as it may be shown: the same with `\u` and four digits.
package func printableJSON(_ json: String) -> String { json.printableJSON }

/// A text that stands out where it is printed: bold on a terminal, unless `NO_COLOR` is in the environment.
///
/// Source of the variable: https://no-color.org.
package func emphasized(_ text: String) -> String { isEmphasisShown ? "\u{1B}[1m\(text)\u{1B}[m" : text }

/// A heading, which stands out in another way: underlined.
func underlined(_ text: String) -> String { isEmphasisShown ? "\u{1B}[4m\(text)\u{1B}[m" : text }

/// Whether something can stand out on standard output.
package let isEmphasisShown: Bool = {
    isatty(STDOUT_FILENO) == 1 && environment("NO_COLOR") == nil && isCursorMovable
}()

/// Whether the terminal can do more than print lines.
let isCursorMovable = getenv("TERM").map { strcmp($0, "dumb") != 0 } ?? false

/// Writes a line to standard error.
package func printError(_ line: String) {
    var text = line + "\n"
    text.withUTF8 { bytes in _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
}

/// Writes a line that begins with the name of a command to standard error. What others wrote may be in it.
package func printMessage(_ message: String, of command: String = "tweak") {
    printError(printable("\(command): \(message)"))
}

/// Takes the numbers of standard input, output and error that are closed, so that no file of the command gets them and
/// what is printed does not land in one. To use them stays an error.
///
/// - Returns: The numbers.
@discardableResult
package func reserveStandardDescriptors() -> [CInt] {
    var reserved: [CInt] = []
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
        guard open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) == descriptor else {
            return reserved
        }
        reserved.append(descriptor)
    }
    return reserved
}

/// Runs a command and ends with its status, when all of its output has been written: what a full disk did not take has
/// not been done.
///
/// - Parameters:
///   - arguments: Of the command line. A newline in one of them begins no line of a message.
///   - body: Parses the arguments and does what they say.
///   - ending: What an error that `body` throws ends the command with. Of success the message is help.
package func runCommand(
    _ name: String, _ arguments: [String], _ body: () throws -> Void,
    ending: (any Error) -> (status: Int32, message: String)
) -> Never {
    var status = EXIT_SUCCESS
    do { try body() } catch {
        let end = ending(error)
        status = end.status
        if !end.message.isEmpty {
            if status == EXIT_SUCCESS { print(end.message) } else { printUsageError(end.message, arguments) }
        }
    }
    guard fflush(nil) == 0 else {
        printMessage("standard output: \(systemMessage())", of: name)
        exit(EX_IOERR)
    }
    finishPager()
    exit(status)
}

/// Writes what a parser of the command line says, in which it quotes arguments as they are.
private func printUsageError(_ message: String, _ arguments: [String]) {
    var message = message
    let parts = arguments.flatMap { [$0] + $0.split(separator: "=", maxSplits: 1).map(String.init) }
    for part in parts where part.unicodeScalars.contains("\n") {
        message.replace("'\(part)'", with: "'\(part.printable)'")
    }
    let lines = message.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    printError(lines.map { String($0).printable }.joined(separator: "\n"))
}
