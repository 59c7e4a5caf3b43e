import ArgumentParser
import CommandSupport
import TweakClient
import TweakJSON
import TweakOverrides
import TweakProtocol
import TweakRecords

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show where the value of a tweak comes from, and what else was said.",
        discussion: "The first source that has a value which the tweak can take decides.")

    @Option(help: "The form of the output.")
    var format: OutputFormat = .table

    @OptionGroup var target: ProgramOptions

    @Argument(help: "The tweak, as Category/Collection/Name or shorter.", completion: .custom(completeTweaks))
    var tweak: String

    func run() throws {
        try target.forEach(format) { program throws(Failure) in
            let tweak = try program.tweak(named: tweak)
            let explanation = try program.explain(tweak.declaration.key)
            switch format {
            case .table: try printTable(of: explanation, tweak, program)
            case .json: try target.printJSON(explanation, of: program)
            }
        }
    }

    private func printTable(
        of explanation: ExplainTweak.Answer, _ tweak: JSONTweak, _ program: any Program
    ) throws(Failure) {
        let declaration = tweak.declaration
        func text(of value: JSONValue?) -> String {
            guard let value else { return "" }
            return value.value(of: declaration.type).map { declaration.text(of: $0) } ?? value.summary
        }
        print(printable("\(declaration.key): \(text(of: explanation.value)), from \(explanation.source)"))
        if let pending = tweak.pendingValue {
            print(printable("after a restart: \(declaration.text(of: pending))"))
        }
        let overrides = try program.description.overrides
        let rows = explanation.opinions.map { opinion in
            let place =
                switch opinion.source {
                case "\(TweakSource.overrides)": overrides
                case "\(TweakSource.binary)": declaration.location
                default: nil as String?
                }
            return [opinion.source, text(of: opinion.value), place ?? "", opinion.error ?? ""]
        }
        let deciding = explanation.opinions.firstIndex { $0.error == nil }
        print(
            TextTable(
                header: ["FROM", "VALUE", "AT", "PROBLEM"], optional: ["AT", "PROBLEM"],
                emphasized: explanation.opinions.indices.map { $0 == deciding }, rows: rows
            ).text)
    }
}
