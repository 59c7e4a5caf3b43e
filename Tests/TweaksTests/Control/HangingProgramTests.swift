// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakRecords

@testable import Tweaks

/// Where the actions of a test wait.
private let gates = Locked<[UInt64: Gate]>([:])

/// An action that passes a gate, which its context numbers.
private let passGate: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
    gates.withLock { $0[UInt64(UInt(bitPattern: context))] }?.pass()
}

@Suite struct `Hanging code of the program` {
    private let controlled: ControlledTweaks
    private let gate = Gate()
    private var store: TweakStore { controlled.store }
    private let count = ControlledTweaks.count
    private let text = ControlledTweaks.text

    init() throws {
        controlled = try ControlledTweaks(SyntheticTweaks(.integer("Count", 5), .string("Text", "hello")))
    }

    /// Expects that everything is answered that calls none of the program's code.
    private func expectAnswers(_ location: SourceLocation = #_sourceLocation) throws {
        let client = try controlled.connect()
        for (method, parameters) in [
            ("describe", [:]), ("list", [:]), ("get", ["tweak": count]), ("explain", ["tweak": text]),
            ("subscribe", [:]), ("unsubscribe", ["subscription": 1]),
        ] as [(String, [String: Any])] {
            #expect(
                try client.request(method, parameters).errorCode == nil, "\(method)", sourceLocation: location
            )
        }
    }

    @Test func `An observer holds up the requests that wait for observers and no others`() throws {
        let gate = gate
        let observation = store.observe(.test("Count"), didChange: { _ in gate.pass() })
        let (setter, watcher) = (try controlled.connect(), try controlled.connect())
        _ = try watcher.request("subscribe")
        let set = try setter.post("set", ["tweak": count, "value": 7])
        let get = try setter.post("get", ["tweak": count])
        #expect(waitUntil { gate.arrivals == 1 })
        try expectAnswers()
        // Whoever subscribed hears of the change, and of what the program does meanwhile.
        #expect(try watcher.nextChanges().last?["newValue"] as? Int == 7)
        try store.set("bye", for: .test("Text"))
        #expect(try watcher.nextChanges().last?["newValue"] as? String == "bye")
        let other = try watcher.post("set", ["tweak": text, "text": "later"])
        gate.open()
        #expect(try setter.answer(to: set).result["value"] as? Int == 7)
        #expect(try setter.answer(to: get).result["value"] as? Int == 7)
        #expect(try watcher.answer(to: other).result["value"] as? String == "later")
        observation.cancel()
    }

    @Test func `A client that sends too many requests is throttled, and answered in the end`()
        throws
    {
        let gate = gate
        let observation = store.observe(.test("Count"), didChange: { _ in gate.pass() })
        let client = try controlled.connect()
        let last = try client.post((0..<500).map { ("set", ["tweak": count, "value": 100 + $0]) })
        #expect(waitUntil { gate.arrivals == 1 })
        try expectAnswers()
        // The worker was given no more than may wait, so the last ones of what waits have not been done.
        #expect(try store.value(of: .test("Count")) == 100)
        gate.open()
        #expect(try client.answer(to: last).errorCode == nil)
        #expect(try store.value(of: .test("Count")) == 599)
        observation.cancel()
    }

    @Test func `Four actions may hang, a fifth is refused, and others are answered`() throws {
        let number = UInt64.random(in: 1...UInt64(UInt.max))
        gates.withLock { $0[number] = gate }
        defer { _ = gates.withLock { $0.removeValue(forKey: number) } }
        let action = CFunction(
            code: UInt(bitPattern: unsafeBitCast(passGate, to: UnsafeRawPointer.self)),
            context: UnsafeMutableRawPointer(bitPattern: UInt(number)))
        _ = try store.makeHandle(
            TweakDeclaration(key: .test("Hang"), type: .action, defaultValue: .nothing), action)
        let client = try controlled.connect()
        let ids = try (0..<4).map { _ in try client.post("run", ["tweak": "Test/Values/Hang"]) }
        #expect(waitUntil { gate.arrivals == 4 })
        let other = try controlled.connect()
        #expect(try other.request("run", ["tweak": "Test/Values/Hang"]).errorCode == 4)
        // Also the client's own requests, whose answers overtake those of the actions.
        #expect(try client.request("set", ["tweak": count, "value": 8]).result["value"] as? Int == 8)
        try expectAnswers()
        gate.open()
        var answered: Set<Int> = []
        while answered.count < 4, let id = try client.next()?["id"] as? Int { answered.insert(id) }
        #expect(answered == Set(ids))
        #expect(try other.request("run", ["tweak": "Test/Values/Hang"]).errorCode == nil)
    }

    @Test func `A slow log handler blocks nobody`() throws {
        // The declarations differ, which is reported when somebody looks at the tweaks.
        let controlled = try ControlledTweaks(
            SyntheticTweaks(.integer("Count", 5), .integer("Count", 6), .string("Text", "hello")))
        let gate = gate
        controlled.store.logger = .calling { _ in gate.pass() }
        let client = try controlled.connect()
        #expect(try client.request("list").errorCode == nil)
        #expect(waitUntil { gate.arrivals == 1 })
        #expect(try client.request("get", ["tweak": count]).errorCode == nil)
        gate.open()
    }
}
