// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandSupport
import Glibc
import TweakClient
import TweakOverrides
import TweakProtocol
import TweakRecords
import TweakSystem

struct PresetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preset", abstract: "Save and load named sets of values.",
        discussion: """
            A preset is a JSON file in $XDG_CONFIG_HOME/tweaks/<name of the executable>/presets, in the format that \
            export writes and import reads.
            """,
        subcommands: [Save.self, Load.self, List.self, Diff.self, Remove.self])

    struct Save: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "save", abstract: "Save the values that differ from their defaults.",
            discussion: """
                If a preset with this name has values for other tweaks, the command asks whether to replace it; without a \
                terminal it fails.
                """)

        @Flag(help: "Also save the defaults of all other tweaks.")
        var defaults = false

        @Flag(help: "Replace an existing preset without asking.")
        var replace = false

        @OptionGroup var target: ProgramOptions

        @Argument(help: "The name.", completion: .custom(completePresets))
        var name: String

        func validate() throws {
            guard repaired(name) == name else { throw ValidationError("The name is not UTF-8: \(name)") }
        }

        func run() throws {
            try target.forEach { program throws(Failure) in
                let values = try program.values(includingDefaults: defaults)
                try save(values, in: PresetFolder(of: program))
                let count = values.keys.count
                print(printable("\(name): \(counted(count, "value", "values")) saved"))
            }
        }

        private func save(_ values: OverridesDocument, in folder: PresetFolder) throws(Failure) {
            guard let conflict = try folder.save(values, as: name, replacing: replace) else { return }
            let failure = conflict.failure("--replace replaces it")
            guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { throw failure }
            failure.write()
            guard isConfirmed("Replace it? [y/N]", byDefault: false) else {
                throw Failure("nothing was saved", failure.kind)
            }
            _ = try folder.save(values, as: name, replacing: true)
        }
    }

    struct Load: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "load", abstract: "Set tweaks to the values of a preset.",
            discussion: "Refused values are reported, and the others are set as one change.")

        @OptionGroup var options: ApplyOptions
        @OptionGroup var target: ProgramOptions

        @Argument(help: "The name.", completion: .custom(completePresets))
        var name: String

        func run() throws {
            try target.forEachChanged(checkingValues: true, options.format) {
                program, processes throws(Failure) in
                try options.apply(
                    PresetFolder(of: program).load(name).values, to: program, processes, target)
            }
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Show the presets of a program.")

        @Option(help: "The output format.")
        var format: OutputFormat = .table

        @OptionGroup var target: ProgramOptions

        func run() throws {
            try target.forEach(format) { program throws(Failure) in
                let folder = try PresetFolder(of: program)
                let presets = folder.names.map { name in
                    do throws(Failure) {
                        return PresetForm(
                            name: name, tweaks: try folder.load(name).values.keys.count, problem: nil)
                    } catch {
                        return PresetForm(name: name, tweaks: nil, problem: error.message)
                    }
                }
                try target.show(["presets": presets], of: program, as: format) {
                    guard !presets.isEmpty else { return "\(printable(program.title)): no presets" }
                    let rows = presets.map { [$0.name, $0.tweaks.map { "\($0)" } ?? "", $0.problem ?? ""] }
                    return TextTable(header: ["NAME", "TWEAKS", "PROBLEM"], rows: rows).text
                }
            }
        }
    }

    struct Diff: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "diff",
            abstract: "Show the differences between a program and a preset, or between two presets.",
            discussion: """
                Tweaks that are not in the preset are shown if they differ from their defaults. Comparing two presets also \
                shows the tweaks that only one of them contains.
                """)

        @Option(help: "The output format.")
        var format: OutputFormat = .table

        @OptionGroup var target: ProgramOptions

        @Argument(help: "The name.", completion: .custom(completePresets))
        var name: String

        @Argument(
            help: "Another preset to compare with, instead of the program.",
            completion: .custom(completePresets))
        var other: String?

        func run() throws {
            try target.forEach(format) { program throws(Failure) in
                let folder = try PresetFolder(of: program)
                let values = try folder.load(name).values
                let differences =
                    if let other {
                        try PresetDifference.all(of: program, from: values, to: folder.load(other).values)
                    } else {
                        try PresetDifference.all(of: program, from: values)
                    }
                try target.show(["differences": differences], of: program, as: format) {
                    guard !differences.isEmpty else { return "no differences" }
                    let columns = other.map { [printable(name), printable($0)] } ?? ["VALUE", "PRESET"]
                    return TextTable(
                        header: ["TWEAK"] + columns + ["PROBLEM"],
                        rows: differences.map { [$0.tweak, $0.oldText, $0.newText, $0.problem ?? ""] }
                    ).text
                }
            }
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove presets.")

        @OptionGroup var target: ProgramOptions

        @Argument(help: "The names.", completion: .custom(completePresets))
        var names: [String]

        func run() throws {
            try target.forEach { program throws(Failure) in
                let folder = try PresetFolder(of: program)
                for name in names { try folder.remove(name) }
            }
        }
    }
}

/// The JSON form of a preset in a list. Scripts rely on its keys.
private struct PresetForm: Encodable {
    let name: String
    let tweaks: Int?
    let problem: String?
}
