// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

/// What a monitor is in an object file.
@Suite struct `Monitors in object code` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private static let types = [
        ("bool", "Bool"), ("signed char", "Int8"), ("unsigned char", "UInt8"), ("short", "Int16"),
        ("unsigned short", "UInt16"), ("int", "Int32"), ("unsigned", "UInt32"), ("long", "Int"),
        ("unsigned long long", "UInt64"), ("float", "Float"), ("double", "Double"),
    ]

    private static let cSource = """
        #include <fbtweak.h>
        #ifdef AS_NOTHING
        #define MONITOR(...) ((void)0)
        #else
        #define MONITOR(...) FBTweakMonitor("SecretCategory", "SecretCollection", __VA_ARGS__)
        #endif

        """
        + types.enumerated().map { place, type in
            """
            static volatile \(type.0) plain_\(place);
            void store_\(place)(\(type.0) x) { plain_\(place) = x; }
            void monitor_\(place)(\(type.0) x) { MONITOR("Secret\(place)", x); }

            """
        }.joined() + """
            void with_options(double x, int state) {
              MONITOR("SecretOptions", x * 2, -1, 1, FBTweakUnit("Secret"), FBTweakPrecision(2),
                      FBTweakDescription("Secret"), FBTweakOwner("Secret"));
              MONITOR("SecretStates", state, FBTweakChoices("SecretIdle", "SecretBusy"));
            }
            int only_monitored(void) {
              int count = 0;
              count += 2;
              MONITOR("SecretCount", count++);
              return 1;
            }
            """

    @Test(arguments: Compiler.present, Language.allCases)
    func `A monitor is stored as a volatile variable is`(compiler: Compiler, language: Language) throws {
        let flags = ["-O2", "-DDEBUG", language == .c ? "-std=c11" : "-std=c++17"]
        let object = try cObject(Self.cSource, as: language, with: compiler, flags, home: home)
        for place in Self.types.indices {
            let code = object.function("monitor_\(place)").filter { $0.mnemonic != "nopw" }
            let plain = object.function("store_\(place)")
            #expect(!code.isEmpty)
            #expect(
                code.prefix { $0.mnemonic != "ret" }.map(\.mnemonic)
                    == plain.prefix { $0.mnemonic != "ret" }.map(\.mnemonic), "\(Self.types[place].0)")
        }
    }

    @Test(arguments: Compiler.present, ["-O0", "-O2"])
    func `Where there are no tweaks nothing is left, and no compiler warns`(
        compiler: Compiler, level: String
    ) throws {
        let flags = [level, "-std=c11", "-Wall", "-Wextra", "-Wunused-but-set-variable", "-Werror"]
        let monitors = try cObject(Self.cSource, with: compiler, flags, home: home)
        // There the variable is used by nobody.
        let nothing = try cObject(
            Self.cSource, with: compiler, flags + ["-DAS_NOTHING", "-Wno-error"], home: home)
        #expect(monitors.code == nothing.code)
        #expect(monitors.sections == nothing.sections)
        #expect(!monitors.contains("Secret"))
        for language in Language.allCases {
            let standard = language == .c ? "-std=c11" : "-std=c++17"
            for enabled in ["-DDEBUG", "-DNDEBUG"] {
                _ = try cObject(
                    Self.cSource, as: language, with: compiler,
                    [level, standard, "-Wall", "-Wextra", "-Werror", enabled], home: home)
            }
        }
    }

    private static let swiftSource =
        "import Tweaks\n"
        + types.map(\.1).map {
            """
            public func monitor\($0)(_ x: \($0)) { #tweakMonitor("SecretCategory", "B", "\($0)", x) }

            """
        }.joined() + """
            public func options(_ x: Double, _ state: Int) {
                #tweakMonitor("SecretCategory", "B", "Options", x * 2, in: -1...1, precision: 2, unit: "Secret",
                    description: "Secret", owner: "Secret")
                #tweakMonitor("SecretCategory", "B", "States", state, choices: ["SecretIdle", "SecretBusy"])
                #tweakMonitor("SecretCategory", "B", "Numbered", UInt8(3), choices: [0: "SecretIdle", 4: "SecretBusy"])
            }
            public func onlyMonitored() {
                var count = 0
                count += 2
                #tweakMonitor("SecretCategory", "B", "Count", count)
            }
            public func changed(_ x: inout Int) {
                x &+= 1
                #tweakMonitor("SecretCategory", "B", "Changed", x > 3)
            }
            public final class Motor {
                @TweakMonitored("SecretCategory", "Motor", "Speed", in: 0...8000, unit: "Secret") public var speed = 0.0
                @TweakMonitored("SecretCategory", "Motor", "Phase", choices: ["SecretOff", "SecretOn"])
                public nonisolated(unsafe) static var phase: Int32 = 0
                public init() {}
                public func spin() { speed += 1 }
            }
            """

    @Test func `In Swift it is one store and no call`() throws {
        let object = try swiftObject(
            Self.swiftSource, ["-DFB_TWEAK_ENABLED", "-warnings-as-errors", "-swift-version", "6"], home: home
        )
        for type in Self.types.map(\.1) {
            let code = object.function("5Reads\(type.utf8.count + 7)monitor\(type)")
            #expect(code.filter { $0.relocation != nil }.count == 1, "\(type)")
            #expect(code.filter { !$0.mnemonic.hasPrefix("nop") }.count <= 3, "\(type): \(code.map(\.text))")
        }
        let table = try dump([try written(Self.swiftSource)], home: home).output
        #expect(table.contains("0…8000.0") || table.contains("0.0…8000.0"))
        #expect(table.contains("0 (SecretIdle) | 4 (SecretBusy)"))
        #expect(table.contains("0 (SecretOff) | 1 (SecretOn)"))
    }

    private func written(_ source: String) throws -> String {
        let file = try home.write("Monitors.swift", source)
        let output = home("Monitors.o")
        let result = try run(
            Locations.program("swiftc"),
            ["-parse-as-library", "-DDEBUG", "-emit-object", file, "-o", output] + Example.compilerFlags,
            home: home,
            environment: ["TMPDIR": home.path])
        #expect(result.succeeded, "\(result.error)")
        return output
    }

    @Test func `In Swift nothing is left where there are no tweaks`() throws {
        let object = try swiftObject(
            Self.swiftSource, ["-warnings-as-errors", "-swift-version", "6"], home: home)
        #expect(!object.contains("Secret"))
        #expect(!object.sections.contains("fbtweak"))
        #expect(object.function("5Reads13onlyMonitored").map(\.mnemonic).first == "ret")
    }
}
