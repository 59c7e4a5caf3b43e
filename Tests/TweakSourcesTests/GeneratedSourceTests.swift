// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakRecords
import TweakSources

/// A declaration that a test made up.
private struct MadeDeclaration {
    let key: TweakKey
    /// The source before and behind the literal.
    let start, end: String
    let literal: String
    var options = ""
    /// The value of the literal, where no compiler tells.
    var former = TweakValue.nothing
    var type = TweakType.double
    var choices: [TweakChoice] = []
}

/// Makes up values and literals.
private struct Maker {
    var generator: SeededGenerator

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    mutating func real() -> Double {
        switch number(0...4) {
        case 0: return Double(number(-1000...1000)) / 8
        case 1: return Double(number(-100_000...100_000)) / 1000
        case 2: return Double(number(0...1_000_000_000))
        case 3: return Double(number(1...9999)) * pow(10, Double(number(-30...30)))
        default:
            let bits = Double(bitPattern: generator.next())
            return bits.isFinite ? bits : 0.1
        }
    }

    mutating func text() -> String {
        let pieces = [
            "a", "Z", " ", "\"", "\\", "\n", "\t", "?", "ä", "→", "😀", "%d", ")", "(", "#", "'", "0", "\u{1}",
            "e\u{301}", "//", "/*", "\"\"\"",
        ]
        return (0..<number(0...12)).map { _ in pieces[number(0...(pieces.count - 1))] }.joined()
    }

    /// Another value that a tweak can have.
    mutating func value(for tweak: TweakDeclaration) -> TweakValue {
        while true {
            let value = anyValue(for: tweak)
            if value != tweak.defaultValue || !tweak.choices.isEmpty || tweak.type == .bool { return value }
        }
    }

    private mutating func anyValue(for tweak: TweakDeclaration) -> TweakValue {
        if !tweak.choices.isEmpty { return tweak.choices[number(0...(tweak.choices.count - 1))].value }
        switch tweak.type {
        case .bool: return .bool(number(0...1) == 1)
        case .float:
            let float = Float(real())
            return .double(Double(shortest: float.isFinite ? float : 0.1))
        case .double: return .double(real())
        case .string: return .string(text())
        case .color:
            let bits = generator.next()
            return .color(
                TweakColor(
                    red: UInt8(truncatingIfNeeded: bits), green: UInt8(truncatingIfNeeded: bits >> 8),
                    blue: UInt8(truncatingIfNeeded: bits >> 16),
                    alpha: number(0...1) == 0 ? 255 : UInt8(truncatingIfNeeded: bits >> 24)))
        default:
            let range = tweak.type.integerRange ?? 0...1
            switch number(0...5) {
            case 0: return .integer(range.lowerBound)
            case 1: return .integer(range.upperBound)
            case 2: return .integer(Int128(number(0...9)))
            default:
                return .integer(
                    range.lowerBound + Int128(generator.next()) % (range.upperBound - range.lowerBound + 1))
            }
        }
    }

    mutating func separated(_ digits: String, _ mark: String, every count: Int = 3) -> String {
        var groups: [Substring] = []
        var rest = Substring(digits)
        while rest.count > count {
            groups.insert(rest.suffix(count), at: 0)
            rest = rest.dropLast(count)
        }
        return ([rest] + groups).joined(separator: mark)
    }
}

// MARK: - C and C++

extension Maker {
    fileprivate mutating func declaration(_ index: Int, _ language: Language) -> MadeDeclaration {
        let name = "t\(index)"
        let key = TweakKey("Made", "up", name)
        let blanks = ["", "  ", "\t"][number(0...2)]
        func use(_ literal: String, _ options: String = "") -> MadeDeclaration {
            MadeDeclaration(
                key: key,
                start: "\(blanks)void f\(index)(void) { (void)FBTweakValue(\"Made\", \"up\", \"\(name)\", ",
                end: "); }\n", literal: literal, options: options)
        }
        func bind(_ type: String, _ literal: String) -> MadeDeclaration {
            MadeDeclaration(
                key: key,
                start:
                    "static \(type) v\(index); void f\(index)(void) {\n  FBTweakBind(v\(index),\n    \"Made\", \"u\" \"p\", /* , */ \"\(name)\", ",
                end: ");\n}\n", literal: literal)
        }
        let small = number(1...999_999)
        let real = Double(number(1...99_999)) / 100
        let isCPlusPlus = language == .cPlusPlus
        let forms: [() -> MadeDeclaration] = [
            { use(String(format: "%.2f", real)) },
            { use("-" + String(format: "%.4f", real)) },
            { use(String(format: "%.3ff", real)) },
            { use(String(format: "%.1fF", real)) },
            { use(String(format: "%e", real)) },
            { use(String(format: "%.3E", real)) },
            { use("\(small)e-3") },
            { use("\(small % 90 + 1)e2f") },
            { use(".\(small % 89 + 1)") },
            { use("\(small).") },
            { use(String(format: "%a", real)) },
            { use(String(format: "%Af", Float(real))) },
            { use("(float)\(real)") },
            { use("(double)\(small)") },
            { use("\(small)") },
            { use("- \(small)") },
            { use("(\(small))") },
            { use("0x" + String(small, radix: 16)) },
            { use("0X" + String(small, radix: 16, uppercase: true)) },
            { use("0x000" + String(small, radix: 16, uppercase: true) + "u") },
            { use("0" + String(small, radix: 8)) },
            { use("0b" + String(small, radix: 2)) },
            { use("\(small)u") },
            { use("\(small)L") },
            { use("\(small)ull") },
            { use("0x" + String(small, radix: 16) + "UL") },
            { use("\(4_294_967_296 + small)") },
            { use("0xF" + String(0x100_0000 + small % 1000, radix: 16)) },
            { use("(uint8_t)\(small % 256)") },
            { use("(int8_t)-\(small % 128)") },
            { use("(unsigned short)0x" + String(small % 65536, radix: 16)) },
            { use("(int16_t)(\(small % 32768))") },
            { use("(long long)\(small)") },
            { use("true") },
            { use("false") },
            { use("(bool)\(small % 2)") },
            { use("'\(Character(Unicode.Scalar(UInt8(97 + small % 26))))'") },
            { use(#"'\x\#(String(16 + small % 100, radix: 16))'"#) },
            { use("\"text \(small)\"") },
            { use(#""tab\tquote\"\303\244 \#(small)""#) },
            { use("\"one \" \"two\" \"\(small)\"") },
            { use("\"one \" // first\n    \"two\"\n    \"\(small)\"") },
            { use("R\"(raw \\ \(small))\"") },
            { use("R\"end(raw )\" \(small))end\"") },
            { use("FBTweakRGB(\(small % 256), 0x\(String(small % 200, radix: 16)), 0)") },
            { use("FBTweakRGBA(1, 2, 3, \(small % 256))") },
            { use("MODE_\(small % 3)", ", FBTweakChoices((MODE_0, \"none\"), MODE_1, (MODE_2, \"all\"))") },
            { use("\(small % 3)", ", FBTweakChoices(0, 1, 2), FBTweakNeedsRestart") },
            { use("\"b\"", ", FBTweakChoices(\"a\", \"b\", (\"c\\n\", \"with, comma\"))") },
            { bind("double", "\(small)") },
            { bind("float", String(format: "%.2f", real)) },
            { bind("unsigned char", "0x" + String(small % 256, radix: 16)) },
            { bind("long", "\(small)") },
            { bind("bool", "1") },
            { bind("const char *", "\"bound \(small)\"") },
            {
                MadeDeclaration(
                    key: TweakKey("Features", "f\(index)", "enabled"),
                    start: "void f\(index)(void) { (void)FBTweakFeature(\"f\(index)\", ", end: "); }\n",
                    literal: "true")
            },
            {
                MadeDeclaration(
                    key: TweakKey("Features", "f\(index)", "a/b"),
                    start: "void f\(index)(void) { (void)FBTweakFeaturePart(\"f\(index)\", \"a/b\",\\\n ",
                    end: "); }\n",
                    literal: "false")
            },
        ]
        let further: [() -> MadeDeclaration] = [
            { use("\(1 + small % 9)'\(String(format: "%03d", small % 1000))'000") },
            { use("0xAB'\(String(format: "%02X", small % 256))'CDu") },
            { use("1'\(String(format: "%03d", small % 1000)).25") },
            { use("uint8_t{\(small % 256)}") },
            { use("std::int16_t(\(small % 1000))") },
            { use("static_cast<float>(\(real))") },
            { use("static_cast<unsigned char>(\(small % 256))") },
            { use("0b1010'\(String(small % 16 + 16, radix: 2).dropFirst())") },
            { use("Kind::k\(small % 2)", ", FBTweakChoices(Kind::k0, Kind::k1)") },
        ]
        let all = isCPlusPlus ? forms + further : forms
        return all[index % all.count]()
    }
}

/// Sources that are made up declaration by declaration.
private struct MadeSource {
    var declarations: [MadeDeclaration] = []
    var text = ""
    /// The bytes of the literals.
    var literals: [TweakKey: Range<Int>] = [:]
    /// The lines of the declarations.
    var lines: [TweakKey: Int] = [:]

    mutating func add(_ text: String) { self.text += text }

    mutating func add(_ declaration: MadeDeclaration) {
        declarations.append(declaration)
        lines[declaration.key] = text.utf8.count { $0 == 0x0A } + 1
        text += declaration.start
        literals[declaration.key] = text.utf8.count..<(text.utf8.count + declaration.literal.utf8.count)
        text += declaration.literal + declaration.options + declaration.end
    }

    /// Expects that changes are within the literals, each in its own, and that nothing else differs.
    func expectLiterals(_ changes: [SourceChange], in bytes: [UInt8]) {
        var expected: [UInt8] = []
        var next = 0
        let old = Array(text.utf8)
        for change in changes.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            let literal = literals[change.tweak] ?? 0..<0
            #expect(
                literal.lowerBound <= change.range.lowerBound
                    && change.range.upperBound <= literal.upperBound, "\(change.tweak)")
            expected += old[next..<change.range.lowerBound] + change.newText
            next = change.range.upperBound
        }
        #expect(expected + old[next...] == bytes)
    }
}

@Suite struct `A thousand generated declarations` {
    @Test(arguments: Language.allCases)
    func `A rebuilt program has the new defaults`(language: Language) throws {
        let sources = try BakedSources()
        let name = "made.\(language.suffix)"
        var maker = Maker(generator: SeededGenerator(seed: language == .c ? 1 : 2))
        var source = MadeSource()
        source.add(
            "#include <fbtweak.h>\n#include <cstdint>\n".replacing(
                "#include <cstdint>\n", with: language == .c ? "" : "#include <cstdint>\n"))
        source.add("enum { MODE_0 = 7, MODE_1 = -1, MODE_2 = 1000 };\n")
        if language == .cPlusPlus { source.add("namespace Kind { enum { k0 = 3, k1 = 4 }; }\n") }
        for index in 0..<400 { source.add(maker.declaration(index, language)) }
        try sources.home.write(name, source.text)

        let records = try sources.compiled(name)
        #expect(records.count == 400)
        var values: [TweakKey: TweakValue] = [:]
        for record in records { values[record.key] = maker.value(for: record) }
        let baking = sources.plan(records) { values[$0.key] ?? $0.defaultValue }
        for tweak in baking.staying { Issue.record("\(tweak.message)") }
        #expect(baking.changes.count > 330)
        try baking.write()
        source.expectLiterals(baking.changes, in: try sources.bytes(name))

        let rebuilt = try sources.compiled(name)
        #expect(rebuilt.map(\.key) == records.map(\.key))
        for (old, new) in zip(records, rebuilt) where old.type != new.type {
            Issue.record("\(old.key): \(old.type) \(old.defaultValue) became \(new.type) \(new.defaultValue)")
        }
        for record in rebuilt where record.defaultValue != values[record.key] {
            let new = baking.changes.first { $0.tweak == record.key }.map {
                String(decoding: $0.newText, as: UTF8.self)
            }
            Issue.record(
                "\(record.key): \(values[record.key] ?? .nothing) became \(record.defaultValue) as \(new ?? "-")"
            )
        }
        // Built again or not, nothing is left to do.
        for records in [records, rebuilt] {
            let again = sources.plan(records) { values[$0.key] ?? $0.defaultValue }
            #expect(
                again.changes.isEmpty && again.staying.isEmpty, "\(again.staying.map(\.message).prefix(5))")
        }
    }

    @Test func `The Swift compiler reads the new literals as the new values`() throws {
        let sources = try BakedSources()
        var maker = Maker(generator: SeededGenerator(seed: 3))
        var source = MadeSource()
        source.add("let start = 0 /* \"\"\" /* #tweak( */ */\n")
        for index in 0..<300 { source.add(maker.swiftDeclaration(index)) }
        try sources.home.write("made.swift", source.text)
        let records = source.declarations.map { made in
            BakedSources.tweak(
                made.type, made.former, at: "made.swift:\(source.lines[made.key] ?? 0)", made.key,
                choices: made.choices)
        }
        var values: [TweakKey: TweakValue] = [:]
        for record in records { values[record.key] = maker.swiftValue(for: record) }
        let baking = sources.plan(records) { values[$0.key] ?? $0.defaultValue }
        for tweak in baking.staying { Issue.record("\(tweak.message)") }
        #expect(baking.changes.count > 250)
        try baking.write()
        source.expectLiterals(baking.changes, in: try sources.bytes("made.swift"))
        let again = sources.plan(records) { values[$0.key] ?? $0.defaultValue }
        #expect(again.changes.isEmpty && again.staying.isEmpty, "\(again.staying.map(\.message).prefix(5))")

        // Without the macros, whose arguments the values are.
        var judge = "import Glibc\n" + (try sources.text("made.swift"))
        for made in source.declarations {
            judge = judge.replacing("#tweak(\"Made\", \"up\", \"\(made.key.name)\", default: ", with: "(")
        }
        judge += """
            struct TweakColor { var red, green, blue: UInt8; var alpha: UInt8 = 255 }
            enum Mode: String { case fast, slow, `default` }
            func show(_ value: Double) -> String { "\\(value)" }
            func show(_ value: Float) -> String { "\\(value)" }
            func show(_ value: Int) -> String { "\\(value)" }
            func show(_ value: UInt8) -> String { "\\(value)" }
            func show(_ value: Int16) -> String { "\\(value)" }
            func show(_ value: UInt64) -> String { "\\(value)" }
            func show(_ value: Bool) -> String { "\\(value)" }
            func show(_ value: Mode) -> String { show(value.rawValue) }
            func show(_ value: String) -> String { value.utf8.map { String($0, radix: 16) }.joined(separator: ",") }
            func show(_ value: TweakColor) -> String { "\\(value.red) \\(value.green) \\(value.blue) \\(value.alpha)" }
            func show(_ value: Duration) -> String { "\\(Int((value / .milliseconds(1)).rounded()))" }

            """
        for made in source.declarations { judge += "print(show(\(made.key.name)))\n" }
        try sources.home.write("main.swift", judge)
        let swiftc = try run(
            Locations.program("swiftc"), ["-Onone", "main.swift", "-o", "judge"], home: sources.home,
            in: sources.home.path)
        try #require(swiftc.succeeded, "\(swiftc.error.prefix(4000))")
        let lines = try run(sources.home("judge"), home: sources.home).output.split(
            separator: "\n", omittingEmptySubsequences: false)
        for (made, line) in zip(source.declarations, lines) {
            #expect(String(line) == Maker.shown(values[made.key] ?? .nothing, made), "\(made.literal)")
        }
    }
}

// MARK: - Swift

extension Maker {
    fileprivate mutating func swiftDeclaration(_ index: Int) -> MadeDeclaration {
        let name = "t\(index)"
        func use(_ swift: String, _ type: TweakType, _ literal: String, _ former: TweakValue)
            -> MadeDeclaration
        {
            MadeDeclaration(
                key: TweakKey("Made", "up", name),
                start: "let \(name): \(swift) = #tweak(\"Made\", \"up\", \"\(name)\", default: ", end: ")\n",
                literal: literal,
                former: former, type: type)
        }
        let small = number(1...30_000)
        let real = Double(number(1...99_999)) / 100
        let integer = TweakValue.integer(Int128(small))
        let byte = TweakValue.integer(Int128(small % 256))
        let forms: [() -> MadeDeclaration] = [
            { use("Double", .double, "\(real)", .double(real)) },
            { use("Double", .double, "-\(real)", .double(-real)) },
            { use("Double", .double, "\(small)", .double(Double(small))) },
            { use("Double", .double, "\(small)e-2", .double(Double("\(small)e-2") ?? 0)) },
            { use("Double", .double, String(format: "%a", real), .double(real)) },
            { use("Double", .double, "1_000.25", .double(1000.25)) },
            { use("Float", .float, "\(real)", .double(Double(shortest: Float(real)))) },
            { use("Float", .float, "1e3", .double(1000)) },
            { use("Int", .int64, "\(small)", integer) },
            { use("Int", .int64, "-\(small)", .integer(-Int128(small))) },
            { use("Int", .int64, "0x" + String(small, radix: 16, uppercase: true), integer) },
            { use("Int", .int64, "0o" + String(small, radix: 8), integer) },
            { use("Int16", .int16, "0b0" + String(small, radix: 2), integer) },
            { use("UInt8", .uint8, "\(small % 256)", byte) },
            { use("UInt64", .uint64, "1_000_000", 1_000_000) },
            { use("Bool", .bool, "true", true) },
            { use("String", .string, "\"text \(small)\"", .string("text \(small)")) },
            { use("String", .string, "\"\\u{e4}\\t\\\"\\\\\"", .string("ä\t\"\\")) },
            { use("String", .string, "#\"raw \\ \" \(small)\"#", .string("raw \\ \" \(small)")) },
            {
                use(
                    "String", .string, "\"\"\"\n    one\n      two \\\n    three\n    \"\"\"",
                    .string("one\n  two three"))
            },
            {
                use(
                    "TweakColor", .color, "TweakColor(red: 1, green: 0x2, blue: 3)",
                    .color(TweakColor(red: 1, green: 2, blue: 3)))
            },
            { use("Mode", .string, ".fast", "fast") },
            { use("Mode", .string, "Mode.slow", "slow") },
            { use("Duration", .double, ".seconds(2)", 2.0) },
            { use("Duration", .double, ".milliseconds(300)", 0.3) },
            { use("Duration", .double, ".zero", 0.0) },
        ]
        var made = forms[index % forms.count]()
        if made.start.contains("Mode") {
            made.choices = ["fast", "slow", "default"].map { TweakChoice(.string($0)) }
        }
        return made
    }

    /// A value that a tweak can have in Swift; durations are whole milliseconds.
    fileprivate mutating func swiftValue(for tweak: TweakDeclaration) -> TweakValue {
        let made = value(for: tweak)
        let isDuration = tweak.type == .double && [0.3, 2.0, 0.0].contains(tweak.defaultValue)
        return isDuration ? .double(Double(number(0...100_000)) / 1000) : made
    }

    /// A value as the judge prints it.
    fileprivate static func shown(_ value: TweakValue, _ made: MadeDeclaration) -> String {
        switch value {
        case .double(let number) where made.start.contains(": Duration"): "\(Int((number * 1000).rounded()))"
        case .double(let number) where made.type == .float: "\(Float(number))"
        case .string(let text): text.utf8.map { String($0, radix: 16) }.joined(separator: ",")
        case .color(let color): "\(color.red) \(color.green) \(color.blue) \(color.alpha)"
        default: "\(value)"
        }
    }
}
