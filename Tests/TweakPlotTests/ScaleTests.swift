// SPDX-License-Identifier: BSD-3-Clause
import Testing

@testable import TweakPlot

private func extent(_ values: Double...) -> PlotHistory.Extent {
    var extent = PlotHistory.Extent()
    for value in values { extent.add(value) }
    return extent
}

@Suite struct `A scale` {
    @Test(arguments: [
        ([0, 10], ["0", "5", "10"]), ([-3, 97], ["-50", "0", "50", "100"]),
        ([0.12, 0.34], ["0.1", "0.2", "0.3", "0.4"]),
        ([1e9, 3e9], ["1e9", "2e9", "3e9"]), ([0, 0], ["-1", "0", "1"]), ([], ["0.0", "0.5", "1.0"]),
        ([5, 5], ["4.5", "5.0", "5.5"]), ([-1e-9, 1e-9], ["-1e-9", "0", "1e-9"]),
    ])
    func `has round numbers`(values: [Double], labels: [String]) {
        var all = PlotHistory.Extent()
        for value in values { all.add(value) }
        #expect(PlotScale(range: nil, extent: all, most: 4).ticks.map(\.label) == labels)
    }

    @Test func `ends at the limits unless values exceed them`() {
        let declared = PlotScale(range: 1...1000, extent: extent(5, 7), most: 4)
        #expect((declared.bottom, declared.top) == (1, 1000))
        #expect(declared.ticks.map(\.label) == ["500", "1000"])
        let beyond = PlotScale(range: 1...1000, extent: extent(5, 1700), most: 4)
        #expect((beyond.bottom, beyond.top) == (1, 2000))
    }

    @Test func `labels only its ends if there is little space`() {
        #expect(
            PlotScale(range: nil, extent: extent(-25.2, 25.2), most: 2).ticks.map(\.label) == ["-40", "40"])
    }

    @Test func `spaces states evenly`() {
        let scale = PlotScale(states: [.init(48_000, "DVD"), .init(8000, "phone"), .init(44_100, "CD")])
        #expect(scale.ticks.map(\.label) == ["phone", "CD", "DVD"])
        #expect(scale.ticks.map(\.place) == [0, 0.5, 1])
        #expect([8000, 26_050, 44_100, 48_000, 96_000, .nan].map(scale.place) == [0, 0.25, 0.5, 1, 1, nil])
    }
}
