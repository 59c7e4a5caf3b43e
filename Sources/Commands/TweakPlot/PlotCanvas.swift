// SPDX-License-Identifier: BSD-3-Clause
/// A picture of dots, several in each character.
struct PlotCanvas {
    let columns, rows: Int
    private let isUnicode: Bool
    private var cells: [Cell]

    struct Cell {
        var dots: UInt8 = 0
        /// The series that was drawn last in the character; `nil` for a mark.
        var series: Int?
    }

    /// The number of dots in a character, horizontally and vertically.
    private let (across, down): (Int, Int)
    var width: Int { columns * across }
    var height: Int { rows * down }

    init(columns: Int, rows: Int, isUnicode: Bool) {
        (self.columns, self.rows, self.isUnicode) = (max(0, columns), max(0, rows), isUnicode)
        (across, down) = isUnicode ? (2, 4) : (1, 2)
        cells = Array(repeating: Cell(), count: self.columns * self.rows)
    }

    /// Sets a dot; `y` is 0 at the top. Dots outside are ignored.
    mutating func set(_ x: Int, _ y: Int, series: Int?) {
        guard 0..<width ~= x, 0..<height ~= y else { return }
        let index = y / down * columns + x / across
        let bit =
            isUnicode ? Self.brailleBits[y % down * 2 + x % across] : UInt8(1 << (y % down))
        cells[index].dots |= bit
        if let series { cells[index].series = series }
    }

    /// Sets a range of dots in a column.
    mutating func fill(_ x: Int, _ first: Int, _ last: Int, series: Int?) {
        let first = min(max(first, 0), height)
        let last = min(max(last, 0), height)
        for y in min(first, last)...max(first, last) { set(x, y, series: series) }
    }

    /// The characters of a row.
    func row(_ row: Int) -> [(character: Character, series: Int?, isEmpty: Bool)] {
        guard 0..<rows ~= row else { return [] }
        return cells[row * columns..<(row + 1) * columns].map { cell in
            (character(cell.dots), cell.series, cell.dots == 0)
        }
    }

    private func character(_ dots: UInt8) -> Character {
        guard dots != 0 else { return " " }
        guard isUnicode else { return ["'", ".", ":"][Int(dots & 3) - 1] }
        return Character(Unicode.Scalar(0x2800 + UInt32(dots)) ?? " ")
    }

    /// The bits of the dots in a braille pattern, row by row: The Unicode Standard, Braille Patterns.
    private static let brailleBits: [UInt8] = [0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80]
}
