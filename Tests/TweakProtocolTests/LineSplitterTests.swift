// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakProtocol

extension LineSplitter {
    fileprivate mutating func append(_ text: String) { Array(text.utf8).withUnsafeBytes { append($0) } }

    fileprivate mutating func all() -> [Line] {
        var lines: [Line] = []
        while let line = next() { lines.append(line) }
        return lines
    }
}

@Suite struct `Splitting a stream into lines` {
    private func message(_ text: String) -> LineSplitter.Line { .message(Array(text.utf8)) }

    @Test func `A line is complete with its newline`() {
        var splitter = LineSplitter()
        splitter.append("one")
        #expect(splitter.next() == nil)
        splitter.append("\ntwo\nthr")
        #expect(splitter.all() == [message("one"), message("two")])
        splitter.append("ee\n\n")
        #expect(splitter.all() == [message("three"), message("")])
    }

    @Test(arguments: 1...7) func `The lines do not depend on how the stream is split`(portion: Int) {
        var splitter = LineSplitter()
        var lines: [LineSplitter.Line] = []
        let text = Array("a\nbb\n\nccc\ndddddd\n".utf8)
        for start in stride(from: 0, to: text.count, by: portion) {
            text[start..<min(start + portion, text.count)].withUnsafeBytes { splitter.append($0) }
            lines += splitter.all()
        }
        #expect(lines == ["a", "bb", "", "ccc", "dddddd"].map(message))
    }

    @Test func `A line has at most the largest size`() {
        var splitter = LineSplitter(limit: 4)
        splitter.append("123\n1234\n123\n")
        #expect(splitter.all() == [message("123"), .tooLong, message("123")])
    }

    @Test func `A line that is too long is dropped and reported once`() {
        var splitter = LineSplitter(limit: 4)
        var lines: [LineSplitter.Line] = []
        for _ in 0..<1000 {
            splitter.append("xxx")
            lines += splitter.all()
        }
        splitter.append("x\n12\n")
        #expect(lines + splitter.all() == [.tooLong, message("12")])
    }
}
