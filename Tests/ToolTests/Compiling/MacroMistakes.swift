// SPDX-License-Identifier: BSD-3-Clause
/// A line with a mistake in the use of the macros.
struct MacroMistake {
    let line: String
    /// What the compiler says of it.
    let message: String
    /// The line as the compiler would mend it; `nil` if it cannot know what was meant.
    let mended: String?

    static let all = [
        values, types, limits, choices, options, names, places, variables, groups, ownGroups, actions,
        monitors,
    ].flatMap(\.self)

    /// What the lines need.
    static let declarations = """
        import Tweaks
        enum Plain: String { case first }
        enum Curve: String, CaseIterable, TweakableEnum { case linear, easeIn }
        enum Level: Int, CaseIterable, TweakableEnum { case low = 1, high }
        struct Angle: TweakableRawRepresentable {
            var rawValue: Double
            static let right = Angle(rawValue: 90)
        }
        struct Own: TweakableValue {
            static var tweakType: TweakType { .double }
            init?(tweakValue: TweakValue) {}
            init() {}
            var tweakValue: TweakValue { 1.0 }
        }
        let number = 5, small: UInt8 = 5, flag = true, text = "text", word: StaticString = "word"
        let list = [5], scale = TweakScale.log, range = 0...1, curve = Curve.linear, own = Own(), spring = TweakSpring()
        nonisolated(unsafe) let numbers: TweakChoices<Int> = []
        @Sendable func act() {}

        """

    /// A function with a `#tweak`, with some arguments behind the names.
    private static func tweak(_ arguments: String, _ message: String, _ mended: String? = nil) -> MacroMistake
    {
        MacroMistake(line: tweak(arguments), message: message, mended: mended.map(tweak))
    }

    private static func tweak(_ arguments: String) -> String {
        "static func use() { _ = #tweak(\"A\", \"B\", \"C\", \(arguments)) }"
    }

    /// A constant of a type with a `#tweak`, with some arguments behind the names.
    private static func typed(
        _ type: String, _ arguments: String, _ message: String, _ mended: String? = nil
    ) -> MacroMistake {
        func line(_ arguments: String) -> String {
            "static let value: \(type) = #tweak(\"A\", \"B\", \"C\", \(arguments))"
        }
        return MacroMistake(line: line(arguments), message: message, mended: mended.map(line))
    }

    /// An enumeration with a `@Tweakable`, with some arguments behind the names.
    private static func property(
        _ variable: String, _ options: String = "", says message: String, mended: String? = nil,
        mendedOptions: String? = nil
    ) -> MacroMistake {
        MacroMistake(
            line: property(variable, options), message: message,
            mended: mended == nil && mendedOptions == nil
                ? nil : property(mended ?? variable, mendedOptions ?? options))
    }

    static func property(_ variable: String, _ options: String = "") -> String {
        "enum Holder { @Tweakable(\"A\", \"B\", \"C\"\(options)) \(variable) }"
    }

    private static let outside = "the default is outside the limits; allowed: "

    private static let values = [
        tweak("default: number", "the default must be a number literal"),
        tweak("default: 2 + 3", "the default must be a number literal; 2 + 3 is 5", "default: 5"),
        tweak("default: 3 * 60", "the default must be a number literal; 3 * 60 is 180", "default: 180"),
        tweak("default: 3 * (60 - 0x10) / 4", "3 * (60 - 0x10) / 4 is 33", "default: 33"),
        tweak("default: 1.5 * 60", "1.5 * 60 is 90.0", "default: 90.0"),
        tweak("default: 1 << 20", "1 << 20 is 1048576", "default: 1048576"),
        tweak(
            "default: 60, in: 0...3 * 60", "the maximum must be a number literal", "default: 60, in: 0...180"),
        tweak("default: 7 / 2", "the default must be a number literal"),
        tweak("default: 5 / 0", "the default must be a number literal"),
        tweak("default: 5.0 / 0", "the default must be a number literal"),
        tweak("default: 2 * number", "the default must be a number literal"),
        tweak(
            "default: 0x7fffffffffffffff * 0x7fffffffffffffff * 9 * 9", "the default must be a number literal"
        ),
        tweak("default: text", "the default must be a string literal without interpolation"),
        tweak(#"default: "\(number)""#, "the default must be a string literal without interpolation"),
        tweak(#"default: "a\0b""#, "the default cannot contain a NUL", #"default: "ab""#),
        tweak(##"default: #"a"\#0"#"##, "the default cannot contain a NUL", ##"default: #"a""#"##),
        tweak("default: flag", "the default must be true or false"),
        tweak("default: 300 as Int8", "the default must be a number literal"),
        tweak("default: Duration.seconds(number)", "the default must be a duration of a literal"),
        tweak(
            "default: TweakColor(red: 1, green: 2, blue: small)", "the default must be TweakColor(red: 255"),
        tweak("default: curve", "the default must be a case, such as .first, or Type(rawValue: …)"),
        tweak(
            "default: Level.high", "a macro does not see the raw value of .high; list all cases in choices:",
            #"default: Level.high, choices: [<#raw value#>: "high"]"#),
        tweak(
            #"default: Level.high, choices: [1: "low"]"#,
            "a macro does not see the raw value of .high; list all cases in choices:"),
        tweak(
            "default: Angle.right",
            "a macro does not see the raw value of .right; write Type(rawValue: …) of a literal"),
        tweak("default: Angle(rawValue: Double(number))", "the raw value must be a number literal"),
        property(
            "static var value: Level = .high", ", choices: [1: \"low\"]",
            says: "a macro does not see the raw value of .high"),
        typed(
            "UInt8?", "default: nil",
            "nil is the default of an optional Bool, Int, Float, Double or String, with limits of its type"),
        typed(
            "Int?", "default: nil, in: 0.5...10", "Double or String, with limits of its type"),
        typed(
            "Double?", "default: nil, in: 5...1", "the minimum is above the maximum",
            "default: nil, in: 1...5"),
        property(
            "static var value: Duration? = nil",
            says: "Duration? cannot be a tweak with this value; a tweak is"),
        property(
            "static var value: Double? = 5", ", in: 0...1", says: "the default is outside the limits",
            mended: "static var value: Double? = 1.0"),
        property(
            "static var value: UInt8?", says: "the var needs a value, which is the tweak's default",
            mended: "static var value: UInt8? = <#default#>"),
    ]

    private static let types = [
        tweak("default: [true]", "a tweak is a Bool, an integer of up to 64 bits, a Float"),
        tweak("default: [1: 2]", "a tweak is a Bool, an integer of up to 64 bits, a Float"),
        tweak("default: [number]", "an element must be a number literal"),
        tweak(
            "default: [1, 20], in: 0...9",
            "the default is outside the limits; allowed: a JSON array, each element an integer from 0 to 9"),
        tweak("default: [1, 2], choices: [[1]]", "an array has no choices", "default: [1, 2]"),
        tweak("default: [1, 2], step: 1", "only a number has limits and a step", "default: [1, 2]"),
        tweak("default: [1, 2], unit: \"m\"", "only a number has a unit", "default: [1, 2]"),
        tweak("default: [\"a\"], in: 0...9", "only a number has limits and a step", "default: [\"a\"]"),
        tweak(
            "default: [1, 2 * 3]", "an element must be a number literal; 2 * 3 is 6", "default: [1, 6]"),
        property("static var value = [1, 20]", ", in: 0...9", says: "the default is outside the limits"),
        property("static var value: [Int] = list", says: "the default must be an array of literals"),
        property("static var value: [Int] = [number]", says: "an element must be a number literal"),
        property("static var value: [Int] = [1, \"a\"]", says: "cannot convert value of type 'String'"),
        property(
            "static var value: [Float] = [1]", says: "[Float] cannot be a tweak with this value; a tweak is"),
        property("static var value = []", says: "empty collection literal requires an explicit type"),
        tweak(
            "default: Plain.first",
            "Plain must be a TweakableEnum, as in enum Plain: String, CaseIterable, TweakableEnum, or"),
        tweak("default: own", "a tweak is a Bool, an integer of up to 64 bits, a Float"),
        MacroMistake(
            line: #"static let tiny: Int8 = #tweak("A", "B", "C", default: 128)"#,
            message: "the default does not fit the type Int8",
            mended: #"static let tiny: Int8 = #tweak("A", "B", "C", default: 127)"#),
        MacroMistake(
            line: #"static let tiny: UInt8 = #tweak("A", "B", "C", default: -1)"#,
            message: "the default does not fit the type UInt8",
            mended: #"static let tiny: UInt8 = #tweak("A", "B", "C", default: 0)"#),
        MacroMistake(
            line: #"static let tiny: UInt8 = #tweak("A", "B", "C", default: 1, in: 0...256)"#,
            message: "the maximum does not fit the type UInt8",
            mended: #"static let tiny: UInt8 = #tweak("A", "B", "C", default: 1, in: 0...255)"#),
        MacroMistake(
            line: #"static let real: Float = #tweak("A", "B", "C", default: 1e39)"#,
            message: "the default does not fit the type Float", mended: nil),
        property(
            "static var value: UInt8 = 300", says: "the default does not fit the type UInt8",
            mended: "static var value: UInt8 = 255"),
        property("static var value: Own = Own()", says: "a tweak is a Bool, an integer of up to 64 bits"),
        typed("Character", #"default: "a""#, "a tweak is a Bool, an integer of up to 64 bits, a Float"),
        tweak("default: 5, precision: 1", "only a floating-point number has a precision", "default: 5"),
        tweak(
            "default: Plain.first, in: 0...1",
            "Plain must be a TweakableEnum, as in enum Plain: String, CaseIterable, TweakableEnum, or another "
                + "TweakableRawRepresentable, and in: have its raw values"),
        tweak(
            #"default: Curve.linear, choices: [1: "linear"]"#,
            "TweakableRawRepresentable, and choices: have its raw values"),
    ]

    private static let limits = [
        tweak("default: 5, in: number...10", "the minimum must be a number literal"),
        tweak("default: 5, in: 0...number", "the maximum must be a number literal"),
        tweak("default: 5, in: range", "the limits must be a range of two literals, such as 0...10"),
        tweak("default: 5, in: 0...", "a maximum is missing", "default: 5, in: 0...<#maximum#>"),
        tweak("default: 5, in: ...10", "a minimum is missing", "default: 5, in: <#minimum#>...10"),
        tweak("default: 5, in: ..<10", "a minimum is missing"),
        property(
            "static var value = 5", ", in: 0...", says: "a maximum is missing",
            mendedOptions: ", in: 0...<#maximum#>"),
        tweak("default: 5, in: 0..<10", "the limits must be a range of", "default: 5, in: 0...9"),
        tweak("default: 5.0, in: 0..<10.0", "the limits must be a range of", "default: 5.0, in: 0...10.0"),
        property(
            "static var value = 5", ", in: -10..<0x10", says: "the limits must be a range of",
            mendedOptions: ", in: -10...15"),
        tweak("default: 5, in: 10...0", "the minimum is above the maximum", "default: 5, in: 0...10"),
        tweak("default: 1.2, in: 1.5...1", "the minimum is above the maximum", "default: 1.2, in: 1...1.5"),
        property(
            "static var value = 5", ", in: 7...0", says: "the minimum is above the maximum",
            mendedOptions: ", in: 0...7"),
        tweak("default: 5, in: 6...7", outside + "an integer from 6 to 7", "default: 6, in: 6...7"),
        tweak("default: 5.5, in: 1...5", outside + "a number from 1.0 to 5.0", "default: 5.0, in: 1...5"),
        tweak(
            "default: Angle(rawValue: -5), in: 0...360, step: 5", outside + "a number from 0.0 to 360.0",
            "default: Angle(rawValue: 0.0), in: 0...360, step: 5"),
        tweak(
            "default: Duration.seconds(9), in: .zero ... (.seconds(5))", outside + "a number from 0.0 to 5.0",
            "default: Duration.seconds(5), in: .zero ... (.seconds(5))"),
        property(
            "static var value = 5", ", in: 6...7", says: outside + "an integer from 6 to 7",
            mended: "static var value = 6"),
        tweak(
            #"default: "text", in: 0...1"#, "only a number has limits and a step", #"default: "text""#),
        tweak("default: true, in: 0...1", "only a number has limits and a step", "default: true"),
        tweak("default: true, step: 1", "only a number has limits and a step", "default: true"),
        property(
            "static var value = true", ", step: 1, owner: \"us\"",
            says: "only a number has limits and a step",
            mendedOptions: ", owner: \"us\""),
        tweak(
            "default: 5, in: 0...10, choices: [5]", "a tweak has limits or choices, not both",
            "default: 5, choices: [5]"),
        typed("Int", "default: 5, in: 0.5...10", "the minimum must be an integer, because the tweak is one"),
        typed("Int", "default: 5, step: 0.5", "the step must be an integer, because the tweak is one"),
        property(
            "static var value = 5", ", in: 0...9.5",
            says: "the maximum must be an integer, because the tweak is"),
        typed("Duration", "default: .seconds(5), in: 0...10", "the minimum must be a duration of a literal"),
        tweak(#"default: 5, in: "0...10""#, "the limits must be a range of two literals, such as 0...10"),
        tweak("default: 5, in: (0, 10)", "the limits must be a range of two literals, such as 0...10"),
        tweak("default: 5, in: 10", "the limits must be a range of two literals, such as 0...10"),
        property(
            "static var value = 5", #", in: "0...10""#, says: "the limits must be a range of two literals"),
    ]

    private static let choices = [
        tweak("default: 5, choices: [4, 6]", outside + "one of 4, 6", "default: 5, choices: [4, 6, 5]"),
        tweak(
            #"default: "a", choices: ["b": "a"]"#, outside + #"one of "b" (a)"#,
            #"default: "a", choices: ["b": "a", "a": ""]"#),
        tweak(
            #"default: Curve.easeIn, choices: ["linear"]"#, outside + #"one of "linear""#,
            #"default: Curve.easeIn, choices: ["linear", "easeIn"]"#),
        tweak("default: 5, choices: [5, number]", "a choice must be a number literal"),
        tweak("default: 5, choices: numbers", "the choices must be an array of literals, or a dictionary"),
        tweak("default: 5, choices: [:]", "the choices must be an array of literals", "default: 5"),
        tweak("default: 5, choices: []", "the choices must be an array of literals", "default: 5"),
        tweak(#"default: 5, choices: [5: "\0"]"#, "a label cannot contain a NUL"),
        tweak(
            #"default: 5, choices: [5: "five\0"]"#, "a label cannot contain a NUL",
            #"default: 5, choices: [5: "five"]"#),
        property(
            "static var value = true", ", choices: [true]", says: "only numbers and texts have choices",
            mendedOptions: ""),
        property(
            "static var value = 5", ", choices: [5, \"six\"] as [Any]", says: "the choices must be an array"),
        tweak(#"default: 5, choices: [5, "six"]"#, "a choice must be a number literal"),
        tweak(#"default: "a", choices: [5, 6]"#, "a choice must be a string literal"),
        tweak("default: 5, choices: 0...9", "the choices must be an array of literals, or a dictionary"),
        tweak("default: 5, choices: [5, 6, 5]", "two choices are 5"),
        tweak(#"default: "a", choices: ["a": "x", "b": "x"]"#, "two choices have the label x"),
        property(
            "static var value = 1", #", choices: [1: "x", 0x1: "y"]"#, says: "two choices are 1"),
        property(
            "static var value = 5", ", choices: [5, \"six\"]", says: "a choice must be a number literal"),
    ]

    private static let date = "a date is written as 2027-01-31"

    private static let needsMinimum = "a logarithmic scale needs a minimum above 0"

    private static let options = [
        tweak("default: 5, step: 0", "the step must be more than 0", "default: 5"),
        tweak("default: 5.0, step: -0.5", "the step must be more than 0", "default: 5.0, step: 0.5"),
        tweak("default: Duration.zero, step: .seconds(-1)", "the step must be more than 0"),
        tweak("default: 5, step: number", "the step must be a number literal"),
        tweak(
            "default: 5.0, precision: 18", "the precision must be a literal from 0",
            "default: 5.0, precision: 17"),
        tweak(
            "default: 5.0, precision: -1", "the precision must be a literal from 0",
            "default: 5.0, precision: 0"),
        tweak("default: 5.0, precision: number", "the precision must be a literal from 0 to 17"),
        tweak("default: true, precision: 1", "only a floating-point number has a precision", "default: true"),
        property(
            "static var value = 5", ", precision: 1", says: "only a floating-point number has a precision",
            mendedOptions: ""),
        tweak("default: 5, in: 0...9, scale: .log", needsMinimum, "default: 5, in: 0...9"),
        tweak("default: 5.0, scale: .log", needsMinimum, "default: 5.0"),
        tweak(
            "default: Duration.seconds(1), in: .zero ... (.seconds(5)), scale: .log", needsMinimum,
            "default: Duration.seconds(1), in: .zero ... (.seconds(5))"),
        tweak("default: 5, choices: [5], scale: .log", needsMinimum, "default: 5, choices: [5]"),
        tweak("default: 5, in: 1...9, scale: scale", "the scale must be .linear or .log"),
        tweak("default: true, scale: .linear", "only a number has a scale", "default: true"),
        property("static var value = 5", ", scale: .log", says: needsMinimum, mendedOptions: ""),
        property(
            "static var value = true", ", scale: .log", says: "only a number has a scale", mendedOptions: ""),
        tweak(#"default: true, pair: "D""#, "only a number has a pair", "default: true"),
        tweak(#"default: 5, pair: "C""#, "a pair is the name of another tweak", "default: 5"),
        tweak(#"default: 5, pair: """#, "a pair is the name of another tweak", "default: 5"),
        tweak("default: 5, pair: word", "the name of a pair must be a string literal"),
        tweak("default: 5, readOnly: flag", "readOnly must be true or false"),
        tweak("default: 5, needsRestart: flag", "needsRestart must be true or false"),
        tweak(#"default: 5, unit: "k\0g""#, "a unit cannot contain a NUL", #"default: 5, unit: "kg""#),
        tweak("default: 5, unit: word", "a unit must be a string literal"),
        tweak(#"default: 5, description: "\0""#, "a description cannot contain a NUL"),
        tweak(#"default: 5, owner: "\0""#, "an owner cannot contain a NUL"),
        tweak(#"default: 5, expires: "2027-1-31""#, date, #"default: 5, expires: "2027-01-31""#),
        tweak(#"default: 5, expires: "2027/01/31""#, date, #"default: 5, expires: "2027-01-31""#),
        tweak(#"default: 5, expires: "31.1.2027""#, date, #"default: 5, expires: "2027-01-31""#),
        tweak(#"default: 5, expires: "1/2/2027""#, date),
        tweak(#"default: 5, expires: "2027-13-31""#, date),
        tweak(#"default: 5, expires: "2027-01-00""#, date),
        tweak(#"default: 5, expires: "soon""#, date),
        tweak(#"default: 5, expires: """#, date, "default: 5"),
        property(
            "static var value = 5", ", expires: \"2027-1-1\"", says: date,
            mendedOptions: ", expires: \"2027-01-01\""),
        tweak(#"default: 5.0, precision: "1""#, "the precision must be a literal from 0 to 17"),
        tweak("default: 5, unit: 5", "a unit must be a string literal"),
        tweak("default: 5, readOnly: 1", "readOnly must be true or false"),
        tweak("default: 5, owner: 5", "an owner must be a string literal"),
        tweak(#"default: "a", unit: "mm""#, "only a number has a unit", #"default: "a""#),
        property(
            "static var value = true", #", unit: "mm""#, says: "only a number has a unit", mendedOptions: ""),
        property("static var value = 5", ", unit: 5", says: "a unit must be a string literal"),
        property("static var value = 5", ", readOnly: 1", says: "readOnly must be true or false"),
    ]

    private static let names = [
        MacroMistake(
            line: #"static func use() { _ = #tweak("", "B", "C", default: 5) }"#,
            message: "a category, collection or name cannot be empty", mended: nil),
        MacroMistake(
            line: #"static func use() { _ = #tweak("A", "B", "", default: 5) }"#,
            message: "a category, collection or name cannot be empty", mended: nil),
        MacroMistake(
            line: #"static func use() { _ = #tweak("A", "B\0", "C", default: 5) }"#,
            message: "a category, collection or name cannot contain a NUL",
            mended: #"static func use() { _ = #tweak("A", "B", "C", default: 5) }"#),
        MacroMistake(
            line: #"static func use() { _ = #tweak("A", word, "C", default: 5) }"#,
            message: "a category, collection or name must be a string literal without interpolation",
            mended: nil),
        MacroMistake(
            line: #"enum Holder { #tweakAction("A", "B", "") {} }"#,
            message: "a category, collection or name cannot be empty", mended: nil),
        MacroMistake(
            line: #"static func use() { _ = #tweak("A", "B", default: 5) }"#,
            message: "three names are needed",
            mended: nil),
        MacroMistake(
            line: #"static func use() { _ = #tweak("A", "B", 3, default: 5) }"#,
            message: "a category, collection or name must be a string literal", mended: nil),
        MacroMistake(
            line: #"enum Holder { @Tweakable("A", "B") static var value = 5 }"#,
            message: "three names are needed", mended: nil),
        MacroMistake(
            line: "enum Holder { @Tweakable static var value = 5 }", message: "three names are needed",
            mended: nil),
        MacroMistake(
            line: #"static let value = #feature("", default: true)"#,
            message: "a category, collection or name cannot be empty", mended: nil),
        MacroMistake(
            line: "static let value = #feature(word, part: nil, default: true)",
            message: "a category, collection or name must be a string literal", mended: nil),
        MacroMistake(
            line: "static let value = #feature(text, default: true)",
            message: "cannot convert value of type 'String' to expected argument type 'StaticString'",
            mended: nil),
        MacroMistake(
            line: ##"static func use() { #tweakGate("A", "") }"##,
            message: "a category or collection cannot be empty", mended: nil),
    ]

    private static let generic = "a tweak cannot be in a generic function or type; "

    private static let places = [
        MacroMistake(
            line:
                #"static func use<T>(_: T) { let _: Float = #tweak("A", "B", "C", default: 5, in: 0...9) }"#,
            message: generic
                + #"declare @Tweakable("A", "B", "C", in: 0...9) var value: Float = 5 outside of it, and read that"#,
            mended: nil),
        MacroMistake(
            line: #"static func use(_: some Sendable) { _ = #tweak("A", "B", "C", default: Curve.linear) }"#,
            message: generic + #"declare @Tweakable("A", "B", "C") var value = Curve.linear outside of it"#,
            mended: nil),
        MacroMistake(
            line: #"@inlinable public static func use() -> Int { #tweak("A", "B", "C", default: 5) }"#,
            message: "a tweak cannot be in an @inlinable function, which other modules compile too; declare "
                + #"@Tweakable("A", "B", "C") var value: Int = 5 outside of it, and read that here; it is public"#,
            mended: nil),
        MacroMistake(
            line: #"struct Box<T> { @Tweakable("A", "B", "C") static var value = 5 }"#,
            message: generic + "declare it in the file, or in a type and function that are not generic",
            mended: nil),
        MacroMistake(
            line: #"struct Box<T> { #tweakAction("A", "B", "C") {} }"#,
            message: generic + "write #tweakAction outside of it", mended: nil),
        MacroMistake(
            line: #"subscript(_: some Sendable) -> Int { #tweak("A", "B", "C", default: 5) }"#,
            message: generic, mended: nil),
        MacroMistake(
            line: #"init(_: some Sendable) { #tweakMonitor("A", "B", "C", 5) }"#,
            message: generic + "store it in one that is not", mended: nil),
        MacroMistake(
            line:
                #"static func use(_ n: Int = #tweak("A", "B", "C", default: 5)) {}; static func call() { use() }"#,
            message: "a tweak cannot be a default argument, because Swift expands it in each caller; declare "
                + #"@Tweakable("A", "B", "C") var value: Int = 5 outside of it, and read that here"#,
            mended: nil),
    ]

    private static let variables = [
        property(
            "static let value = 5", says: "cannot expand accessor macro on variable declared with 'let'",
            mended: "static var value = 5"),
        property(
            "static var value: String = 5", says: "cannot convert value of type 'Int' to specified type"),
        property(
            "static var value: Bool = 1", says: "integer literal value '1' cannot be used as a boolean",
            mended: "static var value: Bool = true"),
        property("static var value = nil", says: "'nil' requires a contextual type"),
        property(
            "static var value = 5", ", default: 5", says: "the default is the value of the var",
            mendedOptions: ""),
        property(
            "static var value = 5 { didSet {} }", says: "only a stored var with one name can be a tweak"),
        property("static var value: Int { 5 }", says: "only a stored var with one name can be a tweak"),
        property(
            "var value = 5", says: "only a static or a global var can be a tweak",
            mended: "static var value = 5"),
        property(
            "private var value = 5", says: "only a static or a global var can be a tweak",
            mended: "private static var value = 5"),
        MacroMistake(
            line:
                #"static func use() { @Tweakable("A", "B", "C", in: 0...9) var value: UInt8 = 5; _ = value }"#,
            message: "only a static or a global var can be a tweak",
            mended:
                #"static func use() { let value: UInt8 = #tweak("A", "B", "C", default: 5, in: 0...9); _ = value }"#
        ),
        property(
            "static var value: Int", says: "the var needs a value, which is the tweak's default",
            mended: "static var value: Int = <#default#>"),
        property("static var value = 3 * 60", says: "3 * 60 is 180", mended: "static var value = 180"),
        property(
            "static var value: Float = 3 * 60", says: "3 * 60 is 180", mended: "static var value: Float = 180"
        ),
        property("static var value = number", says: "the value must be a literal; write the type"),
    ]

    private static let groups = [
        property(
            "static var value = TweakSpring()", ", in: 0...1, owner: \"us\"",
            says: "the tweaks of a group have an in: of their own", mendedOptions: ", owner: \"us\""),
        property(
            "static var value: TweakShadow = .shadow", ", choices: [1]",
            says: "the tweaks of a group have a choices: of their own", mendedOptions: ""),
        property(
            "static var value = TweakSpring(mass: Double(number))",
            says: "the default must be a number literal"),
        property(
            "static var value: TweakSpring = spring", says: "the default must be TweakSpring(…) of literals"),
        tweak(
            "default: TweakSpring(mass: 5), owner: \"us\"",
            "a TweakSpring is not a single tweak; declare @Tweakable(\"A\", \"B\", \"C\", owner: \"us\") var value = "
                + "TweakSpring(mass: 5) outside of functions, and read that here"),
    ]

    private static let ownGroups = [
        own("@TweakGroup class Own { var left = 8.0 }", "only a struct can be a group of tweaks"),
        own("@TweakGroup struct Own { let left = 8.0 }", "a group of tweaks needs a stored var"),
        own("@TweakGroup struct Own { var (left, right) = (8, 8) }", "a field is a var with one name"),
        own(
            "@TweakGroup struct Own { var left = 8, right = 8; \(fields) }",
            #"right is in none of the fields; add TweakField("Right", \.right), or make it a let"#),
        own(
            "@TweakGroup struct Own { @TweakField(in: 0...9) var left = 8; \(fields) }",
            "the struct declares fields itself; give a field its options there"),
        own("struct Own { @TweakField(in: 0...9) var left = 8 }", field),
        own("@TweakGroup struct Own { var left = 8; @TweakField(in: 0...9) let right = 8 }", field),
        own("@TweakGroup struct Own { var left = 8; @TweakField(in: 0...9) static let right = 8 }", field),
    ]

    private static let fields = #"static let fields: [TweakField<Self>] = [TweakField("Left", \.left)]"#
    private static let field = "a field is a stored var of a struct with @TweakGroup"

    private static func own(_ line: String, _ message: String) -> MacroMistake {
        MacroMistake(line: line, message: message, mended: nil)
    }

    private static let actions = [
        MacroMistake(
            line: #"enum Holder { #tweakAction("A", "B", "C", action: act) }"#,
            message: "the action must be a closure",
            mended: #"enum Holder { #tweakAction("A", "B", "C", action: { act() }) }"#),
        MacroMistake(
            line: #"enum Holder { #tweakAction("A", "B", "C", action: flag ? act : act) }"#,
            message: "the action must be a closure", mended: nil),
        MacroMistake(
            line: #"enum Holder { #tweakAction("A", "B", "C", expires: "") {} }"#, message: date,
            mended: #"enum Holder { #tweakAction("A", "B", "C") {} }"#),
    ]

    private static let monitored = "only a Bool, an integer, a Float or a Double can be monitored"

    private static let monitors = [
        monitor("text", monitored),
        monitor("Optional(number)", monitored + ", with limits of its own type, and an integer with choices"),
        monitor("number, in: 0.5...2", monitored),
        monitor(#"number, in: "text""#, "the limits must be a range of two literals"),
        monitor("number, in: 0...", "a maximum is missing", "number, in: 0...<#maximum#>"),
        monitor("number, in: 3...1", "the minimum is above the maximum"),
        monitor("number, choices: [1, 2]", "the name of a state must be a string literal"),
        monitor("number, unit: 5", "a unit must be a string literal"),
    ]

    private static func monitor(_ arguments: String, _ message: String, _ mended: String? = nil)
        -> MacroMistake
    {
        func line(_ arguments: String) -> String {
            "static func use() { #tweakMonitor(\"A\", \"B\", \"C\", \(arguments)) }"
        }
        return MacroMistake(line: line(arguments), message: message, mended: mended.map(line))
    }
}
