// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandSupport
import TweakClient
import TweakOverrides
import TweakProtocol
import TweakRecords
import TweakSystem

struct PsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ps", abstract: "Show the running programs that have tweaks.",
        discussion: """
            Programs with the Tweaks library report their tweaks. --all also shows programs that have tweaks but no library, \
            found by their mapped files.
            """)

    @Flag(help: "Also show programs without the library.")
    var all = false

    @Option(help: "The output format.")
    var format: OutputFormat = .table

    func run() throws {
        // Every program with the library listens, even this one.
        let entries = Survey(isPatient: true).entries.filter {
            ($0.description?.tweaks ?? $0.tweaks?.count) != 0
        }
        var programs = ProgramForm.tree(of: entries)
        if all {
            let asked = Set(programs.map(\.program.pid))
            programs += MemoryProcess.all().filter { !asked.contains($0.pid) }.map { (ProgramForm($0), 0) }
        }
        for (program, _) in programs {
            if let problem = program.problem { warn("\(program.pid): \(problem)") }
        }
        switch format {
        case .table:
            defer { mentionOthers(than: programs.map(\.program.pid)) }
            guard !programs.isEmpty else { return print("no program with tweaks is running") }
            let rows = programs.map { program, depth -> [String] in
                let name = String(repeating: "  ", count: depth) + (program.application ?? "?")
                return [
                    "\(program.pid)", program.user ?? "?", name,
                    program.tweaks.map { "\($0)" } ?? "?", program.overrides.map { "\($0)" } ?? "?",
                    program.memory == true ? "memory" : "", program.executable ?? "?",
                ]
            }
            print(
                TextTable(
                    header: ["PID", "USER", "APPLICATION", "TWEAKS", "OVERRIDES", "BY", "EXECUTABLE"],
                    rows: rows
                ).text)
        case .json:
            try printJSON(["programs": programs.map(\.program)])
        }
    }
}

extension PsCommand {
    /// Mentions programs without the library, because a linker may have dropped it silently.
    private func mentionOthers(than asked: [Int32]) {
        let count = all ? 0 : MemoryProcess.all().count { !asked.contains($0.pid) }
        guard count > 0 else { return }
        printMessage(
            counted(count, "program has", "programs have")
                + " tweaks but not the Tweaks library; see tweak ps --all")
    }
}

/// The JSON form of a running program; missing values have no key. Scripts rely on the keys.
private struct ProgramForm: Encodable {
    let pid: Int32
    /// The process of the same program that forked this one.
    let parent: Int32?
    let user, application, executable: String?
    /// The path of the overrides file.
    let overridesFile: String?
    /// The number of tweaks, and of overridden ones.
    let tweaks, overrides: Int?
    let problem: String?
    /// Whether it has no library, and its memory is read.
    let memory: Bool?

    init(_ entry: Survey.Entry, among programs: [RunningProgram]) {
        pid = entry.running.pid
        parent = entry.running.parent(among: programs)
        user = entry.running.user
        executable = entry.description?.executable ?? entry.running.executable
        application = entry.description?.application ?? executable.map(lastComponent)
        overridesFile = entry.description?.overrides
        tweaks = entry.description?.tweaks ?? entry.tweaks?.count
        overrides = entry.tweaks?.count { $0.source == "\(TweakSource.overrides)" }
        problem = entry.problem
        memory = nil
    }

    init(_ process: MemoryProcess) {
        (pid, user, executable) = (process.pid, process.user, process.executable)
        (parent, overridesFile) = (nil, nil)
        application = process.application ?? lastComponent(of: process.executable)
        tweaks = process.tweaks?.count
        overrides = process.tweaks?.count { $0.source != "\(TweakSource.binary)" }
        problem = process.problem
        memory = true
    }

    /// The programs, each followed by its forks, and their depth in the tree.
    static func tree(of entries: [Survey.Entry]) -> [(program: ProgramForm, depth: Int)] {
        let running = entries.map(\.running)
        let children = Dictionary(grouping: entries.map { ProgramForm($0, among: running) }, by: \.parent)
        func below(_ parent: Int32?, _ depth: Int) -> [(program: ProgramForm, depth: Int)] {
            (children[parent] ?? []).flatMap { [($0, depth)] + below($0.pid, depth + 1) }
        }
        return below(nil, 0)
    }
}
