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
    ///   - header: The columns' names.
    ///   - optional: The names of columns that are left out where every row's cell is empty.
    ///   - groups: The heading of each row, below which it is indented; a new one is printed where it differs from
    ///     the row before. `nil` for a table without headings.
    ///   - emphasized: Which rows stand out on a terminal; none if it is empty.
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
    /// A cell that is wider does not count, and sticks out: one long text would make all rows as long.
    private static let widest = 200

    private let names: [String]
    private let isIndented: Bool
    private var widths: [Int]
    private var isShown: [Bool]

    /// - Parameters:
    ///   - header: The columns' names.
    ///   - optional: The names of columns that are left out where every row's cell is empty.
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

    /// The line above rows that belong together.
    package func heading(_ text: String) -> String { "  " + underlined(printable(text)) }

    /// The line of a row that has been measured.
    package func line(_ row: [String]) -> String {
        var line = isIndented ? "    " : ""
        // Written when something comes behind it.
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
