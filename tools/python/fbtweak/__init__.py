# SPDX-License-Identifier: BSD-3-Clause
"""Read, change, lease and sample the constants of running programs.

::

    import fbtweak

    motor = fbtweak.connect("motor")
    motor["Control/Gain"] = 2.5
    with motor.lease({"Gain": 4, "Damping": 0.2}):
        run = motor.sample("State/*", rate=500, seconds=3)
    frame = run.to_pandas()
"""

from ._errors import (
    Clamped, Ended, Forbidden, Garbled, Hidden, LeaseLost, Lost, Refused, Silent, TweaksError, TweaksWarning,
    Unavailable, UnknownLabel, UnknownTweak, Waiting,
)  # fmt: skip
from ._lock_step import LockStep
from ._program import Changes, Lease, Presets, Program, Sampling, connect, programs
from ._samples import Samples
from ._values import Change, Choice, LabelledInt, LoggedChange, Mark, Tweak, Value

__all__ = [
    "Change", "Changes", "Choice", "Clamped", "Ended", "Forbidden", "Garbled", "Hidden", "LabelledInt", "Lease",
    "LeaseLost", "LockStep", "LoggedChange", "Lost", "Mark", "Presets", "Program", "Refused", "Samples", "Sampling", "Silent",
    "Tweak", "TweaksError", "TweaksWarning", "Unavailable", "UnknownLabel", "UnknownTweak", "Value", "Waiting", "connect",
    "programs",
]  # fmt: skip
