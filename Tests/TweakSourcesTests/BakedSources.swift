// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakELF
import TweakRecords
import TweakSources

/// A folder with sources, and what baking makes of them.
struct BakedSources {
    let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    /// The bytes of a file in the folder.
    func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: home(name))))
    }

    func text(_ name: String) throws -> String { String(decoding: try bytes(name), as: UTF8.self) }

    /// Plans values for tweaks, each of them at all places with its name.
    func plan(
        _ tweaks: [TweakDeclaration], isWriting: Bool = true, from folder: String? = nil,
        _ value: (TweakDeclaration) -> TweakValue
    ) -> SourceBaking {
        let folders = SourceFolders(given: folder, working: home.path)
        var baking = SourceBaking(folders: folders, isWriting: isWriting)
        var keys: [TweakKey] = []
        for tweak in tweaks where !keys.contains(tweak.key) { keys.append(tweak.key) }
        for key in keys {
            let places = tweaks.filter { $0.key == key }.map { CompiledDeclaration($0) }
            baking.add(places) { (tweak) throws(TweakValueError) in
                try tweak.admit(value(tweak))
            }
        }
        return baking
    }

    /// Writes one source with one tweak, bakes a value, and returns the source.
    ///
    /// - Returns: The new text, and the reasons why the tweak stays.
    func baked(
        _ text: String, as name: String = "app.c", line: Int = 1, _ type: TweakType, _ former: TweakValue,
        _ value: TweakValue, choices: [TweakChoice] = []
    ) throws -> (text: String, reasons: [String]) {
        try home.write(name, text)
        let tweak = Self.tweak(type, former, at: "\(name):\(line)", choices: choices)
        let baking = plan([tweak]) { _ in value }
        try baking.write()
        // The second time nothing is left to do.
        if baking.staying.isEmpty {
            let again = plan([tweak]) { _ in value }
            #expect(again.changes.isEmpty && again.staying.isEmpty, "\(text) a second time: \(again.staying)")
        }
        return (try self.text(name), baking.staying.map(\.reason))
    }

    static func tweak(
        _ type: TweakType, _ value: TweakValue, at place: String, _ key: TweakKey = TweakKey("A", "B", "C"),
        choices: [TweakChoice] = []
    ) -> TweakDeclaration {
        TweakDeclaration(
            key: key, type: type, defaultValue: value, choices: choices,
            attributes: [TweakDeclaration.Attribute(key: "at", value: place)])
    }

    /// The declarations in an object file.
    static func records(in path: String) throws -> [TweakDeclaration] {
        var tweaks: [TweakDeclaration] = []
        try ELFFile(path: path).forEachObject { (object) throws(ELFError) in
            for range in try object.recordRanges() {
                tweaks += try object.records(in: range).tweaks.map(\.declaration)
            }
        }
        return tweaks
    }

    /// Compiles a source in the folder, as if by `cc -c NAME` there, and returns its records.
    func compiled(_ name: String, _ compiler: Compiler = .gcc, _ flags: [String] = []) throws
        -> [TweakDeclaration]
    {
        let language: Language = name.hasSuffix(".c") ? .c : .cPlusPlus
        let standard = language == .c ? "-std=gnu11" : "-std=c++20"
        let object = home(name + ".o")
        let arguments =
            ["-DDEBUG", standard, "-w", "-I", Locations.include, "-c", name, "-o", object] + flags
        let result = try run(compiler.path(for: language), arguments, home: home, in: home.path)
        try #require(result.succeeded, "\(result.error.prefix(4000))")
        return try Self.records(in: object)
    }
}
