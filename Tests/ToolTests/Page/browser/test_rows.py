# SPDX-License-Identifier: BSD-3-Clause
"""Tests of each interaction with the page, against running programs."""

import base64
import json
import os
import plistlib
import shutil
import signal
import subprocess
import unittest

from support import ActionChains, By, Keys, Settings, World, wait_until

NUMBERS = "Kinds/Numbers/"
OTHERS = "Kinds/Others/"


def end_quietly(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def archive(objects):
    """A keyed archive whose root is the first object."""
    return {"$archiver": "NSKeyedArchiver", "$version": 100000, "$top": {"root": plistlib.UID(1)}, "$objects": ["$null", *objects]}


def archived_class(name):
    return {"$classname": name, "$classes": [name, "NSObject"]}


def export_of_facebook_tweaks(value):
    """The archive of a store that Facebook Tweaks mails, with a current value of Kinds, Numbers, Stiffness."""
    reference = plistlib.UID
    return archive([
        {"$class": reference(2), "categories": reference(3)}, archived_class("FBTweakStore"),
        {"$class": reference(4), "NS.objects": [reference(5)]}, archived_class("NSMutableArray"),
        {"$class": reference(6), "name": reference(7), "collections": reference(8)}, archived_class("FBTweakCategory"), "Kinds",
        {"$class": reference(4), "NS.objects": [reference(9)]},
        {"$class": reference(10), "name": reference(11), "tweaks": reference(12)}, archived_class("FBTweakCollection"), "Numbers",
        {"$class": reference(4), "NS.objects": [reference(13)]},
        {"$class": reference(14), "name": reference(15), "identifier": reference(15), "defaultValue": reference(0), "currentValue": reference(16)},
        archived_class("FBTweak"), "Stiffness", value,
    ])


def as_xml(value):
    """Converts the references of an archive to their form in XML."""
    if isinstance(value, plistlib.UID):
        return {"CF$UID": value.data}
    if isinstance(value, dict):
        return {name: as_xml(one) for name, one in value.items()}
    return [as_xml(one) for one in value] if isinstance(value, list) else value


def archived_colour(red, green, blue):
    colour = {"$class": plistlib.UID(2), "UIRed": red, "UIGreen": green, "UIBlue": blue}
    return plistlib.dumps(archive([colour, archived_class("UIColor")]), fmt=plistlib.FMT_BINARY)


class PageTest(unittest.TestCase):
    """A page of one program, which is reset before each test."""

    arguments = ()

    @classmethod
    def setUpClass(cls):
        cls.world = World.of_program(*cls.arguments)
        cls.program, cls.control, cls.browser = cls.world.program, cls.world.program_control, cls.world.page

    def setUp(self):
        self.control.reset(all=True)
        shutil.rmtree(os.path.join(self.world.config, "tweaks/page-program/presets"), ignore_errors=True)
        self.show()

    def show(self, place="program=page-program", keeping=False):
        browser = self.browser
        if not keeping:
            browser.script("localStorage.removeItem('tweaks.preferences'); tweaksPage.sets.forget('page-program')")
        browser.driver.get("about:blank")
        browser.open(self.world.address.split("#")[0] + "#" + place)
        browser.connected()
        wait_until(lambda: browser.script("return tweaksPage.state.programs.get('page-program')?.isLoaded"), "the tweaks are not loaded", patience=90)

    def tearDown(self):
        self.assertEqual(self.browser.problems(), [], "the browser reported errors")

    def becomes(self, key, value, control=None):
        control = control or self.control

        def is_so():
            now = control.value(key)
            return now == value or (isinstance(value, float) and not isinstance(now, str) and abs(now - value) < 1e-9 * max(1, abs(value)))

        try:
            wait_until(is_so)
        except AssertionError:
            self.fail(f"{key} is {control.value(key)!r} and not {value!r}")

    def drag(self, element, dx, dy=0, steps=8, start=None):
        """Drags with the pointer, from the centre of an element or an offset from it."""
        chain = ActionChains(self.browser.driver, duration=10)
        if start is None:
            chain.move_to_element(element)
        else:
            chain.move_to_element_with_offset(element, *start)
        chain.click_and_hold()
        for _ in range(steps):
            chain.move_by_offset(round(dx / steps), round(dy / steps))
        chain.release().perform()

    def choose_menu(self, button, label, browser=None):
        browser = browser or self.browser
        browser.click(button)
        browser.click_named(".menu-item", label, is_whole=False)
        # Its items must not be mistaken for those of the next menu.
        wait_until(lambda: not browser.all(".menu-item"), "the menu stays open")

    def dialog_button(self, label):
        self.browser.click_named("dialog[open] button", label)

    def query(self, text):
        search = self.browser.find("#search")
        search.clear()
        search.send_keys(text)

    def keys_shown(self):
        return self.browser.script("return [...document.querySelectorAll('.row')].map(row => row.dataset.tweak)")


class Rows(PageTest):
    def test_slider_from_minimum_and_maximum(self):
        slider = self.browser.slider(NUMBERS + "Stiffness")
        self.drag(slider, 400)
        self.becomes(NUMBERS + "Stiffness", 1000)
        self.drag(self.browser.slider(NUMBERS + "Stiffness"), -600, start=(40, 0))
        self.becomes(NUMBERS + "Stiffness", 1)

    def test_slider_respects_the_step(self):
        slider = self.browser.slider(NUMBERS + "Stepped")
        width = slider.size["width"]
        self.drag(slider, round(width * 0.17))
        self.becomes(NUMBERS + "Stepped", 0.75)
        slider.send_keys(Keys.ARROW_LEFT)
        self.becomes(NUMBERS + "Stepped", 0.5)
        self.assertEqual(
            self.browser.script(
                """const {valueAt} = await import('/numbers.js');
                const tweak = {type: 'double', default: 0.3, minimum: 0.1, maximum: 1, step: 0.25};
                return [0, 0.2, 0.5, 0.8, 0.99, 1].map(at => valueAt(tweak, at));"""
            ),
            [0.1, 0.35, 0.6, 0.85, 0.85, 1],
        )

    def test_logarithmic_slider(self):
        slider = self.browser.slider(NUMBERS + "Frequency")
        self.assertEqual(slider.get_attribute("data-scale"), "log")
        self.browser.script(
            "const slider = arguments[0]; slider.value = 5000; slider.dispatchEvent(new Event('input')); slider.dispatchEvent(new Event('change'));",
            slider,
        )
        wait_until(lambda: 620 < self.control.value(NUMBERS + "Frequency") < 645, "the middle is not the geometric one")
        for name, scale in [("Count", "linear"), ("Factor", "log"), ("Plain", "linear")]:
            self.assertEqual(self.browser.slider(NUMBERS + name).get_attribute("data-scale"), scale, name)
            # Ticks at the powers of ten.
            self.assertEqual("gradient" in self.browser.slider(NUMBERS + name).value_of_css_property("background-image"), scale == "log", name)
        self.browser.script(
            "const slider = arguments[0]; slider.value = 5000; slider.dispatchEvent(new Event('input')); slider.dispatchEvent(new Event('change'));",
            self.browser.slider(NUMBERS + "Factor"),
        )
        wait_until(lambda: 9.9 < self.control.value(NUMBERS + "Factor") < 10.1, "the declared scale is ignored")

    def test_drag_on_the_number(self):
        field = self.browser.field(NUMBERS + "Count")
        before = self.control.value(NUMBERS + "Count")
        self.drag(field, 48)
        wait_until(lambda: self.control.value(NUMBERS + "Count") > before, "the value does not increase")
        self.assertFalse(self.browser.script("return document.activeElement === arguments[0]", field))
        field.click()
        self.assertTrue(self.browser.script("return document.activeElement === arguments[0]", field))

    def test_shift_alt_and_arrows(self):
        field = self.browser.field(NUMBERS + "Stiffness")
        field.click()
        self.browser.press(Keys.ARROW_UP)
        self.becomes(NUMBERS + "Stiffness", 121)
        self.browser.press(Keys.SHIFT, Keys.ARROW_UP)
        self.becomes(NUMBERS + "Stiffness", 131)
        self.browser.press(Keys.ALT, Keys.ARROW_DOWN)
        self.becomes(NUMBERS + "Stiffness", 130.9)
        self.browser.slider(NUMBERS + "Stiffness").send_keys(Keys.SHIFT, Keys.ARROW_RIGHT)
        self.becomes(NUMBERS + "Stiffness", 140.9)

    def test_arithmetic_in_the_field(self):
        browser = self.browser
        for text, value in [("2*pi", 6.283185307179586), ("+=10%", 6.911503837897545), ("100", 100), ("*=2", 200), ("max/4", 250), ("12,5", 12.5), ("1,5*2", 3), ("def", 120), ("0x10", 16)]:
            browser.type(browser.field(NUMBERS + "Stiffness"), text)
            self.becomes(NUMBERS + "Stiffness", value)
        field = browser.field(NUMBERS + "Stiffness")
        browser.type(field, "2*nonsense")
        wait_until(lambda: field.get_attribute("aria-invalid") == "true", "nonsense is accepted")
        self.assertEqual(self.control.value(NUMBERS + "Stiffness"), 16)
        field.send_keys(Keys.ESCAPE)
        self.assertEqual(field.get_attribute("value"), "16")
        # Errors and clamping are reported beside the field.
        for name, text, problem in [("Stiffness", "1/0", "it divides by 0"), ("Stiffness", "1,500", "write 1500 or 1.500"), ("Count", "1.5", "1.5 is not a whole number")]:
            field = browser.field(NUMBERS + name)
            browser.type(field, text)
            wait_until(lambda: problem in browser.part(NUMBERS + name, ".outside").text, f"{text} is accepted")
            field.send_keys(Keys.ESCAPE)
        browser.type(browser.field(NUMBERS + "Stiffness"), "5000")
        self.becomes(NUMBERS + "Stiffness", 1000)
        wait_until(lambda: "the maximum is 1000" in browser.part(NUMBERS + "Stiffness", ".outside").text, "clamping is not reported")
        # Screen readers announce changes in an existing live region, and the description of a field.
        outside = browser.part(NUMBERS + "Count", ".outside")
        self.assertEqual(outside.aria_role, "status")
        for text, said in [("1/0", "it divides by 0"), ("1.5", "1.5 is not a whole number")]:
            field = browser.field(NUMBERS + "Count")
            browser.type(field, text)
            wait_until(lambda: outside.text == said, f"{text} is accepted")
            self.assertEqual(field.get_attribute("aria-describedby"), outside.get_attribute("id"))
            field.send_keys(Keys.ESCAPE)
            self.assertIsNone(field.get_attribute("aria-describedby"))
        browser.type(browser.field(NUMBERS + "Count"), "5")
        wait_until(lambda: outside.text == "the minimum is 20", "clamping is not reported")
        self.becomes(NUMBERS + "Count", 20)
        browser.type(browser.field(NUMBERS + "Wide"), "9007199254740993+9223372036854775807-9007199254740993")
        self.becomes(NUMBERS + "Wide", 9223372036854775807)
        browser.type(browser.field(NUMBERS + "Natural"), "-=5")
        self.becomes(NUMBERS + "Natural", 18446744073709551609)

    def test_colour_picker_rgb_hsb_hex_and_alpha(self):
        browser, key = self.browser, OTHERS + "Colour"
        browser.type(browser.part(key, ".hex-field"), "#f80")
        self.becomes(key, "#ff8800")
        browser.click(browser.part(key, ".swatch"))
        picker = wait_until(lambda: browser.find(".colour-picker"))

        def number(name, value):
            field = picker.find_element(By.CSS_SELECTOR, f"input[type=number][aria-label^='{name}']")
            browser.type(field, str(value), end=None)

        self.assertIn("Default\n#3366cc", picker.text)
        number("Green", 0)
        self.becomes(key, "#ff0000")
        number("Hue", 120)
        self.becomes(key, "#00ff00")
        number("Brightness", 50)
        wait_until(lambda: self.control.value(key) in ("#008000", "#007f00"))
        number("Alpha", 50)
        wait_until(lambda: self.control.value(key) in ("#00800080", "#007f0080"))
        area = picker.find_element(By.CSS_SELECTOR, ".colour-area")
        self.drag(area, 132, -75)
        wait_until(lambda: int(self.control.value(key)[3:5], 16) >= 0xFA, "the area does not pick")
        browser.press(Keys.ESCAPE)

    def test_pad_for_two_values(self):
        browser = self.browser
        browser.click(browser.part("Kinds/Pad/Position X", ".row-pad"))
        pad = wait_until(lambda: browser.find(".pad"))
        self.drag(pad, 110, 110)
        self.becomes("Kinds/Pad/Position X", 1)
        self.becomes("Kinds/Pad/Position Y", 0)
        pad.send_keys(Keys.ARROW_UP)
        self.becomes("Kinds/Pad/Position Y", 0.01)
        browser.press(Keys.ESCAPE)
        # Two tweaks paired by the program, from either row.
        for name in ("Climb", "Heading"):
            browser.click(browser.part(f"Kinds/Pad/{name}", ".row-pad"))
            pad = wait_until(lambda: browser.find(".pad"))
            self.assertEqual(pad.get_attribute("aria-label"), "Heading and Climb, pad")
            self.assertEqual([axis.text.split("\n") for axis in browser.all(".pad-axis")], [["-45", "Climb", "45"], ["0", "Heading", "360"]])
            self.drag(pad, 110, 110)
            self.becomes("Kinds/Pad/Heading", 360)
            self.becomes("Kinds/Pad/Climb", -45)
            self.drag(pad, -110, -110)
            self.becomes("Kinds/Pad/Heading", 0)
            self.becomes("Kinds/Pad/Climb", 45)
            browser.press(Keys.ESCAPE)
        # Two tweaks paired in the details.
        self.show("program=page-program&tweak=Kinds/Numbers/Stiffness")
        browser.open_tools()
        select = wait_until(lambda: browser.find(".pairing select"))
        select.find_element(By.CSS_SELECTOR, "option[value='Kinds/Numbers/Stepped']").click()
        wait_until(lambda: browser.is_there(".details .pad"), "there is no pad")
        self.assertTrue(browser.row(NUMBERS + "Stepped").find_elements(By.CSS_SELECTOR, ".row-pad"))

    def test_choices_with_labels(self):
        browser = self.browser
        segments = browser.part("Kinds/Choices/Quality", ".segments")
        self.assertEqual(segments.text.split("\n"), ["low", "mid", "high"])
        segments.find_elements(By.CSS_SELECTOR, "input")[2].click()
        self.becomes("Kinds/Choices/Quality", 2)
        select = browser.part("Kinds/Choices/Rate", "select")
        self.assertEqual([option.text for option in select.find_elements(By.CSS_SELECTOR, "option")][4:7], ["CD", "DVD", "96000"])
        select.find_element(By.XPATH, "option[text()='CD']").click()
        self.becomes("Kinds/Choices/Rate", 44100)

    def test_optionals_have_no_value(self):
        browser = self.browser
        limit, quiet, host = (f"Kinds/Optionals/{name}" for name in ("Limit", "Quiet", "Host"))
        field = browser.field(limit)
        browser.type(field, "none")
        self.becomes(limit, "none")
        wait_until(lambda: field.get_attribute("value") == "none", "none is not shown")
        self.assertTrue(browser.is_there(f"[data-tweak='{limit}'] .is-none .slider"))
        self.assertFalse(browser.is_there(f"[data-tweak='{limit}'] .row-graph"))
        # Keys go on from the default, and the button sets no value and a value.
        browser.keys(Keys.ARROW_UP, on=browser.slider(limit))
        self.becomes(limit, 0.51)
        button = browser.part(limit, ".none-button")
        button.click()
        self.becomes(limit, "none")
        browser.settle()
        wait_until(lambda: button.get_attribute("aria-pressed") == "true", "the button is not pressed")
        button.click()
        self.becomes(limit, 0.5)
        segments = browser.part(quiet, ".segments")
        self.assertEqual(segments.text.split("\n"), ["none", "off", "on"])
        for index, value in ((2, True), (0, "none"), (1, False)):
            segments.find_elements(By.CSS_SELECTOR, "input")[index].click()
            self.becomes(quiet, value)
        self.assertEqual(browser.part(host, "textarea").get_attribute("value"), "none")
        browser.type(browser.part(host, "textarea"), "web")
        self.becomes(host, "web")
        browser.part(host, ".none-button").click()
        self.becomes(host, "none")

    def test_actions(self):
        browser = self.browser
        before = self.control.value("Kinds/Actions/Runs")
        browser.click(browser.part("Kinds/Actions/Count", ".action"))
        self.becomes("Kinds/Actions/Runs", before + 1)
        wait_until(lambda: "done" in browser.part("Kinds/Actions/Count", ".action-result").text, "the result is not shown")

    def test_search(self):
        browser = self.browser
        browser.keys("/", on=browser.find("body"))
        self.assertEqual(browser.script("return document.activeElement.id"), "search")
        for text, key in [("stiffn", NUMBERS + "Stiffness"), ("how hard", NUMBERS + "Stiffness"), ("page-program.c other colour", OTHERS + "Colour"),
                          ("3366cc", OTHERS + "Colour"), ("dvd", "Kinds/Choices/Rate")]:
            self.query(text)
            wait_until(lambda: self.keys_shown() == [key], f"{text} does not find {key}")
        self.query("no such thing anywhere")
        wait_until(lambda: "No matches" in browser.text("#empty"), "an empty list does not explain itself")
        browser.click("#empty button")
        wait_until(lambda: len(self.keys_shown()) > 5)

    def test_only_what_was_changed(self):
        browser = self.browser
        self.control.set(NUMBERS + "Stiffness", 200)
        self.control.set(OTHERS + "Switch", False)
        browser.click(".top .button[aria-label=Filters]")
        browser.click(".filters .check input")
        wait_until(lambda: sorted(self.keys_shown()) == [NUMBERS + "Stiffness", OTHERS + "Switch"])
        browser.press(Keys.ESCAPE)
        # A row that is reset stays, and a tweak that starts to match appears.
        browser.click(browser.part(NUMBERS + "Stiffness", ".row-reset"))
        self.becomes(NUMBERS + "Stiffness", 120)
        self.control.set(NUMBERS + "Count", 70)
        wait_until(lambda: NUMBERS + "Count" in self.keys_shown(), "a change elsewhere does not appear")
        self.assertIn(NUMBERS + "Stiffness", self.keys_shown())

    def test_changed_is_marked_and_the_default_is_shown(self):
        browser = self.browser
        row = browser.row(NUMBERS + "Stiffness")
        self.assertNotIn("is-changed", row.get_attribute("class"))
        self.control.set(NUMBERS + "Stiffness", 200)
        wait_until(lambda: "is-changed" in browser.row(NUMBERS + "Stiffness").get_attribute("class"))
        self.assertIn("default 120 N/m", browser.part(NUMBERS + "Stiffness", ".row-under").text)
        self.assertIn("changed", browser.part(NUMBERS + "Stiffness", ".row-name").get_attribute("aria-label"))

    def test_reset_of_one_and_of_all(self):
        browser = self.browser
        for key, value in [(NUMBERS + "Stiffness", 200), (NUMBERS + "Count", 100), (OTHERS + "Switch", False), ("Motor/Control/Gain", 2)]:
            self.control.set(key, value)
        wait_until(lambda: "is-changed" in browser.row(NUMBERS + "Stiffness").get_attribute("class"))
        browser.click(browser.part(NUMBERS + "Stiffness", ".row-reset"))
        self.becomes(NUMBERS + "Stiffness", 120)
        # Resetting a collection or a category leaves other tweaks alone.
        browser.script("tweaksPage.commands.showScope({program: 'page-program', category: 'Kinds'})")
        self.choose_menu(browser.find(".scope-line .icon-button"), "Reset 2 of")
        self.assertIn("2 values", wait_until(lambda: browser.text("dialog[open] .dialog-body")))
        self.dialog_button("Cancel")
        self.assertEqual(self.control.value(NUMBERS + "Count"), 100)
        self.choose_menu(browser.find(".scope-line .icon-button"), "Reset 2 of")
        self.dialog_button("Reset 2")
        self.becomes(NUMBERS + "Count", 60)
        self.becomes(OTHERS + "Switch", True)
        self.assertEqual(self.control.value("Motor/Control/Gain"), 2)
        self.choose_menu(browser.find(".top > .icon-button[aria-label=More]"), "Reset all")
        self.becomes("Motor/Control/Gain", 0.8)

    def test_undo_and_redo_of_live_values(self):
        browser, key = self.browser, NUMBERS + "Stiffness"
        browser.type(browser.field(key), "200")
        self.becomes(key, 200)
        browser.settle()
        self.drag(browser.slider(key), 400)
        self.becomes(key, 1000)
        browser.script("document.activeElement.blur()")
        browser.settle()
        browser.press(Keys.CONTROL, "z")
        self.becomes(key, 200)
        browser.settle()
        browser.press(Keys.CONTROL, "z")
        self.becomes(key, 120)
        wait_until(lambda: self.control.tweak(key)["source"] == "default", "undo leaves an override")
        browser.settle()
        browser.press(Keys.CONTROL, Keys.SHIFT, "z")
        self.becomes(key, 200)
        browser.settle()
        browser.click("button[aria-label=Undo]")
        self.becomes(key, 120)

    def test_save_and_load(self):
        browser = self.browser
        browser.type(browser.field(NUMBERS + "Stiffness"), "300")
        self.becomes(NUMBERS + "Stiffness", 300)
        browser.click("button[aria-label=Presets]")
        name = wait_until(lambda: browser.find("dialog[open] .preset-form input"))
        name.send_keys("Snappy <b>", Keys.ENTER)
        wait_until(lambda: "Snappy <b>" in browser.text(".preset-list"), "the preset is not listed")
        self.dialog_button("Close")
        self.assertIn("Snappy", wait_until(lambda: browser.text(".preset-text") != "Presets" and browser.text(".preset-text")))
        # Unsaved changes are visible.
        browser.type(browser.field(NUMBERS + "Stiffness"), "301")
        wait_until(lambda: "•" in browser.text(".preset-text"), "unsaved changes are not visible")
        self.control.reset(all=True)
        browser.click("button[aria-label=Presets]")
        self.dialog_button("Load Snappy <b>")
        self.dialog_button("Load selected")
        self.becomes(NUMBERS + "Stiffness", 300)
        self.dialog_button("Delete Snappy <b>")
        self.dialog_button("Delete")
        wait_until(lambda: "Snappy" not in browser.text(".preset-list"))
        # An exported file can be imported, by the button or by dropping it.
        self.dialog_button("Export changed values")
        path = wait_until(lambda: next((os.path.join(browser.downloads, one) for one in os.listdir(browser.downloads) if one.endswith(".json")), None))
        self.assertIn("Stiffness", wait_until(lambda: open(path).read()))
        self.dialog_button("Close")
        self.control.reset(all=True)
        browser.find("#file")  # The input exists before a file is chosen.
        browser.script(
            """const data = new DataTransfer();
            data.items.add(new File([arguments[0]], 'dropped.json'));
            window.dispatchEvent(new DragEvent('drop', {dataTransfer: data, cancelable: true, bubbles: true}));""",
            open(path).read(),
        )
        self.dialog_button("Load selected")
        self.becomes(NUMBERS + "Stiffness", 300)

    def older_files(self):
        """A file of each older system: name, content, and the values in it."""
        text, binary = plistlib.FMT_XML, plistlib.FMT_BINARY
        facebook = {"FBTweak:Kinds-Numbers-Stiffness": 240.5, "FBTweak:Kinds-Others-Switch": False, "AppleLanguages": ["en"],
                    "FBTweak:Kinds-Others-Colour": archived_colour(1.0, 0.0, 0.2), "FBTweak:No-Such-Tweak": 1}
        values = {NUMBERS + "Stiffness": 240.5, OTHERS + "Switch": False, OTHERS + "Colour": "#ff0033"}
        yield "com.example.xml.plist", plistlib.dumps(facebook, fmt=text), values
        yield "com.example.plist", plistlib.dumps(facebook, fmt=binary), values
        yield "tweaks.plist", plistlib.dumps(export_of_facebook_tweaks(250), fmt=binary), {NUMBERS + "Stiffness": 250}
        yield "tweaks.xml.plist", plistlib.dumps(as_xml(export_of_facebook_tweaks(260)), fmt=text), {NUMBERS + "Stiffness": 260}
        yield "player.plist", plistlib.dumps({"FTS_FEATURE_Trails": True, "FTS_FEATURE_Fading": False}, fmt=binary), {
            "Features/Trails/enabled": True, "Features/Trails/Fading": False}
        yield "app.plist", plistlib.dumps({"lib.fragments.userDefaultsKey.Bass": False}, fmt=text), {"Features/Sound/Bass": False}
        nested = {"FBTweak:Kinds-Numbers-Count": 99, "FTS_FEATURE_Sharing": False, "Kinds": {"Others": {"Text": "from <b>then</b>"}}}
        yield "values.json", json.dumps(nested).encode(), {
            NUMBERS + "Count": 99, "Features/Sharing/enabled": False, OTHERS + "Text": "from <b>then</b>"}

    def test_files_of_older_systems_dropped_and_chosen(self):
        browser = self.browser
        for number, (name, content, values) in enumerate(self.older_files()):
            with self.subTest(name):
                if number % 2 == 0:
                    browser.script(
                        """const [name, content] = arguments;
                        const data = new DataTransfer();
                        data.items.add(new File([Uint8Array.from(atob(content), (one) => one.charCodeAt(0))], name));
                        window.dispatchEvent(new DragEvent('drop', {dataTransfer: data, cancelable: true, bubbles: true}));""",
                        name, base64.b64encode(content).decode(),
                    )
                else:
                    path = os.path.join(self.world.folder, name)
                    with open(path, "wb") as file:
                        file.write(content)
                    self.choose_menu(browser.find(".top > .icon-button[aria-label=More]"), "Import a file")
                    browser.find("#file").send_keys(path)
                rows = wait_until(lambda: browser.all(".difference-table tbody tr"), f"{name} is not read")
                self.assertGreaterEqual(len(rows), len(values))
                self.assertIn(name, browser.text("dialog[open] h2"))
                self.dialog_button("Load selected")
                for key, value in values.items():
                    self.becomes(key, value)
                wait_until(lambda: not browser.is_there("dialog[open]"))
                self.control.reset(all=True)
                wait_until(lambda: browser.script("return [...tweaksPage.state.programs.get('page-program').tweaks.values()].every(one => one.source !== 'override')"))
        # Other files are refused with a message.
        browser.script(
            """const data = new DataTransfer();
            data.items.add(new File(['no values at all'], 'letter.txt'));
            window.dispatchEvent(new DragEvent('drop', {dataTransfer: data, cancelable: true, bubbles: true}));"""
        )
        wait_until(lambda: any("letter.txt" in text for text in browser.notices()), "an unknown file is not refused")

    def test_two_presets_compared(self):
        browser = self.browser
        for name, values in [("Calm", {"Stiffness": 80, "Count": 70}), ("Wild", {"Stiffness": 900, "Count": 70, "Stepped": 1})]:
            self.control.reset(all=True)
            for tweak, value in values.items():
                self.control.set(NUMBERS + tweak, value)
            browser.script("return tweaksPage.api.post('preset/save', {program: 'page-program', name: arguments[0]})", name)
        self.control.reset(all=True)
        self.control.set(NUMBERS + "Stiffness", 300)
        wait_until(lambda: browser.script("return tweaksPage.state.tweak('page-program', 'Kinds/Numbers/Stiffness').value") == 300)
        wait_until(lambda: browser.script("return tweaksPage.state.tweak('page-program', 'Kinds/Numbers/Count').value") == 60)
        browser.click("button[aria-label=Presets]")
        wait_until(lambda: "Wild" in browser.text(".preset-list"))
        self.dialog_button("Compare two presets")

        def rows():
            found = {}
            for row in browser.all(".comparison tbody tr"):
                found[row.find_element(By.TAG_NAME, "th").text] = [cell.text for cell in row.find_elements(By.TAG_NAME, "td")[1:]]
            return found

        # Equal values are omitted, and missing ones are the default.
        wait_until(rows)
        self.assertEqual(rows(), {NUMBERS + "Stiffness": ["80 N/m", "900 N/m"], NUMBERS + "Stepped": ["0.5 default", "1"]})
        box = next(row for row in browser.all(".comparison tbody tr") if "Stepped" in row.text).find_element(By.TAG_NAME, "input")
        box.click()
        self.dialog_button("Copy the selected values of B as JSON")
        read = "return navigator.clipboard.readText()"
        wait_until(lambda: json.loads(browser.script(read)) == {"Kinds": {"Numbers": {"Stiffness": 900}}})
        # A preset and the current values.
        select = browser.find("select[aria-label='A is']")
        select.find_element(By.XPATH, "option[text()='Current values']").click()
        wait_until(lambda: rows().get(NUMBERS + "Stiffness") == ["300 N/m", "900 N/m"] and rows().get(NUMBERS + "Count") == ["60 default", "70"])
        box = next(row for row in browser.all(".comparison tbody tr") if "Count" in row.text).find_element(By.TAG_NAME, "input")
        box.click()
        self.dialog_button("Load from B")
        self.becomes(NUMBERS + "Stiffness", 900)
        self.becomes(NUMBERS + "Stepped", 1)
        self.assertEqual(self.control.value(NUMBERS + "Count"), 60)

    def test_difference_to_choose_from_when_loading(self):
        browser = self.browser
        for key, value in [(NUMBERS + "Stiffness", 300), (NUMBERS + "Count", 100)]:
            browser.type(browser.field(key), str(value))
            self.becomes(key, value)
        browser.click("button[aria-label=Presets]")
        wait_until(lambda: browser.find("dialog[open] .preset-form input")).send_keys("Two", Keys.ENTER)
        wait_until(lambda: "Two" in browser.text(".preset-list"))
        self.control.reset(all=True)
        self.control.set(OTHERS + "Switch", False)
        wait_until(lambda: browser.script("return tweaksPage.state.tweak('page-program', 'Kinds/Others/Switch').value === false"))
        self.dialog_button("Load Two")
        rows = wait_until(lambda: browser.all(".difference-table tbody tr"))
        texts = [row.text for row in rows]
        self.assertTrue(any("Stiffness" in text and "120" in text and "300" in text for text in texts), texts)
        for row in rows:
            box = row.find_element(By.CSS_SELECTOR, "input")
            if (NUMBERS + "Count" in row.text) == box.is_selected():
                box.click()
        self.dialog_button("Load selected")
        self.becomes(NUMBERS + "Stiffness", 300)
        self.becomes(OTHERS + "Switch", True)
        self.assertEqual(self.control.value(NUMBERS + "Count"), 60)

    def test_snapshot_and_back(self):
        browser = self.browser
        browser.type(browser.field(NUMBERS + "Stiffness"), "300")
        self.becomes(NUMBERS + "Stiffness", 300)
        browser.blur()
        browser.press("n")
        browser.type(browser.field(NUMBERS + "Stiffness"), "400")
        browser.type(browser.field(NUMBERS + "Count"), "100")
        self.becomes(NUMBERS + "Count", 100)
        browser.blur()
        browser.press(Keys.SHIFT, "N")
        self.becomes(NUMBERS + "Stiffness", 300)
        self.becomes(NUMBERS + "Count", 60)

    def test_snapshots_have_names_and_survive_a_reload(self):
        browser, key = self.browser, NUMBERS + "Stiffness"
        for value, name in [("300", "soft"), ("400", "hard")]:
            browser.type(browser.field(key), value)
            self.becomes(key, float(value))
            browser.blur()
            browser.settle()
            self.choose_menu(browser.find(".top [aria-label=Snapshot]"), "Snapshots…")
            self.dialog_button("Take a snapshot")
            field = wait_until(lambda: browser.find(".snapshot-list input"))
            browser.type(field, name, end=Keys.TAB)
            self.dialog_button("Close")
        # B is another set.
        browser.press("x")
        browser.type(browser.field(key), "500")
        self.becomes(key, 500)
        browser.settle()
        self.show(keeping=True)
        browser.press("x")
        self.becomes(key, 400)
        browser.settle()
        self.choose_menu(browser.find(".top [aria-label=Snapshot]"), "Restore soft (1 changed)")
        self.becomes(key, 300)
        browser.settle()
        self.choose_menu(browser.find(".top [aria-label=Snapshot]"), "Snapshots…")
        wait_until(lambda: [field.get_attribute("value") for field in browser.all(".snapshot-list input")] == ["hard", "soft"])
        browser.click("button[aria-label='Remove soft']")
        wait_until(lambda: len(browser.all(".snapshot-list li")) == 1)
        browser.click("button[aria-label='Restore hard']")
        self.becomes(key, 400)

    def test_a_snapshot_is_saved_as_a_preset(self):
        browser, key = self.browser, NUMBERS + "Stiffness"
        browser.type(browser.field(key), "300")
        browser.type(browser.field(NUMBERS + "Count"), "100")
        self.becomes(NUMBERS + "Count", 100)
        browser.blur()
        browser.settle()
        browser.press("n")
        self.control.reset(all=True)
        self.choose_menu(browser.find(".top [aria-label=Snapshot]"), "Snapshots…")
        browser.click_named("dialog button", "Preset… with", is_whole=False)
        browser.type(wait_until(lambda: browser.named("dialog input", "Name of the preset")), "mine")
        wait_until(lambda: 'Saved "mine" with 2 values' in browser.notices(), "it is not saved")
        preset = "return (await tweaksPage.api.post('preset/get', {program: 'page-program', name: 'mine'})).values"
        self.assertEqual(browser.script(preset), {key: 300, NUMBERS + "Count": 100})
        self.assertEqual(self.control.value(key), 120)

    def test_a_and_b_by_one_key(self):
        browser = self.browser
        browser.type(browser.field(NUMBERS + "Stiffness"), "300")
        self.becomes(NUMBERS + "Stiffness", 300)
        browser.blur()
        browser.settle()
        browser.press("x")
        self.assertEqual(browser.find(".side[aria-pressed=true]").text, "B")
        browser.type(browser.field(NUMBERS + "Stiffness"), "500")
        browser.type(browser.field(NUMBERS + "Count"), "99")
        self.becomes(NUMBERS + "Count", 99)
        browser.blur()
        browser.settle()
        browser.press("x")
        self.becomes(NUMBERS + "Stiffness", 300)
        self.becomes(NUMBERS + "Count", 60)
        browser.settle()
        browser.press("x")
        self.becomes(NUMBERS + "Stiffness", 500)
        self.becomes(NUMBERS + "Count", 99)
        # All values that differ move together, and each movement is one step of undo.
        browser.settle()
        self.choose_menu(browser.find(".top [aria-label=Snapshot]"), "Move from A to B…")
        wait_until(lambda: browser.is_there(".popover input[type=range]"))
        slider = browser.find(".popover input[type=range]")
        self.assertEqual((slider.get_attribute("value"), browser.text(".popover output")), ("100", "B"))
        slider.send_keys(Keys.HOME)
        self.becomes(NUMBERS + "Stiffness", 300)
        self.becomes(NUMBERS + "Count", 60)
        slider.send_keys(*[Keys.ARROW_UP] * 50)
        wait_until(lambda: browser.text(".popover output") == "50 % of the way to B")
        wait_until(lambda: 70 < self.control.value(NUMBERS + "Count") < 90 and 350 < self.control.value(NUMBERS + "Stiffness") < 450)
        slider.send_keys(Keys.END)
        self.becomes(NUMBERS + "Stiffness", 500)
        browser.press(Keys.ESCAPE)
        browser.settle()
        browser.press(Keys.CONTROL, "z")
        wait_until(lambda: 70 < self.control.value(NUMBERS + "Count") < 90 and 350 < self.control.value(NUMBERS + "Stiffness") < 450)

    def test_live_graph(self):
        browser = self.browser
        browser.row("Motor/State/Speed")
        wait_until(lambda: browser.script(
            """const canvas = document.querySelector("[data-tweak='Motor/State/Speed'] canvas");
            return canvas.width > 0 && canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(byte => byte > 0)"""),
            "the small graph is empty")
        for key in ("Motor/State/Speed", "Motor/State/Temperature", "Motor/Control/Gain"):
            browser.click(browser.part(key, ".row-graph"))
        wait_until(lambda: len(browser.all(".graph-legend li")) == 3)
        length = "return tweaksPage.samples.series(`page-program\\n${arguments[0]}`)?.length ?? 0"
        for key in ("Motor/State/Speed", "Motor/State/Temperature", "Motor/Control/Gain"):
            wait_until(lambda: browser.script(length, key) > 20, f"no samples of {key}")
        canvas = browser.find(".graph-canvas")
        # Zoom and pause by button and by key, and read a value with the cursor.
        self.assertEqual(browser.text(".graph-window"), "10 s")
        browser.click("button[aria-label='Zoom in']")
        self.assertEqual(browser.text(".graph-window"), "5 s")
        canvas.send_keys("-")
        self.assertEqual(browser.text(".graph-window"), "10 s")
        canvas.send_keys(" ")
        wait_until(lambda: browser.is_there("button[aria-label='Resume']"))
        canvas.send_keys(Keys.ARROW_LEFT)
        wait_until(lambda: browser.text(".graph-cursor").startswith("-"))
        wait_until(lambda: browser.find(".legend-value").text not in ("", "–"))
        canvas.send_keys(" ")
        wait_until(lambda: browser.is_there("button[aria-label='Pause']"))
        browser.click("button[aria-label='Save as CSV']")
        path = wait_until(lambda: next((os.path.join(browser.downloads, one) for one in os.listdir(browser.downloads) if one.endswith(".csv")), None))
        lines = wait_until(lambda: open(path).read().splitlines())
        self.assertEqual(lines[0], "time,Motor/State/Speed,Motor/State/Temperature,Motor/Control/Gain,changes")
        self.assertGreater(len(lines), 20)

    def test_a_legend_has_names_of_states(self):
        browser = self.browser
        for key, names in [("Motor/State/Phase", ("idle", "starting", "running")), (OTHERS + "Switch", ("on",))]:
            browser.click(browser.part(key, ".row-graph"))
            wait_until(lambda: browser.all(".legend-value")[-1].text in names, f"{key} shows a number")

    def test_a_change_that_failed_stays_marked_until_the_next_one(self):
        browser, key = self.browser, NUMBERS + "Stiffness"
        browser.script(
            """const post = tweaksPage.api.post.bind(tweaksPage.api);
            globalThis.answers = [() => { throw new Error('nobody answers'); },
              (body) => ({applied: [], refused: [{tweak: body.values[0].tweak, message: 'it does not like that'}], tweaks: []})];
            tweaksPage.api.post = async (name, body) => (name === 'set' && answers.length > 0 ? answers.shift()(body) : post(name, body));"""
        )
        for value, problem in [("200", "nobody answers"), ("201", "it does not like that")]:
            browser.type(browser.field(key), value)
            wait_until(lambda: f"not set to {value} N/m: {problem}" in browser.part(key, ".row-under").text, "the row is not marked")
            self.assertIn("is-failed", browser.row(key).get_attribute("class"))
            self.assertIn(problem, browser.part(key, ".row-name").get_attribute("aria-label"))
            self.assertEqual(browser.field(key).get_attribute("value"), "120")
        # Changing another tweak keeps the mark.
        browser.type(browser.field(NUMBERS + "Count"), "70")
        self.becomes(NUMBERS + "Count", 70)
        self.assertIn("is-failed", browser.row(key).get_attribute("class"))
        browser.type(browser.field(key), "202")
        self.becomes(key, 202)
        wait_until(lambda: "is-failed" not in browser.row(key).get_attribute("class"), "the mark stays")

    def test_a_text_with_lines_is_edited_in_lines(self):
        browser, key = self.browser, OTHERS + "Lines"
        field = browser.part(key, ".text-field")
        self.assertEqual(field.get_attribute("value"), "one\ntwo")
        self.assertGreater(field.size["height"], browser.part(OTHERS + "Text", ".text-field").size["height"] + 8)
        # The row is as tall as the text.
        wait_until(lambda: browser.row(key).size["height"] >= field.size["height"])
        browser.type(field, "one\nthree", end=None)
        self.assertEqual(self.control.value(key), "one\ntwo")
        browser.press(Keys.CONTROL, Keys.ENTER)
        self.becomes(key, "one\nthree")
        # A single line becomes several.
        field = browser.part(OTHERS + "Text", ".text-field")
        browser.type(field, "a", end=None)
        browser.press(Keys.SHIFT, Keys.ENTER)
        browser.keys("b")
        browser.press(Keys.CONTROL, Keys.ENTER)
        self.becomes(OTHERS + "Text", "a\nb")
        self.control.set(OTHERS + "Text", "c")
        wait_until(lambda: field.get_attribute("value") == "c")
        browser.type(field, "d")
        self.becomes(OTHERS + "Text", "d")

    def test_joiners_are_shown_as_they_are(self):
        browser = self.browser
        texts = ["\U0001f469\u200d\U0001f52c", "\u0646\u200c\u0647", "a\u200db", "\u200d\u202e"]
        shown = browser.script("const {shown} = await import('/names.js'); return arguments[0].map(shown);", texts)
        self.assertEqual(shown, [*texts[:2], "a\\u{200d}b", "\\u{200d}\\u{202e}"])
        self.control.set(OTHERS + "Text", texts[0])
        wait_until(lambda: browser.part(OTHERS + "Text", ".text-field").get_attribute("value") == texts[0])

    def test_marks_of_changes_on_the_graph(self):
        browser = self.browser
        browser.click(browser.part("Motor/State/Speed", ".row-graph"))
        self.control.set("Motor/Control/Gain", 2)
        wait_until(lambda: "Gain 0.8 → 2" in browser.text(".graph-marks") and f" {os.getpid()} " in browser.text(".graph-marks"), "no mark that names who made the change")
        browser.type(browser.field("Motor/Control/Target"), "5000")
        wait_until(lambda: "Target 4000 rpm → 5000 rpm" in browser.text(".graph-marks") and "this page" in browser.text(".graph-marks"), "no mark for a change on this page")
        self.assertIn("Gain", browser.script("return tweaksPage.samples.marks.map(mark => mark.label).join()"))

    def test_follows_outside_changes_by_itself(self):
        browser = self.browser
        for key, value, selector in [(NUMBERS + "Stiffness", 222, ".number-field"), (OTHERS + "Text", "from outside", ".text-field"), (OTHERS + "Colour", "#aabbcc", ".hex-field")]:
            browser.row(key)
            self.control.set(key, value)
            wait_until(lambda: browser.part(key, selector).get_attribute("value") == str(value), f"{key} does not follow")
        self.control.set(OTHERS + "Switch", False)
        wait_until(lambda: not browser.part(OTHERS + "Switch", ".switch").is_selected())
        self.control.set("Kinds/Choices/Quality", 0)
        wait_until(lambda: browser.part("Kinds/Choices/Quality", "input").is_selected())

    def test_description_and_unit(self):
        browser = self.browser
        self.assertEqual(browser.part(NUMBERS + "Stiffness", ".row-under").text, "How hard the spring pulls")
        self.assertEqual(browser.part(NUMBERS + "Stiffness", ".unit").text, "N/m")
        # A duration is shown and typed in any unit of time.
        key = NUMBERS + "Delay"
        self.assertEqual(browser.field(key).get_attribute("value"), "250")
        for text, value in [("300 ms", 0.3), ("1.5s", 1.5), ("0:04", 4), ("2 s 500 ms", 2.5), ("100", 0.1)]:
            browser.type(browser.field(key), text)
            self.becomes(key, value)

    def test_needs_restart_is_shown_and_offered(self):
        browser, key = self.browser, OTHERS + "Restarting"
        self.assertIn("restart", browser.part(key, ".row-badges").text)
        browser.type(browser.field(key), "8")
        self.becomes(key, 8)
        wait_until(lambda: "applies at the next start; now 4" in browser.part(key, ".row-under").text, "the row does not explain why the value has no effect")
        self.assertEqual(browser.field(key).get_attribute("value"), "8")
        self.choose_menu(browser.find(".scope-line > .icon-button"), "Copy the restart command")
        wait_until(lambda: browser.script("return navigator.clipboard.readText()").startswith(f"kill {self.program.pid}"))
        # Both badges, of the program and of the row, open the dialog.
        for chip in (lambda: browser.find(".waiting button"), lambda: browser.part(key, ".row-badges button")):
            browser.click(wait_until(chip))
            # It reads standard input, which a new process would not receive.
            wait_until(lambda: "standard input" in browser.text("dialog[open] .restart"), "the dialog does not explain why it cannot be restarted")
            self.assertIn(f"kill {self.program.pid}", browser.text("dialog[open] .copy-preview"))
            self.assertFalse(any(button.text == "Restart" for button in browser.all("dialog[open] button")))
            self.dialog_button("Close")

    def test_a_restart_happens_on_confirmation(self):
        world = World("restart")
        self.addCleanup(world.close)
        program = world.start_page_program(
            "alone", "it's", environment={"SECRET_OF_TEST": "nobody sees this"}, stdin=subprocess.DEVNULL, start_new_session=True)
        world.start_ui()
        browser, key = world.browser(world.address + "&program=page-program"), OTHERS + "Restarting"
        browser.connected()
        browser.type(browser.field(key), "8")
        wait_until(lambda: "applies at the next start; now 4" in browser.part(key, ".row-under").text)
        pid = "return tweaksPage.state.programs.get('page-program').description.pid"

        def dialog():
            return wait_until(lambda: browser.text("dialog[open]"))

        def press(label):
            browser.click_named("dialog[open] footer button", label)

        # The dialog shows the command, and nothing happens before confirmation.
        browser.click(".waiting button")
        text = dialog()
        self.assertIn(f"sends SIGTERM to process {program.pid}", text)
        self.assertIn(f"{Settings.page_program} alone 'it'\\''s'", text)
        self.assertIn(world.folder, text)
        self.assertIn("output went to a pipe", text)
        browser.click("dialog[open] summary")
        self.assertIn("SECRET_OF_TEST", dialog())
        self.assertNotIn("nobody sees this", browser.script("return document.documentElement.outerHTML"))
        press("Cancel")
        self.assertIsNone(program.poll())
        browser.click(".waiting button")
        dialog()
        press("Restart")
        wait_until(lambda: program.poll() is not None, "the process is not ended")
        new = wait_until(lambda: browser.script(pid) not in (None, program.pid) and browser.script(pid), "no process is started")
        self.addCleanup(end_quietly, new)
        wait_until(lambda: not browser.is_there("dialog[open]"), "the dialog stays open")
        wait_until(lambda: browser.script("return tweaksPage.state.tweak('page-program', arguments[0]).value", key) == 8, "the value is not applied")
        wait_until(lambda: not browser.find(".waiting").is_displayed(), "a restart is still offered")
        # A program that has ended is started in the same way.
        os.kill(new, signal.SIGKILL)
        browser.click_named(".waiting button", "Start again…")
        self.assertNotIn("SIGTERM", dialog())
        press("Start")
        last = wait_until(lambda: browser.script(pid) not in (None, new) and browser.script(pid), "the program is not started again")
        self.addCleanup(end_quietly, last)
        self.assertEqual(browser.problems(), [])

    def test_the_provider_and_why_a_value_has_no_effect(self):
        world = World("environment")
        self.addCleanup(world.close)
        program = world.start_page_program(environment={"TWEAKS": json.dumps({"Kinds": {"Others": {"From outside": 7}}})})
        control = world.control(program)
        key = OTHERS + "From outside"
        self.assertEqual(control.value(key), 7)
        world.start_ui()
        browser = world.browser(world.address + "&program=page-program")
        browser.connected()
        wait_until(lambda: "environment" in browser.part(key, ".row-badges").text, "the badge does not name the provider")
        browser.type(browser.field(key), "9")
        browser.click(browser.part(key, ".row-name"))
        wait_until(lambda: "environment takes precedence" in browser.text(".details .why"), "the details do not explain it")
        wait_until(lambda: "lower precedence" in browser.text(".opinions"), "the precedence is not shown")
        # The ineffective value can be reset.
        browser.click(browser.part(key, ".row-reset"))
        wait_until(lambda: "takes precedence" not in browser.part(key, ".row-under").text, "the ineffective value is not reset")

    def test_copy_as_command_code_json_and_deep_link(self):
        browser, key = self.browser, NUMBERS + "Stiffness"
        browser.type(browser.field(key), "200")
        self.becomes(key, 200)
        browser.click(browser.part(key, ".row-name"))
        browser.open_tools()
        read = "return navigator.clipboard.readText()"
        for label, text in [
            ("Shell", "tweak set page-program Kinds/Numbers/Stiffness 200"),
            ("C", 'FBTweakValue("Kinds", "Numbers", "Stiffness", 200.0, 1.0, 1000.0, FBTweakUnit("N/m"), FBTweakDescription("How hard the spring pulls"))'),
            ("Swift", '#tweak("Kinds", "Numbers", "Stiffness", default: 200.0, in: 1...1000, unit: "N/m", description: "How hard the spring pulls")'),
        ]:
            browser.click(f"button[aria-label='Copy as {label}']")
            wait_until(lambda: browser.script(read) == text, f"{label} is {browser.script(read)}")
        browser.click("button[aria-label='Copy as JSON']")
        wait_until(lambda: browser.script(read).startswith("{") and json.loads(browser.script(read)) == {"Kinds": {"Numbers": {"Stiffness": 200}}})
        browser.click(".details-buttons [aria-label='Copy link']")
        link = wait_until(lambda: "tweak=" in browser.script(read) and browser.script(read))
        self.assertNotIn("token", link)
        browser.driver.get("about:blank")
        browser.open(link)
        wait_until(lambda: browser.text(".details h2") == "Stiffness", "the link does not open the details")

    def test_several_programs_on_one_page(self):
        example = self.world.start_example()
        self.addCleanup(self.world.end, example)
        control = self.world.control(example)
        browser = self.browser
        wait_until(lambda: browser.script("return tweaksPage.state.programs.has('spring')"), "a new program does not appear")
        browser.script("tweaksPage.commands.showScope({})")
        wait_until(lambda: browser.script("return tweaksPage.state.programs.get('spring').isLoaded"))
        browser.type(browser.part("Spring/Physics/Mass", ".number-field", "spring"), "2.5")
        self.becomes("Spring/Physics/Mass", 2.5, control)
        browser.type(browser.field(NUMBERS + "Stiffness"), "250")
        self.becomes(NUMBERS + "Stiffness", 250)
        self.world.end(example)
        wait_until(lambda: browser.script("return tweaksPage.state.programs.get('spring').state") == "offline", "the program is not shown as stopped")
        wait_until(lambda: browser.is_there(".outline-node[data-state=offline]"))
        # A stopped program is edited through its overrides file.
        browser.type(browser.part("Spring/Physics/Mass", ".number-field", "spring"), "3.5")
        path = os.path.join(self.world.config, "tweaks/spring/overrides.json")
        wait_until(lambda: '"Mass"' in open(path).read() and "3.5" in open(path).read(), "the file is not edited")
        again = self.world.start_example()
        self.addCleanup(self.world.end, again)
        wait_until(lambda: browser.script("return tweaksPage.state.programs.get('spring').state") == "running", "it does not come back")
        self.becomes("Spring/Physics/Mass", 3.5, self.world.control(again))

    def test_features_gated_by_their_parents(self):
        browser = self.browser
        row = "Features/Sound/Bass%2FBoost"
        self.assertNotIn("is-gated", browser.row(row).get_attribute("class"))
        browser.part("Features/Sound/enabled", ".switch").click()
        self.becomes("Features/Sound/enabled", False)
        wait_until(lambda: "is-gated" in browser.row(row).get_attribute("class"), "a part is not gated")
        self.assertIn("no effect while Sound is off", browser.part(row, ".row-under").text)
        browser.part("Features/Sound/enabled", ".switch").click()
        browser.part("Features/Sound/Bass", ".switch").click()
        wait_until(lambda: "no effect while Bass is off" in browser.part(row, ".row-under").text)

    def test_features_that_exist_only_in_a_file(self):
        world = World("provided")
        self.addCleanup(world.close)
        path = os.path.join(world.environment.setdefault("XDG_STATE_HOME", os.path.join(world.folder, "state")), "tweaks/page-program/remote.json")
        os.makedirs(os.path.dirname(path))

        def provide(features):
            with open(path + ".new", "w", encoding="utf-8") as file:
                json.dump({"values": {"Features": features}}, file)
            os.rename(path + ".new", path)

        provide({"login": {"enabled": True}})
        control = world.control(world.start_page_program("alone"))
        world.start_ui()
        browser, row = world.browser(world.address + "&program=page-program"), "Features/login/enabled"
        browser.connected()
        self.assertTrue(browser.part(row, ".switch").is_selected())
        browser.part(row, ".switch").click()
        self.becomes(row, False, control)
        wait_until(lambda: not browser.part(row, ".switch").is_selected())
        # A feature added while the page is open appears, and follows the file.
        provide({"login": {"enabled": True}, "basket": {"enabled": False}})
        wait_until(lambda: not browser.part("Features/basket/enabled", ".switch").is_selected(), "a new feature is not shown")
        provide({"login": {"enabled": True}, "basket": {"enabled": True}})
        wait_until(lambda: browser.part("Features/basket/enabled", ".switch").is_selected(), "the page does not follow the file")
        browser.part("Features/basket/enabled", ".switch").click()
        self.becomes("Features/basket/enabled", False, control)


if __name__ == "__main__":
    unittest.main()
