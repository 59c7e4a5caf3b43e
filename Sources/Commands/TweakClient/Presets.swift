// SPDX-License-Identifier: BSD-3-Clause
package import CommandSupport
internal import Glibc
package import TweakJSON
package import TweakOverrides
internal import TweakProtocol
package import TweakRecords
internal import TweakSystem

/// The presets of an application: JSON files in `$XDG_CONFIG_HOME/tweaks/<application>/presets`.
package struct PresetFolder {
    private static let suffix = ".json"

    private let path: String

    package init(of program: any Program) throws(Failure) { path = try program.keptFolder + "/presets" }

    /// - Parameter application: A usable ``ApplicationName``.
    init(application: String) throws(Failure) {
        path = try failing { try OverridesFile(application: application).directory } + "/presets"
    }

    /// The names, sorted.
    package var names: [String] {
        directoryEntries(path).filter { $0.hasSuffix(Self.suffix) }
            .compactMap { unescapedFileName($0.dropLast(Self.suffix.count)) }.sorted()
    }

    package func load(_ name: String) throws(Failure) -> TweakPreset {
        let file = try file(name)
        guard let preset = try failing({ try Self.preset(in: file) }) else { throw missing(name) }
        return preset
    }

    private static func preset(in file: KeptFile) throws(OverridesError) -> TweakPreset? {
        guard let bytes = try file.read() else { return nil }
        return try TweakPreset(json: String(decoding: bytes, as: UTF8.self), path: file.path)
    }

    /// Saves values as a preset. Other members of the file of a preset with this name stay.
    ///
    /// - Parameter isReplaced: Whether to replace a preset that has values for other tweaks or cannot be read.
    /// - Returns: The reason why nothing was saved; `nil` if the values were.
    package func save(
        _ values: OverridesDocument, as name: String, replacing isReplaced: Bool
    ) throws(Failure) -> PresetConflict? {
        let file = try file(name)
        return try failing {
            try file.makeDirectories()
            return try file.withLock { () throws(OverridesError) -> PresetConflict? in
                let (former, conflict) = try Self.former(name, in: file, losing: values)
                if !isReplaced, let conflict { return conflict }
                var preset = former ?? TweakPreset(name: name)
                (preset.name, preset.values) = (name, values)
                try file.replace(with: OverridesDocument.readable(Array(preset.json.utf8), file.path))
                return nil
            }
        }
    }

    /// The reason why values cannot be saved as a preset without replacing one, or `nil`.
    package func conflict(_ values: OverridesDocument, as name: String) throws(Failure) -> PresetConflict? {
        let file = try file(name)
        return try failing { try Self.former(name, in: file, losing: values).conflict }
    }

    private static func former(
        _ name: String, in file: KeptFile, losing values: OverridesDocument
    ) throws(OverridesError) -> (preset: TweakPreset?, conflict: PresetConflict?) {
        do throws(OverridesError) {
            guard let preset = try preset(in: file) else { return (nil, nil) }
            let lost = preset.values.keys.filter { values[$0] == nil }.sorted()
            return (preset, lost.isEmpty ? nil : .moreValues(name, lost))
        } catch .corrupt(let path, let reason) {
            return (nil, .unreadable(name, .corrupt(path: path, reason: reason)))
        }
    }

    package func remove(_ name: String) throws(Failure) {
        let file = try file(name)
        guard unlink(file.path) == 0 else {
            throw errno == ENOENT ? missing(name) : Failure(file.failure("remove"))
        }
    }

    private func file(_ name: String) throws(Failure) -> KeptFile {
        KeptFile(
            path: try path + "/" + keptFileName(name, Self.suffix, of: "preset"), lockPath: path + "/.lock")
    }

    private func missing(_ name: String) -> Failure {
        Failure(
            "\(name): no such preset in \(path)" + didYouMean(names.nearest(to: name)), .missing)
    }
}

extension Program {
    /// The folder with the files that are kept for the program.
    package var keptFolder: String {
        get throws(Failure) {
            let application = try description.application
            // The program may report any name.
            guard !application.isEmpty, application != ".", application != "..",
                !application.utf8.contains(UInt8(ascii: "/"))
            else { throw Failure("\(title): it says that its name is \"\(application)\"", .garbled) }
            return try failing { try OverridesFile(application: application).directory }
        }
    }
}

/// The reason why a preset is only replaced on request.
package enum PresetConflict: Sendable {
    /// It has values for tweaks that the new one does not have.
    case moreValues(String, [TweakKey])
    /// It cannot be read.
    case unreadable(String, OverridesError)
}

extension PresetConflict {
    /// The failure if the preset is not replaced.
    ///
    /// - Parameter way: What to do to replace it.
    package func failure(_ way: String) -> Failure {
        switch self {
        case .moreValues(let name, let keys):
            Failure(
                "\(name): the preset has "
                    + (keys.count == 1 ? "a value that" : "\(keys.count) values that")
                    + " would be lost; \(way)", details: keys.map(\.description).beginning, .cannotCreate)
        case .unreadable(let name, let error):
            Failure(
                "\(name): there is a preset that cannot be read; \(way)", details: ["\(error)"], .cannotCreate
            )
        }
    }
}

/// The name of a file that is kept under a name that people choose.
///
/// - Parameter kind: What the name is of, for people.
/// - Throws: ``Failure`` if the name is empty or too long.
package func keptFileName(_ name: String, _ suffix: String, of kind: String) throws(Failure) -> String {
    let escaped = escapedFileName(name) + suffix
    // The suffix of the temporary file counts too.
    guard !name.isEmpty, escaped.utf8.count + 4 <= NAME_MAX else {
        throw Failure("\(name): the name of a \(kind) is empty or too long", .usage)
    }
    return escaped
}

/// A name as a file name that is not hidden: slashes, percent signs, control characters and a leading dot are
/// percent-encoded.
private func escapedFileName(_ name: String) -> String {
    let escaped = name.percentEncoded { $0 < 0x20 || $0 == 0x7F || "/%".utf8.contains($0) }
    return escaped.utf8.first == UInt8(ascii: ".")
        ? "%2E" + String(escaped.unicodeScalars.dropFirst()) : escaped
}

/// The name, or `nil` if ``escapedFileName(_:)`` did not produce this file name.
package func unescapedFileName(_ escaped: Substring) -> String? {
    String(percentEncoded: escaped).flatMap { escapedFileName($0) == escaped ? $0 : nil }
}

/// A tweak whose value differs between a program and a preset, or between two presets. Scripts rely on its JSON keys.
package struct PresetDifference: Encodable {
    package let tweak: String
    /// The value at the program's next start, or in the first preset; `nil` if that does not have the tweak.
    package let oldValue: JSONValue?
    /// The value in the preset, or in the second one; `nil` if it does not have the tweak.
    package let newValue: JSONValue?
    /// The reason why the tweak cannot have a value of a preset.
    package var problem: String?
    private let declaration: TweakDeclaration?

    private enum CodingKeys: CodingKey { case tweak, oldValue, newValue, problem }

    package var oldText: String { text(of: oldValue) }
    package var newText: String { text(of: newValue) }

    private func text(of value: JSONValue?) -> String {
        guard let value else { return "" }
        return declaration.flatMap { declaration in
            value.value(of: declaration.type).map { declaration.text(of: $0) }
        } ?? value.summary
    }
}

extension PresetDifference {
    /// The differences between a program and a preset, by name.
    package static func all(of program: any Program, from preset: OverridesDocument) throws(Failure)
        -> [PresetDifference]
    {
        let tweaks = Dictionary(try program.tweaks().map { ($0.declaration.key, $0) }) { first, _ in first }
        let set = try program.values(includingDefaults: false)
        return Set(preset.keys).union(set.keys).sorted().compactMap { key in
            let tweak = tweaks[key]
            var difference = PresetDifference(
                tweak: "\(key)", oldValue: tweak?.lastingValue.map(JSONValue.scalar),
                newValue: preset[key], declaration: tweak?.declaration
            )
            guard let tweak else {
                difference.problem = missing
                return difference
            }
            do throws(TweakValueError) {
                let wanted = try preset.admission(for: tweak.declaration)?.value
                return wanted == tweak.lastingValue ? nil : difference
            } catch {
                difference.problem = "\(error)"
                return difference
            }
        }
    }

    /// The differences between two presets of a program, by name. Values for one of them alone are differences.
    package static func all(
        of program: any Program, from old: OverridesDocument, to new: OverridesDocument
    ) throws(Failure) -> [PresetDifference] {
        let tweaks = Dictionary(try program.tweaks().map { ($0.declaration.key, $0) }) { first, _ in first }
        return Set(old.keys).union(new.keys).sorted().compactMap { key in
            let declaration = tweaks[key]?.declaration
            var difference = PresetDifference(
                tweak: "\(key)", oldValue: old[key], newValue: new[key], declaration: declaration)
            do throws(TweakValueError) {
                if let declaration {
                    let values = try (
                        old.admission(for: declaration)?.value, new.admission(for: declaration)?.value
                    )
                    return values.0 == values.1 ? nil : difference
                }
                difference.problem = missing
            } catch {
                difference.problem = "\(error)"
            }
            return old[key] == new[key] ? nil : difference
        }
    }

    private static let missing = "not declared by the program"
}
