# SPDX-License-Identifier: BSD-3-Clause
"""Measures access to a process without the library, through its memory."""

import os
import random
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import start_programs
from building import BENCHMARKS, SOFTWARE, TOOLS, Failure, build_as_installed, output
from reporting import print_summaries, progress, summary

HELP = """\
memory  For a static C program without the library and with 100,000 tweaks: ms of `tweak list` as JSON, through the
        memory of its process and from its file, alternating. ms of `tweak set` there and in a program with 1,000
        tweaks, beside `tweak --help`. And a billion reads by eight threads while another process writes, to find torn
        values of eight bytes.
"""


COUNTS = [1_000, 100_000]
READS = 1_000_000_000


def compiled(directory, *arguments):
    command = ["gcc", "-std=gnu11", "-I", str(TOOLS.parent / "CSupport/include"), "-DFB_TWEAK_ENABLED=1", *arguments]
    done = subprocess.run(command, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))} failed: {done.stdout}", SOFTWARE)


def build_program(directory, count):
    """A static program without the library; what has not changed is not compiled again."""
    sources = directory / start_programs.program(count)
    objects = []

    def compile_unit(source):
        target = source.with_suffix(".o")
        if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
            compiled(directory, "-O1", "-c", str(source), "-o", str(target))
        return target

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_unit, sorted(sources.glob("*.c"))))
    program = sources / f"bare-{count}"
    compiled(directory, "-static", *map(str, objects), "-o", str(program))
    return program


class Bare:
    """A process of a program without the library."""

    def __init__(self, program, home):
        self.program = program
        self.environment = {"XDG_CONFIG_HOME": home, "XDG_RUNTIME_DIR": home, "PATH": os.environ.get("PATH", "")}

    def __enter__(self):
        self.process = subprocess.Popen(
            [str(self.program), "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment)
        self.process.stdout.readline()
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def milliseconds(self, *command):
        begin = time.perf_counter_ns()
        done = subprocess.run(
            [str(word) for word in command], env=self.environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        end = time.perf_counter_ns()
        if done.returncode != 0:
            raise Failure(f"{' '.join(map(str, command))} ended with status {done.returncode}", SOFTWARE)
        return (end - begin) / 1e6


def in_turns(bare, ways, rounds):
    samples = {name: [] for name in ways}
    for _ in range(rounds):
        for name in random.sample(list(ways), len(ways)):
            samples[name].append(bare.milliseconds(*ways[name]()))
    return samples


def lists(command, program, copy, home, rounds):
    with Bare(program, home) as bare:
        process = bare.process.pid
        # A path selects the process that runs it, so the file to list is a copy.
        ways = {
            "memory": lambda: [command, "list", "--format", "json", process],
            "file": lambda: [command, "list", "--format", "json", copy],
        }
        return in_turns(bare, ways, rounds)


def sets(command, program, count, home, rounds):
    key = "/".join(start_programs.levels(0, count))
    with Bare(program, home) as bare:
        ways = {
            "set": lambda: [command, "set", bare.process.pid, key, random.randint(0, 100)],
            "help": lambda: [command, "--help"],
        }
        return in_turns(bare, ways, rounds)


def difference(samples, more, less):
    return summary([one - other for one, other in zip(samples[more], samples[less])])


def measure(quick):
    progress("building programs with up to 100,000 tweaks")
    start_programs.write_sources(BENCHMARKS / "start/.build/generated")
    directory = BENCHMARKS / "start/.build/generated"
    programs = {count: build_program(directory, count) for count in COUNTS}
    torn_program = directory / "torn"
    compiled(BENCHMARKS / "memory", "-O2", "-pthread", "torn.c", "-o", str(torn_program))
    command = build_as_installed("tweak")
    rounds = 20 if quick else 200
    progress("measuring lists and sets")
    with tempfile.TemporaryDirectory() as home:
        copy = Path(home, "copy")
        copy.write_bytes(programs[COUNTS[-1]].read_bytes())
        listed = lists(command, programs[COUNTS[-1]], copy, home, max(rounds // 4, 10))
        set_in = {count: sets(command, programs[count], count, home, rounds) for count in COUNTS}
    reads = READS // 20 if quick else READS
    progress(f"reading {reads:,} times")
    done, writes, torn = (int(word) for word in output([torn_program, str(reads)]).split())
    return {
        "list": {name: summary(samples) for name, samples in listed.items()},
        "memoryBeyondFile": difference(listed, "memory", "file"),
        "set": {str(count): {name: summary(samples) for name, samples in of.items()} for count, of in set_in.items()},
        "setBeyondHelp": {str(count): difference(of, "set", "help") for count, of in set_in.items()},
        "torn": {"reads": done, "writes": writes, "torn": torn},
    }


def show(results):
    print(f"By the memory, ms, {results['memoryBeyondFile']['samples']} lists")
    most = f"{COUNTS[-1]:,}"
    rows = [
        (f"list {most}, memory", results["list"]["memory"]), (f"list {most}, file", results["list"]["file"]),
        ("memory beyond the file", results["memoryBeyondFile"]),
    ]
    for count in map(str, COUNTS):
        rows += [
            (f"set one of {int(count):,}", results["set"][count]["set"]), ("tweak --help", results["set"][count]["help"]),
            ("set beyond that", results["setBeyondHelp"][count]),
        ]
    print_summaries(rows, 2, tail=False)
    torn = results["torn"]
    print(f"{torn['reads']:,} reads of eight threads, {torn['writes']:,} writes: {torn['torn']:,} torn")
