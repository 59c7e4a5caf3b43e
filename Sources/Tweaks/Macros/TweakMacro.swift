#if Macros
/// The current value of a Bool tweak, where a constant would stand.
///
///     if #tweak("Spring", "Drawing", "Trail", default: true) { … }
///
/// Reading it is one load. Tweaks are compiled in when the compilation condition `DEBUG` or `FB_TWEAK_ENABLED` is set
/// and `FB_TWEAK_DISABLED` is not; otherwise the expression is the default.
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - default: The value of the tweak that nobody has changed, a literal.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Bool
) -> Bool = #externalMacro(module: "TweakMacros", type: "BoolTweakMacro")

/// The current value of an integer tweak, where a constant would stand.
///
///     let width = #tweak("Spring", "Drawing", "Width", default: 60, in: 20...200)
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - default: The value of the tweak that nobody has changed, a literal.
///   - limits: The smallest and the largest value, two literals.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Int,
    in limits: ClosedRange<Int>? = nil
) -> Int = #externalMacro(module: "TweakMacros", type: "IntTweakMacro")

/// The current value of a floating-point tweak, where a constant would stand.
///
///     let rate = #tweak("Spring", "Drawing", "Frames per second", default: 30.0, in: 1...120)
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - default: The value of the tweak that nobody has changed, a literal.
///   - limits: The smallest and the largest value, two literals.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Double,
    in limits: ClosedRange<Double>? = nil
) -> Double = #externalMacro(module: "TweakMacros", type: "DoubleTweakMacro")

/// The current value of a text tweak, where a constant would stand.
///
///     let glyph = #tweak("Spring", "Drawing", "Glyph", default: "●")
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - default: The value of the tweak that nobody has changed, a literal.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: String
) -> String = #externalMacro(module: "TweakMacros", type: "StringTweakMacro")
#endif
