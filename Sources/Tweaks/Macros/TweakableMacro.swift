#if Macros
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
    unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "TweakableMacro")
#endif
