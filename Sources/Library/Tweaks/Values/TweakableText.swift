// SPDX-License-Identifier: BSD-3-Clause
public import CTweaks
public import TweakRecords

extension String: TweakableValue {
    /// The address of a string.
    public static var tweakType: TweakType { .string }
    /// Accepts only a string.
    public init?(tweakValue: TweakValue) {
        guard case .string(let text) = tweakValue else { return nil }
        self = text
    }
    /// A string.
    public var tweakValue: TweakValue { .string(self) }
    /// Copies the string that the cell points to.
    @inlinable @inline(__always)
    public static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> String) -> String
    {
        __text(cell) ?? fallback()
    }

    /// The string that a cell points to; `nil` for null.
    @inlinable @inline(__always)
    public static func __text(_ cell: UnsafeRawPointer) -> String? {
        fbtweak__load_text(cell.assumingMemoryBound(to: UnsafePointer<CChar>?.self)).map {
            String(cString: $0)
        }
    }
}

extension TweakColor: TweakableValue {
    /// Four bytes.
    public static var tweakType: TweakType { .color }
    /// Accepts a colour, or a string in the form of one.
    public init?(tweakValue: TweakValue) {
        switch tweakValue {
        case .color(let color): self = color
        case .string(let text): self.init(text)
        default: return nil
        }
    }
    /// A colour.
    public var tweakValue: TweakValue { .color(self) }
    /// Reads the four bytes, red first.
    @inlinable @inline(__always)
    public static func __read(
        _ cell: UnsafeRawPointer, default fallback: @autoclosure () -> TweakColor
    ) -> TweakColor {
        let bytes = UInt32(littleEndian: fbtweak__load_32(cell.assumingMemoryBound(to: UInt32.self)))
        return TweakColor(
            red: UInt8(truncatingIfNeeded: bytes), green: UInt8(truncatingIfNeeded: bytes >> 8),
            blue: UInt8(truncatingIfNeeded: bytes >> 16), alpha: UInt8(truncatingIfNeeded: bytes >> 24))
    }
}

extension Duration: TweakableValue {
    /// A floating-point number of seconds.
    public static var tweakType: TweakType { .double }
    /// Seconds.
    public static var tweakUnit: String? { "s" }
    /// Accepts a finite number of seconds, clamped to the range of durations.
    public init?(tweakValue: TweakValue) {
        guard let seconds = Double(tweakValue: tweakValue), seconds.isFinite else { return nil }
        self.init(clamping: seconds)
    }
    /// The number of seconds. A `Double` keeps about 16 digits of the duration.
    public var tweakValue: TweakValue {
        let (seconds, attoseconds) = components
        return .double(Double(seconds) + Double(attoseconds) / 1e18)
    }
    /// Reads the seconds. NaN, which the store refuses, reads as zero.
    @inlinable @inline(__always)
    public static func __read(
        _ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Duration
    ) -> Duration {
        Duration(clamping: Double.__read(cell, default: 0))
    }

    /// As `.seconds(_:)`, which is a call and traps beyond 2^63 seconds.
    @inlinable @inline(__always)
    init(clamping seconds: Double) {
        let seconds = seconds.isNaN ? 0 : min(max(seconds, -0x1p62), 0x1p62)
        let whole = fbtweak__whole_part(seconds)
        let fraction = (seconds - Double(whole)) * 1e18
        // From 2^52 on the value is whole, and adding a half would round it.
        let half = abs(fraction) < 0x1p52 ? (fraction < 0 ? -0.5 : 0.5) : 0
        self.init(
            attoseconds: Int128(whole) &* 1_000_000_000_000_000_000
                &+ Int128(fbtweak__whole_part(fraction + half)))
    }
}
