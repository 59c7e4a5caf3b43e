// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandSupport
import TweakClient
import TweakOverrides
import TweakRecords
import TweakSources
import TweakSystem

/// The option of commands that look for sources.
struct SourceFolderOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The folder where the compiler ran, or with the sources of a program that was built elsewhere.",
            valueName: "directory"),
        completion: .directory)
    var from: String?
}

/// Where the tweaks of a program are declared.
struct ProgramSources {
    /// Where relative paths of records begin.
    let folders: SourceFolders
    /// The working directory, without symbolic links.
    let working: String
    /// The declarations in the program's files, by name.
    private let places: [TweakKey: [CompiledDeclaration]]
    /// The variables that are adopted as tweaks.
    private let variables: [TweakKey: String]

    /// - Parameters:
    ///   - from: The folder that the user named.
    ///   - limit: The folder that all sources must be in; `nil` for any.
    ///   - warn: Gets warnings about the program's files.
    init(
        of program: any Program, from: String?, within limit: String? = nil,
        _ warn: (Warning) -> Void = warn
    ) throws(Failure) {
        guard let working = realPath(".") else { throw Failure("the working directory is gone", .missing) }
        self.working = working
        let given = try from.map(existingFolder)
        let limit = try limit.map(existingFolder)
        var adopted: [TweakKey: String] = [:]
        var found: [CompiledDeclaration] = []
        var compilers: [String] = []
        let path = try program.description.program
        if let path, isAccessible(path) {
            adopted = AdoptedBuilds.load(of: try program.description.application, warn).variables(of: path)
            let compiled = try failing {
                try OfflineProgram.compiled(in: path, includesExecutable: !adopted.isEmpty, warn)
            }
            found = compiled.declarations.map { CompiledDeclaration($0.declaration, in: $0.folder) }
            compilers = compiled.folders
        }
        variables = adopted
        folders = SourceFolders(
            given: given, compiled: compilers, working: working, program: path, within: limit)
        let tweaks = found.filter { $0.declaration.type != .action && !$0.declaration.isMonitor }
        places = Dictionary(grouping: tweaks, by: \.declaration.key)
    }

    /// The declarations of a tweak, one for each place.
    func places(of tweak: TweakDeclaration) -> [CompiledDeclaration] {
        // A library that the program opened itself is only known to the process.
        places[tweak.key]?.map { $0.completed(by: tweak) } ?? [CompiledDeclaration(tweak)]
    }

    /// The name of the variable that a tweak without a record is; `nil` if it has one.
    func variable(of tweak: TweakDeclaration) -> String? {
        places[tweak.key] == nil ? variables[tweak.key] : nil
    }
}
