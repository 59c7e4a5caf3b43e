// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakRecords
import TweakSources

/// Constants in C that were made tweaks: the records have the places where the macros are used.
@Suite struct `Tweaks in the definitions of macros` {
    private let sources: BakedSources

    init() throws { sources = try BakedSources() }

    private static let header = "#include <fbtweak.h>\n"
    private static let use = "FBTweakValue(\"A\", \"B\", \"C\", 5)"

    /// Compiles `app.c`, bakes 7 into its tweaks, and expects that the program compiled again has it.
    ///
    /// - Returns: The reasons why tweaks stay.
    private func baked(_ files: KeyValuePairs<String, String>, _ compiler: Compiler = .gcc) throws -> [String]
    {
        for (name, text) in files { try sources.home.write(name, text) }
        let flags = ["-I", sources.home("include")]
        let baking = sources.plan(try sources.compiled("app.c", compiler, flags)) { _ in 7 }
        try baking.write()
        if baking.staying.isEmpty {
            #expect(!baking.changes.isEmpty)
            #expect(try sources.compiled("app.c", compiler, flags).allSatisfy { $0.defaultValue == 7 })
        }
        return baking.staying.map(\.reason)
    }

    @Test(
        arguments: Compiler.allCases,
        [
            "#define LIMIT \(use)\nint f(void) { return LIMIT; }\n",
            "#define LIMIT (\(use))\nint f(void) { return LIMIT + 1; }\nint g(void) { return LIMIT; }\n",
            "#define LIMIT \\\n  FBTweakValue(\"A\", \"B\", \\\n    \"C\", 5)\n\nint f(void) { return LIMIT; }\n",
            "#define BASE \(use)\n#define LIMIT (BASE * 2)\nint f(void) { return LIMIT; }\n",
            "#define MAX(a, b) ((a) > (b) ? (a) : (b))\n#define LIMIT \(use)\nint f(int x) {\n  return MAX(\n    LIMIT,\n    x);\n}\n",
            "#define SCALED(x) ((x) * \(use))\nint f(int x) { return SCALED(x); }\n",
            "#ifdef DEBUG\n#define LIMIT \(use)\n#else\n#define LIMIT 5\n#endif\nint f(void) { return LIMIT; }\n",
            "#if 0\n#define LIMIT FBTweakValue(\"A\", \"B\", \"C\", 6)\n#endif\n#define LIMIT /* V */ \(use) // 5\nint f(void) { return LIMIT; }\n",
            "#define LIMIT \(use)\nint f(void) { return LIMIT; }\nint g(void) { return \(use); }\n",
            "#line 700\n#define LIMIT \(use)\nint f(void) { return LIMIT; }\n",
        ])
    func `A literal in the definition changes`(compiler: Compiler, text: String) throws {
        #expect(try baked(["app.c": Self.header + text], compiler) == [])
        let expected = text.replacing("\"C\", 5)", with: "\"C\", 7)")
        #expect(try sources.text("app.c") == Self.header + expected)
    }

    @Test(arguments: [
        ("limits.h", "\"limits.h\""), ("include/own/limits.h", "<own/limits.h>"),
        ("include/limits.h", "\"limits.h\""),
    ])
    func `A literal in a header changes`(file: String, name: String) throws {
        let text = "#pragma once\n#define LIMIT \(Self.use)\n"
        let source = Self.header + "#include \"other.h\"\nint f(void) { return LIMIT; }\n"
        #expect(try baked(["app.c": source, "other.h": "#include \(name)\n", file: text]) == [])
        #expect(try sources.text(file) == text.replacing("5", with: "7"))
        #expect(try sources.text("app.c") == source)
    }

    @Test func `A definition that is not the program's stays`() throws {
        let text =
            Self.header
            + "#ifdef FAST\n#define LIMIT FBTweakValue(\"A\", \"B\", \"C\", 9)\n#else\n#define LIMIT "
            + Self.use + "\n#endif\nint f(void) { return LIMIT; }\n"
        #expect(
            try baked(["app.c": text]) == ["its default is 9 there and 5 in the program; build it again"])
        #expect(try sources.text("app.c") == text)
    }

    @Test func `An argument of the macro stays`() throws {
        let text = "#define SET(v) FBTweakValue(\"A\", \"B\", \"C\", v)\nint f(void) { return SET(5); }\n"
        #expect(
            try baked(["app.c": Self.header + text]) == [
                "its default is v in the definition of the macro SET"
            ])
        #expect(try sources.text("app.c") == Self.header + text)
    }

    @Test func `Two headers of the name leave it open which one is changed`() throws {
        let text = "#define LIMIT \(Self.use)\n"
        let reasons = try baked([
            "app.c": Self.header + "#include <limit.h>\nint f(void) { return LIMIT; }\n",
            "include/limit.h": text,
            "other/limit.h": text,
        ])
        #expect(reasons.first?.hasPrefix("the macro LIMIT is defined in ") == true)
        #expect(try sources.text("include/limit.h") == text)
    }

    @Test(arguments: [
        ("TWEAKS(DECLARE)", "the macro DECLARE declares it"),
        ("MADE(f, \"C\")", "no declaration of it is written there; MADE may be a macro that declares it"),
        (
            "int f(void) { return made(\"C\"); }",
            "no declaration of it is written there; made may be a macro that declares it"
        ),
        ("int f(void) { return 5; }", "it is no longer declared there"),
        ("if (0) { while (1) return 5; }", "it is no longer declared there"),
    ])
    func `A tweak is called gone only where no macro may declare it`(line: String, reason: String) throws {
        try sources.home.write(
            "app.c",
            "#define TWEAKS(X) X(f)\n#define DECLARE(n) int n(void) { return FBTweakValue(\"A\", \"B\", #n, 5); }\n\(line)\n"
        )
        let baking = sources.plan([BakedSources.tweak(.int32, 5, at: "app.c:3")]) { _ in 7 }
        #expect(baking.staying.map(\.reason) == [reason])
    }

    @Test func `A definition in a header is followed`() throws {
        try sources.home.write(
            "app.c", Self.header + "#include \"limits.h\"\nint f(void) { return LIMIT; }\n")
        try sources.home.write("limits.h", "#define LIMIT \(Self.use)\n")
        let tweak = BakedSources.tweak(.int32, 5, at: "app.c:3")
        var followed = try FollowedSources(
            [(tweak, [CompiledDeclaration(tweak)])], in: SourceFolders(given: nil, working: sources.home.path)
        )
        #expect(followed.first().edits.isEmpty && followed.unfound.isEmpty)
        try sources.home.write("limits.h", "\n#define LIMIT FBTweakValue(\"A\", \"B\", \"C\", 8)\n")
        let edits = followed.update().edits
        #expect(edits.map { "\($0.place): \($0.value)" } == ["limits.h:2: 8"])
    }
}
