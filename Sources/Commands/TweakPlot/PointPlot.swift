// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// A picture of results over the values of a tweak, as lines of text.
package struct PointPlot: Sendable {
    private let points: [(x: Double, y: Double)]
    private let title, axis: String

    /// - Parameters:
    ///   - points: The results; those that are not finite are left out.
    ///   - title: The name of the results, above them.
    ///   - axis: The name of the tweak, below them. Both may contain text of others.
    package init(_ points: [(x: Double, y: Double)], title: String, axis: String) {
        self.points = points.filter { $0.x.isFinite && $0.y.isFinite }
        (self.title, self.axis) = (title, axis)
    }

    /// The current picture.
    ///
    /// - Parameters:
    ///   - columns: The width.
    ///   - rows: The number of lines, at least 5.
    ///   - unicode: Whether the terminal shows Unicode.
    /// - Returns: The lines, none of which is wider; none if there is no point, or no room.
    package func lines(columns: Int, rows: Int, unicode: Bool) -> [String] {
        let height = rows - 3
        guard !points.isEmpty, height > 1 else { return [] }
        var (across, up) = (PlotHistory.Extent(), PlotHistory.Extent())
        for point in points {
            across.add(point.x)
            up.add(point.y)
        }
        let scale = PlotScale(range: nil, extent: up, most: max(2, height / 2 + 1))
        let places = PlotScale(
            range: across.minimum < across.maximum ? across.minimum...across.maximum : nil, extent: across,
            most: 2)
        let margin = (scale.ticks.map(\.label.columns).max() ?? 0) + 2
        guard columns >= margin + 10 else { return [] }
        let canvas = canvas(scale, places, columns: columns - margin, rows: height, unicode)
        var labels: [Int: String] = [:]
        for tick in scale.ticks {
            let row = height - 1 - Int((tick.place * Double(height - 1)).rounded())
            labels[row] = labels[row] ?? tick.label
        }
        var lines = [title.shown(isUnicode: unicode).end(columns: columns, isUnicode: unicode)]
        for row in 0..<height {
            let cells = canvas.row(row)
            let end = (cells.lastIndex { !$0.isEmpty } ?? -1) + 1
            let border = labels[row] == nil ? (unicode ? "│" : "|") : (unicode ? "┤" : "+")
            lines.append(
                (labels[row] ?? "").padded(to: margin - 2, atStart: true) + " " + border
                    + String(cells[..<end].map(\.character)))
        }
        let blanks = String(repeating: " ", count: margin - 1)
        lines.append(
            blanks + (unicode ? "└" : "+")
                + String(repeating: unicode ? "─" : "-", count: columns - margin))
        lines.append(
            String(repeating: " ", count: margin) + axisLabels(of: places, columns - margin, unicode))
        return lines
    }

    private func canvas(
        _ scale: PlotScale, _ places: PlotScale, columns: Int, rows: Int, _ isUnicode: Bool
    ) -> PlotCanvas {
        var canvas = PlotCanvas(columns: columns, rows: rows, isUnicode: isUnicode)
        for point in points {
            guard let x = places.place(of: point.x), let y = scale.place(of: point.y) else { continue }
            let column = Int((x * Double(canvas.width - 1)).rounded())
            let row = canvas.height - 1 - Int((y * Double(canvas.height - 1)).rounded())
            // Two dots in each direction, because a single one is hard to see.
            for (x, y) in [(column, row), (column + 1, row), (column, row + 1), (column + 1, row + 1)] {
                canvas.set(x, y, series: 0)
            }
        }
        return canvas
    }

    /// The ends of the horizontal scale, with the tweak's name between them.
    private func axisLabels(of places: PlotScale, _ columns: Int, _ isUnicode: Bool) -> String {
        let form = NumberForm(
            resolution: (places.top - places.bottom) / 100, largest: max(abs(places.bottom), abs(places.top)))
        let (low, high) = (form.text(of: places.bottom), form.text(of: places.top))
        let room = columns - low.columns - high.columns
        guard room > 4 else { return "" }
        let name = axis.shown(isUnicode: isUnicode).end(columns: room - 4, isUnicode: isUnicode)
        let blanks = room - name.columns
        return low + String(repeating: " ", count: blanks / 2) + name
            + String(repeating: " ", count: blanks - blanks / 2) + high
    }
}
