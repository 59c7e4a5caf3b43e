// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import RemoteValues
import TestSupport
import Testing
import TweakJSON
import TweakOverrides
import TweakRecords

@Suite struct `Three members of etcd` {
    let host: AgentHost
    let etcd: EtcdMembers
    private let tweak = "Features/search/enabled"

    init() throws {
        (host, etcd) = (try AgentHost(source: "fleet"), try EtcdMembers(3))
        try etcd.put(tweak, "{ \"value\": true }")
    }

    @Test func `report a change although the leader is killed`() throws {
        let leader = try etcd.leader()
        // At first the agent may be with any of them.
        try host.follow(etcd.endpoints, "\"interval\": 1, \"timeout\": 0.5")
        let result = try host.following { (_) throws in
            #expect(try waitUntil { try host.flag(tweak) == true })
            etcd.kill(leader)
            #expect(
                try waitUntil { try host.fleet("set", tweak, "off").succeeded })
            #expect(try waitUntil { try host.flag(tweak) == false })
        }
        #expect(result.status == 0)
    }

    @Test func `lose an agent to another member if one is cut off`() throws {
        // Of this one alone it would hear nothing.
        try host.follow(Array(etcd.endpoints[..<2]), "\"interval\": 1, \"timeout\": 0.5")
        try host.following { (_) throws in
            #expect(try waitUntil { try host.flag(tweak) == true })
            etcd.pause(2)
            etcd.pause(1)
            #expect(try waitUntil { try host.problem()?.contains("none of 2 members can be read") == true })
            #expect(try host.flag(tweak) == true)
            etcd.resume(1)
            etcd.resume(2)
            #expect(try waitUntil { try host.fleet("set", tweak, "off").succeeded })
            #expect(try waitUntil { try host.flag(tweak) == false })
            #expect(try waitUntil { try host.problem() == nil })
        }
    }

    @Test func `are changed by a command that waits for a leader`() throws {
        try host.follow(etcd.endpoints, "\"timeout\": 60")
        for member in 1...2 { etcd.kill(member) }
        let command = try start(
            AgentHost.program,
            ["fleet", "set", "--configuration", host.home("agent.json"), "search", tweak, "off"],
            home: host.home)
        #expect(waitUntil { command.written.error.contains("; trying for 60.0 seconds\n") })
        try etcd.restart(1)
        let result = command.wait()
        #expect(result.succeeded, "\(result.error)")
        #expect(result.output.hasPrefix("\(tweak): true → false (revision "), "\(result.output)")
        #expect(result.error.split(separator: "\n").count == 1, "\(result.error)")
    }

    @Test func `report why a command did not find a leader in time`() throws {
        try host.follow(etcd.endpoints, "\"timeout\": 0.5")
        for member in 1...2 { etcd.kill(member) }
        let result = try host.fleet("set", tweak, "off")
        #expect(result.status == EX_UNAVAILABLE)
        #expect(result.error.contains("none of 3 members answers; "), "\(result.error)")
        for endpoint in etcd.endpoints { #expect(result.error.contains("\(endpoint): "), "\(result.error)") }
        #expect(result.error.hasSuffix("; tried for 0.5 seconds\n"), "\(result.error)")
    }

    /// What one of many followers has seen.
    private struct Seen {
        var last: Int?
        var version = 0
        var goesBack = false
    }

    /// In the long form 1,000 changes and 200 watchers.
    @Test func `leave all watchers with the last state if one is killed during changes`()
        async throws
    {
        var cluster = EtcdCluster(endpoints: etcd.endpoints)
        cluster.interval = .seconds(2)
        cluster.timeout = .seconds(20)
        let application = EtcdSettings(name: "chaos", cluster: cluster)
        let key = TweakKey("Chaos", "Values", "Number")
        let changes = isLong ? 1000 : 150
        let seen = (0..<(isLong ? 200 : 20)).map { _ in Locked(Seen()) }
        let watchers = try seen.map { seen in
            let follower = try RemoteFollower(application)
            return Task {
                await follower.follow(from: nil) { (file) throws(OverridesError) in
                    guard case .integer(let number)? = file.values[key]?.tweakValue else { return }
                    seen.withLock { seen in
                        if let last = seen.last, number < last { seen.goesBack = true }
                        if let version = file.version {
                            if version < seen.version { seen.goesBack = true }
                            seen.version = version
                        }
                        seen.last = Int(number)
                    }
                } report: { _ in
                }
            }
        }
        let editor = try FleetEditor(application)
        let victim = try etcd.leader()
        let isBack = Locked(false)
        for number in 1...changes {
            if number == changes / 3 { etcd.kill(victim) }
            if number == changes * 2 / 3 {
                let etcd = etcd
                Thread.detachNewThread {
                    try? etcd.restart(victim)
                    isBack.withLock { $0 = true }
                }
            }
            _ = try await editor.change(by: "chaos", why: nil) { _ in
                [key: FleetValue(.integer(Int128(number)))]
            }
        }
        for _ in 0..<100_000 where !seen.allSatisfy({ $0.withLock { $0.last } == changes }) {
            try await Task.sleep(for: .milliseconds(3))
        }
        let ends = seen.map { seen in seen.withLock { $0 } }
        let missed = ends.filter { $0.last != changes }
        let confused = ends.filter(\.goesBack)
        #expect(missed.isEmpty)
        #expect(confused.isEmpty)
        while !isBack.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(3)) }
        for watcher in watchers { watcher.cancel() }
        for watcher in watchers { await watcher.value }
        await editor.end()
        // The thread may still have the cluster, whose members would be left behind.
        etcd.stop()
    }
}
#endif
