# SPDX-License-Identifier: BSD-3-Clause
"""Measures `tweak xcp` with a client that reads and writes a value."""

import contextlib
import itertools
import os
import random
import re
import socket
import struct
import subprocess
import tempfile
import time
from pathlib import Path

import many_tweaks
import scaling
from building import SOFTWARE, Failure, installed
from reporting import progress, summary

HELP = """\
xcp     ms from the start of `tweak xcp` until it listens, to read a value of a running program, and to write one, which
        takes two commands of XCP, for programs with 1,000, 10,000 and 100,000 tweaks, beside one with a single tweak, and
        reads and writes per second. With what is installed; the client, in Python, waits for each answer.
"""

START, READ, WRITE = "tweak xcp, until it listens", "read a value", "write a value"
SIZES = [0, *scaling.SIZES]


class Client:
    """A connection to a server of XCP on TCP."""

    def __init__(self, port, address):
        self.address = address
        self.numbers = itertools.count()
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream = self.socket.makefile("rb")
        self.ask(0xFF, 0)

    def ask(self, *command):
        self.socket.sendall(struct.pack("<HH", len(command), next(self.numbers) & 0xFFFF) + bytes(command))
        length, _ = struct.unpack("<HH", self.stream.read(4))
        answer = self.stream.read(length)
        if answer[0] != 0xFF:
            raise Failure(f"tweak xcp answers {answer.hex()} to {bytes(command).hex()}", SOFTWARE)
        return answer[1:]

    def read(self):
        return struct.unpack("<i", self.ask(0xF4, 4, 0, 0, *struct.pack("<I", self.address)))[0]

    def write(self, value):
        self.ask(0xF6, 0, 0, 0, *struct.pack("<I", self.address))
        self.ask(0xF0, 4, *struct.pack("<i", value))

    def close(self):
        self.stream.close()
        self.socket.close()


def timed(count, body):
    """The ms of a call, of so many."""
    start = time.perf_counter_ns()
    for _ in range(count):
        body()
    return (time.perf_counter_ns() - start) / 1e6 / count


def session(prefix, environment, process, address, values, count):
    """The ms until a server listens, of a read and of a write."""
    start = time.perf_counter_ns()
    server = subprocess.Popen(
        [f"{prefix}/bin/tweak", "xcp", "--port", "0", str(process.pid)], stdout=subprocess.PIPE, text=True, env=environment)
    with server:
        try:
            port = server.stdout.readline().rpartition(":")[2]
            listening = (time.perf_counter_ns() - start) / 1e6
            client = Client(int(port), address)
            writing = timed(count, lambda: client.write(next(values)))
            reading = timed(count, client.read)
            if client.read() != next(values) - 1:
                raise Failure("the program does not have the last value that was written", SOFTWARE)
            client.close()
        finally:
            server.kill()
    return {START: listening, READ: reading, WRITE: writing}


def measure(quick):
    with tempfile.TemporaryDirectory() as home, contextlib.ExitStack() as stack:
        os.chmod(home, 0o700)
        prefix = installed(home)
        environment = {
            "HOME": home, "XDG_CONFIG_HOME": home, "XDG_RUNTIME_DIR": home, "LD_LIBRARY_PATH": f"{prefix}/lib",
            "PATH": os.environ.get("PATH", "")}
        progress("writing programs")
        programs = {}
        for size in SIZES:
            program = Path(home, f"hot-{size}")
            many_tweaks.write_program(program, size, prefix)
            # It warns of texts, for which A2L has no type.
            described = subprocess.run(
                [f"{prefix}/bin/tweak-dump", "--format", "a2l", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                text=True).stdout
            address = re.search(r"/begin CHARACTERISTIC \S*Level\S* .* VALUE 0x([0-9a-f]+) ", described)
            process = stack.enter_context(subprocess.Popen(
                [program, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment))
            stack.callback(process.kill)
            process.stdout.readline()
            programs[size] = process, int(address[1], 16)
        rounds, count = (3, 200) if quick else (7, 1_000)
        progress(f"measuring {rounds} rounds")
        values = itertools.count(1)
        samples = {(name, size): [] for name in [START, READ, WRITE] for size in SIZES}
        for _ in range(rounds):
            for size in random.sample(SIZES, len(SIZES)):
                for name, of in session(prefix, environment, *programs[size], values, count).items():
                    samples[name, size].append(of)
    return [
        scaling.sized(name, {size: summary(samples[name, size]) for size in SIZES}) for name in [START, READ, WRITE]]


def show(rows):
    scaling.show_sizes("XCP, ms", "1", rows)
    _, *accesses = rows
    print(", ".join(f"{row['name']}: {1000 / row['milliseconds']['1000']:,.0f} a second" for row in accesses))
