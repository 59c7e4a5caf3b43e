#if Macros
public import TweakRecords

/// What is left when no other fits. The compiler plug-in says why; that it is unavailable makes the compiler prefer
/// every other that fits.
@available(*, unavailable, message: "it is not a tweak")
@freestanding(expression)
public macro tweak<Value>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Value,
    in limits: (any Sendable)? = nil, choices: (any Sendable)? = nil, step: (any Sendable)? = nil,
    precision: Int? = nil, scale: TweakScale? = nil, pair: StaticString? = nil,
    unit: StaticString? = nil, description: StaticString? = nil,
    readOnly: Bool = false, needsRestart: Bool = false, owner: StaticString? = nil,
    expires: StaticString? = nil
) -> Value = #externalMacro(module: "TweakMacros", type: "UnsupportedTweakMacro")
#endif
