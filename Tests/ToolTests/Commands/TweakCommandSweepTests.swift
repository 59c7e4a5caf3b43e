// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A program in C that reports how far its tweaks are from the best values, with the library or without it.
private final class SweptProgram {
    let home: TemporaryDirectory
    let process: RunningCommand

    /// Prints the time in milliseconds for which the gain was 9. While there is a file `closed` it does not pass the gate.
    private static let source = """
        #include <fbtweak.h>
        #include <stdio.h>
        #include <time.h>
        #include <unistd.h>

        static double now(void) {
          struct timespec time;
          clock_gettime(CLOCK_MONOTONIC, &time);
          return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
        }

        int main(void) {
          double start = 0;
          for (;;) {
            if (access("closed", F_OK) != 0)
              FBTweakGate("Gated");
            double gain = FBTweakValue("Motor", "Control", "Gain", 1.0, 0, 10);
            int count = FBTweakValue("Motor", "Control", "Count", 3, 0, 10);
            const char *mode =
                FBTweakValue("Motor", "Control", "Mode", "soft", FBTweakChoices("soft", "hard"));
            (void)FBTweakValue("Motor", "Control", "Buffers", 4, 1, 16, FBTweakNeedsRestart);
            double gated = FBTweakValue("Gated", "Control", "P", 1.0, 0, 10);
            double error = (gain - 4) * (gain - 4) + (count - 5) * (count - 5);
            FBTweakMonitor("Motor", "State", "Error", error + (gated - 3) * (gated - 3) + (mode[0] == 's'));
            FBTweakMonitor("Motor", "State", "Speed", gain * 1000);
            FBTweakMonitor("Motor", "State", "Ratio", gain > 2 ? 1.0 / 0.0 - 1.0 / 0.0 : gain);
            if (gain == 9 && start == 0)
              start = now();
            if (gain != 9 && start != 0) {
              printf("%.0f\\n", now() - start);
              fflush(stdout);
              start = 0;
            }
            usleep(500);
          }
        }

        """

    init(hasLibrary: Bool = true) throws {
        home = try TemporaryDirectory()
        try #require(mkdir(home("runtime"), 0o700) == 0)
        try Self.compile(
            [home.write("motor.c", Self.source)], to: home("motor"), home, hasLibrary: hasLibrary)
        process = try start(home("motor"), home: home, in: home.path)
        let socket = home("runtime/tweaks/\(process.processID).sock")
        if hasLibrary { #expect(waitUntil { FileManager.default.fileExists(atPath: socket) }) }
    }

    deinit { process.kill() }

    static func compile(
        _ sources: [String], to path: String, _ home: TemporaryDirectory, hasLibrary: Bool = true,
        _ flags: [String] = []
    ) throws {
        let link =
            hasLibrary
            ? (try Installation.linkerFlags) : ["-static"]
        let include = "-I" + (try Installation.path("include"))
        let result = try run(
            Locations.program("gcc"),
            ["-std=gnu11", "-O2", "-DDEBUG", include] + flags + sources + ["-o", path] + link + ["-lm"],
            home: home)
        try #require(result.succeeded, "\(result.error)")
    }

    func tweak(_ command: String, _ arguments: String...) throws -> CommandResult {
        try run(
            Locations.product("tweak"), [command, "\(process.processID)"] + arguments, home: home,
            in: home.path)
    }

    func sweep(_ arguments: [String]) throws -> CommandResult {
        try run(
            Locations.product("tweak"), ["sweep", "\(process.processID)"] + arguments, home: home,
            in: home.path)
    }

    func preset(_ command: String, _ arguments: String...) throws -> CommandResult {
        try run(
            Locations.product("tweak"), ["preset", command, "\(process.processID)"] + arguments, home: home)
    }

    func startSweep(_ arguments: String...) throws -> RunningCommand {
        try start(
            Locations.product("tweak"), ["sweep", "\(process.processID)"] + arguments, home: home,
            in: home.path)
    }

    func value(_ name: String) throws -> String { try tweak("get", name).output }

    /// The values before any sweep.
    func expectDefaults(_ location: SourceLocation = #_sourceLocation) throws {
        #expect(try value("Gain") == "1.0\n" && value("Count") == "3\n", sourceLocation: location)
        #expect(try value("Gated/Control/P") == "1.0\n", sourceLocation: location)
        #expect(
            !FileManager.default.fileExists(atPath: home("config/tweaks/motor/overrides.json")),
            sourceLocation: location)
    }
}

@Suite struct `tweak sweep` {
    @Test(arguments: [true, false])
    func `finds the best value, and puts the old one back`(hasLibrary: Bool) throws {
        let program = try SweptProgram(hasLibrary: hasLibrary)
        let result = try program.tweak(
            "sweep", "Gain=2..6/5", "Mode", "--measure", "max(State/Error)", "--for", "50ms", "--settle",
            "0.1")
        #expect(result.succeeded, "\(result.error)")
        #expect(result.lines.first == "max(State/Error), lower is better")
        let rows = result.lines.dropFirst().map { $0.split(separator: " ") }
        #expect(rows.first?.prefix(5) == ["Gain", "Mode", "RESULT", "SD", "RUNS"])
        #expect(rows.dropFirst().first?.prefix(3) == ["4.0", "\"hard\"", "8"])
        #expect(rows.dropFirst().first?.last == "best")
        // Ten points, and the values before.
        #expect(rows.count == 12)
        try program.expectDefaults()
    }

    @Test func `searches several tweaks, behind a gate too, and keeps the best if that is asked for`() throws
    {
        let program = try SweptProgram()
        let result = try program.tweak(
            "sweep", "Gain=2..9/8", "P=1..4/4", "Mode", "Count", "--search", "--trials", "80", "--measure",
            "Error", "--for", "20ms", "--settle", "0.1", "--keep", "best", "--preset", "good")
        #expect(
            result.succeeded && result.error.contains("kept: Gain=4.0 P=3.0 Mode=hard Count=5"),
            "\(result.output)\(result.error)")
        #expect(try program.value("Gain") == "4.0\n" && program.value("Mode") == "hard\n")
        #expect(try program.value("Gated/Control/P") == "3.0\n" && program.value("Count") == "5\n")
        #expect(try program.tweak("list").output.contains("lease") == false)
        #expect(try program.preset("diff", "good").output == "no differences\n")
    }

    @Test func `keeps nothing that is not better`() throws {
        let program = try SweptProgram()
        let result = try program.tweak(
            "sweep", "Gain=8,9", "--measure", "Error", "--for", "20ms", "--settle", "0.1", "--keep", "best",
            "--preset", "bad")
        #expect(result.status == 3 && result.error.contains("nothing is kept"))
        // Both are worse, and so their differences are above 0.
        let changes = result.lines.filter { $0.contains("[+") && !$0.hasSuffix("best") }
        #expect(!changes.isEmpty && !result.output.contains("[-"), "\(result.output)")
        try program.expectDefaults()
        #expect(try program.preset("list").output.contains("no presets"))
    }

    /// The results are the same at each run of the test, so that there is no chance of a difference.
    @Test func `finds no difference in noise, and says how sure that is`() throws {
        let program = try SweptProgram()
        var random = SeededGenerator(seed: 1)
        let noise = (0..<1000).map { _ in "\(Int.random(in: 1...1000, using: &random))" }
        try program.home.write("noise", noise.joined(separator: "\n"))
        let sweep = [
            "Gain=1..5/5", "--confidence", "99.9", "--command", "head -n 1 noise && sed -i 1d noise",
            "--value-from", "[0-9]+",
        ]
        let result = try program.sweep(sweep + ["--keep", "best"])
        #expect(result.status == 3 && result.error.contains("beyond the noise (confidence 99.9 %)"))
        let report = try program.sweep(sweep + ["--format", "json"]).json
        #expect(report["isImproved"] as? Bool == false && report["best"] == nil)
        #expect(report["confidence"] as? Double == 99.9)
        let points = try #require(report["points"] as? [[String: Any]])
        let intervals = points.compactMap { $0["difference"] as? [String: Double] }
        #expect(!intervals.isEmpty)
        for interval in intervals { #expect(interval["low"] ?? 0 < 0 && interval["high"] ?? 0 > 0) }
        try program.expectDefaults()
    }

    @Test func `has CSV and JSON forms`() throws {
        let program = try SweptProgram()
        let file = program.home("sweep.csv")
        let json = try program.tweak(
            "sweep", "Gain=2..4/3", "--measure", "last(Error)", "--for", "20ms", "--settle", "0.1",
            "--repeat",
            "2", "--format", "json", "--output", file
        ).json
        #expect(json["measure"] as? String == "last(Error)" && json["isComplete"] as? Bool == true)
        let best = try #require(json["best"] as? [String: Any])
        #expect(best["values"] as? [String: Double] == ["Motor/Control/Gain": 4])
        // Twice, and in four rounds.
        #expect(best["runs"] as? Int == 6 && best["deviation"] as? Double == 0)
        let difference = try #require(best["difference"] as? [String: Double])
        for value in difference.values { #expect(abs(value + 9) < 1e-6) }
        #expect((json["points"] as? [Any])?.count == 4)
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.first == "time,purpose,Motor/Control/Gain,result")
        #expect(lines.count { $0.contains(",trial,") } == 6)
        // Three points in two rounds, and two in two more.
        #expect(lines.count { $0.contains(",final,") } == 10)
        #expect(lines.contains { $0.hasSuffix(",reference,1.0,17.0") || $0.hasSuffix(",reference,1.0,18.0") })
        let csv = try program.tweak(
            "sweep", "Count=1,2", "--measure", "Error", "--for", "20ms", "--settle", "0.1", "--format", "csv",
            "--reference", "0"
        )
        // With the values before in each round of the comparison.
        #expect(csv.lines.count == 1 + 2 + 2 * 3 + 2 * 2)
    }

    @Test func `leaves out points that cannot be measured`() throws {
        let program = try SweptProgram()
        let result = try program.tweak(
            "sweep", "Gain=1..4/4", "--measure", "Ratio", "--for", "20ms", "--settle", "0.1", "--maximize")
        #expect(result.succeeded && result.error.contains("Gain=3.0: Motor/State/Ratio is NaN"))
        #expect(result.lines.dropFirst(2).first?.hasPrefix("2.0 ") == true)
        #expect(result.lines.count { $0.hasSuffix("failed") } == 2)
    }

    /// In samples, because nobody knows how busy the machine is.
    @Test(arguments: [true, false])
    func `puts everything back within two samples when a guard is breached`(hasLibrary: Bool) throws {
        let program = try SweptProgram(hasLibrary: hasLibrary)
        let (rate, period) = ("0.5", 2000.0)
        let result = try program.tweak(
            "sweep", "Gain=2,9", "--measure", "Error", "--for", "2s", "--reference", "0", "--guard",
            "Speed<8000", "--rate", rate, "--keep", "best")
        #expect(result.status == 1)
        #expect(result.error.contains("the guard Speed<8000 is breached: Motor/State/Speed is 9000"))
        #expect(result.output.contains("2.0"))
        #expect(waitUntil { !program.process.written.output.isEmpty })
        let time = try #require(Double(program.process.written.output.split(separator: "\n").first ?? ""))
        #expect(time < 2 * period)
        try program.expectDefaults()
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `puts everything back at a signal, and shows what it has`(number: Int32) throws {
        let program = try SweptProgram()
        let file = program.home("sweep.csv")
        let sweep = try program.startSweep(
            "Gain=2..6/50", "--measure", "Error", "--for", "0.3", "--keep", "best", "--output", file)
        #expect(
            waitUntil { (try? String(contentsOfFile: file, encoding: .utf8))?.contains(",trial,") == true })
        kill(sweep.processID, number)
        let result = sweep.wait()
        #expect(result.status == 128 + number && result.error.contains("interrupted"))
        #expect(result.output.contains("RESULT"))
        try program.expectDefaults()
    }

    @Test(arguments: [true, false]) func `leaves no value when it is killed at any moment`(hasLibrary: Bool)
        throws
    {
        let program = try SweptProgram(hasLibrary: hasLibrary)
        var random = SeededGenerator(seed: 9)
        for _ in 1...(isLong ? 300 : 5) {
            let sweep = try program.startSweep(
                "Gain=2..6/20", "Count=4..8/5", "--measure", "Error", "--for", "5ms", "--shuffle")
            usleep(UInt32.random(in: 0...300_000, using: &random))
            sweep.kill()
            while sweep.isRunning { usleep(500) }
            #expect(
                try waitUntil { try program.value("Gain") == "1.0\n" && program.value("Count") == "3\n" })
        }
        try program.expectDefaults()
    }

    @Test func `ends with the program`() throws {
        let program = try SweptProgram()
        let file = program.home("sweep.csv")
        let sweep = try program.startSweep(
            "Gain=2..6/50", "--measure", "Error", "--for", "0.3", "--output", file)
        #expect(
            waitUntil { (try? String(contentsOfFile: file, encoding: .utf8))?.contains(",trial,") == true })
        program.process.kill()
        let result = sweep.wait()
        #expect(result.status == 69 && result.output.contains("RESULT"))
    }

    @Test func `does not measure while a gate holds the values back`() throws {
        let program = try SweptProgram()
        _ = try program.home.write("closed", "")
        let result = try program.tweak("sweep", "P=2..4/3", "--measure", "Error", "--for", "20ms")
        #expect(result.status == 69 && result.error.contains("waits for the gate Gated"))
        unlink(program.home("closed"))
        #expect(try waitUntil { try program.value("Gated/Control/P") == "1.0\n" })
    }

    @Test func `leaves a value that somebody has set meanwhile`() throws {
        let program = try SweptProgram()
        let sweep = try program.startSweep("Gain=2..6/50", "--measure", "Error", "--for", "0.3")
        #expect(try waitUntil { try program.value("Gain") != "1.0\n" })
        #expect(try program.tweak("set", "Gain", "7").succeeded)
        kill(sweep.processID, SIGINT)
        #expect(sweep.wait().status == 128 + SIGINT)
        #expect(try program.value("Gain") == "7.0\n")
    }

    // MARK: Commands

    @Test func `measures a number that a command prints, for tweaks that need a restart`() throws {
        let program = try SweptProgram()
        let result = try program.tweak(
            "sweep", "Buffers=1..8/8", "Gain=2,3", "--maximize", "--value-from", #""Buffers":([0-9]+)"#,
            "--command", #"echo '"Buffers":99'; echo "$TWEAKS""#)
        #expect(result.succeeded, "\(result.error)")
        #expect(result.lines.dropFirst(2).first?.split(separator: " ").prefix(3) == ["8", "2.0", "8"])
        try program.expectDefaults()
        let refused = try program.tweak("sweep", "Buffers", "--measure", "Error")
        #expect(refused.status == 65 && refused.error.contains("it takes effect at the next start"))
    }

    @Test func `leases the values in a running program while a command runs`() throws {
        let program = try SweptProgram()
        let get = "\(Locations.product("tweak")) get \(program.process.processID) Error"
        let result = try program.tweak(
            "sweep", "Gain=2..6/5", "--command", get, "--value-from", "[0-9.]+", "--settle", "50ms")
        #expect(result.succeeded && result.lines.dropFirst(2).first?.hasPrefix("4.0 ") == true, "\(result)")
        try program.expectDefaults()
    }

    @Test func `keeps values for the next start of a program that is not running`() throws {
        let program = try SweptProgram()
        program.process.kill()
        _ = program.process.wait()
        let arguments = [
            "sweep", program.home("motor"), "Buffers=1,2,3", "--command",
            #"case $TWEAKS in *'"Buffers":2'*) sleep 0.01;; *) sleep 0.6;; esac"#,
        ]
        let command = { try run(Locations.product("tweak"), $0, home: program.home) }
        let result = try command(arguments + ["--keep", "best"])
        #expect(result.succeeded && result.error == "tweak: kept: Buffers=2\n", "\(result)")
        #expect(try command(["get", program.home("motor"), "Buffers"]).output == "2\n")
        #expect(try command(Array(arguments[..<2]) + ["Gain=2,3", "--measure", "Error"]).status == 69)
    }

    @Test func `ends a command, and what it has started, at a signal`() throws {
        let program = try SweptProgram()
        let sweep = try program.startSweep(
            "Gain=2,3", "--command", "echo $$ > group; sleep 1000; true")
        var group: Int32 = 0
        #expect(
            waitUntil {
                let text = (try? String(contentsOfFile: program.home("group"), encoding: .utf8)) ?? ""
                group = Int32(text.dropLast()) ?? 0
                return group > 0
            })
        kill(sweep.processID, SIGTERM)
        #expect(sweep.wait().status == 128 + SIGTERM)
        #expect(waitUntil { kill(-group, 0) != 0 })
        try program.expectDefaults()
    }

    @Test func `guards a program while a command runs`() throws {
        let program = try SweptProgram()
        let result = try program.tweak(
            "sweep", "Gain=2,9", "--command", #"case $TWEAKS in *9*) sleep 100;; esac"#, "--guard",
            "Speed<=2*4e3")
        #expect(result.status == 1 && result.error.contains("the guard Speed<=2*4e3 is breached"))
        try program.expectDefaults()
    }

    @Test func `says why a command has no result`() throws {
        let program = try SweptProgram()
        let failing = try program.tweak("sweep", "Gain=2,3", "--command", "exit 3")
        #expect(failing.status == 70)
        #expect(
            failing.error.contains("with the values before the sweep, the command exited with status 3"))
        let silent = try program.tweak(
            "sweep", "Gain=2,3", "--command", "echo hello", "--value-from", "[0-9]+")
        #expect(
            silent.status == 70 && silent.error.contains("nothing that the command printed matches [0-9]+"))
        let malformed = try program.tweak("sweep", "Gain=2,3", "--command", "true", "--value-from", "(")
        #expect(malformed.status == 64 && malformed.error.contains("--value-from: (: "))
        try program.expectDefaults()
    }

    @Test func `refuses an expression that may never end, and ends a long search at a signal`() throws {
        let program = try SweptProgram()
        let backtracking = try program.tweak(
            "sweep", "Gain=2,3", "--command", "true", "--value-from", #"(a*)*\1\1\1([0-9])"#)
        #expect(backtracking.status == 64 && backtracking.error.contains(#"\1 is a back-reference"#))
        // A search of the square of the output.
        let sweep = try program.startSweep(
            "Gain=2,3", "--command", "head -c 4000000 /dev/zero | tr '\\0' a; touch printed", "--value-from",
            "a.*b|a")
        #expect(waitUntil { FileManager.default.fileExists(atPath: program.home("printed")) })
        kill(sweep.processID, SIGTERM)
        #expect(sweep.wait().status == 128 + SIGTERM)
        try program.expectDefaults()
    }

    // MARK: Mistakes

    @Test func `refuses what cannot be swept`() throws {
        let program = try SweptProgram()
        let refusals: [([String], Int32)] = [
            (["Gain"], 64), (["Gain", "--measure", "Error", "--command", "true"], 64),
            (["Gain", "--measure", "Error", "--search", "--random"], 64),
            (["Gain", "--measure", "Error", "--trials", "5"], 64),
            (["Gain", "--measure", "Error", "--repeat", "0"], 64),
            (["Gain", "--measure", "Error", "--confidence", "100"], 64),
            (["Gain", "--measure", "Error", "--budget", "x"], 64),
            (["Gain", "--measure", "Error", "--value-from", "x"], 64),
            (["Gain", "--measure", "Error", "--guard", "Speed"], 64),
            (["Gain", "--measure", "Error", "--guard", "Speed<def"], 64),
            (["Gain", "--measure", "Error", "--guard", "Sped<1"], 65),
            (["Gain", "--measure", "Errr"], 65), (["Gain", "--measure", "average(Error)"], 65),
            (["Gain=1", "--measure", "Error"], 64), (["Gain=2..1", "--measure", "Error"], 64),
            (["Gain=1..2/1", "--measure", "Error"], 64), (["Gain=a..b", "--measure", "Error"], 65),
            (["Mode=soft,fast", "--measure", "Error"], 65), (["Error=1..2", "--measure", "Error"], 65),
            (["Gain", "Control/Gain", "--measure", "Error"], 64), (["Gian", "--measure", "Error"], 65),
            (["Gain=1..2/200", "Count=1..9/9", "P=1..2/200", "--measure", "Error"], 64),
        ]
        for (arguments, status) in refusals {
            let result = try run(
                Locations.product("tweak"), ["sweep", "\(program.process.processID)"] + arguments,
                home: program.home)
            #expect(
                result.status == status && result.output.isEmpty && !result.error.isEmpty,
                "\(arguments): \(result)")
        }
        try program.expectDefaults()
    }

    // MARK: The example

    @Test func `finds the best damping of the example's spring`() throws {
        let home = try TemporaryDirectory()
        try #require(mkdir(home("runtime"), 0o700) == 0)
        let physics = Locations.package + "/tools/example/SpringPhysics/Sources/SpringPhysics"
        try SweptProgram.compile(
            [Locations.package + "/tools/python/tests/trial.c", physics + "/spring_physics.c"],
            to: home("trial"), home, ["-I\(physics)/include"])
        let trial = try start(home("trial"), home: home)
        defer { trial.kill() }
        let socket = home("runtime/tweaks/\(trial.processID).sock")
        #expect(waitUntil { FileManager.default.fileExists(atPath: socket) })
        func sweep(_ arguments: String...) throws -> [String: Any] {
            let command = ["sweep", "\(trial.processID)"] + arguments
            return try run(
                Locations.product("tweak"),
                command + [
                    "--measure", "last(Badness)", "--for", "40ms", "--settle", "20ms", "--format", "json",
                ],
                home: home
            ).json
        }
        let grid = try sweep(isLong ? "Damping=10..22/121" : "Damping=12..20/9")
        let ideal = try #require((grid["best"] as? [String: Any])?["mean"] as? Double)
        for seed in 1...(isLong ? 20 : 1) {
            let found = try sweep("Damping", "--search", "--trials", "60", "--seed", "\(seed)")
            #expect(try #require((found["best"] as? [String: Any])?["mean"] as? Double) <= 1.05 * ideal)
        }
    }
}
