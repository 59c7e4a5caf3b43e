// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// Files as they are on every machine, and what becomes of them.
@Suite struct `tweak-dump and real files` {
    @Test func `Of all ELF files of the system each is read and none has tweaks`() throws {
        let home = try TemporaryDirectory()
        let result = try dump(
            ["--forbid", "--recursive", "/usr/bin", "/usr/lib", "/bin", "/lib"], home: home)
        // 66: a folder or a file that only root may read.
        #expect([0, 66].contains(result.status), "\(result.output.prefix(2000))")
        #expect(result.output.isEmpty, "\(result.output.prefix(2000))")
        for line in result.error.split(separator: "\n") { #expect(line.hasSuffix(": Permission denied")) }
    }

    /// 100,000 in the long form, by what people install, each in a second and with 64 MB of memory more than the file has.
    @Test func `Whatever happens to a file, it is shown or refused`() throws {
        let home = try TemporaryDirectory()
        var random = SeededGenerator(seed: 20_261_122)
        let originals = try originals(home)
        let arguments = [
            "", "--format json", "--format csv", "--format overrides", "--lint", "--forbid", "--libraries",
        ]
        let count = isLong ? 100_000 / originals.count / 100 * 100 + 100 : 20
        let program = isLong ? try Installation.path("bin/tweak-dump") : Locations.product("tweak-dump")
        for (name, bytes) in originals {
            let regions = regions(of: bytes, tables: name != "archive")
            for batch in stride(from: 0, to: count, by: 100) {
                let size = min(100, count - batch)
                for number in 0..<size {
                    try home.write(
                        "mutated/\(number)", Data(mutated(bytes, in: regions, using: &random)))
                }
                let option = name == "core" ? "--core" : arguments.randomElement(using: &random) ?? ""
                let kilobytes = (64 << 10) + bytes.count >> 10
                let limit = sanitizer == nil ? "ulimit -d \(kilobytes); " : ""
                let result = try run(
                    "/bin/sh",
                    [
                        "-c",
                        "\(limit)for i in $(seq 0 \(size - 1)); do "
                            + "timeout \(isLong ? 1 : 20) \"$0\" \(option) mutated/$i >/dev/null 2>&1; echo $?; done",
                        program,
                    ], home: home, in: home.path)
                for (number, status) in result.output.split(separator: "\n").enumerated()
                where !["0", "1", "65", "66"].contains(status) {
                    let kept = "/tmp/tweak-dump-\(name)-\(batch + number)"
                    try? FileManager.default.copyItem(atPath: home("mutated/\(number)"), toPath: kept)
                    Issue.record("status \(status) with \(option) of \(name), kept in \(kept)")
                }
                #expect(result.output.split(separator: "\n").count == size, "\(result.error)")
            }
        }
    }

    private func originals(_ home: TemporaryDirectory) throws -> [(name: String, bytes: [UInt8])] {
        let source = try home.write(
            "tweaks.c",
            """
            #include <fbtweak.h>
            int first(void) { return FBTweakValue("Spring", "Physics", "Count", 42, 0, 100); }
            const char *second(void) { return FBTweakValue("Spring", "Physics", "Label", "a"); }
            int third(void) { return FBTweakValue("Spring", "Physics", "Level", 1, FBTweakUnit("kg")); }
            """)
        try Compiler.gcc.compile([source], to: home("tweaks.o"), ["-c", "-DDEBUG"], home: home)
        try Compiler.gcc.compile(
            [source], to: home("tweaks.so"), ["-shared", "-fPIC", "-DDEBUG"], home: home)
        let ar = try run(
            Locations.program("ar"), ["rc", "tweaks.a", "tweaks.o", "tweaks.so", "tweaks.o"], home: home,
            in: home.path)
        try #require(ar.succeeded)
        let files = [
            ("object", home("tweaks.o")), ("library", home("tweaks.so")), ("archive", home("tweaks.a")),
            ("program", "/bin/ls"),
            ("core", Locations.package + "/tools/development/fuzzing/corpus/core/text"),
        ]
        var originals = try files.map { ($0, Array(try Data(contentsOf: URL(fileURLWithPath: $1)))) }
        var stripped = originals[1].1
        ForgedELF.removeSectionHeaders(of: &stripped)
        originals.append(("stripped", stripped))
        return originals
    }

    /// Where changes matter: in the headers at the beginning, in those of sections and in the records.
    private func regions(of bytes: [UInt8], tables: Bool) -> [Range<Int>] {
        var regions = [0..<bytes.count, 0..<min(bytes.count, 1024)]
        if tables {
            let headers = bytes[40..<48].reversed().reduce(0) { $0 << 8 | Int($1) }
            if headers > 0, headers < bytes.count { regions.append(headers..<bytes.count) }
        }
        let data = Data(bytes)
        let names = ["Spring\0Physics", "Core\0Values"]
        if let records = names.lazy.compactMap({ data.range(of: Data($0.utf8)) }).first {
            regions.append(max(0, records.lowerBound - 256)..<min(bytes.count, records.upperBound + 512))
        }
        return regions
    }
}
