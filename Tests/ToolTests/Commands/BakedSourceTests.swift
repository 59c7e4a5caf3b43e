// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// Programs of several sources, and what `tweak bake` does to these.
@Suite struct `Sources that tweak bake changes` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func gcc(_ arguments: [String], in folder: String = ".") throws {
        let result = try run(
            Locations.program("gcc"), ["-g", "-DDEBUG", "-I", Locations.include] + arguments, home: home,
            in: home(folder))
        try #require(result.succeeded, "\(result.error)")
    }

    private func tweak(_ arguments: String..., in folder: String = ".") throws -> CommandResult {
        try run(Locations.product("tweak"), arguments, home: home, in: home(folder))
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: home(name), encoding: .utf8)
    }

    private static func source(_ key: String, _ function: String, _ value: Int) -> String {
        "#include <fbtweak.h>\nint \(function)(void) { return FBTweakValue(\"R\", \"\(key)\", \"v\", \(value)); }\n"
    }

    /// As in a recursive make: the compiler runs in the folder of each source.
    private func buildTwo(_ first: String, _ second: String) throws {
        try home.write("a/util.c", Self.source(first, "fa", 5))
        try home.write("b/util.c", Self.source(second, "fb", 5))
        try home.write("main.c", "int fa(void), fb(void);\nint main(void) { return fa() + fb(); }\n")
        for folder in ["a", "b"] { try gcc(["-c", "util.c", "-o", "util.o"], in: folder) }
        try gcc(["main.c", "a/util.o", "b/util.o", "-o", "program"])
    }

    @Test func `Two sources of one name each get their own value`() throws {
        try buildTwo("a", "b")
        #expect(try tweak("set", "./program", "R/a/v", "7", "R/b/v", "9").succeeded)
        let result = try tweak("bake", "./program", "--write")
        #expect(result.succeeded, "\(result.error)")
        #expect(try text("a/util.c") == Self.source("a", "fa", 7))
        #expect(try text("b/util.c") == Self.source("b", "fb", 9))
    }

    @Test func `Two sources of one name and one tweak both change`() throws {
        try buildTwo("c", "c")
        #expect(try tweak("set", "./program", "R/c/v", "7").succeeded)
        #expect(try tweak("bake", "./program", "--write").succeeded)
        #expect(try text("a/util.c") == Self.source("c", "fa", 7))
        #expect(try text("b/util.c") == Self.source("c", "fb", 7))
    }

    @Test func `Another copy of the sources is asked about`() throws {
        try buildTwo("a", "b")
        // A cache of objects gave the program what was compiled in another copy.
        for name in ["a/util.c", "b/util.c"] { try home.write("copy/" + name, try text(name)) }
        try FileManager.default.copyItem(atPath: home("program"), toPath: home("copy/program"))
        #expect(try tweak("set", "./program", "R/a/v", "7", in: "copy").succeeded)
        try home.write("copy/util.c", try text("a/util.c"))
        let result = try tweak("bake", "./program", "--write", in: "copy")
        #expect(result.status == 65 && result.error.contains("give the source folder with --from"))
        #expect(try text("a/util.c") == Self.source("a", "fa", 5))
        #expect(try tweak("bake", "./program", "--write", "--from", ".", in: "copy").succeeded)
        #expect(try text("copy/a/util.c") == Self.source("a", "fa", 7))
        #expect(try text("a/util.c") == Self.source("a", "fa", 5))
    }

    @Test func `--from must name a folder`() throws {
        try buildTwo("a", "b")
        for name in ["gone", "main.c"] {
            let result = try tweak("bake", "./program", "--from", name)
            #expect(result.status == 66 && result.error == "tweak: \(name): no such folder\n")
        }
    }

    @Test func `A constant that became a tweak changes in its definition`() throws {
        let header = "#define LIMIT FBTweakValue(\"R\", \"c\", \"v\", 5)\n"
        try home.write("include/limits.h", header)
        let source = "#include <fbtweak.h>\n#include \"limits.h\"\nint main(void) { return LIMIT; }\n"
        try home.write("main.c", source)
        try gcc(["-I", "include", "main.c", "-o", "program"])
        let explained = try tweak("explain", "./program", "R/c/v")
        #expect(
            explained.output.hasSuffix(
                "\ndeclared in the definition of LIMIT: \(home("include/limits.h")):1\n"))
        let json = try tweak("explain", "./program", "R/c/v", "--format", "json").json
        let definition = try #require((json["definitions"] as? [[String: Any]])?.first)
        #expect(definition["macro"] as? String == "LIMIT" && definition["line"] as? Int == 1)
        #expect(definition["path"] as? String == home("include/limits.h"))
        func dumped(_ options: String...) throws -> Substring? {
            let dump = Locations.product("tweak-dump")
            let result = try run(dump, options + ["program"], home: home, in: home.path)
            return result.output.split(separator: "\n").last?.drop { $0 == " " }
        }
        #expect(try dumped() == "v     int32  5        main.c:3")
        #expect(
            try dumped("--sources")
                == "v     int32  5        main.c:3 (LIMIT at \(home("include/limits.h")):1)")
        #expect(try tweak("set", "./program", "R/c/v", "7").succeeded)
        let result = try tweak("bake", "./program", "--write")
        #expect(
            result.output
                == "include/limits.h:1: R/c/v: 5 → 7, in the definition of LIMIT\n",
            "\(result.error)")
        #expect(try text("include/limits.h") == header.replacing("5", with: "7"))
        #expect(try text("main.c") == source)
    }

    @Test func `A difference says where it applies`() throws {
        try buildTwo("a", "b")
        let git = try run(Locations.program("git"), ["init", "-q"], home: home, in: home.path)
        try #require(git.succeeded)
        #expect(try tweak("set", "./program", "R/b/v", "9").succeeded)
        #expect(try tweak("bake", "./program").error == "")
        let result = try tweak("bake", "../program", in: "a")
        #expect(
            result.error
                == "tweak: warning: paths are relative to \(home.path); run git apply or patch -p1 there\n")
        try home.write("change.diff", result.output)
        let applied = try run(Locations.program("git"), ["apply", "change.diff"], home: home, in: home.path)
        #expect(applied.succeeded, "\(applied.error)")
        #expect(try text("b/util.c") == Self.source("b", "fb", 9))
    }

    @Test func `A source with two names stays, and so do its owner and mode`() throws {
        try buildTwo("a", "b")
        try #require(link(home("a/util.c"), home("other.c")) == 0)
        #expect(try tweak("set", "./program", "R/a/v", "7").succeeded)
        let result = try tweak("bake", "./program", "--write")
        #expect(result.status == 73 && result.error.contains("it has 2 hard links"))
        #expect(try text("a/util.c") == Self.source("a", "fa", 5))
        unlink(home("other.c"))
        chmod(home("a/util.c"), 0o640)
        if geteuid() == 0 { chown(home("a/util.c"), 4711, 4712) }
        #expect(try tweak("bake", "./program", "--write").succeeded)
        let kept = try run("/usr/bin/stat", ["-c", "%u %a", home("a/util.c")], home: home)
        #expect(kept.output == "\(geteuid() == 0 ? 4711 : geteuid()) 640\n")
    }

    /// Starts a review on a terminal, sends its process a signal while it waits for a key, and returns the settings of the
    /// terminal then.
    private func review(signalled signal: String) throws -> String {
        try buildTwo("a", "b")
        #expect(try tweak("set", "./program", "R/a/v", "7").succeeded)
        // With job control, without which no process of a terminal's session is stopped.
        try home.write(
            "review",
            """
            set -m
            sh -c 'echo $$ > pid.new; mv pid.new pid; exec "\(Locations.product("tweak"))" bake ./program --review'
            stty -a > signalled
            fg
            stty -a > after
            """)
        let script = """
            : > shown
            isReading() { stty -a -F "$(readlink /proc/$(cat pid)/fd/0)" | grep -q -e -icanon; }
            {
              until grep -q 'quit (q)' shown && isReading; do sleep 0.02; done
              kill -\(signal) $(cat pid)
              until [ -s signalled ]; do sleep 0.02; done
              if [ \(signal) = TSTP ]; then
                until isReading; do sleep 0.02; done
                printf q
              fi
              until [ -s after ]; do sleep 0.02; done
            } | script -qfec "sh review" shown
            """
        _ = try run(
            "/bin/sh", ["-c", script], home: home, environment: ["TERM": "xterm", "NO_COLOR": "1"],
            in: home.path)
        return try text("signalled")
    }

    @Test(arguments: ["TERM", "HUP", "TSTP"])
    func `A review gives back the terminal at a signal`(signal: String) throws {
        let settings = try review(signalled: signal).split(whereSeparator: { " ;\n".contains($0) })
        #expect(settings.contains("icanon") && settings.contains("echo") && settings.contains("isig"))
        #expect(try text("a/util.c") == Self.source("a", "fa", 5))
        #expect(try text("after").contains(" icanon"))
    }
}
