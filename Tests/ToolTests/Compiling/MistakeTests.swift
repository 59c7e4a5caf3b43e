// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

/// What the compiler can know to be wrong it refuses, and says why.
@Suite struct `Mistakes in the use of fbtweak.h` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    /// Statements, and what is said of each.
    private static let statements = [
        (
            #"FBTweakValue("A\0", "B", "C", 1)"#,
            "a category, collection or name is a string literal without a NUL"
        ),
        (
            #"FBTweakValue("A", "B\0b", "C", 1)"#,
            "a category, collection or name is a string literal without a NUL"
        ),
        (
            #"FBTweakValue("A", "B", "C\0", 1)"#,
            "a category, collection or name is a string literal without a NUL"
        ),
        (
            #"FBTweakValue("A", "B", 3, 1)"#,
            "a category, collection or name is a string literal without a NUL"
        ),
        (
            #"FBTweakInline("A", "B\0b", "C", 1)"#,
            "a category, collection or name is a string literal without a NUL"
        ),
        (#"FBTweakValue("", "B", "C", 1)"#, "only a collection may be empty"),
        (#"FBTweakInline("A", "B", "", 1)"#, "only a collection may be empty"),
        ("VALUE(1.0L)", "the default must be a bool, an integer, a float, a double, a string literal or a"),
        ("VALUE(true, 0, 1)", "only a number has a minimum and a maximum"),
        (#"VALUE("text", 0, 1)"#, "only a number has a minimum and a maximum"),
        ("VALUE(FBTweakRGB(1, 2, 3), 0, 1)", "only a number has a minimum and a maximum"),
        ("VALUE(5, 0)", "minimum and maximum come together, and 0 is no option"),
        (#"VALUE(5, 0, FBTweakUnit("m"))"#, "minimum and maximum come together, and 0 is no option"),
        ("VALUE(5, FBTweakUnits(1))", "minimum and maximum come together, and FBTweakUnits(1) is no option"),
        ("VALUE(5, 0, 9, FBTweakUnits(1))", "FBTweakUnits(1) is none of FBTweakChoices, FBTweakDescription"),
        ("VALUE(1, 0, 2.5)", "minimum and maximum of an integer are integers of its type"),
        ("VALUE(1u, 0, -1)", "minimum and maximum of an integer are integers of its type"),
        ("VALUE(1u, 0.5, 2)", "minimum and maximum of an integer are integers of its type"),
        ("VALUE(5, 0, 9, FBTweakStep(2.5))", "FBTweakStep: the step of an integer is an integer of its type"),
        ("VALUE(5, 6, 7)", "the default is not between minimum and maximum"),
        ("VALUE(5.5, 1, 5)", "the default is not between minimum and maximum"),
        (#"VALUE("te\0xt")"#, "a string default cannot contain a NUL"),
        ("VALUE(5, 0, 10, 1)", "only options may follow minimum and maximum, or an option"),
        (#"VALUE(5, FBTweakUnit("m"), 0, 10)"#, "only options may follow minimum and maximum, or an option"),
        (#"VALUE(5, FBTweakUnit("m"), FBTweakReadOnly, FBTweakUnit("m"))"#, "an option is given twice"),

        ("FBTweakGate()", "FBTweakGate: the category is missing"),
        (#"FBTweakGate("")"#, "FBTweakGate: the category is empty"),
        (#"FBTweakGate("A\0")"#, "a category or collection is a string literal without a NUL"),
        (#"FBTweakGate("A", "B\0b")"#, "a category or collection is a string literal without a NUL"),
        ("FBTweakGate(text)", "a category or collection is a string literal without a NUL"),
        (#"FBTweakGate("A", 3)"#, "a category or collection is a string literal without a NUL"),
        (#"FBTweakGate("A", "B", "C")"#, "FBTweakGate: nothing may follow the collection"),
        (#"(void)FBTweakFeature("A", "on")"#, "FBTweakFeature: the default is true or false"),
        ("VALUE(5, 0, 10, FBTweakChoices(5))", "choices come instead of minimum and maximum"),
        ("VALUE(5, FBTweakChoices(4, 6))", "the default is not among the choices"),
        ("VALUE(0.5, FBTweakChoices(0.25, 1))", "the default is not among the choices"),
        (#"VALUE("a", FBTweakChoices("b", ("c", "a")))"#, "the default is not among the choices"),
        ("VALUE(true, FBTweakChoices(true, false))", "only numbers and strings have choices"),
        ("VALUE(FBTweakRGB(1, 2, 3), FBTweakChoices(1))", "only numbers and strings have choices"),
        (#"VALUE(5, FBTweakChoices(5, "six"))"#, "a choice is of another kind than the default"),
        (#"VALUE("a", FBTweakChoices("a", 6))"#, "a choice is of another kind than the default"),
        ("VALUE((uint8_t)5, FBTweakChoices(5, 300))", "a choice does not fit the type of the default"),
        ("VALUE(5u, FBTweakChoices(5, -1))", "a choice does not fit the type of the default"),
        ("VALUE(5, FBTweakChoices(5, 5.5))", "a choice does not fit the type of the default"),
        (#"VALUE("a", FBTweakChoices("a", "b\0"))"#, "a choice cannot contain a NUL"),
        (#"VALUE(5, FBTweakChoices((5, "b\0x")))"#, "a label cannot contain a NUL"),

        ("VALUE(5, FBTweakStep(0))", "a step is more than 0"),
        ("VALUE(5.0, FBTweakStep(-0.5))", "a step is more than 0"),
        (#"VALUE("text", FBTweakStep(1))"#, "only a number has a step"),
        ("VALUE(true, FBTweakStep(1))", "only a number has a step"),
        ("VALUE(5, FBTweakPrecision(1))", "only a float or double has one"),
        ("VALUE(5.0, FBTweakPrecision(18))", "it is a literal from 0 to 17"),
        ("VALUE(5.0, FBTweakPrecision(-1))", "it is a literal from 0 to 17"),
        ("VALUE(5.0, FBTweakPrecision(1 + 1))", "it is a literal from 0 to 17"),
        ("VALUE(5.0, FBTweakPrecision(0x2))", "it is a literal from 0 to 17"),
        ("VALUE(5.0, FBTweakPrecision(two))", "it is a literal from 0 to 17"),
        (#"VALUE(5, FBTweakScale("cubic"))"#, "a scale is log or linear"),
        (#"VALUE(5, 1, 9, FBTweakScale("lag"))"#, "a scale is log or linear"),
        (#"VALUE(5, 1, 9, FBTweakScale(""))"#, "a scale is log or linear"),
        (#"VALUE("text", FBTweakScale("linear"))"#, "only a number has a scale"),
        (#"VALUE(true, FBTweakScale("linear"))"#, "only a number has a scale"),
        (#"VALUE(5, FBTweakScale("log"))"#, "a logarithmic scale needs a minimum above 0"),
        (#"VALUE(5, 0, 9, FBTweakScale("log"))"#, "a logarithmic scale needs a minimum above 0"),
        (#"VALUE(5u, 0, 9, FBTweakScale("log"))"#, "a logarithmic scale needs a minimum above 0"),
        (#"VALUE(5.0, -1, 9, FBTweakScale("log"))"#, "a logarithmic scale needs a minimum above 0"),
        (#"VALUE(5, FBTweakChoices(5), FBTweakScale("log"))"#, "a logarithmic scale needs a minimum above 0"),
        (#"VALUE(5, 1, 9, FBTweakScale("log"), FBTweakScale("linear"))"#, "an option is given twice"),
        (#"VALUE(5, FBTweakPair("D"), FBTweakPair("D"))"#, "an option is given twice"),
        (#"VALUE(true, FBTweakPair("D"))"#, "only a number has a pair"),
        (#"VALUE(5, FBTweakPair(""))"#, "the name is empty"),
        (#"VALUE(5, FBTweakPair("D\0"))"#, "a name cannot contain a NUL"),
        (#"VALUE(5, FBTweakExpires("2027-1-31"))"#, "a date is written as 2027-01-31"),
        (#"VALUE(5, FBTweakExpires("2027-13-31"))"#, "a date is written as 2027-01-31"),
        (#"VALUE(5, FBTweakExpires("2027-01-00"))"#, "a date is written as 2027-01-31"),
        (#"VALUE(5, FBTweakExpires("2027/01/31"))"#, "a date is written as 2027-01-31"),
        (#"VALUE(5, FBTweakExpires("31.1.2027"))"#, "a date is written as 2027-01-31"),
        (#"VALUE(5, FBTweakExpires(""))"#, "a date is written as 2027-01-31"),
        (#"VALUE(5, FBTweakUnit("k\0g"))"#, "a unit cannot contain a NUL"),
        (#"VALUE(5, FBTweakDescription("\0"))"#, "a description cannot contain a NUL"),
        (#"VALUE(5, FBTweakOwner("me\0"))"#, "an owner cannot contain a NUL"),

        ("BIND(level, 300)", "the default does not fit the variable"),
        ("BIND(level, -1)", "the default does not fit the variable"),
        ("BIND(level, 1.5)", "the default does not fit the variable"),
        ("BIND(flag, 2)", "the default does not fit the variable"),
        (#"BIND(level, "text")"#, "the default is of another kind than the variable"),
        ("BIND(text, 0)", "the default is of another kind than the variable"),
        ("BIND(ratio, FBTweakRGB(1, 2, 3))", "the default is of another kind than the variable"),
        ("BIND(color, 0xffffff)", "the default is of another kind than the variable"),
        ("BIND(level, 200, 0, 100)", "the default is not between minimum and maximum"),
        ("BIND(address, 0)", "the default must be a bool, an integer, a float, a double, a string literal"),

        ("MONITOR(text)", "FBTweakMonitor: the value must be a bool, an integer, a float or a double"),
        ("MONITOR(color)", "FBTweakMonitor: the value must be a bool, an integer, a float or a double"),
        ("MONITOR(level, FBTweakStep(1))", "a monitor has only a description, an owner, a unit, a precision"),
        (
            "MONITOR(level, FBTweakReadOnly)",
            "a monitor has only a description, an owner, a unit, a precision"
        ),
        (
            #"MONITOR(level, FBTweakScale("linear"))"#,
            "a monitor has only a description, an owner, a unit, a precision"
        ),
        (
            #"MONITOR(level, FBTweakPair("D"))"#,
            "a monitor has only a description, an owner, a unit, a precision"
        ),
        ("MONITOR(level, 0)", "minimum and maximum come together"),
        ("MONITOR(level, 0, 9.5)", "minimum and maximum of an integer are integers of its type"),
        ("MONITOR(level, 9, 1)", "FBTweakMonitor: the minimum is above the maximum"),
        ("MONITOR(flag, 0, 1)", "only a number has a minimum and a maximum"),
        (#"MONITOR(level, FBTweakChoices("a", 1))"#, "the states of a monitor are all names, or all numbers"),
        ("MONITOR(level, FBTweakChoices(0, 300))", "the states of a monitor are all names, or all numbers"),
        (#"MONITOR(level, FBTweakChoices("a\0"))"#, "a choice cannot contain a NUL"),
        (#"MONITOR(level, 0, 9, FBTweakChoices("a"))"#, "choices come instead of minimum and maximum"),
        (#"MONITOR(level, FBTweakUnit("a"), FBTweakUnit("b"))"#, "an option is given twice"),
        ("MONITOR(level, FBTweakPrecision(1))", "only a float or double has one"),

        ("ACTION(with_argument)", "an action is a void (*)(void)"),
        ("ACTION(constant)", "an action is a void (*)(void)"),
        (#"ACTION(act, FBTweakUnit("m"))"#, "an action has only a description, an owner and an expiry date"),
        ("ACTION(act, FBTweakStep(1))", "an action has only a description, an owner and an expiry date"),
        ("ACTION(act, FBTweakChoices(1))", "an action has only a description, an owner and an expiry date"),
        ("ACTION(act, FBTweakReadOnly)", "an action has only a description, an owner and an expiry date"),
        (
            #"ACTION(act, FBTweakScale("linear"))"#,
            "an action has only a description, an owner and an expiry date"
        ),
        (#"ACTION(act, FBTweakPair("D"))"#, "an action has only a description, an owner and an expiry date"),
        (#"ACTION(act, FBTweakOwner("a"), FBTweakOwner("b"))"#, "an option is given twice"),
        ("ACTION(act, 1)", "only options may follow minimum and maximum, or an option"),
        (
            #"FBTweakAction("A", "B", "C\0", act)"#,
            "a category, collection or name is a string literal without a NUL"
        ),
    ]

    /// Statements whose first error is this. GCC has no more than the three lines of it in C, of which two show the place.
    private static let missing = [
        (#"(void)FBTweakValue("A", "B", "C")"#, "error: FBTweak: the default is missing"),
        (#"(void)FBTweakValue("A", "B", "C", )"#, "error: FBTweak: the default is missing"),
        (#"(void)FBTweakFeature("A", )"#, "error: FBTweak: the default is missing"),
        (#"(void)FBTweakInline("A", "B", "C")"#, "error: FBTweak: the default is missing"),
        (#"FBTweakBind(level, "A", "B", "C")"#, "error: FBTweak: the default is missing"),
        (#"FBTweakAction("A", "B", "C")"#, "error: FBTweakAction: the function is missing"),
        (#"FBTweakMonitor("A", "B", "C")"#, "error: FBTweakMonitor: the value is missing"),
    ]

    /// Defaults that look as if there were none.
    private static let given = [
        "VALUE((int)-1)", "VALUE((-1))", "VALUE(-1)", #"VALUE("")"#, #"VALUE(("a"))"#,
        "VALUE((uint8_t)1, 0, 2)",
        "VALUE(sizeof(int))", "VALUE((true))", "VALUE(!1)", "VALUE(FBTweakRGB(1, 2, 3))",
    ]

    /// Statements that some compilers refuse in their own words.
    private static let refused = [
        "VALUE(number)", "VALUE(5, number, 10)", "VALUE(text)", "VALUE(5, FBTweakChoices(5, number))",
        "VALUE(5, FBTweakStep(number))", "VALUE(5, FBTweakUnit(text))", "VALUE(5, FBTweakChoices((5, text)))",
        "VALUE(5.0, FBTweakPrecision(number))", "VALUE(5, FBTweakScale(text))", "VALUE(5, FBTweakPair(text))",
        "BIND(level, number)", "BIND(constant, 1)",
        #"FBTweakValue(text, "B", "C", 1)"#, #"FBTweakValue("A", text, "C", 1)"#,
        #"FBTweakValue("A", "B", text, 1)"#,
    ]

    private static let accepted = [
        #"VALUE(5, FBTweakUnit("m"))"#, #"VALUE(5, 1, 9, FBTweakScale("log"), FBTweakPair("D"))"#,
        "VALUE(5, 0, 10)", "BIND(level, 200, 0, 255)", "ACTION(act)",
        "MONITOR(level)", "MONITOR(ratio, -1, 1)", #"MONITOR(level, FBTweakChoices("a", "b"))"#,
        "MONITOR(level, FBTweakChoices((0, \"a\"), (4, \"b\")))", "MONITOR(number++)", "(void)level",
    ]

    private static let beforeMistakes = """
        #include <fbtweak.h>
        #include <stdbool.h>
        #define VALUE(...) ((void)FBTweakValue("A", "B", "C", __VA_ARGS__))
        #define BIND(lvalue_, ...) FBTweakBind(lvalue_, "A", "B", "C", __VA_ARGS__)
        #define ACTION(...) FBTweakAction("A", "B", "C", __VA_ARGS__)
        #define MONITOR(...) FBTweakMonitor("A", "B", "C", __VA_ARGS__)
        enum { two = 2 };
        uint8_t level;
        bool flag;
        const char *text;
        float ratio;
        fbtweak_color color;
        const int constant = 1;
        static const double constant_ratio = 5;
        #if defined(__cplusplus) && __cplusplus >= 201703L
        static constexpr double folded_ratio = 5;
        #endif
        void *address;
        extern int number;
        void act(void);
        void with_argument(int);

        """

    /// All that the compiler says of a function, which is wrong.
    private func said(
        of function: String, _ language: Language, with compiler: Compiler, _ flag: String = "-DDEBUG",
        _ standard: String? = nil
    ) throws -> String {
        let file = try home.write("mistake.\(language.suffix)", Self.beforeMistakes + function + "\n")
        let standard = standard ?? (language == .c ? "c11" : "c++17")
        do {
            return try compiler.compile(
                [file], as: language, to: home("mistake.o"),
                [flag, "-w", "-fsyntax-only", "-std=\(standard)"],
                home: home)
        } catch let error as CompilationError { return error.description }
    }

    /// The first error in each of some functions, by the place of the function.
    private func errors(
        in functions: [String], _ language: Language, with compiler: Compiler, _ flag: String = "-DDEBUG",
        level: String = "-O0"
    ) throws -> [Int: String] {
        let source =
            Self.beforeMistakes
            + functions.enumerated().map { "#line 1 \"function \($0.offset)\"\n\($0.element)\n" }.joined()
        let file = try home.write("mistakes.\(language.suffix)", source)
        var flags = [flag, level, "-fsyntax-only", language == .c ? "-std=c11" : "-std=c++17"]
        if compiler != .gcc { flags.append("-ferror-limit=0") }
        var errors: [Int: String] = [:]
        do {
            try compiler.compile([file], as: language, to: home("mistakes.o"), flags, home: home)
        } catch let error as CompilationError {
            var function = -1
            for line in error.description.split(separator: "\n") {
                // GCC says in a line of its own in which function the next errors are.
                if let named = line.firstMatch(of: /function (\d+)\b/) { function = Int(named.1) ?? -1 }
                if line.contains("error: "), errors[function] == nil { errors[function] = String(line) }
            }
        }
        return errors
    }

    private func errors(
        ofStatements statements: [String], _ language: Language, with compiler: Compiler,
        _ flag: String = "-DDEBUG", level: String = "-O0"
    ) throws -> [Int: String] {
        let functions = statements.enumerated().map { "void use_\($0.offset)(void) { \($0.element); }" }
        return try errors(in: functions, language, with: compiler, flag, level: level)
    }

    @Test(arguments: Compiler.present, Language.allCases)
    func `A tweak that cannot be is a compile error that says why`(compiler: Compiler, language: Language)
        throws
    {
        let errors = try errors(ofStatements: Self.statements.map(\.0), language, with: compiler)
        for (place, (statement, message)) in Self.statements.enumerated() {
            #expect(errors[place]?.contains(message) == true, "\(statement): \(errors[place] ?? "")")
        }
    }

    @Test(arguments: Compiler.present, Language.allCases)
    func `What is missing is said once, in a release build too`(compiler: Compiler, language: Language) throws
    {
        for flag in ["-DDEBUG", "-DDEBUG=0"] {
            for (statement, message) in Self.missing {
                let output = try said(of: "void use(void) { \(statement); }", language, with: compiler, flag)
                #expect(output.contains(message), "\(statement): \(output)")
                #expect(output.count(of: "error: ") == 1, "\(output)")
                if compiler == .gcc { #expect(!output.contains("in expansion of macro"), "\(output)") }
            }
            #expect(try errors(ofStatements: Self.given, language, with: compiler, flag).isEmpty)
        }
    }

    @Test(arguments: Language.allCases)
    func `GCC shows a mistake where a tweak is used, and not in the header`(language: Language) throws {
        let mistakes = [
            #"(void)FBTweakValue("A", "B", text, 1)"#: "a category, collection or name is a string literal",
            #"(void)FBTweakValue("A", "B", "C", number)"#: language == .c
                ? "initializer element is not constant" : "defaults, limits, steps and choices are constants",
            #"(void)FBTweakValue("A", "B", "C", 5, 6, 7)"#: "the default is not between minimum and maximum",
        ]
        for (statement, message) in mistakes {
            let output = try said(of: "void use(void) { \(statement); }", language, with: .gcc)
            #expect(output.contains(message), "\(statement): \(output)")
            #expect(
                output.count(of: "\n") <= 20 && !output.contains("in expansion")
                    && !output.contains("fbtweak.h:"), "\(output)")
        }
        let output = try said(of: #"int outside = FBTweakValue("A", "B", "C", 1);"#, language, with: .gcc)
        #expect(output.count(of: "error: ") == 1 && output.count(of: "\n") == 4, "\(output)")
    }

    @Test(arguments: [
        ("c89", Language.c, "C11"), ("c99", .c, "C11"), ("gnu99", .c, "C11"), ("c++98", .cPlusPlus, "C++17"),
        ("c++11", .cPlusPlus, "C++17"), ("c++14", .cPlusPlus, "C++17"), ("gnu++14", .cPlusPlus, "C++17"),
    ])
    func `In an older language the only error says which is needed`(
        standard: String, language: Language, needed: String
    ) throws {
        for compiler in Compiler.present {
            for flag in ["-DDEBUG", "-DNDEBUG"] {
                let output = try said(
                    of: """
                        void use(void) { VALUE(1, 0, 2); BIND(level, 3); FBTweakUnbind(level); }
                        FBTweakAction("A", "B", "C", act);
                        """, language, with: compiler, flag, standard)
                #expect(output.count(of: "error: ") == 1, "\(compiler): \(output)")
                #expect(output.contains("fbtweak.h is for \(needed) and later"), "\(compiler): \(output)")
            }
        }
    }

    @Test(arguments: Compiler.present, Language.allCases)
    func `What must be constant, a literal or a variable is`(compiler: Compiler, language: Language) throws {
        let errors = try errors(ofStatements: Self.refused, language, with: compiler)
        for (place, statement) in Self.refused.enumerated() { #expect(errors[place] != nil, "\(statement)") }
    }

    /// What stands where a constant has to.
    private static func withValue(_ value: String) -> [String] {
        [
            "VALUE(\(value))", "VALUE(5, \(value), 10)", "VALUE(5, 0, \(value))",
            "VALUE(5, FBTweakStep(\(value)))", "VALUE(5, FBTweakChoices(5, \(value)))",
            "BIND(level, \(value))", "MONITOR(level, \(value), 100)",
        ]
    }

    @Test(arguments: Compiler.present, Language.allCases)
    func `A variable is refused and a constant taken, with every optimization`(
        compiler: Compiler, language: Language
    ) throws {
        for level in ["-O0", "-Og", "-O2"] {
            let statements = Self.withValue("number") + Self.withValue("constant_ratio")
            let errors = try errors(ofStatements: statements, language, with: compiler, level: level)
            for (place, statement) in statements.enumerated() {
                let isTaken = language == .c && statement.contains("constant_ratio")
                // Without optimization GCC takes a variable for a constant until it writes the record.
                let message =
                    language == .c && compiler == .gcc && level == "-O0"
                    ? "initializer element is not constant"
                    : "defaults, limits, steps and choices are constants"
                #expect(
                    isTaken ? errors[place] == nil : errors[place]?.contains(message) == true,
                    "\(level), \(statement): \(errors[place] ?? "")")
            }
            let constants = Self.withValue(language == .c ? "two + 3" : "folded_ratio")
            #expect(try self.errors(ofStatements: constants, language, with: compiler, level: level).isEmpty)
        }
    }

    @Test(arguments: Compiler.present, Language.allCases)
    func `What these tests wrap around a mistake is none`(compiler: Compiler, language: Language) throws {
        for flag in ["-DDEBUG", "-DDEBUG=0"] {
            #expect(try errors(ofStatements: Self.accepted, language, with: compiler, flag).isEmpty)
        }
    }

    @Test(arguments: Compiler.present)
    func `In a template GCC refuses a tweak and says what to do`(compiler: Compiler) throws {
        let statements = [
            "VALUE(3)", "VALUE(3, FBTweakChoices(3))", "BIND(level, 3)", "ACTION(act)", "ACTION([] {})",
            "MONITOR(level)",
        ]
        let functions = statements.enumerated().map { place, statement in
            "template <class T> void use_\(place)(T) { \(statement); } void call_\(place)() { use_\(place)(1); }"
        }
        let errors = try errors(in: functions, .cPlusPlus, with: compiler)
        let advice = "GCC loses a tweak in a template; put it into a function that is none, and call that"
        for (place, statement) in statements.enumerated() {
            #expect((errors[place]?.contains(advice) == true) == (compiler == .gcc), "\(statement)")
        }
        #expect(compiler == .gcc || errors.isEmpty)
    }
}

extension String {
    fileprivate func count(of part: String) -> Int { ranges(of: part).count }
}
