// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Testing

@Suite struct `Tables of text` {
    @Test func `Columns are aligned after wide characters and emoji`() {
        let table = TextTable(
            header: ["Name", "Value"], rows: [["名前", "1"], ["🎛️x", "2"], ["plain", "3"]])
        #expect(table.text == "Name   Value\n名前   1\n🎛️x    2\nplain  3")
    }

    @Test func `An optional column without cells is left out`() {
        let table = TextTable(header: ["Name", "Unit"], optional: ["Unit"], rows: [["a", ""]])
        #expect(table.text == "Name\na")
    }
}
