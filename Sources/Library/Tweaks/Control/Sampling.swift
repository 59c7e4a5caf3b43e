// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
internal import TweakProtocol
internal import TweakRecords
internal import TweakSystem

/// Samples of some tweaks for a client, kept until they are sent. Used only on the library thread.
final class Sampling {
    /// The time for which samples are collected before they are sent, to limit the number of messages.
    private static let patience: Duration = .milliseconds(50)
    /// The maximum words of samples in a message, unless one sample is larger. They are sent while still in the caches.
    private static let portion = 6 << 10

    private let tweaks: [TweakKey]
    private var waiting: WaitingSamples
    /// The cached addresses of the values.
    private var cells: [Cell?] = []
    private var cellsVersion: UInt64?
    /// The indices of tweaks that no longer exist.
    private var missing: [Int] = []
    private var lastMessage: ContinuousClock.Instant

    /// - Parameter rate: Samples per second, see ``ControlLimits/sampleRates``.
    init(of tweaks: [TweakKey], rate: Double, at now: ContinuousClock.Instant) {
        self.tweaks = tweaks
        waiting = WaitingSamples(of: tweaks.count, rate: rate, at: now)
        lastMessage = now
    }

    /// When the next sample is due.
    var next: ContinuousClock.Instant { waiting.next }

    /// Takes a sample if one is due.
    func take(of store: TweakStore, at now: ContinuousClock.Instant) {
        guard waiting.isDue(at: now) else { return }
        store.state.withLock { state in
            if cellsVersion != state.cellsVersion { find(in: &state) }
            waiting.frames.append((Duration.since1970 / .seconds(1)).bitPattern)
            for cell in cells { waiting.frames.append(cell?.bits ?? 0) }
        }
    }

    private func find(in state: inout StoreState) {
        cellsVersion = state.cellsVersion
        cells = tweaks.map { state.tweaks[$0]?.cells.first?.cell }
        let gone = cells.indices.filter { cells[$0] == nil }
        // Waiting samples were taken while the tweaks existed, and a message says the same about all its samples.
        if gone != missing { waiting.dropAll() }
        missing = gone
    }

    /// Appends waiting samples to the output.
    ///
    /// - Parameter number: The subscription's number.
    func write(_ number: UInt64, to output: inout [UInt8], at now: ContinuousClock.Instant) {
        guard waiting.count > 0, now - lastMessage >= Self.patience || waiting.count >= Self.portion else {
            return
        }
        let (frames, dropped, skipped) = waiting.read(Self.portion)
        TakenSamples.write(
            frames.span.bytes, subscription: Int(number), dropped: dropped, skipped: skipped,
            missing: missing,
            to: &output)
        if waiting.count == 0 { lastMessage = now }
    }
}

extension SampleTweaks {
    /// Throws unless the tweaks can be sampled.
    ///
    /// - Returns: Their types.
    func check(_ requests: ControlRequests) throws(ControlError) -> [TweakType] {
        guard ControlLimits.sampleRates.contains(rate) else {
            throw ControlError(.invalidParameters, "a rate is from 0.001 to 1000 samples per second")
        }
        guard !tweaks.isEmpty, Double(tweaks.count) * rate <= ControlLimits.sampledValues else {
            throw ControlError(
                .invalidParameters,
                "sample at least one tweak, and at most a million values per second")
        }
        var types: [TweakType] = []
        for key in tweaks {
            let tweak = try requests.status(of: key).declaration
            guard tweak.canBeSampled else {
                throw ControlError(
                    .refused, "\(key): only numbers and bools can be sampled, not \(tweak.typeWithArticle)")
            }
            types.append(tweak.type)
        }
        return types
    }
}
