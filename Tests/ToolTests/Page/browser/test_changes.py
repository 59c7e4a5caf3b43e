# SPDX-License-Identifier: BSD-3-Clause
"""Tests of values that wait for a gate, values that are only tried, and gradual changes."""

import glob
import os
import signal
import unittest

from support import ActionChains, Keys, World, wait_until
from test_rows import NUMBERS, OTHERS, PageTest

GAIN = "Gated/Gains/P"
KEY = NUMBERS + "Stiffness"


class Gates(PageTest):
    """Values that wait until the loop of the program passes its gate."""

    def setUp(self):
        super().setUp()
        self.addCleanup(self.program.send_signal, signal.SIGUSR2)

    def mark(self, key=GAIN):
        text = self.browser.part(key, ".row-under").text
        return text.split(" · ")[0] if "waits for the gate" in text else None

    def shown(self, key=GAIN):
        return self.browser.field(key).get_attribute("value")

    def test_a_waiting_value_is_shown_with_a_mark_until_it_passes(self):
        browser = self.browser
        self.program.send_signal(signal.SIGUSR1)
        browser.type(browser.field(GAIN), "3")
        wait_until(lambda: self.mark() == "3, waits for the gate Gated", "there is no mark")
        self.assertEqual(self.shown(), "3")
        self.assertEqual(self.control.tweak(GAIN)["value"], 1)
        self.assertIsNone(self.mark(KEY))
        # It needs no restart.
        self.assertFalse(browser.is_there(".waiting .badge"))
        browser.click(browser.part(GAIN, ".row-name"))
        wait_until(lambda: browser.text(".why") == "waits for the gate Gated; now 1", "the details do not tell")
        self.assertIn("Gate", browser.text(".facts"))
        wait_until(lambda: "waits for the gate Gated" in browser.text(".opinions"), "the providers do not tell")
        self.assertNotIn("in effect", browser.text(".opinions"))
        self.program.send_signal(signal.SIGUSR2)
        wait_until(lambda: self.mark() is None, "the mark stays")
        self.assertNotIn("waits", browser.row(GAIN).text)
        wait_until(lambda: "in effect" in browser.text(".opinions"), "the providers do not tell that it has passed")
        self.assertEqual(self.shown(), "3")
        wait_until(lambda: not browser.find(".why").is_displayed())
        self.assertEqual(self.control.tweak(GAIN)["value"], 3)

    def test_a_value_set_elsewhere_waits_too(self):
        self.program.send_signal(signal.SIGUSR1)
        self.browser.row(GAIN)
        self.control.set(GAIN, 4)
        wait_until(lambda: self.mark() == "4, waits for the gate Gated" and self.shown() == "4", "the value is not shown")
        browser = self.browser
        browser.script("tweaksPage.commands.toggleHistory(true)")
        self.addCleanup(browser.script, "tweaksPage.commands.toggleHistory(false)")
        wait_until(lambda: "waits for the gate Gated" in browser.text(".history-list li"), "the history does not tell")
        self.program.send_signal(signal.SIGUSR2)
        wait_until(lambda: self.mark() is None, "the mark stays")
        wait_until(lambda: "waits" not in browser.text(".history-list"), "the history says that it waits for ever")

    def test_a_value_that_is_dropped_no_longer_waits_in_the_history(self):
        browser = self.browser
        self.program.send_signal(signal.SIGUSR1)
        browser.row(GAIN)
        browser.script("tweaksPage.commands.toggleHistory(true)")
        self.addCleanup(browser.script, "tweaksPage.commands.toggleHistory(false)")
        self.control.set(GAIN, 4)
        wait_until(lambda: browser.texts(".history-waits") == ["waits for the gate Gated"], "the history does not tell")
        self.control.reset(all=True)
        wait_until(lambda: not browser.is_there(".history-waits"), "the history says that it waits for ever")

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
            browser.settle()
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


class OwnProgram(unittest.TestCase):
    """Tests with a program and browsers of their own."""

    #: Those of the program.
    arguments = ()

    def setUp(self):
        self.world = World("own")
        self.addCleanup(self.world.close)
        self.program = self.world.start_page_program(*self.arguments)
        self.control = self.world.control(self.program)
        self.world.start_ui()
        self.browser = self.open()

    def open(self):
        browser = self.world.browser(self.world.address + "&program=page-program")
        browser.connected()
        wait_until(lambda: browser.script("return tweaksPage.state.programs.get('page-program')?.isLoaded"), "the tweaks are not loaded")
        return browser

    def source(self, key=KEY):
        tweak = self.control.tweak(key)
        return tweak["value"], tweak["source"]

    def wait(self, value, source, key=KEY):
        wait_until(lambda: self.source(key) == (value, source), f"it is not {value} from {source}")


class Trials(OwnProgram):
    """Values that go back, with browsers that are ended."""

    def is_written(self, key=KEY):
        path = os.path.join(self.world.config, "tweaks/page-program/overrides.json")
        if not os.path.exists(path):
            return False
        with open(path, encoding="utf-8") as file:
            return key.split("/")[-1] in file.read()

    def start_trying(self, browser=None, value="300"):
        browser = browser or self.browser
        browser.click(".try")
        wait_until(lambda: browser.find(".try").get_attribute("aria-pressed") == "true", "the button is not pressed")
        browser.type(browser.field(KEY), value)
        self.wait(float(value), "lease")
        wait_until(lambda: "1 tried value" in browser.text(".trying"), "the count is not shown")

    def test_tried_values_are_marked_and_discarded(self):
        browser = self.browser
        self.control.set(OTHERS + "From outside", 7)
        self.start_trying()
        row = browser.row(KEY)
        self.assertIn("is-tried", row.get_attribute("class"))
        self.assertIn("tried", browser.part(KEY, ".row-badges").text)
        browser.click(browser.part(KEY, ".row-name"))
        wait_until(lambda: "tweak-ui" in browser.text(".opinions") and "until its connection ends" in browser.text(".opinions"),
                   "the details do not tell whose lease it is")
        # A reset tries the default.
        browser.click(browser.part(OTHERS + "From outside", ".row-reset"))
        self.wait(5, "lease", OTHERS + "From outside")
        wait_until(lambda: "2 tried values" in browser.text(".trying"))
        self.assertFalse(self.is_written())
        browser.click_named(".trying button", "Discard")
        # Of several values it asks.
        wait_until(lambda: "2 tried values" in browser.text("dialog[open]"), "it does not ask")
        browser.press(Keys.ESCAPE)
        wait_until(lambda: not browser.is_there("dialog[open]"))
        self.assertEqual(self.source(), (300, "lease"))
        browser.click_named(".trying button", "Discard")
        browser.click_named("dialog[open] footer button", "Discard")
        self.wait(120, "default")
        self.wait(7, "override", OTHERS + "From outside")
        # What was tried stays in a snapshot, and undo tries it again.
        name = browser.script("return tweaksPage.sets.snapshots('page-program').at(-1).name")
        self.assertRegex(name, r"^tried \d\d:\d\d$")
        # A message is shown for five seconds; what screen readers were told stays.
        wait_until(lambda: f'2 tried values reverted; saved as the snapshot "{name}"' in browser.script("return document.getElementById('spoken').textContent"), "it is not told")
        browser.blur()
        browser.press(Keys.CONTROL, "z")
        self.wait(300, "lease")
        self.wait(5, "lease", OTHERS + "From outside")
        self.assertEqual(browser.find(".try").get_attribute("aria-pressed"), "true")
        browser.press(Keys.CONTROL, Keys.SHIFT, "z")
        self.wait(120, "default")
        self.wait(7, "override", OTHERS + "From outside")
        wait_until(lambda: "Trying" in browser.text(".trying"), "values are still tried")
        browser.press("y")
        wait_until(lambda: browser.field(KEY).get_attribute("value") == "120", "the page shows the tried value")
        self.assertEqual(browser.find(".try").get_attribute("aria-pressed"), "false")
        self.assertFalse(self.is_written())
        # From now on values are kept, and what was tried does not come back.
        browser.blur()
        browser.press(Keys.CONTROL, Keys.SHIFT, "z")
        browser.type(browser.field(KEY), "200")
        self.wait(200, "override")

    def test_undo_ends_what_is_tried(self):
        browser = self.browser
        self.control.set(KEY, 150)
        self.start_trying()
        browser.blur()
        browser.press(Keys.CONTROL, "z")
        self.wait(150, "override")
        browser.press(Keys.CONTROL, Keys.SHIFT, "z")
        self.wait(300, "lease")
        # Reset gives back a tried value.
        browser.click(browser.part(KEY, ".row-reset"))
        self.wait(150, "override")

    def test_tried_values_are_kept_together(self):
        browser = self.browser
        self.start_trying()
        browser.type(browser.field(NUMBERS + "Count"), "77")
        self.wait(77, "lease", NUMBERS + "Count")
        self.control.ask("subscribe")
        browser.click_named(".trying button", "Keep")
        self.wait(300, "override")
        self.wait(77, "override", NUMBERS + "Count")
        wait_until(lambda: self.is_written() and self.is_written(NUMBERS + "Count"), "the values are not written")
        wait_until(lambda: not browser.find(".trying").is_displayed())
        wait_until(lambda: browser.part(KEY, ".row-badges").text == "", "the badge stays")
        # They stay without the page.
        browser.close()
        self.world.end(self.world.ui)
        self.assertEqual(self.source(), (300, "override"))

    def test_tried_values_go_back_when_the_tab_is_closed(self):
        self.start_trying()
        self.browser.driver.switch_to.new_window("tab")
        tabs = self.browser.driver.window_handles
        self.browser.driver.switch_to.window(tabs[0])
        self.browser.driver.close()
        self.wait(120, "default")
        self.browser.driver.switch_to.window(tabs[1])

    def test_tried_values_go_back_when_the_page_is_loaded_again(self):
        self.start_trying()
        self.browser.driver.refresh()
        self.wait(120, "default")

    def test_tried_values_go_back_when_the_browser_is_killed(self):
        self.start_trying()
        browsers = []
        # Each thread of the driver has children of its own.
        for path in glob.glob(f"/proc/{self.browser.driver.service.process.pid}/task/*/children"):
            with open(path, encoding="ascii") as file:
                browsers += [int(pid) for pid in file.read().split()]
        self.assertTrue(browsers)
        for pid in browsers:
            os.kill(pid, signal.SIGKILL)
        self.wait(120, "default")
        self.assertFalse(self.is_written())

    def test_tried_values_go_back_when_the_page_does_not_answer(self):
        """As behind a dead network, whose connections stay open."""
        self.start_trying()
        self.browser.script("const post = tweaksPage.api.post.bind(tweaksPage.api); tweaksPage.api.post = async (name, body) => name === 'pong' ? {} : post(name, body)")
        self.wait(120, "default")
        wait_until(lambda: any("1 tried value reverted" in text for text in self.browser.notices()), "the page does not tell")
        # It still tries, and never keeps.
        self.browser.type(self.browser.field(KEY), "301")
        self.wait(301, "lease")

    def test_tried_values_stay_as_long_as_the_page_answers(self):
        self.start_trying()
        pongs = """globalThis.pongs = 0;
            const post = tweaksPage.api.post.bind(tweaksPage.api);
            tweaksPage.api.post = (name, body) => { if (name === 'pong') pongs += 1; return post(name, body); };"""
        self.browser.script(pongs)
        wait_until(lambda: self.browser.script("return pongs") >= 5, "the server does not ask")
        self.assertEqual(self.source(), (300, "lease"))

    def test_tried_values_go_back_when_the_server_is_killed(self):
        self.start_trying()
        self.world.ui.kill()
        self.wait(120, "default")

    def test_pages_try_apart_and_see_each_other(self):
        first, second = self.browser, self.open()
        self.start_trying(first)
        wait_until(lambda: second.field(KEY).get_attribute("value") == "300", "the other page does not follow")
        self.assertNotIn("is-tried", second.row(KEY).get_attribute("class"))
        # A second badge names the page that looks at the row.
        self.assertEqual(second.part(KEY, ".row-badges").text.split("\n")[0], "lease")
        self.start_trying(second, "400")
        second.close()
        self.wait(300, "lease")
        first.close()
        self.wait(120, "default")

    def test_a_program_that_ends_ends_the_trial(self):
        browser = self.browser
        self.control.set(OTHERS + "From outside", 7)
        self.start_trying()
        self.world.end(self.program)
        wait_until(lambda: any("reverted" in text for text in browser.notices()), "the page does not tell")
        wait_until(lambda: browser.field(KEY).get_attribute("value") == "120", "the page shows the tried value")


class Histories(OwnProgram):
    """The history that the program keeps."""

    def setUp(self):
        super().setUp()
        self.browser.press("h")
        wait_until(lambda: self.browser.text("#history-title") == "History of page-program")

    def lines(self):
        return [item.text.split("\n") for item in self.browser.all(".history-list li")]

    def wait_for_lines(self, count):
        wait_until(lambda: len(self.lines()) == count, f"there are no {count} lines")
        return self.lines()

    def ask_back(self, name):
        self.browser.click_named("#history button", name)
        self.browser.click_named("dialog button", "Revert")

    def test_changes_of_everybody_are_shown_and_undone(self):
        browser = self.browser
        wait_until(lambda: "No changes since the program started." in browser.text("#history"))
        self.control.set(KEY, 200)
        browser.type(browser.field(NUMBERS + "Count"), "77")
        newest, oldest = self.wait_for_lines(2)
        self.assertIn("Count", " ".join(newest))
        self.assertIn("120 N/m → 200 N/m", oldest)
        self.assertTrue(any(text.startswith("python") for text in oldest), oldest)
        # Each is one line below its hour, in which what there is to do appears with the pointer or the focus.
        self.assertRegex(browser.text("#history h3"), r"^\d\d:00$")
        self.assertLess(browser.find(".history-list li").size["height"], 36)
        undo = browser.find("#history [aria-label='Undo Stiffness, change 1']")
        opacity = "return getComputedStyle(arguments[0].parentElement).opacity"
        browser.script("document.activeElement.blur()")
        ActionChains(browser.driver).move_to_element(browser.find("#history-title")).perform()
        self.assertEqual(browser.script(opacity, undo), "0")
        browser.script("arguments[0].focus()", undo)
        self.assertEqual(browser.script(opacity, undo), "1")
        browser.click_named("#history button", "Undo Stiffness, change 1")
        self.wait(120, "default")
        self.assertTrue(any("undo" in text for text in self.wait_for_lines(3)[0]))
        self.assertEqual(len(browser.all(".history-list .is-undone")), 1)
        # What was changed since is not undone.
        self.control.set(KEY, 300)
        self.control.set(KEY, 310)
        wait_until(lambda: browser.is_there("#history [aria-label='Undo Stiffness, change 5']"))
        self.control.set(NUMBERS + "Count", 25)
        self.wait_for_lines(5)
        browser.click_named("#history button", "Undo Count, change 2")
        wait_until(lambda: any("it was changed to 25 since" in text for text in browser.notices()), "the page does not say why")

    def test_changes_have_the_name_of_the_person(self):
        browser = self.browser
        browser.script("tweaksPage.preferences.name = 'J\u00f6rg'")
        browser.type(browser.field(KEY), "300")
        wait_until(lambda: browser.texts(".history-list .who") == ["you"], "the change has no person")
        browser.script("""tweaksPage.commands.toggleHistory(false);
            tweaksPage.preferences.name = 'Ann';
            tweaksPage.commands.toggleHistory(true);""")
        wait_until(lambda: browser.texts(".history-list .who") == ["J\u00f6rg"], "the change has another person")
        self.assertRegex(browser.find(".history-list .who").get_attribute("title"), r"^J\u00f6rg \(tweak-ui \d+ ")

    def test_a_mark_is_a_place_to_go_back_to(self):
        browser = self.browser
        self.control.set(KEY, 200)
        self.wait_for_lines(1)
        browser.type(browser.find("#history [aria-label='Name of a mark']"), "calm")
        self.wait_for_lines(2)
        self.control.set(KEY, 300)
        self.control.set(NUMBERS + "Count", 77)
        self.wait_for_lines(4)
        self.ask_back("Revert to calm")
        self.wait(200, "override")
        self.assertEqual(self.control.tweak(NUMBERS + "Count")["source"], "default")
        self.ask_back("Revert to the start…")
        self.wait(120, "default")

    def test_any_change_is_a_place_to_go_back_to(self):
        browser = self.browser
        for key, value in [(KEY, 200), (NUMBERS + "Count", 77), (NUMBERS + "Negative", -5), (OTHERS + "Switch", False)]:
            self.control.set(key, value)
        self.wait_for_lines(4)
        self.assertIsNone(browser.named("#history button", "Restore the state after Switch, change 4"))
        browser.click_named("#history button", "Restore the state after Stiffness, change 1")
        wait_until(lambda: "Restores 3 values from " in browser.text("dialog[open]"), "the page does not say what it does")
        browser.click_named("dialog button", "Restore")
        wait_until(lambda: self.control.tweak(NUMBERS + "Count")["source"] == "default" and self.control.tweak(OTHERS + "Switch")["source"] == "default")
        self.assertEqual(self.control.value(KEY), 200)
        browser.settle()
        browser.blur()
        browser.press(Keys.CONTROL, "z")
        wait_until(lambda: self.control.value(NUMBERS + "Count") == 77 and self.control.value(NUMBERS + "Negative") == -5, "it is not undone")

    def test_leases_end_by_themselves(self):
        browser = self.browser
        self.control.ask("set", tweak=KEY, value=300, until="closed")
        line = self.wait_for_lines(1)[0]
        self.assertTrue(any("lease" in text for text in line), line)
        self.assertFalse(browser.is_there(".history-list [aria-label^='Undo']"))
        self.control.ask("reset", all=True, leases="own")
        self.assertTrue(any("end of a lease" in text for text in self.wait_for_lines(2)[0]))
        self.assertFalse(browser.is_there(".history-list [aria-label^='Undo']"))


class Ramps(PageTest):
    """Changes over some seconds."""

    def test_a_number_is_reached_gradually(self):
        browser = self.browser
        browser.click(browser.part(KEY, ".row-name"))
        self.control.ask("subscribe", tweaks=[KEY])
        browser.script(
            """globalThis.values = new Set();
            tweaksPage.state.on('value', (tweak) => { if (tweak.key === arguments[0]) values.add(tweak.value); });""", KEY)
        browser.open_tools()
        browser.type(browser.find("#details [aria-label='Ramp to']"), "620", end=None)
        browser.type(browser.find("#details [aria-label='Seconds']"), "0.5")
        self.becomes(KEY, 620)
        wait_until(lambda: browser.script("return [...values].filter((value) => value > 120 && value < 620).length") > 3, "it jumps")
        wait_until(lambda: browser.script("return tweaksPage.state.tweak('page-program', arguments[0]).source", KEY) == "override")
        browser.blur()
        browser.press(Keys.CONTROL, "z")
        self.becomes(KEY, 120)
