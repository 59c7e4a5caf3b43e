// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakRecords
import TweakSources

private let replacer = try? Locations.program("clang-apply-replacements-14")

@Suite struct `Files of all kinds` {
    private let sources: BakedSources

    init() throws { sources = try BakedSources() }

    private static func use(_ name: String, _ literal: String) -> String {
        "FBTweakValue(\"A\", \"B\", \"\(name)\", \(literal))"
    }

    private func key(_ name: String) -> TweakKey { TweakKey("A", "B", name) }

    /// Compiles a file, bakes 2.0 into all its tweaks, and returns its bytes.
    private func baked(_ name: String, _ bytes: [UInt8], _ compiler: Compiler = .gcc) throws -> [UInt8] {
        try sources.home.write(name, Data(bytes))
        let records = try sources.compiled(name, compiler)
        #expect(!records.isEmpty)
        let baking = sources.plan(records) { _ in 2.0 }
        #expect(baking.staying.isEmpty, "\(baking.staying.map(\.message))")
        try baking.write()
        let rebuilt = try sources.compiled(name, compiler)
        #expect(rebuilt.allSatisfy { $0.defaultValue == 2.0 })
        let again = sources.plan(rebuilt) { _ in 2.0 }
        #expect(again.changes.isEmpty && again.staying.isEmpty)
        return try sources.bytes(name)
    }

    private static let header = "#include <fbtweak.h>\n"

    @Test(arguments: [
        "CRLF", "a mark and CRLF", "a mark", "no newline at the end", "tabs", "UTF-8", "Latin-1",
        "form feeds", "a CR in a line",
    ])
    func `All other bytes stay`(what: String) throws {
        let line = "double d(void) { return \(Self.use("C", "1.0")); }\n"
        var bytes = Array((Self.header + line).utf8)
        switch what {
        case "CRLF": bytes = Array((Self.header + line).replacing("\n", with: "\r\n").utf8)
        case "a mark and CRLF":
            bytes = Array(("\u{FEFF}" + Self.header + line).replacing("\n", with: "\r\n").utf8)
        case "a mark": bytes = Array(("\u{FEFF}" + Self.header + line).utf8)
        case "no newline at the end": bytes.removeLast()
        case "tabs": bytes = Array((Self.header + "\t\t" + line.replacing(" ", with: "\t")).utf8)
        case "UTF-8": bytes = Array((Self.header + "/* Größe → 😀 */ " + line + "// ü\n").utf8)
        case "Latin-1": bytes += Array("// Gr".utf8) + [0xFC, 0xDF] + Array("e\n".utf8)
        case "form feeds": bytes = Array((Self.header + "\u{0C}\n\u{0B}" + line).utf8)
        default: bytes = Array((Self.header + "/* a\r b */" + line).utf8)
        }
        let place = try #require(bytes.firstRange(of: Array("1.0".utf8)))
        var expected = bytes
        expected.replaceSubrange(place, with: Array("2.0".utf8))
        #expect(try baked("app.c", bytes) == expected)
    }

    /// A declaration with an exotic place, and its literals, in parentheses of their own.
    @Test(
        arguments: Compiler.allCases,
        [
            "double d(void) { return FBTweakValue(\n  \"A\",\n  \"B\",\n  \"C\",\n  1.0\n); }",
            "double d(void) { return \\\nFBTweakValue(\"A\", \"B\", \\\n  \"C\", 1.0); }",
            "double d(void) { return FBTweak\\\nValue(\"A\", \"B\", \"C\", 1\\\n.0); }",
            "double d(void) { return FBTweakValue(\"A\", /* , \"x\" ) */ \"B\", // )\n \"C\", 1.0); }",
            "double d(void) { return FBTweakValue(\"\" \"A\", \"\\102\", \"\\x43\", 1.0); }",
            "#define SAME(x) (x)\ndouble d(void) { return SAME(\n  SAME(FBTweakValue(\"A\", \"B\", \"C\", 1.0))); }",
            "#define TWICE(x, y) ((x) + (y))\ndouble d(void) { return TWICE(FBTweakValue(\"A\", \"B\", \"C\", 1.0), FBTweakValue(\"A\", \"B\", \"D\", 1.0)); }",
            "double d(void) { return FBTweakValue(\"A\", \"B\", \"C\", 1.0) + FBTweakValue(\"A\", \"B\", \"C\", 1.0); }",
            "double d(void) { return FBTweakValue(\"A\", \"B\", \"C\", 1.0) + FBTweakValue(\"A\", \"B\", \"D\", 1.0); }",
            "#line 700\ndouble d(void) { return FBTweakValue(\"A\", \"B\", \"C\", 1.0); }",
            "# 7 \"app.c\"\ndouble d(void) { return FBTweakValue(\"A\", \"B\", \"C\", 1.0); }",
            "#if 0\nFBTweakValue(\"A\", \"B\", \"C\", 1.0)\n#endif\ndouble d(void) { return FBTweakValue(\"A\", \"B\", \"C\", 1.0); }",
            "#ifdef __GNUC__\ndouble d(void) { return FBTweakValue(\"A\", \"B\", \"C\", 1.0); }\n#else\ndouble d(void) { return FBTweakValue(\"A\", \"B\", \"C\", 3.0); }\n#endif",
            "double d(void) {\n  double e;\n  FBTweakBind(e, \"A\", \"B\", \"C\",\n    1.0, 0, 9, FBTweakUnit(\"1.0\"));\n  FBTweakUnbind(e); return 0; }",
            "#error \"don't\"\n#undef X\ndouble d(void) { return FBTweakValue(\"A\", \"B\", \"C\", 1.0); }"
                .replacing("#error \"don't\"", with: "#define X don't"),
        ])
    func `A declaration is found where the compiler says`(compiler: Compiler, text: String) throws {
        let bytes = Array((Self.header + text + "\n").utf8)
        let new = String(decoding: try baked("app.c", bytes, compiler), as: UTF8.self)
        let used = text.contains("#if 0") ? 1 : 0
        let literal = text.contains("1\\\n.0") ? "1\\\n.0" : "1.0"
        var expected = (Self.header + text + "\n").components(separatedBy: literal)
        // The number in the unit, and what is not compiled, stay.
        let isUnit = text.contains("FBTweakUnit")
        let first = expected.removeFirst()
        var result = first
        for (index, part) in expected.enumerated() {
            let stays = index < used || (isUnit && index == 1)
            result += (stays ? literal : "2.0") + part
        }
        #expect(new == result)
    }

    /// Source: mitsuhiko/insta#833, where the code before a macro became part of the text, and its indentation too.
    @Test func `Code before a declaration over lines stays`() throws {
        let c = """
            #include <fbtweak.h>
            const char *text(void) { if (1) { const char *a = "one"; const char *b = FBTweakValue("A", "B",
                "C"
                , "one"
            ); return b ? b : a; } return "one"; }

            """
        #expect(
            try baked("app.c", c, "two\nthree")
                == c.replacing(", \"one\"", with: ", \"two\\nthree\""))
        let swift = """
            let a = "one", b = f("one", #tweak("A", "B",
                "C"
                , default: \"""
                    one
                    \"""
            ), "one")

            """
        let result = try sources.baked(swift, as: "app.swift", .string, "one", "two\nthree")
        #expect(result.reasons == [])
        #expect(
            result.text
                == swift.replacing("        one\n", with: "        two\n        three\n"))
    }

    /// Source: mitsuhiko/insta#857, fixed by #858, where the first text of several in one macro was written to the last.
    @Test(arguments: Compiler.allCases)
    func `Declarations in one macro have their own values`(compiler: Compiler) throws {
        let names = ["C", "D", "E", "F"]
        let uses = names.map { "  double \($0) = \(Self.use($0, "1.0"));\n" }.joined()
        try sources.home.write(
            "app.c",
            Self.header
                + "#define ALL(...) __VA_ARGS__\ndouble f(void) {\n  ALL({\n\(uses)  });\n  return 1.0;\n}\n")
        let before = try sources.text("app.c")
        let values: [String: TweakValue] = ["C": 2.5, "D": 3.5, "E": 1.0, "F": 5.5]
        let baking = sources.plan(try sources.compiled("app.c", compiler)) { values[$0.key.name] ?? .nothing }
        #expect(baking.changes.count == 3 && baking.staying.isEmpty, "\(baking.staying.map(\.message))")
        try baking.write()
        var expected = before
        for name in names {
            expected = expected.replacing(
                Self.use(name, "1.0"), with: Self.use(name, "\(values[name] ?? .nothing)"))
        }
        #expect(try sources.text("app.c") == expected)
    }

    /// Source: mitsuhiko/insta#865 and #866, where a text with carriage returns became a literal that has none.
    @Test(
        arguments: ["\"one\"", "R\"(one)\"", "R\"x(one)x\"", "\"o\" \"ne\""], ["a\rb", "a\r\nb\r\n", "\r"])
    func `Carriage returns in a text are in the rebuilt program`(literal: String, text: String) throws {
        for end in ["\n", "\r\n"] {
            let source = (Self.header + "const char *f() { return \(Self.use("C", literal)); }\n")
                .replacing("\n", with: end)
            let new = try baked("app.cpp", source, .string(text))
            let parts = source.components(separatedBy: literal)
            #expect(new.hasPrefix(parts[0]) && new.hasSuffix(parts[1]))
            #expect(!new.dropFirst(parts[0].count).dropLast(parts[1].count).utf8.contains(0x0D))
        }
        let swift = "let a = #tweak(\"A\", \"B\", \"C\", default: "
        for literal in ["\"one\"", "#\"one\"#", "\"\"\"\n  one\n  \"\"\""] {
            let result = try sources.baked(
                swift + literal + ")\n", as: "app.swift", .string, "one", .string(text))
            #expect(result.reasons == [] && !result.text.utf8.contains(0x0D))
        }
    }

    /// Source: mitsuhiko/insta#340, where a place that was there twice was replaced twice.
    @Test func `One place with several names changes once`() throws {
        let text = "double d = \(Self.use("C", "1.0")), e = 1.0;\n"
        try sources.home.write("app.c", text)
        try FileManager.default.createSymbolicLink(
            atPath: sources.home("link.c"), withDestinationPath: "app.c")
        let same = ["app.c:1", "./app.c:1", sources.home("app.c") + ":1", "link.c:1", "app.c:1"]
        let baking = sources.plan(same.map { BakedSources.tweak(.double, 1.0, at: $0) }) { _ in 12.125 }
        #expect(baking.changes.count == 1)
        try baking.write()
        #expect(try sources.text("app.c") == text.replacing("1.0)", with: "12.125)"))
    }

    /// Compiles a source, bakes a text into its tweak, compiles it again, and expects that the program has it.
    private func baked(_ name: String, _ text: String, _ value: TweakValue) throws -> String {
        try sources.home.write(name, text)
        let baking = sources.plan(try sources.compiled(name)) { _ in value }
        #expect(baking.changes.count == 1 && baking.staying.isEmpty, "\(baking.staying.map(\.message))")
        try baking.write()
        #expect(try sources.compiled(name).map(\.defaultValue) == [value])
        return try sources.text(name)
    }

    @Test func `The same name in ten files changes in all`() throws {
        var records: [TweakDeclaration] = []
        for index in 0..<10 {
            let name = index == 0 ? "shared.h" : "part \(index)/unit\(index).cpp"
            try sources.home.write(
                name, Self.header + "static inline double d\(index)() { return \(Self.use("C", "1.0")); }\n")
            if index > 0 {
                try sources.home.write(
                    name,
                    "#include \"../shared.h\"\n" + (try sources.text(name))
                        + "double e\(index)() { return d0() + d\(index)(); }\n")
                records += try sources.compiled(name)
            }
        }
        let baking = sources.plan(records) { _ in 2.0 }
        #expect(baking.changes.count == 10 && baking.staying.isEmpty, "\(baking.staying.map(\.message))")
        try baking.write()
        #expect(try sources.text("shared.h").contains("\"C\", 2.0)"))
        #expect(
            try (1..<10).allSatisfy { try sources.text("part \($0)/unit\($0).cpp").contains("\"C\", 2.0)") })
    }

    @Test func `A group of Swift changes by its properties`() throws {
        let text =
            "@Tweakable(\"A\", \"B\", \"Open\") static var open = TweakAnimation(duration: .milliseconds(300), curve: .easeIn)\n"
        try sources.home.write("app.swift", text)
        func tweak(_ name: String, _ type: TweakType, _ value: TweakValue, _ choices: [String] = [])
            -> TweakDeclaration
        {
            BakedSources.tweak(
                type, value, at: "app.swift:1", key("Open \(name)"),
                choices: choices.map { TweakChoice(.string($0)) })
        }
        let tweaks = [
            tweak("Duration", .double, 0.3), tweak("Curve", .string, "easeIn", ["easeIn", "linear"]),
            tweak("Delay", .double, 0.0),
        ]
        let values: [String: TweakValue] = ["Open Duration": 0.45, "Open Curve": "linear", "Open Delay": 1.0]
        let baking = sources.plan(tweaks) { values[$0.key.name] ?? .nothing }
        #expect(
            baking.staying.map(\.message) == [
                "app.swift:1: A/B/Open Delay is skipped: its default is that of TweakAnimation; write delay: there"
            ])
        try baking.write()
        #expect(
            try sources.text("app.swift")
                == text.replacing("300", with: "450").replacing("easeIn", with: "linear"))
    }

    @Test func `A feature of Swift changes`() throws {
        let text =
            "if #feature(\"Sound\", default: true), #feature(\"Sound\", part: \"Bass\", default: false) {}\n"
        try sources.home.write("app.swift", text)
        let tweaks = [("enabled", true), ("Bass", false)].map { name, value in
            BakedSources.tweak(.bool, .bool(value), at: "app.swift:1", TweakKey("Features", "Sound", name))
        }
        let baking = sources.plan(tweaks) { .bool($0.key.name == "Bass") }
        try baking.write()
        #expect(
            try sources.text("app.swift")
                == "if #feature(\"Sound\", default: false), #feature(\"Sound\", part: \"Bass\", default: true) {}\n"
        )
    }

    @Test func `Relative paths begin at the given folder, and absolute ones of another machine end there`()
        throws
    {
        let text = "double d = \(Self.use("C", "1.0"));\n"
        try sources.home.write("tree/src/app.c", text)
        for place in ["src/app.c:1", "../tree/src/app.c:1", "/builds/17/src/app.c:1"] {
            let baking = sources.plan(
                [BakedSources.tweak(.double, 1.0, at: place)], from: sources.home("tree")
            ) { _ in 2.0 }
            #expect(baking.changes.map(\.path) == [sources.home("tree/src/app.c")], "\(place)")
        }
    }

    @Test func `A link to a source stays, and its target changes`() throws {
        try sources.home.write("real.c", "double d = \(Self.use("C", "1.0"));\n")
        try FileManager.default.createSymbolicLink(
            atPath: sources.home("link.c"), withDestinationPath: "real.c")
        let baking = sources.plan([BakedSources.tweak(.double, 1.0, at: "link.c:1")]) { _ in 2.0 }
        try baking.write()
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: sources.home("link.c")) == "real.c")
        #expect(try sources.text("real.c").contains("2.0"))
    }
}

@Suite struct `Differences of sources` {
    private let sources: BakedSources

    init() throws { sources = try BakedSources() }

    private func command(_ name: String, _ arguments: [String], in folder: String? = nil) throws
        -> CommandResult
    {
        try run(Locations.program(name), arguments, home: sources.home, in: folder ?? sources.home.path)
    }

    /// Files with changes near each other and far apart, at the beginning and the end, with odd names and newlines.
    private func plan(_ folder: String) throws -> SourceBaking {
        func use(_ name: String) -> String { "FBTweakValue(\"A\", \"B\", \"\(name)\", 1.0)" }
        let filler = (0..<20).map { "int x\($0);" }
        let files: [String: [String]] = [
            "near.c": [use("a"), "", use("b"), "", "", use("c")] + filler + [use("d") + " " + use("e")],
            "my file.c": filler + [use("f")] + filler,
            "sub/quote\"tab\t.c": [use("g")],
            "ä.c": ["// \u{FEFF}", use("h")] + filler + [use("i")],
        ]
        var tweaks: [TweakDeclaration] = []
        for (name, lines) in files {
            let isDOS = name == "my file.c"
            let text =
                lines.joined(separator: isDOS ? "\r\n" : "\n")
                + (name == "near.c" ? "" : isDOS ? "\r\n" : "\n")
            try sources.home.write(folder + name, text)
            for (index, line) in lines.enumerated() {
                for part in line.components(separatedBy: "FBTweakValue(\"A\", \"B\", \"").dropFirst() {
                    tweaks.append(
                        BakedSources.tweak(
                            .double, 1.0, at: "\(folder)\(name):\(index + 1)",
                            TweakKey("A", "B", String(part.prefix(1)))))
                }
            }
        }
        let baking = sources.plan(tweaks) { _ in 2.5 }
        #expect(baking.changes.count == 9 && baking.staying.isEmpty)
        return baking
    }

    private func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for case let name as String in FileManager.default.enumerator(atPath: sources.home.path) ?? .init()
        where name.hasSuffix(".c") {
            contents[name] = try Data(contentsOf: URL(fileURLWithPath: sources.home(name)))
        }
        return contents
    }

    @Test(arguments: [true, false])
    func `git apply makes the same of them as writing`(isInRepository: Bool) throws {
        if isInRepository { #expect(try command("git", ["init", "-q"]).succeeded) }
        let baking = try plan("")
        let working = sources.home.path
        try sources.home.write("changes.diff", Data(baking.difference(in: working)))
        let check = try command("git", ["apply", "--check", "changes.diff"])
        #expect(check.succeeded, "\(check.error)")
        let before = try contents()
        try baking.write()
        let written = try contents()
        #expect(written != before)
        for (name, data) in before { try sources.home.write(name, data) }
        #expect(try command("git", ["apply", "changes.diff"]).succeeded)
        #expect(try contents() == written)
    }

    @Test func `patch makes the same of them as writing`() throws {
        let baking = try plan("")
        try sources.home.write("changes.diff", Data(baking.difference(in: sources.home.path)))
        let before = try contents()
        try baking.write()
        let written = try contents()
        for (name, data) in before { try sources.home.write(name, data) }
        let patch = try command("patch", ["-p1", "--binary", "-i", "changes.diff"])
        #expect(patch.succeeded, "\(patch.output)")
        #expect(try contents().filter { !$0.key.hasSuffix(".orig") } == written)
    }

    @Test func `In a folder of a repository the names begin at its top`() throws {
        #expect(try command("git", ["init", "-q"]).succeeded)
        let baking = try plan("deep/er/")
        let working = sources.home("deep")
        try sources.home.write("changes.diff", Data(baking.difference(in: working)))
        #expect(try command("git", ["apply", "--check", "../changes.diff"], in: working).succeeded)
        let stat = try command("git", ["apply", "--numstat", "-z", "changes.diff"])
        #expect(stat.output.contains("deep/er/near.c"))
    }

    @Test func `A difference has only the lines around its changes`() throws {
        let text =
            (1...9).map { "int x\($0);\n" }.joined() + "double d = FBTweakValue(\"A\", \"B\", \"C\", 1.0);"
        try sources.home.write("app.c", text)
        let baking = sources.plan([BakedSources.tweak(.double, 1.0, at: "app.c:10")]) { _ in 2.0 }
        #expect(
            String(decoding: baking.difference(in: sources.home.path), as: UTF8.self) == """
                --- a/app.c
                +++ b/app.c
                @@ -7,4 +7,4 @@
                 int x7;
                 int x8;
                 int x9;
                -double d = FBTweakValue("A", "B", "C", 1.0);
                \\ No newline at end of file
                +double d = FBTweakValue("A", "B", "C", 2.0);
                \\ No newline at end of file

                """)
    }

    @Test(.enabled(if: replacer != nil, "needs clang-apply-replacements-14"))
    func `clang-apply-replacements makes the same of them as writing`() throws {
        let tool = try #require(replacer)
        let baking = try plan("")
        let text = "char *s = FBTweakValue(\"A\", \"B\", \"C\", \"old\");\n"
        try sources.home.write("text.c", text)
        let words = sources.plan([BakedSources.tweak(.string, "old", at: "text.c:1")]) { _ in
            "a\tb\\\"c: 'ü' # \u{85}"
        }
        try sources.home.write("yaml/changes.yaml", baking.replacements)
        try sources.home.write("yaml/words.yaml", words.replacements)
        let before = try contents()
        try baking.write()
        try words.write()
        let written = try contents()
        for (name, data) in before { try sources.home.write(name, data) }
        let result = try run(tool, [sources.home("yaml")], home: sources.home)
        #expect(result.succeeded, "\(result.error)")
        #expect(try contents() == written)
    }

    @Test func `Without changes the replacements are none`() {
        let baking = sources.plan([]) { _ in 1.0 }
        #expect(baking.replacements == "---\nMainSourceFile:  ''\nReplacements: []\n...\n")
        #expect(baking.difference(in: sources.home.path).isEmpty)
    }

    private static let inString = "#tweak(\"A\", \"B\", \"C\", default: 1.0)"

    @Test(arguments: [
        ("\"\\(\(inString))\"", 1), ("\"(\\(f(\"(\")) \\(\(inString)))\"", 1),
        ("\"a \\(\"b \\(\(inString))\")\"", 1), ("#\"\\(x) \\#(\(inString))\"#", 1),
        ("\"\"\"\n  \\(x)\n  \\(\(inString))\n  \"\"\"", 3),
        ("\"\"\"\n  \\(x)\n  \"\"\" + f(/\"/, \\.a)\nlet y = \(inString)", 4),
    ])
    func `A tweak in the interpolation of a string is baked, and one after it`(text: String, line: Int) throws
    {
        let baked = try sources.baked(
            "let s = \(text)\n", as: "app.swift", line: line, .double, 1.0, 2.0)
        #expect(baked.reasons == [])
        #expect(baked.text == "let s = \(text.replacing("1.0", with: "2.0"))\n")
    }

    @Test func `Interpolations in each other, however many, take no more stack`() throws {
        let text = String(repeating: "\"\\(", count: 200_000) + Self.inString
        let baked = try sources.baked(text, as: "app.swift", .double, 1.0, 2.0)
        #expect(baked.reasons.count == 1)
    }

    @Test(arguments: [
        (TweakValue.string("easeIn"), [], TweakValue.string("out"), TweakValue.string("ease-in")),
        (1, [TweakChoice(1, label: "easeIn"), TweakChoice(2, label: "easeOut")], 3, 2),
    ])
    func `Of an enumeration the case is written that the running program names`(
        recorded: TweakValue, choices: [TweakChoice], value: TweakValue, known: TweakValue
    ) throws {
        let type: TweakType = choices.isEmpty ? .string : .int64
        try sources.home.write("app.swift", "@Tweakable(\"A\", \"B\", \"C\") var c: Curve = .easeIn\n")
        let record = BakedSources.tweak(type, recorded, at: "app.swift:1", choices: choices)
        var running = record
        running.choices = [TweakChoice(known, label: "easeIn"), TweakChoice(value, label: "easeOut")]
        running.defaultValue = known
        let compiled = CompiledDeclaration(record).completed(by: running)
        #expect(compiled.declaration.choices == running.choices && compiled.declaration.defaultValue == known)
        var baking = SourceBaking(
            folders: SourceFolders(given: nil, working: sources.home.path), isWriting: true)
        baking.add([compiled]) { (tweak) throws(TweakValueError) in try tweak.admit(value) }
        try baking.write()
        #expect(baking.staying.isEmpty, "\(baking.staying.map(\.message))")
        #expect(try sources.text("app.swift").hasSuffix("var c: Curve = .easeOut\n"))
        // Others stay as they are.
        running.choices = [TweakChoice(known, label: "other")]
        #expect(CompiledDeclaration(record).completed(by: running).declaration == record)
    }
}
