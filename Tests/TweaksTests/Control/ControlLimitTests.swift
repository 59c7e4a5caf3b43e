// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakRecords

@testable import Tweaks

@Suite struct `Changes across languages` {
    private let controlled: ControlledTweaks
    private var store: TweakStore { controlled.store }
    private let count = ControlledTweaks.count

    init() throws {
        controlled = try ControlledTweaks(SyntheticTweaks(.integer("Count", 5), .string("Text", "hello")))
    }

    @Test func `A message of maximum size is accepted, a longer one refused, and the next one accepted`()
        throws
    {
        let client = try controlled.connect()
        let frame =
            #"{"jsonrpc":"2.0","id":1,"method":"set","params":{"tweak":"Test/Values/Text","text":""}}"# + "\n"
        let text = String(repeating: "x", count: (1 << 20) - frame.utf8.count)
        try client.send(
            line: frame.dropLast().replacingOccurrences(of: #""text":"""#, with: #""text":"\#(text)""#))
        #expect(try client.answer(to: 1).errorCode == nil)
        #expect(try store.value(of: .test("Text")) == .string(text))
        for _ in 0..<3 {
            try client.send(repeatElement(UInt8(ascii: "x"), count: 3 << 20))
            try client.send(line: "")
            let refusal = try #require(try client.next())
            #expect(refusal["id"] is NSNull)
            #expect(ControlClient.Answer(message: refusal).errorCode == -32600)
            #expect(try client.request("get", ["tweak": count]).result["value"] as? Int == 5)
        }
    }

    @Test func `A batch is refused`() throws {
        let client = try controlled.connect()
        try client.send(
            line: #"[{"jsonrpc":"2.0","id":1,"method":"list"},{"jsonrpc":"2.0","id":2,"method":"list"}]"#)
        #expect(ControlClient.Answer(message: try #require(try client.next())).errorCode == -32600)
        #expect(try client.request("describe").errorCode == nil)
    }

    @Test func `There are at most 128 clients; the next one gets an error, and a place when another leaves`()
        throws
    {
        var clients = try (0..<128).map { _ in try controlled.connect() }
        for client in clients { #expect(try client.request("describe").errorCode == nil) }
        let rejected = try controlled.connect()
        #expect(ControlClient.Answer(message: try #require(try rejected.next())).errorCode == 4)
        #expect(try rejected.next() == nil)
        clients.removeFirst()
        #expect(
            waitUntil {
                let client = try? controlled.connect()
                return (try? client?.request("describe").errorCode == nil) == true
            })
    }

    @Test func `A client has at most 64 subscriptions`() throws {
        let client = try controlled.connect()
        for _ in 0..<64 { #expect(try client.request("subscribe").errorCode == nil) }
        #expect(try client.request("subscribe").errorCode == 4)
        #expect(try client.request("unsubscribe", ["subscription": 1]).errorCode == nil)
        #expect(try client.request("subscribe").errorCode == nil)
    }

    @Test
    func `A client that does not read its answers is not read, disturbs nobody and has all of them later`()
        throws
    {
        try store.set(.string(String(repeating: "x", count: 200_000)), for: .test("Text"))
        let (silent, other) = (try controlled.connect(), try controlled.connect())
        // Of 20 MB, which is more than the kernel and the program keep for it.
        let ids = try (0..<100).map { _ in try silent.post("list") }
        for value in 0..<100 {
            #expect(try other.request("set", ["tweak": count, "value": value]).errorCode == nil)
        }
        for id in ids {
            let tweaks = try silent.answer(to: id).result["tweaks"] as? [[String: Any]]
            #expect(tweaks?.count == 2)
        }
    }

    @Test func `Half a message waits for the other half, and is nothing if that does not come`() throws {
        let message =
            #"{"jsonrpc":"2.0","id":1,"method":"set","params":{"tweak":"Test/Values/Count","value":9}}"#
        let vanishing = try controlled.connect()
        try vanishing.send(message.utf8)
        vanishing.finishSending()
        #expect(try vanishing.next() == nil)
        #expect(try store.value(of: .test("Count")) == 5)

        let slow = try controlled.connect()
        for byte in (message + "\n").utf8 {
            try slow.send([byte])
            usleep(200)
        }
        #expect(try slow.answer(to: 1).result["value"] as? Int == 9)
    }

    @Test func `Requests are executed even if the client does not wait`() throws {
        for value in 10..<30 {
            do {
                let client = try controlled.connect()
                for offset in 0..<100 {
                    try client.post("set", ["tweak": count, "value": value * 100 + offset])
                }
            }
            let last = TweakValue.integer(Int128(value * 100 + 99))
            #expect(try waitUntil { try store.value(of: .test("Count")) == last })
        }
    }
}
