// SPDX-License-Identifier: BSD-3-Clause
public import TweakRecords

/// A type of tweaks that are stored as raw values.
///
///     struct Angle: TweakableRawRepresentable { var rawValue: Double }
///
/// The raw value is any ``TweakableValue``; the macros support `String`, `Int` and `Double`.
public protocol TweakableRawRepresentable: TweakableValue, RawRepresentable where RawValue: TweakableValue {}

extension TweakableRawRepresentable {
    /// The type of the raw values.
    public static var tweakType: TweakType { RawValue.tweakType }
    /// The unit of the raw values.
    public static var tweakUnit: String? { RawValue.tweakUnit }
    /// Accepts a raw value.
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

/// An enumeration as the type of a tweak. Its cases are the tweak's choices.
///
///     enum Curve: String, CaseIterable, TweakableEnum { case linear, easeIn, easeOut }
///
/// For the macros, the raw values are strings or integers; otherwise any ``TweakableValue`` will do. Where a raw value
/// differs from the name of its case, people see the name.
public protocol TweakableEnum: TweakableRawRepresentable, CaseIterable {}

extension TweakableRawRepresentable where Self: CaseIterable {
    /// The cases, in their order.
    public static var tweakChoices: [TweakChoice] {
        allCases.map { value in
            let (rawValue, name) = (value.rawValue.tweakValue, "\(value)")
            return TweakChoice(rawValue, label: rawValue.description == name ? nil : name)
        }
    }
}
