# SPDX-License-Identifier: BSD-3-Clause
"""Samples of monitors and tweaks, with the changes that were made meanwhile."""

from __future__ import annotations

import csv
import math
import os
import struct
from typing import IO, TYPE_CHECKING, Any, List, Optional, Sequence, Set, Tuple, Union

from ._names import resolve
from ._values import FORMATS, Change, Tweak, Value, read_key

if TYPE_CHECKING:
    import numpy
    import pandas

#: The delay in seconds up to which a program still takes a sample, instead of counting it as skipped.
_LATEST = 0.02


class Samples:
    """Samples in the order of time: one row for each moment, one column for each monitor or tweak.

    They are kept as the program sent them, in 8 bytes each.
    """

    def __init__(self, tweaks: Sequence[Tweak], rate: float) -> None:
        #: The names of the columns.
        self.names: Tuple[str, ...] = tuple(each.name for each in tweaks)
        #: The types of the columns, such as ``double``.
        self.types: Tuple[str, ...] = tuple(each.type for each in tweaks)
        #: The units of the columns, where they are declared.
        self.units: Tuple[Optional[str], ...] = tuple(each.unit for each in tweaks)
        #: Samples per second, as requested.
        self.rate = rate
        #: The changes of all tweaks of the program while it was sampled.
        self.changes: List[Change] = []
        #: The number of samples lost because they were read too late.
        self.dropped = 0
        #: The number of samples that the program could not take in time.
        self.skipped = 0
        self._frames = bytearray()
        # The first row and the end of each stretch in which tweaks did not exist, with their columns.
        self._gaps: List[Tuple[int, int, Set[int]]] = []

    def __len__(self) -> int:
        return len(self._frames) // self._size

    def __repr__(self) -> str:
        return f"<Samples: {len(self)} of {len(self.names)} at {self.rate:g} Hz, {len(self.changes)} changes>"

    @property
    def _size(self) -> int:
        return 8 * (len(self.names) + 1)

    def _add(self, frames: bytes, missing: Sequence[int] = ()) -> None:
        """Appends whole frames: the time, and a cell of 8 bytes for each column."""
        start = len(self)
        self._frames += frames
        if missing:
            self._gaps.append((start, len(self), set(missing)))

    def _shorten(self, count: int) -> None:
        """Removes rows at the end that were not asked for, since ``count`` periods have passed."""
        del self._frames[count * self._size :]
        while self._is_over(count):
            del self._frames[-self._size :]

    def _is_over(self, count: int) -> bool:
        """Whether the last row was due after ``count`` periods, however late it was taken."""
        period = 1 / self.rate
        return len(self) > 0 and self._last - max(_LATEST, period) >= self.start + (count - 0.5) * period

    @property
    def _last(self) -> float:
        return float(struct.unpack_from("=d", self._frames, len(self._frames) - self._size)[0])

    @property
    def times(self) -> List[float]:
        """The times of the rows, in seconds since 1970."""
        return self._times(bytes(self._frames))

    def _times(self, frames: bytes) -> List[float]:
        times: Any = memoryview(frames).cast("d")[:: len(self.names) + 1]
        return list(times)

    @property
    def start(self) -> float:
        """The time of the first row, in seconds since 1970.

        :raises ValueError: There are no samples.
        """
        if not self._frames:
            raise ValueError("there are no samples")
        return float(struct.unpack_from("=d", self._frames)[0])

    def __getitem__(self, name: str) -> List[Value]:
        """The values of one column, which can be named like a tweak; ``None`` where the tweak did not exist.

        :raises UnknownTweak: There is no such column.
        """
        # A copy, because another thread may be adding more.
        return self._values(bytes(self._frames), self._column(name))

    def _values(self, frames: bytes, column: int) -> List[Value]:
        kind = FORMATS[self.types[column]]
        step = 8 // struct.calcsize(f"={kind}")
        cells = memoryview(frames).cast(kind)  # type: ignore[call-overload]
        values: List[Value] = cells[step * (column + 1) :: step * (len(self.names) + 1)].tolist()
        for first, end, columns in self._gaps:
            if column in columns:
                values[first:end] = [None] * (end - first)
        return values

    def _column(self, name: str) -> int:
        if name in self.names:
            return self.names.index(name)
        keys = [read_key(each) for each in self.names]
        return keys.index(resolve(name, keys))

    def to_numpy(self) -> "numpy.ndarray[Any, Any]":
        """A structured array with the field ``time``, in seconds since 1970, and one for each name.

        Each field has the tweak's own type, so integers of 64 bits are exact. Where a tweak did not exist, floating
        point numbers are NaN, and others are meaningless. Needs NumPy.
        """
        import numpy

        kinds = [numpy.dtype(FORMATS[each]) for each in self.types]
        frame = numpy.dtype(
            {
                "names": ["time", *self.names],
                "formats": ["f8", *kinds],
                "offsets": [8 * index for index in range(len(kinds) + 1)],
                "itemsize": self._size,
            }
        )
        array: "numpy.ndarray[Any, Any]" = numpy.frombuffer(bytearray(self._frames), frame)
        for first, end, columns in self._gaps:
            for column in columns:
                if kinds[column].kind == "f":
                    array[self.names[column]][first:end] = math.nan
        return array

    def to_pandas(self, *, relative: bool = False, dates: bool = False) -> "pandas.DataFrame":
        """A frame with a column for each name, and the time as index. Needs pandas.

        ``attrs["units"]`` has the units by name, ``attrs["changes"]`` the changes. Where a tweak did not exist, its
        value is missing.

        :param relative: The index is in seconds after the first sample instead of since 1970.
        :param dates: The index is a ``DatetimeIndex`` in UTC, exact to the microsecond, for ``resample`` and the like.
        :raises ValueError: The index cannot be both.
        """
        if relative and dates:
            raise ValueError("the index is either relative or has dates")
        import pandas

        array = self.to_numpy()
        frame = pandas.DataFrame({name: array[name] for name in self.names})
        for first, end, columns in self._gaps:
            for column in columns:
                name = self.names[column]
                if array[name].dtype.kind != "f":
                    frame[name] = frame[name].astype("object")
                    frame.loc[first : end - 1, name] = None
        if dates:
            microseconds = (array["time"] * 1e6).round().astype("int64")
            frame.index = pandas.DatetimeIndex(microseconds.astype("datetime64[us]"), tz="UTC", name="time")
        else:
            times = array["time"] - (array["time"][0] if relative and len(array) else 0)
            frame.index = pandas.Index(times, name="time")
        frame.attrs["units"] = {name: unit for name, unit in zip(self.names, self.units) if unit}
        frame.attrs["changes"] = list(self.changes)
        return frame

    def to_csv(self, file: Union[str, "os.PathLike[str]", IO[str]]) -> None:
        """Writes comma-separated values as ``tweak watch --format csv`` does.

        A line has the time in seconds since 1970, the values, and in the column ``mark`` a change of a tweak, which has
        a line of its own. Bools are 0 and 1, missing values are empty.

        :param file: The path of a file, which is replaced, or a text file that is open.
        """
        if isinstance(file, (str, os.PathLike)):
            with open(file, "w", encoding="utf-8", newline="") as opened:
                self._write(opened)
        else:
            self._write(file)

    def _write(self, file: IO[str]) -> None:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["time", *map(_csv_text, self.names), "mark"])
        frames = bytes(self._frames)
        columns = [self._values(frames, column) for column in range(len(self.names))]
        changes = sorted(self.changes, key=lambda change: change.time, reverse=True)

        def mark(change: Change) -> None:
            old, new = ("nothing" if each is None else each for each in (change.old_value, change.new_value))
            text = f"{change.name}: {old} → {new} ({change.source})"
            writer.writerow([f"{change.time:.6f}", *("" for _ in columns), _csv_text(text)])

        for row, time in enumerate(self._times(frames)):
            while changes and changes[-1].time < time:
                mark(changes.pop())
            writer.writerow([f"{time:.6f}", *(_csv_number(column[row]) for column in columns), ""])
        while changes:
            mark(changes.pop())


def _csv_text(text: str) -> str:
    """A text, behind an apostrophe if a spreadsheet would execute it as a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")) else text


def _csv_number(value: Value) -> Union[str, int]:
    if value is None:
        return ""
    if isinstance(value, (bool, int)):
        return int(value)
    number = float(value)
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Inf" if number > 0 else "-Inf"
    return int(number) if number.is_integer() and abs(number) < 2**53 else repr(number)
