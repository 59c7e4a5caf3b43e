# SPDX-License-Identifier: BSD-3-Clause
"""The rows of the benchmarks, and the table of the README that is made of some of them."""

from collections import namedtuple

# A cost, the benchmark that measures it, and what it is compared with in the same run.
Row = namedtuple("Row", "name benchmark against")

ROWS = [
    Row("read in C and Swift", "read",
        "a constant, a global, an Atomic, a Mutex, a dictionary, swift-configuration, UserDefaults"),
    Row("read in C++", "rivals", "a constant, a global, a relaxed atomic, gflags, Abseil"),
    Row("read in eight threads with a writer", "rivals", "a relaxed atomic, Abseil"),
    Row("read in a loop over floats", "loop", "a constant, a read before the loop, a variable"),
    Row("FBTweakVariable", "loop", "a global"),
    Row("a gate and a take", "gate", "a tweak, globals, relaxed atomics, a mutex"),
    Row("store a monitor", "read", "a volatile global"),
    Row("start", "start", "no tweaks, no library"),
    Row("start with 1,000 settings", "rivals", "gflags, Abseil"),
    Row("start with up to 60 libraries", "rivals", "the program alone"),
    Row("start by tweaks and overrides", "scale", "smaller programs"),
    Row("start with providers", "provide", "overrides, swift-configuration"),
    Row("start with remote values", "remote", "no values"),
    Row("memory", "start", "no tweaks, no library"),
    Row("set, observe and persist", "change", "no observers, a private store"),
    Row("find", "change", "a value, a status"),
    Row("find in C by tweaks", "scale", "smaller programs"),
    Row("list as JSON", "scale", "smaller programs"),
    Row("change by file and socket", "follow", "tweak --help"),
    Row("tweak set by tweaks", "command", "tweak set --help"),
    Row("tweak adopt by variables", "command", "tweak adopt --help"),
    Row("tweak bake by places", "command", "tweak bake --help"),
    Row("change by an edited source", "edit", "smaller sources"),
    Row("change through a gate, for a time, from a recording", "live", "the times of the recording"),
    Row("change by a provider", "provide", "a global"),
    Row("change by etcd", "remote", "one process and 1,000"),
    Row("change by tweak fleet set", "remote", "tweak fleet set --help"),
    Row("change through memory", "memory", "a file, tweak --help"),
    Row("10,000 changes a second", "load", ""),
    Row("1,000 monitors a thousand times a second", "sample", "the program alone"),
    Row("requests and samples in Python", "script", ""),
    Row("reads and writes by XCP", "xcp", "a program with one tweak"),
    Row("tweak-dump by tweaks", "scale", "readelf, nm"),
    Row("tweak-dump of a large file", "dump", "readelf"),
    Row("compile in C, C++ and Swift", "compile", "constants"),
    Row("the page", "page", ""),
    Row("size and page faults of what is installed", "size", "the header alone"),
]


def nanoseconds(rows, way, *whats):
    """The highest of the medians of a way to read."""
    return f"{max(row['median'] for row in rows if row['way'] == way and row['what'] in whats):.2f} ns"


def reading(results):
    whats = ["C int", "C double", "Swift Int", "Swift Double"]
    rows = results["read"]
    return f"{nanoseconds(rows, 'global', *whats)} (a plain global)", nanoseconds(rows, "tweak", *whats)


def looping(results):
    of = {row["way"]: f"{row['median']:.2f} ns" for row in results["loop"] if row["compiler"] == "gcc -O3"}
    return of["constant"], f"{of['tweak in the loop']}; {of['tweak read before the loop']} if read before the loop"


def started(results, name):
    row = next(row for row in results["start"] if row["name"] == name)
    return f"{row['median']:.1f} ms, {row['privateKilobytes']:,.0f} KB"


def starting(results):
    return [f"{row['median']:.2f} ms, {row['faults']:.0f} page faults"
            for row in reversed(results["rivals"]["starts"]["1 tweak, 0 libraries"])]


# The first column of each row in the README, and the other two by the results of its benchmark.
README = [
    ("reading an `int` or `double`, in C and Swift", "read", reading),
    ("an element of a float loop, GCC 12 `-O3`", "loop", looping),
    ("starting and ending a C program with one tweak", "rivals", starting),
    ("starting and ending a Swift program: no tweaks", "start",
     lambda results: (started(results, "without the library"), started(results, "0 tweaks"))),
    ("… 100,000 tweaks", "start", lambda results: ("", started(results, "100,000 tweaks"))),
    ("… 100,000 tweaks, 100 overridden", "start", lambda results: ("", started(results, "100,000 tweaks, 100 overrides"))),
    ("from an edit or `tweak set` to the program", "follow", lambda results: (
        "", f"{max(results['follow'][what]['median'] for what in ('edit', 'setBeyondHelp')):.1f} ms")),
    ("from etcd to the program, through the agent", "remote",
     lambda results: ("", f"{results['remote']['one']['median']:.1f} ms")),
]
OF_README = list(dict.fromkeys(benchmark for _, benchmark, _ in README))


def markdown(results):
    lines = ["| | without | with tweaks |", "|---|---:|---:|"]
    for title, _, cells in README:
        without, with_tweaks = cells(results)
        lines.append(f"| {title} | {without} | {with_tweaks} |" if without else f"| {title} | | {with_tweaks} |")
    return "\n".join(lines)
