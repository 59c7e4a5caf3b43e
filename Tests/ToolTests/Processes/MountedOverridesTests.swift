// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A program over whose overrides another file is mounted, as containers do.
private final class MountedSetter: Sendable {
    let program: SetterProgram
    let process: RunningCommand
    /// The file outside of the program's mount namespace.
    let file: String

    /// Runs a command after mounting, in a user namespace of its own, where a user may mount.
    private static let script = """
        overrides="$XDG_CONFIG_HOME/tweaks/tweak-setter/overrides.json"
        mkdir -p "${overrides%/*}"
        touch "$overrides"
        mount --bind "$0" "$overrides"
        exec "$@"
        """

    private static func words(_ file: String, _ command: [String]) -> [String] {
        ["-Urm", "/bin/sh", "-euc", script, file] + command
    }

    static let canMount: Bool = {
        guard let home = try? TemporaryDirectory(), let file = try? home.write("file", "") else {
            return false
        }
        return (try? run("/usr/bin/unshare", words(file, ["/bin/true"]), home: home).succeeded) ?? false
    }()

    init(_ text: String) throws {
        program = try SetterProgram()
        try program.makeRuntimeDirectory()
        file = try program.home.write("host side/over rides.json", text)
        process = try start(
            "/usr/bin/unshare", Self.words(file, [SetterProgram.path, "serve"]), home: program.home)
        let socket = program.socketPath(of: process.processID)
        #expect(waitUntil { FileManager.default.fileExists(atPath: socket) })
    }

    deinit { if process.isRunning { process.kill() } }

    func tweak(_ command: String, _ arguments: String...) throws -> CommandResult {
        try program.command([command, "\(process.processID)"] + arguments)
    }

    var values: NSDictionary? {
        get throws {
            let data = try Data(contentsOf: URL(fileURLWithPath: file))
            let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
            return (object?["Setter"] as? [String: Any])?["Values"] as? NSDictionary
        }
    }

    /// Writes into the file that is there, as an editor outside of the container may.
    func edit(_ text: String) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
    }
}

@Suite(.enabled(if: MountedSetter.canMount, "needs user namespaces"))
struct `A file that is mounted over the overrides` {
    private static func json(_ values: String) -> String { #"{"Setter": {"Values": {\#(values)}}}"# }

    @Test func `It is written in place and followed`() throws {
        let setter = try MountedSetter(Self.json(#""Count": 6"#))
        let before = try #require(FileStatus(setter.file))
        #expect(try setter.tweak("get", "Count").output == "6\n")
        let set = try setter.tweak("set", "Text", "a text that is longer than all that was there before")
        #expect(set.succeeded && set.error.isEmpty, "\(set.error)")
        #expect(
            try setter.values == ["Count": 6, "Text": "a text that is longer than all that was there before"])
        try setter.edit(Self.json(#""Count": 7, "Text": "bye""#))
        #expect(try waitUntil { try setter.tweak("get", "Count").output == "7\n" })
        #expect(try setter.tweak("get", "Text").output == "bye\n")
        #expect(try setter.tweak("reset", "Text").succeeded)
        #expect(try waitUntil { try setter.values == ["Count": 7] })
        #expect(try #require(FileStatus(setter.file)).inode == before.inode)
        // What it hides is as it was.
        #expect(try Data(contentsOf: URL(fileURLWithPath: setter.program.overridesPath)).isEmpty)
        #expect(setter.process.written.error.isEmpty)
    }

    @Test func `It stays as it was if the disk is full`() throws {
        let program = try SetterProgram()
        let script = """
            cd "$XDG_CONFIG_HOME"
            mkdir -p disk tweaks/tweak-setter
            mount -t tmpfs -o size=64k none disk
            printf '{"Setter": {"Values": {"Count": 6}}}%4050s' '' > disk/file
            head -c 100000 /dev/zero > disk/fill 2> /dev/null || true
            cp disk/file before
            touch tweaks/tweak-setter/overrides.json
            mount --bind disk/file tweaks/tweak-setter/overrides.json
            "$0" set "$1" Text "$(printf '%5000s' end)" || echo "ended with $?"
            cmp before disk/file
            "$0" set "$1" Count 7
            grep -q '"Count" : 7' disk/file
            """
        try FileManager.default.createDirectory(
            atPath: program.home("config"), withIntermediateDirectories: true)
        let result = try run(
            "/usr/bin/unshare",
            ["-Urm", "/bin/sh", "-euc", script, Locations.product("tweak"), SetterProgram.path],
            home: program.home)
        #expect(result.succeeded, "\(result.error)")
        #expect(result.output == "ended with 74\nSetter/Values/Count: 6 → 7\n")
        #expect(result.error.contains("No space left on device"), "\(result.error)")
    }

    @Test func `A broken one is copied, and gets what the program has`() throws {
        let setter = try MountedSetter(Self.json(#""Count": 6, "Text": "bye""#))
        #expect(try setter.tweak("get", "Count").output == "6\n")
        let broken = Self.json(#""Count": 6 "Text": "bye""#)
        try setter.edit(broken)
        let set = try setter.tweak("set", "Ratio", "0.25")
        #expect(set.succeeded)
        #expect(set.error.contains("it is now \(setter.program.overridesPath).broken"), "\(set.error)")
        #expect(try setter.values == ["Count": 6, "Text": "bye", "Ratio": 0.25])
        #expect(
            try String(contentsOfFile: setter.program.overridesPath + ".broken", encoding: .utf8) == broken)
        #expect(try setter.tweak("get", "Text").output == "bye\n")
    }
}

@Suite struct `A file system without locks` {
    private let program: SetterProgram
    private let library: String

    init() throws {
        program = try SetterProgram()
        library = program.home("nolocks.so")
        let source = try program.home.write(
            "nolocks.c",
            """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <errno.h>
            #include <stdarg.h>
            #include <stdlib.h>
            int flock(int descriptor, int operation) {
              (void)descriptor, (void)operation;
              errno = ENOLCK;
              return -1;
            }
            /* The locks of fcntl have the numbers 36 to 38. */
            #define LOCKLESS(name) \\
              int name(int descriptor, int command, ...) { \\
                va_list rest; \\
                va_start(rest, command); \\
                void *argument = va_arg(rest, void *); \\
                va_end(rest); \\
                if (command >= 36 && command <= 38 && getenv("WITHOUT_FCNTL")) { \\
                  errno = EOPNOTSUPP; \\
                  return -1; \\
                } \\
                int (*next)(int, int, ...) = (int (*)(int, int, ...))dlsym(RTLD_NEXT, #name); \\
                return next(descriptor, command, argument); \\
              }
            LOCKLESS(fcntl)
            LOCKLESS(fcntl64)
            """)
        let built = try run(
            Locations.program("cc"), ["-shared", "-fPIC", "-o", library, source, "-ldl"], home: program.home)
        try #require(built.succeeded, "\(built.error)")
    }

    @Test func `With the locks of fcntl nothing is different`() throws {
        let result = try program.tweak("set", "Count", "6", environment: ["LD_PRELOAD": library])
        #expect(result.succeeded && result.error.isEmpty, "\(result.error)")
        #expect(try program.overrides() == ["Setter": ["Values": ["Count": 6]]])
    }

    @Test func `Without any locks values are kept, and it is said once`() throws {
        let environment = ["LD_PRELOAD": library, "WITHOUT_FCNTL": "1"]
        let lock = "cannot lock \(program.overridesPath).lock: "
        let result = try program.tweak("set", "Count", "6", environment: environment)
        #expect(result.succeeded && result.error.contains("warning: " + lock), "\(result.error)")
        let setter = try RunningSetter(program, environment: environment)
        let first = try setter.tweak("set", "Slot 0", "1")
        #expect(first.succeeded && first.error.contains(lock), "\(first.error)")
        #expect(try setter.tweak("set", "Slot 0", "2").error.isEmpty)
        #expect(
            waitUntil {
                (try? program.overrides()) == ["Setter": ["Values": ["Count": 6], "Slots": ["Slot 0": 2]]]
            })
        #expect(setter.process.written.error.components(separatedBy: lock).count == 2)
    }
}
