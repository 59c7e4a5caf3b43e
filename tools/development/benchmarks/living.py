# SPDX-License-Identifier: BSD-3-Clause
"""Measures live changes of what is installed: through a gate, for a time, and again from a recording."""

import contextlib
import itertools
import json
import os
import random
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from building import BENCHMARKS, installed, output
from reporting import print_summaries, progress, summary

HELP = """\
live    ms from the answer to a set until a loop of 1 kHz has the value through its gate; from the end of a client, by
        kill -9, until the value that it has leased is gone; and between the times of changes in a recording and in its
        replay. All with what is installed.
"""

# A loop that is late by half a turn has had the next pass all the same.

GAIN, LEVEL = "Motor/Loop/Gain", "Trial/Values/Level"


class Client:
    """A connection to a program."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        # A program that has just begun listens soon.
        for _ in range(500):
            with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
                self.socket.connect(path)
                break
            time.sleep(0.01)
        self.lines = self.socket.makefile("r")
        self.numbers = itertools.count(1)
        self.events = []

    def ask(self, method, **parameters):
        number = next(self.numbers)
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        while True:
            message = json.loads(self.lines.readline())
            if message.get("id") == number:
                return message["result"]
            self.events.append(message)

    def next_change(self):
        message = self.events.pop(0) if self.events else json.loads(self.lines.readline())
        return message["params"]["changes"][-1]


def gated(client, loop, count):
    """From the answer to each set until the loop has seen the value."""
    samples = []
    for value in range(2, count + 2):
        time.sleep(random.uniform(0.002, 0.006))
        client.ask("set", tweak=GAIN, value=value)
        answered = time.monotonic_ns()
        seen, at = map(int, loop.stdout.readline().split())
        assert seen == value, f"{seen} instead of {value}"
        # It may have seen the value before the answer was read.
        samples.append(max(0, at - answered) / 1e6)
    return samples


def leased(client, path, count):
    """From each kill of a client until an observer knows that its value is gone."""
    client.ask("reset", tweak=LEVEL)
    client.ask("subscribe", tweaks=[LEVEL])
    samples = []
    for value in range(2, count + 2):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            holder = Client(path)
            holder.ask("set", tweak=LEVEL, value=value, until="closed")
            os.write(writing, b"\n")
            time.sleep(60)
            os._exit(0)
        os.close(writing)
        os.read(reading, 1)
        os.close(reading)
        assert client.next_change()["newValue"] == value
        time.sleep(random.uniform(0, 0.002))
        start = time.monotonic_ns()
        os.kill(child, 9)
        assert client.next_change()["newValue"] == 1
        samples.append((time.monotonic_ns() - start) / 1e6)
        os.waitpid(child, 0)
    return samples


def change_times(client, number):
    """The times of the changes after a number, in ms after the first."""
    times = [change["monotonicTime"] for change in client.ask("history", since=number)["changes"]
             if change["tweak"] == LEVEL]
    return [(each - times[0]) * 1e3 for each in times]


def replayed(command, client, pid, home, count):
    """The differences between the times of changes in a recording and in its replay."""
    file = f"{home}/changes.mcap"
    last = client.ask("history")["last"]
    with subprocess.Popen([command, "record", str(pid), file], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as recorder:
        # The recording begins with a snapshot.
        while not Path(file).exists() or Path(file).stat().st_size == 0:
            time.sleep(0.01)
        time.sleep(0.2)
        for value in range(2, count + 2):
            client.ask("set", tweak=LEVEL, value=value)
            time.sleep(random.uniform(0.005, 0.03))
        time.sleep(0.2)
        recorder.terminate()
    original = change_times(client, last)
    client.ask("reset", tweak=LEVEL)
    last = client.ask("history")["last"]
    output([command, "replay", file, str(pid)])
    again = change_times(client, last)
    assert len(original) == len(again), f"{len(again)} of {len(original)} changes"
    return [abs(one - other) for one, other in zip(original, again)]


def measure(quick):
    count = 100 if quick else 1_000
    with tempfile.TemporaryDirectory() as home, contextlib.ExitStack() as stack:
        prefix = installed(home)
        program = f"{home}/loop"
        output(["gcc", "-O2", "-DFB_TWEAK_ENABLED=1", f"-I{prefix}/include", str(BENCHMARKS / "live/loop.c"),
                f"-L{prefix}/lib", "-Wl,--no-as-needed", "-ltweaks", f"-Wl,-rpath,{prefix}/lib", "-o", program])
        os.environ |= {"XDG_RUNTIME_DIR": home, "XDG_CONFIG_HOME": f"{home}/config"}
        loop = stack.enter_context(subprocess.Popen([program], stdout=subprocess.PIPE, text=True))
        stack.callback(loop.kill)
        path = f"{home}/tweaks/{loop.pid}.sock"
        client = Client(path)
        progress(f"measuring {count} sets, kills and changes of a recording")
        return {
            "gate": summary(gated(client, loop, count)),
            "replay": summary(replayed(f"{prefix}/bin/tweak", client, loop.pid, home, min(count, 300))),
            "lease": summary(leased(client, path, count)),
        }


def show(results):
    print(f"Live changes, ms, {results['gate']['samples']} of each")
    rows = [
        ("set answered → value behind a gate, at 1 kHz", results["gate"]),
        ("client killed → leased value gone", results["lease"]),
        ("change recorded → replayed, off by", results["replay"]),
    ]
    print_summaries(rows, 2)
