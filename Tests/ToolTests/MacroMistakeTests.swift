import Foundation
import TestSupport
import Testing

/// What the macros can know to be wrong they refuse, and say why.
@Suite struct `Mistakes in the use of the macros` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    /// Arguments of `#tweak` behind the names, and what is said of them.
    private static let tweaks = [
        ("default: number", "the default must be a number literal"),
        ("default: 2 + 3", "the default must be a number literal"),
        ("default: text", "the default must be a string literal without interpolation"),
        (#"default: "\(number)""#, "the default must be a string literal without interpolation"),
        (#"default: "a\0b""#, "the default cannot contain a NUL"),
        ("default: flag", "the default must be true or false"),
        ("default: 300 as Int8", "the default must be a number literal"),
        ("default: Duration.seconds(number)", "the default must be a duration of a literal"),
        ("default: TweakColor(red: 1, green: 2, blue: small)", "the default must be TweakColor(red: 255"),
        ("default: curve", "the default must be a case, such as .first"),
        ("default: Level.high", "the raw value of the default is not known here; give it with choices:"),

        ("default: 5, in: number...10", "the minimum must be a number literal"),
        ("default: 5, in: 0...number", "the maximum must be a number literal"),
        ("default: 5, in: range", "the limits must be a range of two literals, such as 0...10"),
        ("default: 5, in: 10...0", "the minimum is above the maximum"),
        ("default: 0.5, in: 1.5...1", "the minimum is above the maximum"),
        ("default: 5, in: 6...7", "the default is not between minimum and maximum"),
        ("default: 5.5, in: 1...5", "the default is not between minimum and maximum"),
        (#"default: "text", in: 0...1"#, "only a number has a minimum and a maximum"),
        ("default: true, in: 0...1", "only a number has a minimum and a maximum"),
        ("default: 5, in: 0...10, choices: [5]", "a tweak has limits or choices, not both"),

        ("default: 5, choices: [4, 6]", "the default is not among the choices"),
        (#"default: "a", choices: ["b": "a"]"#, "the default is not among the choices"),
        (#"default: Curve.easeIn, choices: ["linear"]"#, "the default is not among the choices"),
        ("default: 5, choices: [5, number]", "a choice must be a number literal"),
        ("default: 5, choices: numbers", "the choices must be an array of literals, or a dictionary"),
        ("default: 5, choices: [:]", "the choices must be an array of literals, or a dictionary"),
        (#"default: 5, choices: [5: "\0"]"#, "a label cannot contain a NUL"),

        ("default: 5, step: 0", "the step must be more than 0"),
        ("default: 5.0, step: -0.5", "the step must be more than 0"),
        ("default: 5, step: number", "the step must be a number literal"),
        ("default: 5.0, precision: 18", "the precision must be a literal from 0 to 17"),
        ("default: 5.0, precision: -1", "the precision must be a literal from 0 to 17"),
        ("default: 5.0, precision: number", "the precision must be a literal from 0 to 17"),
        ("default: 5, readOnly: flag", "readOnly must be true or false"),
        ("default: 5, needsRestart: flag", "needsRestart must be true or false"),
        (#"default: 5, unit: "k\0g""#, "a unit cannot contain a NUL"),
        ("default: 5, unit: word", "a unit must be a string literal"),
        (#"default: 5, description: "\0""#, "a description cannot contain a NUL"),
        (#"default: 5, owner: "\0""#, "an owner cannot contain a NUL"),
        (#"default: 5, expires: "2027-1-31""#, "a date is written as 2027-01-31"),
        (#"default: 5, expires: "2027-13-31""#, "a date is written as 2027-01-31"),
        (#"default: 5, expires: "2027-01-00""#, "a date is written as 2027-01-31"),
        (#"default: 5, expires: "31.1.2027""#, "a date is written as 2027-01-31"),
        (#"default: 5, expires: """#, "a date is written as 2027-01-31"),

        ("default: [1, 2]", "a tweak is a Bool, an integer of up to 64 bits, a Float"),
        ("default: Plain.first", "a tweak is a Bool, an integer of up to 64 bits, a Float"),
        ("default: angle", "a tweak is a Bool, an integer of up to 64 bits, a Float"),
    ]

    /// Lines, and what is said of them.
    private static let lines =
        tweaks.map { ("func use() { _ = #tweak(\"A\", \"B\", \"C\", \($0)) }", $1) } + [
            (
                #"let tiny: Int8 = #tweak("A", "B", "C", default: 128)"#,
                "the default does not fit the type Int8"
            ),
            (
                #"let tiny: UInt8 = #tweak("A", "B", "C", default: -1)"#,
                "the default does not fit the type UInt8"
            ),
            (
                #"let tiny: UInt8 = #tweak("A", "B", "C", default: 1, in: 0...256)"#,
                "the maximum does not fit the type UInt8"
            ),
            (
                #"let real: Float = #tweak("A", "B", "C", default: 1e39)"#,
                "the default does not fit the type Float"
            ),
            (
                #"func use() { _ = #tweak("", "B", "C", default: 5) }"#,
                "a category, collection or name cannot be empty"
            ),
            (
                #"func use() { _ = #tweak("A", "B", "", default: 5) }"#,
                "a category, collection or name cannot be empty"
            ),
            (
                #"func use() { _ = #tweak("A", "B\0", "C", default: 5) }"#,
                "a category, collection or name cannot contain a NUL"
            ),
            (
                #"func use() { _ = #tweak("A", word, "C", default: 5) }"#,
                "a category, collection or name must be a string literal without interpolation"
            ),

            (
                #"func use<T>(_: T) { _ = #tweak("A", "B", "C", default: 5) }"#,
                "a tweak cannot be in a generic function or type; put it into one that is none, and use that"
            ),
            (
                #"func use(_: some Sendable) { _ = #tweak("A", "B", "C", default: 5) }"#,
                "a tweak cannot be in a generic function or type"
            ),
            (
                #"struct Box<T> { @Tweakable("A", "B", "C") static var value = 5 }"#,
                "a tweak cannot be in a generic function or type"
            ),
            (
                #"struct Box<T> { #tweakAction("A", "B", "C") {} }"#,
                "a tweak cannot be in a generic function or type"
            ),
            (property("static let value = 5"), "only a stored var with one name can be a tweak"),
            (property("static var value: Int { 5 }"), "only a stored var with one name can be a tweak"),
            (property("var value = 5"), "only a static or a global var can be a tweak; make it static"),
            (property("static var value: Int"), "the var needs a value, which is the tweak's default"),
            (property("static var value = number"), "the value must be a literal; write the type"),
            (
                property("static var value: Character = \"a\""),
                "a tweak is a Bool, an integer of up to 64 bits"
            ),
            (property("static var value: UInt8 = 300"), "the default does not fit the type UInt8"),
            (
                property("static var value = 5", ", in: 6...7"),
                "the default is not between minimum and maximum"
            ),
            (property("static var value = 5", ", in: 7...0"), "the minimum is above the maximum"),
            (
                property("static var value = 5", ", precision: 1"),
                "only a floating-point number has a precision"
            ),
            (property("static var value = true", ", step: 1"), "only a number has a step"),
            (property("static var value = true", ", choices: [true]"), "only numbers and texts have choices"),
            (
                property("static var value = 5", ", choices: [5, \"six\"] as [Any]"),
                "the choices must be an array"
            ),
            (property("static var value = 5", ", expires: \"soon\""), "a date is written as 2027-01-31"),

            (
                #"enum Holder { #tweakAction("A", "B", "") {} }"#,
                "a category, collection or name cannot be empty"
            ),
            (#"enum Holder { #tweakAction("A", "B", "C", action: act) }"#, "the action must be a closure"),
            (
                #"enum Holder { #tweakAction("A", "B", "C", expires: "") {} }"#,
                "a date is written as 2027-01-31"
            ),
        ]

    private static func property(_ variable: String, _ options: String = "") -> String {
        "enum Holder { @Tweakable(\"A\", \"B\", \"C\"\(options)) \(variable) }"
    }

    /// What the compiler says of lines, each in a file of its own name.
    private func said(of lines: [String], _ flags: [String] = ["-DDEBUG"]) throws -> [Int: String] {
        let declarations = """
            import Tweaks
            enum Plain: String { case first }
            enum Curve: String, CaseIterable, TweakableEnum { case linear, easeIn }
            enum Level: Int, CaseIterable, TweakableEnum { case low = 1, high }
            struct Angle: TweakableValue {
                static var tweakType: TweakType { .double }
                init?(tweakValue: TweakValue) {}
                init() {}
                var tweakValue: TweakValue { 1.0 }
            }
            let number = 5, small: UInt8 = 5, flag = true, text = "text", word: StaticString = "word"
            let range = 0...1, numbers: TweakChoices<Int> = [], curve = Curve.linear, angle = Angle()
            @Sendable func act() {}

            """
        let source =
            declarations
            + lines.enumerated().map { place, line in
                // A scope for each, since the names repeat.
                """
                enum Scope\(place) {
                #sourceLocation(file: "line-\(place)", line: 1)
                \(line.hasPrefix("let") || line.hasPrefix("func") ? "static " : "")\(line)
                #sourceLocation()
                }

                """
            }.joined()
        let file = try home.write("Mistakes.swift", source)
        let result = try run(
            Locations.program("swiftc"),
            ["-swift-version", "6", "-parse-as-library", "-typecheck", "-diagnostic-style", "llvm", file]
                + flags
                + Example.compilerFlags, home: home, environment: ["TMPDIR": home.path])
        var said: [Int: String] = [:]
        for line in result.error.split(separator: "\n") {
            guard let match = line.firstMatch(of: #/line-(\d+):1:\d+: (error|warning): /#),
                let place = Int(match.1)
            else { continue }
            said[place, default: ""] += line + "\n"
        }
        return said
    }

    @Test func `A tweak that cannot be is a compile error that says why`() throws {
        let said = try said(of: Self.lines.map(\.0))
        for (place, (line, message)) in Self.lines.enumerated() {
            #expect(said[place]?.contains(message) == true, "\(line): \(said[place] ?? "nothing")")
        }
    }

    @Test func `Mistakes are found where tweaks are disabled too`() throws {
        let said = try said(of: Self.lines.map(\.0), [])
        for (place, (line, message)) in Self.lines.enumerated() {
            #expect(said[place]?.contains(message) == true, "\(line): \(said[place] ?? "nothing")")
        }
    }

    @Test func `What these tests wrap around a mistake is none`() throws {
        let lines = [
            #"func use() { _ = #tweak("A", "B", "C", default: 5, in: 0...10) }"#,
            #"let optional: Int? = #tweak("A", "B", "C", default: 5)"#,
            #"let product = 2 * #tweak("A", "B", "C", default: 1.5) / #tweak("A", "B", "D", default: 3)"#,
            Self.property("static var value = 5"), #"enum Holder { #tweakAction("A", "B", "C") {} }"#,
        ]
        #expect(try said(of: lines).isEmpty)
        #expect(try said(of: lines, []).isEmpty)
    }

    /// What the compiler says of a file.
    private func error(of source: String, _ flags: [String] = []) throws -> String {
        let file = try home.write("Mistake.swift", source)
        return try run(
            Locations.program("swiftc"),
            [
                "-parse-as-library", "-c", "-o", home("Mistake.o"), "-diagnostic-style", "llvm", "-DDEBUG",
                file,
            ]
                + flags + Example.compilerFlags, home: home, environment: ["TMPDIR": home.path]
        ).error
    }

    @Test func `An action captures nothing`() throws {
        #expect(
            try error(
                of: "import Tweaks\nfunc use(_ n: Int) { #tweakAction(\"A\", \"B\", \"C\") { print(n) } }\n"
            ).contains("error: enum declaration cannot close over value 'n' defined in outer scope"))
    }

    @Test func `In a module of the main actor they compile too`() throws {
        let source =
            MacroSources.functions() + MacroSources.properties.dropFirst(MacroSources.types.count)
            + "#tweakAction(\"A\", \"B\", \"Act\") { print(\"ran\") }\n"
        #expect(try error(of: source, ["-swift-version", "6", "-default-isolation", "MainActor"]) == "")
    }

    @Test func `The compiler can swap a minimum and a maximum`() throws {
        let said = try error(
            of: "import Tweaks\nlet swapped = #tweak(\"A\", \"B\", \"C\", default: 5, in: 10...0)\n")
        #expect(said.contains("note: swap minimum and maximum"))
        #expect(said.contains(/\n +0 +10\n/))
    }
}
