// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// Columns of text for people. On a terminal they fit its width; in files and pipes each row is one line.
package struct TextTable {
    private let layout: TextLayout
    private let groups: [String]?
    private let emphasized: [Bool]
    private let rows: [[String]]

    /// Makes a table.
    ///
    /// - Parameters:
    ///   - header: The names of the columns. A column is omitted if all its cells are empty.
    ///   - groups: The heading of each row, printed above the row where it differs from the row before; `nil` for a
    ///     table without headings.
    ///   - emphasized: For each row, whether it stands out on a terminal; empty for none.
    ///   - rows: The cells; each row has as many as the header.
    ///   - width: The number of terminal columns to fit; `nil` for any.
    package init(
        header: [String], groups: [String]? = nil, emphasized: [Bool] = [], rows: [[String]],
        width: Int? = terminalWidth
    ) {
        var columns = TextColumns(header: header, isIndented: groups != nil, width: width)
        for row in rows { columns.measure(row) }
        layout = columns.layout
        self.groups = groups
        self.emphasized = emphasized
        self.rows = rows
    }

    /// The lines, without a newline at the end.
    package var text: String {
        var lines = [layout.header]
        var group: String?
        for (index, (heading, row)) in zip(groups ?? rows.map { _ in "" }, rows).enumerated() {
            if groups != nil, heading != group { lines.append(layout.heading(heading)) }
            group = heading
            let isEmphasized = emphasized.dropFirst(index).first == true
            lines += layout.lines(row).map { isEmphasized ? CommandSupport.emphasized($0) : $0 }
        }
        return lines.joined(separator: "\n")
    }
}

/// The column widths of a table, which must be known before the first row is printed.
///
/// The rows need not be kept: each is measured first, and made again when it is printed.
package struct TextColumns {
    /// Wider cells do not count: one long text would widen every row.
    private static let widest = 200
    /// A text up to this width stays whole, such as a number with a unit.
    private static let longestWhole = 10
    /// A longer word may be broken.
    private static let longestWord = 16

    private let names: [String]
    private let isIndented: Bool
    private let limit: Int?
    private var columns: [TextLayout.Column]
    private var isShown: [Bool]

    /// - Parameters:
    ///   - header: The names of the columns. A column is omitted if all its cells are empty.
    ///   - isIndented: Whether the rows stand below headings.
    ///   - width: The number of terminal columns to fit; `nil` for any.
    package init(header: [String], isIndented: Bool = false, width: Int? = terminalWidth) {
        names = header
        self.isIndented = isIndented
        limit = width
        columns = header.indices.map { .init(index: $0, width: 0, least: 0) }
        isShown = header.map { _ in false }
        for index in header.indices { widen(index, by: header[index]) }
    }

    /// Makes room for a row, which has as many cells as the header.
    package mutating func measure(_ row: [String]) {
        for (index, cell) in zip(names.indices, row) where !cell.isEmpty {
            isShown[index] = true
            widen(index, by: printable(cell))
        }
    }

    private mutating func widen(_ index: Int, by text: String) {
        let width = text.columns
        guard limit != nil else {
            if width <= Self.widest { columns[index].width = max(columns[index].width, width) }
            return
        }
        columns[index].width = max(columns[index].width, min(width, Self.widest))
        guard columns[index].least < min(width, Self.longestWord) else { return }
        let word = width <= Self.longestWhole ? width : text.widestPart
        columns[index].least = max(columns[index].least, min(word, Self.longestWord))
    }

    /// The layout for the rows that have been measured.
    package var layout: TextLayout {
        let shown = isShown.contains(true) ? columns.filter { isShown[$0.index] } : columns
        return TextLayout(names: names, shown: shown, indentation: isIndented ? 4 : 0, limit: limit)
    }
}

/// The lines of a table with columns of known widths.
///
/// If the rows are too wide, a long text at their end stands below them; then cells are broken into lines, and finally
/// further cells stand below, too, with the names of their columns. Nothing is cut off.
package struct TextLayout {
    struct Column {
        let index: Int
        /// The width of the longest cell that counts.
        var width: Int
        /// The width of the longest part that should stay whole.
        var least: Int
    }

    /// The room that a text at the end of rows needs at least, unless it is shorter.
    private static let leastRoom = 30

    /// In a narrower terminal, the lines are longer than it is wide.
    private static let narrowest = 20

    private let names: [String]
    private let indentation: Int
    /// The width of lines, without the indentation; `nil` for any.
    private let room: Int?
    private var columns: [Column]
    /// The columns whose cells stand below the row.
    private var below: [Column] = []

    /// - Parameters:
    ///   - shown: The columns that have cells; at least one.
    ///   - limit: The width of lines; `nil` for any.
    fileprivate init(names: [String], shown: [Column], indentation: Int, limit: Int?) {
        (self.names, self.indentation) = (names, indentation)
        room = limit.map { max($0, Self.narrowest) - indentation }
        columns = shown
        guard let room, width > room else { return }
        if let last = columns.last, columns.count > 1, last.width > room / 3,
            room - (width - last.width) < min(last.width, Self.leastRoom)
        {
            moveLastBelow()
        }
        let natural = columns
        while true {
            while width > room, let widest { columns[widest].width -= 1 }
            guard width > room, columns.count > 1 else { return }
            let count = columns.count
            columns = Array(natural.prefix(count))
            moveLastBelow()
        }
    }

    /// The width of a row.
    private var width: Int { columns.reduce(2 * (columns.count - 1)) { $0 + $1.width } }

    /// The widest column among those that need not be as wide.
    private var widest: Int? {
        columns.indices.filter { columns[$0].width > columns[$0].least }
            .max { columns[$0].width < columns[$1].width }
    }

    private mutating func moveLastBelow() { below.insert(columns.removeLast(), at: 0) }

    /// The lines with the columns' names.
    package var header: String { row(names).joined(separator: "\n") }

    /// The line above a group of rows.
    package func heading(_ text: String) -> String { "  " + underlined(printable(text)) }

    /// The lines of a row that was measured before, joined by newlines.
    package func text(_ row: [String]) -> String { lines(row).joined(separator: "\n") }

    /// The lines of a row that was measured before.
    func lines(_ cells: [String]) -> [String] {
        var lines = row(cells)
        guard let room else { return lines }
        let texts = below.filter { !cells[$0.index].isEmpty }.map { column in
            // What stands at the end of rows is a description or a path, and needs no name.
            let name = column.index == below.last?.index ? "" : names[column.index] + ": "
            return name + printable(cells[column.index])
        }
        guard !texts.isEmpty else { return lines }
        let margin = indentation + 4
        lines += texts.joined(separator: "; ").broken(to: room - 4).map {
            String(repeating: " ", count: margin) + $0
        }
        return lines
    }

    /// The lines of the cells that stand beside each other.
    private func row(_ cells: [String]) -> [String] {
        let whole = columns.map { printable(cells[$0.index]) }
        guard room != nil else { return [line(whole)] }
        let texts = zip(columns, whole).map { column, text in
            text.columns <= column.width ? [text] : text.broken(to: column.width)
        }
        return (0..<(texts.map(\.count).max() ?? 0)).map { number in
            line(texts.map { $0.dropFirst(number).first ?? "" })
        }
    }

    private func line(_ texts: [String]) -> String {
        var line = String(repeating: " ", count: indentation)
        // Padding is written only before another cell.
        var padding = 0
        for (column, text) in zip(columns, texts) {
            if !text.isEmpty { line += String(repeating: " ", count: padding) + text }
            padding = max(0, column.width - text.columns) + 2 + (text.isEmpty ? padding : 0)
        }
        return line.withoutBlanks
    }
}

extension String {
    /// The parts that should stay whole in a line: words, each with the blanks behind it, and of a word that is wider
    /// than the limit the parts up to a slash.
    fileprivate func parts(within limit: Int) -> [Substring] {
        self[...].parts { $0 == " " && $1 != " " }.flatMap { word in
            word.withoutBlanks.columns <= limit ? [word] : word.parts { before, _ in before == "/" }
        }
    }

    /// The width of the widest part that is broken only if there is no other way.
    fileprivate var widestPart: Int { parts(within: 0).map(\.withoutBlanks.columns).max() ?? 0 }

    /// Lines of at most this many terminal columns, broken at blanks; a word that is longer is broken behind slashes,
    /// or else anywhere. A character of two columns is never broken.
    ///
    /// - Parameter limit: At least one.
    fileprivate func broken(to limit: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for part in parts(within: limit) {
            if (line + part).withoutBlanks.columns <= limit {
                line += part
                continue
            }
            if !line.isEmpty { lines.append(line.withoutBlanks) }
            line = String(part)
            while line.withoutBlanks.columns > limit {
                let start = line.beginning(columns: limit)
                let whole = start.isEmpty ? String(line.prefix(1)) : start
                guard whole.count < line.count else { break }
                lines.append(whole)
                line.removeFirst(whole.count)
            }
        }
        return lines + [line.withoutBlanks]
    }
}

extension Substring {
    /// The parts between places to break, which are told by the characters before and behind them.
    fileprivate func parts(_ isPlace: (Character, Character) -> Bool) -> [Substring] {
        var parts: [Substring] = []
        var start = startIndex
        for index in indices where index > start && isPlace(self[self.index(before: index)], self[index]) {
            parts.append(self[start..<index])
            start = index
        }
        return start < endIndex ? parts + [self[start...]] : parts
    }
}

extension StringProtocol where UTF8View: BidirectionalCollection {
    /// The text without blanks at its end.
    fileprivate var withoutBlanks: String {
        guard utf8.last == UInt8(ascii: " ") else { return String(self) }
        guard let last = utf8.lastIndex(where: { $0 != UInt8(ascii: " ") }) else { return "" }
        return String(self[..<utf8.index(after: last)])
    }
}
