// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `Adopted variables beside declared tweaks` {
    private let program: BareProgram

    /// Prints its values whenever they are others.
    private static let source = #"""
        #include <fbtweak.h>
        #include <stdio.h>
        #include <string.h>
        #include <unistd.h>

        volatile double gravity = 9.81;
        static volatile int level = 3;
        volatile long turns;

        int main(void) {
          char last[500] = "";
          for (;;) {
            char line[500];
            double gain = FBTweakValue("Motor", "Control", "Gain", 2.5, 0, 10);
            FBTweakMonitor("Motor", "State", "Turns", turns);
            snprintf(line, sizeof(line), "%g %g %d", gain, gravity, level);
            if (strcmp(line, last) != 0)
              puts(strcpy(last, line));
            fflush(stdout);
            usleep(1000);
            turns++;
          }
        }

        """#
    private static let defaults = "2.5 9.81 3"

    init() throws {
        let folder = try Installation.path("lib")
        program = try BareProgram(
            named: "motor", Self.source,
            compiling: [
                "-g", "-O2", "-Wl,--no-as-needed", "-L\(folder)", "-ltweaks", "-Wl,-rpath,\(folder)",
            ])
        let adopted = try program.command(["adopt", program.path, "gravity", "level", "--in", "0..30"])
        #expect(
            adopted.output == """
                Variables/bare.c/gravity: gravity, volatile double
                Variables/bare.c/level: level, volatile int

                """)
        let monitor = ["--monitor", "--name", "Motor/State/RawTurns"]
        #expect(try program.command(["adopt", program.path, "turns"] + monitor).succeeded)
        // For the socket.
        try FileManager.default.createDirectory(
            atPath: program.home("runtime"), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try program.start()
        program.expect(Self.defaults)
        // The socket is there soon after the first line.
        #expect(try waitUntil { try program.command(["ps"]).output.contains("\(program.pid) ") })
    }

    @Test func `are listed, set and reset with them`() throws {
        let names = try program.tweak("list").output.split(separator: "\n").compactMap {
            $0.split(separator: " ").first
        }
        #expect(["Gain", "Turns", "RawTurns", "gravity", "level"].allSatisfy { names.contains($0) })
        let set = try program.tweak("set", "gravity", "3.5", "Gain", "4", "level", "40")
        #expect(set.succeeded && !set.error.contains("lasts for this run only"))
        program.expect("4 3.5 30")
        #expect(try program.tweak("get", "gravity").output == "3.5\n")
        #expect(try program.tweak("explain", "gravity").output.contains("from override"))
        let overrides = try String(
            contentsOfFile: program.home("config/tweaks/motor/overrides.json"), encoding: .utf8)
        #expect(overrides.contains("Gain") && overrides.contains("gravity"))
        #expect(try program.tweak("reset", "Variables/").succeeded)
        program.expect("4 9.81 3")
        #expect(try program.tweak("set", "level", "7").succeeded)
        #expect(try program.tweak("reset", "--all").succeeded)
        program.expect(Self.defaults)
    }

    @Test func `are in presets`() throws {
        #expect(try program.tweak("set", "gravity", "3.5", "Gain", "4").succeeded)
        #expect(try program.command(["preset", "save", "\(program.pid)", "moon"]).succeeded)
        #expect(try program.tweak("reset", "--all").succeeded)
        program.expect(Self.defaults)
        #expect(try program.command(["preset", "load", "\(program.pid)", "moon"]).succeeded)
        program.expect("4 3.5 3")
    }

    @Test func `are set for a time with them`() throws {
        let result = try program.tweak("set", "gravity", "1", "Gain", "5", "--while", "--", "true")
        #expect(result.succeeded)
        program.expect(Self.defaults)
        #expect(try program.tweak("set", "gravity", "1", "--ramp", "0.1s").succeeded)
        program.expect("2.5 1 3")
    }

    @Test func `are sampled with them`() throws {
        let watched = try program.tweak(
            "watch", "Turns", "RawTurns", "gravity", "Gain", "--rate", "100", "--duration", "1", "--format",
            "csv")
        #expect(
            watched.lines.first
                == "time,Motor/State/Turns,Motor/State/RawTurns,Variables/bare.c/gravity,Motor/Control/Gain,mark"
        )
        let rows = watched.lines.dropFirst().map { $0.split(separator: ",") }
        #expect(rows.count > 2)
        let numbers = rows.map { $0.dropFirst().prefix(4).compactMap { Double($0) } }
        #expect(numbers.allSatisfy { $0.count == 4 && $0[2] == 9.81 && $0[3] == 2.5 })
        for column in 0...1 {
            let turns = numbers.compactMap { $0.count == 4 ? $0[column] : nil }
            #expect(turns == turns.sorted() && turns.last ?? 0 > turns.first ?? 0)
        }
    }

    @Test func `are tried by a sweep, and back at its end`() throws {
        let result = try program.tweak(
            "sweep", "level=1..3/3", "Gain=1,2", "--measure", "mean(level)", "--settle", "0.02s", "--for",
            "0.05s",
            "--maximize")
        #expect(result.succeeded, "\(result.error)")
        #expect(result.output.contains(#/3 +[12]\.0 +3 /#), "\(result.output)")
        program.expect(Self.defaults)
    }

    @Test func `are changed and sampled by the page with them`() throws {
        let page = try ServedPage(home: program.home)
        let events = try page.events()
        let id = try page.id(ofProcess: program.pid)
        let stream = try events.stream()
        let gravity = "Variables/bare.c/gravity"
        let tweaks =
            try page.api("tweaks", ["program": id, "stream": stream]).json["tweaks"] as? [[String: Any]]
        let names = tweaks?.compactMap { $0["tweak"] as? String } ?? []
        #expect(names.contains(gravity) && names.contains("Motor/Control/Gain"))
        let values: [[String: Any]] = [
            ["tweak": gravity, "value": 3.5], ["tweak": "Motor/Control/Gain", "value": 4],
        ]
        let answer = try page.api("set", ["program": id, "stream": stream, "values": values])
        #expect(answer.status == 200, "\(answer.body)")
        program.expect("4 3.5 3")
        _ = try events.change(of: gravity, to: 3.5)
        // Also what somebody else sets.
        #expect(try program.tweak("set", "gravity", "1.5").succeeded)
        _ = try events.change(of: gravity, to: 1.5)
        _ = try page.api(
            "watch",
            ["program": id, "stream": stream, "tweaks": [gravity, "Motor/State/Turns"], "rate": 100])
        _ = try events.first("samples") { event in
            let values = event["values"] as? [[Double]] ?? []
            return values.count == 2 && values[0].last == 1.5 && (values[1].last ?? 0) > 0
        }
        _ = try page.api("reset", ["program": id, "stream": stream, "tweaks": [gravity]])
        program.expect("4 9.81 3")
    }
}
