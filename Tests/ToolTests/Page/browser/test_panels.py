# SPDX-License-Identifier: BSD-3-Clause
"""Tests of compact rows, starred tweaks and panels."""

import unittest

from support import Keys, wait_until
from test_rows import NUMBERS, OTHERS, PageTest

COUNT, STIFFNESS, SWITCH = NUMBERS + "Count", NUMBERS + "Stiffness", OTHERS + "Switch"


class Compact(PageTest):
    def tearDown(self):
        self.browser.script("tweaksPage.preferences.isCompact = false")
        super().tearDown()

    def test_compact_rows_are_32_pixels_high_and_have_no_places(self):
        browser = self.browser
        self.assertIn("page-program.c", browser.part(COUNT, ".row-under").text)
        roomy = browser.row(COUNT).size["height"]
        self.choose_menu(browser.find(".top [aria-label=More]"), "Compact rows")
        wait_until(lambda: browser.row(COUNT).size["height"] == 32, "the row is not 32 pixels high")
        self.assertGreater(roomy, 40)
        for key in (COUNT, STIFFNESS, SWITCH, "Motor/State/Speed", "Kinds/Choices/Quality", OTHERS + "Colour", "Kinds/Actions/Count"):
            self.assertEqual(browser.row(key).size["height"], 32, key)
        self.assertEqual(browser.part(COUNT, ".row-under").text, "")
        self.assertIn("How hard", browser.part(STIFFNESS, ".row-under").text)
        # What is wrong is still said.
        self.control.set(OTHERS + "Restarting", 8)
        wait_until(lambda: "applies at the next start" in browser.part(OTHERS + "Restarting", ".row-under").text)
        self.show(keeping=True)
        wait_until(lambda: browser.row(COUNT).size["height"] == 32, "the choice is not kept")
        self.choose_menu(browser.find(".top [aria-label=More]"), "Compact rows")
        wait_until(lambda: browser.row(COUNT).size["height"] == roomy)


class Stars(PageTest):
    def starred(self):
        return self.browser.script(
            """return tweaksPage.listed.items.filter(({tweak}) => tweak && tweaksPage.commands.isStarred(tweak)).map(({tweak}) => tweak.key)""")

    def in_document(self):
        return [key for key in self.keys_shown() if key in (COUNT, STIFFNESS, SWITCH)]

    def star(self):
        for key in (STIFFNESS, SWITCH, COUNT):
            self.browser.click(self.browser.part(key, ".row-star"))
        wait_until(lambda: self.starred() == [STIFFNESS, SWITCH, COUNT])
        self.browser.script("document.getElementById('scroller').scrollTop = 0")
        wait_until(lambda: self.in_document() == [STIFFNESS, SWITCH, COUNT], "starred tweaks are not on top")

    def test_starred_tweaks_are_on_top_and_moved_by_dragging(self):
        browser = self.browser
        self.star()
        self.assertEqual(browser.script("return tweaksPage.listed.items[0].isStarred"), True)
        self.assertTrue(browser.part(COUNT, ".row-under").text.startswith("Kinds › Numbers"))
        grip = browser.part(COUNT, ".row-grip")
        distance = browser.row(COUNT).location["y"] - browser.row(STIFFNESS).location["y"]
        self.drag(grip, 0, -distance)
        wait_until(lambda: self.starred() == [COUNT, STIFFNESS, SWITCH], "dragging does not move the row")
        wait_until(lambda: self.in_document() == [COUNT, STIFFNESS, SWITCH], "the order in the document is another one")
        self.show(keeping=True)
        wait_until(lambda: self.starred() == [COUNT, STIFFNESS, SWITCH], "the order is not kept")
        browser.click(browser.part(COUNT, ".row-star"))
        wait_until(lambda: self.starred() == [STIFFNESS, SWITCH])
        self.assertFalse(browser.row(COUNT).find_elements("css selector", ".row-grip"))

    def test_starred_tweaks_are_moved_by_keys(self):
        browser = self.browser
        self.star()
        focus = "return document.activeElement.closest('.row')?.dataset.tweak + ' ' + document.activeElement.className"
        browser.script("arguments[0].focus()", browser.part(COUNT, ".row-grip"))
        browser.press(Keys.ARROW_UP)
        wait_until(lambda: self.starred() == [STIFFNESS, COUNT, SWITCH], "the handle does not move the row")
        wait_until(lambda: browser.script(focus).startswith(COUNT) and "row-grip" in browser.script(focus), "the focus is lost")
        browser.script("arguments[0].focus()", browser.part(COUNT, ".row-name"))
        browser.press(Keys.ALT, Keys.ARROW_UP)
        wait_until(lambda: self.starred() == [COUNT, STIFFNESS, SWITCH], "Alt and an arrow do not move the row")
        wait_until(lambda: self.in_document() == [COUNT, STIFFNESS, SWITCH], "the order in the document is another one")
        browser.press(Keys.ALT, Keys.ARROW_UP)
        browser.press(Keys.ALT, Keys.ARROW_DOWN)
        wait_until(lambda: self.starred() == [STIFFNESS, COUNT, SWITCH])

    def test_the_list_stays_when_a_row_is_starred_with_the_mouse(self):
        browser = self.browser
        browser.row(OTHERS + "Build")
        other = "return document.querySelector(`[data-tweak='${arguments[0]}']`).getBoundingClientRect().top"
        keys = browser.script(
            """const {top, bottom} = document.getElementById('scroller').getBoundingClientRect();
            return [...document.querySelectorAll('.row')].filter((row) => row.getBoundingClientRect().top > top + 20 && row.getBoundingClientRect().bottom < bottom).map(({dataset}) => dataset.tweak)""")
        before = browser.script(other, keys[0])
        self.assertGreater(browser.script("return document.getElementById('scroller').scrollTop"), 100)
        browser.find(f"[data-tweak='{keys[3]}'] .row-star").click()
        wait_until(lambda: self.starred() == [keys[3]])
        wait_until(lambda: abs(browser.script(other, keys[0]) - before) < 2, "the list moves")


class Panels(PageTest):
    def test_a_panel_is_a_link_with_chosen_tweaks_and_the_graph(self):
        browser = self.browser
        for key in (STIFFNESS, SWITCH):
            browser.click(browser.part(key, ".row-star"))
        browser.click(browser.part("Motor/State/Speed", ".row-graph"))
        browser.script("document.getElementById('scroller').scrollTop = 0")
        wait_until(lambda: browser.named(".collection-heading button", "Panel…"), "the starred tweaks offer no panel").click()
        name = wait_until(lambda: browser.find("dialog[open] input[aria-label='Name of the panel']"))
        browser.type(name, "Stage & light", end=None)
        browser.click(wait_until(lambda: browser.named("dialog[open] label.check", "Gain", is_whole=False)))
        self.dialog_button("Copy link")
        read = "return navigator.clipboard.readText()"
        link = wait_until(lambda: "panel=" in browser.script(read) and browser.script(read), "no link is copied")
        self.assertNotIn("token", link)
        self.dialog_button("Open")
        shown = [STIFFNESS, SWITCH, "Motor/Control/Gain"]
        wait_until(lambda: self.keys_shown() == shown, "the panel is not shown")
        # Without what this browser keeps, as on another machine.
        self.show(link.split("#")[1])
        wait_until(lambda: self.keys_shown() == shown, "the link does not open the panel")
        self.assertEqual(browser.text(".scope-title"), "page-program › Stage & light")
        wait_until(lambda: browser.find("#graphs").is_displayed() and browser.text(".graph-legend").startswith("Speed"), "the panel has no graph")
        browser.type(browser.field(STIFFNESS), "300")
        self.becomes(STIFFNESS, 300)
        browser.find(".outline-node").click()
        wait_until(lambda: len(self.keys_shown()) > 3, "the outline does not leave the panel")

    def test_a_panel_names_tweaks_that_the_program_does_not_declare(self):
        browser = self.browser
        self.show("program=page-program&panel=Old&row=Kinds%2FNumbers%2FCount&row=A%2FB%2FGone")
        wait_until(lambda: self.keys_shown() == [COUNT])
        wait_until(lambda: any("A/B/Gone" in text for text in browser.notices()), "the page does not say what is missing")


if __name__ == "__main__":
    unittest.main()
