// SPDX-License-Identifier: BSD-3-Clause
#if Macros
/// Names the program for people and for its overrides and presets, in place of the executable's name.
///
///     #tweakApplication("maze")
///
/// Write it in a file or a type, once per program. The name is a literal of 1 to 200 bytes without a slash.
/// Use it for an executable with a generic name, such as `main`, and for a library that other programs load.
/// If several images have a name when the library starts, the first one counts, and the executable comes
/// before all others. The environment variable `TWEAKS_APPLICATION` takes precedence. A release build
/// contains nothing of it.
@freestanding(declaration)
public macro tweakApplication(_ name: StaticString) =
    #externalMacro(module: "TweakMacros", type: "TweakApplicationMacro")

/// Stores the new values of a category's tweaks at the top of a control loop, a frame or an audio callback.
///
///     while true {
///         #tweakGate("Motor", "PID")
///         let p = Motor.p, i = Motor.i
///
/// New values take effect only here. Values that are set together are stored in one pass, by the passing
/// thread, so the values that it reads between two passes belong together. If nothing waits, a pass is one
/// load and a branch; otherwise it is at most 64 stores. It never locks, allocates or blocks. Let one thread
/// pass a gate and read its tweaks. A release build contains nothing of it.
///
/// - Parameters:
///   - category: The category, as a literal.
///   - collection: The collection, as a literal; without one the gate covers the whole category.
@freestanding(expression)
public macro tweakGate(_ category: StaticString, _ collection: StaticString? = nil) =
    #externalMacro(module: "TweakMacros", type: "TweakGateMacro")
#endif

/// The choices of a tweak, as a literal: `[1, 2, 4]`, or `[1: "low", 2: "high"]` with labels.
///
/// The macros read the literal at compile time; the value itself is empty.
public struct TweakChoices<Value>: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// Creates choices without labels.
    public init(arrayLiteral choices: Value...) {}
    /// Creates choices with labels.
    public init(dictionaryLiteral choices: (Value, String)...) {}
}

/// The states of a monitor, as a literal: `["idle", "running"]` for 0 and 1, or `[0: "idle", 4: "running"]`.
///
/// The macros read the literal at compile time; the value itself is empty.
public struct TweakStates: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, Sendable {
    /// Creates states from the names of 0, 1, 2, …
    public init(arrayLiteral names: String...) {}
    /// Creates states from numbers and their names.
    public init(dictionaryLiteral states: (Int, String)...) {}
}
