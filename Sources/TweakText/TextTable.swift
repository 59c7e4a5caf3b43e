/// Columns of text for a terminal, under headings.
public struct TextTable {
    private let header: [String]
    private let groups: [String]
    private let rows: [[String]]

    /// Makes a table.
    ///
    /// - Parameters:
    ///   - header: The columns' names.
    ///   - groups: The heading of each row; a new one is printed where it differs from the row before.
    ///   - rows: The cells; each row has as many as the header.
    public init(header: [String], groups: [String], rows: [[String]]) {
        self.header = header
        self.groups = groups.map(printable)
        self.rows = rows.map { $0.map(printable) }
    }

    /// The lines, without a newline at the end.
    public var text: String {
        let widths = header.indices.map { column in
            ([header] + rows).map { $0[column].displayWidth }.max() ?? 0
        }
        var lines = [line(header, widths)]
        var group: String?
        for (heading, row) in zip(groups, rows) {
            if heading != group { lines.append("  " + heading) }
            group = heading
            lines.append(line(row, widths))
        }
        return lines.joined(separator: "\n")
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        var line = "    "
        for (cell, width) in zip(cells, widths) {
            line += cell + String(repeating: " ", count: width - cell.displayWidth + 2)
        }
        while line.last == " " { line.removeLast() }
        return line
    }
}

extension String {
    /// Characters, which is exact for everything but wide East Asian ones and emoji.
    fileprivate var displayWidth: Int { count }
}
