// SPDX-License-Identifier: BSD-3-Clause
import CTweakPage
import CommandSupport
import Dispatch
import Glibc
import TweakJSON
import TweakSystem

#if UI
import HTTPTypes
#endif

/// A command that is installed with this program and runs as its child, so that the page has its checks and messages
/// without its libraries.
final class InstalledCommand: Sendable {
    /// The name for messages, such as `tweak bake`.
    let name: String
    /// The program, and what installs it.
    private let (program, installer): (String, String)
    /// The places where the program can be, each with the words before its arguments.
    private let places: [[String]]
    /// Others wait until one of these has ended.
    private let free = DispatchSemaphore(value: 8)

    /// Longer than `tweak bake` reads the sources of a large program.
    private static let patience = Duration.seconds(30)
    /// The differences of some thousand places.
    private static let mostOutput = 16 << 20

    /// - Parameters:
    ///   - places: The places where the program can be, relative to this one, each with the words before its arguments.
    init(_ name: String, of program: String, at places: [[String]], installedBy installer: String) {
        let own = executablePath() ?? ""
        (self.name, self.program, self.installer) = (name, program, installer)
        self.places = places.map { words in [resolvedPath(words[0], relativeTo: own)] + words.dropFirst() }
    }

    /// The program, and the words before its arguments.
    ///
    /// - Throws: ``Failure`` if it is not installed.
    @discardableResult
    func find() throws(Failure) -> [String] {
        let installed = places.first {
            stat(path: $0[0])?.isRegularFile == true && isAccessible($0[0], X_OK)
        }
        guard let installed else {
            throw Failure(
                "\(program) is not installed; searched \(places.map { $0[0] }.joined(separator: " and ")); "
                    + "\(installer) installs it", .unavailable)
        }
        return installed
    }

    /// The end of a run of the command.
    struct Answer: Sendable {
        /// The exit status; 128 more than its number for a signal, as in a shell.
        let status: CInt
        let output: [UInt8]
        let messages: String
    }

    /// Runs the command. Blocks the thread.
    ///
    /// - Parameters:
    ///   - input: The standard input.
    ///   - directory: The working directory; `nil` for that of this process.
    func run(
        _ arguments: [String], input: [UInt8] = [], in directory: String? = nil
    ) throws(Failure) -> Answer {
        guard free.wait(timeout: .now() + Self.patience / .seconds(1)) == .success else {
            throw Failure("too many requests to \(name) are running; try again", .busy)
        }
        defer { free.signal() }
        let words = try find() + arguments
        let (output, errors) = (try Pipe(), try Pipe())
        let reading = try Self.descriptor(of: input)
        defer { close(reading) }
        let process = try StartedProcess(
            words[0], words.map { Array($0.utf8) }, directory: directory,
            standard: [reading, output.writing, errors.writing])
        output.closeWriting()
        errors.closeWriting()
        let end = ContinuousClock.now + Self.patience
        while !(output.isAtEnd && errors.isAtEnd), .now < end,
            output.bytes.count + errors.bytes.count <= Self.mostOutput
        {
            var entries = [output, errors].map { pollfd(fd: $0.pollable, events: Int16(POLLIN), revents: 0) }
            let left = CInt(clamping: Int64((end - .now) / .milliseconds(1)) + 1)
            guard poll(&entries, 2, max(0, left)) > 0 else { continue }
            if entries[0].revents != 0 { output.read() }
            if entries[1].revents != 0 { errors.read() }
        }
        guard output.isAtEnd, errors.isAtEnd, process.waitForEnd(max(.zero, end - .now)) else {
            if process.status == nil { kill(process.pid, SIGKILL) }
            throw Failure(
                output.bytes.count + errors.bytes.count > Self.mostOutput
                    ? "\(name) printed more than \(Self.mostOutput) bytes"
                    : "\(name) did not finish within \(Self.patience); its change may or may not have been "
                        + "made",
                .busy)
        }
        return Answer(
            status: shellStatus(ofWait: process.status ?? 0), output: output.bytes,
            messages: String(decoding: errors.bytes, as: UTF8.self))
    }

    /// A descriptor to read bytes from. A pipe would hold only some of them.
    private static func descriptor(of bytes: [UInt8]) throws(Failure) -> CInt {
        let descriptor = bytes.isEmpty ? openFile("/dev/null", O_RDONLY) : makeMemoryFile()
        guard descriptor >= 0 else {
            throw Failure("cannot open the input of a command: \(systemMessage())", .system)
        }
        guard bytes.isEmpty || (writeAll(bytes, to: descriptor) && lseek(descriptor, 0, SEEK_SET) == 0) else {
            close(descriptor)
            throw Failure("cannot write the input of a command: \(systemMessage())", .system)
        }
        return descriptor
    }
}

/// A pipe from a child process.
private final class Pipe {
    private var reading: CInt = -1
    private(set) var writing: CInt = -1
    private(set) var bytes: [UInt8] = []
    private(set) var isAtEnd = false

    init() throws(Failure) {
        guard let ends = makePipe() else { throw Failure("cannot make a pipe: \(systemMessage())", .system) }
        (reading, writing) = (ends.read, ends.write)
    }

    deinit {
        close(reading)
        closeWriting()
    }

    func closeWriting() {
        if writing >= 0 { close(writing) }
        writing = -1
    }

    /// The descriptor to wait for; none at the end.
    var pollable: CInt { isAtEnd ? -1 : reading }

    func read() {
        let size = 1 << 16
        let part = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(0, Glibc.read(reading, buffer.baseAddress, size))
        }
        isAtEnd = part.isEmpty
        bytes += part
    }
}

#if UI
/// The output of a command, for a page.
struct CommandForm: Encodable {
    let answer: JSONValue
    /// Warnings.
    let messages: String

    init(_ output: [UInt8], messages: String, of command: String) throws(RequestProblem) {
        do throws(JSONError) { answer = try decodeJSON(from: output) } catch {
            throw RequestProblem(.internalServerError, "\(command) printed no JSON: \(error)")
        }
        self.messages = messages
    }
}

extension InstalledCommand.Answer {
    private struct Message: Decodable { let message: String }

    /// The messages, in which the objects of warnings are replaced by their sentences.
    var sentences: String {
        messages.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let warning = try? decodeJSON(Message.self, from: Array(line.utf8))
            return warning?.message ?? String(line)
        }.joined(separator: "\n")
    }
}

extension RequestProblem {
    /// The failure of a command.
    init(_ answer: InstalledCommand.Answer, of command: String) {
        let status: HTTPResponse.Status =
            switch answer.status {
            case EX_USAGE: .badRequest
            case EX_NOINPUT: .notFound
            case EX_DATAERR, EX_TEMPFAIL, EX_NOPERM: .conflict
            case EX_UNAVAILABLE: .badGateway
            default: .internalServerError
            }
        let sentences = answer.sentences
        let message = sentences.isEmpty ? "\(command) failed\n" : sentences
        self.init(status, message + "(exit status \(answer.status))")
    }
}
#endif
