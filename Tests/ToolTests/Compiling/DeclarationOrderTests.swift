// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

/// Tweaks are shown as they are written, whatever the compiler does with their records.
@Suite struct `The order of declarations` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private static let levels =
        isLong ? ["-O0", "-Og", "-O1", "-O2", "-O3", "-Os", "-flto -O2"] : ["-O0", "-O2", "-flto -O2"]
    private static let files = isLong ? 20 : 4

    /// A source file and its header with 50 tweaks, some of which share a line, take many, or come from a macro.
    private func write(file: Int, _ language: Language, hasInline: Bool = true) throws -> String {
        var lines = [0: ["#pragma once", "#include <fbtweak.h>"], 1: ["#include \"file\(file).h\""]]
        func number(_ index: Int) -> String { String(10_000 + 50 * file + index).dropFirst().description }
        func value(_ index: Int) -> String { #"FBTweakValue("A", "B", "\#(number(index))", 1.5, 0, 3)"# }
        for index in stride(from: 0, to: 50, by: 5) {
            let place = hasInline && index < 15 ? 0 : 1
            let keyword = index % 10 == 0 || !hasInline ? "" : language == .c ? "static inline " : "inline "
            let name = number(index)
            lines[place, default: []] += [
                "#define TWO\(name) \(value(index)) * \(value(index + 1))",
                "\(place == 0 && keyword.isEmpty ? "static inline " : keyword)double two\(name)(void) {",
                "  return TWO\(name);",
                "}",
                "\(place == 0 ? "static inline " : "")double more\(name)(double x) { return x * \(value(index + 2)) + \(value(index + 3)); }",
                #"static void act\#(name)(void) {}"#,
                "FBTweakAction(",
                #"    "A", "B","#,
                #"    "\#(number(index + 4))", act\#(name));"#,
            ]
            // The last first, and those of the header too.
            lines[2, default: []].insert(
                "double use\(name)(void) { return two\(name)() + more\(name)(2); }", at: 0)
        }
        try home.write("file\(file).h", lines[0, default: []].joined(separator: "\n") + "\n")
        return try home.write(
            "file\(file).\(language.suffix)",
            (lines[1, default: []] + lines[2, default: []]).joined(separator: "\n") + "\n")
    }

    private func names(
        _ compiler: Compiler, _ language: Language, _ level: String, hasInline: Bool = true,
        _ more: [String] = []
    ) throws -> [String] {
        let sources = try (0..<Self.files).map { try write(file: $0, language, hasInline: hasInline) }
        let flags = level.split(separator: " ").map(String.init) + ["-DDEBUG", "-shared", "-fPIC", "-w"]
        let usesLLD = compiler != .gcc && level.contains("lto")
        try compiler.compile(
            sources, as: language, to: home("image.so"), flags + more + (usesLLD ? ["-fuse-ld=lld"] : []),
            home: home)
        return try dumpedJSON([home("image.so")]).images.first?.tweaks.map(\.name) ?? []
    }

    @Test(arguments: Compiler.allCases, Language.allCases)
    func `is that of the files and lines, with every optimization`(compiler: Compiler, language: Language)
        throws
    {
        for level in Self.levels {
            let names = try names(compiler, language, level)
            #expect(names.count == 50 * Self.files)
            // A header is a file of its own, which may come before or behind the one that includes it.
            let files = Dictionary(grouping: names) { name in
                Int(name).map { "\($0 / 50) \($0 % 50 < 15)" }
            }
            for (file, names) in files {
                #expect(names == names.sorted(), "\(level), \(file ?? "")")
            }
            let written = names.filter { Int($0).map { $0 % 50 >= 15 } ?? false }
            #expect(written == written.sorted(), "\(level)")
        }
    }

    @Test(arguments: Compiler.allCases, Language.allCases)
    func `is that of the source also where the lines are left out`(compiler: Compiler, language: Language)
        throws
    {
        for level in Self.levels {
            let names = try names(compiler, language, level, hasInline: false, ["-DFB_TWEAK_LOCATIONS=0"])
            #expect(names.count == 50 * Self.files)
            #expect(names == names.sorted(), "\(level)")
        }
    }
}
