// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A program in C that has forked three workers, and forks another when one ends. They print their number and a value whenever it changes.
private final class Workers {
    let home: TemporaryDirectory
    let process: RunningCommand
    let pids: [Int32]

    private static let source = #"""
        #include <fbtweak.h>
        #include <signal.h>
        #include <stdio.h>
        #include <sys/prctl.h>
        #include <sys/wait.h>
        #include <unistd.h>

        static void work(int worker) {
          prctl(PR_SET_PDEATHSIG, SIGKILL);
          printf("pid %d %d\n", worker, (int)getpid());
          for (int last = -1;;) {
            int value = FBTweakValue("Pool", "Worker", "Size", 5, 0, 100);
            FBTweakMonitor("Pool", "Worker", "Load", worker + 1);
            FBTweakMonitor("Pool", "Worker", "Cost", (value - 7) * (value - 7) + worker);
            if (value != last)
              printf("%d %d\n", worker, value);
            last = value;
            fflush(stdout);
            usleep(1000);
          }
        }
        int main(void) {
          for (int worker = 0;; worker++) {
            if (fork() == 0)
              work(worker);
            /* Another one in place of each that ends. */
            if (worker >= 2)
              wait(NULL);
          }
        }

        """#

    init() throws {
        home = try TemporaryDirectory()
        try #require(mkdir(home("runtime"), 0o700) == 0)
        let result = try run(
            Locations.program("gcc"),
            [
                "-std=gnu11", "-DDEBUG", home.write("workers.c", Self.source), "-o", home("workers"),
                "-I" + (try Installation.path("include")),
            ] + (try Installation.linkerFlags), home: home)
        try #require(result.succeeded, "\(result.error)")
        let (process, home) = (try start(home("workers"), home: home), home)
        // They start in any order.
        func pids() -> [Int32] {
            let lines = process.written.output.split(separator: "\n").filter { $0.hasPrefix("pid ") }
            return lines.sorted().compactMap { Int32($0.dropFirst(6)) }
        }
        let areListening = waitUntil {
            pids().count == 3
                && ([process.processID] + pids()).allSatisfy {
                    FileManager.default.fileExists(atPath: home("runtime/tweaks/\($0).sock"))
                }
        }
        self.process = process
        self.pids = pids()
        #expect(areListening)
    }

    deinit { process.kill() }

    func tweak(_ command: String, _ arguments: String...) throws -> CommandResult {
        try run(Locations.product("tweak"), [command] + arguments, home: home)
    }

    /// The values that a worker has had.
    func values(of worker: Int) -> [Int] {
        process.written.output.split(separator: "\n").filter { $0.hasPrefix("\(worker) ") }.compactMap {
            Int($0.dropFirst(2))
        }
    }

    /// The last value of each worker.
    var values: [Int?] { (0..<3).map { values(of: $0).last } }

    /// Ends a worker, in place of which the program forks worker 3.
    func replaceWorker() { kill(pids[1], SIGKILL) }

    /// Waits until all workers have a value.
    func expect(_ value: Int, _ location: SourceLocation = #_sourceLocation) {
        #expect(waitUntil { values == [value, value, value] }, sourceLocation: location)
        #expect(values == [value, value, value], sourceLocation: location)
    }
}

@Suite struct `Forked workers of a program` {
    private let workers: Workers

    init() throws { workers = try Workers() }

    @Test func `A lease is in all of them, and its end too`() throws {
        let set = try workers.tweak("set", "workers", "Size", "10", "--for", "10min")
        #expect(set.output == "Pool/Worker/Size: 5 → 10, for 10min, in 4 processes\n")
        #expect(set.error.isEmpty)
        workers.expect(10)
        let reset = try workers.tweak("reset", "workers", "--all", "--leases")
        #expect(reset.output == "Pool/Worker/Size: 10 → 5\n" && reset.error.isEmpty)
        workers.expect(5)
    }

    @Test func `A lease ends in all of them with the command`() throws {
        let set = try start(
            Locations.product("tweak"), ["set", "workers", "Size", "10", "--while", "--", "sleep", "1000"],
            home: workers.home)
        workers.expect(10)
        set.kill()
        workers.expect(5)
    }

    @Test func `A ramp is in all of them, and its end is kept`() throws {
        let set = try workers.tweak(
            "set", "workers", "Size", "100", "--ramp", "5s", "--format", "json")
        #expect(try set.json["processes"] as? [Int32] == [workers.process.processID] + workers.pids.sorted())
        #expect(try set.json["kept"] as? Bool == true)
        workers.expect(100)
        for worker in 0..<3 { #expect(workers.values(of: worker).contains { 5 < $0 && $0 < 100 }) }
        #expect(try workers.tweak("get", "workers", "Size").output == "100\n")
    }

    @Test func `One that is forked later has the lease, which a reset ends`() throws {
        try #expect(workers.tweak("set", "workers", "Size", "10", "--for", "10min").succeeded)
        workers.replaceWorker()
        #expect(waitUntil { workers.values(of: 3) == [10] })
        // It needs a quarter of a second to listen.
        #expect(
            try waitUntil {
                try workers.tweak("reset", "workers", "--all", "--leases").succeeded
                    && workers.values(of: 3) == [10, 5]
            })
    }

    @Test func `One that is forked later ends the lease in time`() throws {
        try #expect(workers.tweak("set", "workers", "Size", "10", "--for", "8s").succeeded)
        workers.replaceWorker()
        #expect(waitUntil { workers.values(of: 3) == [10, 5] })
        #expect(waitUntil { workers.values(of: 0) == [5, 10, 5] })
    }

    @Test func `One that is forked later goes on with the ramp`() throws {
        try #expect(workers.tweak("set", "workers", "Size", "100", "--ramp", "8s").succeeded)
        workers.replaceWorker()
        #expect(waitUntil { workers.values(of: 3).last == 100 })
        #expect(workers.values(of: 3).count > 2)
    }

    @Test func `One that is forked while a command holds the lease is counted`() throws {
        let set = try start(
            Locations.product("tweak"),
            [
                "set", "workers", "Size", "10", "--while", "--", "sh", "-c",
                "touch \"$1/begun\"; until [ -e \"$1/over\" ]; do sleep 0.02; done", "sh",
                workers.home.path,
            ], home: workers.home)
        #expect(waitUntil { FileManager.default.fileExists(atPath: workers.home("begun")) })
        workers.expect(10)
        workers.replaceWorker()
        #expect(waitUntil { workers.values(of: 3) == [5] })
        #expect(waitUntil { (try? workers.tweak("ps").output.split(separator: "\n").count) == 5 })
        try workers.home.write("over", "")
        let result = set.wait()
        #expect(
            result.error.contains(
                ": 1 process that it forked while the command ran did not inherit the lease; with --for, "
                    + "forked processes inherit it\n"
            ), "\(result)")
    }

    @Test func `They follow what is kept`() throws {
        let set = try workers.tweak("set", "workers", "Size", "7", "--format", "json")
        #expect(set.status == 0 && set.error.isEmpty)
        #expect(try set.json["processes"] as? [Int32] == [workers.process.processID])
        #expect(try (set.json["following"] as? [Int32])?.sorted() == workers.pids.sorted())
        #expect(try (set.json["missed"] as? [Any])?.isEmpty == true)
        workers.expect(7)
    }

    @Test func `A process id means the process, with a warning for a lease`() throws {
        let title = "workers (\(workers.process.processID))"
        let set = try workers.tweak("set", "\(workers.process.processID)", "Size", "8", "--for", "10min")
        #expect(
            set.error
                == "tweak: warning: \(title): 3 forked processes keep their values; to change all "
                + "processes, give the name of the program\n"
        )
        #expect(set.output == "Pool/Worker/Size: 5 → 8, for 10min\n")
        #expect(workers.values == [5, 5, 5])
    }

    @Test func `A worker that does not answer is named`() throws {
        let worker = workers.pids[1]
        #expect(pause(worker))
        defer { kill(worker, SIGCONT) }
        let set = try workers.tweak("set", "workers", "Size", "9", "--for", "10min", "--format", "json")
        #expect(set.status == 75)
        #expect(
            set.error
                == "tweak: workers (\(worker)): it is running but did not receive the change: it does not answer; it may be stopped or hung\n"
        )
        let missed = try #require(try set.json["missed"] as? [[String: Any]])
        #expect(missed.map { $0["pid"] as? Int32 } == [worker])
        #expect(missed.map { $0["kind"] as? String } == ["failed"])
        #expect(waitUntil { workers.values.filter { $0 == 9 }.count == 2 })
    }

    @Test func `A worker that does not answer delays no other one`() throws {
        let worker = workers.pids[1]
        #expect(pause(worker))
        defer { kill(worker, SIGCONT) }
        // Less than the time for which the answer is awaited.
        let set = try workers.tweak("set", "workers", "Size", "9", "--for", "2.9s")
        #expect(set.status == 75)
        #expect(set.output == "Pool/Worker/Size: 5 → 9, for 2.9s, in 3 processes\n")
        // The lease of neither has ended yet.
        #expect(waitUntil { workers.values == [9, 5, 9] })
    }

    @Test func `A command is not started if a worker does not answer, which is said`() throws {
        let worker = workers.pids[1]
        #expect(pause(worker))
        defer { kill(worker, SIGCONT) }
        let ran = workers.home("ran")
        let set = try workers.tweak("set", "workers", "Size", "9", "--while", "--", "touch", ran)
        #expect(set.status == 75)
        #expect(set.output.isEmpty)
        #expect(
            set.error
                == "tweak: workers (\(worker)): it is running but did not receive the change: it does not "
                + "answer; it may be stopped or hung\ntweak: the command was not started, and the leases "
                + "end\n")
        #expect(!FileManager.default.fileExists(atPath: ran))
        workers.expect(5)
    }

    @Test func `A ramp in all processes is the same`() throws {
        let set = try workers.tweak("set", "workers", "Size", "100", "--ramp", "5s", "--all-processes")
        #expect(set.output == "Pool/Worker/Size: 5 → 100 in 5s, in 4 processes\n")
        #expect(set.error.isEmpty)
        workers.expect(100)
        for worker in 0..<3 { #expect(workers.values(of: worker).contains { 5 < $0 && $0 < 100 }) }
    }

    @Test func `A reset ends a ramp in all of them`() throws {
        try #expect(workers.tweak("set", "workers", "Size", "100", "--ramp", "1min").succeeded)
        for worker in workers.pids {
            let list = try workers.tweak("list", "\(worker)").output
            #expect(list.contains("Size") && !list.contains("lease"))
        }
        #expect(waitUntil { workers.values.allSatisfy { $0 ?? 0 > 5 } })
        try #expect(workers.tweak("reset", "workers", "--all").succeeded)
        workers.expect(5)
    }

    /// The process that has forked the others, which never stores the monitor, and these.
    private var all: [Int32] { [workers.process.processID] + workers.pids }

    @Test func `All are measured, each on its line`() throws {
        let measured = try workers.tweak("measure", "workers", "Load", "--for", "100ms")
        #expect(measured.status == 0, "\(measured)")
        #expect(
            measured.output.split(separator: "\n").sorted()
                == zip(all, 0...).map { "workers (\($0)): \($1).0" }.sorted())
        #expect(try workers.tweak("measure", "\(workers.pids[1])", "Load", "--for", "50ms").output == "2.0\n")
    }

    @Test func `Measurements have a sum and a maximum`() throws {
        for (option, expected) in [("--sum", "6.0\n"), ("--max", "3.0\n")] {
            let measured = try workers.tweak("measure", "workers", "Load", "--for", "50ms", option)
            #expect(measured.output == expected && measured.status == 0, "\(measured)")
        }
        let both = try workers.tweak("measure", "workers", "Load", "--sum", "--max")
        #expect(both.status == 64 && both.output.isEmpty)
    }

    @Test func `Measurements have a JSON form for each, and one for all`() throws {
        let lines = try workers.tweak("measure", "workers", "Load", "--for", "50ms", "--format", "json")
            .output.split(separator: "\n").map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
        #expect(lines.compactMap { $0["pid"] as? Int32 }.sorted() == all.sorted())
        for line in lines {
            let result = try #require(line["result"] as? [String: Any])
            #expect(result["tweak"] as? String == "Pool/Worker/Load" && result["changes"] as? Int == 0)
        }
        let sum = try workers.tweak(
            "measure", "workers", "Load", "--for", "50ms", "--stat", "max", "--sum", "--format", "json"
        ).json
        #expect(sum["value"] as? Double == 6 && sum["combination"] as? String == "sum")
        #expect(sum["statistic"] as? String == "max")
        #expect((sum["processes"] as? [[String: Any]])?.compactMap { $0["pid"] as? Int32 }.count == 4)
    }

    @Test func `A worker that does not answer is not measured, and the others are`() throws {
        let worker = workers.pids[1]
        #expect(pause(worker))
        defer { kill(worker, SIGCONT) }
        let measured = try workers.tweak("measure", "workers", "Load", "--for", "50ms", "--sum")
        #expect(measured.status == 75 && measured.output == "4.0\n")
        #expect(
            measured.error.contains(
                "tweak: workers (\(worker)): it does not answer; it may be stopped or hung\n"), "\(measured)")
    }

    @Test func `Other commands say that they sample one of them`() throws {
        let watch = { try workers.tweak("watch", $0, "Load", "--rate", "10", "--duration", "300ms").error }
        #expect(
            try watch("workers").contains(
                "workers (\(all[0])): 3 forked processes are not sampled; to sample one, give its process "
                    + "id\n"
            ))
        #expect(try !watch("\(all[1])").contains("forked"))
    }

    @Test func `A sweep with a sum has its values in all of them`() throws {
        let sweep = try workers.tweak(
            "sweep", "workers", "Size=6,7,8", "--measure", "last(Cost)", "--sum", "--for", "20ms", "--settle",
            "200ms", "--format", "json")
        let json = try sweep.json
        #expect(json["measure"] as? String == "sum of last(Cost)")
        let best = try #require(json["best"] as? [String: Any], "\(sweep)")
        #expect(best["values"] as? [String: Int] == ["Pool/Worker/Size": 7])
        for worker in 0..<3 { #expect(Set(workers.values(of: worker)) == [5, 6, 7, 8]) }
        workers.expect(5)
    }

    @Test func `A sweep with a sum ends when one of them does`() throws {
        let sweep = try start(
            Locations.product("tweak"),
            ["sweep", "workers", "Size=6,7,8", "--measure", "Cost", "--sum", "--for", "300ms"],
            home: workers.home)
        #expect(waitUntil { workers.values(of: 0).last == 6 })
        workers.replaceWorker()
        let result = sweep.wait()
        #expect(result.status == 69 && result.error.contains("workers ("), "\(result)")
        #expect(waitUntil { workers.values(of: 0).last == 5 && workers.values(of: 2).last == 5 })
    }

    @Test func `A sweep in one of them is refused without its id`() throws {
        let sweep = try workers.tweak("sweep", "workers", "Size=1,2", "--command", "true")
        #expect(sweep.status == 64)
        #expect(
            sweep.error.contains(
                "4 of its processes are running, and a sweep uses one; give its process id\n"))
        for pid in [workers.process.processID] + workers.pids {
            #expect(sweep.error.contains("workers (\(pid))\n"))
        }
        let measuring = try workers.tweak("sweep", "workers", "Size=1,2", "--measure", "Cost")
        #expect(measuring.status == 64)
        #expect(measuring.error.contains("give its process id, or --sum or --max for all\n"))
        #expect(workers.values == [5, 5, 5])
        for command in ["sweep", "plot", "record", "replay"] {
            #expect(try !workers.tweak(command, "--help").output.contains("--all-processes"))
        }
    }
}
