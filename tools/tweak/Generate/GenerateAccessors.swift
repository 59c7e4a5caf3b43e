// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandCompletion
import CommandSupport
import TweakFormats
import TweakGenerators
import TweakOverrides

struct GenerateAccessors: ParsableCommand {
    enum Language: String, Keyword {
        case c, swift
        case objectiveC = "objective-c"
    }

    static let configuration = CommandConfiguration(
        commandName: "accessors", abstract: "Generate code that reads and switches features.",
        discussion: """
            From features.json, Features.h for C and C++ is generated, which needs fbtweak.h, and Features.swift, which \
            needs the library Tweaks; for Objective-C, FTSFlipTheSwitch+Features.h and .m, which need FlipTheSwitch.

            From a file of JustTweak, a Swift structure with a property for each variable is generated, and a file \
            with constants for the names.
            """)

    @OptionGroup var options: FeatureOptions

    @Option(
        name: [.short, .long, .customLong("output-folder")], help: "The output folder.",
        completion: .directory)
    var output: String?

    @Option(help: "The language. Can be repeated. (default: c and swift)")
    var language: [Language] = []

    @Option(
        name: [.customShort("l"), .long], help: ArgumentHelp("A file of JustTweak.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var localTweaksFilePath: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The accessor's name. (default: Features)", valueName: "name"))
    var accessorClassName: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "A folder with config.json, whose accessorName names the accessor for a file of JustTweak.",
            valueName: "folder"),
        completion: .directory)
    var configurationFolder: String?

    func validate() throws {
        if let accessorClassName, let problem = FeatureAccessors.problem(ofName: accessorClassName) {
            throw ValidationError(printable(problem))
        }
        if localTweaksFilePath == nil {
            guard configurationFolder == nil else {
                throw ValidationError("--configuration-folder needs --local-tweaks-file-path.")
            }
            return
        }
        guard options.input == nil, options.environment == nil, language.isEmpty else {
            throw ValidationError(
                "--local-tweaks-file-path cannot be combined with --input, --environment or --language.")
        }
        guard (accessorClassName == nil) != (configurationFolder == nil) else {
            throw ValidationError(
                "--local-tweaks-file-path needs either --accessor-class-name or --configuration-folder."
            )
        }
    }

    func run() throws {
        try Failure.reported { () throws(Failure) in
            if let localTweaksFilePath {
                try writeJustTweakAccessor(localTweaksFilePath)
            } else {
                try options.writeAccessors(
                    in: language.isEmpty ? [.c, .swift] : language, name: accessorClassName, to: output)
            }
        }
    }

    private func writeJustTweakAccessor(_ file: String) throws(Failure) {
        let bytes = try readInput(file)
        let name = try accessorName()
        let accessor = try failing {
            try JustTweakAccessor(JustTweakFile(json: bytes, path: file), name: name)
        }
        try write(accessor.files, in: output ?? ".")
    }

    private func accessorName() throws(Failure) -> String {
        if let accessorClassName { return accessorClassName }
        let file = path(of: "config.json", in: configurationFolder ?? ".")
        let bytes = try readInput(file)
        return try failing {
            let name = try AccessorConfiguration(json: bytes, path: file).accessorName
            if let problem = FeatureAccessors.problem(ofName: name) {
                throw FormatError.invalid(path: file, place: ["accessorName"], reason: problem)
            }
            return name
        }
    }
}

struct GenerateCategory: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "category",
        abstract: "Generate a category for FTSFlipTheSwitch, like accessors --language objective-c.")

    @OptionGroup var options: FeatureOptions

    @Option(name: .shortAndLong, help: "The output folder.", completion: .directory)
    var output: String?

    func run() throws {
        try Failure.reported { () throws(Failure) in
            try options.writeAccessors(in: [.objectiveC], name: nil, to: output)
        }
    }
}

extension FeatureOptions {
    fileprivate func writeAccessors(
        in languages: [GenerateAccessors.Language], name: String?, to output: String?
    ) throws(Failure) {
        let defaults = try FlipDefaults.inWorkingDirectory()
        let (features, origin) = try features(defaults)
        let accessors = try failing {
            try FeatureAccessors(features, name: name ?? "Features", origin: origin)
        }
        var files: [GeneratedFile] = []
        if languages.contains(.c) { files.append(accessors.cHeader) }
        if languages.contains(.swift) { files.append(accessors.swiftFile) }
        if languages.contains(.objectiveC) { files += accessors.objectiveCFiles }
        try write(files, in: output ?? defaults.categoryOutput ?? ".")
    }
}
