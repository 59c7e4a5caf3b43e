# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the graph: plots and axes, zooming, statistics, XY plots, pictures, and links."""

import os
import re
import signal
import time
import unittest

from support import ActionChains, Keys, retried, stop, wait_until
from test_rows import NUMBERS, OTHERS, PageTest

SPEED, TARGET = "Motor/State/Speed", "Motor/Control/Target"
TEMPERATURE, PHASE = "Motor/State/Temperature", "Motor/State/Phase"


class Graph(PageTest):
    def graph(self, *keys):
        for key in keys:
            self.browser.click(self.browser.part(key, ".row-graph"))
        length = "return tweaksPage.samples.series(`page-program\\n${arguments[0]}`)?.length ?? 0"
        for key in keys:
            wait_until(lambda: self.browser.script(length, key) > 5, f"no samples of {key}")
        # What is drawn may be of before the last click, after which the legend has no values until the next frame.
        wait_until(lambda: self.plots() and all(self.browser.texts(".legend-value")), "nothing is drawn")

    def plots(self):
        """The plots as lists of axes, each with its lines."""
        return self.browser.script(
            "return tweaksPage.graphs.plots.map(({axes}) => axes.map(({lines}) => (lines ?? []).map(({tweak}) => tweak.label).join()))")

    def ranges(self):
        """The ranges of all axes, as drawn in the next frame."""
        return self.browser.script(
            """await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
            return tweaksPage.graphs.plots.map(({axes}) => axes.map(({range}) => range));""")

    def pause(self, *keys):
        """Pauses, and waits for the samples that were on their way."""
        self.browser.find(".graph-canvas").send_keys(" ")
        wait_until(lambda: self.browser.is_there("button[aria-label='Resume']"))
        now = self.browser.script("return tweaksPage.samples.now()")
        last = "const series = tweaksPage.samples.series(`page-program\\n${arguments[0]}`); return series.time(series.length - 1)"
        for key in keys:
            wait_until(lambda: self.browser.script(last, key) > now, f"no later samples of {key}")

    def place(self, index=0):
        """The edges of a plot on the page."""
        return self.browser.script(
            """const {left, right, top, bottom} = tweaksPage.graphs.plots[arguments[0]];
            return {left, right, top, bottom};""", index)

    def choose(self, label, text):
        select = self.browser.find(f"select[aria-label='{label}']")
        next(option for option in select.find_elements("css selector", "option") if option.text == text).click()

    def move(self, start, end, *, shift=False):
        """Drags on the canvas between two points."""
        canvas = self.browser.find(".graph-canvas")
        middle = (canvas.size["width"] / 2, canvas.size["height"] / 2)
        chain = ActionChains(self.browser.driver, duration=10)
        if shift:
            chain.key_down(Keys.SHIFT)
        chain.move_to_element_with_offset(canvas, round(start[0] - middle[0]), round(start[1] - middle[1])).click_and_hold()
        for share in (0.5, 1):
            chain.move_to_element_with_offset(canvas, *(round(one + (other - one) * share - half) for one, other, half in zip(start, end, middle)))
        chain.release()
        if shift:
            chain.key_up(Keys.SHIFT)
        chain.perform()

    def test_each_unit_has_a_plot_or_an_axis_of_its_own(self):
        self.graph(SPEED, TARGET, TEMPERATURE, PHASE)
        wait_until(lambda: self.plots() == [["Speed,Target"], ["Temperature"], ["Phase"]], "not a plot for each unit")
        places = [self.place(index) for index in range(3)]
        self.assertEqual(len({(place["left"], place["right"]) for place in places}), 1, "the times of the plots are not aligned")
        self.assertTrue(all(one["bottom"] <= other["top"] for one, other in zip(places, places[1:])), "plots overlap")
        self.choose("Plots", "One plot")
        wait_until(lambda: self.plots() == [["Speed,Target", "Temperature", "Phase"]], "not an axis for each unit")
        speed, temperature, _ = self.ranges()[0]
        self.assertLess(temperature[1], 200)
        self.assertGreater(speed[1], 3000)
        self.choose("Plots", "By line")
        wait_until(lambda: len(self.plots()) == 4, "not a plot for each line")
        # A hidden line leaves its plot.
        self.browser.click_named(".legend-name", "Phase")
        wait_until(lambda: len(self.plots()) == 3, "the plot of a hidden line stays")

    def test_a_box_zooms_in_both_directions_and_back(self):
        browser = self.browser
        self.graph(SPEED, TEMPERATURE)
        wait_until(lambda: len(self.plots()) == 2)
        back, canvas = browser.find(".graph-back"), browser.find(".graph-canvas")
        self.pause(SPEED, TEMPERATURE)
        self.assertEqual(back.get_attribute("aria-disabled"), "true")
        for zoom in ("Shift", "the button"):
            before, place = self.ranges(), self.place(1)
            width, height = place["right"] - place["left"], place["bottom"] - place["top"]
            corners = [(place["left"] + width * share, place["top"] + height * share) for share in (0.25, 0.75)]
            if zoom == "the button":
                browser.click("button[aria-label='Zoom to a box']")
            self.move(*corners, shift=zoom == "Shift")
            wait_until(lambda: 4.5 < float(browser.text(".graph-window").split()[0]) < 5.5, f"{zoom} does not zoom in time")
            (low, high), (least, most) = self.ranges()[1][0], before[1][0]
            self.assertAlmostEqual((high - low) / (most - least), 0.5, delta=0.05, msg=f"{zoom} does not zoom in values")
            self.assertTrue(least < low < high < most)
            self.assertEqual(browser.find("button[aria-label='Zoom to a box']").get_attribute("aria-pressed"), "false")
            if zoom == "Shift":
                browser.click(back)
            else:
                canvas.send_keys(Keys.BACKSPACE)
            wait_until(lambda: browser.text(".graph-window") == "10 s" and self.ranges() == before, "it does not zoom back")
        self.assertEqual(back.get_attribute("aria-disabled"), "true")
        # In values, by keys.
        low, high = self.ranges()[1][0]
        canvas.send_keys(Keys.ARROW_UP)
        wait_until(lambda: abs((self.ranges()[1][0][1] - self.ranges()[1][0][0]) / (most - least) - 0.8) < 0.01, "the arrow does not zoom")

    def test_statistics_between_two_cursors(self):
        browser = self.browser
        self.graph(SPEED, TEMPERATURE, TARGET)
        length = "const series = tweaksPage.samples.series(`page-program\\n${arguments[0]}`); return series.time(series.length - 1) - series.time(0)"
        for key in (TEMPERATURE, TARGET):
            wait_until(lambda: self.browser.script(length, key) > 3.1, "there are no samples between the cursors")
        place = self.place()
        width, middle = place["right"] - place["left"], (place["top"] + place["bottom"]) / 2
        self.pause(SPEED, TEMPERATURE, TARGET)
        for share in (0.7, 0.95):
            point = (place["left"] + width * share, middle)
            self.move(point, point)
        wait_until(lambda: browser.is_there(".graph-statistics table"), "there are no statistics")
        self.assertAlmostEqual(float(browser.text(".graph-statistics caption").split()[0]), 2.5, delta=0.1)
        self.assertEqual(browser.texts(".graph-statistics thead th"), ["min", "max", "mean", "rms", "sd", "per second"])
        rows = retried(lambda: {row.text.split()[0]: [float(cell.text) for cell in row.find_elements("css selector", "td")]
                                for row in browser.all(".graph-statistics tbody tr")})
        self.assertEqual(rows["Target"], [4000, 4000, 4000, 4000, 0, 0])
        low, high, mean, rms, deviation, _ = rows["Temperature"]
        self.assertTrue(low <= mean <= high and rms >= mean - 0.01 and deviation < high - low, rows)
        # By keys: two cursors, and a zoom to what is between them.
        canvas = browser.find(".graph-canvas")
        canvas.send_keys(Keys.ESCAPE)
        wait_until(lambda: not browser.find(".graph-statistics").is_displayed(), "Escape does not remove the cursors")
        canvas.send_keys(Keys.ENTER)
        for _ in range(3):
            browser.press(Keys.SHIFT, Keys.ARROW_LEFT)
        canvas.send_keys(Keys.ENTER)
        wait_until(lambda: browser.text(".graph-statistics caption").startswith("3 s "), "Enter places no cursors")
        canvas.send_keys("z")
        wait_until(lambda: browser.text(".graph-window") == "3 s", "z does not zoom")

    def test_the_time_shown_is_chosen_in_a_menu(self):
        browser = self.browser
        self.graph(SPEED)
        browser.click(".graph-window")
        wait_until(lambda: browser.named("[role='menuitemradio']", "10 s").get_attribute("aria-checked") == "true")
        browser.click_named("[role='menuitemradio']", "2 min")
        wait_until(lambda: browser.text(".graph-window") == "2 min" and "seconds=120" in browser.driver.current_url)
        self.assertIn("2 min", browser.find(".graph-window").get_attribute("aria-label"))

    def test_nothing_is_drawn_where_nothing_was_sampled(self):
        browser = self.browser
        self.graph(SPEED, TARGET)
        # A busy machine may need more than the usual 10 s until the graph is paused.
        browser.click(".graph-window")
        browser.click_named("[role='menuitemradio']", "30 s")
        stop(self.program)
        try:
            time.sleep(2)
        finally:
            self.program.send_signal(signal.SIGCONT)
        gap = """const series = tweaksPage.samples.series(`page-program\\n${arguments[0]}`);
            for (let index = 0; index + 3 < series.length; index += 1) if (series.isGap(index) && series.time(index + 1) - series.time(index) > 1)
              return [series.time(index), series.time(index + 1)];"""
        spans = [wait_until(lambda: browser.script(gap, key), f"{key} has no gap") for key in (SPEED, TARGET)]
        # Columns of the sparkline with a line, of those drawn before and after the gap.
        columns = """const {width, height} = arguments[0];
            const pixels = arguments[0].getContext('2d').getImageData(0, 0, width, height).data;
            const drawn = [...Array(width).keys()].filter((x) => [...Array(height).keys()].some((y) => pixels[(y * width + x) * 4 + 3] > 0));
            return Math.max(...drawn.slice(1).map((x, index) => x - drawn[index])) / width;"""
        sparkline = browser.part(SPEED, "canvas")
        wait_until(lambda: browser.script(columns, sparkline) > 0.1, "the sparkline has no gap")
        self.pause(SPEED, TARGET)
        begin, end = (limit([span[index] for span in spans]) for index, limit in ((0, max), (1, min)))
        inked = """const [from, to] = arguments;
            const canvas = document.querySelector('.graph-canvas');
            const [{left, right, top, bottom, axes: [{lines}]}] = tweaksPage.graphs.plots;
            const until = tweaksPage.graphs.end;
            const ratio = canvas.width / canvas.clientWidth;
            const at = (time) => Math.round((left + (1 - (until - time) / 30) * (right - left)) * ratio);
            const width = at(to) - at(from);
            const {data} = canvas.getContext('2d').getImageData(at(from), top * ratio, width, (bottom - top) * ratio);
            // Lines of the grid are grey.
            const isColoured = (place) => data[place + 3] > 0 && Math.max(...data.slice(place, place + 3)) - Math.min(...data.slice(place, place + 3)) > 60;
            let count = 0;
            for (let place = 0; place < data.length; place += 4) if (isColoured(place)) count += 1;
            return count;"""
        self.assertGreater(browser.script(inked, begin - 0.5, begin - 0.2), 10)
        self.assertEqual(browser.script(inked, begin + 0.1, end - 0.1), 0, "a line goes over the gap")
        place = self.place()
        width, until = place["right"] - place["left"], browser.script("return tweaksPage.graphs.end")
        for moment in (begin + 0.2, end - 0.2):
            point = (place["left"] + (1 - (until - moment) / 30) * width, (place["top"] + place["bottom"]) / 2)
            self.move(point, point)
        wait_until(lambda: browser.is_there(".graph-statistics table"), "there are no statistics")
        self.assertEqual(set(browser.texts(".graph-statistics tbody td")), {"–"}, "there are statistics of nothing")
        wait_until(lambda: set(browser.texts(".legend-value")) == {"–"}, "the legend has a value where there is none")
        self.assertNotIn("NaN", browser.script("return tweaksPage.graphs.csv()"))

    def samples(self, key, seconds):
        """The number of samples in the last seconds."""
        return self.browser.script(
            """const series = tweaksPage.samples.series(`page-program\\n${arguments[0]}`);
            return series.length - series.indexAt(series.time(series.length - 1) - arguments[1]);""", key, seconds)

    def test_the_rate_is_chosen_in_a_menu(self):
        browser = self.browser
        self.graph(SPEED, TARGET)
        self.assertEqual(browser.find("select[aria-label='Samples per second']").get_attribute("value"), "30")
        self.choose("Samples per second", "1000/s")
        wait_until(lambda: "rate=1000" in browser.driver.current_url, "the address has no rate")
        # Beyond the next lower rate, also on a busy machine.
        wait_until(lambda: self.samples(SPEED, 1) > 150, "there are not more samples")
        text, count = browser.script(
            """const series = tweaksPage.samples.series(`page-program\\n${arguments[0]}`);
            return [tweaksPage.graphs.csv(), [...Array(series.length).keys()].filter((index) => !series.isGap(index)).length];""", SPEED)
        self.assertEqual(sum(1 for line in text.splitlines()[1:] if line.split(",")[1]), count, "the CSV has not all samples")
        self.show(browser.driver.current_url.split("#")[1])
        wait_until(lambda: browser.find("#graphs").is_displayed() and browser.find("select[aria-label='Samples per second']").get_attribute("value") == "1000")
        wait_until(lambda: self.samples(SPEED, 1) > 150, "the link has not the rate")
        browser.click("button[aria-label='Close the graph']")
        browser.row(SPEED)
        wait_until(lambda: 5 < self.samples(SPEED, 1) < 80, "rows have the rate of a closed graph")

    def test_the_graph_says_how_many_samples_are_missing(self):
        browser = self.browser
        self.graph(SPEED)
        self.choose("Samples per second", "1000/s")
        said = re.compile(r"page-program gives \d+ of 1000 samples per second")
        end = time.monotonic() + 60
        while time.monotonic() < end and not said.search(browser.text(".graph-side .who")):
            stop(self.program)
            try:
                time.sleep(0.2)
            finally:
                self.program.send_signal(signal.SIGCONT)
            time.sleep(0.1)
        self.assertRegex(browser.text(".graph-side .who"), said)
        self.choose("Samples per second", "30/s")
        wait_until(lambda: browser.text(".graph-side .who") == "", "it stays")

    def test_the_edge_changes_the_height(self):
        browser = self.browser
        self.graph(SPEED)
        edge = browser.find(".graph-edge")

        def height():
            return browser.find("#graphs").size["height"]

        def is_now():
            return abs(int(edge.get_attribute("aria-valuenow")) - 100 * height() / browser.script("return innerHeight")) <= 0.51

        before = height()
        self.assertTrue(is_now())
        ActionChains(browser.driver, duration=20).drag_and_drop_by_offset(edge, 0, -120).perform()
        wait_until(lambda: abs(height() - before - 120) < 6 and is_now(), f"from {before} to {height()}")
        self.show(keeping=True)
        self.graph(SPEED)
        self.assertAlmostEqual(height(), before + 120, delta=6, msg="the height is not kept")
        edge = browser.find(".graph-edge")
        browser.script("arguments[0].focus()", edge)
        dragged = height()
        browser.keys(Keys.ARROW_DOWN)
        wait_until(lambda: 5 < dragged - height() < 40 and is_now(), "the arrow does not change the height")
        for key, name in ((Keys.HOME, "aria-valuemin"), (Keys.END, "aria-valuemax")):
            browser.keys(key)
            wait_until(lambda: edge.get_attribute("aria-valuenow") == edge.get_attribute(name) and is_now(), name)
        ActionChains(browser.driver).double_click(edge).perform()
        wait_until(lambda: height() == before and is_now(), "a double-click does not go back to the default")

    def test_the_times_are_always_in_sight(self):
        browser = self.browser
        self.graph(SPEED, TARGET, TEMPERATURE, PHASE)
        self.choose("Plots", "By line")
        edge = browser.find(".graph-edge")
        browser.script("arguments[0].focus()", edge)
        browser.keys(Keys.HOME)
        plots = browser.find(".graph-plots")
        seen = """const [plots] = arguments;
            const times = document.querySelector('.graph-times');
            const {data} = times.getContext('2d').getImageData(0, 0, times.width, times.height);
            const {top, bottom} = times.getBoundingClientRect();
            return [plots.scrollHeight > plots.clientHeight + 20, top >= plots.getBoundingClientRect().bottom - 1 && bottom <= innerHeight && bottom > top + 10,
              data.filter((value, index) => index % 4 === 3 && value > 100).length > 30];"""
        wait_until(lambda: browser.script(seen, plots) == [True, True, True], "there are no times")
        browser.script("arguments[0].scrollTop = 1e6", plots)
        wait_until(lambda: browser.script(seen, plots) == [True, True, True], "the times scroll")
        browser.script("arguments[0].focus()", edge)
        browser.keys(Keys.ENTER)

    def test_numbers_keep_their_decimals(self):
        browser = self.browser
        self.graph(SPEED, TEMPERATURE)
        widths = set()
        end = time.monotonic() + 2
        while time.monotonic() < end:
            widths.add(tuple(len(text.partition(".")[2]) for text in browser.texts(".legend-value")))
        self.assertEqual(len(widths), 1, widths)
        self.assertIn("tabular-nums", browser.find(".legend-value").value_of_css_property("font-variant-numeric"))

    def test_the_bar_has_one_style_and_is_on_the_screen(self):
        browser = self.browser
        self.graph(SPEED)
        look = """return [...document.querySelectorAll('.graph-bar :is(button, select)')].filter((one) => one.checkVisibility()).map((one) => {
            const {left, right, top, bottom} = one.getBoundingClientRect();
            const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
            return [one.ariaLabel, left, right, top, bottom, getComputedStyle(one).borderTopColor, Boolean(one.matches('.icon-button')),
              Boolean((one.tagName === 'SELECT' ? one.parentElement : one).querySelector('.icon-down')), one.contains(hit) || one === hit];
        });"""
        try:
            parts = browser.script(look)
            self.assertEqual(len({(top, bottom) for _, _, _, top, bottom, *_ in parts}), 1, parts)
            # Icons, then menus, then words, and the icon that closes the graph.
            kinds = ["icon" if is_icon else "menu" if is_menu else "word" for *_, is_icon, is_menu, _ in parts]
            self.assertEqual([kind for index, kind in enumerate(kinds) if kinds[index - 1:index] != [kind]], ["icon", "menu", "word", "icon"], kinds)
            self.assertEqual(len({colour for *_, colour, is_icon, _, _ in parts if not is_icon}), 1, "borders differ")
            browser.size(360, 740, touch=True)
            wait_until(lambda: browser.script("return innerWidth") == 360)
            parts = browser.script(look)
            names = [name for name, *_ in parts]
            for name in ("Pause", "Save as CSV", "Save as PNG", "Clear the graph", "Close the graph", "Plots", "Samples per second"):
                self.assertIn(name, names)
            for name, left, right, top, bottom, *_, is_seen in parts:
                self.assertTrue(0 <= left and right <= 360 and bottom <= 740 and is_seen, f"{name} is off the screen")
                self.assertGreaterEqual(bottom - top, 44, name)
        finally:
            browser.size(1280, 900)

    def test_one_line_against_another(self):
        browser = self.browser
        self.graph(SPEED)
        self.choose("Plots", "XY")
        wait_until(lambda: browser.text(".graph-cursor") == "An XY plot needs two lines")
        self.graph(TEMPERATURE)
        wait_until(lambda: browser.script("return tweaksPage.graphs.plots[0].horizontalKey") == f"x\npage-program\n{SPEED}")
        self.choose("Horizontal axis", "Horizontal: Temperature")
        wait_until(lambda: browser.script("return tweaksPage.graphs.plots[0].horizontalKey") == f"x\npage-program\n{TEMPERATURE}")
        before = browser.script("return tweaksPage.graphs.plots[0].horizontalRange")
        place = self.place()
        self.move((place["left"] + 50, place["top"] + 10), (place["left"] + 150, place["top"] + 60), shift=True)
        wait_until(lambda: (lambda range: range[1] - range[0] < 0.5 * (before[1] - before[0]))(browser.script("return tweaksPage.graphs.plots[0].horizontalRange")),
                   "a box does not zoom the horizontal axis")
        browser.click(".graph-back")
        wait_until(lambda: browser.find(".graph-back").get_attribute("aria-disabled") == "true")

    def test_a_graph_is_saved_as_a_picture(self):
        browser = self.browser
        self.graph(SPEED, TEMPERATURE)
        browser.click("button[aria-label='Save as PNG']")
        path = os.path.join(browser.downloads, "graph.png")
        wait_until(lambda: os.path.exists(path) and os.path.getsize(path) > 1000, "there is no picture")
        with open(path, "rb") as file:
            head = file.read(24)
        self.assertEqual(head[:8], b"\x89PNG\r\n\x1a\n")
        width, height = (int.from_bytes(head[at:at + 4], "big") for at in (16, 20))
        canvas = browser.find(".graph-canvas").size
        self.assertEqual(width, canvas["width"])
        # The legend is below the plots.
        self.assertGreater(height, canvas["height"] + 40)

    def test_lines_beyond_eight_are_chosen_in_the_legend(self):
        browser = self.browser
        browser.script(
            """const {state, commands} = tweaksPage;
            commands.graph([...state.programs.get('page-program').tweaks.values()].filter(({key, type}) => key.startsWith(arguments[0]) && type === 'double'));
            commands.graph(['Motor/State/Speed', 'Motor/State/Temperature', 'Kinds/Actions/Runs'].map((key) => state.tweak('page-program', key)));""",
            NUMBERS)
        legend = wait_until(lambda: browser.all(".graph-legend li"))
        self.assertGreater(len(legend), 8)
        drawn = "return [...document.querySelectorAll('.legend-name[aria-pressed=true]')].map(({innerText}) => innerText.trim())"
        self.assertEqual(len(browser.script(drawn)), 8)
        self.assertEqual(browser.text(".graph-side .who"), f"8 of {len(legend)} lines drawn; hide one to draw another")
        wait_until(lambda: any("but not drawn" in text and "Runs" in text for text in browser.notices()), "the page does not say which lines it does not draw")
        browser.click_named(".legend-name", "Runs")
        wait_until(lambda: any("at most 8 lines" in text for text in browser.notices()))
        self.assertNotIn("Runs", browser.script(drawn))
        first = browser.script(drawn)[0]
        browser.click_named(".legend-name", first)
        wait_until(lambda: first not in browser.script(drawn))
        browser.click_named(".legend-name", "Runs")
        wait_until(lambda: "Runs" in browser.script(drawn), "another line is not drawn")

    def test_a_link_has_the_graph(self):
        browser = self.browser
        self.graph(SPEED, TEMPERATURE, OTHERS + "Switch")
        self.choose("Plots", "One plot")
        browser.click("button[aria-label='Zoom out']")
        wait_until(lambda: "seconds=20" in browser.driver.current_url and "plots=together" in browser.driver.current_url, "the address has no graph")
        self.show(browser.driver.current_url.split("#")[1])
        wait_until(lambda: browser.find("#graphs").is_displayed(), "the link does not open the graph")
        wait_until(lambda: self.plots() == [["Speed", "Temperature", "Switch"]])
        self.assertEqual(browser.text(".graph-window"), "20 s")
        self.assertEqual(browser.find("select[aria-label='Plots']").get_attribute("value"), "together")
        # A link replaces the lines of an open graph.
        browser.script("location.hash = arguments[0]", f"program=page-program&line={TEMPERATURE}&line={TARGET}")
        wait_until(lambda: self.plots() == [["Temperature"], ["Target"]], "the lines of a link are added to others")
        self.assertEqual(browser.text(".graph-window"), "10 s")
        browser.click("button[aria-label='Close the graph']")
        wait_until(lambda: "line=" not in browser.driver.current_url, "the address keeps a closed graph")


if __name__ == "__main__":
    unittest.main()
