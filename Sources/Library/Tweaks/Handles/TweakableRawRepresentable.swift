public import TweakRecords

/// A type that a tweak can have, and that is kept as its raw value.
///
///     struct Angle: TweakableRawRepresentable { var rawValue: Double }
///
/// The raw value is a ``TweakableValue``; the macros know `String`, `Int` and `Double`.
public protocol TweakableRawRepresentable: TweakableValue, RawRepresentable where RawValue: TweakableValue {}

extension TweakableRawRepresentable {
    /// The type of the raw values.
    public static var tweakType: TweakType { RawValue.tweakType }
    /// What the raw values count.
    public static var tweakUnit: String? { RawValue.tweakUnit }
    /// Takes a raw value.
    public init?(tweakValue: TweakValue) {
        guard let rawValue = RawValue(tweakValue: tweakValue) else { return nil }
        self.init(rawValue: rawValue)
    }
    /// The raw value.
    public var tweakValue: TweakValue { rawValue.tweakValue }
    /// Reads the raw value.
    @inlinable @inline(__always)
    public static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Self) -> Self {
        Self(rawValue: RawValue.__read(cell, default: fallback().rawValue)) ?? fallback()
    }
}

/// An enumeration that a tweak can have. Its cases are the tweak's choices.
///
///     enum Curve: String, CaseIterable, TweakableEnum { case linear, easeIn, easeOut }
///
/// The raw values are texts or integers; another enumeration may have any raw value that is a ``TweakableValue``. Where
/// a raw value is not the name of its case, a person sees the name.
public protocol TweakableEnum: TweakableRawRepresentable, CaseIterable {}

extension TweakableEnum {
    /// The cases, in their order.
    public static var tweakChoices: [TweakChoice] {
        allCases.map { value in
            let (rawValue, name) = (value.rawValue.tweakValue, "\(value)")
            return TweakChoice(rawValue, label: rawValue.description == name ? nil : name)
        }
    }
}
