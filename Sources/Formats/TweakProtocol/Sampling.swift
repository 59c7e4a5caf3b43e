package import TweakRecords

/// Asks for the values of monitors and tweaks, many times a second from now on, see ``TakenSamples``. Only numbers and Bools
/// are sampled. ``UnsubscribeFromChanges`` ends it.
package struct SampleTweaks: ControlMethod {
    package static let name = "sample"
    package enum CodingKeys: CodingKey, CaseIterable { case tweaks, rate }

    package var tweaks: [TweakKey]
    /// How many samples are taken in a second, see ``ControlLimits/sampleRates``.
    package var rate: Double

    package struct Answer: Codable, Hashable, Sendable {
        package var subscription: Int
        /// The types of the tweaks, in the order in which they were asked for.
        package var types: [String]

        package init(subscription: Int, types: [TweakType]) {
            (self.subscription, self.types) = (subscription, types.map(\.description))
        }
    }

    package init(tweaks: [TweakKey], rate: Double) { (self.tweaks, self.rate) = (tweaks, rate) }
}

/// What a program says to a client that has asked for samples.
package struct TakenSamples: Decodable, Hashable, Sendable {
    package static let name = "samples"

    package var subscription: Int
    /// How many samples the client did not read in time and are lost, since the message before.
    package var dropped: Int
    /// How many times the program was too busy to take one, since the message before.
    package var skipped: Int
    /// The tweaks that the program does not have any more, by their places in the request. Their bytes mean nothing.
    package var missing: [Int]
    /// Samples, the oldest first, in the byte order of the machine: the time as seconds since 1970 in a Double, then for each
    /// tweak the eight bytes of its cell, of which a smaller type has the first ones.
    package var frames: [UInt8]

    package init(subscription: Int, dropped: Int, skipped: Int, missing: [Int], frames: [UInt8]) {
        self.subscription = subscription
        (self.dropped, self.skipped, self.missing) = (dropped, skipped, missing)
        self.frames = frames
    }

    private enum CodingKeys: CodingKey { case subscription, dropped, skipped, missing, frames }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        subscription = try container.decode(Int.self, forKey: .subscription)
        dropped = try container.decode(Int.self, forKey: .dropped)
        skipped = try container.decode(Int.self, forKey: .skipped)
        missing = try container.decode([Int].self, forKey: .missing)
        guard let bytes = Base64.bytes(of: try container.decode(String.self, forKey: .frames)) else {
            throw DecodingError.dataCorruptedError(
                forKey: .frames, in: container, debugDescription: "frames are in base64")
        }
        frames = bytes
    }

    /// Appends the notification, with its newline. It is put together by hand, since there are megabytes of them in a second.
    package static func write(
        _ frames: RawSpan, subscription: Int, dropped: Int, skipped: Int, missing: [Int],
        to output: inout [UInt8]
    ) {
        output +=
            """
            {"jsonrpc":"2.0","method":"\(name)","params":{"subscription":\(subscription),"dropped":\(dropped),\
            "skipped":\(skipped),"missing":\(missing),"frames":"
            """.utf8
        Base64.write(frames, to: &output)
        output += "\"}}\n".utf8
    }

    /// Calls `body` with the time of each sample, in seconds since 1970, and its values as numbers; a tweak that is missing
    /// has none.
    ///
    /// - Parameter types: Those of the answer.
    package func forEachSample(_ types: [TweakType], _ body: (Double, [Double?]) -> Void) {
        Self.forEachSample(in: frames.span.bytes, types, missing: missing, body)
    }

    /// Does the same with samples that somebody else has taken.
    package static func forEachSample(
        in frames: RawSpan, _ types: [TweakType], missing: [Int] = [], _ body: (Double, [Double?]) -> Void
    ) {
        let size = 8 * (types.count + 1)
        let missing = Set(missing)
        for start in stride(from: 0, through: frames.byteCount - size, by: size) {
            func bits(at index: Int) -> UInt64 {
                frames.unsafeLoadUnaligned(fromByteOffset: start + 8 * index, as: UInt64.self)
            }
            let values = types.indices.map { index in
                missing.contains(index) ? nil : types[index].number(ofCell: bits(at: index + 1))
            }
            body(Double(bitPattern: bits(at: 0)), values)
        }
    }
}

/// Samples from when they are taken until somebody reads them. A reader who is slow loses the oldest.
package struct WaitingSamples {
    /// The words that wait at most.
    private static let most = ControlLimits.unreadSamples / 8
    /// Up to when a sample is taken late, with the time at which that is. The kernel may let a thread wait for some
    /// milliseconds while others run.
    private static let patience: Duration = .milliseconds(20)

    /// When the next sample is due.
    package private(set) var next: ContinuousClock.Instant
    private let period: Duration
    /// The words of a sample: the time, and one for each tweak.
    package let frameSize: Int
    /// The samples, see ``TakenSamples/frames``; those before the start are read.
    package var frames: [UInt64] = []
    private var start = 0
    /// How many were lost because they were not read, and how many could not be taken in time, since they were last read.
    private var dropped = 0
    private var skipped = 0

    /// - Parameter rate: In a second, see ``ControlLimits/sampleRates``.
    package init(of tweaks: Int, rate: Double, at now: ContinuousClock.Instant) {
        period = .seconds(1) / rate
        frameSize = tweaks + 1
        next = now
    }

    /// How many words wait.
    package var count: Int { frames.count - start }

    /// - Returns: Whether a sample is due, which is then to be appended to the frames. Those that it is too late for are
    ///   counted.
    package mutating func isDue(at now: ContinuousClock.Instant) -> Bool {
        guard next <= now else { return false }
        // Not for ever if the machine has slept.
        let late = now - next < Self.patience ? 0 : min(((now - next) / period).rounded(.down), 1e9)
        skipped += Int(late)
        next += period * (late + 1)
        if count > 0, count + frameSize > Self.most {
            start += frameSize
            dropped += 1
        }
        // Seldom, since to move them takes longer than to take one.
        if start == frames.count || start > Self.most / 2 {
            frames.removeFirst(start)
            start = 0
        }
        return true
    }

    package mutating func dropAll() {
        dropped += count / frameSize
        (frames, start) = ([], 0)
    }

    /// Reads the oldest samples, and forgets them.
    ///
    /// - Parameter count: How many words; at least one sample is read if there is one.
    package mutating func read(_ count: Int) -> (frames: ArraySlice<UInt64>, dropped: Int, skipped: Int) {
        let end = start + min(max(count / frameSize, 1) * frameSize, self.count)
        defer { (start, dropped, skipped) = (end, 0, 0) }
        return (frames[start..<end], dropped, skipped)
    }
}

extension TweakType {
    /// The number in the eight bytes of a cell, as this machine loads them; of a Bool 0 or 1, `nil` of what is neither.
    package func number(ofCell bits: UInt64) -> Double? {
        let isLittle = ByteOrder.native == .little
        func first<Number: FixedWidthInteger>(_: Number.Type) -> Number {
            Number(truncatingIfNeeded: isLittle ? bits : bits >> UInt64(64 - Number.bitWidth))
        }
        return switch self {
        case .bool: first(UInt8.self) == 0 ? 0 : 1
        case .int8: Double(first(Int8.self))
        case .int16: Double(first(Int16.self))
        case .int32: Double(first(Int32.self))
        case .int64: Double(first(Int64.self))
        case .uint8: Double(first(UInt8.self))
        case .uint16: Double(first(UInt16.self))
        case .uint32: Double(first(UInt32.self))
        case .uint64: Double(first(UInt64.self))
        case .float: Double(Float(bitPattern: first(UInt32.self)))
        case .double: Double(bitPattern: bits)
        case .string, .color, .action: nil
        }
    }
}
