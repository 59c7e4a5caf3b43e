// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `Adopted variables` {
    private let program: BareProgram

    /// Prints its values whenever they are others, and knows nothing of tweaks.
    private static let source = #"""
        #include <stdbool.h>
        #include <stdio.h>
        #include <string.h>
        #include <unistd.h>

        enum mode { SLOW, FAST = 5 };
        struct weight { float weight; unsigned flag : 2; };

        volatile double gravity = 9.81;
        volatile enum mode mode = FAST;
        static volatile unsigned char level = 200, neighbour = 7;
        volatile struct weight table[3];
        volatile bool on = true;
        const char *text = "hello";
        volatile long turns;
        const int fixed = 3;

        int main(int argc, char **argv) {
          char last[500] = "";
          for (;;) {
            char line[500];
            snprintf(line, sizeof(line), "%g %d %d %d %g %d", gravity, mode, level, neighbour, table[1].weight, on);
            if (strcmp(line, last) != 0)
              puts(strcpy(last, line));
            fflush(stdout);
            usleep(1000);
            turns += fixed;
            if (access("next", F_OK) == 0 && argc > 1)
              execv(argv[1], argv + 1);
          }
        }

        """#
    private static let defaults = "9.81 5 200 7 0 1"

    init() throws { program = try BareProgram(named: "plain", Self.source, compiling: ["-g", "-O2"]) }

    @discardableResult
    private func adopt(_ arguments: String...) throws -> CommandResult {
        try program.command(["adopt", program.path] + arguments)
    }

    private func list(_ arguments: String...) throws -> CommandResult {
        try program.command(["adopt", "--list", program.path] + arguments)
    }

    private func rows(_ result: CommandResult) -> [[Substring]] {
        result.lines.map { $0.split(separator: " ") }
    }

    @Test func `are chosen from a list of all, with the reasons why some cannot be`() throws {
        let all = try list()
        #expect(all.status == 0 && all.error.isEmpty)
        let names = rows(all).dropFirst().compactMap(\.first).map(String.init)
        let expected = [
            "fixed", "gravity", "level", "mode", "neighbour", "on", "table[0..2].flag", "table[0..2].weight",
            "text",
            "turns",
        ]
        #expect(names.sorted() == expected)
        #expect(all.output.contains(#/fixed +const int +3 +bare\.c:\d+ +it is const, /#))
        #expect(all.output.contains(#/mode +volatile enum mode +FAST /#))
        #expect(try rows(list("lev")).dropFirst().compactMap(\.first) == ["level"])
        #expect(try rows(list("*e")).dropFirst().compactMap(\.first) == ["mode"])
        #expect(try rows(list("table[1].weight")).dropFirst().compactMap(\.first) == ["table[1].weight"])
        let form = try list("--format", "json", "table[1]").json
        let variables = try #require(form["variables"] as? [[String: Any]])
        #expect(variables.map { $0["canBeSet"] as? Bool } == [true, false])
        #expect(
            variables[1]["reason"] as? String
                == "it is a bit field: setting it would race with its neighbours")
        #expect((form["buildID"] as? String)?.count == 40)
    }

    @Test func `are set in the memory of the running program, and nothing beside them`() throws {
        let adopted = try adopt("gravity", "--in", "0..30", "--unit", "m/s2")
        #expect(adopted.output == "Variables/bare.c/gravity: gravity, volatile double\n")
        #expect(adopted.status == 0 && adopted.error.isEmpty)
        try #expect(adopt("mode", "level", "table[1].weight", "on").lines.count == 4)
        try program.start()
        program.expect(Self.defaults)
        #expect(
            try program.tweak("set", "gravity", "3.5").output
                == "Variables/bare.c/gravity: 9.81 m/s2 → 3.5 m/s2\n")
        program.expect("3.5 5 200 7 0 1")
        let clamped = try program.tweak("set", "gravity", "100")
        #expect(clamped.status == 0 && clamped.error.contains("100 is outside the limits"))
        #expect(
            try program.tweak("set", "mode", "SLOW", "level", "255", "table[1].weight", "2.5", "on", "off")
                .succeeded)
        program.expect("30 0 255 7 2.5 0")
        #expect(try program.tweak("set", "mode", "3").status == 65)
        #expect(try program.tweak("get", "level").output == "255\n")
        #expect(try program.tweak("reset", "--all").succeeded)
        program.expect(Self.defaults)
    }

    @Test func `are tweaks for all other commands`() throws {
        try adopt("gravity")
        try adopt("text")
        try adopt("turns", "--monitor", "--name", "Plain/State/Turns")
        try program.start()
        program.expect(Self.defaults)
        let processes = try program.command(["ps", "--all"]).output
        #expect(processes.contains("\(program.pid) "))
        #expect(
            try program.tweak("get", "text").output == "\"hello\"\n"
                || program.tweak("get", "text").output == "hello\n")
        #expect(try program.tweak("set", "text", "x").status == 65)
        #expect(try program.tweak("set", "Turns", "1").status == 65)
        let watched = try program.tweak(
            "watch", "Turns", "gravity", "--rate", "100", "--duration", "1", "--format", "csv")
        #expect(watched.lines.first == "time,Plain/State/Turns,Variables/bare.c/gravity,mark")
        let turns = watched.lines.dropFirst().compactMap { Int($0.split(separator: ",")[1]) }
        #expect(turns.count > 2 && turns.allSatisfy { $0.isMultiple(of: 3) } && turns == turns.sorted())
        // The process that puts the value back finds the variable too.
        #expect(try program.tweak("set", "gravity", "1", "--while", "--", "true").succeeded)
        program.expect(Self.defaults)
    }

    @Test func `are changed by the page, which sees when one more is adopted`() throws {
        try adopt("gravity")
        try program.start()
        let page = try ServedPage(home: program.home)
        let events = try page.events()
        let id = try page.id(ofProcess: program.pid)
        let stream = try events.stream()
        func names() throws -> [String] {
            let answer = try page.api("tweaks", ["program": id, "stream": stream]).json
            return (answer["tweaks"] as? [[String: Any]] ?? []).compactMap { $0["tweak"] as? String }
        }
        #expect(try names() == ["Variables/bare.c/gravity"])
        try adopt("level")
        #expect(try waitUntil { try names().contains("Variables/bare.c/level") })
        let values: [[String: Any]] = [
            ["tweak": "Variables/bare.c/gravity", "value": 3.5],
            ["tweak": "Variables/bare.c/level", "value": 6],
        ]
        let answer = try page.api("set", ["program": id, "stream": stream, "values": values])
        #expect(answer.status == 200, "\(answer.body)")
        program.expect("3.5 5 6 7 0 1")
    }

    @Test func `are shown of a program that does not run, which has nothing to set`() throws {
        try adopt("gravity")
        #expect(try program.command(["get", program.path, "gravity"]).output == "9.81\n")
        let result = try program.command(["set", program.path, "gravity", "1"])
        #expect(result.status == 69)
        #expect(
            result.error.hasSuffix("it is an adopted variable, which can be set while the program runs\n"))
        #expect(!FileManager.default.fileExists(atPath: program.home("config/tweaks/plain/overrides.json")))
    }

    @Test(arguments: [
        ("fixed", "fixed: it is const"), ("table[1].flag", "table[1].flag: it is a bit field"),
        ("table", "table: it is an array; name an element"),
        ("table[3].weight", "table: it has no element 3"),
        ("gravty", "gravty: no such global or static variable; did you mean gravity?"),
    ])
    func `must be such that can be set`(name: String, message: String) throws {
        let result = try adopt(name)
        #expect(result.status == 65 && result.error.hasPrefix("tweak-adopt: \(message)"), "\(result.error)")
        #expect(!FileManager.default.fileExists(atPath: program.home("config/tweaks/plain/adopted.json")))
    }

    @Test(arguments: [
        (["gravity", "--in", "10..30"], 65, "the default is outside"),
        (["gravity", "--in", "30..0"], 65, "minimum"),
        (["gravity", "--in", "5"], 65, "limits are written as 0..30"),
        (["on", "--in", "0..1"], 65, "only a number"),
        (["gravity", "--name", "Gravity"], 64, "Category/Collection/Name"),
        ([], 64, "Name a variable to adopt"),
        (["gravity", "level", "--name", "A/B/C"], 64, "--name needs exactly one variable"),
        (["gravity", "level", "--in", "0..100"], 65, "the default is outside"),
        (["--list", "gravity", "--unit", "m"], 64, "need a variable to adopt"),
    ])
    func `have limits that fit`(arguments: [String], status: Int32, message: String) throws {
        let result = try program.command(["adopt", program.path] + arguments)
        #expect(result.status == status && result.error.contains(message), "\(result.error)")
    }

    @Test func `are adopted beside some that cannot be`() throws {
        let result = try adopt("gravity", "fixed", "table", "nothing", "level")
        #expect(result.status == 65)
        #expect(
            result.lines.map { $0.prefix { $0 != ":" } } == [
                "Variables/bare.c/gravity", "Variables/bare.c/level",
            ])
        let lines = result.error.split(separator: "\n").filter { !$0.contains("volatile") }
        #expect(lines.count == 4 && lines[0].hasSuffix("3 variables are not adopted:"), "\(result.error)")
        for (line, name) in zip(lines.dropFirst(), ["fixed", "table", "nothing"]) {
            #expect(line.contains("\(name): "), "\(line)")
        }
    }

    @Test func `are of one build, and looked up again for the next`() throws {
        try adopt("gravity", "--in", "0..30")
        try adopt("level")
        let changed = Self.source.replacing(
            "volatile double gravity", with: "int first = 1; volatile double gravity"
        )
        .replacing("unsigned char level", with: "unsigned short level")
        try Compiler.gcc.compile(
            [program.home.write("bare.c", changed)], to: program.path, ["-g", "-O2"], home: program.home)
        let listed = try program.command(["list", program.path])
        #expect(listed.output.contains("no tweaks"))
        #expect(listed.error.contains("it was rebuilt since variables were adopted"))
        try program.start()
        program.expect(Self.defaults)
        #expect(!(try program.tweak("set", "gravity", "1").succeeded))
        let renewed = try program.command(["adopt", "--renew", program.path])
        #expect(renewed.output == "1 variable adopted\n" && renewed.status == 65)
        #expect(renewed.error.contains("level: its type was uint8 and is uint16; adopt it again"))
        #expect(try program.tweak("set", "gravity", "100").succeeded)
        program.expect("30 5 200 7 0 1")
    }

    @Test func `are not written into another program in the same process`() throws {
        try adopt("gravity")
        let other = program.home("other")
        // The same program but for the build id.
        try Compiler.gcc.compile(
            [program.home.write("other.c", Self.source.replacing("9.81", with: "1.62"))], to: other,
            ["-g", "-O2"],
            home: program.home)
        try program.start([other])
        program.expect(Self.defaults)
        try program.home.write("next", "")
        program.expect("1.62 5 200 7 0 1")
        #expect(!(try program.tweak("set", "gravity", "5").succeeded))
        program.expect("1.62 5 200 7 0 1")
    }

    @Test func `are known by a checksum in a process without a build id`() throws {
        let bare = try BareProgram(Self.source, compiling: ["-g", "-O2", "-Wl,--build-id=none"])
        let adopted = try bare.command(["adopt", bare.path, "gravity"])
        #expect(adopted.succeeded, "\(adopted.error)")
        try bare.start()
        bare.expect(Self.defaults)
        #expect(try bare.tweak("set", "gravity", "5").succeeded)
        bare.expect(Self.defaults.replacing("9.81", with: "5"))
        bare.end()
        let other = try bare.home.write("other.c", Self.source.replacing("9.81", with: "1.62"))
        try Compiler.gcc.compile(
            [other], to: bare.path, ["-g", "-O2", "-Wl,--build-id=none"], home: bare.home)
        try bare.start()
        #expect(!(try bare.tweak("set", "gravity", "5").succeeded))
    }

    @Test func `become the initializers in the source`() throws {
        let source = program.home("bare.c")
        // The compiler ran elsewhere.
        let folder = program.home.path
        try #expect(adopt("gravity", "level", "mode", "on", "table[1].weight").succeeded)
        try program.start()
        program.expect(Self.defaults)
        try #expect(
            program.tweak("set", "gravity", "3.5", "level", "100", "mode", "SLOW", "on", "off").succeeded)
        let difference = try program.tweak("bake", "--from", folder)
        #expect(difference.status == 0 && difference.output.contains("+volatile double gravity = 3.5;\n"))
        try #expect(program.tweak("bake", "--from", folder, "--write").succeeded)
        let text = try String(contentsOfFile: source, encoding: .utf8)
        let expected = Self.source.replacing("gravity = 9.81", with: "gravity = 3.5")
            .replacing("level = 200", with: "level = 100").replacing("mode = FAST", with: "mode = SLOW")
            .replacing("on = true", with: "on = false")
        #expect(text == expected)
        try #expect(program.tweak("set", "weight", "2").succeeded)
        let part = try program.tweak("bake", "--from", folder, "weight")
        #expect(part.status == 65)
        #expect(part.error.contains("the variable table has no initializer there"), "\(part.error)")
    }

    @Test func `may be in a library, of a file or of a process`() throws {
        let source = #"""
            #include <stdio.h>
            #include <unistd.h>
            int sum(void);
            int main(void) { for (int last = -1;; usleep(1000)) if (sum() != last) printf("%d\n", last = sum()), fflush(stdout); }
            """#
        let program = try BareProgram(named: "user", source) { source, path, home in
            let part =
                "volatile int depth = 4; static volatile int width = 10; int sum(void) { return depth + width; }"
            try Compiler.gcc.compile(
                [home.write("depth.c", part)], to: home("libdepth.so"), ["-g", "-shared", "-fPIC"], home: home
            )
            try Compiler.gcc.compile(
                [source], to: path,
                ["-g", "-Wl,--no-as-needed", "-L\(home.path)", "-ldepth", "-Wl,-rpath,\(home.path)"],
                home: home
            )
        }
        let listed = try program.command(["adopt", "--list", program.path])
        #expect(listed.output.contains(#/depth +volatile int +4 +depth\.c:1 +libdepth\.so/#))
        let library = program.home("libdepth.so")
        #expect(
            try program.command(["adopt", program.path, "depth"]).output
                == "Variables/depth.c/depth: depth in \(library), volatile int\n")
        try program.start()
        program.expect("14")
        #expect(try program.command(["adopt", "\(program.pid)", "width"]).succeeded)
        #expect(try program.tweak("set", "depth", "5", "width", "20").succeeded)
        program.expect("25")
        #expect(try program.command(["adopt", "--remove", program.path, "depth"]).succeeded)
        #expect(try !program.tweak("set", "depth", "6").succeeded)
        program.end()
        #expect(try program.command(["get", program.path, "width"]).output == "10\n")
    }

    @Test func `are removed by the name of the variable or the tweak`() throws {
        try adopt("gravity")
        try adopt("level")
        #expect(
            try program.command(["adopt", "--remove", program.path, "gravity"]).output
                == "Variables/bare.c/gravity: no longer adopted\n")
        #expect(try program.command(["adopt", "--remove", program.path, "bare.c/level"]).succeeded)
        #expect(try program.command(["list", program.path]).output.contains("no tweaks"))
        #expect(try program.command(["adopt", "--remove", program.path, "level"]).status == 65)
        // All of them, or none.
        #expect(try adopt("mode", "on").succeeded)
        #expect(try program.command(["adopt", "--remove", program.path, "mode", "gravity"]).status == 65)
        #expect(try program.command(["adopt", "--remove", program.path, "mode", "on"]).lines.count == 2)
    }

    @Test func `are completed by shells`() throws {
        func completed(_ words: String...) throws -> [Substring] {
            try program.command(["---complete", "adopt"] + words).lines.compactMap {
                $0.split(separator: "\t").first
            }
        }
        let all = try completed(program.path, "")
        #expect(all.contains("gravity") && all.contains("table["))
        #expect(try completed("--in", "0..30", program.path, "gr") == ["gravity"])
        #expect(try completed("--li").contains("--list"))
    }
}
