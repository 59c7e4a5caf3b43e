# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the page beyond single interactions: several pages, restarts, keyboard use, markup, limits, accessibility."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import time
import unittest

from support import LONG, By, Keys, Settings, World, free_port, wait_until
from test_rows import NUMBERS, OTHERS, PageTest


def axe_source():
    """The newest axe-core in the installed Python packages."""
    found = []
    for name in ("axe_playwright_python", "axe_core_python", "axe_selenium_python"):
        package = importlib.util.find_spec(name)
        for folder in package.submodule_search_locations if package else []:
            for path, _, files in os.walk(folder):
                if "axe.min.js" in files:
                    text = open(os.path.join(path, "axe.min.js"), encoding="utf-8").read()
                    version = re.search(r"axe v(\d+)\.(\d+)\.(\d+)", text[:200])
                    found.append(([int(part) for part in version.groups()] if version else [0], text))
    if not found:
        raise AssertionError("no Python package contains axe-core: pip install --no-deps axe-playwright-python")
    version, text = max(found)
    Settings.figures["axe-core"] = ".".join(map(str, version))
    return text


def violations(browser, axe):
    """What axe-core finds on the page."""
    browser.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": axe})
    return browser.script(
        """const known = new Set(axe.getRules().flatMap(({tags}) => tags));
        const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'].filter(tag => known.has(tag));
        const result = await axe.run(document, {runOnly: tags, resultTypes: ['violations']});
        return result.violations.map(({id, help, nodes}) => [id, help, nodes.slice(0, 4).map(({html, failureSummary}) => html.slice(0, 160) + ' :: ' + failureSummary.slice(0, 300))]);"""
    )


class Together(PageTest):
    """Changes from several sides."""

    def test_an_outside_change_shows_at_once(self):
        browser, key = self.browser, NUMBERS + "Stiffness"
        browser.row(key)
        # The page records when the field changes, by the clock of this machine.
        browser.script(
            """const field = document.querySelector(`[data-tweak="${arguments[0]}"] .number-field`);
            globalThis.seen = [];
            let last = field.value;
            const look = () => {
              if (field.value !== last) seen.push([Date.now(), last = field.value]);
              requestAnimationFrame(look);
            };
            look();""",
            key,
        )
        delays = []
        for value in range(200, 220):
            began = time.time() * 1000
            self.control.set(key, value)
            wait_until(lambda: browser.script("return seen.at(-1)?.[1]") == str(value), "the change is not shown")
            delays.append(browser.script("return seen.at(-1)[0]") - began)
        delays.sort()
        Settings.figures["an outside change shows after, ms, median"] = round(delays[len(delays) // 2], 1)
        Settings.figures["an outside change shows after, ms, most"] = round(delays[-1], 1)

    def test_two_pages_see_each_other(self):
        first = self.browser
        first.script("tweaksPage.preferences.name = 'Ada'")
        second = self.world.browser(self.world.address + "&program=page-program")
        second.connected()
        first.row(NUMBERS + "Count")
        second.type(second.field(NUMBERS + "Count"), "77")
        wait_until(lambda: first.field(NUMBERS + "Count").get_attribute("value") == "77", "the other page does not follow")
        self.becomes(NUMBERS + "Count", 77)
        wait_until(lambda: first.find(".people").is_displayed() and "2" in first.text(".people"), "the other page is not shown")
        first.click(first.part(OTHERS + "Switch", ".row-name"))
        wait_until(lambda: "Ada" in second.part(OTHERS + "Switch", ".row-badges").text, "the other page's tweak is not shown")
        # The graph of the other page names the author.
        second.click(second.part("Motor/State/Speed", ".row-graph"))
        first.type(first.field(NUMBERS + "Count"), "78")
        wait_until(lambda: "Ada" in second.text(".graph-marks"), "the mark does not name the author")
        second.close()
        wait_until(lambda: not first.find(".people").is_displayed(), "a closed page is still shown")

    def test_a_remote_change_keeps_typed_text(self):
        browser, key = self.browser, NUMBERS + "Stiffness"
        field = browser.field(key)
        browser.type(field, "33", end=None)
        self.control.set(key, 444)
        wait_until(lambda: "now 444" in browser.part(key, ".outside").text, "the new value is not shown")
        self.assertEqual(field.get_attribute("value"), "33")
        self.assertEqual(self.control.value(key), 444)
        field.send_keys("3", Keys.ENTER)
        self.becomes(key, 333)
        text = browser.part(OTHERS + "Text", ".text-field")
        browser.type(text, "mine", end=None)
        self.control.set(OTHERS + "Text", "theirs")
        wait_until(lambda: browser.part(OTHERS + "Text", ".outside").text == "changed elsewhere")
        self.assertEqual(text.get_attribute("value"), "mine")
        text.send_keys(Keys.ESCAPE)
        wait_until(lambda: text.get_attribute("value") == "theirs")

    def test_typed_text_survives_a_reload_of_the_tweaks(self):
        browser, key = self.browser, NUMBERS + "Stiffness"
        field = browser.field(key)
        browser.type(field, "34", end=None)
        browser.script("return tweaksPage.commands.load('page-program', {again: true})")
        field.send_keys("5", Keys.ENTER)
        self.becomes(key, 345)

    def test_a_late_answer_reverts_no_change(self):
        browser, key = self.browser, NUMBERS + "Stiffness"
        browser.row(key)
        browser.script(
            """globalThis.late = {};
            const post = tweaksPage.api.post.bind(tweaksPage.api);
            tweaksPage.api.post = async (name, body) => {
              const answer = await post(name, body);
              if (name === 'set' || name === 'tweaks') await new Promise((resolve) => { late[name] = resolve; });
              return answer;
            };"""
        )
        value = "return tweaksPage.state.tweak('page-program', arguments[0]).value"
        browser.type(browser.field(key), "250")
        wait_until(lambda: browser.script("return Boolean(late.set)"))
        self.becomes(key, 250)
        self.control.reset(all=True)
        wait_until(lambda: browser.script(value, key) == 120, "the reset does not arrive")
        browser.script("late.set()")
        browser.settle()
        self.assertEqual(browser.script(value, key), 120)
        # The same when all tweaks are loaded, as after a start of the program.
        browser.script("globalThis.loaded = tweaksPage.commands.load('page-program', {again: true})")
        wait_until(lambda: browser.script("return Boolean(late.tweaks)"))
        self.control.set(key, 300)
        wait_until(lambda: browser.script(value, key) == 300, "the change does not arrive")
        browser.script("late.tweaks(); return loaded")
        self.assertEqual(browser.script(value, key), 300)

    def test_not_every_keystroke_is_sent(self):
        browser = self.browser
        self.count_requests()
        browser.type(browser.field(NUMBERS + "Stiffness"), "123.5")
        self.becomes(NUMBERS + "Stiffness", 123.5)
        browser.type(browser.part(OTHERS + "Text", ".text-field"), "twelve")
        self.becomes(OTHERS + "Text", "twelve")
        self.assertEqual(browser.script("return sent.length"), 2)

    def test_a_drag_sends_once_a_frame_and_always_its_last_value(self):
        browser, key = self.browser, NUMBERS + "Stiffness"
        slider = browser.slider(key)
        self.count_requests()
        frames = browser.script(
            """const slider = arguments[0];
            slider.dispatchEvent(new PointerEvent('pointerdown', {bubbles: true}));
            let frames = 0;
            for (let step = 0; step < 60; step += 1) {
              for (const fine of [0, 1, 2, 3, 4]) {
                slider.value = 1000 + step * 100 + fine;
                slider.dispatchEvent(new Event('input', {bubbles: true}));
              }
              await new Promise(requestAnimationFrame);
              frames += 1;
            }
            slider.value = 10000;
            slider.dispatchEvent(new Event('input', {bubbles: true}));
            slider.dispatchEvent(new Event('change', {bubbles: true}));
            return frames;""",
            slider,
        )
        self.becomes(key, 1000)
        self.assertLessEqual(browser.script("return sent.length"), frames + 3)
        browser.blur()
        browser.press(Keys.CONTROL, "z")
        self.becomes(key, 120)

    def count_requests(self):
        self.browser.script(
            """globalThis.sent = [];
            const post = tweaksPage.api.post.bind(tweaksPage.api);
            tweaksPage.api.post = (name, body) => {
              if (name === 'set') sent.push(body);
              return post(name, body);
            };"""
        )

    def test_every_control_changes_the_example(self):
        example = self.world.start_example()
        self.addCleanup(self.world.end, example)
        control = self.world.control(example)
        control.reset(all=True)
        browser = self.browser
        wait_until(lambda: browser.script("return tweaksPage.state.programs.get('spring')?.state") == "running")
        browser.script("tweaksPage.commands.showScope({program: 'spring'})")
        for key, text, value in [("Spring/Physics/Stiffness", "600", 600), ("Spring/Physics/Mass", "1/4", 0.25), ("Spring/Scene/Time step", "0.01", 0.01),
                                 ("Spring/Drawing/Width", "100", 100), ("Spring/Drawing/Frames per second", "60", 60)]:
            browser.type(browser.field(key), text)
            self.becomes(key, value, control)
        browser.type(browser.part("Spring/Drawing/Glyph", ".text-field"), "○")
        self.becomes("Spring/Drawing/Glyph", "○", control)
        browser.part("Spring/Drawing/Trail", ".switch").click()
        self.becomes("Spring/Drawing/Trail", False, control)


class Stale(PageTest):
    """Nothing shows stale values."""

    def test_the_preview_of_a_copy_follows_the_value(self):
        browser, key = self.browser, NUMBERS + "Stiffness"
        browser.click(browser.part(key, ".row-name"))
        browser.open_tools()
        wait_until(lambda: browser.text(".details .copy-preview").endswith("Stiffness 120"))
        self.control.set(key, 130)
        wait_until(lambda: browser.text(".details .copy-preview").endswith("Stiffness 130"), "the preview is stale")
        browser.click("button[aria-label='Copy as JSON']")
        self.control.set(key, 140)
        wait_until(lambda: '"Stiffness": 140' in browser.text(".details .copy-preview"), "the preview is stale")

    def test_details_name_their_program_and_close_with_it(self):
        example = self.world.start_example()
        self.addCleanup(self.world.end, example)
        browser = self.browser
        browser.click(browser.part(NUMBERS + "Stiffness", ".row-name"))
        self.assertEqual(wait_until(lambda: browser.text(".details-path")), "page-program › Kinds › Numbers › Stiffness")
        wait_until(lambda: browser.script("return tweaksPage.state.programs.has('spring')"))
        browser.script("tweaksPage.commands.showScope({program: 'page-program', category: 'Motor'})")
        self.assertTrue(browser.find("#details").is_displayed())
        # The outline may be redrawn between the lookup and the click.
        browser.click_named(".outline-node", "spring", is_whole=False)
        wait_until(lambda: not browser.find("#details").is_displayed(), "the details of another program stay open")


class Restarts(unittest.TestCase):
    def setUp(self):
        self.world = World("restarts")
        self.addCleanup(self.world.close)

    def test_a_program_that_ends_comes_back(self):
        world, key = self.world, NUMBERS + "Stiffness"
        program = world.start_page_program()
        world.start_ui()
        browser = world.browser(world.address + "&program=page-program")
        browser.connected()
        browser.type(browser.field(key), "321")
        wait_until(lambda: world.control(program).value(key) == 321)
        browser.click(browser.part("Motor/State/Speed", ".row-graph"))
        world.end(program)
        wait_until(lambda: "ended" in browser.text(".scope-state"), "the page does not show that the program ended")
        self.assertEqual(browser.field(key).get_attribute("value"), "321")
        browser.type(browser.field(key), "322")
        again = world.start_page_program()
        wait_until(lambda: "running" in browser.text(".scope-state"), "the program does not reappear")
        self.assertEqual(world.control(again).value(key), 322)
        world.control(again).set(key, 323)
        wait_until(lambda: browser.field(key).get_attribute("value") == "323", "the page does not follow the new process")
        # The program may have ended before its first sample.
        samples = "return tweaksPage.samples.series('page-program\\nMotor/State/Speed')?.total ?? 0"
        count = browser.script(samples)
        wait_until(lambda: browser.script(samples) > count + 10, "the graph does not continue")

    def test_a_page_reopens_after_a_restart_of_tweak_ui(self):
        world, key = self.world, NUMBERS + "Stiffness"
        program = world.start_page_program()
        control = world.control(program)
        world.start_ui()
        port = world.port
        browser = world.browser(world.address + "&program=page-program")
        browser.connected()
        browser.row(key)
        world.end(world.ui)
        wait_until(lambda: browser.find("#banner").is_displayed(), "the lost connection is not reported")
        self.assertNotIn("reconnects", browser.text("#banner"))
        wait_until(lambda: self.start_again(port), "the port is not free again")
        # The new server rejects the old session; its address reopens the page in the same tab.
        wait_until(lambda: "address" in browser.text("#banner"), "the page does not explain what to do")
        browser.driver.get(world.address)
        browser.connected()
        control.set(key, 222)
        wait_until(lambda: browser.field(key).get_attribute("value") == "222", "the page does not follow the program again")
        self.assertFalse(browser.find("#banner").is_displayed())

    def test_a_page_reconnects_after_a_restart_with_the_same_token(self):
        world, key = self.world, NUMBERS + "Stiffness"
        program = world.start_page_program()
        control = world.control(program)
        token = os.path.join(world.folder, "token")
        with open(os.open(token, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as file:
            file.write("a-token-that-is-kept\n")
        port = free_port()
        world.start_ui("--token-file", token, port=port)
        browser = world.browser(world.address + "&program=page-program")
        browser.connected()
        browser.row(key)
        world.end(world.ui)
        wait_until(lambda: "reconnects" in browser.text("#banner"), "the page does not announce that it reconnects")
        wait_until(lambda: self.start_again(port, "--token-file", token), "the port is not free again")
        wait_until(lambda: not browser.find("#banner").is_displayed(), "the page does not reconnect")
        control.set(key, 222)
        wait_until(lambda: browser.field(key).get_attribute("value") == "222", "the page does not follow the program again")

    def start_again(self, port, *arguments):
        try:
            return self.world.start_ui(*arguments, port=port)
        except AssertionError:
            return None

    def test_a_page_reconnects_after_a_network_failure(self):
        world, key = self.world, NUMBERS + "Stiffness"
        program = world.start_page_program()
        control = world.control(program)
        world.start_ui()
        browser = world.browser(world.address + "&program=page-program")
        browser.connected()
        browser.row(key)
        browser.driver.execute_cdp_cmd("Network.enable", {})
        offline = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        browser.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": True, **offline})
        browser.script("dispatchEvent(new PageTransitionEvent('pagehide')); dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
        wait_until(lambda: browser.find("#banner").is_displayed(), "the lost connection is not reported")
        control.set(key, 555)
        browser.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": False, **offline})
        wait_until(lambda: browser.field(key).get_attribute("value") == "555", "the missed change is not loaded")

    def test_programs_with_one_name_are_below_one_node(self):
        world = self.world
        for folder in ("first", "second", "third"):
            path = os.path.join(world.folder, folder, "page-program")
            os.makedirs(os.path.dirname(path))
            shutil.copy(Settings.page_program, path)
            program = world.start(path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.assertEqual(program.stdout.readline(), "ready\n")
        shutil.copy(Settings.page_program, os.path.join(world.folder, "zebra"))
        self.assertEqual(world.start(os.path.join(world.folder, "zebra"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True).stdout.readline(), "ready\n")
        world.start_ui()
        browser = world.browser(world.address)
        browser.connected()
        names = lambda: browser.script("return [...document.querySelectorAll('#outline .outline-label')].map(({textContent}) => textContent)")
        wait_until(lambda: names() == ["All programs", "page-program ×3", "zebra"], "they do not stand together")
        browser.click_named(".outline-node", "page-program ×3")
        wait_until(lambda: names() == ["All programs", "page-program ×3", *["page-program"] * 3, "zebra"], "they are not shown")
        unders = browser.texts("#outline .outline-under")
        for folder in ("first", "second", "third"):
            self.assertTrue(any(f"{folder}/page-program" in under for under in unders), unders)
        # It stays open while one of them is shown.
        browser.click_named(".outline-node", "page-program\n", is_whole=False)
        wait_until(lambda: browser.text(".scope-title") == "page-program")
        wait_until(lambda: browser.is_there("#outline .outline-stopped [aria-current]"))

    def test_stopped_programs_are_collapsed_distinguishable_and_removable(self):
        world = self.world
        world.start_page_program()
        ended = []
        for folder in ("first", "second"):
            path = os.path.join(world.folder, folder, "page-program")
            os.makedirs(os.path.dirname(path))
            shutil.copy(Settings.page_program, path)
            program = world.start(path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.assertEqual(program.stdout.readline(), "ready\n")
            # Both share their kept values, because they have the same name.
            world.control(program).set(NUMBERS + "Stiffness", 200)
            ended.append((path, program.pid, program))
        world.start_ui()
        browser = world.browser(world.address)
        browser.connected()
        wait_until(lambda: browser.script("return [...tweaksPage.state.programs.values()].filter(one => one.isLoaded).length") == 3)
        for _, _, program in ended:
            world.end(program)
        wait_until(lambda: browser.named(".outline-node", "Not running\n2"), "they are not collapsed")
        self.assertEqual(len(browser.all(".outline-node[data-state=offline]")), 1)
        # The outline may be redrawn between the lookup and the click.
        wait_until(lambda: [node.click() for node in browser.all(".outline-node") if node.text.startswith("Not running")])
        unders = wait_until(lambda: [under.text for under in browser.all(".outline-stopped .outline-under")])
        for path, pid, _ in ended:
            self.assertTrue(any(path in under and f"process {pid}" in under and "ended at" in under for under in unders), unders)
        wait_until(lambda: browser.all(".outline-stopped .outline-remove")[1].click() is None)
        wait_until(lambda: len(browser.all(".outline-stopped .outline-under")) == 1, "it is not removed")
        # A program whose executable was deleted says so.
        left = next(path for path, _, _ in ended if path in browser.text(".outline-stopped"))
        os.remove(left)
        browser.click(".outline-stopped .outline-node")
        wait_until(lambda: "executable deleted" in browser.text(".scope-state"), "the deleted executable is not reported")
        browser.click(".outline-stopped .outline-remove")
        wait_until(lambda: not browser.all(".outline-node[data-state=offline]"), "it is not removed")
        self.assertEqual(browser.text(".scope-title"), "page-program")

    def test_an_empty_page_explains_itself(self):
        world = self.world
        world.start_ui()
        browser = world.browser(world.address)
        browser.connected()
        wait_until(lambda: browser.script("return tweaksPage.state.programs.size > 0") or "No programs" in browser.text("#empty"))
        other = world.browser(world.address.split("#")[0])
        wait_until(lambda: "address" in other.text("#banner"), "a page without its token does not explain what it needs")


class Safety(PageTest):
    def test_markup_and_control_characters_are_text(self):
        browser = self.browser
        key = "<img src=x onerror=document.title='broken'>/<b>bold<%2Fb>/<script>alert(1)<%2Fscript>"
        row = browser.row(key)
        self.assertEqual(row.find_element(By.CSS_SELECTOR, ".row-label").text, "<script>alert(1)</script>")
        under = row.find_element(By.CSS_SELECTOR, ".row-under").text
        self.assertIn("</li><style>", under)
        self.assertIn("\\u{1b}[31m", under)
        row.find_element(By.CSS_SELECTOR, ".row-name").click()
        browser.click(browser.part(key, ".row-graph"))
        self.assertEqual(browser.all("img, main script, main style, b"), [])
        self.assertNotIn("broken", browser.driver.title)
        # Strings set elsewhere are text too, and line breaks survive editing.
        self.control.set(OTHERS + "Text", "<img src=x onerror=alert(1)>\x07\u202e")
        wait_until(lambda: browser.part(OTHERS + "Text", ".text-field").get_attribute("value") == "<img src=x onerror=alert(1)>\\u{7}\\u{202e}")
        self.control.set(OTHERS + "Lines", "one\r\ntwo")
        wait_until(lambda: browser.part(OTHERS + "Lines", ".text-field").get_attribute("value") == "one\\r\\ntwo")
        browser.type(browser.part(OTHERS + "Lines", ".text-field"), "one\\r\\ntwo\\tthree\\\\")
        self.becomes(OTHERS + "Lines", "one\r\ntwo\tthree\\")

    def test_the_token_is_removed_after_use(self):
        browser = self.browser
        token = re.search("token=([^&]+)", self.world.address)[1]
        browser.driver.get("about:blank")
        browser.open(self.world.address)
        browser.connected()
        self.assertNotIn(token, browser.driver.current_url)
        stored = browser.script("return JSON.stringify([{...localStorage}, {...sessionStorage}, history.state, document.documentElement.outerHTML])")
        self.assertNotIn(token, stored)

    def test_the_page_complies_with_its_content_security_policy(self):
        # The browser reports violations, which tearDown checks, once every part was used.
        browser = self.browser
        browser.press("?")
        self.dialog_button("Close")
        browser.press("e")
        self.dialog_button("Close")
        browser.press("p")
        self.dialog_button("Close")


class Finding(PageTest):
    def filter(self, label):
        browser = self.browser
        browser.script("tweaksPage.commands.clearQuery()")
        browser.click(".top .button[aria-label=Filters]")
        wait_until(lambda: next((box for box in browser.all(".filters .check") if box.text == label), None)).click()
        browser.press(Keys.ESCAPE)

    def test_filters(self):
        browser = self.browser
        browser.click(browser.part(NUMBERS + "Count", ".row-star"))
        self.control.set(OTHERS + "Restarting", 9)
        wait_until(lambda: "is-changed" in browser.row(OTHERS + "Restarting").get_attribute("class"))
        for label, keys in [("Starred", [NUMBERS + "Count"]), ("Needs restart", [OTHERS + "Restarting"]), ("Waiting for a restart", [OTHERS + "Restarting"]),
                            ("Expired", [OTHERS + "Forgotten"]), ("Read-only", [OTHERS + "Build"]), ("Actions", ["Kinds/Actions/Count"]),
                            ("Monitors", ["Kinds/Actions/Runs", "Motor/State/Speed", "Motor/State/Temperature", "Motor/State/Phase"])]:
            self.filter(label)
            wait_until(lambda: self.keys_shown() == keys, f"{label} shows other tweaks")
        browser.script("tweaksPage.commands.clearQuery(); tweaksPage.commands.setQuery({kind: 'color'})")
        self.assertEqual(self.keys_shown(), [OTHERS + "Colour"])
        browser.script("tweaksPage.commands.clearQuery(); tweaksPage.commands.setQuery({source: 'override'})")
        self.assertEqual([key for key in self.keys_shown() if key != OTHERS + "Restarting"], [])

    def test_a_search_does_not_change_the_column_of_names(self):
        browser = self.browser
        width = "return document.getElementById('list').style.getPropertyValue('--names')"
        before = wait_until(lambda: browser.script(width))
        measured = """globalThis.measured = 0;
            const {measureText} = CanvasRenderingContext2D.prototype;
            CanvasRenderingContext2D.prototype.measureText = function (text) { measured += 1; return measureText.call(this, text); };"""
        browser.script(measured)
        self.query("fading")
        self.assertEqual(len(self.keys_shown()), 2)
        self.assertEqual((browser.script(width), browser.script("return measured")), (before, 0))
        browser.script("tweaksPage.commands.clearQuery(); tweaksPage.commands.showScope({program: 'page-program', category: 'Gated'})")
        wait_until(lambda: browser.script(width) != before, "it does not fit another category")

    def follow_outline(self, text):
        """Clicks a node of the outline, which may be redrawn between the lookup and the click."""
        wait_until(lambda: any(node.click() is None for node in self.browser.all(".outline-node") if node.text.startswith(text)), f"there is no {text}")

    def test_the_outline_leads_to_collections_and_groups(self):
        browser = self.browser
        self.follow_outline("Numbers")
        wait_until(lambda: browser.text(".scope-title") == "page-program › Kinds › Numbers")
        self.assertTrue(all(key.startswith(NUMBERS) for key in self.keys_shown()))
        browser.click(".outline-by option[value=groups]")
        self.follow_outline("Looks")
        wait_until(lambda: self.keys_shown() == ["Kinds/Made/Brightness", "Kinds/Made/Contrast"])
        self.assertEqual(browser.part("Kinds/Made/Brightness", ".row-label").text, "Brightness of it")

    def test_the_address_keeps_the_search(self):
        browser = self.browser
        self.query("stiff")
        wait_until(lambda: self.keys_shown() == [NUMBERS + "Stiffness"])
        address = wait_until(lambda: "q=stiff" in browser.driver.current_url and browser.driver.current_url)
        browser.driver.get("about:blank")
        browser.open(address)
        wait_until(lambda: self.keys_shown() == [NUMBERS + "Stiffness"], "the address does not keep the search")


class Values(PageTest):
    def test_integers_of_every_width_are_exact(self):
        browser = self.browser
        for name, text, value in [("Wide", "-9223372036854775808", -(2**63)), ("Wide", "9223372036854775807", 2**63 - 1), ("Natural", "18446744073709551615", 2**64 - 1),
                                  ("Natural", "0", 0), ("Byte", "255", 255), ("Byte", "300", 255), ("Small", "-128", -128), ("Small", "-1000", -128)]:
            browser.type(browser.field(NUMBERS + name), text)
            self.becomes(NUMBERS + name, value)
            self.assertEqual(browser.field(NUMBERS + name).get_attribute("value"), str(value))
        browser.field(NUMBERS + "Natural").click()
        browser.type(browser.field(NUMBERS + "Natural"), "18446744073709551614")
        browser.press(Keys.ARROW_UP)
        self.becomes(NUMBERS + "Natural", 2**64 - 1)
        browser.press(Keys.ARROW_UP)
        self.assertEqual(browser.field(NUMBERS + "Natural").get_attribute("value"), str(2**64 - 1))

    def test_copied_code_compiles(self):
        code = self.browser.script(
            """const {declarationInC} = await import('/copying.js');
            const {currentValue} = await import('/tweaks.js');
            return [...tweaksPage.state.programs.get('page-program').tweaks.values()].filter(tweak => tweak.type !== 'action' && !tweak.monitor && !tweak.isFeature && !tweak.optional)
              .map(tweak => declarationInC(tweak, currentValue(tweak), tweaksPage.state.options));"""
        )
        self.assertGreater(len(code), 20)
        path = os.path.join(self.world.folder, "copied.c")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#include <stdint.h>\n#include <math.h>\n#include <fbtweak.h>\nvoid copied(void);\nvoid copied(void) {\n")
            file.writelines(f"  (void){line};\n" for line in code)
            file.write("}\n")
        result = subprocess.run(["gcc", "-std=gnu11", "-DDEBUG", f"-I{Settings.header}", "-c", path, "-o", path + ".o"], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)


class Keyboard(PageTest):
    """Everything without a pointer: only keys move the focus."""

    def focused(self, script="return document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"):
        return self.browser.script(script)

    def search_for(self, text):
        self.browser.press("/")
        self.browser.press(Keys.CONTROL, "a")
        self.browser.keys(text, Keys.ENTER)
        wait_until(lambda: self.browser.script("return document.activeElement.classList.contains('row-name')"), "Enter does not go to the first row")

    def test_every_function_by_keys(self):
        browser, key = self.browser, NUMBERS + "Stiffness"
        self.search_for("stiffness")
        # To the control, and a value.
        browser.press(Keys.ARROW_RIGHT)
        browser.keys("250", Keys.ENTER)
        self.becomes(key, 250)
        browser.press(Keys.SHIFT, Keys.TAB)
        self.assertIn("slider", self.focused())
        browser.press(Keys.ARROW_RIGHT)
        self.becomes(key, 251)
        browser.press(Keys.CONTROL, "z")
        self.becomes(key, 250)
        browser.press(Keys.SHIFT, Keys.TAB)
        # Commands on the name of a row.
        browser.press("s")
        wait_until(lambda: browser.part(key, ".row-star").get_attribute("aria-pressed") == "true", "s does not star")
        browser.press("g")
        wait_until(lambda: browser.find("#graphs").is_displayed(), "g does not open the graph")
        browser.press("k")
        wait_until(lambda: browser.is_there("button[aria-label='Resume']"), "k does not pause")
        browser.press("c")
        wait_until(lambda: browser.script("return navigator.clipboard.readText()") == "tweak set page-program Kinds/Numbers/Stiffness 250")
        browser.press("l")
        wait_until(lambda: "tweak=" in browser.script("return navigator.clipboard.readText()"))
        browser.press(Keys.ENTER)
        wait_until(lambda: browser.find("#details").is_displayed(), "Enter does not open the details")
        browser.press("r")
        self.becomes(key, 120)
        browser.press(Keys.ESCAPE)
        wait_until(lambda: not browser.find("#details").is_displayed(), "Escape does not close them")
        # Other rows by arrows, a switch, a choice.
        browser.press("/")
        browser.keys(Keys.ESCAPE)
        browser.keys(Keys.ARROW_DOWN)
        wait_until(lambda: browser.script("return document.activeElement.classList.contains('row-name')"))
        first = self.focused()
        browser.press(Keys.ARROW_DOWN)
        self.assertNotEqual(self.focused(), first)
        browser.press(Keys.END)
        wait_until(lambda: "Phase" in self.focused(), "End does not go to the last row")
        self.search_for("kinds others switch")
        browser.press(Keys.ARROW_RIGHT)
        browser.press(Keys.SPACE)
        self.becomes(OTHERS + "Switch", False)
        self.search_for("quality")
        browser.press(Keys.ARROW_RIGHT)
        browser.press(Keys.ARROW_RIGHT)
        self.becomes("Kinds/Choices/Quality", 2)
        # An action, a pad, a colour.
        self.search_for("kinds actions count")
        before = self.control.value("Kinds/Actions/Runs")
        browser.press(Keys.ARROW_RIGHT)
        browser.press(Keys.ENTER)
        self.becomes("Kinds/Actions/Runs", before + 1)
        self.search_for("position x")
        self.tab_to("Pad of")
        browser.press(Keys.ENTER)
        browser.press(Keys.ARROW_UP)
        self.becomes("Kinds/Pad/Position Y", 0.76)
        browser.press(Keys.ESCAPE)
        self.assertIn("Pad of", self.focused())
        self.search_for("others colour")
        self.tab_to("open the picker")
        browser.press(Keys.ENTER)
        wait_until(lambda: browser.is_there(".colour-picker"))
        browser.press(Keys.ARROW_LEFT)
        wait_until(lambda: self.control.value(OTHERS + "Colour") != "#3366cc", "keys do not change the colour")
        browser.press(Keys.ESCAPE)
        # Filters, presets, export, menus, the outline, help.
        browser.press("/")
        browser.keys(Keys.ESCAPE, Keys.ESCAPE)
        browser.press("f")
        browser.press(Keys.SPACE)
        wait_until(lambda: browser.is_there(".chip"), "the keys do not filter")
        browser.press(Keys.ESCAPE)
        browser.press("p")
        wait_until(lambda: browser.is_there("dialog[open]"))
        browser.press(Keys.ESCAPE)
        browser.press("e")
        wait_until(lambda: browser.is_there("dialog[open] .export-text"))
        browser.press(Keys.ESCAPE)
        browser.press("?")
        wait_until(lambda: browser.is_there("dialog[open] .keys"))
        browser.press(Keys.ESCAPE)
        browser.press("t")
        wait_until(lambda: browser.script("return document.documentElement.dataset.theme") == "dark")
        browser.press("o")
        wait_until(lambda: browser.script("return document.activeElement.classList.contains('outline-node')"))
        self.assertTrue(self.focused("return Boolean(document.activeElement.closest('#outline'))"))
        browser.press(Keys.ARROW_DOWN)
        browser.press(Keys.ENTER)
        wait_until(lambda: "category=" in browser.driver.current_url, "Enter does not go to the category")

    def tab_to(self, text):
        for _ in range(12):
            self.browser.press(Keys.TAB)
            if text in self.focused():
                return
        self.fail(f"Tab does not reach {text}")

    def test_the_focus_is_visible_and_in_screen_order(self):
        browser = self.browser
        browser.script("document.activeElement.blur()")
        places = []
        for _ in range(70):
            browser.press(Keys.TAB)
            place = browser.script(
                """const element = document.activeElement;
                const box = element.getBoundingClientRect();
                const style = getComputedStyle(element);
                const next = element.nextElementSibling && getComputedStyle(element.nextElementSibling);
                return [element.className, box.width > 0 && box.height > 0, style.outlineStyle !== 'none' || (next?.outlineStyle ?? 'none') !== 'none',
                        element.closest('.row')?.getBoundingClientRect().top ?? null];"""
            )
            places.append(place)
            self.assertTrue(place[1], f"{place[0]} has the focus but is invisible")
            self.assertTrue(place[2], f"{place[0]} does not show its focus")
        tops = [place[3] for place in places if place[3] is not None]
        self.assertGreater(len(tops), 5)
        self.assertEqual(tops, sorted(tops))


class Leaving(PageTest):
    """Back, Escape, and where the focus goes."""

    def tearDown(self):
        self.browser.open(self.world.address)
        super().tearDown()

    def test_back_closes_what_is_open_before_it_leaves_the_page(self):
        browser = self.browser
        browser.click(browser.part(NUMBERS + "Stiffness", ".row-name"))
        browser.click(browser.part("Motor/State/Speed", ".row-graph"))
        self.query("speed")
        wait_until(lambda: self.keys_shown() == ["Motor/State/Speed"])

        def seen():
            return [browser.find(name).is_displayed() for name in ("#details", "#graphs")]

        browser.driver.back()
        wait_until(lambda: browser.find("#search").get_attribute("value") == "" and len(self.keys_shown()) > 1, "the filter stays")
        self.assertEqual(seen(), [True, True])
        browser.driver.back()
        wait_until(lambda: seen() == [True, False], "the graph stays")
        browser.driver.back()
        wait_until(lambda: seen() == [False, False], "the details stay")
        self.assertNotIn("tweak=", browser.driver.current_url)
        browser.driver.forward()
        wait_until(lambda: seen() == [True, False], "the details do not open again")
        browser.driver.back()
        wait_until(lambda: seen() == [False, False])
        browser.driver.back()
        wait_until(lambda: browser.driver.current_url == "about:blank", "the page is not left")

    def test_back_skips_what_was_closed_by_hand(self):
        browser = self.browser
        browser.click(browser.part(NUMBERS + "Stiffness", ".row-name"))
        self.query("sti")
        self.query("stiffness")
        browser.find("#search").send_keys(Keys.ESCAPE)
        wait_until(lambda: browser.script("return history.state.depth") == 1)
        browser.click("button[aria-label='Close the details']")
        wait_until(lambda: browser.script("return history.state.depth") == 0)
        wait_until(lambda: "tweak=" not in browser.driver.current_url)
        browser.driver.back()
        wait_until(lambda: browser.driver.current_url == "about:blank", "the page is not left")

    def test_back_leaves_a_page_opened_by_a_link_with_details(self):
        browser = self.browser
        self.show("program=page-program&tweak=" + (NUMBERS + "Stiffness").replace("/", "%2F"))
        wait_until(lambda: browser.find("#details").is_displayed())
        browser.click("button[aria-label='Close the details']")
        wait_until(lambda: "tweak=" not in browser.driver.current_url)
        browser.driver.back()
        wait_until(lambda: browser.driver.current_url == "about:blank", "the page is not left")

    def test_the_focus_moves_to_the_details_and_back_to_the_row(self):
        browser, key = self.browser, NUMBERS + "Stiffness"
        name = "return document.activeElement.classList.contains('row-name') && document.activeElement.closest('.row').dataset.tweak"
        browser.click(browser.part(key, ".row-name"))
        wait_until(lambda: browser.script("return Boolean(document.activeElement.closest('#details'))"), "the details do not receive the focus")
        browser.press(Keys.ESCAPE)
        wait_until(lambda: browser.script(name) == key, "the focus does not return to the row")
        browser.field(key).click()
        browser.press(Keys.ESCAPE)
        self.assertEqual(browser.script(name), key)


# Sliders and fields that have no number, and names of programs, tweaks and presets that a browser would translate.
WRONG_NAMES = """const program = tweaksPage.state.programs.get('page-program');
    const names = new Set([program.description.name, ...[...program.tweaks.values()].flatMap(({label, category, collection}) => [label, category, collection])]);
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const wrong = [...document.querySelectorAll('[aria-valuenow]')].filter((one) => !one.getAttribute('aria-valuenow') || !Number.isFinite(Number(one.getAttribute('aria-valuenow')))).map(({className}) => className);
    while (texts.nextNode()) {
      const {data, parentElement: parent} = texts.currentNode;
      // Words that the page itself has, too.
      if (['Actions', 'Switch'].includes(data.trim()) || !names.has(data.trim()) || !parent.translate) continue;
      wrong.push(`${parent.className} ${data}`);
    }
    return wrong;"""


class Accessible(PageTest):
    """Names, roles, contrast and sizes, checked by axe-core."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.axe = axe_source()

    def check(self, what):
        found = violations(self.browser, self.axe)
        self.assertEqual(found, [], f"{what}: {json.dumps(found, indent=1)}")
        self.assertEqual(self.browser.script(WRONG_NAMES), [], what)

    def check_dialogs(self, what):
        """The dialogs and menus, each by itself."""
        browser = self.browser
        commands = ("openSnapshots()", "openPanel('page-program')", "openPresets()", "openExport()", "openProgram()", "restart(tweaksPage.state.programs.get('page-program'))",
                    "keepScope({program: 'page-program'})", "resetScope({program: 'page-program'})")
        for command in (*(f"tweaksPage.commands.{one}" for one in commands), "tweaksPage.controllers.openList()", "tweaksPage.bar.openFilters()",
                        "document.querySelector('.top [aria-label=Snapshot]').click()", "document.querySelector('.scope-line [aria-label=\"More actions\"]').click()"):
            browser.script(command)
            wait_until(lambda: browser.is_there("dialog[open], .popover:popover-open"), f"{command} opens nothing")
            wait_until(lambda: "Loading" not in browser.text("dialog[open], .popover:popover-open"))
            self.check(f"{what}, {command}")
            browser.press(Keys.ESCAPE)
            wait_until(lambda: not browser.is_there("dialog[open], .popover:popover-open"), f"{command} stays open")

    def test_axe_finds_no_violations_in_dialogs_and_menus(self):
        browser = self.browser
        self.addCleanup(browser.size, 1280, 900)
        for key, value in ((NUMBERS + "Stiffness", 200), (NUMBERS + "Count", 20), (OTHERS + "Restarting", 8), (NUMBERS + "Frequency", 500)):
            self.control.set(key, value)
            wait_until(lambda: browser.script("return tweaksPage.state.tweak('page-program', arguments[0]).source", key) == "override" or key == OTHERS + "Restarting")
        for theme, width, height in (("dark", 360, 740), *((("light", 1280, 900), ("light", 320, 256)) if LONG else ())):
            browser.size(width, height)
            browser.script("tweaksPage.commands.setTheme(arguments[0])", theme)
            self.check_dialogs(f"{theme} at {width} px")
            browser.click(browser.part(NUMBERS + "Stiffness", ".row-name"))
            browser.open_tools()
            wait_until(lambda: browser.is_there(".opinions li") and browser.is_there(".change-list time"))
            self.check(f"{theme} at {width} px, tools")
            browser.script("tweaksPage.commands.select(undefined); tweaksPage.commands.toggleHistory(true)")
            wait_until(lambda: browser.is_there(".history-list li"))
            self.check(f"{theme} at {width} px, history")
            browser.script("tweaksPage.commands.toggleHistory(false)")
            # What a search finds besides tweaks.
            browser.script("tweaksPage.commands.setQuery({text: 'res'})")
            self.check(f"{theme} at {width} px, search")
            browser.script("tweaksPage.commands.clearQuery()")

    def test_forced_colours_hide_nothing(self):
        """The system's colours have no shades, so shapes and borders tell what is on."""
        browser = self.browser
        self.addCleanup(browser.driver.execute_cdp_cmd, "Emulation.setEmulatedMedia", {"features": []})
        browser.script("tweaksPage.commands.setTheme('light')")
        for scheme in ("light", "dark"):
            browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
                {"name": "forced-colors", "value": "active"}, {"name": "prefers-color-scheme", "value": scheme}]})
            browser.row("Kinds/Choices/Quality")
            style = "return getComputedStyle(document.querySelector(arguments[0])).getPropertyValue(arguments[1])"
            back = browser.script(style, "body", "background-color")
            row = '.row[data-tweak="Kinds/Choices/Quality"] '
            on = browser.script(style, row + "input:checked + span", "background-color")
            self.assertNotEqual(on, browser.script(style, row + "input:not(:checked) + span", "background-color"), "the choice is not seen")
            self.assertEqual(browser.script(style, ".side[aria-pressed=true]", "outline-style"), "solid", "the pressed side is not seen")
            self.assertNotEqual(browser.script(style, ".state-dot", "background-color"), back, "the dot is not seen")
            browser.row(NUMBERS + "Stiffness")
            self.assertEqual([browser.script(style, ".slider", name) for name in ("forced-color-adjust", "--fill", "--text")], ["none", "Highlight", "CanvasText"],
                             "neither the fill of a slider nor its default is seen")
            browser.row(OTHERS + "Colour")
            self.assertNotEqual(browser.script(style, ".swatch-fill", "background-color"), back, "the colour is not seen")
            self.assertEqual(browser.script(style, ".swatch-fill", "background-color"), "rgb(51, 102, 204)")

    def test_axe_finds_no_violations(self):
        browser = self.browser
        self.control.set(NUMBERS + "Stiffness", 200)
        self.control.set(OTHERS + "Restarting", 8)
        browser.click(browser.part("Motor/State/Speed", ".row-graph"))
        self.control.set("Motor/Control/Gain", 2)
        # Statistics, a starred tweak, and a snapshot.
        for keys in (Keys.ARROW_LEFT, Keys.ENTER, Keys.ARROW_LEFT, Keys.ENTER):
            browser.find(".graph-canvas").send_keys(keys)
        browser.click(browser.part(NUMBERS + "Stiffness", ".row-star"))
        browser.script("tweaksPage.commands.takeSnapshot()")
        for theme in ("light", "dark") if LONG else ("light",):
            browser.script("tweaksPage.commands.setTheme(arguments[0]); tweaksPage.commands.select(undefined); document.activeElement.blur()", theme)
            for key in (NUMBERS + "Stiffness", OTHERS + "Restarting", "Motor/State/Speed", "Features/Trails/Fading"):
                browser.row(key)
                self.check(f"{theme}, at {key}")
            for key in (NUMBERS + "Stiffness", OTHERS + "Colour", "Kinds/Pad/Position X"):
                browser.click(browser.part(key, ".row-name"))
                wait_until(lambda: browser.is_there(".opinions li"))
                self.check(f"{theme}, details of {key}")
            browser.script("tweaksPage.commands.select(undefined)")
            for label, close in ((("Filters"), Keys.ESCAPE), ("Presets", Keys.ESCAPE), ("More", Keys.ESCAPE)):
                browser.click(f".top [aria-label='{label}']")
                wait_until(lambda: browser.is_there(":popover-open, dialog[open]"))
                self.check(f"{theme}, {label}")
                browser.press(close)
            for command in ("openSnapshots()", "openPanel('page-program')"):
                browser.script(f"tweaksPage.commands.{command}")
                wait_until(lambda: browser.is_there("dialog[open]"))
                self.check(f"{theme}, {command}")
                browser.press(Keys.ESCAPE)
                wait_until(lambda: not browser.is_there("dialog[open]"))
            browser.press("?")
            wait_until(lambda: browser.is_there("dialog[open]"))
            self.check(f"{theme}, help")
            browser.press(Keys.ESCAPE)
            browser.press("y")
            browser.type(browser.field(NUMBERS + "Count"), "77")
            wait_until(lambda: "1 tried value" in browser.text(".trying"))
            browser.script("tweaksPage.commands.toggleHistory(true)")
            wait_until(lambda: browser.is_there(".history-list li"))
            self.check(f"{theme}, trying, with the history")
            browser.press(Keys.ESCAPE)
            browser.script("return tweaksPage.commands.endTrial(false)")
        browser.size(360, 740)
        self.addCleanup(browser.size, 1280, 900)
        self.check("narrow")
        browser.click(".outline-button")
        self.check("narrow, outline")

    def test_targets_are_large_enough(self):
        browser = self.browser
        script = """const least = arguments[0];
            return [...document.querySelectorAll('button, input, select, a[href]')].filter(element => {
              if (element.closest('[hidden], .off-screen') || element.classList.contains('off-screen') || element.classList.contains('skip')) return false;
              const style = getComputedStyle(element);
              if (style.visibility === 'hidden' || style.display === 'none') return false;
              const target = element.closest('label') ?? element;
              const box = target.getBoundingClientRect();
              return box.width > 0 && (box.width < least || box.height < least);
            }).map(element => `${element.className} ${element.getAttribute('aria-label')} ${element.offsetWidth}x${element.offsetHeight}`);"""
        browser.script("tweaksPage.commands.toggleGraph(tweaksPage.state.tweak('page-program', 'Motor/State/Speed'))")
        wait_until(lambda: browser.find("#graphs").is_displayed())
        self.assertEqual(browser.script(script, 24), [])
        for width in (360, 800):
            browser.size(width, 800, touch=True)
            self.addCleanup(browser.size, 1280, 900)
            self.show()
            browser.row(NUMBERS + "Stiffness")
            self.assertEqual(browser.script(script, 43.5), [], f"at {width} px, with fingers")

    def test_nothing_is_wider_than_the_screen(self):
        browser = self.browser
        self.addCleanup(browser.size, 1280, 900)
        for width, height in ((360, 640), (640, 480), (1000, 700), (1920, 1080), (3840, 2160)):
            browser.size(width, height)
            for key in (NUMBERS + "Stiffness", "Motor/State/Speed"):
                browser.row(key)
                beyond = browser.script(
                    """return [...document.querySelectorAll('.top *, .list-head *, .row, .row *')].filter(element => {
                      const box = element.getBoundingClientRect();
                      return box.width > 1 && box.height > 1 && (box.right > innerWidth + 1 || box.left < -1);
                    }).map(element => element.className.toString());"""
                )
                self.assertEqual(beyond, [], f"at {width} px")
                self.assertLessEqual(browser.script("return document.documentElement.scrollWidth"), width)

    def test_larger_text_fits(self):
        browser = self.browser
        self.addCleanup(browser.size, 1280, 900)
        cut = """const rows = [...document.querySelectorAll('.list > li')].map((row) => [row, row.getBoundingClientRect()]).sort(([, one], [, other]) => one.top - other.top);
            const wrong = [];
            rows.forEach(([row, box], index) => {
              for (const part of row.children) {
                const inner = part.getBoundingClientRect();
                if (inner.height > 0 && (inner.top < box.top - 1 || inner.bottom > box.bottom + 1)) wrong.push(`${part.className} of ${row.dataset.tweak} is cut`);
              }
              if (index > 0 && box.top < rows[index - 1][1].bottom - 1) wrong.push(`${row.dataset.tweak} overlaps the previous row`);
            });
            return wrong;"""
        for width, size in ((1280, "100%"), (1280, "200%"), (360, "150%"), (360, "100%")):
            browser.size(width, 900)
            browser.script("document.documentElement.style.fontSize = arguments[0]", size)
            for key in (NUMBERS + "Stiffness", OTHERS + "Restarting", "Motor/State/Speed"):
                browser.row(key)
                wait_until(lambda: browser.script(cut) == [], f"with text of {size} at {width} px")

    def test_text_of_twice_the_size_fits(self):
        """As set in the browser, where also the layout follows."""
        browser = self.world.browser(self.world.address + "&program=page-program", text=32)
        self.addCleanup(browser.close)
        browser.connected()
        beyond = """return [...document.querySelectorAll(arguments[0])].filter((element) => {
              const box = element.getBoundingClientRect();
              return box.width > 1 && box.height > 1 && (box.right > innerWidth + 1 || box.left < -1);
            }).map(({className}) => className.toString());"""
        for width in (1440, 768, 360):
            browser.size(width, 900)
            browser.row(NUMBERS + "Stiffness")
            wait_until(lambda: browser.script(beyond, ".row, .row *") == [], f"rows at {width} px: {browser.script(beyond, '.row, .row *')}")
            browser.click(browser.part(NUMBERS + "Stiffness", ".row-name"))
            browser.open_tools()
            wait_until(lambda: browser.script(beyond, "#details *") == [], f"details at {width} px: {browser.script(beyond, '#details *')}")
            browser.script("tweaksPage.commands.select(undefined)")
            # Nothing in the bar is on top of something else.
            above = browser.script(
                """const parts = [...document.querySelectorAll('.top :is(button, input)')].filter((one) => one.checkVisibility()).map((one) => [one, one.getBoundingClientRect()]);
                return parts.flatMap(([one, a], index) => parts.slice(index + 1).filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)
                  .map(([other]) => `${one.ariaLabel} and ${other.ariaLabel}`));""")
            self.assertEqual(above, [], f"at {width} px")

    def test_the_list_has_room_at_400_percent(self):
        browser = self.browser
        self.addCleanup(browser.size, 1280, 900)
        # A window of 1280 by 1024.
        browser.size(320, 256)
        browser.row(NUMBERS + "Stiffness")
        height = "return document.getElementById('scroller').clientHeight"
        wait_until(lambda: browser.script(height) >= 128, "the list has less than half of the window")
        self.assertLessEqual(browser.script("return document.documentElement.scrollWidth"), 320)
        browser.script("tweaksPage.commands.toggleGraph(tweaksPage.state.tweak('page-program', 'Motor/State/Speed'))")
        wait_until(lambda: browser.find("#graphs").is_displayed())
        self.assertGreaterEqual(browser.script(height), browser.row(NUMBERS + "Stiffness").size["height"])

    def test_icons_have_contrast(self):
        browser = self.browser
        browser.click(browser.part("Motor/State/Speed", ".row-graph"))
        for theme in ("light", "dark"):
            browser.script("tweaksPage.commands.setTheme(arguments[0]); document.activeElement.blur()", theme)
            browser.row("Kinds/Pad/Position X")
            script = """
                const context = Object.assign(document.createElement('canvas'), {width: 1, height: 1}).getContext('2d', {willReadFrequently: true});
                const parsed = (colour) => {
                  context.clearRect(0, 0, 1, 1);
                  context.fillStyle = colour;
                  context.fillRect(0, 0, 1, 1);
                  const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
                  return {channels: [red, green, blue], alpha: alpha / 255};
                };
                const luminance = (channels) => {
                  const [r, g, b] = channels.map((one) => one / 255).map((one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
                  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
                };
                const faint = [];
                for (const icon of document.querySelectorAll('.icon')) {
                  if (!icon.checkVisibility({visibilityProperty: true, opacityProperty: true}) || icon.closest('[aria-disabled=true], :disabled')) continue;
                  let opacity = 1;
                  let back;
                  for (let one = icon; one && !back; one = one.parentElement) {
                    const {backgroundColor, opacity: own} = getComputedStyle(one);
                    const {channels, alpha} = parsed(backgroundColor);
                    if (alpha > 0.99) back = channels;
                    else opacity *= Number(own);
                  }
                  const front = parsed(getComputedStyle(icon).stroke).channels.map((one, index) => one * opacity + back[index] * (1 - opacity));
                  const [light, dark] = [luminance(front), luminance(back)].sort((a, b) => b - a);
                  const contrast = (light + 0.05) / (dark + 0.05);
                  if (contrast < 3) faint.push(`${icon.parentElement.className} ${contrast.toFixed(2)}`);
                }
                return faint;"""
            # Colours change with a transition.
            wait_until(lambda: browser.script(script) == [], f"{theme}: {browser.script(script)}")

    def test_reduced_motion_moves_nothing(self):
        browser = self.world.browser(self.world.address + "&program=page-program", reduced=True)
        browser.connected()
        browser.row(OTHERS + "Switch")
        moving = browser.script(
            "return [...document.querySelectorAll('*')].filter(element => getComputedStyle(element).transitionDuration !== '0s' || getComputedStyle(element).animationName !== 'none').length"
        )
        self.assertEqual(moving, 0)
        browser.close()


class Loading(PageTest):
    def test_files_are_few_small_and_cached(self):
        if os.environ.get("TWEAKS_UI_PAGE"):
            self.skipTest("a folder is served as it is")
        browser = self.browser
        sizes = """return performance.getEntriesByType(arguments[0]).filter(({name}) => !name.includes('/api/'))
            .map(({name, transferSize, encodedBodySize, decodedBodySize}) => [name, transferSize, encodedBodySize, decodedBodySize]);"""
        page = browser.script(sizes, "navigation")
        files = browser.script(sizes, "resource")
        self.assertLessEqual(len(files), 3, files)
        self.assertLess(sum(size for _, _, size, _ in page + files), 100_000, files)
        Settings.figures["files of the page"] = len(page + files)
        Settings.figures["bytes of the page, as sent"] = sum(size for _, _, size, _ in page + files)
        # Then they are in the browser's cache.
        self.show()
        self.assertEqual([(name, sent) for name, sent, _, _ in browser.script(sizes, "resource") if sent > 0], [])

    def test_the_frame_is_there_before_the_scripts(self):
        frame = self.browser.script("return (await fetch('/')).text()")
        self.assertRegex(frame, "<header[^>]*><h1[^>]*>Tweaks</h1></header>")
        self.assertRegex(frame, '<div class="empty" id="empty"><h2>Loading…</h2></div>')


class Many(PageTest):
    """10,000 tweaks, of which only the visible ones are in the document."""

    arguments = ("many", "10000")

    def setUp(self):
        self.show()

    def test_only_visible_rows_are_in_the_document(self):
        browser = self.browser
        wait_until(lambda: "10051" in browser.text(".scope-count"))
        self.assertLess(len(browser.all(".row")), 60)
        browser.script("document.getElementById('scroller').scrollTop = 1e7")
        wait_until(lambda: "Motor/State/Phase" in self.keys_shown(), "the end is not reached")
        self.assertLess(len(browser.all(".row")), 60)
        self.assertLess(len(browser.all("*")), 3000)

    def test_one_of_many_is_found_and_changed(self):
        browser = self.browser
        self.query("stiffness 9992")
        wait_until(lambda: self.keys_shown() == ["Area 19/Part 19/Stiffness 9992"])
        browser.type(browser.part("Area 19/Part 19/Stiffness 9992", ".number-field"), "12.5")
        self.becomes("Area 19/Part 19/Stiffness 9992", 12.5)

    def test_a_row_in_use_survives_scrolling(self):
        browser = self.browser
        field = browser.field(NUMBERS + "Stiffness")
        browser.type(field, "77", end=None)
        browser.script("document.getElementById('scroller').scrollTop = 0")
        wait_until(lambda: "Area 00/Part 00/Stiffness 0" in self.keys_shown())
        field.send_keys("7", Keys.ENTER)
        self.becomes(NUMBERS + "Stiffness", 777)


if __name__ == "__main__":
    unittest.main()
