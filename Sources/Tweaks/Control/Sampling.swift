internal import Glibc
internal import TweakProtocol
internal import TweakRecords

/// Samples of some tweaks for a client, from when they are taken until they are sent. Used on the library's thread alone.
final class Sampling {
    /// How long samples wait for others, so that there are not too many messages.
    private static let patience: Duration = .milliseconds(50)
    /// The words of samples in a message at most, unless one sample has more. They are sent before they leave the caches.
    private static let portion = 6 << 10
    /// The words that are kept for a client that does not read.
    private static let most = ControlLimits.unreadSamples / 8

    private let tweaks: [TweakKey]
    private let period: Duration
    /// When the next sample is due.
    private(set) var next: ContinuousClock.Instant
    /// Where the values are, if that has not changed since.
    private var cells: [Cell?] = []
    private var cellsVersion: UInt64?
    /// The tweaks that are gone, by their places.
    private var missing: [Int] = []
    /// The frames that are not sent, see ``TakenSamples``; those before the start are.
    private var frames: [UInt64] = []
    private var start = 0
    private var dropped = 0
    private var skipped = 0
    private var lastMessage: ContinuousClock.Instant

    /// - Parameter rate: In a second, see ``ControlLimits/sampleRates``.
    init(of tweaks: [TweakKey], rate: Double, at now: ContinuousClock.Instant) {
        self.tweaks = tweaks
        period = .seconds(1) / rate
        (next, lastMessage) = (now, now)
    }

    private var frameSize: Int { tweaks.count + 1 }

    /// Takes a sample if one is due. Those that should have been taken meanwhile are counted.
    func take(of store: TweakStore, at now: ContinuousClock.Instant) {
        guard next <= now else { return }
        // Not for ever if the machine has slept.
        let late = min(((now - next) / period).rounded(.down), 1e9)
        skipped += Int(late)
        next += period * (late + 1)
        if frames.count > start, frames.count - start + frameSize > Self.most {
            start += frameSize
            dropped += 1
        }
        // Seldom, since to move them takes longer than to take one.
        if start == frames.count || start > Self.most / 2 {
            frames.removeFirst(start)
            start = 0
        }
        store.state.withLock { state in
            if cellsVersion != state.cellsVersion { find(in: &state) }
            frames.append((Duration.since1970 / .seconds(1)).bitPattern)
            for cell in cells { frames.append(cell?.bits ?? 0) }
        }
    }

    private func find(in state: inout StoreState) {
        cellsVersion = state.cellsVersion
        cells = tweaks.map { state.tweaks[$0]?.cells.first?.cell }
        let gone = cells.indices.filter { cells[$0] == nil }
        // What waits was taken while they were there, and a message says one thing about all of its samples.
        if gone != missing { dropAll() }
        missing = gone
    }

    private func dropAll() {
        dropped += (frames.count - start) / frameSize
        (frames, start) = ([], 0)
    }

    /// Says to the client what it does not know yet.
    ///
    /// - Parameter number: Of the subscription.
    func write(_ number: UInt64, to output: inout [UInt8], at now: ContinuousClock.Instant) {
        let waiting = frames.count - start
        guard waiting > 0, now - lastMessage >= Self.patience || waiting >= Self.portion else { return }
        let end = start + min(max(Self.portion / frameSize, 1) * frameSize, waiting)
        let due = frames[start..<end]
        TakenSamples.write(
            due.span.bytes, subscription: Int(number), dropped: dropped,
            skipped: skipped,
            missing: missing, to: &output)
        start = end
        (dropped, skipped) = (0, 0)
        if start == frames.count { lastMessage = now }
    }
}

extension SampleTweaks {
    /// Sees whether it can be done.
    ///
    /// - Returns: The types of the tweaks.
    func check(_ requests: ControlRequests) throws(ControlError) -> [TweakType] {
        guard ControlLimits.sampleRates.contains(rate) else {
            throw ControlError(.invalidParameters, "a rate is from 0.001 to 1000 samples in a second")
        }
        guard !tweaks.isEmpty, Double(tweaks.count) * rate <= ControlLimits.sampledValues else {
            throw ControlError(
                .invalidParameters,
                "samples are of one tweak or more, and of a million values a second at most")
        }
        var types: [TweakType] = []
        for key in tweaks {
            let type = try requests.status(of: key).declaration.type
            guard type.canBeMonitored else {
                throw ControlError(
                    .refused, "\(key): only numbers and bools are sampled, not \(type.withArticle)")
            }
            types.append(type)
        }
        return types
    }
}
