"""The dimensions of the table of tools/development/toolchains, and the corresponding tools on this machine."""

import collections
import fnmatch
import functools
import itertools
import json
import re
import shutil
import subprocess
import tempfile
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
PACKAGE = Path(__file__).resolve().parents[3]

NATIVES = ["gcc", "Swift's clang", "clang"]

# With --root, the folder of another system: the compilers and linkers are those in it, and run there, as do programs.
root = None
# In a shell, for the root, two folders that are the same there, and a command.
ENTER = """\
for folder in "$1" "$2" /dev; do mkdir -p "$0$folder" && mount --bind "$folder" "$0$folder" || exit; done
mount -t proc proc "$0/proc" && shift 2 && exec chroot "$0" env --chdir="$PWD" "$@"
"""


def use_root(folder):
    global root
    root = str(Path(folder).resolve())
    names = (path.name for path in Path(root, "usr/bin").glob("*-*"))
    NATIVES[:] = sorted(
        (name for name in names if re.fullmatch(r"(gcc|clang)-\d+", name)),
        key=lambda name: (name.startswith("clang"), int(name.split("-")[1])))
    for linker in [linker for linker, program in LINKERS.items() if not which(program)]:
        del LINKERS[linker]


def which(program):
    """The path of a program that builds or runs the cells, or None."""
    if not root:
        return shutil.which(program)
    return f"/usr/bin/{program}" if shutil.which(program, path=f"{root}/usr/bin") else None


def entered(arguments):
    """The command line, or one that runs it in the root, in which temporary files and the package are as here."""
    if not root:
        return arguments
    return ["unshare", "--mount", "sh", "-c", ENTER, root, tempfile.gettempdir(), str(PACKAGE), *arguments]


def said_by(*arguments):
    """What a command writes, or nothing."""
    return subprocess.run(entered(arguments), cwd=PACKAGE, capture_output=True, text=True).stdout


@functools.cache
def compilers():
    """The path of each compiler, or None, by the name that the table gives it."""
    if root:
        return {name: which(name) for name in NATIVES}
    swiftc = shutil.which("swiftc")
    # The distribution's `clang` on the search path can be the one that comes with Swift.
    clangs = sorted(Path("/usr/lib").glob("llvm-*/bin/clang"), key=lambda path: int(path.parts[3][5:].split(".")[0]))
    paths = {
        "gcc": shutil.which("gcc"),
        "Swift's clang": swiftc and shutil.which(str(Path(swiftc).resolve().parent / "clang")),
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
    folder, _, name = path.rpartition("/")
    plus = re.sub(r"(?:gcc|clang)(?=-\d+$|$)", lambda found: {"gcc": "g++", "clang": "clang++"}[found[0]], name)
    return which(plus if root else f"{folder}/{plus}")


@functools.cache
def archiver(compiler):
    """An archiver that also indexes objects compiled for LTO."""
    path = compilers()[compiler]
    if "clang" not in compiler:
        return which("gcc-ar") if compiler == "musl-gcc" else re.sub(r"gcc(?=-\d+$|$)", "gcc-ar", path)
    named = said_by(path, "-print-prog-name=llvm-ar").strip()
    if root:
        return named
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
    if root:
        return
    yield from itertools.starmap(
        Cell, itertools.product(["musl-gcc"], LINKERS, ["static"], OPTIMIZATIONS, ["plain"], C))
    yield from itertools.starmap(
        Cell, itertools.product(CROSS, ["bfd"], ["static"], ["O0", "O2"], ["plain"], [*C, "C++17"]))


def slice_of_table():
    """Each compiler with each linker once, the other dimensions in turn; and what else is installed."""
    for i, compiler in enumerate(NATIVES):
        for j, linker in enumerate(LINKERS):
            # No two cells of three compilers have the same optimization and the same sanitizer.
            at = {"link": 4 * i + j, "optimization": i + j, "sanitizer": 2 * i + 3 * j}
            # Each compiler builds two C and two C++ programs, GCC a C++ one with bfd, which is its linker.
            at["standard"] = 3 * (i + j + 1) + i + j // 2
            values = zip(at.values(), [LINKS, OPTIMIZATIONS, SANITIZERS, STANDARDS])
            yield Cell(compiler, linker, *(list(names)[turn % len(names)] for turn, names in values))
    if root:
        return
    others = [Cell("musl-gcc", linker, "static", "O2", "plain", "C11") for linker in LINKERS]
    others += itertools.starmap(
        Cell, itertools.product(CROSS, ["bfd"], ["static"], ["O0", "O2"], ["plain"], ["C11", "C++17"]))
    yield from (cell for cell in others if driver(cell.compiler, cell.standard))


def expected_failures(path):
    """A function that gives the reason why a cell cannot be built or run, or None, as the list says.

    The list has for each reason the values that some dimensions of the cells have, or patterns such as "clang-*"; the
    others have any.
    """
    entries = json.loads(Path(path).read_text())
    boxes = [([entry["cells"].get(field) for field in Cell._fields], entry["reason"]) for entry in entries]

    def reason(cell):
        matching = (
            why for box, why in boxes
            if all(some is None or any(fnmatch.fnmatchcase(value, pattern) for pattern in some)
                   for value, some in zip(cell, box)))
        return next(matching, None)

    return reason


def versions(cells):
    """The first line that each tool says about itself: the table is about these."""
    lines = {}
    for name in dict.fromkeys(cell.compiler for cell in cells):
        said = said_by(compilers()[name], "--version")
        lines[name] = (said.splitlines() or ["?"])[0]
    for linker in LINKERS:
        said_to = collections.defaultdict(list)
        for compiler in NATIVES:
            said = said_by(compilers()[compiler], f"-fuse-ld={linker}", "-Wl,--version")
            said_to[(said.splitlines() or ["?"])[0]].append(compiler)
        for line, names in said_to.items():
            lines[linker if len(said_to) == 1 else f"{linker} of {', '.join(names)}"] = line
    return lines
