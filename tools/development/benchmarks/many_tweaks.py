# SPDX-License-Identifier: BSD-3-Clause
"""Makes programs with many tweaks without compiling these: their records are written as compilers write them."""

import itertools
import json
import random
import subprocess
from pathlib import Path

import dumping
from building import BENCHMARKS, SOFTWARE, Failure

# Other values than the defaults of dumping.KINDS.
OVERRIDE = [42, 7.25, False, "cubic"]


def compiled(*command):
    command = [str(word) for word in command]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)} failed: {done.stdout}", SOFTWARE)


def linking(prefix):
    """The options for a program with the installed library."""
    return [f"-I{prefix}/include", f"-L{prefix}/lib", "-Wl,--no-as-needed", "-ltweaks"]


def write_program(path, count, prefix, are_read=False, **options):
    """Links instructions/hot.c with `count` more tweaks, in the order of a shuffled deck.

    With `are_read` there is code for x86-64 that reads each. The other options are those of ``dumping.record``.
    """
    order = list(range(count))
    random.Random(count).shuffle(order)
    records, source = path.with_suffix(".records"), path.with_suffix(".s")
    contents = [dumping.record(index, count, **options) for index in order]
    records.write_bytes(b"".join(contents))
    # The cell is the second field of eight bytes.
    starts = itertools.accumulate((len(content) for content in contents[:-1]), initial=0)
    reads = [f"mov records + {start + 8}(%rip), %rax\n" for start in starts] if are_read and count else []
    source.write_text(
        f'.section fbtweak, "aw", @progbits\n.balign 8\nrecords: .incbin "{records}"\n.text\n{"".join(reads)}'
        '.section .note.GNU-stack, "", @progbits\n')
    compiled(
        "gcc", "-std=gnu11", "-O2", "-DDEBUG", BENCHMARKS / "instructions/hot.c", source, *linking(prefix), "-o", path)


def write_overrides(configuration, count, overrides):
    """Overrides of tweaks of all types and from everywhere in a program of ``write_program``."""
    document = {}
    for number in range(overrides):
        index = number * (count // overrides)
        values = document.setdefault(f"Category {index * 10 // count}", {})
        values.setdefault(f"Collection {index * 100 // count}", {})[f"Tweak {index}"] = OVERRIDE[index % 4]
    if overrides:
        folder = Path(configuration, "tweaks/hot")
        folder.mkdir(parents=True)
        (folder / "overrides.json").write_text(json.dumps(document, indent=2))
