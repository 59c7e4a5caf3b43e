// SPDX-License-Identifier: BSD-3-Clause
import Testing

@testable import Tweaks

@Suite struct `Names of environment variables` {
    @Test(arguments: [
        (TweakKey("Spring", "Physics", "Stiffness"), "TWEAK_SPRING__PHYSICS__STIFFNESS"),
        (TweakKey("UI", "Main window", "Corner-radius 2"), "TWEAK_UI__MAIN_WINDOW__CORNER_RADIUS_2"),
        (TweakKey("a/b", "_x_", "é1"), "TWEAK_A_B__X__1"),
    ]) func `Letters and digits stay, and all else is an underscore`(key: TweakKey, name: String) {
        #expect(EnvironmentVariables.variable(for: key) == name)
    }
}
