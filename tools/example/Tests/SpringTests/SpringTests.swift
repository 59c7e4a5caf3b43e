import SpringScene
import Testing
import Tweaks
import TweaksTesting

enum Curve: String, CaseIterable, TweakableEnum { case linear, easeIn = "ease-in", easeOut = "ease-out" }

enum Motion {
    @Tweakable("Spring", "Motion", "Gain", in: 0...1) static var gain = 0.5
    @Tweakable("Spring", "Motion", "Curve") static var curve = Curve.linear
}

private let curve = TweakKey("Spring", "Motion", "Curve")
private let damped = TweakKey("Spring", "Physics", "Damped")
private let mass = TweakKey("Spring", "Physics", "Mass")

/// The position after a fifth of a second.
private func position() -> Double {
    var motion = spring(position: 1, velocity: 0)
    spring_scene_advance(&motion, 0.2)
    return motion.position
}

@Suite struct `Tweaks in Swift` {
    @Test func `A value that a test sets is not kept for the next run`() throws {
        #expect(Motion.gain == 0.5)
        try Motion.$gain.set(0.75)
        #expect(Motion.gain == 0.75)
    }

    @Test func `The cases of an enumeration are the choices`() throws {
        #expect(Motion.curve == .linear)
        let choices = try TweakStore.shared.status(of: curve).declaration.choices
        #expect(choices.map(\.value) == ["linear", "ease-in", "ease-out"])

        try Motion.$curve.set(.easeIn)
        #expect(throws: TweakError.self) { try TweakStore.shared.set("bounce", for: curve) }
        #expect(Motion.curve == .easeIn)
    }

    @Test(.tweaks([curve: "ease-out"])) func `A test has the value of its trait`() {
        #expect(Motion.curve == .easeOut)
    }
}

@TweakGroup struct Margins {
    @TweakField(in: 0...100, unit: "px") var left = 8.0
    var rightEdge = 8.0
    @TweakField("Pause", in: .zero ... .seconds(5)) var delay: Duration = .seconds(1)
    let columns = 2
}

@Test func `A structure with the macro is a group of tweaks`() throws {
    let text = try TweakStore().make(group: Margins(), "UI", "Page", "Text")
    #expect(text.keys.map(\.name) == ["Text Left", "Text Right Edge", "Text Pause"])
    try text.set(Margins(left: 500, rightEdge: 4, delay: .seconds(9)))
    #expect(text.value == Margins(left: 100, rightEdge: 4, delay: .seconds(5)))
    #expect(text.left.declaration?.unit == "px")
}

/// C sees the values of the trait `processTweaks`. Tests with this trait take turns, so without values it only keeps the
/// others away.
@Suite struct `Tweaks in C` {
    @Test(.processTweaks([:])) func `A spring swings fast`() { #expect(position() < 0) }

    @Suite(.processTweaks([mass: 4])) struct `A heavy spring` {
        @Test(.processTweaks([damped: false])) func `swings slowly`() { #expect(position() > 0) }

        @Test(.processTweaks([mass: 1])) func `is as heavy as a test makes it`() throws {
            #expect(position() < 0)
            try TweakStore.shared.set(100, for: mass)
            #expect(position() > 0.9)
        }
    }
}
