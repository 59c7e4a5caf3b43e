// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// The example is a package that depends on this one. ``The main job`` is about its debug build with the dynamic standard
/// library; here it is built as other programs are.
@Suite struct `The example in other builds` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    // Each takes some minutes. The debug build of the other tests has tweaks, too.
    private static let withTweaks: [ExampleBuild] =
        isLong ? [.debug.withStaticLibrary, .enabled, .enabled.withStaticLibrary] : []
    private static let withConstants: [ExampleBuild] =
        isLong ? [.release.withStaticLibrary, .release, .release.withTrait] : [.direct]

    private func frame(_ program: String) throws -> String {
        let result = try run(program, ["1"], home: home)
        #expect(result.succeeded && result.error.isEmpty)
        return result.output
    }

    private func set(_ program: String, _ values: KeyValuePairs<String, String>) throws {
        for (name, value) in values {
            #expect(try run(Locations.product("tweak"), ["set", program, name, value], home: home).succeeded)
        }
    }

    @Test(.enabled(if: isLong, "each build takes some minutes"), arguments: withTweaks)
    func `With tweaks all are listed`(build: ExampleBuild) async throws {
        let images = try await dumpedJSON(["--libraries", build.path("spring")]).images
        typealias Listed = `The tweaks of the example`
        #expect(images.map { Listed.withoutLocations($0.tweaks) } == [Listed.program, Listed.library])
        #expect(images.map(\.tweaks.count) == [Listed.program.count, Listed.library.count])
    }

    @Test(.enabled(if: isLong, "each build takes some minutes"), arguments: withTweaks)
    func `With tweaks C, its library and Swift have what is set`(build: ExampleBuild) async throws {
        let spring = try await build.path("spring")
        try set(spring, ["Spring/Drawing/Glyph": "#", "Spring/Scene/Label": "coil"])
        let before = try frame(spring)
        #expect(before.hasPrefix("coil |") && before.contains("#"))
        try set(spring, ["Spring/Physics/Stiffness": "900"])
        #expect(try frame(spring) != before)
    }

    @Test(arguments: withConstants)
    func `Without tweaks it has what the programmer wrote, whatever is set`(build: ExampleBuild) async throws
    {
        let tweakable = try Example.path("spring")
        let unchanged = try frame(tweakable)
        // Both have the same name, and so the same overrides.
        try set(tweakable, ["Spring/Drawing/Glyph": "#", "Spring/Physics/Stiffness": "900"])
        #expect(try frame(tweakable) != unchanged)
        let constant = try await frame(build.path("spring"))
        #expect(constant == unchanged)
    }

    @Test(arguments: withConstants, ["spring", "libSpringPhysics.so"])
    func `Without tweaks no section and no name is left`(build: ExampleBuild, file: String) async throws {
        let path = try await build.path(file)
        let sections = try run(Locations.program("readelf"), ["-SW", path], home: home)
        #expect(sections.output.contains(" .text ") && !sections.output.contains(" fbtweak "))
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        for name in ["Frames per second", "Time step", "Stiffness"] {
            #expect(bytes.range(of: Data(name.utf8)) == nil, "\(name)")
        }
    }

    @Test(arguments: withTweaks + withConstants)
    func `The standard library is where the build says`(build: ExampleBuild) async throws {
        let needed = try await run(Locations.program("readelf"), ["-dW", build.path("spring")], home: home)
            .output
        #expect(needed.contains("[libSpringPhysics.so]"))
        #expect(needed.contains("[libswiftCore.so]") != build.isStatic)
    }
}
