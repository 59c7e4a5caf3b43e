// SPDX-License-Identifier: BSD-3-Clause
/// Swift sources with the macros, for the tests of what they become.
enum MacroSources {
    /// The declarations that the functions and variables need.
    static let types = """
        import Tweaks
        public enum Curve: String, CaseIterable, TweakableEnum { case linear, easeIn, easeOut = "out" }
        public enum Order: String, CaseIterable, TweakableEnum { case zero, one }
        public enum Level: Int, CaseIterable, TweakableEnum { case low = 1, high }
        public struct Angle: TweakableRawRepresentable {
            public var rawValue: Double
            @inlinable public init(rawValue: Double) { self.rawValue = rawValue }
        }
        public struct Mark: TweakableRawRepresentable {
            public var rawValue: Int
            @inlinable public init(rawValue: Int) { self.rawValue = rawValue }
        }
        public struct Font: TweakableRawRepresentable {
            public var rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }
        }

        """

    /// A function that reads a tweak: its name, its type, the default, and the options.
    static let reads: [(name: String, type: String, value: String, options: String)] = [
        ("readBool", "Bool", "true", ""),
        ("readInt", "Int", "42", ""),
        ("readLimitedInt", "Int", "42", ", in: 0...100, step: 5, unit: \"SecretUnit\""),
        ("readScaledInt", "Int", "42", ", in: 1...100, scale: .log, pair: \"readDouble\", unit: \"m\""),
        ("readInt8", "Int8", "-5", ", in: -100...100"),
        ("readInt16", "Int16", "-300", ", choices: [-300, 5]"),
        ("readInt32", "Int32", "-70_000", ", readOnly: true"),
        ("readInt64", "Int64", "-9_223_372_036_854_775_808", ", needsRestart: true, owner: \"Secret\""),
        ("readUInt", "UInt", "0b101", ", readOnly: false"),
        ("readUInt8", "UInt8", "0xc8", ", in: 0o7...0xff"),
        ("readUInt16", "UInt16", "60000", ", choices: [60000: \"SecretMany\", 5: \"\"]"),
        ("readUInt32", "UInt32", "4_000_000_000", ", expires: \"2027-01-31\""),
        ("readUInt64", "UInt64", "18_446_744_073_709_551_615", ", description: \"Secret\""),
        ("readFloat", "Float", "0.1", ", in: -1...1, step: 0.25, precision: 2, unit: \"m\""),
        ("readDouble", "Double", "1.5", ""),
        ("readLimitedDouble", "Double", "1", ", in: 0...0x1p3, precision: 0"),
        (
            "readDuration", "Duration", ".milliseconds(300)",
            ", in: .milliseconds(1) ... .seconds(5), step: .seconds(0.5), scale: TweakScale.log"
        ),
        ("readColor", "TweakColor", "TweakColor(red: 1, green: 2, blue: 3, alpha: 4)", ""),
        ("readLevel", "Level", "Level.high", ", choices: [1: \"low\", 2: \"high\"]"),
        ("readString", "String", "\"text longer than fifteen\"", ""),
        ("readChoice", "String", "\"a\"", ", choices: [\"a\": \"SecretLabel\", \"b\": \"\"]"),
        ("readCurve", "Curve", "Curve.easeIn", ""),
        (
            "readNamedCurve", "Curve", "Curve.easeOut",
            ", choices: [\"linear\": \"linear\", \"out\": \"easeOut\"]"
        ),
        (
            "readAngle", "Angle", "Angle(rawValue: 45)",
            ", in: 0...360, step: 15, precision: 0, scale: .linear, pair: \"readDouble\", unit: \"deg\""
        ),
        ("readMark", "Mark", ".init(rawValue: 3)", ", choices: [3, 4]"),
        ("readFont", "Font", "Font(rawValue: \"Plain Font\")", ""),
        ("readPorts", "[Int]", "[80, 0x1bb]", ", in: 1...65535, description: \"Secret\""),
        ("readWeights", "[Double]", "[1, 0.5]", ", in: -1...1"),
        ("readHosts", "[String]", "[\"localhost\", \"a\\\"b\"]", ", readOnly: true"),
        ("readNothing", "[Int]", "[]", ""),
        ("readNoLimit", "Double?", "nil", ", in: 0.1...2, unit: \"m\""),
        ("readNoGain", "Float?", "nil", ""),
        ("readNoRetries", "Int?", "nil", ", in: 0...10, step: 2"),
        ("readNoFlag", "Bool?", "nil", ", readOnly: true"),
        ("readSomeFlag", "Bool?", ".some(true)", ""),
        ("readPromoted", "Double?", "1.5", ""),
        ("readNoHost", "String?", "nil", ", description: \"Secret\""),
    ]

    /// The functions with tweaks, or with the constants.
    static func functions(asConstants: Bool = false) -> String {
        types
            + reads.map {
                let tweak =
                    "#tweak(\"SecretCategory\", \"SecretCollection\", \"\($0.name)\", default: \($0.value)\($0.options))"
                return "public func \($0.name)() -> \($0.type) { \(asConstants ? $0.value : tweak) }\n"
            }.joined()
    }

    /// Variables that are tweaks: the declaration and the options.
    static let variables: [(declaration: String, options: String)] = [
        ("var gain = 0.5", ", in: 0...1, step: 0.25, scale: .linear, pair: \"V1\""),
        ("var float: Float = 0.5", ", in: 0...1"),
        ("var width = 60", ", unit: \"SecretUnit\""),
        ("var small: UInt8 = 7", ", choices: [7, 8]"),
        ("var on = true", ""),
        ("var title = \"SecretDefault\"", ""),
        ("var delay: Duration = .seconds(5)", ", in: Duration.seconds(0) ... .seconds(9)"),
        ("var ink = TweakColor(red: 1, green: 2, blue: 3)", ""),
        ("var level: Level = .high", ", choices: [1: \"low\", 2: \"high\"]"),
        ("var curve = Curve.easeIn", ""),
        ("var order = Order.zero", ""),
        ("nonisolated var pause = Duration.zero", ""),
        ("var angle = Angle(rawValue: 45.0)", ", in: 0...360"),
        ("var mark: Mark = .init(rawValue: 3)", ""),
        ("var font = Font(rawValue: \"Plain Font\")", ""),
        ("var fade = TweakAnimation(duration: .seconds(2), curve: .linear)", ", description: \"Secret\""),
        ("var shadow: TweakShadow = .init(opacity: 0.5, radius: 300)", ""),
        ("var spring: TweakSpring = .spring", ", readOnly: true"),
        ("var insets = TweakEdgeInsets()", ""),
        (
            "var timeout: Duration = .seconds(1)",
            ", in: .milliseconds(10) ... .seconds(60), step: .milliseconds(5)"
        ),
        ("var ports = [80, 443]", ", in: 1...65535"),
        ("var weights: [Double] = [1]", ""),
        ("var hosts: Swift.Array<String> = []", ""),
        ("var limit: Double? = 1", ", in: 0.1...2"),
        ("var retries: Optional<Int> = nil", ""),
        ("var quiet: Swift.Optional<Bool> = false", ""),
        ("var host: String? = \"none\"", ""),
        ("var implied: Float?", ""),
    ]

    /// Static and global variables with tweaks.
    static var properties: String {
        let attributed = variables.enumerated().map { place, variable in
            (
                "@Tweakable(\"SecretCategory\", \"SecretCollection\", \"V\(place)\"\(variable.options)) public",
                variable.declaration
            )
        }
        return types + "public enum Spring {\n"
            + attributed.map { "    \($0) static \($1)\n" }.joined() + "}\n"
            + attributed.map { "\($0) \($1)\n" }.joined()
    }

    static let actions = """
        import Tweaks
        public enum Canvas {
            static func clear() { print("SecretClear") }
            #tweakAction("SecretCategory", "B", "In a type", description: "clears", owner: "us", expires: "2027-01-31") {
                clear()
                print("cleared")
            }
        }
        #tweakAction("SecretCategory", "B", "In a file") { print("in a file") }
        #tweakAction("SecretCategory", "B", "On the main actor", on: MainActor.self) { onlyThere() }
        @MainActor func onlyThere() {}
        public func function() {
            #tweakAction("SecretCategory", "B", "In a function", action: { print("in a function") })
        }

        """
}
