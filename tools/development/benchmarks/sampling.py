# SPDX-License-Identifier: BSD-3-Clause
"""Measures the cost of sampling the monitors of a program."""

import base64
import json
import os
import socket
import statistics
import struct
import subprocess
import tempfile
import time
from pathlib import Path

from building import BENCHMARKS, SOFTWARE, TOOLS, Failure, installed
from reporting import print_table, progress

HELP = """\
sample  A C program stores 1,000 monitors continuously, and a client samples them 1,000 times per second for a minute,
        through the library's socket and, without the library, through its memory: the CPU load of the sampling thread,
        in the program or in the client, the client's load for writing them as CSV, samples dropped or not taken in
        time, and the ns that the program takes to store all monitors once, with and without a client, alternating.
"""

MONITORS = 1000
RATE = 1000
KEY = "Benchmark/State/{}"


def built_program(directory):
    stores = "".join(
        f'  FBTweakMonitor("Benchmark", "State", "{index}", value + {index});\n' for index in range(MONITORS))
    source = Path(directory, "monitors.c")
    source.write_text(f"#include <fbtweak.h>\nvoid store_monitors(double value) {{\n{stores}}}\n")
    program = Path(directory, "monitors")
    command = [
        "gcc", "-std=gnu11", "-O2", "-DFB_TWEAK_ENABLED=1", "-I", str(TOOLS.parent / "CSupport/include"), str(source),
        str(BENCHMARKS / "sample/work.c"), "-o", str(program)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)} failed: {done.stdout}", SOFTWARE)
    return program


def cpu_seconds(pid, thread=None):
    """For the named threads of a process except the first one; or for the first one."""
    tasks = Path(f"/proc/{pid}/task")
    total = 0
    for task in tasks.iterdir():
        name, fields = (task / "stat").read_text().rsplit(")", 1)
        if task.name == str(pid) if thread is None else task.name != str(pid) and name.endswith(f"({thread}"):
            words = fields.split()
            total += int(words[11]) + int(words[12])
    return total / os.sysconf("SC_CLK_TCK")


class Worker:
    """The program, with its output."""

    def __init__(self, program, home, library=None):
        environment = dict(os.environ, HOME=home, XDG_CONFIG_HOME=home, XDG_RUNTIME_DIR=home)
        if library:
            environment["LD_PRELOAD"] = str(library)
        self.process = subprocess.Popen([program], stdout=subprocess.PIPE, text=True, env=environment)

    def nanoseconds(self, seconds):
        """The median time of an iteration in the next seconds."""
        self.process.stdout.readline()
        return statistics.median(float(self.process.stdout.readline()) for _ in range(seconds))

    def end(self):
        self.process.terminate()
        self.process.wait()


def connected(home, pid):
    path = f"{home}/tweaks/{pid}.sock"
    for _ in range(100):
        client = socket.socket(socket.AF_UNIX)
        try:
            client.connect(path)
            return client
        except OSError:
            client.close()
            time.sleep(0.05)
    raise Failure(f"nobody listens at {path}", SOFTWARE)


def sampled_through_socket(home, pid, seconds):
    """The numbers of samples taken, dropped and skipped, and the CPU load of the library thread."""
    client = connected(home, pid)
    tweaks = [KEY.format(index) for index in range(MONITORS)]
    request = {"jsonrpc": "2.0", "id": 1, "method": "sample", "params": {"tweaks": tweaks, "rate": RATE}}
    client.sendall(json.dumps(request).encode() + b"\n")
    lines = client.makefile("rb")
    lines.readline()
    size = 8 * (MONITORS + 1)
    count = dropped = skipped = 0
    first = last = None
    before, start = cpu_seconds(pid, "tweaks"), time.monotonic()
    while time.monotonic() - start < seconds:
        samples = json.loads(lines.readline())["params"]
        frames = base64.b64decode(samples["frames"])
        count += len(frames) // size
        dropped += samples["dropped"]
        skipped += samples["skipped"]
        first = first or struct.unpack_from("=d", frames)[0]
        last = struct.unpack_from("=d", frames, len(frames) - size)[0]
    core = (cpu_seconds(pid, "tweaks") - before) / (time.monotonic() - start)
    client.close()
    return {"samples": count, "due": round((last - first) * RATE) + 1, "dropped": dropped, "skipped": skipped, "core": core,
            "written": None}


def sampled_by_memory(tweak, pid, seconds):
    """The same for the command, which also writes the samples, on another thread."""
    command = [
        str(tweak), "watch", str(pid), "--rate", str(RATE), "--duration", str(seconds), "--format", "csv", "--output",
        "/dev/null"]
    client = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    before, start = [cpu_seconds(client.pid, thread) for thread in ("tweak", None)], time.monotonic()
    time.sleep(seconds - 2)
    after, end = [cpu_seconds(client.pid, thread) for thread in ("tweak", None)], time.monotonic()
    core, written = [(after[index] - before[index]) / (end - start) for index in (0, 1)]
    said = client.communicate()[1]
    # By words: beside CSV the counts are only a sentence.
    skipped = int(said.split(", ")[-1].split()[0]) if "not taken" in said else 0
    return {"samples": seconds * RATE - skipped, "due": seconds * RATE, "dropped": 0, "skipped": skipped, "core": core,
            "written": written}


def measure(quick):
    seconds = 5 if quick else 60
    rows = []
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o700)
        prefix = installed(home)
        library, tweak = f"{prefix}/lib/libtweaks.so", f"{prefix}/bin/tweak"
        program = built_program(home)
        for way in ["socket", "memory"]:
            progress(f"sampling by {way}")
            worker = Worker(program, home, library if way == "socket" else None)
            try:
                time.sleep(1)
                alone = worker.nanoseconds(max(seconds // 6, 2))
                subject = worker.process.pid
                row = (sampled_through_socket(home, subject, seconds) if way == "socket"
                       else sampled_by_memory(tweak, subject, seconds))
                # Its lines were delayed in the pipe.
                lines = [worker.nanoseconds(1) for _ in range(max((seconds - 4) // 2, 1))]
                rows.append({"way": way, **row, "alone": alone, "sampled": statistics.median(lines)})
            finally:
                worker.end()
    return rows


def percent(part):
    return "" if part is None else f"{part * 100:.1f} %"


def show(rows):
    print(f"Sampling {MONITORS:,} monitors {RATE:,} times in a second")
    print_table(
        ["", "samples", "due", "dropped", "not in time", "of a core", "writing CSV", "ns alone", "ns sampled"],
        [
            [row["way"], f"{row['samples']:,}", f"{row['due']:,}", str(row["dropped"]), str(row["skipped"]),
             percent(row["core"]), percent(row["written"]), f"{row['alone']:.0f}", f"{row['sampled']:.0f}"]
            for row in rows
        ])
