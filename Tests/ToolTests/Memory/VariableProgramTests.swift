// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A program whose variables are tweaks, which it prints whenever they are others.
private let source = #"""
    #include <fbtweak.h>
    #include <stdio.h>
    #include <string.h>
    #include <unistd.h>

    struct ball { double mass; short spin[3]; };
    static double gravity = -9.81;
    static struct ball ball = {0.2, {1, 0, 5}};
    static float table[] = {0.5f, 0.25f};
    int level = 3;
    static uint8_t zero;
    FBTweakVariable(gravity, "Game", "Physics", "Gravity", -50, 0, FBTweakUnit("m/s2"))
    FBTweakVariable(ball.mass, "Game", "Ball", "Mass", 0.01, 10)
    FBTweakVariable(ball.spin, "Game", "Ball", "Spin")
    FBTweakVariable(table, "Game", "Curve", "Point")
    FBTweakVariable(level, "Game", "Rules", "Level", FBTweakChoices(3, 4, 5))
    FBTweakVariable(zero, "Game", "Rules", "Zero")

    int main(int argc, char **argv) {
      char last[500] = "";
      printf("main %g %d\n", gravity, level);
      for (;;) {
        char line[500];
        FBTweakGate("Game", "Rules");
        if (argc > 1 && access("store", F_OK) == 0)
          gravity = -1.5, unlink("store");
        snprintf(line, sizeof(line), "%g %g %d %d %d %g %g %d %d", gravity, ball.mass, ball.spin[0], ball.spin[1],
                 ball.spin[2], (double)table[0], (double)table[1], level, zero);
        if (strcmp(line, last) != 0)
          puts(strcpy(last, line));
        fflush(stdout);
        usleep(1000);
      }
    }

    """#
private let defaults = "-9.81 0.2 1 0 5 0.5 0.25 3 0"

@Suite struct `Variables of programs without the library` {
    @Test(arguments: Compiler.allCases, MemoryBuild.present)
    func `are listed and changed by their memory`(compiler: Compiler, build: MemoryBuild) throws {
        let program = try BareProgram(build, by: compiler, source)
        let offline = try program.command(["list", program.path])
        try program.start()
        program.expect(defaults)
        let list = try program.tweak("list")
        #expect(list.lines.filter { $0.hasPrefix("    ") }.count == 10, "\(list.output)")
        #expect(list.output == offline.output)
        let result = try program.tweak(
            "set", "Gravity", "-5", "Mass", "99", "Spin[1]", "7", "Point[0]", "0.75", "Level", "5", "Zero",
            "9")
        #expect(result.error.hasPrefix(program.notice) && result.error.contains("Mass"), "\(result.error)")
        program.expect("-5 10 1 7 5 0.75 0.25 5 9")
        #expect(try program.tweak("get", "Spin[1]").output == "7\n")
        #expect(try program.tweak("set", "Level", "6").status != 0)
        let dump = try run(Locations.product("tweak-dump"), ["--pid", "\(program.pid)"], home: program.home)
        #expect(dump.lines.contains { $0.split(separator: " ").prefix(4) == ["Spin[1]", "int16", "7", "0"] })
        #expect(try program.tweak("reset", "--all").status == 0)
        program.expect(defaults)
    }

    @Test func `keep what the program itself has stored in them`() throws {
        let program = try BareProgram(named: "game", source)
        try program.start(["storing"])
        program.expect(defaults)
        #expect(try program.tweak("set", "Level", "4", "Spin[1]", "7").succeeded)
        try program.home.write("store", "")
        program.expect("-1.5 0.2 1 7 5 0.5 0.25 4 0")
        /// The provider of each changed tweak.
        func sources() throws -> [String: String] {
            let list = try program.tweak("list").lines.map { $0.split(separator: " ") }
            return list.reduce(into: [:]) { sources, row in
                if let last = row.last, ["memory", "program"].contains(last) {
                    sources["\(row[0])"] = "\(last)"
                }
            }
        }
        #expect(try sources() == ["Gravity": "program", "Level": "memory", "Spin[1]": "memory"])
        let export = try program.tweak("export").output
        #expect(export.contains("Level") && !export.contains("Gravity"), "\(export)")
        #expect(
            try program.tweak("explain", "Gravity").lines.first?.hasSuffix("-1.5 m/s2, from program") == true)
        // A lease ends with the program's value.
        #expect(try program.tweak("set", "--for", "50ms", "Gravity", "-3").succeeded)
        #expect(try waitUntil { try sources()["Gravity"] == "program" })
        let all = try program.tweak("reset", "--all")
        #expect(all.lines == ["Game/Ball/Spin[1]: 7 → 0", "Game/Rules/Level: 4 → 3"], "\(all.output)")
        #expect(try program.tweak("reset", "Gravity").output == "nothing to reset\n")
        program.expect("-1.5 0.2 1 0 5 0.5 0.25 3 0")
        #expect(try program.tweak("set", "Gravity", "-2").succeeded)
        #expect(try program.tweak("reset", "Gravity").succeeded)
        program.expect(defaults)
    }

    @Test(arguments: ["bfd", "gold", "lld"])
    func `have the same defaults in object files, archives and linked files`(linker: String) throws {
        let home = try TemporaryDirectory()
        let file = try home.write("game.c", source)
        let lines = { (path: String) in
            try dump([path], home: home).lines.dropFirst().joined(separator: "\n")
        }
        var expected: String?
        for flags in [
            ["-O0"], ["-O2", "-fPIC"], ["-O2", "-ffunction-sections", "-fdata-sections", "-fcommon"],
        ] {
            try Compiler.gcc.compile([file], to: home("game.o"), ["-c", "-DDEBUG"] + flags, home: home)
            let archived = try run(
                Locations.program("ar"), ["rcs", home("game.a"), home("game.o")], home: home)
            #expect(archived.succeeded)
            let list = try lines(home("game.o"))
            expected = expected ?? list
            #expect(list == expected && list.contains("-9.81 m/s2"))
            #expect(try lines(home("game.a")) == expected)
            for linking in [["-pie"], ["-no-pie"], ["-shared", "-fPIC"], ["-pie", "-s"]] {
                try Compiler.gcc.compile(
                    [file], to: home("game"), ["-DDEBUG", "-fuse-ld=\(linker)"] + flags + linking, home: home)
                #expect(try lines(home("game")) == expected, "\(linking)")
            }
        }
    }

    @Test func `in another library have no default in the file`() throws {
        let home = try TemporaryDirectory()
        let file = try home.write(
            "other.c",
            #"#include <fbtweak.h>"# + "\nextern int other;\n" + #"FBTweakVariable(other, "A", "B", "C")"#
                + "\n")
        try Compiler.gcc.compile([file], to: home("other.so"), ["-DDEBUG", "-shared", "-fPIC"], home: home)
        let tweaks = try dumpedJSON([home("other.so")]).images.flatMap(\.tweaks)
        #expect(tweaks.map(\.default) == [.nothing])
    }
}

@Suite(.enabled(if: sanitizer == nil)) struct `Variables of programs with the library` {
    private let program: BareProgram

    init() throws {
        let folder = try Installation.path("lib")
        program = try BareProgram(
            named: "game", source,
            compiling: ["-g", "-O2", "-Wl,--no-as-needed", "-L\(folder)", "-ltweaks", "-Wl,-rpath,\(folder)"])
    }

    private func start(_ arguments: String...) throws -> Substring? {
        try FileManager.default.createDirectory(
            atPath: program.home("runtime"), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let process = try program.start(arguments)
        #expect(try waitUntil { try program.command(["ps"]).output.contains("\(program.pid) ") })
        return process.written.output.split(separator: "\n").first
    }

    @Test func `are changed, kept for the next start, and reset to the initial value`() throws {
        #expect(try start() == "main -9.81 3")
        let result = try program.tweak("set", "Gravity", "-5", "Level", "4", "Spin[2]", "-3", "Point[1]", "2")
        #expect(result.succeeded && result.error.isEmpty, "\(result.error)")
        program.expect("-5 0.2 1 0 -3 0.5 2 4 0")
        let explained = try program.tweak("explain", "Gravity").output
        #expect(explained.contains("override  -5.0 m/s2") && explained.contains("default   -9.81 m/s2"))
        program.end()
        #expect(try start() == "main -5 4")
        program.expect("-5 0.2 1 0 -3 0.5 2 4 0")
        let list = try program.tweak("list").output
        #expect(
            list.split(separator: "\n").contains { $0.contains("Point[1]") && $0.contains("0.25") }, "\(list)"
        )
        #expect(try program.tweak("reset", "--all").succeeded)
        program.expect(defaults)
    }

    @Test func `have a value for a time, and then the one before`() throws {
        _ = try start()
        #expect(try program.tweak("set", "--for", "3s", "Gravity", "-7").succeeded)
        program.expect("-7 0.2 1 0 5 0.5 0.25 3 0")
        program.expect(defaults)
    }

    @Test func `show what the program has stored, and get it back`() throws {
        _ = try start("stores")
        program.expect(defaults)
        try program.home.write("store", "")
        program.expect("-1.5 0.2 1 0 5 0.5 0.25 3 0")
        #expect(try program.tweak("get", "Gravity").output == "-1.5\n")
        let row = try program.tweak("list").lines.first { $0.contains("-1.5 m/s2") }
        #expect(row?.hasSuffix(" program") == true)
        #expect(try !program.tweak("export").output.contains("Gravity"))
        #expect(try program.tweak("set", "Gravity", "-30").succeeded)
        program.expect("-30 0.2 1 0 5 0.5 0.25 3 0")
        try program.home.write("store", "")
        program.expect("-1.5 0.2 1 0 5 0.5 0.25 3 0")
        let advice = "tweak adopt --again \(program.pid) writes it again"
        #expect(try program.tweak("explain", "Gravity").output.contains(advice))
        let again = try program.command(["adopt", "--again", "\(program.pid)"])
        #expect(again.output == "Game/Physics/Gravity: -1.5 m/s2 → -30.0 m/s2\n")
        program.expect("-30 0.2 1 0 5 0.5 0.25 3 0")
        #expect(try program.tweak("reset", "Gravity").succeeded)
        program.expect("-1.5 0.2 1 0 5 0.5 0.25 3 0")
    }
}
