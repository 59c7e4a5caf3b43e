// SPDX-License-Identifier: BSD-3-Clause
public import Foundation
public import TweakRecords
public import Tweaks

/// `CGFloat` as the type of a tweak, stored as a `Double`.
///
///     let inset: Tweak<CGFloat> = try store.make("UI", "Page", "Inset", default: 8, in: 0...100)
///
/// The conformance is in a library of its own because `CGFloat` belongs to Foundation on Linux, which other
/// programs should not have to load. The macros need neither the conformance nor this library.
extension CGFloat: TweakableValue {
    /// The type to record: `double`, of eight bytes.
    public static var tweakType: TweakType { .double }
    /// Converts a stored floating-point number or integer; `nil` for anything else.
    public init?(tweakValue: TweakValue) {
        guard let value = Double(tweakValue: tweakValue) else { return nil }
        self = CGFloat(value)
    }
    /// The stored form: a floating-point number.
    public var tweakValue: TweakValue { .double(Double(self)) }
    /// Reads the cell of eight bytes.
    @inlinable @inline(__always)
    public static func __read(
        _ cell: UnsafeRawPointer, default fallback: @autoclosure () -> CGFloat
    ) -> CGFloat {
        CGFloat(Double.__read(cell, default: 0))
    }
}
