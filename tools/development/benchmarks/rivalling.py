# SPDX-License-Identifier: BSD-3-Clause
"""Measures tweaks against what programs use for settings in C++, in one process or in turn, as ratios."""

import os
import random
import subprocess
import tempfile
from pathlib import Path

import many_tweaks
from building import BENCHMARKS, TOOLS, UNAVAILABLE, Failure, installed, output
from reporting import is_known, print_table, progress, ratio, summary, times

HELP = """\
rivals  ns of processor time to read an int and a text in C++: a tweak against a constant, a plain global, a relaxed
        atomic, gflags and Abseil's flags, and in eight threads while another one writes all the time; ms of processor
        time to start and end with 1,000 of them, and page faults; the same with one tweak and 20 or 60 libraries,
        against the program without the library. Ratios have the interval of their median with 95 % confidence, and
        are measured until that is narrow. Needs libgflags-dev and libabsl-dev.
"""

# Measuring ends with intervals of this width, relative to the median, or after so many rounds.
WIDTH = 0.02
MOST_BATCHES = 20

COUNT = 1_000
LIBRARIES = [0, 20, 60]


def flags(name):
    found = subprocess.run(["pkg-config", "--cflags", "--libs", name], stdout=subprocess.PIPE, text=True)
    if found.returncode != 0:
        raise Failure("libgflags-dev and libabsl-dev are missing", UNAVAILABLE)
    return found.stdout.split()


def compile_cpp(source, program, *options):
    many_tweaks.compiled("g++", "-std=c++17", "-O2", "-DFB_TWEAK_ENABLED=1", source, *options, "-pthread", "-o", program)


def reads(folder, prefix, environment, quick):
    program = folder / "reads"
    compile_cpp(
        BENCHMARKS / "rivals/reads.cpp", program, *many_tweaks.linking(prefix), "-lgflags", *flags("absl_flags"))
    progress("measuring reads")
    samples = {}
    for _ in range(2 if quick else MOST_BATCHES):
        for line in output([program, "100"], **environment).splitlines():
            what, way, nanoseconds = line.split("\t")
            samples.setdefault((what, way), []).append(float(nanoseconds))
        rows = [
            {"what": what, "way": way, **summary(of), "ratio": ratio(samples[what, "tweak"], of)}
            for (what, way), of in samples.items()]
        if all(is_known(row["ratio"], WIDTH) for row in rows):
            break
    return rows


def write_flags(folder, prefix):
    """Programs with so many flags of each kind, which end at once."""
    numbers = range(COUNT)
    sources = {
        "gflags": "#include <gflags/gflags.h>\n" + "".join(
            f'DEFINE_int32(flag_{number}, {number}, "What number {number} does");\n' for number in numbers)
        + "int main(int argc, char **argv) { gflags::ParseCommandLineFlags(&argc, &argv, true); }\n",
        "abseil": "#include <absl/flags/flag.h>\n#include <absl/flags/parse.h>\n" + "".join(
            f'ABSL_FLAG(int, flag_{number}, {number}, "What number {number} does");\n' for number in numbers)
        + "int main(int argc, char **argv) { absl::ParseCommandLine(argc, argv); }\n",
    }
    options = {"gflags": ["-lgflags"], "abseil": [*flags("absl_flags"), *flags("absl_flags_parse")]}
    programs = {"tweaks": folder / "start-tweaks"}
    many_tweaks.write_program(programs["tweaks"], COUNT, prefix)
    for name, text in sources.items():
        source = folder / f"{name}.cpp"
        source.write_text(text)
        programs[name] = folder / f"start-{name}"
        # Optimised they take minutes.
        many_tweaks.compiled("g++", "-std=c++17", "-O0", source, *options[name], "-o", programs[name])
    return programs


def write_libraries(folder, count):
    """A program with one tweak, and libraries that have none."""
    names = []
    for number in range(count):
        source = folder / f"part{number}.c"
        source.write_text(f"int part{number}(void) {{ return {number}; }}\n")
        library = folder / f"libpart{number}.so"
        if not library.exists():
            many_tweaks.compiled("gcc", "-shared", "-fPIC", source, "-o", library)
        names.append(f"-lpart{number}")
    source = folder / "one.c"
    source.write_text(
        '#include <fbtweak.h>\nint main(void) { return FBTweakValue("Rivals", "Start", "One", 0); }\n')
    program = folder / f"one-{count}"
    many_tweaks.compiled(
        "gcc", "-std=gnu11", "-DDEBUG", f"-I{TOOLS.parent}/CSupport/include", source, f"-L{folder}", "-Wl,--no-as-needed",
        *names, "-o", program)
    return program


def started(program, environment):
    """The ms of processor time of a process, and its page faults."""
    process = os.posix_spawn(program, [program], environment)
    _, _, usage = os.wait4(process, 0)
    return (usage.ru_utime + usage.ru_stime) * 1e3, usage.ru_minflt


def starts(ways, quick):
    """Starts programs in turn: a name, the program and its environment."""
    samples = {name: [] for name in ways}
    for batch in range(1 if quick else MOST_BATCHES):
        for _ in range(50):
            for name in random.sample(list(ways), len(ways)):
                samples[name].append(started(*ways[name]))
        ours, *others = [[milliseconds for milliseconds, _ in of] for of in samples.values()]
        if all(is_known(ratio(ours, other), WIDTH) for other in others):
            break
    ours = [milliseconds for milliseconds, _ in next(iter(samples.values()))]
    rows = []
    for name, of in samples.items():
        milliseconds = [each for each, _ in of]
        rows.append({
            "name": name, **summary(milliseconds), "ratio": ratio(ours, milliseconds),
            "oursBeyond": summary([one - other for one, other in zip(ours, milliseconds)]),
            "faults": summary([faults for _, faults in of])["median"]})
    return rows


def measure(quick):
    with tempfile.TemporaryDirectory() as home:
        folder, prefix = Path(home), installed(home)
        environment = {
            "HOME": home, "XDG_CONFIG_HOME": home, "XDG_RUNTIME_DIR": home,
            "LD_LIBRARY_PATH": f"{prefix}/lib:{home}", "PATH": os.environ.get("PATH", "")}
        results = {"reads": reads(folder, prefix, environment, quick)}
        progress(f"building programs with {COUNT:,} flags")
        programs = write_flags(folder, prefix)
        progress("measuring starts")
        results["starts"] = {
            f"{COUNT:,} settings": starts({name: (str(path), environment) for name, path in programs.items()}, quick)}
        preloaded = environment | {"LD_PRELOAD": f"{prefix}/lib/libtweaks.so.0"}
        for count in LIBRARIES:
            program = str(write_libraries(folder, count))
            results["starts"][f"1 tweak, {count} libraries"] = starts(
                {"tweaks": (program, preloaded), "the program alone": (program, environment)}, quick)
        return results


def show(results):
    print("Reading in C++, ns of processor time")
    print_table(
        ["", "median", "samples", "tweak is"],
        [
            [f"{row['what']}, {row['way']}", f"{row['median']:.3f}", str(row["samples"]), times(row["ratio"])]
            for row in results["reads"]])
    print("\nStarting and ending, ms of processor time")
    print_table(
        ["", "median", "rounds", "page faults", "tweaks are", "beyond it"],
        [
            [
                f"{title}: {row['name']}", f"{row['median']:.2f}", str(row["samples"]), f"{row['faults']:.0f}",
                times(row["ratio"]), f"{row['oursBeyond']['median']:+.2f}"]
            for title, rows in results["starts"].items() for row in rows])
