// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

/// Tests of a program in a module of their own, with the handles that macros make.
@Suite struct `Traits with handles` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func compile(_ file: String, _ source: String, _ flags: [String]) throws -> CommandResult {
        let modules = try Example.libraryFlags(Example.directory.get(), and: ["CCommandSupport"])
        return try run(
            Locations.program("swiftc"),
            ["-swift-version", "6", "-parse-as-library", "-DDEBUG", "-warnings-as-errors", "-I", home.path]
                + flags + [home.write(file, source)] + modules + Example.compilerFlags, home: home,
            environment: ["TMPDIR": home.path])
    }

    @Test func `They take those of the program, and those of the tests by another name`() throws {
        let program = """
            import Tweaks
            enum Model {
                @Tweakable("App", "Model", "Gain", in: 0...1) static var gain = 0.5
                @Tweakable("App", "Model", "Rate") static var rate = 30
            }

            """
        let tests = """
            import Testing
            import Tweaks
            import TweaksTesting
            @testable import App
            enum Own { @Tweakable("App", "Tests", "Count") static var count = 1 }
            private let count = Own.$count
            @Suite(.tweaks(Model.$rate, 60)) struct Models {
                @Test(.tweaks(Model.$gain, 0.75), .processTweaks(count, 2)) func gain() {
                    #expect(Model.gain == 0.75)
                }
            }

            """
        let compiled = try compile(
            "App.swift", program,
            ["-module-name", "App", "-enable-testing", "-emit-module", "-o", home("App.swiftmodule")])
        #expect(compiled.succeeded, "\(compiled.error)")
        let checked = try compile("Tests.swift", tests, ["-module-name", "AppTests", "-typecheck"])
        #expect(checked.succeeded, "\(checked.error)")
        let direct = tests.replacing("(count,", with: "(Own.$count,")
        let refused = try compile("Tests.swift", direct, ["-module-name", "AppTests", "-typecheck"])
        #expect(refused.error.contains("type 'Own' has no member '$count'"))
    }
}
