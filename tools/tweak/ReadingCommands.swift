import ArgumentParser
import FoundationEssentials
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
        try reportingFailure { () throws(Failure) in
            let program = try Program(path: program)
            switch format {
            case .table: printTable(of: program)
            case .json: printJSON(ProgramStatus(program))
            }
        }
    }

    private func printTable(of program: Program) {
        guard !program.tweaks.isEmpty else { return print("\(printable(program.path)): no tweaks") }
        let tweaks = program.tweaks.enumerated().sorted {
            ($0.element.key.category, $0.element.key.collection, $0.offset)
                < ($1.element.key.category, $1.element.key.collection, $1.offset)
        }.map(\.element)
        let rows = tweaks.map { tweak in
            let (value, source) = program.status(of: tweak)
            return [
                tweak.key.name, tweak.text(of: value), tweak.text(of: tweak.defaultValue), "\(tweak.type)",
                tweak.limits, source == .binary ? "" : source.description,
            ]
        }
        print(
            TextTable(
                header: ["NAME", "VALUE", "DEFAULT", "TYPE", "LIMITS", "FROM"],
                groups: tweaks.map { "\($0.key.category) / \($0.key.collection)" }, rows: rows
            ).text)
    }
}

struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print the value of one tweak.",
        discussion: "A text is printed as it is, with control characters escaped.")

    @Option(help: "The form of the output.")
    var format: OutputFormat = .table

    @Argument(help: "The path of the executable.", completion: .file())
    var program: String

    @Argument(help: "The tweak, as Category/Collection/Name.")
    var tweak: String

    func run() throws {
        try reportingFailure { () throws(Failure) in
            let program = try Program(path: program)
            let tweak = try program.tweak(named: tweak)
            switch format {
            case .table: print(printable("\(program.status(of: tweak).value)"))
            case .json: printJSON(JSONTweak(tweak, of: program))
            }
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

private struct JSONTweak: Encodable {
    let category, collection, name, type: String
    let value, `default`: TweakValue
    let minimum, maximum: TweakValue?
    let source: String
    let location: String?

    init(_ tweak: TweakDeclaration, of program: Program) {
        (category, collection, name) = (tweak.key.category, tweak.key.collection, tweak.key.name)
        type = tweak.type.description
        let status = program.status(of: tweak)
        value = status.value
        source = status.source.description
        self.default = tweak.defaultValue
        minimum = tweak.minimum
        maximum = tweak.maximum
        location = tweak.location
    }
}

private func printJSON(_ value: some Encodable) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    // These types hold only text, numbers that are finite and Bools, so encoding cannot fail.
    if let json = try? encoder.encode(value) { print(String(decoding: json, as: UTF8.self)) }
}
