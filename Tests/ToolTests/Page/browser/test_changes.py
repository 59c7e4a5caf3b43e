"""Tests of values that wait for a gate."""

import signal

from support import Keys, wait_until
from test_rows import NUMBERS, PageTest

GAIN = "Gated/Gains/P"
KEY = NUMBERS + "Stiffness"


class Gates(PageTest):
    """Values that wait until the loop of the program passes its gate."""

    def setUp(self):
        super().setUp()
        self.addCleanup(self.program.send_signal, signal.SIGUSR2)

    def mark(self, key=GAIN):
        found = self.browser.row(key).find_elements("css selector", ".gate-mark")
        return found[0].get_attribute("aria-label") if found and found[0].is_displayed() else None

    def shown(self, key=GAIN):
        return self.browser.field(key).get_attribute("value")

    def test_a_waiting_value_is_shown_with_a_mark_until_it_passes(self):
        browser = self.browser
        self.program.send_signal(signal.SIGUSR1)
        browser.type(browser.field(GAIN), "3")
        wait_until(lambda: self.mark() == "waits for the gate Gated", "there is no mark")
        self.assertEqual(self.shown(), "3")
        self.assertEqual(self.control.tweak(GAIN)["value"], 1)
        self.assertIsNone(self.mark(KEY))
        # It needs no restart.
        self.assertFalse(browser.is_there(".waiting .badge"))
        browser.click(browser.part(GAIN, ".row-name"))
        wait_until(lambda: browser.text(".why") == "waits for the gate Gated; now 1", "the details do not tell")
        self.assertIn("Gate", browser.text(".facts"))
        self.program.send_signal(signal.SIGUSR2)
        wait_until(lambda: self.mark() is None, "the mark stays")
        self.assertEqual(self.shown(), "3")
        wait_until(lambda: not browser.find(".why").is_displayed())
        self.assertEqual(self.control.tweak(GAIN)["value"], 3)

    def test_a_value_set_elsewhere_waits_too(self):
        self.program.send_signal(signal.SIGUSR1)
        self.browser.row(GAIN)
        self.control.set(GAIN, 4)
        wait_until(lambda: self.mark() == "waits for the gate Gated" and self.shown() == "4", "the value is not shown")
        self.program.send_signal(signal.SIGUSR2)
        wait_until(lambda: self.mark() is None, "the mark stays")

    def test_a_drag_does_not_jump_back(self):
        browser = self.browser
        for held in (True, False):
            self.program.send_signal(signal.SIGUSR1 if held else signal.SIGUSR2)
            slider = browser.slider(GAIN)
            browser.script(
                """const field = document.querySelector(`[data-tweak="${arguments[0]}"] .number-field`);
                globalThis.seen = [];
                globalThis.looking = true;
                const look = () => {
                  const value = Number(field.value);
                  if (seen.at(-1) !== value) seen.push(value);
                  if (looking) requestAnimationFrame(look);
                };
                look();""", GAIN)
            self.drag(slider, 60, steps=12)
            browser.script("return tweaksPage.editing.settled()")
            last = float(self.shown())
            self.becomes(GAIN, last)
            seen = browser.script("looking = false; return seen")
            self.assertGreater(len(seen), 2)
            # A press first moves to the pointer.
            self.assertEqual(seen[1:], sorted(seen[1:]), "the value jumps")
            self.control.reset(all=True)
            self.program.send_signal(signal.SIGUSR2)
            wait_until(lambda: self.mark() is None and self.shown() == "1")

    def test_undo_sides_and_snapshots_take_the_waiting_value(self):
        browser = self.browser
        self.program.send_signal(signal.SIGUSR1)
        browser.type(browser.field(GAIN), "3")
        wait_until(self.mark)
        browser.blur()
        browser.press("n")
        browser.press("x")
        browser.type(browser.field(GAIN), "5")
        wait_until(lambda: self.control.value(GAIN) == 5)
        browser.blur()
        browser.press("x")
        self.becomes(GAIN, 3)
        browser.press("x")
        self.becomes(GAIN, 5)
        browser.press("N")
        self.becomes(GAIN, 3)
        browser.press(Keys.CONTROL, "z")
        self.becomes(GAIN, 5)
        self.assertEqual(self.control.tweak(GAIN)["value"], 1)
        self.program.send_signal(signal.SIGUSR2)
        wait_until(lambda: self.mark() is None)
        self.assertEqual(self.control.tweak(GAIN)["value"], 5)
