# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the height of rows, the search as a palette, starred tweaks and panels."""

import json
import os
import shutil
import unittest

from support import ActionChains, Keys, World, wait_until
from test_page import axe_source, violations
from test_rows import NUMBERS, OTHERS, PageTest

COUNT, STIFFNESS, SWITCH = NUMBERS + "Count", NUMBERS + "Stiffness", OTHERS + "Switch"


class Height(PageTest):
    def test_rows_are_30_pixels_high_and_22_fit(self):
        browser = self.browser
        for key in (COUNT, STIFFNESS, SWITCH, "Motor/State/Speed", "Kinds/Choices/Quality", OTHERS + "Colour", "Kinds/Actions/Count"):
            self.assertEqual(browser.row(key).size["height"], 30, key)
        # Where a tweak is declared, the details say.
        self.assertEqual(browser.part(COUNT, ".row-under").text, "")
        self.assertIn("How hard", browser.part(STIFFNESS, ".row-under").text)
        # What is wrong and the default are said in the same height.
        self.control.set(OTHERS + "Restarting", 8)
        wait_until(lambda: "applies at the next start" in browser.part(OTHERS + "Restarting", ".row-under").text)
        self.assertEqual(browser.row(OTHERS + "Restarting").size["height"], 30)
        browser.size(1440, 900)
        self.addCleanup(browser.size, 1280, 900)
        browser.script("tweaksPage.commands.showScope({program: 'page-program', category: 'Kinds'})")
        whole = """const box = document.getElementById('scroller').getBoundingClientRect();
            return [...document.querySelectorAll('.row')].filter((row) => {
              const {top, bottom} = row.getBoundingClientRect();
              return top >= box.top && bottom <= box.bottom;
            }).length;"""
        wait_until(lambda: browser.script(whole) >= 22, f"{browser.script(whole)} rows fit")

    def test_names_are_as_wide_as_the_longest_one(self):
        browser = self.browser
        browser.row(STIFFNESS)
        widths = """return [...document.querySelectorAll('.row-label')].map((label) => [label.scrollWidth, label.clientWidth, label.parentElement.offsetWidth / label.closest('.row').offsetWidth])"""
        for text, width, share in browser.script(widths):
            self.assertLessEqual(text, width)
            self.assertLessEqual(share, 0.31)
        # Sliders end together, logarithmic ones too.
        ends = "return [...new Set([...document.querySelectorAll('.row .number-control:not(.is-wide) .slider')].map((slider) => Math.round(slider.getBoundingClientRect().right)))]"
        self.assertEqual(len(browser.script(ends)), 1)

    def test_a_change_from_elsewhere_lights_up_and_an_own_one_does_not(self):
        browser = self.browser
        browser.row(COUNT)
        # Counts the animations of rows.
        browser.script("""globalThis.lights = [];
            const animate = Element.prototype.animate;
            Element.prototype.animate = function (...given) {
              if (this.dataset.tweak) lights.push([this.dataset.tweak, given[1]]);
              return animate.apply(this, given);
            };""")
        self.addCleanup(self.show)
        browser.type(browser.field(COUNT), "70")
        self.becomes(COUNT, 70)
        browser.press("r")
        self.assertEqual(browser.script("return lights"), [])
        self.control.set(STIFFNESS, 300)
        wait_until(lambda: browser.script("return lights") == [[STIFFNESS, 600]], "the row does not light up")
        # Not for each of many changes.
        for value in range(301, 331):
            self.control.set(STIFFNESS, value)
        wait_until(lambda: browser.field(STIFFNESS).get_attribute("value") == "330")
        self.assertLess(len(browser.script("return lights")), 4)

    def test_badges_are_only_where_somebody_else_decides(self):
        browser = self.browser
        self.control.set(COUNT, 70)
        wait_until(lambda: "default 60" in browser.part(COUNT, ".row-under").text)
        self.assertEqual(browser.part(COUNT, ".row-badges").text, "")
        # The head follows, too.
        wait_until(lambda: browser.text(".scope-count").startswith("1 of "), "the number of changed tweaks is old")


class Palette(PageTest):
    def chips(self):
        return self.browser.texts(".chips:not([hidden]) .chip")

    def test_typing_errors_are_forgiven(self):
        browser = self.browser
        self.query("stifness")
        wait_until(lambda: self.keys_shown() == [STIFFNESS], "it is not found")
        self.assertTrue(browser.text(".scope-count").startswith("no matches; similar: 1 of "))
        # Not if the words are there as typed.
        self.query("stiff")
        wait_until(lambda: browser.text(".scope-count").startswith("1 of "))
        browser.script("tweaksPage.commands.clearQuery()")

    def test_filters_commands_and_presets_are_found(self):
        browser = self.browser
        self.control.set(COUNT, 70)
        self.query("chang")
        wait_until(lambda: self.chips() == ["Changed"], "the filter is not found")
        browser.click(".chips .chip")
        wait_until(lambda: self.keys_shown() == [COUNT] and browser.find("#search").get_attribute("value") == "")
        browser.script("tweaksPage.commands.clearQuery()")
        browser.script("return tweaksPage.api.post('preset/save', {program: 'page-program', name: 'soft', defaults: false, replace: false})")
        browser.click("#search")
        self.query("soft")
        wait_until(lambda: self.chips() == ["Preset soft…"], "the preset is not found")
        self.query("restart page")
        wait_until(lambda: self.chips() == ["Restart page-program…"], "the command is not found")
        self.query("snapshots")
        wait_until(lambda: self.chips() == ["Snapshots…"])
        # Enter runs a command where no tweak is found.
        browser.find("#search").send_keys(Keys.ENTER)
        wait_until(lambda: browser.is_there("dialog[open]"), "the command does not run")
        browser.press(Keys.ESCAPE)
        wait_until(lambda: not browser.is_there("dialog[open]"))

    def test_the_focus_comes_back_to_the_row(self):
        browser = self.browser
        browser.script("tweaksPage.list.reveal(arguments[0], {focus: 'name'})", f"page-program\n{COUNT}")
        browser.press("/")
        self.query("stiff")
        wait_until(lambda: self.keys_shown() == [STIFFNESS])
        browser.press(Keys.ESCAPE)
        browser.press(Keys.ESCAPE)
        wait_until(lambda: browser.script("return document.activeElement.closest('.row')?.dataset.tweak") == COUNT, "the focus is elsewhere")

    def test_what_was_found_is_emphasized(self):
        browser = self.browser
        self.query("hard")
        wait_until(lambda: browser.script("return [...CSS.highlights.get('found')].map(({startContainer, startOffset, endOffset}) => startContainer.nodeValue.slice(startOffset, endOffset))") == ["hard"])
        browser.script("tweaksPage.commands.clearQuery()")
        wait_until(lambda: browser.script("return CSS.highlights.get('found').size") == 0)


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
        # Not near the end, where the list cannot scroll on.
        browser.row(NUMBERS + "Wide")
        other = "return document.querySelector(`[data-tweak='${arguments[0]}']`).getBoundingClientRect().top"
        keys = browser.script(
            """const {top, bottom} = document.getElementById('scroller').getBoundingClientRect();
            return [...document.querySelectorAll('.row')].filter((row) => row.getBoundingClientRect().top > top + 20 && row.getBoundingClientRect().bottom < bottom).map(({dataset}) => dataset.tweak)""")
        before = browser.script(other, keys[0])
        self.assertGreater(browser.script("return document.getElementById('scroller').scrollTop"), 100)
        browser.click(f"[data-tweak='{keys[3]}'] .row-star")
        wait_until(lambda: self.starred() == [keys[3]])
        wait_until(lambda: abs(browser.script(other, keys[0]) - before) < 2, "the list moves")


def star_two_and_graph_one(browser):
    for key in (STIFFNESS, SWITCH):
        browser.click(browser.part(key, ".row-star"))
    browser.click(browser.part("Motor/State/Speed", ".row-graph"))


class Panels(PageTest):
    def test_a_panel_is_a_link_with_chosen_tweaks_and_the_graph(self):
        browser = self.browser
        star_two_and_graph_one(browser)
        browser.script("document.getElementById('scroller').scrollTop = 0")
        browser.click_named(".collection-heading button", "Panel…")
        name = wait_until(lambda: browser.find("dialog[open] input[aria-label='Name of the panel']"))
        browser.type(name, "Stage & light", end=None)
        browser.click_named("dialog[open] label.check", "Gain", is_whole=False)
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
        browser.click(".outline-node")
        wait_until(lambda: len(self.keys_shown()) > 3, "the outline does not leave the panel")

    def test_a_panel_names_tweaks_that_the_program_does_not_declare(self):
        browser = self.browser
        self.show("program=page-program&panel=Old&row=Kinds%2FNumbers%2FCount&row=A%2FB%2FGone")
        wait_until(lambda: self.keys_shown() == [COUNT])
        wait_until(lambda: any("A/B/Gone" in text for text in browser.notices()), "the page does not say what is missing")

    def test_a_link_replaces_the_lines_and_the_filters(self):
        browser = self.browser
        browser.click(browser.part("Motor/State/Speed", ".row-graph"))
        browser.script("tweaksPage.commands.setQuery({kind: 'action'})")
        wait_until(lambda: "Kinds/Actions/Count" in self.keys_shown() and COUNT not in self.keys_shown())
        browser.script("location.hash = '#program=page-program&tweak=Kinds%2FNumbers%2FCount&line=Motor%2FControl%2FGain&line=A%2FB%2FGone'")
        wait_until(lambda: COUNT in self.keys_shown(), "a filter hides what the link names")
        wait_until(lambda: browser.texts(".graph-legend .legend-name") == ["Gain"], "the graph has not the lines of the link")
        wait_until(lambda: any("A/B/Gone" in text for text in browser.notices()), "the page does not say what is missing")

    def test_a_link_holds_beside_a_change_of_the_page(self):
        """The browser tells the page of a new address only after other tasks, which write the address too."""
        for change in ("commands.setQuery({text: 'Speed'})", "commands.setQuery({kind: 'action'})", "commands.closeGraph()"):
            self.browser.script("tweaksPage.commands.clearQuery()")
            self.browser.click(self.browser.part("Motor/State/Speed", ".row-name"))
            wait_until(lambda: "tweak=Motor%2FState%2FSpeed" in self.browser.script("return location.hash"))
            self.browser.script(f"location.hash = '#program=page-program&tweak=Kinds%2FNumbers%2FCount'; tweaksPage.{change}")
            wait_until(lambda: self.browser.script("return tweaksPage.state.selected") == f"page-program\n{COUNT}", change)
            self.assertIn(COUNT, self.keys_shown())


PANEL = {"version": 1, "columns": [
    [{"heading": "Light & stage"}, {"tweak": COUNT}, {"tweak": SWITCH}, {"tweak": "A/B/Gone"}],
    [{"graph": ["Motor/State/Speed", "Motor/Control/Gain"], "seconds": 5, "style": "newer"}, {"tweak": "Motor/State/Speed"}, {"dial": COUNT}],
], "theme": {"later": True}}


class SavedPanels(PageTest):
    """Panels that are kept by name, for the user or beside the sources."""

    @classmethod
    def setUpClass(cls):
        cls.world = World("panels")
        cls.addClassCleanup(cls.world.close)
        cls.sources = os.path.join(cls.world.folder, "sources")
        os.mkdir(cls.sources)
        cls.program = cls.world.start_page_program()
        cls.control = cls.world.control(cls.program)
        cls.world.start_ui("--sources", cls.sources)
        cls.browser = cls.world.browser()

    def setUp(self):
        shutil.rmtree(os.path.join(self.world.config, "tweaks/page-program/panels"), ignore_errors=True)
        for name in os.listdir(self.sources):
            os.remove(os.path.join(self.sources, name))
        self.browser.size(1280, 900)
        super().setUp()

    def save(self, content=None, name="Stage", place="sources"):
        self.browser.script("return tweaksPage.api.post('panel/save', {program: 'page-program', name: arguments[0], place: arguments[1], content: arguments[2], replace: true})",
                            name, place, content or PANEL)

    def panels(self):
        return self.browser.script("return tweaksPage.api.post('panels', {program: 'page-program'})")["panels"]

    def kept(self, name="Stage", place="sources"):
        """The columns of a panel that is kept, as the names of their items."""
        found = [panel for panel in self.panels() if (panel["name"], panel["place"]) == (name, place)]
        return found and self.named_columns(found[0]["content"]["columns"])

    def named_columns(self, columns):
        return [[next((item[kind] for kind in ("tweak", "heading", "graph", "dial") if kind in item), None) for item in column] for column in columns]

    def open(self, name="Stage", place="sources", more=""):
        self.show(f"program=page-program&panel={name}&place={place}{more}")
        wait_until(lambda: self.browser.is_there(".panel .row"), "the panel is not shown")

    def shown_columns(self):
        """What the columns show: the keys of rows, the texts of headings, and the classes of other items."""
        return self.browser.script(
            """return [...document.querySelectorAll('.panel-column')].map((column) => [...column.querySelectorAll('.panel-item')].filter((item) => item.checkVisibility()).map((item) =>
                item.querySelector('.row')?.dataset.tweak ?? item.querySelector('h2')?.textContent ?? item.querySelector('.panel-heading-field')?.value ?? item.className.replace('panel-item ', '')))""")

    def button(self, name, selector=".panel button"):
        return wait_until(lambda: self.browser.named(selector, name), f"there is no {name}")

    def press_button(self, name, selector=".panel button"):
        self.browser.click_named(selector, name)

    def edit(self):
        self.press_button("Edit")
        wait_until(lambda: self.browser.is_there(".panel.is-arranging .panel-grip"))

    def grip(self, name):
        return self.button(f"Move {name}")

    def focused(self):
        return self.browser.script("return document.activeElement.getAttribute('aria-label')")

    def spoken(self):
        return self.browser.script("return document.getElementById('spoken').textContent")

    SHOWN = [["Light & stage", COUNT, SWITCH, "panel-tweak"], ["panel-graph", "Motor/State/Speed", "panel-newer"]]

    def test_an_address_shows_columns_of_rows_and_graphs(self):
        browser = self.browser
        self.save()
        self.open()
        wait_until(lambda: self.shown_columns() == self.SHOWN)
        self.assertEqual(browser.text(".scope-title"), "page-program › Stage")
        self.assertEqual(browser.text(".scope-count"), "3 tweaks")
        self.assertEqual(browser.texts(".panel-missing span"), ["A/B/Gone", "The program does not declare this tweak"])
        self.assertEqual(browser.text(".panel-newer"), "Made by a newer version")
        # Rows are those of the list: controls, keys and details.
        browser.type(browser.field(COUNT), "70")
        self.becomes(COUNT, 70)
        wait_until(lambda: browser.text(".scope-count") == "1 of 3 changed")
        browser.script("document.querySelector('.panel .row-name').focus()")
        browser.press("r")
        self.becomes(COUNT, 60)
        browser.press(Keys.ARROW_DOWN)
        wait_until(lambda: self.focused().startswith("Switch"))
        browser.press(Keys.ARROW_DOWN)
        wait_until(lambda: self.focused().startswith("Speed"), "arrows do not go on in the next column")
        browser.press(Keys.HOME)
        browser.press(Keys.ARROW_RIGHT)
        wait_until(lambda: browser.script("return document.activeElement.className").startswith("number-field"))
        browser.press(Keys.ESCAPE)
        wait_until(lambda: self.focused().startswith("Count"), "Escape does not go back to the row")
        browser.press(Keys.ENTER)
        wait_until(lambda: browser.find("#details").is_displayed())
        browser.press(Keys.ESCAPE)
        wait_until(lambda: not browser.find("#details").is_displayed() and self.focused().startswith("Count"), "the focus does not come back")
        # An outside change, and a search.
        self.control.set(COUNT, 80)
        wait_until(lambda: browser.field(COUNT).get_attribute("value") == "80")
        self.query("switch")
        wait_until(lambda: self.shown_columns() == [[SWITCH], []], "the search finds more")
        self.query("nothing like that")
        wait_until(lambda: browser.text(".panel-message").startswith("No matches in this panel"))
        self.press_button("Show all")
        wait_until(lambda: self.shown_columns() == self.SHOWN)
        # The outline leads back to the list.
        browser.click(".outline-node")
        wait_until(lambda: not browser.is_there(".panel") and len(self.keys_shown()) > 5, "the outline does not leave the panel")
        wait_until(lambda: "place=" not in browser.script("return location.hash"))

    def test_a_graph_draws_its_lines(self):
        browser = self.browser
        self.save()
        self.open()
        wait_until(lambda: [text.split("\n")[0] for text in browser.texts(".panel-legend li")] == ["Speed", "Gain"])
        self.assertEqual(browser.find(".panel-plots").get_attribute("aria-label"), "Graph of Speed, Gain, 5 s")
        # The colour of a line is on the canvas.
        coloured = """const canvas = document.querySelector('.panel-plots'), probe = document.createElement('span');
            probe.className = 'colour-' + arguments[0];
            document.body.append(probe);
            const [red, green, blue] = getComputedStyle(probe).backgroundColor.match(/\\d+/g).map(Number);
            probe.remove();
            const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            let count = 0;
            for (let at = 0; at < data.length; at += 4) if (Math.abs(data[at] - red) + Math.abs(data[at + 1] - green) + Math.abs(data[at + 2] - blue) < 12 && data[at + 3] > 200) count += 1;
            return count;"""
        for colour in (0, 1):
            wait_until(lambda colour=colour: browser.script(coloured, colour) > 20, f"line {colour} is not drawn")
        wait_until(lambda: browser.text(".panel-legend .legend-value").isdigit(), "the legend has no value")
        self.control.set("Motor/Control/Gain", 2.5)
        wait_until(lambda: browser.texts(".panel-legend .legend-value")[1] == "2.5")
        self.press_button("Open the graph of Speed, Gain")
        wait_until(lambda: browser.find("#graphs").is_displayed() and browser.text(".graph-legend").startswith("Speed"))

    def test_items_are_dragged_within_and_between_columns(self):
        browser = self.browser
        self.save()
        self.open()
        # Nothing can be moved by accident.
        self.assertFalse(browser.is_there(".panel-grip"))
        self.edit()
        item = lambda index: browser.all(".panel-item")[index]  # noqa: E731
        middle = lambda element: element.rect["y"] + element.rect["height"] / 2  # noqa: E731
        # Behind the one below.
        self.drag(self.grip("Count"), 0, round(item(2).rect["y"] + item(2).rect["height"] - 3 - middle(item(1))))
        wait_until(lambda: self.shown_columns()[0] == ["Light & stage", SWITCH, COUNT, "panel-tweak"], "it does not move down")
        # To the end of the other column, which is not saved yet.
        target = browser.all(".panel-column")[1].rect
        start = self.grip("Count")
        self.drag(start, round(target["x"] + 60 - start.rect["x"]), round(target["y"] + target["height"] - 10 - start.rect["y"]))
        wait_until(lambda: self.shown_columns() == [["Light & stage", SWITCH, "panel-tweak"], ["panel-graph", "Motor/State/Speed", "panel-newer", COUNT]], "it does not move to the other column")
        wait_until(lambda: self.spoken() == "Count: column 2, 4 of 4")
        self.assertEqual(self.kept(), self.named_columns(PANEL["columns"]))
        # Escape cancels, and the controls of rows do nothing.
        chain = ActionChains(browser.driver, duration=10).click_and_hold(self.grip("Count")).move_by_offset(0, -60)
        chain.perform()
        wait_until(lambda: browser.is_there(".panel-drop"))
        browser.press(Keys.ESCAPE)
        ActionChains(browser.driver).release().perform()
        self.assertEqual(self.shown_columns()[1][-1], COUNT)
        self.assertFalse(browser.is_there(".panel-drop"))
        ActionChains(browser.driver).move_to_element(browser.find(f".panel .row[data-tweak='{SWITCH}'] .switch-control")).click().perform()
        self.press_button("Save")
        wait_until(lambda: browser.named(".panel button", "Edit"))
        self.assertEqual(self.control.value(SWITCH), True)
        self.assertEqual(self.kept(), [["Light & stage", SWITCH, "A/B/Gone"], [["Motor/State/Speed", "Motor/Control/Gain"], "Motor/State/Speed", COUNT, COUNT]])
        with open(os.path.join(self.sources, "Stage.panel.json")) as file:
            content = json.load(file)
        # What a newer version wrote is still there.
        self.assertEqual((content["theme"], content["columns"][1][0]["style"], content["columns"][1][2]), ({"later": True}, "newer", {"dial": COUNT}))
        self.open()
        wait_until(lambda: self.shown_columns()[1][-1] == COUNT)

    def test_items_are_moved_and_removed_by_keys(self):
        browser = self.browser
        self.save()
        self.open()
        self.edit()
        browser.script("arguments[0].focus()", self.grip("Switch"))
        browser.press(Keys.ARROW_UP)
        wait_until(lambda: self.shown_columns()[0] == ["Light & stage", SWITCH, COUNT, "panel-tweak"])
        self.assertEqual((self.focused(), self.spoken()), ("Move Switch", "Switch: column 1, 2 of 4"))
        browser.press(Keys.ARROW_RIGHT)
        wait_until(lambda: self.shown_columns()[1] == ["panel-graph", SWITCH, "Motor/State/Speed", "panel-newer"])
        self.assertEqual((self.focused(), self.spoken()), ("Move Switch", "Switch: column 2, 2 of 4"))
        browser.press(Keys.DELETE)
        wait_until(lambda: self.shown_columns()[1] == ["panel-graph", "Motor/State/Speed", "panel-newer"])
        self.assertEqual(self.focused(), "Move Speed")
        self.press_button("Undo", ".notice button")
        wait_until(lambda: SWITCH in self.shown_columns()[1])
        # Undo is that of the panel, not of values.
        self.control.set(COUNT, 80)
        browser.script("arguments[0].focus()", self.grip("Count"))
        browser.press(Keys.ARROW_UP)
        wait_until(lambda: self.shown_columns()[0][0] == COUNT)
        browser.press(Keys.CONTROL, "z")
        wait_until(lambda: self.shown_columns()[0] == ["Light & stage", COUNT, "panel-tweak"], "the move is not undone")
        browser.press(Keys.CONTROL, "y")
        wait_until(lambda: self.shown_columns()[0][0] == COUNT, "the move is not redone")
        self.press_button("Discard")
        self.dialog_button("Cancel")
        self.press_button("Discard")
        self.dialog_button("Discard")
        wait_until(lambda: self.shown_columns() == self.SHOWN, "the changes are not discarded")
        self.assertEqual(self.kept(), self.named_columns(PANEL["columns"]))

    def test_a_new_panel_is_made_and_saved(self):
        browser = self.browser
        self.choose_menu(browser.find(".scope-line [aria-label='More actions']"), "Panels…")
        browser.type(wait_until(lambda: browser.find("dialog[open] input")), "My/own")
        wait_until(lambda: browser.is_there(".panel.is-arranging"))
        self.choose_menu(self.button("Add to column 1"), "Tweaks…")
        search = wait_until(lambda: browser.find("dialog[open] input[type=search]"))
        search.send_keys("stiff")
        wait_until(lambda: len(browser.all(".panel-choices input")) == 1)
        search.send_keys(Keys.ENTER)
        search.send_keys("switch")
        browser.click_named(".panel-choices label", "Switch", is_whole=False)
        self.dialog_button("Add")
        wait_until(lambda: self.shown_columns() == [[STIFFNESS, SWITCH], []])
        wait_until(lambda: self.focused() == "Move Stiffness", "the focus is elsewhere")
        self.choose_menu(self.button("Add to column 2"), "Graph…")
        search = wait_until(lambda: browser.find("dialog[open] input[type=search]"))
        search.send_keys("speed", Keys.ENTER)
        browser.script("const select = document.querySelector('dialog[open] select'); select.value = '30'")
        self.dialog_button("Add")
        wait_until(lambda: self.shown_columns() == [[STIFFNESS, SWITCH], ["panel-graph"]])
        self.choose_menu(self.button("Add to column 2"), "Heading")
        wait_until(lambda: self.focused() == "Heading")
        browser.keys("Both")
        self.press_button("Add a column")
        wait_until(lambda: len(self.shown_columns()) == 3)
        self.press_button("Remove column 2")
        wait_until(lambda: self.shown_columns() == [[STIFFNESS, SWITCH, "panel-graph", "Both"], []])
        # What is not saved is kept while the list is shown.
        browser.script("tweaksPage.commands.showScope({program: 'page-program'})")
        self.press_button("Go back", ".notice button")
        wait_until(lambda: self.shown_columns() == [[STIFFNESS, SWITCH, "panel-graph", "Both"], []], "the changes are lost")
        self.assertEqual(self.panels(), [])
        self.press_button("Save")
        wait_until(lambda: browser.named(".panel button", "Edit"))
        self.assertEqual(self.kept("My/own", "user"), [[STIFFNESS, SWITCH, ["Motor/State/Speed"], "Both"], []])
        self.assertEqual(self.panels()[0]["content"]["columns"][0][2]["seconds"], 30)

    def test_a_panel_is_renamed_copied_and_deleted(self):
        browser = self.browser
        self.save()
        self.save({"version": 1, "columns": [[{"tweak": SWITCH}]]}, "Other")
        self.open()
        self.edit()
        browser.type(browser.find("[aria-label='Name of the panel']"), "Other")
        self.dialog_button("Cancel")
        browser.type(browser.find("[aria-label='Name of the panel']"), "Light")
        wait_until(lambda: browser.named(".panel button", "Edit"))
        self.assertEqual(sorted(panel["name"] for panel in self.panels()), ["Light", "Other"])
        wait_until(lambda: "panel=Light&place=sources" in browser.script("return location.hash"))
        self.assertEqual(browser.text(".scope-title"), "page-program › Light")
        # Into the other place it is copied.
        self.edit()
        browser.script("document.querySelector('[aria-label=\"Where it is saved\"]').value = 'user'")
        self.press_button("Save")
        wait_until(lambda: browser.named(".panel button", "Edit"))
        self.assertEqual([(panel["place"], panel["name"]) for panel in self.panels()], [("user", "Light"), ("sources", "Light"), ("sources", "Other")])
        self.choose_menu(browser.find("[aria-label='More for the panel']"), "Delete…")
        self.dialog_button("Delete")
        wait_until(lambda: not browser.is_there(".panel"))
        self.assertEqual([(panel["place"], panel["name"]) for panel in self.panels()], [("sources", "Light"), ("sources", "Other")])

    def test_a_panel_that_was_changed_elsewhere_is_not_overwritten_unasked(self):
        browser = self.browser
        self.save()
        self.open()
        self.edit()
        self.save({"version": 1, "columns": [[{"tweak": SWITCH}]]})
        browser.script("arguments[0].focus()", self.grip("Count"))
        browser.press(Keys.ARROW_DOWN)
        self.press_button("Save")
        wait_until(lambda: "was changed elsewhere" in browser.text("dialog[open]"))
        self.dialog_button("Cancel")
        self.assertEqual(self.kept(), [[SWITCH]])
        self.press_button("Save")
        self.dialog_button("Overwrite")
        wait_until(lambda: browser.named(".panel button", "Edit"))
        self.assertEqual(self.kept()[0][2], COUNT)

    def test_the_list_says_which_panels_cannot_be_read(self):
        browser = self.browser
        self.save()
        self.save({"columns": "newer"}, "strange", "user")
        with open(os.path.join(self.sources, "broken.panel.json"), "w") as file:
            file.write("{")
        self.query("panels")
        browser.click_named(".chips .chip", "Panels…")
        wait_until(lambda: len(browser.all("dialog[open] .preset")) == 3)
        rows = dict(zip(browser.texts("dialog[open] .preset-name"), browser.texts("dialog[open] .preset .who")))
        self.assertEqual(rows["strange"], "for me · The panel has no list of columns.")
        self.assertTrue(rows["broken"].startswith("beside the sources · ") and "broken.panel.json" in rows["broken"], rows)
        self.assertEqual(len(browser.all("dialog[open] .preset .button")), 1)
        self.press_button("Open Stage, beside the sources", "dialog[open] button")
        wait_until(lambda: self.shown_columns() == self.SHOWN)
        # The search finds them by name.
        self.show()
        browser.click("#search")
        self.query("panel stage")
        browser.click_named(".chips .chip", "Panel Stage")
        wait_until(lambda: self.shown_columns() == self.SHOWN)
        for name, text in (("broken", "broken.panel.json"), ("strange", 'no panel "strange"'), ("gone", 'no panel "gone"')):
            self.show(f"program=page-program&panel={name}&place=sources")
            wait_until(lambda text=text: text in browser.text(".panel-message"), f"the page does not say why {name} is not shown")
        self.assertFalse(browser.named(".panel button", "Edit"))

    def test_a_panel_is_loaded_again_when_the_server_answers(self):
        browser = self.browser
        self.save()
        browser.script("""const {api} = tweaksPage, post = api.post.bind(api);
            api.post = (name, ...rest) => name === 'panels' ? Promise.reject(new Error('no answer')) : post(name, ...rest);
            globalThis.answer = () => { delete api.post; tweaksPage.showing.findAgain(); };
            tweaksPage.commands.showScope({program: 'page-program', panel: 'Stage', place: 'sources'});""")
        wait_until(lambda: "no answer" in browser.text(".panel-message"))
        browser.script("answer()")
        wait_until(lambda: self.shown_columns() == self.SHOWN)

    def test_chosen_tweaks_are_arranged_and_saved(self):
        browser = self.browser
        star_two_and_graph_one(browser)
        browser.script("tweaksPage.commands.openPanel('page-program')")
        browser.type(wait_until(lambda: browser.find("dialog[open] input[aria-label='Name of the panel']")), "Chosen", end=None)
        self.dialog_button("Arrange and save…")
        wait_until(lambda: self.shown_columns() == [[STIFFNESS, SWITCH], ["panel-graph"]])
        self.press_button("Save")
        wait_until(lambda: self.kept("Chosen", "user") == [[STIFFNESS, SWITCH], [["Motor/State/Speed"]]])

    def test_a_read_only_panel_changes_nothing(self):
        browser = self.browser
        self.save()
        self.open()
        self.choose_menu(browser.find("[aria-label='More for the panel']"), "Copy read-only link")
        read = "return navigator.clipboard.readText()"
        link = wait_until(lambda: "view=1" in browser.script(read) and browser.script(read), "no link is copied")
        self.show(link.split("#")[1])
        wait_until(lambda: self.shown_columns() == self.SHOWN)
        self.assertEqual(browser.text(".panel .badge"), "Read-only")
        self.assertEqual(browser.script("return [...document.querySelectorAll('button, input, select, textarea, a[href]')].filter((one) => one.checkVisibility() && !one.closest('.off-screen, .skip, .notices')).map((one) => one.textContent)"), ["Full screen"])
        # Values are followed.
        self.control.set(COUNT, 90)
        wait_until(lambda: browser.text(f".row[data-tweak='{COUNT}'] .monitor-value") == "90")
        # No key does anything: undo, B, trying, snapshots, presets, the search.
        browser.script("document.body.focus()")
        for keys in ((Keys.CONTROL, "z"), ("x",), ("y",), ("n",), ("p",), ("h",), ("/",), ("?",)):
            browser.press(*keys)
        self.assertFalse(browser.is_there("dialog[open]"))
        self.assertEqual(browser.script("return [tweaksPage.state.trying.size, tweaksPage.sets.snapshots('page-program').length, tweaksPage.sets.hasOther('page-program')]"), [0, 0, False])
        # Nor does what does not come from a control, such as a knob.
        browser.script("tweaksPage.editing.set(tweaksPage.state.tweak('page-program', arguments[0]), 33); tweaksPage.editing.move(tweaksPage.state.tweak('page-program', arguments[0]), 34)", COUNT)
        self.assertEqual(browser.script("return tweaksPage.api.post('set', {program: 'page-program', tweaks: []}).catch((error) => error.message)"), "This page is read-only")
        self.assertEqual(self.control.value(COUNT), 90)
        self.assertEqual(browser.text(f".row[data-tweak='{COUNT}'] .monitor-value"), "90")
        # Another address ends it.
        browser.script("location.hash = 'program=page-program'")
        wait_until(lambda: not browser.is_there(".panel"))
        browser.type(browser.field(COUNT), "70")
        self.becomes(COUNT, 70)

    def test_full_screen_shows_the_panel_alone(self):
        browser = self.browser
        self.save()
        self.open()
        self.press_button("Full screen")
        wait_until(lambda: browser.script("return document.fullscreenElement === document.documentElement"), "it does not fill the screen")
        wait_until(lambda: not browser.find(".top").is_displayed() and not browser.find(".outline").is_displayed())
        self.assertEqual(browser.text(".panel-title"), "Stage")
        # Rows work, with their details.
        browser.script("document.querySelector('.panel .row-name').click()")
        wait_until(lambda: browser.find("#details").is_displayed())
        self.press_button("Leave full screen")
        wait_until(lambda: browser.find(".top").is_displayed() and not browser.script("return Boolean(document.fullscreenElement)"))
        browser.script("tweaksPage.commands.select(undefined)")

    def test_axe_finds_no_violations_and_nothing_is_cut_off(self):
        browser = self.browser
        axe = axe_source()
        self.save()
        beyond = """return [...document.querySelectorAll('.panel *')].filter((one) => one.checkVisibility() && (one.getBoundingClientRect().right > innerWidth + 1 || one.getBoundingClientRect().left < 0))
            .map((one) => one.outerHTML.slice(0, 120))"""
        for more in ("", "&view=1"):
            self.open(more=more)
            wait_until(lambda: self.shown_columns() == self.SHOWN)
            for state in ("shown", "edited")[:1 if more else 2]:
                if state == "edited":
                    self.edit()
                for width in (1280, 360):
                    browser.size(width, 900)
                    for theme in ("light", "dark"):
                        browser.script("tweaksPage.commands.setTheme(arguments[0])", theme)
                        wait_until(lambda theme=theme: browser.script("return document.documentElement.dataset.theme === arguments[0] && document.getAnimations().length === 0", theme))
                        self.assertEqual(violations(browser, axe), [], f"{state}, {width}, {theme}{more}")
                    wait_until(lambda: browser.script(beyond) == [], f"something is cut off: {state}, {width}{more}")
                    tops = browser.script("return [...document.querySelectorAll('.panel-column')].map((one) => Math.round(one.getBoundingClientRect().top))")
                    self.assertEqual(len(set(tops)), 1 if width == 1280 else 2, "narrow columns are not stacked")
                browser.size(1280, 900)
            browser.script("tweaksPage.commands.setTheme('auto')")


class PanelsWithoutSources(PageTest):
    def test_a_panel_is_not_saved_beside_sources_that_are_not_known(self):
        browser = self.browser
        folder = os.path.join(self.world.config, "tweaks/page-program/panels")
        shutil.rmtree(folder, ignore_errors=True)
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        browser.script("tweaksPage.commands.openPanels('page-program')")
        browser.type(wait_until(lambda: browser.find("dialog[open] input")), "Mine")
        wait_until(lambda: browser.is_there(".panel.is-arranging"))
        browser.script("document.querySelector('[aria-label=\"Where it is saved\"]').value = 'sources'")
        browser.click_named(".panel button", "Save")
        wait_until(lambda: any("--sources" in text for text in browser.notices()), "the page does not say why")
        self.assertTrue(browser.is_there(".panel.is-arranging"))
        browser.script("document.querySelector('[aria-label=\"Where it is saved\"]').value = 'user'")
        browser.click_named(".panel button", "Save")
        wait_until(lambda: browser.named(".panel button", "Edit"))


if __name__ == "__main__":
    unittest.main()
