// SPDX-License-Identifier: BSD-3-Clause
public import TweakRecords

/// A type of tweaks whose values are stored as their raw values.
///
///     struct Angle: TweakableRawRepresentable { var rawValue: Double }
///
/// The raw value is any ``TweakableValue``; the macros support `String`, `Int` and `Double`.
public protocol TweakableRawRepresentable: TweakableValue, RawRepresentable where RawValue: TweakableValue {}

extension TweakableRawRepresentable {
    /// The type to record: that of the raw values.
    public static var tweakType: TweakType { RawValue.tweakType }
    /// The unit of the raw values.
    public static var tweakUnit: String? { RawValue.tweakUnit }
    /// Converts a stored raw value; `nil` if no value has it.
    public init?(tweakValue: TweakValue) {
        guard let rawValue = RawValue(tweakValue: tweakValue) else { return nil }
        self.init(rawValue: rawValue)
    }
    /// The stored form: that of the raw value.
    public var tweakValue: TweakValue { rawValue.tweakValue }
    /// Reads the cell of a raw value.
    @inlinable @inline(__always)
    public static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Self) -> Self {
        Self(rawValue: RawValue.__read(cell, default: fallback().rawValue)) ?? fallback()
    }
}

/// An enumeration as the type of a tweak. Its cases are the tweak's choices.
///
///     enum Curve: String, CaseIterable, TweakableEnum { case linear, easeIn, easeOut }
///
/// For the macros the raw values must be strings or integers; at run time any ``TweakableValue`` works. If a
/// raw value differs from the name of its case, people see the name.
public protocol TweakableEnum: TweakableRawRepresentable, CaseIterable {}

extension TweakableRawRepresentable where Self: CaseIterable {
    /// The cases, in the order of `allCases`.
    public static var tweakChoices: [TweakChoice] {
        allCases.map { value in
            let (rawValue, name) = (value.rawValue.tweakValue, "\(value)")
            return TweakChoice(rawValue, label: rawValue.description == name ? nil : name)
        }
    }
}
