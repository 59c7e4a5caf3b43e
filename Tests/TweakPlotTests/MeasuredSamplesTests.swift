// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakPlot

@Suite struct `Measured samples` {
    /// Half a second of ten samples per second, after 0.2 seconds: the samples at 100.2 to 100.6.
    private var samples = MeasuredSamples(after: 0.2, for: 0.5, rate: 10)

    /// Adds a batch with samples at these tenths of a second after 100.
    private mutating func add(
        _ tenths: ClosedRange<Int>, dropped: Int = 0, skipped: Int = 0, hasEnded: Bool = false,
        value: (Int) -> Double? = { Double($0) }
    ) {
        samples.add(
            SampleBatch(
                times: tenths.map { 100 + Double($0) / 10 }, values: tenths.map { [value($0)] },
                dropped: dropped, hasEnded: hasEnded), skipped: skipped)
    }

    @Test mutating func `The samples count whose time is in the span`() {
        add(0...4)
        #expect(!samples.isComplete)
        add(5...9)
        samples.finish()
        #expect(samples.isComplete && !samples.hasEnded)
        #expect(samples.values == [2, 3, 4, 5, 6] && samples.due == 5 && samples.lost == 0)
        #expect(abs(samples.duration - 0.4) < 1e-9)
    }

    @Test mutating func `Only losses in the span are lost`() {
        add(0...1, dropped: 3, skipped: 4)
        add(2...3, skipped: 4)
        add(6...8, skipped: 6)
        add(9...9, dropped: 9, skipped: 20)
        samples.finish()
        #expect(samples.values == [2, 3, 6] && samples.lost == 2)
    }

    @Test mutating func `A delay at the edge of the span is no loss`() {
        // The sample that was due at 100.3 is late, none is missing.
        add(0...2)
        add(4...9)
        samples.finish()
        #expect(samples.values.count == 4 && samples.lost == 0)
    }

    @Test mutating func `A loss that ends in the span counts only there`() {
        add(0...0)
        add(4...9, skipped: 3)
        samples.finish()
        #expect(samples.values == [4, 5, 6] && samples.lost == 2)
    }

    @Test mutating func `A sample of a tweak that did not exist was taken`() {
        add(0...9, skipped: 5) { 3...4 ~= $0 ? nil : 1 }
        samples.finish()
        #expect(samples.values.count == 3 && samples.lost == 0)
    }

    @Test mutating func `After the end of the program none is lost`() {
        add(0...4, skipped: 5, hasEnded: true)
        samples.finish()
        #expect(samples.hasEnded && samples.values.count == 3 && samples.lost == 0)
    }

    @Test mutating func `What a stopped program does not send is lost`() {
        add(0...2)
        samples.finish()
        #expect(!samples.isComplete && !samples.hasEnded)
        #expect(samples.values == [2] && samples.lost == 4)
    }

    @Test mutating func `A value that stays the same is no change`() {
        add(0...9) { $0 < 4 ? 1 : $0 < 6 ? .nan : 2 }
        #expect(samples.values.count == 5 && samples.changes == 2)
        #expect(abs((samples.changeRate ?? 0) - 5) < 1e-9)
    }

    @Test mutating func `Too few samples for a statistic are named`() {
        add(0...9)
        #expect(samples.shortage(for: .mean, named: "mean", isUpdated: true) == nil)
        #expect(samples.shortage(for: .percentile(80), named: "p80", isUpdated: true) == nil)
        #expect(
            samples.shortage(for: .percentile(95), named: "p95", isUpdated: false)
                == "p95 needs 20 samples, but there are 5")
    }

    @Test mutating func `Too few updates are named, with their rate`() {
        add(0...9) { $0 < 4 ? 1 : 2 }
        #expect(
            samples.shortage(for: .percentile(75), named: "p75", isUpdated: true)
                == "p75 needs 4 updates, but there are 2 in 5 samples (2.5 changes per second), unless "
                + "some stored an equal value"
        )
        #expect(samples.shortage(for: .percentile(75), named: "p75", isUpdated: false) == nil)
        #expect(samples.shortage(for: .integralOfAbsolute, named: "iae", isUpdated: true) == nil)
    }

    @Test func `Without a sample nothing is lost`() {
        var samples = samples
        samples.finish()
        #expect(samples.values.isEmpty && samples.lost == 0 && samples.changeRate == nil)
    }
}
