// SPDX-License-Identifier: BSD-3-Clause
public import CTweaks
public import TweakRecords

extension String: TweakableValue {
    /// The type to record: `string`, whose cell has an address.
    public static var tweakType: TweakType { .string }
    /// Converts a stored string; `nil` for anything else.
    public init?(tweakValue: TweakValue) {
        guard case .string(let text) = tweakValue else { return nil }
        self = text
    }
    /// The stored form: a string.
    public var tweakValue: TweakValue { .string(self) }
    /// Copies the string that the cell points to.
    @inlinable @inline(__always)
    public static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> String) -> String
    {
        __text(cell) ?? fallback()
    }

    /// Copies the string that a cell points to; `nil` for a null pointer.
    @inlinable @inline(__always)
    public static func __text(_ cell: UnsafeRawPointer) -> String? {
        fbtweak__load_text(cell.assumingMemoryBound(to: UnsafePointer<CChar>?.self)).map {
            String(cString: $0)
        }
    }
}

extension TweakColor: TweakableValue {
    /// The type to record: `color`, of four bytes.
    public static var tweakType: TweakType { .color }
    /// Converts a stored colour, or a string in the form of one; `nil` for anything else.
    public init?(tweakValue: TweakValue) {
        switch tweakValue {
        case .color(let color): self = color
        case .string(let text): self.init(text)
        default: return nil
        }
    }
    /// The stored form: a colour.
    public var tweakValue: TweakValue { .color(self) }
    /// Reads the cell of a colour: four bytes, red first.
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
    /// The type to record: `double`, a number of seconds.
    public static var tweakType: TweakType { .double }
    /// The unit of a duration: seconds.
    public static var tweakUnit: String? { "s" }
    /// Converts a finite number of seconds, clamped to the range of durations; `nil` for anything else.
    public init?(tweakValue: TweakValue) {
        guard let seconds = Double(tweakValue: tweakValue), seconds.isFinite else { return nil }
        self.init(clamping: seconds)
    }
    /// The stored form: the number of seconds, a `Double` with about 16 digits.
    public var tweakValue: TweakValue {
        let (seconds, attoseconds) = components
        return .double(Double(seconds) + Double(attoseconds) / 1e18)
    }
    /// Reads the cell of a duration in seconds. NaN, which the store refuses, reads as zero.
    @inlinable @inline(__always)
    public static func __read(
        _ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Duration
    ) -> Duration {
        Duration(clamping: Double.__read(cell, default: 0))
    }

    /// Creates a duration as `.seconds(_:)` does, which is a call and traps beyond 2^63 seconds.
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
