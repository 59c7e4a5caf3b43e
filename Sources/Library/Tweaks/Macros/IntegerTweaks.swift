#if Macros
public import TweakRecords

/// The current value of an integer tweak, where a constant would stand.
///
///     let width = #tweak("Spring", "Drawing", "Width", default: 60, in: 20...200)
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - default: The value of the tweak that nobody has changed, a literal.
///   - limits: The smallest and the largest value, two literals.
///   - choices: The only values: an array literal, or a dictionary literal of values and what a person sees for them.
///   - step: The distance between two neighbouring values on a slider or stepper, more than 0.
///   - scale: `.log` for a slider that moves in equal factors, which needs a minimum above 0, or `.linear`.
///   - pair: The name of the number in its collection that is up, where this one is sideways, on a pad of both.
///   - unit: What its numbers count, such as `kg`.
///   - description: What it does, for a person.
///   - readOnly: Whether nobody can set it.
///   - needsRestart: Whether what is set takes effect at the next start of the program.
///   - owner: Who looks after it.
///   - expires: The last day for which it is meant, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Int,
    in limits: ClosedRange<Int>? = nil, choices: TweakChoices<Int> = [], step: Int? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> Int = #externalMacro(module: "TweakMacros", type: "IntTweakMacro")

/// The current value of a tweak that is a signed integer of 8 bits, where a constant would stand.
///
///     let level: Int8 = #tweak("Spring", "Drawing", "Level", default: 60, in: 20...100)
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - default: The value of the tweak that nobody has changed, a literal.
///   - limits: The smallest and the largest value, two literals.
///   - choices: The only values: an array literal, or a dictionary literal of values and what a person sees for them.
///   - step: The distance between two neighbouring values on a slider or stepper, more than 0.
///   - scale: `.log` for a slider that moves in equal factors, which needs a minimum above 0, or `.linear`.
///   - pair: The name of the number in its collection that is up, where this one is sideways, on a pad of both.
///   - unit: What its numbers count, such as `kg`.
///   - description: What it does, for a person.
///   - readOnly: Whether nobody can set it.
///   - needsRestart: Whether what is set takes effect at the next start of the program.
///   - owner: Who looks after it.
///   - expires: The last day for which it is meant, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Int8,
    in limits: ClosedRange<Int8>? = nil, choices: TweakChoices<Int8> = [], step: Int8? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> Int8 = #externalMacro(module: "TweakMacros", type: "Int8TweakMacro")

/// The current value of a tweak that is a signed integer of 16 bits, where a constant would stand.
///
///     let level: Int16 = #tweak("Spring", "Drawing", "Level", default: 60, in: 20...100)
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - default: The value of the tweak that nobody has changed, a literal.
///   - limits: The smallest and the largest value, two literals.
///   - choices: The only values: an array literal, or a dictionary literal of values and what a person sees for them.
///   - step: The distance between two neighbouring values on a slider or stepper, more than 0.
///   - scale: `.log` for a slider that moves in equal factors, which needs a minimum above 0, or `.linear`.
///   - pair: The name of the number in its collection that is up, where this one is sideways, on a pad of both.
///   - unit: What its numbers count, such as `kg`.
///   - description: What it does, for a person.
///   - readOnly: Whether nobody can set it.
///   - needsRestart: Whether what is set takes effect at the next start of the program.
///   - owner: Who looks after it.
///   - expires: The last day for which it is meant, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Int16,
    in limits: ClosedRange<Int16>? = nil, choices: TweakChoices<Int16> = [], step: Int16? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> Int16 = #externalMacro(module: "TweakMacros", type: "Int16TweakMacro")

/// The current value of a tweak that is a signed integer of 32 bits, where a constant would stand.
///
///     let level: Int32 = #tweak("Spring", "Drawing", "Level", default: 60, in: 20...100)
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - default: The value of the tweak that nobody has changed, a literal.
///   - limits: The smallest and the largest value, two literals.
///   - choices: The only values: an array literal, or a dictionary literal of values and what a person sees for them.
///   - step: The distance between two neighbouring values on a slider or stepper, more than 0.
///   - scale: `.log` for a slider that moves in equal factors, which needs a minimum above 0, or `.linear`.
///   - pair: The name of the number in its collection that is up, where this one is sideways, on a pad of both.
///   - unit: What its numbers count, such as `kg`.
///   - description: What it does, for a person.
///   - readOnly: Whether nobody can set it.
///   - needsRestart: Whether what is set takes effect at the next start of the program.
///   - owner: Who looks after it.
///   - expires: The last day for which it is meant, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Int32,
    in limits: ClosedRange<Int32>? = nil, choices: TweakChoices<Int32> = [], step: Int32? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> Int32 = #externalMacro(module: "TweakMacros", type: "Int32TweakMacro")

/// The current value of a tweak that is a signed integer of 64 bits, where a constant would stand.
///
///     let level: Int64 = #tweak("Spring", "Drawing", "Level", default: 60, in: 20...100)
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - default: The value of the tweak that nobody has changed, a literal.
///   - limits: The smallest and the largest value, two literals.
///   - choices: The only values: an array literal, or a dictionary literal of values and what a person sees for them.
///   - step: The distance between two neighbouring values on a slider or stepper, more than 0.
///   - scale: `.log` for a slider that moves in equal factors, which needs a minimum above 0, or `.linear`.
///   - pair: The name of the number in its collection that is up, where this one is sideways, on a pad of both.
///   - unit: What its numbers count, such as `kg`.
///   - description: What it does, for a person.
///   - readOnly: Whether nobody can set it.
///   - needsRestart: Whether what is set takes effect at the next start of the program.
///   - owner: Who looks after it.
///   - expires: The last day for which it is meant, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: Int64,
    in limits: ClosedRange<Int64>? = nil, choices: TweakChoices<Int64> = [], step: Int64? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> Int64 = #externalMacro(module: "TweakMacros", type: "Int64TweakMacro")

/// The current value of a tweak that is an unsigned integer, where a constant would stand.
///
///     let count: UInt = #tweak("Spring", "Drawing", "Count", default: 60, in: 20...200)
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - default: The value of the tweak that nobody has changed, a literal.
///   - limits: The smallest and the largest value, two literals.
///   - choices: The only values: an array literal, or a dictionary literal of values and what a person sees for them.
///   - step: The distance between two neighbouring values on a slider or stepper, more than 0.
///   - scale: `.log` for a slider that moves in equal factors, which needs a minimum above 0, or `.linear`.
///   - pair: The name of the number in its collection that is up, where this one is sideways, on a pad of both.
///   - unit: What its numbers count, such as `kg`.
///   - description: What it does, for a person.
///   - readOnly: Whether nobody can set it.
///   - needsRestart: Whether what is set takes effect at the next start of the program.
///   - owner: Who looks after it.
///   - expires: The last day for which it is meant, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: UInt,
    in limits: ClosedRange<UInt>? = nil, choices: TweakChoices<UInt> = [], step: UInt? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> UInt = #externalMacro(module: "TweakMacros", type: "UIntTweakMacro")

/// The current value of a tweak that is an unsigned integer of 8 bits, where a constant would stand.
///
///     let level: UInt8 = #tweak("Spring", "Drawing", "Level", default: 60, in: 20...200)
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - default: The value of the tweak that nobody has changed, a literal.
///   - limits: The smallest and the largest value, two literals.
///   - choices: The only values: an array literal, or a dictionary literal of values and what a person sees for them.
///   - step: The distance between two neighbouring values on a slider or stepper, more than 0.
///   - scale: `.log` for a slider that moves in equal factors, which needs a minimum above 0, or `.linear`.
///   - pair: The name of the number in its collection that is up, where this one is sideways, on a pad of both.
///   - unit: What its numbers count, such as `kg`.
///   - description: What it does, for a person.
///   - readOnly: Whether nobody can set it.
///   - needsRestart: Whether what is set takes effect at the next start of the program.
///   - owner: Who looks after it.
///   - expires: The last day for which it is meant, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: UInt8,
    in limits: ClosedRange<UInt8>? = nil, choices: TweakChoices<UInt8> = [], step: UInt8? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> UInt8 = #externalMacro(module: "TweakMacros", type: "UInt8TweakMacro")

/// The current value of a tweak that is an unsigned integer of 16 bits, where a constant would stand.
///
///     let level: UInt16 = #tweak("Spring", "Drawing", "Level", default: 60, in: 20...200)
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - default: The value of the tweak that nobody has changed, a literal.
///   - limits: The smallest and the largest value, two literals.
///   - choices: The only values: an array literal, or a dictionary literal of values and what a person sees for them.
///   - step: The distance between two neighbouring values on a slider or stepper, more than 0.
///   - scale: `.log` for a slider that moves in equal factors, which needs a minimum above 0, or `.linear`.
///   - pair: The name of the number in its collection that is up, where this one is sideways, on a pad of both.
///   - unit: What its numbers count, such as `kg`.
///   - description: What it does, for a person.
///   - readOnly: Whether nobody can set it.
///   - needsRestart: Whether what is set takes effect at the next start of the program.
///   - owner: Who looks after it.
///   - expires: The last day for which it is meant, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: UInt16,
    in limits: ClosedRange<UInt16>? = nil, choices: TweakChoices<UInt16> = [], step: UInt16? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> UInt16 = #externalMacro(module: "TweakMacros", type: "UInt16TweakMacro")

/// The current value of a tweak that is an unsigned integer of 32 bits, where a constant would stand.
///
///     let level: UInt32 = #tweak("Spring", "Drawing", "Level", default: 60, in: 20...200)
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - default: The value of the tweak that nobody has changed, a literal.
///   - limits: The smallest and the largest value, two literals.
///   - choices: The only values: an array literal, or a dictionary literal of values and what a person sees for them.
///   - step: The distance between two neighbouring values on a slider or stepper, more than 0.
///   - scale: `.log` for a slider that moves in equal factors, which needs a minimum above 0, or `.linear`.
///   - pair: The name of the number in its collection that is up, where this one is sideways, on a pad of both.
///   - unit: What its numbers count, such as `kg`.
///   - description: What it does, for a person.
///   - readOnly: Whether nobody can set it.
///   - needsRestart: Whether what is set takes effect at the next start of the program.
///   - owner: Who looks after it.
///   - expires: The last day for which it is meant, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: UInt32,
    in limits: ClosedRange<UInt32>? = nil, choices: TweakChoices<UInt32> = [], step: UInt32? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> UInt32 = #externalMacro(module: "TweakMacros", type: "UInt32TweakMacro")

/// The current value of a tweak that is an unsigned integer of 64 bits, where a constant would stand.
///
///     let level: UInt64 = #tweak("Spring", "Drawing", "Level", default: 60, in: 20...200)
///
/// - Parameters:
///   - category: The first level of the name, a string literal, as the other two.
///   - collection: The second level.
///   - name: The third level.
///   - default: The value of the tweak that nobody has changed, a literal.
///   - limits: The smallest and the largest value, two literals.
///   - choices: The only values: an array literal, or a dictionary literal of values and what a person sees for them.
///   - step: The distance between two neighbouring values on a slider or stepper, more than 0.
///   - scale: `.log` for a slider that moves in equal factors, which needs a minimum above 0, or `.linear`.
///   - pair: The name of the number in its collection that is up, where this one is sideways, on a pad of both.
///   - unit: What its numbers count, such as `kg`.
///   - description: What it does, for a person.
///   - readOnly: Whether nobody can set it.
///   - needsRestart: Whether what is set takes effect at the next start of the program.
///   - owner: Who looks after it.
///   - expires: The last day for which it is meant, as `2027-01-31`.
@freestanding(expression)
public macro tweak(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, default: UInt64,
    in limits: ClosedRange<UInt64>? = nil, choices: TweakChoices<UInt64> = [], step: UInt64? = nil,
    scale: TweakScale? = nil, pair: StaticString? = nil, unit: StaticString? = nil,
    description: StaticString? = nil, readOnly: Bool = false, needsRestart: Bool = false,
    owner: StaticString? = nil, expires: StaticString? = nil
) -> UInt64 = #externalMacro(module: "TweakMacros", type: "UInt64TweakMacro")
#endif
