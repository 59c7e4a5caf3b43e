# SPDX-License-Identifier: BSD-3-Clause
"""Tests of knobs of MIDI controllers and gamepads, with devices made of script."""

import unittest

from support import Keys, wait_until
from test_rows import NUMBERS, OTHERS, PageTest

COUNT, FREQUENCY, STIFFNESS, SWITCH = NUMBERS + "Count", NUMBERS + "Frequency", NUMBERS + "Stiffness", OTHERS + "Switch"

DEVICES = """
    globalThis.knobs = [1, 2].map((id) => ({id: String(id), name: 'nano'}));
    navigator.requestMIDIAccess = async () => ({inputs: new Map(knobs.map((knob) => [knob.id, knob]))});
    globalThis.pads = [0, 1, 2].map((index) => ({index, id: 'Pad (STANDARD GAMEPAD Vendor: 045e Product: 028e)', axes: [0, 0],
                                                 buttons: [{value: 0, pressed: false}]}));
    globalThis.pad = pads[0];
    navigator.getGamepads = () => pads;
    globalThis.send = (knob, ...data) => knob.onmidimessage({data: new Uint8Array(data)});
    globalThis.turn = (number, ...values) => values.forEach((value) => send(knobs[0], 0xb0, number, value));
"""
FRAMES = "return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))"


class Knobs(PageTest):
    def setUp(self):
        super().setUp()
        self.browser.script(DEVICES)

    def learn(self, key):
        browser = self.browser
        browser.click(browser.part(key, ".row-name"))
        browser.open_tools()
        browser.click_named(".details .knobs button", "Learn…")
        wait_until(lambda: browser.text(".details .knobs").startswith("Move a knob") and browser.script("return Boolean(knobs[1].onmidimessage)"))
        # Of sticks, the page has to see the rest.
        browser.script(FRAMES)

    def learned(self, name):
        wait_until(lambda: name in self.browser.text(".details .knobs"), f"{name} is not learned")
        self.browser.script("tweaksPage.commands.select(undefined)")

    def test_a_knob_is_learned_and_moves_a_value_without_a_jump(self):
        browser = self.browser
        self.learn(COUNT)
        browser.script("turn(21, 100)")
        self.assertTrue(browser.text(".details .knobs").startswith("Move a knob"), "a knob at rest is learned")
        browser.script("turn(21, 110); turn(21, 120)")
        wait_until(lambda: "MIDI controller 21, channel 1 of nano" in browser.text(".details .knobs"), "the knob is not learned")
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
        browser.click("dialog[open] .knob-list button")
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
            browser.script(FRAMES)
            browser.script("pad.buttons[0] = {value: 1, pressed: true}")
            self.becomes(SWITCH, value)

    def test_devices_of_one_model_do_not_fight(self):
        browser = self.browser
        self.learn(STIFFNESS)
        browser.script("pads[1].axes[1] = 0.9")
        self.learned("gamepad axis 2 of Pad (2)")
        wait_until(lambda: self.control.value(STIFFNESS) == 1000, "the stick does not move the value")
        browser.script("pads[1].axes[1] = 0")
        self.learn(COUNT)
        browser.script("turn(21, 100, 110)")
        self.learned("MIDI controller 21, channel 1 of nano")
        self.learn(FREQUENCY)
        browser.script("send(knobs[1], 0xb0, 21, 10); send(knobs[1], 0xb0, 21, 20)")
        self.learned("MIDI controller 21, channel 1 of nano (2)")
        browser.settle()
        before = self.control.ask("history")["changes"][-1:]
        # Others of the model are held or turned, and this one rests.
        browser.script("pads[0].axes[1] = -1; pads[2].axes[1] = 1")
        for _ in range(5):
            browser.script(FRAMES)
        browser.settle()
        self.assertEqual(self.control.ask("history")["changes"][-1:], before, "another gamepad moves the value")
        browser.script("turn(21, 127, 20, 30); pads[0].axes[1] = pads[2].axes[1] = 0")
        wait_until(lambda: self.control.value(COUNT) == 63, "the knob does not move the value")
        self.assertEqual(self.control.value(FREQUENCY), 440)

    def test_an_encoder_goes_on_from_where_the_value_is(self):
        browser = self.browser
        self.learn(COUNT)
        browser.script("turn(16, 65, 65, 65)")
        wait_until(lambda: browser.text(".details .knobs").startswith("Turn it the other way"), "the page does not say what it needs")
        browser.script("turn(16, 63)")
        self.learned("MIDI encoder 16, channel 1 of nano")
        browser.script("turn(16, 65, 65, 66)")
        self.becomes(COUNT, 64)
        browser.script("turn(16, 63)")
        self.becomes(COUNT, 63)
        self.learn(STIFFNESS)
        browser.script("turn(17, 1, 127)")
        self.learned("MIDI encoder 17, channel 1 of nano")
        browser.script("turn(17, 127)")
        self.becomes(STIFFNESS, 119)

    def test_keys_set_switches_and_are_refused_for_numbers(self):
        browser = self.browser
        self.learn(COUNT)
        browser.script("send(knobs[0], 0x90, 36, 90)")
        wait_until(lambda: "send notes, which set only switches" in browser.text(".details .knobs"), "nothing is said about notes")
        browser.click_named(".details .knobs button", "Cancel")
        browser.script("tweaksPage.commands.select(undefined)")
        self.learn(SWITCH)
        browser.script("send(knobs[0], 0x90, 36, 90)")
        self.learned("MIDI note 36, channel 1 of nano")
        for value in (False, True):
            browser.script("send(knobs[0], 0x90, 36, 90); send(knobs[0], 0x80, 36, 0)")
            self.becomes(SWITCH, value)


if __name__ == "__main__":
    unittest.main()
