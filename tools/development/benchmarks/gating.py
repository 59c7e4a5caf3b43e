# SPDX-License-Identifier: BSD-3-Clause
"""Measures an idle gate and takes of three tweaks beside reads, atomics and a mutex, and shows their instructions."""

import subprocess
import sys
import tempfile
from pathlib import Path

from building import BENCHMARKS, SOFTWARE, TOOLS, Failure, output
from looping import compilers
from reporting import print_table, progress, spread, summary

HELP = """\
gate    ns for an idle gate beside reading a tweak and a relaxed atomic, and for a take of three tweaks beside reading
        three globals, three relaxed atomics, and three globals behind a mutex that no other thread uses, in C with GCC
        and Clang, and the instructions of a gate and of a take. The loops alternate in one process.
"""

GATE, TAKE = "an idle gate", "a take of three with what it has seen"
BESIDE = {
    "a relaxed atomic": "a tweak", GATE: "a tweak",
    **dict.fromkeys(
        ["three relaxed atomics", "three globals behind a mutex", "three tweaks", "a take of three", TAKE], "three globals"),
}


def instructions(program, function):
    said = output(["objdump", "-d", "--no-show-raw-insn", f"--disassemble={function}", program])
    lines = (line.split("\t", 1) for line in said.splitlines() if line.startswith(" "))
    return [" ".join(text[1].split("#")[0].split()) for text in lines if len(text) == 2 and "nop" not in text[1]]


def measure(quick):
    progress("measuring gates and takes")
    rows = []
    with tempfile.TemporaryDirectory() as home:
        for name, compiler in compilers().items():
            if not compiler:
                continue
            program = str(Path(home, name))
            command = [
                compiler, "-std=gnu11", "-O2", "-pthread", "-DFB_TWEAK_ENABLED=1", "-I", str(TOOLS.parent / "CSupport/include"),
                str(BENCHMARKS / "gate/gate.c"), "-o", program]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                print(done.stdout, file=sys.stderr, end="")
                raise Failure(f"{' '.join(command)} failed", SOFTWARE)
            shown = {GATE: instructions(program, "shown_gate"), "a take of three": instructions(program, "shown_take")}
            medians = {}
            for line in output([program, "100" if quick else "1000"]).splitlines():
                way, samples = line.split("\t")
                values = summary([float(sample) for sample in samples.split(",")])
                medians[way] = values["median"]
                rows.append({
                    "compiler": name, "way": way, **values, "instructions": shown.get(way, []),
                    "beside": BESIDE.get(way), "times": values["median"] / medians[BESIDE.get(way, way)]})
    return rows


def show(rows):
    print(f"Gates and takes, ns, {rows[0]['samples'] if rows else 0} samples")
    print_table(
        ["", "median", "middle half", "×", "of"],
        [
            [f"{row['compiler']} {row['way']}", f"{row['median']:.3f}", spread(*row["middleHalf"], 3),
             f"{row['times']:.2f}" if row["beside"] else "", row["beside"] or ""]
            for row in rows
        ])
    for row in rows:
        if row["instructions"]:
            print(f"\n{row['compiler']}, {row['way']}:")
            print("\n".join(f"    {instruction}" for instruction in row["instructions"][:16]))
    print()
