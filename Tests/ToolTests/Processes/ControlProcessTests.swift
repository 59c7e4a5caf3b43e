// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `A program that can be controlled` {
    @Test func `It has a socket in a private directory, removed when it exits`() throws {
        let program = try LiveProgram()
        let client = try program.connect()
        #expect(try client.request("describe").result["application"] as? String == "live-program")
        #expect(try program.names() == ["\(program.process.processID).sock"])
        #expect(FileStatus(program.directory)?.mode == 0o700)
        #expect(try program.end().isEmpty)
        #expect(try program.names().isEmpty)
    }

    @Test func `A client's set is saved for the next start`() throws {
        let program = try LiveProgram()
        #expect(
            try program.connect().request("set", ["tweak": LiveProgram.step, "value": 3]).errorCode == nil)
        program.process.kill()
        _ = program.process.wait()
        let next = try LiveProgram(home: program.home)
        let step = try next.connect().request("get", ["tweak": LiveProgram.step]).result
        #expect(step["value"] as? Int == 3)
        #expect(step["source"] as? String == "override")
    }

    @Test func `A client can run actions`() throws {
        let program = try LiveProgram()
        let client = try program.connect()
        #expect(try client.request("run", ["tweak": "Live/Actions/Hello"]).errorCode == nil)
        #expect(waitUntil { program.process.written.output == "hello\n" })
    }

    @Test func `A program with only run-time tweaks has a socket, saves overrides, and follows its file`()
        throws
    {
        let home = try LiveProgram.home()
        let tweak = "Made/Values/Text"
        for (text, next) in [("run", "later"), ("later", "end")] {
            let process = try start(Locations.product("making-program"), home: home)
            defer { process.kill() }
            let client = try ControlClient(home("runtime/tweaks/\(process.processID).sock"))
            #expect(try client.request("get", ["tweak": tweak]).result["value"] as? String == text)
            #expect(waitUntil { process.written.output == text + "\n" })
            if next == "end" {
                try home.write(
                    "config/tweaks/making-program/overrides.json", #"{"Made": {"Values": {"Text": "end"}}}"#)
                #expect(waitUntil { !process.isRunning })
            } else {
                #expect(try client.request("set", ["tweak": tweak, "value": next]).errorCode == nil)
            }
        }
    }

    @Test func `run says what has not run yet, and waits for it if asked`() throws {
        let home = try LiveProgram.home()
        let process = try start(Locations.product("making-program"), home: home)
        defer { process.kill() }
        let name = "\(process.processID)"
        _ = try ControlClient(home("runtime/tweaks/\(name).sock"))
        let tweak = { try run("\(Locations.commands)/tweak", ["run", name] + $0, home: home).output }
        #expect(
            try tweak(["On the main actor"]) == "Made/Actions/On the main actor: handed to the main actor\n")
        #expect(try tweak(["On another"]) == "Made/Actions/On another: handed to an actor\n")
        #expect(try tweak(["On another", "--wait"]) == "Made/Actions/On another: done\n")
        #expect(waitUntil { process.written.output == "run\nran\nran\n" })
    }

    @Test func `Clients that disconnect do not end it`() throws {
        let program = try LiveProgram()
        for _ in 0..<50 { for _ in 0..<20 { try program.connect().post("list") } }
        #expect(try program.connect().request("describe").errorCode == nil)
        #expect(try program.end().isEmpty)
    }

    @Test func `Programs that exit at once leave no socket`() throws {
        let home = try LiveProgram.home()
        for _ in 0..<20 { #expect(try run(SetterProgram.path, ["show"], home: home).error.isEmpty) }
        // Where the machine is so slow that one got as far as to listen, it has tidied up.
        let sockets = try? FileManager.default.contentsOfDirectory(atPath: home("runtime/tweaks"))
        #expect((sockets ?? []).isEmpty)
    }

    @Test func `Fifty starts a second leave no socket, and nothing hangs`() throws {
        let home = try LiveProgram.home()
        var running: [(command: RunningCommand, isKilled: Bool)] = []
        func endFirst() {
            let (command, isKilled) = running.removeFirst()
            if isKilled { command.kill() }
            #expect(command.wait().error.isEmpty)
        }
        let begin = ContinuousClock.now
        for number in 0..<(isLong ? 3000 : 50) {
            // One ends at once, the next is killed half a second later: it has a socket by then.
            let isKilled = !number.isMultiple(of: 2)
            let command = try start(SetterProgram.path, [isKilled ? "follow" : "show"], home: home)
            running.append((command, isKilled))
            if running.count > 25 { endFirst() }
            let ahead = begin + .milliseconds(20 * number) - .now
            if ahead > .zero { usleep(useconds_t(ahead / .microseconds(1))) }
        }
        while !running.isEmpty { endFirst() }
        let last = try LiveProgram(home: home)
        _ = try last.connect()
        #expect(try last.names() == ["\(last.process.processID).sock"])
    }

    @Test func `The next program removes the socket of a killed one`() throws {
        let program = try LiveProgram()
        _ = try program.connect()
        program.process.kill()
        _ = program.process.wait()
        #expect(try program.processes() == [program.process.processID])
        // Neither a file nor a socket that somebody listens at.
        try program.home.write("runtime/tweaks/notes.txt", "")
        try program.home.write("runtime/tweaks/99999999.sock.new", "")
        let (second, third) = (try LiveProgram(home: program.home), try LiveProgram(home: program.home))
        _ = (try second.connect(), try third.connect())
        let sockets = [second, third].map { "\($0.process.processID).sock" }.sorted()
        #expect(try program.names() == sockets + ["notes.txt"])
    }
}

@Suite struct `A program without a control socket` {
    /// Starts a program, lets it run until one that was started later has a socket, and ends it.
    private func expectNoSocket(_ home: TemporaryDirectory, _ environment: [String: String] = [:]) throws {
        let program = try LiveProgram(home: home, environment: environment)
        let later = try LiveProgram()
        #expect(try waitUntil { try later.processes().count == 1 })
        #expect(try program.end().isEmpty)
        let runtime = environment["XDG_RUNTIME_DIR"] ?? home("runtime")
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: runtime)) ?? []
        #expect(!names.contains { $0.contains(".sock") })
    }

    @Test func `TWEAKS_CONTROL=0 is in its environment`() throws {
        let home = try LiveProgram.home()
        try expectNoSocket(home, ["TWEAKS_CONTROL": "0"])
        #expect(access(home("runtime/tweaks"), F_OK) != 0)
    }

    @Test func `There is no directory for its socket`() throws {
        let home = try LiveProgram.home()
        try expectNoSocket(home, ["XDG_RUNTIME_DIR": home("nowhere")])
        #expect(access(home("nowhere"), F_OK) != 0)
    }

    @Test func `The directory's path is too long for a socket`() throws {
        let home = try LiveProgram.home()
        let long = home("runtime/" + String(repeating: "x", count: 80))
        try #require(mkdir(long, 0o700) == 0)
        try expectNoSocket(home, ["XDG_RUNTIME_DIR": long])
    }

    @Test(arguments: [0o755, 0o770, 0o707] as [mode_t]) func `Others may enter the directory`(mode: mode_t)
        throws
    {
        let home = try LiveProgram.home()
        try #require(mkdir(home("runtime/tweaks"), 0o700) == 0 && chmod(home("runtime/tweaks"), mode) == 0)
        try expectNoSocket(home)
    }

    @Test func `Others may replace the directory`() throws {
        let home = try LiveProgram.home()
        try #require(chmod(home("runtime"), 0o777) == 0)
        try expectNoSocket(home)
    }

    @Test func `The directory is a symbolic link`() throws {
        let home = try LiveProgram.home()
        try #require(mkdir(home("elsewhere"), 0o700) == 0)
        try #require(symlink(home("elsewhere"), home("runtime/tweaks")) == 0)
        try expectNoSocket(home)
        #expect(try FileManager.default.contentsOfDirectory(atPath: home("elsewhere")).isEmpty)
    }

    @Test(.enabled(if: geteuid() == 0, "needs root")) func `The directory belongs to another user`() throws {
        let home = try LiveProgram.home()
        try #require(
            mkdir(home("runtime/tweaks"), 0o700) == 0 && chown(home("runtime/tweaks"), 65534, 65534) == 0)
        try expectNoSocket(home)
    }
}

@Suite struct `Programs that fork or exec` {
    // With ThreadSanitizer, which ends a child that starts a thread, the library does not do it.
    @Test(.enabled(if: sanitizer != "thread"), arguments: ProgramBuild.all)
    func `A forked child has its own socket and follows the overrides`(build: ProgramBuild)
        throws
    {
        let program = try LiveProgram("fork", build: build)
        let client = try program.connect()
        _ = try client.request("subscribe")
        try program.takeStep()
        #expect(try waitUntil { try program.processes().count == 2 })
        let processes = try program.processes()
        for process in processes {
            let asked = try ControlClient(program.socket(of: process))
            #expect(try asked.request("describe").result["pid"] as? Int32 == process)
        }
        let child = try #require(processes.first { $0 != program.process.processID })
        _ = try ControlClient(program.socket(of: child)).request(
            "set", ["tweak": LiveProgram.step, "value": 5])
        // The parent has it from the file, and its client from the parent.
        #expect(try waitUntil { try client.nextChanges().last?["newValue"] as? Int == 5 })
        #expect(try program.end().isEmpty)
        #expect(try waitUntil { try program.names().isEmpty })
    }

    // With ThreadSanitizer, which ends a child that starts a thread, the library does not do it.
    @Test(.enabled(if: sanitizer != "thread"), arguments: ProgramBuild.all)
    func `A child does not keep the parent's connections`(build: ProgramBuild) throws {
        let program = try LiveProgram("fork", build: build)
        let client = try program.connect()
        _ = try client.request("describe")
        try program.takeStep()
        #expect(try waitUntil { try program.processes().count == 2 })
        program.process.kill()
        #expect(try client.next() == nil)
        #expect(waitUntil { ControlClient.connect(program.socket(of: program.process.processID)) < 0 })
    }

    // With ThreadSanitizer, which ends a child that starts a thread, the library does not do it.
    @Test(.enabled(if: sanitizer != "thread"), arguments: ProgramBuild.all)
    func `A program that goes into the background leaves one socket`(build: ProgramBuild) throws {
        let program = try LiveProgram("daemon", build: build)
        try program.takeStep()
        let parent = program.process.processID
        #expect(
            try waitUntil {
                let processes = try program.processes()
                return processes.count == 1 && processes != [parent]
            })
        #expect(try program.names().count == 1)
        // The daemon writes what its parent had not, and who edits the file meanwhile may lose that.
        let overrides = program.home("config/tweaks/live-program/overrides.json")
        #expect(
            waitUntil { (try? String(contentsOfFile: overrides, encoding: .utf8))?.contains("Step") == true })
        _ = try program.end()
        #expect(try waitUntil { try program.names().isEmpty })
    }

    @Test(arguments: ProgramBuild.all)
    func `A program that execs one with tweaks has a socket again`(build: ProgramBuild) throws {
        let program = try LiveProgram("exec", build.path("live-program"), build: build)
        let before = try program.connect()
        try program.takeStep()
        #expect(try before.next() == nil)
        // One that connects while the program changes is let down.
        #expect(waitUntil { (try? program.connect().request("describe").errorCode) == .some(nil) })
        #expect(try program.names() == ["\(program.process.processID).sock"])
        #expect(try program.end().isEmpty)
    }

    @Test func `The next program removes the socket of one that execed a program without tweaks`() throws {
        let program = try LiveProgram("exec", "/bin/sleep", "600")
        let before = try program.connect()
        try program.takeStep()
        #expect(try before.next() == nil)
        // Nor did it get inotify, and what wakes the thread.
        let descriptors = "/proc/\(program.process.processID)/fd"
        for name in try FileManager.default.contentsOfDirectory(atPath: descriptors) {
            let file = try FileManager.default.destinationOfSymbolicLink(atPath: "\(descriptors)/\(name)")
            #expect(!file.hasPrefix("anon_inode:"))
        }
        #expect(try program.processes() == [program.process.processID])
        let next = try LiveProgram(home: program.home)
        _ = try next.connect()
        #expect(try program.processes() == [next.process.processID])
        program.process.kill()
    }

    @Test(arguments: ProgramBuild.all)
    func `A program that closes all descriptors continues, and its files are left alone`(build: ProgramBuild)
        throws
    {
        let program = try LiveProgram("close", build: build)
        let client = try program.connect()
        _ = try client.request("subscribe")
        try program.takeStep()
        while try client.next() != nil {}
        let result = program.process.wait()
        #expect(result.status == 0)
        #expect(result.error.isEmpty)
    }
}
