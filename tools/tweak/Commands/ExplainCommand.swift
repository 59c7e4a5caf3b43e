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
            let explanation = try program.explanation(of: tweak)
            try target.show(explanation, of: program, as: format) { table(of: explanation, tweak) }
        }
    }

    private func table(
        of explanation: ExplainTweak.Answer, _ tweak: JSONTweak
    ) -> String {
        let declaration = tweak.declaration
        let value = declaration.text(of: explanation.value)
        var lines = [printable("\(declaration.key): \(value), from \(explanation.source)")]
        if let pending = tweak.pendingValue {
            lines.append(printable("after a restart: \(declaration.text(of: pending))"))
        }
        let rows = explanation.opinions.map { opinion in
            [
                opinion.source, opinion.value.map(declaration.text) ?? "", opinion.location ?? "",
                opinion.error ?? "",
            ]
        }
        let deciding = explanation.opinions.firstIndex { $0.error == nil }
        let table = TextTable(
            header: ["FROM", "VALUE", "AT", "PROBLEM"], optional: ["AT", "PROBLEM"],
            emphasized: explanation.opinions.indices.map { $0 == deciding }, rows: rows)
        return (lines + [table.text]).joined(separator: "\n")
    }
}
