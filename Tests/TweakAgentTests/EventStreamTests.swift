// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import RemoteValues
import TestSupport
import Testing

@Suite struct `A stream of events` {
    private func messages(_ parts: String...) throws -> [String] {
        var parser = EventStreamParser()
        return try parts.flatMap { try parser.take($0.utf8).map { String(decoding: $0, as: UTF8.self) } }
    }

    @Test(arguments: ["\n", "\r\n", "\r"])
    func `ends its lines in three ways`(end: String) throws {
        let text = ["data: a", "data:b", "", ": comment", "id: 7", "data: c", "", ""].joined(separator: end)
        #expect(try messages(text) == ["a\nb", "c"])
        // In parts of any size.
        var parser = EventStreamParser()
        #expect(
            try text.utf8.flatMap { try parser.take([$0]) }.map { String(decoding: $0, as: UTF8.self) } == [
                "a\nb", "c",
            ])
    }

    @Test func `has messages, and events of other names`() throws {
        #expect(
            try messages("event: message\ndata: a\n\nevent: other\ndata: b\n\ndata: c\n\n") == ["a", "c"])
    }

    @Test func `ignores incomplete events, and events without data`() throws {
        #expect(try messages("data: a\n", "event: message\n").isEmpty)
        #expect(try messages("\n\n\nid: 1\n\nretry: 5\n\ndata\n\n") == [""])
        #expect(try messages("\u{FEFF}data: a\n\n") == ["a"])
    }

    @Test func `fails if a line or an event is too long`() throws {
        let long = String(repeating: "x", count: EventStreamParser.longest + 1)
        #expect(throws: EventStreamParser.TooLong.self) { try messages("data: " + long) }
        #expect(throws: EventStreamParser.TooLong.self) { try messages(":" + long) }
        let line = "data: " + String(repeating: "x", count: 1000) + "\n"
        #expect(throws: EventStreamParser.TooLong.self) { try messages(String(repeating: line, count: 70)) }
    }
}
#endif
