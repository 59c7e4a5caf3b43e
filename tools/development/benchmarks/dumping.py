# SPDX-License-Identifier: BSD-3-Clause
"""Measures how long tweak-dump takes for files with many tweaks, and for a large one with few."""

import multiprocessing
import os
import random
import shutil
import struct
import tempfile
import time
from pathlib import Path

from building import SOFTWARE, UNAVAILABLE, Failure, build_as_installed
from reporting import print_table, progress, spread, summary

HELP = """\
dump    ms for tweak-dump to write 100,000 tweaks of a file as JSON, and its memory in KB; the same for a file of 1 GB
        with 1,000 tweaks, alternating with `readelf -S`.
"""

MANY, FEW = 100_000, 1_000
LARGE = 1 << 30

# The type of a tweak, its eight bytes of default, and its limits.
KINDS = [
    (4, struct.pack("<q", 12), struct.pack("<qq", 0, 100)),
    (11, struct.pack("<d", 4.5), struct.pack("<dd", 0, 10)),
    (1, struct.pack("<q", 1), None),
    (12, bytes(8), None),
]


def record(index, count, sources="/home/ada/game/source"):
    """A record as compilers leave it, see RecordFormat.md, of a declaration in one of 100 sources."""
    kind, value, limits = KINDS[index % len(KINDS)]
    text = "linear" if kind == 12 else ""
    texts = [
        f"Category {index * 10 // count}", f"Collection {index * 100 // count}", f"Tweak {index}", text,
        f"at={sources}/part{index * 100 // count}.c:{index % 1000 + 1}", f"doc=What number {index} does", ""]
    fixed = bytes([1, 1, kind, 3 if limits else 0]) + value * 2 + (limits or bytes(16)) + bytes(8)
    content = fixed + "".join(each + "\0" for each in texts).encode()
    size = (len(content) + 4 + 7) // 8 * 8
    return struct.pack("<I", size) + content.ljust(size - 4, b"\0")


def write_object(path, count, size=0):
    """An object file for x86-64 with tweaks in the order of a shuffled deck, and with a section that makes it large."""
    order = list(range(count))
    random.Random(count).shuffle(order)
    records = b"".join(record(index, count) for index in order)
    names = b"\0fbtweak\0.large\0.shstrtab\0"
    start = 64 + len(records)
    end = max(start, size) // 8 * 8
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, end + 64, 0, 64, 0, 0, 64, 4, 3)
    sections = [
        (0, 0, 0, 0, 0), (1, 1, 3, 64, len(records)), (9, 1, 2, start, end - start), (16, 3, 0, end, len(names))]
    with open(path, "wb") as file:
        file.write(header + records)
        file.seek(end)
        file.write(names.ljust(64, b"\0"))
        for name, kind, flags, offset, length in sections:
            file.write(struct.pack("<IIQQQQIIQQ", name, kind, flags, 0, offset, length, 0, 0, 8, 0))


def run(arguments, environment=os.environ):
    """Runs a command, and returns its time in milliseconds and its memory in KB."""
    devnull = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    begin = time.perf_counter_ns()
    process = os.posix_spawn(arguments[0], arguments, environment, file_actions=[(os.POSIX_SPAWN_DUP2, devnull, 1)])
    _, status, usage = os.wait4(process, 0)
    end = time.perf_counter_ns()
    os.close(devnull)
    if status != 0:
        raise Failure(f"{' '.join(arguments)} ended with status {os.waitstatus_to_exitcode(status)}", SOFTWARE)
    return (end - begin) / 1e6, usage.ru_maxrss


def measure(quick):
    readelf = shutil.which("readelf")
    if not readelf:
        raise Failure("readelf is missing: on Debian and Ubuntu it is in the package binutils", UNAVAILABLE)
    progress("building tweak-dump")
    dump = str(build_as_installed("tweak-dump"))
    with tempfile.TemporaryDirectory() as temporary:
        many, large = str(Path(temporary, "many.o")), str(Path(temporary, "large.o"))
        # In a process of its own, because the memory of this one would count for each process that it starts.
        for arguments in [(many, MANY), (large, FEW, LARGE)]:
            writer = multiprocessing.Process(target=write_object, args=arguments)
            writer.start()
            writer.join()
            if writer.exitcode != 0:
                raise Failure(f"{arguments[0]} could not be written", SOFTWARE)
        commands = {
            "many": [dump, "--format", "json", many], "large": [dump, "--format", "json", large],
            "readelf": [readelf, "-S", "-W", large]}
        samples = {name: [] for name in commands}
        for _ in range(10 if quick else 50):
            for name in random.sample(list(commands), len(commands)):
                samples[name].append(run(commands[name]))
    return {
        name: {"milliseconds": summary([each[0] for each in runs]), "kilobytes": max(each[1] for each in runs)}
        for name, runs in samples.items()}


def show(results):
    rows = {
        "many": f"{MANY:,} tweaks", "large": f"{FEW:,} tweaks, {LARGE >> 30} GB", "readelf": "the same, readelf -S"}
    print_table(
        ["tweak-dump --format json", "ms", "middle half", "KB"],
        [[title, f"{results[name]['milliseconds']['median']:.1f}",
          spread(*results[name]["milliseconds"]["middleHalf"], 1), f"{results[name]['kilobytes']:,}"]
         for name, title in rows.items()])
