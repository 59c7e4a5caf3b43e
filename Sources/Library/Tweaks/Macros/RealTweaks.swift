#if Macros
public import TweakRecords

/// The current value of a tweak that is a floating-point number of 32 bits, where a constant would stand.
///
///     let gain: Float = #tweak("Spring", "Drawing", "Gain", default: 0.5, in: 0...1)
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - default: The value of the tweak that nobody has changed, a literal.
///   - limits: The smallest and the largest value, two literals.
///   - choices: The only values: an array literal, or a dictionary literal of values and what a person sees for them.
///   - step: The distance between two neighbouring values on a slider or stepper, more than 0.
///   - precision: How many decimals displays show, 0 to 17.
///   - scale: `.log` for a slider that moves in equal factors, which needs a minimum above 0, or `.linear`.
///   - pair: The name of the number in its collection that is up, where this one is sideways, on a pad of both.
///   - unit: What its numbers count, such as `kg`.
///   - description: What it does, for a person.
///   - readOnly: Whether nobody can set it.
///   - needsRestart: Whether what is set takes effect at the next start of the program.
///   - owner: Who looks after it.
///   - expires: The last day for which it is meant, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Float,
    in limits: ClosedRange<Float>? = nil, choices: TweakChoices<Float> = [], step: Float? = nil,
    precision: Int? = nil, scale: TweakScale? = nil, pair: StaticString? = nil,
    unit: StaticString? = nil, description: StaticString? = nil,
    readOnly: Bool = false, needsRestart: Bool = false, owner: StaticString? = nil,
    expires: StaticString? = nil
) -> Float = #externalMacro(module: "TweakMacros", type: "FloatTweakMacro")

/// The current value of a floating-point tweak, where a constant would stand.
///
///     let rate = #tweak("Spring", "Drawing", "Frames per second", default: 30.0, in: 1...120, unit: "Hz")
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - default: The value of the tweak that nobody has changed, a literal.
///   - limits: The smallest and the largest value, two literals.
///   - choices: The only values: an array literal, or a dictionary literal of values and what a person sees for them.
///   - step: The distance between two neighbouring values on a slider or stepper, more than 0.
///   - precision: How many decimals displays show, 0 to 17.
///   - scale: `.log` for a slider that moves in equal factors, which needs a minimum above 0, or `.linear`.
///   - pair: The name of the number in its collection that is up, where this one is sideways, on a pad of both.
///   - unit: What its numbers count, such as `kg`.
///   - description: What it does, for a person.
///   - readOnly: Whether nobody can set it.
///   - needsRestart: Whether what is set takes effect at the next start of the program.
///   - owner: Who looks after it.
///   - expires: The last day for which it is meant, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Double,
    in limits: ClosedRange<Double>? = nil, choices: TweakChoices<Double> = [], step: Double? = nil,
    precision: Int? = nil, scale: TweakScale? = nil, pair: StaticString? = nil,
    unit: StaticString? = nil, description: StaticString? = nil,
    readOnly: Bool = false, needsRestart: Bool = false, owner: StaticString? = nil,
    expires: StaticString? = nil
) -> Double = #externalMacro(module: "TweakMacros", type: "DoubleTweakMacro")

/// The current value of a duration, which the store has as seconds, where a constant would stand.
///
///     let delay: Duration = #tweak("Spring", "Drawing", "Delay", default: .milliseconds(300))
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - default: The value of the tweak that nobody has changed, such as `.seconds(2)` or `.milliseconds(300)`.
///   - limits: The smallest and the largest value, two literals.
///   - choices: The only values: an array literal, or a dictionary literal of values and what a person sees for them.
///   - step: The distance between two neighbouring values on a slider or stepper, more than 0.
///   - precision: How many decimals displays show, 0 to 17.
///   - scale: `.log` for a slider that moves in equal factors, which needs a minimum above 0, or `.linear`.
///   - pair: The name of the number in its collection that is up, where this one is sideways, on a pad of both.
///   - unit: What its numbers count, such as `kg`.
///   - description: What it does, for a person.
///   - readOnly: Whether nobody can set it.
///   - needsRestart: Whether what is set takes effect at the next start of the program.
///   - owner: Who looks after it.
///   - expires: The last day for which it is meant, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Duration,
    in limits: ClosedRange<Duration>? = nil, choices: TweakChoices<Duration> = [], step: Duration? = nil,
    precision: Int? = nil, scale: TweakScale? = nil, pair: StaticString? = nil,
    unit: StaticString? = nil, description: StaticString? = nil,
    readOnly: Bool = false, needsRestart: Bool = false, owner: StaticString? = nil,
    expires: StaticString? = nil
) -> Duration = #externalMacro(module: "TweakMacros", type: "DurationTweakMacro")
#endif
