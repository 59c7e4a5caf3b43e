# SPDX-License-Identifier: BSD-3-Clause
"""Tests of a connection that fails without a word: a stopped server, lost packets, a frozen tab.

The long form, with TWEAKS_LONG, repeats each failure 20 times, and asserts how soon the page notices it.
"""

import signal
import subprocess
import time
import unittest

from support import LONG, Keys, Settings, World, stop, wait_until
from test_rows import NUMBERS

KEY = NUMBERS + "Stiffness"
REPEATS = 20 if LONG else 1
SILENT = "No answer for 5 s; values may be old"
#: Seconds in which a pause and the check of its end have room before the page gives up, which may have heard the server
#: last a second before.
SHORT = 3.5


class ConnectionTest(unittest.TestCase):
    def setUp(self):
        self.world = World("connection")
        self.addCleanup(self.world.close)
        self.program = self.world.start_page_program()
        self.control = self.world.control(self.program)

    def open(self):
        self.browser = self.world.browser(self.world.address + "&program=page-program")
        self.browser.connected()
        self.browser.row(KEY)
        # Records what the row shows, every 50 ms.
        self.browser.script(
            """const shown = () => [...document.querySelectorAll('.row')].find(({dataset}) => dataset.tweak === arguments[0]);
            globalThis.seen = [];
            setInterval(() => {
              const row = shown();
              if (row) seen.push([row.querySelector('.number-field').value, row.matches('.is-unsent, :has(.is-unsent)')]);
            }, 50);""", KEY)
        return self.browser

    def made(self):
        """The values that the program was given from outside."""
        return [change["newValue"] for change in self.control.ask("history")["changes"]]

    def is_failed(self):
        return "is-failed" in self.browser.row(KEY).get_attribute("class")

    def is_unsent(self):
        return self.browser.script("return arguments[0].matches('.is-unsent, :has(.is-unsent)')", self.browser.row(KEY))

    def fail_and_recover(self, fail, mend, value):
        """A failure, a change while it lasts, by the field or by the slider, and the end of it, which makes nothing of the change."""
        browser, made = self.browser, self.made()
        before = browser_value(browser)
        browser.script("seen.length = 0")
        began = time.monotonic()
        fail()
        if value % 4:
            browser.slider(KEY).send_keys(Keys.ARROW_RIGHT)
        else:
            browser.type(browser.field(KEY), str(value))
        # A busy machine may look only when it is given up.
        wait_until(lambda: browser.script("return seen.some(([, isUnsent]) => isUnsent)"), "the change looks as if it were sent")
        self.assertRegex(browser.row(KEY).text, "not sent|not set to")
        wait_until(lambda: browser.text("#banner") == SILENT, "the page does not say that the server is silent")
        noticed = time.monotonic() - began
        wait_until(self.is_failed, "the change is not given up")
        self.assertIn("not set to", browser.row(KEY).text)
        self.assertEqual(browser.field(KEY).get_attribute("value"), before)
        self.assertNotEqual(browser.script("return getComputedStyle(document.querySelector('.middle')).filter"), "none")
        mend()
        wait_until(lambda: not browser.find("#banner").is_displayed(), "the page does not reconnect")
        browser.connected()
        # A request that was held up would arrive now.
        time.sleep(1)
        seen = browser.script("return seen")
        self.assertEqual(self.made(), made, "something was set late")
        # Once it is shown as not sent, it stays so until it is given up.
        first = next(index for index, (_, is_unsent) in enumerate(seen) if is_unsent)
        for text, is_unsent in seen[first:]:
            if text != before:
                self.assertTrue(is_unsent, "a value is shown as set that is not")
        # And everything works.
        browser.type(browser.field(KEY), str(value + 1))
        wait_until(lambda: self.control.value(KEY) == value + 1, "nothing is sent after the failure")
        browser.settle()
        self.assertFalse(self.is_failed())
        return noticed

    def repeat(self, name, fail, mend):
        times = [self.fail_and_recover(fail, mend, 200 + 2 * turn) for turn in range(REPEATS)]
        Settings.figures[f"{name}: noticed after at most, in s"] = round(max(times), 2)
        if REPEATS > 1:
            self.assertLess(max(times), 30)


def browser_value(browser):
    return browser.field(KEY).get_attribute("value")


class StoppedServer(ConnectionTest):
    def test_a_stopped_server_is_noticed_and_nothing_is_sent_late(self):
        self.world.start_ui()
        self.open()
        self.repeat("stopped server", lambda: stop(self.world.ui), lambda: self.world.ui.send_signal(signal.SIGCONT))

    def test_a_short_pause_loses_nothing(self):
        self.world.start_ui()
        browser = self.open()
        for value in range(300, 320):
            began = time.monotonic()
            stop(self.world.ui)
            browser.type(browser.field(KEY), str(value))
            wait_until(lambda: self.is_unsent() or self.is_failed(), "the change looks as if it were sent")
            self.world.ui.send_signal(signal.SIGCONT)
            wait_until(lambda value=value: self.control.value(KEY) == value or self.is_failed(), "the change is lost")
            if time.monotonic() - began < SHORT:
                self.assertFalse(self.is_failed(), "the change is given up")
                wait_until(lambda: not self.is_unsent(), "the change stays marked")
                self.assertFalse(browser.find("#banner").is_displayed())
                return
            # The machine was busy, and so the pause was long.
            browser.connected()
            browser.settle()
        self.skipTest("the machine is too busy for a short pause")


class ManyTabs(unittest.TestCase):
    def test_tabs_in_the_background_leave_a_connection_to_the_next(self):
        world = World("tabs")
        self.addCleanup(world.close)
        program = world.start_page_program()
        world.start_ui()
        control = world.control(program)
        address = world.address + "&program=page-program"
        browser = world.browser(address)
        browser.connected()
        driver = browser.driver
        for number in range(1, 9):
            driver.switch_to.new_window("tab")
            # What the browser does with a tab that another one covers.
            driver.get(address)
            wait_until(lambda: browser.find("#banner").is_displayed() or browser.is_there(".row"), f"tab {number} is not loaded")
            browser.type(browser.field(KEY), str(200 + number))
            wait_until(lambda number=number: control.value(KEY) == 200 + number, f"tab {number} sets nothing")
        driver.switch_to.window(driver.window_handles[0])
        wait_until(lambda: browser.field(KEY).get_attribute("value") == "208", "the first tab does not come back")


class LostPackets(ConnectionTest):
    """The server is in a network namespace, which is cut off."""

    # One after the other, because they share the namespace.
    group = "network"

    def setUp(self):
        network = Settings.network
        if network.problem:
            self.skipTest(network.problem)
        self.lose, self.deliver = network.lose, network.deliver
        self.addCleanup(self.deliver)
        super().setUp()
        world = self.world
        world.ui = world.start(*network.inside(), Settings.ui, "--port", "0", "--listen", network.address, "--plain-http",
                               stdout=subprocess.PIPE, text=True)
        world.address = world.ui.stdout.readline().strip()
        self.assertTrue(world.address.startswith(f"http://{network.address}:"), world.address)

    def connections(self):
        """The number of connections that the server takes for open."""
        with open(f"/proc/{self.world.ui.pid}/net/tcp", encoding="ascii") as file:
            lines = [line.split() for line in file.readlines()[1:]]
        return len([line for line in lines if line[1].endswith(f":{self.world.port:04X}") and line[3] == "01"])

    def test_lost_packets_are_noticed_and_nothing_is_sent_late(self):
        self.open()
        self.repeat("lost packets", self.lose, self.deliver)

    def test_the_server_ends_connections_to_a_page_that_it_does_not_reach(self):
        self.open()
        self.assertGreater(self.connections(), 0)
        self.lose()
        wait_until(lambda: self.connections() == 0, "the server keeps connections that are dead")
        self.deliver()
        self.browser.connected()


class FrozenTab(ConnectionTest):
    def freeze(self, state):
        self.browser.driver.execute_cdp_cmd("Page.setWebLifecycleState", {"state": state})

    def test_a_tab_that_was_frozen_catches_up(self):
        self.world.start_ui()
        browser, times = self.open(), []
        for turn in range(REPEATS):
            self.freeze("frozen")
            # Longer than the server is ever silent.
            time.sleep(7)
            self.control.set(KEY, 500 + turn)
            self.freeze("active")
            began = time.monotonic()
            wait_until(lambda: browser_value(browser) == str(500 + turn), "the page shows what was before")
            times.append(time.monotonic() - began)
            browser.connected()
            wait_until(lambda: not browser.find("#banner").is_displayed(), "the page does not reconnect")
            browser.type(browser.field(KEY), str(700 + turn))
            wait_until(lambda: self.control.value(KEY) == 700 + turn, "nothing is sent after the freeze")
            browser.settle()
        Settings.figures["frozen tab: up to date after at most, in s"] = round(max(times), 2)
        if REPEATS > 1:
            self.assertLess(max(times), 30)

    def test_a_change_from_before_a_freeze_is_not_sent_after_it(self):
        self.world.start_ui()
        browser = self.open()
        for turn in range(REPEATS):
            made, before = self.made(), browser_value(browser)
            stop(self.world.ui)
            browser.type(browser.field(KEY), str(300 + turn))
            self.freeze("frozen")
            time.sleep(7)
            self.world.ui.send_signal(signal.SIGCONT)
            time.sleep(1)
            self.freeze("active")
            wait_until(self.is_failed, "the change is not marked")
            self.assertEqual(browser_value(browser), before)
            browser.connected()
            time.sleep(1)
            self.assertEqual(self.made(), made, "something was set late")
            browser.type(browser.field(KEY), str(400 + turn))
            wait_until(lambda: self.control.value(KEY) == 400 + turn, "nothing is sent after the freeze")
            browser.settle()
