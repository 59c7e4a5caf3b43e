// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing
import TweakRecords
import TweakSources

@Suite struct `Initializers of variables declared as tweaks` {
    private let sources: BakedSources

    init() throws { sources = try BakedSources() }

    private static let source = """
        #include <fbtweak.h>
        struct ball { double mass; float spin[3]; };
        static double gravity = -9.81; // falls
        static struct ball ball = {.mass = 0.2, .spin = {1, 0, 0.25f}};
        static struct ball other = {1.5};
        static float table[] = {0.1f, 0.4f, 0.9f};
        static unsigned mask = 0xFFu, zero;
        FBTweakVariable(gravity, "Game", "Physics", "Gravity", -50, 0)
        FBTweakVariable(ball.mass, "Game", "Ball", "Mass")
        FBTweakVariable(ball.spin, "Game", "Ball", "Spin")
        FBTweakVariable(other.mass, "Game", "Other", "Mass")
        FBTweakVariable(table, "Game", "Curve", "Point")
        FBTweakVariable(mask, "Game", "", "Mask")
        FBTweakVariable(zero, "Game", "", "Zero")
        double used(void) { double level = gravity; return level + table[0] + ball.mass + other.mass + mask + zero; }

        """

    /// Compiles a source, and bakes values into it.
    ///
    /// - Returns: The new source, and the reasons why tweaks stay.
    private func baked(
        _ text: String, as file: String = "game.c", _ values: [String: TweakValue]
    ) throws -> (text: String, staying: [StayingTweak]) {
        try sources.home.write(file, text)
        let tweaks = try sources.compiled(file)
        var baking = SourceBaking(
            folders: SourceFolders(given: nil, working: sources.home.path), isWriting: true)
        for (name, value) in values {
            let declared = tweaks.filter { "\($0.key.collection)/\($0.key.name)" == name }
            try #require(!declared.isEmpty, "\(name)")
            baking.add(declared.map { CompiledDeclaration($0) }) { (tweak) throws(TweakValueError) in
                try tweak.admit(value)
            }
        }
        try baking.write()
        return (try sources.text(file), baking.staying)
    }

    @Test func `are changed, also of members and elements`() throws {
        let result = try baked(
            Self.source,
            [
                "Physics/Gravity": -1.62, "Ball/Mass": 0.5, "Ball/Spin[2]": 7.5, "Other/Mass": 2.5,
                "Curve/Point[1]": 0.75, "/Mask": 16,
            ])
        #expect(result.staying.isEmpty, "\(result.staying.map(\.message))")
        let changed = Self.source.replacing("gravity = -9.81", with: "gravity = -1.62")
            .replacing(".mass = 0.2", with: ".mass = 0.5").replacing("0.25f", with: "7.5f")
            .replacing("other = {1.5}", with: "other = {2.5}").replacing("0.4f", with: "0.75f")
            .replacing("0xFFu", with: "0x10u")
        #expect(result.text == changed)
        // The compiled defaults are the new values.
        let again = try sources.compiled("game.c").first { $0.key.name == "Spin[2]" }
        #expect(again?.defaultValue == 7.5)
    }

    @Test func `stay with the reason where there is no literal`() throws {
        let result = try baked(Self.source, ["/Zero": 5])
        #expect(result.text == Self.source)
        #expect(result.staying.map(\.reason) == ["the variable zero has no initializer there"])
    }

    @Test(arguments: [
        "int used(void) { int result = level; { int level = 4; result += level; } return result; }",
        "int used(void) { static int level = 4; return level; }",
        "int used(void) { for (int level = 0; level < 3; level++) puts(\"\"); return 1; }",
        "int used(void) { struct { int level; } a = {.level = 4}; return a.level + level; }",
    ])
    func `are those of the file, and of no other variable`(function: String) throws {
        func text(_ initializer: String) -> String {
            """
            #include <fbtweak.h>
            #include <stdio.h>
            \(function.hasPrefix("int used(void) { struct") ? "" : "extern int level;")
            int level\(initializer);
            FBTweakVariable(level, "A", "B", "C")
            \(function)

            """
        }
        let changed = try baked(text(" = 3"), ["B/C": 5])
        #expect(changed.staying.isEmpty && changed.text == text(" = 5"), "\(changed.staying.map(\.message))")
        let kept = try baked(text(""), ["B/C": 5])
        #expect(kept.text == text(""))
        #expect(kept.staying.map(\.reason) == ["the variable level has no initializer there"])
    }

    @Test(arguments: [
        "namespace other { int level = 4; }", "struct Other { int level = 4; };",
        "struct Other { inline static int level = 4; };", "inline int f(int level = 4) { return level; }",
    ])
    func `in C++ are of no other scope`(other: String) throws {
        let text = """
            #include <fbtweak.h>
            \(other)
            static int level;
            FBTweakVariable(level, "A", "B", "C")
            int used() { int level{4}; return level + ::level; }

            """
        let result = try baked(text, as: "game.cpp", ["B/C": 5])
        #expect(result.text == text)
        #expect(result.staying.map(\.reason) == ["the variable level has no initializer there"])
    }

    @Test func `in C++ have the scope of their name`() throws {
        let text = """
            #include <fbtweak.h>
            struct A { static int width; }; struct B { static int width; };
            int A::width = 4; int B::width = 4;
            namespace n { int depth = 1; } namespace m { int depth = 1; }
            namespace { int hidden = 1; }
            FBTweakVariable(A::width, "A", "B", "Width")
            FBTweakVariable(m::depth, "A", "B", "Depth")
            FBTweakVariable(hidden, "A", "B", "Hidden")

            """
        let result = try baked(text, as: "game.cpp", ["B/Width": 7, "B/Depth": 7, "B/Hidden": 7])
        #expect(result.staying.isEmpty, "\(result.staying.map(\.message))")
        let changed = text.replacing("A::width = 4", with: "A::width = 7")
            .replacing("m { int depth = 1", with: "m { int depth = 7").replacing(
                "hidden = 1", with: "hidden = 7")
        #expect(result.text == changed)
    }

    @Test func `in C++ have scopes`() throws {
        let text = """
            #include <fbtweak.h>
            namespace game { int lives = 3; struct Ball { static double drag; }; double Ball::drag = 1.25; }
            FBTweakVariable(game::lives, "A", "B", "Lives", 1, 9)
            FBTweakVariable(game::Ball::drag, "A", "B", "Drag")

            """
        let result = try baked(text, as: "game.cpp", ["B/Lives": 5, "B/Drag": 2.5])
        #expect(result.staying.isEmpty, "\(result.staying.map(\.message))")
        #expect(
            result.text
                == text.replacing("lives = 3", with: "lives = 5").replacing("= 1.25", with: "= 2.5"))
    }
}
