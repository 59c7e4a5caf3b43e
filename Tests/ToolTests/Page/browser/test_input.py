# SPDX-License-Identifier: BSD-3-Clause
"""Tests of fingers, input methods, keyboard layouts, and of what other programs read from the page."""

import os
import unittest

from support import Keys, wait_until
from test_rows import NUMBERS, OTHERS, PageTest

STIFFNESS, TEXT, COLOUR = NUMBERS + "Stiffness", OTHERS + "Text", OTHERS + "Colour"


class Fingers(PageTest):
    def setUp(self):
        super().setUp()
        self.browser.size(390, 800, touch=True)
        self.addCleanup(self.browser.size, 1280, 900)
        self.before = self.last_change()

    def last_change(self):
        return self.control.ask("history")["changes"][-1:]

    def touch(self, kind, *points):
        self.browser.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})

    def swipe(self, start, dx, dy, steps=8):
        """Moves a finger and lifts it."""
        x, y = start
        self.touch("touchStart", (x, y))
        for step in range(1, steps + 1):
            self.touch("touchMove", (x + dx * step / steps, y + dy * step / steps))
            self.browser.script("return new Promise((drawn) => requestAnimationFrame(drawn))")
        self.touch("touchEnd")
        self.browser.settle()

    def at(self, element, across=0.7):
        """A point on an element, after it was scrolled into the middle."""
        return self.browser.script(
            """const [element, across] = arguments;
            element.scrollIntoView({block: 'center'});
            const {left, top, width, height} = element.getBoundingClientRect();
            return [left + width * across, top + height / 2];""", element, across)

    def sets_nothing(self, what):
        self.assertEqual(self.last_change(), self.before, f"{what} sets something")

    def test_a_swipe_up_on_a_slider_scrolls_and_sets_nothing(self):
        browser = self.browser
        events = """globalThis.cancelled = 0;
            addEventListener('pointercancel', () => { cancelled += 1; }, {capture: true});"""
        browser.script(events)
        for selector in (".slider", ".number-field"):
            place = self.at(browser.part(STIFFNESS, selector), 0.3)
            scrolled = "return document.getElementById('scroller').scrollTop"
            before, cancelled = browser.script(scrolled), browser.script("return cancelled")
            self.swipe(place, 3, -160)
            wait_until(lambda: abs(browser.script(scrolled) - before) > 50, f"the list does not scroll with a finger on {selector}")
            self.assertEqual(browser.script("return cancelled"), cancelled + 1)
            self.sets_nothing(f"a swipe on {selector}")
            self.assertEqual(browser.field(STIFFNESS).get_attribute("value"), "120")
            self.assertFalse(browser.script("return tweaksPage.editing.isDragged(tweaksPage.state.tweak('page-program', arguments[0]))", STIFFNESS))
        slider = browser.slider(STIFFNESS)
        # The slider is logarithmic.
        self.assertAlmostEqual(float(slider.get_attribute("value")), 6931, delta=5, msg="the thumb stays where the finger was")
        self.assertNotEqual(browser.script("return tweaksPage.history.undoLabel"), "Stiffness")

    def test_a_finger_sets_a_slider_sideways_and_by_a_tap(self):
        browser = self.browser
        self.swipe(self.at(browser.slider(STIFFNESS), 0.2), 60, 10)
        first = self.control.value(STIFFNESS)
        self.assertNotEqual(first, 120)
        self.touch("touchStart", self.at(browser.slider(STIFFNESS), 0.95))
        self.touch("touchEnd")
        browser.settle()
        second = self.control.value(STIFFNESS)
        self.assertGreater(second, max(first, 500))
        self.swipe(self.at(browser.field(STIFFNESS), 0.5), -40, 5)
        self.assertLess(self.control.value(STIFFNESS), second)
        for _ in range(3):
            browser.script("tweaksPage.commands.undo()")
            browser.settle()
        self.becomes(STIFFNESS, 120)

    def test_a_swipe_on_the_sliders_of_a_colour_sets_nothing(self):
        browser = self.browser
        browser.script("tweaksPage.commands.select(tweaksPage.state.tweak('page-program', arguments[0]))", COLOUR)
        for selector in (".hue-slider", ".alpha-slider"):
            slider = wait_until(lambda: browser.find(f".details {selector}"))
            before = slider.get_attribute("value")
            self.swipe(self.at(slider, 0.3), 2, -120)
            self.sets_nothing(f"a swipe on {selector}")
            self.assertEqual(slider.get_attribute("value"), before)
        self.swipe(self.at(browser.find(".details .hue-slider"), 0.3), 80, 4)
        wait_until(lambda: self.control.value(COLOUR) != "#3366cc", "the hue is not set")
        # The area takes all directions, unless the browser takes the finger.
        before = self.control.value(COLOUR)
        self.touch("touchStart", self.at(browser.find(".details .colour-area"), 0.3))
        wait_until(lambda: self.control.value(COLOUR) != before)
        self.touch("touchCancel")
        self.becomes(COLOUR, before)

    def test_a_swipe_on_the_graph_does_not_pause_it(self):
        browser = self.browser
        browser.script("tweaksPage.commands.toggleGraph(tweaksPage.state.tweak('page-program', 'Motor/State/Speed'))")
        canvas = wait_until(lambda: browser.find(".graph-canvas"))
        wait_until(lambda: browser.script("return tweaksPage.graphs.plots.length"))
        self.swipe(self.at(canvas), 2, -100)
        self.assertFalse(browser.script("return tweaksPage.graphs.isPaused"))
        self.swipe(self.at(canvas), 100, 2)
        wait_until(lambda: browser.script("return tweaksPage.graphs.isPaused"), "a finger does not move the graph")


class InputMethods(PageTest):
    def compose(self, text):
        self.browser.driver.execute_cdp_cmd("Input.imeSetComposition", {"text": text, "selectionStart": len(text), "selectionEnd": len(text)})

    def key(self, key, code=None, number=0, **more):
        for kind in ("rawKeyDown", "keyUp"):
            self.browser.driver.execute_cdp_cmd(
                "Input.dispatchKeyEvent", {"type": kind, "key": key, "code": code or key, "windowsVirtualKeyCode": number, **more})

    def test_enter_and_escape_of_a_composition_are_not_the_page_s(self):
        browser = self.browser
        for key in (TEXT, STIFFNESS):
            field = browser.part(key, "textarea, .number-field")
            before = self.control.value(key)
            browser.script("arguments[0].focus(); arguments[0].select()", field)
            self.compose("12")
            for name, number in (("Enter", 13), ("Enter", 229), ("Escape", 27), ("Escape", 229), ("ArrowUp", 38)):
                self.key(name, number=number)
            browser.settle()
            self.assertEqual(self.control.value(key), before, f"{key} is set during a composition")
            self.assertEqual(browser.script("return document.activeElement === arguments[0]", field), True, "the field is left")
            self.assertEqual(field.get_attribute("value"), "12", "what is composed is lost")
            browser.driver.execute_cdp_cmd("Input.insertText", {"text": "34"})
            browser.press(Keys.ENTER)
            self.becomes(key, "34" if key == TEXT else 34.0)
        # The search, and a dialog.
        browser.blur()
        search = browser.find("#top input[type=search], .search-box input")
        search.click()
        self.compose("sti")
        self.key("Escape", number=229)
        self.key("Enter", number=229)
        self.assertEqual(search.get_attribute("value"), "sti")
        self.assertTrue(browser.script("return document.activeElement === arguments[0]", search))
        browser.driver.execute_cdp_cmd("Input.insertText", {"text": "stif"})
        browser.press(Keys.ENTER)
        wait_until(lambda: browser.script("return document.activeElement.closest('.row')?.dataset.tweak") == STIFFNESS)
        browser.press("p")
        wait_until(lambda: browser.is_there("dialog[open] .preset-form input"))
        browser.script("document.querySelector('dialog[open] .preset-form input').focus()")
        self.compose("soft")
        self.key("Enter", number=229)
        self.key("Enter", number=13)
        browser.settle()
        self.assertTrue(browser.is_there("dialog[open] .preset-form"))
        presets = os.path.join(self.world.config, "tweaks/page-program/presets")
        self.assertFalse(os.path.exists(presets) and os.listdir(presets), "a preset is saved during a composition")
        browser.driver.execute_cdp_cmd("Input.insertText", {"text": "soft"})
        browser.press(Keys.ENTER)
        wait_until(lambda: os.listdir(presets), "Enter does not save the preset")
        browser.press(Keys.ESCAPE)

    def test_shortcuts_are_positions_where_the_layout_has_no_latin_letters(self):
        browser = self.browser
        self.control.set(STIFFNESS, 300)
        name = browser.part(STIFFNESS, ".row-name")
        browser.script("arguments[0].focus()", name)
        wait_until(lambda: browser.field(STIFFNESS).get_attribute("value") == "300")
        # Russian: r, then Control and z.
        self.key("к", "KeyR", 82)
        self.becomes(STIFFNESS, 120)
        browser.settle()
        self.key("я", "KeyZ", 90, modifiers=2)
        self.becomes(STIFFNESS, 300)
        browser.settle()
        self.key("р", "KeyH", 72)
        wait_until(lambda: browser.script("return tweaksPage.changes.isOpen"), "h at its position does not open the history")
        self.key("р", "KeyH", 72)
        wait_until(lambda: not browser.script("return tweaksPage.changes.isOpen"))


class Assistance(PageTest):
    def test_browsers_do_not_translate_names(self):
        browser = self.browser
        browser.script(
            """const {commands, state} = tweaksPage;
            commands.select(state.tweak('page-program', arguments[0]));
            commands.graph(arguments[1].map((key) => state.tweak('page-program', key)));""", STIFFNESS, ["Motor/State/Speed", STIFFNESS])
        wait_until(lambda: browser.is_there(".graph-legend li") and browser.is_there(".details h2"))
        translated = browser.script(
            """const names = new Set(['page-program']);
            for (const tweak of tweaksPage.state.programs.get('page-program').tweaks.values()) {
              for (const name of [tweak.label, tweak.name, tweak.category, tweak.collection, tweak.unit]) names.add(name);
            }
            const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            const found = [];
            for (let node = walker.nextNode(); node; node = walker.nextNode()) {
              const text = node.data.trim();
              if (text && names.has(text) && node.parentElement.translate) found.push(`${text}: ${node.parentElement.outerHTML.slice(0, 200)}`);
            }
            return found;""")
        self.assertEqual(translated, [])

    def test_a_field_has_always_a_number_for_screen_readers(self):
        browser = self.browser
        limit = "Kinds/Optionals/Limit"
        for key, text, now in (
            (limit, "none", 0.5), (limit, "2", 2), (NUMBERS + "Unbounded", "-inf", -1.7976931348623157e308), (NUMBERS + "Natural", "18446744073709551615", 2 ** 64 - 1),
        ):
            field = browser.field(key)
            if text == "-inf":
                # Only programs set it.
                browser.script("tweaksPage.state.setValue('page-program', {tweak: arguments[0], value: '-inf', source: 'program'})", key)
            else:
                browser.type(field, text)
            wait_until(lambda: field.get_attribute("aria-valuetext") == text, f"{key} does not become {text}")
            given = field.get_attribute("aria-valuenow")
            self.assertEqual(int(given) if given.isdigit() else float(given), now, key)


if __name__ == "__main__":
    unittest.main()
