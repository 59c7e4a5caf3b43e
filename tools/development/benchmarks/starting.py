# SPDX-License-Identifier: BSD-3-Clause
"""Measures the time to start and end processes, and their memory."""

import os
import random
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import start_programs
from building import BENCHMARKS, SOFTWARE, Failure, build
from reporting import print_table, progress, spread, summary

HELP = """\
start   ms from the start of a process whose main returns at once to its end, with 0, 1,000 and 100,000 tweaks in C,
        without and with 100 overrides. The programs run in random order; the cost of tweaks is the difference to the
        program without tweaks in the same round. Then the private memory of each in KB, without code and records that
        were never written.
"""


def build_programs():
    progress("building programs with up to 100,000 tweaks")
    start_programs.write_sources(BENCHMARKS / "start/.build/generated")
    return build(BENCHMARKS / "start", "-c", "release")


def milliseconds(program, *arguments, configuration, expecting=0, **switches):
    """Runs a program and returns its time. Keyword arguments are environment variables."""
    # There may be a socket beside the configuration.
    runtime = os.path.dirname(configuration)
    environment = {
        "PATH": os.environ.get("PATH", ""), "XDG_CONFIG_HOME": configuration, "XDG_RUNTIME_DIR": runtime, **switches}
    if "LD_LIBRARY_PATH" in os.environ:
        environment["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
    begin = time.perf_counter_ns()
    process = os.posix_spawn(program, [program, *arguments], environment)
    _, status = os.waitpid(process, 0)
    end = time.perf_counter_ns()
    if os.waitstatus_to_exitcode(status) != expecting:
        raise Failure(
            f"{program} ended with status {os.waitstatus_to_exitcode(status)} instead of {expecting}", SOFTWARE)
    return (end - begin) / 1e6


def private_kilobytes(program, configuration):
    """The memory of a started program, without pages that the kernel can reload from files."""
    process = subprocess.Popen(
        [program, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"XDG_CONFIG_HOME": configuration})
    with process:
        process.stdout.readline()
        lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()
        process.stdin.close()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Anonymous:"))


def measure(quick):
    directory = build_programs()
    with tempfile.TemporaryDirectory() as temporary:
        with_overrides = Path(temporary, "with-overrides")
        without_overrides = Path(temporary, "without-overrides")
        start_programs.write_overrides(with_overrides)

        cases = [("without the library", str(directory / start_programs.WITHOUT_LIBRARY), str(without_overrides))]
        for count in start_programs.COUNTS:
            for configuration in [without_overrides, with_overrides]:
                program = str(directory / start_programs.program(count))
                overridden = configuration is with_overrides
                if count == 0 and overridden:
                    continue
                name = f"{count:,} tweaks" + (f", {start_programs.OVERRIDES} overrides" if overridden else "")
                cases.append((name, program, str(configuration)))
                if count > 0:
                    first = start_programs.FIRST_OVERRIDE if overridden else start_programs.FIRST_DEFAULT
                    milliseconds(program, "first", configuration=str(configuration), expecting=first)

        rounds = 30 if quick else 300
        progress(f"measuring {rounds * len(cases):,} starts")
        samples = {name: [] for name, _, _ in cases}
        order = list(cases)
        for _ in range(rounds):
            random.shuffle(order)
            for name, program, configuration in order:
                samples[name].append(milliseconds(program, configuration=configuration))
        memory = {
            name: statistics.median(private_kilobytes(program, configuration) for _ in range(9))
            for name, program, configuration in cases
        }

    base = samples["0 tweaks"]
    rows = []
    for name, of_case in samples.items():
        row = {"name": name, "privateKilobytes": memory[name], **summary(of_case)}
        if name not in ["0 tweaks", "without the library"]:
            row["adds"] = summary([sample - without for sample, without in zip(of_case, base)])
        rows.append(row)
    return rows


def show(rows):
    print(f"Starting and ending, ms per process, {rows[0]['samples']} rounds")
    table = []
    for row in rows:
        line = [
            row["name"], f"{row['median']:.2f}", spread(*row["middleHalf"], 2),
            spread(row["minimum"], row["maximum"], 2),
        ]
        if "adds" in row:
            line += [f"{row['adds']['median']:+.2f}", spread(*row["adds"]["middleHalf"], 2)]
        table.append(line + [""] * (6 - len(line)) + [f"{row['privateKilobytes']:.0f}"])
    print_table(["", "median", "middle half", "all", "tweaks add", "middle half", "memory, KB"], table)
