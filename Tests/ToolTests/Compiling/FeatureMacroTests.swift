// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `The macros for features` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private static let source = """
        #include <fbtweak.h>
        bool sound(void) { return FBTweakFeature("Sound", true, FBTweakDescription("what is heard")); }
        bool bass(void) { return sound() && FBTweakFeaturePart("Sound", "Bass", false); }

        """
    private static let swiftSource = """
        import Tweaks
        func sound() -> Bool { #feature("Sound", default: true, description: "what is heard") }
        func bass() -> Bool { sound() && #feature("Sound", part: "Bass", default: false) }
        """
    private static let rows = ["Bass bool false", "enabled bool true what is heard"]

    private func rows(_ object: String) throws -> [String] {
        try dump([object], home: home).output.split(separator: "\n").dropFirst(3).map { line in
            line.split(separator: " ", omittingEmptySubsequences: true)
                .filter { !$0.contains("feature.") }.joined(separator: " ")
        }.sorted()
    }

    @Test(arguments: [("c", "gcc"), ("cpp", "g++"), ("c", "clang"), ("cpp", "clang++")])
    func `of C and C++ are tweaks of the type bool`(language: String, compiler: String) throws {
        let file = try home.write("feature.\(language)", Self.source)
        let object = home("feature.o")
        let flags = [
            "-Wall", "-Wextra", "-Wpedantic", "-Werror", language == "c" ? "-std=c11" : "-std=c++17", "-I",
            Locations.package + "/CSupport/include",
        ]
        for enabled in [1, 0] {
            let result = try run(
                Locations.program(compiler),
                flags + ["-DFB_TWEAK_ENABLED=\(enabled)", "-c", file, "-o", object], home: home)
            #expect(result.succeeded, "\(result.error)")
            if enabled == 1 { #expect(try rows(object) == Self.rows) }
        }
        #expect(try dump([object], home: home).output.contains("no tweaks"))
    }

    @Test func `of Swift is the same tweak`() throws {
        let file = try home.write("feature.swift", Self.swiftSource)
        let object = home("feature.o")
        let result = try run(
            Locations.program("swiftc"),
            ["-swift-version", "6", "-parse-as-library", "-DDEBUG", "-emit-object", file, "-o", object]
                + Example.compilerFlags, home: home, environment: ["TMPDIR": home.path])
        #expect(result.succeeded, "\(result.error)")
        #expect(try rows(object) == Self.rows)
    }
}
