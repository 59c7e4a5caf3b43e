// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `Remote values in a program` {
    private let program: SetterProgram
    private let manager = FileManager.default
    private static let remote = "state/tweaks/tweak-setter/remote.json"
    private static let fleet = "state/tweaks/tweak-setter/fleet.json"

    init() throws { program = try SetterProgram() }

    private static func json(_ count: Int) -> String {
        "{ \"values\": { \"Setter\": { \"Values\": { \"Count\": \(count) } } } }"
    }

    /// Puts a file in the place of another one, as an agent does.
    private func replace(_ name: String, _ text: String) throws {
        let new = try program.home.write(name + ".tmp", text)
        #expect(rename(new, program.home(name)) == 0)
    }

    private func count(_ environment: [String: String] = [:]) throws -> String {
        let result = try program.setter("show", environment: environment)
        #expect(result.error.isEmpty)
        return String(result.output.split(separator: " ")[1])
    }

    @Test func `They apply from the start`() throws {
        try program.home.write(Self.remote, Self.json(6))
        #expect(try count() == "6")
    }

    @Test func `The environment and overrides take precedence, and the fleet comes below`() throws {
        try program.home.write(Self.fleet, Self.json(6))
        #expect(try count() == "6")
        try program.home.write(Self.remote, Self.json(7))
        #expect(try count() == "7")
        try program.writeOverrides(Data(#"{"Setter": {"Values": {"Count": 8}}}"#.utf8))
        #expect(try count() == "8")
        #expect(try count(["TWEAK_SETTER__VALUES__COUNT": "9"]) == "9")
    }

    @Test func `A kill takes precedence over everything that was there before`() throws {
        try program.home.write(
            Self.fleet,
            #"{ "values": {}, "kills": { "Setter": { "Values": { "Count": 6 } } } }"#)
        try program.home.write(Self.remote, Self.json(7))
        try program.writeOverrides(Data(#"{"Setter": {"Values": {"Count": 8}}}"#.utf8))
        #expect(try count(["TWEAK_SETTER__VALUES__COUNT": "9"]) == "6")
    }

    @Test func `The first of several folders with a value applies`() throws {
        try program.home.write("one/tweak-setter/remote.json", Self.json(6))
        try program.home.write(
            "two/tweak-setter/remote.json",
            #"{ "values": { "Setter": { "Values": { "Count": 7, "Text": "two" } } } }"#)
        let folders = [
            "TWEAKS_PROVIDED": "\(program.home("none")):\(program.home("one")):\(program.home("two"))"
        ]
        #expect(try program.setter("show", environment: folders).output == "false 6 0.5 two\n")
        #expect(try count() == "5")
    }

    @Test func `They are followed, even if folders and files appear later`() throws {
        let follower = try Follower(program)
        follower.expect(count: 5)
        try program.home.write("state/tweaks/other/remote.json", Self.json(1))
        try replace(Self.fleet, Self.json(6))
        follower.expect(count: 6)
        try replace(Self.remote, Self.json(7))
        follower.expect(count: 7)
        try replace(Self.remote, Self.json(8))
        follower.expect(count: 8)
        try manager.removeItem(atPath: program.home(Self.remote))
        follower.expect(count: 6)
        try manager.removeItem(atPath: program.home("state"))
        follower.expect(count: 5)
        try replace(Self.remote, Self.json(9))
        follower.expect(count: 9)
        #expect(try follower.end().isEmpty)
    }

    @Test func `One descriptor of inotify is enough for all files`() throws {
        try program.home.write(Self.remote, Self.json(6))
        try program.home.write(Self.fleet, Self.json(6))
        let follower = try Follower(program)
        #expect(try waitUntil { try follower.watches })
        try replace(Self.remote, Self.json(7))
        follower.expect(count: 7)
        let targets = try openFiles(of: follower.process.processID)
        #expect(targets.filter { $0 == "anon_inode:inotify" }.count == 1)
        #expect(try follower.end().isEmpty)
    }

    @Test func `A broken file keeps the last values, and is reported once`() throws {
        try program.home.write(Self.remote, Self.json(6))
        let follower = try Follower(program)
        follower.expect(count: 6)
        try replace(Self.remote, "<html>")
        try replace(Self.remote, "<html>")
        try program.home.write(Self.fleet, Self.json(1))
        #expect(waitUntil { follower.process.written.error.contains("remote.json") })
        follower.expect(count: 6)
        try replace(Self.remote, Self.json(7))
        follower.expect(count: 7)
        let error = try follower.end()
        #expect(error.split(separator: "\n").count == 1)
        #expect(error.contains("it is not JSON: line 1, column 1"))
        #expect(error.contains("its values stay as they are"))
    }

    @Test(arguments: ["remote.json", "", "../../tweaks"])
    func `Files writable by others are not trusted`(place: String) throws {
        try program.home.write(Self.remote, Self.json(6))
        let path = program.home("state/tweaks/tweak-setter/\(place)")
        #expect(chmod(path, 0o777) == 0)
        let result = try program.setter("show")
        #expect(result.output == "false 5 0.5 hello\n")
        #expect(result.error.contains("it is ignored, because other users can write "))
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func `Files of other users are not trusted`() throws {
        try program.home.write(Self.remote, Self.json(6))
        #expect(chown(program.home(Self.remote), 1234, 1234) == 0)
        #expect(try program.setter("show").output == "false 5 0.5 hello\n")
    }

    @Test func `An invalid value is reported, and one outside the limits is clamped`()
        throws
    {
        try program.home.write(
            Self.remote, #"{ "values": { "Setter": { "Values": { "Count": "many", "Unknown": 1 } } } }"#)
        let result = try program.setter("show")
        #expect(result.output == "false 5 0.5 hello\n")
        #expect(result.error.contains("remote ignored: Setter/Values/Count"))
    }

    @Test func `A file beside the program can reorder them`() throws {
        let copy = program.home("setter")
        #expect(try run("/bin/cp", [SetterProgram.path, copy], home: program.home).succeeded)
        try program.home.write("state/tweaks/setter/remote.json", Self.json(6))
        try program.home.write(
            "config/tweaks/setter/overrides.json", #"{"Setter": {"Values": {"Count": 7}}}"#)
        try program.home.write("values.json", Self.json(8))
        func count(_ providers: String) throws -> String {
            try program.home.write("setter.tweaks.json", "{ \"providers\": [ \(providers) ] }")
            let result = try run(copy, ["show"], home: program.home)
            #expect(result.error.isEmpty)
            return String(result.output.split(separator: " ")[1])
        }
        #expect(try count(#""override", "fleet""#) == "7")
        #expect(try count(#""remote", "override""#) == "6")
        #expect(try count(#"{ "name": "fetched", "values": "values.json" }, "remote", "override""#) == "8")
    }
}
