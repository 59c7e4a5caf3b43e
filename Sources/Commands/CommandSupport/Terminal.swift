// SPDX-License-Identifier: BSD-3-Clause
internal import CTweakSystem
// For `stdout`, a variable that nobody changes.
@preconcurrency internal import Glibc
internal import TweakRecords
internal import TweakSystem

// Output of commands, and their exit.

/// A text that is safe to show: characters that a terminal would obey are written as `\u{…}`.
package func printable(_ text: String) -> String { text.printable }

/// JSON that is safe to show: characters that a terminal would obey are written as `\u` and four digits.
package func printableJSON(_ json: String) -> String { json.printableJSON }

/// The text in bold on a terminal, unless `NO_COLOR` is in the environment.
///
/// Source of the variable: https://no-color.org.
package func emphasized(_ text: String) -> String { isEmphasisShown ? "\u{1B}[1m\(text)\u{1B}[m" : text }

/// The heading underlined on a terminal, unless `NO_COLOR` is in the environment.
func underlined(_ text: String) -> String { isEmphasisShown ? "\u{1B}[4m\(text)\u{1B}[m" : text }

/// Whether standard output shows emphasis.
package let isEmphasisShown: Bool = {
    isatty(STDOUT_FILENO) == 1 && environment("NO_COLOR") == nil && isCursorMovable
}()

/// Whether the terminal can do more than print lines.
let isCursorMovable = getenv("TERM").map { strcmp($0, "dumb") != 0 } ?? false

/// Whether the encoding of the locale is UTF-8; `nil` if the environment names no locale.
package let isLocaleUnicode: Bool? = {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment($0)?.lowercased() }.first
    // A modifier may follow, as in de_DE.UTF-8@euro.
    return locale.map { $0.prefix { $0 != "@" } }.map { $0.hasSuffix("utf-8") || $0.hasSuffix("utf8") }
}()

/// Signs in text for people.
package struct Signs: Sendable {
    package let arrow, ellipsis, atLeast, atMost: String

    package static let unicode = Signs(arrow: "→", ellipsis: "…", atLeast: "≥", atMost: "≤")
    private static let ascii = Signs(arrow: "->", ellipsis: "...", atLeast: ">=", atMost: "<=")

    /// The signs that the locale can show. Without a locale, as for a service, a terminal or a file has UTF-8.
    package static let shown = isLocaleUnicode == false ? ascii : unicode
}

/// The width in columns of the terminal that is standard output: `COLUMNS` in the environment, or else the terminal's, or
/// else 80. `nil` if standard output is no terminal.
package let terminalWidth: Int? = {
    guard isatty(STDOUT_FILENO) == 1 else { return nil }
    if let columns = environment("COLUMNS").flatMap({ Int($0) }), columns > 0 { return columns }
    var (columns, rows) = (CInt(0), CInt(0))
    fbtweak__screen_size(&columns, &rows)
    return Int(columns)
}()

/// Writes a line to standard error.
package func printError(_ line: String) {
    var text = line + "\n"
    text.withUTF8 { bytes in _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
}

/// Writes a line that begins with the name of a command to standard error. The message may contain text of others.
package func printMessage(_ message: String, of command: String = "tweak") {
    if let captured = CapturedOutput.current { return captured.tell(message) }
    printError(printable("\(command): \(message)"))
}

/// Occupies the numbers of standard input, output and error that are closed, so that no file of the command gets one
/// and then receives output. Using them is still an error.
///
/// - Returns: The occupied numbers.
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

/// Runs a command and exits with its status after all output was written. A full disk makes the command fail.
///
/// - Parameters:
///   - arguments: Arguments of the command line. A newline in one of them begins no line of a message.
///   - body: Parses and executes the arguments.
///   - ending: Maps an error of `body` to a status and a message. On success the message is help.
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
    let isFlushed = fflush(nil) == 0
    // Lines that are written one by one are lost before.
    guard isFlushed, ferror(stdout) == 0 else {
        let reason = isFlushed ? "part of the output was not written" : systemMessage()
        printMessage("standard output: \(reason)", of: name)
        exit(EX_IOERR)
    }
    finishPager()
    exit(status)
}

/// Writes a message of the argument parser, which quotes arguments verbatim.
private func printUsageError(_ message: String, _ arguments: [String]) {
    var message = message
    let parts = arguments.flatMap { [$0] + $0.split(separator: "=", maxSplits: 1).map(String.init) }
    for part in parts where part.unicodeScalars.contains("\n") {
        message.replace("'\(part)'", with: "'\(part.printable)'")
    }
    let lines = message.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    printError(lines.map { String($0).printable }.joined(separator: "\n"))
}
