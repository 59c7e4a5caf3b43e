#!/usr/bin/env python3
"""Runs the tests of the page in a real browser, against the real tweak-ui and programs that run.

    run.py --ui PATH --library PATH --header FOLDER --example FOLDER [--figures FILE] [--jobs N] [TEST…]

Needs chromium and chromedriver, and of the Python package index selenium and axe-playwright-python, whose copy of axe-core
is read. Prints a summary, and exits with 1 if a test failed and with 69 if something is missing.
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
    parser.add_argument("--figures", help="write what was measured there, as JSON")
    parser.add_argument("--jobs", type=int, help="how many browsers are at work at a time; as many as processors, two at least, if not given")
    parser.add_argument("--verbose", action="store_true")
    return parser.parse_known_args()


def build_page_program(settings, folder, name="page-program", *flags):
    """Builds the program of the tests against the library that is to be tested."""
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
    """Reads the arguments and fills in the settings. Gives the rest of the arguments."""
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
    Settings.ui, Settings.example, Settings.header = os.path.abspath(options.ui), options.example and os.path.abspath(options.example), options.header
    Settings.folder = tempfile.mkdtemp(prefix="tweaks-page-")
    Settings.page_program = build_page_program(options, Settings.folder)
    return options, rest, Settings


class Result(unittest.TextTestResult):
    """Says with each test how long it took."""

    def startTest(self, test):
        self.began = time.monotonic()
        super().startTest(test)

    def addSuccess(self, test):
        unittest.TestResult.addSuccess(self, test)
        if self.showAll:
            self.stream.writeln(f"ok, {time.monotonic() - self.began:.1f} s")


def groups_of(suite):
    """Tests that are run one after the other, those first that take longest to begin with."""
    groups = {}
    for test in flattened(suite):
        # A program of its own is started once.
        arguments = getattr(test, "arguments", ())
        groups.setdefault(("with", *arguments) if arguments else test.id(), []).append(test)
    return sorted(groups.values(), key=len, reverse=True)


def flattened(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flattened(test)
        else:
            yield test


def work(groups, next_group, results, verbosity):
    """Runs groups of tests until none is left, and tells how they ended. Each worker has a browser of its own."""
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
    # Not SystemExit, which unittest takes for the end of a test.
    raise KeyboardInterrupt


def main():
    options, names, settings = prepare()
    # Whoever is ended takes along the browsers and programs that it has started, the workers do too.
    signal.signal(signal.SIGTERM, stop)
    workers = []
    try:
        loader = unittest.TestLoader()
        loader.testNamePatterns = [f"*{name}*" for name in names] or None
        groups = groups_of(loader.discover(HERE, pattern="test_*.py", top_level_dir=HERE))
        # Much of a test is waiting for the browser.
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
                # One that was killed has told nothing.
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
        shutil.rmtree(settings.folder, ignore_errors=True)


if __name__ == "__main__":
    main()
