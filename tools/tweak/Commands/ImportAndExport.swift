// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandSupport
import Glibc
import TweakClient
import TweakOverrides
import TweakSystem

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write the values that differ from their defaults as JSON.")

    @Flag(help: "Also write the defaults of all other tweaks.")
    var defaults = false

    @OptionGroup var target: ProgramOptions

    @Argument(help: "The file to write (default: - for standard output).", completion: .file())
    var file = "-"

    func validate() throws {
        if target.allProcesses, file != "-" {
            throw ValidationError("A file holds the values of one process; give its process id.")
        }
    }

    func run() throws {
        try target.forEach(.json) { program throws(Failure) in
            let preset = TweakPreset(
                name: try program.description.application,
                values: try program.values(includingDefaults: defaults))
            if file == "-" {
                print(printableJSON(preset.json), terminator: "")
            } else {
                try write(preset.json)
            }
        }
    }

    private func write(_ text: String) throws(Failure) {
        // Pipes and devices are written to; a file is replaced, so that a full disk does not destroy it.
        guard stat(path: file)?.isRegularFile ?? true else {
            let stream = fopen(file, "we")
            guard let stream, fputs(text, stream) >= 0, fclose(stream) == 0 else {
                throw Failure("\(file): \(systemMessage())", .inputOutput)
            }
            return
        }
        try failing {
            try FileReplacement.replace(realPath(file) ?? file, with: Array(text.utf8), permissions: 0o600)
        }
    }
}

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Set tweaks to the values in a file.",
        discussion: """
            The file is one that export wrote, an overrides file, or a file of Facebook Tweaks, FlipTheSwitch or JustTweak: \
            the program's user defaults as a property list or JSON, or an export of Facebook Tweaks. Refused \
            values are reported, and the others are set.
            """)

    @OptionGroup var options: ApplyOptions
    @OptionGroup var target: ProgramOptions

    @Argument(
        help: "The file, or - for standard input.", completion: .file(extensions: ["json", "plist"]))
    var file: String

    func run() throws {
        // Once for all processes, but only after the program was found.
        var read: ImportedFile?
        try target.forEachChanged(checkingValues: true, options.format) {
            program, processes throws(Failure) in
            let imported = if let read { read } else { try ImportedFile(file) }
            read = imported
            let (values, leftOut) = try imported.values(for: program)
            try options.apply(values, leavingOut: leftOut, to: program, processes, target)
        }
    }
}
