# SPDX-License-Identifier: BSD-3-Clause
"""Measures the page of tweak ui in a browser."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from building import SOFTWARE, TOOLS, Failure, installed, output
from reporting import print_table, progress

HELP = """\
page    The page of tweak ui with a program of 10,000 tweaks, in headless chromium: ms from opening it to the first
        frame with rows, from a key in the search to the frame with the results, from moving a slider to the change in
        the program, and from a change in the program to the frame that shows it; the longest task while its list is
        scrolled; the first load, with an empty cache, at 50 kB/s and 300 ms. Then 1,000 changes per second for a minute:
        the delay of the page, and the memory of the page and the server at the start and the end; and for five minutes
        a graph of eight monitors with 1,000 samples per second: the browser's share of a core, which draws without a GPU.
"""

DELAYS = ["first paint, ms", "key to result, ms", "drag to cell, ms", "outside change to page, ms"]


def measure(quick):
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o700)
        prefix = installed(home, "--with-ui")
        output(["bash", "-c", ". tools/setup && tweaks_need_browser"], cwd=TOOLS.parent)
        progress("measuring in the browser")
        figures = Path(home, "figures.json")
        done = subprocess.run(
            [TOOLS.parent / ".build/browser/bin/python3", TOOLS.parent / "Tests/ToolTests/Page/browser/measure.py",
             "--ui", f"{prefix}/libexec/tweaks/tweak-ui", "--library", f"{prefix}/lib/libtweaks.so",
             "--header", TOOLS.parent / "CSupport/include", "--figures", figures, "10" if quick else "60"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise Failure(f"the page could not be measured: {done.stdout}", SOFTWARE)
        return json.loads(figures.read_text())


def show(figures):
    print("The page with 10,000 tweaks")
    print_table(
        ["", "median", "p99", "most"],
        [[name, *(f"{figures[name][column]:.1f}" for column in ("median", "p99", "most"))] for name in DELAYS])
    flood = figures["1,000 changes a second"]
    behind, page, server = flood["behind, ms"], flood["heap of the page, MB"], flood["memory of the server, MB"]
    print(f"{flood['changes a second']} changes a second for {flood['seconds']:.0f} s: {behind['median']} ms behind, "
          f"{behind['most']} at most; {flood['frames a second']} frames a second; the page from {page[0]} to {page[-1]} MB, "
          f"the server from {server[0]} to {server[-1]} MB and {flood['the server, of a core']:.1%} of a core")
    slow, task, graph = figures["first load on a slow line"], figures["longest task while scrolling, ms"], figures["eight monitors"]
    print(f"First load at 50 kB/s and 300 ms: {slow['kB']} kB in {slow['requests']} requests, rows after {slow['rows, ms']} ms; "
          f"the longest task while scrolling: {f'{task} ms' if task else 'less than 50 ms'}; {graph['lines']} monitors with "
          f"1,000 samples a second for {graph['seconds']:.0f} s: {graph['the browser, of a core']:.1%} of a core in the browser")
