"""The dimensions of the table of tools/development/toolchains, and the corresponding tools on this machine."""

import collections
import functools
import itertools
import json
import shutil
import subprocess
from pathlib import Path

Cell = collections.namedtuple("Cell", "compiler linker link optimization sanitizer standard")

CROSS = {  # compiler: how its programs run here
    "aarch64-linux-gnu-gcc": "qemu-aarch64",
    "arm-linux-gnueabihf-gcc": "qemu-arm",
    "riscv64-linux-gnu-gcc": "qemu-riscv64",
    "s390x-linux-gnu-gcc": "qemu-s390x",
}
LINKERS = {"bfd": "ld.bfd", "gold": "ld.gold", "lld": "ld.lld", "mold": "ld.mold"}
LINKS = {  # how the program is linked: flags to compile with, flags to link with
    "PIE": (["-fPIE"], ["-pie"]),
    "no-PIE": (["-fno-pie"], ["-no-pie"]),
    # Debian's gold cannot link the exception support in libstdc++.a.
    "static": (["-fno-pie", "-fno-exceptions"], ["-static"]),
    "shared": (["-fPIC"], ["-shared"]),
    "dlopen": (["-fPIC"], ["-shared"]),
}
OPTIMIZATIONS = {"O0": ["-O0"], "O2": ["-O2"], "Os": ["-Os"], "LTO": ["-O2", "-flto"]}
SANITIZERS = {
    "plain": [],
    "ASan": ["-fsanitize=address"],
    "UBSan": ["-fsanitize=undefined", "-fno-sanitize-recover=undefined"],
    "TSan": ["-fsanitize=thread"],
}
C = {"C11": ["-std=c11"], "C17": ["-std=c17"], "C23": ["-std=c2x"]}
CPP = {"C++17": ["-std=c++17"], "C++20": ["-std=c++20"], "C++23": ["-std=c++2b"]}
STANDARDS = C | CPP

CANNOT = Path(__file__).resolve().parent / "cannot.json"

NATIVES = ["gcc", "Swift's clang", "clang"]


@functools.cache
def compilers():
    """The path of each compiler, or None, by the name that the table gives it."""
    swiftc = shutil.which("swiftc")
    # The distribution's `clang` on the search path can be the one that comes with Swift.
    clangs = sorted(Path("/usr/lib").glob("llvm-*/bin/clang"), key=lambda path: int(path.parts[3][5:].split(".")[0]))
    paths = {
        "gcc": shutil.which("gcc"),
        "Swift's clang": swiftc and shutil.which(Path(swiftc).resolve().parent / "clang"),
        "clang": str(clangs[-1]) if clangs else None,
        "musl-gcc": shutil.which("musl-gcc"),
    }
    for name, emulator in CROSS.items():
        paths[name] = shutil.which(name) if shutil.which(emulator) else None
    return paths


@functools.cache
def driver(compiler, standard):
    """The path of the compiler for a language, or None."""
    path = compilers()[compiler]
    if standard in C or not path:
        return path
    return shutil.which(f"{path}++" if "clang" in compiler else path.removesuffix("gcc") + "g++")


@functools.cache
def archiver(compiler):
    """An archiver that also indexes objects compiled for LTO."""
    path = compilers()[compiler]
    if "clang" not in compiler:
        return shutil.which("gcc-ar") if compiler in ("gcc", "musl-gcc") else path + "-ar"
    named = subprocess.run([path, "-print-prog-name=llvm-ar"], capture_output=True, text=True).stdout.strip()
    return shutil.which(named) or str(Path(compilers()["Swift's clang"]).parent / "llvm-ar")


def linker_flags(cell):
    if cell.compiler in CROSS:
        return []
    flags = [f"-fuse-ld={cell.linker}"]
    if cell.compiler == "musl-gcc" and cell.linker in ("lld", "mold"):
        # musl-gcc names a dynamic linker even with -static. These two obey, and the program crashes at start.
        flags.append("-Wl,--no-dynamic-linker")
    if cell.compiler == "Swift's clang" and cell.sanitizer == "TSan" and cell.link != "static":
        # Its runtime refers to these, which a Swift program has.
        libraries = Path(compilers()[cell.compiler]).parent.parent / "lib/swift/linux"
        flags += [f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-ldispatch", "-lBlocksRuntime"]
    return flags


def whole_table():
    yield from itertools.starmap(
        Cell, itertools.product(NATIVES, LINKERS, LINKS, OPTIMIZATIONS, SANITIZERS, STANDARDS))
    yield from itertools.starmap(
        Cell, itertools.product(["musl-gcc"], LINKERS, ["static"], OPTIMIZATIONS, ["plain"], C))
    yield from itertools.starmap(
        Cell, itertools.product(CROSS, ["bfd"], ["static"], ["O0", "O2"], ["plain"], [*C, "C++17"]))


def slice_of_table():
    """Each compiler with each linker once, the other dimensions in turn; and what else is installed."""
    for i, compiler in enumerate(NATIVES):
        for j, linker in enumerate(LINKERS):
            # No two of these twelve have the same optimization and the same sanitizer.
            at = {"link": 4 * i + j, "optimization": i + j, "sanitizer": 2 * i + 3 * j}
            # Each compiler builds two C and two C++ programs, GCC a C++ one with bfd, which is its linker.
            at["standard"] = 3 * (i + j + 1) + i + j // 2
            values = zip(at.values(), [LINKS, OPTIMIZATIONS, SANITIZERS, STANDARDS])
            yield Cell(compiler, linker, *(list(names)[turn % len(names)] for turn, names in values))
    others = [Cell("musl-gcc", linker, "static", "O2", "plain", "C11") for linker in LINKERS]
    others += itertools.starmap(
        Cell, itertools.product(CROSS, ["bfd"], ["static"], ["O0", "O2"], ["plain"], ["C11", "C++17"]))
    yield from (cell for cell in others if driver(cell.compiler, cell.standard))


def expected_failures(path):
    """A function that gives the reason why a cell cannot be built or run, or None, as the list says.

    The list has for each reason the values that some dimensions of the cells have; the others have any.
    """
    entries = json.loads(Path(path).read_text())
    boxes = [([entry["cells"].get(field) for field in Cell._fields], entry["reason"]) for entry in entries]

    def reason(cell):
        matching = (
            why for box, why in boxes if all(some is None or value in some for value, some in zip(cell, box)))
        return next(matching, None)

    return reason


def versions(cells):
    """The first line that each tool says about itself: the table is about these."""
    lines = {}
    for name in dict.fromkeys(cell.compiler for cell in cells):
        said = subprocess.run([compilers()[name], "--version"], capture_output=True, text=True).stdout
        lines[name] = (said.splitlines() or ["?"])[0]
    for linker in LINKERS:
        said_to = collections.defaultdict(list)
        for compiler in NATIVES:
            arguments = [compilers()[compiler], f"-fuse-ld={linker}", "-Wl,--version"]
            said = subprocess.run(arguments, capture_output=True, text=True).stdout
            said_to[(said.splitlines() or ["?"])[0]].append(compiler)
        for line, names in said_to.items():
            lines[linker if len(said_to) == 1 else f"{linker} of {', '.join(names)}"] = line
    return lines
