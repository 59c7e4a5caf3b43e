# SPDX-License-Identifier: BSD-3-Clause
"""Measures commands from their start to their end, by the number of tweaks, of variables and of places."""

import contextlib
import itertools
import os
import random
import subprocess
import tempfile
from pathlib import Path

import dumping
import many_tweaks
import scaling
import start_programs
from building import UNAVAILABLE, Failure, installed
from reporting import progress, summary

HELP = """\
command ms from the start to the end of what is installed, beside the same command with --help, for 1,000, 10,000 and
        100,000: `tweak set` of one tweak, and of ten by their last names, in a running program with so many; `tweak
        adopt` of a variable of a program with so many; and `tweak bake`, which prints the difference, of 1,000 and 10,000
        places in 100 sources. Each with its exponent, as in scale. The rows take turns.
"""

SET, SET_TEN, ADOPT, BAKE = "tweak set", "tweak set, ten short names", "tweak adopt", "tweak bake"
SOURCES = 100
LEVEL = "Hot/Path/Level"


def sizes_of(name):
    # More places take minutes.
    return [0, *(scaling.SIZES[:2] if name == BAKE else scaling.SIZES)]


def write_variables(path, count):
    """A program with so many variables and debug information."""
    source = path.with_suffix(".c")
    source.write_text("".join(f"int variable_{number} = 1;\n" for number in range(count)) + "int main(void) {}\n")
    many_tweaks.compiled("gcc", "-g", "-O0", source, "-o", path)


def write_places(folder, count):
    """The sources of a program of `many_tweaks` with so many tweaks, whose records have these places."""
    folder.mkdir()
    lines = {}
    for index in range(count):
        levels = f"Category {index * 10 // count}", f"Collection {index * 100 // count}", f"Tweak {index}"
        lines.setdefault(index * SOURCES // count, {})[index % 1000] = start_programs.tweak(index, levels)
    for part, functions in lines.items():
        (folder / f"part{part}.c").write_text("".join(functions.get(line, "\n") for line in range(1000)))


class Programs:
    """What the commands are run on, by size."""

    def __init__(self, folder, prefix, environment, stack):
        self.environment = environment
        self.tweak = f"{prefix}/bin/tweak"
        self.values = itertools.count(1)
        self.configurations = (folder / f"adopted-{number}" for number in itertools.count())
        self.served, self.variables, self.places = {}, {}, {}
        for size in scaling.SIZES:
            served, baked, sources = (folder / f"{name}-{size}" for name in ["served", "baked", "sources"])
            many_tweaks.write_program(served, size, prefix, are_read=True)
            process = stack.enter_context(subprocess.Popen(
                [served, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment))
            stack.callback(process.kill)
            process.stdout.readline()
            self.served[size] = str(process.pid)
            self.variables[size] = str(folder / f"variables-{size}")
            write_variables(Path(self.variables[size]), size)
            if size in sizes_of(BAKE):
                many_tweaks.write_program(baked, size, prefix, sources=sources)
                write_places(sources, size)
                self.places[size] = [str(baked), "--from", str(sources)], str(folder / f"overrides-{size}")
                many_tweaks.write_overrides(self.places[size][1], size, size)

    def milliseconds(self, name, size):
        """The time of a command; of its help, if the size is 0."""
        words, configuration = name.split(",")[0].split(), self.environment["XDG_CONFIG_HOME"]
        if size == 0:
            arguments = ["--help"]
        elif name == SET:
            arguments = [self.served[size], LEVEL, str(next(self.values))]
        elif name == SET_TEN:
            # Those of type int.
            value = next(self.values) % 100
            arguments = [self.served[size], *(f"Tweak {4 * number}={value}" for number in range(10))]
        elif name == ADOPT:
            arguments, configuration = [self.variables[size], "variable_7"], str(next(self.configurations))
        else:
            arguments, configuration = self.places[size]
        milliseconds, _ = dumping.run(
            [self.tweak, *words[1:], *arguments], {**self.environment, "XDG_CONFIG_HOME": configuration})
        return milliseconds


def measure(quick):
    with tempfile.TemporaryDirectory() as home, contextlib.ExitStack() as stack:
        os.chmod(home, 0o700)
        folder, prefix = Path(home), installed(home, "--with-adopt")
        if not os.access(f"{prefix}/libexec/tweaks/tweak-adopt", os.X_OK):
            raise Failure(f"{prefix} has no tweak adopt: tools/install --with-adopt installs it", UNAVAILABLE)
        environment = {
            "HOME": home, "XDG_CONFIG_HOME": f"{home}/configuration", "XDG_STATE_HOME": f"{home}/state",
            "XDG_RUNTIME_DIR": home, "LD_LIBRARY_PATH": f"{prefix}/lib", "PATH": os.environ.get("PATH", "")}
        progress("writing programs")
        programs = Programs(folder, prefix, environment, stack)
        rounds = 3 if quick else 15
        progress(f"measuring {rounds} rounds")
        samples = {(name, size): [] for name in [SET, SET_TEN, ADOPT, BAKE] for size in sizes_of(name)}
        for _ in range(rounds):
            for name, size in random.sample(list(samples), len(samples)):
                samples[name, size].append(programs.milliseconds(name, size))
    return [
        scaling.sized(name, {size: summary(samples[name, size]) for size in sizes_of(name)})
        for name in [SET, SET_TEN, ADOPT, BAKE]]


def show(rows):
    scaling.show_sizes("Commands from start to end, ms", "--help", rows)
