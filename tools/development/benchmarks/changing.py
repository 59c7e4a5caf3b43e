# SPDX-License-Identifier: BSD-3-Clause
"""Measures changes: `change-benchmark` sets and finds tweaks of a store with 1,000, in one process."""

import tempfile

from building import BENCHMARKS, build, output
from reporting import print_summaries, progress, summary

HELP = """\
change  ns to set one of 1,000 tweaks to another value, by name (store.set) and by handle (tweak.set), with 0, 1 and 100
        observers, and to find one by a literal name (store.tweak); in a private store and in the shared one, whose
        changes a thread writes to a file meanwhile. A sample takes about 0.4 ms.
"""


def measure(quick):
    progress("building the change benchmark")
    program = build(BENCHMARKS / "change", "-c", "release") / "change-benchmark"
    progress("measuring changes")
    rows = []
    with tempfile.TemporaryDirectory() as home:
        lines = output([program, "100" if quick else "1000"], HOME=home, XDG_CONFIG_HOME=home).splitlines()
    for line in lines:
        store, what, samples = line.split("\t")
        rows.append({"store": store, "what": what, **summary([float(sample) for sample in samples.split(",")])})
    return rows


def name(row):
    return f"{row['store']}: {row['what']}"


def show(rows):
    print(f"Changing and finding, ns, {rows[0]['samples']} samples")
    print_summaries([(name(row), row) for row in rows], 0, tail=False)
