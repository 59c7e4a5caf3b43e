// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

/// What the demo shows, from the outside: the example and the two commands.
@Suite struct `The main job` {
    private let home: TemporaryDirectory
    private let spring: String

    init() throws {
        home = try TemporaryDirectory()
        spring = try Example.path("spring")
    }

    private func frames(_ count: Int = 1) throws -> [Substring] {
        let result = try run(spring, ["\(count)"], home: home)
        #expect(result.succeeded && result.error.isEmpty)
        return result.output.split(separator: "\n")
    }

    private func tweak(_ arguments: String...) throws -> CommandResult {
        try run(Locations.product("tweak"), arguments, home: home)
    }

    /// What a spring draws after it was pulled one way and let go; a stiffer one is further back after a frame.
    private func place(of glyph: Character, in frame: Substring) throws -> Int {
        try #require(frame.firstIndex(of: glyph).map { frame.distance(from: frame.startIndex, to: $0) })
    }

    @Test func `A change of a constant in a C library is saved for the next run`() throws {
        let before = try place(of: "●", in: frames()[0])
        #expect(try tweak("set", spring, "Spring/Physics/Stiffness", "900").succeeded)
        #expect(try place(of: "●", in: frames()[0]) < before)
        #expect(try tweak("get", spring, "Spring/Physics/Stiffness").output == "900.0\n")
    }

    @Test func `A change of a constant in the C part of the executable is saved for the next run`() throws {
        #expect(try tweak("set", spring, "Spring/Scene/Label", "coil").succeeded)
        #expect(try frames()[0].hasPrefix("coil |"))
    }

    @Test func `Changes of constants in Swift are saved for the next run`() throws {
        #expect(try tweak("set", spring, "Spring/Drawing/Width", "20").succeeded)
        #expect(try tweak("set", spring, "Spring/Drawing/Glyph", "#").succeeded)
        #expect(try tweak("set", spring, "Spring/Drawing/Trail", "off").succeeded)
        let frame = try frames()[0]
        #expect(frame.count == "spring ||".count + 20)
        #expect(frame.contains("#") && !frame.contains("·"))
    }

    @Test func `A reset restores the programmer's constant`() throws {
        let before = try frames(3)
        #expect(try tweak("set", spring, "Spring/Drawing/Glyph", "#").succeeded)
        #expect(try tweak("set", spring, "Spring/Physics/Damped", "false").succeeded)
        #expect(try frames(3) != before)
        #expect(try tweak("reset", spring, "--all").succeeded)
        #expect(try frames(3) == before)
    }
}
