# SPDX-License-Identifier: BSD-3-Clause
"""Fetches and builds programs from Debian's sources."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path


class Missing(Exception):
    """Something that cannot be fetched or built here."""


@dataclass
class Program:
    """A program, how to build it, and a run that ends by itself."""

    package: str
    path: str  # in the source
    arguments: str = ""  # of the run, for a shell; {source} is the folder of the source
    language: str = "C"
    configure: list = field(default_factory=list)
    make: list = field(default_factory=list)
    static_make: list = field(default_factory=list)


PROGRAMS = [
    Program("hello", "hello", "-g bye"),
    Program("gzip", "gzip", "-9c < {source}/configure"),
    Program("less", "less", "--version", make=["less"]),
    Program("sl", "sl", "-F", static_make=["LDFLAGS=-lncurses -ltinfo"]),
    Program("tinyproxy", "src/tinyproxy", "-c /nonexistent"),
    Program("xz-utils", "src/xz/xz", "-0 -T1 -c {source}/configure", configure=["--disable-shared", "--disable-nls"]),
    Program("ed", "ed", "-s {source}/configure < /dev/null"),
    Program("vitetris", "vitetris", "-help"),
    Program("bc", "dc/dc", "-e '2 99 ^ p'"),
    Program("lzip", "lzip", "-1c {source}/configure", "C++"),
    Program("gddrescue", "ddrescue", "-q {source}/configure /dev/null", "C++"),
    Program("gperf", "src/gperf", "{source}/tests/c.gperf", "C++"),
    Program("gnuchess", "src/gnuchess", "--version", "C++", make=["-C", "src"],
            static_make=["LIBS=-lreadline -lncurses -ltinfo"]),
]

COMPILERS = {
    "gcc": ("gcc", "g++", "gcc-ar", "gcc-ranlib"),
    "clang": ("clang-14", "clang++-14", "llvm-ar-14", "llvm-ranlib-14"),
}

BUILDS = {
    "O0": ["-O0"],
    "O2": ["-O2"],
    "lto": ["-O2", "-flto"],
    "static": ["-O2", "-fno-pie", "-no-pie", "-static"],
}


def checked(arguments, **options):
    """Runs a command, and returns what it printed."""
    try:
        done = subprocess.run(
            list(map(str, arguments)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace", **options)
    except OSError as error:
        raise Missing(f"{arguments[0]}: {error.strerror}") from None
    if done.returncode:
        raise Missing(f"{' '.join(map(str, arguments))}: {done.stdout[-2000:]}")
    return done.stdout


def source(program, folder):
    """The folder with the source of a program, of the Debian that runs."""
    unpacked = folder / "sources" / program.package
    if unpacked.exists():
        return unpacked
    codename = re.search(r"^VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text(), re.M)
    key = "/usr/share/keyrings/debian-archive-keyring.gpg"
    if not codename or not os.path.exists(key):
        raise Missing("the sources are fetched from Debian, and this is not Debian")
    apt = folder / "apt"
    command = ["apt-get", "-o", f"Dir::Etc::sourcelist={apt}/sources.list", "-o", "Dir::Etc::sourceparts=-",
               "-o", f"Dir::State::lists={apt}/lists"]
    if os.getuid() == 0:
        command += ["-o", "APT::Sandbox::User=root"]
    if not apt.exists():
        (apt / "lists/partial").mkdir(parents=True)
        (apt / "sources.list").write_text(
            f"deb-src [signed-by={key}] http://deb.debian.org/debian {codename[1]} main\n")
        checked([*command, "update"])
    fetched = apt / program.package
    shutil.rmtree(fetched, ignore_errors=True)
    fetched.mkdir()
    checked([*command, "source", program.package], cwd=fetched)
    unpacked.parent.mkdir(exist_ok=True)
    next(path for path in fetched.iterdir() if path.is_dir()).rename(unpacked)
    return unpacked


def configured(program, folder):
    """The folder with a source that is ready to be built."""
    tree = folder / "configured" / program.package
    # Paths are written into it, so it is not moved to its place once it is whole.
    done = tree.with_suffix(".done")
    if done.exists():
        return tree
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(source(program, folder), tree, symlinks=True)
    script = tree / "configure"
    if script.exists():
        script.chmod(0o755)
        checked(["./configure", *program.configure], cwd=tree)
    done.touch()
    return tree


def build(program, compiler, name, folder):
    """Builds a program, and returns the path of the executable."""
    built = folder / "built" / f"{program.package}-{compiler}-{name}"
    if built.exists():
        return built
    built.parent.mkdir(parents=True, exist_ok=True)
    tree = folder / "trees" / f"{program.package}-{compiler}-{name}"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(configured(program, folder), tree, symlinks=True)
    flags = " ".join(["-g", *BUILDS[name]])
    c, cxx, ar, ranlib = COMPILERS[compiler]
    # What automake would make again after a patch is there already.
    unneeded = [f"{tool}=:" for tool in ("ACLOCAL", "AUTOCONF", "AUTOHEADER", "AUTOMAKE", "MAKEINFO")]
    checked(
        ["make", "-j1", *unneeded, f"CC={c} {flags}", f"CXX={cxx} {flags}", f"CFLAGS={flags}", f"CXXFLAGS={flags}",
         f"AR={ar}", f"RANLIB={ranlib}", *program.make, *(program.static_make if name == "static" else [])], cwd=tree)
    shutil.copy2(tree / program.path, built)
    shutil.rmtree(tree)
    return built
