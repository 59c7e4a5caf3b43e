# SPDX-License-Identifier: BSD-3-Clause
"""Programs, a tweak-ui and a browser for tests of the page, in a temporary folder."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from selenium import webdriver
from selenium.common.exceptions import (
    JavascriptException,
    NoSuchElementException,
    StaleElementReferenceException,
)
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

__all__ = ["LONG", "ActionChains", "Browser", "By", "Control", "Keys", "Settings", "World", "free_port", "stop", "wait_until"]

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../../../tools/development"))
from ports import free_port  # noqa: E402

#: Whether the long forms run.
LONG = bool(os.environ.get("TWEAKS_LONG"))
PATIENCE = float(os.environ.get("TWEAKS_PATIENCE", "60"))


def wait_until(condition, message="timed out", patience=PATIENCE):
    """Waits until a condition is true and returns its value, retrying when elements disappear or a file is not there yet."""
    end = time.monotonic() + patience
    last = None
    pause = 0.01
    while True:
        try:
            value = condition()
            if value:
                return value
            last = value
        except (StaleElementReferenceException, NoSuchElementException, JavascriptException, IndexError, FileNotFoundError) as error:
            last = error
        if time.monotonic() > end:
            raise AssertionError(f"{message}; last value: {last!r}")
        time.sleep(pause)
        # Asking costs the browser time that it needs for what is awaited.
        pause = min(pause * 1.2, 0.05)


def stop(process):
    """Stops a process and waits until each of its threads has stopped; see proc(5) for the letter of the state."""
    def has_stopped():
        folder = f"/proc/{process.pid}/task"
        for thread in os.listdir(folder):
            with open(f"{folder}/{thread}/stat", encoding="utf-8", errors="replace") as file:
                if file.read().rpartition(")")[2].split()[0] != "T":
                    return False
        return True

    process.send_signal(signal.SIGSTOP)
    wait_until(has_stopped, "it does not stop")


def retried(action):
    """Returns what an action returns, which is begun again when the page shows its elements anew meanwhile."""
    while True:
        try:
            return action()
        except StaleElementReferenceException:
            pass


class Settings:
    """Paths of the programs, filled in by run.py."""

    ui = None
    library = None
    header = None
    example = None
    chromium = shutil.which("chromium")
    driver = shutil.which("chromedriver")
    folder = None
    page_program = None
    switches = None
    network = None
    figures = {}


class Control:
    """A client of a program's control socket, independent of tweak-ui."""

    def __init__(self, path):
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.settimeout(PATIENCE)
        self.connection.connect(path)
        self.lines = self.connection.makefile("rw")
        self.last = 0

    def ask(self, method, **parameters):
        self.last += 1
        request = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": parameters}
        print(json.dumps(request), file=self.lines, flush=True)
        while True:
            answer = json.loads(self.lines.readline())
            if answer.get("id") == self.last:
                break
        if "error" in answer:
            raise ValueError(answer["error"]["message"])
        return answer["result"]

    def value(self, key):
        tweak = self.ask("get", tweak=key)
        return tweak.get("pendingValue", tweak.get("value"))

    def tweak(self, key):
        return self.ask("get", tweak=key)

    def set(self, key, value):
        return self.ask("set", tweak=key, value=value)

    def reset(self, **scope):
        return self.ask("reset", **scope)

    def close(self):
        self.lines.close()
        self.connection.close()


class World:
    """A home directory with programs and a tweak-ui."""

    def __init__(self, name="world"):
        self.folder = tempfile.mkdtemp(prefix=f"{name}-", dir=Settings.folder)
        self.runtime = os.path.join(self.folder, "run")
        self.config = os.path.join(self.folder, "config")
        for path in (self.runtime, self.config):
            os.makedirs(path, mode=0o700)
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith(("TWEAK", "XDG_"))},
            "HOME": self.folder,
            "XDG_RUNTIME_DIR": self.runtime,
            "XDG_CONFIG_HOME": self.config,
        }
        if os.environ.get("TWEAKS_UI_PAGE"):
            self.environment["TWEAKS_UI_PAGE"] = os.environ["TWEAKS_UI_PAGE"]
        self.processes = []
        self.browsers = []
        self.controls = []
        self.ui = None
        self.address = None

    def start(self, path, *arguments, environment=None, **options):
        # Logs go to a file, so that no pipe fills up.
        log = open(os.path.join(self.folder, "log"), "ab")
        process = subprocess.Popen(
            [path, *arguments], env={**self.environment, **(environment or {})}, stderr=log, cwd=self.folder, **options
        )
        log.close()
        self.processes.append(process)
        return process

    def start_page_program(self, *arguments, environment=None, stdin=subprocess.PIPE, **options):
        process = self.start(
            Settings.page_program, *arguments, environment=environment, stdin=stdin, stdout=subprocess.PIPE, text=True, **options
        )
        assert process.stdout.readline() == "ready\n"
        self.socket(process)
        return process

    def start_example(self):
        process = self.start(os.path.join(Settings.example, "spring"), "1000000000", stdout=subprocess.DEVNULL)
        self.socket(process)
        return process

    def socket(self, process):
        path = os.path.join(self.runtime, "tweaks", f"{process.pid}.sock")

        def is_there():
            assert process.poll() is None, f"the program has ended: {process.args}"
            return os.path.exists(path)

        wait_until(is_there, "the program has no socket")
        return path

    def control(self, process):
        control = Control(self.socket(process))
        self.controls.append(control)
        return control

    def start_ui(self, *arguments, port=0):
        self.ui = self.start(Settings.ui, "--port", str(port), *arguments, stdout=subprocess.PIPE, text=True)
        self.address = self.ui.stdout.readline().strip()
        assert self.address.startswith("http"), self.address
        return self.address

    @property
    def port(self):
        return int(re.search(r":(\d+)/", self.address)[1])

    def end(self, process):
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for stream in (process.stdin, process.stdout):
            if stream:
                stream.close()
        if process in self.processes:
            self.processes.remove(process)

    def browser(self, address=None, **options):
        browser = Browser(address or self.address, folder=self.folder, **options)
        self.browsers.append(browser)
        return browser

    shared = {}

    @classmethod
    def of_program(cls, *arguments):
        """The shared world in which the test program runs with these arguments and a page of it is open."""
        if arguments not in cls.shared:
            world = cls.shared[arguments] = cls("shared")
            world.program = world.start_page_program(*arguments)
            world.program_control = world.control(world.program)
            world.start_ui()
            world.page = world.browser()
        return cls.shared[arguments]

    @classmethod
    def close_shared(cls):
        while cls.shared:
            cls.shared.popitem()[1].close()

    def close(self):
        for browser in self.browsers:
            browser.close()
        for control in self.controls:
            control.close()
        for process in list(self.processes):
            self.end(process)
        shutil.rmtree(self.folder, ignore_errors=True)


class Browser:
    """A page in its own browser."""

    def __init__(self, address, folder, width=1280, height=900, dark=False, reduced=False, text=16):
        options = Options()
        options.binary_location = Settings.chromium
        self.downloads = tempfile.mkdtemp(prefix="downloads-", dir=folder)
        profile = tempfile.mkdtemp(prefix="profile-", dir=folder)
        for argument in (
            "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--force-color-profile=srgb",
            "--disable-background-timer-throttling", "--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows",
            f"--window-size={width},{height}", f"--user-data-dir={profile}", "--lang=en-GB",
            *(["--force-prefers-reduced-motion"] if reduced else []),
        ):
            options.add_argument(argument)
        options.add_experimental_option(
            "prefs", {"download.default_directory": self.downloads, "download.prompt_for_download": False, "webkit.webprefs.default_font_size": text}
        )
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(Settings.driver, env={**os.environ, "HOME": folder}))
        self.driver.set_script_timeout(120)
        self.size(width, height)
        if dark:
            self.driver.execute_cdp_cmd(
                "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
            )
        # Of a page in plain HTTP from another machine, browsers keep the clipboard.
        is_secure = re.match(r"https:|http://(127\.|localhost\b|\[::1\])", address)
        for origin in (address.split("/#")[0],) if is_secure else ():
            self.driver.execute_cdp_cmd(
                "Browser.grantPermissions",
                {"origin": origin, "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]},
            )
        self.open(address)

    def size(self, width, height, scale=1, touch=False):
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": touch},
        )
        fingers = {"enabled": True, "maxTouchPoints": 2} if touch else {"enabled": False}
        self.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", fingers)

    def open(self, address):
        self.driver.get(address)
        wait_until(lambda: self.script("return Boolean(globalThis.tweaksPage)"), "the page does not load")

    def connected(self):
        wait_until(lambda: self.script("return tweaksPage.state.connection === 'connected'"), "the page is not connected")

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def settle(self):
        """Waits until the page, too, knows that its changes are made."""
        self.script("return tweaksPage.editing.settled()")

    def find(self, selector):
        """The first element of a selector, once there is one."""
        return wait_until(lambda: self.driver.find_element(By.CSS_SELECTOR, selector), f"there is no {selector}")

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def is_there(self, selector):
        return bool(self.all(selector))

    def row(self, key, program=None):
        """The row of a tweak, scrolled into view."""

        def look():
            return self.script(
                """const [key, program] = arguments;
                const page = tweaksPage;
                for (const one of page.state.programs.values()) {
                  if (program && one.id !== program) continue;
                  if (one.tweaks.has(key)) page.list.reveal(`${one.id}\\n${key}`);
                }
                return [...document.querySelectorAll('.row')].find(({dataset}) => dataset.tweak === key && (!program || dataset.program === program));""",
                key, program,
            )

        return wait_until(look, f"there is no row for {key}")

    def part(self, key, selector, program=None):
        return wait_until(lambda: self.row(key, program).find_element(By.CSS_SELECTOR, selector), f"{key} has no {selector}")

    def field(self, key):
        return self.part(key, ".number-field")

    def slider(self, key):
        return self.part(key, ".slider")

    def click(self, target):
        """Clicks an element, or the first one of a selector once there is one."""
        if isinstance(target, str):
            return retried(lambda: self.click(self.find(target)))
        self.script("arguments[0].scrollIntoView({block: 'nearest'})", target)
        target.click()

    def keys(self, *keys, on=None):
        (on or self.driver.switch_to.active_element).send_keys(*keys)

    def press(self, *keys):
        """Presses keys together on the focused element."""
        chain = ActionChains(self.driver)
        for key in keys[:-1]:
            chain.key_down(key)
        chain.send_keys(keys[-1])
        for key in reversed(keys[:-1]):
            chain.key_up(key)
        chain.perform()

    def type(self, field, text, end=Keys.ENTER):
        self.script("arguments[0].focus(); arguments[0].select && arguments[0].select()", field)
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(text)
        if end:
            field.send_keys(end)

    def named(self, selector, name, is_whole=True):
        """The visible element whose text or label equals the name, or begins with it."""
        return self.script(
            """const [selector, name, isWhole] = arguments;
            const seen = [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility());
            const texts = (one) => [one.innerText.trim(), one.getAttribute('aria-label')];
            return seen.find((one) => texts(one).some((text) => isWhole ? text === name : text?.startsWith(name)));""",
            selector, name, is_whole,
        )

    def click_named(self, selector, name, is_whole=True):
        """Clicks the element with a name, as `named` finds it, once there is one."""

        def click():
            found = self.named(selector, name, is_whole)
            if found:
                self.click(found)
            return found

        wait_until(click, f"there is no {name}")

    def open_tools(self):
        """Opens what the details have for rarer jobs."""
        wait_until(lambda: self.is_there("#details .tools"))
        if not self.is_there("#details .tools[open]"):
            self.click("#details .tools summary")

    def text(self, selector):
        return retried(lambda: self.find(selector).text)

    def texts(self, selector):
        return retried(lambda: [one.text for one in self.all(selector)])

    def notices(self):
        return self.texts(".notice p")

    def blur(self):
        self.script("document.activeElement.blur()")

    def shot(self, path):
        self.driver.save_screenshot(path)

    def problems(self):
        """The errors that the browser reported: of scripts, and of the content security policy."""
        return [
            entry["message"] for entry in self.driver.get_log("browser")
            if entry["level"] == "SEVERE" and "Failed to load resource" not in entry["message"]
            and "net::ERR_" not in entry["message"]
        ]

    def close(self):
        try:
            self.driver.quit()
        except Exception:  # The browser may already be gone.
            pass
