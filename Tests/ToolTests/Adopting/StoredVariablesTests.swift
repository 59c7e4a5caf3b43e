// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A program without declared tweaks that prints two variables at the start of `main`, and whenever they are others.
@Suite struct `Adopted variables in a program with the library` {
    private let program: BareProgram

    private static let source = #"""
        #include <stdio.h>
        #include <string.h>
        #include <unistd.h>

        volatile double gravity = 9.81;
        volatile int level = 3;

        int main(int argc, char **argv) {
          char last[500] = "";
          printf("main %g %d\n", gravity, level);
          if (argc > 1)
            level = 5;
          for (;;) {
            char line[500];
            snprintf(line, sizeof(line), "%g %d", gravity, level);
            if (strcmp(line, last) != 0)
              puts(strcpy(last, line));
            fflush(stdout);
            usleep(1000);
          }
        }

        """#
    private static let gravity = "Variables/bare.c/gravity"
    private static let level = "Variables/bare.c/level"

    init() throws { program = try BareProgram(named: "plain", Self.source, compiling: try Self.flags) }

    private static var flags: [String] {
        get throws {
            let folder = try Installation.path("lib")
            return ["-g", "-O2", "-Wl,--no-as-needed", "-L\(folder)", "-ltweaks", "-Wl,-rpath,\(folder)"]
        }
    }

    private func adopt(_ arguments: String...) throws {
        let result = try program.command(["adopt", program.path] + arguments)
        #expect(result.succeeded && result.error.isEmpty, "\(result.error)")
    }

    private var overrides: String { program.home("config/tweaks/plain/overrides.json") }

    /// Starts the program, and waits until it listens.
    private func start(_ arguments: [String] = [], environment: [String: String] = [:]) throws {
        try FileManager.default.createDirectory(
            atPath: program.home("runtime"), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try program.start(arguments, environment: environment)
        #expect(try waitUntil { try program.command(["ps"]).output.contains("\(program.pid) ") })
    }

    /// The first line that the program prints after another start.
    private func printedAtStart(environment: [String: String] = [:]) throws -> Substring? {
        program.end()
        let process = try program.start(environment: environment)
        return process.written.output.split(separator: "\n").first
    }

    /// Compiles the program again, without a build id.
    private func buildWithoutID(_ source: String = Self.source) throws {
        let file = try program.home.write("bare.c", source)
        try Compiler.gcc.compile(
            [file], to: program.path, Self.flags + ["-Wl,--build-id=none"], home: program.home)
    }

    @Test func `are known by a checksum in a program without a build id`() throws {
        try buildWithoutID()
        try adopt("gravity", "level", "--in", "0..30")
        try start()
        #expect(try program.tweak("set", "gravity", "3.5", "level", "40").succeeded)
        program.expect("3.5 30")
        #expect(try printedAtStart() == "main 3.5 30")
        program.end()
        try #require(run(Locations.program("strip"), [program.path], home: program.home).succeeded)
        #expect(try printedAtStart() == "main 3.5 30")
        // Another build does not get them.
        program.end()
        try buildWithoutID(Self.source.replacing("= 9.81", with: "= 1.62"))
        #expect(try printedAtStart() == "main 1.62 3")
    }

    @Test func `are kept, and have their values before main`() throws {
        try adopt("gravity", "level", "--in", "0..30")
        try start()
        let set = try program.tweak("set", "gravity", "3.5", "level", "40")
        #expect(set.succeeded && !set.error.contains("lasts for this run only"))
        program.expect("3.5 30")
        #expect(try printedAtStart() == "main 3.5 30")
        let alone = ["TWEAKS_CONTROL": "0", "TWEAKS_WATCH": "0"]
        #expect(try printedAtStart(environment: alone) == "main 3.5 30")
        // The program that runs cannot be reached.
        #expect(try program.command(["reset", program.path, "--all"]).status == 69)
        #expect(try printedAtStart() == "main 9.81 3")
    }

    @Test func `are set for the next start`() throws {
        try adopt("gravity")
        #expect(try program.command(["set", program.path, "gravity", "3.5"]).succeeded)
        #expect(try printedAtStart() == "main 3.5 3")
        let json = #"{"Variables": {"bare.c": {"gravity": 1.5}}}"#
        #expect(try printedAtStart(environment: ["TWEAKS": json]) == "main 1.5 3")
    }

    @Test func `have a history`() throws {
        try adopt("gravity", "level")
        try start()
        #expect(try program.tweak("set", "gravity", "3.5", "level", "4").succeeded)
        #expect(try program.tweak("log").output.contains(#/1 .*bare\.c/gravity +9\.81 +3\.5 +override/#))
        #expect(
            try program.tweak("undo").lines == ["\(Self.gravity): 3.5 → 9.81", "\(Self.level): 4 → 3"])
        program.expect("9.81 3")
        #expect(try !String(contentsOfFile: overrides, encoding: .utf8).contains("gravity"))
    }

    @Test func `have the value of the program again`() throws {
        try adopt("level", "--in", "0..30")
        try start(["set"])
        program.expect("9.81 5")
        #expect(try program.tweak("get", "level").output == "5\n")
        #expect(try program.tweak("set", "level", "+=2").output == "\(Self.level): 5 → 7\n")
        #expect(try program.tweak("undo").succeeded)
        program.expect("9.81 5")
        #expect(try program.tweak("set", "level", "8", "--while", "--", "true").succeeded)
        program.expect("9.81 5")
        #expect(try program.tweak("set", "level", "9").succeeded)
        #expect(try program.tweak("reset", "level").succeeded)
        program.expect("9.81 5")
        #expect(try program.tweak("list").output.contains(#/level +5 +3 +int32 +0…30 +program/#))
        #expect(try program.tweak("reset", "--all").output == "nothing to reset\n")
        program.expect("9.81 5")
    }

    @Test(arguments: [[], ["set"]])
    func `stay as the program has overwritten them when an override ends`(_ later: [String]) throws {
        try adopt("level", "--in", "0..30")
        #expect(try program.command(["set", program.path, "level", "8"]).succeeded)
        try start(["set"])
        program.expect("9.81 5")
        if !later.isEmpty { #expect(try program.tweak("set", "level", "9").succeeded) }
        #expect(try program.tweak("reset", "level").succeeded)
        program.expect("9.81 5")
    }

    @Test func `are said to be overwritten if the program does so, and stored again`() throws {
        try adopt("level", "--in", "0..30")
        #expect(try program.command(["set", program.path, "level", "8"]).succeeded)
        try start(["set"])
        program.expect("9.81 5")
        #expect(
            try program.tweak("list").output.contains(
                #/level +5 +3 +int32 +0…30 +overwritten by the program/#))
        let explained = try program.tweak("explain", "level").lines
        #expect(explained.first == "\(Self.level): 5, overwritten by the program")
        #expect(explained.dropFirst().first?.hasPrefix("before: 8, from override; ") == true)
        let tweaks = try program.tweak("list", "--format", "json").json["tweaks"] as? [[String: Any]]
        #expect(tweaks?.first?["overwrittenValue"] as? Int == 8)
        let again = try program.command(["adopt", "--again", "\(program.pid)"])
        #expect(again.output == "\(Self.level): 5 → 8\n" && again.error.isEmpty)
        program.expect("9.81 8")
        #expect(try program.tweak("list").output.contains(#/level +8 +3 +int32 +0…30 +override/#))
        #expect(
            try program.command(["adopt", "--again", program.path]).output
                == "\(program.title): it has not overwritten any value\n")
    }

    @Test func `are enough for a program to be started with the library`() throws {
        let bare = try BareProgram(named: "bare", Self.source, compiling: ["-g", "-O2"])
        #expect(try bare.command(["adopt", bare.path, "gravity"]).succeeded)
        let process = try bare.start(by: [Locations.product("tweak"), "exec", "--set", "gravity=2.5"])
        #expect(process.written.output.hasPrefix("main 2.5 3\n"))
        #expect(process.written.error.isEmpty)
    }

    @Test func `are in presets`() throws {
        try adopt("gravity", "level")
        try start()
        #expect(try program.tweak("set", "gravity", "1.62").succeeded)
        #expect(try program.command(["preset", "save", "\(program.pid)", "moon"]).succeeded)
        #expect(try program.tweak("reset", "--all").succeeded)
        program.expect("9.81 3")
        #expect(try program.command(["preset", "load", "\(program.pid)", "moon"]).succeeded)
        #expect(try waitUntil { try String(contentsOfFile: overrides, encoding: .utf8).contains("1.62") })
        #expect(try printedAtStart() == "main 1.62 3")
    }

    @Test func `are tweaks of a program that runs already`() throws {
        try adopt("level")
        try start()
        try adopt("gravity", "--in", "0..30")
        #expect(try program.tweak("set", "gravity", "3.5").error.isEmpty)
        program.expect("3.5 3")
        // With other limits, and the same value.
        try adopt("gravity", "--in", "0..20")
        let listed = try program.tweak("list").output
        #expect(listed.contains(#/gravity +3\.5 +9\.81 +double +0\.0…20\.0 +override/#))
        #expect(try program.command(["adopt", "--remove", program.path, "gravity"]).succeeded)
        #expect(try !program.tweak("list").output.contains("double"))
        program.expect("3.5 3")
    }

    @Test func `are stored by a library that was preloaded`() throws {
        let bare = try BareProgram(named: "bare", Self.source, compiling: ["-g", "-O2"])
        #expect(try bare.command(["adopt", bare.path, "gravity"]).succeeded)
        try bare.home.write(
            "config/tweaks/bare/overrides.json", #"{"Variables": {"bare.c": {"gravity": 3.5}}}"#)
        let library = try Installation.path("lib/libtweaks.so.0")
        let process = try bare.start(environment: ["LD_PRELOAD": library])
        #expect(process.written.output.hasPrefix("main 3.5 3\n"))
        bare.end()
        #expect(try bare.start().written.output.hasPrefix("main 9.81 3\n"))
    }

    @Test func `are not stored in another build`() throws {
        try adopt("gravity")
        #expect(try program.command(["set", program.path, "gravity", "3.5"]).succeeded)
        let source = Self.source.replacing("volatile double", with: "int first = 1; volatile double")
        try Compiler.gcc.compile(
            [program.home.write("bare.c", source)], to: program.path, Self.flags, home: program.home)
        #expect(try printedAtStart() == "main 9.81 3")
        #expect(try program.command(["adopt", "--renew", program.path]).succeeded)
        #expect(try printedAtStart() == "main 3.5 3")
    }

    @Test func `are not stored if others can write their file`() throws {
        try adopt("gravity")
        #expect(try program.command(["set", program.path, "gravity", "3.5"]).succeeded)
        let file = program.home("config/tweaks/plain/adopted.json")
        #expect(chmod(file, 0o666) == 0)
        #expect(try printedAtStart() == "main 9.81 3")
        let problem = "\(file): it is ignored, because other users can write"
        #expect(waitUntil { program.process?.written.error.contains(problem) == true })
    }

    @Test func `lose against a dynamic initialiser of C++`() throws {
        let source = try program.home.write(
            "late.cpp",
            """
            #include <cstdio>
            #include <cstdlib>
            volatile double early = 1;
            volatile double late = std::atof("1");
            int main() { std::printf("%g %g\\n", early, late); }
            """)
        let path = program.home("late")
        try Compiler.gcc.compile([source], as: .cPlusPlus, to: path, Self.flags, home: program.home)
        #expect(try program.command(["adopt", path, "early", "late"]).succeeded)
        #expect(try program.command(["set", path, "early", "2", "late", "2"]).succeeded)
        #expect(try run(path, home: program.home).output == "2 1\n")
    }
}

@Suite struct `Adopted variables of a library` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    /// Loads and unloads a library, and prints its variable.
    private static let source = #"""
        #include <dlfcn.h>
        #include <fbtweak.h>
        #include <stdio.h>

        int main(void) {
          for (int i = 0; i < 2; i++) {
            void *library = dlopen("./plugin.so", RTLD_NOW);
            int (*pressure)(void) = (int (*)(void))dlsym(library, "pressure_now");
            printf("%d %d\n", pressure(), fbtweak_find("Plugin", "Input", "Pressure") != NULL);
            dlclose(library);
            printf("%d\n", fbtweak_find("Plugin", "Input", "Pressure") != NULL);
          }
          fflush(stdout);
        }

        """#

    @Test(arguments: [true, false])
    func `are stored while it is loaded, if it announces itself`(announcesItself: Bool) throws {
        let declared = """
            #include <fbtweak.h>
            int declared(void) { return FBTweakValue("A", "B", "C", 0); }

            """
        let variable = """
            volatile int pressure = 11;
            int pressure_now(void) { return pressure; }
            """
        let plugin = try home.write("plugin.c", (announcesItself ? declared : "") + variable)
        let flags = ["-DDEBUG", "-g", "-O2"]
        try Compiler.gcc.compile([plugin], to: home("plugin.so"), flags + ["-shared", "-fPIC"], home: home)
        let folder = try Installation.path("lib")
        let libraries = ["-Wl,--no-as-needed", "-L\(folder)", "-ltweaks", "-Wl,-rpath,\(folder)"]
        let main = try home.write("main.c", Self.source)
        try Compiler.gcc.compile([main], to: home("host"), flags + libraries, home: home)
        let tweak = Locations.product("tweak")
        let adopted = try run(
            tweak, ["adopt", home("plugin.so"), "pressure", "--name", "Plugin/Input/Pressure"], home: home)
        try #require(adopted.succeeded, "\(adopted.error)")
        // The file of the program, whose process loads the library.
        try FileManager.default.moveItem(
            atPath: home("config/tweaks/plugin.so"), toPath: home("config/tweaks/host"))
        try home.write("config/tweaks/host/overrides.json", #"{"Plugin": {"Input": {"Pressure": 22}}}"#)
        let result = try run(home("host"), home: home, in: home.path)
        #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
        #expect(result.output == (announcesItself ? "22 1\n0\n22 1\n0\n" : "11 0\n0\n11 0\n0\n"))
    }
}

@Suite struct `A hostile file of adopted variables` {
    private let home: TemporaryDirectory
    private let program: String
    private let adopted: String

    /// Prints its values, and the addresses that they and others have in the file.
    private static let source = #"""
        #include <fbtweak.h>
        #include <stdio.h>
        extern const char __start_fbtweak[], _DYNAMIC[], _end[];
        volatile double gravity = 9.81;
        static const double constant = 1;
        int main(int argc, char **argv) {
          const volatile double *address = &constant;
          printf("%g %g %d\n", gravity, *address, FBTweakValue("Motor", "Control", "Gain", 7));
          if (argc > 1)
            printf("%zu %zu %zu %zu %zu %zu\n", (size_t)&gravity, (size_t)address, (size_t)main,
                   (size_t)__start_fbtweak, (size_t)_DYNAMIC, (size_t)_end);
        }

        """#
    private static let printed = "9.81 1 7\n"

    init() throws {
        home = try TemporaryDirectory()
        program = home("program")
        let folder = try Installation.path("lib")
        try Compiler.gcc.compile(
            [home.write("program.c", Self.source)], to: program,
            [
                "-DDEBUG", "-g", "-O2", "-no-pie", "-Wl,-z,relro", "-Wl,--no-as-needed", "-L\(folder)",
                "-ltweaks", "-Wl,-rpath,\(folder)",
            ], home: home)
        let result = try run(Locations.product("tweak"), ["adopt", program, "gravity"], home: home)
        try #require(result.succeeded, "\(result.error)")
        adopted = home("config/tweaks/program/adopted.json")
    }

    /// The build id of an executable or library.
    private func buildID(of path: String) throws -> String {
        let notes = try run(Locations.program("readelf"), ["-n", path], home: home).output
        return String(try #require(notes.firstMatch(of: #/Build ID: ([0-9a-f]+)/#)).1)
    }

    private func variable(_ number: Int, at address: UInt64, _ type: String) -> [String: Any] {
        [
            "variable": "v\(number)", "address": address,
            "tweak": [
                "category": "A", "collection": "B", "name": "N\(number)", "type": type,
                "default": type == "bool" ? false : 0,
            ] as [String: Any],
        ]
    }

    @Test func `stores nothing outside of variables`() throws {
        let count = 60
        let addresses =
            try run(program, ["addresses"], home: home).output
            .split(separator: "\n").last?.split(separator: " ").compactMap { UInt64($0) } ?? []
        try #require(addresses.count == 6)
        let values = Dictionary(uniqueKeysWithValues: (0..<count).map { ("N\($0)", 1) })
        try home.write(
            "config/tweaks/program/overrides.json",
            String(decoding: try JSONSerialization.data(withJSONObject: ["A": ["B": values]]), as: UTF8.self))
        let builds = [
            try buildID(of: program), try buildID(of: Installation.path("lib/libtweaks.so.0")),
        ]
        let types = "bool int8 uint16 int32 int64 float double string color action".split(separator: " ")
        for seed in 1...100 {
            var random = SeededGenerator(seed: UInt64(seed))
            let variables = (0..<count).map { number -> [String: Any] in
                let offset = UInt64.random(in: 0..<64, using: &random)
                let place = Int.random(in: 0..<9, using: &random)
                let address =
                    switch place {
                    // At a part of the variable, and at its neighbours' expense.
                    case 0: addresses[0] + offset % 7 + 1
                    case 1: addresses[1]
                    case 2: addresses[2] + offset
                    case 3: addresses[3] + offset % 40
                    case 4: addresses[4] + offset
                    case 5: (addresses[5] | 4095) + 1 + offset
                    case 6: offset
                    case 7: UInt64.max - offset
                    default: UInt64.random(in: 1 << 32...UInt64.max, using: &random)
                    }
                let type = place == 0 ? "double" : types.randomElement(using: &random) ?? ""
                return variable(number, at: address, String(type))
            }
            let ofLibrary = (0..<count).map { number in
                variable(number, at: UInt64.random(in: 0..<1 << 24, using: &random) & ~7, "int64")
            }
            let content = [
                ["buildID": builds[0], "program": program, "variables": variables] as [String: Any],
                ["buildID": builds[1], "program": "libtweaks.so", "variables": ofLibrary],
            ]
            try JSONSerialization.data(withJSONObject: ["builds": content])
                .write(to: URL(fileURLWithPath: adopted))
            #expect(chmod(adopted, 0o600) == 0)
            let result = try run(program, home: home)
            #expect(result.status == 0 && result.output == Self.printed, "seed \(seed): \(result.error)")
            #expect(result.error.contains("is ignored, because there is no"), "seed \(seed)")
        }
    }

    @Test func `is refused, or read as far as it is right`() throws {
        let original = [UInt8](try Data(contentsOf: URL(fileURLWithPath: adopted)))
        for (number, bytes) in damaged(original, count: 50).enumerated() {
            try Data(bytes).write(to: URL(fileURLWithPath: adopted))
            #expect(chmod(adopted, 0o600) == 0)
            let result = try run(program, home: home)
            #expect(result.status == 0 && result.output == Self.printed, "\(number): \(result.error)")
        }
    }

    @Test(arguments: [
        ("", "", 0, "it is empty"), ("[]", "", 0, "it holds an array where an object is expected"),
        ("", "[", 1000, "more than 100 levels are nested"),
        (#"{"builds": ["#, "1,", 100_001, "it has more than 100000 values"),
        ("", " ", 1 + 16 << 20, "at most 16777216 are read"),
        (
            #"{"builds": [{"buildID": 1, "program": "", "variables": []}]}"#, "", 0,
            "got 1, expected text"
        ),
    ])
    func `is reported as the overrides are`(
        start: String, repeated: String, count: Int, problem: String
    ) throws {
        let content = start + String(repeating: repeated, count: count)
        try home.write("config/tweaks/program/adopted.json", content)
        let result = try run(program, home: home)
        #expect(result.status == 0 && result.output == Self.printed)
        #expect(result.error.contains("\(adopted): ") && result.error.contains(problem), "\(result.error)")
    }
}
