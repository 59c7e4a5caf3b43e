# SPDX-License-Identifier: BSD-3-Clause
"""Measures providers: how fast their changes arrive, and starts with 10,000 values from a file."""

import json
import random
import shutil
import tempfile
from pathlib import Path

import start_programs
from building import BENCHMARKS, build, output
from reporting import print_table, progress, spread, summary
from starting import milliseconds

HELP = """\
provide  µs from a change in one of eight providers with 10,000 tweaks to the value in the cell, before and after the
        tweaks were listed; and ns to read a tweak with providers and a plain global. Then the ms that 10,000 values
        from a JSON file add to starting and ending a program: from its overrides, from a providers file beside it, from
        a VariablesProvider, and for comparison read by swift-configuration to look up one value.
"""

COUNT = len(start_programs.COLLECTIONS) * len(start_programs.NAMES)
CATEGORY = "Features"
# The tweak that shows the arrival of values.
MARK, MARKED = ("Chain", "Lowest"), 42


def levels(index):
    collection, name = divmod(index, len(start_programs.NAMES))
    return CATEGORY, start_programs.COLLECTIONS[collection], start_programs.NAMES[name]


def write_sources(directory):
    for start in range(0, COUNT, start_programs.TWEAKS_PER_UNIT):
        indexes = range(start, start + start_programs.TWEAKS_PER_UNIT)
        text = '#include "fbtweak.h"\n' + "".join(start_programs.tweak(index, levels(index)) for index in indexes)
        start_programs.write_if_changed(directory / f"tweaks_{start}.c", text)
    start_programs.write_if_changed(directory / "include/provided_tweaks.h", "/* Nobody calls them. */\n")


def features():
    """The values that files give, by feature and variable."""
    values = {MARK[0]: {MARK[1]: MARKED}}
    for index in range(COUNT):
        _, feature, variable = levels(index)
        values.setdefault(feature, {})[variable] = start_programs.KINDS[index % len(start_programs.KINDS)][2]
    return values


def write_files(directory):
    """Writes the overrides and the variables, and returns the path of the latter."""
    overrides = directory / "overrides/tweaks/provide-benchmark/overrides.json"
    start_programs.write_if_changed(overrides, json.dumps({CATEGORY: features()}, indent=2))
    variables = {
        feature: {variable: {"Value": value} for variable, value in of_feature.items()}
        for feature, of_feature in features().items()
    }
    start_programs.write_if_changed(directory / "variables.json", json.dumps(variables, indent=2))
    return str(directory / "variables.json")


def measure(quick):
    progress("building a program with 10,000 tweaks")
    write_sources(BENCHMARKS / "provide/.build/generated/ProvidedTweaks")
    program = build(BENCHMARKS / "provide", "-c", "release") / "provide-benchmark"
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        variables = write_files(directory)
        progress("measuring changes of providers")
        chain = []
        command = [program, "chain", "100" if quick else "1000", variables]
        for line in output(command, HOME=temporary, XDG_CONFIG_HOME=temporary).splitlines():
            state, what, samples = line.split("\t")
            chain.append({"state": state, "what": what, **summary([float(sample) for sample in samples.split(",")])})
        return {"chain": chain, "starts": measure_starts(program, directory, variables, 20 if quick else 200)}


def measure_starts(program, directory, variables, rounds):
    beside = directory / "beside/provide-benchmark"
    start_programs.write_if_changed(
        beside.with_name("provide-benchmark.tweaks.json"), json.dumps({"providers": [{"variables": [variables]}]}))
    shutil.copy(program, beside)
    program, empty = str(program), str(directory)
    cases = [
        ("no values", [program, "start"], empty, 0),
        ("overrides", [program, "start"], str(directory / "overrides"), MARKED),
        ("a providers file", [str(beside), "start"], empty, MARKED),
        ("a VariablesProvider", [program, "variables", variables], empty, MARKED),
        ("swift-configuration", [program, "configuration", variables], empty, MARKED),
    ]
    progress(f"measuring {rounds * len(cases):,} starts")
    samples = {name: [] for name, *_ in cases}
    for _ in range(rounds):
        random.shuffle(cases)
        for name, command, configuration, status in cases:
            samples[name].append(milliseconds(*command, configuration=configuration, expecting=status))
    base = samples["no values"]
    return [
        {
            "name": name, **summary(of_case),
            "adds": summary([sample - without for sample, without in zip(of_case, base)]),
        }
        for name, of_case in samples.items()
    ]


def show(result):
    chain, starts = result["chain"], result["starts"]
    changes = [row for row in chain if row["state"] != "read"]
    print(f"From a change in a provider to the cell, µs, {changes[0]['samples']} samples")
    print_table(
        ["", "median", "middle half", "all"],
        [
            [
                change_name(row), f"{row['median'] / 1000:.1f}",
                spread(*[nanoseconds / 1000 for nanoseconds in row["middleHalf"]], 1),
                spread(row["minimum"] / 1000, row["maximum"] / 1000, 1),
            ]
            for row in changes
        ])
    plain, tweak = [row for row in chain if row["state"] == "read"]
    times = tweak["median"] / plain["median"]
    print(f"Reading takes {tweak['median']:.3f} ns, {times:.2f} × a global")
    print(f"\nStarting and ending with {COUNT:,} values, ms per process, {starts[0]['samples']} rounds")
    print_table(
        ["", "median", "middle half", "values add", "middle half"],
        [
            [
                row["name"], f"{row['median']:.2f}", spread(*row["middleHalf"], 2),
                f"{row['adds']['median']:+.2f}", spread(*row["adds"]["middleHalf"], 2),
            ]
            for row in starts
        ])


def change_name(row):
    return f"{row['what']}, {row['state']}"
