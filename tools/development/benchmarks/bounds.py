# SPDX-License-Identifier: BSD-3-Clause
"""The bounds of the measured costs, and the page of the documentation about them."""

from collections import namedtuple

import commanding
import gating
import loading
import rivalling
import scaling
from reporting import print_left_table

# A cost, the benchmark that measures it, its bound and the unit of both. `measured` takes the results of the benchmark
# and returns the cost, or the costs of several rows by their names, which all must keep the bound. `reason` says what
# stands in the way of a bound that is missed. With `least` the bound is a lower one.
Bound = namedtuple("Bound", "cost benchmark bound unit measured reason least", defaults=["", False])


def median(*path):
    def measured(results):
        for key in path:
            results = results[key]
        return results["median"]

    return measured


def medians(path, names):
    return lambda results: {name: results[path][name]["median"] for name in names}


def by(title, value, matches=lambda row: True):
    """The values of the rows that match."""
    return lambda rows: {title(row): value(row) for row in rows if matches(row)}


def read(value, matches):
    return by(lambda row: f"{row['what']}, {row['way']}", lambda row: row[value], matches)


def is_tweak(row):
    return row["way"].startswith("tweak")


def has_fixed_size(row):
    return not row["what"].endswith(("String", "text"))


def change(ending):
    return by(lambda row: row["store"], lambda row: row["median"], lambda row: row["what"].endswith(ending))


def by_compiler(way, value):
    return by(lambda row: row["compiler"], lambda row: row[value], lambda row: row["way"] == way)


def in_list(results, name):
    return next(row for row in results if row["name"] == name)


def largest(name):
    """The ms of the largest size."""
    return lambda rows: list(in_list(rows, name)["milliseconds"].values())[-1]


def nanoseconds_each(name):
    return lambda rows: in_list(rows, name)["nanosecondsEach"]


def exponents(rows):
    return {row["name"]: row["exponent"] for row in rows if row["exponent"] is not None}


def overridden(rows):
    with_overrides, without = (in_list(rows, f"100,000 tweaks{end}") for end in [", 100 overrides", ""])
    return with_overrides["adds"]["median"] - without["adds"]["median"]


def starts(value):
    """Of the program with one tweak and the same alone, by their number of libraries."""
    return lambda results: {
        title: value(*rows) for title, rows in results["starts"].items() if title.endswith("libraries")}


beyond = starts(lambda ours, alone: alone["oursBeyond"]["median"])


def growth(path):
    def measured(figures):
        samples = figures["1,000 changes a second"][path]
        return samples[-1] - samples[0]

    return measured


FRAME = 1000 / 60
TEXT = "its cell is zero while the default counts: a load, a comparison and a conditional move instead of a load"
LOADING = "0.12 ms are those of loading libm and libgcc_s, and 0.04 ms of starting the thread"
OPENING = f"{LOADING}; each library takes 0.016 ms more: its file is opened to see whether it has tweaks"
REFERENCES = "about a third of its instructions count references and copy optional values that have texts"
LOOKS = "programs of root look, at last every ten seconds, whether they have become another user's; others have none"
NAMES = "names compare as Swift strings do; to hash and compare three takes about 530 instructions"

BOUNDS = [
    Bound("reading a tweak of fixed size, in C and Swift", "read", 1.1, "× a global",
          read("timesGlobal", lambda row: is_tweak(row) and has_fixed_size(row))),
    Bound("reading a text in C", "read", 1.2, "× a global",
          read("timesGlobal", lambda row: is_tweak(row) and row["what"] == "C text"),
          TEXT),
    Bound("reading a changed String in Swift", "read", 2, "× a global",
          read("timesGlobal", lambda row: row["way"] == "tweak, changed"), "each read makes a String of the bytes"),
    Bound("reading a tweak, but for a long String", "read", 0, "allocations",
          read("allocations", lambda row: is_tweak(row) and "long String" not in row["what"])),
    Bound("storing a monitor", "read", 1.05, "× a volatile global",
          read("timesGlobal", lambda row: row["way"] == "monitor")),
    Bound("reading in C++, also in eight threads with a writer", "rivals", 1.2, "× a relaxed atomic", lambda results: {
        row["what"]: row["ratio"]["median"] for row in results["reads"] if row["way"] == "relaxed atomic"},
          f"of a text: {TEXT}"),
    Bound("starting with one tweak", "rivals", 0.35, "ms more than without",
          lambda results: beyond(results)["1 tweak, 0 libraries"], LOADING),
    Bound("starting with one tweak and up to 60 libraries", "rivals", 0.6, "ms more than without", beyond, OPENING),
    Bound("starting with one tweak and up to 60 libraries", "rivals", 60, "page faults more than without",
          starts(lambda ours, alone: ours["faults"] - alone["faults"])),
    Bound("a global with `FBTweakVariable`, in a float loop", "loop", 1.1, "× a global",
          by_compiler("global with FBTweakVariable", "timesGlobal")),
    Bound("an idle gate", "gate", 1.5, "× a tweak", by_compiler(gating.GATE, "times"),
          "a comparison and a branch that is not taken come to the load, 0.25 ns"),
    Bound("a take of three with what it has seen", "gate", 1.3, "× three globals", by_compiler(gating.TAKE, "times")),
    Bound("setting a tweak with one observer", "change", 500, "ns", change(".set, observers: 1"), REFERENCES),
    Bound("finding a tweak by name in Swift", "change", 60, "ns", change("store.tweak(…)"), NAMES),
    Bound("finding a tweak by name in C, of 1,000", "scale", 60, "ns", lambda rows:
          (in_list(rows, scaling.FIND)["milliseconds"]["1000"] - in_list(rows, scaling.FIND)["milliseconds"]["0"])
          * 1e6 / scaling.FINDS, NAMES),
    Bound("500 tweaks, when compiling without optimization", "compile", 0.5, "s more than constants",
          lambda results: {row["name"]: row["adds"]["median"] for row in results["files"]},
          "in Swift each expansion of a macro takes the compiler 1.6 ms, even if it returns only the default"),
    Bound("a package without Swift macros", "compile", 0, "modules of swift-syntax", lambda results: len(
        [each for each in results["modulesWithoutMacros"] if each.startswith(("Swift", "_Swift", "TweakMacros"))])),
    Bound("starting with 100,000 tweaks", "start", 5, "ms more than with none",
          lambda rows: in_list(rows, "100,000 tweaks")["adds"]["median"]),
    Bound("starting with 100 overrides of 100,000 tweaks", "start", 10, "ms more than without overrides", overridden),
    Bound("a tweak at the start, of 100,000", "scale", 2, "ns", nanoseconds_each(scaling.START)),
    Bound("an override at the start, of 10,000", "scale", 150, "ns", nanoseconds_each(scaling.OVERRIDES),
          "it takes about 7,400 instructions to read the JSON and decode the record"),
    Bound("listing 100,000 tweaks as JSON", "scale", 150, "ms", largest(scaling.LIST),
          "it takes about 24,000 instructions to decode a record and write it as JSON"),
    Bound("`tweak-dump` of 100,000 tweaks as JSON", "scale", 250, "ms", largest(scaling.DUMP),
          "it takes about 35,000 instructions to read a record and write it as JSON"),
    Bound("the growth of a cost with the number of tweaks, as a power", "scale", scaling.MOST_EXPONENT, "(n log n)",
          exponents),
    Bound("`tweak set` of ten short names, of 10,000 tweaks", "command", 30, "ms",
          lambda rows: in_list(rows, commanding.SET_TEN)["milliseconds"]["10000"]),
    Bound("the growth of the time of a command, as a power", "command", scaling.MOST_EXPONENT, "(n log n)", exponents),
    Bound("from an edited overrides file to the program", "follow", 5, "ms", median("edit")),
    Bound("from `tweak set` to the program", "follow", 2, "ms more than `tweak --help`", median("setBeyondHelp")),
    Bound("the file and the socket at the start", "follow", 0.3, "ms each", medians("addsToStart", ["file", "socket"])),
    Bound("the memory of the file and the socket", "follow", 100, "KB each", lambda results: {
        f"{what}, {name} overrides": added[what]
        for name, added in results["addsPrivateKilobytes"].items() for what in ["file", "socket"]}),
    Bound("the library's thread, idle", "follow", 0, "wakeups", lambda results: results["idleWakeUps"], LOOKS),
    Bound("from an edited source to the program", "edit", 50, "ms", by(
        lambda row: f"{row['size']} in {row['language']}, tweaks: {row['tweaks']}", lambda row: row["median"])),
    Bound("a gate at 1 kHz, from the answer to the value, 95 %", "live", 1.5, "ms",
          lambda results: results["gate"]["percentile95"]),
    Bound("the end of a lease of a killed client, 95 %", "live", 10, "ms",
          lambda results: results["lease"]["percentile95"]),
    Bound("a change in a replay", "live", 1, "ms off", median("replay")),
    Bound("10,000 sets a second for 100 clients", "load", 0.99 * loading.RATE, "sets a second",
          lambda results: results["rate"], least=True),
    Bound("the overrides file under that load", "load", 20, "writes a second", lambda results: results["writesPerSecond"]),
    Bound("the memory of the program under that load", "load", 1024, "KB more",
          lambda results: results["privateKilobytes"]["late"] - results["privateKilobytes"]["early"]),
    Bound("values at the end of that load", "load", 0, "places that differ",
          lambda results: len([where for where, equal in results["equal"].items() if not equal])),
    Bound("from a change in one of eight providers to the cell", "provide", 100, "µs", lambda results: by(
        lambda row: f"{row['what']}, {row['state']}", lambda row: row["median"] / 1000,
        lambda row: row["state"] != "read")(results["chain"])),
    Bound("reading a tweak with providers", "provide", 1.1, "× a global", lambda results: [
        tweak["median"] / plain["median"]
        for plain, tweak in [[row for row in results["chain"] if row["state"] == "read"]]][0]),
    Bound("starting with 10,000 values from JSON", "provide", 30, "ms more than without", lambda results: by(
        lambda row: row["name"], lambda row: row["adds"]["median"],
        lambda row: row["name"] != "swift-configuration")(results["starts"]),
          "each takes as much work as an override"),
    Bound("`tweak-dump` of a file of 1 GB", "dump", 1.5, "× `readelf -S`", lambda results:
          results["large"]["milliseconds"]["median"] / results["readelf"]["milliseconds"]["median"],
          "readelf takes 1 ms; a Swift program that does nothing takes 0.8 ms to start, and parsing arguments 1.3 ms"),
    Bound("`tweak-dump` of a file of 1 GB", "dump", 32 << 10, "KB", lambda results: results["large"]["kilobytes"]),
    Bound("listing 100,000 tweaks through memory", "memory", 10, "ms more than from the file", median("memoryBeyondFile")),
    Bound("`tweak set` through memory, of 1,000 tweaks", "memory", 0.5, "ms more than `tweak --help`",
          median("setBeyondHelp", "1000"), "it reads the records in the process to find the name"),
    Bound("a billion reads of a cell beside a writer", "memory", 0, "torn values", lambda results: results["torn"]["torn"]),
    Bound("sampling 1,000 monitors at 1 kHz", "sample", 5, "% of a core",
          by(lambda row: row["way"], lambda row: row["core"] * 100)),
    Bound("sampling 1,000 monitors at 1 kHz", "sample", 0, "samples lost",
          by(lambda row: row["way"], lambda row: row["dropped"] + row["skipped"])),
    Bound("a trial from Python", "script", 1, "ms", lambda results: results["trial"]["median"] / 1000),
    Bound("changes from Python", "script", 10_000, "a second", lambda results: results["sets"], least=True),
    Bound("1,000 monitors at 500 Hz in Python", "script", 0, "samples lost",
          lambda results: results["sampling"]["dropped"] + results["sampling"]["skipped"]),
    Bound("from etcd to a program", "remote", 10, "ms", median("one")),
    Bound("from etcd to the last of 1,000 programs", "remote", 1000, "ms", median("last")),
    Bound("a file of remote values at the start", "remote", 1, "ms more than without", median("addsToStart")),
    Bound("a program with remote values, idle", "remote", 0, "wakeups",
          lambda results: results["idleWakeUps"]["a program"], LOOKS),
    Bound("the page's first rows of 10,000", "page", 300, "ms", median("first paint, ms")),
    Bound("from a key in the page's search to the results, 99 %", "page", 50, "ms",
          lambda of: of["key to result, ms"]["p99"]),
    Bound("from a slider of the page to the program", "page", 6.5, "ms", median("drag to cell, ms")),
    Bound("from a slider of the page to the program, 99 %", "page", FRAME + 5, "ms",
          lambda of: of["drag to cell, ms"]["p99"]),
    Bound("the steps of a slider that are sent", "page", 25, "%",
          lambda of: 100 * of["drag to cell, ms"]["sent"] / of["drag to cell, ms"]["steps"], least=True),
    Bound("from a change elsewhere to the page, 99 %", "page", 100, "ms",
          lambda of: of["outside change to page, ms"]["p99"]),
    Bound("the page's first load", "page", 100, "kB", lambda of: of["first load on a slow line"]["kB"]),
    Bound("the page's first rows at 50 kB/s and 300 ms", "page", 4000, "ms",
          lambda of: of["first load on a slow line"]["rows, ms"]),
    Bound("the page's longest task while scrolling", "page", 100, "ms", lambda of: of["longest task while scrolling, ms"]),
    Bound("a graph of eight monitors at 1 kHz in the browser", "page", 25, "% of a core",
          lambda of: 100 * of["eight monitors"]["the browser, of a core"]),
    Bound("changes that the page follows", "page", 900, "a second",
          lambda of: of["1,000 changes a second"]["changes a second"], least=True),
    Bound("the page's delay with these", "page", 1000, "ms", lambda of: of["1,000 changes a second"]["behind, ms"]["most"]),
    Bound("the memory of the page and the server with these", "page", 10, "MB more each", lambda of: {
        "page": growth("heap of the page, MB")(of), "server": growth("memory of the server, MB")(of)}),
    Bound("`libtweaks.so`", "size", 0.9, "MB", lambda results: results["megabytes"]["library"],
          "1.9 MB are code, a third of it generic code compiled for each type; the protocol, all file formats and messages"
          " are in it"),
    Bound("the command `tweak`", "size", 20, "MB", lambda results: results["megabytes"]["tweak"]),
    Bound("all that is installed", "size", 120, "MB", lambda results: results["megabytes"]["everything"]),
    Bound("starting with the library", "size", 60, "page faults more than with the header alone", lambda results:
          results["pageFaults"]["with the library"] - results["pageFaults"]["alone"]),
]


def number(value):
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.4g}" if abs(value) >= 10 else f"{value:.3g}"


def limit(bound):
    if bound.bound == 0:
        return f"no {bound.unit}"
    return f"{'at least' if bound.least else 'at most'} {number(bound.bound)} {bound.unit}"


def found(bound, results):
    """The costs by the names of their rows, if they were measured."""
    if bound.benchmark not in results:
        return {}
    measured = bound.measured(results[bound.benchmark])
    return measured if isinstance(measured, dict) else {"": measured}


def exceeding(bound, costs):
    return [name for name, cost in costs.items() if (cost < bound.bound if bound.least else cost > bound.bound)]


def worst(bound, costs):
    return "–" if not costs else number((min if bound.least else max)(costs.values()))


def show(name, results):
    """Prints a table of the bounds of a benchmark."""
    table = []
    for bound in (bound for bound in BOUNDS if bound.benchmark == name):
        costs = found(bound, results)
        missed = exceeding(bound, costs)
        rows = ", ".join(filter(None, missed))
        verdict = f"missed{rows and ': '}{rows}" if missed else "met" if costs else ""
        table.append([bound.cost, worst(bound, costs), limit(bound), verdict])
    if table:
        print()
        print_left_table(["bounds", "measured", "bound", ""], table)


def machine_text(results):
    if "machine" not in results:
        return ["Not measured on this version yet."]
    machine = results["machine"]
    lines = [f"Measured on {machine['processor']}, {machine['cores']} cores, with {machine['swift']}."]
    if "read" in results:
        read = next(row["median"] for row in results["read"] if (row["what"], row["way"]) == ("C int", "global"))
        lines.append(f"It reads a global in {read:.2f} ns; bounds in ns and ms were chosen for one that takes 0.12 ns.")
    return lines


def markdown(results):
    """The page of the documentation."""
    lines = [
        "# Bounds", "", "Compare what tweaks cost with what they may cost.", "", "## Overview", "",
        "`tools/bench NAME` measures the costs of a row, and shows more of them. In bold: the bound is missed, for the reason",
        "that stands below. If the bound is of several costs, the worst one counts.", "",
        *machine_text(results), "",
        "| cost | `NAME` | bound | measured |", "|---|---|---:|---:|"]
    reasons = []
    for bound in BOUNDS:
        costs = found(bound, results)
        missed = exceeding(bound, costs)
        cell = worst(bound, costs)
        lines.append(f"| {bound.cost} | {bound.benchmark} | {limit(bound)} | {f'**{cell}**' if missed else cell} |")
        if missed:
            reasons.append(f"- {bound.cost}, {limit(bound)}: {bound.reason or 'the reason is not known'}.")
    if reasons:
        lines += ["", "### Missed bounds", "", *reasons]
    return "\n".join(lines)
