// SPDX-License-Identifier: BSD-3-Clause
package import CommandSupport
internal import Glibc
internal import TweakFormats
package import TweakOverrides
internal import TweakProtocol
internal import TweakRecords
internal import TweakSystem

/// Values in the environment of a program that is started.
package struct StartValues {
    private var document = OverridesDocument()
    /// Variables for one tweak each, which take precedence over the document; `nil` for variables to remove.
    private var variables: [String: String?] = [:]

    package init() {}

    /// Takes values that the program admits.
    package init(_ values: OverridesDocument) {
        document = values
        for key in values.keys { variables.updateValue(nil, forKey: key.environmentVariable) }
    }

    /// Adds a value, which takes precedence over earlier ones.
    ///
    /// - Parameters:
    ///   - name: The tweak's name as typed.
    ///   - text: The value as typed.
    ///   - start: The program, which knows its declarations.
    /// - Returns: A note for the user.
    /// - Throws: ``Failure`` if there is no such tweak, or if it cannot take the value.
    package mutating func set(_ name: String, to text: String, of start: ProgramStart) throws(Failure)
        -> String?
    {
        let name = try TweakName(name)
        guard let declarations = start.declarations else {
            guard let key = name.key else {
                throw Failure(
                    "\(name.text): the tweaks of \(start.path) are not known; write the whole name, "
                        + "Category/Collection/Name", .usage)
            }
            // The tweak's type decides how the text is read.
            variables.updateValue(text, forKey: key.environmentVariable)
            return nil
        }
        guard !declarations.isEmpty else { throw Failure("it has no tweaks", about: start.path, .invalid) }
        let key = try name.key(among: declarations.map(\.key))
        guard let declaration = declarations.first(where: { $0.key == key }) else { return nil }
        let current = document.value(of: key) ?? declaration.defaultValue
        let admission = try failing { try declaration.admit(text: text, current: current) }
        document.set(admission.value, for: key)
        variables.updateValue(nil, forKey: key.environmentVariable)
        return admission.wasClamped
            ? outsideLimits("\(key): \(text)", allowed: declaration.allowed) : nil
    }

    /// Adds the values of a preset, which take precedence over earlier ones.
    ///
    /// - Parameters:
    ///   - name: The name of the preset.
    ///   - start: The program.
    /// - Returns: Notes for the user.
    /// - Throws: ``Failure`` if there is no such preset, or if the program cannot take all of its values.
    package mutating func set(preset name: String, of start: ProgramStart) throws(Failure) -> [String] {
        guard start.declarations != nil else {
            throw Failure(
                "\(name): the tweaks of \(start.path) are not known, so it takes no preset", .usage)
        }
        // With variables that were adopted. Its warnings are those of the start.
        let program = try OfflineProgram(path: start.path) { _ in }
        let tweaks = Dictionary(program.tweaks().map { ($0.declaration.key, $0) }) { first, _ in first }
        guard !tweaks.isEmpty else { throw Failure("it has no tweaks", about: start.path, .invalid) }
        let folder =
            if let application = environment(ApplicationName.variable), ApplicationName.isUsable(application)
            {
                try PresetFolder(application: application)
            } else {
                try PresetFolder(of: program)
            }
        let values = try folder.load(name).values
        var (notes, problems): ([String], [String]) = ([], [])
        for key in values.keys.sorted() {
            guard let declaration = tweaks[key]?.declaration else {
                problems.append("\(key): no such tweak")
                continue
            }
            do throws(TweakValueError) {
                guard let admission = try values.admission(for: declaration) else { continue }
                document.set(admission.value, for: key)
                variables.updateValue(nil, forKey: key.environmentVariable)
                guard admission.wasClamped, let value = values.value(of: key) else { continue }
                notes.append(outsideLimits("\(key): \(value)", allowed: declaration.allowed))
            } catch {
                problems.append("\(error)")
            }
        }
        guard problems.isEmpty else {
            throw Failure(
                "\(name): \(counted(problems.count, "value", "values")) of the preset cannot be set",
                details: problems.beginning, .invalid)
        }
        return notes
    }

    /// Adds the values to the environment of this process.
    ///
    /// - Throws: ``Failure`` if values that are there already cannot be read.
    package func export() throws(Failure) {
        for (name, value) in variables {
            if let value { setenv(name, value, 1) } else { unsetenv(name) }
        }
        guard !document.isEmpty else { return }
        var all = OverridesDocument()
        if let text = environment(Self.variable) {
            all = try failing {
                try OverridesDocument(
                    json: Array(text.utf8), path: "the environment variable " + Self.variable)
            }
        }
        for key in document.keys { all.set(document.value(of: key), for: key) }
        setenv(Self.variable, all.line, 1)
    }

    private static let variable = "TWEAKS"
}
