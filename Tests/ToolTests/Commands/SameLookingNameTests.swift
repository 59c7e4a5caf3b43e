// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// Composed and decomposed letters look the same, and are the names of two tweaks.
@Suite struct `Tweaks whose names look the same` {
    private static let names = ["Cafe\u{301}", "Caf\u{e9}"]

    private let home: TemporaryDirectory
    private let object: String

    init() throws {
        home = try TemporaryDirectory()
        object = try AssembledTweak.object(Self.names.map { .integer($0, 5) }, home: home)
    }

    private func tweak(_ arguments: String...) throws -> CommandResult {
        let result = try run(Locations.product("tweak"), arguments, home: home)
        #expect(result.status == 0, "\(result.error)")
        return result
    }

    private func override() throws {
        for (index, name) in Self.names.enumerated() {
            _ = try tweak("set", object, "Test/Values/\(name)", "\(index)")
        }
    }

    /// The bytes of both, as an object.
    private var members: [UInt8] {
        Array("\"Cafe\u{301}\" : 0,\n".utf8) + Array("\"Caf\u{e9}\" : 1\n".utf8)
    }

    private func withoutIndentation(_ text: String) -> [UInt8] {
        text.utf8.filter { $0 != UInt8(ascii: " ") }
    }

    private func expectMembers(in text: String) {
        let members = members.filter { $0 != UInt8(ascii: " ") }
        #expect(Data(withoutIndentation(text)).range(of: Data(members)) != nil, "\(text)")
    }

    @Test func `are both kept`() throws {
        try override()
        let path = home("config/tweaks/tweaks.o/overrides.json")
        expectMembers(in: try String(contentsOfFile: path, encoding: .utf8))
    }

    @Test func `are both exported, and imported`() throws {
        try override()
        let exported = try tweak("export", object).output
        expectMembers(in: exported)
        let file = try home.write("preset.json", exported)
        _ = try tweak("reset", object, "--all")
        _ = try tweak("import", object, file)
        for (index, name) in Self.names.enumerated() {
            #expect(try tweak("get", object, "Test/Values/\(name)").output == "\(index)\n")
        }
    }

    @Test func `are both dumped`() throws {
        let output = try dump(["--format", "json", object], home: home).output
        for name in Self.names {
            #expect(Data(output.utf8).range(of: Data("\"name\" : \"\(name)\"".utf8)) != nil)
        }
    }
}
