# SPDX-License-Identifier: BSD-3-Clause
"""Simulators that run turn by turn."""

from __future__ import annotations

import contextlib
import time
from typing import Iterable, Union

from ._errors import Ended, Refused, TweaksError
from ._program import Lease, Program

#: The longest pause in seconds between two looks at a program.
_LONGEST_PAUSE = 0.005


class LockStep:
    """Programs whose loops run only as many turns as they are given, so that every run has the same results.

    ::

        with fbtweak.LockStep(simulator, "Clock/Turns", "Clock/Done") as clock:
            simulator["Gain"] = 4
            clock.step(100)
            print(simulator["State/Error"])

    The loop waits while the number of its turns is that of an integer tweak, whose default is 0; after each turn, a
    monitor gets their number. Between steps nothing moves, so values can be read and set in peace. Values that were set
    before a step apply from its first turn on, also those that wait for a gate.

    Several programs step together: each is at most one step ahead of the others.
    """

    def __init__(self, programs: Union[Program, Iterable[Program]], turns: str, done: str) -> None:
        """
        :param programs: A program, or several.
        :param turns: The tweak with the number of turns that a program may have made since its start. It is leased.
        :param done: The monitor with the number of turns that it has made. The loop stores it last.
        :raises UnknownTweak: A program does not have them.
        :raises Refused: A program does not wait: the tweak is above the monitor.
        """
        given = [programs] if isinstance(programs, Program) else list(programs)
        self._loops = [_Loop(each, turns, done) for each in given]

    def step(self, count: int = 1, *, seconds: float = 5) -> None:
        """Lets all programs make some turns, and returns when they have.

        :raises TimeoutError: One has not after so many seconds. It may still make them.
        :raises Ended: One has ended.
        """
        if count < 0:
            raise ValueError(f"{count}: a step has 0 or more turns")
        end = time.monotonic() + seconds
        for loop in self._loops:
            loop.begin(count, end)
        for loop in self._loops:
            loop.finish(end)

    def end(self) -> None:
        """Ends the leases. The programs still wait, and another lock step can continue."""
        with contextlib.ExitStack() as stack:
            for loop in self._loops:
                stack.callback(loop.end)

    def __enter__(self) -> "LockStep":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


class _Loop:
    """The loop of a program."""

    def __init__(self, program: Program, turns: str, done: str) -> None:
        self._program = program
        tweak = program.tweak(turns)
        self._turns, self._done = tweak.name, program.tweak(done).name
        #: The number of turns that it may have made.
        self._allowed = _whole(program, self._done)
        allowed = _whole(program, self._turns)
        if allowed > self._allowed:
            raise Refused(
                f"{self._turns}: it is {allowed} and {self._done} {self._allowed}, so the program does not wait; "
                "lock step needs one that waits from its start"
            )
        # A gate stores values in the order in which they were set; the order of gates is unknown.
        self._gated = [each.name for each in program.tweaks() if each.gate is not None and each.gate != tweak.gate]
        self._lease: Lease = program.lease({self._turns: self._allowed})

    def begin(self, count: int, end: float) -> None:
        """Lets it make turns, as soon as no value waits for a gate."""
        waiting = _Pauses(end)
        while self._gated:
            pending = [each for each in self._program.tweaks(*self._gated) if each.is_pending and not each.needs_restart]
            if not pending:
                break
            first = pending[0]
            waiting.pause(f"{first.name}: {first.pending_value!r} waits for the gate {first.gate}")
        self._allowed += count
        self._lease.set({self._turns: self._allowed})

    def finish(self, end: float) -> None:
        """Waits until it has made them."""
        waiting = _Pauses(end)
        while True:
            done = _whole(self._program, self._done)
            if done > self._allowed:
                raise TweaksError(f"{self._done}: it is {done}, but the loop may only have made {self._allowed} turns")
            if done == self._allowed:
                return
            waiting.pause(f"{self._done}: it is {done} and not {self._allowed}")

    def end(self) -> None:
        with contextlib.suppress(Ended):
            self._lease.end()


class _Pauses:
    """Pauses that are a tenth of the time for which something is awaited: it is noticed soon, and without haste."""

    def __init__(self, end: float) -> None:
        self._start, self._end = time.monotonic(), end

    def pause(self, state: str) -> None:
        """
        :raises TimeoutError: The time is over; the message has the state.
        """
        now = time.monotonic()
        if now > self._end:
            raise TimeoutError(f"{state}, after {now - self._start:.3g} s")
        time.sleep(min((now - self._start) / 10, _LONGEST_PAUSE))


def _whole(program: Program, name: str) -> int:
    value = program[name]
    if not isinstance(value, int) or isinstance(value, bool):
        raise Refused(f"{name}: it is {value!r}, and the number of turns an integer")
    return value
