// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandCompletion
import CommandSupport
import TweakClient
import TweakFormats
import TweakGenerators
import TweakJSON
import TweakOverrides
import TweakProtocol
import TweakRecords

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the tweaks of a program with their values.",
        discussion: """
            The formats optuna and mlos describe the values that an optimizer can try, from limits, steps, scales and \
            choices: an object of Optuna's distributions in JSON, and tunable parameters of mlos_bench.

            For example:

              tweak list motor --changed
              tweak list motor Control/
              tweak list motor --search temperature
            """)

    @Option(help: "The output format.")
    var format: ListFormat = .table

    /// The headings of a table.
    enum Heading: String, Keyword {
        case name, group
    }

    @Option(
        help: ArgumentHelp(
            "The headings of the table.",
            discussion: "The category and the collection, or the group in a file of variables."))
    var by: Heading = .name

    @Option(
        help: ArgumentHelp(
            "Only tweaks with each of these words in their name, title, description, group, owner, unit or location.",
            valueName: "words"))
    var search: String?

    @Flag(help: "Only tweaks that differ from their defaults.")
    var changed = false

    @OptionGroup var target: ProgramOptions

    @Argument(
        help:
            "Only this tweak, the tweaks of Category/, Category/Collection/ or shorter, or those whose names match a pattern with *.",
        completion: .custom(completeGroups))
    var group: String?

    func run() throws {
        if format == .table { startPager() }
        try target.forEach(format == .table ? .table : .json) { program throws(Failure) in
            let all = try program.markingBaked(program.tweaks())
            let (tweaks, reason) = try chosen(among: all, of: program)
            if format == .optuna || format == .mlos {
                return try showSpace(of: tweaks.map(\.declaration), of: program)
            }
            let isWhole = group == nil && search == nil && !changed
            let undeclared = isWhole ? try program.undeclared(besides: all).undeclaredValues : []
            let form = ProgramForm(
                program: try program.description, tweaks: tweaks,
                undeclared: undeclared.isEmpty ? nil : undeclared)
            try target.show(form, of: program, as: format == .json ? .json : .table) {
                let rest =
                    form.undeclared.map { "\n  kept, but not declared\n" + lines(of: $0) } ?? ""
                return (reason.map { "\(printable(program.title)): \(printable($0))" } ?? table(of: tweaks))
                    + rest
            }
        }
    }

    private func showSpace(of tweaks: [TweakDeclaration], of program: any Program) throws(Failure) {
        var space = SearchSpace(tweaks)
        if format == .mlos { space.removeUnfitForMLOS() }
        let reasons = space.leftOut.map { "\($0.key): \($0.reason)" }
        if !reasons.isEmpty {
            printMessage("\(counted(reasons.count, "tweak is", "tweaks are")) left out")
            for reason in reasons { printError("  " + printable(reason)) }
        }
        try target.show(format == .mlos ? space.mlos : space.optuna, of: program, as: .json) { "" }
    }

    private func lines(of undeclared: [UndeclaredValue]) -> String {
        undeclared.map { printable("    \($0.tweak)  \($0.value?.summary ?? "")") }.joined(separator: "\n")
    }

    /// - Returns: The tweaks to show; without any, the reason.
    private func chosen(
        among all: [JSONTweak], of program: any Program
    ) throws(Failure) -> (tweaks: [JSONTweak], reason: String?) {
        guard !all.isEmpty else {
            if let group, !group.contains("*") { _ = try scope(of: group, among: all) }
            return ([], "no tweaks" + program.hintAtMissingTweaks)
        }
        var tweaks = all
        if let group, group.contains("*") {
            tweaks = tweaks.matching(group)
            let others = ["*/\(group)", "*\(group)", "\(group)*", "*\(group)*"]
            guard !tweaks.isEmpty else {
                let other = others.first { !all.matching($0).isEmpty }
                return ([], "no tweaks match \(group)" + (other.map { "; \($0) would match" } ?? ""))
            }
        } else if let group {
            let scope = try scope(of: group, among: tweaks)
            tweaks = tweaks.filter { scope.contains($0.declaration.key) }
        }
        if let search {
            tweaks = tweaks.filter { $0.declaration.contains(words: search) }
            guard !tweaks.isEmpty else { return ([], "no tweaks match the words \(search)") }
        }
        guard changed else { return (tweaks, nil) }
        let count = tweaks.count
        tweaks = tweaks.filter(\.isChanged)
        return (
            tweaks,
            tweaks.isEmpty
                ? count == 1
                    ? "the tweak has its default" : "none of \(count) tweaks differs from its default" : nil
        )
    }

    /// A group takes precedence over a tweak whose name is abbreviated, but not over one whose name is complete.
    private func scope(of name: String, among tweaks: [JSONTweak]) throws(Failure) -> TweakScope {
        let keys = tweaks.map(\.declaration.key)
        let isWhole = keys.contains { "/\($0)".hasSuffix("/" + name) }
        let isGroup = keys.contains { $0.category == name || $0.collection == name }
        let noGroup: Failure
        do throws(Failure) {
            let group = try TweakScope(name, among: tweaks)
            if !isWhole || isGroup { return group }
            return .tweak(try TweakName(name).key(among: keys))
        } catch {
            noGroup = error
        }
        do throws(Failure) { return .tweak(try TweakName(name).key(among: keys)) } catch {
            // Several groups match, or the slash at the end is that of a group.
            throw !noGroup.details.isEmpty || name.hasSuffix("/") ? noGroup : error
        }
    }

    private func table(of tweaks: [JSONTweak]) -> String {
        let tweaks = by == .name ? tweaks.inTableOrder(by: \.declaration) : tweaks.inGroups
        let rows = tweaks.map { tweak -> [String] in
            let declaration = tweak.declaration
            let pending = tweak.pendingValue.map { declaration.text(of: $0, rounded: true) } ?? ""
            return [
                by == .name ? declaration.title ?? "" : declaration.shownName,
                by == .name ? declaration.key.name : "\(declaration.key)", tweak.valueText,
                declaration.isMonitor ? "" : declaration.text(of: declaration.defaultValue, rounded: true),
                declaration.typeName, declaration.limits(),
                tweak.sourceText,
                tweak.awaitedGate == nil ? pending : "",
                tweak.waitingText(pending),
                declaration.notes, declaration.description ?? "",
            ]
        }
        return TextTable(
            header: [
                "TITLE", "NAME", "VALUE", "DEFAULT", "TYPE", "LIMITS", "FROM", "AFTER A RESTART", "WAITING",
                "NOTES", "DESCRIPTION",
            ],
            groups: tweaks.map { by == .name ? $0.declaration.heading : $0.declaration.groupHeading },
            emphasized: tweaks.map { $0.source != "\(TweakSource.binary)" }, rows: rows
        ).text
    }
}

enum ListFormat: String, Keyword, FormatArgument {
    case table, json, optuna, mlos
}

extension TweakDeclaration {
    fileprivate var groupHeading: String { group ?? "Other" }
    /// The title, or else the name.
    fileprivate var shownName: String { title ?? key.name }

    fileprivate func contains(words: String) -> Bool {
        // As on the page.
        let texts = [key.description, title, description, group, owner, unit, location]
        let text = texts.compactMap(\.self).joined(separator: "\n").folded
        return words.folded.split(separator: " ").allSatisfy(text.contains)
    }
}

extension [JSONTweak] {
    fileprivate func matching(_ text: String) -> [JSONTweak] {
        let pattern = Pattern(text)
        return filter { pattern.fits($0.declaration.key.description) }
    }

    /// Sorted by group, then by title or name.
    fileprivate var inGroups: [JSONTweak] {
        map { ($0.declaration.groupHeading, $0.declaration.shownName, $0) }
            .sorted { ($0.0, $0.1, $0.2.declaration.key) < ($1.0, $1.1, $1.2.declaration.key) }
            .map(\.2)
    }
}

extension JSONTweak {
    /// Whether it is overridden, or will be after a restart.
    fileprivate var isChanged: Bool {
        !declaration.isMonitor && (source != "\(TweakSource.binary)" || pendingValue != nil)
    }

    /// Where the value is from, unless it is the default.
    fileprivate var sourceText: String {
        if source == "\(TweakSource.binary)" { return "" }
        if overwrittenValue != nil { return "overwritten by the program" }
        return leaseText ?? source ?? ""
    }

    /// The events that the tweak waits for.
    ///
    /// - Parameter pending: The text of the value that waits for a gate or a restart.
    fileprivate func waitingText(_ pending: String) -> String {
        let gate = pending.isEmpty ? nil : awaitedGate.map { "\(pending) waits for the gate \($0)" }
        return [gate, waitsForBuild ? "baked, waits for a build" : nil].compactMap(\.self)
            .joined(separator: "; ")
    }

    /// The value as a table shows it.
    fileprivate var valueText: String { value.map { declaration.text(of: $0, rounded: true) } ?? "" }
}

/// The JSON form of a program with its tweaks.
private struct ProgramForm: Encodable {
    let program: ProgramDescription
    let tweaks: [JSONTweak]
    let undeclared: [UndeclaredValue]?

    func encode(to encoder: any Encoder) throws {
        try program.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(JSONWritten(tweaks), forKey: .tweaks)
        try container.encodeIfPresent(undeclared, forKey: .undeclared)
    }

    private enum CodingKeys: CodingKey { case tweaks, undeclared }
}
