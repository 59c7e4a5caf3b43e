import ArgumentParser
import TweakProtocol
import TweakText
import Tweaks

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the tweaks of a program with their values.")

    @Option(help: "The form of the output.")
    var format: OutputFormat = .table

    @OptionGroup var target: ProgramOptions

    @Argument(
        help: "Only the tweaks of Category/, Category/Collection/ or shorter.",
        completion: .custom(completeGroups))
    var group: String?

    func run() throws {
        try target.forEach(format) { program throws(Failure) in
            var tweaks = try program.tweaks()
            if let group {
                let scope = try TweakScope(group, among: tweaks)
                tweaks = tweaks.filter { scope.contains($0.declaration.key) }
            }
            switch format {
            case .table: printTable(of: tweaks, program.title)
            case .json: try target.printJSON(ProgramForm(program.description, tweaks), of: program)
            }
        }
    }

    private func printTable(of tweaks: [JSONTweak], _ title: String) {
        guard !tweaks.isEmpty else { return print("\(printable(title)): no tweaks") }
        let tweaks = tweaks.inTableOrder(by: \.declaration)
        let rows = tweaks.map { tweak in
            let declaration = tweak.declaration
            return [
                declaration.key.name, tweak.valueText,
                declaration.text(of: declaration.defaultValue, rounded: true),
                "\(declaration.type)", declaration.limits,
                tweak.source == "\(TweakSource.binary)" ? "" : tweak.source ?? "",
                tweak.pendingValue.map { declaration.text(of: $0, rounded: true) } ?? "",
                declaration.notes, declaration.details ?? "",
            ]
        }
        print(
            TextTable(
                header: [
                    "NAME", "VALUE", "DEFAULT", "TYPE", "LIMITS", "FROM", "AFTER A RESTART", "NOTES",
                    "DESCRIPTION",
                ],
                optional: ["AFTER A RESTART", "NOTES", "DESCRIPTION"],
                groups: tweaks.map(\.declaration.heading),
                emphasized: tweaks.map { $0.source != "\(TweakSource.binary)" },
                rows: rows
            ).text)
    }
}

extension JSONTweak {
    /// The value as a table shows it.
    fileprivate var valueText: String { value.map { declaration.text(of: $0, rounded: true) } ?? "" }
}

/// The JSON form of a program with its tweaks.
private struct ProgramForm: Encodable {
    let program: ProgramDescription
    let tweaks: [JSONTweak]

    init(_ program: ProgramDescription, _ tweaks: [JSONTweak]) {
        (self.program, self.tweaks) = (program, tweaks)
    }

    func encode(to encoder: any Encoder) throws {
        try program.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(tweaks, forKey: .tweaks)
    }

    private enum CodingKeys: CodingKey { case tweaks }
}
