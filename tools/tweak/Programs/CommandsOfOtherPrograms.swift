// SPDX-License-Identifier: BSD-3-Clause
import CommandCompletion
import CommandSupport
import Glibc
import TweakClient
import TweakRecords
import TweakSystem

// Parts of `tweak` are separate programs because of their dependencies. They are beside `tweak` or in its `libexec`.
// `PATH` is not searched, so that a typing error or a Tab of root does not run somebody's `tweak-list`.

/// The possible paths of a part of `tweak`.
private func places(of name: String) -> [String] {
    let own = executablePath() ?? ""
    return [name, "../libexec/tweaks/" + name].map { resolvedPath($0, relativeTo: own) }
}

private func path(ofPart name: String) -> String? {
    places(of: name).first { stat(path: $0)?.isRegularFile == true && isAccessible($0, X_OK) }
}

/// Runs a part of `tweak`.
///
/// - Returns: Its standard output.
/// - Throws: ``Failure`` with its output and exit status, if that is not 0; with `.unavailable` if it is not installed.
func output(ofPart name: String, _ arguments: String = "") throws(Failure) -> [UInt8] {
    guard let path = path(ofPart: name) else { throw notInstalled(name) }
    guard let stream = popen(path.shellQuoted + arguments, "re") else {
        throw Failure("cannot run \(path): \(systemMessage())", .system)
    }
    var bytes: [UInt8] = []
    while case let byte = getc(stream), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
    let status = pclose(stream)
    guard status == 0 else {
        // Without the newline at the end.
        let message = String(decoding: bytes.dropLast(), as: UTF8.self)
        // A signal's number is in the lower bits, an exit status above them.
        throw Failure(
            message.isEmpty ? "\(path) failed" : message, .failed,
            exitCode: status & 0x7F == 0 ? status >> 8 : nil)
    }
    return bytes
}

private func notInstalled(_ name: String, _ help: String = "") -> Failure {
    Failure(
        "\(name) is not installed; searched \(places(of: name).joined(separator: " and "))" + help,
        .unavailable)
}

/// The commands that other programs provide, as in git: `tweak WORD` runs `tweak-WORD` with the rest of the line.
enum OtherCommands {
    /// The commands that `tools/install` installs with an option.
    private static let options = [
        "ui": "--with-ui", "serve": "--with-ui", "fleet": "--with-agent", "sign": "--with-agent",
        "adopt": "--with-adopt",
    ]

    /// Replaces this process by the program of the command on the command line, if there is one.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the process. Help and completion are left to the program, too.
    ///   - own: The commands of this program.
    /// - Throws: ``Failure``. Returns if there is no such program.
    static func become(_ arguments: [String], own: [String]) throws(Failure) {
        let isHelp = arguments.first == "help"
        let isCompletion = arguments.first == "---complete" && arguments.count > 2
        let place = isHelp || isCompletion ? 1 : 0
        guard arguments.indices.contains(place), case let word = arguments[place], isName(word),
            !own.contains(word)
        else { return }
        guard let path = path(ofPart: "tweak-" + word) else {
            guard let option = options[word] else { return }
            throw notInstalled("tweak-" + word, "; tools/install \(option) installs it")
        }
        fflush(nil)
        closeReservedDescriptorsOnExec()
        // As bytes.
        let given = argumentBytes.dropFirst()
        var rest = (isCompletion ? given.prefix(1) : []) + given.dropFirst(place + 1)
        "--help".withCString { help in
            if isHelp { rest.append(UnsafeMutablePointer(mutating: help)) }
            withPath(path) { _ = execv($0, [UnsafeMutablePointer(mutating: $0)] + rest + [nil]) }
        }
        throw Failure("\(path): it cannot be executed: \(systemMessage())", .system)
    }

    /// The installed commands of this kind in `libexec`, with their abstracts. Programs without an abstract are
    /// internal.
    static var installed: [Candidate] {
        let names = directoryEntries(places(of: "")[1]).sorted().filter { $0.hasPrefix("tweak-") }
            .map { String($0.dropFirst("tweak-".count)) }.filter(isName)
        return names.compactMap { name in
            guard let bytes = try? output(ofPart: "tweak-" + name, " ---abstract 2>/dev/null") else {
                return nil
            }
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            return lines.count == 1 ? Candidate(name, details: String(lines[0])) : nil
        }
    }

    /// Adds the commands to the help of `tweak`.
    static func added(to help: String) -> String {
        let end = "\n\n  See 'tweak help <subcommand>'"
        guard help.contains(end) else { return help }
        let lines = installed.map { "\n  " + $0.word.padded(to: 24) + wrapped($0.details) }
        return help.replacing(end, with: lines.joined() + end)
    }

    /// An abstract on lines that fit the terminal, as the parser wraps the others.
    private static func wrapped(_ abstract: String) -> String {
        let width = max(20, (terminalWidth ?? 80) - 26)
        var lines: [String] = []
        for word in abstract.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count < width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines.joined(separator: "\n" + String(repeating: " ", count: 26))
    }

    private static func isName(_ word: String) -> Bool {
        word.first?.isLetter == true
            && word.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || "-0123456789".unicodeScalars.contains($0))
            }
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}
