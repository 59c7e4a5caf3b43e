// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// Features that no binary declares, in a process and before it starts.
@Suite struct `Features declared only by files` {
    private let home: TemporaryDirectory
    private static let login = "Features/facebook-login/enabled"

    private static let source = """
        #include <fbtweak.h>
        #include <stdio.h>
        #include <unistd.h>

        static void changed(const fbtweak_change *change, void *context) {
          (void)context;
          printf("%s %d\\n", fbtweak_collection(change->tweak), change->new_value.boolean);
          fflush(stdout);
        }

        int main(void) {
          const fbtweak *login = fbtweak_find("Features", "facebook-login", "enabled");
          printf("found %d\\n", login && fbtweak_read_bool(login, false));
          fflush(stdout);
          if (!fbtweak_observe(login, NULL, changed, NULL))
            printf("%s\\n", fbtweak_error());
          for (;;)
            pause();
        }

        """

    init() throws {
        home = try TemporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: home("runtime"), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
    }

    /// Puts a file in the place of another one, as an agent does.
    private func write(_ features: String, for application: String) throws {
        let name = "state/tweaks/\(application)/remote.json"
        let new = try home.write(name + ".tmp", "{ \"values\": { \"Features\": { \(features) } } }")
        #expect(rename(new, home(name)) == 0)
    }

    private func tweak(_ arguments: String...) throws -> CommandResult {
        try run(Locations.product("tweak"), arguments, home: home)
    }

    private func check(_ process: RunningCommand) throws {
        let pid = "\(process.processID)"
        #expect(
            waitUntil {
                FileManager.default.fileExists(atPath: home("runtime/tweaks/\(pid).sock"))
            })
        #expect(try tweak("list", pid).output.contains("facebook-login"))
        #expect(try tweak("get", pid, "facebook-login").output == "true\n")
        let watching = try start(Locations.product("tweak"), ["watch", pid, "--format", "json"], home: home)
        defer { watching.kill() }
        // Only when it has subscribed it tells of a change.
        var isOn = true
        #expect(
            try waitUntil {
                isOn.toggle()
                _ = try tweak("set", pid, Self.login, isOn ? "on" : "off")
                return watching.written.output.contains(Self.login)
            })
        #expect(try tweak("set", pid, Self.login, "off").succeeded)
        #expect(try tweak("get", pid, "facebook-login").output == "false\n")
        let explained = try tweak("explain", pid, "facebook-login").output
        #expect(explained.contains("override") && explained.contains("remote"))
        #expect(try tweak("reset", pid, Self.login).succeeded)
        #expect(try tweak("get", pid, "facebook-login").output == "true\n")
    }

    @Test func `They are tweaks of a program in C that declares none`() throws {
        let path = home("shop")
        try Compiler.gcc.compile(
            [try home.write("shop.c", Self.source)], to: path, ["-DDEBUG"], home: home)
        try write(#""facebook-login": { "enabled": true }"#, for: "shop")
        let process = try start(
            path, home: home, environment: ["LD_PRELOAD": Installation.path("lib/libtweaks.so.0")])
        defer { process.kill() }
        #expect(waitUntil { process.written.output.hasPrefix("found 1\n") })
        try check(process)
        #expect(waitUntil { process.written.output.hasSuffix("facebook-login 1\n") })
        try write("", for: "shop")
        #expect(waitUntil { process.written.output.hasSuffix("facebook-login 0\n") })
        #expect(try tweak("get", "\(process.processID)", Self.login).status == 65)
        try write(#""facebook-login": { "enabled": true }"#, for: "shop")
        #expect(waitUntil { process.written.output.hasSuffix("facebook-login 1\n") })
        #expect(process.written.error.isEmpty)
    }

    @Test func `They are tweaks of a program in Swift that declares none`() throws {
        try write(#""facebook-login": { "enabled": true }"#, for: "making-program")
        let process = try start(Locations.product("making-program"), ["facebook-login"], home: home)
        defer { process.kill() }
        #expect(waitUntil { process.written.output == "true\n" })
        try check(process)
        try write("", for: "making-program")
        #expect(waitUntil { process.written.output.hasSuffix("false\n") })
    }

    @Test func `They can be switched before the program first runs`() throws {
        let path = home("shop")
        #expect(try run("/bin/cp", [Locations.product("making-program"), path], home: home).succeeded)
        try write(#""facebook-login": { "enabled": true }"#, for: "shop")
        #expect(try tweak("get", path, "facebook-login").output == "true\n")
        #expect(try tweak("set", path, "facebook-login/enabled", "off").succeeded)
        #expect(try tweak("list", path).output.contains("facebook-login"))
        let process = try start(path, ["facebook-login"], home: home)
        defer { process.kill() }
        #expect(waitUntil { process.written.output == "false\n" })
    }
}
