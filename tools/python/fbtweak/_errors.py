# SPDX-License-Identifier: BSD-3-Clause
"""Exceptions and warnings. Their messages are those of the command ``tweak`` and of the program."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Optional, Sequence, Type, TypeVar


def printable(text: str) -> str:
    """A text that a terminal shows and does not execute: control characters are escaped."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape", "surrogatepass").decode("ascii") for each in text
    )


class TweaksError(Exception):
    """The base of all errors of this package.

    ``code`` is the protocol's code if the program refused a request, otherwise ``None``.
    """

    code: Optional[int]

    def __init__(self, message: str, details: Sequence[str] = (), code: Optional[int] = None) -> None:
        lines = [printable(message), *("  " + printable(each) for each in details)]
        super().__init__("\n".join(lines))
        self.code = code


class UnknownTweak(TweaksError, LookupError):
    """No tweak, or more than one, has this name."""


class Refused(TweaksError, ValueError):
    """A tweak does not take the value, or a change cannot be undone. Only ``Presets.load`` has changed other tweaks."""


class Unavailable(TweaksError, ConnectionError):
    """The program is not running, does not listen, or cannot do this without the library."""


class Silent(Unavailable, TimeoutError):
    """The program does not answer; it is stopped or hangs. The request may still be executed."""


class Ended(Unavailable):
    """The program ended or closed the connection. The request may have been executed before."""


class LeaseLost(Ended):
    """The program ended while values were leased. A new process of the program does not have them."""


class Forbidden(TweaksError, PermissionError):
    """The process belongs to another user, or the kernel protects its memory."""


class Garbled(TweaksError):
    """The program sent something that is not the protocol."""


class TweaksWarning(UserWarning):
    """The base of all warnings of this package."""


class Clamped(TweaksWarning):
    """A value was outside the limits of a tweak, which has the nearest allowed value now."""


class Hidden(TweaksWarning):
    """A value was set, but something that takes precedence still decides."""


class UnknownLabel(TweaksWarning):
    """A value was compared with a text that is no label of its tweak."""


class Waiting(TweaksWarning):
    """A value was set, and the program takes it when its loop passes a gate."""


class Lost(TweaksWarning):
    """Samples or values are missing: the program or the reader was too slow, or a tweak cannot be used."""


Problem = TypeVar("Problem", bound=BaseException)


def again(error: Problem) -> Problem:
    """The same error for one more task: an exception that several raise would collect the traces of all."""
    copy = type(error).__new__(type(error))
    copy.args = error.args
    copy.__dict__.update(error.__dict__)
    copy.__cause__, copy.__suppress_context__ = error.__cause__, True
    return copy


def not_returned(action: str, seconds: Optional[float]) -> TimeoutError:
    """The error of an action that takes longer than the caller wants to wait."""
    return TimeoutError(f"{action}: it has not returned after {seconds or 0:g} s; it may still be running")


_FOLDER = os.path.dirname(__file__) + os.sep


def warn(message: str, category: Type[TweaksWarning]) -> None:
    """Warns about the line that called this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_FOLDER):
        level, frame = level + 1, frame.f_back
    warnings.warn(printable(message), category, stacklevel=level)
