// SPDX-License-Identifier: BSD-3-Clause
public import Foundation
public import TweakRecords
public import Tweaks

/// `CGFloat` as the type of a tweak, which is stored as a `Double`.
///
///     let inset: Tweak<CGFloat> = try store.make("UI", "Page", "Inset", default: 8, in: 0...100)
///
/// It is a library of its own, because on Linux the type is Foundation's, which programs without it should not load. The
/// macros need no conformance, and so not this library.
extension CGFloat: TweakableValue {
    /// Eight bytes.
    public static var tweakType: TweakType { .double }
    /// Accepts a floating-point number or an integer.
    public init?(tweakValue: TweakValue) {
        guard let value = Double(tweakValue: tweakValue) else { return nil }
        self = CGFloat(value)
    }
    /// A floating-point number.
    public var tweakValue: TweakValue { .double(Double(self)) }
    /// Reads the eight bytes.
    @inlinable @inline(__always)
    public static func __read(
        _ cell: UnsafeRawPointer, default fallback: @autoclosure () -> CGFloat
    ) -> CGFloat {
        CGFloat(Double.__read(cell, default: 0))
    }
}
