# SPDX-License-Identifier: BSD-3-Clause
"""Measures how costs grow with the number of tweaks and of overrides, in processor time."""

import math
import os
import random
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import dumping
import many_tweaks
from building import SOFTWARE, UNAVAILABLE, Failure, installed
from reporting import print_table, progress, summary

HELP = """\
scale   ms of processor time for 1,000, 10,000 and 100,000 tweaks: to start a process, and with overrides to start one
        with 100,000 tweaks; to find tweaks by their names in C, a million times; to list them as JSON in a process, at
        the first request and later; tweak-dump as JSON and as a table, and readelf -p, of the same file; nm of as many
        symbols. Each with its exponent, the power of the number with which it grows; the cost of an empty program or file
        is subtracted. The rows take turns.
"""

SIZES = [1_000, 10_000, 100_000]
# n log n from the smallest to the largest size, and the noise of a busy machine.
MOST_EXPONENT = 1 + math.log(math.log(SIZES[-1]) / math.log(SIZES[0])) / math.log(SIZES[-1] / SIZES[0]) + 0.05
# More than 100,000 values are not read from a file.
OVERRIDDEN = SIZES[:2]
START, OVERRIDES, LIST, LISTED = "start", "start, 100,000 tweaks, with overrides", "list, first", "list, again"
FIND, FINDS = "find, a million times", 1_000_000
DUMP, NM = "tweak-dump --format json", "nm, of as many symbols"


def processor_milliseconds(command, environment):
    nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    process = os.posix_spawn(command[0], command, environment, file_actions=[(os.POSIX_SPAWN_DUP2, nowhere, 1)])
    _, status, usage = os.wait4(process, 0)
    os.close(nowhere)
    if status != 0:
        raise Failure(f"{' '.join(command)} ended with status {os.waitstatus_to_exitcode(status)}", SOFTWARE)
    return (usage.ru_utime + usage.ru_stime) * 1e3


def lists(program, environment):
    """What the first and the second list cost the process that answers."""
    process = subprocess.Popen([program, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    with process:
        process.stdout.readline()
        path = Path(environment["XDG_RUNTIME_DIR"], f"tweaks/{process.pid}.sock")
        while not path.exists():
            if process.poll() is not None:
                raise Failure(f"the program ended with status {process.returncode}", SOFTWARE)
            time.sleep(0.01)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(path))
            lines = connection.makefile("rb")
            costs = []
            for _ in range(2):
                before = used(process.pid)
                connection.sendall(b'{"jsonrpc":"2.0","id":1,"method":"list","params":{}}\n')
                lines.readline()
                costs.append(used(process.pid) - before)
        process.stdin.close()
    return costs


def used(pid):
    """The ms of processor time of a process."""
    # The run times of its threads in ns; /proc/PID/stat counts hundredths of a second.
    return sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e6


def measure(quick):
    if not (shutil.which("readelf") and shutil.which("nm")):
        raise Failure("readelf and nm are missing: on Debian and Ubuntu they are in the package binutils", UNAVAILABLE)
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o700)
        return measured(Path(home), installed(home), quick)


def measured(folder, prefix, quick):
    environment = {
        "HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_RUNTIME_DIR": str(folder),
        "LD_LIBRARY_PATH": f"{prefix}/lib", "PATH": os.environ.get("PATH", "")}
    programs, files, configurations, symbols = {}, {}, {}, {}
    for size in [0, *SIZES]:
        programs[size], files[size] = folder / f"hot-{size}", folder / f"file-{size}.o"
        many_tweaks.write_program(programs[size], size, prefix)
        dumping.write_object(files[size], size)
        symbols[size] = write_symbols(folder / f"symbols-{size}.o", size)
    for size in [0, *OVERRIDDEN]:
        configurations[size] = folder / f"overrides-{size}"
        many_tweaks.write_overrides(configurations[size], SIZES[-1], size)
    inspections = {
        DUMP: [f"{prefix}/bin/tweak-dump", "--format", "json"], "tweak-dump": [f"{prefix}/bin/tweak-dump"],
        "readelf -p": [shutil.which("readelf"), "-p", "fbtweak"]}
    ways = {
        START: lambda size: processor_milliseconds([str(programs[size])], environment),
        OVERRIDES: lambda size: processor_milliseconds(
            [str(programs[SIZES[-1]])], environment | {"XDG_CONFIG_HOME": str(configurations[size])}),
        FIND: lambda size: processor_milliseconds(
            [str(programs[size]), "find", str(FINDS if size else 0), str(max(size, 1))], environment),
        **{
            name: (lambda size, command=command: processor_milliseconds([*command, str(files[size])], environment))
            for name, command in inspections.items()},
        NM: lambda size: processor_milliseconds([shutil.which("nm"), str(symbols[size])], environment),
    }
    cases = [(name, size) for name in ways for size in sizes_of(name)]
    rounds = 3 if quick else 15
    progress(f"measuring {rounds} rounds")
    samples = {(name, size): [] for name in [*ways, LIST, LISTED] for size in sizes_of(name)}
    for _ in range(rounds):
        for name, size in random.sample(cases, len(cases)):
            samples[name, size].append(ways[name](size))
        for size in [0, *SIZES]:
            first, again = lists(programs[size], environment)
            samples[LIST, size].append(first)
            samples[LISTED, size].append(again)
    rows = []
    for name in [START, OVERRIDES, FIND, LIST, LISTED, *inspections, NM]:
        summaries = {size: summary(samples[name, size]) for size in sizes_of(name)}
        rows.append(sized(name, summaries, FINDS if name == FIND else None))
    return rows


def sized(name, summaries, count=None):
    """The row of a cost in ms by size, of which 0 is what does not depend on the size.

    The largest size is of `count` operations, or of as many as the size is.
    """
    costs = {size: of["median"] for size, of in summaries.items()}
    most = max(costs)
    return {
        "name": name, "rounds": summaries[0]["samples"], "milliseconds": {str(size): cost for size, cost in costs.items()},
        "nanosecondsEach": (costs[most] - costs[0]) * 1e6 / (count or most), "exponent": exponent(costs)}


def sizes_of(name):
    return [0, *(OVERRIDDEN if name == OVERRIDES else SIZES)]


def write_symbols(path, count):
    """An object file with so many symbols, whose names are as long as those of tweaks."""
    source = path.with_suffix(".s")
    names = [f"category_{number * 10 // max(count, 1)}_collection_tweak_{number}" for number in range(max(count, 1))]
    source.write_text("".join(f".globl {name}\n{name}: .quad 0\n" for name in names))
    many_tweaks.compiled("gcc", "-c", source, "-o", path)
    return path


def exponent(costs):
    """The power with which a cost grows to the largest size, or none if it does not grow enough to tell."""
    (small, less), (large, more) = [(size, cost - costs[0]) for size, cost in costs.items()][-2:]
    if more < max(costs[0] / 2, 1) or less <= 0:
        return None
    return math.log(more / less) / math.log(large / small)


def show(rows):
    show_sizes("Costs by size, ms of processor time", "0", rows)


def show_sizes(title, nothing, rows):
    """Prints a table of rows of ``sized``; `nothing` is the title of the size 0."""
    print(f"{title}, {rows[0]['rounds']} rounds")
    print_table(
        ["", nothing, *(f"{size:,}" for size in SIZES), "ns each", "exponent"],
        [
            [
                row["name"], *(f"{cost:.2f}" for cost in row["milliseconds"].values()),
                *[""] * (1 + len(SIZES) - len(row["milliseconds"])), f"{row['nanosecondsEach']:,.0f}",
                "" if row["exponent"] is None else f"{row['exponent']:.2f}"]
            for row in rows])
