// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// Draws one picture.
struct PlotFrame {
    private let plot: Plot
    private let columns, rows: Int
    private let isUnicode, isColored: Bool
    private var lines: [String] = []
    /// The width of the labels at the left, with the line beside them.
    private var margin = 0

    /// Below this width there is no room for scales.
    private static let leastColumnsForScale = 30
    private static let mostLegends = 4

    init(_ plot: Plot, columns: Int, rows: Int, isUnicode: Bool, isColored: Bool) {
        self.plot = plot
        (self.columns, self.rows) = (columns, rows)
        (self.isUnicode, self.isColored) = (isUnicode, isColored)
    }

    /// Series that share a panel, with their numbers.
    private struct Panel {
        let series: [Int]
        let rows: Int
        let scale: PlotScale
    }

    mutating func draw() -> [String] {
        let all = plot.series.indices
        let groups: [[Int]] = plot.layout == .together ? [Array(all)] : all.map { [$0] }
        guard columns > 0, !groups.allSatisfy(\.isEmpty) else { return [] }

        // Two lines for the time and some for marks, if the panels leave room.
        let axisRows = rows >= 8 ? 2 : rows >= 4 ? 1 : 0
        let legendRows = min(plot.marks.count, Self.mostLegends, max(0, (rows - axisRows) / 4))
        let room = max(1, rows - axisRows - legendRows)
        // A title, and the three rows of dots that a scale needs.
        let most = max(1, room / 4)
        let isCut = groups.count > most
        let first = min(max(plot.firstPanel, 0), max(0, groups.count - most))
        let shown = groups[first..<min(groups.count, first + most)]
        let pictureRoom = isCut && room > 4 ? room - 1 : room

        var panels: [Panel] = []
        for (index, group) in shown.enumerated() {
            let height = pictureRoom / shown.count + (index < pictureRoom % shown.count ? 1 : 0)
            let rows = max(0, height - 1)
            panels.append(Panel(series: group, rows: rows, scale: scale(of: group, rows: rows)))
        }
        margin = columns < Self.leastColumnsForScale ? 0 : self.margin(of: panels)
        for panel in panels {
            lines.append(title(of: panel))
            picture(of: panel)
        }
        if isCut, room > 4 {
            let text = "\(groups.count - shown.count) more; arrow keys show others"
            lines.append(styled(text.columns <= columns ? text : "", .dim))
        }
        if axisRows > 0 { lines.append(border()) }
        if axisRows > 1 { lines.append(times()) }
        for mark in plot.marks.suffix(legendRows) { lines.append(legend(of: mark)) }
        return lines
    }

    // MARK: Scales

    private func scale(of group: [Int], rows: Int) -> PlotScale {
        if let only = group.first, group.count == 1, !plot.series[only].states.isEmpty {
            return PlotScale(states: plot.series[only].states)
        }
        var extent = PlotHistory.Extent()
        var range: ClosedRange<Double>?
        for index in group {
            extent.add(plot.history.extent(of: index))
            guard let own = plot.series[index].range else { continue }
            range =
                range.map { min($0.lowerBound, own.lowerBound)...max($0.upperBound, own.upperBound) } ?? own
        }
        return PlotScale(range: range, extent: extent, most: max(2, rows / 2 + 1))
    }

    private func margin(of panels: [Panel]) -> Int {
        func widest(_ panels: [Panel]) -> Int {
            panels.flatMap { $0.scale.ticks.map { $0.label.shown(isUnicode: isUnicode).columns } }.max() ?? 0
        }
        // Names are shortened. Numbers have the room that they need, or are left out.
        let names = min(widest(panels.filter(\.scale.hasStates)), columns / 4)
        let numbers = widest(panels.filter { !$0.scale.hasStates })
        return max(names, numbers <= columns / 2 ? numbers : 0) + 2
    }

    private var pictureColumns: Int { max(0, columns - margin) }

    /// The labels of a panel by row.
    private func labels(of panel: Panel) -> [Int: String] {
        var labels: [Int: String] = [:]
        for tick in panel.scale.ticks {
            let row = panel.rows - 1 - Int((tick.place * Double(max(0, panel.rows - 1))).rounded())
            let label = tick.label.shown(isUnicode: isUnicode)
            guard labels[row] == nil, panel.scale.hasStates || label.columns <= margin - 2 else { continue }
            labels[row] = label
        }
        return labels
    }

    // MARK: Titles

    private func title(of panel: Panel) -> String {
        guard plot.layout == .stacked, let index = panel.series.first else {
            var title = ""
            var width = 0
            for index in panel.series {
                let room = columns - width - (width == 0 ? 0 : 3)
                guard let value = latest(of: index, panel.scale, columns: room) else { break }
                let name = name(of: index).end(
                    columns: max(0, room - value.columns - 1), isUnicode: isUnicode)
                let shown = name.isEmpty ? value : name + " " + value
                title += (width == 0 ? "" : "   ") + styled(shown, .series(index))
                width = columns - room + shown.columns
            }
            return title
        }
        let name = name(of: index)
        let extent = plot.history.extent(of: index)
        var right = [latest(of: index, panel.scale, columns: columns) ?? ""]
        if !extent.isEmpty, plot.series[index].states.isEmpty {
            right.append("min \(value(extent.minimum, of: index, panel.scale, withUnit: false))")
            right.append("max \(value(extent.maximum, of: index, panel.scale, withUnit: false))")
        }
        // The name is shortened first, from the front; then the extent is dropped.
        let least = min(name.columns, 12)
        while right.count > 1, least + 2 + right.joined(separator: "  ").columns > columns {
            right.removeLast()
        }
        let values = right.joined(separator: "  ")
        let shown = name.end(columns: max(0, columns - values.columns - 2), isUnicode: isUnicode)
        let blanks = String(repeating: " ", count: max(0, columns - shown.columns - values.columns))
        return styled(shown, .series(index)) + blanks + values
    }

    /// The latest value in this width: a number without its unit if necessary, or a shortened state; `nil` if a number
    /// does not fit, because a shortened one would be another.
    private func latest(of index: Int, _ scale: PlotScale, columns limit: Int) -> String? {
        guard limit > 0 else { return nil }
        let latest = plot.history.latest[index]
        let text = value(latest, of: index, scale)
        if text.columns <= limit { return text }
        if plot.series[index].states.contains(where: { $0.value == latest }) {
            return text.end(columns: limit, isUnicode: isUnicode)
        }
        let number = value(latest, of: index, scale, withUnit: false)
        return number.columns <= limit ? number : nil
    }

    private func name(of index: Int) -> String { plot.series[index].name.shown(isUnicode: isUnicode) }

    private func value(_ value: Double?, of index: Int, _ scale: PlotScale, withUnit: Bool = true) -> String {
        let series = plot.series[index]
        guard let value else { return "-" }
        if let state = series.states.first(where: { $0.value == value }) {
            return state.name.shown(isUnicode: isUnicode)
        }
        let form =
            series.precision.map(NumberForm.init(precision:))
            ?? NumberForm(resolution: scale.resolution, largest: abs(value))
        let unit = withUnit ? series.unit.map { " " + $0.shown(isUnicode: isUnicode) } : nil
        return form.text(of: value) + (unit ?? "")
    }

    // MARK: Pictures

    /// Maps the time to columns of dots. The window has a number of parts, which move by whole dots.
    private struct Time {
        let dot: Double
        let last: Double
        let width: Int

        /// The column of a time; negative for a time before the window.
        func column(of time: Double) -> Int {
            let distance = last - (time / dot).rounded(.down)
            return width - 1 - Int(min(.maximum(distance, 0), Double(2 * width)))
        }
    }

    private func time(_ width: Int) -> Time? {
        guard width > 0, let newest = plot.history.newest else { return nil }
        let dot = plot.window / Double(width)
        return Time(dot: dot, last: (newest / dot).rounded(.down), width: width)
    }

    private mutating func picture(of panel: Panel) {
        var canvas = PlotCanvas(columns: pictureColumns, rows: panel.rows, isUnicode: isUnicode)
        if let time = time(canvas.width) {
            for mark in plot.marks {
                let x = time.column(of: mark.time)
                for y in stride(from: 0, to: canvas.height, by: 2) { canvas.set(x, y, series: nil) }
            }
            for index in panel.series { draw(index, panel.scale, time, &canvas) }
        }
        let labels = labels(of: panel)
        for row in 0..<panel.rows {
            var line = ""
            if margin > 0 {
                let label = (labels[row] ?? "").beginning(columns: margin - 2)
                let tick = isUnicode ? "┤" : "+"
                line = label.padded(to: margin - 2, atStart: true) + " "
                line += labels[row] == nil ? (isUnicode ? "│" : "|") : tick
            }
            lines.append(line + text(of: canvas.row(row)))
        }
    }

    /// Draws a series from the oldest part to the newest, with lines between the parts.
    private func draw(_ index: Int, _ scale: PlotScale, _ time: Time, _ canvas: inout PlotCanvas) {
        let isStepped = !plot.series[index].states.isEmpty
        let height = canvas.height
        func y(_ value: Double) -> Int? {
            scale.place(of: value).map { height - 1 - Int(($0 * Double(height - 1)).rounded()) }
        }
        guard height > 0 else { return }
        var before: (x: Int, extent: PlotHistory.Extent)?
        for part in plot.history.parts {
            guard part.extents.indices.contains(index), !part.extents[index].isEmpty else {
                before = nil
                continue
            }
            let extent = part.extents[index]
            // The middle of the newest part may be slightly later than the newest sample.
            let x = time.column(of: min(part.middle, plot.history.newest ?? part.middle))
            guard let low = y(extent.minimum), let high = y(extent.maximum)
            else { continue }
            canvas.fill(x, low, high, series: index)
            if let before {
                let start = before.extent.nearest(to: extent.minimum + (extent.maximum - extent.minimum) / 2)
                if let from = y(start), let to = y(extent.nearest(to: start)) {
                    join(before.x, from, x, to, isStepped, index, &canvas)
                }
            }
            before = (x, extent)
        }
    }

    private func join(
        _ x0: Int, _ y0: Int, _ x1: Int, _ y1: Int, _ isStepped: Bool, _ series: Int,
        _ canvas: inout PlotCanvas
    ) {
        guard x1 > x0 else {
            canvas.fill(x1, y0, y1, series: series)
            return
        }
        var last = y0
        for x in x0 + 1...x1 {
            let y = isStepped ? (x == x1 ? y1 : y0) : y0 + (y1 - y0) * (x - x0) / (x1 - x0)
            // Up or down the column, without the dot that the previous part has set.
            canvas.fill(x, last == y ? y : last < y ? last + 1 : last - 1, y, series: series)
            last = y
        }
    }

    private func text(of cells: [(character: Character, series: Int?, isEmpty: Bool)]) -> String {
        var text = ""
        var run = ""
        var style: Style?
        for cell in cells.prefix((cells.lastIndex { !$0.isEmpty } ?? -1) + 1) {
            let next: Style? = cell.isEmpty ? style : cell.series.map { .series($0) } ?? .mark
            if next != style {
                text += styled(run, style)
                (run, style) = ("", next)
            }
            run.append(cell.character)
        }
        return text + styled(run, style)
    }

    // MARK: Time and marks

    private func border() -> String {
        let (corner, line) = isUnicode ? ("└", "─" as Character) : ("+", "-")
        var characters = Array(repeating: line, count: pictureColumns)
        for column in timeTicks.map(\.column) where characters.indices.contains(column) {
            characters[column] = isUnicode ? "┬" : "+"
        }
        var letters: [Int: Character] = [:]
        if let time = time(pictureColumns * (isUnicode ? 2 : 1)) {
            for mark in plot.marks {
                let x = time.column(of: mark.time)
                letters[isUnicode ? x >> 1 : x] = mark.letter
            }
        }
        var text = margin > 0 ? String(repeating: " ", count: margin - 1) + corner : ""
        for (column, character) in characters.enumerated() {
            text += letters[column].map { styled(String($0), .mark) } ?? String(character)
        }
        return text
    }

    /// The labelled times: the seconds before the newest sample, and the column.
    private var timeTicks: [(seconds: Double, column: Int)] {
        guard pictureColumns > 0 else { return [] }
        let step = PlotScale.step(of: plot.window, intervals: max(1, pictureColumns / 10))
        guard step > 0 else { return [] }
        let count = min(Int((plot.window / step + 1e-9).rounded(.down)), pictureColumns)
        return (0...max(0, count)).map { index in
            let seconds = step * Double(index)
            let distance = seconds / plot.window * Double(pictureColumns)
            return (seconds, pictureColumns - 1 - Int(min(distance, Double(pictureColumns))))
        }.filter { $0.1 >= 0 }
    }

    private func times() -> String {
        let ticks = timeTicks
        let form = NumberForm(resolution: (ticks.dropFirst().first?.seconds ?? 1), largest: plot.window)
        var characters = Array(repeating: " " as Character, count: columns)
        var free = columns
        for (seconds, column) in ticks {
            let label = Array(seconds == 0 ? "0 s" : "-" + form.text(of: seconds))
            let start = min(max(0, margin + column - label.count / 2), columns - label.count)
            guard start >= 0, start + label.count < free || free == columns else { continue }
            for (offset, character) in label.enumerated() { characters[start + offset] = character }
            free = start
        }
        return styled(String(characters.prefix((characters.lastIndex { $0 != " " } ?? -1) + 1)), .dim)
    }

    private func legend(of mark: Plot.Mark) -> String {
        let age = (plot.history.newest ?? mark.time) - mark.time
        let form = NumberForm(resolution: plot.window / 200, largest: plot.window)
        let time = (age <= 0 ? form.text(of: 0) : "-" + form.text(of: age)) + " s"
        let start = " \(time.padded(to: 7, atStart: true))  "
        let room = columns - 1 - start.columns
        let label = mark.label.shown(isUnicode: isUnicode).change(columns: room, isUnicode: isUnicode)
        return styled(String(mark.letter), .mark) + (room > 0 ? start + label : "")
    }

    // MARK: Colours

    private enum Style: Equatable {
        case series(Int), mark, dim

        /// The SGR parameter (ECMA-48).
        var code: Int {
            switch self {
            case .series(let index): [36, 32, 35, 34, 31, 96][index % 6]
            case .mark: 33
            case .dim: 2
            }
        }
    }

    private func styled(_ text: String, _ style: Style?) -> String {
        guard isColored, let style, !text.isEmpty else { return text }
        return "\u{1B}[\(style.code)m\(text)\u{1B}[m"
    }
}
