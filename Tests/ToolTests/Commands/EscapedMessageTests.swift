// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// Text of every kind that a terminal takes for something else: colours, a title, 8-bit controls, a newline, a change of
/// direction.
private let hostile = "x\u{1B}[31m\u{1B}]0;t\u{7}\u{9B}2J\u{7F}\n\u{202E}\u{2066}\u{200F}\u{61C}y"
private let escaped =
    #"x\u{1b}[31m\u{1b}]0;t\u{7}\u{9b}2J\u{7f}\u{a}\u{202e}\u{2066}\u{200f}\u{61c}y"#

extension CommandResult {
    /// Sees that each line of standard error is what it looks like.
    fileprivate func expectEscaped(
        lines count: Int? = nil, _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(error.contains(escaped), sourceLocation: location)
        if let count { #expect(errorLines.count == count, sourceLocation: location) }
        let dangerous = error.unicodeScalars.filter {
            $0 != "\n" && [.control, .format, .lineSeparator].contains($0.properties.generalCategory)
        }
        #expect(dangerous.isEmpty, sourceLocation: location)
    }
}

@Suite struct `Messages of the library` {
    private let program: SetterProgram

    init() throws { program = try SetterProgram() }

    private func writeOverrides(_ object: Any) throws {
        try program.writeOverrides(JSONSerialization.data(withJSONObject: object))
    }

    @Test func `A value in the overrides is escaped`() throws {
        try writeOverrides(["Setter": ["Values": ["Count": hostile]]])
        try program.setter("show").expectEscaped(lines: 1)
    }

    @Test func `A variable of the environment is escaped`() throws {
        try program.setter("show", environment: ["TWEAK_SETTER__VALUES__COUNT": hostile])
            .expectEscaped(lines: 1)
    }

    @Test func `A path is escaped`() throws {
        let directory = program.home(hostile)
        try FileManager.default.createDirectory(
            atPath: directory + "/tweaks/tweak-setter", withIntermediateDirectories: true)
        try Data("bad".utf8).write(
            to: URL(fileURLWithPath: directory + "/tweaks/tweak-setter/overrides.json"))
        try program.setter("show", environment: ["XDG_CONFIG_HOME": directory]).expectEscaped(lines: 1)
    }

    @Test func `Bytes that are not UTF-8 are escaped`() throws {
        let result = try program.setter(
            in: #"TWEAK_SETTER__VALUES__COUNT=$(printf 'a\377b') exec "$@""#, ["show"])
        #expect(result.errorLines.count == 1)
        #expect(result.error.contains(#""a\u{fffd}b""#))
    }
}

@Suite struct `Messages about arguments` {
    private let program: SetterProgram

    init() throws { program = try SetterProgram() }

    @Test func `What generate does not take is escaped`() throws {
        let result = try program.command(["generate", "accessors", "--accessor-class-name", hostile])
        #expect(result.status == 64)
        result.expectEscaped()
    }

    @Test(arguments: [["\u{1B}[31m"], ["--\u{1B}[31m"], ["list", "a", "b", "\u{1B}[31m"]])
    func `What no command takes is escaped`(arguments: [String]) throws {
        let result = try program.command(arguments)
        #expect(result.status == 64)
        #expect(result.error.contains(#"\u{1b}[31m"#))
        #expect(!result.error.contains("\u{1B}"))
    }

    @Test(arguments: [
        ["list", "a", "b", hostile], ["list", "--format", hostile, "a"],
        ["list", "--format=\(hostile)", "a"],
        ["list", "--\(hostile)", "a"], ["list", "--\(hostile)=1", "a"], [hostile],
    ])
    func `A newline that no command takes begins no line`(arguments: [String]) throws {
        let result = try program.command(arguments)
        #expect(result.status == 64)
        result.expectEscaped()
        #expect(!result.errorLines.contains { $0.hasPrefix("\\u{202e}") })
    }

    @Test(arguments: [
        ["--format", hostile, "a"], ["--format=\(hostile)", "a"], ["--\(hostile)", "a"], ["\(hostile)"],
    ])
    func `What tweak-dump does not take is escaped`(arguments: [String]) throws {
        let result = try dump(arguments, home: program.home)
        #expect(result.status == (arguments.count == 1 ? 66 : 64))
        result.expectEscaped()
    }
}
