#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests of the page in a browser, against tweak-ui and running programs.

    run.py --ui PATH --library PATH --header FOLDER --example FOLDER [--figures FILE] [--jobs N] [TEST…]

Needs chromium, chromedriver, and from the Python package index selenium and axe-playwright-python (for its axe-core).
Prints a summary. Exits with 1 if a test failed and with 69 if something is missing.
"""

import argparse
import io
import json
import multiprocessing
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


def missing(text):
    print(f"run.py: {text}", file=sys.stderr)
    sys.exit(69)


def arguments(needs_example):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ui", required=True, help="the program tweak-ui")
    parser.add_argument("--library", required=True, help="libtweaks.so")
    parser.add_argument("--header", required=True, help="the folder with fbtweak.h")
    parser.add_argument("--example", required=needs_example, help="the folder with the program spring")
    parser.add_argument("--figures", help="write measurements to this file as JSON")
    parser.add_argument("--jobs", type=int, help="the number of parallel browsers (default: one per processor, at least two)")
    parser.add_argument("--verbose", action="store_true")
    return parser.parse_known_args()


def build_page_program(settings, folder, name="page-program", *flags):
    """Builds the test program against the library under test."""
    program = os.path.join(folder, name)
    library = os.path.abspath(settings.library)
    subprocess.run(
        [
            os.environ.get("CC", "gcc"), "-std=gnu11", "-DDEBUG", "-g", *flags, f"-I{settings.header}", os.path.join(HERE, "page-program.c"), "-o", program,
            "-Wl,--no-as-needed", library, f"-Wl,-rpath,{os.path.dirname(library)}", "-lm", "-pthread",
        ],
        check=True,
    )
    return program


def prepare(needs_example=True):
    """Reads the arguments and fills in the settings. Returns the remaining arguments too."""
    options, rest = arguments(needs_example)
    for name, path in (("tweak-ui", options.ui), ("the library", options.library), ("fbtweak.h", os.path.join(options.header, "fbtweak.h")),
                       ("the example", options.example and os.path.join(options.example, "spring"))):
        if path and not os.path.exists(path):
            missing(f"{name} is not at {path}")
    try:
        import selenium  # noqa: F401
    except ImportError:
        missing("selenium is missing: pip install selenium; pip install --no-deps axe-playwright-python")
    from support import Settings

    if not Settings.chromium or not Settings.driver:
        missing("chromium or chromedriver is missing: apt-get install chromium chromium-driver")
    Settings.ui, Settings.example, Settings.header = os.path.abspath(options.ui), options.example and os.path.abspath(options.example), os.path.abspath(options.header)
    Settings.library = os.path.abspath(options.library)
    Settings.folder = tempfile.mkdtemp(prefix="tweaks-page-")
    Settings.page_program = build_page_program(options, Settings.folder)
    return options, rest, Settings


class Result(unittest.TextTestResult):
    """Prints the duration of each test."""

    def startTest(self, test):
        self.began = time.monotonic()
        super().startTest(test)

    def addSuccess(self, test):
        unittest.TestResult.addSuccess(self, test)
        if self.showAll:
            self.stream.writeln(f"ok, {time.monotonic() - self.began:.1f} s")


def groups_of(suite):
    """Groups of tests to run in sequence, largest first."""
    groups = {}
    for test in flattened(suite):
        # Tests with their own program share one start of it.
        arguments = getattr(test, "arguments", ())
        groups.setdefault(("with", *arguments) if arguments else getattr(test, "group", test.id()), []).append(test)
    return sorted(groups.values(), key=len, reverse=True)


def flattened(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flattened(test)
        else:
            yield test


def work(groups, next_group, results, verbosity):
    """Runs groups of tests until none is left, and reports the results. Each worker has its own browser."""
    from support import Settings, World

    try:
        while True:
            with next_group.get_lock():
                place = next_group.value
                next_group.value += 1
            if place >= len(groups):
                break
            text = io.StringIO()
            runner = unittest.TextTestRunner(stream=text, verbosity=verbosity, resultclass=Result)
            result = runner.run(unittest.TestSuite(groups[place]))
            results.put((text.getvalue(), result.testsRun, len(result.failures), len(result.errors), len(result.skipped), Settings.figures))
    except KeyboardInterrupt:
        pass
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        World.close_shared()
        results.put(None)


def stop(*_):
    # Not SystemExit, which unittest treats as the end of a test.
    raise KeyboardInterrupt


def main():
    from network import Network

    options, names, settings = prepare()
    # On SIGTERM the runner and its workers end the browsers and programs that they started.
    signal.signal(signal.SIGTERM, stop)
    workers = []
    settings.network = Network()
    try:
        loader = unittest.TestLoader()
        loader.testNamePatterns = [f"*{name}*" for name in names] or None
        groups = groups_of(loader.discover(HERE, pattern="test_*.py", top_level_dir=HERE))
        # Tests mostly wait for the browser.
        jobs = min(len(groups), options.jobs or max(2, os.cpu_count() or 1))
        fork = multiprocessing.get_context("fork")
        next_group, results = fork.Value("i", 0), fork.Queue()
        workers = [fork.Process(target=work, args=(groups, next_group, results, 2 if options.verbose else 1)) for _ in range(jobs)]
        for worker in workers:
            worker.start()
        counts, figures, at_work = [0, 0, 0, 0], {}, len(workers)
        while at_work:
            try:
                told = results.get(timeout=10)
            except queue.Empty:
                # A killed worker reports nothing.
                if any(worker.is_alive() for worker in workers):
                    continue
                break
            if told is None:
                at_work -= 1
                continue
            text, *numbers, new = told
            counts = [sum(pair) for pair in zip(counts, numbers)]
            figures.update(new)
            if options.verbose or numbers[1] or numbers[2]:
                lines = [line for line in text.splitlines() if line and not line.startswith(("Ran ", "OK", "-----"))]
                print("\n".join(lines), flush=True)
        for worker in workers:
            worker.join()
        for name, value in figures.items():
            print(f"{name}: {value}")
        if options.figures:
            with open(options.figures, "w", encoding="utf-8") as file:
                json.dump(figures, file, indent=2)
        run, failures, errors, skipped = counts
        print(f"{run} tests, {failures} failures, {errors} errors, {skipped} skipped")
        is_whole = at_work == 0 and run == sum(len(group) for group in groups) > 0
        sys.exit(0 if is_whole and not failures and not errors else 1)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        for worker in workers:
            if worker.is_alive():
                worker.terminate()
            worker.join()
        if settings.network:
            settings.network.close()
        shutil.rmtree(settings.folder, ignore_errors=True)


if __name__ == "__main__":
    main()
