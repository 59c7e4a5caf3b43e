// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// Restarts of programs.
@Suite struct `Starting a program again` {
    /// A program in its own session, as if started without a terminal, and its page.
    private final class Started {
        let home: TemporaryDirectory
        let page: ServedPage
        let launcher: RunningCommand
        let program: [String: Any]

        /// - Parameters:
        ///   - shell: The command that starts it; `$0` is the program.
        ///   - path: A copy of the program.
        init(_ shell: String = #"exec "$0" serve"#, path: String? = nil, variables: [String: String] = [:])
            throws
        {
            let home = try TemporaryDirectory()
            self.home = home
            let path = path.map { home($0) } ?? SetterProgram.path
            if path != SetterProgram.path {
                try FileManager.default.copyItem(atPath: SetterProgram.path, toPath: path)
            }
            page = try ServedPage(home: home, environment: ["PATH": "\(home("bin")):/usr/bin:/bin"])
            launcher = try start(
                "/usr/bin/setsid", ["/bin/sh", "-c", shell, path], home: home,
                environment: ["TWEAKS_WATCH": "0"].merging(variables) { $1 }, in: home.path)
            program = try page.program { program in
                Self.processes(of: home).contains(program["pid"] as? Int32 ?? 0)
            }
        }

        deinit { for pid in Self.processes(of: home) { kill(pid, SIGKILL) } }

        /// All processes started in this home, by the test or by the page.
        private static func processes(of home: TemporaryDirectory) -> [Int32] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
            return names.compactMap { Int32($0) }.filter { pid in
                let variables = FileManager.default.contents(atPath: "/proc/\(pid)/environ") ?? Data()
                return variables.split(separator: 0).contains(Data("HOME=\(home.path)".utf8))
            }
        }

        /// The program's entry, once it satisfies the condition.
        func entry(_ isMeant: @escaping ([String: Any]) -> Bool) throws -> [String: Any] {
            try page.program { $0["id"] as? String == self.id && isMeant($0) }
        }

        var id: String { program["id"] as? String ?? "" }
        var pid: Int32 { program["pid"] as? Int32 ?? 0 }

        func plan() throws -> [String: Any] { try page.api("restart/plan", ["program": id]).json }

        func restart(_ plan: [String: Any]) throws -> HTTPAnswer {
            try page.api("restart", ["program": id, "plan": plan["plan"] ?? ""])
        }

        func link(_ pid: Int32, _ name: String) throws -> String {
            try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/\(name)")
        }

        func texts(_ pid: Int32, _ name: String) -> [String] {
            let text = try? String(contentsOfFile: "/proc/\(pid)/\(name)", encoding: .utf8)
            return (text ?? "").split(separator: "\0").map(
                String.init)
        }
    }

    @Test func `is shown before it happens`() throws {
        let started = try Started(variables: ["TWEAKS_TEST_MARK": "a secret"])
        let answer = try started.page.api("restart/plan", ["program": started.id])
        let plan = try answer.json
        #expect(plan["pid"] as? Int32 == started.pid)
        #expect(plan["executable"] as? String == SetterProgram.path)
        #expect(plan["arguments"] as? String == "\(SetterProgram.path) serve")
        #expect(plan["directory"] as? String == started.home.path)
        #expect((plan["variables"] as? [String])?.contains("TWEAKS_TEST_MARK") == true)
        #expect(!answer.body.contains("a secret"))
        #expect(plan["refusal"] == nil)
        #expect((plan["notes"] as? [String])?.first?.contains("went to a pipe") == true)
        let command = try #require(plan["command"] as? String)
        #expect(command.hasPrefix("kill \(started.pid); "))
        #expect(
            command.hasSuffix("cd \(started.home.path) && \(SetterProgram.path) serve"))
    }

    @Test func `starts the program in the same way`() throws {
        let started = try Started(variables: ["TWEAKS_TEST_MARK": "a secret"])
        let (arguments, variables) = (
            started.texts(started.pid, "cmdline"), started.texts(started.pid, "environ")
        )
        #expect(
            try started.page.api(
                "set",
                [
                    "program": started.id, "values": [["tweak": "Setter/Values/Count", "value": 6]],
                ]
            ).status == 200)
        let answer = try started.restart(started.plan())
        #expect(answer.status == 200, "\(answer.body)")
        let pid = try #require(try answer.json["pid"] as? Int32)
        #expect(pid != started.pid)
        // It may not have been reaped yet.
        #expect(started.texts(started.pid, "cmdline").isEmpty)
        #expect(started.texts(pid, "cmdline") == arguments)
        #expect(started.texts(pid, "environ") == variables)
        #expect(variables.contains("TWEAKS_TEST_MARK=a secret"))
        #expect(try started.link(pid, "cwd") == started.home.path)
        // The page shows the same program, with the values that were set.
        let tweaks = try started.page.api("tweaks", ["program": started.id]).json
        #expect((tweaks["program"] as? [String: Any])?["pid"] as? Int32 == pid)
        let count = (tweaks["tweaks"] as? [[String: Any]])?.first {
            $0["tweak"] as? String == "Setter/Values/Count"
        }
        #expect(count?["value"] as? Int == 6)
    }

    @Test func `keeps the program running when the page exits`() throws {
        let started = try Started()
        let pid = try #require(try started.restart(started.plan()).json["pid"] as? Int32)
        #expect(getsid(pid) == pid)
        for descriptor in ["0", "1", "2"] {
            #expect(try started.link(pid, "fd/\(descriptor)") == "/dev/null")
        }
        // It inherits no connection and no signal disposition from the server.
        let server = started.page.process.processID
        let sockets = try openFiles(of: server).filter { $0.hasPrefix("socket:") }
        #expect(!sockets.isEmpty)
        for file in try openFiles(of: pid) { #expect(!sockets.contains(file)) }
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let ignored = status.split(separator: "\n").first { $0.hasPrefix("SigIgn:") }.map { $0.dropFirst(8) }
        #expect(UInt64(ignored ?? "1", radix: 16).map { $0 & (1 << 0 | 1 << 1 | 1 << 14) } == 0)
        kill(server, SIGTERM)
        _ = started.page.process.wait()
        #expect(kill(pid, 0) == 0)
        kill(pid, SIGKILL)
    }

    @Test func `keeps writing to the same files`() throws {
        let started = try Started(#"exec "$0" serve >>out 2>&1"#)
        let plan = try started.plan()
        #expect((plan["notes"] as? [String])?.contains { $0.contains("went to") } == false)
        let pid = try #require(try started.restart(plan).json["pid"] as? Int32)
        #expect(try started.link(pid, "fd/1") == started.home("out"))
        // The output of the first process is kept.
        #expect(
            waitUntil {
                let text = (try? String(contentsOfFile: started.home("out"), encoding: .utf8)) ?? ""
                return text.components(separatedBy: "false 5 0.5 hello\n").count > 2
            })
    }

    @Test func `happens as shown, and only once`() throws {
        let started = try Started()
        let (first, plan) = (try started.plan(), try started.plan())
        #expect(try started.restart(first).status == 409)
        #expect(try started.restart([:]).status == 409)
        #expect(kill(started.pid, 0) == 0)
        #expect(try started.restart(plan).status == 200)
        #expect(try started.restart(plan).status == 409)
        for name in ["restart", "restart/plan"] {
            let headers = ["Authorization: Bearer \(started.page.session)"]
            #expect(try started.page.ask("GET", "/api/" + name, headers, "").status == 405)
            #expect(try started.page.api(name, ["program": "nothing", "plan": "1"]).status != 200)
        }
    }

    @Test func `starts nothing if the old process does not exit`() throws {
        let started = try Started(#"trap '' TERM; exec "$0" serve"#)
        let answer = try started.restart(started.plan())
        #expect(answer.status == 504)
        #expect(answer.body.contains("nothing was started"))
        #expect(kill(started.pid, 0) == 0)
        #expect(
            try started.entry { $0["state"] as? String == "running" }["pid"] as? Int32
                == started.pid)
    }

    @Test func `starts a program that has ended`() throws {
        let started = try Started()
        // It stays because values are kept.
        let values = [["tweak": "Setter/Values/Count", "value": 6] as [String: Any]]
        #expect(try started.page.api("set", ["program": started.id, "values": values]).status == 200)
        kill(started.pid, SIGKILL)
        let ended = try started.entry {
            $0["state"] as? String == "offline" && $0["isStartable"] as? Bool == true
        }
        #expect(ended["id"] as? String == started.id)
        let plan = try started.plan()
        #expect(plan["pid"] == nil)
        #expect((plan["command"] as? String)?.hasPrefix("cd ") == true)
        #expect(try started.restart(plan).status == 200)
        #expect(
            try started.entry { $0["state"] as? String == "running" }["pid"] as? Int32 != started.pid)
    }

    @Test func `is not offered for a program that has not run`() throws {
        let program = try SetterProgram()
        try program.writeOverrides(Data("{}".utf8))
        let page = try ServedPage(home: program.home)
        let id = try #require(
            try page.program { $0["overrides"] as? String == program.overridesPath }["id"] as? String)
        let answer = try page.api("restart/plan", ["program": id])
        #expect(answer.status == 409)
        #expect(answer.body.contains("has not run"))
    }

    @Test func `reports that the new process has ended`() throws {
        let started = try Started(path: "program")
        let path = started.home("program")
        try FileManager.default.removeItem(atPath: path)
        #expect(try (started.plan()["refusal"] as? String)?.contains("no longer exists") == true)
        try Data("#!/bin/sh\nexit 3\n".utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        let plan = try started.plan()
        #expect((plan["notes"] as? [String])?.contains { $0.contains("replaced") } == true)
        let answer = try started.restart(plan)
        #expect(answer.status == 502)
        #expect(answer.body.contains("exit status 3"))
    }

    @Test(arguments: [
        // A terminal, a pipe as standard input, a container, and a supplementary group with other permissions.
        (#"exec script -qec "exec '$0' serve" /dev/null"#, "terminal"),
        (#"sleep 1000 | "$0" serve"#, "standard input"),
        (#"exec unshare --map-root-user --mount "$0" serve"#, "container"),
        (#"exec setpriv --regid 65534 --clear-groups "$0" serve"#, "another user"),
        (#"exec gdb --nx --batch -ex run --args "$0" serve"#, "debugger"),
    ])
    func `explains why it is refused`(shell: String, reason: String) throws {
        // Unprivileged namespaces may be disabled, and only root can change groups.
        if ["container", "another user"].contains(reason) {
            guard try run("/bin/sh", ["-c", shell, "/bin/true"], home: TemporaryDirectory()).succeeded else {
                return
            }
        }
        let started = try Started(shell)
        let plan = try started.plan()
        #expect((plan["refusal"] as? String)?.contains(reason) == true, "\(plan)")
        #expect(plan["plan"] == nil)
        #expect((plan["command"] as? String)?.hasSuffix("serve") == true)
        #expect(kill(started.pid, 0) == 0)
    }

    /// The directory in which a service manager creates control groups, or `nil` if it cannot be written.
    private static func groups() throws -> String? {
        try String(contentsOfFile: "/proc/self/mounts", encoding: .utf8).split(separator: "\n").compactMap {
            line in
            let words = line.split(separator: " ").map(String.init)
            let isMeant = words[2] == "cgroup2" || words[2] == "cgroup" && words[3].contains("name=systemd")
            return isMeant && access(words[1] + "/cgroup.procs", W_OK) == 0 ? words[1] : nil
        }.first
    }

    @Test(arguments: [true, false])
    func `leaves a service to its manager`(isOfUser: Bool) throws {
        let unit = "tweaks-\(UUID().uuidString).service"
        let above = "tweaks-\(UUID().uuidString)"
        let name = isOfUser ? "\(above)/user@\(geteuid()).service/\(unit)" : "\(above)/\(unit)"
        guard let groups = try Self.groups() else { return }
        let group = "\(groups)/\(name)"
        guard
            (try? FileManager.default.createDirectory(atPath: group, withIntermediateDirectories: true))
                != nil
        else {
            return
        }
        defer {
            for path in [group, (group as NSString).deletingLastPathComponent, "\(groups)/\(above)"] {
                _ = waitUntil { rmdir(path) == 0 || errno == ENOENT }
            }
        }
        let started = try Started(#"echo $$ >'\#(group)/cgroup.procs' && exec "$0" serve"#)
        let manager = """
            #!/bin/sh
            echo "$*" >>'\(started.home("calls"))'
            cat '\(started.home("main"))'
            """
        try started.home.write("bin/systemctl", Data(manager.utf8))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: started.home("bin/systemctl"))
        // A child of a service is not the service.
        try started.home.write("main", Data("1\n".utf8))
        #expect(try started.plan()["unit"] == nil)
        try started.home.write("main", Data("\(started.pid)\n".utf8))
        let plan = try started.plan()
        let option = isOfUser ? "--user " : ""
        #expect(plan["command"] as? String == "systemctl \(option)restart \(unit)")
        if isOfUser {
            #expect(plan["unit"] as? String == unit)
            #expect(try started.restart(plan).status == 200)
            let calls = try String(contentsOfFile: started.home("calls"), encoding: .utf8)
            #expect(calls.hasSuffix("--user restart -- \(unit)\n"))
        } else {
            #expect((plan["refusal"] as? String)?.contains(unit) == true)
        }
        #expect(kill(started.pid, 0) == 0)
        kill(started.pid, SIGKILL)
    }
}
