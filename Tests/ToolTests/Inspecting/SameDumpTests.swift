// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// One source, whatever it is built with.
@Suite struct `One source gives one dump` {
    private let home: TemporaryDirectory
    private let sources: [String]

    init() throws {
        home = try TemporaryDirectory()
        try home.write(
            "first.c",
            """
            #include <fbtweak.h>
            #include <stdbool.h>
            #include <stdint.h>
            int count(void) { return FBTweakValue("Spring", "Physics", "Count", 42, 0, 100); }
            bool trail(void) { return FBTweakValue("Spring", "Drawing", "Trail", true, FBTweakDescription("ü")); }
            const char *label(void) { return FBTweakValue("Spring", "Drawing", "Label", "弹簧"); }
            void load(double value) { FBTweakMonitor("Spring", "Physics", "Load", value); }
            """)
        try home.write(
            "second.c",
            """
            #include <fbtweak.h>
            #include <stdint.h>
            int count(void);
            float ratio(void) { return FBTweakValue("Spring", "Physics", "Ratio", 0.1f, 0.f, 1.f); }
            double mass(void) { return FBTweakValue("Spring", "Physics", "Mass", 1.5, FBTweakUnit("kg")); }
            int64_t big(void) { return FBTweakValue("Spring", "Limits", "Big", (int64_t)-9000000000000000000); }
            uint64_t huge(void) { return FBTweakValue("Spring", "Limits", "Huge", (uint64_t)18000000000000000000u); }
            uint8_t level(void) { return FBTweakValue("Spring", "Limits", "Level", (uint8_t)2, FBTweakChoices(1, 2, 3)); }
            int main(void) { return count() + (int)ratio() + (int)mass() + (int)big() + (int)huge() + level(); }
            """)
        sources = ["first.c", "second.c"]
    }

    private static let flags = ["-DDEBUG", "-O1", "-ffunction-sections", "-fdata-sections", "-std=c11"]

    /// Runs a compiler in the folder, so that no path is in what it makes.
    private func compile(_ compiler: String, _ arguments: [String]) throws {
        let result = try run(
            compiler, Self.flags + ["-I", Locations.include] + arguments, home: home, in: home.path)
        guard result.succeeded else { throw CompilationError(description: result.error) }
    }

    /// What is said of the tweaks of files, without what may differ.
    private func tweaks(_ format: String, _ files: String...) throws -> String {
        let result = try run(
            Locations.product("tweak-dump"), ["--format", format] + files, home: home, in: home.path)
        #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
        let different = ["\"architecture\"", "\"buildID\"", "\"path\""]
        return result.output.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { line in !different.contains { line.contains($0) } }
            .map { line in
                // CSV begins with the path.
                format == "csv" ? line.drop { $0 != "," } : line
            }.joined(separator: "\n")
    }

    @Test(arguments: ["aarch64-linux-gnu", "arm-linux-gnueabihf", "riscv64-linux-gnu", "s390x-linux-gnu"])
    func `On every machine`(machine: String) throws {
        // tools/test --toolchains installs them.
        guard let compiler = try? Locations.program("\(machine)-gcc") else { return }
        for (compiler, name) in [(try Locations.program("gcc"), "native"), (compiler, "cross")] {
            for source in sources { try compile(compiler, ["-c", source, "-o", "\(name)-\(source).o"]) }
            try compile(compiler, sources + ["-o", "\(name)-program", "-static"])
        }
        for format in ["json", "csv"] {
            let native = try tweaks(format, "native-first.c.o", "native-second.c.o")
            #expect(native.contains("Huge"))
            #expect(try tweaks(format, "cross-first.c.o", "cross-second.c.o") == native)
            #expect(try tweaks(format, "cross-program") == tweaks(format, "native-program"))
        }
    }

    @Test func `In objects, an archive, a library and programs of four linkers`() throws {
        let gcc = try Locations.program("gcc")
        try compile(gcc, ["-c", "-fPIC"] + sources)
        let linked = try run(
            Locations.program("ld"), ["-r", "first.o", "second.o", "-o", "both.o"], home: home, in: home.path)
        try #require(linked.succeeded, "\(linked.error)")
        let ar = try run(
            Locations.program("ar"), ["rc", "both.a", "both.o"], home: home, in: home.path)
        try #require(ar.succeeded)
        for format in ["json", "csv"] {
            let expected = try tweaks(format, "both.o")
            #expect(expected.contains("Huge") && expected.contains("Load"))
            #expect(try tweaks(format, "both.a") == expected)
            for linker in ["bfd", "gold", "lld", "mold"] where (try? Locations.program("ld.\(linker)")) != nil
            {
                let link = ["first.o", "second.o", "-fuse-ld=\(linker)", "-Wl,--gc-sections"]
                try compile(gcc, link + ["-shared", "-o", "\(linker).so"])
                #expect(try tweaks(format, "\(linker).so") == expected, "\(linker)")
                try compile(gcc, link + ["-o", "\(linker)"])
                #expect(try tweaks(format, linker) == expected, "\(linker)")
                try compile(
                    gcc, ["second.o", "first.o", "-static", "-fuse-ld=\(linker)", "-o", "\(linker)-static"])
                #expect(try tweaks(format, "\(linker)-static") == expected, "\(linker)")
            }
        }
    }
}
