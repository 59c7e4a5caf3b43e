// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing
import TweakJSON
import TweakProtocol
import TweakRecords

/// What comes from the other side may be anything. A trap would end the test run.
@Suite struct `Damaged messages` {
    private let key = TweakKey("Spring", "Physics", "Mass \u{e9}")

    @Test func `A damaged request is a request or an error with an answer`() throws {
        let requests = [
            SetTweak(tweak: key, value: .scalar(1.5)).request(id: .number(7)),
            SetTweak(tweak: key, text: "a\"\u{1}").request(id: .text("x")),
            SetManyTweaks(values: [TweakKey("A", "B", "C"): .array([.null, .scalar(true)])]).request(
                id: .number(.max)),
            SubscribeToChanges(tweaks: [key]).request(id: .unknown),
            UnsubscribeFromChanges(subscription: .max).request(id: .number(1)),
            ResetTweaks(category: "A", collection: "B", all: true).request(id: .number(1)),
        ]
        for bytes in requests.flatMap({ damaged($0, count: isLong ? 4000 : 500) }) {
            let request = ControlRequest(line: bytes)
            if case .failure(let error) = request.call { #expect(!error.message.isEmpty) }
        }
    }

    @Test func `A damaged answer is an answer or an error`() throws {
        var tweak = TweakDeclaration(
            key: key, type: .double, defaultValue: 1.5, minimum: 0.0, maximum: 9.0, step: 0.5,
            attributes: [.init(key: "unit", value: "kg"), .init(key: "precision", value: "2")])
        let list = ListTweaks.Answer(tweaks: [JSONTweak(tweak, value: 2.5, source: "override")])
        (tweak.minimum, tweak.maximum, tweak.choices) = (nil, nil, [TweakChoice(1.5, label: "one")])
        let change = ChangedTweaks.Change(
            tweak: key, oldValue: .scalar(1), newValue: .null, source: "session", time: 1e9,
            by: "tweak 4711 ada")
        let lines = [
            ControlAnswer(list, to: .number(1)).line(),
            ControlAnswer(JSONTweak(tweak, pendingValue: 1), to: .number(1)).line(),
            ControlAnswer<Done>(error: ControlError(.refused, "no", nearest: [key]), to: .unknown).line(),
            ChangedTweaks(subscription: 1, changes: [change]).line(),
        ]
        for bytes in lines.flatMap({ damaged($0, count: isLong ? 4000 : 500) }) {
            guard case .answer(let answer)? = try? ProgramMessage(line: bytes) else { continue }
            _ = try? answer.result(of: ListTweaks.self)
            _ = try? answer.result(of: GetTweak.self)
            _ = try? answer.result(of: RunAction.self)
        }
    }

    @Test(arguments: ["1e400", "-1e999", "1e99999999999999999999", "[[1e400]]", #"{"a": 1e400}"#])
    func `The error for a number that no double can hold says so`(number: String) {
        let line = #"{"jsonrpc":"2.0","id":3,"method":"set","params":{"tweak":"A/B/C","value":\#(number)}}"#
        let request = ControlRequest(line: Array(line.utf8))
        #expect(request.id == .number(3))
        guard case .failure(let error) = request.call else {
            Issue.record("it was taken")
            return
        }
        #expect(error.code == .invalidParameters)
        #expect(error.message.hasPrefix("set: \"params.value"))
        #expect(error.message.hasSuffix("the number is out of the range of a double"), "\(error.message)")
    }

    @Test(arguments: ["1e400", "99999999999999999999", "1.5"])
    func `The error for a number that no integer can hold is readable`(number: String) {
        let line = #"{"jsonrpc":"2.0","id":3,"method":"unsubscribe","params":{"subscription":\#(number)}}"#
        guard case .failure(let error) = ControlRequest(line: Array(line.utf8)).call else {
            Issue.record("it was taken")
            return
        }
        #expect(error.code == .invalidParameters)
        #expect(!error.message.contains("Swift") && !error.message.contains("("), "\(error.message)")
    }

    @Test func `Lines do not depend on how they are split`() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<(isLong ? 4000 : 500) {
            let limit = Int.random(in: 1...12, using: &generator)
            var splitter = LineSplitter(limit: limit)
            let bytes = (0..<60).map { _ in Bool.random(using: &generator) ? UInt8(ascii: "\n") : 0x61 }
            var found: [Int?] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = rest.prefix(Int.random(in: 0...9, using: &generator))
                rest = rest.dropFirst(part.count)
                part.withUnsafeBytes { splitter.append($0) }
                while let line = splitter.next() {
                    if case .message(let line) = line { found.append(line.count) } else { found.append(nil) }
                }
            }
            var expected = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map(\.count)
            let unfinished = expected.removeLast()
            var all = expected.map { $0 < limit ? $0 : nil }
            // Too long is said before the end.
            if unfinished >= limit { all.append(nil) }
            #expect(found == all)
        }
    }
}
