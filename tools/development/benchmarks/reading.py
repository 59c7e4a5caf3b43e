# SPDX-License-Identifier: BSD-3-Clause
"""Measures reads: `read-benchmark` runs loops around them, in one process."""

import tempfile

from building import BENCHMARKS, build, built_example, macro_flags, output
from reporting import print_table, progress, spread, summary

HELP = """\
read    ns to read a constant, a plain global and a tweak, in C and in Swift, and other Swift settings: an Atomic, a
        Mutex, a dictionary of 1,000 entries, a ConfigReader of swift-configuration with an in-memory provider, and
        UserDefaults. A short String has 6 bytes, a long one 35; a changed tweak is measured too, because its String is
        created on each read. Then allocations per read.
        The loops alternate in one process, with eight reads per iteration; a sample takes about 0.4 ms. A constant
        stays in a register, so it shows the cost of the loop; with a String that includes a call.
        Stores are to a volatile global, or a monitor.
"""


def measure(quick):
    progress("building the example, for its macro plug-in, and the read benchmark")
    # The condition makes the library declare its macros; its trait would build swift-syntax for release.
    flags = ["-DMacros", *macro_flags(built_example())]
    directory = build(
        BENCHMARKS / "read", "-c", "release", *(option for flag in flags for option in ["-Xswiftc", flag]))
    program = directory / "read-benchmark"
    progress("measuring reads")
    rows = []
    with tempfile.TemporaryDirectory() as home:
        environment = {"HOME": home, "XDG_CONFIG_HOME": home}
        for line in output([program, "100" if quick else "1000"], **environment).splitlines():
            what, way, samples = line.split("\t")
            rows.append({"what": what, "way": way, **summary([float(sample) for sample in samples.split(",")])})
        counts = output(
            [program, "allocations"], LD_PRELOAD=str(directory / "libCountedAllocations.so"), **environment)
        for row, line in zip(rows, counts.splitlines()):
            row["allocations"] = float(line.split("\t")[2])
    globals_ = {row["what"]: row["median"] for row in rows if row["way"] == "global"}
    for row in rows:
        row["timesGlobal"] = row["median"] / globals_[row["what"]]
    return rows


def name(row):
    return f"{row['what']} {row['way']}"


def show(rows):
    print(f"Reading, ns per read, {rows[0]['samples']} samples")
    print_table(
        ["", "median", "middle half", "all", "× global", "allocations"],
        [
            [
                name(row), f"{row['median']:.3f}", spread(*row["middleHalf"], 3),
                spread(row["minimum"], row["maximum"], 3), f"{row['timesGlobal']:.2f}", f"{row['allocations']:g}",
            ]
            for row in rows
        ])
