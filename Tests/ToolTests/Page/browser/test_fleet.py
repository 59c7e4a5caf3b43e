# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the view of a fleet, against an etcd of their own."""

import base64
import json
import os
import shutil
import signal
import subprocess
import unittest
import urllib.request

from support import LONG, Keys, Settings, World, free_port, retried, stop, wait_until
from test_page import axe_source, violations

LIMIT = "Search/Index/Limit"
FAST = "Features/fast/enabled"
BUILD = {
    "program": "/usr/bin/search", "by": "root@web1", "at": "2026-11-25T17:00:00Z",
    "tweaks": [
        {"tweak": LIMIT, "type": "int32", "minimum": 0, "maximum": 10, "unit": "MB"},
        {"tweak": FAST, "type": "bool"},
        {"tweak": "Search/Index/Mode", "type": "string", "choices": [{"value": "quick", "label": "Quick"}, {"value": "whole"}]},
        {"tweak": "Search/Index/Name", "type": "string"},
    ],
}


def etcd_path():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../..")
    path = shutil.which("etcd") or os.path.join(root, ".build/servers/usr/bin/etcd")
    if not os.access(path, os.X_OK):
        raise AssertionError("etcd is missing: tools/test unpacks it")
    return path


class FleetTest(unittest.TestCase):
    """A page of a fleet of its own."""

    # One group, which shares an etcd and a browser.
    arguments = ("fleet",)

    @classmethod
    def setUpClass(cls):
        cls.world = World("fleet")
        cls.addClassCleanup(cls.world.close)
        client, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        cls.etcd = client
        cls.etcd_process = cls.world.start(
            etcd_path(), "--data-dir", os.path.join(cls.world.folder, "etcd"), "--listen-client-urls", client, "--advertise-client-urls", client,
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}", "--log-level", "error",
            stdout=subprocess.DEVNULL,
        )
        cls.configuration = os.path.join(cls.world.folder, "agent.json")
        with open(cls.configuration, "w", encoding="utf-8") as file:
            json.dump({"etcd": {"endpoints": [client], "plainHTTP": True}}, file)
        cls.command = os.path.join(os.path.dirname(Settings.ui), "tweak-fleet")
        wait_until(lambda: cls.run_fleet("applications").returncode == 0, "etcd does not answer")
        cls.world.start_ui("--fleet", "--configuration", cls.configuration)
        cls.browser = cls.world.browser()
        cls.browser.connected()

    @classmethod
    def run_fleet(cls, command, *arguments):
        return subprocess.run(
            [cls.command, command, "--configuration", cls.configuration, *arguments], env=cls.world.environment, capture_output=True, text=True, check=False,
        )

    def fleet(self, command, *arguments):
        result = self.run_fleet(command, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def value(self, tweak, environment="production"):
        result = self.run_fleet("get", "--environment", environment, "search", tweak)
        return result.stdout.strip() if result.returncode == 0 else None

    def ask_etcd(self, path, **texts):
        """Asks the JSON gateway of etcd."""
        body = {name: base64.b64encode(text.encode()).decode() for name, text in texts.items()}
        urllib.request.urlopen(urllib.request.Request(f"{self.etcd}/v3/kv/{path}", json.dumps(body).encode())).close()

    def setUp(self):
        self.ask_etcd("deleterange", key="/tweaks/", range_end="/tweaks0")
        self.ask_etcd("put", key="/tweaks/production/search/schema/aa11.22", value=json.dumps(BUILD))
        self.fleet("set", "search", LIMIT, "5", "--why", "first")
        self.fleet("set", "search", "fast", "on", "--why", "go live", "--for", '{ "percentage": 10 }')
        self.fleet("set", "--environment", "staging", "--create", "--force", "search", LIMIT, "7", "--why", "tried")
        self.show()
        # The server sees what was set a moment later than etcd.
        wait_until(lambda: "5 MB" in self.row(LIMIT).text and "for 10 %" in self.row(FAST).text, "it does not show the values")

    def tearDown(self):
        self.assertEqual(self.browser.problems(), [], "the browser reported errors")

    def show(self, place="environment=production&application=search"):
        browser = self.browser
        browser.driver.get("about:blank")
        browser.open(f"{self.world.address.split('#')[0]}fleet.html#{place}")
        wait_until(lambda: browser.is_there(".fleet-row"), "there are no rows")

    def row(self, tweak):
        return wait_until(lambda: self.browser.find(f'.fleet-row[data-tweak="{tweak}"]'), f"there is no row for {tweak}")

    def text(self, tweak, part=".fleet-now"):
        return retried(lambda: self.row(tweak).find_element("css selector", part).text)

    def button(self, name):
        self.browser.click_named("button", name)

    def dialog_button(self, name):
        self.browser.click_named("dialog[open] button:enabled", name)

    def menu(self, tweak, name):
        self.button(f"More for {'fast' if tweak == FAST else tweak.split('/')[-1]}")
        self.choose(name)

    def choose(self, name):
        self.browser.click_named(".menu-item", name)
        wait_until(lambda: not self.browser.all(".menu-item"), "the menu stays open")

    def field(self, name):
        found = self.browser.script(
            """return [...document.querySelectorAll('dialog[open] .fleet-field')].find((label) => label.firstChild.textContent === arguments[0])
              ?.querySelector('input, textarea, select');""", name)
        self.assertIsNotNone(found, f"the dialog has no field {name}")
        return found

    def type(self, name, text):
        self.browser.type(self.field(name), text, end=None)

    def difference(self):
        def look():
            return [" ".join(row.split()) for row in self.browser.texts("dialog[open] .fleet-difference tbody tr")]

        return wait_until(look, "no difference is shown")

    def notices(self, text):
        wait_until(lambda: any(text in one for one in self.browser.notices()), f"no message says {text}")

    def closed(self):
        wait_until(lambda: not self.browser.is_there("dialog[open]"), "the dialog stays open")


class Fleet(FleetTest):
    """Environments, values, changes and their history."""

    def test_the_page_leads_to_the_fleet_and_back(self):
        browser = self.browser
        browser.open(self.world.address)
        browser.connected()
        browser.click('#outline a[href="fleet.html"]')
        wait_until(lambda: browser.is_there(".fleet-row"), "the fleet is not shown")
        # The application of the configured environment is shown first.
        self.assertIn("environment=production&application=search", browser.driver.current_url)
        browser.click('.top a[href="./"]')
        wait_until(lambda: browser.script("return Boolean(globalThis.tweaksPage?.sets)"), "the programs are not shown")
        self.assertNotIn("fleet/", browser.script("return performance.getEntriesByType('resource').map(({name}) => name).join()").replace("fleet.html", ""))

    def test_values_are_listed_with_who_when_and_why(self):
        self.assertEqual(self.text(LIMIT), "5 MB")
        self.assertEqual(self.text(LIMIT, ".fleet-why"), "first")
        self.assertIn("just now · ", self.text(LIMIT, ".fleet-last"))
        self.assertEqual(self.text(FAST, ".badge"), "for 10 %")
        labels = self.browser.texts("#outline .outline-label")
        self.assertEqual(labels, ["production", "search", "staging", "search"])
        self.browser.click_named("#outline button", "search in staging")
        wait_until(lambda: self.text(LIMIT).startswith("7"), "staging is not shown")
        self.browser.driver.back()
        wait_until(lambda: self.text(LIMIT) == "5 MB", "Back does not go back")

    def test_search_finds_reasons_and_declared_tweaks_without_a_value(self):
        search = self.browser.find("#search")
        search.send_keys("live")
        wait_until(lambda: [row.get_attribute("data-tweak") for row in self.browser.all(".fleet-row")] == [FAST])
        search.clear()
        search.send_keys("mode")
        wait_until(lambda: self.browser.find("#empty").is_displayed() and "No matches" in self.browser.text("#empty"))
        self.browser.click(".list-head .check input")
        wait_until(lambda: self.text("Search/Index/Mode") == "no value")

    def test_a_change_needs_a_reason_and_shows_the_difference_first(self):
        self.button("Set Limit")
        self.type("Value", "+=3")
        self.dialog_button("Show the difference")
        self.assertEqual(self.difference(), [f"{LIMIT} 5 → 8"])
        self.assertEqual(self.value(LIMIT), "5")
        self.dialog_button("Set")
        wait_until(lambda: "Give a reason" in self.browser.text("dialog[open] .fleet-status"), "no reason is asked for")
        self.assertEqual(self.value(LIMIT), "5")
        self.type("Reason", "more to search")
        # The reason is no other change.
        self.assertEqual(self.difference(), [f"{LIMIT} 5 → 8"])
        self.dialog_button("Set")
        self.closed()
        self.notices("Limit: 5 → 8 (revision ")
        wait_until(lambda: self.text(LIMIT) == "8 MB" and self.text(LIMIT, ".fleet-why") == "more to search")
        self.assertEqual(self.value(LIMIT), "8")

    def test_another_value_is_reviewed_again(self):
        self.button("Set Limit")
        self.type("Value", "6")
        self.browser.keys(Keys.ENTER, on=self.field("Value"))
        self.assertEqual(self.difference(), [f"{LIMIT} 5 → 6"])
        self.type("Value", "9")
        wait_until(lambda: not self.browser.is_there("dialog[open] .fleet-difference"), "the old difference stays")
        self.dialog_button("Show the difference")
        self.assertEqual(self.difference(), [f"{LIMIT} 5 → 9"])
        self.dialog_button("Cancel")
        self.closed()
        self.assertEqual(self.value(LIMIT), "5")

    def test_a_refusal_is_shown_in_the_words_of_the_command_and_can_be_forced(self):
        self.button("Set Limit")
        self.type("Value", "11")
        self.type("Reason", "too much")
        self.dialog_button("Show the difference")
        wait_until(lambda: "11 is outside the limits" in self.browser.text("dialog[open] .fleet-status"), "no refusal is shown")
        said = self.browser.text("dialog[open] .fleet-status")
        expected = self.run_fleet("set", "search", LIMIT, "11")
        # The command also names its option.
        self.assertIn(f"{said}; --force", expected.stderr)
        self.assertEqual(self.value(LIMIT), "5")
        # Offered when the fleet has shown that it would take it.
        self.browser.click_named("dialog[open] label", "Set it anyway")
        self.dialog_button("Show the difference")
        self.difference()
        self.dialog_button("Set")
        self.closed()
        wait_until(lambda: self.value(LIMIT) == "11")

    def test_a_change_meanwhile_is_not_overwritten(self):
        self.button("Set Limit")
        self.type("Value", "6")
        self.type("Reason", "mine")
        self.dialog_button("Show the difference")
        self.difference()
        self.fleet("set", "search", LIMIT, "4", "--why", "theirs", "--by", "bob")
        self.dialog_button("Set")
        wait_until(lambda: "it was changed by" in self.browser.text("dialog[open] .fleet-status"), "no conflict is shown")
        self.assertEqual(self.value(LIMIT), "4")
        self.dialog_button("Show the difference")
        self.assertEqual(self.difference(), [f"{LIMIT} 4 → 6"])
        self.dialog_button("Set")
        self.closed()
        self.assertEqual(self.value(LIMIT), "6")

    def test_a_dialog_is_for_the_environment_that_it_names(self):
        self.browser.click_named("#outline button", "search in staging")
        wait_until(lambda: self.text(LIMIT).startswith("7"), "staging is not shown")
        self.button("Set Limit")
        self.assertEqual(self.browser.text("dialog[open] .fleet-where"), "search in staging")
        self.browser.driver.back()
        self.closed()
        wait_until(lambda: self.text(LIMIT) == "5 MB", "Back does not go back")
        self.button("Set Limit")
        self.assertEqual(self.browser.text("dialog[open] .fleet-where"), "search in production")
        self.dialog_button("Cancel")
        self.closed()

    def test_controls_follow_the_declarations(self):
        self.button("Set a value…")
        self.browser.type(self.field("Tweak"), "Search/Index/Mode", end=Keys.TAB)
        select = wait_until(lambda: self.field("Value").tag_name == "select" and self.field("Value"))
        self.assertEqual([option.text for option in select.find_elements("tag name", "option")], ['Quick ("quick")', '"whole"'])
        select.send_keys("q")
        self.type("Reason", "faster")
        self.dialog_button("Show the difference")
        self.assertEqual(self.difference(), ['Search/Index/Mode none → "quick"'])
        self.dialog_button("Set")
        self.closed()
        wait_until(lambda: self.value("Search/Index/Mode") == "quick")
        self.button("Set fast")
        self.browser.click_named("dialog[open] .segment", "Off")
        self.type("Reason", "slower")
        self.dialog_button("Show the difference")
        self.assertEqual(self.difference(), [f"{FAST} true for 10 % → false for 10 %"])
        self.dialog_button("Cancel")
        self.closed()

    def test_texts_are_never_options_or_markup(self):
        self.button("Set a value…")
        self.browser.type(self.field("Tweak"), "Search/Index/Name", end=Keys.TAB)
        text = "--force <b>\u202e"
        self.browser.script("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input', {bubbles: true}))", self.field("Value"), text)
        self.type("Reason", "--dry-run")
        self.dialog_button("Show the difference")
        self.assertEqual(self.difference(), ['Search/Index/Name none → "--force <b>\\u{202e}"'])
        self.dialog_button("Set")
        self.closed()
        history = json.loads(self.fleet("history", "--format", "json", "--last", "1", "search"))["changes"][0]
        self.assertEqual((history["why"], history["changes"][0]["newValue"]), ("--dry-run", text))

    def test_values_are_removed_and_rolled_back(self):
        self.menu(LIMIT, "Remove the value…")
        self.assertEqual(self.difference(), [f"{LIMIT} 5 → none"])
        self.type("Reason", "not needed")
        self.dialog_button("Remove")
        self.closed()
        wait_until(lambda: self.value(LIMIT) is None)
        self.button("History")
        wait_until(lambda: len(self.browser.all(".history-list li")) == 3, "the history is not shown")
        lines = self.browser.texts(".history-list li")
        self.assertIn("not needed", lines[0])
        self.assertIn("5 → none", lines[0])
        self.assertIn("none → true for 10 %", lines[1])
        retried(lambda: self.browser.all(".history-list li")[1].find_element("css selector", ".button").click())
        self.assertEqual(self.difference(), [f"{LIMIT} none → 5"])
        self.dialog_button("Restore")
        self.closed()
        wait_until(lambda: self.value(LIMIT) == "5")
        wait_until(lambda: "back to revision" in self.browser.all(".history-list li")[0].text, "the history does not follow")
        # The history of one tweak.
        retried(lambda: self.browser.click(self.row(FAST).find_element("css selector", ".heading-link")))
        wait_until(lambda: self.browser.text("#history-title") == "History of fast" and len(self.browser.all(".history-list li")) == 1)
        self.browser.keys(Keys.ESCAPE)
        wait_until(lambda: not self.browser.find("#history").is_displayed(), "Escape does not close the history")

    def test_a_feature_is_killed_and_the_kill_ended(self):
        self.menu(FAST, "Kill…")
        self.assertEqual(self.difference(), [f"{FAST} not killed → killed"])
        self.type("Reason", "the index is broken")
        # In production it is confirmed.
        self.dialog_button("Kill")
        wait_until(lambda: self.browser.text("dialog[open] .fleet-status") == "Type fast to confirm.")
        self.assertNotIn("killed", self.fleet("list", "search"))
        self.type("Type fast to confirm", "fast")
        self.dialog_button("Kill")
        self.closed()
        wait_until(lambda: self.text(FAST) == "off" and "instead of true" in self.text(FAST, ".fleet-value"))
        wait_until(lambda: "killed" in self.text(FAST, ".fleet-value") and self.text(FAST, ".fleet-why") == "the index is broken")
        self.assertIn("killed", self.fleet("list", "search"))
        self.menu(FAST, "End the kill…")
        self.type("Reason", "repaired")
        self.dialog_button("End the kill")
        self.closed()
        wait_until(lambda: "killed" not in self.text(FAST, ".fleet-value"))
        self.assertNotIn("killed", self.fleet("list", "search"))

    def test_values_are_promoted_from_one_environment_to_another(self):
        self.button("Compare…")
        rows = wait_until(lambda: self.browser.all("dialog[open] .comparison tbody tr"), "nothing is compared")
        self.assertEqual([" ".join(row.text.split()) for row in rows], [f"{FAST} none true for 10 %", f"{LIMIT} 7 5"])
        # What only the second environment has is not chosen.
        boxes = self.browser.all("dialog[open] .comparison input")
        self.assertEqual([box.is_selected() for box in boxes], [False, True])
        self.dialog_button("Promote the selected…")
        self.assertEqual(self.difference(), [f"{LIMIT} 5 → 7"])
        self.type("Reason", "tested")
        self.browser.click_named("dialog[open] button:enabled", "Promote")
        wait_until(lambda: len(self.browser.all("dialog[open]")) == 1, "the dialog stays open")
        self.assertEqual(self.value(LIMIT), "7")
        wait_until(lambda: len(self.browser.all("dialog[open] .comparison tbody tr")) == 1, "it is not compared again")
        self.dialog_button("Close")
        self.closed()
        self.assertIn("promoted from staging: tested", self.fleet("history", "search"))

    def test_builds_are_shown(self):
        self.button("Builds…")
        wait_until(lambda: "/usr/bin/search" in self.browser.text("dialog[open]"), "no build is shown")
        self.assertIn("aa11.22", self.browser.text("dialog[open]"))
        self.dialog_button("Close")
        self.closed()

    def test_hosts_and_rollouts_are_shown(self):
        browser = self.browser
        answers = {
            "status": {"application": "search", "newest": 2, "newestRevision": 9, "known": 2, "current": 1, "hosts": [
                {"host": "web1", "state": "current", "version": 2, "revision": 11, "newestRevision": 9, "refused": [], "sources": []},
                {"host": "web2", "processes": 3, "agent": "tweak-agent 1.0", "loaded": "2025-11-25T17:00:00Z", "state": "refuses", "version": 2, "revision": 11, "newestRevision": 9, "sources": [], "refused": [{"tweak": LIMIT, "reason": "5 is above <b>"}]},
            ]},
            "rollouts": [{
                "tweak": FAST, "value": True, "steps": [1, 10, 100], "every": 600, "done": 2, "percentage": 10, "state": "paused", "reason": "web2 is silent",
                "attended": False, "by": "ann", "why": "go live", "at": "2026-11-25T17:00:00Z"}],
        }
        # Whatever the command under test knows.
        browser.script(
            """tweaksPage.load = async () => {};
            Object.assign(tweaksPage, arguments[0]);
            tweaksPage.listing.show();""", answers)
        self.button("1 has it, 1 refuses values")
        hosts = wait_until(lambda: browser.all("dialog[open] li"))
        self.assertEqual(" ".join(hosts[0].text.split()), f"web2 refuses values refuses {LIMIT}: 5 is above <b> revision 9 · loaded 2025-11-25 · 3 processes · tweak-agent 1.0")
        self.dialog_button("Close")
        self.closed()
        # Of one tweak.
        browser.script(
            """const [{ status }] = arguments;
            status.hosts[0].has = { kind: "none" };
            status.hosts[0].builds = [{ program: "/usr/bin/search", build: "3f2a91c4.5be0" }];
            status.hosts[1].has = { kind: "value", value: 5 };
            tweaksPage.ask = async (name, { tweak }) => ({ answer: name === "status" && tweak ? status : {} });""", answers)
        self.menu(LIMIT, "Hosts…")
        hosts = wait_until(lambda: browser.all("dialog[open] li"))
        self.assertIn("1 host: no value for it; 1 host: 5.", browser.text("dialog[open]"))
        self.assertEqual(" ".join(hosts[0].text.split())[:26], "web2 refuses values 5 refu")
        self.assertIn("no value for it revision 9 · search 3f2a91c4.5be", " ".join(hosts[1].text.split()))
        self.dialog_button("Close")
        self.closed()
        self.assertEqual(" ".join(browser.text(".fleet-rollouts").split()), "fast → true 10 % paused: web2 is silent Resume… Abort…")

    def test_a_rollout_is_started_paused_resumed_and_aborted(self):
        self.menu(FAST, "Roll out…")
        self.browser.click_named("dialog[open] .segment", "On")
        self.dialog_button("Start")
        wait_until(lambda: self.browser.text("dialog[open] .fleet-status") == "Give a reason for the history.")
        self.type("Reason", "go live")
        self.type("Shares of hosts, in %", "5, 50, 100")
        self.type("Time between steps", "1h")
        self.dialog_button("Start")
        self.closed()
        wait_until(lambda: "no agent is running it yet" in self.browser.text(".fleet-rollouts"), "the rollout is not shown")

        def plan():
            return json.loads(self.fleet("rollouts", "--format", "json", "search"))["rollouts"][0]

        self.assertEqual([plan()[name] for name in ("steps", "every", "why", "state")], [[5, 50, 100], 3600, "go live", "running"])
        for name, reason, state in (("Pause", "lunch", "paused"), ("Resume", "back", "running"), ("Abort", "too slow", "aborted")):
            self.button(f"{name} the rollout of fast")
            self.type("Reason", reason)
            self.dialog_button(name)
            self.closed()
            self.assertEqual(plan()["state"], state)
            self.assertIn(reason, plan()["reason"])
        wait_until(lambda: not self.browser.find(".fleet-rollouts").is_displayed(), "the aborted rollout stays")

    def test_a_change_of_somebody_else_appears_at_once(self):
        self.fleet("set", "search", LIMIT, "2", "--why", "elsewhere", "--by", "bob")
        wait_until(lambda: self.text(LIMIT) == "2 MB", "it does not appear")
        wait_until(lambda: "Last change: Limit, just now by" in self.browser.text("#list-head") and "(bob): elsewhere" in self.browser.text("#list-head"))
        self.fleet("kill", "search", "fast", "--why", "broken")
        wait_until(lambda: self.text(FAST) == "off", "the kill does not appear")

    def test_production_looks_like_production(self):
        def edge():
            return self.browser.script("return getComputedStyle(document.getElementById('top')).borderBottomWidth")

        self.assertEqual((self.browser.script("return document.body.dataset.stage"), edge()), ("production", "2px"))
        self.browser.click_named("#outline button", "search in staging")
        wait_until(lambda: self.browser.script("return document.body.dataset.stage") == "staging" and edge() == "1px")

    def test_values_stay_grey_while_etcd_does_not_answer_and_come_back(self):
        stop(self.etcd_process)
        try:
            wait_until(lambda: self.browser.script("return document.body.classList.contains('is-old')"), "the page does not notice")
            self.assertEqual(self.text(LIMIT), "5 MB")
            self.assertIn("values may be old", self.browser.text("#banner"))
            self.assertFalse(self.browser.find(".fleet-hosts").is_displayed())
        finally:
            os.kill(self.etcd_process.pid, signal.SIGCONT)
        wait_until(lambda: not self.browser.script("return document.body.classList.contains('is-old')"), "the page does not come back")
        self.assertFalse(self.browser.find("#banner").is_displayed())

    def test_an_unreachable_cluster_is_reported(self):
        browser, configuration = self.browser, open(self.configuration, encoding="utf-8").read()
        with open(self.configuration, "w", encoding="utf-8") as file:
            file.write("{ }")
        try:
            self.button("Refresh")
            wait_until(lambda: "etcd: it is missing" in browser.text("#empty"), "no problem is shown")
        finally:
            with open(self.configuration, "w", encoding="utf-8") as file:
                file.write(configuration)
        self.button("Try again")
        wait_until(lambda: self.row(LIMIT).is_displayed(), "the values do not come back")


class FleetAccessibility(FleetTest):
    """Names, roles, contrast and sizes, checked by axe-core, and the keyboard."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.axe = axe_source()

    def check(self, what):
        browser = self.browser
        # A button that fades in has less contrast.
        wait_until(lambda: browser.script("return document.getAnimations().length === 0"))
        found = violations(browser, self.axe)
        self.assertEqual(found, [], f"{what}: {json.dumps(found, indent=1)}")

    def test_axe_finds_no_violations(self):
        browser = self.browser
        self.fleet("kill", "search", "fast", "--why", "broken")
        self.addCleanup(browser.size, 1280, 900)
        for width, theme in ((1280, "light"), (360, "dark"), *(((1280, "dark"), (360, "light")) if LONG else ())):
            browser.size(width, 800, touch=width < 500)
            self.show()
            browser.script("tweaksPage.preferences.theme = arguments[0]", theme)
            what = f"{theme}, {width}"
            self.check(what)
            browser.script("tweaksPage.history.open()")
            wait_until(lambda: browser.is_there(".history-list li"))
            self.check(f"{what}, history")
            browser.script("tweaksPage.history.close()")
            self.button("Set Limit")
            self.type("Value", "11")
            self.dialog_button("Show the difference")
            wait_until(lambda: "outside" in browser.text("dialog[open] .fleet-status"))
            # It is dimmed until the answer is there.
            wait_until(browser.find("dialog[open] .button.main").is_enabled)
            self.check(f"{what}, refusal")
            self.type("Value", "6")
            self.dialog_button("Show the difference")
            self.difference()
            self.check(f"{what}, difference")
            self.dialog_button("Cancel")
            self.button("Compare…")
            wait_until(lambda: browser.all("dialog[open] .comparison tbody tr"))
            self.check(f"{what}, comparison")
            self.dialog_button("Close")
            self.assertLessEqual(browser.script("return document.documentElement.scrollWidth - innerWidth"), 0, f"{what}: it is too wide")
            if width < 500:
                small = browser.script(
                    """return [...document.querySelectorAll('button, a, input, select, textarea, summary')].filter((one) => one.checkVisibility() && !one.matches('.skip, label input'))
                      .map((one) => [one.getBoundingClientRect(), one.outerHTML.slice(0, 100)]).filter(([box]) => box.width < 24 || box.height < 24).map(([, text]) => text);""")
                self.assertEqual(small, [], f"{what}: too small for fingers")

    def test_rows_and_fields_are_whole_at_400_percent(self):
        browser = self.browser
        self.addCleanup(browser.size, 1280, 900)
        # A window of 1280 by 1024.
        browser.size(320, 256)

        def assert_whole(selector):
            box = browser.script(
                """const found = [...document.querySelectorAll(arguments[0])].filter((one) => one.checkVisibility()).at(-1);
                found.scrollIntoView({block: 'center'});
                const { left, top, right, bottom, width, height } = found.getBoundingClientRect();
                const seen = [[left + 2, top + 2], [right - 2, bottom - 2], [left + width / 2, top + height / 2]];
                return { box: [left, top, right, bottom], seen: seen.every(([x, y]) => found.contains(document.elementFromPoint(x, y))) };""", selector)
            self.assertTrue(box["seen"], f"{selector} is not seen as a whole: {box['box']}")

        for selector in (".fleet-row", "#list-head .button.main", "#list-head p"):
            assert_whole(selector)
        self.assertLessEqual(browser.script("return document.documentElement.scrollWidth"), 320)
        self.button("Set Limit")
        for selector in ("input", "header button", "footer .button.main"):
            assert_whole(f"dialog[open] {selector}")

    def test_a_change_is_made_with_the_keyboard_alone(self):
        browser = self.browser
        browser.blur()
        browser.keys("/")
        browser.keys("limit")
        wait_until(lambda: len(browser.all(".fleet-row")) == 1)
        for _ in range(30):
            browser.keys(Keys.TAB)
            if browser.script("return document.activeElement.getAttribute('aria-label')") == "Set Limit":
                break
        browser.keys(Keys.ENTER)
        wait_until(lambda: browser.script("return document.activeElement === arguments[0]", self.field("Value")), "the value has no focus")
        browser.keys(Keys.CONTROL, "a")
        browser.keys("9", Keys.ENTER)
        self.assertEqual(self.difference(), [f"{LIMIT} 5 → 9"])
        for _ in range(10):
            browser.keys(Keys.TAB)
            if browser.script("return document.activeElement.name") == "why":
                break
        browser.keys("by hand", Keys.ENTER)
        self.closed()
        wait_until(lambda: self.value(LIMIT) == "9")
        wait_until(lambda: browser.script("return document.activeElement.getAttribute('aria-label')") == "Set Limit", "the focus does not return")
