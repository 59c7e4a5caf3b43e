// SPDX-License-Identifier: BSD-3-Clause
import CommandCompletion
import CommandSupport
import TweakClient
import TweakDWARF
import TweakJSON
import TweakRecords
import TweakSystem

extension Adopt {
    /// Shows the variables and the reasons why some cannot be adopted.
    func show(_ file: ProgramFile) throws(Failure) {
        if format == .table { startPager() }
        let variables = try variables(of: file)
        let parts = try variables.parts(matching: variable)
        switch format {
        case .table: print(table(of: parts, in: variables, file))
        case .json:
            try failing {
                try printJSON(
                    ListForm(
                        program: file.shownPath, buildID: variables.buildID?.hexadecimal,
                        variables: parts.map { VariableForm($0, in: variables) }, problems: variables.problems
                    ))
            }
        }
    }

    private func table(of parts: [VariablePart], in variables: ProgramVariables, _ file: ProgramFile)
        -> String
    {
        guard !parts.isEmpty else { return "\(printable(file.shownPath)): no variables" }
        let rows = parts.map { part in
            let form = VariableForm(part, in: variables)
            let label = form.choices?.first { $0.value == form.initial }?.label
            return [
                part.name, form.type, variables.initialValue(of: part).map { label ?? "\($0)" } ?? "",
                form.location.map(lastComponent) ?? "", form.reason ?? "",
            ]
        }
        return TextTable(
            header: ["VARIABLE", "TYPE", "AT START", "DECLARED", "CANNOT BE SET"],
            optional: ["CANNOT BE SET"],
            rows: rows
        ).text
    }
}

extension ProgramVariables {
    /// The parts that have values, of the variables that match one of the patterns, or that contain it; all if there is
    /// none.
    func parts(matching patterns: [String]) throws(Failure) -> [VariablePart] {
        let parts = variables.flatMap(values)
        guard !patterns.isEmpty else { return parts }
        var found: [VariablePart] = []
        var names: Set<String> = []
        for pattern in patterns {
            found += try self.parts(matching: pattern, among: parts).filter { names.insert($0.name).inserted }
        }
        return found
    }

    private func parts(
        matching pattern: String, among parts: [VariablePart]
    ) throws(Failure) -> [VariablePart] {
        if pattern.contains("*") || pattern.contains("?") {
            let pattern = Pattern(pattern)
            return parts.filter { pattern.fits($0.name) }
        }
        let found = parts.filter { $0.name.contains(pattern) }
        // Of an array the list has all elements in one.
        guard found.isEmpty else { return found }
        return values(in: try find(pattern))
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
    let canBeSet, canBeWatched: Bool
    let isVolatile: Bool
    /// The reason why it cannot be set.
    let reason: String?

    struct Choice: Encodable {
        let label: String?
        let value: JSONValue
    }

    init(_ part: VariablePart, in variables: ProgramVariables) {
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
                    part.name.firstRange(of: "[0..").map { part.name[..<$0.lowerBound] + "[" }
                    ?? part.name[...]
                return Candidate(String(name), details: part.type.name)
            }
        }
    }
}
