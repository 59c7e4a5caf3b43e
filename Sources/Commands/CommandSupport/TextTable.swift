// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// Columns of text for a terminal.
package struct TextTable {
    private let columns: TextColumns
    private let groups: [String]?
    private let emphasized: [Bool]
    private let rows: [[String]]

    /// Makes a table.
    ///
    /// - Parameters:
    ///   - header: The names of the columns.
    ///   - optional: The names of columns that are omitted if all their cells are empty.
    ///   - groups: The heading of each row, printed above the row where it differs from the row before; `nil` for a
    ///     table without headings.
    ///   - emphasized: For each row, whether it stands out on a terminal; empty for none.
    ///   - rows: The cells; each row has as many as the header.
    package init(
        header: [String], optional: Set<String> = [], groups: [String]? = nil, emphasized: [Bool] = [],
        rows: [[String]]
    ) {
        var columns = TextColumns(header: header, optional: optional, isIndented: groups != nil)
        for row in rows { columns.measure(row) }
        self.columns = columns
        self.groups = groups
        self.emphasized = emphasized
        self.rows = rows
    }

    /// The lines, without a newline at the end.
    package var text: String {
        var lines = [columns.header]
        var group: String?
        for (index, (heading, row)) in zip(groups ?? rows.map { _ in "" }, rows).enumerated() {
            if groups != nil, heading != group { lines.append(columns.heading(heading)) }
            group = heading
            let line = columns.line(row)
            lines.append(emphasized.dropFirst(index).first == true ? CommandSupport.emphasized(line) : line)
        }
        return lines.joined(separator: "\n")
    }
}

/// The column widths of a table, which must be known before the first row is printed.
///
/// The rows need not be kept: each is measured first, and made again when it is printed.
package struct TextColumns {
    /// Wider cells stick out and do not count: one long text would widen every row.
    private static let widest = 200

    private let names: [String]
    private let isIndented: Bool
    private var widths: [Int]
    private var isShown: [Bool]

    /// - Parameters:
    ///   - header: The names of the columns.
    ///   - optional: The names of columns that are omitted if all their cells are empty.
    ///   - isIndented: Whether the rows stand below headings.
    package init(header: [String], optional: Set<String> = [], isIndented: Bool = false) {
        names = header
        self.isIndented = isIndented
        widths = header.map(\.columns)
        isShown = header.map { !optional.contains($0) }
    }

    /// Makes room for a row, which has as many cells as the header.
    package mutating func measure(_ row: [String]) {
        for (column, cell) in zip(names.indices, row) where !cell.isEmpty {
            isShown[column] = true
            let width = printable(cell).columns
            if width <= Self.widest { widths[column] = max(widths[column], width) }
        }
    }

    /// The line with the columns' names.
    package var header: String { line(names) }

    /// The line above a group of rows.
    package func heading(_ text: String) -> String { "  " + underlined(printable(text)) }

    /// The line of a row that was measured before.
    package func line(_ row: [String]) -> String {
        var line = isIndented ? "    " : ""
        // Padding is written only before another cell.
        var padding = 0
        for (column, cell) in zip(names.indices, row) where isShown[column] {
            let text = printable(cell)
            if !text.isEmpty { line += String(repeating: " ", count: padding) + text }
            let width = text.columns
            padding = max(0, widths[column] - width) + 2 + (text.isEmpty ? padding : 0)
        }
        guard line.utf8.last == UInt8(ascii: " ") else { return line }
        guard let last = line.utf8.lastIndex(where: { $0 != UInt8(ascii: " ") }) else { return "" }
        return String(line[..<line.utf8.index(after: last)])
    }
}
