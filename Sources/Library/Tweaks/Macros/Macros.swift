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

/// Says by which name overrides and presets of the program are kept, and people know it, instead of that of the executable.
///
///     #tweakApplication("maze")
///
/// It stands in a file or a type, once in a program. The name is a literal of 1 to 200 bytes without a slash. It is for
/// programs whose executable has the name of something else, such as `main`, and for libraries that a host loads: the
/// first image counts that has a name when the library starts, the executable before all others. `TWEAKS_APPLICATION` in
/// the environment goes before it. In a release build nothing is left of it.
@freestanding(declaration)
public macro tweakApplication(_ name: StaticString) =
    #externalMacro(module: "TweakMacros", type: "TweakApplicationMacro")

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
/// Declares an action: what people can run while the program does.
///
///     #tweakAction("Spring", "Drawing", "Clear") { canvas.clear() }
///
/// It stands in a file, a type or a function, and is there from the start of the program. The closure captures nothing,
/// and is run on the thread that calls ``TweakStore/run(_:)``, or on a thread of the library if a person asks for it. Where
/// tweaks are disabled nothing is left of it.
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - description: What it does, for a person.
///   - owner: Who looks after it.
///   - expires: The last day for which it is meant, as `2027-01-31`.
///   - action: What is run.
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
/// Running it returns when the main actor has been given the closure. Otherwise it is as
/// ``tweakAction(_:_:_:description:owner:expires:action:)``.
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - description: What it does, for a person.
///   - owner: Who looks after it.
///   - expires: The last day for which it is meant, as `2027-01-31`.
///   - actor: `MainActor.self`.
///   - action: What is run.
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
/// It is the Bool tweak `Features/Sound/enabled`, or `Features/Sound/Bass`; the names of parts of parts are in one string, with slashes
/// between them. A part is meant to be on only if the feature is, as the expression above says and
/// ``TweakStore/isFeatureEnabled(_:_:)`` does by itself.
///
/// - Parameters:
///   - feature: The feature, a string literal.
///   - part: The part of it, a string literal.
///   - default: Whether it is on unless somebody says otherwise.
///   - description: What it is, for a person, a string literal.
///   - owner: Who looks after it, a string literal.
///   - expires: The last day for which it is meant, as `YYYY-MM-DD`.
@freestanding(expression)
public macro feature(
    _ feature: String, part: String? = nil, default: Bool, description: String? = nil, owner: String? = nil,
    expires: String? = nil
) -> Bool = #externalMacro(module: "TweakMacros", type: "FeatureMacro")
/// Makes a static or global variable a tweak, and gives it a handle with `$` before the name.
///
///     enum Spring {
///         @Tweakable("Spring", "Drawing", "Gain", in: 0...1) static var gain = 0.5
///     }
///     draw(Spring.gain)               // one load
///     try Spring.$gain.set(0.75)
///
/// The variable can be read; it is set through the handle, a ``Tweak``. Its type is the one that is written, or that of
/// the literal. Where tweaks are disabled the variable is the constant, and the handle has that value and nothing else.
///
/// A type that is kept as its raw value, see ``TweakableRawRepresentable``, is written as `Angle(rawValue: 45.0)` with
/// a literal of the raw value's own type, or as a case of an enumeration. Of a case the macro sees only the name. Where
/// that is not the raw value, as with integers, the choices must say it: a dictionary literal of raw values and names of
/// cases, with all cases.
///
///     @Tweakable("Spring", "Drawing", "Level", choices: [1: "low", 2: "high"]) static var level = Level.high
///
/// ``TweakAnimation``, ``TweakSpring``, ``TweakShadow`` and ``TweakEdgeInsets`` become a tweak for each property, whose
/// names begin with that of the variable's, and the handle is a ``GroupedTweaks``. They have their own limits.
///
///     @Tweakable("UI", "Card", "Shadow") static var shadow = TweakShadow(radius: 8)
///     try $shadow.opacity.set(0.5)    // UI/Card/Shadow Opacity
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
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
@attached(accessor)
@attached(peer, names: prefixed(`$`), prefixed(__tweak_))
public macro Tweakable(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString,
    in limits: (any Sendable)? = nil,
    choices: (any Sendable)? = nil, step: (any Sendable)? = nil, precision: Int? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "TweakableMacro")
/// Makes a static or global variable of a `Duration` with limits a tweak, see
/// ``Tweakable(_:_:_:in:choices:step:precision:scale:pair:unit:description:readOnly:needsRestart:owner:expires:)``.
///
///     @Tweakable("Net", "Retry", "Delay", in: .milliseconds(10) ... .seconds(60)) static var delay: Duration = .seconds(1)
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - limits: The shortest and the longest duration, each of a literal.
///   - step: The distance between two neighbouring values on a slider or stepper, more than 0.
///   - precision: How many decimals of seconds displays show, 0 to 17.
///   - scale: `.log` for a slider that moves in equal factors, which needs a minimum above 0, or `.linear`.
///   - pair: The name of the number in its collection that is up, where this one is sideways, on a pad of both.
///   - description: What it does, for a person.
///   - readOnly: Whether nobody can set it.
///   - needsRestart: Whether what is set takes effect at the next start of the program.
///   - owner: Who looks after it.
///   - expires: The last day for which it is meant, as `2027-01-31`.
@attached(accessor)
@attached(peer, names: prefixed(`$`), prefixed(__tweak_))
public macro Tweakable(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString,
    in limits: ClosedRange<Duration>, step: Duration? = nil, precision: Int? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "TweakableMacro")
#endif

/// The choices of a tweak, as a literal: `[1, 2, 4]`, or `[1: "low", 2: "high"]` with what a person sees.
///
/// The macros take it apart while a program is compiled; it holds nothing.
public struct TweakChoices<Value>: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// Choices that people see as they are.
    public init(arrayLiteral choices: Value...) {}
    /// Choices and what people see for them.
    public init(dictionaryLiteral choices: (Value, String)...) {}
}
