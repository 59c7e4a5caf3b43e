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

    package init(of program: any Program) throws(Failure) {
        let application = try program.description.application
        // The program may report any name.
        guard !application.isEmpty, application != ".", application != "..",
            !application.utf8.contains(UInt8(ascii: "/"))
        else { throw Failure("\(program.title): it says that its name is \"\(application)\"", .garbled) }
        path = try failing { try OverridesFile(application: application).directory + "/presets" }
    }

    /// The names, sorted.
    package var names: [String] {
        directoryEntries(path).filter { $0.hasSuffix(Self.suffix) }
            .compactMap { unescapedFileName($0.dropLast(Self.suffix.count)) }.sorted()
    }

    package func load(_ name: String) throws(Failure) -> TweakPreset {
        let file = try file(name)
        let preset = try failing {
            try file.read().map {
                try TweakPreset(json: String(decoding: $0, as: UTF8.self), path: file.path)
            }
        }
        guard let preset else { throw missing(name) }
        return preset
    }

    /// Writes a preset, and replaces one with this name.
    package func save(_ preset: TweakPreset) throws(Failure) {
        let file = try file(preset.name)
        try failing {
            try file.makeDirectories()
            try file.withLock { () throws(OverridesError) in
                try file.replace(with: OverridesDocument.readable(Array(preset.json.utf8), file.path))
            }
        }
    }

    package func remove(_ name: String) throws(Failure) {
        let file = try file(name)
        guard unlink(file.path) == 0 else {
            throw errno == ENOENT ? missing(name) : Failure(file.failure("remove"))
        }
    }

    private func file(_ name: String) throws(Failure) -> KeptFile {
        let escaped = escapedFileName(name) + Self.suffix
        // The suffix of the temporary file counts too.
        guard !name.isEmpty, escaped.utf8.count + 4 <= NAME_MAX else {
            throw Failure("\(name): the name of a preset is empty or too long", .usage)
        }
        return KeptFile(path: "\(path)/\(escaped)", lockPath: path + "/.lock")
    }

    private func missing(_ name: String) -> Failure {
        Failure(
            "\(name): there is no such preset in \(path)" + didYouMean(names.nearest(to: name)), .missing)
    }
}

/// The name of a preset as a file name that is not hidden: slashes, percent signs, control characters and a leading dot are
/// percent-encoded.
private func escapedFileName(_ name: String) -> String {
    let escaped = name.percentEncoded { $0 < 0x20 || $0 == 0x7F || "/%".utf8.contains($0) }
    return escaped.utf8.first == UInt8(ascii: ".")
        ? "%2E" + String(escaped.unicodeScalars.dropFirst()) : escaped
}

/// The name of a preset, or `nil` if ``escapedFileName(_:)`` did not produce this file name.
private func unescapedFileName(_ escaped: Substring) -> String? {
    String(percentEncoded: escaped).flatMap { escapedFileName($0) == escaped ? $0 : nil }
}

/// A tweak whose value differs from a preset. Scripts rely on its JSON keys.
package struct PresetDifference: Encodable {
    package let tweak: String
    /// The value at the program's next start; `nil` if the program does not have the tweak.
    package let value: TweakValue?
    /// The value in the preset; `nil` if the preset does not have the tweak.
    package let preset: JSONValue?
    /// The reason why the tweak cannot have the value of the preset.
    package var problem: String?
    private let declaration: TweakDeclaration?

    private enum CodingKeys: CodingKey { case tweak, value, preset, problem }

    package var valueText: String { value.flatMap { declaration?.text(of: $0) } ?? "" }
    package var presetText: String {
        guard let preset else { return "" }
        guard let declaration, let value = preset.value(of: declaration.type) else { return preset.summary }
        return declaration.text(of: value)
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
                tweak: "\(key)", value: tweak?.lastingValue, preset: preset[key],
                declaration: tweak?.declaration
            )
            guard let tweak else {
                difference.problem = "the program does not have it"
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
}
