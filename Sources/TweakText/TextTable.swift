/// Columns of text for a terminal.
public struct TextTable {
    private let header: [String]
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
    public init(
        header: [String], optional: Set<String> = [], groups: [String]? = nil, emphasized: [Bool] = [],
        rows: [[String]]
    ) {
        let columns = header.indices.filter { column in
            !optional.contains(header[column]) || rows.contains { !$0[column].isEmpty }
        }
        self.header = columns.map { header[$0] }
        self.groups = groups?.map(printable)
        self.emphasized = emphasized
        self.rows = rows.map { row in columns.map { printable(row[$0]) } }
    }

    /// The lines, without a newline at the end.
    public var text: String {
        let widths = header.indices.map { column in
            ([header] + rows).map { $0[column].displayWidth }.max() ?? 0
        }
        var lines = [line(header, widths)]
        var group: String?
        for (index, (heading, row)) in zip(groups ?? rows.map { _ in "" }, rows).enumerated() {
            if groups != nil, heading != group { lines.append("  " + heading) }
            group = heading
            let line = line(row, widths)
            lines.append(emphasized.dropFirst(index).first == true ? TweakText.emphasized(line) : line)
        }
        return lines.joined(separator: "\n")
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        var line = groups == nil ? "" : "    "
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
