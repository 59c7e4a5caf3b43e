// SPDX-License-Identifier: BSD-3-Clause
#if hasFeature(Embedded)
// Its module for Embedded Swift has the clock.
package import Glibc
#endif
package import TweakJSON
package import TweakRecords

/// Subscribes to samples of monitors and tweaks, many times per second; see ``TakenSamples``. Only numbers and Bools
/// can be sampled. ``UnsubscribeFromChanges`` ends it.
package struct SampleTweaks: ControlMethod {
    package static let method = ControlMethodName.sample
    package static let parameters: [ByteText] = ["tweaks", "rate"]

    package var tweaks: [TweakKey]
    /// Samples per second, see ``ControlLimits/sampleRates``.
    package var rate: Double

    package struct Answer: JSONStructure, Sendable {
        package var subscription: Int
        /// The types of the tweaks, in the order of the request.
        package var types: [String]

        package init(subscription: Int, types: [TweakType]) {
            (self.subscription, self.types) = (subscription, types.map { $0.description })
        }
    }

    package init(tweaks: [TweakKey], rate: Double) { (self.tweaks, self.rate) = (tweaks, rate) }
}

extension SampleTweaks {
    package init(members: JSONMembers) throws(JSONError) {
        tweaks = try members.read("tweaks")
        rate = try members.read("rate")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("rate", rate)
        writer.member("tweaks", tweaks)
    }
}

extension SampleTweaks.Answer {
    package init(members: JSONMembers) throws(JSONError) {
        subscription = try members.read("subscription")
        types = try members.read("types")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("subscription", subscription)
        writer.member("types", types)
    }
}

/// A notification to a client that has subscribed to samples.
package struct TakenSamples: JSONReadable, Hashable, Sendable {
    package static let name = "samples"

    package var subscription: Int
    /// The number of samples lost since the last message because the client did not read them in time.
    package var dropped: Int
    /// The number of samples not taken since the last message because the program was too busy.
    package var skipped: Int
    /// The indices, in the request, of tweaks that no longer exist. Their bytes are meaningless.
    package var missing: [Int]
    /// The samples, oldest first, in the byte order of the machine: the time in seconds since 1970 as a Double, then
    /// for each tweak the eight bytes of its cell; smaller types use the first ones.
    package var frames: [UInt8]

    package init(subscription: Int, dropped: Int, skipped: Int, missing: [Int], frames: [UInt8]) {
        self.subscription = subscription
        (self.dropped, self.skipped, self.missing) = (dropped, skipped, missing)
        self.frames = frames
    }

    package init(json: JSONValue) throws(JSONError) {
        let members = try JSONMembers(json: json)
        subscription = try members.read("subscription")
        dropped = try members.read("dropped")
        skipped = try members.read("skipped")
        missing = try members.read("missing")
        guard let bytes = Base64.bytes(of: try members.read("frames")) else {
            throw .unexpected(place: ["frames"], problem: ": frames are in base64")
        }
        frames = bytes
    }

    /// Appends the notification and its newline. Encoded by hand, because there are megabytes per second.
    package static func write(
        _ frames: RawSpan, subscription: Int, dropped: Int, skipped: Int, missing: [Int],
        to output: inout [UInt8]
    ) {
        // Embedded Swift cannot interpolate an array.
        let gone = missing.map { "\($0)" }.joined(separator: ",")
        output +=
            """
            {"jsonrpc":"2.0","method":"\(name)","params":{"subscription":\(subscription),"dropped":\(dropped),\
            "skipped":\(skipped),"missing":[\(gone)],"frames":"
            """.utf8
        Base64.write(frames, to: &output)
        output += "\"}}\n".utf8
    }

    /// Calls `body` with the time of each sample, in seconds since 1970, and its values as numbers; `nil` for missing
    /// tweaks.
    ///
    /// - Parameter types: The types in the answer.
    package func forEachSample(_ types: [TweakType], _ body: (Double, [Double?]) -> Void) {
        Self.forEachSample(in: frames.span.bytes, types, missing: missing, body)
    }

    /// As ``forEachSample(_:_:)``, for samples from another source.
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

/// Samples that wait for a reader. If the reader is slow, the oldest are dropped.
package struct WaitingSamples {
    /// The maximum number of waiting words.
    private static let most = ControlLimits.unreadSamples / 8
    /// The delay up to which a sample is still taken, with the actual time. The kernel may delay a thread by some
    /// milliseconds while others run.
    private static let patience: Duration = .milliseconds(20)

    /// When the next sample is due. The first one can be late; the others are due from the time at which it is taken.
    package private(set) var next: ContinuousClock.Instant
    private var hasBegun = false
    private let period: Duration
    /// The words of a sample: one for the time, and one for each tweak.
    package let frameSize: Int
    /// The samples, see ``TakenSamples/frames``; those before `start` have been read.
    package var frames: [UInt64] = []
    private var start = 0
    /// The numbers of samples lost because they were not read, and not taken in time, since the last read.
    private var dropped = 0
    private var skipped = 0

    /// - Parameter rate: Samples per second, see ``ControlLimits/sampleRates``.
    package init(of tweaks: Int, rate: Double, at now: ContinuousClock.Instant) {
        period = .seconds(1) / rate
        frameSize = tweaks + 1
        next = now
    }

    /// The number of waiting words.
    package var count: Int { frames.count - start }

    /// - Returns: Whether a sample is due; the caller then appends it to the frames. Missed samples are counted.
    package mutating func isDue(at now: ContinuousClock.Instant) -> Bool {
        guard next <= now else { return false }
        if !hasBegun { (hasBegun, next) = (true, now) }
        // Bounded, in case the machine was suspended.
        let late = now - next < Self.patience ? 0 : min(((now - next) / period).rounded(.down), 1e9)
        skipped += Int(late)
        next += period * (late + 1)
        if count > 0, count + frameSize > Self.most {
            start += frameSize
            dropped += 1
        }
        // Rarely, because moving the samples takes longer than taking one.
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

    /// Reads and removes the oldest samples.
    ///
    /// - Parameter count: The number of words; at least one sample is read, if there is one.
    package mutating func read(_ count: Int) -> (frames: ArraySlice<UInt64>, dropped: Int, skipped: Int) {
        let end = start + min(max(count / frameSize, 1) * frameSize, self.count)
        defer { (start, dropped, skipped) = (end, 0, 0) }
        return (frames[start..<end], dropped, skipped)
    }
}

extension TweakType {
    /// The number in the eight bytes of a cell, as this machine loads them: 0 or 1 for a Bool, `nil` for other types.
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
