internal import Glibc
internal import TweakRecords

/// Writes a line to standard error.
public func printError(_ line: String) {
    var text = line + "\n"
    text.withUTF8 { bytes in _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
}

/// Writes what a parser of the command line says, in which it quotes arguments as they are.
///
/// - Parameter arguments: What was parsed. A newline in one of them begins no line.
public func printUsageError(_ message: String, about arguments: [String]) {
    var message = message
    let parts = arguments.flatMap { [$0] + $0.split(separator: "=", maxSplits: 1).map(String.init) }
    for part in parts where part.unicodeScalars.contains("\n") {
        message.replace("'\(part)'", with: "'\(part.printable)'")
    }
    let lines = message.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    printError(lines.map { String($0).printable }.joined(separator: "\n"))
}
