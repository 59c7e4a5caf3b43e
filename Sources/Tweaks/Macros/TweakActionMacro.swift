#if Macros
/// Declares an action: what people can run while the program does.
///
///     #tweakAction("Spring", "Drawing", "Clear") { canvas.clear() }
///
/// It stands in a file, a type or a function, and is there from the start of the program. The closure captures nothing,
/// and is run on the thread on which somebody asks. Where tweaks are disabled nothing is left of it.
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
#endif
