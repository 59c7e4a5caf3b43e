// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A program that root has given to everybody with root's rights, and what somebody else has it do.
@Suite(.enabled(if: geteuid() == 0, "only root can make such programs"))
struct `A program with more rights than its user` {
    private let home: TemporaryDirectory
    private let path: String

    init() throws {
        home = try TemporaryDirectory()
        #expect(chmod(home.path, 0o755) == 0)
        path = home("privileged")
        let library = try URL(fileURLWithPath: Installation.path("lib/libtweaks.so.0"))
        try FileManager.default.copyItem(
            atPath: library.resolvingSymlinksInPath().path, toPath: home("libtweaks.so.0"))
        let source = try home.write(
            "privileged.c",
            """
            #include <fbtweak.h>
            #include <stdio.h>
            volatile int variable = 1;
            int main(int argc, char **argv) {
              printf("%d\\n", argc > 1 ? variable : FBTweakValue("A", "B", "C", 1));
            }
            """)
        let built = try TestSupport.run(
            Locations.program("gcc"),
            [
                "-DDEBUG", "-g", source, "-I" + Installation.path("include"), "-Wl,--no-as-needed",
                home("libtweaks.so.0"),
                "-Wl,-rpath," + home.path, "-o", path,
            ], home: home)
        try #require(built.succeeded, "\(built.error)")
        try home.write("config/tweaks/privileged/overrides.json", #"{"A": {"B": {"C": 2}}}"#)
        for (folder, value) in [("state/tweaks", 3), ("folder", 4)] {
            try home.write("\(folder)/privileged/remote.json", Self.values(value))
        }
        let nobody = try TestSupport.run(
            Locations.program("chown"), ["-R", "65534:65534", home("config"), home("state"), home("folder")],
            home: home)
        try #require(nobody.succeeded)
    }

    private static func values(_ value: Int) -> String {
        #"{"values": {"A": {"B": {"C": \#(value)}}}}"#
    }

    /// What the program prints in the hands of nobody, on a machine whose agent has the value 7.
    private func printed(
        mode: mode_t, _ environment: [String: String], _ arguments: String = ""
    ) throws -> String {
        try #require(chmod(path, mode) == 0)
        let variables = environment.map { " \($0)='\($1)'" }.joined()
        let result = try TestSupport.run(
            Locations.program("unshare"),
            [
                "--mount", "--", "/bin/bash", "-euc",
                """
                mount -t tmpfs tmpfs /var/lib
                mkdir -p /var/lib/tweaks/privileged
                echo '\(Self.values(7))' >/var/lib/tweaks/privileged/remote.json
                exec env -i TWEAKS_CONTROL=0 HOME=/nonexistent\(variables) setpriv --reuid 65534 --regid 65534 --clear-groups '\(path)' \(arguments)
                """,
            ], home: home)
        #expect(result.succeeded && result.error.isEmpty, "\(result.error)")
        return result.output
    }

    @Test func `trusts only the system's agent, not its user's files and environment`() throws {
        let told = [
            ["XDG_CONFIG_HOME": home("config")], ["XDG_STATE_HOME": home("state")],
            ["TWEAKS_PROVIDED": home("folder")], ["TWEAK_A__B__C": "5"], [:],
        ]
        #expect(try told.map { try printed(mode: 0o4755, $0) } == Array(repeating: "7\n", count: 5))
        // The same without the rights, so that there is something not to believe.
        #expect(try told.map { try printed(mode: 0o755, $0) } == ["2\n", "3\n", "4\n", "5\n", "7\n"])
    }

    @Test func `does not store values in its user's adopted variables`() throws {
        let adopted = try run(
            Locations.product("tweak"), ["adopt", path, "variable", "--name", "A/B/D"], home: home)
        try #require(adopted.succeeded, "\(adopted.error)")
        try home.write("config/tweaks/privileged/overrides.json", #"{"A": {"B": {"D": 2}}}"#)
        let nobody = try run(
            Locations.program("chown"), ["-R", "65534:65534", home("config")], home: home)
        try #require(nobody.succeeded)
        let environment = ["XDG_CONFIG_HOME": home("config")]
        #expect(try printed(mode: 0o4755, environment, "variable") == "1\n")
        #expect(try printed(mode: 0o755, environment, "variable") == "2\n")
    }
}
