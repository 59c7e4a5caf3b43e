# SPDX-License-Identifier: BSD-3-Clause
"""Measures how a program follows its overrides file and its socket: `start-1000 follow` shows its first tweak whenever
it changes."""

import json
import os
import random
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import start_programs
import starting
from building import build_as_installed
from reporting import print_summaries, print_table, progress, summary

HELP = """\
follow  ms until a program that reads a tweak every 0.05 ms has a new value: from a rename over its overrides file, and
        from the start of `tweak set`, which uses its socket; `tweak --help` before each `tweak set`, and the difference
        of the two. Then the cost of following the file and listening at the socket for a program with 1,000 tweaks,
        compared to TWEAKS_WATCH=0 and TWEAKS_CONTROL=0: time to start and end, memory with and without an overrides
        file, and wakeups of the thread in 5 idle seconds.
"""


COUNT = 1_000
IDLE_SECONDS = 5
# After this the program watches its file and listens at its socket, and the thread that took the file over is gone.
SETTLING_SECONDS = 2

NEITHER = {"TWEAKS_WATCH": "0", "TWEAKS_CONTROL": "0"}
WATCHING = {"TWEAKS_CONTROL": "0"}
LISTENING = {"TWEAKS_WATCH": "0"}
BOTH = {}
# The cost of a feature, as two environments.
ADDITIONS = {"file": (WATCHING, NEITHER), "socket": (BOTH, WATCHING), "both": (BOTH, NEITHER)}


class Follower:
    """A running program and its output."""

    def __init__(self, program, configuration, switches):
        self.program = str(program)
        self.listens = "TWEAKS_CONTROL" not in switches
        self.environment = {
            "XDG_CONFIG_HOME": str(configuration), "XDG_RUNTIME_DIR": os.path.dirname(configuration), **switches}
        self.overrides = Path(configuration, "tweaks", start_programs.program(COUNT), "overrides.json")

    def __enter__(self):
        self.process = subprocess.Popen(
            [self.program, "follow"], stdout=subprocess.PIPE, text=True, env=self.environment)
        self.next_change()
        time.sleep(SETTLING_SECONDS)
        socket = Path(self.environment["XDG_RUNTIME_DIR"], "tweaks", f"{self.process.pid}.sock")
        assert socket.exists() == self.listens, socket
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def next_change(self):
        """The value that the program has read, and the time, in ns of the monotonic clock."""
        value, nanoseconds = self.process.stdout.readline().split()
        return int(value), int(nanoseconds)

    def milliseconds(self, values, change):
        """The time until the program reads each value, from before the change."""
        samples = []
        for value in values:
            time.sleep(random.uniform(0.01, 0.03))
            start = change(value)
            seen, end = self.next_change()
            assert seen == value, f"{seen} instead of {value}"
            samples.append((end - start) / 1e6)
        return samples

    def private_kilobytes(self):
        lines = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text().splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith("Anonymous:"))

    def wake_ups(self):
        """The number of voluntary context switches of each thread but the first."""
        total = 0
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            if task.name != str(self.process.pid):
                lines = (task / "status").read_text().splitlines()
                total += sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt"))
        return total


def values(count):
    """Each differs from the one before, and none is the default."""
    return [20 + number % 50 for number in range(count)]


def edits(program, configuration, count):
    """From before the rename of a new file over the old one.

    The new one is on disk by then: the kernel may write what is not before it renames, which is not the program's time.
    """
    category, collection, name = start_programs.levels(0, COUNT)
    with Follower(program, configuration, BOTH) as follower:
        follower.overrides.parent.mkdir(parents=True, exist_ok=True)

        def change(value):
            temporary = follower.overrides.with_suffix(".new")
            with open(temporary, "w") as file:
                json.dump({category: {collection: {name: value}}}, file)
                file.flush()
                os.fsync(file.fileno())
            start = time.monotonic_ns()
            os.rename(temporary, follower.overrides)
            return start

        return follower.milliseconds(values(count), change)


def commands(command, program, configuration, count):
    """From before the start of `tweak set`, and how long the command takes to do nothing. Without the file, only the
    socket can bring the value."""
    key = "/".join(start_programs.levels(0, COUNT))
    bare = []
    with Follower(program, configuration, LISTENING) as follower:

        def run(*arguments):
            start = time.monotonic_ns()
            subprocess.run(
                [command, *arguments], env=follower.environment, check=True, stdout=subprocess.DEVNULL)
            return start

        def change(value):
            start = run("--help")
            bare.append((time.monotonic_ns() - start) / 1e6)
            return run("set", follower.program, key, str(value))

        return follower.milliseconds(values(count), change), bare


def idle_wake_ups(program, configuration):
    with Follower(program, configuration, BOTH) as follower:
        before = follower.wake_ups()
        time.sleep(IDLE_SECONDS)
        return follower.wake_ups() - before


def private_kilobytes(program, configuration, switches):
    def once():
        with Follower(program, configuration, switches) as follower:
            return follower.private_kilobytes()

    return statistics.median(once() for _ in range(5))


def measure(quick):
    program = starting.build_programs() / start_programs.program(COUNT)
    progress("building the command")
    command = build_as_installed("tweak")
    count, rounds = (50, 30) if quick else (300, 300)
    progress(f"measuring {count} edits, {count} commands and {3 * rounds} starts")
    with tempfile.TemporaryDirectory() as temporary:
        with_overrides, without_overrides = (f"{temporary}/{name}" for name in ["with", "without"])
        edit_milliseconds = edits(program, with_overrides, count)
        set_milliseconds, bare = commands(command, program, with_overrides, count)
        environments = [NEITHER, WATCHING, BOTH]
        kilobytes = {}
        for name, configuration in [("with", with_overrides), ("without", without_overrides)]:
            measured = [private_kilobytes(program, configuration, switches) for switches in environments]
            kilobytes[name] = {
                what: measured[environments.index(more)] - measured[environments.index(less)]
                for what, (more, less) in ADDITIONS.items()}
        differences = {what: [] for what in ADDITIONS}
        for _ in range(rounds):
            samples = {}
            for index in random.sample(range(len(environments)), len(environments)):
                samples[index] = starting.milliseconds(
                    str(program), configuration=without_overrides, **environments[index])
            for what, (more, less) in ADDITIONS.items():
                differences[what].append(samples[environments.index(more)] - samples[environments.index(less)])
        wake_ups = idle_wake_ups(program, with_overrides)
    return {
        "edit": summary(edit_milliseconds), "set": summary(set_milliseconds), "help": summary(bare),
        "setBeyondHelp": summary([one - other for one, other in zip(set_milliseconds, bare)]),
        "addsToStart": {what: summary(samples) for what, samples in differences.items()},
        "addsPrivateKilobytes": kilobytes, "idleWakeUps": wake_ups,
    }


def show(results):
    print(f"Following, ms, {results['edit']['samples']} edits")
    rows = [
        ("edit → value", results["edit"]), ("tweak set → value", results["set"]), ("tweak --help", results["help"]),
        ("tweak set beyond that", results["setBeyondHelp"]),
    ] + [(f"added to start and end: {what}", row) for what, row in results["addsToStart"].items()]
    print_summaries(rows, 2)
    kilobytes = results["addsPrivateKilobytes"]
    print_table(
        ["memory added, KB", *ADDITIONS],
        [
            [f"{name} an overrides file", *(f"{added[what]:.0f}" for what in ADDITIONS)]
            for name, added in kilobytes.items()
        ])
    print(f"wake-ups in {IDLE_SECONDS} idle seconds: {results['idleWakeUps']}")
