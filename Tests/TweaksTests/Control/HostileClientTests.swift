// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakProtocol
import TweakRecords

@testable import Tweaks

@Suite struct `Hostile clients` {
    private let controlled: ControlledTweaks
    private var store: TweakStore { controlled.store }

    /// Requests of every method, which are changed at random.
    private static let requests = [
        #"{"jsonrpc":"2.0","id":1,"method":"describe"}"#,
        #"{"jsonrpc":"2.0","id":2,"method":"list","params":{"category":"Test","collection":"Values"}}"#,
        #"{"jsonrpc":"2.0","id":3,"method":"get","params":{"tweak":"Test/Values/Count"}}"#,
        #"{"jsonrpc":"2.0","id":4,"method":"set","params":{"tweak":"Test/Values/Count","value":7}}"#,
        #"{"jsonrpc":"2.0","id":5,"method":"set","params":{"tweak":"Test/Values/Text","text":"\u00e4 \ud83d\ude00"}}"#,
        #"{"jsonrpc":"2.0","id":6,"method":"reset","params":{"all":true}}"#,
        #"{"jsonrpc":"2.0","id":7,"method":"setMany","params":{"values":{"Test":{"Values":{"Count":1e3,"Flag":true}}}}}"#,
        #"{"jsonrpc":"2.0","id":8,"method":"run","params":{"tweak":"Test/Values/Count"}}"#,
        #"{"jsonrpc":"2.0","id":9,"method":"subscribe","params":{"tweaks":["Test/Values/Count"]}}"#,
        #"{"jsonrpc":"2.0","id":10,"method":"unsubscribe","params":{"subscription":1}}"#,
        #"{"jsonrpc":"2.0","id":"x","method":"explain","params":{"tweak":"Test/Values/Text"}}"#,
    ].map { Array($0.utf8) }

    private static let pieces = [
        "\"", "{", "}", "[", "]", ":", ",", "null", "1e999", "-", "18446744073709551616", "\\u0000",
        "\\ud800", "\u{0}",
        "\n", "%2", "/", "true", "[[[[[[[[[[[[[[[[", "\u{FEFF}",
    ].map { Array($0.utf8) }

    init() throws {
        controlled = try ControlledTweaks(
            SyntheticTweaks(
                .integer("Count", 5, 0...1000), .string("Text", "hello"), .bool("Flag", false),
                .double("Real", 0.5)))
    }

    private static func mutated(_ random: inout SeededGenerator) -> [UInt8] {
        var bytes = requests.randomElement(using: &random) ?? []
        for _ in 0..<Int.random(in: 0...4, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[place] = .random(in: 0...255, using: &random)
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(contentsOf: pieces.randomElement(using: &random) ?? [], at: place)
            case 3: bytes.removeSubrange(place...)
            case 4:
                let other = requests.randomElement(using: &random) ?? []
                bytes.replaceSubrange(
                    place..., with: other.suffix(Int.random(in: 0...other.count, using: &random)))
            default:
                let piece = pieces.randomElement(using: &random) ?? []
                bytes.insert(contentsOf: repeatElement(piece, count: 200).joined(), at: place)
            }
        }
        return bytes + [UInt8(ascii: "\n")]
    }

    private func expectHealth(_ seed: UInt64) throws {
        let client = try controlled.connect()
        #expect(
            try client.request("set", ["tweak": "Test/Values/Real", "value": 0.25]).errorCode == nil,
            "\(seed)")
        #expect((try client.request("list").result["tweaks"] as? [Any])?.count == 4, "\(seed)")
        #expect(try store.value(of: .test("Count")) <= 1000, "\(seed)")
    }

    @Test func `Each line gets at most one answer, and the next client is served`() throws {
        let deadline = ContinuousClock.now + (isLong ? .seconds(1200) : .seconds(2))
        while ContinuousClock.now < deadline {
            let seed = UInt64.random(in: 0...UInt64.max)
            var random = SeededGenerator(seed: seed)
            let client = try controlled.connect()
            var newlines = 0
            for _ in 0..<50 {
                let bytes = Self.mutated(&random)
                newlines += bytes.count { $0 == UInt8(ascii: "\n") }
                try client.send(bytes)
            }
            try client.send(line: #"{"jsonrpc":"2.0","id":"end","method":"describe"}"#)
            var answers = 0
            while let message = try client.next(), message["id"] as? String != "end" {
                if message["method"] == nil { answers += 1 }
            }
            #expect(answers <= newlines, "seed \(seed)")
            try expectHealth(seed)
        }
    }

    @Test func `Interrupted connections leave nothing behind`() async {
        // In a process of its own, because other tests open and close files meanwhile.
        await #expect(processExitsWith: .success) { try `Hostile clients`().interruptConnections() }
    }

    private func interruptConnections() throws {
        let files = "/proc/self/fd"
        try expectHealth(0)
        let before = try FileManager.default.contentsOfDirectory(atPath: files).count
        var random = SeededGenerator(seed: 1)
        for _ in 0..<(isLong ? 1000 : 50) {
            let connection = ControlClient.connect(controlled.directory.socket(of: getpid()))
            try #require(connection >= 0)
            let bytes = Array(Self.requests.shuffled(using: &random).joined(separator: [10]))
            let count = Int.random(in: 0...bytes.count, using: &random)
            _ = bytes.withUnsafeBytes { send(connection, $0.baseAddress, count, Int32(MSG_NOSIGNAL)) }
            if Bool.random(using: &random) {
                var byte: UInt8 = 0
                recv(connection, &byte, 1, Int32(MSG_DONTWAIT))
            }
            close(connection)
        }
        try expectHealth(1)
        #expect(try waitUntil { try FileManager.default.contentsOfDirectory(atPath: files).count <= before })
    }
}

extension TweakValue {
    fileprivate static func <= (left: TweakValue, right: Int128) -> Bool {
        if case .integer(let number) = left { number <= right } else { false }
    }
}
