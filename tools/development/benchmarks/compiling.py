# SPDX-License-Identifier: BSD-3-Clause
"""Measures the cost of tweaks in compile time."""

import os
import random
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import start_programs
from building import BENCHMARKS, SOFTWARE, TOOLS, Failure, build, built_example, macro_flags
from reporting import print_table, progress, spread, summary

HELP = """\
compile s to compile a file with 500 tweaks of four types without optimization, in Swift with a debug build of the macro
        plug-in and in C and C++ with both compilers, compared to the same file with constants, in random order. Then the
        modules that a package using the library without Swift macros compiles.
"""

COUNT = 500

# The Swift type of a tweak, its default and options, as those of start_programs.KINDS.
SWIFT_KINDS = [
    ("Int32", "12", ", in: 0...100"),
    ("Double", "4.5", ", in: 0...10"),
    ("Bool", "true", ""),
    ("String", '"linear"', ""),
]


def names(index):
    return ", ".join(f'"{level}"' for level in start_programs.levels(index, COUNT))


def swift_source(tweaks):
    """Functions that return a tweak or its default."""
    lines = ["import Tweaks\n"]
    for index in range(COUNT):
        kind, value, options = SWIFT_KINDS[index % len(SWIFT_KINDS)]
        expression = f"#tweak({names(index)}, default: {value}{options})" if tweaks else value
        lines.append(f"public func tweak{index}() -> {kind} {{ {expression} }}\n")
    return "".join(lines)


def c_source(tweaks):
    functions = (start_programs.tweak(index, start_programs.levels(index, COUNT)) for index in range(COUNT))
    constants = "" if tweaks else "#undef FBTweakValue\n#define FBTweakValue(a_, b_, c_, default_, ...) (default_)\n"
    return f'#include "fbtweak.h"\n{constants}' + "".join(functions)


def cxx_source(tweaks):
    return c_source(tweaks).replace("_Bool", "bool")


def swift_command(example):
    """The compiler with what the package manager gives it for a debug build of a module that uses the library."""
    modules = ["CTweakSystem", "CTweaks", "FBTweak"]
    maps = [f"-fmodule-map-file={example / module}.build/module.modulemap" for module in modules]
    return [
        "swiftc", "-Onone", "-g", "-DDEBUG", "-parse-as-library", "-module-name", "Many",
        *(option for map in maps for option in ["-Xcc", map]),
        "-I", str(example / "Modules"), "-I", str(TOOLS.parent / "Sources/System/CLibELF"), *macro_flags(example), "-c",
    ]


def c_command(compiler, standard):
    return [compiler, "-O0", "-g", "-DDEBUG", f"-std={standard}", "-I", str(TOOLS.parent / "CSupport/include"), "-c"]


def seconds(command, source):
    begin = time.perf_counter()
    directory = Path(source).parent
    # The Swift compiler leaves expansions of macros in the place for temporary files.
    environment = {**os.environ, "TMPDIR": str(directory)}
    result = subprocess.run([*command, source, "-o", f"{source}.o"], cwd=directory, env=environment)
    end = time.perf_counter()
    if result.returncode != 0:
        raise Failure(f"{command[0]} ended with status {result.returncode}", SOFTWARE)
    return end - begin


def measure(quick):
    progress("building the example, for its macro plug-in")
    commands = {"Swift": ("swift", swift_source, swift_command(built_example()))}
    for compiler in filter(shutil.which, ["clang", "gcc"]):
        commands[f"C, {compiler}"] = ("c", c_source, c_command(compiler, "c11"))
    for compiler in filter(shutil.which, ["clang++", "g++"]):
        commands[f"C++, {compiler}"] = ("cpp", cxx_source, c_command(compiler, "c++17"))
    rounds = 3 if quick else 15
    progress(f"compiling {2 * rounds * len(commands)} files")
    samples = {(language, tweaks): [] for language in commands for tweaks in [False, True]}
    with tempfile.TemporaryDirectory() as directory:
        files = {}
        for (language, tweaks), _ in samples.items():
            suffix, source, _ = commands[language]
            files[language, tweaks] = Path(directory, f"{language}-{tweaks}.{suffix}")
            files[language, tweaks].write_text(source(tweaks))
        for _ in range(rounds):
            for case in random.sample(list(samples), len(samples)):
                samples[case].append(seconds(commands[case[0]][2], str(files[case])))
    rows = []
    for language in commands:
        constants, tweaks = samples[language, False], samples[language, True]
        rows.append({
            "name": language, "constants": summary(constants), "tweaks": summary(tweaks),
            "adds": summary([more - less for more, less in zip(tweaks, constants)]),
        })
    return {"files": rows, "modulesWithoutMacros": modules_without_macros()}


def modules_without_macros():
    """The modules with objects after a build."""
    progress("building a package without Swift macros")
    directory = build(BENCHMARKS / "change", "-c", "release")
    return sorted(
        folder.stem for folder in directory.glob("*.build") if any(folder.rglob("*.o")))


def show(results):
    rows = results["files"]
    print(f"Compiling {COUNT} tweaks, s, {rows[0]['adds']['samples']} rounds")
    print_table(
        ["", "constants", "tweaks", "added", "middle half", "×"],
        [
            [
                row["name"], f"{row['constants']['median']:.2f}", f"{row['tweaks']['median']:.2f}",
                f"{row['adds']['median']:+.2f}", spread(*row["adds"]["middleHalf"], 2),
                f"{row['tweaks']['median'] / row['constants']['median']:.1f}",
            ]
            for row in rows
        ])
    modules = results["modulesWithoutMacros"]
    print(f"modules of a package without Swift macros: {', '.join(modules)}")
