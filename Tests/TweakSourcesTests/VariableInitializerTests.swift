// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakRecords
import TweakSources

@Suite struct `Initializers of variables` {
    private let sources: BakedSources

    init() throws { sources = try BakedSources() }

    /// Bakes a value into the declaration of the variable `gain`, or another one, in the line with `HERE`, which is left
    /// out.
    ///
    /// - Returns: The new source, and the reasons why the variable stays.
    private func baked(
        _ text: String, as file: String = "app.cpp", _ type: TweakType, _ former: TweakValue,
        _ value: TweakValue, variable: String = "gain", choices: [TweakChoice] = []
    ) throws -> (text: String, reasons: [String]) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let line = (lines.firstIndex { $0.contains("HERE") } ?? 0) + 1
        try sources.home.write(file, text.replacing("HERE", with: ""))
        let tweak = BakedSources.tweak(type, former, at: "\(file):\(line)", choices: choices)
        var baking = SourceBaking(
            folders: SourceFolders(given: nil, working: sources.home.path), isWriting: true)
        baking.add([CompiledDeclaration(tweak)], variable: variable) { (tweak) throws(TweakValueError) in
            try tweak.admit(value)
        }
        try baking.write()
        return (try sources.text(file), baking.staying.map(\.reason))
    }

    @Test(arguments: [
        ("double gain = 2.5;", "double gain = 3.25;"),
        ("static volatile double gain = 2.5;", "static volatile double gain = 3.25;"),
        ("double other = 2.5, gain = 2.5; // gain", "double other = 2.5, gain = 3.25; // gain"),
        ("std::vector<int> v; double gain{2.5};", "std::vector<int> v; double gain{3.25};"),
        ("double gain = { 25e-1 };", "double gain = { 32.5e-1 };"),
        ("double ns::Type::gain = 2.5;", "double ns::Type::gain = 3.25;"),
        ("alignas(8) double gain = +2.5;", "alignas(8) double gain = +3.25;"),
        ("std::atomic<double> gain{2.5};", "std::atomic<double> gain{3.25};"),
        (
            "void f() { static double gain = 2.5; gain = 7; }",
            "void f() { static double gain = 3.25; gain = 7; }"
        ),
        ("double one = gain, two;double gain = 2.5;", "double one = gain, two;double gain = 3.25;"),
        (
            "#if 0\ndouble gain = 2.5;\n#else\nHEREdouble gain = 2.5;\n#endif",
            "#if 0\ndouble gain = 2.5;\n#else\ndouble gain = 3.25;\n#endif"
        ),
        ("double\n  HEREgain =\n  2.5;", "double\n  gain =\n  3.25;"),
    ])
    func `change alone`(text: String, expected: String) throws {
        let result = try baked(text, .double, 2.5, 3.25)
        #expect(result.reasons.isEmpty && result.text == expected)
    }

    @Test func `keep their notation`() throws {
        #expect(try baked("unsigned gain = 0xFFu;", .uint32, 255, 16).text == "unsigned gain = 0x10u;")
        #expect(try baked("int gain = -7;", .int32, -7, 8).text == "int gain = 8;")
        #expect(try baked("bool gain = true;", .bool, true, false).text == "bool gain = false;")
        #expect(try baked("float gain = 1.5f;", .float, 1.5, 0.1).text == "float gain = 0.1f;")
        #expect(try baked("char gain = 'a';", .int8, 97, 98).text == "char gain = 'b';")
    }

    @Test func `of enumerations are other enumerators`() throws {
        let choices = [TweakChoice(0, label: "SLOW"), TweakChoice(5, label: "FAST")]
        let plain = try baked("enum gain gain = SLOW;", .int32, 0, 5, choices: choices)
        #expect(plain.reasons.isEmpty && plain.text == "enum gain gain = FAST;")
        let scoped = try baked("ns::Mode gain = ns::Mode::SLOW;", .int32, 0, 5, choices: choices)
        #expect(scoped.text == "ns::Mode gain = ns::Mode::FAST;")
    }

    /// The names come from debug information, which anybody may have written.
    @Test(arguments: [
        "m;__attribute__((constructor)) void p(){}", "FAST; int x", "FAST, x = 1", "FAST }", "(FAST)",
        "FAST // x",
        "FAST/* */", "\"FAST\"", "5", "sizeof", "FAST SLOW", "FA\u{202E}ST", "FA\u{85}ST", "\n#include \"x\"",
        "FA\\\nST",
        "FA\\u0041ST", "", "#", "a.b", "a::b", "FAST\u{0}",
    ])
    func `of enumerations are only names`(label: String) throws {
        let choices = [TweakChoice(0, label: "SLOW"), TweakChoice(5, label: label)]
        for text in ["enum gain gain = SLOW;", "ns::Mode gain = ns::Mode::SLOW;"] {
            let result = try baked(text, .int32, 0, 5, choices: choices)
            #expect(result.text == text)
            #expect(
                result.reasons == [
                    "\(TweakValue.string(label).quoted) is the name of the value in the debug information, "
                        + "not an identifier"
                ])
        }
    }

    @Test(arguments: ["FAST", "_fast2", "schnell_größer", "快"]) func `of enumerations can have any name`(
        label: String
    ) throws {
        let choices = [TweakChoice(0, label: "SLOW"), TweakChoice(5, label: label)]
        let result = try baked("enum gain gain = SLOW;", .int32, 0, 5, choices: choices)
        #expect(result.reasons == [] && result.text == "enum gain gain = \(label);")
    }

    @Test(arguments: [
        ("double gain = BASE;", "its default is the constant BASE"),
        ("#define BASE 2.5\nHEREdouble gain = BASE;", "its default is the macro BASE"),
        ("double gain = 2 * 1.25;", "its default is an expression: 2 * 1.25"),
        ("double gain;", "the variable gain has no initializer there"),
        ("double gain[] = { 2.5 };", "the declaration of the variable gain there cannot be read"),
        ("double *gain = 2.5;", "the declaration of the variable gain there cannot be read"),
        ("MAKE(gain, 2.5)", "the declaration of the variable gain there cannot be read"),
        ("other.gain = 2.5;", "the declaration of the variable gain there cannot be read"),
        ("gain = 2.5;", "the declaration of the variable gain there cannot be read"),
        ("void f() { other = 1, gain = 2.5; }", "the declaration of the variable gain there cannot be read"),
        ("double other = 2.5;", "the variable gain is no longer declared there"),
        ("\ndouble gain = 2.5;", "the variable gain is no longer declared there"),
        (
            "double gain = 2.5; void f() { double gain = 2.5; }",
            "the variable gain is declared 2 times in that line"
        ),
        ("double gain = 4;", "its default is 4 there and 2.5 in the program; build it again"),
        ("double gain = 2.5", "the initializer of the variable gain there has no end"),
        ("double gain = (2.5", "the initializer of the variable gain there has no end"),
    ])
    func `stay if they are anything else`(text: String, reason: String) throws {
        let result = try baked(text, .double, 2.5, 3.25)
        #expect(result.reasons == [reason])
        #expect(result.text == text.replacing("HERE", with: ""))
    }

    /// A part, the source, and the source with 3.25 where 2.5 was for the part.
    @Test(arguments: [
        (
            "gain.kp", "struct pid gain = {.kp = 2.5, .ki = 2.5};",
            "struct pid gain = {.kp = 3.25, .ki = 2.5};"
        ),
        (
            "gain.ki", "struct pid gain = {.kp = 2.5, .ki = 2.5,};",
            "struct pid gain = {.kp = 2.5, .ki = 3.25,};"
        ),
        ("gain.kp", "Pid gain = {.kp = 2.5, 2.5};", "Pid gain = {.kp = 3.25, 2.5};"),
        ("gain.kp", "Pid gain{.kp{2.5}, .ki{2.5}};", "Pid gain{.kp{3.25}, .ki{2.5}};"),
        (
            "gain.kp", "struct gain { int kp; } gain = {.kp = 2.5};",
            "struct gain { int kp; } gain = {.kp = 3.25};"
        ),
        (
            "gain.a.kp", "static struct { struct { int kp; } a; } gain = {.a = {.kp = 2.5}};",
            "static struct { struct { int kp; } a; } gain = {.a = {.kp = 3.25}};"
        ),
        (
            "gain.a.kp", "struct p gain = {.a.kp = 2.5, .a.ki = 2.5};",
            "struct p gain = {.a.kp = 3.25, .a.ki = 2.5};"
        ),
        (
            "gain.a.kp", "struct p gain = {.b = {.kp = 2.5}, .a = {.kp = 2.5}};",
            "struct p gain = {.b = {.kp = 2.5}, .a = {.kp = 3.25}};"
        ),
        (
            "gain.ki", "struct pid { double kp, ki; int n[2]; } gain = {1.0, 2.5, {3}};",
            "struct pid { double kp, ki; int n[2]; } gain = {1.0, 3.25, {3}};"
        ),
        (
            "gain.ki",
            "typedef struct { unsigned int n; double ki; } Pid;\nHEREstatic volatile Pid gain = {1, 2.5};",
            "typedef struct { unsigned int n; double ki; } Pid;\nstatic volatile Pid gain = {1, 3.25};"
        ),
        (
            "gain[1].ki",
            "struct pid { double kp; double ki; };\nHEREstruct pid gain[2] = {{1, 2}, {.kp = 3, 2.5}};",
            "struct pid { double kp; double ki; };\nstruct pid gain[2] = {{1, 2}, {.kp = 3, 3.25}};"
        ),
        ("gain[1]", "double gain[3] = {2.5, 2.5, 2.5};", "double gain[3] = {2.5, 3.25, 2.5};"),
        ("gain[1]", "double gain[] = {-1.0, 2.5}, x;", "double gain[] = {-1.0, 3.25}, x;"),
        ("gain[3]", "double gain[8] = {[2] = 2.5, 2.5, 2.5};", "double gain[8] = {[2] = 2.5, 3.25, 2.5};"),
        ("gain[3]", "double gain[8] = {ALL, [0x3] = 2.5};", "double gain[8] = {ALL, [0x3] = 3.25};"),
        (
            "gain[1][0]", "double gain[2][2] = {{2.5, 2.5}, {2.5, 2.5}};",
            "double gain[2][2] = {{2.5, 2.5}, {3.25, 2.5}};"
        ),
        (
            "gain[1].kp", "Pid gain[2] = {{.kp = 2.5}, {.kp = 2.5}};",
            "Pid gain[2] = {{.kp = 2.5}, {.kp = 3.25}};"
        ),
        ("gain[1].kp", "Pid gain[2] = {[1].kp = 2.5};", "Pid gain[2] = {[1].kp = 3.25};"),
        ("gain.kp[2]", "struct p gain = {.kp = {1, 2, 2.5}};", "struct p gain = {.kp = {1, 2, 3.25}};"),
        ("gain.kp", "struct p gain = {.kp = { 2.5 /* , */ }};", "struct p gain = {.kp = { 3.25 /* , */ }};"),
    ])
    func `of parts change where their place is certain`(part: String, text: String, expected: String) throws {
        let result = try baked(text, .double, 2.5, 3.25, variable: part)
        #expect(result.reasons == [])
        #expect(result.text == expected)
    }

    @Test(arguments: [
        ("gain.kp", "Pid gain = {2.5, 2.5};", "its initializer does not name all members; write .kp = there"),
        (
            "gain.ki", "struct pid { pair kp; double ki; } gain = {1, 2.5};",
            "its initializer does not name all members; write .ki = there"
        ),
        (
            "gain.ki", "struct pid { double kp[2], ki; } gain = {1, 2.5};",
            "its initializer does not name all members; write .ki = there"
        ),
        (
            "gain.ki", "struct pid { double kp, ki; pid(double, double); } gain = {1, 2.5};",
            "its initializer does not name all members; write .ki = there"
        ),
        (
            "gain.ki", "struct pid : base { double kp, ki; };\nHEREpid gain = {1, 2.5};",
            "its initializer does not name all members; write .ki = there"
        ),
        (
            "gain.ki", "struct pid { unsigned kp : 3, ki; } gain = {1, 2.5};",
            "its initializer does not name all members; write .ki = there"
        ),
        (
            "gain.ki", "union pid { double kp, ki; } gain = {1, 2.5};",
            "its initializer does not name all members; write .ki = there"
        ),
        (
            "gain.ki", "struct pid {\n#ifdef A\ndouble kp;\n#endif\ndouble ki; };\nHEREpid gain = {1, 2.5};",
            "its initializer does not name all members; write .ki = there"
        ),
        (
            "gain.ki", "#if 0\nstruct pid { double kp, ki; };\n#endif\nHEREpid gain = {1, 2.5};",
            "its initializer does not name all members; write .ki = there"
        ),
        (
            "gain.ki",
            "#ifdef A\nstruct pid { double kp, ki; };\n#else\nstruct pid { double ki; };\n#endif\nHEREpid gain = {1, 2.5};",
            "its initializer does not name all members; write .ki = there"
        ),
        (
            "gain.ki", "struct pid { double kp, ki; };\nHEREns::pid gain = {1, 2.5};",
            "its initializer does not name all members; write .ki = there"
        ),
        (
            "gain.ki", "struct pid { double kp, ki; } gain = {BOTH, 2.5};",
            "its initializer has BOTH before it, which may be several values; write .ki = there"
        ),
        ("gain.kp", "Pid gain = {.ki = 2.5};", "its initializer has no value for .kp; write one there"),
        ("gain.kp", "Pid gain = {.kp = 2.5, .kp = 2.5};", "its initializer has two values for it"),
        (
            "gain.ki", "Pid gain = {.kp = 2.5, 2.5};",
            "its initializer does not name all members; write .ki = there"
        ),
        (
            "gain[1]", "double gain[3] = {1, 2.5, 3, [0] = 1, 2.5};", "its initializer has two values for it"
        ),
        ("gain.kp", "Pid gain = {.kp = BASE};", "its default is the constant BASE"),
        (
            "gain.kp", "Pid gain = Pid{.kp = 2.5};",
            "the initializer of the variable gain is not a list in braces: Pid{.kp = 2.5}"
        ),
        ("gain.kp", "Pid gain = BASE;", "the initializer of the variable gain is not a list in braces: BASE"),
        ("gain.kp", "Pid gain;", "the variable gain has no initializer there"),
        (
            "gain.kp", "void f(void) { { } gain = (struct p){.kp = 2.5}; }",
            "the declaration of the variable gain there cannot be read"
        ),
        ("gain[1].kp", "Pid gain[3];", "the variable gain has no initializer there"),
        (
            "gain[1]", "double gain[8] = {[9223372036854775807] = 1, 2.5};",
            "its initializer has a designator that cannot be read: [9223372036854775807] = 1"
        ),
        ("gain.kp", "Pid gain = {.kp = 4};", "its default is 4 there and 2.5 in the program; build it again"),
        ("gain[4]", "double gain[8] = {1, 2.5};", "its initializer has no value for [4]; write one there"),
        (
            "gain[1]", "double gain[8] = {f(1, 2), 2.5};",
            "its initializer has f before it, which may be several values; write [1] = there"
        ),
        (
            "gain[1]", "double gain[8] = {ALL};",
            "its initializer has ALL before it, which may be several values; write [1] = there"
        ),
        (
            "gain[1]", "double gain[8] = {[0 ... 7] = 2.5};",
            "its initializer has a designator that cannot be read: [0 ... 7] = 2.5"
        ),
        (
            "gain[1]", "double gain[8] = {[ONE] = 2.5};",
            "its initializer has a designator that cannot be read: [ONE] = 2.5"
        ),
        (
            "gain[1]", "double gain[8] = {1,\n#include \"rest\"\n2.5};",
            "the initializer of the variable gain there has no end"
        ),
        (
            "gain[1][0]", "double gain[2][2] = {1, 2, 2.5, 4};",
            "its initializer does not have all braces; write those of 1"
        ),
        (
            "gain[1][1]", "double gain[2][2] = {[1][0] = 2.5, {2.5}};",
            "its initializer continues after a part; write [1] = there"
        ),
        ("gain.a.kp", "P gain = {.a = BASE};", "its initializer has BASE where braces with .kp would be"),
        ("gain.{…}.kp", "P gain = {.kp = 2.5};", "app.cpp:gain.{…}.kp is a part that has no name of its own"),
        (
            "gain.kp", "#if 0\nHEREPid gain = {.kp = 2.5};\n#endif",
            "it is in a part of the file that is never compiled"
        ),
    ])
    func `of parts stay if their place is not certain`(part: String, text: String, reason: String) throws {
        let result = try baked(text, .double, 2.5, 3.25, variable: "app.cpp:" + part)
        #expect(result.reasons == [reason])
        #expect(result.text == text.replacing("HERE", with: ""))
    }

    @Test(arguments: [
        ("var gain = 2.5", "var gain = 3.25"),
        (
            "public static var gain: Double = 2.5; let x = 2.5",
            "public static var gain: Double = 3.25; let x = 2.5"
        ),
        (
            "nonisolated(unsafe) var gain: Swift.Double = 25e-1 // x",
            "nonisolated(unsafe) var gain: Swift.Double = 32.5e-1 // x"
        ),
        ("enum A { static var `gain` = 2.5 }", "enum A { static var `gain` = 3.25 }"),
        ("var gain = 2.5, other = 2.5", "var gain = 3.25, other = 2.5"),
        ("var gain\n  =\n  2.5", "var gain\n  =\n  3.25"),
    ])
    func `in Swift change alone`(text: String, expected: String) throws {
        let result = try baked(text, as: "app.swift", .double, 2.5, 3.25, variable: "Game.Tuning.gain")
        #expect(result.reasons == [])
        #expect(result.text == expected)
    }

    @Test func `in Swift keep their notation`() throws {
        func text(_ text: String, _ type: TweakType, _ former: TweakValue, _ value: TweakValue) throws
            -> String
        {
            let result = try baked(text, as: "app.swift", type, former, value)
            #expect(result.reasons == [])
            return result.text
        }
        #expect(try text("var gain: UInt8 = 0x1F", .uint8, 31, 200) == "var gain: UInt8 = 0xC8")
        #expect(try text("var gain = -7", .int64, -7, 1_000_000) == "var gain = 1000000")
        #expect(try text("var gain = true", .bool, true, false) == "var gain = false")
        #expect(try text("var gain: Float = 1.5", .float, 1.5, 0.1) == "var gain: Float = 0.1")
    }

    @Test(arguments: [
        ("var gain = base", "its default is an expression: base"),
        ("var gain = 2 * 1.25", "its default is an expression: 2 * 1.25"),
        ("var gain: Duration = .zero", "its default is an expression: .zero"),
        ("var gain = 2.5 { didSet { } }", "its default is an expression: 2.5 { didSet { } }"),
        ("var gain: Double", "the variable gain has no initial value there"),
        ("var gain: Double\nlet other = 2.5", "the variable gain has no initial value there"),
        ("var gain: Double { 2.5 }", "the variable gain has no initial value there"),
        ("let gain = 2.5", "the declaration of the variable gain there cannot be read"),
        ("var other = 2.5, gain = 2.5", "the declaration of the variable gain there cannot be read"),
        ("gain = 2.5", "the declaration of the variable gain there cannot be read"),
        ("var other = 2.5", "the variable gain is no longer declared there"),
        ("var gain = 2.5; func f() { var gain = 2.5 }", "the variable gain is declared 2 times in that line"),
        ("var gain = 4.0", "its default is 4.0 there and 2.5 in the program; build it again"),
        ("#if false\nHEREvar gain = 2.5\n#endif", "it is in a part of the file that is never compiled"),
        (
            "#sourceLocation(file: \"a.swift\", line: 2)\nHEREvar gain = 2.5",
            "#sourceLocation gives the lines of the file other numbers"
        ),
    ])
    func `in Swift stay if they are anything else`(text: String, reason: String) throws {
        let result = try baked(text, as: "app.swift", .double, 2.5, 3.25)
        #expect(result.reasons == [reason])
        #expect(result.text == text.replacing("HERE", with: ""))
    }

    /// The file of the program has zero for it.
    @Test func `in Swift stay if the program sets them when it runs`() throws {
        let reason =
            "its default 2.5 is not in the program's file: the program sets it when it runs, or was built from another source"
        #expect(try baked("var gain = 2.5", as: "main.swift", .double, 0.0, 3.25).reasons == [reason])
    }

    /// As in fuzzing: nothing traps, and nothing else than the literal is replaced.
    @Test(arguments: [
        (
            "app.c", "gain[1].kp[1]",
            "struct p gain[2] = {[0].kp[0] = 1, {.ki = 2, .kp = {1, 2.5,}}}, x = {3};\n"
        ),
        ("app.c", "gain", "static double const other{1}, gain = {+2.5}; /* x */\n"),
        (
            "app.swift", "Game.gain",
            "enum A { static var other: [Int] = [1], x; static var gain: Double = 2.5 }\n"
        ),
    ])
    func `in damaged sources are read to their ends`(file: String, part: String, text: String) throws {
        for bytes in damaged(Array(text.utf8), count: isLong ? 5000 : 500) {
            try sources.home.write(file, Data(bytes))
            let tweak = BakedSources.tweak(.double, 2.5, at: "\(file):1")
            var baking = SourceBaking(
                folders: SourceFolders(given: nil, working: sources.home.path), isWriting: true)
            baking.add([CompiledDeclaration(tweak)], variable: part) { (tweak) throws(TweakValueError) in
                try tweak.admit(3.25)
            }
            #expect(baking.changes.count + baking.staying.count == 1)
            for change in baking.changes {
                #expect(String(decoding: change.newText, as: UTF8.self).hasSuffix("3.25"))
            }
        }
    }

    @Test func `are those of the names without scopes`() throws {
        #expect(
            try baked("double gain = 2.5;", .double, 2.5, 3.25, variable: "app.cpp:ns::gain").text
                == "double gain = 3.25;")
    }
}
