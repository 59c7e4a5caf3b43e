// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Foundation
import TestSupport
import Testing
import TweakRecords
import TweakSources

/// A source with one declaration that fits its program.
private struct FittingSource {
    enum Form: CaseIterable {
        case use, useOverLines, bind, useInCPlusPlus, expression, variable

        var file: String {
            switch self {
            case .use, .useOverLines, .bind: "app.c"
            case .useInCPlusPlus: "app.cpp"
            case .expression, .variable: "app.swift"
            }
        }
    }

    let form: Form
    let names: [String]
    let value: Double
    var head, tail: [String]
    var declaration: String
    var ending = "\n"
    /// Makes other bytes of the text.
    var damage: (inout [UInt8]) -> Void = { _ in }

    var isSwift: Bool { form == .expression || form == .variable }
    var key: TweakKey { TweakKey(names[0], names[1], names[2]) }
    var literal: String { String(format: "%.2f", value) }
    /// The line of the declaration.
    var line: Int { (head + [""]).joined(separator: "\n").count { $0 == "\n" } + 1 }

    var bytes: [UInt8] {
        let text = (head + [declaration] + tail).joined(separator: "\n").replacing("\n", with: ending)
        var bytes = Array(text.utf8)
        damage(&bytes)
        return bytes
    }

    init(_ form: Form, using generator: inout SeededGenerator) {
        func pick(_ texts: [String]) -> String { texts.randomElement(using: &generator) ?? "" }
        self.form = form
        names = [
            pick(["Motor", "Größe", "Ball & Chain", "x"]), pick(["Control", "Physics", "(a, b)"]),
            pick(["Gain", "Maximum speed", "p"]),
        ]
        value = Double(Int.random(in: 4...4000, using: &generator)) / 4
        let lines =
            form == .expression || form == .variable
            ? [
                "import Foundation", "func f(_ x: Int) -> Int { [x][0] }", "let text = \"a(b\"",
                "// a { comment",
            ]
            : ["#include <math.h>", "int f(int x) { return x; }", "char t[] = \"a(b\";", "/* a { comment */"]
        head = (0..<Int.random(in: 0...6, using: &generator)).map { _ in pick(lines + ["", "\t"]) }
        tail = (0..<Int.random(in: 1...4, using: &generator)).map { _ in pick(lines) }
        let literal = String(format: "%.2f", value)
        let quoted = names.map { "\"\($0)\"" }
        let all = quoted.joined(separator: ", ")
        switch form {
        case .use, .useInCPlusPlus: declaration = "  double d = FBTweakValue(\(all), \(literal), 0, 5000);"
        case .useOverLines:
            declaration = "double d = FBTweakValue(\n  \(quoted.joined(separator: ",\n  ")),\n  \(literal));"
        case .bind: declaration = "\tFBTweakBind(d, \(all), \(literal));"
        case .expression: declaration = "let d = #tweak(\(all), default: \(literal), in: 0...5000)"
        case .variable: declaration = "@Tweakable(\(all)) static var d: Double = \(literal)"
        }
        ending = Bool.random(using: &generator) ? "\n" : "\r\n"
        if Bool.random(using: &generator) { damage = { $0.insert(contentsOf: [0xEF, 0xBB, 0xBF], at: 0) } }
    }

    /// Writes something else as the default.
    mutating func replaceLiteral(_ text: String) { declaration = declaration.replacing(literal, with: text) }
}

/// What became of a source since its program was built.
private struct OutdatedSource {
    var source: FittingSource
    /// The folder of the source.
    let folder: String
    let path: String
    /// The line, type and default in the record.
    var line: String
    var type = TweakType.double
    var former: TweakValue
    var value = TweakValue.double(2.5)
    /// A random number.
    let number: Int
    /// The reason why the tweak stays.
    var reason = ""
    /// Happens to the file when it is written.
    var happens: (_ path: String) throws -> Void = { _ in }

    init(_ source: FittingSource, in folder: String, at path: String, number: Int) {
        (self.source, self.folder, self.path, self.number) = (source, folder, path, number)
        (line, former) = (":\(source.line)", .double(source.value))
    }

    var tweak: TweakDeclaration {
        var tweak = BakedSources.tweak(type, former, at: "\(folder)/\(source.form.file)\(line)", source.key)
        if type == .double { (tweak.minimum, tweak.maximum) = (.double(0), .double(5000)) }
        return tweak
    }

    mutating func insertLine(_ text: String, at index: Int = 0) {
        source.head.insert(text, at: index)
        line = ":\(source.line)"
    }
}

/// A change that makes a source no longer fit, and how many sources it is made to.
private struct Outdating {
    /// The reason, with `…` for what differs.
    let reason: String
    let count: Int
    let forms: [FittingSource.Form]
    var happensMeanwhile = false
    let change: (inout OutdatedSource) -> Void

    init(
        _ reason: String, _ count: Int, _ forms: [FittingSource.Form] = FittingSource.Form.allCases,
        meanwhile: Bool = false, _ change: @escaping (inout OutdatedSource) -> Void
    ) {
        (self.reason, self.count, self.forms) = (reason, count, forms)
        (happensMeanwhile, self.change) = (meanwhile, change)
    }

    static let c: [FittingSource.Form] = [.use, .useOverLines, .bind, .useInCPlusPlus]
    static let swift: [FittingSource.Form] = [.expression, .variable]
    private static let notThere = "it is no longer declared there"

    // MARK: Declarations

    static var declarations: [Outdating] {
        [
            Outdating(notThere, 9) { $0.source.declaration = "" },
            Outdating(notThere, 9) { made in
                let text = made.source.declaration
                made.source.declaration = ""
                made.happens = {
                    try Data(text.utf8).write(to: URL(fileURLWithPath: containing($0) + "/other.c"))
                }
            },
            Outdating(notThere, 9) { rename(0, &$0) },
            Outdating(notThere, 9) { rename(1, &$0) },
            Outdating(notThere, 9) { rename(2, &$0) },
            Outdating(notThere, 9) { made in
                let lines = made.source.declaration.split(separator: "\n")
                made.source.declaration = lines.map { "// \($0)" }.joined(separator: "\n")
            },
            Outdating(notThere, 9) { $0.source.declaration = "/* \($0.source.declaration) */" },
            Outdating(notThere, 9) { made in
                let text = made.source.declaration.replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
                made.source.declaration =
                    made.source.isSwift ? "let s = \"\(text)\"" : "const char *s = \"\(text)\";"
            },
            Outdating(notThere, 9) { made in
                let text = made.source.declaration
                made.source.declaration =
                    made.source.isSwift ? "let s = #\"\(text)\"#" : "const char *s = R\"x(\(text))x\";"
            },
            Outdating("it is in a part of the file that is never compiled", 12) { made in
                let isBranch = made.number % 2 == 0
                let (no, yes) = made.source.isSwift ? ("false", "true") : ("0", "1")
                made.insertLine(isBranch ? "#if \(yes)" : "#if \(no)", at: made.source.head.count)
                if isBranch { made.insertLine("#else", at: made.source.head.count) }
                made.source.tail.insert("#endif", at: 0)
            },
            Outdating("it is declared in line … now; build the program again", 8) { made in
                made.reason = "it is declared in line \(made.source.line) now; build the program again"
                // Before, behind, and behind the end.
                made.line = ":\(made.source.line + [100, -1, 10][made.number % 3])"
            },
            Outdating("the declaration there has a name that is not written as three literals", 8) { made in
                let name = made.source.names[made.number % 3]
                let quoted = "\"\(name)\""
                made.source.declaration = made.source.declaration.replacing(
                    quoted, with: "name", maxReplacements: 1)
            },
            Outdating("the declaration there has a name that is not in UTF-8", 4, c) { made in
                let name = Array("\"\(made.source.names[2])\"".utf8)
                made.source.damage = { bytes in
                    guard let range = bytes.firstRange(of: name) else { return }
                    bytes.insert(0xE9, at: range.lowerBound + 1)
                }
            },
            Outdating("the parenthesis of the declaration there is not closed", 8) { made in
                guard let last = made.source.declaration.lastIndex(of: ")") else { return }
                made.source.declaration.remove(at: last)
            },
            Outdating("the parenthesis of the declaration there is not closed", 14) { made in
                let line = made.source.declaration
                guard let start = line.firstIndex(of: "("),
                    let end = line.range(of: made.source.names[2])?.lowerBound
                else { return }
                let length = line.distance(from: start, to: end)
                made.source.declaration = String(
                    line[...line.index(start, offsetBy: made.number % length)])
                made.source.tail = []
            },
            Outdating("the declaration there has too few arguments", 4, [.use, .useInCPlusPlus]) { made in
                made.source.declaration = "double d = FBTweakValue(\"\(made.source.names[0])\");"
            },
        ]
    }

    private static func rename(_ level: Int, _ made: inout OutdatedSource) {
        let name = "\"\(made.source.names[level])\""
        made.source.declaration = made.source.declaration.replacing(
            name, with: "\"Other\"", maxReplacements: 1)
    }

    private static func containing(_ path: String) -> String {
        URL(fileURLWithPath: path).deletingLastPathComponent().path
    }

    // MARK: Defaults

    static var defaults: [Outdating] {
        [
            Outdating("its default is an expression: …", 9) { expression("\($0.source.literal) * 2", &$0) },
            Outdating("its default is an expression: …", 9) {
                expression("scaled(\($0.source.literal))", &$0)
            },
            Outdating("its default is an expression: …", 6, [.use, .expression]) { made in
                // Another one of the name in the line.
                let other = made.source.declaration
                expression("-(\(made.source.literal))", &made)
                made.source.declaration = other + " " + made.source.declaration
            },
            Outdating("its default is the macro …", 8, c) { made in
                made.insertLine("#define WIDTH \(made.source.literal)")
                made.source.replaceLiteral("WIDTH")
                made.reason = "its default is the macro WIDTH"
            },
            Outdating("its default is the constant …", 8) { made in
                let name = made.source.isSwift ? "Self.width" : "width"
                made.source.replaceLiteral(name)
                made.reason = "its default is the constant \(name)"
            },
            Outdating("its default is … there and … in the program; build it again", 8) { made in
                let other = String(format: "%.2f", made.source.value + 1)
                made.reason =
                    "its default is \(other) there and \(made.source.value) in the program; build it again"
                made.source.replaceLiteral(other)
            },
            Outdating(
                "its default … makes it an int32 and it is a double in the program; build it again", 6,
                [.use, .useOverLines, .useInCPlusPlus]
            ) { made in
                made.former = .double(Double(made.number))
                made.source.replaceLiteral("\(made.number)")
                made.reason =
                    "its default \(made.number) makes it an int32 and it is a double in the program; build it again"
            },
            Outdating(
                "its default … makes it a double and it is an int32 in the program; build it again", 6,
                [.use, .useOverLines, .useInCPlusPlus]
            ) { made in
                (made.type, made.former) = (.int32, .integer(Int128(made.source.value)))
                made.value = 7
                made.reason =
                    "its default \(made.source.literal) makes it a double and it is an int32 in the program; build it again"
            },
            Outdating("its default is … there and … in the program; build it again", 6, c) { made in
                made.source.replaceLiteral("\"1.0\"")
                made.reason =
                    "its default is \"1.0\" there and \(made.source.value) in the program; build it again"
            },
            Outdating("its default … is not an int64", 9, swift) { made in
                (made.type, made.former, made.value) = (.int64, .integer(Int128(made.source.value)), 7)
                made.reason = "its default \(made.source.literal) is not an int64"
            },
            Outdating("it has no default", 4, [.use, .useInCPlusPlus, .expression]) { made in
                let names = made.source.names.map { "\"\($0)\"" }.joined(separator: ", ")
                made.source.declaration = (made.source.isSwift ? "#tweak" : "FBTweakValue") + "(\(names))"
            },
            Outdating("its variable has no value", 2, [.variable]) { made in
                made.source.declaration = made.source.declaration.replacing(
                    " = \(made.source.literal)", with: "")
            },
            Outdating("a line of the preprocessor is inside its declaration", 4, c) { made in
                made.source.replaceLiteral("\n#ifdef X\n\(made.source.literal)\n#else\n1\n#endif\n")
            },
            Outdating("the value is outside the limits; allowed: …", 8) { made in
                made.value = .double([-1, 5001][made.number % 2])
                made.reason = "the value is outside the limits; allowed: \(made.tweak.allowed)"
            },
        ]
    }

    private static func expression(_ text: String, _ made: inout OutdatedSource) {
        made.source.replaceLiteral(text)
        made.reason = "its default is an expression: \(text)"
    }

    // MARK: Files

    static var files: [Outdating] {
        [
            Outdating(notThere, 4) { $0.source.damage = { $0 = [] } },
            Outdating("the file is generated; the comment at its beginning contains \"…\"", 8) { made in
                let notice = ["do not edit", "generated by", "@generated"][made.number % 3]
                made.insertLine("// \(notice.uppercased()) x")
                made.reason = "the file is generated; the comment at its beginning contains \"\(notice)\""
            },
            Outdating("the file contains NUL bytes", 8) { made in
                let number = made.number
                made.source.damage = { $0.insert(0, at: number % $0.count) }
            },
            Outdating("the file is not in UTF-8", 4, swift) { made in
                made.insertLine("// caf?")
                made.source.damage = { $0[6] = 0xE9 }
            },
            Outdating("the file is not writable", 6) { made in
                made.happens = { #expect(chmod($0, 0o444) == 0) }
            },
            Outdating("the file cannot be read: …", 2) { made in
                made.happens = { #expect(truncate($0, 16 << 20 + 1) == 0) }
                made.reason = "the file cannot be read: \(made.path): it has more than 16777216 bytes"
            },
            Outdating("the file cannot be read: …", 4) { made in
                made.happens = { path in
                    #expect(unlink(path) == 0)
                    #expect(symlink(path, path) == 0)
                }
                made.reason = "the file cannot be read: Too many levels of symbolic links"
            },
            Outdating("a directory is in place of the file", 4) { made in
                made.happens = { path in
                    #expect(unlink(path) == 0)
                    #expect(mkdir(path, 0o755) == 0)
                }
            },
            // Reading a pipe would not end, and reading the device neither.
            Outdating("the file is not a regular file", 6) { made in
                let isPipe = made.number % 2 == 0
                made.happens = { path in
                    #expect(unlink(path) == 0)
                    #expect((isPipe ? mkfifo(path, 0o644) : symlink("/dev/zero", path)) == 0)
                }
            },
            Outdating("no such file; give the source folder with --from", 6) { made in
                let isLink = made.number % 2 == 0
                made.happens = { path in
                    #expect(unlink(path) == 0)
                    if isLink { #expect(symlink("gone", path) == 0) }
                }
            },
            Outdating("the program does not contain its place in the sources", 4) { made in
                made.line = [":99999999999999999999", ":", "", ":x"][made.number % 4]
            },
            Outdating("the file has changed meanwhile; nothing was written", 12, meanwhile: true) { made in
                let (number, text) = (made.number, made.source.bytes)
                made.happens = { path in
                    #expect(unlink(path) == 0)
                    switch number % 6 {
                    case 0: break
                    case 1: #expect(mkdir(path, 0o755) == 0)
                    case 2: #expect(mkfifo(path, 0o644) == 0)
                    case 3: #expect(symlink(path, path) == 0)
                    case 4: try Data(text + [0x20]).write(to: URL(fileURLWithPath: path))
                    default: try Data(text.dropLast()).write(to: URL(fileURLWithPath: path))
                    }
                }
            },
        ]
    }
}

@Suite struct `Three hundred sources that no longer fit` {
    private let sources: BakedSources

    init() throws { sources = try BakedSources() }

    /// How many sources stay for each reason.
    private static let counts = [
        "a directory is in place of the file": 4,
        "a line of the preprocessor is inside its declaration": 4,
        "it has no default": 4,
        "it is declared in line … now; build the program again": 8,
        "it is in a part of the file that is never compiled": 12,
        "it is no longer declared there": 85,
        "its default is an expression: …": 24,
        "its default is the constant …": 8,
        "its default is the macro …": 8,
        "its default is … there and … in the program; build it again": 14,
        "its default … is not an int64": 9,
        "its default … makes it a double and it is an int32 in the program; build it again": 6,
        "its default … makes it an int32 and it is a double in the program; build it again": 6,
        "its variable has no value": 2,
        "the declaration there has a name that is not in UTF-8": 4,
        "the declaration there has a name that is not written as three literals": 8,
        "the declaration there has too few arguments": 4,
        "the file cannot be read: …": 6,
        "the file contains NUL bytes": 8,
        "the file has changed meanwhile; nothing was written": 12,
        "the file is generated; the comment at its beginning contains \"…\"": 8,
        "the file is not a regular file": 6,
        "the file is not in UTF-8": 4,
        "the file is not writable": 6,
        "the parenthesis of the declaration there is not closed": 22,
        "the program does not contain its place in the sources": 4,
        "the value is outside the limits; allowed: …": 8,
        "no such file; give the source folder with --from": 6,
    ]

    @Test(.timeLimit(.minutes(5))) func `Each stays byte for byte, and its own reason and place are said`()
        throws
    {
        var generator = SeededGenerator(seed: 300)
        var counts: [String: Int] = [:]
        var folder = 0
        for outdating in Outdating.declarations + Outdating.defaults + Outdating.files {
            for index in 0..<outdating.count {
                folder += 1
                let form = outdating.forms[index % outdating.forms.count]
                let fitting = FittingSource(form, using: &generator)
                let number = Int.random(in: 1...1000, using: &generator) * 12 + index
                try check(fitting, outdating, "\(folder)", number)
                counts[outdating.reason, default: 0] += 1
            }
        }
        #expect(counts.values.reduce(0, +) == 300)
        #expect(counts == Self.counts)
    }

    private func check(_ fitting: FittingSource, _ outdating: Outdating, _ folder: String, _ number: Int)
        throws
    {
        let path = try sources.home.write("\(folder)/\(fitting.form.file)", Data(fitting.bytes))
        var made = OutdatedSource(fitting, in: folder, at: path, number: number)
        // As the program was built from it, it would change.
        let before = sources.plan([made.tweak], isWriting: true) { _ in 2.5 }
        #expect(before.changes.map { String(decoding: $0.oldText, as: UTF8.self) } == [fitting.literal])

        outdating.change(&made)
        let parts = outdating.reason.split(separator: "…").map(String.init)
        if parts == [outdating.reason] { made.reason = outdating.reason }
        #expect(
            parts.allSatisfy { made.reason.contains($0) }, "\(made.reason) is counted as \(outdating.reason)")
        try Data(made.source.bytes).write(to: URL(fileURLWithPath: path))
        if !outdating.happensMeanwhile { try made.happens(path) }
        let tweak = made.tweak
        let baking = sources.plan([tweak]) { _ in made.value }
        if outdating.happensMeanwhile { try made.happens(path) }
        let state = try state(of: folder)
        if outdating.happensMeanwhile {
            #expect(baking.changes.count == 1)
            let error = #expect(throws: Failure.self) { try baking.write() }
            #expect(error?.message == "\(path): \(made.reason)")
        } else {
            #expect(baking.changes.isEmpty)
            #expect(
                baking.staying.map(\.message) == [
                    "\(tweak.location.map { "\($0): " } ?? "")\(tweak.key) is skipped: \(made.reason)"
                ], "\(String(decoding: made.source.bytes.prefix(2000), as: UTF8.self))")
            try baking.write()
        }
        #expect(try self.state(of: folder) == state)
    }

    /// The contents of a folder, with the times and the numbers of the files, and its own.
    private func state(of folder: String) throws -> [String] {
        let path = sources.home(folder)
        let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        return try (["."] + names).map { name in
            let file = "\(path)/\(name)"
            let status = try #require(FileStatus(file))
            let type = try FileManager.default.attributesOfItem(atPath: file)[.type] as? FileAttributeType
            let bytes = type == .typeRegular ? try Data(contentsOf: URL(fileURLWithPath: file)) : Data()
            let time = status.modified?.timeIntervalSinceReferenceDate ?? 0
            return "\(name) \(status.inode) \(status.mode) \(time) \(bytes.count) \(bytes.hashValue)"
        }
    }
}
