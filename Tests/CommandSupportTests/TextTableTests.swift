// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Testing

@Suite struct `Tables of text` {
    @Test func `Columns are aligned after wide characters and emoji`() {
        let table = TextTable(
            header: ["Name", "Value"], rows: [["名前", "1"], ["🎛️x", "2"], ["plain", "3"]],
            width: nil)
        #expect(table.text == "Name   Value\n名前   1\n🎛️x    2\nplain  3")
    }

    @Test func `A column without cells is left out`() {
        let table = TextTable(header: ["Name", "Unit"], rows: [["a", ""]], width: nil)
        #expect(table.text == "Name\na")
    }

    private let rows = [
        [
            "Stiffness", "120.0 N/m", "1.0…1000.0",
            "How strongly the spring pulls the mass back to where it rests",
        ],
        ["Caption of the window", "\"A spring that swings\"", "", ""],
    ]
    private let header = ["NAME", "VALUE", "LIMITS", "DESCRIPTION"]

    @Test func `Without a width each row is one line`() {
        let lines = TextTable(header: header, rows: rows, width: nil).text.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[1].hasSuffix("  1.0…1000.0  \(rows[0][3])"))
    }

    @Test func `A long text at the end of rows stands below them`() {
        let table = TextTable(header: header, groups: ["Spring", "Spring"], rows: rows, width: 70)
        #expect(
            table.text == """
                    NAME                   VALUE                   LIMITS
                  Spring
                    Stiffness              120.0 N/m               1.0…1000.0
                        How strongly the spring pulls the mass back to where it rests
                    Caption of the window  "A spring that swings"
                """)
    }

    @Test func `It stays beside them where there is room`() {
        let table = TextTable(
            header: ["NAME", "DESCRIPTION"], rows: rows.map { [$0[0], $0[3]] }, width: 60)
        #expect(
            table.text == """
                NAME                   DESCRIPTION
                Stiffness              How strongly the spring pulls the
                                       mass back to where it rests
                Caption of the window
                """)
    }

    @Test func `Cells are broken at blanks and behind slashes, and too long words anywhere`() {
        let table = TextTable(
            header: ["TWEAK", "AT"],
            rows: [["Spring/Physics/Stiffness", "120.0 N/m"], ["弹簧弹簧弹簧弹簧弹簧弹簧", "a"]], width: 28)
        #expect(
            table.text == """
                TWEAK              AT
                Spring/Physics/    120.0 N/m
                Stiffness
                弹簧弹簧弹簧弹簧   a
                弹簧弹簧
                """)
    }

    @Test func `What does not fit beside stands below, with the names of columns`() {
        let table = TextTable(header: header, rows: rows, width: 24)
        #expect(
            table.text == """
                NAME         VALUE
                Stiffness    120.0 N/m
                    LIMITS: 1.0…1000.0;
                    How strongly the
                    spring pulls the
                    mass back to where
                    it rests
                Caption of   "A spring
                the window   that
                             swings"
                """)
    }

    @Test(arguments: 20...130) func `No line is wider, and nothing is cut off`(width: Int) {
        let text = TextTable(header: header, groups: ["A", "B"], rows: rows, width: width).text
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= width })
        let letters = text.filter { !$0.isWhitespace }
        let words = rows.joined().flatMap { $0.split(separator: " ") }
        let counts = { (text: String) in Dictionary(text.map { ($0, 1) }, uniquingKeysWith: +) }
        let shown = counts(letters)
        #expect(counts(words.joined()).allSatisfy { shown[$0.key, default: 0] >= $0.value })
    }
}
