# SPDX-License-Identifier: BSD-3-Clause
"""What the two ways into a program have in common: the socket of the library, and the command ``tweak``."""

from __future__ import annotations

import abc
import dataclasses
from typing import Dict, List, Mapping, Optional, Sequence, Tuple, Union

from ._samples import Samples
from ._values import Change, LoggedChange, Mark, Tweak, Value


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a value that was set."""

    name: str
    given: Value
    was_clamped: bool
    #: The current value and its source; the source is ``None`` if they are not known.
    value: Value = None
    source: Optional[str] = None
    #: Whether the new value waits for a restart, for a gate, or for the end of a ramp.
    is_coming: bool = False


#: The old and the new values of tweaks that were given former ones.
Restored = Dict[str, Tuple[Value, Value]]


class Holder(abc.ABC):
    """Holds leased values."""

    @abc.abstractmethod
    def set(self, values: Mapping[str, Value], tweaks: Mapping[str, Tweak], ramp: Optional[float]) -> List[Outcome]:
        """Leases more values, as one change."""

    @abc.abstractmethod
    def end(self) -> None:
        """Ends all its leases, and returns when the former values are back.

        :raises Ended: The program has ended, and the leases with it.
        """

    @property
    @abc.abstractmethod
    def has_ended(self) -> bool:
        """Whether the program has ended."""


class Feed(abc.ABC):
    """Samples and changes as they come. :meth:`close` may be called on any thread."""

    @abc.abstractmethod
    def read(self, seconds: Optional[float], samples: Optional[Samples]) -> Optional[List[Change]]:
        """Waits for the next message, at most so long, and appends the samples in it.

        :returns: The changes in it; ``None`` if the program has ended.
        """

    @abc.abstractmethod
    def close(self) -> None:
        """Ends it; a waiting :meth:`read` returns ``None``."""

    @abc.abstractmethod
    def interrupt(self) -> None:
        """Makes a waiting :meth:`read` return ``None`` soon, without waiting for anything itself."""


class Backend(abc.ABC):
    """A way into one program. One thread at a time uses it."""

    #: The program for people, such as ``motor (4711)``.
    title: str
    #: ``None`` if the program is not running.
    pid: Optional[int]

    #: The time of its start; with :attr:`pid`, it tells a process from all others.
    started: Optional[bytes] = None

    @property
    @abc.abstractmethod
    def has_ended(self) -> bool:
        """Whether the process has ended, as far as that can be told without asking it."""

    @abc.abstractmethod
    def close(self) -> None:
        """Frees what it needs."""

    @abc.abstractmethod
    def tweaks(self) -> List[Tweak]:
        """All tweaks, in the order of declaration."""

    @abc.abstractmethod
    def tweak(self, name: str) -> Optional[Tweak]:
        """The tweak with this whole name."""

    @abc.abstractmethod
    def set(
        self, values: Mapping[str, Value], tweaks: Mapping[str, Tweak], ramp: Optional[float]
    ) -> List[Outcome]:
        """Sets tweaks as one change, all or none. ``tweaks`` has the declarations of the names."""

    @abc.abstractmethod
    def set_each(self, steps: Sequence[Mapping[str, Value]], tweaks: Mapping[str, Tweak]) -> List[Outcome]:
        """Makes a few changes in their order, each of at least one value."""

    @abc.abstractmethod
    def lease(
        self, values: Mapping[str, Value], tweaks: Mapping[str, Tweak], seconds: Optional[float], ramp: Optional[float]
    ) -> Tuple[Holder, List[Outcome]]:
        """Leases values until the holder ends it, or for some seconds."""

    def forks(self) -> int:
        """The number of processes that it has forked, to which values that are leased or ramped do not get."""
        return 0

    @abc.abstractmethod
    def reset(self, name: Optional[str]) -> List[Outcome]:
        """Removes the kept value of a tweak, or of all. Returns those that do not have their default nevertheless."""

    @abc.abstractmethod
    def run(self, name: str, wait: bool, seconds: Optional[float]) -> Optional[str]:
        """Runs an action. Returns what will run it, unless it is done.

        :param seconds: The limit; ``None`` for no limit.
        :raises TimeoutError: It has not returned in time.
        """

    @abc.abstractmethod
    def feed(self, sampled: Sequence[Tweak], rate: float, watched: Optional[Sequence[str]]) -> Feed:
        """Samples some tweaks, and reports changes of those watched, by default of all."""

    @abc.abstractmethod
    def log(self, since: int, tweaks: Mapping[str, Tweak]) -> Tuple[List[LoggedChange], List[Mark]]:
        """The changes after a number, oldest first, and the marks."""

    @abc.abstractmethod
    def undo(self, number: Optional[int]) -> Tuple[Restored, List[Outcome]]:
        """Undoes changes. Returns the old and new values, and the tweaks that do not have the new one."""

    @abc.abstractmethod
    def revert(self, mark: Optional[str]) -> Tuple[Restored, List[Outcome]]:
        """Goes back to a mark or the start. Returns as :meth:`undo` does."""

    @abc.abstractmethod
    def mark(self, name: str) -> None:
        """Names this moment."""


#: A program as :func:`fbtweak.connect` takes it.
Target = Union[str, int]
