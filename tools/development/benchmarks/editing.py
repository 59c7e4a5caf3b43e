# SPDX-License-Identifier: BSD-3-Clause
"""Measures how long `tweak follow` takes from saving a source to the value in the running program."""

import os
import random
import subprocess
import tempfile
import time
from pathlib import Path

from building import BENCHMARKS, SOFTWARE, TOOLS, Failure, build_as_installed
from reporting import print_table, progress, spread, summary

HELP = """\
edit    ms from a rename over a source in C or Swift, one of whose literals was edited, to the value in the program that
        `tweak follow` follows, for sources of 10 KB, 250 KB and 2 MB with 1 and 500 tweaks.
"""

SIZES = {"10 KB": 10_000, "250 KB": 250_000, "2 MB": 2_000_000}

FILLERS = {
    "C": """\
/* Returns the weighted sum of both inputs; see the manual, section {0}. */
static inline double filler{0}(double first, double second) {{
  const char *label = "filler {0}: \\"weights\\"";
  if (first > second && label[0] != 'x') return first * 0.25 + second * 0.75; // the usual case
  for (int i = 0; i < 0x10; i++) {{ first += table[(i + {0}) % 8] * 1e-3f; }}
  return (first + second) / 2.0;
}}

""",
    "Swift": """\
/// Returns the weighted sum of both inputs; see the manual, section {0}.
func filler{0}(_ first: Double, _ second: Double) -> Double {{
    let label = "filler {0}: \\(first) \\"weights\\""
    guard first <= second, !label.isEmpty else {{ return first * 0.25 + second * 0.75 }} // the usual case
    for i in 0..<0x10 {{ print(table[(i + {0}) % 8] * 1e-3) }}
    return (first + second) / 2.0
}}

""",
}
FORMER = "1.25"


def declaration(language, index):
    name, literal = ("first", FORMER) if index == 0 else (f"other{index}", "2.5")
    if language == "C":
        value = f'FBTweakValue("Edit", "Values", "T{index}", {literal}, 0, 1000000)'
        return f"double {name}(void) {{ return {value}; }}\n"
    value = f'#tweak("Edit", "Values", "T{index}", default: {literal}, in: 0...1000000)'
    return f"func {name}() -> Double {{ {value} }}\n"


def sources(language, size, count):
    """The source to edit, and one in C of the program with its tweaks."""
    parts = ["#include <fbtweak.h>\nstatic const double table[8];\n" if language == "C" else "import Tweaks\n"]
    length = 0
    while length < size:
        parts.append(FILLERS[language].format(len(parts)))
        length += len(parts[-1])
    for index in range(count):
        parts[1 + index * (len(parts) - 1) // count] += declaration(language, index)
    text = "".join(parts)
    if language == "C":
        return text, text
    # The compiler of C says where each tweak is in the other source.
    program = ["#include <fbtweak.h>"]
    for number, line in enumerate(text.splitlines(), 1):
        if "#tweak" in line:
            index = int(line.split('"T')[1].split('"')[0])
            program += [f'#line {number} "edited.swift"', declaration("C", index)]
    return text, "\n".join(program)


def edits(command, language, size, count, samples):
    with tempfile.TemporaryDirectory() as home:
        text, program = sources(language, size, count)
        edited = Path(home, "edited.c" if language == "C" else "edited.swift")
        edited.write_text(text)
        Path(home, "program.c").write_text(program)
        name = "edited.c" if language == "C" else "program.c"
        compiler = [
            "gcc", "-w", "-O1", "-DDEBUG", "-I", str(TOOLS.parent / "CSupport/include"), name,
            str(BENCHMARKS / "edit/shown.c"), "-o", "program"]
        if subprocess.run(compiler, cwd=home).returncode != 0:
            raise Failure(f"{' '.join(compiler)} failed", SOFTWARE)
        environment = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": home, "XDG_STATE_HOME": home, "XDG_RUNTIME_DIR": home}
        shown = subprocess.Popen(
            [f"{home}/program"], cwd=home, env=environment, stdout=subprocess.PIPE, text=True)
        follow = subprocess.Popen(
            [command, "follow", str(shown.pid)], cwd=home, env=environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)
        try:
            shown.stdout.readline()
            said = follow.stderr.readline()
            if "following" not in said:
                raise Failure(f"tweak follow: {said}", SOFTWARE)
            milliseconds = []
            for index in range(samples):
                time.sleep(random.uniform(0.02, 0.05))
                value = f"{index + 2}.5"
                new = edited.with_suffix(".new")
                new.write_text(text.replace(FORMER, value))
                start = time.monotonic_ns()
                os.rename(new, edited)
                seen, end = shown.stdout.readline().split()
                if seen != value:
                    raise Failure(f"the program has {seen} and not {value}", SOFTWARE)
                milliseconds.append((int(end) - start) / 1e6)
            return summary(milliseconds)
        finally:
            for process in [follow, shown]:
                process.kill()
                process.wait()


def measure(quick):
    progress("building the command")
    command = build_as_installed("tweak")
    rows = []
    for language in FILLERS:
        for count in [1, 500]:
            for size, bytes in SIZES.items():
                if count > bytes // 500:
                    continue
                progress(f"measuring edits of {size} in {language} with {count} tweaks")
                rows.append({
                    "language": language, "tweaks": count, "size": size,
                    **edits(command, language, bytes, count, 20 if quick else 200)})
    return rows


def title(row):
    return f"{row['size']} in {row['language']}, tweaks: {row['tweaks']}"


def show(rows):
    print(f"From saving a source to the program, ms, {rows[0]['samples']} edits each")
    print_table(
        ["", "median", "middle half", "95 %", "all"],
        [
            [
                title(row), f"{row['median']:.1f}", spread(*row["middleHalf"], 1), f"{row['percentile95']:.1f}",
                spread(row["minimum"], row["maximum"], 1),
            ]
            for row in rows
        ])
