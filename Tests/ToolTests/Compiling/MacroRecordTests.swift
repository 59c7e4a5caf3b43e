// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// The records that the Swift macros leave, as `tweak-dump` reads them.
@Suite struct `Records of the Swift macros` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    /// The tables that `tweak-dump` prints, without their spaces, and what it finds wrong.
    private func dumped(_ source: String, _ flags: [String]) throws -> (rows: [String], lint: CommandResult) {
        let file = try home.write("Records.swift", source)
        let object = home("Records.o")
        let result = try run(
            Locations.program("swiftc"),
            [
                "-swift-version", "6", "-parse-as-library", "-module-name", "Records",
                "-file-compilation-dir", ".",
                "-emit-object", file, "-o", object, "-DDEBUG",
            ] + flags + Example.compilerFlags, home: home, environment: ["TMPDIR": home.path])
        guard result.succeeded else { throw CompilationError(description: result.error) }
        let table = try dump([object], home: home).output
        let rows = table.split(separator: "\n").dropFirst(3).map { line in
            line.split(separator: " ", omittingEmptySubsequences: true)
                .filter { !$0.contains("Records.swift:") }.joined(separator: " ")
        }
        return (rows, try dump(["--lint", "--ignore", "noDescription", object], home: home))
    }

    @Test(arguments: ["-Onone", "-O"])
    func `#tweak says type, default, limits, choices and attributes`(level: String) throws {
        let (rows, lint) = try dumped(MacroSources.functions(), [level])
        #expect(
            rows == [
                "readBool bool true",
                "readInt int64 42",
                "readLimitedInt int64 42 SecretUnit 0…100",
                "readScaledInt int64 42 m 1…100",
                "readInt8 int8 -5 -100…100",
                "readInt16 int16 -300 -300 | 5",
                "readInt32 int32 -70000 read-only",
                "readInt64 int64 -9223372036854775808 needs restart",
                "readUInt uint64 5",
                "readUInt8 uint8 200 7…255",
                "readUInt16 uint16 60000 (SecretMany) 60000 (SecretMany) | 5",
                "readUInt32 uint32 4000000000",
                "readUInt64 uint64 18446744073709551615 Secret",
                "readFloat float 0.10 m -1.0…1.0",
                "readDouble double 1.5",
                "readLimitedDouble double 1 0.0…8.0",
                "readDuration double 0.3 s 0.001…5.0",
                "readColor color #01020304",
                "readLevel int64 2 (high) 1 (low) | 2 (high)",
                "readString string \"text longer than fifteen\"",
                "readChoice string \"a\" (SecretLabel) \"a\" (SecretLabel) | \"b\"",
                "readCurve string \"easeIn\"",
                "readNamedCurve string \"out\" (easeOut) \"linear\" (linear) | \"out\" (easeOut)",
                "readAngle double 45 deg 0.0…360.0",
                "readMark int64 3 3 | 4",
                "readFont string \"Plain Font\"",
                "readPorts string [80, 443] int64 min=1 max=65535 Secret",
                "readWeights string [1.0, 0.5] double min=-1.0 max=1.0",
                "readHosts string [\"localhost\", \"a\\\"b\"] string read-only",
                "readNothing string [] int64",
                "readNoLimit double? none 0.1…2.0",
                "readNoGain float? none",
                "readNoRetries int64? none 0…10",
                "readNoFlag bool? none read-only",
                "readSomeFlag bool? true",
                "readPromoted double 1.5",
                "readNoHost string? none Secret",
            ])
        #expect(lint.succeeded, "\(lint.output)")
    }

    @Test(arguments: [
        (
            MacroSources.functions(),
            ["readScaledInt log readDouble", "readAngle linear readDouble", "readDuration log "]
        ),
        (MacroSources.properties, ["V0 linear V1"]),
    ])
    func `The macros say scale and pair`(source: String, expected: [String]) throws {
        let file = try home.write("Shown.swift", source)
        let object = home("Shown.o")
        let result = try run(
            Locations.program("swiftc"),
            ["-swift-version", "6", "-parse-as-library", "-emit-object", file, "-o", object, "-DDEBUG"]
                + Example.compilerFlags, home: home, environment: ["TMPDIR": home.path])
        try #require(result.succeeded, "\(result.error)")
        let tweaks = try dumpedJSON([object]).images.flatMap(\.tweaks)
        let said = tweaks.filter { $0.scale != nil || $0.pair != nil }.map {
            "\($0.name) \($0.scale ?? "") \($0.pair ?? "")"
        }
        #expect(Set(said) == Set(expected))
    }

    @Test(arguments: ["-Onone", "-O"])
    func `@Tweakable takes type and default from the variable`(level: String) throws {
        let (rows, lint) = try dumped(MacroSources.properties, [level])
        let expected = [
            "V0 double 0.5 0.0…1.0",
            "V1 float 0.5 0.0…1.0",
            "V2 int64 60 SecretUnit",
            "V3 uint8 7 7 | 8",
            "V4 bool true",
            "V5 string \"SecretDefault\"",
            "V6 double 5.0 s 0.0…9.0",
            "V7 color #010203",
            "V8 int64 2 (high) 1 (low) | 2 (high)",
            "V9 string \"easeIn\"",
            "V10 string \"zero\"",
            "V11 double 0.0 s",
            "V12 double 45.0 0.0…360.0",
            "V13 int64 3",
            "V14 string \"Plain Font\"",
            "V15 Duration double 2.0 s 0.0…10.0 Secret",
            "V15 Delay double 0.0 s 0.0…10.0 Secret",
            "V15 Curve string \"linear\" \"linear\" | \"easeIn\" | \"easeOut\" | … 1 more Secret",
            "V16 Color color #000000",
            "V16 Opacity double 0.5 0.0…1.0",
            "V16 Radius double 300.0 0.0…300.0",
            "V16 Offset X double 0.0 -100.0…100.0",
            "V16 Offset Y double 2.0 -100.0…100.0",
            "V17 Mass double 1.0 0.01…100.0 read-only",
            "V17 Stiffness double 100.0 0.0…1000.0 read-only",
            "V17 Damping double 10.0 0.0…100.0 read-only",
            "V17 Initial Velocity double 0.0 -100.0…100.0 read-only",
            "V18 Top double 0.0 -1000.0…1000.0",
            "V18 Left double 0.0 -1000.0…1000.0",
            "V18 Bottom double 0.0 -1000.0…1000.0",
            "V18 Right double 0.0 -1000.0…1000.0",
            "V19 double 1.0 s 0.01…60.0",
            "V20 string [80, 443] int64 min=1 max=65535",
            "V21 string [1.0] double",
            "V22 string [] string",
            "V23 double? 1.0 0.1…2.0",
            "V24 int64? none",
            "V25 bool? false",
            "V26 string? \"\\none\"",
            "V27 float? none",
        ]
        // Each is there twice, static and global, and says the same.
        #expect(rows.allSatisfy { $0.contains(" and 1 more") })
        #expect(rows.map { $0.replacing(" and 1 more", with: "") }.sorted() == expected.sorted())
        #expect(lint.succeeded, "\(lint.output)")
    }

    @Test(arguments: ["-Onone", "-O"])
    func `#tweakAction declares an action wherever it stands`(level: String) throws {
        let (rows, lint) = try dumped(MacroSources.actions, [level])
        #expect(
            rows.sorted() == [
                "In a file action", "In a function action", "In a type action clears",
                "On the main actor action",
            ])
        #expect(lint.succeeded, "\(lint.output)")
    }

    @Test(arguments: ["-Onone", "-O"])
    func `The process runs actions, sets tweaks and reads them`(level: String) throws {
        let source =
            MacroSources.actions + MacroSources.types + """
                @Tweakable("A", "B", "Width", in: 0...100) var width = 60
                enum Spring {
                    @Tweakable("A", "B", "Curve") static var curve = Curve.easeIn
                    @Tweakable("A", "B", "Bounce") static var bounce = TweakSpring(stiffness: 200)
                    @Tweakable("A", "B", "Angle", in: 0...360) static var angle = Angle(rawValue: 45.0)
                }
                func delay() -> Duration { #tweak("A", "B", "Delay", default: .seconds(1)) }
                @main struct Program {
                    static func main() throws {
                        for name in ["In a type", "In a file", "In a function"] {
                            try TweakStore.shared.run(TweakKey("SecretCategory", "B", name))
                        }
                        try $width.set(70)
                        try Spring.$curve.set(.easeOut)
                        try TweakStore.shared.set(2.5, for: TweakKey("A", "B", "Delay"))
                        print(width, $width.value, $width.defaultValue, Spring.curve, delay())
                        print($width.key, $width.limits, Spring.$curve.choices)
                        try Spring.$bounce.mass.set(3)
                        print(Spring.bounce, Spring.$bounce.value == Spring.bounce, Spring.$bounce.keys)
                        try Spring.$angle.set(Angle(rawValue: 400))
                        print(Spring.angle, Spring.$angle.value, Spring.$angle.defaultValue)
                    }
                }
                """
        try build(source, [level])
        let ran = try run(home("program"), home: home)
        #expect(
            ran.output == """
                SecretClear
                cleared
                in a file
                in a function
                70 70 60 easeOut 2.5 seconds
                A/B/Width (minimum: Optional(0), maximum: Optional(100)) [program.Curve.linear, program.Curve.easeIn, program.Curve.easeOut]
                TweakSpring(mass: 3.0, stiffness: 200.0, damping: 10.0, initialVelocity: 0.0) true [A/B/Bounce Mass, A/B/Bounce Stiffness, A/B/Bounce Damping, A/B/Bounce Initial Velocity]
                Angle(rawValue: 360.0) Angle(rawValue: 360.0) Angle(rawValue: 45.0)

                """)
        #expect(ran.error.isEmpty && ran.succeeded)
    }

    @Test func `An action of the main actor is done when that has run it, whichever library asks`() throws {
        try build(
            """
            import Glibc
            import Tweaks
            #tweakAction("A", "B", "There", on: MainActor.self) { print("ran") }
            @main struct Program {
                static func main() async throws {
                    while access("go", F_OK) != 0 { usleep(1000) }
                    while access("end", F_OK) != 0 { try await Task.sleep(for: .milliseconds(1)) }
                }
            }
            """, ["-Onone"])
        try #require(mkdir(home("runtime"), 0o700) == 0)
        for environment in [[:], ["LD_PRELOAD": try Installation.path("lib/libtweaks.so.0")]] {
            let program = try start(home("program"), home: home, environment: environment, in: home.path)
            defer { program.kill() }
            let tweak = {
                try run(
                    "\(Locations.commands)/tweak", ["run", "\(program.processID)", "There"] + $0, home: home
                ).output
            }
            #expect(try tweak([]) == "A/B/There: handed to the main actor\n")
            try home.write("go", "")
            #expect(try tweak(["--wait"]) == "A/B/There: done\n")
            try home.write("end", "")
            #expect(program.wait().output == "ran\nran\n")
            for name in ["go", "end"] { try FileManager.default.removeItem(atPath: home(name)) }
        }
    }

    @Test func `The running program adds the cases of an enumeration and their raw values`() throws {
        try build(
            """
            import Tweaks
            enum Curve: String, CaseIterable, TweakableEnum { case linear, easeIn = "ease-in" }
            enum Level: Int, CaseIterable, TweakableEnum { case low = 2, high }
            @Tweakable("A", "B", "Curve") var curve: Curve = .easeIn
            @Tweakable("A", "B", "Level", choices: [1: "low", 2: "high"]) var level: Level = .low
            func local() -> String {
                enum Local: String, CaseIterable, TweakableEnum { case a, b = "bb" }
                return "\\(#tweak("A", "B", "Local", default: Local.b))"
            }
            @main struct Program {
                static func main() {
                    for tweak in TweakStore.shared.categories[0].collections[0].tweaks {
                        print(tweak.declaration.key.name, tweak.value, tweak.source, tweak.declaration.choices)
                    }
                    print(curve, level, local())
                }
            }
            """, ["-Onone", "-strict-memory-safety", "-warnings-as-errors"])
        let ran = try run(
            home("program"), home: home,
            environment: ["TWEAKS": #"{"A": {"B": {"Curve": "easy", "Local": "a"}}}"#])
        #expect(
            ran.output == """
                Curve ease-in default ["linear", "ease-in" (easeIn)]
                Level 2 default [2 (low), 3 (high)]
                Local a environment ["a", "bb" (b)]
                easeIn low a

                """)
        #expect(ran.error.contains(#"A/B/Curve: "easy" is not among the choices"#), "\(ran.error)")
        #expect(ran.succeeded)
    }

    @Test(arguments: ["-Onone", "-O"])
    func `A CGFloat has the value of its tweak`(level: String) throws {
        try build(
            """
            import Foundation
            import Tweaks
            @Tweakable("A", "B", "Inset", in: 0...100) var inset: CGFloat = 8
            @main struct Program {
                static func main() throws {
                    let scale: CGFloat = #tweak("A", "B", "Scale", default: 2, unit: "x")
                    try $inset.set(scale * 1.5)
                    print(inset * scale, type(of: inset), $inset.value, $inset.limits)
                }
            }
            """, [level])
        let ran = try run(
            home("program"), home: home, environment: ["TWEAKS": #"{"A": {"B": {"Scale": 2.5}}}"#])
        #expect(ran.output == "9.375 CGFloat 3.75 (minimum: Optional(0.0), maximum: Optional(100.0))\n")
        #expect(ran.error.isEmpty && ran.succeeded)
    }

    @Test(arguments: ["-Onone", "-O"])
    func `The process reads arrays that were set, and refuses what is none`(level: String) throws {
        try build(
            """
            import Tweaks
            @Tweakable("A", "B", "Ports", in: 1...65535) var ports = [80, 443]
            @Tweakable("A", "B", "Hosts") var hosts = ["localhost"]
            @main struct Program {
                static func main() throws {
                    let weights = #tweak("A", "B", "Weights", default: [0.25, 0.5], in: 0...1)
                    try $hosts.set(["a", "\\u{1F600}\\""])
                    print(ports, hosts, weights, $hosts.key)
                }
            }
            """, [level, "-strict-memory-safety", "-warnings-as-errors"])
        let ran = try run(
            home("program"), home: home,
            environment: ["TWEAKS": #"{"A": {"B": {"Ports": "[8080,1]", "Weights": "[2]"}}}"#])
        #expect(ran.output == "[8080, 1] [\"a\", \"😀\\\"\"] [0.25, 0.5] A/B/Hosts\n")
        #expect(
            ran.error.contains(
                #"A/B/Weights: "[2]" is not an array: 2 is outside the limits; allowed: a JSON array, each"#),
            "\(ran.error)")
        #expect(ran.succeeded)
    }

    /// Builds the program of a source.
    private func build(_ source: String, _ flags: [String]) throws {
        let file = try home.write("Program.swift", source)
        let result = try run(
            Locations.program("swiftc"),
            ["-swift-version", "6", "-parse-as-library", "-DDEBUG", file, "-o", home("program")]
                + flags + Example.compilerFlags + Example.libraryObjects + ["-lelf", "-lstdc++"], home: home,
            environment: ["TMPDIR": home.path])
        guard result.succeeded else { throw CompilationError(description: result.error) }
    }
}
