import ArgumentParser
import CommandSupport
import Glibc
import TweakClient
import TweakOverrides
import TweakSystem

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write the values that differ from their defaults as JSON.")

    @Flag(help: "Write the defaults of all other tweaks too.")
    var defaults = false

    @OptionGroup var target: ProgramOptions

    @Argument(help: "The file; standard output if it is - or not given.", completion: .file())
    var file = "-"

    func validate() throws {
        if target.allProcesses, file != "-" {
            throw ValidationError("The values of several processes do not fit into one file.")
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
        // A pipe or a device is written to; a file is replaced, so that none is lost on a full disk.
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
        commandName: "import", abstract: "Give tweaks the values of a file.",
        discussion: """
            The file is one that export wrote, or an overrides file. Or it has what was set with Facebook Tweaks, \
            FlipTheSwitch or JustTweak: the user's defaults of the program, as a property list or JSON, or what Facebook \
            Tweaks exported. What a tweak cannot take is reported, and the others are set.
            """)

    @OptionGroup var options: ApplyOptions
    @OptionGroup var target: ProgramOptions

    @Argument(
        help: "The file; standard input if it is -.", completion: .file(extensions: ["json", "plist"]))
    var file: String

    func run() throws {
        // Once, for all processes, but not before it is known that there is one.
        var read: ImportedFile?
        try target.forEach(checkingValues: true, options.format) { program throws(Failure) in
            let imported = if let read { read } else { try ImportedFile(file) }
            read = imported
            let (values, leftOut) = try imported.values(for: program)
            try options.apply(values, leavingOut: leftOut, to: program, target)
        }
    }
}
