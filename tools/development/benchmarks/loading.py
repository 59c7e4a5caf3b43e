# SPDX-License-Identifier: BSD-3-Clause
"""Measures the load of many clients: `start-1000 wait` with 100 of them, one of which sets all the time."""

import json
import os
import select
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import start_programs
import starting
from building import SOFTWARE, Failure
from reporting import print_table, progress, summary

HELP = """\
load    10,000 requests per second for a minute, each setting a tweak: one client sends them, 100 at a time, 79 watch
        all changes, and 20 more subscribe but never read. Requests per second, ms until 100 were answered, private
        memory in KB after a tenth and at the end, writes of the overrides per second, and whether all clients have the
        same values in the end.
"""

RATE = 10_000
REQUESTS = 100
WATCHERS, SILENT = 79, 20

COUNT = 1_000
# Those of type double, which take any value from 0 to 10.
TWEAKS = ["/".join(start_programs.levels(index, COUNT)) for index in range(1, 32, 4)]


class Client:
    """A connection that speaks the protocol."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.rest = b""

    def send(self, requests):
        lines = [json.dumps({"jsonrpc": "2.0", "id": 1, **request}) + "\n" for request in requests]
        self.socket.sendall("".join(lines).encode())

    def receive(self):
        """The lines that have come, at least one byte of one."""
        data = self.socket.recv(1 << 18)
        if not data:
            raise Failure("the program ended the connection", SOFTWARE)
        *lines, self.rest = (self.rest + data).split(b"\n")
        return lines

    def skip(self, count):
        while count > 0:
            count -= len(self.receive())

    def ask(self, method, **parameters):
        self.send([{"method": method, "params": parameters}])
        lines = []
        while not lines:
            lines = self.receive()
        return json.loads(lines[0])["result"]


def read_to_end(clients, last):
    """Reads what the program tells the clients, until each knows the last values.

    Only the last lines can hold those, and only they are looked at: most of the time is the program's.
    """
    tails = {client: [] for client in clients}
    poll = select.poll()
    by_descriptor = {client.socket.fileno(): client for client in clients}
    for descriptor in by_descriptor:
        poll.register(descriptor, select.POLLIN)
    ends = {f'"newValue":{value},'.encode() for value in last.values()}
    while by_descriptor:
        for descriptor, _ in poll.poll(60_000) or [(None, None)]:
            if descriptor is None:
                return False
            client = by_descriptor[descriptor]
            tails[client] = (tails[client] + client.receive())[-200:]
            if any(end in line for line in tails[client][-8:] for end in ends):
                values = {}
                for line in tails[client]:
                    for change in json.loads(line)["params"]["changes"]:
                        values[change["tweak"]] = change["newValue"]
                if all(values.get(tweak) == value for tweak, value in last.items()):
                    poll.unregister(descriptor)
                    del by_descriptor[descriptor]
    return True


def forked(body):
    """Runs `body` in a process of its own, as it would otherwise slow down the client that sends."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            status = 0 if body() else 1
        finally:
            os._exit(status)
    return process


def kilobytes(process):
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Anonymous:"))


def value(number):
    return round(number * 1e-5, 5)


def load(process, path, overrides, count):
    while not path.exists():
        if process.poll() is not None:
            raise Failure(f"the program ended with status {process.returncode}", SOFTWARE)
        time.sleep(0.01)
    sender, *others = [Client(str(path)) for _ in range(1 + WATCHERS + SILENT)]
    for client in others:
        client.ask("subscribe")
    silent, watchers = others[:SILENT], others[SILENT:]
    last = {TWEAKS[number % len(TWEAKS)]: value(number) for number in range(count - len(TWEAKS) + 1, count + 1)}
    reader = forked(lambda: read_to_end(watchers, last))
    memory, writes, milliseconds = None, set(), []
    start = time.monotonic()
    for number in range(0, count, REQUESTS):
        if number == count // 10:
            memory = kilobytes(process.pid)
        before = time.monotonic()
        sender.send(
            {"method": "set", "params": {"tweak": TWEAKS[each % len(TWEAKS)], "value": value(each)}}
            for each in range(number + 1, number + REQUESTS + 1))
        sender.skip(REQUESTS)
        milliseconds.append((time.monotonic() - before) * 1e3)
        if overrides.exists():
            writes.add(overrides.stat().st_mtime_ns)
        time.sleep(max(0, start + (number + REQUESTS) / RATE - time.monotonic()))
    seconds = time.monotonic() - start
    grown = kilobytes(process.pid)
    _, status = os.waitpid(reader, 0)
    time.sleep(0.2)
    in_process = {tweak: sender.ask("get", tweak=tweak)["value"] for tweak in TWEAKS}
    kept = json.loads(overrides.read_text())
    in_file = {}
    for tweak in TWEAKS:
        category, collection, name = tweak.split("/")
        in_file[tweak] = kept[category][collection][name]
    return {
        "rate": count / seconds, "answer": summary(milliseconds), "writesPerSecond": len(writes) / seconds,
        "privateKilobytes": {"early": memory, "late": grown},
        "equal": {
            "process": in_process == last, "file": in_file == last, "watchers": status == 0,
            "clients that read late": read_to_end(silent, last),
        },
    }


def measure(quick):
    program = starting.build_programs() / start_programs.program(COUNT)
    count = RATE * (5 if quick else 60)
    progress(f"setting {count:,} times")
    with tempfile.TemporaryDirectory() as temporary:
        process = subprocess.Popen(
            [str(program), "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={"XDG_CONFIG_HOME": temporary, "XDG_RUNTIME_DIR": temporary})
        with process:
            try:
                path = Path(temporary, "tweaks", f"{process.pid}.sock")
                return load(process, path, Path(temporary, "tweaks", program.name, "overrides.json"), count)
            finally:
                process.kill()


def show(results):
    print(f"{1 + WATCHERS + SILENT} clients, {RATE:,} sets a second")
    memory = results["privateKilobytes"]
    print_table(
        ["", ""],
        [
            ["sets a second", f"{results['rate']:,.0f}"],
            [f"{REQUESTS} answers, ms", f"{results['answer']['median']:.2f}"],
            ["the same, slowest", f"{results['answer']['maximum']:.2f}"],
            ["memory, KB", f"{memory['early']} … {memory['late']}"],
            ["writes a second", f"{results['writesPerSecond']:.1f}"],
        ])
