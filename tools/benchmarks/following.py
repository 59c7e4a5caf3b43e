"""Measures how a program follows its overrides file: `start-1000 follow` shows its first tweak whenever it changes."""

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
from building import TOOLS, build
from reporting import print_bound, print_table, progress, spread, summary

HELP = """\
follow  ms until a program that reads a tweak every 0.05 ms has a new value: from a rename over its overrides file, and
        from the start of `tweak set`, with the time that `tweak --help` takes beside it. Then what following adds to
        a program with 1,000 tweaks, compared to TWEAKS_WATCH=0: to starting and ending it, to its memory, with
        and without an overrides file, and how often its thread wakes up in 5 s when nothing happens.
"""

MOST_EDIT_MILLISECONDS = 5.0
MOST_WATCH_MILLISECONDS = 0.3
MOST_WATCH_KILOBYTES = 100

COUNT = 1_000
IDLE_SECONDS = 5
# After this the program watches its file.
SETTLING_SECONDS = 0.6


class Follower:
    """A running program, and what it shows."""

    def __init__(self, program, configuration, watches=True):
        self.program = str(program)
        self.environment = {"XDG_CONFIG_HOME": str(configuration), "TWEAKS_WATCH": "1" if watches else "0"}
        self.overrides = Path(configuration, "tweaks", start_programs.program(COUNT), "overrides.json")

    def __enter__(self):
        self.process = subprocess.Popen(
            [self.program, "follow"], stdout=subprocess.PIPE, text=True, env=self.environment)
        self.next_change()
        time.sleep(SETTLING_SECONDS)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def next_change(self):
        """The value that the program has read, and when, in ns of the monotonic clock."""
        value, nanoseconds = self.process.stdout.readline().split()
        return int(value), int(nanoseconds)

    def milliseconds(self, values, change):
        """How long the program takes to have each value, from before the change until it has read it."""
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
        """How often each thread but the first has slept."""
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
    with Follower(program, configuration) as follower:
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
    """From before the start of `tweak set`, and how long the command takes to do nothing."""
    key = "/".join(start_programs.levels(0, COUNT))
    with Follower(program, configuration) as follower:

        def change(value):
            start = time.monotonic_ns()
            subprocess.run(
                [command, "set", follower.program, key, str(value)], env=follower.environment, check=True,
                stdout=subprocess.DEVNULL)
            return start

        set_milliseconds = follower.milliseconds(values(count), change)
    bare = []
    for _ in range(count):
        start = time.monotonic_ns()
        subprocess.run([command, "--help"], check=True, stdout=subprocess.DEVNULL)
        bare.append((time.monotonic_ns() - start) / 1e6)
    return set_milliseconds, bare


def idle_wake_ups(program, configuration):
    with Follower(program, configuration) as follower:
        before = follower.wake_ups()
        time.sleep(IDLE_SECONDS)
        return follower.wake_ups() - before


def private_kilobytes(program, configuration, watches):
    with Follower(program, configuration, watches) as follower:
        return follower.private_kilobytes()


def measure(quick):
    program = starting.build_programs() / start_programs.program(COUNT)
    progress("building the command")
    command = build(TOOLS.parent, "-c", "release", "--product", "tweak") / "tweak"
    count, rounds = (50, 30) if quick else (300, 300)
    progress(f"measuring {count} edits, {count} commands and {2 * rounds} starts")
    with tempfile.TemporaryDirectory() as temporary:
        edit_milliseconds = edits(program, temporary, count)
        set_milliseconds, bare = commands(command, program, temporary, count)
        kilobytes = {}
        for name, configuration in [("with", temporary), ("without", Path(temporary, "without-overrides"))]:
            watching, not_watching = (
                statistics.median(private_kilobytes(program, configuration, watches) for _ in range(5))
                for watches in [True, False])
            kilobytes[name] = watching - not_watching
        differences = []
        for _ in range(rounds):
            samples = {}
            for watches in random.sample([True, False], 2):
                samples[watches] = starting.milliseconds(
                    str(program), configuration=f"{temporary}/without-overrides", watches=watches)
            differences.append(samples[True] - samples[False])
        wake_ups = idle_wake_ups(program, temporary)
    return {
        "edit": summary(edit_milliseconds), "set": summary(set_milliseconds), "help": summary(bare),
        "addsToStart": summary(differences), "addsPrivateKilobytes": kilobytes, "idleWakeUps": wake_ups,
    }


def show(results):
    print(f"Following, ms, {results['edit']['samples']} edits")
    rows = [
        ("edit → value", "edit"), ("tweak set → value", "set"), ("tweak --help", "help"),
        ("added to start and end", "addsToStart"),
    ]
    print_table(
        ["", "median", "middle half", "95 %", "all"],
        [
            [
                name, f"{row['median']:.2f}", spread(*row["middleHalf"], 2), f"{row['percentile95']:.2f}",
                spread(row["minimum"], row["maximum"], 2),
            ]
            for name, row in ((name, results[key]) for name, key in rows)
        ])
    kilobytes = results["addsPrivateKilobytes"]
    print(f"memory added, KB: {kilobytes['without']:.0f}, with an overrides file {kilobytes['with']:.0f}")
    print(f"wake-ups in {IDLE_SECONDS} idle seconds: {results['idleWakeUps']}")
    bounds = [
        ("edit → value", results["edit"]["median"] > MOST_EDIT_MILLISECONDS),
        ("start", results["addsToStart"]["median"] > MOST_WATCH_MILLISECONDS),
        ("memory", max(kilobytes.values()) > MOST_WATCH_KILOBYTES),
        ("wake-ups", results["idleWakeUps"] > 0),
    ]
    print_bound(
        f"At most {MOST_EDIT_MILLISECONDS:g} ms, {MOST_WATCH_MILLISECONDS:g} ms at start, {MOST_WATCH_KILOBYTES} KB "
        "and no wake-up", [name for name, exceeds in bounds if exceeds])
