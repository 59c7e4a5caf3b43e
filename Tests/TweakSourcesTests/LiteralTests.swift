// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing
import TweakRecords
import TweakSources

/// A literal, and the one that replaces it.
struct Replacement: CustomTestStringConvertible, Sendable {
    let literal: String
    let type: TweakType
    let former, value: TweakValue
    let expected: String
    var choices: [TweakChoice] = []
    /// The arguments behind the default.
    var options = ""

    init(_ literal: String, _ type: TweakType, _ former: TweakValue, _ value: TweakValue, _ expected: String)
    {
        (self.literal, self.type, self.former, self.value, self.expected) = (
            literal, type, former, value, expected
        )
    }

    /// A tweak with choices that have labels.
    init(
        _ literal: String, _ type: TweakType, _ former: TweakValue, _ value: TweakValue, _ expected: String,
        choices: [(TweakValue, String?)], _ options: String
    ) {
        self.init(literal, type, former, value, expected)
        self.choices = choices.map { TweakChoice($0.0, label: $0.1) }
        self.options = ", " + options
    }

    var testDescription: String { "\(literal) → \(expected)" }
}

private func color(_ red: UInt8, _ green: UInt8, _ blue: UInt8, _ alpha: UInt8 = 255) -> TweakValue {
    .color(TweakColor(red: red, green: green, blue: blue, alpha: alpha))
}

@Suite struct `A literal keeps its notation` {
    private let sources: BakedSources

    init() throws { sources = try BakedSources() }

    private func check(_ row: Replacement, _ name: String, _ start: String, _ end: String) throws {
        let (text, reasons) = try sources.baked(
            start + row.literal + row.options + end, as: name, row.type, row.former, row.value,
            choices: row.choices)
        #expect(reasons.isEmpty)
        #expect(text == start + row.expected + row.options + end)
    }

    @Test(arguments: [
        Replacement("120.0", .double, 120.0, 600.0, "600.0"),
        Replacement("1.50", .double, 1.5, 0.1, "0.1"),
        Replacement("1.0", .double, 1.0, 0.30000000000000004, "0.30000000000000004"),
        Replacement(".5", .double, 0.5, 0.25, ".25"),
        Replacement(".5", .double, 0.5, 2.0, "2.0"),
        Replacement("5.", .double, 5.0, 6.0, "6."),
        Replacement("5.", .double, 5.0, 0.5, "0.5"),
        Replacement("1.5f", .float, 1.5, 0.1, "0.1f"),
        Replacement("1.5F", .float, 1.5, 16777216.0, "16777216.0F"),
        Replacement("1.0", .double, 1.0, 0.0000001, "0.0000001"),
        Replacement("1.0", .double, 1.0, 1e-12, "1.0e-12"),
        Replacement("1.0", .double, 1.0, 1e22, "1.0e+22"),
        Replacement("1.0", .double, 1.0, 0.0, "0.0"),
        Replacement("1.0", .double, 1.0, -2.0, "-2.0"),
        Replacement("-1.0", .double, -1.0, 2.0, "2.0"),
        Replacement("- 1.0", .double, -1.0, -2.5, "- 2.5"),
        Replacement("+1.0", .double, 1.0, 2.0, "+2.0"),
        Replacement("1'000.5", .double, 1000.5, 1234567.25, "1'234'567.25"),
        Replacement("(1.0)", .double, 1.0, 2.0, "(2.0)"),
        Replacement("((1.0))", .double, 1.0, 2.0, "((2.0))"),
        Replacement("/* kg */ 1.0 /* default */", .double, 1.0, 2.0, "/* kg */ 2.0 /* default */"),
    ])
    func `A decimal number`(row: Replacement) throws {
        try check(row, "app.c", #"double d = FBTweakValue("A", "B", "C", "#, ");")
    }

    @Test(arguments: [
        Replacement("5", .double, 5.0, 6.0, "6"),
        Replacement("5", .double, 5.0, 0.5, "0.5"),
        Replacement("1L", .double, 1.0, 2.0, "2L"),
    ])
    func `A whole number of a floating-point variable`(row: Replacement) throws {
        try check(row, "app.c", #"FBTweakBind(d, "A", "B", "C", "#, ");")
    }

    @Test(arguments: [
        Replacement("1e3", .double, 1000.0, 2500.0, "2.5e3"),
        Replacement("1e3", .double, 1000.0, 2e9, "2e9"),
        Replacement("1E-03", .double, 0.001, 0.002, "2E-03"),
        Replacement("1E-03", .double, 0.001, 1e-9, "1E-09"),
        Replacement("1.0e6", .double, 1e6, 2e6, "2.0e6"),
        Replacement("1e+3", .double, 1000.0, 1e30, "1e+30"),
        Replacement("12e-3", .double, 0.012, 0.015, "15e-3"),
        Replacement("1e3f", .float, 1000.0, 2000.0, "2e3f"),
        Replacement("1e3", .double, 1000.0, 0.0, "0e3"),
        Replacement("5.e3", .double, 5000.0, 6000.0, "6.e3"),
        Replacement("1e-3L", .double, 0.001, 0.002, "2e-3L"),
        Replacement("0x1.8p3", .double, 12.0, 0.1, "0x1.999999999999ap-4"),
        Replacement("0X1P3", .double, 8.0, 12.0, "0X1.8P3"),
        Replacement("0x1p3f", .float, 8.0, 0.1, "0x1.99999ap-4f"),
        Replacement("0x1.0p+3", .double, 8.0, 16.0, "0x1.0p+4"),
    ])
    func `A number with an exponent`(row: Replacement) throws {
        try check(row, "app.c", #"double d = FBTweakValue("A", "B", "C", "#, ", 0, 1);")
    }

    @Test(arguments: [
        Replacement("200", .int32, 200, 7, "7"),
        Replacement("200", .int32, 200, -7, "-7"),
        Replacement("0xFF", .int32, 255, 26, "0x1A"),
        Replacement("0xff", .int32, 255, 171, "0xab"),
        Replacement("0XFF", .int32, 255, 16, "0X10"),
        Replacement("0x00FF", .int32, 255, 256, "0x0100"),
        Replacement("0x0F", .int32, 15, 160, "0xA0"),
        Replacement("0x10", .int32, 16, -16, "-0x10"),
        Replacement("017", .int32, 15, 8, "010"),
        Replacement("017", .int32, 15, 0, "0"),
        Replacement("0b1010", .int32, 10, 5, "0b101"),
        Replacement("0b0001", .int32, 1, 2, "0b0010"),
        Replacement("1'000'000", .int32, 1_000_000, 2500, "2'500"),
        Replacement("0xFF'FF", .int32, 65535, 0x12_3456, "0x12'34'56"),
        Replacement("100u", .uint32, 100, 5, "5u"),
        Replacement("100UL", .uint64, 100, .integer(Int128(UInt64.max)), "18446744073709551615UL"),
        Replacement("100ll", .int64, 100, -5, "-5ll"),
        // Without more, the new literal would have another type.
        Replacement("4294967296", .int64, 4_294_967_296, 5, "5LL"),
        Replacement("0x80000000", .uint32, 2_147_483_648, 5, "0x5u"),
        Replacement("5", .int32, 5, -2_147_483_648, "(int)-2147483648"),
        Replacement("5L", .int64, 5, .integer(Int128(Int64.min)), "(int64_t)0x8000000000000000"),
        Replacement("'a'", .int32, 97, 98, "'b'"),
        Replacement("'a'", .int32, 97, 39, #"'\''"#),
        Replacement("'a'", .int32, 97, 34, #"'"'"#),
        Replacement("'a'", .int32, 97, 10, #"'\n'"#),
        Replacement(#"'\x41'"#, .int32, 65, 300, "300"),
    ])
    func `An integer`(row: Replacement) throws {
        try check(row, "app.c", #"int i = FBTweakValue("A", "B", "C", "#, ");")
    }

    @Test(arguments: [
        Replacement("(uint8_t)200", .uint8, 200, 7, "(uint8_t)7"),
        Replacement("(uint8_t) 0xC8", .uint8, 200, 7, "(uint8_t) 0x7"),
        Replacement("(unsigned char)200", .uint8, 200, 7, "(unsigned char)7"),
        Replacement("(int8_t)-5", .int8, -5, 5, "(int8_t)5"),
        Replacement("(int8_t)(-5)", .int8, -5, 5, "(int8_t)(5)"),
        Replacement("uint8_t{200}", .uint8, 200, 7, "uint8_t{7}"),
        Replacement("std::uint8_t(200)", .uint8, 200, 7, "std::uint8_t(7)"),
        Replacement("static_cast<std::uint8_t>(200)", .uint8, 200, 7, "static_cast<std::uint8_t>(7)"),
        Replacement("static_cast<Speed>(200)", .uint8, 200, 7, "static_cast<Speed>(7)"),
        Replacement("(Speed)200", .uint8, 200, 7, "(Speed)7"),
        Replacement("(float)1.5", .float, 1.5, 0.1, "(float)0.1"),
        Replacement("(double)1", .double, 1.0, 2.5, "(double)2.5"),
        Replacement("float(1.5)", .float, 1.5, 0.1, "float(0.1)"),
        Replacement("(bool)1", .bool, true, false, "(bool)0"),
        Replacement("true", .bool, true, false, "false"),
        Replacement("NO", .bool, false, true, "YES"),
        Replacement("FALSE", .bool, false, true, "TRUE"),
    ])
    func `A cast and a bool`(row: Replacement) throws {
        try check(row, "app.cpp", #"auto v = FBTweakValue("A", "B", "C", "#, ");")
    }

    @Test(arguments: [
        Replacement(#""abc""#, .string, "abc", "x", #""x""#),
        Replacement(#""abc""#, .string, "abc", "a \"b\" \\ \n\t\u{1}2", #""a \"b\" \\ \n\t\0012""#),
        Replacement(#""abc""#, .string, "abc", "what??!", #""what?\?!""#),
        Replacement(#""Grüße \u00e9 \x41\101\n""#, .string, "Grüße é AA\n", "ß", #""ß""#),
        Replacement(#"u8"abc""#, .string, "abc", "ä", #"u8"ä""#),
        Replacement(#"R"(a\b)""#, .string, #"a\b"#, #"c:\d"#, #"R"(c:\d)""#),
        Replacement(#"R"x(a)x""#, .string, "a", "b", #"R"x(b)x""#),
        Replacement(#"R"(a)""#, .string, "a", #"f(")")"#, #"R"x(f(")"))x""#),
        Replacement(#"R"(a)""#, .string, "a", "b\nc", #""b\nc""#),
        Replacement(#""ab" "cd""#, .string, "abcd", "abxy", #""ab" "xy""#),
        Replacement(#""ab" "cd""#, .string, "abcd", "xycd", #""xy" "cd""#),
        Replacement(#""ab" "cd" "ef""#, .string, "abcdef", "x", #""x""#),
        Replacement("\"ab\"\n  \"cd\" // end\n", .string, "abcd", "x", "\"x\"\n  \"\" // end\n"),
        Replacement(#""""#, .string, "", "x", #""x""#),
        // What changes the direction of a line, or is not seen.
        Replacement(
            #""abc""#, .string, "abc", "a\u{202E}b\u{85}7\u{200B}", #""a\342\200\256b\302\2057\342\200\213""#),
        Replacement(#"R"(abc)""#, .string, "abc", "a\u{2066}b", #""a\342\201\246b""#),
        Replacement(#""abc""#, .string, "abc", "👩\u{200D}🚀", "\"👩\u{200D}🚀\""),
    ])
    func `A text`(row: Replacement) throws {
        try check(row, "app.cpp", #"auto v = FBTweakValue("A", "B", "C", "#, ");")
    }

    @Test(arguments: [
        Replacement(
            "FBTweakRGB(255, 0, 0)", .color, color(255, 0, 0), color(10, 0, 7), "FBTweakRGB(10, 0, 7)"),
        Replacement(
            "FBTweakRGB(0xFF, 0x80, /* blue */ 0)", .color, color(255, 128, 0), color(10, 128, 1),
            "FBTweakRGB(0xA, 0x80, /* blue */ 1)"),
        Replacement(
            "FBTweakRGB(1, 2, 3)", .color, color(1, 2, 3), color(1, 2, 3, 4), "FBTweakRGBA(1, 2, 3, 4)"),
        Replacement(
            "FBTweakRGBA(1, 2, 3, 4)", .color, color(1, 2, 3, 4), color(1, 2, 3), "FBTweakRGBA(1, 2, 3, 255)"),
        Replacement(
            "((fbtweak_color){1, 2, 3, 255})", .color, color(1, 2, 3), color(4, 5, 6),
            "((fbtweak_color){4, 5, 6, 255})"),
        Replacement(
            "(fbtweak_color{1, 2, 3})", .color, color(1, 2, 3, 0), color(1, 2, 3, 9),
            "(fbtweak_color{1, 2, 3, 9})"),
    ])
    func `A colour`(row: Replacement) throws {
        try check(row, "app.cpp", #"auto v = FBTweakValue("A", "B", "C", "#, ");")
    }

    @Test(arguments: [
        Replacement(
            "FAST", .int32, 2, 1, "SLOW", choices: [(1, "slow"), (2, nil)],
            "FBTweakChoices((SLOW, \"slow\"), FAST)"),
        Replacement(
            "Mode::fast", .int32, 2, 1, "Mode::slow", choices: [(1, nil), (2, nil)],
            "FBTweakChoices(Mode::slow, Mode::fast), FBTweakUnit(\"x\")"),
        Replacement("2", .int32, 2, 1, "1", choices: [(1, nil), (2, nil)], "FBTweakChoices(1, 2)"),
        Replacement(
            #""b""#, .string, "b", "a", #""a""#, choices: [("a", nil), ("b", nil)],
            #"FBTweakChoices("a", "b")"#),
    ])
    func `A choice`(row: Replacement) throws {
        try check(row, "app.cpp", #"auto v = FBTweakValue("A", "B", "C", "#, ");")
    }

    @Test(arguments: [
        Replacement("60", .int64, 60, 70, "70"),
        Replacement("60", .double, 60.0, 0.5, "0.5"),
        Replacement("0.5", .float, 0.5, 0.1, "0.1"),
        Replacement("-0.5", .double, -0.5, 0.25, "0.25"),
        Replacement("1_000_000", .int64, 1_000_000, 2500, "2_500"),
        Replacement("0xFF", .uint8, 255, 10, "0xA"),
        Replacement("0o17", .int64, 15, 8, "0o10"),
        Replacement("0b0001", .int64, 1, 2, "0b0010"),
        Replacement("007", .int64, 7, 8, "008"),
        Replacement("1e3", .double, 1000.0, 2500.0, "2.5e3"),
        Replacement("0x1.8p3", .double, 12.0, 0.75, "0x1.8p-1"),
        Replacement("true", .bool, true, false, "false"),
        Replacement(#""a""#, .string, "a", "b\"\\\n\u{301}", "\"b\\\"\\\\\\n\u{301}\""),
        Replacement(#""a""#, .string, "a", "b\u{202E}c\u{85}\u{FEFF}", #""b\u{202e}c\u{85}\u{feff}""#),
        Replacement(##"#"a"#"##, .string, "a", "b\u{2069}", ##"#"b\#u{2069}"#"##),
        Replacement(##"#"a\b"#"##, .string, #"a\b"#, #"c\d"e"#, ##"#"c\d"e"#"##),
        Replacement(##"#"a"#"##, .string, "a", "b\n\"#", "##\"b\\##n\"#\"##"),
        Replacement(
            "\"\"\"\n  a\n  b\n  \"\"\"", .string, "a\nb", "c\n\nd\"", "\"\"\"\n  c\n\n  d\"\n  \"\"\""),
        Replacement(".seconds(2)", .double, 2.0, 2.5, ".seconds(2.5)"),
        Replacement(".milliseconds(300)", .double, 0.3, 0.35, ".milliseconds(350)"),
        Replacement("Duration.nanoseconds(5)", .double, 5e-9, 7e-9, "Duration.nanoseconds(7)"),
        Replacement(".nanoseconds(5)", .double, 5e-9, 1.5e-9, ".seconds(1.5e-09)"),
        Replacement(".zero", .double, 0.0, 0.5, ".seconds(0.5)"),
        Replacement(
            "TweakColor(red: 255, green: 0, blue: 0)", .color, color(255, 0, 0), color(255, 8, 0, 9),
            "TweakColor(red: 255, green: 8, blue: 0, alpha: 9)"),
        Replacement(
            ".init(red: 0xFF, green: 0, blue: 0)", .color, color(255, 0, 0), color(16, 0, 0),
            ".init(red: 0x10, green: 0, blue: 0)"),
        Replacement(".fast", .string, "fast", "slow", ".slow"),
        Replacement("Mode.fast", .string, "fast", "slow", "Mode.slow"),
        Replacement("Mode(rawValue: 3)", .int64, 3, 4, "Mode(rawValue: 4)"),
        Replacement(#".init(rawValue: "a")"#, .string, "a", "b", #".init(rawValue: "b")"#),
        Replacement(
            ".fast", .int64, 2, 1, ".slow", choices: [(1, "slow"), (2, "fast")],
            #"choices: [1: "slow", 2: "fast"]"#),
        Replacement("(5)", .int64, 5, 6, "(6)"),
    ])
    func `In Swift`(row: Replacement) throws {
        try check(row, "app.swift", #"let v = #tweak("A", "B", "C", default: "#, ")\n")
        guard row.options.isEmpty else { return }
        try check(row, "var.swift", #"@Tweakable("A", "B", "C") static var v = "#, "\n  static let w = 5\n")
        try check(
            row, "typed.swift", #"@MainActor @Tweakable("A", "B", "C") public static var v: Some.Kind = "#, ""
        )
    }

    @Test(arguments: [
        ("[80, 443]", "int64", "[80, 443]", "[8080, 443]", "[8080, 443]"),
        ("[0x50,0x1BB]", "int64", "[80, 443]", "[81, 82, 83]", "[0x51,0x52,0x53]"),
        ("[1_000]", "int64", "[1000]", "[2000, 3000]", "[2_000, 3_000]"),
        ("[1, 0.50]", "double", "[1.0, 0.5]", "[0.25]", "[0.25]"),
        ("[0.5]", "double", "[0.5]", "[-1e-9, 3]", "[-0.000000001, 3.0]"),
        ("[]", "int64", "[]", "[1, 2]", "[1, 2]"),
        ("[]", "string", "[]", #"["a\u0007\""]"#, #"["a\u{7}\""]"#),
        ("[5]", "int64", "[5]", "[]", "[]"),
        (##"["a", #"b"#]"##, "string", #"["a", "b"]"#, #"["c", "d", "e\\"]"#, ##"["c", #"d"#, #"e\"#]"##),
        (
            "[\n    \"a\",\n    \"b\",\n]", "string", #"["a", "b"]"#, #"["a", "c", "d"]"#,
            "[\n    \"a\",\n    \"c\",\n    \"d\",\n]"
        ),
    ])
    func `In an array of Swift`(
        literal: String, element: String, former: String, value: String, expected: String
    ) throws {
        for (start, end) in [
            (#"let v = #tweak("A", "B", "C", default: "#, ", in: 0...9)\n"),
            (#"@Tweakable("A", "B", "C") static var v: [Some.Kind] = "#, "\n  static let w = [5]\n"),
        ] {
            var tweak = BakedSources.tweak(.string, .string(former), at: "default.swift:1")
            tweak.attributes.append(TweakDeclaration.Attribute(key: "element", value: element))
            try bake(tweak, .string(value), in: start + literal + end, to: start + expected + end)
        }
    }

    /// Bakes a value into a source with one line for the tweak, and expects another source.
    private func bake(
        _ tweak: TweakDeclaration, _ value: TweakValue, in source: String, to expected: String
    ) throws {
        try sources.home.write("default.swift", source)
        let baking = sources.plan([tweak]) { _ in value }
        try baking.write()
        #expect(baking.staying.map(\.reason) == [])
        #expect(try sources.text("default.swift") == expected)
    }

    @Test(arguments: [
        ("nil", TweakType.double, TweakValue.absent, TweakValue.double(2), "2.0"),
        ("nil", .int64, .absent, -3, "-3"),
        ("nil", .bool, .absent, true, "true"),
        ("nil", .string, .absent, "a\u{7}", #""a\u{7}""#),
        (".some( 0.50 )", .double, 0.5, 0.25, ".some( 0.25 )"),
        ("Optional(true)", .bool, true, false, "Optional(false)"),
        (".some(0x1F)", .int64, 31, .absent, "nil"),
        ("0x1F", .int64, 31, 32, "0x20"),
        ("1.50", .double, 1.5, .absent, "nil"),
        ("-5", .int64, -5, .absent, "nil"),
        ("true", .bool, true, .absent, "nil"),
        (##"#"a"#"##, .string, "a", "\\none", ##"#"none"#"##),
        (#""none""#, .string, "\\none", .absent, "nil"),
    ])
    func `In an optional of Swift`(
        literal: String, type: TweakType, former: TweakValue, value: TweakValue, expected: String
    ) throws {
        for (start, end) in [
            (#"let v: Some.Kind? = #tweak("A", "B", "C", default: "#, ", in: 0...9)\n"),
            (#"@Tweakable("A", "B", "C") static var v: Some.Kind? = "#, "\n  static let w = 5\n"),
        ] {
            var tweak = BakedSources.tweak(type, former, at: "default.swift:1")
            tweak.attributes.append(TweakDeclaration.Attribute(key: "optional", value: ""))
            // A plain argument would be that of a tweak that is not optional.
            let written = literal == "nil" && start.hasSuffix(": ") ? ".some(\(expected))" : expected
            try bake(tweak, value, in: start + literal + end, to: start + written + end)
        }
    }

    @Test(arguments: [
        ("[1, /* two */ 2]", "[3, 2, 1]", ""),
        ("[1, second]", "[1]", "its default is an expression: [1, second]"),
        ("[1, 2] + more", "[1]", "its default is an expression: [1, 2] + more"),
        ("[1, 3]", "[1]", ""),
    ])
    func `An array that is not one of literals stays`(literal: String, value: String, reason: String) throws {
        try sources.home.write("array.swift", "let v = #tweak(\"A\", \"B\", \"C\", default: \(literal))\n")
        var tweak = BakedSources.tweak(.string, "[1, 2]", at: "array.swift:1")
        tweak.attributes.append(TweakDeclaration.Attribute(key: "element", value: "int64"))
        let baking = sources.plan([tweak]) { _ in .string(value) }
        #expect(baking.changes.isEmpty)
        #expect(baking.staying.count == 1)
        #expect(baking.staying.first?.reason.contains(reason) == true, "\(baking.staying)")
    }
}
