# SPDX-License-Identifier: BSD-3-Clause
"""Measures the page of tweak ui in a browser."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from building import SOFTWARE, TOOLS, Failure, output
from reporting import print_bound, print_table, progress

HELP = """\
page    The page of tweak ui with a program of 10,000 tweaks, in headless chromium: ms from opening it to the first
        frame with rows, from a key in the search to the frame with the results, from moving a slider to the change in
        the program, and from a change in the program to the frame that shows it. Then 1,000 changes per second for a
        minute: the delay of the page, and the memory of the page and the server at the start and the end.
"""

FRAME = 1000 / 60
MOST = {
    "first paint, ms": ("median", 300), "key to result, ms": ("p99", 50), "drag to cell, ms": ("p99", FRAME + 5),
    "outside change to page, ms": ("p99", 100),
}
MOST_BEHIND = 1000
MOST_GROWTH = 10


def measure(quick):
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o700)
        progress("installing the library and the page")
        output([str(TOOLS / "install"), "--prefix", f"{home}/installed", "--destdir", "", "--with-ui"])
        output(["bash", "-c", ". tools/setup && tweaks_need_browser"], cwd=TOOLS.parent)
        progress("measuring in the browser")
        figures = Path(home, "figures.json")
        done = subprocess.run(
            [TOOLS.parent / ".build/browser/bin/python3", TOOLS.parent / "Tests/ToolTests/Page/browser/measure.py",
             "--ui", f"{home}/installed/libexec/tweaks/tweak-ui", "--library", f"{home}/installed/lib/libtweaks.so",
             "--header", TOOLS.parent / "CSupport/include", "--figures", figures, "10" if quick else "60"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise Failure(f"the page could not be measured: {done.stdout}", SOFTWARE)
        return json.loads(figures.read_text())


def show(figures):
    print("The page with 10,000 tweaks")
    print_table(
        ["", "median", "p99", "most"],
        [[name, *(f"{figures[name][column]:.1f}" for column in ("median", "p99", "most"))] for name in MOST])
    flood = figures["1,000 changes a second"]
    behind, page, server = flood["behind, ms"], flood["heap of the page, MB"], flood["memory of the server, MB"]
    print(f"{flood['changes a second']} changes a second for {flood['seconds']:.0f} s: {behind['median']} ms behind, "
          f"{behind['most']} at most; {flood['frames a second']} frames a second; the page from {page[0]} to {page[-1]} MB, "
          f"the server from {server[0]} to {server[-1]} MB and {flood['the server, of a core']:.1%} of a core")
    exceeding = [name for name, (column, most) in MOST.items() if figures[name][column] > most]
    print_bound("Each is within what a person notices", exceeding)
    print_bound(
        "1,000 changes a second are followed without falling behind or growing",
        [name for name, is_wrong in [
            ("changes", flood["changes a second"] < 900), ("behind", behind["most"] > MOST_BEHIND),
            ("page", page[-1] - page[0] > MOST_GROWTH), ("server", server[-1] - server[0] > MOST_GROWTH),
        ] if is_wrong])
