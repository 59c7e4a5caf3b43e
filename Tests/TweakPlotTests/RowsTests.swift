// SPDX-License-Identifier: BSD-3-Clause
import Testing

@testable import TweakPlot

private let batch = SampleBatch(
    times: [1_700_000_000, 1_700_000_000.25, 1_700_000_001.5],
    values: [[12.25, 1, 0], [nil, 0, .infinity], [.nan, 1]],
    marks: [
        SampleMark(time: 1_700_000_000.1, label: "A/B/Gain: \"a, b\" → \"c\" (control)"),
        SampleMark(time: 1_700_000_002, label: "A/B/On: false\n"),
    ])

@Suite struct `Samples as CSV` {
    private func text(_ batch: SampleBatch, _ csv: inout SampleCSV) -> String {
        String(decoding: csv.lines(of: batch), as: UTF8.self)
    }

    @Test func `have a time, the values and the marks in order`() {
        var csv = SampleCSV(names: ["A/B/Speed", "A/B/Is on now", "A/B/Heat, \"max\""])
        #expect(
            String(decoding: csv.header, as: UTF8.self)
                == "time,A/B/Speed,\"A/B/Is on now\",\"A/B/Heat, \"\"max\"\"\",mark\n")
        #expect(
            text(batch, &csv) == """
                1700000000.000000,12.25,1,0,
                1700000000.100000,,,,"A/B/Gain: ""a, b"" → ""c"" (control)"
                1700000000.250000,,0,Inf,
                1700000001.500000,NaN,1,,
                1700000002.000000,,,,"A/B/On: false\\u{a}"

                """)
    }

    @Test func `have times that never go back`() {
        var csv = SampleCSV(names: ["A/B/C"])
        #expect(text(SampleBatch(times: [2, 1], values: [[1], [2]]), &csv) == "2.000000,1,\n2.000000,2,\n")
        #expect(text(SampleBatch(marks: [SampleMark(time: 1.5, label: "x")]), &csv) == "2.000000,,x\n")
    }

    private static let numbers: [(Double, String)] = [
        (0, "0"), (-0.0, "0"), (-7, "-7"), (0.1, "0.1"), (1e-5, "1e-05"), (1e20, "1e+20"),
        (9_007_199_254_740_991, "9007199254740991"), (-.infinity, "-Inf"), (1.0 / 3, "0.3333333333333333"),
    ]

    @Test(arguments: numbers)
    func `have numbers that every program can read`(number: Double, text expected: String) {
        var csv = SampleCSV(names: ["A/B/C"])
        #expect(text(SampleBatch(times: [0], values: [[number]]), &csv) == "0.000000,\(expected),\n")
    }
}

@Suite struct `Samples as rows` {
    private let series = [
        PlotSeries(name: "A/B/Speed", unit: "m/s", precision: 1),
        PlotSeries(name: "A/B/On", states: .switched),
        PlotSeries(name: "A/B/Heat"),
    ]

    @Test func `appear once a second, with the marks`() {
        var rows = PlainRows(series, unicode: false)
        let text = ([rows.header] + rows.rows(of: batch)).joined(separator: "\n")
        #expect(
            text == """
                   seconds  A/B/Speed (m/s)        A/B/On      A/B/Heat
                     0.000             12.2            on             0
                     0.100  * A/B/Gain: "a, b" -> "c" (control)
                     1.500              NaN            on             -
                     2.000  * A/B/On: false\\u{a}
                """)
    }

    @Test func `say how many were dropped`() {
        var rows = PlainRows(series, unicode: true)
        #expect(rows.rows(of: SampleBatch(dropped: 7)) == ["  7 samples were dropped"])
    }
}
