// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakPlot

@Suite struct `A picture of results` {
    private func plot(_ points: [(x: Double, y: Double)]) -> PointPlot {
        PointPlot(points, title: "p95(Error)", axis: "Motor/Control/Gain")
    }

    @Test func `has points, a scale and the ends of the axis`() {
        let lines = plot([(0, 0), (5, 10), (10, 0)]).lines(columns: 44, rows: 8, unicode: false)
        #expect(lines.count == 8 && lines.first == "p95(Error)")
        #expect(lines.dropFirst().first?.hasPrefix("10 +") == true)
        #expect(lines.contains { $0.hasPrefix(" 0 +") })
        #expect(lines.last?.hasPrefix("    0.0") == true && lines.last?.hasSuffix("10.0") == true)
        #expect(lines.last?.contains("Motor/Control/Gain") == true)
        let high = lines.dropFirst().first ?? ""
        #expect(high.contains { ":.'".contains($0) })
        #expect(lines.allSatisfy { $0.count <= 44 })
    }

    @Test func `is empty without points, and without room`() {
        #expect(plot([]).lines(columns: 80, rows: 10, unicode: true).isEmpty)
        #expect(plot([(.nan, 1), (1, .infinity)]).lines(columns: 80, rows: 10, unicode: true).isEmpty)
        #expect(plot([(1, 1)]).lines(columns: 80, rows: 4, unicode: true).isEmpty)
        #expect(plot([(1, 1)]).lines(columns: 8, rows: 10, unicode: true).isEmpty)
    }

    @Test func `fits any numbers and any size`() {
        let huge = Double.greatestFiniteMagnitude
        for points in [[(1, 1)], [(-huge, -huge), (huge, huge)], [(0, 0), (0, 0)]]
            as [[(x: Double, y: Double)]]
        {
            for columns in [20, 80] {
                let lines = plot(points).lines(columns: columns, rows: 9, unicode: true)
                #expect(lines.allSatisfy { $0.count <= columns })
            }
        }
    }
}
