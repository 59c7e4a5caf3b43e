// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandCompletion
import CommandSupport
// For `stdout`, a variable that nobody changes.
@preconcurrency import Glibc
import TweakClient
import TweakFormats
import TweakJSON
import TweakOverrides
import TweakProtocol
import TweakRecords
import TweakSources
import TweakSystem

struct BakeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bake", abstract: "Make the values of tweaks the defaults in the sources.",
        discussion: """
            Replaces the default's literal in every C, C++ and Swift declaration of a tweak and keeps its notation: base, \
            suffix, separators, exponent, kind of string, cast, enumeration case. By default it changes no file and prints \
            a diff for git apply and patch -p1.

            The values are those that the program will have at its next start, or those of a preset or a file. Without \
            names, all tweaks that differ from their defaults are baked. The sources are found by the locations that \
            tweak-dump shows; relative paths start at --from, at the compiler's working directory according to the debug \
            information, or at the working directory. If several copies of the sources match, the tweak is skipped until \
            --from selects one. Only sources below the working directory, a compiler's working directory, --from or \
            --within are read and changed, and never hidden files. If a macro such as LIMIT is defined as a tweak, its \
            definition changes, also in a header.

            For an adopted variable the initial value changes, such as 2.5 in double gain = 2.5; or var gain = 2.5. A part \
            of a variable must have its own value in braces, such as 2.5 in {.kp = 2.5} or {1, 2.5, 3}.

            A baked override stays until the program starts from a build that contains the new default; until then list \
            shows it as waiting.

            A tweak is skipped if one of its declarations no longer exists, is inside #if 0, has a default that is not a \
            literal, has a default or type that differs from the program's, or has limits that exclude the value; or if \
            its file is generated, not text, or not writable. Skipped tweaks are reported, and the exit status is 65. \
            The owner, group, access list and other extended attributes of a file are preserved; a file with several hard \
            links is not written.

            For example:

              tweak bake motor | git apply
              tweak bake motor Gain --review
            """)

    @Flag(help: "Ask about each tweak on the terminal, then write the accepted changes.")
    var review = false

    @Flag(help: "Write the changes into the sources.")
    var write = false

    @Flag(help: "Only list the changes, and exit with 1 if there are any.")
    var check = false

    @Option(
        help: ArgumentHelp("Take the values of a preset.", valueName: "name"),
        completion: .custom(completePresets))
    var preset: String?

    @Option(
        help: ArgumentHelp(
            "Take the values of a file, such as one that export wrote, or - for standard input.",
            valueName: "file"),
        completion: .file(extensions: ["json", "plist"]))
    var values: String?

    @OptionGroup var folder: SourceFolderOption

    @Option(
        help: ArgumentHelp(
            "Read and change only sources below a folder, wherever symbolic links lead.",
            valueName: "directory"),
        completion: .directory)
    var within: String?

    @Option(
        help: ArgumentHelp(
            "With --write: write only if the diff equals the one in this file; - is standard input.",
            valueName: "file"),
        completion: .file(extensions: ["diff", "patch"]))
    var ifDifference: String?

    @Option(help: "The output format.")
    var format: BakeFormat = .diff

    @OptionGroup var target: ProgramOptions

    @Argument(
        help: "Tweaks, or several as Category/, Category/Collection/ or shorter.",
        completion: .custom(completeTweaks))
    var tweaks: [String] = []

    func validate() throws {
        guard [review, write, check].count(where: \.self) <= 1 else {
            throw ValidationError("Give only one of --review, --write and --check.")
        }
        guard preset == nil || values == nil else {
            throw ValidationError("Give either --preset or --values, not both.")
        }
        guard ifDifference == nil || write else { throw ValidationError("--if-difference needs --write.") }
        guard !(ifDifference == "-" && values == "-") else {
            throw ValidationError("Only one of --values and --if-difference can read standard input.")
        }
        guard !target.allProcesses else {
            throw ValidationError("bake takes its values from one process; give its process id.")
        }
        guard format == .diff || !review else {
            throw ValidationError("--format cannot be combined with --review.")
        }
    }

    func run() throws {
        try target.forEach(checkingValues: true) { program throws(Failure) in
            if review, isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0 {
                throw Failure(
                    "--review needs a terminal; use --write to write all changes, or omit both to show "
                        + "them", .usage)
            }
            let sources = try ProgramSources(of: program, from: folder.from, within: within)
            // With a folder for the sources, the difference is that which a later --write makes.
            var baking = SourceBaking(
                folders: sources.folders, isWriting: write || review || within != nil)
            let planned = try plan(&baking, for: program, in: sources)
            try checkDifference(of: baking, sources.working)
            if review { try Review(program, working: sources.working).run(&baking) }
            if write || review { try baking.write() }
            try show(baking, sources.working)
            if write || review { try note(planned, of: program, bakedBy: baking) }
            guard baking.staying.isEmpty else {
                let count = Set(baking.staying.map(\.tweak)).count
                throw Failure(
                    counted(count, "tweak skipped", "tweaks skipped"), details: baking.staying.map(\.message),
                    check && !baking.changes.isEmpty ? .negative : .invalid)
            }
            if check, !baking.changes.isEmpty {
                let count = Set(baking.changes.map(\.tweak)).count
                throw Failure(
                    counted(count, "default differs", "defaults differ")
                        + "; tweak bake --write changes the sources",
                    .negative)
            }
        }
    }

    // MARK: - Values

    /// - Returns: The declarations of the tweaks, and the values that they are to have.
    private func plan(
        _ baking: inout SourceBaking, for program: any Program, in sources: ProgramSources
    ) throws(Failure) -> [(tweak: TweakDeclaration, value: TweakValue)] {
        let declared = try program.tweaks().filter {
            $0.declaration.type != .action && !$0.declaration.isMonitor
        }
        let values = try wantedValues(of: program, declared)
        var planned: [(TweakDeclaration, TweakValue)] = []
        for tweak in declared where values[tweak.declaration.key] != nil {
            let (places, variable) = (
                sources.places(of: tweak.declaration), sources.variable(of: tweak.declaration)
            )
            baking.add(places, variable: variable) { declaration throws(TweakValueError) in
                try values.admission(for: declaration)
            }
            if let admission = try? values.admission(for: tweak.declaration) {
                planned.append((tweak.declaration, admission.value))
            }
        }
        let keys = Set(declared.map(\.declaration.key))
        for key in values.keys.sorted() where !keys.contains(key) {
            baking.leave(StayingTweak(tweak: key, place: nil, reason: "the program does not declare it"))
        }
        return planned
    }

    /// Throws unless the difference is the one that was reviewed.
    private func checkDifference(of baking: SourceBaking, _ working: String) throws(Failure) {
        guard let ifDifference else { return }
        let reviewed = try readInput(ifDifference == "-" ? nil : ifDifference)
        guard reviewed == baking.difference(in: working) else {
            throw Failure(
                "the difference has changed; nothing was written", details: baking.staying.map(\.message),
                .busy)
        }
    }

    /// Notes beside the overrides which of them are in the sources now and wait for a build.
    private func note(
        _ planned: [(tweak: TweakDeclaration, value: TweakValue)], of program: any Program,
        bakedBy baking: SourceBaking
    ) throws(Failure) {
        let keys = baking.done.union(baking.changes.map(\.tweak))
        let waiting = planned.filter { keys.contains($0.tweak.key) && $0.value != $0.tweak.defaultValue }
        // Root must not change its own files because of what the program reports.
        guard !waiting.isEmpty, program.otherUser == nil, let path = try program.description.overrides else {
            return
        }
        try failing { try OverridesFile(path: path).noteBaked(waiting) }
    }

    private func wantedValues(of program: any Program, _ declared: [JSONTweak]) throws(Failure)
        -> OverridesDocument
    {
        var all: OverridesDocument
        if let preset {
            all = try PresetFolder(of: program).load(preset).values
        } else if let values {
            let (values, leftOut) = try ImportedFile(values).values(for: program)
            for problem in leftOut { warn("\(problem.entry): \(problem.reason)") }
            all = values
        } else {
            all = try program.values(includingDefaults: !tweaks.isEmpty)
        }
        guard !tweaks.isEmpty else { return all }
        var named = OverridesDocument()
        for name in tweaks {
            let keys = try keys(named: name, among: declared)
            for key in keys { named[key] = all[key] }
            guard keys.contains(where: { all[$0] != nil }) else {
                throw Failure("\(name): there is no value for it", .invalid)
            }
        }
        return named
    }

    private func keys(named name: String, among tweaks: [JSONTweak]) throws(Failure) -> [TweakKey] {
        let keys = tweaks.map(\.declaration.key)
        do throws(Failure) { return [try TweakName(name).key(among: keys)] } catch {
            guard error.isAboutName, let group = try? TweakScope(name, among: tweaks) else { throw error }
            return keys.filter(group.contains)
        }
    }

    // MARK: - Output

    private func show(_ baking: SourceBaking, _ working: String) throws(Failure) {
        switch format {
        case .json:
            try failing { try printJSON(Baked(baking, isWritten: write)) }
        case .replacements:
            print(baking.replacements, terminator: "")
        case .diff where write || review || check:
            for change in baking.changes { print(printable(change.summary(in: working))) }
        case .diff:
            let text = baking.difference(in: working)
            if let folder = baking.folderOfDifference(in: working) {
                warn("paths are relative to \(folder); run git apply or patch -p1 there")
            }
            // A terminal must not obey what a source contains; a patch needs the same bytes.
            guard isatty(STDOUT_FILENO) == 0 else {
                let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                return print(
                    lines.map { printable(String(decoding: $0, as: UTF8.self)) }.joined(separator: "\n"),
                    terminator: "")
            }
            _ = text.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, stdout) }
        }
    }
}

enum BakeFormat: String, Keyword, FormatArgument {
    case diff, json, replacements
}

extension SourceChange {
    /// The change in one line: `src/app.c:12: Motor/Control/Gain: 1.0 → 2.5`.
    fileprivate func summary(in working: String) -> String {
        let (old, new) = (String(decoding: oldText, as: UTF8.self), String(decoding: newText, as: UTF8.self))
        return "\(location(in: working)): \(tweak): \(old) \(Signs.shown.arrow) \(new)"
            + (macro.map { ", in the definition of \($0)" } ?? "")
    }
}

/// The JSON form of the result. Scripts rely on its keys.
private struct Baked: Encodable {
    struct Change: Encodable {
        let tweak: TweakKey
        let declared: String
        let file: String
        let offset, length, line, column: Int
        let oldText, newText: String
        let oldValue, newValue: TweakValue
    }

    struct Staying: Encodable {
        let tweak: TweakKey
        let declared: String?
        let reason: String
    }

    let changes: [Change]
    let staying: [Staying]
    let written: Bool

    init(_ baking: SourceBaking, isWritten: Bool) {
        changes = baking.changes.map { change in
            Change(
                tweak: change.tweak, declared: change.place, file: change.path,
                offset: change.range.lowerBound,
                length: change.range.count, line: change.line, column: change.column,
                oldText: String(decoding: change.oldText, as: UTF8.self),
                newText: String(decoding: change.newText, as: UTF8.self),
                oldValue: change.oldValue, newValue: change.newValue)
        }
        staying = baking.staying.map { Staying(tweak: $0.tweak, declared: $0.place, reason: $0.reason) }
        written = isWritten
    }
}
