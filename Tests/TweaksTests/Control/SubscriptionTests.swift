// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakRecords

@testable import Tweaks

@Suite struct `Subscriptions` {
    private let controlled: ControlledTweaks
    private let client: ControlClient
    private var store: TweakStore { controlled.store }
    private let count = ControlledTweaks.count
    private let text = ControlledTweaks.text

    init() throws {
        controlled = try ControlledTweaks(SyntheticTweaks(.integer("Count", 5), .string("Text", "hello")))
        client = try controlled.connect()
    }

    @Test func `A change carries both values, its source and its time`() throws {
        let subscription = try client.request("subscribe").result["subscription"] as? Int
        let start = Date().timeIntervalSince1970
        try store.set(7, for: .test("Count"))
        let notification = try client.nextNotification()
        #expect(notification["method"] as? String == "changed")
        #expect(notification["id"] == nil)
        let parameters = try #require(notification["params"] as? [String: Any])
        #expect(parameters["subscription"] as? Int == subscription)
        let changes = try #require(parameters["changes"] as? [[String: Any]])
        #expect(changes.count == 1)
        #expect(changes[0]["tweak"] as? String == count)
        #expect(changes[0]["oldValue"] as? Int == 5)
        #expect(changes[0]["newValue"] as? Int == 7)
        #expect(changes[0]["source"] as? String == "override")
        let time = try #require(changes[0]["time"] as? Double)
        #expect(time >= start && time <= Date().timeIntervalSince1970)
    }

    @Test func `A change says which client made it, whatever the client says`() throws {
        _ = try client.request("subscribe")
        let name = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().lastPathComponent
        let user = String(cString: getpwuid(geteuid()).pointee.pw_name)
        let other = try controlled.connect()
        for (method, parameters) in [
            ("set", ["tweak": count, "value": 6]), ("reset", ["tweak": count]),
            ("setMany", ["values": ["Test": ["Values": ["Count": 7]]]]), ("reset", ["all": true]),
            ("set", ["tweak": count, "value": 8]), ("reset", ["category": "Test"]),
        ] as [(String, [String: Any])] {
            #expect(try other.request(method, parameters).errorCode == nil)
            #expect(try client.nextChanges().map { $0["by"] as? String } == ["\(name) \(getpid()) \(user)"])
        }
        #expect(try other.request("set", ["tweak": count, "value": 9, "by": "root"]).errorCode == -32602)
    }

    @Test func `A change says whether the program, a provider or an edited file made it`() throws {
        let file = controlled.keepOverrides()
        let writer = try #require(store.writer)
        _ = try client.request("subscribe")
        func author() throws -> [String] { try client.nextChanges().compactMap { $0["by"] as? String } }
        try store.set(6, for: .test("Count"))
        #expect(try author() == ["program"])
        try store.batch { batch in _ = try batch.set(7, for: .test("Count")) }
        #expect(try author() == ["program"])
        store.flush()
        try controlled.home.write("overrides.json", #"{ "Test": { "Values": { "Count": 8 } } }"#)
        store.reload(file, writer, isComplete: true)
        #expect(try author() == ["file"])
        store.resetAll()
        #expect(try author() == ["program"])
        let path = try controlled.home.write("v.json", #"{ "search": { "limit": { "Value": 1 } } }"#)
        let provider = try VariablesProvider(files: [path])
        try store.add(provider, above: nil)
        #expect(try author() == ["v.json"])
        try controlled.home.write("v.json", #"{ "search": { "limit": { "Value": 2 } } }"#)
        try provider.reload()
        #expect(try author() == ["v.json"])
        try store.remove(providerOf: TweakSource("v.json"))
        #expect(try author() == ["program"])
    }

    @Test func `Only subscribed tweaks are reported, even if added later`() throws {
        _ = try client.request("subscribe", ["tweaks": [text, "Test/Made/Size"]])
        try store.set(7, for: .test("Count"))
        try store.set("bye", for: .test("Text"))
        #expect(try client.nextChanges().map { $0["tweak"] as? String } == [text])
        try store.make("Test", "Made", "Size", default: 1).set(2)
        #expect(try client.nextChanges().map { $0["tweak"] as? String } == ["Test/Made/Size"])
    }

    @Test func `Changes of a batch arrive together`() throws {
        _ = try client.request("subscribe")
        _ = try client.request("setMany", ["values": ["Test": ["Values": ["Count": 7, "Text": "bye"]]]])
        #expect(try client.nextChanges().map { $0["tweak"] as? String } == [count, text])
        _ = try client.request("reset", ["all": true])
        #expect(try client.nextChanges().map { $0["source"] as? String } == ["default", "default"])
    }

    @Test func `Each subscription is served separately`() throws {
        _ = try client.request("subscribe")
        _ = try client.request("subscribe", ["tweaks": [count]])
        try store.set(7, for: .test("Count"))
        let numbers = try (0..<2).map { _ in
            (try client.nextNotification()["params"] as? [String: Any])?["subscription"] as? Int
        }
        #expect(numbers == [1, 2])
    }

    @Test func `After the end of a subscription nothing comes`() throws {
        let number = try #require(try client.request("subscribe").result["subscription"] as? Int)
        for value in Int128(10)..<100 { try store.set(.integer(value), for: .test("Count")) }
        #expect(try client.request("unsubscribe", ["subscription": number]).errorCode == nil)
        let before = client.notifications.count
        for value in Int128(100)..<200 { try store.set(.integer(value), for: .test("Count")) }
        _ = try client.request("describe")
        #expect(client.notifications.count == before)
        #expect(try client.request("unsubscribe", ["subscription": number]).errorCode == -32602)
    }

    @Test func `The change arrives before the answer to the request that made it`() throws {
        _ = try client.request("subscribe")
        for value in 6..<50 {
            _ = try client.request("set", ["tweak": count, "value": value])
            #expect(try client.nextChanges().last?["newValue"] as? Int == value)
        }
    }

    @Test func `Setting the current value is not a change`() throws {
        _ = try client.request("subscribe")
        _ = try client.request("set", ["tweak": count, "value": 5])
        _ = try client.request("describe")
        #expect(client.notifications.isEmpty)
    }

    @Test func `A client that stops sending still receives changes`() throws {
        _ = try client.request("subscribe")
        client.finishSending()
        usleep(20_000)
        try store.set(7, for: .test("Count"))
        #expect(try client.nextChanges().last?["newValue"] as? Int == 7)
    }
}
