# SPDX-License-Identifier: BSD-3-Clause
"""Tests of knobs of MIDI controllers and gamepads, with devices made of script."""

import unittest

from support import Keys, wait_until
from test_rows import NUMBERS, OTHERS, PageTest

COUNT, STIFFNESS, SWITCH = NUMBERS + "Count", NUMBERS + "Stiffness", OTHERS + "Switch"

DEVICES = """
    globalThis.knob = {name: 'knob'};
    navigator.requestMIDIAccess = async () => ({inputs: new Map([['1', knob]])});
    globalThis.pad = {axes: [0, 0], buttons: [{value: 0, pressed: false}]};
    navigator.getGamepads = () => [pad];
    globalThis.turn = (number, value) => knob.onmidimessage({data: new Uint8Array([0xb0, number, value])});
"""


class Knobs(PageTest):
    def setUp(self):
        super().setUp()
        self.browser.script(DEVICES)

    def learn(self, key):
        browser = self.browser
        browser.click(browser.part(key, ".row-name"))
        wait_until(lambda: browser.named(".details .knobs button", "Learn…"), "no knob can be learned").click()
        wait_until(lambda: browser.text(".details .knobs").startswith("Move a knob") and browser.script("return Boolean(knob.onmidimessage)"))

    def test_a_knob_is_learned_and_moves_a_value_without_a_jump(self):
        browser = self.browser
        self.learn(COUNT)
        browser.script("turn(21, 100)")
        self.assertTrue(browser.text(".details .knobs").startswith("Move a knob"), "a knob at rest is learned")
        browser.script("turn(21, 110); turn(21, 120)")
        wait_until(lambda: "MIDI controller 21, channel 1" in browser.text(".details .knobs"), "the knob is not learned")
        self.assertEqual(self.control.value(COUNT), 60)
        # 60 is at 28 of 127 between 20 and 200.
        browser.script("turn(21, 127)")
        wait_until(lambda: any("to 60 to move Count" in text for text in browser.notices()), "the page does not say where the value is")
        browser.script("turn(21, 20)")
        self.becomes(COUNT, 48)
        browser.script("turn(21, 127)")
        self.becomes(COUNT, 200)
        wait_until(lambda: browser.script("return tweaksPage.history.undoLabel") == "Count", "the movement is no step to undo")
        browser.settle()
        browser.blur()
        browser.press(Keys.CONTROL, "z")
        self.becomes(COUNT, 60)
        # Kept in this browser, and forgotten.
        self.show(keeping=True)
        browser.script("tweaksPage.controllers.openList()")
        wait_until(lambda: "MIDI controller 21, channel 1" in browser.text("dialog[open] .knob-list"))
        browser.find("dialog[open] .knob-list button").click()
        wait_until(lambda: not browser.all("dialog[open] .knob-list li"))
        self.assertEqual(browser.script("return tweaksPage.preferences.knobs.size"), 0)
        browser.press(Keys.ESCAPE)

    def test_a_stick_moves_a_value_and_a_button_a_switch(self):
        browser = self.browser
        self.learn(STIFFNESS)
        browser.script("pad.axes[1] = -0.9")
        wait_until(lambda: "gamepad axis 2" in browser.text(".details .knobs"), "the stick is not learned")
        wait_until(lambda: self.control.value(STIFFNESS) < 60, "the stick does not move the value")
        browser.script("pad.axes[1] = 0.05")
        browser.settle()
        self.browser.script("tweaksPage.commands.select(undefined)")
        self.learn(SWITCH)
        browser.script("pad.buttons[0] = {value: 1, pressed: true}")
        wait_until(lambda: "gamepad button 1" in browser.text(".details .knobs"), "the button is not learned")
        self.assertEqual(self.control.value(SWITCH), True)
        for value in (False, True):
            browser.script("pad.buttons[0] = {value: 0, pressed: false}")
            browser.script("return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))")
            browser.script("pad.buttons[0] = {value: 1, pressed: true}")
            self.becomes(SWITCH, value)


if __name__ == "__main__":
    unittest.main()
