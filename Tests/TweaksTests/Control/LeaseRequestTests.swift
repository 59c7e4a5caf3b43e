// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakProtocol
import TweakRecords

@testable import Tweaks

@Suite struct `Requests for leases and ramps` {
    private let controlled: ControlledTweaks
    private let client: ControlClient
    private var store: TweakStore { controlled.store }
    private let count = ControlledTweaks.count
    private let text = ControlledTweaks.text

    init() throws {
        controlled = try ControlledTweaks(
            SyntheticTweaks(
                .integer("Count", 5, 0...1000), .string("Text", "hello"),
                .double("Later", 0.5).with("needs-restart"),
                .double("Ratio", 0.5)))
        client = try controlled.connect()
    }

    private func value() -> Int32 { controlled.tweaks.cell(0) }

    @Test func `A lease ends with its connection and is not written`() throws {
        let file = controlled.keepOverrides()
        var other: ControlClient? = try controlled.connect()
        let answer = try other?.request("set", ["tweak": count, "value": 7, "until": "closed"]).result
        #expect(answer?["value"] as? Int == 7 && answer?["source"] as? String == "lease")
        let lease = answer?["lease"] as? [String: Any]
        #expect((lease?["by"] as? String)?.contains("\(getpid())") == true)
        #expect(lease?["remaining"] == nil)
        let tweak = try client.request("get", ["tweak": count]).result
        #expect(tweak["source"] as? String == "lease" && tweak["lease"] != nil)
        other = nil
        #expect(waitUntil { value() == 5 })
        store.flush()
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test func `A client that is only done with sending keeps its lease`() throws {
        var other: ControlClient? = try controlled.connect()
        _ = try other?.request("set", ["tweak": count, "value": 7, "until": "closed"])
        other?.finishSending()
        _ = try client.request("describe")
        #expect(value() == 7)
        other = nil
        #expect(waitUntil { value() == 5 })
    }

    @Test func `A lease for a time outlives its connection`() throws {
        var other: ControlClient? = try controlled.connect()
        let answer = try other?.request("set", ["tweak": count, "value": 7, "for": 0.2]).result
        let remaining = (answer?["lease"] as? [String: Any])?["remaining"] as? Double
        #expect((remaining ?? 1) <= 0.2)
        other = nil
        #expect(waitUntil { value() == 5 })
    }

    @Test func `A kept value takes effect when the lease ends`() throws {
        var other: ControlClient? = try controlled.connect()
        _ = try other?.request("set", ["tweak": count, "value": 7, "until": "closed"])
        let answer = try client.request("set", ["tweak": count, "value": 9]).result
        #expect(answer["value"] as? Int == 7 && answer["source"] as? String == "lease")
        #expect(answer["lease"] != nil)
        other = nil
        #expect(waitUntil { value() == 9 })
    }

    private func ineffective(_ answer: [String: Any]) -> [[String: Any]] {
        answer["ineffective"] as? [[String: Any]] ?? []
    }

    @Test(arguments: ["setMany", "reset"])
    func `What is changed below a lease is reported with the value that decides`(method: String) throws {
        _ = try client.request("set", ["tweak": count, "value": 6])
        let other = try controlled.connect()
        _ = try other.request("set", ["tweak": count, "value": 7, "until": "closed"])
        let values = ["Test": ["Values": ["Count": 9, "Ratio": 0.75] as [String: Any]]]
        let answer = try client.request(method, method == "reset" ? ["all": true] : ["values": values]).result
        let found = ineffective(answer)
        #expect(found.count == 1 && found[0]["tweak"] as? String == count && found[0]["value"] as? Int == 7)
        #expect(found[0]["source"] as? String == "lease" && found[0]["lease"] != nil)
    }

    @Test func `What is undone or reverted below a lease is reported with the value that decides`() throws {
        for (value, method) in [(8, "undo"), (9, "revert")] {
            _ = try client.request("set", ["tweak": count, "value": value])
            let other = try controlled.connect()
            _ = try other.request("set", ["tweak": count, "value": 7, "until": "closed"])
            let answer = try client.request(method).result
            #expect((answer["changes"] as? [[String: Any]])?.first?["oldValue"] as? Int == value)
            #expect(ineffective(answer).first?["value"] as? Int == 7, "\(method)")
            _ = try client.request("reset", ["all": true, "leases": "all"])
        }
    }

    @Test func `What waits for a restart is reported, and what is in effect is not`() throws {
        let values = ["Test": ["Values": ["Later": 0.75, "Ratio": 0.75] as [String: Any]]]
        let found = ineffective(try client.request("setMany", ["values": values]).result)
        #expect(found.count == 1 && found[0]["value"] as? Double == 0.5)
        #expect(found[0]["pendingValue"] as? Double == 0.75)
        let last = try client.request("setMany", ["values": ["Test": ["Values": ["Ratio": 0.25]]]]).result
        #expect(last["ineffective"] == nil)
    }

    @Test func `Several leased values are one change`() throws {
        _ = try client.request("subscribe")
        let values = ["Test": ["Values": ["Count": 7, "Ratio": 0.75] as [String: Any]]]
        _ = try client.request("setMany", ["values": values, "until": "closed", "for": 0.2])
        #expect(try client.nextChanges().count == 2)
        let back = try client.nextChanges()
        #expect(back.count == 2 && back.allSatisfy { $0["source"] as? String == "default" })
    }

    @Test func `reset ends leases, own or all`() throws {
        let other = try controlled.connect()
        _ = try other.request("set", ["tweak": count, "value": 7, "until": "closed"])
        _ = try client.request("set", ["tweak": count, "value": 8, "until": "closed"])
        #expect(try client.request("reset", ["tweak": count, "leases": "own"]).result["reset"] as? Int == 1)
        #expect(value() == 7)
        #expect(try client.request("reset", ["all": true, "leases": "own"]).result["reset"] as? Int == 0)
        #expect(try client.request("reset", ["all": true, "leases": "all"]).result["reset"] as? Int == 1)
        #expect(value() == 5)
    }

    @Test func `explain lists every lease`() throws {
        let other = try controlled.connect()
        _ = try other.request("set", ["tweak": count, "value": 7, "until": "closed"])
        _ = try client.request("set", ["tweak": count, "value": 8, "for": 100])
        let opinions =
            try client.request("explain", ["tweak": count]).result["opinions"] as? [[String: Any]] ?? []
        #expect(opinions.map { $0["source"] as? String } == ["lease", "lease", "default"])
        #expect(opinions.map { $0["value"] as? Int } == [8, 7, 5])
        #expect(opinions.prefix(2).allSatisfy { $0["lease"] is [String: Any] })
    }

    @Test func `A ramp tells its target, and is kept from the beginning`() throws {
        let file = controlled.keepOverrides()
        let answer = try client.request("set", ["tweak": count, "value": 1000, "ramp": 0.2]).result
        let ramp = answer["ramp"] as? [String: Any]
        #expect(ramp?["target"] as? Int == 1000)
        #expect(
            try file.load().admission(for: store.status(of: .test("Count")).declaration)?.value == 1000)
        // Just before the end the value is rounded to the target already.
        #expect(try waitUntil { try client.request("get", ["tweak": count]).result["ramp"] == nil })
        #expect(value() == 1000)
    }

    @Test func `A lease can be reached gradually and ends at once`() throws {
        _ = try client.request("set", ["tweak": count, "value": 100, "ramp": 0.1, "until": "closed"])
        #expect(waitUntil { value() == 100 })
        _ = try client.request("reset", ["tweak": count, "leases": "own"])
        #expect(value() == 5)
    }

    @Test(
        arguments: [
            ("Text", "value", "ramp", 2), ("Later", "value", "for", 2), ("Later", "value", "ramp", 2),
        ] as [(String, String, String, Int)])
    func `What cannot be leased or ramped is refused`(name: String, _: String, parameter: String, code: Int)
        throws
    {
        let value: Any = name == "Text" ? "bye" : 0.75
        let answer = try client.request(
            "set", ["tweak": "Test/Values/\(name)", "value": value, parameter: 1])
        #expect(answer.errorCode == code)
        let many = try client.request(
            "setMany",
            [
                "values": ["Test": ["Values": [name: value, "Count": 6]]], parameter: 0.01,
                "allOrNothing": true,
            ]
        ).result
        #expect((many["refused"] as? [Any])?.count == 1 && (many["applied"] as? [Any])?.isEmpty == true)
        #expect(self.value() == 5)
    }

    @Test(
        arguments: [["for": 0], ["for": 1e9], ["ramp": -1], ["ramp": 4000], ["until": "never"]]
            as [[String: any Sendable]])
    func `Durations have limits`(parameters: [String: any Sendable]) throws {
        let answer = try client.request("set", ["tweak": count, "value": 7].merging(parameters) { $1 })
        #expect(answer.errorCode == -32602)
        #expect(value() == 5)
    }

    @Test func `A client has a limit of leases`() throws {
        // Never dropped: each may count again, because it ends after the later ones however long these take.
        for number in 0..<ControlLimits.leases {
            _ = try client.post(
                "set", ["tweak": count, "value": 7, "until": "closed", "for": 600_000 - 100 * number])
        }
        let answer = try client.request("set", ["tweak": count, "value": 8, "until": "closed", "for": 1])
        #expect(answer.errorCode == 4)
        #expect(value() == 7)
    }

    @Test func `A tweak that comes back has its lease again`() throws {
        let store = TweakStore()
        let key = TweakKey("Made", "Values", "Number")
        var tweak: Tweak<Int>? = try store.make("Made", "Values", "Number", default: 1)
        let client = ClientIdentity.test()
        store.state.withLock { $0.layers.openLeases(of: client) }
        try store.set(
            [(key, 7)], by: .client(client), on: SetTerms(lease: Lease.Terms(connection: client)))
        #expect(tweak?.value == 7)
        try store.remove(key)
        tweak = try store.make("Made", "Values", "Number", default: 1)
        #expect(tweak?.value == 7)
        store.endLeases(of: client, worker: SerialQueue(patience: 1))
        #expect(tweak?.value == 1)
    }
}
