// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// What the macros can know to be wrong they refuse, and say why.
@Suite struct `Mistakes in the use of the macros` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    /// What the compiler says of lines, by their places; of other code, such as expansions, with the place -1.
    private func said(
        of lines: [String], _ flags: [String] = ["-DDEBUG"], comment: String = ""
    ) throws -> [Int: String] {
        let header = MacroMistake.declarations
        let scopes = lines.enumerated().map { scope($0) + $1 + " }\(comment)\n" }
        let file = try home.write("Mistakes.swift", header + scopes.joined())
        let result = try run(
            Locations.program("swiftc"),
            ["-swift-version", "6", "-parse-as-library", "-typecheck", "-diagnostic-style", "llvm", file]
                + flags + Example.compilerFlags, home: home, environment: ["TMPDIR": home.path])
        var said: [Int: String] = [:]
        for line in result.error.split(separator: "\n") {
            guard let match = line.firstMatch(of: #/(Mistakes.swift:(\d+):\d+)?: (error|warning): (.*)/#)
            else {
                continue
            }
            let place = match.2.flatMap { Int($0) }.map { $0 - header.count { $0 == "\n" } - 1 }
            said[place ?? -1, default: ""] += match.4 + "\n"
        }
        return said
    }

    /// The beginning of a scope for each line, since the names repeat.
    private func scope(_ place: Int) -> String { "public enum Scope\(place) { " }

    /// The lines as the compiler would mend them, by their places.
    private func mended(_ lines: [String]) throws -> [Int: String] {
        // The compiler compares an error, and a note behind it, with such comments, and so prints the columns and texts of
        // fix-its.
        let said = try said(
            of: lines, ["-DDEBUG", "-Xfrontend", "-verify"],
            comment: " //" + String(repeating: " expected-note {{ }} {{none}}", count: 2))
        var mended: [Int: String] = [:]
        for (place, text) in said {
            guard let fixIts = text.firstMatch(of: #/actual fix-its? seen: (.*)/#)?.1 else { continue }
            var bytes = Array((scope(place) + lines[place]).utf8)
            for fixIt in fixIts.matches(of: #/{{(\d+)-(\d+)=(.*?)}}(?= |$)/#).reversed() {
                guard let start = Int(fixIt.1), let end = Int(fixIt.2) else { continue }
                bytes.replaceSubrange(start - 1..<end - 1, with: fixIt.3.replacing("\\}", with: "}").utf8)
            }
            mended[place] = String(decoding: bytes.dropFirst(scope(place).utf8.count), as: UTF8.self)
        }
        return mended
    }

    @Test(arguments: [["-DDEBUG"], []])
    func `Each is one compile error that says why`(flags: [String]) throws {
        let said = try said(of: MacroMistake.all.map(\.line), flags)
        for (place, mistake) in MacroMistake.all.enumerated() {
            let error = said[place] ?? "nothing"
            #expect(error.contains(mistake.message), "\(mistake.line): \(error)")
            #expect(error.count { $0 == "\n" } == 1, "\(mistake.line): \(error)")
        }
        #expect(said[-1] == nil)
    }

    @Test func `The compiler offers what was likely meant`() throws {
        let mended = try mended(MacroMistake.all.map(\.line))
        for (place, mistake) in MacroMistake.all.enumerated() {
            #expect(mended[place] == mistake.mended, "\(mistake.line)")
        }
    }

    @Test func `What the compiler offers is not a mistake`() throws {
        // What stands between <# and #> people fill in.
        let mended = MacroMistake.all.compactMap(\.mended).filter { !$0.contains("<#") }
        for (place, error) in try said(of: mended) {
            Issue.record("\(mended.indices.contains(place) ? mended[place] : ""): \(error)")
        }
    }

    @Test(arguments: [["-DDEBUG"], []])
    func `What these tests wrap around a mistake is none`(flags: [String]) throws {
        let lines = [
            #"static func use() { _ = #tweak("A", "B", "C", default: 5, in: 0...10) }"#,
            #"static let optional: Int? = #tweak("A", "B", "C", default: 5)"#,
            #"static let product = 2 * #tweak("A", "B", "C", default: 1.5) / #tweak("A", "B", "D", default: 3)"#,
            MacroMistake.property("static var value = 5"), #"enum Holder { #tweakAction("A", "B", "C") {} }"#,
            "@TweakGroup struct Own { @TweakField(in: 0...9) var left = 8.0; let right = 8; var sum: Int { right } }",
            #"@TweakGroup struct Own { var left = 8; static let fields = [TweakField("Left", \Own.left)] }"#,
        ]
        #expect(try said(of: lines, flags).isEmpty)
    }

    @Test func `What a message says to write instead compiles`() throws {
        let source = """
            import Tweaks
            @Tweakable("A", "B", "C", in: 0...9) @usableFromInline var value: Float = 5
            @inlinable public func use<T>(_: T) -> Float { value }

            """
        #expect(try error(of: source, ["-swift-version", "6"]) == "")
    }

    @Test(arguments: ["Angle(rawValue: 45)", "Level.high"])
    func `A raw value of another type is refused where the record is read`(value: String) throws {
        let source = MacroMistake.declarations + "@Tweakable(\"A\", \"B\", \"C\") var value = \(value)\n"
        #expect(try error(of: source).contains("for a Double write 45.0, for cases of integers choices:"))
    }

    /// What the compiler says of a file.
    private func error(of source: String, _ flags: [String] = [], isDebug: Bool = true) throws -> String {
        let file = try home.write("Mistake.swift", source)
        return try run(
            Locations.program("swiftc"),
            [
                "-parse-as-library", "-c", "-o", home("Mistake.o"), "-diagnostic-style", "llvm", file,
            ]
                + (isDebug ? ["-DDEBUG"] : []) + flags + Example.compilerFlags, home: home,
            environment: ["TMPDIR": home.path]
        ).error
    }

    /// What the compiler says of a file with one error.
    private func onlyError(of source: String, isDebug: Bool = true) throws -> String {
        let error = try error(of: source, isDebug: isDebug)
        #expect(error.ranges(of: "error: ").count == 1, "\(error)")
        return error
    }

    @Test(arguments: [
        ("func use(_ n: Int) { #tweakAction(\"A\", \"B\", \"C\") { print(n) } }", "n"),
        ("func use(of n: Int) { #tweakAction(\"A\", \"B\", \"C\") { print(1, 2 + n) } }", "n"),
        ("class C { var n = 1; init(n: Int) { #tweakAction(\"A\", \"B\", \"C\") { print(n) } } }", "n"),
        ("class C { var n = 1; func use() { #tweakAction(\"A\", \"B\", \"C\") { self.n = 2 } } }", "self"),
        ("class C { func use() { #tweakAction(\"A\", \"B\", \"C\") { [weak self] in _ = self } } }", "self"),
    ])
    func `An action captures nothing, which is said where it does`(source: String, name: String) throws {
        let error = try error(of: "import Tweaks\n\(source)\n")
        #expect(error.contains("use a global or static variable and not \(name)"), "\(error)")
        #expect(error.ranges(of: "error: ").count == 1 && !error.contains("generated"), "\(error)")
    }

    private static let places = [
        (
            "protocol P {}\nextension P where Self: Sendable { var n: Int { #tweak(\"A\", \"B\", \"C\", default: 5) } }",
            "a tweak cannot be in an extension of a protocol or generic type; declare @Tweakable"
        ),
        (
            "extension [Int] { func use() -> Bool { #feature(\"A\", default: true) } }",
            "a tweak cannot be in an extension of a protocol or generic type; declare @Tweakable"
        ),
        (
            "extension Optional<Int> { func use() { #tweakGate(\"A\") } }",
            "a tweak cannot be in an extension of a protocol or generic type; pass the gate in one that is not"
        ),
        (
            "extension Array where Element: Sendable { #tweakAction(\"A\", \"B\", \"C\") {} }",
            "a tweak cannot be in an extension of a protocol or generic type; write #tweakAction outside"
        ),
        (
            "protocol P { #tweakAction(\"A\", \"B\", \"C\") {} }",
            "a tweak cannot be in a protocol; write #tweakAction outside of it"
        ),
        (
            "struct Box<T> { #tweakApplication(\"box\") }",
            "a tweak cannot be in a generic function or type; write #tweakApplication in a file"
        ),
        (
            "@inlinable @Tweakable(\"A\", \"B\", \"C\") public var n = 5",
            "an @inlinable var cannot be a tweak, because other modules compile it too"
        ),
        (
            "public func use(_ n: Bool = (#feature(\"A\", default: true))) {}",
            "a tweak cannot be a default argument, because Swift expands it in each caller; declare @Tweakable"
        ),
        (
            "func use(_: Void = #tweakMonitor(\"A\", \"B\", \"C\", 5)) {}\nfunc call() { use() }",
            "a tweak cannot be a default argument, because Swift expands it in each caller; store it in one"
        ),
    ]

    @Test(arguments: places, [true, false])
    func `A place that no tweak can have is one error`(
        place: (source: String, message: String), isDebug: Bool
    ) throws {
        let error = try error(of: "import Tweaks\n\(place.source)\n", isDebug: isDebug)
        #expect(error.contains(place.message), "\(error)")
        #expect(error.ranges(of: "error: ").count == 1 && !error.contains("generated"), "\(error)")
    }

    @Test(
        arguments: [
            "protocol P {}\nextension P { var n: Int { #tweak(\"A\", \"B\", \"C\", default: 5) } }",
            "struct Box<T> {}\nextension Box { func use() -> Int { #tweak(\"A\", \"B\", \"C\", default: 5) } }",
            "public struct S { @inlinable public var n: Int { #tweak(\"A\", \"B\", \"C\", default: 5) } }",
            "@frozen public struct S { public var n = #tweak(\"A\", \"B\", \"C\", default: 5) }",
        ], [true, false])
    func `Where a macro cannot see that no tweak can be the compiler's error says what to do`(
        source: String, isDebug: Bool
    ) throws {
        let error = try error(
            of: "public import Tweaks\n\(source)\n", ["-swift-version", "6"], isDebug: isDebug)
        #expect(
            error.contains(
                "error: type '#tweak, to be replaced by a @Tweakable variable declared outside,' cannot be nested"
            ),
            "\(error)")
        // In a debug build the compiler reports the record, too.
        if !isDebug { #expect(error.ranges(of: "error: ").count == 1, "\(error)") }
    }

    @Test(arguments: [true, false])
    func `The value of a task-local variable is no tweak, which one error says`(isDebug: Bool) throws {
        let source =
            "import Tweaks\nenum Holder { @TaskLocal static var n = #tweak(\"A\", \"B\", \"C\", default: 5) }\n"
        let error = try onlyError(of: source, isDebug: isDebug)
        #expect(
            error.contains(
                "a tweak cannot be the value of a variable that another macro declares, such as @TaskLocal"))
    }

    @Test func `Where a tweak can be it compiles`() throws {
        let source = """
            import Tweaks
            let onALineOfItsOwn =
                #tweak("A", "B", "First", default: 5)
            struct Plain { var n = #tweak("A", "B", "Property", default: 5) }
            extension Plain {
                static let m = #tweak("A", "B", "Static", default: 5)
                var speed: Int {
                    #tweakGate("A")
                    return
                        #tweak("A", "B", "Getter", default: 5)
                }
            }
            extension Array<Int> {
                @Tweakable("A", "B", "Limit") static var limit = 5
                #tweakAction("A", "B", "Act") {}
            }
            final class Box {
                @Tweakable("A", "B", "Final") static private(set) var n = 5
                subscript(i: Int) -> Int { #tweak("A", "B", "Subscript", default: 5) }
                deinit { #tweakMonitor("A", "B", "Ends", 1) }
            }
            func use(_ n: () -> Int = { #tweak("A", "B", "In a closure", default: 5) }) -> Int { n() }
            let used = use()

            """
        let strict = ["-swift-version", "6", "-strict-memory-safety", "-warnings-as-errors"]
        #expect(try error(of: source, strict) == "")
    }

    @Test func `Of a variable of the function around an action the compiler says that it is out of reach`()
        throws
    {
        let source =
            "import Tweaks\nfunc use() { let n = 1; #tweakAction(\"A\", \"B\", \"C\") { print(n) } }\n"
        #expect(try error(of: source).contains("cannot close over value 'n' defined in outer scope"))
    }

    @Test func `What an action declares itself it does not capture`() throws {
        let source = """
            import Tweaks
            let list = [1, 2]
            enum Holder { static let n = 5 }
            func use(_ n: Int, _ each: Int, _ other: Int) {
                #tweakAction("A", "B", "C") {
                    let n = 1
                    list.forEach { each in print(each, n, Holder.n) }
                    list.forEach { (other: Int) in print(other) }
                    struct Own { var a = 1; func use() -> Int { self.a } }
                }
            }

            """
        #expect(try error(of: source) == "")
    }

    @Test(arguments: ["value = 6", "value += 6", "Holder.value = 6", "swap(&value, &other)"])
    func `Who assigns to a tweak is told how it is set`(statement: String) throws {
        let source = """
            import Tweaks
            @Tweakable("A", "B", "C") var value = 5
            enum Holder { @Tweakable("A", "B", "C") static var value = 5 }
            func use(_ other: inout Int) { \(statement) }

            """
        let error = try onlyError(of: source)
        #expect(
            error.contains("error: setter for 'value' is unavailable: a tweak is set with try $value.set(…)"))
    }

    @Test func `Of an enumeration that is not a TweakableEnum it is said what it must be`() throws {
        for value in [": Plain = .first", " = Plain.first"] {
            let error = try error(
                of: MacroMistake.declarations + "@Tweakable(\"A\", \"B\", \"C\") var value\(value)\n")
            #expect(error.contains("the type must be a TweakableEnum, as in enum Mode: String"), "\(error)")
        }
    }

    @Test func `Of an enumeration whose name is not written it is said that its cases are not the choices`()
        throws
    {
        let source = """
            import Tweaks
            enum Curve: String, CaseIterable, TweakableEnum { case linear, easeIn }
            func curve() -> Curve { #tweak("A", "B", "C", default: .easeIn) }
            func other() -> Curve { #tweak("A", "B", "C", default: Curve.easeIn) }

            """
        let warnings = try error(of: source)
        #expect(warnings.contains("warning: write the type, as in Mode.easeIn: a macro does not see it"))
        #expect(warnings.ranges(of: "warning: ").count == 1, "\(warnings)")
    }

    @Test func `Of an enumeration of other integers it is said which it must have`() throws {
        let source = """
            import Tweaks
            enum Level: UInt, CaseIterable, TweakableEnum { case low = 1, high = 2 }
            @Tweakable("A", "B", "C", choices: [1: "low", 2: "high"]) var level = Level.high

            """
        let error = try error(of: source)
        #expect(
            error.contains(#"for cases of integers choices:, as [1: "a"], and Int raw values"#), "\(error)")
    }

    @Test(arguments: [true, false])
    func `A variable can have a typealias of its literal's type`(isDebug: Bool) throws {
        let source = """
            import Tweaks
            typealias Meters = Double
            enum Holder {
                typealias Delay = Duration
                @Tweakable("A", "B", "Delay", in: .zero ... .seconds(9)) static var delay: Delay = .seconds(1)
            }
            @Tweakable("A", "B", "Height", in: 0...9) var height: Meters = 1.5
            @Tweakable("A", "B", "Delay", in: .zero ... .seconds(9)) var delay: Holder.Delay = .seconds(1)
            func use() throws -> Meters {
                try $height.set(2)
                return height + $height.value
            }

            """
        let strict = ["-swift-version", "6", "-strict-memory-safety", "-warnings-as-errors"]
        #expect(try error(of: source, strict, isDebug: isDebug) == "")
    }

    @Test(arguments: [true, false])
    func `A CGFloat is a tweak that is a Double`(isDebug: Bool) throws {
        let source = """
            import Foundation
            import Tweaks
            enum Page {
                @Tweakable("A", "B", "Inset", in: 0...100) static var inset: CGFloat = 8
                @Tweakable("A", "B", "Scale") nonisolated static var scale: Foundation.CGFloat = -0.5
            }
            func use(_ width: CGFloat) throws -> CGFloat {
                let gap: CGFloat = #tweak("A", "B", "Gap", default: 4, in: 0...10)
                try Page.$inset.set(width)
                let inset: CGFloat = Page.$inset.value
                return width * #tweak("A", "B", "Part", default: 0.5) + gap + Page.inset * Page.scale + inset
            }

            """
        let strict = ["-swift-version", "6", "-strict-memory-safety", "-warnings-as-errors"]
        #expect(try error(of: source, strict, isDebug: isDebug) == "")
    }

    @Test(arguments: ["CGFloat = \"a\"", "CGFloat = 1 + 1", "CGFloat? = 1"], [true, false])
    func `A CGFloat that is none is one error`(variable: String, isDebug: Bool) throws {
        _ = try onlyError(
            of: "import Foundation\nimport Tweaks\n@Tweakable(\"A\", \"B\", \"C\") var value: \(variable)\n",
            isDebug: isDebug)
    }

    @Test(arguments: ["Meters = 5", "Character = \"a\"", "Int8? = 5", "Any = 5"], [true, false])
    func `A variable whose type is not that of its literal is one error`(variable: String, isDebug: Bool)
        throws
    {
        let source =
            "import Tweaks\ntypealias Meters = Double\n@Tweakable(\"A\", \"B\", \"C\") var value: \(variable)\n"
        let error = try onlyError(of: source, isDebug: isDebug)
        #expect(
            error.contains(
                "the value must be a literal of the variable's type: write 1.0 for a Double, and name"))
    }

    @Test(arguments: ["5", "6"])
    func `A property of a Sendable object is bound on every thread`(version: String) throws {
        let source = """
            import Tweaks
            final class Spring: @unchecked Sendable { var stiffness = 1.0 }
            @MainActor final class Label { var size = 1.0 }
            @Tweakable("A", "B", "C", in: 0...9) var stiffness = 5.0
            func bind(_ spring: Spring) { $stiffness.bind(to: spring, \\.stiffness) }
            @MainActor func bind(_ label: Label) { $stiffness.bind(to: label, \\.size) }

            """
        #expect(try error(of: source, ["-swift-version", version]) == "")
    }

    @Test(arguments: [
        #"let width = #tweak("A", "B", "C", default: 5, in: 0...10, unit: "mm")"#,
        #"let delay: Duration = #tweak("A", "B", "C", default: .seconds(1))"#,
        #"let sound = #feature("Sound", default: true)"#,
        #"func show(_ speed: Double) { #tweakMonitor("A", "B", "C", speed, in: 0...9) }"#,
        ##"#tweakAction("A", "B", "C") { print("done") }"##,
        ##"#tweakApplication("maze")"##,
        ##"func turn() { #tweakGate("Motor") }"##,
        #"@Tweakable("A", "B", "C", in: 0...9) var width = 5"#,
        #"struct Motor { @TweakMonitored("A", "B", "C") var speed = 5.0 }"#,
        "@TweakGroup struct Margins { var left = 8.0 }",
        "struct Margins { @TweakField(in: 0...9) var left = 8.0 }",
    ])
    func `Without the trait they say that they need it`(line: String) throws {
        // The package of the tests is built without it.
        let file = try home.write("Without.swift", "import Tweaks\n\(line)\n")
        let result = try run(
            Locations.program("swiftc"),
            ["-parse-as-library", "-typecheck", "-diagnostic-style", "llvm", file]
                + Example.libraryFlags(Locations.products), home: home, environment: ["TMPDIR": home.path])
        #expect(
            result.error.contains("the trait Macros: .package(…, traits: [\"Macros\"])"),
            "\(result.error)")
        // The compiler repeats what it says of an attribute of a structure.
        let errors = Set(result.error.matches(of: /error: .*/).map { String($0.output) })
        #expect(errors.count == 1, "\(result.error)")
    }

    @Test func `With strict memory safety and all that is to come in Swift they compile without a warning`()
        throws
    {
        let listed = try run(
            Locations.program("swiftc"), ["-frontend", "-print-supported-features"], home: home)
        let features = try #require(listed.json["features"] as? [String: [[String: Any]]])
        // Those of the language's next version; others are in the one that is used.
        let coming = try #require(features["upcoming"]).filter { $0["enabled_in"] as? String != "6" }
            .compactMap { $0["name"] as? String }
        try #require(coming.contains("MemberImportVisibility"))
        let source =
            MacroSources.functions() + MacroSources.properties.dropFirst(MacroSources.types.count)
                + """
                #tweakApplication("strict")
                #tweakAction("A", "B", "Act") { print("ran") }
                #tweakAction("A", "B", "Act there", on: MainActor.self) { print("ran") }
                @TweakGroup public struct Margins { @TweakField(in: 0...9) public var left = 8.0 }
                struct Motor {
                    @TweakMonitored("A", "B", "Turns") var turns = 5
                    func turn(_ speed: Double) {
                        #tweakGate("Motor")
                        #tweakMonitor("A", "B", "Speed", speed)
                    }
                }

                """
        let flags = ["-swift-version", "6", "-strict-memory-safety", "-warnings-as-errors"]
        let said = try error(
            of: source.replacing("import Tweaks", with: "public import Tweaks"),
            flags + coming.flatMap { ["-enable-upcoming-feature", $0] })
        #expect(said == "")
    }

    @Test func `In a module of the main actor they compile too`() throws {
        let source =
            MacroSources.functions() + MacroSources.properties.dropFirst(MacroSources.types.count)
            + "#tweakAction(\"A\", \"B\", \"Act\") { print(\"ran\") }\n"
            + "@TweakGroup nonisolated struct Margins { @TweakField(in: 0...9) var left = 8.0 }\n"
        #expect(try error(of: source, ["-swift-version", "6", "-default-isolation", "MainActor"]) == "")
    }
}
