#if !Macros
public import TweakRecords

// What a program finds that uses the macros without the trait `Macros`: they say what is missing. An unavailable macro is not
// expanded, so any that the toolchain has can stand in for its implementation.

/// The macro without the trait `Macros`, which says that it is missing.
@available(*, unavailable, message: "macros need the trait Macros: .package(…, traits: [\"Macros\"])")
@freestanding(expression)
public macro tweak<Value>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Value,
    in limits: Any? = nil, choices: Any? = nil, step: Any? = nil, precision: Int? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> Value = #externalMacro(module: "ObservationMacros", type: "ObservableMacro")

/// The macro without the trait `Macros`, which says that it is missing.
@available(*, unavailable, message: "macros need the trait Macros: .package(…, traits: [\"Macros\"])")
@freestanding(expression)
public macro feature(
    _ feature: String, part: String? = nil, default: Bool, description: String? = nil, owner: String? = nil,
    expires: String? = nil
) -> Bool = #externalMacro(module: "ObservationMacros", type: "ObservableMacro")

/// The macro without the trait `Macros`, which says that it is missing.
@available(*, unavailable, message: "macros need the trait Macros: .package(…, traits: [\"Macros\"])")
@freestanding(expression)
public macro tweakMonitor<Value>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: Value,
    in limits: Any? = nil, choices: Any? = nil, unit: StaticString? = nil, precision: Int? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "ObservationMacros", type: "ObservableMacro")

/// The macro without the trait `Macros`, which says that it is missing.
@available(*, unavailable, message: "macros need the trait Macros: .package(…, traits: [\"Macros\"])")
@freestanding(declaration)
public macro tweakAction(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString,
    description: StaticString? = nil, owner: StaticString? = nil, expires: StaticString? = nil,
    on actor: Any? = nil, action: () -> Void
) = #externalMacro(module: "ObservationMacros", type: "ObservableMacro")

/// The macro without the trait `Macros`, which says that it is missing.
@available(*, unavailable, message: "macros need the trait Macros: .package(…, traits: [\"Macros\"])")
@freestanding(declaration)
public macro tweakApplication(_ name: StaticString) =
    #externalMacro(module: "ObservationMacros", type: "ObservableMacro")

/// The macro without the trait `Macros`, which says that it is missing.
@available(*, unavailable, message: "macros need the trait Macros: .package(…, traits: [\"Macros\"])")
@attached(accessor)
@attached(peer, names: prefixed(`$`))
public macro Tweakable(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, in limits: Any? = nil,
    choices: Any? = nil, step: Any? = nil, precision: Int? = nil, scale: TweakScale? = nil,
    pair: StaticString? = nil, unit: StaticString? = nil, description: StaticString? = nil,
    readOnly: Bool = false, needsRestart: Bool = false, owner: StaticString? = nil,
    expires: StaticString? = nil
) = #externalMacro(module: "ObservationMacros", type: "ObservationTrackedMacro")

/// The macro without the trait `Macros`, which says that it is missing.
@available(*, unavailable, message: "macros need the trait Macros: .package(…, traits: [\"Macros\"])")
@attached(accessor, names: named(didSet))
public macro TweakMonitored(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, in limits: Any? = nil,
    choices: Any? = nil, precision: Int? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "ObservationMacros", type: "ObservationTrackedMacro")
#endif
