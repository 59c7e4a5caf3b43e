# SPDX-License-Identifier: BSD-3-Clause
"""Reports measurements."""

import math
import statistics
import sys


def progress(text):
    if sys.stderr.isatty():
        print(f"{text}…", file=sys.stderr)


def summary(samples):
    twentieths = statistics.quantiles(samples, n=20, method="inclusive")
    return {
        "median": twentieths[9], "middleHalf": [twentieths[4], twentieths[14]], "percentile95": twentieths[18],
        "minimum": min(samples), "maximum": max(samples), "samples": len(samples),
    }


def print_table(titles, rows):
    widths = [max(len(row[column]) for row in [titles, *rows]) for column in range(len(titles))]
    for row in [titles, *rows]:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print("   ".join([row[0].ljust(widths[0]), *cells]).rstrip())


def print_left_table(titles, rows):
    widths = [max(len(row[column]) for row in [titles, *rows]) for column in range(len(titles))]
    for row in [titles, *rows]:
        print("   ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def spread(low, high, digits):
    return f"{low:.{digits}f} … {high:.{digits}f}"


def print_summaries(rows, digits, tail=True):
    """A table of results of `summary` by name, with the 95th percentile if wanted."""
    def cells(name, row):
        yield from [name, f"{row['median']:.{digits}f}", spread(*row["middleHalf"], digits)]
        if tail:
            yield f"{row['percentile95']:.{digits}f}"
        yield spread(row["minimum"], row["maximum"], digits)

    titles = ["", "median", "middle half", *(["95 %"] if tail else []), "all"]
    print_table(titles, [list(cells(name, row)) for name, row in rows])


def ratio(ours, others):
    """The median of the ratios of samples that were taken in turn, and its interval with 95 % confidence."""
    ratios = sorted(one / other for one, other in zip(ours, others))
    # Order statistics: of a median they assume nothing about the distribution.
    half = 0.98 * len(ratios) ** 0.5
    low = max(0, math.floor(len(ratios) / 2 - half))
    high = min(len(ratios) - 1, math.ceil(len(ratios) / 2 + half))
    return {"median": statistics.median(ratios), "interval": [ratios[low], ratios[high]], "samples": len(ratios)}


def is_known(ratio, width):
    """Whether the interval of a ratio is narrow enough to stop."""
    low, high = ratio["interval"]
    return high - low <= width * ratio["median"]


def times(ratio):
    low, high = ratio["interval"]
    return f"{ratio['median']:.3g} × ({low:.3g} … {high:.3g})"
