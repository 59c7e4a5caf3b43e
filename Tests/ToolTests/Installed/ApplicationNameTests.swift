// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A program in C whose executable is called `main`, and what is kept of it.
private struct NamedProgram {
    let home: TemporaryDirectory
    var path: String { home("main") }

    /// - Parameter declarations: What its source has besides the tweak.
    init(_ declarations: String = "FBTweakApplication(\"maze\");") throws {
        home = try TemporaryDirectory()
        try #require(mkdir(home("runtime"), 0o700) == 0)
        let source = try home.write(
            "main.c",
            """
            #include <fbtweak.h>
            #include <stdio.h>
            #include <unistd.h>
            \(declarations)
            int main(int count, char **arguments) {
              (void)arguments;
              do {
                printf("%d\\n", FBTweakValue("Maze", "Walls", "Seed", 5));
                fflush(stdout);
                usleep(20000);
              } while (count > 1);
            }
            """)
        let pkgConfig = try TestSupport.run(
            Locations.program("pkg-config"), ["--cflags", "--libs", "tweaks"], home: home,
            environment: ["PKG_CONFIG_PATH": Installation.path("lib/pkgconfig")])
        let flags = pkgConfig.output.split(whereSeparator: \.isWhitespace).map(String.init)
        let result = try TestSupport.run(
            Locations.program("gcc"),
            ["-std=gnu11", "-Wall", "-Wextra", "-pedantic", "-Werror", "-DDEBUG", source] + flags
                + ["-Wl,-rpath," + Installation.path("lib"), "-o", path], home: home)
        try #require(result.succeeded, "\(result.error)")
    }

    func run(_ environment: [String: String] = [:]) throws -> CommandResult {
        try TestSupport.run(path, home: home, environment: environment)
    }

    func tweak(_ arguments: String...) throws -> CommandResult {
        try TestSupport.run(Installation.path("bin/tweak"), arguments, home: home)
    }

    /// The names by which something is kept.
    func kept() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: home("config/tweaks")).sorted()
    }
}

@Suite struct `Names of programs` {
    @Test func `A declared name is used for overrides, running or not`() throws {
        let program = try NamedProgram()
        #expect(try program.tweak("set", program.path, "Seed", "6").output == "Maze/Walls/Seed: 5 → 6\n")
        #expect(try program.kept() == ["maze"])
        #expect(try program.run().output == "6\n")
        let process = try start(program.path, ["forever"], home: program.home)
        defer { process.kill() }
        let socket = program.home("runtime/tweaks/\(process.processID).sock")
        #expect(waitUntil { access(socket, F_OK) == 0 })
        #expect(try program.tweak("set", "maze", "Seed", "7").output == "Maze/Walls/Seed: 6 → 7\n")
        #expect(try program.tweak("set", "main", "Seed", "8").output == "Maze/Walls/Seed: 7 → 8\n")
        #expect(try program.tweak("ps").output.contains(" maze "))
        let programs = try program.tweak("ps", "--format", "json").json["programs"] as? [[String: Any]]
        #expect(
            programs?.first?["overridesFile"] as? String == program.home("config/tweaks/maze/overrides.json"))
        #expect(try program.kept() == ["maze"])
        let list = try program.tweak("list", "maze", "--format", "json").json
        #expect(
            (list["program"] as? [String: Any] ?? list)["overrides"] as? String
                == program.home("config/tweaks/maze/overrides.json"))
    }

    @Test func `TWEAKS_APPLICATION takes precedence`() throws {
        let program = try NamedProgram()
        try program.home.write("config/tweaks/other/overrides.json", #"{"Maze": {"Walls": {"Seed": 9}}}"#)
        #expect(try program.run(["TWEAKS_APPLICATION": "other"]).output == "9\n")
        #expect(try program.run().output == "5\n")
    }

    @Test(arguments: ["a/b", "..", ""]) func `An invalid name is not used`(_ name: String)
        throws
    {
        let program = try NamedProgram()
        try program.home.write("config/tweaks/maze/overrides.json", #"{"Maze": {"Walls": {"Seed": 9}}}"#)
        let result = try program.run(["TWEAKS_APPLICATION": name])
        #expect(result.output == "9\n")
        #expect(result.error.contains("is not a name") == !name.isEmpty)
        let declared = try NamedProgram(name.isEmpty ? "" : "FBTweakApplication(\"\(name)\");")
        #expect(try declared.tweak("set", declared.path, "Seed", "6").succeeded)
        #expect(try declared.kept() == ["main"])
        #expect(try declared.run().output == "6\n")
    }

    @Test func `A library loaded by a host has its own name for overrides`() throws {
        let home = try TemporaryDirectory()
        let source = try home.write(
            "extension.c",
            """
            #include <fbtweak.h>
            FBTweakApplication("tuned-extension");
            int speed(void) { return FBTweakValue("A", "B", "C", 1); }
            """)
        let library = home("extension.so")
        let built = try TestSupport.run(
            Locations.program("gcc"),
            [
                "-shared", "-fPIC", "-DDEBUG", source, "-I" + Installation.path("include"),
                "-Wl,--no-as-needed",
                Installation.path("lib/libtweaks.so.0"), "-Wl,-rpath," + Installation.path("lib"), "-o",
                library,
            ], home: home)
        try #require(built.succeeded, "\(built.error)")
        try home.write("config/tweaks/tuned-extension/overrides.json", #"{"A": {"B": {"C": 2}}}"#)
        let result = try TestSupport.run(
            Locations.program("python3"),
            ["-c", "import ctypes; print(ctypes.CDLL('\(library)').speed())"], home: home)
        #expect(result.output == "2\n")
    }

    @Test func `Release builds contain no trace of it`() throws {
        let home = try TemporaryDirectory()
        let source = try home.write("a.c", "#include <fbtweak.h>\nFBTweakApplication(\"maze\");\n")
        let result = try TestSupport.run(
            Locations.program("gcc"),
            ["-c", source, "-I" + Installation.path("include"), "-o", home("a.o")], home: home)
        try #require(result.succeeded, "\(result.error)")
        #expect(try !Data(contentsOf: URL(fileURLWithPath: home("a.o"))).contains(sequence: "maze"))
    }

    @Test func `In Swift it is a macro`() throws {
        let home = try TemporaryDirectory()
        let source = try home.write(
            "Maze.swift",
            """
            import Tweaks
            #tweakApplication("maze of the old town")
            @main enum Maze { static func main() { print(#tweak("Maze", "Walls", "Seed", default: 5)) } }
            """)
        let program = home("program")
        let result = try TestSupport.run(
            Locations.program("swiftc"),
            Example.compilerFlags + ["-parse-as-library", "-D", "DEBUG", source, "-o", program]
                + Example.libraryObjects + ["-lelf", "-lstdc++"], home: home)
        try #require(result.succeeded, "\(result.output)\(result.error)")
        #expect(
            try TestSupport.run(Locations.product("tweak"), ["set", program, "Seed", "6"], home: home)
                .succeeded)
        #expect(
            FileManager.default.fileExists(
                atPath: home("config/tweaks/maze of the old town/overrides.json")))
        #expect(try TestSupport.run(program, home: home).output == "6\n")
    }
}

extension Data {
    fileprivate func contains(sequence text: String) -> Bool { range(of: Data(text.utf8)) != nil }
}
