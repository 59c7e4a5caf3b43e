"""Reports measurements."""

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


def spread(low, high, digits):
    return f"{low:.{digits}f} … {high:.{digits}f}"


def print_bound(text, exceeding):
    """Whether a bound holds, and the rows that exceed it."""
    print(f"{text}: " + (f"no, see {'; '.join(exceeding)}" if exceeding else "yes"))
