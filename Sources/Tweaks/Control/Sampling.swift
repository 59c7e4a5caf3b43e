internal import Glibc
internal import TweakProtocol
internal import TweakRecords

/// Samples of some tweaks for a client, from when they are taken until they are sent. Used on the library's thread alone.
struct Sampling {
    /// How long samples wait for others, so that there are not too many messages.
    private static let patience: Duration = .milliseconds(50)
    /// The bytes of samples in a message at most.
    private static let portion = 192 << 10

    private let tweaks: [TweakKey]
    private let period: Duration
    /// When the next sample is due.
    private(set) var next: ContinuousClock.Instant
    /// Where the values are, if that has not changed since.
    private var cells: [Cell?] = []
    private var cellsVersion: UInt64?
    /// The tweaks that are gone, by their places.
    private var missing: [Int] = []
    /// The frames that are not sent; those before the start are.
    private var frames: [UInt8] = []
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

    private var frameSize: Int { 8 * (tweaks.count + 1) }

    /// Takes a sample if one is due. Those that should have been taken meanwhile are counted.
    mutating func take(of store: TweakStore, at now: ContinuousClock.Instant) {
        guard next <= now else { return }
        // Not for ever if the machine has slept.
        let late = min(((now - next) / period).rounded(.down), 1e9)
        skipped += Int(late)
        next += period * (late + 1)
        if frames.count > start, frames.count - start + frameSize > ControlLimits.unreadSamples {
            start += frameSize
            dropped += 1
        }
        // Seldom, since to move them takes longer than to take one.
        if start > ControlLimits.unreadSamples / 2 {
            frames.removeFirst(start)
            start = 0
        }
        store.state.withLock { state in
            if cellsVersion != state.cellsVersion { find(in: &state) }
            append((Duration.since1970 / .seconds(1)).bitPattern)
            for cell in cells { append(cell?.bits ?? 0) }
        }
    }

    private mutating func find(in state: inout StoreState) {
        cellsVersion = state.cellsVersion
        cells = tweaks.map { state.tweaks[$0]?.cells.first?.cell }
        let gone = cells.indices.filter { cells[$0] == nil }
        // What waits was taken while they were there, and a message says one thing about all of its samples.
        if gone != missing { dropAll() }
        missing = gone
    }

    private mutating func dropAll() {
        dropped += (frames.count - start) / frameSize
        (frames, start) = ([], 0)
    }

    private mutating func append(_ bits: UInt64) {
        withUnsafeBytes(of: bits) { frames.append(contentsOf: $0) }
    }

    /// What is to be said to the client now.
    ///
    /// - Parameter number: Of the subscription.
    mutating func message(_ number: UInt64, at now: ContinuousClock.Instant) -> TakenSamples? {
        let waiting = frames.count - start
        guard waiting > 0, now - lastMessage >= Self.patience || waiting >= Self.portion else { return nil }
        let count = min(max(Self.portion / frameSize, 1) * frameSize, waiting)
        let message = TakenSamples(
            subscription: Int(number), dropped: dropped, skipped: skipped, missing: missing,
            frames: Array(frames[start..<start + count]))
        start += count
        (dropped, skipped) = (0, 0)
        if start == frames.count {
            frames.removeAll(keepingCapacity: true)
            (start, lastMessage) = (0, now)
        }
        return message
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
