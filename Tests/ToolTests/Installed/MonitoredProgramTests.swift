// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A program in C that stores monitors all the time, with the library that is installed or without one.
private final class MonitoredProgram {
    let home: TemporaryDirectory
    let process: RunningCommand

    static let main = """
        #include <fbtweak.h>
        #include <stdio.h>
        #include <unistd.h>
        #ifdef PLUGIN
        #include <dlfcn.h>
        #endif

        int main(void) {
          const fbtweak *load = fbtweak_make_monitor(&(fbtweak_declaration){
              "Motor", "Made", "Load", .default_value = {FBTWEAK_TYPE_FLOAT, {0}}});
        #ifdef PLUGIN
          void *plugin = dlopen(PLUGIN, RTLD_NOW);
        #endif
          for (long turn = 1;; turn++) {
            double gain = FBTweakValue("Motor", "Control", "Gain", 1.0, 0, 10);
            FBTweakMonitor("Motor", "State", "Speed, left", 12.25 * gain, 0, 100, FBTweakUnit("rpm"));
            FBTweakMonitor("Motor", "State", "Phase", 1, FBTweakChoices("idle", "running"));
            FBTweakMonitor("Motor", "State", "Turn", turn);
            fbtweak_store_number(load, 0.5);
            if (turn == 10) {
              puts("runs");
              fflush(stdout);
            }
            usleep(1000);
        #ifdef PLUGIN
            if (plugin && access("close", F_OK) == 0) {
              dlclose(plugin);
              plugin = NULL;
            }
        #endif
          }
        }

        """

    /// - Parameter plugin: The source of a library that it loads, and closes when there is a file `close`.
    init(hasLibrary: Bool = true, plugin: String? = nil) throws {
        home = try TemporaryDirectory()
        try #require(mkdir(home("runtime"), 0o700) == 0)
        let source = try home.write("motor.c", Self.main)
        var flags = ["-I" + (try Installation.path("include"))]
        if let plugin {
            let file = try home.write("plugin.c", plugin)
            let result = try TestSupport.run(
                Locations.program("gcc"),
                ["-std=gnu11", "-DDEBUG", "-shared", "-fPIC", file, "-o", home("plugin.so")] + flags,
                home: home)
            try #require(result.succeeded, "\(result.error)")
            flags.append("-DPLUGIN=\"\(home("plugin.so"))\"")
        }
        flags +=
            hasLibrary
            ? (try Installation.linkerFlags) : ["-static"]
        let result = try TestSupport.run(
            Locations.program("gcc"),
            ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-DDEBUG", source, "-o", home("motor")] + flags,
            home: home)
        try #require(result.succeeded, "\(result.error)")
        process = try start(home("motor"), home: home, in: home.path)
        let process = process
        #expect(waitUntil { process.written.output.contains("runs") })
        let socket = home("runtime/tweaks/\(process.processID).sock")
        if hasLibrary { #expect(waitUntil { FileManager.default.fileExists(atPath: socket) }) }
    }

    deinit { process.kill() }

    func tweak(_ command: String, _ arguments: String...) throws -> CommandResult {
        try TestSupport.run(
            Installation.path("bin/tweak"), [command, "\(process.processID)"] + arguments, home: home)
    }
}

@Suite struct `Programs with monitors` {
    @Test func `Clients see the stored values, and cannot set them`() throws {
        let program = try MonitoredProgram()
        #expect(try program.tweak("get", "Speed").output == "12.25\n")
        #expect(try program.tweak("get", "Phase").output == "1\n")
        #expect(try program.tweak("get", "Load").output == "0.5\n")
        let first = try program.tweak("get", "--raw", "Turn").output
        #expect(waitUntil { (try? program.tweak("get", "--raw", "Turn").output) != first })
        let set = try program.tweak("set", "Speed", "3")
        #expect(set.status == 65)
        #expect(set.error.contains("a monitor is stored by the program"))
        #expect(try program.tweak("list").output.contains("monitor"))
        #expect(try program.tweak("reset", "--all").succeeded)
        #expect(try !program.tweak("export").output.contains("Speed"))
        #expect(try program.tweak("get", "Speed").output == "12.25\n")
    }

    /// What Python's csv module makes of samples: the names, and for each line how many of its fields are numbers.
    private func read(_ path: String, home: TemporaryDirectory) throws -> [String] {
        let script = """
            import csv, sys
            rows = list(csv.reader(open(sys.argv[1], newline="")))
            print("|".join(rows[0]))
            for row in rows[1:]:
                print("|".join(["time" if float(row[0]) > 1.7e9 else "?"] + row[1:]))
            """
        let result = try run(Locations.program("python3"), ["-c", script, path], home: home)
        #expect(result.succeeded, "\(result.error)")
        return result.output.split(separator: "\n").map(String.init)
    }

    @Test(arguments: [true, false])
    func `Samples are written as CSV, with the changes of tweaks among them`(hasLibrary: Bool) throws {
        let program = try MonitoredProgram(hasLibrary: hasLibrary)
        let path = program.home("run.csv")
        let watch = try start(
            Installation.path("bin/tweak"),
            [
                "watch", "\(program.process.processID)", "Speed", "Gain", "--rate", "200", "--format", "csv",
                "--output",
                path,
            ], home: program.home)
        defer { watch.kill() }
        let size = { (try? Data(contentsOf: URL(fileURLWithPath: path)).count) ?? 0 }
        #expect(waitUntil { size() > 1000 })
        #expect(try program.tweak("set", "Gain", "4").succeeded)
        #expect(waitUntil { (try? String(contentsOfFile: path, encoding: .utf8).contains(",49,4,")) == true })
        program.process.kill()
        let result = watch.wait()
        #expect(result.status == 0, "\(result.error)")
        let rows = try read(path, home: program.home)
        #expect(rows.first == "time|Motor/State/Speed, left|Motor/Control/Gain|mark")
        #expect(rows.contains("time|12.25|1|"))
        #expect(rows.contains("time|49|4|"))
        let source = hasLibrary ? "override" : "memory"
        #expect(rows.contains("time|||Motor/Control/Gain: 1.0 → 4.0 (\(source))"))
        #expect(
            Set(rows.dropFirst()).isSubset(of: [
                "time|12.25|1|", "time|12.25|4|", "time|49|1|", "time|49|4|",
                "time|||Motor/Control/Gain: 1.0 → 4.0 (\(source))",
            ]))
    }

    @Test(arguments: [true, false])
    func `All monitors are sampled by default, for the requested time`(hasLibrary: Bool) throws {
        let program = try MonitoredProgram(hasLibrary: hasLibrary)
        let result = try program.tweak("watch", "--rate", "50", "--duration", "1", "--format", "json")
        #expect(result.status == 0, "\(result.error)")
        let objects = try result.lines.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        let values = try #require(objects.first?["values"] as? [String: Double])
        #expect(
            Set(values.keys).isSuperset(of: [
                "Motor/State/Speed, left", "Motor/State/Phase", "Motor/State/Turn",
            ]))
        let turns = objects.compactMap { ($0["values"] as? [String: Double])?["Motor/State/Turn"] }
        #expect(turns == turns.sorted() && turns.first != turns.last)
    }

    @Test func `Closing a library during sampling is harmless`() throws {
        let program = try MonitoredProgram(
            plugin: """
                #include <fbtweak.h>
                __attribute__((constructor)) static void store(void) {
                  FBTweakMonitor("Plugin", "State", "Level", 7);
                }
                """)
        let watch = try start(
            Installation.path("bin/tweak"),
            ["watch", "\(program.process.processID)", "Level", "Turn", "--rate", "500", "--format", "csv"],
            home: program.home)
        defer { watch.kill() }
        #expect(waitUntil { watch.written.output.contains(",7,") })
        try Data().write(to: URL(fileURLWithPath: program.home("close")))
        #expect(waitUntil { watch.written.output.contains(",,") })
        #expect(try program.tweak("get", "Speed").output == "12.25\n")
        #expect(try program.tweak("get", "Level").status == 65)
        program.process.kill()
        #expect(watch.wait().status == 0)
    }

    @Test func `Tweaks that cannot be sampled are reported`() throws {
        let program = try MonitoredProgram()
        let format = try program.tweak("watch", "--rate", "0")
        #expect(format.status == 64 && format.error.contains("and 1000 samples per second"))
        let output = try program.tweak("watch", "Turn", "--output", program.home("missing/run.csv"))
        #expect(output.status == 73 && output.error.contains("No such file"))
        let full = try program.tweak("watch", "Turn", "--output", "/dev/full")
        #expect(full.status == 74 && full.error.contains("No space left"))
    }
}
