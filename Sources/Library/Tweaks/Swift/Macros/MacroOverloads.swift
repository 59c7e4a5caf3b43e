// SPDX-License-Identifier: BSD-3-Clause

// Written by tools/development/macro-overloads: change that file and run it.

public import TweakRecords

#if Macros
/// The current value of a Bool tweak. Use it in place of a constant.
///
///     if #tweak("Spring", "Drawing", "Trail", default: true) { … }
///
/// Reading it is one load. Tweaks are compiled in when the compilation condition `DEBUG` or
/// `FB_TWEAK_ENABLED` is set and `FB_TWEAK_DISABLED` is not; otherwise the expression is the default.
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, a literal.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Bool,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> Bool = #externalMacro(module: "TweakMacros", type: "BoolTweakMacro")

/// The current value of a string tweak. Use it in place of a constant.
///
///     let glyph = #tweak("Spring", "Drawing", "Glyph", default: "●", choices: ["●", "■"])
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, a literal.
///   - choices: The only allowed values: an array literal, or a dictionary literal of values and their labels.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: String,
    choices: TweakChoices<String> = [], description: StaticString? = nil, readOnly: Bool = false,
    needsRestart: Bool = false, owner: StaticString? = nil, expires: StaticString? = nil
) -> String = #externalMacro(module: "TweakMacros", type: "StringTweakMacro")

/// The current value of a colour tweak. Use it in place of a constant.
///
///     let ink: TweakColor = #tweak("Spring", "Drawing", "Ink", default: TweakColor(red: 51, green: 102, blue: 204))
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, `TweakColor(red:green:blue:alpha:)` of literals.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: TweakColor,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> TweakColor = #externalMacro(module: "TweakMacros", type: "ColorTweakMacro")

/// The current value of a tweak of type `Int`. Use it in place of a constant.
///
///     let width = #tweak("Spring", "Drawing", "Width", default: 60, in: 20...200)
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, a literal.
///   - limits: The minimum and maximum, two literals.
///   - choices: The only allowed values: an array literal, or a dictionary literal of values and their labels.
///   - step: The increment of a slider or stepper, greater than 0.
///   - scale: The scale of a slider: `.linear`, or `.log` for equal factors, which needs a minimum above 0.
///   - pair: The name of the number on a pad's vertical axis, in the same collection; this is the horizontal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Int,
    in limits: ClosedRange<Int>? = nil, choices: TweakChoices<Int> = [], step: Int? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> Int = #externalMacro(module: "TweakMacros", type: "IntTweakMacro")

/// The current value of a tweak of type `Int8`. Use it in place of a constant.
///
///     let level: Int8 = #tweak("Spring", "Drawing", "Level", default: 60, in: 20...100)
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, a literal.
///   - limits: The minimum and maximum, two literals.
///   - choices: The only allowed values: an array literal, or a dictionary literal of values and their labels.
///   - step: The increment of a slider or stepper, greater than 0.
///   - scale: The scale of a slider: `.linear`, or `.log` for equal factors, which needs a minimum above 0.
///   - pair: The name of the number on a pad's vertical axis, in the same collection; this is the horizontal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Int8,
    in limits: ClosedRange<Int8>? = nil, choices: TweakChoices<Int8> = [], step: Int8? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> Int8 = #externalMacro(module: "TweakMacros", type: "Int8TweakMacro")

/// The current value of a tweak of type `Int16`. Use it in place of a constant.
///
///     let level: Int16 = #tweak("Spring", "Drawing", "Level", default: 60, in: 20...100)
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, a literal.
///   - limits: The minimum and maximum, two literals.
///   - choices: The only allowed values: an array literal, or a dictionary literal of values and their labels.
///   - step: The increment of a slider or stepper, greater than 0.
///   - scale: The scale of a slider: `.linear`, or `.log` for equal factors, which needs a minimum above 0.
///   - pair: The name of the number on a pad's vertical axis, in the same collection; this is the horizontal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Int16,
    in limits: ClosedRange<Int16>? = nil, choices: TweakChoices<Int16> = [], step: Int16? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> Int16 = #externalMacro(module: "TweakMacros", type: "Int16TweakMacro")

/// The current value of a tweak of type `Int32`. Use it in place of a constant.
///
///     let level: Int32 = #tweak("Spring", "Drawing", "Level", default: 60, in: 20...100)
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, a literal.
///   - limits: The minimum and maximum, two literals.
///   - choices: The only allowed values: an array literal, or a dictionary literal of values and their labels.
///   - step: The increment of a slider or stepper, greater than 0.
///   - scale: The scale of a slider: `.linear`, or `.log` for equal factors, which needs a minimum above 0.
///   - pair: The name of the number on a pad's vertical axis, in the same collection; this is the horizontal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Int32,
    in limits: ClosedRange<Int32>? = nil, choices: TweakChoices<Int32> = [], step: Int32? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> Int32 = #externalMacro(module: "TweakMacros", type: "Int32TweakMacro")

/// The current value of a tweak of type `Int64`. Use it in place of a constant.
///
///     let level: Int64 = #tweak("Spring", "Drawing", "Level", default: 60, in: 20...100)
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, a literal.
///   - limits: The minimum and maximum, two literals.
///   - choices: The only allowed values: an array literal, or a dictionary literal of values and their labels.
///   - step: The increment of a slider or stepper, greater than 0.
///   - scale: The scale of a slider: `.linear`, or `.log` for equal factors, which needs a minimum above 0.
///   - pair: The name of the number on a pad's vertical axis, in the same collection; this is the horizontal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Int64,
    in limits: ClosedRange<Int64>? = nil, choices: TweakChoices<Int64> = [], step: Int64? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> Int64 = #externalMacro(module: "TweakMacros", type: "Int64TweakMacro")

/// The current value of a tweak of type `UInt`. Use it in place of a constant.
///
///     let count: UInt = #tweak("Spring", "Drawing", "Count", default: 60, in: 20...200)
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, a literal.
///   - limits: The minimum and maximum, two literals.
///   - choices: The only allowed values: an array literal, or a dictionary literal of values and their labels.
///   - step: The increment of a slider or stepper, greater than 0.
///   - scale: The scale of a slider: `.linear`, or `.log` for equal factors, which needs a minimum above 0.
///   - pair: The name of the number on a pad's vertical axis, in the same collection; this is the horizontal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: UInt,
    in limits: ClosedRange<UInt>? = nil, choices: TweakChoices<UInt> = [], step: UInt? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> UInt = #externalMacro(module: "TweakMacros", type: "UIntTweakMacro")

/// The current value of a tweak of type `UInt8`. Use it in place of a constant.
///
///     let level: UInt8 = #tweak("Spring", "Drawing", "Level", default: 60, in: 20...200)
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, a literal.
///   - limits: The minimum and maximum, two literals.
///   - choices: The only allowed values: an array literal, or a dictionary literal of values and their labels.
///   - step: The increment of a slider or stepper, greater than 0.
///   - scale: The scale of a slider: `.linear`, or `.log` for equal factors, which needs a minimum above 0.
///   - pair: The name of the number on a pad's vertical axis, in the same collection; this is the horizontal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: UInt8,
    in limits: ClosedRange<UInt8>? = nil, choices: TweakChoices<UInt8> = [], step: UInt8? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> UInt8 = #externalMacro(module: "TweakMacros", type: "UInt8TweakMacro")

/// The current value of a tweak of type `UInt16`. Use it in place of a constant.
///
///     let level: UInt16 = #tweak("Spring", "Drawing", "Level", default: 60, in: 20...200)
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, a literal.
///   - limits: The minimum and maximum, two literals.
///   - choices: The only allowed values: an array literal, or a dictionary literal of values and their labels.
///   - step: The increment of a slider or stepper, greater than 0.
///   - scale: The scale of a slider: `.linear`, or `.log` for equal factors, which needs a minimum above 0.
///   - pair: The name of the number on a pad's vertical axis, in the same collection; this is the horizontal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: UInt16,
    in limits: ClosedRange<UInt16>? = nil, choices: TweakChoices<UInt16> = [], step: UInt16? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> UInt16 = #externalMacro(module: "TweakMacros", type: "UInt16TweakMacro")

/// The current value of a tweak of type `UInt32`. Use it in place of a constant.
///
///     let level: UInt32 = #tweak("Spring", "Drawing", "Level", default: 60, in: 20...200)
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, a literal.
///   - limits: The minimum and maximum, two literals.
///   - choices: The only allowed values: an array literal, or a dictionary literal of values and their labels.
///   - step: The increment of a slider or stepper, greater than 0.
///   - scale: The scale of a slider: `.linear`, or `.log` for equal factors, which needs a minimum above 0.
///   - pair: The name of the number on a pad's vertical axis, in the same collection; this is the horizontal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: UInt32,
    in limits: ClosedRange<UInt32>? = nil, choices: TweakChoices<UInt32> = [], step: UInt32? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> UInt32 = #externalMacro(module: "TweakMacros", type: "UInt32TweakMacro")

/// The current value of a tweak of type `UInt64`. Use it in place of a constant.
///
///     let level: UInt64 = #tweak("Spring", "Drawing", "Level", default: 60, in: 20...200)
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, a literal.
///   - limits: The minimum and maximum, two literals.
///   - choices: The only allowed values: an array literal, or a dictionary literal of values and their labels.
///   - step: The increment of a slider or stepper, greater than 0.
///   - scale: The scale of a slider: `.linear`, or `.log` for equal factors, which needs a minimum above 0.
///   - pair: The name of the number on a pad's vertical axis, in the same collection; this is the horizontal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: UInt64,
    in limits: ClosedRange<UInt64>? = nil, choices: TweakChoices<UInt64> = [], step: UInt64? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> UInt64 = #externalMacro(module: "TweakMacros", type: "UInt64TweakMacro")

/// The current value of a `Float` tweak. Use it in place of a constant.
///
///     let gain: Float = #tweak("Spring", "Drawing", "Gain", default: 0.5, in: 0...1)
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, a literal.
///   - limits: The minimum and maximum, two literals.
///   - choices: The only allowed values: an array literal, or a dictionary literal of values and their labels.
///   - step: The increment of a slider or stepper, greater than 0.
///   - precision: The number of decimals to show, from 0 to 17.
///   - scale: The scale of a slider: `.linear`, or `.log` for equal factors, which needs a minimum above 0.
///   - pair: The name of the number on a pad's vertical axis, in the same collection; this is the horizontal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Float,
    in limits: ClosedRange<Float>? = nil, choices: TweakChoices<Float> = [], step: Float? = nil,
    precision: Int? = nil, scale: TweakScale? = nil, pair: StaticString? = nil,
    unit: StaticString? = nil, description: StaticString? = nil, readOnly: Bool = false,
    needsRestart: Bool = false, owner: StaticString? = nil, expires: StaticString? = nil
) -> Float = #externalMacro(module: "TweakMacros", type: "FloatTweakMacro")

/// The current value of a `Double` tweak. Use it in place of a constant.
///
///     let rate = #tweak("Spring", "Drawing", "Frames per second", default: 30.0, in: 1...120, unit: "Hz")
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, a literal.
///   - limits: The minimum and maximum, two literals.
///   - choices: The only allowed values: an array literal, or a dictionary literal of values and their labels.
///   - step: The increment of a slider or stepper, greater than 0.
///   - precision: The number of decimals to show, from 0 to 17.
///   - scale: The scale of a slider: `.linear`, or `.log` for equal factors, which needs a minimum above 0.
///   - pair: The name of the number on a pad's vertical axis, in the same collection; this is the horizontal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Double,
    in limits: ClosedRange<Double>? = nil, choices: TweakChoices<Double> = [], step: Double? = nil,
    precision: Int? = nil, scale: TweakScale? = nil, pair: StaticString? = nil,
    unit: StaticString? = nil, description: StaticString? = nil, readOnly: Bool = false,
    needsRestart: Bool = false, owner: StaticString? = nil, expires: StaticString? = nil
) -> Double = #externalMacro(module: "TweakMacros", type: "DoubleTweakMacro")

/// The current value of a tweak of another floating-point type, stored as a `Double`. Use it in place of a
/// constant.
///
///     let inset: CGFloat = #tweak("UI", "Page", "Inset", default: 8, in: 0...100)
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, a literal.
///   - limits: The minimum and maximum, two literals.
///   - choices: The only allowed values: an array literal, or a dictionary literal of values and their labels.
///   - step: The increment of a slider or stepper, greater than 0.
///   - precision: The number of decimals to show, from 0 to 17.
///   - scale: The scale of a slider: `.linear`, or `.log` for equal factors, which needs a minimum above 0.
///   - pair: The name of the number on a pad's vertical axis, in the same collection; this is the horizontal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak<Value: BinaryFloatingPoint>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Value,
    in limits: ClosedRange<Value>? = nil, choices: TweakChoices<Value> = [], step: Value? = nil,
    precision: Int? = nil, scale: TweakScale? = nil, pair: StaticString? = nil,
    unit: StaticString? = nil, description: StaticString? = nil, readOnly: Bool = false,
    needsRestart: Bool = false, owner: StaticString? = nil, expires: StaticString? = nil
) -> Value = #externalMacro(module: "TweakMacros", type: "RealTweakMacro")

/// The current value of a `Duration` tweak, stored as seconds. Use it in place of a constant.
///
///     let delay: Duration = #tweak("Spring", "Drawing", "Delay", default: .milliseconds(300))
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, such as `.seconds(2)` or `.milliseconds(300)`.
///   - limits: The minimum and maximum, two literals.
///   - choices: The only allowed values: an array literal, or a dictionary literal of values and their labels.
///   - step: The increment of a slider or stepper, greater than 0.
///   - precision: The number of decimals to show, from 0 to 17.
///   - scale: The scale of a slider: `.linear`, or `.log` for equal factors, which needs a minimum above 0.
///   - pair: The name of the number on a pad's vertical axis, in the same collection; this is the horizontal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Duration,
    in limits: ClosedRange<Duration>? = nil, choices: TweakChoices<Duration> = [],
    step: Duration? = nil, precision: Int? = nil, scale: TweakScale? = nil, pair: StaticString? = nil,
    unit: StaticString? = nil, description: StaticString? = nil, readOnly: Bool = false,
    needsRestart: Bool = false, owner: StaticString? = nil, expires: StaticString? = nil
) -> Duration = #externalMacro(module: "TweakMacros", type: "DurationTweakMacro")

/// The current value of an array tweak with integers. Use it in place of a constant.
///
///     let ports = #tweak("Server", "Net", "Ports", default: [80, 443], in: 1...65535)
///
/// The value is stored as a string with a JSON array, which the first read of a new value decodes.
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, an array literal.
///   - limits: The minimum and maximum of an element, two literals.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: [Int],
    in limits: ClosedRange<Int>? = nil, description: StaticString? = nil, readOnly: Bool = false,
    needsRestart: Bool = false, owner: StaticString? = nil, expires: StaticString? = nil
) -> [Int] = #externalMacro(module: "TweakMacros", type: "IntsTweakMacro")

/// The current value of an array tweak with floating-point numbers. Use it in place of a constant.
///
///     let weights = #tweak("Filter", "FIR", "Weights", default: [0.25, 0.5, 0.25], in: -1...1)
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, an array literal.
///   - limits: The minimum and maximum of an element, two literals.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: [Double],
    in limits: ClosedRange<Double>? = nil, description: StaticString? = nil, readOnly: Bool = false,
    needsRestart: Bool = false, owner: StaticString? = nil, expires: StaticString? = nil
) -> [Double] = #externalMacro(module: "TweakMacros", type: "DoublesTweakMacro")

/// The current value of an array tweak with strings. Use it in place of a constant.
///
///     let hosts = #tweak("Server", "Net", "Hosts", default: ["localhost"])
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, an array literal.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: [String],
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> [String] = #externalMacro(module: "TweakMacros", type: "StringsTweakMacro")

/// The current value of an optional `Double` tweak, or `nil`. Use it in place of a constant.
///
///     let limit: Double? = #tweak("Robot", "Arm", "Limit", default: nil, in: 0.1...2)
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, `nil` or `.some(…)` of a literal.
///   - limits: The minimum and maximum, two literals.
///   - step: The increment of a slider or stepper, greater than 0.
///   - precision: The number of decimals to show, from 0 to 17.
///   - scale: The scale of a slider: `.linear`, or `.log` for equal factors, which needs a minimum above 0.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString?, _ collection: StaticString, _ name: StaticString, default: Double?,
    in limits: ClosedRange<Double>? = nil, step: Double? = nil, precision: Int? = nil,
    scale: TweakScale? = nil, unit: StaticString? = nil, description: StaticString? = nil,
    readOnly: Bool = false, needsRestart: Bool = false, owner: StaticString? = nil,
    expires: StaticString? = nil
) -> Double? = #externalMacro(module: "TweakMacros", type: "OptionalDoubleTweakMacro")

/// The current value of an optional `Float` tweak, or `nil`. Use it in place of a constant.
///
///     let gain: Float? = #tweak("Robot", "Arm", "Gain", default: nil)
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, `nil` or `.some(…)` of a literal.
///   - limits: The minimum and maximum, two literals.
///   - step: The increment of a slider or stepper, greater than 0.
///   - precision: The number of decimals to show, from 0 to 17.
///   - scale: The scale of a slider: `.linear`, or `.log` for equal factors, which needs a minimum above 0.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString?, _ collection: StaticString, _ name: StaticString, default: Float?,
    in limits: ClosedRange<Float>? = nil, step: Float? = nil, precision: Int? = nil,
    scale: TweakScale? = nil, unit: StaticString? = nil, description: StaticString? = nil,
    readOnly: Bool = false, needsRestart: Bool = false, owner: StaticString? = nil,
    expires: StaticString? = nil
) -> Float? = #externalMacro(module: "TweakMacros", type: "OptionalFloatTweakMacro")

/// The current value of an optional `Int` tweak, or `nil`. Use it in place of a constant.
///
///     let retries: Int? = #tweak("Robot", "Net", "Retries", default: nil, in: 0...10)
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, `nil` or `.some(…)` of a literal.
///   - limits: The minimum and maximum, two literals.
///   - step: The increment of a slider or stepper, greater than 0.
///   - scale: The scale of a slider: `.linear`, or `.log` for equal factors, which needs a minimum above 0.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString?, _ collection: StaticString, _ name: StaticString, default: Int?,
    in limits: ClosedRange<Int>? = nil, step: Int? = nil, scale: TweakScale? = nil,
    unit: StaticString? = nil, description: StaticString? = nil, readOnly: Bool = false,
    needsRestart: Bool = false, owner: StaticString? = nil, expires: StaticString? = nil
) -> Int? = #externalMacro(module: "TweakMacros", type: "OptionalIntTweakMacro")

/// The current value of an optional `Bool` tweak, or `nil`. Use it in place of a constant.
///
///     let quiet: Bool? = #tweak("Robot", "Net", "Quiet", default: nil)
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, `nil` or `.some(…)` of a literal.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString?, _ collection: StaticString, _ name: StaticString, default: Bool?,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> Bool? = #externalMacro(module: "TweakMacros", type: "OptionalBoolTweakMacro")

/// The current value of an optional `String` tweak, or `nil`. Use it in place of a constant.
///
///     let host: String? = #tweak("Robot", "Net", "Host", default: nil)
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, `nil` or `.some(…)` of a literal.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString?, _ collection: StaticString, _ name: StaticString, default: String?,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> String? = #externalMacro(module: "TweakMacros", type: "OptionalStringTweakMacro")

/// The current value of a tweak of a type stored as a string, such as an enumeration. Use it in place of a
/// constant.
///
///     let curve = #tweak("Spring", "Drawing", "Curve", default: Curve.linear)
///     let font = #tweak("Spring", "Drawing", "Font", default: FontName(rawValue: "Inter"))
///
/// The cases of an enumeration are its choices, if the default has the name of the type. The macro sees only
/// the names of the type and of a case; the running program adds the cases and their raw values.
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default: a case, or `Type(rawValue: …)` of a literal.
///   - choices: The only allowed raw values: an array literal, or a dictionary literal of them and their labels.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak<Value: TweakableRawRepresentable>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Value,
    choices: TweakChoices<String> = [], description: StaticString? = nil, readOnly: Bool = false,
    needsRestart: Bool = false, owner: StaticString? = nil, expires: StaticString? = nil
) -> Value = #externalMacro(module: "TweakMacros", type: "RawStringTweakMacro")
where Value.RawValue == String

/// The current value of a tweak of a type stored as an integer, such as an enumeration. Use it in place of a
/// constant.
///
///     let level = #tweak("Spring", "Drawing", "Level", default: Level.high, choices: [1: "low", 2: "high"])
///     let mark = #tweak("Spring", "Drawing", "Mark", default: Frame(rawValue: 24), in: 0...100)
///
/// The record stores the raw value, which the macro cannot see in a case. So an enumeration needs choices: a
/// dictionary literal of raw values and names of cases, which the running program corrects.
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default: a case, or `Type(rawValue: …)` of a literal.
///   - limits: The minimum and maximum of the raw value, two literals.
///   - choices: The only allowed raw values: an array literal, or a dictionary literal of them and their labels.
///   - step: The increment of the raw value on a slider or stepper, greater than 0.
///   - scale: The scale of a slider: `.linear`, or `.log` for equal factors, which needs a minimum above 0.
///   - pair: The name of the number on a pad's vertical axis, in the same collection; this is the horizontal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak<Value: TweakableRawRepresentable>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Value,
    in limits: ClosedRange<Int>? = nil, choices: TweakChoices<Int> = [], step: Int? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> Value = #externalMacro(module: "TweakMacros", type: "RawIntTweakMacro")
where Value.RawValue == Int

/// The current value of a tweak of a type stored as a floating-point number. Use it in place of a constant.
///
///     let turn = #tweak("Spring", "Drawing", "Turn", default: Angle(rawValue: 45), in: 0...360, unit: "°")
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, `Type(rawValue: …)` of a literal.
///   - limits: The minimum and maximum of the raw value, two literals.
///   - choices: The only allowed raw values: an array literal, or a dictionary literal of them and their labels.
///   - step: The increment of the raw value on a slider or stepper, greater than 0.
///   - precision: The number of decimals to show, from 0 to 17.
///   - scale: The scale of a slider: `.linear`, or `.log` for equal factors, which needs a minimum above 0.
///   - pair: The name of the number on a pad's vertical axis, in the same collection; this is the horizontal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak<Value: TweakableRawRepresentable>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Value,
    in limits: ClosedRange<Double>? = nil, choices: TweakChoices<Double> = [], step: Double? = nil,
    precision: Int? = nil, scale: TweakScale? = nil, pair: StaticString? = nil,
    unit: StaticString? = nil, description: StaticString? = nil, readOnly: Bool = false,
    needsRestart: Bool = false, owner: StaticString? = nil, expires: StaticString? = nil
) -> Value = #externalMacro(module: "TweakMacros", type: "RawDoubleTweakMacro")
where Value.RawValue == Double

/// The fallback for an integer with a precision, which is a mistake. The compiler plug-in reports it.
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - default: The default, a literal.
///   - limits: The minimum and maximum, two literals.
///   - choices: The only allowed values: an array literal, or a dictionary literal of values and their labels.
///   - step: The increment of a slider or stepper, greater than 0.
///   - precision: The number of decimals to show, from 0 to 17.
///   - scale: The scale of a slider: `.linear`, or `.log` for equal factors, which needs a minimum above 0.
///   - pair: The name of the number on a pad's vertical axis, in the same collection; this is the horizontal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Int,
    in limits: ClosedRange<Int>? = nil, choices: TweakChoices<Int> = [], step: Int? = nil,
    precision: Int, scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> Int = #externalMacro(module: "TweakMacros", type: "IntTweakMacro")

/// The fallback for arguments that no other overload takes. The compiler plug-in reports the mistake.
///
/// - Parameters:
///   - category: The first level of the name.
///   - collection: The second level.
///   - name: The third level.
///   - default: The default, a literal.
///   - limits: The minimum and maximum, two literals.
///   - choices: The only allowed values: an array literal, or a dictionary literal of values and their labels.
///   - step: The increment of a slider or stepper, greater than 0.
///   - precision: The number of decimals to show, from 0 to 17.
///   - scale: The scale of a slider: `.linear`, or `.log` for equal factors, which needs a minimum above 0.
///   - pair: The name of the number on a pad's vertical axis, in the same collection; this is the horizontal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro tweak<Value>(
    _ category: AnyHashable? = nil, _ collection: Any? = nil, _ name: Any? = nil, default: Value,
    in limits: Any? = nil, choices: Any? = nil, step: Any? = nil, precision: Any? = nil,
    scale: TweakScale? = nil, pair: Any? = nil, unit: Any? = nil, description: Any? = nil,
    readOnly: Any? = nil, needsRestart: Any? = nil, owner: Any? = nil, expires: Any? = nil
) -> Value = #externalMacro(module: "TweakMacros", type: "UnsupportedTweakMacro")

/// Makes a static or global variable a tweak, and adds a handle with `$` before the name.
///
///     enum Spring {
///         @Tweakable("Spring", "Drawing", "Gain", in: 0...1) static var gain = 0.5
///     }
///     draw(Spring.gain)               // one load
///     try Spring.$gain.set(0.75)
///
/// The variable can only be read; set it through the handle, a ``Tweak``. Its type is the declared one, or
/// that of the literal. A macro does not see through a typealias: write the default as a literal of the type
/// behind it, such as `1.0` for a `Double`. Where tweaks are disabled, the variable and its handle are
/// constant.
///
/// For a type that is stored as its raw value, see ``TweakableRawRepresentable``, write the default as
/// `Angle(rawValue: 45.0)`, with a literal of the raw value's own type, or as a case of an enumeration, whose
/// cases are the choices. The macro sees only the name of a case, so an enumeration with integers needs
/// choices: a dictionary literal of raw values and names of cases.
///
///     @Tweakable("Spring", "Drawing", "Level", choices: [1: "low", 2: "high"]) static var level = Level.high
///
/// A ``TweakAnimation``, ``TweakSpring``, ``TweakShadow`` or ``TweakEdgeInsets`` becomes a tweak for each
/// property, named after the tweak and the property, and the handle is a ``GroupedTweaks``. These types have
/// limits of their own.
///
///     @Tweakable("UI", "Card", "Shadow") static var shadow = TweakShadow(radius: 8)
///     try $shadow.opacity.set(0.5)    // UI/Card/Shadow Opacity
///
/// Limits, choices and step are values of the variable's type, or its raw values.
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - limits: The minimum and maximum, two literals.
///   - choices: The only allowed values: an array literal, or a dictionary literal of values and their labels.
///   - step: The increment of a slider or stepper, greater than 0.
///   - precision: The number of decimals to show, from 0 to 17.
///   - scale: The scale of a slider: `.linear`, or `.log` for equal factors, which needs a minimum above 0.
///   - pair: The name of the number on a pad's vertical axis, in the same collection; this is the horizontal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@attached(accessor)
@attached(peer, names: prefixed(`$`), prefixed(__tweak_))
public macro Tweakable(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString,
    in limits: (any TweakLimits)? = nil, choices: TweakChoices<any TweakableValue> = [],
    step: (any TweakableValue)? = nil, precision: Int? = nil, scale: TweakScale? = nil,
    pair: StaticString? = nil, unit: StaticString? = nil, description: StaticString? = nil,
    readOnly: Bool = false, needsRestart: Bool = false, owner: StaticString? = nil,
    expires: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "TweakableMacro")

/// Makes a static or global variable of type `Duration` a tweak with limits; see
/// ``Tweakable(_:_:_:in:choices:step:precision:scale:pair:unit:description:readOnly:needsRestart:owner:expires:)``.
///
///     @Tweakable("Net", "Retry", "Delay", in: .milliseconds(10) ... .seconds(60)) static var delay: Duration = .seconds(1)
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - limits: The shortest and the longest duration, two literals.
///   - step: The increment of a slider or stepper, greater than 0.
///   - precision: The number of decimals of seconds to show, from 0 to 17.
///   - scale: The scale of a slider: `.linear`, or `.log` for equal factors, which needs a minimum above 0.
///   - pair: The name of the number on a pad's vertical axis, in the same collection; this is the horizontal.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@attached(accessor)
@attached(peer, names: prefixed(`$`), prefixed(__tweak_))
public macro Tweakable(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString,
    in limits: ClosedRange<Duration>, step: Duration? = nil, precision: Int? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, description: StaticString? = nil,
    readOnly: Bool = false, needsRestart: Bool = false, owner: StaticString? = nil,
    expires: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "TweakableMacro")

/// The fallback for arguments that no other overload takes. The compiler plug-in reports the mistake.
///
/// - Parameters:
///   - category: The first level of the name.
///   - collection: The second level.
///   - name: The third level.
///   - default: Unused: the default is the variable's initial value.
///   - limits: The minimum and maximum, two literals.
///   - choices: The only allowed values: an array literal, or a dictionary literal of values and their labels.
///   - step: The increment of a slider or stepper, greater than 0.
///   - precision: The number of decimals to show, from 0 to 17.
///   - scale: The scale of a slider: `.linear`, or `.log` for equal factors, which needs a minimum above 0.
///   - pair: The name of the number on a pad's vertical axis, in the same collection; this is the horizontal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - readOnly: Whether the tweak can be seen but not set.
///   - needsRestart: Whether a new value takes effect at the program's next start.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@attached(accessor)
@attached(peer, names: prefixed(`$`), prefixed(__tweak_))
public macro Tweakable(
    _ category: AnyHashable? = nil, _ collection: Any? = nil, _ name: Any? = nil, default: Any? = nil,
    in limits: Any? = nil, choices: Any? = nil, step: Any? = nil, precision: Any? = nil,
    scale: TweakScale? = nil, pair: Any? = nil, unit: Any? = nil, description: Any? = nil,
    readOnly: Any? = nil, needsRestart: Any? = nil, owner: Any? = nil, expires: Any? = nil
) = #externalMacro(module: "TweakMacros", type: "TweakableMacro")

/// Makes a structure a ``TweakGroup``, with a field for each stored `var`.
///
///     @TweakGroup struct Margins {
///         @TweakField(in: 0...100, unit: "px") var left = 8.0
///         var right = 8.0
///     }
///
/// A field is named after its property, such as `Initial Velocity` for `initialVelocity`. A `let` is not a
/// field. If the structure declares `fields` itself, a `var` that is missing there is an error. Where
/// declarations are isolated to the main actor by default, write `nonisolated struct`.
@attached(extension, conformances: TweakGroup, names: named(fields))
public macro TweakGroup() = #externalMacro(module: "TweakMacros", type: "TweakGroupMacro")

/// Gives a field of a structure with `@TweakGroup` a name or options; see ``TweakField``.
///
///     @TweakField("Left edge", in: 0...100, unit: "px") var left = 8.0
///
/// - Parameters:
///   - name: The last part of the tweak's name.
///   - limits: The minimum and maximum.
///   - step: The increment of a slider or stepper, greater than 0.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
@attached(peer)
public macro TweakField(
    _ name: String? = nil, in limits: (any TweakLimits)? = nil, step: (any TweakableValue)? = nil,
    unit: String? = nil, description: String? = nil
) = #externalMacro(module: "TweakMacros", type: "TweakFieldMacro")

/// Gives a field of type `Duration` limits, a name or other options.
///
/// - Parameters:
///   - name: The last part of the tweak's name.
///   - limits: The shortest and the longest duration.
///   - step: The increment of a slider or stepper, greater than 0.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
@attached(peer)
public macro TweakField(
    _ name: String? = nil, in limits: ClosedRange<Duration>, step: Duration? = nil, unit: String? = nil,
    description: String? = nil
) = #externalMacro(module: "TweakMacros", type: "TweakFieldMacro")

/// Declares an action, a function that people can run while the program runs.
///
///     #tweakAction("Spring", "Drawing", "Clear") { canvas.clear() }
///
/// Write it in a file, a type or a function; the action exists from the start of the program. The closure
/// captures nothing. It runs on the thread that calls ``TweakStore/run(_:)``, or on a library thread if a
/// person requests the action. Where tweaks are disabled, the action is left out.
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - description: A description for people.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
///   - action: The code to run.
@freestanding(declaration)
public macro tweakAction(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString,
    description: StaticString? = nil, owner: StaticString? = nil, expires: StaticString? = nil,
    action: @Sendable () -> Void
) = #externalMacro(module: "TweakMacros", type: "TweakActionMacro")

/// Declares an action that runs on the main actor.
///
///     #tweakAction("Game", "Play", "Start again", on: MainActor.self) { board.clear() }
///
/// ``TweakStore/run(_:)`` returns when the closure has been handed to the main actor. Otherwise this is like
/// ``tweakAction(_:_:_:description:owner:expires:action:)``.
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - description: A description for people.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
///   - actor: `MainActor.self`.
///   - action: The code to run.
@freestanding(declaration)
public macro tweakAction(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString,
    description: StaticString? = nil, owner: StaticString? = nil, expires: StaticString? = nil,
    on actor: MainActor.Type, action: @MainActor @Sendable () -> Void
) = #externalMacro(module: "TweakMacros", type: "TweakActionMacro")

/// Whether a feature, or a part of one, is switched on.
///
///     if #feature("Sound", default: true) && #feature("Sound", part: "Bass", default: false) { … }
///
/// The feature is the Bool tweak `Features/Sound/enabled`, the part `Features/Sound/Bass`. Write the names of
/// nested parts in one string, separated by slashes. A part should count only if the feature is on: the
/// expression above checks both, and ``TweakStore/isFeatureEnabled(_:_:)`` does so by itself.
///
/// - Parameters:
///   - feature: The feature, a string literal.
///   - part: The part of the feature, a string literal.
///   - default: Whether the feature or part is on by default.
///   - description: A description for people.
///   - owner: The person or team responsible.
///   - expires: The last day on which the tweak should exist, as `2027-01-31`.
@freestanding(expression)
public macro feature(
    _ feature: StaticString, part: StaticString? = nil, default: Bool, description: StaticString? = nil,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> Bool = #externalMacro(module: "TweakMacros", type: "FeatureMacro")

/// Publishes a `Bool` as a monitor.
///
///     #tweakMonitor("Motor", "State", "Running", speed > 0)
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - value: The value to store.
///   - description: A description for people.
///   - owner: The person or team responsible.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: Bool,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "BoolMonitorMacro")

/// Publishes an integer as a monitor.
///
///     #tweakMonitor("Motor", "State", "Phase", phase, choices: ["idle", "starting", "running"])
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - value: The value to store.
///   - limits: The range to draw, two literals.
///   - choices: The names of the states: an array literal for 0, 1, 2, …, or a dictionary literal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - owner: The person or team responsible.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: Int,
    in limits: ClosedRange<Int>? = nil, choices: TweakStates = [], unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "IntMonitorMacro")

/// Publishes a signed integer of 8 bits as a monitor.
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - value: The value to store.
///   - limits: The range to draw, two literals.
///   - choices: The names of the states: an array literal for 0, 1, 2, …, or a dictionary literal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - owner: The person or team responsible.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: Int8,
    in limits: ClosedRange<Int8>? = nil, choices: TweakStates = [], unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "Int8MonitorMacro")

/// Publishes a signed integer of 16 bits as a monitor.
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - value: The value to store.
///   - limits: The range to draw, two literals.
///   - choices: The names of the states: an array literal for 0, 1, 2, …, or a dictionary literal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - owner: The person or team responsible.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: Int16,
    in limits: ClosedRange<Int16>? = nil, choices: TweakStates = [], unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "Int16MonitorMacro")

/// Publishes a signed integer of 32 bits as a monitor.
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - value: The value to store.
///   - limits: The range to draw, two literals.
///   - choices: The names of the states: an array literal for 0, 1, 2, …, or a dictionary literal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - owner: The person or team responsible.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: Int32,
    in limits: ClosedRange<Int32>? = nil, choices: TweakStates = [], unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "Int32MonitorMacro")

/// Publishes a signed integer of 64 bits as a monitor.
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - value: The value to store.
///   - limits: The range to draw, two literals.
///   - choices: The names of the states: an array literal for 0, 1, 2, …, or a dictionary literal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - owner: The person or team responsible.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: Int64,
    in limits: ClosedRange<Int64>? = nil, choices: TweakStates = [], unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "Int64MonitorMacro")

/// Publishes an unsigned integer as a monitor.
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - value: The value to store.
///   - limits: The range to draw, two literals.
///   - choices: The names of the states: an array literal for 0, 1, 2, …, or a dictionary literal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - owner: The person or team responsible.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: UInt,
    in limits: ClosedRange<UInt>? = nil, choices: TweakStates = [], unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "UIntMonitorMacro")

/// Publishes an unsigned integer of 8 bits as a monitor.
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - value: The value to store.
///   - limits: The range to draw, two literals.
///   - choices: The names of the states: an array literal for 0, 1, 2, …, or a dictionary literal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - owner: The person or team responsible.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: UInt8,
    in limits: ClosedRange<UInt8>? = nil, choices: TweakStates = [], unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "UInt8MonitorMacro")

/// Publishes an unsigned integer of 16 bits as a monitor.
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - value: The value to store.
///   - limits: The range to draw, two literals.
///   - choices: The names of the states: an array literal for 0, 1, 2, …, or a dictionary literal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - owner: The person or team responsible.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: UInt16,
    in limits: ClosedRange<UInt16>? = nil, choices: TweakStates = [], unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "UInt16MonitorMacro")

/// Publishes an unsigned integer of 32 bits as a monitor.
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - value: The value to store.
///   - limits: The range to draw, two literals.
///   - choices: The names of the states: an array literal for 0, 1, 2, …, or a dictionary literal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - owner: The person or team responsible.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: UInt32,
    in limits: ClosedRange<UInt32>? = nil, choices: TweakStates = [], unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "UInt32MonitorMacro")

/// Publishes an unsigned integer of 64 bits as a monitor.
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - value: The value to store.
///   - limits: The range to draw, two literals.
///   - choices: The names of the states: an array literal for 0, 1, 2, …, or a dictionary literal.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - owner: The person or team responsible.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: UInt64,
    in limits: ClosedRange<UInt64>? = nil, choices: TweakStates = [], unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "UInt64MonitorMacro")

/// Publishes a `Float` as a monitor.
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - value: The value to store.
///   - limits: The range to draw, two literals.
///   - precision: The number of decimals to show, from 0 to 17.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - owner: The person or team responsible.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: Float,
    in limits: ClosedRange<Float>? = nil, precision: Int? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "FloatMonitorMacro")

/// Publishes a `Double` as a monitor.
///
///     #tweakMonitor("Motor", "State", "Speed", speed, in: 0...8000, unit: "rpm")
///
/// Storing the value is one instruction. People see the value and its graph, but cannot set it. Where tweaks
/// are disabled, the value is not evaluated. Store a monitor at one place in the program; of several, people
/// see one.
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - value: The value to store.
///   - limits: The range to draw, two literals.
///   - precision: The number of decimals to show, from 0 to 17.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - owner: The person or team responsible.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: Double,
    in limits: ClosedRange<Double>? = nil, precision: Int? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "DoubleMonitorMacro")

/// The fallback for arguments that no other overload takes. The compiler plug-in reports the mistake.
///
/// - Parameters:
///   - category: The first level of the name.
///   - collection: The second level.
///   - name: The third level.
///   - value: The value to store.
///   - limits: The minimum and maximum, two literals.
///   - choices: The only allowed values: an array literal, or a dictionary literal of values and their labels.
///   - precision: The number of decimals to show, from 0 to 17.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - owner: The person or team responsible.
@freestanding(expression)
public macro tweakMonitor(
    _ category: AnyHashable? = nil, _ collection: Any? = nil, _ name: Any? = nil, _ value: Any? = nil,
    in limits: Any? = nil, choices: Any? = nil, precision: Any? = nil, unit: Any? = nil,
    description: Any? = nil, owner: Any? = nil
) = #externalMacro(module: "TweakMacros", type: "UnsupportedMonitorMacro")

/// Publishes a variable as a monitor: each new value is also stored in the monitor.
///
///     final class Motor {
///         @TweakMonitored("Motor", "State", "Speed", in: 0...8000, unit: "rpm") var speed = 0.0
///     }
///
/// The variable remains a stored one, of its declared type or that of its literal: a Bool, an integer, a
/// `Float` or a `Double`. It can be static, global, or a property of an object or value; all instances store
/// the same monitor. Where tweaks are disabled, it is an ordinary variable.
///
/// - Parameters:
///   - category: The first level of the name, a string literal.
///   - collection: The second level, a string literal.
///   - name: The third level, a string literal.
///   - limits: The range to draw, two literals.
///   - choices: The names of an integer's states: an array literal for 0, 1, 2, …, or a dictionary literal.
///   - precision: The number of decimals to show, from 0 to 17.
///   - unit: The unit of the value, such as `kg`.
///   - description: A description for people.
///   - owner: The person or team responsible.
@attached(accessor, names: named(didSet))
public macro TweakMonitored(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString,
    in limits: (any Sendable)? = nil, choices: TweakStates = [], precision: Int? = nil,
    unit: StaticString? = nil, description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "MonitoredMacro")
#else
/// The requirement of macros without the trait `Macros`, for the compiler's error.
public protocol `the trait Macros: .package(…, traits: ["Macros"])` {}

/// The stand-in for the macro without the trait `Macros`, which reports that the trait is missing.
@freestanding(expression)
public macro tweak<Trait: `the trait Macros: .package(…, traits: ["Macros"])`, Value>(
    _ category: Trait, _ collection: StaticString, _ name: StaticString, default: Value,
    in limits: Any? = nil, choices: Any? = nil, step: Any? = nil, precision: Int? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> Value = #externalMacro(module: "ObservationMacros", type: "ObservableMacro")

/// The stand-in for the macro without the trait `Macros`, which reports that the trait is missing.
@freestanding(expression)
public macro feature<Trait: `the trait Macros: .package(…, traits: ["Macros"])`>(
    _ feature: Trait, part: StaticString? = nil, default: Bool, description: StaticString? = nil,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> Bool = #externalMacro(module: "ObservationMacros", type: "ObservableMacro")

/// The stand-in for the macro without the trait `Macros`, which reports that the trait is missing.
@freestanding(expression)
public macro tweakMonitor<Trait: `the trait Macros: .package(…, traits: ["Macros"])`, Value>(
    _ category: Trait, _ collection: StaticString, _ name: StaticString, _ value: Value,
    in limits: Any? = nil, choices: Any? = nil, precision: Int? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "ObservationMacros", type: "ObservableMacro")

/// The stand-in for the macro without the trait `Macros`, which reports that the trait is missing.
@freestanding(declaration)
public macro tweakAction<Trait: `the trait Macros: .package(…, traits: ["Macros"])`>(
    _ category: Trait, _ collection: StaticString, _ name: StaticString,
    description: StaticString? = nil, owner: StaticString? = nil, expires: StaticString? = nil,
    on actor: Any? = nil, action: () -> Void
) = #externalMacro(module: "ObservationMacros", type: "ObservableMacro")

/// The stand-in for the macro without the trait `Macros`, which reports that the trait is missing.
@freestanding(declaration)
public macro tweakApplication<Trait: `the trait Macros: .package(…, traits: ["Macros"])`>(
    _ name: Trait
) = #externalMacro(module: "ObservationMacros", type: "ObservableMacro")

/// The stand-in for the macro without the trait `Macros`, which reports that the trait is missing.
@freestanding(expression)
public macro tweakGate<Trait: `the trait Macros: .package(…, traits: ["Macros"])`>(
    _ category: Trait, _ collection: StaticString? = nil
) = #externalMacro(module: "ObservationMacros", type: "ObservableMacro")

/// The stand-in for the macro without the trait `Macros`, which reports that the trait is missing.
@available(*, unavailable, message: "macros need the trait Macros: .package(…, traits: [\"Macros\"])")
@attached(accessor)
@attached(peer, names: prefixed(`$`))
public macro Tweakable(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, in limits: Any? = nil,
    choices: Any? = nil, step: Any? = nil, precision: Int? = nil, scale: TweakScale? = nil,
    pair: StaticString? = nil, unit: StaticString? = nil, description: StaticString? = nil,
    readOnly: Bool = false, needsRestart: Bool = false, owner: StaticString? = nil,
    expires: StaticString? = nil
) = #externalMacro(module: "SwiftMacros", type: "TaskLocalMacro")

/// The stand-in for the macro without the trait `Macros`, which reports that the trait is missing.
@available(*, unavailable, message: "macros need the trait Macros: .package(…, traits: [\"Macros\"])")
@attached(accessor, names: named(didSet))
public macro TweakMonitored(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, in limits: Any? = nil,
    choices: Any? = nil, precision: Int? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "ObservationMacros", type: "ObservationTrackedMacro")

/// The stand-in for the macro without the trait `Macros`, which reports that the trait is missing.
@available(*, unavailable, message: "macros need the trait Macros: .package(…, traits: [\"Macros\"])")
@attached(peer)
public macro TweakGroup() = #externalMacro(module: "ObservationMacros", type: "ObservationTrackedMacro")

/// The stand-in for the macro without the trait `Macros`, which reports that the trait is missing.
@available(*, unavailable, message: "macros need the trait Macros: .package(…, traits: [\"Macros\"])")
@attached(accessor, names: named(willSet))
public macro TweakField(
    _ name: String? = nil, in limits: Any? = nil, step: Any? = nil, unit: String? = nil,
    description: String? = nil
) = #externalMacro(module: "ObservationMacros", type: "ObservationIgnoredMacro")
#endif
