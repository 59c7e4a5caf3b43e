// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// What the linker makes of an inline function that is compiled with tweaks in one file, and without in another.
@Suite struct `Records that no code reads` {
    private let home: TemporaryDirectory

    init() throws {
        home = try TemporaryDirectory()
        try home.write(
            "a.cc",
            """
            #include <fbtweak.h>
            LINKAGE int speed() { return FBTweakValue("Odr", "Game", "Speed", 7); }
            int first() { return speed() + FBTweakValue("Odr", "Game", "First", 1); }
            """)
        try home.write(
            "b.cc",
            """
            #include <fbtweak.h>
            LINKAGE int speed() { return FBTweakValue("Odr", "Game", "Speed", 7); }
            int second() { return speed(); }
            """)
        try home.write(
            "main.cc", "int first(), second(); int main() { return first() + second() == 15 ? 0 : 1; }\n")
    }

    /// The names of the tweaks that are found in a program or a library, in which only the first file has tweaks.
    private func unread(
        _ compiler: Compiler, _ flags: [String], linkage: String = "inline", order: [String]
    ) throws -> [String] {
        for (name, tweaks) in [("a", ["-DDEBUG"]), ("b", []), ("main", [])] {
            let flags = tweaks + flags + ["-c", "-DLINKAGE=\(linkage)"]
            try compiler.compile(
                [home(name + ".cc")], as: .cPlusPlus, to: home(name + ".o"), flags, home: home)
        }
        let objects = (order + (flags.contains("-shared") ? [] : ["main"])).map { home($0 + ".o") }
        try compiler.compile(objects, as: .cPlusPlus, to: home("linked"), flags, home: home)
        let result = try dump(["--lint", "--ignore", "noDescription", home("linked")], home: home)
        #expect(result.status == (result.output.isEmpty ? 0 : 65), "\(result)")
        return result.output.split(separator: "\n").compactMap { line in
            #expect(line.hasSuffix(" [unreadRecord]"), "\(line)")
            return line.dropFirst(home("linked").count + 2).split(separator: ":").first.map { String($0) }
        }
    }

    private static let kinds = [
        ["-pie", "-fPIE"], ["-no-pie", "-fno-pie"], ["-static"], ["-shared", "-fPIC"],
        ["-fPIE", "-pie", "-s"],
    ]

    @Test(arguments: Compiler.allCases, kinds)
    func `A tweak is found whose function the linker took from a file without tweaks`(
        compiler: Compiler, flags: [String]
    ) throws {
        #expect(try unread(compiler, flags + ["-O0"], order: ["b", "a"]) == ["Odr/Game/Speed"])
    }

    @Test(arguments: Compiler.allCases, kinds)
    func `Tweaks that some code reads are not found`(compiler: Compiler, flags: [String]) throws {
        #expect(try unread(compiler, flags + ["-O0"], order: ["a", "b"]) == [])
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            #expect(
                try unread(compiler, flags + [level], linkage: "static", order: ["b", "a"]) == [], "\(level)")
        }
        // The function is inlined, so both copies are used.
        #expect(try unread(compiler, flags + ["-O2"], order: ["b", "a"]) == [])
    }

    @Test(
        arguments: Compiler.allCases,
        [
            ["-O0", "-pie", "-fPIE"], ["-O2", "-pie", "-fPIE"], ["-Os", "-no-pie"],
            ["-O1", "-shared", "-fPIC"],
        ])
    func `Code reads the tweaks of all types, monitors, bindings and gates`(
        compiler: Compiler, flags: [String]
    ) throws {
        let source = try home.write(
            "all.c",
            """
            #include <fbtweak.h>
            static void act(void) {}
            static double bound;
            static const char *const names[] = {"a", "b"};
            int all(int count) {
              FBTweakGate("All", "Types");
              FBTweakAction("All", "Types", "Action", act);
              FBTweakBind(bound, "All", "Types", "Bound", 1.5);
              FBTweakMonitor("All", "Types", "Monitor", count);
              FBTweakMonitor("All", "Types", "Level", (double)count);
              const char *text = FBTweakValue("All", "Types", "Text", "text");
              float f = FBTweakValue("All", "Types", "Float", 1.0f);
              for (int i = 0; i < count; i++) f += FBTweakValue("All", "Types", "Loop", 2.0f);
              return (int)f + text[0] + names[0][0] + FBTweakValue("All", "Types", "Bool", true)
                + FBTweakValue("All", "Types", "Byte", (unsigned char)7) + (FBTweakValue("All", "Types", "Int", 5) == 5)
                + (FBTweakValue("All", "Types", "Long", 5LL, 0, 9) > 3) + (FBTweakValue("All", "Types", "Short", (short)3) & 1)
                + (int)FBTweakValue("All", "Types", "Double", 1.0);
            }
            int main(void) { return all(1) == 0; }
            """)
        try compiler.compile([source], to: home("all"), ["-DDEBUG"] + flags, home: home)
        let result = try dump(["--lint", "--ignore", "noDescription", home("all")], home: home)
        #expect(result.output.isEmpty && result.status == 0, "\(result)")
    }

    /// A program in which no code reads the tweak `Speed`.
    ///
    /// - Parameter reading: What it does with the tweak in another way.
    private func program(_ compiler: Compiler, reading: String = "") throws -> BareProgram {
        let source = """
            #include <cstdio>
            #include <fbtweak.h>
            #include <unistd.h>
            int first(), second();
            [[maybe_unused]] static void changed(const fbtweak_change *, void *) {}
            [[maybe_unused]] static int speed = 7;
            int main() {
              \(reading);
              puts("7");
              fflush(stdout);
              pause();
              return first() + second();
            }
            """
        return try BareProgram(named: "odr", source, in: "main.cc") { main, path, _ in
            var objects: [String] = []
            for (name, tweaks) in [(home("b.cc"), []), (home("a.cc"), ["-DDEBUG"]), (main, ["-DDEBUG"])] {
                let object = home("\(objects.count).o")
                objects.append(object)
                let flags = tweaks + ["-O0", "-c", "-DLINKAGE=inline"]
                try compiler.compile([name], as: .cPlusPlus, to: object, flags, home: home)
            }
            try compiler.compile(objects, as: .cPlusPlus, to: path, [], home: home)
        }
    }

    @Test(
        arguments: [
            #"fbtweak_find("Odr", "Game", "Speed")"#,
            #"fbtweak_observe(fbtweak_find("Odr", "Game", "Speed"), nullptr, changed, nullptr)"#,
            #"FBTweakBind(speed, "Odr", "Game", "Speed", 7)"#,
        ])
    func `A program reads it that has found it by name, observes it, or has bound a variable`(
        reading: String
    ) throws {
        let program = try program(.gcc, reading: reading)
        try FileManager.default.createDirectory(
            atPath: program.home("runtime"), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try program.start(environment: ["LD_PRELOAD": Installation.path("lib/libtweaks.so")])
        #expect(try waitUntil { try program.command(["ps"]).output.contains("\(program.pid) ") })
        let set = try program.command(["set", "\(program.pid)", "Speed", "9"])
        #expect(set.status == 0 && set.error == "", "\(set)")
    }

    @Test(arguments: Compiler.allCases)
    func `Who sets one is told, in a running program, in memory and in the file`(compiler: Compiler) throws {
        let program = try program(compiler)
        func warned(_ tweak: String, _ name: String) throws -> [String] {
            let set = try program.command(["set", name, tweak, "9", "--format", "json"])
            #expect(set.status == 0, "\(set)")
            return try set.error.split(separator: "\n").compactMap { line in
                let warning = try #require(
                    try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
                return warning["kind"] as? String == "unread" ? warning["tweak"] as? String : nil
            }
        }
        /// The warnings of a page after it has set a tweak twice.
        func warned(_ tweak: String, by page: ServedPage) throws -> [String] {
            let values = [["tweak": "Odr/Game/\(tweak)", "value": 9]]
            return try (0..<2).flatMap { _ in
                let answer = try page.api(
                    "set", ["program": page.id(ofProcess: program.pid), "values": values]
                ).json
                #expect(answer["applied"] as? [String] == ["Odr/Game/\(tweak)"], "\(answer)")
                return (answer["warnings"] as? [[String: Any]] ?? []).map { $0["kind"] as? String ?? "" }
            }
        }
        #expect(try warned("Speed", program.path) == ["Odr/Game/Speed"])
        #expect(try warned("First", program.path) == [])
        try program.start()
        #expect(try warned("Speed", "\(program.pid)") == ["Odr/Game/Speed"])
        #expect(try warned("First", "\(program.pid)") == [])
        do {
            let page = try ServedPage(["\(program.pid)"], home: program.home)
            #expect(try warned("Speed", by: page) == ["unread"])
            #expect(try warned("First", by: page) == [])
        }
        program.end()
        try FileManager.default.createDirectory(
            atPath: program.home("runtime"), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try program.start(environment: ["LD_PRELOAD": Installation.path("lib/libtweaks.so")])
        #expect(try waitUntil { try program.command(["ps"]).output.contains("\(program.pid) ") })
        #expect(try warned("Speed", "\(program.pid)") == ["Odr/Game/Speed"])
        #expect(try warned("First", "\(program.pid)") == [])
        let page = try ServedPage(home: program.home)
        #expect(try warned("Speed", by: page) == ["unread"])
        #expect(try warned("First", by: page) == [])
        // The library says it once, whoever sets it: after the answer, and in the order of the sets.
        let said = "Odr/Game/Speed: no code reads it"
        let isSaid = { program.process?.written.error.contains(said) == true }
        #expect(waitUntil(isSaid))
        #expect(try program.command(["set", "\(program.pid)", "First=8", "Speed=8"]).status == 0)
        let lines = program.process?.written.error.split(separator: "\n") ?? []
        #expect(lines.count { $0.contains("no code reads") } == 1, "\(lines)")
    }
}
