// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A program in C with monitors and tweaks whose names and values are hard to show, and the installed library.
final class ViewedProgram: Sendable {
    let home: TemporaryDirectory
    let process: RunningCommand

    static let main = #"""
        #include <fbtweak.h>
        #include <stdio.h>
        #include <unistd.h>

        static volatile double zero;

        int main(void) {
          for (long turn = 1;; turn++) {
            double gain = FBTweakValue("Motor", "PID", "Gain: a,b|c;d", 1.5, 0, 10, FBTweakUnit("%"));
            int on = FBTweakValue("timestamp", "a/b", "On", 1, 0, 1);
            (void)FBTweakValue("Motor", "PID", "Mode", "fast", FBTweakChoices("fast", "slow\\ \"x\"\n"));
            (void)FBTweakValue("Motor", "PID", "Level", 2,
                               FBTweakChoices((1, "low"), (2, "same"), (3, "same")));
            (void)FBTweakValue("Motor", "PID", "Steps", 4, FBTweakChoices(1, 2, 4));
            (void)FBTweakValue("Motor", "PID", "Text", "hello");
            FBTweakMonitor("Motor", "State", "Speed", 12.5 * gain, FBTweakUnit("rpm"));
            FBTweakMonitor("Motor", "State", "Infinite", on / zero);
            FBTweakMonitor("Motor", "State", "Phase", 1, FBTweakChoices("idle", "running", "done"));
            FBTweakMonitor("Motor", "State", "Stray", 7, FBTweakChoices("idle", "running"));
            FBTweakMonitor("changes", "count", "Turn", turn);
            /* MANY */
            if (turn == 10) {
              puts("runs");
              fflush(stdout);
            }
            usleep(1000);
          }
        }

        """#

    /// - Parameter many: The number of further tweaks, `Many/Slots/Slot 0` and so on, whose values are their numbers.
    init(many: Int = 0) throws {
        home = try TemporaryDirectory()
        try #require(mkdir(home("runtime"), 0o700) == 0)
        let slots = (0..<many).map { #"(void)FBTweakValue("Many", "Slots", "Slot \#($0)", \#($0));"# }
        let source = try home.write(
            "motor.c", Self.main.replacingOccurrences(of: "/* MANY */", with: slots.joined(separator: "\n")))
        let result = try run(
            Locations.program("gcc"),
            [
                "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-DDEBUG", source, "-o", home("motor"),
                "-I" + (try Installation.path("include")),
            ] + (try Installation.linkerFlags), home: home)
        try #require(result.succeeded, "\(result.error)")
        process = try start(home("motor"), home: home)
        let (process, socket) = (process, home("runtime/tweaks/\(process.processID).sock"))
        #expect(waitUntil { process.written.output.contains("runs") })
        #expect(waitUntil { FileManager.default.fileExists(atPath: socket) })
    }

    deinit { if process.isRunning { process.kill() } }

    func tweak(_ command: String, _ arguments: [String]) throws -> CommandResult {
        try run(Locations.product("tweak"), [command, "\(process.processID)"] + arguments, home: home)
    }

    /// Starts `tweak watch`.
    func watch(_ arguments: [String]) throws -> RunningCommand {
        try start(Locations.product("tweak"), ["watch", "\(process.processID)"] + arguments, home: home)
    }
}
