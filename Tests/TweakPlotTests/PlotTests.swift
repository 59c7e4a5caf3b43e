// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing
import TweakRecords

@testable import TweakPlot

/// A second of a series, sampled ten times.
private func ramp(_ series: PlotSeries, layout: Plot.Layout = .stacked, _ value: (Int) -> Double?) -> Plot {
    var plot = Plot([series], window: 1, layout: layout)
    for index in 0...10 { plot.append(time: 1000 + Double(index) / 10, values: [value(index)]) }
    return plot
}

extension Plot {
    fileprivate func text(_ columns: Int, _ rows: Int, unicode: Bool = true, color: Bool = false) -> String {
        frame(columns: columns, rows: rows, unicode: unicode, color: color).joined(separator: "\n")
    }
}

@Suite struct `A plot` {
    @Test func `shows a series with its scale, its value and its extent`() {
        let plot = ramp(PlotSeries(name: "Maze/Ball/Speed", unit: "m/s")) { Double($0) }
        #expect(
            plot.text(50, 10) == """
                Maze/Ball/Speed        10.0 m/s  min 0.0  max 10.0
                10 ┤                                        ⢀⣀⡠⠤⠒⠊
                   │                                 ⣀⡠⠤⠒⠒⠊⠉⠁
                   │                           ⣀⡠⠤⠒⠊⠉
                 5 ┤                   ⢀⣀⠤⠔⠒⠒⠉⠉
                   │             ⣀⡠⠤⠒⠊⠉⠁
                   │      ⢀⣀⡠⠤⠒⠊⠉
                 0 ┤⣀⠤⠔⠒⠉⠉⠁
                   └──────────────────────┬──────────────────────┬
                                        -0.5                   0 s
                """)
    }

    @Test func `draws in ASCII on a terminal without Unicode`() {
        let plot = ramp(PlotSeries(name: "Maze/Ball/Wärme", unit: "°C")) { Double($0) }
        let text = plot.text(50, 10, unicode: false)
        #expect(text.utf8.allSatisfy { $0 < 0x80 })
        #expect(
            text == """
                Maze/Ball/W?rme         10.0 ?C  min 0.0  max 10.0
                10 +                                        .....'
                   |                                   ...''
                   |                          .....''''
                 5 +                    ..''''
                   |            .....'''
                   |      ..''''
                 0 +...'''
                   +----------------------+----------------------+
                                        -0.5                   0 s
                """)
    }

    @Test func `draws states as steps with their names`() {
        let plot = ramp(
            PlotSeries(name: "Maze/Ball/State", states: .indices(of: ["rests", "rolls", "flies"]))
        ) {
            $0 < 4 ? 0 : $0 < 8 ? 2 : 1
        }
        #expect(
            plot.text(50, 8) == """
                Maze/Ball/State                              rolls
                flies ┤                ⢸⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⢱
                      │                ⢸                ⢸
                rolls ┤                ⢸                ⠘⠒⠒⠒⠒⠒⠒⠒⠒⠒
                      │                ⢸
                rests ┤⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⡸
                      └─────────────────────┬────────────────────┬
                                          -0.5                 0 s
                """)
    }

    @Test func `shows where tweaks were changed, and how`() {
        var plot = ramp(PlotSeries(name: "Maze/Ball/Speed", range: 0...10)) { $0 < 5 ? 2 : 8 }
        plot.mark(time: 1000.25, label: "Maze/Ball/Gain: 1.0 → 2.0 (override)")
        plot.mark(time: 1000.5, label: "Maze/Ball/Gain: 2.0 → 8.0 (control)\u{1B}[2J")
        #expect(
            plot.text(50, 12) == """
                Maze/Ball/Speed              8.0  min 2.0  max 8.0
                10 ┤           ⠅          ⠨
                   │           ⠅          ⡸⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒
                   │           ⠅         ⡰⠩
                 5 ┤           ⠅        ⡜ ⠨
                   │           ⠅      ⢀⠎  ⠨
                   │⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠥⠤⠤⠤⠤⠤⠤⠊   ⠨
                 0 ┤           ⠅          ⠨
                   └───────────A──────────B──────────────────────┬
                                        -0.5                   0 s
                A -0.750 s  Maze/Ball/Gain: 1.0 → 2.0 (override)
                B -0.500 s  Maze/Ball/Gain: 2.0 → 8.0 (control)\\u{
                """)
    }

    @Test func `leaves a gap where there is no value`() {
        let plot = ramp(PlotSeries(name: "Maze/Ball/Speed", range: 0...10)) { index in
            switch index {
            case 3: nil
            case 6: .nan
            case 7: .infinity
            default: 5
            }
        }
        #expect(
            plot.text(50, 6) == """
                Maze/Ball/Speed              5.0  min 5.0  max 5.0
                10 ┤
                 5 ┤⣀⣀⣀⣀⣀⣀⣀⣀⣀        ⢀⣀⣀⣀⣀⣀             ⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀
                   │
                 0 ┤
                   └──────────────────────┬──────────────────────┬
                """)
    }

    @Test func `shows several series stacked or together`() {
        func plot(_ layout: Plot.Layout) -> Plot {
            var plot = Plot(
                [PlotSeries(name: "A/B/Up"), PlotSeries(name: "A/B/Down", range: 0...20)], window: 1,
                layout: layout)
            for index in 0...10 {
                plot.append(time: Double(index) / 10, values: [Double(index), Double(20 - index)])
            }
            return plot
        }
        #expect(
            plot(.stacked).text(50, 12) == """
                A/B/Up                     10.0  min 0.0  max 10.0
                10 ┤                                    ⣀⣀⡠⠤⠔⠒⠒⠒⠒⠊
                 5 ┤                      ⢀⣀⣀⣀⣀⠤⠤⠔⠒⠊⠉⠉⠉⠉
                   │           ⣀⣀⠤⠤⠤⠤⠔⠒⠒⠉⠉⠁
                 0 ┤⣀⣀⠤⠤⠒⠒⠒⠒⠊⠉⠉
                A/B/Down                  10.0  min 10.0  max 20.0
                20 ┤⠉⠉⠉⠉⠒⠒⠒⠒⠒⠒⠒⠒⠒⠤⠤⠤⠤⢄⣀⣀⣀⣀⡀
                10 ┤                      ⠈⠉⠉⠉⠉⠉⠉⠉⠉⠑⠒⠒⠒⠒⠤⠤⠤⠤⢄⣀⣀⣀⣀⣀
                   │
                 0 ┤
                   └──────────────────────┬──────────────────────┬
                                        -0.5                   0 s
                """)
        #expect(
            plot(.together).text(50, 10) == """
                A/B/Up 10.0   A/B/Down 10.0
                20 ┤⠉⠉⠉⠉⠒⠒⠢⠤⢄⣀⣀⣀⣀
                   │             ⠉⠉⠉⠉⠑⠒⠒⠤⠤⢄⣀⣀⣀⣀
                   │                           ⠉⠉⠉⠉⠑⠒⠒⠤⠤⣀⣀⣀⣀⡀
                10 ┤                                        ⢈⣉⣉⠭⠭⠕
                   │                           ⣀⣀⣀⣀⡠⠤⠤⠒⠒⠉⠉⠉⠉⠁
                   │             ⣀⣀⣀⣀⡠⠤⠤⠒⠒⠊⠉⠉⠉⠉
                 0 ┤⣀⣀⣀⣀⠤⠤⠔⠒⠊⠉⠉⠉⠉
                   └──────────────────────┬──────────────────────┬
                                        -0.5                   0 s
                """)
    }

    @Test func `fits into little space`() {
        let plot = ramp(PlotSeries(name: "Maze/Ball/Speed", unit: "m/s")) { Double($0) }
        #expect(
            plot.text(20, 6) == """
                …all/Speed  10.0 m/s
                               ⢀⡠⠔⠒⠊
                         ⢀⣀⠤⠒⠉⠉⠁
                    ⢀⡠⠤⠔⠊⠁
                ⡠⠒⠒⠉⠁
                ─────────┬─────────┬
                """)
    }

    @Test(arguments: [Plot.Layout.stacked, .together], [[], [PlotSeries.State(1_234_567.25, "somewhere")]])
    func `shortens names in little space, but no number`(layout: Plot.Layout, states: [PlotSeries.State]) {
        var plot = Plot(
            [
                PlotSeries(name: "Maze/Ball/Speed", unit: "m/s", precision: 3),
                PlotSeries(name: "Maze/Ball/Place", states: states),
            ], window: 1, layout: layout)
        for index in 0...10 {
            plot.append(
                time: 1000 + Double(index) / 10, values: [-98_765.125 * Double(index), 1_234_567.25])
        }
        plot.mark(time: 1000.5, label: "Maze/Ball/Label: 4815 → 162342 (control)")
        func numbers(_ columns: Int) -> Set<Substring> {
            // Without the times below the picture, whose distance depends on the width.
            let lines = plot.text(columns, 14).split(separator: "\n").filter { !$0.hasSuffix(" s") }
            return Set(lines.joined(separator: " ").split { !"-0123456789.e".contains($0) }).filter {
                $0.contains { "0"..."9" ~= $0 }
            }
        }
        let whole = numbers(200)
        #expect(whole.isSuperset(of: ["4815", "162342"]))
        for columns in 1..<200 { #expect(numbers(columns).isSubset(of: whole), "\(columns) columns") }
    }

    @Test func `mentions what does not fit, and shows it on request`() {
        var plot = Plot((1...9).map { PlotSeries(name: "Maze/Walls/\($0)") })
        #expect(plot.text(40, 12).contains("7 more; arrow keys show others"))
        plot.firstPanel = 4
        #expect(plot.text(40, 12).contains("Maze/Walls/5"))
        plot.firstPanel = .max
        #expect(plot.text(40, 12).contains("Maze/Walls/9"))
    }

    @Test func `colours a series and the marks`() {
        var plot = ramp(PlotSeries(name: "A/B/C")) { Double($0) }
        plot.mark(time: 1000.5, label: "x")
        let text = plot.text(40, 8, color: true)
        #expect(text.contains("\u{1B}[36mA/B/C\u{1B}[m") && text.contains("\u{1B}[33mA\u{1B}[m"))
        let plain = text.replacing(#/\u{1B}\[[0-9]*m/#, with: "")
        #expect(plain == plot.text(40, 8))
    }

    @Test func `shows a peak of one sample in two hundred thousand`() {
        var plot = Plot([PlotSeries(name: "A/B/C", range: 0...100)], window: 1000)
        for index in 0..<200_000 {
            plot.append(
                time: Double(index) / 200, values: [index == 154_321 ? 99 : index == 98_765 ? 1 : 50])
        }
        let frame = plot.frame(columns: 80, rows: 20, unicode: true, color: false)
        #expect(frame[0].hasSuffix("min 1  max 99"))
        let top = frame[1].dropFirst(5), bottom = frame[17].dropFirst(5)
        #expect(top.contains { $0 != " " } && bottom.contains { $0 != " " }, "\(frame)")
        #expect(plot.history.parts.count <= 2 * 2048)
    }

    @Test func `keeps no more than its window, however much there is`() {
        var plot = Plot((0..<1000).map { PlotSeries(name: "A/B/\($0)") }, window: 1)
        let values = (0..<1000).map { Double($0) as Double? }
        for index in 0..<5000 {
            plot.append(time: Double(index) / 1000, values: values)
            plot.mark(time: Double(index) / 1000, label: "x")
        }
        #expect(plot.history.parts.count < 1000)
        #expect(plot.marks.count <= 500)
        #expect((plot.history.parts.first?.end ?? 0) >= 3.9)
    }

    @Test func `zooms out and in without losing samples`() {
        var plot = Plot([PlotSeries(name: "A/B/C")], window: 1)
        for index in 0...100 { plot.append(time: Double(index) / 100, values: [index == 50 ? 9 : 1]) }
        plot.window = 1000
        #expect(plot.frame(columns: 60, rows: 8, unicode: true, color: false)[0].hasSuffix("max 9.0"))
        plot.window = 0.2
        #expect(plot.frame(columns: 60, rows: 8, unicode: true, color: false)[0].hasPrefix("A/B/C"))
        plot.window = .nan
        #expect(plot.window == 0.1)
    }

    @Test func `starts over when the clock is set back`() {
        var plot = Plot([PlotSeries(name: "A/B/C")], window: 10)
        for time in [1000.0, 1001, 1002, 3, 4] { plot.append(time: time, values: [time]) }
        #expect(
            plot.frame(columns: 60, rows: 8, unicode: true, color: false)[0].hasSuffix("min 3.00  max 4.00"))
    }

    @Test(arguments: 0..<200) func `accepts any numbers and any size`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        func number() -> Double {
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: Double(bitPattern: .random(in: .min ... .max, using: &generator))
            case 1:
                [
                    0, -0.0, .nan, .infinity, -.infinity, .greatestFiniteMagnitude, -.greatestFiniteMagnitude,
                    .leastNonzeroMagnitude, .leastNormalMagnitude, 1e15, 1e-300,
                ].randomElement(using: &generator) ?? 0
            case 2: .random(in: -1...1, using: &generator)
            case 3: 1 + Double.random(in: 0...1e-15, using: &generator)
            case 4: Double(Int.random(in: -1000...1000, using: &generator))
            default: Double(Int.random(in: .min ... .max, using: &generator))
            }
        }
        let series = (0..<Int.random(in: 0...6, using: &generator)).map { index in
            let (a, b) = (number(), number())
            return PlotSeries(
                name: index == 3 ? "" : "A/\u{1F469}\u{200D}\u{1F4BB}界/\n\u{1B}[1m\(index)",
                unit: index == 1 ? "µ\r" : nil,
                precision: index == 2 ? .random(in: -3...30, using: &generator) : nil,
                range: a.isNaN || b.isNaN || index % 2 == 0 ? nil : min(a, b)...max(a, b),
                states: index == 4 ? [.init(number(), "a"), .init(number(), "b"), .init(number(), "c")] : [])
        }
        var plot = Plot(
            series, window: number(), layout: Bool.random(using: &generator) ? .stacked : .together)
        var rows = PlainRows(series, interval: number(), unicode: Bool.random(using: &generator))
        var csv = SampleCSV(names: series.map(\.name))
        var time = number()
        for _ in 0..<200 {
            if Int.random(in: 0..<20, using: &generator) == 0 { time = number() }
            time += .random(in: 0...0.1, using: &generator)
            let batch = SampleBatch(
                times: [time, time],
                values: (0..<2).map { _ in
                    (0..<Int.random(in: 0...7, using: &generator)).map { _ in
                        Bool.random(using: &generator) ? nil : number()
                    }
                },
                marks: Bool.random(using: &generator) ? [SampleMark(time: number(), label: "x\n→,\"")] : [],
                dropped: .random(in: 0...1, using: &generator))
            plot.append(batch)
            _ = rows.rows(of: batch)
            _ = csv.lines(of: batch)
            if Int.random(in: 0..<50, using: &generator) == 0 { plot.window = number() }
        }
        plot.firstPanel = .random(in: -2...9, using: &generator)
        for _ in 0..<20 {
            let (columns, count) = (
                Int.random(in: -1...120, using: &generator), Int.random(in: -1...40, using: &generator)
            )
            let frame = plot.frame(
                columns: columns, rows: count, unicode: .random(using: &generator), color: false)
            #expect(frame.count == max(0, count))
            #expect(
                frame.allSatisfy {
                    $0.columns <= max(0, columns) && !$0.contains("\u{1B}") && !$0.contains("\n")
                })
        }
    }
}
