#if Macros
public import TweakRecords

/// The current value of a type that is kept as a text, such as an enumeration, where a constant would stand.
///
///     let curve: Curve = #tweak("Spring", "Drawing", "Curve", default: .linear)
///     let font = #tweak("Spring", "Drawing", "Font", default: FontName(rawValue: "Inter"))
///
/// The record has the raw value, and of a case a macro sees only the name. Where that is not the raw value, the choices
/// must say it: a dictionary literal of raw values and names of cases, such as `["out": "easeOut"]`, with all cases.
/// They are also what tools know of the other cases; where they are left out, a text that is not a raw value is read as
/// the default.
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - default: The value of the tweak that nobody has changed: a case, or `Type(rawValue: …)` of a literal.
///   - choices: The only raw values: an array literal, or a dictionary literal of them and what a person sees for each.
///   - description: What it does, for a person.
///   - readOnly: Whether nobody can set it.
///   - needsRestart: Whether what is set takes effect at the next start of the program.
///   - owner: Who looks after it.
///   - expires: The last day for which it is meant, as `2027-01-31`.
@freestanding(expression)
public macro tweak<Value: TweakableRawRepresentable>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Value,
    choices: TweakChoices<String> = [], description: StaticString? = nil, readOnly: Bool = false,
    needsRestart: Bool = false, owner: StaticString? = nil, expires: StaticString? = nil
) -> Value = #externalMacro(module: "TweakMacros", type: "RawStringTweakMacro")
where Value.RawValue == String

/// The current value of a type that is kept as an integer, such as an enumeration, where a constant would stand.
///
///     let level: Level = #tweak("Spring", "Drawing", "Level", default: .high, choices: [1: "low", 2: "high"])
///     let mark = #tweak("Spring", "Drawing", "Mark", default: Frame(rawValue: 24), in: 0...100)
///
/// The record has the raw value, which a macro does not see in a case. So an enumeration needs the choices: a
/// dictionary literal of raw values and names of cases, with all cases.
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - default: The value of the tweak that nobody has changed: a case, or `Type(rawValue: …)` of a literal.
///   - limits: The smallest and the largest raw value, two literals.
///   - choices: The only raw values: an array literal, or a dictionary literal of them and what a person sees for each.
///   - step: The distance between two neighbouring raw values on a slider or stepper, more than 0.
///   - scale: `.log` for a slider that moves in equal factors, which needs a minimum above 0, or `.linear`.
///   - pair: The name of the number in its collection that is up, where this one is sideways, on a pad of both.
///   - unit: What its numbers count, such as `kg`.
///   - description: What it does, for a person.
///   - readOnly: Whether nobody can set it.
///   - needsRestart: Whether what is set takes effect at the next start of the program.
///   - owner: Who looks after it.
///   - expires: The last day for which it is meant, as `2027-01-31`.
@freestanding(expression)
public macro tweak<Value: TweakableRawRepresentable>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Value,
    in limits: ClosedRange<Int>? = nil, choices: TweakChoices<Int> = [], step: Int? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false,
    needsRestart: Bool = false, owner: StaticString? = nil, expires: StaticString? = nil
) -> Value = #externalMacro(module: "TweakMacros", type: "RawIntTweakMacro")
where Value.RawValue == Int

/// The current value of a type that is kept as a floating-point number, where a constant would stand.
///
///     let turn = #tweak("Spring", "Drawing", "Turn", default: Angle(rawValue: 45), in: 0...360, unit: "°")
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - default: The value of the tweak that nobody has changed, `Type(rawValue: …)` of a literal.
///   - limits: The smallest and the largest raw value, two literals.
///   - choices: The only raw values: an array literal, or a dictionary literal of them and what a person sees for each.
///   - step: The distance between two neighbouring raw values on a slider or stepper, more than 0.
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
public macro tweak<Value: TweakableRawRepresentable>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Value,
    in limits: ClosedRange<Double>? = nil, choices: TweakChoices<Double> = [], step: Double? = nil,
    precision: Int? = nil, scale: TweakScale? = nil, pair: StaticString? = nil,
    unit: StaticString? = nil, description: StaticString? = nil,
    readOnly: Bool = false, needsRestart: Bool = false, owner: StaticString? = nil,
    expires: StaticString? = nil
) -> Value = #externalMacro(module: "TweakMacros", type: "RawDoubleTweakMacro")
where Value.RawValue == Double
#endif
