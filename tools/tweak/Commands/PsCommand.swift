import ArgumentParser
import CommandSupport
import TweakClient
import TweakOverrides
import TweakProtocol
import TweakRecords
import TweakSystem

struct PsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ps", abstract: "Show the running programs that have tweaks.")

    @Option(help: "The form of the output.")
    var format: OutputFormat = .table

    func run() throws {
        // Every program with the library listens, this one too.
        let programs = Survey().entries.map(ProgramForm.init).filter { $0.tweaks != 0 }
        for program in programs {
            if let problem = program.problem { warn("\(program.pid): \(problem)") }
        }
        switch format {
        case .table:
            guard !programs.isEmpty else { return print("no program with tweaks runs") }
            let rows = programs.map { program in
                [
                    "\(program.pid)", program.application ?? "?", program.tweaks.map { "\($0)" } ?? "?",
                    program.overrides.map { "\($0)" } ?? "?", program.executable ?? "?",
                ]
            }
            print(
                TextTable(header: ["PID", "APPLICATION", "TWEAKS", "OVERRIDES", "EXECUTABLE"], rows: rows)
                    .text)
        case .json:
            try printJSON(["programs": programs])
        }
    }
}

/// The JSON form of a running program: keys are a promise to scripts. What it did not say has no key.
private struct ProgramForm: Encodable {
    let pid: Int32
    let application, executable: String?
    /// How many there are, and how many of them have a value that was set.
    let tweaks, overrides: Int?
    let problem: String?

    init(_ entry: Survey.Entry) {
        pid = entry.running.pid
        executable = entry.description?.executable ?? entry.running.executable
        application = entry.description?.application ?? executable.map(lastComponent)
        tweaks = entry.description?.tweaks ?? entry.tweaks?.count
        overrides = entry.tweaks?.count { $0.source == "\(TweakSource.overrides)" }
        problem = entry.problem
    }
}
