// SPDX-License-Identifier: BSD-3-Clause
import CommandCompletion
import CommandSupport
import TweakClient
import TweakDWARF
import TweakJSON
import TweakRecords
import TweakSystem

extension Adopt {
    /// Shows the variables of the executable and its libraries, and the reasons why some cannot be adopted.
    func show(_ file: ProgramFile) throws(Failure) {
        if format == .table { startPager() }
        let images = ProgramImages(of: file, read: variables)
        // Libraries of the system have debug information elsewhere. Theirs is read if nothing else matches.
        let own = images.files.map(\.hasDebugInformation)
        var found = try parts(in: images) { $0 == 0 || own[$0] }
        if found.parts.isEmpty, found.unknown != nil { found = try parts(in: images) { _ in true } }
        if found.parts.isEmpty, let unknown = found.unknown { throw unknown }
        switch format {
        case .table: print(table(of: found.parts, file))
        case .json:
            let main = found.parts.first { $0.file.shownPath == file.shownPath }?.variables
            try failing {
                try printJSON(
                    ListForm(
                        program: file.shownPath, buildID: main?.buildID?.hexadecimal,
                        variables: found.parts.flatMap { image, variables, parts in
                            let library = image.shownPath == file.shownPath ? nil : image.shownPath
                            return parts.map { VariableForm($0, in: variables, library) }
                        }, problems: found.parts.flatMap(\.variables.problems)))
            }
        }
    }

    /// The parts that match in the files of a program, without files that have none.
    ///
    /// - Returns: The parts, and the error of a pattern that is the name of none.
    private func parts(
        in images: ProgramImages, where isMeant: (Int) -> Bool
    ) throws(Failure) -> (parts: [FoundParts], unknown: Failure?) {
        var found: [FoundParts] = []
        var unknown: Failure?
        try images.first(where: isMeant) { (file, variables) throws(Failure) in
            let (parts, areAll): ([VariablePart], Bool)
            do throws(Failure) { (parts, areAll) = try variables.parts(matching: variable) } catch {
                // Another file may have a variable of this name.
                unknown = unknown ?? error
                return nil
            }
            if !areAll {
                Warning(
                    "\(file.shownPath): only the first \(parts.count) variables are listed; name some of them"
                ).write(of: "tweak-adopt")
            }
            if !parts.isEmpty || file.shownPath == images.files[0].shownPath {
                found.append((file, variables, parts))
            }
            return nil
        } as Void?
        return (found, unknown)
    }

    private typealias FoundParts = (file: ProgramFile, variables: ProgramVariables, parts: [VariablePart])

    private func table(
        of found: [FoundParts], _ file: ProgramFile
    ) -> String {
        let rows = found.flatMap { image, variables, parts in
            parts.map { part in
                let form = VariableForm(part, in: variables, nil)
                let label = form.choices?.first { $0.value == form.initial }?.label
                return [
                    part.name, form.type, variables.initialValue(of: part).map { label ?? "\($0)" } ?? "",
                    form.location.map(lastComponent) ?? "",
                    image.shownPath == file.shownPath ? "" : lastComponent(of: image.shownPath),
                    form.reason ?? "",
                ]
            }
        }
        guard !rows.isEmpty else { return "\(printable(file.shownPath)): no variables" }
        return TextTable(
            header: ["VARIABLE", "TYPE", "AT START", "DECLARED", "IN", "CANNOT BE SET"],
            rows: rows
        ).text
    }
}

extension ProgramVariables {
    /// The parts that have values, of the variables that match one of the patterns, or that contain it; all if there is
    /// none.
    ///
    /// - Returns: The parts, and whether these are all.
    func parts(matching patterns: [String]) throws(Failure) -> (parts: [VariablePart], areAll: Bool) {
        guard !patterns.isEmpty else { return values { _ in true } }
        var found: [VariablePart] = []
        var areAll = true
        var names: Set<String> = []
        for pattern in patterns {
            let matching = try parts(matching: pattern)
            found += matching.parts.filter { names.insert($0.name).inserted }
            areAll = areAll && matching.areAll
        }
        return (found, areAll)
    }

    private func parts(
        matching pattern: String
    ) throws(Failure) -> (parts: [VariablePart], areAll: Bool) {
        if pattern.contains("*") || pattern.contains("?") {
            let pattern = Pattern(pattern)
            return values { pattern.fits($0.name) }
        }
        let found = values { $0.name.contains(pattern) }
        // Of an array the list has all elements in one.
        guard found.parts.isEmpty else { return found }
        return (values(in: try find(pattern)), true)
    }
}

/// The JSON form of a list of variables. Scripts rely on its keys.
private struct ListForm: Encodable {
    let program: String
    let buildID: String?
    let variables: [VariableForm]
    let problems: [String]
}

/// The JSON form of a variable. Scripts rely on its keys.
private struct VariableForm: Encodable {
    let name: String
    /// The type in the source.
    let type: String
    let size: UInt64?
    /// The type of its tweak.
    let tweakType: String?
    /// The address in the file, before relocation.
    let address: UInt64?
    /// The value in the file.
    let initial: JSONValue?
    let choices: [Choice]?
    let location: String?
    /// The path of the library that it is in; `nil` for the executable.
    let library: String?
    let canBeSet, canBeWatched: Bool
    let isVolatile: Bool
    /// The reason why it cannot be set.
    let reason: String?

    struct Choice: Encodable {
        let label: String?
        let value: JSONValue
    }

    init(_ part: VariablePart, in variables: ProgramVariables, _ library: String?) {
        self.library = library
        (name, type, size) = (part.name, part.type.name, part.type.size)
        location = part.variable.declaredAt
        initial = variables.initialValue(of: part).map { .scalar($0) }
        isVolatile = part.isVolatileWhole
        var (tweakType, choices): (String?, [Choice]?)
        if case .value(let type, let values) = part.type.shape {
            tweakType = "\(type)"
            choices = values.isEmpty ? nil : values.map { Choice(label: $0.label, value: .scalar($0.value)) }
        }
        if case .text = part.type.shape { tweakType = "\(TweakType.string)" }
        (self.tweakType, self.choices) = (tweakType, choices)
        switch variables.place(of: part) {
        case .address(let address, size: _):
            self.address = address
            reason = variables.obstacleToWriting(part)
            canBeWatched = true
        case .none(let reason):
            address = nil
            self.reason = reason
            canBeWatched = false
        }
        canBeSet = reason == nil
    }
}

// MARK: - Completion

/// Running programs and files.
func completePrograms(_ words: [String], _ index: Int, _ cursor: String) -> [String] {
    complete(words, index, valued: optionsWithValues) { words in
        runningPrograms().map { Candidate($0.word, details: $0.details) } + executables(words.typed.text)
    }
}

private let optionsWithValues: Set<String> = ["--format", "--in", "--name", "--unit"]

/// The variables of the program before the word that can be adopted.
func completeVariables(_ words: [String], _ index: Int, _ cursor: String) -> [String] {
    complete(words, index, valued: optionsWithValues) { words in
        guard let name = words.arguments.first, let file = try? ProgramFile(named: name),
            let variables = try? ProgramVariables(path: file.path)
        else { return [] }
        let typed = words.typed.text
        return variables.variables.filter { variable in
            // Only the parts of what is typed are looked up.
            variable.shownName.hasPrefix(typed) || typed.hasPrefix(variable.shownName)
        }.flatMap { variable in
            variables.values(of: variable).filter {
                if case .address = variables.place(of: $0) { true } else { false }
            }.map { part in
                // For elements, the index is missing.
                let name =
                    part.name.firstRange(of: "..").flatMap { part.name[..<$0.lowerBound].lastIndex(of: "[") }
                    .map { part.name[...$0] } ?? part.name[...]
                return Candidate(String(name), details: part.type.name)
            }
        }
    }
}
