# SPDX-License-Identifier: BSD-3-Clause
"""Answers, by drgn, what variables a running program has: `in_drgn.py PID PATH`, with questions at standard input."""

import json
import os
import sys

import drgn


def tweak_type(kind):
    while kind.kind == drgn.TypeKind.TYPEDEF:
        kind = kind.type
    if kind.kind == drgn.TypeKind.BOOL:
        return "bool"
    if kind.kind == drgn.TypeKind.FLOAT:
        return {4: "float", 8: "double"}.get(kind.size)
    if kind.kind == drgn.TypeKind.INT:
        return ("int" if kind.is_signed else "uint") + str(8 * kind.size)
    return None


def answer(program, question):
    content = program.read(question["address"], question["size"]).hex()
    said = {"bytes": content, "found": False}
    for name in (os.path.basename(question["unit"]), None):
        try:
            value = program.variable(question["root"], name)
        except (LookupError, ValueError):
            continue
        try:
            for step in question["path"]:
                value = value[step] if isinstance(step, int) else value.member_(step)
        except (drgn.ObjectAbsentError, LookupError, TypeError):
            continue  # without the name of a unit, another of the same name may come
        if value.absent_ or value.address_ is None:
            continue
        said.update(found=True, address=value.address_, size=drgn.sizeof(value), type=value.type_.type_name(),
                    tweak=tweak_type(value.type_))
        if value.address_ == question["address"] or name:
            return said
        said["found"] = False
    return said


def main():
    program = drgn.Program()
    program.set_pid(int(sys.argv[1]))
    try:
        program.load_debug_info(None, default=False, main=True)
    except drgn.MissingDebugInfoError:
        program.load_debug_info([sys.argv[2]])
    json.dump([answer(program, question) for question in json.load(sys.stdin)], sys.stdout)


main()
