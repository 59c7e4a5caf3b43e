# SPDX-License-Identifier: BSD-3-Clause
"""Builds and runs the programs to measure."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from reporting import progress

TOOLS = Path(__file__).resolve().parents[2]
BENCHMARKS = TOOLS / "development/benchmarks"

USAGE, UNAVAILABLE, SOFTWARE = 64, 69, 70  # sysexits.h


class Failure(Exception):
    """An error that the user can act on, with the exit status."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


def require_build_tools():
    if not shutil.which("swift"):
        raise Failure("Swift 6.2 or later is missing: https://www.swift.org/install/linux", UNAVAILABLE)
    if shutil.which("pkg-config") and subprocess.run(["pkg-config", "--exists", "libelf"]).returncode == 0:
        return
    if not any(Path(root, "include/libelf.h").exists() for root in ["/usr", "/usr/local"]):
        raise Failure("libelf.h is missing: on Debian and Ubuntu it is in the package libelf-dev", UNAVAILABLE)


def build(package, *options):
    """Builds a package and returns the directory of its programs."""
    # The package manager overlooks files that are new in a package which another one depends on by path.
    (Path(package) / "Package.swift").touch()
    command = ["swift", "build", "--package-path", str(package), *options]
    # Relative paths in the options start there.
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=package)
    if result.returncode != 0:
        print(result.stdout, file=sys.stderr, end="")
        raise Failure(f"{' '.join(command)} failed", SOFTWARE)
    return Path(output([*command, "--show-bin-path"], cwd=package).strip())


def build_as_installed(product):
    """Builds a command as tools/install does, and returns it."""
    script = '. tools/development/building && tweaks_choose_commands && printf "%s\\0" "${tweaks_commands[@]}"'
    options = output(["bash", "-c", script], cwd=TOOLS.parent).split("\0")[:-1]
    return build(TOOLS.parent, *options, "--product", product) / product


def installed(home, *options):
    """The prefix of an installation: TWEAKS_INSTALLED, or one that tools/install makes in a folder with these options."""
    if "TWEAKS_INSTALLED" in os.environ:
        return str(Path(os.environ["TWEAKS_INSTALLED"]).absolute())
    prefix = f"{home}/installed"
    progress("installing the library and the commands")
    output([str(TOOLS / "install"), "--prefix", prefix, "--destdir", "", *options])
    return prefix


def output(command, cwd=None, **environment):
    """The output of a command. Keyword arguments are environment variables."""
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}, cwd=cwd)
    if result.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))} ended with status {result.returncode}", SOFTWARE)
    return result.stdout


def built_example():
    """The directory of a debug build of the example, with the macro plug-in and the modules of the library."""
    if "TWEAKS_EXAMPLE_BUILT" in os.environ:
        directory = Path(os.environ["TWEAKS_EXAMPLE_BUILT"]).absolute()
    else:
        directory = build(TOOLS / "example")
    plugin = directory / "TweakMacros-tool"
    if not os.access(plugin, os.X_OK):
        raise Failure(f"there is no macro plug-in at {plugin}", UNAVAILABLE)
    return directory


def macro_flags(example):
    """The options for the Swift compiler to expand the macros."""
    return ["-load-plugin-executable", f"{example / 'TweakMacros-tool'}#TweakMacros"]
