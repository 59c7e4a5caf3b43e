#!/usr/bin/env python3
"""Runs the tests of the page in a real browser, against the real tweak-ui and programs that run.

    run.py --ui PATH --library PATH --header FOLDER --example FOLDER [--figures FILE] [TEST…]

Needs chromium and chromedriver, and of the Python package index selenium and axe-playwright-python, whose copy of axe-core
is read. Prints a summary, and exits with 1 if a test failed and with 69 if something is missing.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


def missing(text):
    print(f"run.py: {text}", file=sys.stderr)
    sys.exit(69)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ui", required=True, help="the program tweak-ui")
    parser.add_argument("--library", required=True, help="libtweaks.so")
    parser.add_argument("--header", required=True, help="the folder with fbtweak.h")
    parser.add_argument("--example", required=True, help="the folder with the program spring")
    parser.add_argument("--figures", help="write what was measured there, as JSON")
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


def prepare():
    """Reads the arguments and fills in the settings. Gives the rest of the arguments."""
    options, rest = arguments()
    for name, path in (("tweak-ui", options.ui), ("the library", options.library), ("fbtweak.h", os.path.join(options.header, "fbtweak.h")),
                       ("the example", os.path.join(options.example, "spring"))):
        if not os.path.exists(path):
            missing(f"{name} is not at {path}")
    try:
        import selenium  # noqa: F401
    except ImportError:
        missing("selenium is missing: pip install selenium; pip install --no-deps axe-playwright-python")
    from support import Settings

    if not Settings.chromium or not Settings.driver:
        missing("chromium or chromedriver is missing: apt-get install chromium chromium-driver")
    Settings.ui, Settings.example, Settings.header = os.path.abspath(options.ui), os.path.abspath(options.example), options.header
    Settings.folder = tempfile.mkdtemp(prefix="tweaks-page-")
    Settings.page_program = build_page_program(options, Settings.folder)
    return options, rest, Settings


def main():
    options, names, settings = prepare()
    try:
        loader = unittest.TestLoader()
        loader.testNamePatterns = [f"*{name}*" for name in names] or None
        suite = loader.discover(HERE, pattern="test_*.py", top_level_dir=HERE)
        result = unittest.TextTestRunner(verbosity=2 if options.verbose else 1, stream=sys.stdout).run(suite)
        for name, value in settings.figures.items():
            print(f"{name}: {value}")
        if options.figures:
            with open(options.figures, "w", encoding="utf-8") as file:
                json.dump(settings.figures, file, indent=2)
        print(f"{result.testsRun} tests, {len(result.failures)} failures, {len(result.errors)} errors, {len(result.skipped)} skipped")
        sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)
    finally:
        shutil.rmtree(settings.folder, ignore_errors=True)


if __name__ == "__main__":
    main()
