// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `How the tweak command finds its program` {
    private let program: SetterProgram

    init() throws { program = try SetterProgram() }

    /// What `tweak ps` says, without the programs in memory that other tests run at the same time.
    private func messages(of ps: CommandResult) -> [Substring] {
        ps.error.split(separator: "\n").filter { !$0.hasSuffix("see tweak ps --all") }
    }

    @Test func `ps shows the programs that run`() throws {
        let setter = try RunningSetter(program)
        #expect(try setter.tweak("set", "Count", "6", "Text", "bye").succeeded)
        let result = try program.command("ps")
        #expect(result.status == 0)
        #expect(messages(of: result).isEmpty)
        let executable = try #require(
            try program.command("ps", "--format", "json").json["programs"] as? [[String: Any]])
        #expect(executable.count == 1)
        let path = try #require(executable.first?["executable"] as? String)
        let user = try #require(executable.first?["user"] as? String)
        #expect(user == NSUserName())
        #expect(
            result.lines.map { $0.split(separator: " ") } == [
                ["PID", "USER", "APPLICATION", "TWEAKS", "OVERRIDES", "EXECUTABLE"],
                ["\(setter.pid)", Substring(user), "tweak-setter", "18", "2", Substring(path)],
            ])
        #expect(executable.first?["pid"] as? Int32 == setter.pid)
        #expect(executable.first?["overrides"] as? Int == 2)
    }

    @Test func `A folder with the name of a program does not hide it`() throws {
        let setter = try RunningSetter(program)
        try program.home.write("project/tweak-setter/source.swift", "")
        let folder = program.home("project")
        for command in [["list", "tweak-setter"], ["adopt", "--list", "tweak-setter"]] {
            let result = try run(Locations.product("tweak"), command, home: program.home, in: folder)
            #expect(result.succeeded, "\(result.error)")
        }
        #expect(try setter.tweak("get", "Count").succeeded)
    }

    @Test func `ps without programs, and without a directory for sockets`() throws {
        #expect(try program.command("ps").output == "no program with tweaks is running\n")
        try program.makeRuntimeDirectory()
        #expect(try program.command("ps", "--format", "json").json["programs"] as? [[Int]] == [])
    }

    @Test func `Of several processes one must be named`() throws {
        let setters = [try RunningSetter(program), try RunningSetter(program)]
        let result = try program.tweak("set", "Count", "6")
        #expect(result.status == 64)
        #expect(result.error.contains("2 processes are running"))
        for setter in setters { #expect(result.error.contains("\n  \(setter.title)\n")) }
        #expect(try setters[1].tweak("set", "Count", "6").succeeded)
        setters[1].expect("false 6 0.5 hello")
        setters[0].expect("false 5 0.5 hello")
    }

    @Test func `Or all of them`() throws {
        let setters = [try RunningSetter(program), try RunningSetter(program)].sorted { $0.pid < $1.pid }
        let result = try program.tweak("set", "--all-processes", "Count", "6")
        #expect(result.status == 0)
        #expect(result.output == setters.map { "\($0.title):\nSetter/Values/Count: 5 → 6\n" }.joined())
        for setter in setters { setter.expect("false 6 0.5 hello") }
        let lines = try program.tweak("get", "--all", "--format", "json", "Count").lines
        let forms = try lines.map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
        #expect(forms.map { $0?["pid"] as? Int32 } == setters.map(\.pid))
        #expect(forms.allSatisfy { ($0?["result"] as? [String: Any])?["value"] as? Int == 6 })
    }

    @Test func `What fails in one process is done in the others`() throws {
        let setters = [try RunningSetter(program), try RunningSetter(program)].sorted { $0.pid < $1.pid }
        setters[0].process.pause()
        let result = try program.tweak("set", "--all-processes", "Count", "6")
        setters[0].process.resume()
        #expect(result.status == 75)
        #expect(result.error == "tweak: \(setters[0].title): it does not answer; it may be stopped or hung\n")
        setters[1].expect("false 6 0.5 hello")
    }

    @Test func `watch shows all processes`() throws {
        let setters = [try RunningSetter(program), try RunningSetter(program)]
        let watch = try start(
            Locations.product("tweak"), ["watch", "tweak-setter", "--all-processes"], home: program.home)
        for setter in setters {
            try setter.changeSlot {
                watch.written.output.contains("  \(setter.title)  Setter/Slots/Slot 7: ")
            }
        }
        setters[0].process.kill()
        _ = setters[0].process.wait()
        #expect(watch.isRunning)
        setters[1].process.kill()
        #expect(watch.wait().status == 0)
    }

    @Test func `A stopped program is a clear error and does not keep ps waiting for it`() throws {
        let setter = try RunningSetter(program)
        setter.process.pause()
        defer { setter.process.resume() }
        let ps = try program.command("ps")
        #expect(ps.status == 0)
        #expect(
            messages(of: ps) == [
                "tweak: warning: \(setter.pid): it does not answer; it may be stopped or hung"
            ])
        #expect(
            ps.lines.last?.split(separator: " ").dropFirst(2).prefix(3) == ["tweak-setter", "?", "?"])
        let get = try program.tweak("get", "Count")
        #expect(get.status == 75)
        #expect(get.error == "tweak: \(setter.title): it does not answer; it may be stopped or hung\n")
    }

    @Test func `A name that no program reports may be that of a stopped one`() throws {
        let setter = try RunningSetter(program)
        setter.process.pause()
        defer { setter.process.resume() }
        let get = try program.command("get", "other-name", "Count")
        #expect(get.status == 66, "\(get.error)")
        #expect(
            messages(of: get).first
                == "tweak: warning: \(setter.title): it does not answer; it may be stopped or hung; it may be other-name"
        )
    }

    @Test func `ps asks all at once, and so is not kept by many that do not answer`() throws {
        try program.makeRuntimeDirectory()
        let silent = try program.home.write(
            "silent.py",
            """
            import os, socket, sys, time
            folder = sys.argv[1] + "/tweaks"
            os.mkdir(folder, 0o700)
            for _ in range(150):
                if os.fork() == 0:
                    path = f"{folder}/{os.getpid()}.sock"
                    listener = socket.socket(socket.AF_UNIX)
                    listener.bind(path)
                    listener.listen(0)
                    kept = []
                    try:
                        while True:
                            kept.append(socket.socket(socket.AF_UNIX))
                            kept[-1].setblocking(False)
                            kept[-1].connect(path)
                    except BlockingIOError:
                        os.write(1, b"full\\n")
                        time.sleep(1000)
            os.wait()
            """)
        let process = try start(
            Locations.program("timeout"), ["100", "python3", silent, program.home("runtime")],
            home: program.home)
        // It ends all that it has started.
        defer { kill(process.processID, SIGTERM) }
        #expect(waitUntil { process.written.output.split(separator: "\n").count == 150 })
        // One after the other it would be 45 seconds.
        let result = try run(
            Locations.program("timeout"), ["30", Locations.product("tweak"), "ps"], home: program.home)
        #expect(result.status == 0)
        #expect(
            result.errorLines.count { $0.hasSuffix("it does not answer; it may be stopped or hung") } == 150)
        let get = try program.command("get", "other-name", "Count")
        #expect(
            get.errorLines.count { $0.hasSuffix("it may be stopped or hung; it may be other-name") } == 3)
        #expect(
            get.errorLines.dropFirst(3).first
                == "tweak: warning: 147 other programs may be other-name, too; list them with tweak ps")
    }

    @Test func `Sockets that programs left behind are removed and passed over`() throws {
        let setter = try RunningSetter(program)
        setter.process.kill()
        _ = setter.process.wait()
        #expect(FileManager.default.fileExists(atPath: setter.socketPath))
        #expect(try program.tweak("get", "Count").output == "5\n")
        #expect(try program.command("ps").output == "no program with tweaks is running\n")
        #expect(!FileManager.default.fileExists(atPath: setter.socketPath))
        let result = try setter.tweak("get", "Count")
        #expect(result.status == 69)
        #expect(result.error == "tweak: \(setter.pid): no such process\n")
    }

    @Test func `A program that does not listen follows its file`() throws {
        let setter = try RunningSetter(program, environment: ["TWEAKS_CONTROL": "0"])
        #expect(try program.tweak("set", "Count", "6").output == "Setter/Values/Count: 5 → 6\n")
        setter.expect("false 6 0.5 hello")
        #expect(try setter.tweak("set", "Count", "7").output == "Setter/Values/Count: 6 → 7\n")
        setter.expect("false 7 0.5 hello")
        #expect(try setter.tweak("run", "Count up").status == 69)
    }

    @Test func `A program whose file has been replaced is still the one of its path`() throws {
        let copy = program.home("copy")
        try FileManager.default.copyItem(atPath: SetterProgram.path, toPath: copy)
        try program.makeRuntimeDirectory()
        let process = try start(copy, ["serve"], home: program.home)
        defer { process.kill() }
        #expect(
            waitUntil { FileManager.default.fileExists(atPath: program.socketPath(of: process.processID)) })
        try FileManager.default.removeItem(atPath: copy)
        try FileManager.default.copyItem(atPath: SetterProgram.path, toPath: copy)
        #expect(try program.command("get", copy, "Port").output == "80\n")
    }

    @Test func `Of an application whose executable is not known the overrides are`() throws {
        try program.home.write(
            "config/tweaks/gone/overrides.json", #"{"A": {"B": {"Number": 6, "Text": "hello", "List": [1]}}}"#
        )
        let result = try program.command("list", "gone")
        #expect(result.status == 0)
        #expect(
            result.lines.map { $0.split(separator: " ") }.dropFirst(2) == [
                ["Number", "6", "int64", "override"], ["Text", "\"hello\"", "string", "override"],
            ])
        #expect(try program.command("get", "gone", "Text").output == "hello\n")
        for arguments in [["set", "gone", "Number", "7"], ["import", "gone", "-"], ["edit", "gone"]] {
            let refused = try program.command(arguments)
            #expect(refused.status == 66)
            #expect(refused.error.contains("its executable is not known"))
        }
        #expect(try program.command("reset", "gone", "Number").output == "A/B/Number: 6 → the default\n")
        #expect(try program.command("get", "gone", "Number").status == 65)
    }

    @Test func `66 is for a name that is nothing, 69 for a process that is not there`() throws {
        let result = try program.command("list", "no-such-program")
        #expect(result.status == 66)
        #expect(
            result.error
                == "tweak: no-such-program: no program of this name is running, and no such file exists\n")
        for pid in ["99999999", "99999999999999999999"] {
            #expect(try program.command("list", pid).status == 69)
        }
    }

    @Test func `A name on the search path is the program there`() throws {
        let result = try program.command(["list", "ls"])
        #expect(result.status == 0)
        #expect(result.output.hasSuffix("/ls: no tweaks\n"))
    }
}
