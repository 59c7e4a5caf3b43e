// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// Programs that `tweak exec` starts, with a home of their own.
private struct Starts {
    let home: TemporaryDirectory

    init() throws {
        home = try TemporaryDirectory()
        try home.write("maze.c", Self.source)
    }

    /// Says of itself what it is asked, and its values.
    private static let source = """
        #include <fbtweak.h>
        #include <fcntl.h>
        #include <signal.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        int main(int count, char **arguments) {
          int walls = FBTweakValue("Maze", "Grid", "Walls", 20, 1, 100);
          double speed = FBTweakValue("Maze", "Ball", "Speed", 1.5);
          const char *name = FBTweakValue("Maze", "Ball", "Name", "ball");
          for (int i = 1; i < count; i++) {
            if (!strcmp(arguments[i], "preloaded"))
              printf("%s\\n", getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "nothing");
            else if (!strcmp(arguments[i], "itself"))
              printf("%s %d\\n", arguments[0], (int)getpid());
            else if (!strcmp(arguments[i], "streams"))
              printf("%d\\n", fcntl(STDIN_FILENO, F_GETFD));
            else if (!strcmp(arguments[i], "fails"))
              return 7;
            else if (!strcmp(arguments[i], "dies"))
              raise(SIGTERM);
            else if (!strcmp(arguments[i], "values"))
              printf("%d %.2f %s\\n", walls, speed, name);
            else
              printf("<%s>\\n", arguments[i]);
          }
          return 0;
        }
        """

    /// Compiles the program, with the header alone.
    @discardableResult
    func program(
        _ name: String = "maze", _ flags: String..., compiler: String? = nil, isTunable: Bool = true
    ) throws -> String {
        let path = home(name)
        let result = try run(
            compiler ?? Compiler.gcc.path(for: .c),
            ["-I", Locations.include, home("maze.c"), "-o", path] + (isTunable ? ["-DDEBUG"] : []) + flags,
            home: home)
        try #require(result.succeeded, "\(result.error)")
        return path
    }

    func exec(_ arguments: String..., environment: [String: String] = [:]) throws -> CommandResult {
        try run(
            Installation.path("bin/tweak"), ["exec"] + arguments, home: home, environment: environment,
            in: home.path)
    }

    func script(_ name: String, _ text: String) throws -> String {
        let path = try home.write(name, text)
        #expect(chmod(path, 0o755) == 0)
        return path
    }

    static let library = Result { try Installation.path("lib/libtweaks.so.0") }
}

@Suite struct `Programs started by tweak` {
    private let starts: Starts

    init() throws { starts = try Starts() }

    @Test func `A program built with only the header has its overrides`() throws {
        let program = try starts.program()
        #expect(
            try run(Installation.path("bin/tweak"), ["set", program, "Walls", "30"], home: starts.home)
                .succeeded)
        let result = try starts.exec(program, "values")
        #expect(result.output == "30 1.50 ball\n" && result.error.isEmpty)
    }

    @Test func `Values for one run take precedence over overrides, and are not saved`() throws {
        let program = try starts.program()
        let names = ["Walls=40", "Maze/Ball/Speed=-2", "ball/name=a=b c"].flatMap { ["--set", $0] }
        let result = try run(
            Installation.path("bin/tweak"), ["exec"] + names + [program, "values"], home: starts.home)
        #expect(result.output == "40 -2.00 a=b c\n" && result.error.isEmpty)
        #expect(try starts.exec(program, "values").output == "20 1.50 ball\n")
        #expect(access(starts.home("config/tweaks/maze"), F_OK) != 0)
    }

    @Test func `A preset has values for one run, and --set takes precedence`() throws {
        let program = try starts.program()
        func tweak(_ arguments: String...) throws {
            #expect(try run(Installation.path("bin/tweak"), arguments, home: starts.home).succeeded)
        }
        try tweak("set", program, "Walls=30", "Speed=2.5", "Name=box")
        try tweak("preset", "save", program, "fast")
        try tweak("reset", program, "--all")
        let environment = ["TWEAK_MAZE__BALL__NAME": "y"]
        let result = try starts.exec(
            "--set", "Walls=x+1", "--preset", "fast", program, "values", environment: environment)
        #expect(result.output == "31 2.50 box\n" && result.error.isEmpty, "\(result)")
        #expect(try starts.exec(program, "values").output == "20 1.50 ball\n")
        let missing = try starts.exec("--preset", "fsat", program, "values")
        #expect(missing.status == EX_NOINPUT && missing.output.isEmpty)
        #expect(missing.error.hasSuffix("/maze/presets; did you mean fast?\n"), "\(missing)")
    }

    @Test func `A preset of the application that the environment names`() throws {
        try starts.home.write(
            "config/tweaks/mixer/presets/loud.json",
            #"{"name": "loud", "tweaks": {"Maze": {"Grid": {"Walls": 1000}}}}"#)
        let result = try starts.exec(
            "--preset", "loud", starts.program(), "values", environment: ["TWEAKS_APPLICATION": "mixer"])
        #expect(result.output == "100 1.50 ball\n")
        #expect(
            result.error
                == "tweak: warning: Maze/Grid/Walls: 1000 is outside the limits; allowed: an integer from 1 to 100\n"
        )
    }

    @Test func `A program is not started with a preset that does not fit it`() throws {
        try starts.home.write(
            "config/tweaks/maze/presets/old.json",
            #"{"name": "old", "tweaks": {"Maze": {"Grid": {"Walls": "many", "Doors": 2}, "Ball": {"Speed": 2}}}}"#
        )
        let result = try starts.exec("--preset", "old", starts.program(), "values")
        #expect(result.status == EX_DATAERR && result.output.isEmpty)
        #expect(
            result.error == """
                tweak: old: 2 values of the preset cannot be set
                  Maze/Grid/Doors: no such tweak
                  Maze/Grid/Walls: "many" is not an int32; allowed: an integer from 1 to 100

                """)
    }

    @Test func `They are combined with those of the environment, and take precedence`() throws {
        let program = try starts.program()
        let result = try starts.exec(
            "--set", "Walls=40", "--set", "Name=x", program, "values",
            environment: [
                "TWEAKS": #"{"Maze": {"Grid": {"Walls": 2}, "Ball": {"Speed": 3}}}"#,
                "TWEAK_MAZE__BALL__NAME": "y",
            ])
        #expect(result.output == "40 3.00 x\n" && result.error.isEmpty)
    }

    @Test func `A value outside the limits is clamped and reported`() throws {
        let result = try starts.exec("--set", "Walls=1000", starts.program(), "values")
        #expect(result.output == "100 1.50 ball\n")
        #expect(
            result.error
                == "tweak: warning: Maze/Grid/Walls: 1000 is outside the limits; allowed: an integer from 1 to 100\n"
        )
    }

    @Test(arguments: [
        ("Wals=3", "Wals: no such tweak; did you mean Maze/Grid/Walls?"),
        ("Walls=many", "Maze/Grid/Walls: \"many\" is not an int32; allowed: an integer from 1 to 100"),
    ])
    func `A program is not started with an invalid value`(setting: String, message: String) throws {
        let result = try starts.exec("--set", setting, starts.program(), "values")
        #expect(result.status == EX_DATAERR && result.output.isEmpty)
        #expect(result.error == "tweak: \(message)\n")
    }

    @Test func `The program replaces the command`() throws {
        let program = try starts.program()
        let process = try start(
            Installation.path("bin/tweak"), ["exec", "./maze", "itself"], home: starts.home,
            in: starts.home.path)
        let processID = process.processID
        #expect(process.wait().output == "./maze \(processID)\n")
        #expect(try starts.exec(program, "fails").status == 7)
        #expect(try starts.exec(program, "dies").status == 128 + SIGTERM)
    }

    @Test func `Its arguments are passed on`() throws {
        let program = try starts.program()
        let result = try starts.exec("--", program, "--all", "--set", "--help", "-5", "", "--")
        #expect(result.output == "<--all>\n<--set>\n<--help>\n<-5>\n<>\n<-->\n")
    }

    @Test func `An argument that is not UTF-8 is passed on`() throws {
        let program = try starts.program()
        let command = try Installation.path("bin/tweak")
        let result = try run(
            "/bin/sh", ["-c", #"'\#(command)' exec '\#(program)' "$(printf 'a\377b')" | od -An -tx1"#],
            home: starts.home)
        #expect(result.output == " 3c 61 ff 62 3e 0a\n")
    }

    @Test func `A closed stream stays closed`() throws {
        let program = try starts.program()
        let command = try Installation.path("bin/tweak")
        let result = try run(
            "/bin/sh", ["-c", "'\(command)' exec '\(program)' streams <&-"], home: starts.home)
        #expect(result.output == "-1\n")
    }

    @Test func `Libraries already preloaded stay first`() throws {
        let result = try starts.exec(
            starts.program(), "preloaded", environment: ["LD_PRELOAD": "libm.so.6"])
        #expect(try result.output == "libm.so.6:\(Starts.library.get())\n")
    }

    @Test func `Nested commands load the library once`() throws {
        let result = try starts.exec(
            Installation.path("bin/tweak"), "exec", "--set", "Walls=3", starts.program(), "values",
            "preloaded")
        #expect(try result.output == "3 1.50 ball\n\(Starts.library.get())\n")
    }

    @Test func `A program linked with the library is just started`() throws {
        let folder = try Installation.path("lib")
        let program = try starts.program(
            "linked", "-L\(folder)", "-Wl,--no-as-needed", "-ltweaks", "-Wl,-rpath,\(folder)")
        let result = try starts.exec("--set", "Walls=3", program, "values", "preloaded")
        #expect(result.output == "3 1.50 ball\nnothing\n" && result.error.isEmpty)
    }

    @Test func `A program that contains the library is just started`() throws {
        let result = try starts.exec("--set", "Count=7", Locations.product("tweak-setter"), "show")
        #expect(result.output == "false 7 0.5 hello\n" && result.error.isEmpty)
    }

    @Test func `A program without tweaks is started too, with a message`() throws {
        let program = try starts.program(isTunable: false)
        let result = try starts.exec(program, "values")
        #expect(result.output == "20 1.50 ball\n")
        #expect(
            result.error
                == "tweak: warning: \(program): neither the program nor its libraries have tweaks\n"
        )
    }

    @Test func `A program with AddressSanitizer loads that first`() throws {
        let result = try starts.exec(
            "--set", "Walls=3", starts.program("watched", "-fsanitize=address"), "values",
            environment: ["ASAN_OPTIONS": "detect_leaks=0"])
        #expect(result.output == "3 1.50 ball\n" && result.error.isEmpty)
    }

    @Test(arguments: ["#!/bin/sh\n", "#! /bin/sh -e\n", ""])
    func `Programs started by a script have the library`(
        firstLine: String
    ) throws {
        let script = try starts.script("start", firstLine + "\"\(starts.program())\" values \"$1\"\n")
        let result = try starts.exec(
            "--set", "Maze/Grid/Walls=3", "--set", "Maze/Ball/Name=7", script, "a b")
        #expect(result.output == "3 1.50 7\n<a b>\n" && result.error.isEmpty, "\(result)")
    }

    @Test func `Names must be complete for a script, whose tweaks are unknown`() throws {
        let script = try starts.script("start", "#!/bin/sh\n")
        let result = try starts.exec("--set", "Walls=3", script)
        #expect(result.status == EX_USAGE)
        #expect(result.error.contains("the tweaks of \(script) are not known; write the whole name"))
        let other = try starts.exec("--preset", "fast", script)
        #expect(other.status == EX_USAGE)
        #expect(other.error == "tweak: fast: the tweaks of \(script) are not known, so it takes no preset\n")
    }

    // MARK: What cannot be started

    private func expectRefusal(
        _ program: String, _ reason: String, status: Int32 = EX_UNAVAILABLE, options: [String] = [],
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let result = try run(
            Installation.path("bin/tweak"), ["exec"] + options + [program, "values"], home: starts.home)
        #expect(result.status == status && result.output.isEmpty, "\(result)", sourceLocation: location)
        #expect(result.error.contains(reason), "\(result.error)", sourceLocation: location)
    }

    @Test(arguments: ["-static", "-static-pie"]) func `A statically linked program`(flag: String) throws {
        let program = try starts.program("static", flag)
        try expectRefusal(program, "\(program) is statically linked")
        let script = try starts.script("start", "#!\(program) itself\n")
        try expectRefusal(script, "\(script): its interpreter \(program) is statically linked")
    }

    @Test(.enabled(if: access("/usr/bin/musl-gcc", X_OK) == 0, "needs musl-gcc"))
    func `A program of another C library`() throws {
        try expectRefusal(
            starts.program("musl", compiler: "/usr/bin/musl-gcc"),
            "is for x86_64 with musl, and the library for x86_64\n")
    }

    @Test func `A library of another C library`() throws {
        var library = try Data(contentsOf: URL(fileURLWithPath: Installation.path("lib/libtweaks.so")))
        let name = try #require(library.range(of: Data("libc.so.6\0".utf8)))
        library.replaceSubrange(name, with: Data("libc.so\0.6\0".utf8).prefix(name.count))
        let path = starts.home("libtweaks.so.0")
        try library.write(to: URL(fileURLWithPath: path))
        try expectRefusal(
            starts.program("plain"), "is for x86_64, and the library for x86_64 with musl\n",
            options: ["--library", path])
    }

    @Test func `A program with another dynamic linker`() throws {
        try expectRefusal(
            starts.program("other", "-Wl,--dynamic-linker=/lib/ld-uClibc.so.0"),
            "is loaded by /lib/ld-uClibc.so.0")
    }

    @Test(.enabled(if: access("/usr/bin/aarch64-linux-gnu-gcc", X_OK) == 0, "needs a cross compiler"))
    func `A program for another machine`() throws {
        try expectRefusal(
            starts.program("foreign", compiler: "/usr/bin/aarch64-linux-gnu-gcc"),
            "is for aarch64, and the library for x86_64")
    }

    @Test(.enabled(if: geteuid() == 0, "needs root")) func `A privileged program`() throws {
        let program = try starts.program()
        #expect(chown(program, 0, 65534) == 0 && chmod(program, 0o2755) == 0)
        try expectRefusal(program, "\(program) runs with more rights than its user")
    }

    @Test func `With an invalid library`() throws {
        let program = try starts.program()
        try expectRefusal(
            program, "it is not the Tweaks library", status: EX_DATAERR, options: ["--library", "/bin/sh"])
        try expectRefusal(
            program, "No such file", status: EX_NOINPUT, options: ["--library", "libtweaks.so.0"])
    }

    @Test func `Without the library`() throws {
        let command = starts.home("bin/tweak")
        #expect(mkdir(starts.home("bin"), 0o755) == 0)
        #expect(try run("/bin/cp", [Installation.path("bin/tweak"), command], home: starts.home).succeeded)
        let program = try starts.program()
        let library = try Starts.library.get()
        #expect(
            try run(command, ["exec", "--library", library, program, "preloaded"], home: starts.home).output
                == library + "\n")
        guard access("/usr/local/lib/libtweaks.so.0", F_OK) != 0 else { return }
        let result = try run(command, ["exec", program], home: starts.home)
        #expect(
            result.status == EX_UNAVAILABLE
                && result.error.contains("libtweaks.so.0 was not found beside"))
    }

    @Test func `A missing or invalid program has the exit status that env uses`() throws {
        let file = try starts.home.write("file", "text\n")
        let script = try starts.script("script", "#!/nowhere/interpreter\n")
        #expect(try starts.exec("nowhere").status == 127)
        #expect(try starts.exec("/nowhere/program").status == 127)
        #expect(try starts.exec("").status == 127)
        #expect(try starts.exec(script).status == 127)
        #expect(try starts.exec(file).status == 126)
        #expect(try starts.exec(starts.home.path).status == 126)
        #expect(try starts.exec().status == EX_USAGE)
        #expect(try starts.exec("--sett", "a=b", file).status == EX_USAGE)
    }
}
