import ArgumentParser
import CommandSupport
import Glibc
import TweakClient
import TweakJSON
import TweakOverrides
import TweakProtocol
import TweakRecords

struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Show changes as they happen, until the program ends.",
        discussion: """
            Each line has the time, the tweak, its old and its new value, and where the new one is from. In JSON it is \
            an object. Changes that come faster than they can be shown become one for each tweak.
            """)

    @Option(help: "The form of the output.")
    var format: OutputFormat = .table

    @OptionGroup var target: ProgramOptions

    @Argument(
        help: "The tweaks, as Category/Collection/Name or shorter; all if there is none.",
        completion: .custom(completeTweaks))
    var tweaks: [String] = []

    func run() throws {
        var watched: [WatchedProgram] = []
        try target.forEachRunning(.json) { program throws(Failure) in
            watched.append(try WatchedProgram(program, tweaks))
        }
        let showsTitles = watched.count > 1
        var exitCode: Int32?
        while !watched.isEmpty {
            var remaining: [WatchedProgram] = []
            for program in watched {
                do throws(Failure) {
                    if try program.forEachChange({ show($0, of: program, showsTitles) }) {
                        remaining.append(program)
                    }
                } catch {
                    error.write()
                    exitCode = exitCode ?? error.exitCode
                }
            }
            fflush(nil)
            watched = remaining
            wait(for: watched)
        }
        if let exitCode { throw ExitCode(exitCode) }
    }

    private func wait(for programs: [WatchedProgram]) {
        guard !programs.isEmpty else { return }
        var entries = programs.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        poll(&entries, nfds_t(entries.count), -1)
    }

    private func show(_ change: ChangedTweaks.Change, of program: WatchedProgram, _ showsTitle: Bool) {
        switch format {
        case .table:
            let title = showsTitle ? "\(program.title)  " : ""
            print(printable("\(localTime(change.time))  \(title)") + program.text(of: change))
        case .json:
            // What came as JSON can be written as such.
            try? printJSONLine(ChangeForm(pid: program.pid, change: change))
        }
    }
}

/// A running program that tells its changes.
private struct WatchedProgram {
    private let program: LiveProgram
    private let declarations: [TweakKey: TweakDeclaration]

    var pid: pid_t { program.running.pid }
    var title: String { program.title }
    var descriptor: CInt { program.connection.descriptor }

    init(_ program: LiveProgram, _ names: [String]) throws(Failure) {
        self.program = program
        var watched: [JSONTweak] = []
        for name in names { watched.append(try program.tweak(named: name)) }
        let known = names.isEmpty ? try program.tweaks() : watched
        declarations = Dictionary(known.map { ($0.declaration.key, $0.declaration) }) { first, _ in first }
        _ = try program.ask(SubscribeToChanges(tweaks: names.isEmpty ? nil : watched.map(\.declaration.key)))
    }

    /// Calls `body` with the changes that there are to read, at once.
    ///
    /// - Returns: Whether there will be more.
    func forEachChange(_ body: (ChangedTweaks.Change) -> Void) throws(Failure) -> Bool {
        do throws(ConnectionError) {
            var isOpen = true
            do throws(ConnectionError) { try program.connection.receive() } catch .closed { isOpen = false }
            while let message = try program.connection.nextMessage() {
                if case .changed(let changed) = message { changed.changes.forEach(body) }
            }
            return isOpen
        } catch {
            throw error.failure(of: title)
        }
    }

    /// As it may be shown.
    func text(of change: ChangedTweaks.Change) -> String {
        func text(of value: JSONValue) -> String {
            declarations[change.tweak]?.text(of: value) ?? value.summary
        }
        return printable("\(change.tweak): \(text(of: change.oldValue)) → ")
            + emphasized(printable(text(of: change.newValue))) + printable(" (\(change.source))")
    }
}

/// The JSON form of a change: keys are a promise to scripts.
private struct ChangeForm: Encodable {
    let pid: pid_t
    let change: ChangedTweaks.Change

    func encode(to encoder: any Encoder) throws {
        try change.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(pid, forKey: .pid)
    }

    private enum CodingKeys: CodingKey { case pid }
}

/// The time of day where the command runs, with milliseconds.
private func localTime(_ secondsSince1970: Double) -> String {
    // What a program says may be any number.
    var milliseconds = Int(exactly: (secondsSince1970 * 1000).rounded()) ?? 0
    var (seconds, parts) = (time_t(milliseconds / 1000), tm())
    milliseconds = abs(milliseconds % 1000)
    localtime_r(&seconds, &parts)
    let fields = [(parts.tm_hour, 2), (parts.tm_min, 2), (parts.tm_sec, 2)].map { $0.digits($1) }
    return fields.joined(separator: ":") + "." + milliseconds.digits(3)
}
