# SPDX-License-Identifier: BSD-3-Clause
"""Measures how remote values reach programs: from a change in etcd, through tweak-agent, to the tweaks of processes."""

import base64
import http.client
import json
import mmap
import os
import random
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import starting
from building import BENCHMARKS, SOFTWARE, TOOLS, UNAVAILABLE, Failure, installed, output
from reporting import print_summaries, progress, summary

sys.path.insert(0, str(TOOLS / "development"))
from ports import free_port  # noqa: E402

HELP = """\
remote  etcd, tweak-agent and programs that follow its files, on one host. ms from the start of a put in etcd, at least
        100 after the last one, until a program has the value, and until the last of 1,000 processes has it; the same from
        the start of `tweak fleet set`, beside `tweak fleet set --help`; how many
        of them use inotify, of which a user has 128 instances by default; wakeups in 5 idle seconds of a process with
        and without inotify, and of the agent; and what a file of values adds to starting and ending a program.
"""

IDLE_SECONDS = 5
APPLICATION = "receiver"
TWEAK = "Benchmark/Agent/Value"
KEY = f"/tweaks/production/{APPLICATION}/values/{TWEAK}"
SLOT = struct.Struct("qq")


class Etcd:
    """One member, on loopback."""

    def __init__(self, home):
        # Tests unpack it there.
        program = shutil.which("etcd", path=f"{os.environ['PATH']}:{TOOLS.parent}/.build/servers/usr/bin")
        if not program:
            raise Failure("etcd is missing: on Debian it is in the package etcd-server", UNAVAILABLE)
        self.port, peer = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = subprocess.Popen(
            [program, "--data-dir", f"{home}/etcd", "--listen-client-urls", self.url, "--advertise-client-urls", self.url,
             "--listen-peer-urls", f"http://127.0.0.1:{peer}", "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}",
             "--initial-cluster", f"default=http://127.0.0.1:{peer}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port)
        for _ in range(200):
            try:
                return self.put(0) and None
            except (OSError, http.client.HTTPException):
                self.connection.close()
                time.sleep(0.05)
        raise Failure("etcd does not answer", SOFTWARE)

    def put(self, value):
        """Returns the time of its start, in ns of the monotonic clock."""
        body = json.dumps({
            name: base64.b64encode(text.encode()).decode()
            for name, text in [("key", KEY), ("value", json.dumps({"value": value}))]})
        start = time.monotonic_ns()
        self.connection.request("POST", "/v3/kv/put", body)
        response = self.connection.getresponse()
        if response.status != 200:
            raise Failure(f"etcd: {response.read()}", SOFTWARE)
        response.read()
        return start

    def end(self):
        self.connection.close()
        self.process.terminate()
        self.process.wait()


class Agent:
    def __init__(self, program, home, url):
        self.configuration = Path(home, "agent.json")
        self.configuration.write_text(json.dumps({
            "etcd": {"endpoints": [url], "plainHTTP": True}, "applications": [{"name": APPLICATION, "fleet": True}]}))
        self.process = subprocess.Popen(
            [program, "--configuration", self.configuration, "--folder", f"{home}/state/tweaks"], stderr=subprocess.DEVNULL)

    def end(self):
        self.process.terminate()
        self.process.wait()


class Receivers:
    """Programs that record when they receive a value."""

    def __init__(self, program, home, environment, count):
        self.file = open(f"{home}/slots", "w+b")
        self.file.truncate(count * SLOT.size)
        self.slots = mmap.mmap(self.file.fileno(), count * SLOT.size)
        self.processes = [
            subprocess.Popen(
                [program, self.file.name, str(index)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
                stderr=subprocess.DEVNULL)
            for index in range(count)]
        for process in self.processes:
            if process.stdout.readline() != b"ready\n":
                raise Failure(f"{program} has not begun", SOFTWARE)

    def milliseconds(self, change, value):
        """The time until each has a value, from before its change."""
        start = change(value)
        waiting = set(range(len(self.processes)))
        deadline = time.monotonic() + 30
        while waiting:
            if time.monotonic() > deadline:
                raise Failure(f"{len(waiting)} processes do not have a value after 30 s", SOFTWARE)
            waiting = {index for index in waiting if SLOT.unpack_from(self.slots, index * SLOT.size)[1] != value}
            time.sleep(0.0002 if len(self.processes) == 1 else 0.05)
        return [
            (SLOT.unpack_from(self.slots, index * SLOT.size)[0] - start) / 1e6 for index in range(len(self.processes))]

    def following(self):
        """The programs with an inotify descriptor."""
        return [process.pid for process in self.processes if "anon_inode:inotify" in links(process.pid)]

    def end(self):
        for process in self.processes:
            process.stdin.close()
        for process in self.processes:
            process.wait()
            process.stdout.close()
        self.slots.close()
        self.file.close()


def links(pid):
    folder = f"/proc/{pid}/fd"
    return [os.readlink(f"{folder}/{name}") for name in os.listdir(folder)]


def sleeps(pid):
    """The number of voluntary context switches of each thread of a process."""
    counts = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        lines = (task / "status").read_text().splitlines()
        counts[task.name] = next(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt"))
    return counts


def wake_ups(pids):
    """The number of wakeups of each process while nothing happens."""
    before = {name: sleeps(pid) for name, pid in pids.items()}
    time.sleep(IDLE_SECONDS)
    return {
        name: sum(count - before[name].get(thread, 0) for thread, count in sleeps(pid).items())
        for name, pid in pids.items()}


def built_receiver(prefix, home):
    program = Path(home, APPLICATION)
    libraries = [f"-L{prefix}/lib", "-Wl,--no-as-needed", "-ltweaks", f"-Wl,-rpath,{prefix}/lib"]
    output(["gcc", "-O2", "-DFB_TWEAK_ENABLED=1", f"-I{prefix}/include", BENCHMARKS / "agent/receiver.c", *libraries,
            "-o", program])
    return program


def starts(program, home, rounds):
    """The cost of a file with values for starting and ending a program."""
    folder = Path(home, "state/tweaks", APPLICATION)
    empty = Path(home, "nothing")
    empty.mkdir()
    differences = []
    for _ in range(rounds):
        samples = {}
        for name in random.sample(["with", "without"], 2):
            state = folder.parent if name == "with" else empty
            samples[name] = starting.milliseconds(str(program), configuration=str(empty), TWEAKS_PROVIDED=str(state))
        differences.append(samples["with"] - samples["without"])
    return differences


def measure(quick):
    single, commands, many, rounds, start_rounds = (50, 10, 100, 3, 50) if quick else (300, 100, 1000, 10, 300)
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o700)
        prefix = installed(home, "--with-agent")
        program = built_receiver(prefix, home)
        environment = dict(
            os.environ, HOME=home, XDG_CONFIG_HOME=f"{home}/configuration", XDG_STATE_HOME=f"{home}/state",
            XDG_RUNTIME_DIR=home)
        started = []
        try:
            etcd = Etcd(home)
            started.append(etcd)
            agent = Agent(f"{prefix}/bin/tweak-agent", home, etcd.url)
            started.append(agent)
            values = iter(range(1, 1 << 30))

            def changed(receivers, count, change=etcd.put):
                return [receivers.milliseconds(change, next(values)) for _ in range(count)]

            def fleet_set(*arguments):
                """Returns the time of the start of the command."""
                start = time.monotonic_ns()
                output([f"{prefix}/bin/tweak", "fleet", "set", *arguments], **environment)
                return start

            def set_in_fleet(value):
                return fleet_set("--configuration", agent.configuration, APPLICATION, TWEAK, str(value))

            progress(f"measuring {single} changes")
            receivers = Receivers(program, home, environment, 1)
            started.append(receivers)
            changed(receivers, 5)
            of_one = []
            for _ in range(single):
                # The agent collects changes that follow each other closely.
                time.sleep(random.uniform(0.1, 0.15))
                of_one += changed(receivers, 1)[0]
            progress(f"measuring {commands} commands")
            of_set, of_help = [], []
            for _ in range(commands):
                time.sleep(random.uniform(0.1, 0.15))
                of_set += changed(receivers, 1, set_in_fleet)[0]
                start = fleet_set("--help")
                of_help.append((time.monotonic_ns() - start) / 1e6)
            # Threads that are only needed at the start have ended by then.
            time.sleep(3)
            idle = wake_ups({"a program": receivers.processes[0].pid, "the agent": agent.process.pid})
            started.pop().end()

            progress(f"measuring {many} processes")
            receivers = Receivers(program, home, environment, many)
            started.append(receivers)
            time.sleep(3)
            changed(receivers, 1)
            of_many = changed(receivers, rounds)
            following = receivers.following()
            others = [process.pid for process in receivers.processes if process.pid not in set(following)]
            if others:
                idle |= wake_ups({"one without inotify": others[0]})
            started.pop().end()
            progress(f"measuring {2 * start_rounds} starts")
            added = starts(program, home, start_rounds)
        finally:
            for one in reversed(started):
                one.end()
    return {
        "one": summary(of_one), "fleetSet": summary(of_set), "fleetHelp": summary(of_help), "processes": many,
        "withInotify": len(following),
        "median": summary([statistics.median(samples) for samples in of_many]),
        "last": summary([max(samples) for samples in of_many]), "idleWakeUps": idle, "addsToStart": summary(added),
    }


def show(results):
    print(f"Remote values, ms, {results['one']['samples']} changes in etcd")
    processes = results["processes"]
    rows = [
        ("put → value in one process", results["one"]), (f"… in half of {processes:,}", results["median"]),
        ("… in the last of them", results["last"]), ("tweak fleet set → value in one process", results["fleetSet"]),
        ("tweak fleet set --help", results["fleetHelp"]), ("a file with values adds to a start", results["addsToStart"]),
    ]
    print_summaries(rows, 2)
    print(f"{results['withInotify']} of {processes:,} processes are told by inotify, the others look")
    print(f"wake-ups in {IDLE_SECONDS} idle seconds: "
          + ", ".join(f"{name} {count}" for name, count in results["idleWakeUps"].items()))
