// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandCompletion
import CommandSupport
import Glibc
import TweakFormats
import TweakGenerators
import TweakOverrides
import TweakSystem

struct GenerateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate", abstract: "Generate files of feature switches, and code that uses them.",
        discussion: """
            The features are those of an environment in a file features.json, the variables those of a file of \
            JustTweak. Files whose content would not change are left alone, and after an error no file has changed.

            A file .flip.yml in the working directory may contain input, environment, plist_output, settings_output and \
            category_output (for code) as defaults for the options.

            EXIT STATUS
              0   done, or there was nothing to do
              64  invalid command line
              65  an input cannot be used; the message says where and why
              66  an input is missing or cannot be opened
              73  a file cannot be written
            """,
        subcommands: [
            GeneratePlist.self, GenerateSettings.self, GenerateAccessors.self, GenerateCategory.self,
        ])
}

/// The input options of all generators.
struct FeatureOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "A file, or a folder with features.json. (default: the working directory)",
            valueName: "path"), completion: .file())
    var input: String?

    @Option(name: [.customShort("n"), .long], help: "The environment in the file. (default: default)")
    var environment: String?

    func features(_ defaults: FlipDefaults) throws(Failure) -> (features: FeatureSet, origin: Origin) {
        var path = input ?? defaults.input ?? "features.json"
        if isDirectory(path) { path += path.hasSuffix("/") ? "features.json" : "/features.json" }
        let bytes = try readInput(path)
        let environment = environment ?? defaults.environment ?? "default"
        return try failing {
            (
                try FeaturesFile(json: bytes, path: path).features(in: environment),
                Origin(path: path, environment: environment)
            )
        }
    }
}

struct GeneratePlist: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plist", abstract: "Generate Features.plist, which says whether each feature is enabled."
    )

    @OptionGroup var options: FeatureOptions

    @Option(
        name: .shortAndLong, help: "The output file, ending with .plist, or a folder for Features.plist.",
        completion: .file())
    var output: String?

    func run() throws {
        try Failure.reported { () throws(Failure) in
            let defaults = try FlipDefaults.inWorkingDirectory()
            let output = output ?? defaults.plistOutput ?? "."
            let features = try options.features(defaults).features
            let isFile = output.hasSuffix(".plist") && !isDirectory(output)
            try write([(isFile ? output : path(of: "Features.plist", in: output), features.plist)])
        }
    }
}

struct GenerateSettings: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings", abstract: "Generate a page of switches for a settings program.",
        discussion: """
            The output is Settings.bundle: Features.plist with a switch for each top-level feature, and Root.plist, which \
            keeps its content and gets a group and a page Features if they are missing.
            """)

    @OptionGroup var options: FeatureOptions

    @Option(name: .shortAndLong, help: "The output folder.", completion: .directory)
    var output: String?

    func run() throws {
        try Failure.reported { () throws(Failure) in
            let defaults = try FlipDefaults.inWorkingDirectory()
            let output = output ?? defaults.settingsOutput ?? "."
            let features = try options.features(defaults).features
            let rootPath = path(of: SettingsBundle.rootPath, in: output)
            let root = access(rootPath, F_OK) == 0 ? try readInput(rootPath, isNamed: false) : nil
            try write(
                failing {
                    try SettingsBundle.files(for: features, root: root, path: rootPath)
                }, in: output)
        }
    }
}

// MARK: - Files

func isDirectory(_ path: String) -> Bool { stat(path: path)?.isDirectory == true }

func path(of name: String, in folder: String) -> String {
    folder == "." ? name : folder + (folder.hasSuffix("/") ? "" : "/") + name
}

/// Writes generated files, and prints what was done.
func write(_ files: [GeneratedFile], in folder: String) throws(Failure) {
    try write(files.map { (path(of: $0.name, in: folder), $0.bytes) })
}

func write(_ files: [(path: String, bytes: [UInt8])]) throws(Failure) {
    let isWritten = try writeFiles(files)
    for ((path, _), isWritten) in zip(files, isWritten) {
        print(printable("\(path): \(isWritten ? "written" : "unchanged")"))
    }
}
