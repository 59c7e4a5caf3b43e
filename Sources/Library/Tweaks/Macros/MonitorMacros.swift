#if Macros
/// Shows a Bool of the program to people: it is stored as a monitor.
///
///     #tweakMonitor("Motor", "State", "Running", speed > 0)
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - value: What is stored.
///   - description: What it says, for a person.
///   - owner: Who looks after it.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: Bool,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "BoolMonitorMacro")

/// Shows an integer of the program to people: it is stored as a monitor.
///
///     #tweakMonitor("Motor", "State", "Phase", phase, choices: ["idle", "starting", "running"])
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - value: What is stored.
///   - limits: The range in which it is drawn, two literals.
///   - choices: The names of the states 0, 1, 2, …: an array literal; or of other states, a dictionary literal.
///   - unit: What it counts, such as `rpm`.
///   - description: What it says, for a person.
///   - owner: Who looks after it.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: Int,
    in limits: ClosedRange<Int>? = nil, choices: TweakStates = [], unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "IntMonitorMacro")

/// Shows a signed integer of 8 bits of the program to people: it is stored as a monitor.
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - value: What is stored.
///   - limits: The range in which it is drawn, two literals.
///   - choices: The names of the states 0, 1, 2, …: an array literal; or of other states, a dictionary literal.
///   - unit: What it counts, such as `rpm`.
///   - description: What it says, for a person.
///   - owner: Who looks after it.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: Int8,
    in limits: ClosedRange<Int8>? = nil, choices: TweakStates = [], unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "Int8MonitorMacro")

/// Shows a signed integer of 16 bits of the program to people: it is stored as a monitor.
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - value: What is stored.
///   - limits: The range in which it is drawn, two literals.
///   - choices: The names of the states 0, 1, 2, …: an array literal; or of other states, a dictionary literal.
///   - unit: What it counts, such as `rpm`.
///   - description: What it says, for a person.
///   - owner: Who looks after it.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: Int16,
    in limits: ClosedRange<Int16>? = nil, choices: TweakStates = [], unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "Int16MonitorMacro")

/// Shows a signed integer of 32 bits of the program to people: it is stored as a monitor.
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - value: What is stored.
///   - limits: The range in which it is drawn, two literals.
///   - choices: The names of the states 0, 1, 2, …: an array literal; or of other states, a dictionary literal.
///   - unit: What it counts, such as `rpm`.
///   - description: What it says, for a person.
///   - owner: Who looks after it.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: Int32,
    in limits: ClosedRange<Int32>? = nil, choices: TweakStates = [], unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "Int32MonitorMacro")

/// Shows a signed integer of 64 bits of the program to people: it is stored as a monitor.
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - value: What is stored.
///   - limits: The range in which it is drawn, two literals.
///   - choices: The names of the states 0, 1, 2, …: an array literal; or of other states, a dictionary literal.
///   - unit: What it counts, such as `rpm`.
///   - description: What it says, for a person.
///   - owner: Who looks after it.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: Int64,
    in limits: ClosedRange<Int64>? = nil, choices: TweakStates = [], unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "Int64MonitorMacro")

/// Shows an unsigned integer of the program to people: it is stored as a monitor.
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - value: What is stored.
///   - limits: The range in which it is drawn, two literals.
///   - choices: The names of the states 0, 1, 2, …: an array literal; or of other states, a dictionary literal.
///   - unit: What it counts, such as `rpm`.
///   - description: What it says, for a person.
///   - owner: Who looks after it.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: UInt,
    in limits: ClosedRange<UInt>? = nil, choices: TweakStates = [], unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "UIntMonitorMacro")

/// Shows an unsigned integer of 8 bits of the program to people: it is stored as a monitor.
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - value: What is stored.
///   - limits: The range in which it is drawn, two literals.
///   - choices: The names of the states 0, 1, 2, …: an array literal; or of other states, a dictionary literal.
///   - unit: What it counts, such as `rpm`.
///   - description: What it says, for a person.
///   - owner: Who looks after it.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: UInt8,
    in limits: ClosedRange<UInt8>? = nil, choices: TweakStates = [], unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "UInt8MonitorMacro")

/// Shows an unsigned integer of 16 bits of the program to people: it is stored as a monitor.
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - value: What is stored.
///   - limits: The range in which it is drawn, two literals.
///   - choices: The names of the states 0, 1, 2, …: an array literal; or of other states, a dictionary literal.
///   - unit: What it counts, such as `rpm`.
///   - description: What it says, for a person.
///   - owner: Who looks after it.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: UInt16,
    in limits: ClosedRange<UInt16>? = nil, choices: TweakStates = [], unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "UInt16MonitorMacro")

/// Shows an unsigned integer of 32 bits of the program to people: it is stored as a monitor.
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - value: What is stored.
///   - limits: The range in which it is drawn, two literals.
///   - choices: The names of the states 0, 1, 2, …: an array literal; or of other states, a dictionary literal.
///   - unit: What it counts, such as `rpm`.
///   - description: What it says, for a person.
///   - owner: Who looks after it.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: UInt32,
    in limits: ClosedRange<UInt32>? = nil, choices: TweakStates = [], unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "UInt32MonitorMacro")

/// Shows an unsigned integer of 64 bits of the program to people: it is stored as a monitor.
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - value: What is stored.
///   - limits: The range in which it is drawn, two literals.
///   - choices: The names of the states 0, 1, 2, …: an array literal; or of other states, a dictionary literal.
///   - unit: What it counts, such as `rpm`.
///   - description: What it says, for a person.
///   - owner: Who looks after it.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: UInt64,
    in limits: ClosedRange<UInt64>? = nil, choices: TweakStates = [], unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "UInt64MonitorMacro")

/// Shows a floating-point number of 32 bits of the program to people: it is stored as a monitor.
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - value: What is stored.
///   - limits: The range in which it is drawn, two literals.
///   - precision: How many decimals displays show, 0 to 17.
///   - unit: What it counts, such as `rpm`.
///   - description: What it says, for a person.
///   - owner: Who looks after it.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: Float,
    in limits: ClosedRange<Float>? = nil, precision: Int? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "FloatMonitorMacro")

/// Shows a floating-point number of the program to people: it is stored as a monitor.
///
///     #tweakMonitor("Motor", "State", "Speed", speed, in: 0...8000, unit: "rpm")
///
/// Storing it is one instruction. People see the value, and its course, and nobody sets it. Where tweaks are not compiled in, the
/// value is not evaluated and nothing is left. A monitor is stored at one place of a program; of several, people see one.
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - value: What is stored.
///   - limits: The range in which it is drawn, two literals.
///   - precision: How many decimals displays show, 0 to 17.
///   - unit: What it counts, such as `rpm`.
///   - description: What it says, for a person.
///   - owner: Who looks after it.
@freestanding(expression)
public macro tweakMonitor(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ value: Double,
    in limits: ClosedRange<Double>? = nil, precision: Int? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "DoubleMonitorMacro")

/// Shows a variable of the program to people: whenever it is set, the value is stored as a monitor too.
///
///     final class Motor {
///         @TweakMonitored("Motor", "State", "Speed", in: 0...8000, unit: "rpm") var speed = 0.0
///     }
///
/// The variable stays what it is, a stored one of the type that is written or that its literal has: a Bool, an integer, a `Float` or
/// a `Double`. It can be static, global, or of an object or value, of which all store the same monitor. Where tweaks are not
/// compiled in nothing is added to it.
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - limits: The range in which it is drawn, two literals.
///   - choices: The names of the states 0, 1, 2, … of an integer: an array literal; or of other states, a dictionary literal.
///   - precision: How many decimals displays show, 0 to 17; floating point only.
///   - unit: What it counts, such as `rpm`.
///   - description: What it says, for a person.
///   - owner: Who looks after it.
@attached(accessor, names: named(didSet))
public macro TweakMonitored(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString,
    in limits: (any Sendable)? = nil, choices: TweakStates = [], precision: Int? = nil,
    unit: StaticString? = nil, description: StaticString? = nil, owner: StaticString? = nil
) = #externalMacro(module: "TweakMacros", type: "MonitoredMacro")
#endif

/// The states of a monitor, as a literal: `["idle", "running"]` for 0 and 1, or `[0: "idle", 4: "running"]`.
///
/// The macros take it apart while a program is compiled; it holds nothing.
public struct TweakStates: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, Sendable {
    /// The names of 0, 1, 2, …
    public init(arrayLiteral names: String...) {}
    /// Numbers and their names.
    public init(dictionaryLiteral states: (Int, String)...) {}
}
