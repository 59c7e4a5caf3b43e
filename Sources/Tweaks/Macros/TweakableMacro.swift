#if Macros
/// Makes a static or global variable a tweak, and gives it a handle with `$` before the name.
///
///     enum Spring {
///         @Tweakable("Spring", "Drawing", "Gain", in: 0...1) static var gain = 0.5
///     }
///     draw(Spring.gain)               // one load
///     try Spring.$gain.set(0.75)
///
/// The variable can be read; it is set through the handle. Its type is the one that is written, or that of the literal.
/// Where tweaks are disabled the variable is the constant, and the handle has that value and nothing else.
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
