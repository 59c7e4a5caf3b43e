// SPDX-License-Identifier: BSD-3-Clause
import Testing

@testable import TweakPlot

@Suite struct `Series` {
    @Test func `A name's state is its index`() {
        #expect([PlotSeries.State].indices(of: ["idle", "busy"]) == [.init(0, "idle"), .init(1, "busy")])
    }
}
