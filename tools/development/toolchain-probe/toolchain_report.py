"""Prints the table of tools/development/toolchains."""

import collections
import itertools
import json

from toolchain_cells import LINKS, Cell


def groups(table, result):
    """The cells with a result as few boxes, each a set of values for every dimension, with the message."""
    by_message = collections.defaultdict(list)
    for cell in table.cells:
        if table.outcomes[cell].result == result:
            by_message[table.outcomes[cell].message].append(cell)
    for message, cells in by_message.items():
        # The order decides how few boxes there are; some of the 720 orders find what all would.
        orders = itertools.islice(itertools.permutations(range(len(Cell._fields))), 0, None, 7)
        ways = (merged(cells, order) for order in orders)
        for box in min(ways, key=lambda boxes: (len(boxes), sum(len(text_of(box, table.cells)) for box in boxes))):
            yield box, message


def merged(cells, order):
    """Joins boxes that differ in one dimension, one dimension after the other."""
    boxes = [tuple((value,) for value in cell) for cell in cells]
    for dimension in order:
        joined = {}
        for box in boxes:
            rest = box[:dimension] + box[dimension + 1:]
            joined[rest] = joined.get(rest, ()) + box[dimension]
        boxes = [rest[:dimension] + (values,) + rest[dimension:] for rest, values in joined.items()]
    return boxes


def text_of(box, cells):
    """The common properties of a box, without dimensions that have all values of its compilers."""
    parts, size = [], 1
    for dimension, values in enumerate(box):
        size *= len(values)
        every = {cell[dimension] for cell in cells if cell.compiler in box[0]}
        if dimension == 0 or set(values) != every:
            parts.append("/".join(values))
    return f"{size:4}  {', '.join(parts)}"


def print_rows(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())


def print_table(table, tools, seconds, is_slice):
    for name, line in tools.items():
        print(f"{name + ':':26} {line}")
    print()
    if is_slice:
        print_rows([Cell._fields + ("",)] + [cell + (table.outcomes[cell].result,) for cell in table.cells])
    else:
        rows = [["compiler", "linker", *LINKS]]
        for compiler, linker in dict.fromkeys(cell[:2] for cell in table.cells):
            row = [compiler, linker]
            for link in LINKS:
                cells = [cell for cell in table.cells if cell[:3] == (compiler, linker, link)]
                counts = table.count(cells) if cells else {}
                row.append(", ".join(f"{count} {result}" for result, count in counts.items() if count) or "–")
            rows.append(row)
        print_rows(rows)
    for result in ("cannot", "FAIL"):
        found = list(groups(table, result))
        if found:
            print(f"\n{result}:")
        for box, message in found:
            print(f"{text_of(box, table.cells)}\n      {message}")
    counts = ", ".join(f"{count} {result}" for result, count in table.count().items())
    print(f"\n{len(table.cells)} cells: {counts}; {seconds:.0f} s")


def print_json(table, tools, seconds, is_slice):
    cells = [cell._asdict() | table.outcomes[cell]._asdict() for cell in table.cells]
    said = {"slice": is_slice, "seconds": round(seconds), "tools": tools, "counts": table.count(), "cells": cells}
    print(json.dumps(said, indent=2, ensure_ascii=False))
