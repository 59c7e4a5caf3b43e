// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `A process without the library` {
    private let program: BareProgram

    init() throws {
        program = try BareProgram(compiling: ["-static"])
        try program.start()
        program.expect(BareProgram.defaults)
    }

    @Test func `Its tweaks are listed with the values in its memory`() throws {
        let result = try program.tweak("list")
        #expect(result.status == 0 && result.error.isEmpty)
        let rows = result.lines.dropFirst(2).map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
        let expected = [
            "Act action", "Count 5", "Fixed 1", "Flag false", "Ink #010203", "Mode \"slow\"", "Port 80",
            "Ratio 0.5",
            "Text \"hello\"",
        ]
        #expect(rows.sorted() == expected)
        let form = try program.tweak("list", "--format", "json").json
        #expect(form["pid"] as? Int32 == program.pid)
        #expect(form["application"] as? String == "bare")
        #expect(form["overrides"] == nil)
    }

    @Test func `Shells complete its process id and its tweaks`() throws {
        func completed(_ words: [String]) throws -> [Substring] {
            let arguments = ["positional@\(words.count - 2)", "\(words.count)", "0", "tweak"]
            return try program.command(["---completion", words[0], "--"] + arguments + words).lines
        }
        #expect(try completed(["set", ""]).contains("\(program.pid)"))
        #expect(try completed(["set", "\(program.pid)", ""]).contains("Bare/Values/Count"))
    }

    @Test func `What is set it has at once, in every place where it reads it`() throws {
        let result = try program.tweak("set", "Count", "7")
        #expect(result.status == 0 && result.output == "Bare/Values/Count: 5 → 7\n")
        program.expect("7 0.5 0 slow hello 1 1 80 7")
        #expect(
            try program.tweak("set", "Ratio", "2.25", "Flag", "on", "Ink", "#ff0000").output
                == "Bare/Values/Ratio: 0.5 → 2.25\nBare/Values/Flag: false → true\nBare/Values/Ink: #010203 → #ff0000\n"
        )
        program.expect("7 2.25 1 slow hello 255 1 80 7")
        #expect(try program.tweak("get", "Ratio").output == "2.25\n")
        let row = try #require(
            try program.tweak("list").lines.first { $0.split(separator: " ").first == "Count" })
        #expect(row.split(separator: " ").suffix(1) == ["memory"])
    }

    @Test func `It says that a value is for this run, and keeps nothing`() throws {
        let result = try program.tweak("set", "Count", "7")
        #expect(result.error == program.notice)
        #expect(!FileManager.default.fileExists(atPath: program.home("config/tweaks")))
        program.end()
        try program.start()
        program.expect(BareProgram.defaults)
    }

    @Test func `Limits hold`() throws {
        let result = try program.tweak("set", "Count", "77")
        #expect(result.status == 0 && result.error.contains("is outside the limits"))
        program.expect("10 0.5 0 slow hello 1 1 80 10")
    }

    @Test(arguments: [
        ("Count", "many", "\"many\" is not an int32; allowed: an integer from 0 to 10"),
        ("Fixed", "2", "the tweak is read-only; its value is 1"),
        (
            "Port", "81",
            "it takes effect at the next start, and without the Tweaks library in the process nothing is kept"
        ),
        (
            "Mode", "idle",
            "\"idle\" is not among the choices; allowed: one of \"slow\", \"fast\" (quick), \"\""
        ),
        (
            "Text", "bye",
            "without the Tweaks library in the process a text can only be its default; link the program "
                + "with the library, or start it with tweak exec"
        ),
        ("Act", "1", "an action has no value"),
    ])
    func `What cannot be is refused with the reason`(name: String, value: String, reason: String) throws {
        for others in [[], ["Flag", "on"]] {
            let result = try program.command(["set", "\(program.pid)"] + others + [name, value])
            #expect(result.status == 65)
            #expect(result.error.contains("Bare/Values/\(name): \(reason)\n"))
        }
        #expect(try program.tweak("get", "Flag").output == "false\n")
        program.expect(BareProgram.defaults)
    }

    @Test func `A text can be one of its choices, by its label too`() throws {
        for (given, value) in [("fast", "fast"), ("", "-"), ("quick", "fast"), ("slow", "slow")] {
            #expect(try program.tweak("set", "Mode", given).status == 0)
            program.expect("5 0.5 0 \(value) hello 1 1 80 5")
            #expect(try program.tweak("get", "Mode").output == (value == "-" ? "" : value) + "\n")
        }
        #expect(try program.tweak("set", "Text", "hello").status == 0)
    }

    @Test func `reset gives the defaults again`() throws {
        #expect(try program.tweak("set", "Count", "7", "Mode", "fast").status == 0)
        program.expect("7 0.5 0 fast hello 1 1 80 7")
        let one = try program.tweak("reset", "Count")
        #expect(one.output == "Bare/Values/Count: 7 → 5\n" && one.error.isEmpty)
        #expect(
            try program.tweak("reset", "--all").output == "Bare/Values/Mode: \"fast\" (quick) → \"slow\"\n")
        program.expect(BareProgram.defaults)
    }

    @Test func `explain says that a value is in the memory`() throws {
        #expect(try program.tweak("set", "Count", "7").status == 0)
        let result = try program.tweak("explain", "Count")
        #expect(result.error.contains("the Tweaks library is not in the process"))
        #expect(result.lines.first == "Bare/Values/Count: 7, from memory")
        #expect(
            result.lines.dropFirst(2).map { $0.split(separator: " ").prefix(2) } == [
                ["memory", "7"], ["default", "5"],
            ])
        #expect(try program.tweak("explain", "Ratio").lines.first == "Bare/Values/Ratio: 0.5, from default")
    }

    @Test func `What is exported can be imported, and kept as a preset`() throws {
        #expect(try program.tweak("set", "Count", "7", "Mode", "fast").status == 0)
        let file = program.home("values.json")
        #expect(try program.tweak("export", file).status == 0)
        #expect(try program.command(["preset", "save", "\(program.pid)", "quick one"]).status == 0)
        #expect(try program.tweak("reset", "--all").status == 0)
        let imported = try program.tweak("import", file)
        #expect(imported.output == "2 tweaks were set\n" && imported.error == program.notice)
        program.expect("7 0.5 0 fast hello 1 1 80 7")
        #expect(try program.tweak("set", "Ratio", "9").status == 0)
        #expect(
            try program.command(["preset", "load", "--reset-others", "\(program.pid)", "quick one"]).status
                == 0)
        program.expect("7 0.5 0 fast hello 1 1 80 7")
    }

    @Test func `An action is not run, and the reason is said`() throws {
        let result = try program.tweak("run", "Act")
        #expect(result.status == 69)
        #expect(
            result.error.hasPrefix("tweak: \(program.title): this needs the Tweaks library in the process"))
    }

    @Test func `It is found by its path and by its name`() throws {
        #expect(try program.tweak("set", "Count", "7").status == 0)
        #expect(try program.command(["get", program.path, "Count"]).output == "7\n")
        let other = try BareProgram(named: "bare-by-name")
        try other.start()
        #expect(try other.command(["set", "bare-by-name", "Count", "8"]).error == other.notice)
        other.expect("8 0.5 0 slow hello 1 1 80 8")
        other.end()
        #expect(try other.command(["get", other.path, "Count"]).output == "5\n")
    }

    @Test func `Of several processes one must be named`() throws {
        let first = try #require(program.process)
        defer { first.kill() }
        try program.start()
        let result = try program.command(["set", program.path, "Count", "7"])
        #expect(result.status == 64 && result.error.contains("2 processes are running"))
        #expect(try program.command(["set", "--all-processes", program.path, "Count", "7"]).status == 0)
        program.expect("7 0.5 0 slow hello 1 1 80 7")
        #expect(try program.command(["get", "\(first.processID)", "Count"]).output == "7\n")
    }

    @Test func `ps shows it with --all`() throws {
        let short = try program.command(["ps"])
        #expect(!short.output.contains("\(program.pid) "))
        #expect(short.error.contains(" tweaks but not the Tweaks library; see tweak ps --all"))
        #expect(try program.tweak("set", "Count", "7").status == 0)
        let row = try program.command(["ps", "--all"]).lines.map { $0.split(separator: " ") }
            .first { $0.first == "\(program.pid)" }
        #expect(row?.dropFirst(2) == ["bare", "9", "1", "memory", Substring(program.path)])
        let forms =
            try program.command(["ps", "--all", "--format", "json"]).json["programs"] as? [[String: Any]]
        let form = forms?.first { $0["pid"] as? Int32 == program.pid }
        #expect(form?["memory"] as? Bool == true && form?["executable"] as? String == program.path)
    }

    @Test func `It is not stopped`() throws {
        let status = { try String(contentsOfFile: "/proc/\(program.pid)/status", encoding: .utf8) }
        for _ in 0..<20 { #expect(try program.tweak("set", "Flag", "on").status == 0) }
        #expect(try status().contains("TracerPid:\t0\n"))
    }

    @Test func `One whose file has been replaced has the tweaks of its own build`() throws {
        try FileManager.default.removeItem(atPath: program.path)
        let other = try BareProgram(
            BareProgram.source.replacing("Count", with: "Number"), compiling: ["-static"])
        try FileManager.default.copyItem(atPath: other.path, toPath: program.path)
        #expect(try program.tweak("set", "Count", "7").status == 0)
        program.expect("7 0.5 0 slow hello 1 1 80 7")
        #expect(try program.tweak("get", "Number").status == 65)
    }

    @Test func `Another program in the same process has its own tweaks`() throws {
        program.end()
        let other = try BareProgram(named: "other", BareProgram.source.replacing("Count", with: "Number"))
        try program.start([other.path])
        #expect(try program.tweak("get", "Count").output == "5\n")
        try program.home.write("next", "")
        #expect(try waitUntil { try program.tweak("get", "Number").output == "5\n" })
        #expect(try program.tweak("set", "Count", "7").status == 65)
    }

    @Test func `What has ended is not there`() throws {
        program.end()
        #expect(try program.tweak("get", "Count").status == 69)
    }
}

@Suite struct `Processes that cannot be changed in memory` {
    @Test func `The memory of one with the library is left alone, which is said`() throws {
        let setter = try RunningSetter(
            SetterProgram(), environment: ["TWEAKS_CONTROL": "0", "TWEAKS_WATCH": "0"])
        let result = try setter.tweak("set", "Count", "6")
        #expect(result.status == 69)
        #expect(
            result.error.contains(
                "\(setter.title): it contains the Tweaks library but does not listen, so its memory is "
                    + "left alone; using its overrides file instead\n"))
        // It does not follow the file, and so has what it had.
        setter.expect("false 5 0.5 hello")
        #expect(try !setter.program.command("ps", "--all").output.contains("\(setter.pid) "))
    }

    @Test func `One without tweaks is not taken for its file, which was built again with some`() throws {
        let program = try BareProgram(compiling: ["-UDEBUG"])
        try program.start()
        let debug = try BareProgram()
        try FileManager.default.removeItem(atPath: program.path)
        try FileManager.default.copyItem(atPath: debug.path, toPath: program.path)
        for arguments in [["set", "Count", "7"], ["get", "Count"], ["list"], ["reset", "--all"]] {
            let result = try program.command([arguments[0], "\(program.pid)"] + arguments.dropFirst())
            #expect(result.status == 69 && result.output.isEmpty, "\(arguments)")
            #expect(
                result.error.hasSuffix(
                    "\(program.title): the process has no tweaks, but \(program.path), which was rebuilt "
                        + "since it started, has some; restart it, or give the path of the "
                        + "file\n"), "\(result.error)")
        }
        #expect(!FileManager.default.fileExists(atPath: program.home("config/tweaks/bare/overrides.json")))
        #expect(try program.command(["get", program.path, "Count"]).output == "5\n")
    }

    @Test func `A release is known by name, with the library or without, and at once`() throws {
        let home = try TemporaryDirectory()
        try FileManager.default.copyItem(atPath: "/bin/sleep", toPath: home("released"))
        let tweak = { try run(Locations.product("tweak"), $0, home: home) }
        for environment in [[:], ["LD_PRELOAD": try Installation.path("lib/libtweaks.so.0")]] {
            let released = try start(home("released"), ["60"], home: home, environment: environment)
            defer { released.kill() }
            let (id, title) = ("\(released.processID)", "released (\(released.processID))")
            for words in [["list", "released"], ["set", "released", "A/B/C", "1"]] {
                let result = try tweak(words)
                #expect(result.status == 69 && result.output.isEmpty)
                #expect(
                    result.error
                        == "tweak: \(title): the process has no tweaks, as in a release build\n")
            }
            let list = try tweak(["list", id])
            #expect(list.status == 0 && list.output.hasSuffix("released: no tweaks\n"), "\(list.error)")
            // Values kept by a debug build can be removed.
            try home.write("config/tweaks/released/overrides.json", #"{"A": {"B": {"C": 1}}}"#)
            let reset = try tweak(["reset", "released", "--all"])
            #expect(reset.status == 0 && reset.error.contains("\(title): the process has no tweaks"))
            try FileManager.default.removeItem(atPath: home("config/tweaks/released"))
        }
    }

    @Test func `One without tweaks has none`() throws {
        let home = try TemporaryDirectory()
        let sleep = try start("/bin/sleep", ["60"], home: home)
        defer { sleep.kill() }
        let result = try run(Locations.product("tweak"), ["list", "\(sleep.processID)"], home: home)
        #expect(result.status == 0 && result.output.hasSuffix("sleep: no tweaks\n"))
        let get = try run(Locations.product("tweak"), ["get", "\(sleep.processID)", "A"], home: home)
        #expect(get.status == 65 && get.error.hasSuffix("it has no tweaks\n"))
    }

    @Test(.enabled(if: geteuid() == 0, "needs root"))
    func `That of another user is read by root alone`() throws {
        let program = try BareProgram()
        let asNobody = [
            try Locations.program("setpriv"), "--reuid", "65534", "--regid", "65534", "--clear-groups",
        ]
        #expect(chown(program.home.path, 65534, 65534) == 0)
        try program.start(by: asNobody)
        #expect(try program.tweak("set", "Count", "7").status == 0)
        program.end()
        try program.start()
        let command = asNobody + [Locations.product("tweak"), "get", "\(program.pid)", "Count"]
        let result = try run(command[0], Array(command.dropFirst()), home: program.home)
        #expect(result.status == 77)
        #expect(result.error.contains("root"))
    }

    @Test(.enabled(if: geteuid() == 0, "needs root"))
    func `Of one that is not dumpable the rule is said`() throws {
        let source = BareProgram.source.replacing(
            "char last[500] = \"\";", with: "char last[500] = \"\"; prctl(PR_SET_DUMPABLE, 0);")
        let program = try BareProgram("#include <sys/prctl.h>\n" + source)
        #expect(chown(program.home.path, 65534, 65534) == 0)
        let asNobody = [
            try Locations.program("setpriv"), "--reuid", "65534", "--regid", "65534", "--clear-groups",
        ]
        try program.start(by: asNobody)
        let command = asNobody + [Locations.product("tweak"), "get", "\(program.pid)", "Count"]
        let result = try run(command[0], Array(command.dropFirst()), home: program.home)
        #expect(result.status == 77)
        #expect(result.error.contains("it is not dumpable") && result.error.contains("run this as root"))
        #expect(try program.tweak("get", "Count").output == "5\n")
    }
}

@Suite struct `Processes with tweaks in several images` {
    private let home: TemporaryDirectory

    private static let library = #"""
        #include <fbtweak.h>
        int in_library(void) { return FBTweakValue("Several", "Images", "Shared", 1); }

        """#
    private static let program = #"""
        #include <dlfcn.h>
        #include <fbtweak.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <unistd.h>
        int main(void) {
          int last = -1;
          int (*in_library)(void) = (int (*)(void))dlsym(dlopen(getenv("LIBRARY"), RTLD_NOW), "in_library");
          for (;;) {
            int sum = FBTweakValue("Several", "Images", "Shared", 1) * 10 + in_library();
            if (sum != last)
              printf("%d\n", last = sum);
            fflush(stdout);
            usleep(1000);
          }
        }

        """#

    init() throws { home = try TemporaryDirectory() }

    @Test func `A value is in all of them`() throws {
        let library = home("lib several.so")
        try Compiler.gcc.compile(
            [try home.write("library.c", Self.library)], to: library, ["-DDEBUG", "-shared", "-fPIC"],
            home: home)
        let program = try BareProgram(named: "several", Self.program, compiling: ["-ldl"])
        try program.start(environment: ["LIBRARY": library])
        program.expect("11")
        #expect(try program.tweak("set", "Shared", "2").status == 0)
        program.expect("22")
        #expect(try program.tweak("list").lines.count == 3)
    }
}
