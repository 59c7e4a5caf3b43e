// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `Processes that a change does not reach` {
    private let program: SetterProgram

    init() throws { program = try SetterProgram() }

    private static func title(_ setter: RunningSetter) -> String {
        "\(setter.title): it is running but did not receive the change: it neither accepts connections nor follows the overrides file\n"
    }

    @Test func `A process without connections that does not follow the file is named`() throws {
        let setter = try RunningSetter(
            program, environment: ["TWEAKS_CONTROL": "0", "TWEAKS_WATCH": "0"])
        let set = try program.tweak("set", "Count", "6", "--format", "json")
        #expect(set.status == 69)
        #expect(set.error == "tweak: " + Self.title(setter))
        let form = try set.json
        #expect((form["processes"] as? [Int32])?.isEmpty == true && form["kept"] as? Bool == true)
        let missed = try #require(form["missed"] as? [[String: Any]])
        #expect(missed.map { $0["pid"] as? Int32 } == [setter.pid])
        #expect(missed.map { $0["kind"] as? String } == ["unreachable"])
        #expect(try program.overrides() == ["Setter": ["Values": ["Count": 6]]])
        setter.expect("false 5 0.5 hello")
    }

    @Test func `So it is for each command that changes values`() throws {
        let setter = try RunningSetter(
            program, environment: ["TWEAKS_CONTROL": "0", "TWEAKS_WATCH": "0"])
        let file = try program.home.write("values.json", #"{"Setter": {"Values": {"Count": 7}}}"#)
        #expect(try program.command("preset", "save", SetterProgram.path, "calm").succeeded)
        for arguments in [
            ["import", SetterProgram.path, file],
            ["preset", "load", "--reset-others", SetterProgram.path, "calm"],
            ["reset", SetterProgram.path, "--all"], ["set", "\(setter.pid)", "Count", "6"],
        ] {
            let result = try program.command(arguments)
            #expect(result.status == 69, "\(arguments)")
            #expect(result.error.hasSuffix(Self.title(setter)), "\(arguments)")
        }
    }

    @Test func `A process beside others is named, too`() throws {
        let setter = try RunningSetter(program)
        let missed = try RunningSetter(
            program, environment: ["TWEAKS_CONTROL": "0", "TWEAKS_WATCH": "0"])
        for arguments in [["set", SetterProgram.path, "Count", "6"], ["undo", SetterProgram.path]] {
            let result = try program.command(arguments)
            #expect(result.status == 69)
            #expect(result.error == "tweak: " + Self.title(missed))
        }
        let named = try setter.tweak("set", "Count", "7")
        #expect(named.status == 0 && named.error.isEmpty)
    }

    @Test func `A process that follows the file has got what is kept`() throws {
        let setter = try RunningSetter(program, environment: ["TWEAKS_CONTROL": "0"])
        // It begins to follow a moment after its start.
        #expect(try waitUntil { try program.tweak("set", "Count", "6").status == 0 })
        setter.expect("false 6 0.5 hello")
        let set = try program.tweak("set", "Count", "7", "--format", "json")
        #expect(try set.json["following"] as? [Int32] == [setter.pid])
        #expect(set.status == 0 && set.error.isEmpty)
        setter.expect("false 7 0.5 hello")
    }

    @Test func `Processes of another session are not meant`() throws {
        let other = try RunningSetter(
            SetterProgram(), environment: ["TWEAKS_CONTROL": "0", "TWEAKS_WATCH": "0"])
        let set = try program.tweak("set", "Count", "6")
        #expect(set.status == 0 && set.error.isEmpty)
        #expect(other.process.isRunning)
    }

    @Test func `A process whose build has no tweaks is named`() throws {
        let path = program.home("sleeper")
        try FileManager.default.copyItem(atPath: "/bin/sleep", toPath: path)
        let process = try start(path, ["1000"], home: program.home)
        defer { process.kill() }
        #expect(
            waitUntil {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process.processID)/exe"))
                    == path
            })
        unlink(path)
        try FileManager.default.copyItem(atPath: SetterProgram.path, toPath: path)
        let set = try program.command("set", path, "Count", "6")
        #expect(set.status == 69)
        #expect(
            set.error.hasSuffix(
                "sleeper (\(process.processID)): it is running but did not receive the change: its build has no tweaks\n"
            ))
    }

    @Test func `A process of the newer build that has no tweaks is named`() throws {
        try program.makeRuntimeDirectory()
        let path = program.home("sleeper")
        #expect(try run("/bin/cp", [SetterProgram.path, path], home: program.home).succeeded)
        let older = try start(path, ["serve"], home: program.home)
        defer { older.kill() }
        let socket = program.socketPath(of: older.processID)
        #expect(waitUntil { FileManager.default.fileExists(atPath: socket) })
        unlink(path)
        #expect(try run("/bin/cp", ["/bin/sleep", path], home: program.home).succeeded)
        let newer = try start(path, ["1000"], home: program.home)
        defer { newer.kill() }
        let executable = "/proc/\(newer.processID)/exe"
        #expect(
            waitUntil { (try? FileManager.default.destinationOfSymbolicLink(atPath: executable)) == path })
        let set = try program.command("set", path, "Count", "6", "--format", "json")
        #expect(set.status == 69)
        #expect(try set.json["processes"] as? [Int32] == [older.processID])
        let missed = try #require(try set.json["missed"] as? [[String: Any]])
        #expect(missed.map { $0["pid"] as? Int32 } == [newer.processID])
        #expect(missed.map { $0["kind"] as? String } == ["noTweaks"])
    }

    @Test(.enabled(if: geteuid() == 0, "needs root"))
    func `Another user's process that root does not reach is named`() throws {
        try program.makeRuntimeDirectory()
        let nobody: uid_t = 65534
        let other = try SetterProgram()
        try other.makeRuntimeDirectory()
        let path = try other.copy()
        for path in [other.home.path, other.home("runtime")] { #expect(chown(path, nobody, nobody) == 0) }
        let process = try start(
            Locations.program("setpriv"),
            ["--reuid", "\(nobody)", "--regid", "\(nobody)", "--clear-groups", path, "serve"],
            home: other.home)
        defer { process.kill() }
        let pid = process.processID
        #expect(waitUntil { FileManager.default.fileExists(atPath: other.socketPath(of: pid)) })
        let set = try program.command("set", path, "Count", "6", "--format", "json")
        #expect(set.status == 77)
        let missed = try #require(try set.json["missed"] as? [[String: Any]])
        #expect(missed.map { $0["pid"] as? Int32 } == [pid])
        #expect(missed.map { $0["kind"] as? String } == ["otherUser"])
        let named = try program.command("set", "\(pid)", "Count", "6")
        #expect(named.status == 69)
        #expect(
            named.error.hasSuffix(
                ", and has no listening socket in \(program.home("runtime/tweaks")); unset XDG_RUNTIME_DIR "
                    + "to search elsewhere, too\n"))
    }
}

@Suite struct `Programs into which no library can be loaded` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private static let source = """
        #include <fbtweak.h>
        int main(void) { return FBTweakValue("Spring", "Physics", "Count", 5, 0, 100); }

        """

    private func build(_ name: String, _ flags: [String]) throws -> String {
        let result = try run(
            Locations.program("gcc"),
            [
                "-std=gnu11", "-DDEBUG", home.write("spring.c", Self.source), "-o", home(name),
                "-I" + (try Installation.path("include")),
            ] + flags, home: home)
        try #require(result.succeeded, "\(result.error)")
        return home(name)
    }

    private func tweak(_ arguments: String...) throws -> CommandResult {
        try run(Locations.product("tweak"), arguments, home: home)
    }

    private func isRefused(_ path: String, because reason: String) throws {
        let folder = home("config/tweaks")
        let values = try home.write("values.json", #"{"Spring": {"Physics": {"Count": 7}}}"#)
        for arguments in [["set", path, "Count", "6"], ["import", path, values]] {
            let result = try run(Locations.product("tweak"), arguments, home: home)
            #expect(result.status == 69)
            #expect(
                result.error
                    == "tweak: \(path): nothing was set: it \(reason), so it would never read the value; "
                    + "use --anyway to keep it nevertheless\n")
            #expect(!FileManager.default.fileExists(atPath: folder))
        }
        let set = try tweak("set", path, "Count", "6", "--anyway")
        #expect(set.status == 0 && set.output == "Spring/Physics/Count: 5 → 6\n" && set.error.isEmpty)
        #expect(try tweak("get", path, "Count").output == "6\n")
        let reset = try tweak("reset", path, "--all")
        #expect(reset.output == "Spring/Physics/Count: 6 is no longer kept\n")
        #expect(
            reset.error
                == "tweak: warning: \(path): it \(reason), so the kept values never took effect\n")
    }

    @Test func `A program that is linked statically`() throws {
        try isRefused(
            try build("spring", ["-static"]),
            because: "is statically linked, so no dynamic linker can load the library")
    }

    @Test func `A program of another C library`() throws {
        let linker = "/lib/ld-musl-x86_64.so.1"
        try isRefused(
            try build("spring", ["-Wl,--dynamic-linker=\(linker)"]),
            because: "is for musl, and no library for musl is installed")
    }

    @Test func `A program for another machine`() throws {
        let path = try build("spring", [])
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        // e_machine, EM_AARCH64.
        (bytes[18], bytes[19]) = (183, 0)
        try bytes.write(to: URL(fileURLWithPath: path))
        try isRefused(path, because: "is for aarch64, and this machine is x86_64")
    }

    @Test func `A program that can load the library, and an object file, are not refused`() throws {
        for path in [try build("spring", []), try build("spring.o", ["-c"])] {
            let set = try tweak("set", path, "Count", "6")
            #expect(set.status == 0 && set.output == "Spring/Physics/Count: 5 → 6\n" && set.error.isEmpty)
        }
    }
}
