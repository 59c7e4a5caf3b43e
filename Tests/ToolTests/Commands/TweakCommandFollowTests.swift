// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A running program in C whose source is edited, with the library or without it.
private final class EditedProgram {
    let home: TemporaryDirectory
    let process: RunningCommand

    /// Prints its gain whenever it changes.
    static let source = #"""
        #include <fbtweak.h>
        #include <stdio.h>
        #include <unistd.h>

        int main(void) {
          double last = 0;
          for (;;) {
            double gain = FBTweakValue("Motor", "Control", "Gain", 1.50, 0, 10);
            int limit = FBTweakValue("Motor", "Control", "Limit", 3, FBTweakNeedsRestart);
            if (gain != last)
              printf("gain %g %d\n", last = gain, limit);
            fflush(stdout);
            usleep(1000);
          }
        }

        """#

    init(hasLibrary: Bool = true) throws {
        home = try TemporaryDirectory()
        try #require(mkdir(home("runtime"), 0o700) == 0)
        try home.write("motor.c", Self.source)
        var flags = ["-I" + (try Installation.path("include"))]
        if hasLibrary {
            flags += try Installation.linkerFlags
        }
        let gcc = try run(
            Locations.program("gcc"), ["-std=gnu11", "-DDEBUG", "motor.c", "-o", "motor"] + flags, home: home,
            in: home.path)
        try #require(gcc.succeeded, "\(gcc.error)")
        process = try start(home("motor"), home: home, in: home.path)
        let socket = home("runtime/tweaks/\(process.processID).sock")
        if hasLibrary { #expect(waitUntil { FileManager.default.fileExists(atPath: socket) }) }
        expect("gain 1.5 3")
    }

    deinit { process.kill() }

    func tweak(_ command: String, _ arguments: String...) throws -> CommandResult {
        try run(
            Locations.product("tweak"), [command, "\(process.processID)"] + arguments, home: home,
            in: home.path)
    }

    /// Starts following, and returns when it follows.
    func follow(_ arguments: String...) throws -> RunningCommand {
        let follow = try start(
            Locations.product("tweak"), ["follow", "\(process.processID)"] + arguments, home: home,
            in: home.path)
        #expect(waitUntil { follow.written.error.contains("following 2 tweaks in 1 file\n") })
        return follow
    }

    func save(_ former: String, _ new: String) throws {
        try home.write("motor.c", Self.source.replacing(former, with: new))
    }

    /// Waits until the program has printed a line.
    func expect(_ line: String, _ location: SourceLocation = #_sourceLocation) {
        let process = process
        #expect(
            waitUntil { process.written.output.hasSuffix(line + "\n") },
            "\(process.written.output)", sourceLocation: location)
    }
}

@Suite struct `tweak follow` {
    @Test func `An edited literal is in the program until it ends`() throws {
        let program = try EditedProgram()
        let follow = try program.follow()
        try program.save("1.50", "2.25")
        program.expect("gain 2.25 3")
        #expect(try program.tweak("list").output.contains("a lease of tweak \(follow.processID) "))
        try program.save("1.50", "1.50 0")
        try program.save("1.50", "12.5")
        #expect(waitUntil { follow.written.error.contains("12.5 is outside the limits") })
        try program.save("1.50", "4")
        program.expect("gain 4 3")
        #expect(
            waitUntil {
                follow.written.output == """
                    motor.c:8: Motor/Control/Gain: 1.5 → 2.25
                    motor.c:8: Motor/Control/Gain: 2.25 → 4.0

                    """
            })
        // However it ends.
        follow.kill()
        _ = follow.wait()
        program.expect("gain 1.5 3")
        #expect(!FileManager.default.fileExists(atPath: program.home("config/tweaks/motor/overrides.json")))
    }

    @Test func `It begins with what was edited before, and ends with the program`() throws {
        let program = try EditedProgram()
        try program.save("1.50", "2.25")
        let follow = try program.follow("--format", "json")
        program.expect("gain 2.25 3")
        #expect(waitUntil { follow.written.output.hasSuffix("}\n") })
        program.process.kill()
        let result = follow.wait()
        #expect(result.status == 0)
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        #expect(
            json["tweak"] as? String == "Motor/Control/Gain" && json["declared"] as? String == "motor.c:8")
        #expect(json["oldValue"] as? Double == 1.5 && json["newValue"] as? Double == 2.25)
    }

    @Test func `An override is mentioned, and takes effect again`() throws {
        let program = try EditedProgram()
        #expect(try program.tweak("set", "Gain", "3").succeeded)
        let follow = try program.follow()
        try program.save("1.50", "2.25")
        program.expect("gain 2.25 3")
        #expect(
            waitUntil {
                follow.written.error.contains("Motor/Control/Gain: its override 3.0 takes effect again")
            })
        follow.kill()
        _ = follow.wait()
        program.expect("gain 3 3")
    }

    @Test func `A value that is baked while it follows can still be set`() throws {
        let program = try EditedProgram()
        let follow = try program.follow()
        #expect(try program.tweak("set", "Gain", "3").succeeded)
        #expect(try program.tweak("bake", "--write").output == "motor.c:8: Motor/Control/Gain: 1.50 → 3.0\n")
        #expect(try program.tweak("set", "Gain", "5").succeeded)
        program.expect("gain 5 3")
        follow.kill()
        #expect(follow.wait().output == "")
    }

    @Test func `A tweak that needs a restart cannot follow`() throws {
        let program = try EditedProgram()
        let follow = try program.follow()
        try program.save("\"Limit\", 3", "\"Limit\", 4")
        #expect(waitUntil { follow.written.error.contains("motor.c:9: Motor/Control/Limit: ") })
        follow.kill()
        _ = follow.wait()
    }

    @Test func `What is edited while the program is stopped waits`() throws {
        let program = try EditedProgram()
        let follow = try program.follow()
        program.process.pause()
        try program.save("1.50", "2.25")
        #expect(waitUntil { follow.written.error.contains("edits wait until it responds") })
        try program.save("1.50", "2.5")
        program.process.resume()
        program.expect("gain 2.5 3")
        follow.kill()
        _ = follow.wait()
    }

    @Test func `Without the library the value lasts until the process ends`() throws {
        let program = try EditedProgram(hasLibrary: false)
        let follow = try program.follow()
        try program.save("1.50", "2.25")
        program.expect("gain 2.25 3")
        program.process.kill()
        let result = follow.wait()
        #expect(result.status == 0)
        #expect(result.output == "motor.c:8: Motor/Control/Gain: 1.5 → 2.25\n")
    }

    @Test func `The sources may be elsewhere`() throws {
        let program = try EditedProgram()
        let elsewhere = try TemporaryDirectory()
        func follow(_ arguments: String...) throws -> RunningCommand {
            try start(
                Locations.product("tweak"), ["follow", "\(program.process.processID)"] + arguments,
                home: program.home, in: elsewhere.path)
        }
        let without = try follow().wait()
        #expect(without.status == 66 && without.error.contains("give the source folder with --from"))
        let with = try follow("--from", program.home.path)
        #expect(waitUntil { with.written.error.contains("following 2 tweaks in 1 file\n") })
        try program.save("1.50", "2.25")
        program.expect("gain 2.25 3")
        with.kill()
        _ = with.wait()
    }

    @Test func `A program that does not run has nothing to follow`() throws {
        let program = try EditedProgram()
        program.process.kill()
        _ = program.process.wait()
        let result = try run(
            Locations.product("tweak"), ["follow", program.home("motor")], home: program.home,
            in: program.home.path)
        #expect(result.status == 69)
    }
}
