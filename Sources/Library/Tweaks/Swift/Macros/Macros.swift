// SPDX-License-Identifier: BSD-3-Clause
#if Macros
/// Sets the name under which people know the program and its overrides and presets are stored, in place of the executable's.
///
///     #tweakApplication("maze")
///
/// Write it in a file or a type, once in a program. The name is a literal of 1 to 200 bytes without a slash. It is for
/// programs whose executable is named after something else, such as `main`, and for libraries that a host loads. If several
/// images have a name when the library starts, the first one counts, and the executable comes before all others.
/// `TWEAKS_APPLICATION` in the environment takes precedence. In a release build nothing is left of it.
@freestanding(declaration)
public macro tweakApplication(_ name: StaticString) =
    #externalMacro(module: "TweakMacros", type: "TweakApplicationMacro")

/// The only place where new values of a category's tweaks are stored: the top of a control loop, a frame or an audio callback.
///
///     while true {
///         #tweakGate("Motor", "PID")
///         let p = Motor.p, i = Motor.i
///
/// Values that are set together are stored in one pass, by the thread that passes, so what it reads between two passes
/// belongs together. If nothing waits, the gate is one load and a branch; otherwise it is at most 64 stores, without a
/// lock, an allocation or waiting. One thread passes a gate, and reads its tweaks. In a release build nothing is left
/// of it.
///
/// - Parameters:
///   - category: The category, as a literal.
///   - collection: The collection, as a literal; without it the gate is for the whole category.
@freestanding(expression)
public macro tweakGate(_ category: StaticString, _ collection: StaticString? = nil) =
    #externalMacro(module: "TweakMacros", type: "TweakGateMacro")
#endif

/// The choices of a tweak, as a literal: `[1, 2, 4]`, or `[1: "low", 2: "high"]` with labels.
///
/// The macros read the literal at compile time; the value holds nothing.
public struct TweakChoices<Value>: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// Choices without labels.
    public init(arrayLiteral choices: Value...) {}
    /// Choices and their labels.
    public init(dictionaryLiteral choices: (Value, String)...) {}
}

/// The states of a monitor, as a literal: `["idle", "running"]` for 0 and 1, or `[0: "idle", 4: "running"]`.
///
/// The macros read the literal at compile time; the value holds nothing.
public struct TweakStates: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, Sendable {
    /// The names of 0, 1, 2, …
    public init(arrayLiteral names: String...) {}
    /// Numbers and their names.
    public init(dictionaryLiteral states: (Int, String)...) {}
}
