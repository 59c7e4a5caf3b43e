#if Macros
public import TweakRecords

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
///   - description: What it does, for a person.
///   - readOnly: Whether nobody can set it.
///   - needsRestart: Whether what is set takes effect at the next start of the program.
///   - owner: Who looks after it.
///   - expires: The last day for which it is meant, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Bool,
    description: StaticString? = nil, readOnly: Bool = false,
    needsRestart: Bool = false, owner: StaticString? = nil, expires: StaticString? = nil
) -> Bool = #externalMacro(module: "TweakMacros", type: "BoolTweakMacro")

/// The current value of a text tweak, where a constant would stand.
///
///     let glyph = #tweak("Spring", "Drawing", "Glyph", default: "●", choices: ["●", "■"])
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - default: The value of the tweak that nobody has changed, a literal.
///   - choices: The only values: an array literal, or a dictionary literal of values and what a person sees for them.
///   - description: What it does, for a person.
///   - readOnly: Whether nobody can set it.
///   - needsRestart: Whether what is set takes effect at the next start of the program.
///   - owner: Who looks after it.
///   - expires: The last day for which it is meant, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: String,
    choices: TweakChoices<String> = [], description: StaticString? = nil, readOnly: Bool = false,
    needsRestart: Bool = false, owner: StaticString? = nil, expires: StaticString? = nil
) -> String = #externalMacro(module: "TweakMacros", type: "StringTweakMacro")

/// The current value of a colour, where a constant would stand.
///
///     let ink: TweakColor = #tweak("Spring", "Drawing", "Ink", default: TweakColor(red: 51, green: 102, blue: 204))
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - default: The value of the tweak that nobody has changed, `TweakColor(red:green:blue:alpha:)` of literals.
///   - description: What it does, for a person.
///   - readOnly: Whether nobody can set it.
///   - needsRestart: Whether what is set takes effect at the next start of the program.
///   - owner: Who looks after it.
///   - expires: The last day for which it is meant, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: TweakColor,
    description: StaticString? = nil, readOnly: Bool = false,
    needsRestart: Bool = false, owner: StaticString? = nil, expires: StaticString? = nil
) -> TweakColor = #externalMacro(module: "TweakMacros", type: "ColorTweakMacro")
#endif
