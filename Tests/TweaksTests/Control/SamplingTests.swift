// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakProtocol
import TweakRecords

@testable import Tweaks

@Suite struct `Samples` {
    private let controlled: ControlledTweaks
    private let client: ControlClient
    private let speed = "Test/Values/Speed"
    private let level = "Test/Values/Level"

    init() throws {
        controlled = try ControlledTweaks(
            SyntheticTweaks(
                .monitor("Speed", .double), .monitor("Level", .int8), .integer("Count", 5),
                .string("Text", "hello")))
        client = try controlled.connect()
    }

    /// Samples of doubles, as the article says how to read them.
    private func next(_ count: Int) throws -> (frames: [[Double]], params: [String: Any]) {
        var notification = try client.nextNotification()
        while notification["method"] as? String != "samples" { notification = try client.nextNotification() }
        let params = try #require(notification["params"] as? [String: Any])
        let text = try #require(params["frames"] as? String)
        let data = try #require(Data(base64Encoded: text))
        #expect(data.count % (8 * (count + 1)) == 0)
        let numbers = data.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count, by: 8).map {
                bytes.loadUnaligned(fromByteOffset: $0, as: Double.self)
            }
        }
        let frames = stride(from: 0, to: numbers.count, by: count + 1).map { Array(numbers[$0...$0 + count]) }
        return (frames, params)
    }

    @Test func `Samples have their times and the stored values`() throws {
        controlled.tweaks.store(2.5, in: 0)
        let start = Date().timeIntervalSince1970
        let answer = try client.request("sample", ["tweaks": [speed], "rate": 200])
        #expect(answer.result["types"] as? [String] == ["double"])
        let number = answer.result["subscription"] as? Int
        var samples: [[Double]] = []
        while samples.last?[1] != 3.5 {
            let (frames, params) = try next(1)
            #expect(params["subscription"] as? Int == number)
            samples += frames
            controlled.tweaks.store(3.5, in: 0)
        }
        #expect(samples.first?[1] == 2.5)
        let times = samples.map { $0[0] }
        #expect(
            times == times.sorted() && times[0] >= start
                && times[times.count - 1] <= Date().timeIntervalSince1970)
    }

    @Test func `Tweaks are sampled too, in the order that was asked for`() throws {
        let answer = try client.request(
            "sample", ["tweaks": [ControlledTweaks.count, level, speed], "rate": 1000])
        #expect(answer.result["types"] as? [String] == ["int32", "int8", "double"])
        _ = try client.request("set", ["tweak": ControlledTweaks.count, "value": 7])
        controlled.tweaks.store(1.5, in: 0)
        var last = try next(3).frames.last
        while last?[3] != 1.5 { last = try next(3).frames.last }
        #expect(last.map { TweakType.int32.number(ofCell: $0[1].bitPattern) } == 7)
    }

    @Test func `Nothing arrives after their end`() throws {
        let number = try #require(
            try client.request("sample", ["tweaks": [speed], "rate": 1000]).result["subscription"] as? Int)
        _ = try next(1)
        #expect(try client.request("unsubscribe", ["subscription": number]).errorCode == nil)
        let before = client.notifications.count
        _ = try client.request("describe")
        #expect(client.notifications.count == before)
        #expect(try client.request("unsubscribe", ["subscription": number]).errorCode == -32602)
    }

    @Test(arguments: [
        ("Test/Values/Text", 1, 10.0, 2, "only numbers and bools can be sampled, not a string"),
        ("Test/Values/Spied", 1, 10, 1, "Test/Values/Spied"),
        ("Test/Values/Speed", 1, 1e-300, -32602, "a rate is from 0.001"),
        ("Test/Values/Speed", 1, 1001, -32602, "to 1000"), ("", 0, 10, -32602, "at least one tweak"),
        ("Test/Values/Speed", 1001, 1000, -32602, "a million values"),
    ])
    func `Other tweaks are refused`(
        tweak: String, count: Int, rate: Double, code: Int, message: String
    ) throws {
        let answer = try client.request(
            "sample", ["tweaks": Array(repeating: tweak, count: count), "rate": rate])
        #expect(answer.errorCode == code)
        #expect(answer.errorMessage.contains(message))
    }

    @Test func `A client has a few at a time`() throws {
        for _ in 0..<4 {
            #expect(try client.request("sample", ["tweaks": [speed], "rate": 1]).errorCode == nil)
        }
        #expect(try client.request("sample", ["tweaks": [speed], "rate": 1]).errorCode == 4)
        #expect(try client.request("unsubscribe", ["subscription": 2]).errorCode == nil)
        #expect(try client.request("sample", ["tweaks": [speed], "rate": 1]).errorCode == nil)
    }

    @Test func `A removed tweak is reported as missing`() throws {
        let made = try controlled.store.makeMonitor(TweakKey("Test", "Made", "Load"), of: Double.self)
        made.store(4)
        _ = try client.request("sample", ["tweaks": ["Test/Made/Load", speed], "rate": 500])
        #expect(try next(2).params["missing"] as? [Int] == [])
        try controlled.store.remove(TweakKey("Test", "Made", "Load"))
        var missing: [Int]? = []
        while missing == [] { missing = try next(2).params["missing"] as? [Int] }
        #expect(missing == [0])
        _ = try controlled.store.makeMonitor(TweakKey("Test", "Made", "Load"), of: Double.self)
        while missing == [0] { missing = try next(2).params["missing"] as? [Int] }
        #expect(missing == [])
    }
}

@Suite struct `Queued samples` {
    private let store = SyntheticTweaks(.monitor("Speed", .double)).store
    private let start = ContinuousClock.now

    /// Takes a sample each millisecond.
    private func take(_ count: Int, of sampling: Sampling, from first: Int = 0) {
        for index in first..<first + count { sampling.take(of: store, at: start + .milliseconds(index)) }
    }

    private func written(by sampling: Sampling, _ number: UInt64 = 1, after time: Duration) throws
        -> TakenSamples?
    {
        var line: [UInt8] = []
        sampling.write(number, to: &line, at: start + time)
        guard !line.isEmpty else { return nil }
        guard case .sampled(let samples) = try ProgramMessage(line: line.dropLast()) else {
            Issue.record("it is another message")
            return nil
        }
        return samples
    }

    @Test func `Each sample is taken once, when due`() throws {
        let sampling = Sampling(of: [.test("Speed")], rate: 100, at: start)
        take(1000, of: sampling)
        let message = try #require(try written(by: sampling, 7, after: .seconds(1)))
        #expect(message.frames.count == 16 * 100)
        #expect(message.dropped == 0 && message.skipped == 0 && message.subscription == 7)
        let later = try written(by: sampling, after: .seconds(2))
        #expect(later == nil)
    }

    @Test func `Missed samples are counted`() throws {
        let sampling = Sampling(of: [.test("Speed")], rate: 1000, at: start)
        take(1, of: sampling)
        take(1, of: sampling, from: 31)
        let message = try #require(try written(by: sampling, after: .seconds(1)))
        #expect(message.frames.count == 32 && message.skipped == 30)
    }

    @Test func `Samples slightly late are still taken`() throws {
        let sampling = Sampling(of: [.test("Speed")], rate: 1000, at: start)
        for time in [0, 3, 3, 3, 3] { take(1, of: sampling, from: time) }
        let message = try #require(try written(by: sampling, after: .seconds(1)))
        #expect(message.frames.count == 16 * 4 && message.skipped == 0)
    }

    @Test func `The others are due from the time of the first, however late it is`() throws {
        let sampling = Sampling(of: [.test("Speed")], rate: 100, at: start)
        take(1000, of: sampling, from: 35)
        let message = try #require(try written(by: sampling, after: .seconds(2)))
        #expect(message.frames.count == 16 * 100 && message.skipped == 0)
    }

    @Test func `The oldest are dropped when too many wait, and counted`() throws {
        let count = ControlLimits.unreadSamples / 16 + 1000
        let sampling = Sampling(of: [.test("Speed")], rate: 1000, at: start)
        take(count, of: sampling)
        var frames = 0
        var dropped = 0
        while let message = try written(by: sampling, after: .seconds(count)) {
            frames += message.frames.count / 16
            dropped += message.dropped
        }
        #expect(dropped == 1000)
        #expect(frames + dropped == count)
    }

    @Test func `Samples are batched briefly`() throws {
        let sampling = Sampling(of: [.test("Speed")], rate: 1000, at: start)
        take(40, of: sampling)
        let early = try written(by: sampling, after: .milliseconds(40))
        let later = try written(by: sampling, after: .milliseconds(50))
        #expect(early == nil && later != nil)
    }

    @Test func `A message is read as it was written`() throws {
        let samples = TakenSamples(
            subscription: 3, dropped: 1, skipped: 2, missing: [1],
            frames: Array((0...255).map { UInt8($0) }.prefix(240)))
        var line: [UInt8] = []
        TakenSamples.write(
            samples.frames.span.bytes, subscription: 3, dropped: 1, skipped: 2, missing: [1], to: &line)
        guard case .sampled(let read) = try ProgramMessage(line: line.dropLast()) else {
            Issue.record("it is another message")
            return
        }
        #expect(read == samples)
    }

    @Test func `A number is read by its type`() {
        let bits: UInt64 = 0x8182_8384_8586_8788
        #expect(TweakType.int8.number(ofCell: 0xff) == (ByteOrder.native == .little ? -1 : 0))
        #expect(TweakType.uint64.number(ofCell: bits) == Double(bits))
        #expect(TweakType.double.number(ofCell: 2.5.bitPattern) == 2.5)
        #expect(TweakType.string.number(ofCell: bits) == nil)
    }
}
