// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A program in C with a loop and a gate, with the library that is installed or without one.
private final class GatedProgram {
    let home: TemporaryDirectory
    let process: RunningCommand

    /// Prints its values whenever they change. While there is a file `closed` it does not pass the gate.
    static let source = #"""
        #include <fbtweak.h>
        #include <signal.h>
        #include <stdio.h>
        #include <string.h>
        #include <sys/prctl.h>
        #include <unistd.h>
        #ifdef PLUGIN
        #include <dlfcn.h>
        #endif

        extern char __start_fbtweak[], __stop_fbtweak[];

        static uint64_t *gate(void) {
          for (char *record = __start_fbtweak; record < __stop_fbtweak;) {
            uint32_t size;
            memcpy(&size, record, sizeof(size));
            if (size && record[5] == 4)
              return (uint64_t *)(void *)(record + 8);
            record += size ? size : 8;
          }
          return NULL;
        }

        int main(void) {
          const char *who = "";
          double last = 0, last_arm = 0, taken;
          uint64_t seen = 0;
          int has_forked = 0;
        #ifdef PLUGIN
          void *plugin = dlopen(PLUGIN, RTLD_NOW);
        #endif
          for (;;) {
            if (access("closed", F_OK) != 0)
              FBTweakGate("Motor");
            double p = FBTweakValue("Motor", "PID", "P", 1.0, 0, 1000000);
            double i = FBTweakValue("Motor", "PID", "I", 2.0, 0, 1000001);
            double arm = FBTweakValue("Arm", "PID", "P", 1.0, 0, 100);
            if (p + 1 != i)
              printf("%storn\n", who);
            if (p != last)
              printf("%s%g %g\n", who, p, i);
            if (arm != last_arm)
              printf("%sarm %g\n", who, arm);
            if (access("take", F_OK) == 0 && FBTweakTake(FBTweakValue("Arm", "PID", "P", 1.0, 0, 100), &taken, &seen))
              printf("took %g\n", taken);
            last = p;
            last_arm = arm;
            if (!has_forked && access("fork", F_OK) == 0) {
              has_forked = 1;
              /* As if another thread were storing. */
              __atomic_fetch_or(gate(), UINT64_C(1) << 63, __ATOMIC_RELAXED);
              if (fork() == 0) {
                who = "child ";
                prctl(PR_SET_PDEATHSIG, SIGKILL);
              } else
                __atomic_fetch_and(gate(), ~(UINT64_C(1) << 63), __ATOMIC_RELAXED);
              printf("%sforked\n", who);
            }
        #ifdef PLUGIN
            if (plugin && access("close", F_OK) == 0) {
              dlclose(plugin);
              plugin = NULL;
              puts("unloaded");
            }
        #endif
            fflush(stdout);
            usleep(1000);
          }
        }

        """#

    /// Has a gate of its own, and cells below the gate of the program.
    static let plugin = """
        #include <fbtweak.h>
        double pass(void) {
          FBTweakGate("Arm");
          return FBTweakValue("Motor", "PID", "P", 1.0, 0, 1000000);
        }

        """

    init(hasLibrary: Bool, hasPlugin: Bool = false) throws {
        home = try TemporaryDirectory()
        try #require(mkdir(home("runtime"), 0o700) == 0)
        var flags = ["-I" + (try Installation.path("include"))]
        if hasPlugin {
            let file = try home.write("plugin.c", Self.plugin)
            let result = try run(
                Locations.program("gcc"),
                ["-std=gnu11", "-DDEBUG", "-shared", "-fPIC", file, "-o", home("plugin.so")] + flags,
                home: home)
            try #require(result.succeeded, "\(result.error)")
            flags.append("-DPLUGIN=\"\(home("plugin.so"))\"")
        }
        flags +=
            hasLibrary
            ? (try Installation.linkerFlags) : ["-static"]
        let result = try run(
            Locations.program("gcc"),
            [
                "-std=gnu11", "-Wall", "-Werror", "-DDEBUG", home.write("motor.c", Self.source), "-o",
                home("motor"),
            ]
                + flags, home: home)
        try #require(result.succeeded, "\(result.error)")
        process = try start(home("motor"), home: home, in: home.path)
        expect("1 2")
        let socket = home("runtime/tweaks/\(process.processID).sock")
        if hasLibrary { #expect(waitUntil { FileManager.default.fileExists(atPath: socket) }) }
    }

    deinit {
        for name in ["closed", "fork", "close", "take"] { unlink(home(name)) }
        process.kill()
    }

    func tweak(_ command: String, _ arguments: String...) throws -> CommandResult {
        try run(
            Locations.product("tweak"), [command, "\(process.processID)"] + arguments, home: home)
    }

    /// Makes a file that the program looks for.
    func make(_ name: String) throws { _ = try home.write(name, "") }

    /// Waits until the program has printed a line.
    func expect(_ line: String, _ location: SourceLocation = #_sourceLocation) {
        let process = process
        #expect(
            waitUntil {
                process.written.output.split(separator: "\n").contains(line[...]) || !process.isRunning
            },
            sourceLocation: location)
        #expect(lines.contains(line[...]), sourceLocation: location)
    }

    var lines: [Substring] { process.written.output.split(separator: "\n") }
}

@Suite struct `Programs with a gate` {
    @Test(arguments: [true, false]) func `Several values come in together`(hasLibrary: Bool) throws {
        let program = try GatedProgram(hasLibrary: hasLibrary)
        let result = try program.tweak("set", "Motor/PID/P=5", "I=6")
        #expect(result.output == "Motor/PID/P: 1.0 → 5.0\nMotor/PID/I: 2.0 → 6.0\n")
        program.expect("5 6")
        for value in 6..<30 {
            #expect(try program.tweak("set", "Motor/PID/P=\(value)", "I=\(value + 1)").succeeded)
        }
        program.expect("29 30")
        #expect(program.lines.last == "29 30" && !program.lines.contains("torn"))
    }

    @Test func `What waits is shown in plain words`() throws {
        let program = try GatedProgram(hasLibrary: true)
        try program.make("closed")
        let set = try program.tweak("set", "Motor/PID/P=5", "I=6")
        #expect(
            set.output == """
                Motor/PID/P: 1.0; 5.0 waits for the gate Motor; not passed yet
                Motor/PID/I: 2.0; 6.0 waits for the gate Motor; not passed yet

                """)
        let get = try program.tweak("get", "Motor/PID/P")
        #expect(get.output == "1.0\n")
        #expect(get.error == "tweak: warning: Motor/PID/P: 5.0 waits for the gate Motor; not passed yet\n")
        #expect(try program.tweak("list").output.contains("5.0 waits for the gate Motor"))
        let json = try program.tweak("get", "Motor/PID/P", "--format", "json").json
        #expect(json["gate"] as? String == "Motor" && json["pendingValue"] as? Double == 5)
        let explained = try program.tweak("explain", "Motor/PID/P").lines
        #expect(explained[0] == "Motor/PID/P: 1.0, from default")
        #expect(explained[1].hasPrefix("5.0 waits for the gate Motor for "))
        #expect(explained[1].hasSuffix(" s; not passed yet"))
        #expect(try program.tweak("log").output.contains(" waits"))
        unlink(program.home("closed"))
        program.expect("5 6")
        #expect(waitUntil { (try? program.tweak("get", "Motor/PID/P").error.isEmpty) == true })
        let after = try program.tweak("explain", "Motor/PID/P").lines
        #expect(after[1].hasPrefix("changes wait for the gate Motor; last passed "))
        let log = try program.tweak("log").output
        #expect(log.contains("Motor/PID/P") && !log.contains("waits"))
    }

    @Test func `A take finds nothing new in files that change no tweak`() throws {
        let program = try GatedProgram(hasLibrary: true)
        try program.make("take")
        program.expect("took 1")
        let overrides = URL(fileURLWithPath: program.home("config/tweaks/motor/overrides.json"))
        for value in 2...20 {
            #expect(try program.tweak("set", "Arm/PID/P=\(value)").succeeded)
            program.expect("took \(value)")
            // The program reads this file again, and the one that it has written itself.
            let kept = try String(contentsOf: overrides, encoding: .utf8).dropFirst()
            try Data(#"{"Other\#(value)":{"A":{"B":1}},\#(kept)"#.utf8).write(to: overrides, options: .atomic)
        }
        let taken = program.lines.filter { $0.hasPrefix("took ") }
        #expect(taken == (1...20).map { "took \($0)" })
    }

    @Test func `The last pass is seen though nothing waits`() throws {
        let program = try GatedProgram(hasLibrary: true)
        func lastPassed() throws -> Double? {
            try (program.tweak("explain", "Motor/PID/P", "--format", "json").json["gate"] as? [String: Any])?[
                "lastPassed"] as? Double
        }
        #expect(try program.tweak("set", "Motor/PID/P=5", "I=6").succeeded)
        program.expect("5 6")
        let first = try #require(try lastPassed())
        #expect(try waitUntil { try lastPassed().map { $0 > first } == true })
    }

    @Test func `A reset waits for the gate as a set does`() throws {
        let program = try GatedProgram(hasLibrary: true)
        for value in 5..<15 {
            #expect(try program.tweak("set", "Motor/PID/P=\(value)", "I=\(value + 1)").succeeded)
            #expect(
                try program.tweak("reset", "Motor/").output
                    == "Motor/PID/P: \(value).0 → 1.0\nMotor/PID/I: \(value + 1).0 → 2.0\n")
        }
    }

    @Test func `Without the library a set waits too, and a second one is refused`() throws {
        let program = try GatedProgram(hasLibrary: false)
        try program.make("closed")
        let set = try program.tweak("set", "Motor/PID/P=5", "I=6")
        #expect(
            set.output == """
                Motor/PID/P: 1.0; 5.0 waits for the gate Motor
                Motor/PID/I: 2.0; 6.0 waits for the gate Motor

                """)
        let json = try program.tweak("get", "Motor/PID/I", "--format", "json").json
        #expect(json["gate"] as? String == "Motor" && json["pendingValue"] as? Double == 6)
        let second = try program.tweak("set", "Motor/PID/P=7", "I=8")
        #expect(
            second.status == 69
                && second.error.contains(
                    "nothing was set: an earlier change still waits for the gate Motor, which the program has not passed "
                        + "for 2 s")
        )
        unlink(program.home("closed"))
        program.expect("5 6")
        #expect(try program.tweak("set", "Motor/PID/P=7", "I=8").output.contains("5.0 → 7.0"))
        program.expect("7 8")
        #expect(!program.lines.contains("torn"))
    }

    @Test(arguments: [true, false]) func `A setter that is killed leaves all or nothing`(hasLibrary: Bool)
        throws
    {
        let program = try GatedProgram(hasLibrary: hasLibrary)
        for value in 10..<(isLong ? 1010 : 40) {
            let setter = try start(
                Locations.product("tweak"),
                ["set", "\(program.process.processID)", "Motor/PID/P=\(value)", "I=\(value + 1)"],
                home: program.home)
            usleep(.random(in: 0...20_000))
            setter.kill()
            _ = setter.wait()
        }
        #expect(try program.tweak("set", "Motor/PID/P=5000", "I=5001").succeeded)
        program.expect("5000 5001")
        #expect(!program.lines.contains("torn"))
    }

    @Test func `A page that is killed leaves all or nothing, and nothing that it only tried`() throws {
        let program = try GatedProgram(hasLibrary: true)
        for value in 10..<(isLong ? 1010 : 30) {
            let page = try ServedPage(home: program.home)
            let events = try page.events()
            let body: [String: Any] = [
                "program": try page.id(ofProcess: program.process.processID), "stream": try events.stream(),
                "try": value.isMultiple(of: 2),
                "values": [
                    ["tweak": "Motor/PID/P", "value": value], ["tweak": "Motor/PID/I", "value": value + 1],
                ],
            ]
            let request = try page.request("set", body)
            usleep(.random(in: 0...5_000))
            page.process.kill()
            _ = page.process.wait()
            withExtendedLifetime(request) {}
            #expect(try waitUntil { try !program.tweak("list", "--format", "json").output.contains("lease") })
        }
        #expect(try program.tweak("set", "Motor/PID/P=5000", "I=5001").succeeded)
        program.expect("5000 5001")
        #expect(!program.lines.contains("torn"))
    }

    @Test func `A forked child has a gate that works, whatever its parent was doing`() throws {
        let program = try GatedProgram(hasLibrary: true)
        try program.make("closed")
        #expect(try program.tweak("set", "Motor/PID/P=5", "I=6").succeeded)
        try program.make("fork")
        program.expect("child forked")
        unlink(program.home("closed"))
        program.expect("child 5 6")
        program.expect("5 6")
        #expect(try program.tweak("set", "Motor/PID/P=7", "I=8").succeeded)
        program.expect("7 8")
        #expect(!program.lines.contains { $0.hasSuffix("torn") })
    }

    @Test func `Closing a plug-in removes its gate, and its cells from others`() throws {
        let program = try GatedProgram(hasLibrary: true, hasPlugin: true)
        try program.make("closed")
        #expect(try program.tweak("set", "Arm/PID/P=3").output.contains("waits for the gate Arm"))
        #expect(try program.tweak("set", "Motor/PID/P=5", "I=6").output.contains("waits for the gate Motor"))
        try program.make("close")
        program.expect("unloaded")
        program.expect("arm 3")
        #expect(try program.tweak("get", "Motor/PID/P").output == "1.0\n")
        unlink(program.home("closed"))
        program.expect("5 6")
        #expect(try program.tweak("set", "Arm/PID/P=4").output == "Arm/PID/P: 3.0 → 4.0\n")
    }
}

@Suite struct `Programs with a take, in which a setter was killed while it stored` {
    private let program: BareProgram

    /// Prints what it takes whenever that changes. If there is a file `cut`, it gets a part of a change, as if its writer
    /// had been killed. With a file `library`, it loads the library.
    private static let source = #"""
        #include "mailbox.h"
        #include <dlfcn.h>
        #include <stdio.h>
        #include <unistd.h>

        struct set { double p, i; };
        static inline struct set read_set(void) {
          struct set set = {FBTweakValue("Arm", "PID", "P", 1.0), FBTweakValue("Arm", "PID", "I", 2.0)};
          return set;
        }

        static void cut(void) {
          static const double part = 9;
          uint64_t *number = (uint64_t *)record_of(FBTWEAK_KIND_SEQUENCE, 0) + 1, bits;
          memcpy(&bits, &part, sizeof bits);
          __atomic_fetch_add(number, 1, __ATOMIC_SEQ_CST);
          __atomic_store_n((uint64_t *)record_of(FBTWEAK_KIND_VALUE, "P") + 1, bits, __ATOMIC_SEQ_CST);
        }

        int main(void) {
          struct set set = {0, 0};
          char last[100] = "";
          for (;;) {
            char line[100];
            FBTweakGate("Motor");
            FBTweakMonitor("Arm", "PID", "Speed", FBTweakValue("Motor", "PID", "D", 3.0));
            bool is_taken = FBTweakTake(read_set(), &set);
            snprintf(line, sizeof line, "%s %g %g", is_taken ? "took" : "kept", set.p, set.i);
            if (strcmp(line, last) != 0)
              puts(strcpy(last, line));
            fflush(stdout);
            usleep(1000);
            if (unlink("cut") == 0)
              cut();
            if (unlink("library") == 0 && !dlopen(LIBRARY, RTLD_NOW))
              return 1;
          }
        }

        """#

    init() throws {
        program = try BareProgram(
            named: "arm", Self.source,
            compiling: [
                "-I", Locations.package + "/Tests/Programs/gate",
                "-DLIBRARY=\"\(try Installation.path("lib/libtweaks.so.0"))\"",
            ])
        try program.start()
        program.expect("took 1 2")
        try program.home.write("cut", "")
        program.expect("kept 1 2")
    }

    private func warning(about names: String) -> String {
        "\(program.title): an earlier command was killed while it stored values, so tweaks that were not set now may hold a "
            + "part of them: \(names); set these again, or reset all with tweak reset --all \(program.pid)"
    }

    @Test func `The next change names the tweaks that may hold a part of a change, once`() throws {
        let set = try program.tweak("set", "Arm/PID/I", "5")
        #expect(set.output == "Arm/PID/I: 2.0 → 5.0\n")
        #expect(set.error == program.notice + "tweak: warning: " + warning(about: "Arm/PID/P") + "\n")
        program.expect("took 9 5")
        #expect(try program.tweak("set", "Arm/PID/P", "4").error == program.notice)
        program.expect("took 4 5")
    }

    @Test func `The warning is an object for scripts`() throws {
        let set = try program.tweak("set", "--format", "json", "Arm/PID/I", "5")
        let object =
            #"{"kind":"torn","message":"\#(warning(about: "Arm/PID/P"))","process":\#(program.pid)}"# + "\n"
        #expect(set.error.hasSuffix("\n" + object), "\(set.error)")
    }

    @Test func `The page says it, too`() throws {
        let page = try ServedPage(["\(program.pid)"], home: program.home)
        let answer = try page.api(
            "set",
            [
                "program": page.id(ofProcess: program.pid),
                "values": [["tweak": "Arm/PID/I", "value": 5]],
            ]
        ).json
        let warnings = answer["warnings"] as? [[String: Any]]
        #expect(warnings?.map { $0["kind"] as? String } == ["torn"], "\(answer)")
        #expect(warnings?.first?["message"] as? String == warning(about: "Arm/PID/P"))
    }

    @Test func `A lease says it, too`() throws {
        let set = try program.tweak("set", "--for", "1h", "Arm/PID/I", "5")
        #expect(set.error.contains("tweak: warning: " + warning(about: "Arm/PID/P") + "\n"), "\(set.error)")
        program.expect("took 9 5")
    }

    @Test func `A change of all that can be torn, and a reset, leave a whole set without a warning`() throws {
        #expect(try program.tweak("set", "Arm/PID/P", "4", "Arm/PID/I", "5").error == program.notice)
        program.expect("took 4 5")
        try program.home.write("cut", "")
        program.expect("kept 4 5")
        #expect(try program.tweak("reset", "--all").error.isEmpty)
        program.expect("took 1 2")
    }

    @Test(.enabled(if: sanitizer == nil))
    func `The library, loaded afterwards, stores all values again`() throws {
        try FileManager.default.createDirectory(
            atPath: program.home("runtime"), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try program.home.write("library", "")
        #expect(try waitUntil { try program.command(["ps"]).output.contains("\(program.pid) ") })
        #expect(try program.tweak("set", "Arm/PID/I", "5").output == "Arm/PID/I: 2.0 → 5.0\n")
        program.expect("took 1 5")
    }
}
