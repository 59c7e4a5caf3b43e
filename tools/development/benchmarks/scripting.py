# SPDX-License-Identifier: BSD-3-Clause
"""Measures the Python package with what is installed."""

import contextlib
import os
import subprocess
import sys
import tempfile
import time

from building import BENCHMARKS, TOOLS, installed, output
from reporting import print_summaries, progress, summary

sys.path.insert(0, str(TOOLS / "python"))
import fbtweak  # noqa: E402

HELP = """\
script  µs of a request with the Python package: reading a tweak, setting it, kept and leased, and a trial of an
        optimization, which leases two values and ends that. Changes a second for ten seconds, and samples of 1,000 monitors
        at 500 Hz: received, due, lost, and the CPU load of Python. With what is installed.
"""

MONITORS, RATE = 1000, 500


def built(home, name, source, options):
    program = f"{home}/{name}"
    output(["gcc", "-O2", "-DFB_TWEAK_ENABLED=1", str(source), *options, "-o", program])
    return program


def timed(count, body):
    """The times of calls in µs."""
    samples = []
    for index in range(count):
        start = time.perf_counter_ns()
        body(index)
        samples.append((time.perf_counter_ns() - start) / 1e3)
    return samples


def trial(program, number):
    with program.lease({"Level": number, "Gain": number}):
        pass


def sets_a_second(program, seconds):
    """Each is a change of its own; the last value must be there."""
    count, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        count += program.set_each({"Level": count + each + 1} for each in range(1000))
    assert program["Level"] == count
    return count / seconds


def sampled(program, seconds):
    before = time.process_time()
    samples = program.sample(rate=RATE, seconds=seconds)
    return {
        "samples": len(samples), "due": RATE * seconds, "dropped": samples.dropped, "skipped": samples.skipped,
        "core": (time.process_time() - before) / seconds,
    }


def measure(quick):
    count, seconds = (1_000, 2) if quick else (10_000, 10)
    with tempfile.TemporaryDirectory() as home, contextlib.ExitStack() as stack:
        prefix = installed(home)
        library = [
            f"-I{prefix}/include", f"-L{prefix}/lib", "-Wl,--no-as-needed", "-ltweaks", f"-Wl,-rpath,{prefix}/lib"]
        os.environ |= {
            "XDG_RUNTIME_DIR": home, "XDG_CONFIG_HOME": f"{home}/config", "PATH": f"{prefix}/bin:{os.environ['PATH']}"}
        stores = "".join(
            f'FBTweakMonitor("Crowd", "State", "{index}", value + {index});\n' for index in range(MONITORS))
        with open(f"{home}/monitors.h", "w") as file:
            file.write(stores)
        crowd = built(home, "crowd", TOOLS / "python/tests/crowd.c", [f'-DMONITORS="{home}/monitors.h"', *library])
        loop = built(home, "loop", BENCHMARKS / "live/loop.c", library)

        def connected(path):
            process = stack.enter_context(subprocess.Popen([path], stdout=subprocess.DEVNULL))
            stack.callback(process.kill)
            return stack.enter_context(fbtweak.connect(process.pid, wait=10))

        program = connected(loop)
        progress(f"measuring {count} requests of each kind")
        results = {
            "reading": summary(timed(count, lambda _: program["Level"])),
            "setting": summary(timed(count, lambda index: program.set({"Level": index}))),
            "trial": summary(timed(count, lambda index: trial(program, index))),
        }
        with program.lease({"Level": 0}) as lease:
            results["leased"] = summary(timed(count, lambda index: lease.set({"Level": index})))
        results["sets"] = sets_a_second(program, seconds)
        progress(f"sampling {MONITORS} monitors")
        results["sampling"] = sampled(connected(crowd), seconds)
        return results


def show(results):
    print(f"Requests from Python, µs, {results['trial']['samples']} of each")
    rows = [
        ("read a tweak", results["reading"]),
        ("set a tweak", results["setting"]),
        ("set a leased tweak", results["leased"]),
        ("lease two values behind a gate and outside, and end that", results["trial"]),
    ]
    print_summaries(rows, 0)
    sampling = results["sampling"]
    lost = sampling["dropped"] + sampling["skipped"]
    print(f"{results['sets']:,.0f} changes a second")
    print(f"{MONITORS:,} monitors at {RATE} Hz: {sampling['samples']:,} of {sampling['due']:,} samples, "
          f"{lost} lost, {100 * sampling['core']:.0f} % of a core")
