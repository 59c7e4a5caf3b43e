// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakProtocol
import TweakRecords

@testable import Tweaks

@Suite struct `A request to change tweaks` {
    private let controlled: ControlledTweaks
    private let client: ControlClient
    private var store: TweakStore { controlled.store }
    private let count = ControlledTweaks.count
    private let text = ControlledTweaks.text

    init() throws {
        controlled = try ControlledTweaks(
            SyntheticTweaks(
                .integer("Count", 5, 0...1000), .string("Text", "hello"), .bool("Flag", false),
                .double("Later", 0.5).with("needs-restart"), .bool("Fixed", true).with("read-only"),
                .action("Act"), .integer("Size", 1).named("Other", "Values", "Size"),
                .integer("Count", 1).named("Other", "Values", "Count"),
                .double("P", 1, 0...10).named("Gated", "Loop", "P"),
                .double("I", 2, 0...10).named("Gated", "Loop", "I"),
                gates: [GateRecord(category: "Gated", capacity: 1)]))
        client = try controlled.connect()
    }

    private func value(_ name: String) throws -> TweakValue { try store.value(of: .test(name)) }

    private func change(
        _ changes: [[String: Any]], _ others: [String: Any] = [:]
    ) throws -> (number: Int?, changes: [[String: Any]], refused: [[String: Any]]) {
        let request = others.merging(["changes": changes]) { first, _ in first }
        let answer = try client.request("change", request)
        #expect(answer.errorCode == nil)
        return (
            answer.result["number"] as? Int,
            try #require(answer.result["changes"] as? [[String: Any]]),
            try #require(answer.result["refused"] as? [[String: Any]])
        )
    }

    @Test func `sets several by short names, values and texts, as one change with one number`() throws {
        let before = try client.request("history").result["changes"] as? [[String: Any]] ?? []
        let answer = try change([
            ["tweak": "Test/Values/Cou", "text": "x*2"], ["tweak": "text", "value": "bye"],
            ["tweak": "flag", "text": "toggle"],
        ])
        #expect(answer.refused.isEmpty)
        #expect(answer.changes.map { $0["tweak"] as? String } == [count, text, "Test/Values/Flag"])
        #expect(answer.changes.map { $0["oldValue"] as? Int } == [5, nil, 0])
        #expect(answer.changes.map { $0["newValue"] as? Int } == [10, nil, 1])
        #expect(answer.changes.allSatisfy { $0["source"] as? String == "override" })
        let history = try client.request("history").result["changes"] as? [[String: Any]] ?? []
        #expect(
            history.dropFirst(before.count).map { $0["number"] as? Int } == [
                answer.number, answer.number, answer.number,
            ])
        #expect(try value("Count") == 10 && value("Text") == "bye" && value("Flag") == true)
    }

    @Test func `describes the program and the changed tweaks on request`() throws {
        let changes: [String: Any] = [
            "changes": [["tweak": count, "text": "+=1"], ["tweak": "text", "value": "bye"]]
        ]
        let described = try client.request("change", changes.merging(["describing": true]) { $1 }).result
        let tweaks = try #require(described["tweaks"] as? [[String: Any]])
        #expect(tweaks.map { $0["tweak"] as? String } == [count, text])
        #expect(tweaks[0]["value"] as? Int == 6 && tweaks[0]["default"] as? Int == 5)
        let program = try #require(described["program"] as? [String: Any])
        #expect(program["pid"] as? Int32 == getpid())
        #expect(
            (described["changes"] as? [[String: Any]])?.map { $0["oldSource"] as? String } == [
                "default", "default",
            ])
        let silent = try client.request("change", changes).result
        #expect(silent["tweaks"] == nil && silent["program"] == nil)
        #expect((silent["changes"] as? [[String: Any]])?.first?["oldSource"] as? String == "override")
    }

    @Test func `takes no exact name for an abbreviation`() throws {
        let answer = try change([["tweak": "Test/Values/Cou", "value": 1]], ["exactNames": true])
        #expect(answer.refused.first?["kind"] as? String == "unknownTweak")
        #expect(try change([["tweak": count, "value": 1]], ["exactNames": true]).refused.isEmpty)
        #expect(try value("Count") == 1)
    }

    @Test func `evaluates each change with the values of those before`() throws {
        let answer = try change([
            ["tweak": count, "text": "+=1"], ["tweak": count, "text": "*=10"],
            ["tweak": "flag", "text": "on"],
            ["tweak": "flag", "text": "toggle"],
        ])
        #expect(answer.changes.map { $0["newValue"] as? Int } == [60, 0])
        let reset = try change([["tweak": count, "reset": true], ["tweak": count, "text": "+=1"]])
        #expect(reset.changes.map { $0["newValue"] as? Int } == [6])
        #expect(reset.changes.map { $0["oldValue"] as? Int } == [60])
    }

    @Test func `loses no increment of concurrent clients`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                let other = try controlled.connect()
                group.addTask { [count] in
                    for _ in 0..<25 {
                        _ = try other.request(
                            "change",
                            [
                                "changes": [
                                    ["tweak": count, "text": "+=1"],
                                    ["tweak": "Other/Values/Size", "text": "+=1"],
                                ]
                            ])
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try value("Count") == 105)
        #expect(try store.value(of: TweakKey("Other", "Values", "Size")) == 101)
    }

    @Test func `says to which limit a value was clamped`() throws {
        let answer = try change([["tweak": count, "value": 7000], ["tweak": "size", "text": "1e12"]])
        #expect(answer.changes.map { $0["newValue"] as? Int } == [1000, Int(Int32.max)])
        #expect(answer.changes.map { $0["clampedTo"] as? String } == ["maximum", "type"])
        #expect(
            try change([["tweak": count, "value": -1]]).changes.first?["clampedTo"] as? String == "minimum")
        #expect(try change([["tweak": count, "value": 1000]]).changes.first?["clampedTo"] == nil)
    }

    @Test(arguments: [
        (["tweak": "Test/Values/Coumt", "value": 1] as [String: any Sendable], "unknownTweak"),
        (["tweak": "count", "value": 1], "ambiguousName"),
        (["tweak": "Values/", "value": 1], "unknownTweak"),
        (["tweak": "a/b/c/d", "value": 1], "malformedName"), (["tweak": "flag", "value": 7], "refusedValue"),
        (["tweak": "flag", "text": "perhaps"], "refusedValue"),
        (["tweak": "fixed", "value": true], "notSettable"),
        (["tweak": "act", "value": 1], "notSettable"), (["tweak": "act", "reset": true], "notSettable"),
    ])
    func `names the kind of what it refuses, and changes nothing`(
        wrong: [String: any Sendable], kind: String
    ) throws {
        let answer = try change([["tweak": text, "value": "bye"], wrong])
        #expect(answer.changes.isEmpty && answer.number == nil)
        #expect(answer.refused.map { $0["kind"] as? String } == [kind])
        #expect(answer.refused.map { $0["index"] as? Int } == [1])
        #expect((answer.refused.first?["message"] as? String)?.isEmpty == false)
        #expect(try value("Text") == "hello")
    }

    @Test func `names what was probably meant and what is allowed`() throws {
        let unknown = try change([["tweak": "Test/Values/Coumt", "value": 1]]).refused.first
        #expect(unknown?["nearest"] as? [String] == [count])
        let ambiguous = try change([["tweak": "count", "value": 1]]).refused.first
        #expect(ambiguous?["nearest"] as? [String] == ["Other/Values/Count", count])
        let dotted = try change([["tweak": "Test.Values.Text", "value": "bye"]]).refused.first
        #expect(dotted?["nearest"] as? [String] == [text])
        let refused = try change([["tweak": count, "value": true]]).refused.first
        #expect(refused?["allowed"] as? String == "an integer from 0 to 1000")
        #expect(refused?["tweak"] as? String == count)
    }

    @Test func `makes the other changes if that is wanted`() throws {
        let answer = try change(
            [["tweak": "nobody", "value": 1], ["tweak": text, "value": "bye"]], ["allOrNothing": false])
        #expect(answer.refused.map { $0["index"] as? Int } == [0])
        #expect(answer.changes.map { $0["newValue"] as? String } == ["bye"])
        #expect(try value("Text") == "bye")
    }

    @Test func `can reset the others, and tells which had another value`() throws {
        try store.set("bye", for: .test("Text"))
        let answer = try change([["tweak": count, "value": 7]], ["resettingOthers": true])
        #expect(answer.changes.map { $0["tweak"] as? String } == [count, text])
        #expect(answer.changes.map { $0["newValue"] as? String } == [nil, "hello"])
        #expect(try value("Text") == "hello" && value("Count") == 7)
    }

    @Test func `tells in a dry run what it would do`() throws {
        let answer = try change(
            [
                ["tweak": count, "text": "+=1"], ["tweak": "later", "value": 0.75],
                ["tweak": "P", "value": 3],
            ],
            ["dryRun": true])
        #expect(answer.number == nil && answer.refused.isEmpty)
        #expect(answer.changes.map { $0["newValue"] as? Double } == [6, 0.5, 1])
        #expect(answer.changes.map { $0["pendingValue"] as? Double } == [nil, 0.75, 3])
        #expect(answer.changes.map { $0["waitsFor"] as? String } == [nil, "restart", "gate"])
        #expect(try value("Count") == 5)
        #expect(try client.request("get", ["tweak": "Test/Values/Later"]).result["pendingValue"] == nil)
    }

    @Test func `tells what waits for a restart or a gate`() throws {
        let answer = try change([["tweak": "later", "value": 0.75], ["tweak": "P", "value": 3]])
        #expect(answer.changes.map { $0["newValue"] as? Double } == [0.5, 1])
        #expect(answer.changes.map { $0["pendingValue"] as? Double } == [0.75, 3])
        #expect(answer.changes.map { $0["waitsFor"] as? String } == ["restart", "gate"])
        #expect(answer.changes.map { $0["gate"] as? String } == [nil, "Gated"])
    }

    @Test func `is refused as a whole if it does not fit into a gate`() throws {
        let answer = try change([
            ["tweak": count, "value": 7], ["tweak": "P", "value": 3], ["tweak": "I", "value": 3],
        ])
        #expect(answer.changes.isEmpty)
        #expect(answer.refused.map { $0["kind"] as? String } == ["gate"])
        #expect(answer.refused.map { $0["index"] as? Int } == [1])
        #expect(try value("Count") == 5)
    }

    @Test func `tells who decides if it is not the new value`() throws {
        let other = try controlled.connect()
        _ = try other.request("set", ["tweak": count, "value": 7, "until": "closed"])
        let answer = try change([["tweak": count, "value": 9]])
        #expect(
            answer.changes.first?["oldValue"] as? Int == 7 && answer.changes.first?["newValue"] as? Int == 7)
        #expect(answer.changes.first?["givenValue"] as? Int == 9)
        #expect(answer.changes.first?["source"] as? String == "lease")
        #expect((answer.changes.first?["lease"] as? [String: Any])?["hiddenValue"] as? Int == 9)
    }

    @Test func `can lease and lead values, but no reset`() throws {
        let leased = try change([["tweak": count, "value": 9]], ["for": 100, "ramp": 50])
        #expect(leased.changes.first?["newValue"] as? Int == 5)
        #expect((leased.changes.first?["ramp"] as? [String: Any])?["target"] as? Int == 9)
        let refused = try change([["tweak": text, "value": "bye"]], ["ramp": 1]).refused
        #expect(refused.map { $0["kind"] as? String } == ["refusedTerms"])
        let reset = try change([["tweak": count, "reset": true]], ["for": 100]).refused
        #expect(reset.map { $0["kind"] as? String } == ["refusedTerms"])
        #expect(
            try client.request(
                "change", ["changes": [["tweak": count, "value": 1]], "for": 1, "resettingOthers": true]
            ).errorCode == -32602)
    }

    @Test(arguments: [
        #"{"tweak": "Test/Values/Count"}"#, #"{"tweak": "Test/Values/Count", "value": 1, "text": "2"}"#,
        #"{"tweak": "Test/Values/Count", "reset": false}"#, #"{"value": 1}"#,
        #"{"tweak": "Test/Values/Count", "vaule": 1, "text": "2"}"#, #"{"tweak": 7, "value": 1}"#, "7",
        #"{"tweak": "Test/Values/Count", "text": null}"#,
    ])
    func `refuses what is no change`(wrong: String) throws {
        let change = try JSONSerialization.jsonObject(with: Data(wrong.utf8), options: .fragmentsAllowed)
        #expect(try client.request("change", ["changes": [change]]).errorCode == -32602)
        #expect(try value("Count") == 5)
    }

    @Test func `is told with its number and the client's tag`() throws {
        _ = try client.request("subscribe")
        let answer = try change(
            [["tweak": count, "value": 6], ["tweak": "flag", "text": "toggle"]], ["tag": "a drag"])
        let changes = try client.nextChanges()
        #expect(answer.number != nil && changes.count == 2)
        #expect(changes.allSatisfy { $0["tag"] as? String == "a drag" })
        #expect(changes.allSatisfy { $0["number"] as? Int == answer.number })
        try store.set(7, for: .test("Count"))
        let own = try #require(client.nextChanges().first)
        #expect(own["tag"] == nil && own["number"] as? Int == answer.number.map { $0 + 1 })
        let undo = try client.request("undo", ["number": own["number"] ?? 0])
        #expect(undo.errorCode == nil)
        #expect(try client.nextChanges().map { $0["number"] as? Int } == [answer.number.map { $0 + 2 }])
    }

    @Test func `is told with its number and tag when it passes a gate`() throws {
        _ = try client.request("subscribe")
        let answer = try change([["tweak": "Gated/Loop/P", "value": 3]], ["tag": "a drag"])
        controlled.tweaks.loop().pass()
        let changes = try client.nextChanges()
        #expect(changes.map { $0["tag"] as? String } == ["a drag"])
        #expect(answer.number != nil && changes.map { $0["number"] as? Int } == [answer.number])
    }

    @Test func `has no number without a history`() throws {
        store.historySize = 0
        _ = try client.request("subscribe")
        #expect(try change([["tweak": count, "value": 6]], ["tag": "a drag"]).number == nil)
        let changes = try client.nextChanges()
        #expect(changes.map { $0["tag"] as? String } == ["a drag"] && changes[0]["number"] == nil)
    }

    @Test func `has a tag of at most 100 bytes`() throws {
        let changes = [["tweak": count, "value": 6]]
        func request(_ tag: String) throws -> Int? {
            try client.request("change", ["changes": changes, "tag": tag]).errorCode
        }
        #expect(try request(String(repeating: "ä", count: 50)) == nil)
        #expect(try request(String(repeating: "ä", count: 51)) == -32602)
    }

    @Test func `without changes does nothing`() throws {
        let answer = try change([])
        #expect(answer.changes.isEmpty && answer.refused.isEmpty && answer.number == nil)
    }

    @Test func `is among the methods that a program names`() throws {
        let methods = try #require(try client.request("describe").result["methods"] as? [String])
        #expect(methods.contains("change") && methods.contains("setMany"))
    }
}
