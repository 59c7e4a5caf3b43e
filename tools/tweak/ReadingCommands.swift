import ArgumentParser
import TweakProtocol
import TweakText
import Tweaks

enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
    case table, json
}

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show all tweaks of a program with their values.")

    @Option(help: "The form of the output.")
    var format: OutputFormat = .table

    @Argument(help: "The path of the executable.", completion: .file())
    var program: String

    func run() throws {
        let program = try reportingFailure { () throws(Failure) in try Program(path: self.program) }
        switch format {
        case .table: printTable(of: program)
        case .json: try printJSON(ProgramStatus(program))
        }
    }

    private func printTable(of program: Program) {
        guard !program.tweaks.isEmpty else { return print("\(printable(program.path)): no tweaks") }
        let tweaks = program.tweaks.inTableOrder
        let rows = tweaks.map { tweak in
            let (value, source) = program.status(of: tweak)
            return [
                tweak.key.name, tweak.text(of: value, rounded: true),
                tweak.text(of: tweak.defaultValue, rounded: true), "\(tweak.type)", tweak.limits,
                source == .binary ? "" : source.description, tweak.notes, tweak.details ?? "",
            ]
        }
        print(
            TextTable(
                header: ["NAME", "VALUE", "DEFAULT", "TYPE", "LIMITS", "FROM", "NOTES", "DESCRIPTION"],
                optional: ["NOTES", "DESCRIPTION"], groups: tweaks.map(\.heading), rows: rows
            ).text)
    }
}

struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print the value of one tweak.",
        discussion:
            "It is printed without its unit and with all decimals; control characters in a text are escaped.")

    @Option(help: "The form of the output.")
    var format: OutputFormat = .table

    @Argument(help: "The path of the executable.", completion: .file())
    var program: String

    @Argument(help: "The tweak, as Category/Collection/Name.")
    var tweak: String

    func run() throws {
        let (program, tweak) = try reportingFailure { () throws(Failure) in
            let program = try Program(path: self.program)
            return (program, try program.tweak(named: self.tweak))
        }
        switch format {
        case .table: print(printable("\(program.status(of: tweak).value)"))
        case .json: try printJSON(JSONTweak(tweak, of: program))
        }
    }
}

/// The JSON form of a program: keys are a promise to scripts.
private struct ProgramStatus: Encodable {
    let program, application, overrides: String
    let tweaks: [JSONTweak]

    init(_ program: Program) {
        self.program = program.path
        application = program.application
        overrides = program.overridesFile.path
        tweaks = program.tweaks.map { JSONTweak($0, of: program) }
    }
}

extension JSONTweak {
    fileprivate init(_ tweak: TweakDeclaration, of program: Program) {
        let status = program.status(of: tweak)
        self.init(tweak, value: status.value, source: status.source.description)
    }
}
