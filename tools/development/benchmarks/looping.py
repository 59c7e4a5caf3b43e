# SPDX-License-Identifier: BSD-3-Clause
"""Measures a tweak inside a loop that the compiler vectorizes when there is a constant."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from building import BENCHMARKS, SOFTWARE, TOOLS, Failure, output
from reporting import print_table, progress, spread, summary

HELP = """\
loop    ns per element of an array of 4,096 floats scaled in C by a constant, by a tweak inside the loop, by a tweak
        read before it, by a variable bound with FBTweakBind, and by a global, without and with FBTweakVariable; with GCC
        and Clang.
"""

WAYS = [("gcc", ["-O2"]), ("gcc", ["-O3"]), ("clang", ["-O2"]), ("clang", ["-O3"])]


def compilers():
    # The clang that comes with Swift, whatever others are on the search path.
    swift = shutil.which("swiftc")
    clang = swift and shutil.which(Path(swift).resolve().parent / "clang")
    return {"gcc": shutil.which("gcc"), "clang": clang or shutil.which("clang")}


def measure(quick):
    progress("measuring loops")
    rows = []
    with tempfile.TemporaryDirectory() as home:
        for name, flags in WAYS:
            compiler = compilers()[name]
            if not compiler:
                continue
            program = str(Path(home, f"{name}{flags[0]}"))
            command = [
                compiler, "-std=c11", *flags, "-DFB_TWEAK_ENABLED=1", "-I", str(TOOLS.parent / "CSupport/include"),
                str(BENCHMARKS / "loop/loop.c"), "-o", program]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                print(done.stdout, file=sys.stderr, end="")
                raise Failure(f"{' '.join(command)} failed", SOFTWARE)
            said = output([program, "200" if quick else "2000"], HOME=home, XDG_CONFIG_HOME=home)
            for line in said.splitlines():
                way, samples = line.split("\t")
                values = summary([float(sample) for sample in samples.split(",")])
                rows.append({"compiler": f"{name} {flags[0]}", "way": way, **values})
    medians = {(row["compiler"], row["way"]): row["median"] for row in rows}
    for row in rows:
        row["timesConstant"] = row["median"] / medians[row["compiler"], "constant"]
        row["timesGlobal"] = row["median"] / medians[row["compiler"], "global"]
    return rows


def show(rows):
    print(f"A loop over floats, ns per element, {rows[0]['samples'] if rows else 0} samples")
    print_table(
        ["", "median", "middle half", "× constant", "× global"],
        [
            [f"{row['compiler']} {row['way']}", f"{row['median']:.3f}", spread(*row["middleHalf"], 3),
             f"{row['timesConstant']:.1f}", f"{row['timesGlobal']:.2f}"]
            for row in rows
        ])
