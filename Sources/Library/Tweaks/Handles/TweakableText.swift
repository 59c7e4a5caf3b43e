public import CTweaks
public import TweakRecords

extension String: TweakableValue {
    /// The address of a text.
    public static var tweakType: TweakType { .string }
    /// Takes only a text.
    public init?(tweakValue: TweakValue) {
        guard case .string(let text) = tweakValue else { return nil }
        self = text
    }
    /// A text.
    public var tweakValue: TweakValue { .string(self) }
    /// Copies the text that the cell leads to.
    @inlinable @inline(__always)
    public static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> String) -> String
    {
        __text(cell) ?? fallback()
    }

    /// The text that a cell leads to; `nil` for none.
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
    /// Takes a colour, and a text that is one.
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
    /// Takes a number of seconds that is finite; one that no duration can have becomes the longest.
    public init?(tweakValue: TweakValue) {
        guard let seconds = Double(tweakValue: tweakValue), seconds.isFinite else { return nil }
        self.init(clamping: seconds)
    }
    /// The seconds. A `Double` has about 16 digits of the duration.
    public var tweakValue: TweakValue {
        let (seconds, attoseconds) = components
        return .double(Double(seconds) + Double(attoseconds) / 1e18)
    }
    /// Reads the seconds. One that is not a number, which the store refuses, is not a time.
    @inlinable @inline(__always)
    public static func __read(
        _ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Duration
    ) -> Duration {
        Duration(clamping: Double.__read(cell, default: 0))
    }

    /// What `.seconds(_:)` makes, which is a call, and traps beyond 2^63 seconds.
    @inlinable @inline(__always)
    init(clamping seconds: Double) {
        let seconds = seconds.isNaN ? 0 : min(max(seconds, -0x1p62), 0x1p62)
        let whole = fbtweak__whole_part(seconds)
        let fraction = (seconds - Double(whole)) * 1e18
        // From 2^52 on it is whole, and a half would be rounded.
        let half = abs(fraction) < 0x1p52 ? (fraction < 0 ? -0.5 : 0.5) : 0
        self.init(
            attoseconds: Int128(whole) &* 1_000_000_000_000_000_000
                &+ Int128(fbtweak__whole_part(fraction + half)))
    }
}
