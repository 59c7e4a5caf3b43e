#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Takes screenshots of the page, light and dark, wide and narrow. Takes the arguments of run.py and a folder.

    pictures.py --ui PATH --library PATH --header FOLDER --example FOLDER FOLDER
"""

import os
import shutil
import sys
import time

import run


def take(browser, folder, name, dark, width, height, touch=False):
    browser.size(width, height, touch=touch)
    browser.script("tweaksPage.commands.setTheme(arguments[0])", "dark" if dark else "light")
    browser.script("document.querySelectorAll('.notice').forEach(notice => notice.remove()); document.activeElement.blur()")
    time.sleep(0.4)
    path = os.path.join(folder, f"{name}-{'dark' if dark else 'light'}-{width}.png")
    browser.shot(path)
    print(path)


def all_sizes(browser, folder, name, before=lambda narrow: None):
    for width, height in ((1280, 800), (360, 740)):
        browser.size(width, height, touch=width < 500)
        before(width < 500)
        for dark in (False, True):
            take(browser, folder, name, dark, width, height, touch=width < 500)


def media(browser, **features):
    browser.driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]})


def take_fleet(folder):
    """The view of a fleet: values with a kill and a rollout, hosts, and dialogs."""
    from test_fleet import FAST, LIMIT, Fleet
    from support import wait_until

    Fleet.setUpClass()
    try:
        scene = Fleet("test_values_are_listed_with_who_when_and_why")
        scene.setUp()
        browser = Fleet.browser
        scene.fleet("set", "search", "Search/Index/Mode", "quick", "--why", "fewer seeks")
        scene.fleet("rollout", "search", "Search/Index/Name", "new", "--why", "try the new index", "--steps", "5,50,100", "--every", "1h")
        scene.fleet("kill", "search", "fast", "--why", "too slow")
        wait_until(lambda: scene.text(FAST) == "off")

        def shots(name):
            for width, height in ((1920, 1080), (1280, 800), (360, 740), (320, 256)):
                browser.size(width, height, touch=width < 500)
                for scheme in ("light", "dark"):
                    media(browser, prefers_color_scheme=scheme)
                    time.sleep(0.4)
                    browser.shot(os.path.join(folder, f"{name}-{scheme}-{width}.png"))
            browser.size(1280, 800)
            media(browser, forced_colors="active", prefers_color_scheme="dark")
            time.sleep(0.4)
            browser.shot(os.path.join(folder, f"{name}-forced-1280.png"))
            media(browser)

        shots("fleet")
        scene.button("Set a value…")
        wait_until(lambda: browser.is_there("dialog[open]"))
        shots("fleet-set")
        browser.script("document.querySelector('dialog[open]').close()")
        scene.closed()
        scene.menu(LIMIT, "Roll out…")
        wait_until(lambda: browser.is_there("dialog[open]"))
        shots("fleet-rollout")
    finally:
        Fleet.doClassCleanups()


def main():
    options, rest, settings = run.prepare()
    from support import World, wait_until

    folder = os.path.abspath(rest[0] if rest else "pictures")
    os.makedirs(folder, exist_ok=True)
    try:
        take_fleet(folder)
        world = World("pictures")
        try:
            spring = world.start_example()
            world.start_page_program()
            spring_control = world.control(spring)
            for key, value in (("Spring/Physics/Stiffness", 240), ("Spring/Drawing/Trail", False)):
                spring_control.set(key, value)
            world.start_ui()
            browser = world.browser(world.address + "&program=spring")
            browser.connected()
            wait_until(lambda: browser.is_there(".row"))
            all_sizes(browser, folder, "example")

            browser.script("tweaksPage.commands.showScope({program: 'page-program', category: 'Features'})")
            wait_until(lambda: browser.is_there(".row[data-tweak^='Features']"))
            browser.part("Features/Sound/Bass", ".switch").click()
            all_sizes(browser, folder, "features")

            browser.size(1280, 800)
            browser.script("tweaksPage.commands.showScope({program: 'page-program', category: 'Kinds'})")
            all_sizes(browser, folder, "kinds")
            browser.size(1280, 800)
            browser.click(browser.part("Kinds/Others/Colour", ".row-name"))
            wait_until(lambda: browser.is_there(".opinions li"))
            all_sizes(browser, folder, "details")
            browser.script("tweaksPage.commands.select(undefined)")

            browser.size(1280, 800)
            browser.script("tweaksPage.commands.showScope({program: 'page-program', category: 'Motor'})")
            for key in ("Motor/State/Speed", "Motor/Control/Target"):
                browser.click(browser.part(key, ".row-graph"))
            time.sleep(5)
            for key, text in (("Motor/Control/Gain", "2.5"), ("Motor/Control/Target", "5200")):
                browser.type(browser.field(key), text)
                time.sleep(1.6)
            all_sizes(browser, folder, "graphs")
            browser.size(3840, 2160)
            take(browser, folder, "graphs", True, 3840, 2160)
        finally:
            world.close()
        world = World("pictures")
        try:
            # For the README, without the hostile names.
            motor = run.build_page_program(options, settings.folder, "motor", "-DWITHOUT_MARKUP")
            settings.page_program, kept = motor, settings.page_program
            world.start_page_program()
            spring_control = world.control(world.start_example())
            spring_control.set("Spring/Physics/Stiffness", 240)
            spring_control.set("Spring/Drawing/Width", 100)
            world.start_ui()
            browser = world.browser(world.address + "&program=spring", width=1280, height=720)
            browser.connected()
            wait_until(lambda: browser.is_there(".row"))
            take(browser, folder, "readme", False, 1280, 720)
            browser.script("tweaksPage.commands.select(undefined); tweaksPage.commands.showScope({program: 'motor', category: 'Motor'})")
            for key in ("Motor/State/Speed", "Motor/Control/Target"):
                browser.click(browser.part(key, ".row-graph"))
            time.sleep(7)
            for key, text in (("Motor/Control/Gain", "2.5"), ("Motor/Control/Target", "5200")):
                browser.type(browser.field(key), text)
                time.sleep(2)
            take(browser, folder, "readme", True, 1280, 720)
            settings.page_program = kept
        finally:
            world.close()
        world = World("pictures")
        try:
            world.start_page_program("many", "5000")
            world.start_ui()
            browser = world.browser(world.address + "&program=page-program")
            browser.connected()
            wait_until(lambda: browser.is_there(".row"), patience=60)
            all_sizes(browser, folder, "many")
        finally:
            world.close()
    finally:
        shutil.rmtree(settings.folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
