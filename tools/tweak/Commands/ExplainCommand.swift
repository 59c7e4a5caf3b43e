// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandCompletion
import CommandSupport
import Glibc
import TweakClient
import TweakJSON
import TweakOverrides
import TweakProtocol
import TweakRecords
import TweakSources
import TweakSystem

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show which provider decides the value of a tweak, and the values of the others.",
        discussion: """
            The first provider with an allowed value decides. For remote values, the output also shows the server, the \
            times of the last load and the last check, why nothing newer was loaded, whether an agent is running, why a \
            feature is on or off on this host, and which value the program has refused. If a macro such as LIMIT is \
            defined as the tweak and the sources are available, the output shows its definition.

            For example:

              tweak explain motor Gain
            """)

    @Option(help: "The output format.")
    var format: OutputFormat = .table

    @OptionGroup var target: ProgramOptions

    @Argument(help: "The tweak, as Category/Collection/Name or shorter.", completion: .custom(completeTweaks))
    var tweak: String

    /// How often, and with which pauses in microseconds, the program is asked until its loop passes the gate.
    private static let (looks, pause) = (50, useconds_t(10_000))

    func run() throws {
        try target.forEach(format) { program throws(Failure) in
            let tweak = try program.tweak(named: tweak)
            var explanation = try program.explanation(of: tweak)
            // From the second answer on, the program knows whether the loop passes its gate.
            if program is LiveProgram, let first = explanation.gate, first.waitingSince == nil {
                for _ in 0..<Self.looks where explanation.gate?.lastPassed == first.lastPassed {
                    usleep(Self.pause)
                    explanation = try program.explanation(of: tweak)
                }
            }
            let explained = ExplainedTweak(explanation, tweak.declaration)
            let definitions = Self.definitions(of: tweak.declaration, in: program)
            try target.show(Form(explained: explained, definitions: definitions), of: program, as: format) {
                let lines = definitions.map {
                    printable("declared in the definition of \($0.macro): \($0.path):\($0.line)")
                }
                return
                    ([table(of: explained.explanation, tweak, in: program)]
                    + explained.origins.flatMap(\.lines) + lines)
                    .joined(separator: "\n")
            }
            for message in try (program as? LiveProgram)?.unknownVariables() ?? [] { warn(message) }
            if program is MemoryProgram {
                warn(
                    "\(program.title): the Tweaks library is not in the process, so overrides and files have no effect; "
                        + "linkers drop it unless it is linked as by pkg-config --libs tweaks"
                )
            }
        }
    }

    /// The JSON form. Scripts rely on its keys.
    private struct Form: Encodable {
        let explained: ExplainedTweak
        let definitions: [SourceBaking.MacroDefinition]

        private enum CodingKeys: CodingKey { case definitions }

        func encode(to encoder: any Encoder) throws {
            try explained.encode(to: encoder)
            guard !definitions.isEmpty else { return }
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(definitions, forKey: .definitions)
        }
    }

    /// The macros that are defined as the tweak: its record only names the places that use them.
    private static func definitions(
        of tweak: TweakDeclaration, in program: any Program
    ) -> [SourceBaking.MacroDefinition] {
        guard let sources = try? ProgramSources(of: program, from: nil, { _ in }) else { return [] }
        let baking = SourceBaking(folders: sources.folders, isWriting: false)
        var found: [SourceBaking.MacroDefinition] = []
        for place in sources.places(of: tweak) {
            found += baking.definitions(of: place).filter { !found.contains($0) }
        }
        return found
    }

    private func table(
        of explanation: ExplainTweak.Answer, _ tweak: JSONTweak, in program: any Program
    ) -> String {
        let declaration = tweak.declaration
        let value = declaration.text(of: explanation.value)
        let origin = tweak.leaseText ?? explanation.source
        var lines = [
            printable(
                "\(declaration.key): \(value), "
                    + (tweak.overwrittenValue == nil ? "from \(origin)" : "overwritten by the program"))
        ]
        if let overwritten = tweak.overwrittenValue {
            let again = "tweak adopt --again" + (program.pid.map { " \($0)" } ?? "")
            lines.append(
                printable(
                    "before: \(declaration.text(of: overwritten)), from \(origin); \(again) writes it again"
                ))
        }
        if let ramp = tweak.ramp {
            lines.append(
                printable(
                    "ramping to \(declaration.text(of: ramp.target)), \(durationText(ramp.remaining)) left"))
        }
        if let gate = explanation.gate {
            let waiting = gate.pendingValue.map { value in
                ["\(declaration.text(of: value)) waits for the gate \(gate.name)", gate.waitingText]
                    .compactMap(\.self)
                    .joined(separator: " ")
            }
            let texts = [
                waiting ?? "changes wait for the gate \(gate.name)",
                gate.waitingText == nil || gate.lastPassed == nil ? gate.passedText : nil,
            ]
            lines.append(printable(texts.compactMap(\.self).joined(separator: "; ")))
        } else if let pending = tweak.pendingValue {
            lines.append(printable("after a restart: \(declaration.text(of: pending))"))
        }
        let rows = explanation.opinions.map { opinion in
            [
                opinion.source, opinion.value.map(declaration.text) ?? "", opinion.location ?? "",
                opinion.lease?.text ?? "",
                opinion.error ?? opinion.given.map {
                    outsideLimits($0.summary, allowed: declaration.allowed)
                } ?? "",
            ]
        }
        let deciding = explanation.opinions.firstIndex { $0.error == nil }
        let table = TextTable(
            header: ["FROM", "VALUE", "AT", "BY", "PROBLEM"],
            emphasized: explanation.opinions.indices.map { $0 == deciding }, rows: rows)
        return (lines + [table.text]).joined(separator: "\n")
    }
}
