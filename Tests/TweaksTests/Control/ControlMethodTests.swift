// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakRecords

@testable import Tweaks

/// The functions of the actions here.
private let runs = Locked(0)
private let countRun: @convention(c) (UnsafeMutableRawPointer?) -> Void = { _ in runs.withLock { $0 += 1 } }

@Suite struct `Requests of clients` {
    private let controlled: ControlledTweaks
    private let client: ControlClient
    private var store: TweakStore { controlled.store }
    private let count = ControlledTweaks.count
    private let text = ControlledTweaks.text

    init() throws {
        let action = UInt64(UInt(bitPattern: unsafeBitCast(countRun, to: UnsafeRawPointer.self)))
        controlled = try ControlledTweaks(
            SyntheticTweaks(
                .integer("Count", 5, 0...10), .string("Text", "hello"), .bool("Flag", false),
                .double("Later", 0.5).with("needs-restart"), .bool("Fixed", true).with("read-only"),
                .action("Act", function: action), .integer("Size", 1).named("Other", "Values", "Size"),
                .color("Colour", TweakColor(red: 0x33, green: 0x66, blue: 0xcc))))
        client = try controlled.connect()
    }

    @Test func `describe identifies the program`() throws {
        let file = controlled.keepOverrides()
        let answer = try client.request("describe").result
        let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        #expect(answer["executable"] as? String == program.path)
        #expect(answer["application"] as? String == program.lastPathComponent)
        #expect(answer["pid"] as? Int32 == getpid())
        #expect(answer["protocol"] as? Int == 1)
        #expect(answer["tweaks"] as? Int == 8)
        #expect(answer["overrides"] as? String == file.path)
        let version = try String(
            contentsOfFile: Locations.package + "/tools/development/packaging/VERSION", encoding: .utf8)
        #expect(answer["version"] as? String == version.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    @Test func `The first change of each client is answered with the outcome of its own write`() throws {
        let file = controlled.keepOverrides()
        #expect(try client.request("set", ["tweak": count, "value": 7]).errorCode == nil)
        // A folder cannot be opened for locking.
        let lock = file.path + ".lock"
        try FileManager.default.removeItem(atPath: lock)
        try FileManager.default.createDirectory(atPath: lock, withIntermediateDirectories: false)
        let other = try controlled.connect()
        #expect(try other.request("set", ["tweak": count, "value": 8]).errorCode == 5)
        try FileManager.default.removeItem(atPath: lock)
        let third = try controlled.connect()
        #expect(try third.request("set", ["tweak": count, "value": 9]).errorCode == nil)
        #expect(try file.load().value(of: .test("Count")) == .integer(9))
    }

    private func names(_ parameters: [String: Any]) throws -> [String] {
        let tweaks = try client.request("list", parameters).result["tweaks"] as? [[String: Any]] ?? []
        return tweaks.compactMap { $0["name"] as? String }
    }

    @Test func `list shows all tweaks in the order of declaration, or some`() throws {
        let test = ["Count", "Text", "Flag", "Later", "Fixed", "Act", "Colour"]
        #expect(try names([:]) == test.dropLast() + ["Size", "Colour"])
        #expect(try names(["category": "Test"]) == test)
        #expect(try names(["category": "Other", "collection": "Values"]) == ["Size"])
        #expect(try names(["category": "Nobody's"]).isEmpty)
    }

    @Test func `get tells all about a tweak`() throws {
        let answer = try client.request("get", ["tweak": count]).result
        #expect(answer["tweak"] as? String == count)
        #expect(answer["type"] as? String == "int32")
        #expect(answer["value"] as? Int == 5)
        #expect(answer["default"] as? Int == 5)
        #expect(answer["source"] as? String == "default")
        #expect(answer["minimum"] as? Int == 0)
        #expect(answer["maximum"] as? Int == 10)
        #expect(answer["location"] as? String == "test.c:1")
        #expect(answer["readOnly"] == nil)
        #expect(try client.request("get", ["tweak": "Test/Values/Fixed"]).result["readOnly"] as? Bool == true)
        #expect(try client.request("get", ["tweak": "Test/Values/Act"]).result["value"] is NSNull)
    }

    @Test func `set takes a value and keeps it`() throws {
        let file = controlled.keepOverrides()
        let answer = try client.request("set", ["tweak": count, "value": 7])
        #expect(answer.errorCode == nil)
        #expect(answer.result["tweak"] as? String == count)
        #expect(answer.result["value"] as? Int == 7)
        #expect(answer.result["wasClamped"] as? Bool == false)
        #expect(answer.result["source"] as? String == "override")
        #expect(controlled.tweaks.cell(0, as: Int32.self) == 7)
        // The answer came after the write.
        #expect(try file.load().admission(for: store.status(of: .test("Count")).declaration)?.value == 7)
    }

    @Test(arguments: [
        ("Flag", "on", "true"), ("Count", "0x9", "9"), ("Colour", "#fff", "#ffffff"), ("Text", "7", "7"),
    ])
    func `set accepts typed text`(name: String, typed: String, value: String) throws {
        let answer = try client.request("set", ["tweak": "Test/Values/\(name)", "text": typed])
        #expect(answer.errorCode == nil)
        #expect(try store.value(of: .test(name)).description == value)
    }

    @Test func `set reports that a number was clamped`() throws {
        let answer = try client.request("set", ["tweak": count, "value": 70])
        #expect(answer.result["value"] as? Int == 10)
        #expect(answer.result["wasClamped"] as? Bool == true)
    }

    @Test func `set reports a value that waits for a restart`() throws {
        let answer = try client.request("set", ["tweak": "Test/Values/Later", "value": 0.75]).result
        #expect(answer["value"] as? Double == 0.5)
        #expect(answer["pendingValue"] as? Double == 0.75)
        #expect(
            try client.request("get", ["tweak": "Test/Values/Later"]).result["pendingValue"] as? Double
                == 0.75)
    }

    @Test(
        arguments: [
            ("Count", "\"many\"", "an integer from 0 to 10"), ("Count", "true", "an integer from 0 to 10"),
            ("Count", "1.5", "an integer from 0 to 10"), ("Count", "[1]", "an integer from 0 to 10"),
            ("Flag", "1", "true or false"), ("Text", "{}", "text"), ("Fixed", "false", nil),
            ("Act", "1", nil),
        ] as [(String, String, String?)])
    func `set refuses an invalid value and says what is allowed`(
        name: String, json: String, allowed: String?
    )
        throws
    {
        let before = store.snapshot()
        try client.send(
            line:
                #"{"jsonrpc":"2.0","id":99,"method":"set","params":{"tweak":"Test/Values/\#(name)","value":\#(json)}}"#
        )
        let answer = try client.answer(to: 99)
        #expect(answer.errorCode == 2)
        #expect(answer.errorData["allowed"] as? String == allowed)
        #expect(answer.errorMessage.contains("Test/Values/\(name)"))
        #expect(store.snapshot() == before)
    }

    @Test(arguments: [[:], ["value": 1, "text": "1"]] as [[String: any Sendable]])
    func `set takes either a value or a text`(parameters: [String: any Sendable]) throws {
        let answer = try client.request("set", ["tweak": count].merging(parameters) { $1 })
        #expect(answer.errorCode == -32602)
    }

    @Test(arguments: ["get", "set", "reset", "run", "explain"])
    func `An unknown tweak is an error with names that may be meant`(method: String) throws {
        var parameters: [String: Any] = ["tweak": "Test/Values/Cuont"]
        if method == "set" { parameters["value"] = 1 }
        let answer = try client.request(method, parameters)
        #expect(answer.errorCode == 1)
        #expect(answer.errorData["nearest"] as? [String] == [count])
    }

    @Test func `reset takes overrides away, one, some or all, and counts them`() throws {
        func set() throws {
            for name in [count, text, "Other/Values/Size"] {
                _ = try client.request("set", ["tweak": name, "text": "3"])
            }
        }
        func reset(_ parameters: [String: Any]) throws -> Int? {
            try client.request("reset", parameters).result["reset"] as? Int
        }
        try set()
        #expect(try reset(["tweak": count]) == 1)
        #expect(try reset(["tweak": count]) == 0)
        #expect(try store.value(of: .test("Count")) == 5)
        #expect(try store.value(of: .test("Text")) == "3")
        try set()
        #expect(try reset(["category": "Test", "collection": "Values"]) == 2)
        #expect(try reset(["category": "Other"]) == 1)
        try set()
        #expect(try reset(["all": true]) == 3)
        #expect(try client.request("reset", ["category": "Nobody's"]).errorCode == 1)
        #expect(try client.request("reset", ["tweak": "Test/Values/Act"]).errorCode == 2)
        for wrong in [[:], ["all": false], ["tweak": count, "all": true], ["collection": "Values"]]
            as [[String: Any]]
        {
            #expect(try client.request("reset", wrong).errorCode == -32602)
        }
    }

    @Test func `setMany sets what it can as one change and reports the rest`() throws {
        let calls = Recorded<[TweakKey]>()
        let observation = store.addObserver(of: nil) { _ in .together { calls.append($0.map(\.key).sorted()) }
        }
        defer { observation.cancel() }
        let answer = try client.request(
            "setMany",
            ["values": ["Test": ["Values": ["Count": 70, "Text": "bye", "Flag": 1, "Nobody's": 1]]]]
        ).result
        #expect(answer["applied"] as? [String] == [count, text])
        #expect(answer["clamped"] as? [String] == [count])
        #expect(answer["unknown"] as? [String] == ["Test/Values/Nobody's"])
        let refused = try #require(answer["refused"] as? [[String: String]])
        #expect(refused.map { $0["tweak"] } == ["Test/Values/Flag"])
        #expect(refused.first?["message"]?.contains("true or false") == true)
        #expect(calls.all == [[.test("Count"), .test("Text")]])
        #expect(try store.value(of: .test("Count")) == 10)
    }

    @Test func `setMany can set all values or none`() throws {
        func set(_ values: [String: Any]) throws -> [String: Any] {
            try client.request(
                "setMany",
                ["values": ["Test": ["Values": values]], "resettingOthers": true, "allOrNothing": true]
            ).result
        }
        try store.set("bye", for: .test("Text"))
        for wrong in ["Flag", "Nobody's"] {
            let answer = try set(["Count": 70, wrong: 1])
            #expect(answer["applied"] as? [String] == [] && answer["clamped"] as? [String] == [])
            #expect(try store.value(of: .test("Count")) == 5 && store.value(of: .test("Text")) == "bye")
        }
        #expect(try set(["Count": 70, "Flag": true])["applied"] as? [String] == [count, "Test/Values/Flag"])
        #expect(try store.value(of: .test("Count")) == 10 && store.value(of: .test("Text")) == "hello")
    }

    @Test func `setMany can reset the others`() throws {
        try store.set("bye", for: .test("Text"))
        _ = try client.request(
            "setMany", ["values": ["Test": ["Values": ["Count": 7]]], "resettingOthers": true])
        #expect(try store.value(of: .test("Text")) == "hello")
        #expect(try store.value(of: .test("Count")) == 7)
    }

    @Test func `run answers when the action has returned`() throws {
        let before = runs.withLock { $0 }
        #expect(
            try client.request("run", ["tweak": "Test/Values/Act"]).message["result"] as? [String: String]
                == [:])
        #expect(runs.withLock { $0 } == before + 1)
        #expect(try client.request("run", ["tweak": count]).errorCode == 3)
    }

    @Test func `explain shows the value of each provider`() throws {
        try store.set(7, for: .test("Count"))
        let answer = try client.request("explain", ["tweak": count]).result
        #expect(answer["value"] as? Int == 7)
        #expect(answer["source"] as? String == "override")
        let opinions = try #require(answer["opinions"] as? [[String: Any]])
        #expect(opinions.map { $0["source"] as? String } == ["override", "default"])
        #expect(opinions.map { $0["value"] as? Int } == [7, 5])
    }

    @Test func `explain shows in which file a provider has its value`() throws {
        let path = try controlled.home.write("values.json", #"{"search": {"limit": {"Value": 6}}}"#)
        try store.add(VariablesProvider(files: [path]), above: nil)
        let answer = try client.request("explain", ["tweak": "Features/search/limit"]).result
        let opinions = try #require(answer["opinions"] as? [[String: Any]])
        #expect(opinions.map { $0["location"] as? String } == [path, nil])
    }

    @Test func `explain shows an invalid override`() throws {
        try controlled.home.write("overrides.json", #"{"Test": {"Values": {"Count": "many"}}}"#)
        _ = controlled.keepOverrides()
        let answer = try client.request("explain", ["tweak": count]).result
        #expect(answer["source"] as? String == "default")
        let opinions = try #require(answer["opinions"] as? [[String: Any]])
        #expect(opinions.count == 2)
        #expect(opinions[0]["value"] as? String == "many")
        #expect((opinions[0]["error"] as? String)?.contains("an integer from 0 to 10") == true)
    }

    @Test func `A request without an ID is executed but not answered`() throws {
        try client.send(line: #"{"jsonrpc":"2.0","method":"set","params":{"tweak":"\#(count)","value":8}}"#)
        try client.send(line: #"{"jsonrpc":"2.0","method":"fly"}"#)
        let id = try client.post("get", ["tweak": count])
        let next = try #require(try client.next())
        #expect(next["id"] as? Int == id)
        #expect((next["result"] as? [String: Any])?["value"] as? Int == 8)
    }

    @Test func `Requests are answered in order`() throws {
        var ids: [Int] = []
        for number in 0..<300 {
            ids.append(try client.post("set", ["tweak": count, "value": number % 11]))
            ids.append(try client.post("get", ["tweak": count]))
        }
        for (index, id) in ids.enumerated() {
            let answer = try #require(try client.next())
            #expect(answer["id"] as? Int == id)
            #expect((answer["result"] as? [String: Any])?["value"] as? Int == index / 2 % 11)
        }
    }
}
