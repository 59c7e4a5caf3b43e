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

    @Test func `A line is there when its newline is`() {
        var splitter = LineSplitter()
        splitter.append("one")
        #expect(splitter.next() == nil)
        splitter.append("\ntwo\nthr")
        #expect(splitter.all() == [message("one"), message("two")])
        splitter.append("ee\n\n")
        #expect(splitter.all() == [message("three"), message("")])
    }

    @Test(arguments: 1...7) func `However it is cut the lines are the same`(portion: Int) {
        var splitter = LineSplitter()
        var lines: [LineSplitter.Line] = []
        let text = Array("a\nbb\n\nccc\ndddddd\n".utf8)
        for start in stride(from: 0, to: text.count, by: portion) {
            text[start..<min(start + portion, text.count)].withUnsafeBytes { splitter.append($0) }
            lines += splitter.all()
        }
        #expect(lines == ["a", "bb", "", "ccc", "dddddd"].map(message))
    }

    @Test func `A line of the largest size is one, a longer one is not`() {
        var splitter = LineSplitter(limit: 4)
        splitter.append("123\n1234\n123\n")
        #expect(splitter.all() == [message("123"), .tooLong, message("123")])
    }

    @Test func `Of a line that is too long nothing is kept, and it is said once`() {
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
