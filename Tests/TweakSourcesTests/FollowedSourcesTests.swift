// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakRecords
import TweakSources

/// Sources that are edited while they are followed.
private final class EditedSources {
    let home: TemporaryDirectory
    private var followed: FollowedSources

    /// Writes sources, and follows the tweak A/B/C, which has this default in the program.
    init(
        _ sources: [String: String], _ type: TweakType = .double, _ value: TweakValue = 1.0,
        at places: [String] = ["app.c:2"], limits: ClosedRange<Double>? = nil
    ) throws {
        home = try TemporaryDirectory()
        for (name, text) in sources { try home.write(name, text) }
        let declarations = places.map { place in
            TweakDeclaration(
                key: TweakKey("A", "B", "C"), type: type, defaultValue: value,
                minimum: limits.map { .double($0.lowerBound) },
                maximum: limits.map { .double($0.upperBound) },
                attributes: [TweakDeclaration.Attribute(key: "at", value: place)])
        }
        followed = try FollowedSources(
            [(declarations[0], declarations.map { CompiledDeclaration($0) })],
            in: SourceFolders(given: nil, working: home.path))
    }

    var unfound: [String] { followed.unfound.map(\.message) }

    /// What is in the sources at first and not in the program.
    func first() -> [String] { Self.lines(followed.first()) }

    /// What has been edited since.
    func edits() -> [String] { Self.lines(followed.update()) }

    private static func lines(_ update: FollowedSources.Update) -> [String] {
        update.edits.map { "\($0.place): \($0.value)" } + update.staying.map(\.message)
    }

    /// Saves a source, and returns what changes.
    func saved(_ text: String, as name: String = "app.c", by save: Saving = .rename) throws -> [String] {
        let path = home(name)
        switch save {
        case .rename: try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
        case .inPlace: try write(text, to: path)
        case .backup:
            try #require(rename(path, path + "~") == 0)
            try write(text, to: path)
        }
        return edits()
    }

    /// Writes a file in pieces, and looks for edits between them, which must not be there.
    private func write(_ text: String, to path: String) throws {
        let file = try #require(fopen(path, "w"))
        for piece in text.utf8.split(
            maxSplits: .max, omittingEmptySubsequences: false, whereSeparator: { $0 == 0x20 })
        {
            let piece = Array(piece) + [0x20]
            fwrite(piece, 1, piece.count, file)
            fflush(file)
            #expect(edits() == [])
        }
        fclose(file)
    }
}

/// How an editor saves a file.
enum Saving: CaseIterable {
    /// Writes another file and renames it.
    case rename
    /// Truncates the file and writes it.
    case inPlace
    /// Renames the old file and writes a new one.
    case backup
}

@Suite struct `Sources that are followed` {
    private static let c = """
        int f(void) {
          return FBTweakValue("A", "B", "C", 1.0, 0, 10) > 5;
        }

        """

    private func c(_ literal: String) -> String { Self.c.replacing("1.0", with: literal) }

    @Test(arguments: Saving.allCases)
    func `A literal that is saved is an edit`(save: Saving) throws {
        let sources = try EditedSources(["app.c": Self.c])
        #expect(sources.first() == [])
        #expect(try sources.saved(c("2.5"), by: save) == ["app.c:2: 2.5"])
        #expect(try sources.saved(c("2.5"), by: save) == [])
        #expect(try sources.saved(c("0x1p1"), by: save) == ["app.c:2: 2.0"])
        #expect(try sources.saved(c("1.0"), by: save) == ["app.c:2: 1.0"])
    }

    @Test func `What was edited before is an edit at first`() throws {
        let sources = try EditedSources(["app.c": c("7")])
        #expect(sources.first() == ["app.c:2: 7.0"])
        #expect(try sources.saved(c("7.0")) == [])
    }

    @Test(arguments: [
        ("", "it has no default"), ("1.0 0", "its default is an expression: 1.0 0"),
        ("2.0 *", "its default is an expression: 2.0 *"), ("-", "its default is an expression: -"),
        ("1.0.", "its default is an expression: 1.0."), ("GAIN", "its default is the constant GAIN"),
        ("2.0 + 3", "its default is an expression: 2.0 + 3"),
        ("11.5", "11.5 is outside the limits; allowed: a number from 0.0 to 10.0"),
    ])
    func `Text that is no value changes nothing, and is said once`(text: String, reason: String) throws {
        let sources = try EditedSources(["app.c": Self.c], limits: 0...10)
        #expect(sources.first() == [])
        #expect(try sources.saved(c(text)) == ["app.c:2: A/B/C is skipped: \(reason)"])
        #expect(try sources.saved("\n" + c(text)) == [])
        #expect(try sources.saved(c("3.5")) == ["app.c:2: 3.5"])
        #expect(try sources.saved(c(text)).count == 1)
    }

    @Test(arguments: [
        "int f(void) { /*\n  return FBTweakValue(\"A\", \"B\", \"C\", 2.0, 0, 10) > 5;\n}\n",
        "int f(void) {\n  return FBTweakValue(\"A\", \"B\", \"C\", 2.0, 0, 10 > 5;\n}\nint g(void) { return h(1)); }\n",
        "int f(void) {\n  return FBTweakValue(\"A\", \"B, \"C\", 2.0, 0, 10) > 5;\n}\n",
        "int f(void) {\n  return FBTweakValue(\"A\", \"B\", \"D\", 2.0, 0, 10) > 5;\n}\n",
        "int f(void) {\n  return", "",
    ])
    func `Broken text changes nothing`(text: String) throws {
        let sources = try EditedSources(["app.c": Self.c])
        #expect(sources.first() == [])
        let said = try sources.saved(text)
        #expect(said.count == 1 && said.first?.contains("A/B/C is skipped: ") == true, "\(said)")
        #expect(try sources.saved(c("2.0")) == ["app.c:2: 2.0"])
    }

    /// Each beginning of it is saved, as editors do that save by themselves.
    @Test(arguments: [
        ("app.c", "int f(void) {", "return FBTweakValue(\"A\", \"B\", \"C\", 2.5, 0, 10)", " > 5;\n}"),
        ("app.c", "void f(double d) {", "FBTweakBind(d, \"A\", \"B\",\n\"C\", 2.5)", ";\n}"),
        ("app.cpp", "auto f() {", "return FBTweakValue(\"A\", R\"x(B)x\", u8\"C\", 2.5)", ";\n}"),
        (
            "app.swift", "func f() -> Double {", "#tweak(\"A\", #\"B\"#, \"C\", in: 0...10, default: 2.5)",
            "\n}"
        ),
        ("app.swift", "enum A {", "@Tweakable(\"A\", \"B\", \"C\") static var c: [Double] =", " 2.5\n}"),
    ])
    func `A declaration that is being typed changes nothing until it is complete`(
        file: String, before: String, typed: String, rest: String
    ) throws {
        let other = "\(before.replacing("f(", with: "g(").replacing("A", with: "B")) int(x: (1)); }\n"
        func text(_ typed: String, _ rest: String) -> String { "\(before)\n\(typed)\(rest)\n\n\(other)" }
        let former = text(typed, rest).replacing("2.5", with: "1.0")
        let sources = try EditedSources([file: former], at: ["\(file):2"])
        #expect(sources.first() == [])
        for length in 0..<typed.count {
            let said = try sources.saved(text(String(typed.prefix(length)), "\n}"), as: file)
            #expect(
                said.allSatisfy { $0.contains("A/B/C is skipped: ") }, "\(typed.prefix(length)): \(said)")
        }
        #expect(try sources.saved(text(typed, rest), as: file) == ["\(file):2: 2.5"])
    }

    @Test func `A declaration may move`() throws {
        let sources = try EditedSources(["app.c": Self.c])
        #expect(sources.first() == [])
        #expect(try sources.saved("#include <math.h>\n\n" + c("2.0")) == ["app.c:4: 2.0"])
        #expect(try sources.saved("#include <math.h>\n\n" + c("3.0")) == ["app.c:4: 3.0"])
    }

    @Test func `Of several declarations in a file the one that was compiled counts`() throws {
        func text(_ first: String, _ second: String) -> String {
            "#ifdef X\n" + c(first) + "#else\n" + c(second) + "#endif\n"
        }
        let sources = try EditedSources(["app.c": text("5.0", "1.0")], at: ["app.c:7"])
        #expect(sources.first() == [])
        #expect(try sources.saved("\n" + text("6.0", "1.0")) == [])
        #expect(try sources.saved("\n" + text("6.0", "2.0")) == ["app.c:8: 2.0"])
    }

    @Test func `A declaration that is never compiled changes nothing`() throws {
        let sources = try EditedSources(["app.c": Self.c])
        #expect(sources.first() == [])
        let stays = "app.c:2: A/B/C is skipped: it is in a part of the file that is never compiled"
        #expect(try sources.saved("#if 0\n" + c("2.0") + "#endif\n") == [stays])
        // Beside the one that is compiled it is nothing.
        #expect(
            try sources.saved("#if 0\n" + c("2.0") + "#else\n" + c("3.0") + "#endif\n") == ["app.c:7: 3.0"])
        #expect(try sources.saved(c("4.0") + "#if 0\n" + c("5.0") + "#endif\n") == ["app.c:2: 4.0"])
    }

    @Test(arguments: ["\0", "\u{7F}\0 "])
    func `A file that is no text changes nothing`(text: String) throws {
        let sources = try EditedSources(["app.c": Self.c])
        #expect(sources.first() == [])
        #expect(
            try sources.saved(c("2.0") + text) == [
                "app.c:2: A/B/C is skipped: the file contains NUL bytes"
            ])
        #expect(try sources.saved(c("2.0")) == ["app.c:2: 2.0"])
    }

    @Test func `All places of a tweak must agree`() throws {
        let sources = try EditedSources(["app.c": Self.c, "b.c": Self.c], at: ["app.c:2", "b.c:2"])
        #expect(sources.first() == [])
        #expect(
            try sources.saved(c("2.0")) == [
                "b.c:2: A/B/C is skipped: its default is 1.0 there and 2.0 at app.c:2"
            ])
        #expect(try sources.saved(c("2.0"), as: "b.c") == ["app.c:2: 2.0"])
    }

    @Test(arguments: Saving.allCases)
    func `In Swift`(save: Saving) throws {
        func text(_ literal: String) -> String {
            """
            enum Spring {
                @Tweakable("A", "B", "C", in: 0...10) static var gain = \(literal)
            }

            """
        }
        let sources = try EditedSources(["app.swift": text("1.0")], at: ["app.swift:2"])
        #expect(sources.first() == [])
        #expect(try sources.saved(text("2.5"), as: "app.swift", by: save) == ["app.swift:2: 2.5"])
        #expect(try sources.saved(text("1_0.5"), as: "app.swift", by: save) == ["app.swift:2: 10.5"])
        let half = String(text("2.75").dropLast(2))
        #expect(
            try sources.saved(half, as: "app.swift") == [
                "app.swift:2: A/B/C is skipped: a bracket in the file is not closed"
            ])
        #expect(try sources.saved(text("2.75"), as: "app.swift") == ["app.swift:2: 2.75"])
    }

    @Test func `An expression in Swift`() throws {
        func text(_ literal: String) -> String {
            "func f() -> String {\n  #tweak(\"A\", \"B\", \"C\", default: \(literal))\n}\n"
        }
        let sources = try EditedSources(["app.swift": text("\"one\"")], .string, "one", at: ["app.swift:2"])
        #expect(sources.first() == [])
        #expect(try sources.saved(text("#\"two \"2\"\"#"), as: "app.swift") == ["app.swift:2: two \"2\""])
        #expect(
            try sources.saved(text("\"\\(name)\""), as: "app.swift") == [
                "app.swift:2: A/B/C is skipped: its default is a text that is not literal"
            ])
    }

    @Test func `A float has the value that the compiler gives it`() throws {
        let sources = try EditedSources(["app.c": c("0.1f")], .float, 0.1)
        #expect(sources.first() == [])
        #expect(try sources.saved(c("0.2f")) == ["app.c:2: 0.2"])
    }

    @Test func `A folder may be replaced`() throws {
        let sources = try EditedSources(["src/app.c": Self.c], at: ["src/app.c:2"])
        #expect(sources.first() == [])
        try sources.home.write("new/app.c", c("2.0"))
        try FileManager.default.removeItem(atPath: sources.home("src"))
        #expect(sources.edits() == [])
        try FileManager.default.moveItem(atPath: sources.home("new"), toPath: sources.home("src"))
        #expect(sources.edits() == ["src/app.c:2: 2.0"])
        #expect(try sources.saved(c("3.0"), as: "src/app.c") == ["src/app.c:2: 3.0"])
    }

    @Test func `A source that is not there is said`() throws {
        let sources = try EditedSources([:])
        #expect(
            sources.unfound == [
                "app.c:2: A/B/C is skipped: no such file; give the source folder with --from"
            ])
    }
}
