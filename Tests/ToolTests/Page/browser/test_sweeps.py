# SPDX-License-Identifier: BSD-3-Clause
"""Tests of sweeps: values that are tried one after the other, and what monitors show meanwhile."""

import csv
import io
import signal
import unittest

from support import Keys, stop, wait_until
from test_changes import OwnProgram
from test_page import axe_source, violations
from test_rows import NUMBERS, OTHERS, PageTest

GAIN = "Motor/Control/Gain"
TEMPERATURE = "Motor/State/Temperature"
SWITCH = OTHERS + "Switch"


class Sweeping:
    """What the tests of sweeps do to a page."""

    def open_sweep(self, key=GAIN):
        browser = self.browser
        browser.part(key, ".row-name").send_keys("w")
        wait_until(lambda: browser.is_there("dialog[open] .sweep-status"), "there is no dialog")

    def fill(self, **texts):
        browser = self.browser
        names = {"start": "From", "end": "To", "count": "Values", "seconds": "Seconds per run", "settle": "Seconds to settle first"}
        for name, text in texts.items():
            browser.type(browser.named("dialog input", names[name]), text, end=None)

    def measure(self, *names):
        """Chooses the monitors to measure."""
        for label in self.browser.all(".sweep-monitors label"):
            box = label.find_element("css selector", "input")
            if box.is_selected() != (label.text in names):
                self.browser.click(label)

    def dialog_button(self, label):
        self.browser.click_named("dialog[open] button", label)

    def status(self):
        return self.browser.text(".sweep-status")

    def start(self):
        self.dialog_button("Start")
        wait_until(lambda: self.status().startswith("Run "), "it does not start")

    def wait_for_end(self):
        wait_until(lambda: self.browser.named("dialog[open] footer button", "Start"), "the sweep does not end")

    def table(self):
        """The cells of the rows, without those of buttons."""
        return self.browser.script(
            """return [...document.querySelectorAll('.sweep-table tbody tr')]
                .map((row) => [...row.cells].filter((cell) => !cell.querySelector('button') && cell.textContent).map((cell) => cell.textContent));""")


class Sweeps(Sweeping, PageTest):
    def sweep_gain(self):
        self.open_sweep()
        self.measure("Temperature")
        self.fill(start="0", end="5", count="2", seconds="0.2", settle="0.1")
        self.start()
        self.wait_for_end()

    def test_runs_have_statistics_of_the_monitors_and_the_value_goes_back(self):
        browser = self.browser
        self.control.set(GAIN, 1)
        browser.row(GAIN)
        browser.script("tweaksPage.commands.graph([tweaksPage.state.tweak('page-program', arguments[0])])", TEMPERATURE)
        self.open_sweep()
        undo = browser.script("return tweaksPage.history.undoLabel")
        chosen = browser.script("return [...document.querySelectorAll('.sweep-monitors input:checked')].map((box) => box.parentElement.textContent)")
        self.assertEqual(chosen, ["Temperature"], "not what is on the graph")
        self.assertEqual(browser.script("return document.activeElement.ariaLabel"), "From")
        self.fill(start="1-1", end="max", count="2", seconds="0.2", settle="0.1")
        wait_until(lambda: self.status().startswith("4 runs in random order, 2 of them with the original value"), "the forecast is wrong")
        self.start()
        wait_until(lambda: self.control.tweak(GAIN)["source"] == "lease", "no value is tried")
        self.wait_for_end()
        self.assertEqual(self.status(), "All 4 runs are done; original value restored")
        tweak = self.control.tweak(GAIN)
        self.assertEqual((tweak["value"], tweak["source"]), (1, "override"))
        rows = self.table()
        self.assertEqual([row[1] for row in rows], ["0", "1, as before", "1, as before", "5"])
        self.assertEqual(sorted(row[0] for row in rows), ["1", "2", "3", "4"])
        # 48 with 9 more or less, and 4 for each unit of the gain.
        means = [float(row[2]) for row in rows]
        self.assertLess(means[0], 58)
        self.assertGreater(means[3], 58)
        self.assertAlmostEqual(sum(float(row[3]) for row in rows[1:3]), 0, places=2)
        for _, _, mean, _, deviation, low, high, count in rows:
            self.assertLessEqual(float(low), float(mean))
            self.assertLessEqual(float(mean), float(high))
            self.assertGreaterEqual(float(deviation), 0)
            self.assertGreaterEqual(int(count), 1)
        # Nothing of it is to be undone, or stays a trial.
        self.assertEqual(browser.script("return [tweaksPage.history.undoLabel, tweaksPage.state.triedCount('page-program')]"), [undo, 0])
        self.assertEqual(browser.find("dialog[open] .copy-preview").text.split(" --")[0], "tweak sweep page-program Motor/Control/Gain=0,5")

    def test_the_table_is_sorted_and_copied(self):
        browser = self.browser
        self.sweep_gain()
        # Which value is the largest depends on the time that the runs take: the temperature also changes by itself.
        means = lambda: [float(row[2]) for row in self.table()]  # noqa: E731
        mean = browser.named(".sweep-table button", "Sort by mean of Temperature")
        mean.click()
        self.assertEqual(mean.find_element("xpath", "..").get_attribute("aria-sort"), "ascending")
        self.assertEqual(means(), sorted(means()))
        browser.keys(Keys.ENTER)
        self.assertEqual(means(), sorted(means(), reverse=True))
        self.assertEqual(len(browser.all(".sweep-table [aria-sort]")), 1)
        self.dialog_button("Copy as CSV")
        text = wait_until(lambda: browser.script("return navigator.clipboard.readText()"))
        rows = list(csv.reader(io.StringIO(text)))
        self.assertEqual(rows[0][:4], ["run", GAIN, "reference", f"{TEMPERATURE} mean"])
        self.assertEqual([row[0] for row in rows[1:]], ["1", "2", "3", "4"])
        self.assertEqual([row[2] for row in rows[1:]], ["yes", "no", "no", "yes"])
        # The results are there again.
        self.dialog_button("Close")
        self.open_sweep()
        self.assertEqual(len(self.table()), 4)
        self.assertFalse(any("processes" in text for text in browser.texts(".sweep-form p")))
        self.assertEqual(browser.named("dialog input", "To").get_attribute("value"), "5")

    def test_a_value_of_a_run_is_used_and_undone(self):
        browser = self.browser
        self.sweep_gain()
        browser.click_named(".sweep-table button", "Use 5")
        self.becomes(GAIN, 5)
        self.assertEqual(self.control.tweak(GAIN)["source"], "override")
        self.dialog_button("Close")
        browser.press(Keys.CONTROL, "z")
        self.becomes(GAIN, 0.8)

    def test_a_value_of_a_run_is_saved_as_a_preset(self):
        browser = self.browser
        self.control.set(NUMBERS + "Count", 70)
        preset = "return (await tweaksPage.api.post('preset/get', {program: 'page-program', name: arguments[0]})).values"
        self.sweep_gain()
        for value in (0, 5):
            browser.click_named(".sweep-table button", f"Preset… with {value}")
            field = wait_until(lambda: browser.named("dialog input", "Name of the preset"))
            self.assertEqual(field.get_attribute("value"), f"Gain {value}")
            browser.type(field, "run")
            if value == 5:
                self.dialog_button("Overwrite")
            wait_until(lambda: browser.notices() == ['Saved "run" with 1 value'], "nothing is said")
            wait_until(lambda: not browser.named("dialog input", "Name of the preset"), "the question stays")
            self.assertEqual(browser.script(preset, "run"), {GAIN: value})
            browser.script("document.querySelectorAll('.notice').forEach((one) => one.remove())")
        self.assertEqual(self.control.tweak(GAIN)["source"], "default")

    def test_a_sweep_is_stopped_and_a_closed_dialog_stops_it(self):
        browser = self.browser
        for end in ("Stop", "Close"):
            self.open_sweep()
            self.fill(count="9", seconds="30", settle="0")
            self.dialog_button("Start")
            wait_until(lambda: self.status().startswith("Run 1 of 11: the original value"))
            self.dialog_button(end)
            if end == "Stop":
                wait_until(lambda: self.status() == "Stopped after 0 of 11 runs; original value restored", "it is not stopped")
                self.dialog_button("Close")
            wait_until(lambda: not browser.is_there("dialog[open]"))
            wait_until(lambda: not browser.script("return tweaksPage.samples.isMeasuring"), "it goes on")
            self.assertEqual(self.control.tweak(GAIN)["source"], "default")

    def test_a_lost_connection_ends_a_sweep_and_the_value_goes_back(self):
        self.open_sweep()
        self.fill(count="9", seconds="8", settle="0")
        self.dialog_button("Start")
        wait_until(lambda: self.status().startswith("Run 2 of 11: "), "the second run does not begin")
        wait_until(lambda: self.control.tweak(GAIN)["source"] == "lease", "no value is tried")
        self.addCleanup(self.world.ui.send_signal, signal.SIGCONT)
        stop(self.world.ui)
        wait_until(
            lambda: self.status() == "Ended after 1 run: The connection was lost; the original value is restored", "it goes on without a server")
        self.world.ui.send_signal(signal.SIGCONT)
        self.browser.connected()
        wait_until(lambda: self.control.tweak(GAIN)["source"] == "default", "the value stays tried")

    def test_choices_and_switches_are_tried_all(self):
        browser = self.browser
        for key, expected in ((SWITCH, ["off", "on", "on, as before", "on, as before"]), ("Kinds/Choices/Quality", ["low", "mid, as before", "mid", "mid, as before", "high"])):
            self.open_sweep(key)
            self.assertIsNone(browser.named("dialog input", "From"))
            self.fill(seconds="0.1", settle="0")
            self.start()
            self.wait_for_end()
            self.assertEqual(sorted(row[1] for row in self.table()), sorted(expected))
            self.dialog_button("Close")

    def test_mistakes_are_said_and_nothing_is_tried(self):
        browser = self.browser
        self.open_sweep()
        for texts, message in (
            ({"count": "1"}, 'Values: "1" is not a number from 2 to 50'),
            ({"count": "3", "seconds": "never"}, 'Seconds per run: "never" is not a number from 0.1 to 600'),
            ({"seconds": "1", "end": "0"}, "From and To must differ"),
        ):
            self.fill(**texts)
            self.dialog_button("Start")
            wait_until(lambda: self.status() == message, f"{message}: {self.status()}")
            self.assertTrue(browser.script("return document.activeElement.matches('.sweep-field input')"))
        self.fill(end="x +")
        self.dialog_button("Start")
        wait_until(lambda: self.status().startswith("To: "), "the wrong end is not said")
        self.fill(end="5")
        self.measure()
        self.dialog_button("Start")
        wait_until(lambda: self.status() == "Choose 1 to 8 monitors", f"monitors: {self.status()}")
        self.assertEqual(self.control.tweak(GAIN)["source"], "default")

    def test_what_cannot_be_swept_has_no_sweep(self):
        browser = self.browser
        for key in (TEMPERATURE, OTHERS + "Text", OTHERS + "Restarting", OTHERS + "Build"):
            browser.part(key, ".row-name").send_keys("w")
            browser.click(browser.part(key, ".row-name"))
            browser.open_tools()
            self.assertIsNone(browser.named("#details button", "Sweep…"))
            self.assertFalse(browser.is_there("dialog[open]"))
        browser.click(browser.part(GAIN, ".row-name"))
        browser.open_tools()
        browser.click_named("#details button", "Sweep…")
        wait_until(lambda: browser.is_there("dialog[open] .sweep-status"))

    def test_tried_values_come_first(self):
        browser = self.browser
        browser.click(".try")
        browser.part(GAIN, ".row-name").send_keys("w")
        wait_until(lambda: browser.notices() == ["Keep or discard the tried values first"], "nothing is said")
        self.assertFalse(browser.is_there("dialog[open]"))
        browser.click(".try")

    def test_axe_finds_no_violations_and_nothing_is_off_a_narrow_screen(self):
        browser, axe = self.browser, axe_source()
        self.sweep_gain()
        self.addCleanup(browser.size, 1280, 900)
        for dark in (False, True):
            browser.script("tweaksPage.commands.setTheme(arguments[0])", "dark" if dark else "light")
            for width in (1280, 320):
                browser.size(width, 900)
                # Colours change with a transition.
                wait_until(lambda: browser.script("return document.getAnimations().length === 0"))
                self.assertEqual(violations(browser, axe), [], width)
                body = browser.script("const {scrollWidth, clientWidth} = document.querySelector('dialog[open] .dialog-body'); return scrollWidth - clientWidth")
                self.assertLessEqual(body, 0, width)


class Ends(Sweeping, OwnProgram):
    """Sweeps whose program or page ends."""

    def test_the_value_goes_back_with_the_page(self):
        self.open_sweep()
        self.fill(start="2", end="5", count="50", seconds="0.2", settle="0")
        self.start()
        wait_until(lambda: self.control.tweak(GAIN)["source"] == "lease", "no value is tried")
        self.browser.close()
        self.wait(0.8, "default", GAIN)

    def test_a_program_that_ends_ends_the_sweep(self):
        self.open_sweep()
        self.fill(seconds="60", settle="0")
        self.start()
        self.world.end(self.program)
        wait_until(lambda: self.status().startswith("Ended"), "the end is not said")
        self.assertEqual(self.status(), "Ended after 0 runs: The program has ended")
        self.assertEqual(self.browser.problems(), [])

    def test_a_value_that_does_not_pass_its_gate_ends_the_sweep(self):
        self.addCleanup(self.program.send_signal, signal.SIGUSR2)
        self.open_sweep("Gated/Gains/P")
        self.fill(seconds="0.1", settle="0")
        self.program.send_signal(signal.SIGUSR1)
        self.dialog_button("Start")
        wait_until(lambda: self.status() == "Ended after 1 run: The value waits for the gate Gated", f"it is not said: {self.status()}")


class Forks(Sweeping, OwnProgram):
    """A sweep of a program that has forked."""

    arguments = ("forks", "2")

    def test_the_process_that_is_measured_is_named(self):
        browser, pid = self.browser, self.program.pid
        wait_until(lambda: browser.script("return tweaksPage.state.programs.get('page-program').description.processes") == 3, "there are no forks")
        self.open_sweep()
        self.assertIn(f"Values are tried in all 3 processes; only the first, process {pid}, is measured.", browser.texts(".sweep-form p"))
        self.fill(start="0", end="5", count="2", seconds="0.2", settle="0")
        self.start()
        self.wait_for_end()
        self.assertEqual(self.status(), "All 4 runs are done; original value restored")
        self.assertEqual(browser.find("dialog[open] .copy-preview").text.split(" --")[0], f"tweak sweep {pid} {GAIN}=0,5")


if __name__ == "__main__":
    unittest.main()
