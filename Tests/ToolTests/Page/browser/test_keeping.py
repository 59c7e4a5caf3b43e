# SPDX-License-Identifier: BSD-3-Clause
"""Tests of values that the page makes the defaults in sources."""

import json
import os
import subprocess
import unittest

from support import LONG, Keys, Settings, World, wait_until
from test_page import axe_source, violations

GAIN, LIMIT, NAME = "Motor/Control/Gain", "Motor/Control/Limit", "Motor/Names/First"
HOSTILE = "</pre><img src=x onerror=document.title='broken'>"
SOURCE = """#include <fbtweak.h>
#include <unistd.h>
#define LIMIT 5

int main(void) {
\tdouble gain = FBTweakValue("Motor", "Control", "Gain", 1.50, 0, 10, FBTweakUnit("V"));
\tint limit = FBTweakValue("Motor", "Control", "Limit", LIMIT); /* <b>bold</b> */
\tconst char *name = FBTweakValue("Motor", "Names", "First", "one");
\twrite(STDOUT_FILENO, "ready\\n", 6);
\tfor (;;) pause();
\treturn gain < limit && name;
}
"""


class KeepingTest(unittest.TestCase):
    """A program whose source is below a folder, and a page that may write there."""

    options = True

    def setUp(self):
        self.world = World("keeping")
        self.addCleanup(self.world.close)
        self.project = os.path.join(self.world.folder, "project")
        os.makedirs(self.project)
        self.path = os.path.join(self.project, "motor.c")
        self.write(SOURCE)
        subprocess.run(
            ["gcc", "-DDEBUG", "-g", f"-I{Settings.header}", "motor.c", "-o", "motor", "-Wl,--no-as-needed", Settings.library,
             f"-Wl,-rpath,{os.path.dirname(Settings.library)}"], check=True, cwd=self.project)
        program = self.world.start(os.path.join(self.project, "motor"), stdout=subprocess.PIPE, text=True)
        self.assertEqual(program.stdout.readline(), "ready\n")
        self.control = self.world.control(program)
        self.world.start_ui(*(["--sources", self.project] if self.options else []))
        self.browser = self.world.browser(self.world.address + "&program=motor")
        self.browser.connected()
        wait_until(lambda: self.browser.script("return tweaksPage.state.programs.get('motor')?.isLoaded"), "the tweaks are not loaded")

    def tearDown(self):
        self.assertEqual(self.browser.problems(), [], "the browser reported errors")

    def write(self, text):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)

    def read(self):
        with open(self.path, encoding="utf-8") as file:
            return file.read()

    def set(self, key, value):
        self.control.set(key, value)
        wait_until(lambda: self.browser.script("return tweaksPage.state.tweak('motor', arguments[0]).value === arguments[1]", key, value), "the page does not show it")

    def keep_button(self):
        return self.browser.find("[data-role=keep]")

    def open(self, key=GAIN):
        """Opens the difference of a tweak from its details."""
        self.browser.click(self.browser.part(key, ".row-name"))
        self.browser.click(wait_until(self.keep_button))

    def difference(self):
        """The difference, once it is shown."""
        return wait_until(lambda: self.browser.script("return document.querySelector('dialog[open] .patch')?.textContent"), "no difference is shown")

    def button(self, label):
        return self.browser.named("dialog[open] footer button", label)

    def press_button(self, label):
        self.browser.click_named("dialog[open] footer button", label)

    def status(self):
        return self.browser.text("dialog[open] [role=status]")

    def copied(self, label):
        self.press_button(label)
        # Only a focused document can read the clipboard.
        return wait_until(lambda: self.browser.script("return navigator.clipboard.readText()"))

    def applies(self, difference, *options, folder=None):
        """Whether git takes the difference."""
        return subprocess.run(["git", "apply", "--check", *options], input=difference, text=True, cwd=folder or self.project).returncode == 0


class Writing(KeepingTest):
    def test_a_value_is_written_as_shown(self):
        browser = self.browser
        browser.click(browser.part(GAIN, ".row-name"))
        self.assertFalse(wait_until(self.keep_button).is_displayed())
        browser.type(browser.field(GAIN), "2.25")
        wait_until(lambda: self.keep_button().is_displayed(), "it is not offered")
        browser.click(self.keep_button())
        shown = self.difference()
        self.assertIn('-\tdouble gain = FBTweakValue("Motor", "Control", "Gain", 1.50, 0, 10', shown)
        self.assertIn('+\tdouble gain = FBTweakValue("Motor", "Control", "Gain", 2.25, 0, 10', shown)
        self.assertEqual([one.text.strip()[0] for one in browser.all(".patch .removed, .patch .added")], ["-", "+"])
        self.assertTrue(self.applies(shown))
        self.assertEqual(self.read(), SOURCE)
        self.assertEqual(browser.script("return document.activeElement.className"), "copy-preview patch")
        self.press_button("Write")
        wait_until(lambda: self.status() == "Written. The program has this default after its next build.", "it is not written")
        self.assertEqual(self.read(), SOURCE.replace("1.50", "2.25"))
        self.assertTrue(self.applies(shown, "--reverse"))
        self.assertEqual(browser.text(".written"), f"{GAIN}: 1.50 → 2.25\n{self.path}:6")
        # Only the button to close is left, with the focus.
        self.assertEqual([one.text for one in browser.all("dialog[open] footer button") if one.is_displayed()], ["Close"])
        browser.press(Keys.ENTER)
        wait_until(lambda: not browser.is_there("dialog[open]"))
        self.assertEqual(browser.script("return document.activeElement.dataset.role"), "keep")
        browser.press(Keys.ENTER)
        wait_until(lambda: self.status().startswith("The sources have these values already."))
        browser.press(Keys.ESCAPE)
        # Pages that are opened later know it, too.
        for page in (browser, self.world.browser(self.world.address + "&program=motor")):
            wait_until(lambda: "in the source; waits for a build" in page.row(GAIN).text, "the row does not say what it waits for")
        browser.type(browser.field(GAIN), "2.5")
        wait_until(lambda: "waits for a build" not in browser.row(GAIN).text, "another value waits")

    def test_nothing_is_written_that_was_not_shown(self):
        browser = self.browser
        self.set(GAIN, 2.25)
        self.open()
        self.difference()
        self.control.set(GAIN, 3)
        self.press_button("Write")
        wait_until(lambda: self.status().startswith("the difference has changed; nothing was written"), "it is not refused")
        self.assertEqual(self.read(), SOURCE)
        wait_until(lambda: '"Gain", 3.0' in self.difference(), "the new difference is not shown")
        edited = SOURCE.replace("LIMIT 5", "LIMIT 6")
        self.write(edited)
        self.press_button("Write")
        wait_until(lambda: "LIMIT 6" in self.difference(), "the new difference is not shown")
        self.assertEqual(self.read(), edited)
        self.press_button("Write")
        wait_until(lambda: self.status().startswith("Written."))
        self.assertEqual(self.read(), edited.replace("1.50", "3.0"))

    def test_all_values_of_a_program_are_kept_except_those_that_cannot(self):
        browser = self.browser
        for key, value in ((GAIN, 2.25), (LIMIT, 6), (NAME, HOSTILE)):
            self.set(key, value)
        browser.click(".scope-line [aria-label='More actions']")
        browser.click_named(".menu-item", "Write 3 to the sources…")
        shown = self.difference()
        self.assertIn(HOSTILE, shown)
        self.assertIn("<b>bold</b>", shown)
        self.assertEqual(browser.all("dialog[open] :is(img, b)"), [])
        self.assertEqual(browser.text("dialog[open] .why"), f"1 tweak skipped\n  motor.c:7: {LIMIT} is skipped: its default is the macro LIMIT")
        self.press_button("Write")
        wait_until(lambda: self.status().startswith("Written."))
        self.assertEqual(self.read(), SOURCE.replace("1.50", "2.25").replace('"one"', f'"{HOSTILE}"'))
        self.assertIn(LIMIT, browser.text("dialog[open] .why"))
        self.assertNotEqual(browser.driver.title, "broken")

    def test_keyboard_and_focus(self):
        browser = self.browser
        name = browser.part(GAIN, ".row-name")
        browser.script("arguments[0].focus()", name)
        browser.press("b")
        self.assertFalse(browser.is_there("dialog[open]"), "an unchanged value is kept")
        self.set(GAIN, 2.25)
        browser.press("b")
        self.difference()
        self.assertEqual(browser.text("dialog[open] h2"), "Write Gain to the source")
        browser.press(Keys.ESCAPE)
        wait_until(lambda: not browser.is_there("dialog[open]"))
        self.assertTrue(browser.script("return document.activeElement === arguments[0]", name))
        self.assertEqual(self.read(), SOURCE)

    def test_it_is_accessible_and_fits_a_phone(self):
        browser, axe = self.browser, axe_source()
        self.set(GAIN, 2.25)
        self.set(LIMIT, 6)
        for width, theme in ((1280, "light"), (360, "dark"), *(((1280, "dark"), (360, "light")) if LONG else ())):
            browser.size(width, 740, touch=width < 500)
            browser.script("tweaksPage.commands.setTheme(arguments[0]); tweaksPage.commands.keepScope({program: 'motor'})", theme)
            self.difference()
            wait_until(lambda: browser.script("return document.getAnimations().length === 0"))
            found = violations(browser, axe)
            self.assertEqual(found, [], f"{theme}, {width}: {json.dumps(found, indent=1)}")
            if os.environ.get("TWEAKS_PICTURES"):
                browser.shot(os.path.join(os.environ["TWEAKS_PICTURES"], f"keeping-{theme}-{width}.png"))
            least = 43.5 if width < 500 else 24
            beyond = browser.script(
                """return [...document.querySelectorAll('dialog[open] :is(button, p, pre, footer)')].filter((one) => one.checkVisibility()).filter((one) => {
                  const {left, right, height} = one.getBoundingClientRect();
                  return left < 0 || right > innerWidth || (one.matches('footer button') && height < arguments[0]);
                }).map((one) => one.outerHTML.slice(0, 100));""", least)
            self.assertEqual(beyond, [], f"at {width} px")
            self.assertEqual(browser.script("return innerWidth"), width)
            browser.press(Keys.ESCAPE)
            wait_until(lambda: not browser.is_there("dialog[open]"))


class Showing(KeepingTest):
    options = False

    def test_without_a_folder_the_page_shows_the_difference_and_the_command(self):
        browser = self.browser
        self.set(GAIN, 2.25)
        self.open()
        shown = self.difference()
        self.assertFalse(self.button("Write"))
        self.assertIn("--sources", browser.text("dialog[open]"))
        command = browser.text("dialog[open] [aria-label='The command']")
        self.assertEqual(self.copied("Copy the command"), command)
        self.press_button("Copy the difference")
        wait_until(lambda: browser.script("return navigator.clipboard.readText()") == shown)
        self.assertTrue(self.applies(shown, folder=self.world.folder))
        # The page cannot write even if it tries.
        status = browser.script(
            """try {
              await tweaksPage.api.post('bake', {program: 'motor', plan: '1'});
              return 200;
            } catch (error) { return error.status; }""")
        self.assertEqual(status, 403)
        self.assertEqual(self.read(), SOURCE)


if __name__ == "__main__":
    unittest.main()
