# SPDX-License-Identifier: BSD-3-Clause
"""Measures what is installed: its size, and the page faults of a start with the library."""

import os
import tempfile
from pathlib import Path

import many_tweaks
import rivalling
from building import installed
from reporting import print_table, progress

HELP = """\
size    MB of the library, of the command tweak, and of all that tools/install installs with the page, the agent and
        tweak adopt; and the page faults of starting a program with the library and with the header alone.
"""

SOURCE = '#include <fbtweak.h>\nint main(void) { return FBTweakValue("Size", "Start", "One", 0); }\n'


def megabytes(*paths):
    return sum(path.stat().st_size for path in paths) / 1e6


def page_faults(program, environment):
    """Those that no start is without: others depend on what is in the page cache."""
    return min(rivalling.started(program, environment)[1] for _ in range(50))


def measure(quick):
    with tempfile.TemporaryDirectory() as home:
        prefix = Path(installed(home, "--with-ui", "--with-agent", "--with-adopt"))
        progress("measuring what is installed")
        source, alone, linked = (Path(home, name) for name in ["size.c", "alone", "linked"])
        source.write_text(SOURCE)
        many_tweaks.compiled("gcc", "-std=gnu11", "-DDEBUG", f"-I{prefix}/include", source, "-o", alone)
        many_tweaks.compiled("gcc", "-std=gnu11", "-DDEBUG", source, *many_tweaks.linking(prefix), "-o", linked)
        environment = {
            "HOME": home, "XDG_CONFIG_HOME": home, "XDG_RUNTIME_DIR": home, "LD_LIBRARY_PATH": f"{prefix}/lib",
            "PATH": os.environ.get("PATH", "")}
        return {
            "megabytes": {
                "library": megabytes(prefix / "lib/libtweaks.so.0"), "tweak": megabytes(prefix / "bin/tweak"),
                "everything": megabytes(*(
                    path for path in prefix.rglob("*") if path.is_file() and not path.is_symlink()))},
            "pageFaults": {name: page_faults(program, environment) for name, program in [
                ("alone", alone), ("with the library", linked)]},
        }


def show(results):
    print_table(
        ["what is installed", ""],
        [[f"{name}, MB", f"{size:.2f}"] for name, size in results["megabytes"].items()]
        + [[f"page faults, {name}", str(count)] for name, count in results["pageFaults"].items()])
