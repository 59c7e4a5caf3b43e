// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakRecords
import TweakSources

/// A source that does not fit the program, and the reason that people read.
struct UnfitSource: CustomTestStringConvertible, Sendable {
    let name: String
    /// The source; the record says that the tweak is in the line with `HERE`, which is left out.
    let text: String
    let reason: String
    var type = TweakType.double
    var former: TweakValue = 1.0
    var value: TweakValue = 2.0

    init(
        _ name: String, _ text: String, _ reason: String, _ type: TweakType = .double,
        _ former: TweakValue = 1.0, _ value: TweakValue = 2.0
    ) {
        (self.name, self.text, self.reason) = (name, text, reason)
        (self.type, self.former, self.value) = (type, former, value)
    }

    var testDescription: String { reason }

    static let all = [
        UnfitSource("a.c", "double d = 1.0;HERE", "it is no longer declared there"),
        UnfitSource("a.c", "HERE\n\n\(call("1.0"))", "it is declared in line "),
        UnfitSource(
            "a.c", "\(call("1.0"))\n\n\(call("1.0"))\nHERE", " and others now; build the program again"),
        UnfitSource("a.c", "HERE" + call("1.0 * 2"), "its default is an expression: 1.0 * 2"),
        UnfitSource("a.c", "#define GAIN 1.0\nHERE" + call("GAIN"), "its default is the macro GAIN"),
        UnfitSource("a.c", "HERE" + call("gain"), "its default is the constant gain"),
        UnfitSource("a.cpp", "HERE" + call("Motor::gain"), "its default is the constant Motor::gain"),
        UnfitSource("a.c", "HERE" + call("limit(1)"), "its default is an expression: limit(1)"),
        UnfitSource(
            "a.c", "#define GAIN 1.0\nHERE" + call("GAIN * 2"), "its default contains the macro GAIN"),
        UnfitSource(
            "a.c", "#define GAIN(x) x\nHERE" + call("GAIN(1.0)"), "its default contains the macro GAIN"),
        UnfitSource(
            "a.c", "#define GAIN 2\nHERE" + call("(GAIN)-1.0"), "its default contains the macro GAIN"),
        UnfitSource("a.c", "HERE" + call("1.25"), "its default is 1.25 there and 1.0 in the program"),
        UnfitSource("a.c", "HERE" + call("sizeof(int)"), "its default is an expression: sizeof(int)"),
        UnfitSource(
            "a.c", "HERE" + call("DEBUG ? 1.0 : 2.0"), "its default is an expression: DEBUG ? 1.0 : 2.0"),
        UnfitSource("a.c", "HERE" + call("-(1.0)"), "its default is an expression: -(1.0)"),
        UnfitSource("a.c", "HERE" + call("(float)(int)1.0"), "its default is an expression", .float),
        UnfitSource(
            "a.c", "HEREFBTweakBind(d, \"A\", \"B\", \"C\", (int)1.5);",
            "its default is an expression: (int)1.5"),
        UnfitSource("a.cpp", "HERE" + call("1.0_kg"), "its default is an expression: 1.0_kg"),
        UnfitSource(
            "a.cpp", "HERE" + call("\"x\"_text"), "its default contains the macro _text", .string, "x", "y"),
        UnfitSource(
            "a.c", "HERE" + call("\"%\" PRId64"), "its default contains the macro PRId64", .string, "%ld", "y"
        ),
        UnfitSource("a.c", "HERE" + call("L\"x\""), "its default is an expression", .string, "x", "y"),
        UnfitSource("a.c", "HERE" + call("'ab'"), "its default is the character 'ab'", .int32, 1, 2),
        UnfitSource(
            "a.c", "HERE" + call("FBTweakRGB(r, 0, 0)"), "its default is an expression", .color, "red", "blue"
        ),
        UnfitSource(
            "a.c", "HERE" + call("\"text\""),
            "its default is \"text\" there and 1.0 in the program; build it again"),
        UnfitSource(
            "a.c", "#define CATEGORY \"A\"\nHEREdouble d = FBTweakValue(CATEGORY, \"B\", \"C\", 1.0);",
            "not written as three literals"),
        UnfitSource(
            "a.c", "#define GAIN(n) FBTweakValue(\"A\", \"B\", n, 1.0)\nHEREdouble d = GAIN(\"C\");",
            "the macro GAIN declares it"),
        UnfitSource(
            "a.c",
            "HEREdouble d = FBTweakValue(\"A\", \"B\", \"C\",\n#ifdef FAST\n 1.0\n#else\n 3.0\n#endif\n);",
            "a line of the preprocessor is inside its declaration"),
        UnfitSource("a.c", "// \(call("1.0"))HERE", "it is no longer declared there"),
        UnfitSource(
            "a.c", "const char *s = \"FBTweakValue(\\\"A\\\", \\\"B\\\", \\\"C\\\", 1.0)\";HERE",
            "it is no longer declared there"),
        UnfitSource("a.cpp", "auto s = R\"x(\(call("1.0")))x\";HERE", "it is no longer declared there"),
        UnfitSource(
            "a.c", "HEREdouble d = FBTweakValue(\"A\", \"B\", \"D\", 1.0);",
            "it is no longer declared there"),
        UnfitSource(
            "a.c", "HEREdouble d = FBTweakValue(\"A\", \"B\", \"C\", 1.0",
            "the parenthesis of the declaration there is not closed"),
        UnfitSource(
            "a.c", "HEREdouble d = FBTweakValue(\"A\", \"B\", \"C\");", "it has no default"),
        UnfitSource(
            "a.c", "HEREdouble d = FBTweakValue(\"A\", \"B\");", "the declaration there has too few arguments"
        ),
        UnfitSource("a.swift", "HERE" + swift("60.0 / 60"), "its default is an expression: 60.0 / 60"),
        UnfitSource("a.swift", "HERE" + swift("width"), "its default is the constant width"),
        UnfitSource("a.swift", "HERE" + swift("Self.width"), "its default is the constant Self.width"),
        UnfitSource("a.swift", "HERE" + swift("width()"), "its default is an expression: width()"),
        UnfitSource(
            "a.swift", "HERE" + swift("\"\\(width)\""), "its default is a text that is not literal", .string,
            "1", "2"),
        UnfitSource("a.swift", "HERElet d = 1.0", "it is no longer declared there"),
        UnfitSource(
            "a.swift", "HERE@Tweakable(\"A\", \"B\", \"C\") static var d = width",
            "its default is the constant width"),
        UnfitSource(
            "a.swift", "HERE@Tweakable(\"A\", \"B\", \"C\") static var d = 1.0\n  + 2",
            "its default is an expression: 1.0 + 2"),
        UnfitSource(
            "a.swift", "HERE@Tweakable(\"A\", \"B\", \"C\") static var d: Double", "its variable has no value"
        ),
        // The value of another variable is none of it.
        UnfitSource(
            "a.swift", "HERE@Tweakable(\"A\", \"B\", \"C\") static var d: [Double]?\n  let e = 1.0",
            "its variable has no value"),
        UnfitSource(
            "a.swift", "HERE@Tweakable(\"A\", \"B\", \"C\") static var d\n  var e = 1.0",
            "its variable has no value"),
        UnfitSource(
            "a.swift", "HERElet d = #tweak(\"A\", name, \"C\", default: 1.0)", "not written as three literals"
        ),
        UnfitSource("a.swift", "/* /* */ \(swift("1.0")) */HERE", "it is no longer declared there"),
        UnfitSource(
            "a.swift", "let s = \"\"\"\n  \(swift("1.0"))HERE\n  \"\"\"", "it is no longer declared there"),
        UnfitSource(
            "a.swift", "let s = \"\\(f(\"\\(\"\(swift("1.0"))\")\"))\"HERE",
            "it is no longer declared there"),
    ]

    private static func call(_ literal: String) -> String {
        "double d = FBTweakValue(\"A\", \"B\", \"C\", \(literal), 0, 9);"
    }
    private static func swift(_ literal: String) -> String {
        "let d = #tweak(\"A\", \"B\", \"C\", default: \(literal))"
    }
}

@Suite struct `Sources that do not fit the program` {
    private let sources: BakedSources

    init() throws { sources = try BakedSources() }

    /// Seven surroundings for each.
    @Test(arguments: UnfitSource.all)
    func `A source stays byte for byte, and the reason is said`(unfit: UnfitSource) throws {
        var generator = SeededGenerator(seed: 7)
        for variant in 0..<7 {
            let isSwift = unfit.name.hasSuffix("swift")
            let before = [
                "// a comment", isSwift ? "import Tweaks" : "#include <fbtweak.h>", "", "\t/* one\n   two */",
            ]
            var lines = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                before[Int.random(in: 0...3, using: &generator)]
            }
            lines.append(unfit.text)
            var text = lines.joined(separator: "\n") + (variant % 3 == 0 ? "" : "\n")
            let here = try #require(text.range(of: "HERE"))
            let line = text[..<here.lowerBound].count { $0 == "\n" } + 1
            text.removeSubrange(here)
            if variant % 2 == 1 { text = text.replacing("\n", with: "\r\n") }
            if variant == 4 { text = "\u{FEFF}" + text }
            try sources.home.write(unfit.name, text)
            let tweak = BakedSources.tweak(unfit.type, unfit.former, at: "\(unfit.name):\(line)")
            let baking = sources.plan([tweak]) { _ in unfit.value }
            try baking.write()
            #expect(try sources.bytes(unfit.name) == Array(text.utf8))
            #expect(baking.changes.isEmpty)
            let message = baking.staying.map(\.message).joined()
            #expect(message.hasPrefix("\(unfit.name):\(line): A/B/C is skipped: "))
            #expect(message.contains(unfit.reason), "\(message)")
        }
    }

    private static let call = "double d = FBTweakValue(\"A\", \"B\", \"C\", 1.0);\n"

    private func reason(_ tweak: TweakDeclaration, _ value: TweakValue = 2.0) -> String {
        let baking = sources.plan([tweak]) { _ in value }
        #expect(baking.changes.isEmpty)
        return baking.staying.map(\.message).joined(separator: "\n")
    }

    @Test(arguments: [
        "/* A Bison parser, made by GNU Bison 3.8.2.  DO NOT EDIT */\n",
        "// Code generated by protoc-gen-go. DO NOT EDIT.\n",
        "\n/*\n * @generated\n */\n", "// This file was automatically generated.\n",
    ])
    func `A generated file stays`(comment: String) throws {
        try sources.home.write("a.c", comment + Self.call)
        let line = comment.count { $0 == "\n" } + 1
        #expect(reason(BakedSources.tweak(.double, 1.0, at: "a.c:\(line)")).contains("the file is generated"))
        #expect(try sources.text("a.c") == comment + Self.call)
    }

    @Test func `A file that is not writable stays, but has a difference`() throws {
        let path = try sources.home.write("a.c", Self.call)
        try #require(chmod(path, 0o444) == 0)
        let tweak = BakedSources.tweak(.double, 1.0, at: "a.c:1")
        #expect(reason(tweak) == "a.c:1: A/B/C is skipped: the file is not writable")
        #expect(sources.plan([tweak], isWriting: false) { _ in 2.0 }.changes.count == 1)
    }

    @Test func `A value outside the limits of one place keeps all of them`() throws {
        try sources.home.write("a.c", Self.call)
        try sources.home.write("b.c", Self.call)
        let wide = BakedSources.tweak(.double, 1.0, at: "a.c:1")
        var narrow = BakedSources.tweak(.double, 1.0, at: "b.c:1")
        narrow.maximum = 1.5
        let baking = sources.plan([wide, narrow]) { _ in 2.0 }
        #expect(baking.changes.isEmpty)
        #expect(
            baking.staying.map(\.message) == [
                "b.c:1: A/B/C is skipped: the value is outside the limits; allowed: a number of at most 1.5"
            ])
    }

    @Test func `A place in no file, or in none that exists, is said`() throws {
        #expect(
            reason(BakedSources.tweak(.double, 1.0, at: "gone/a.c:1"))
                == "gone/a.c:1: A/B/C is skipped: no such file; give the source folder with --from"
        )
        #expect(
            reason(BakedSources.tweak(.double, 1.0, at: "nowhere")).contains("does not contain its place"))
        try FileManager.default.createDirectory(
            atPath: sources.home("folder"), withIntermediateDirectories: true)
        #expect(
            reason(BakedSources.tweak(.double, 1.0, at: "folder:1"))
                == "folder:1: A/B/C is skipped: a directory is in place of the file")
    }

    @Test func `A file that changes after it was read is not overwritten, and neither is another`() throws {
        for name in ["a.c", "b.c"] { try sources.home.write(name, Self.call) }
        let baking = sources.plan(["a.c:1", "b.c:1"].map { BakedSources.tweak(.double, 1.0, at: $0) }) { _ in
            2.0
        }
        #expect(baking.changes.count == 2)
        try sources.home.write("b.c", Self.call + "// edited\n")
        #expect(throws: (any Error).self) { try baking.write() }
        #expect(try sources.text("a.c") == Self.call)
        #expect(try sources.text("b.c") == Self.call + "// edited\n")
    }

    @Test func `A folder that becomes a link after a file in it was read leads nowhere else`() throws {
        for folder in ["within", "other"] { try sources.home.write(folder + "/a.c", Self.call) }
        let tweak = BakedSources.tweak(.double, 1.0, at: "within/a.c:1")
        let baking = sources.plan([tweak]) { _ in 2.0 }
        #expect(baking.changes.count == 1)
        try FileManager.default.removeItem(atPath: sources.home("within"))
        try FileManager.default.createSymbolicLink(
            atPath: sources.home("within"), withDestinationPath: sources.home("other"))
        #expect(throws: (any Error).self) { try baking.write() }
        #expect(try sources.text("other/a.c") == Self.call)
    }

    @Test func `The other tweaks of a file change`() throws {
        try sources.home.write("a.c", Self.call + "double e = FBTweakValue(\"A\", \"B\", \"D\", GAIN);\n")
        let baking = sources.plan([
            BakedSources.tweak(.double, 1.0, at: "a.c:1"),
            BakedSources.tweak(.double, 1.0, at: "a.c:2", TweakKey("A", "B", "D")),
        ]) { _ in 2.0 }
        #expect(baking.changes.map(\.tweak.name) == ["C"])
        #expect(
            baking.staying.map(\.message) == ["a.c:2: A/B/D is skipped: its default is the constant GAIN"])
    }

    /// As in fuzzing: nothing traps, and nothing else than the literal is replaced.
    @Test func `Damaged sources are read to their ends`() throws {
        let c = Self.call + "#define X(a) R\"x(\\\n)x\" 'a' /* */ u8\"\\x41\"\n" + Self.call
        let swift =
            "let a = #tweak(\"A\", \"B\", \"C\", default: 1.0) // x\nlet s = #\"\\#(f(\"\"\"\n\"\"\"))\"# /a[/]b/\n"
        for (name, text) in [("a.c", c), ("a.swift", swift)] {
            for bytes in damaged(Array(text.utf8), count: isLong ? 5000 : 500) {
                try sources.home.write(name, Data(bytes))
                for line in 1...3 {
                    let baking = sources.plan([BakedSources.tweak(.double, 1.0, at: "\(name):\(line)")]) {
                        _ in 2.0
                    }
                    // The damage may have made `1` or `1.` of the literal.
                    for change in baking.changes {
                        #expect(["2.0", "2.", "2"].contains(String(decoding: change.newText, as: UTF8.self)))
                    }
                }
            }
        }
    }
}
