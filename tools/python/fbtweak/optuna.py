# SPDX-License-Identifier: BSD-3-Clause
"""Finds good values of tweaks with Optuna, which must be installed.

::

    from fbtweak.optuna import optimize

    study = optimize(motor, "Control/*", measure=lambda motor: motor["State/Error"], trials=40)
    motor.set(study.best_params)
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Union

from ._errors import Lost, Refused, warn
from ._values import Tweak, Value

if TYPE_CHECKING:
    import optuna

    from ._program import Program


def optimize(
    program: "Program",
    names: Union[str, Sequence[str]],
    *,
    measure: Callable[["Program"], float],
    trials: int = 40,
    direction: str = "minimize",
    settle: float = 0,
    sampler: "Optional[optuna.samplers.BaseSampler]" = None,
    seed: Optional[int] = None,
    study: "Optional[optuna.Study]" = None,
) -> "optuna.Study":
    """Tries values of tweaks, and returns the study with the best ones.

    Each trial leases its values, measures, and reports. Nothing is kept: afterwards the program has its former values,
    also if ``measure`` raises an error, or this process is killed. ``study.best_params`` has the best values by whole
    name, for :meth:`Program.set`. The first trial of a new study has the current values.

    :param names: Tweaks as for :meth:`Program.tweaks`: bools, those with choices, and numbers with both limits.
    :param measure: Called in each trial; returns the number to optimize. With NaN, the trial fails.
    :param trials: The number of trials.
    :param direction: ``"minimize"`` or ``"maximize"``.
    :param settle: Seconds to wait in each trial before measuring.
    :param sampler: An Optuna sampler; TPE by default.
    :param seed: The seed of the default sampler.
    :param study: A study to continue, instead of a new one in memory.
    :raises Refused: No tweak can be tried; or one that was named, and not found by a pattern.
    :raises ImportError: Optuna is not installed.
    """
    import optuna

    chosen = _chosen(program, [names] if isinstance(names, str) else names)
    space = {each.name: _distribution(optuna, each) for each in chosen}
    if study is None:
        study = optuna.create_study(direction=direction, sampler=sampler or optuna.samplers.TPESampler(seed=seed))
        study.enqueue_trial({each.name: each.value for each in chosen if _is_tried(each)})
    failed = optuna.trial.TrialState.FAIL
    # One lease for all trials: each replaces the values of the one before as one change.
    with program.lease({}) as lease:
        for _ in range(trials):
            trial = study.ask(space)
            try:
                lease.set(trial.params)
                if settle > 0:
                    time.sleep(settle)
                value = float(measure(program))
            except BaseException:
                study.tell(trial, state=failed)
                raise
            if math.isnan(value):
                study.tell(trial, state=failed)
            else:
                study.tell(trial, value)
    return study


def _is_tried(tweak: Tweak) -> bool:
    """Whether the current value could be that of a trial."""
    if tweak.value is None:
        return False
    if tweak.choices or tweak.type == "bool":
        return True
    steps = (_number(tweak.value) - _number(tweak.minimum)) / (_number(tweak.step) or 1)
    is_whole = tweak.type not in ("float", "double") or _number(tweak.step) > 0
    return not is_whole or math.isclose(steps, round(steps), abs_tol=1e-9)


def _chosen(program: "Program", names: Sequence[str]) -> List[Tweak]:
    chosen: Dict[str, Tweak] = {}
    for name in names:
        for tweak in program.tweaks(name):
            reason = _obstacle(tweak)
            if reason is None:
                chosen[tweak.name] = tweak
            elif name.endswith("/") or any(each in name for each in "*?["):
                if tweak.is_settable:
                    warn(f"{tweak.name}: it is left out, because {reason}", Lost)
            else:
                raise Refused(f"{tweak.name}: it cannot be tried, because {reason}")
    if not chosen:
        raise Refused(f"{', '.join(names)}: none of these tweaks can be tried")
    return list(chosen.values())


def _obstacle(tweak: Tweak) -> Optional[str]:
    if not tweak.is_settable:
        return "it cannot be set"
    if tweak.needs_restart:
        return "it needs a restart"
    if tweak.choices or tweak.type == "bool":
        return None
    if tweak.type in ("string", "color"):
        return f"a {tweak.type} without choices has no limits"
    if not all(isinstance(each, (int, float)) and math.isfinite(each) for each in (tweak.minimum, tweak.maximum)):
        return "it does not have both limits"
    return None


def _distribution(optuna: Any, tweak: Tweak) -> Any:
    """The distribution of Optuna for a tweak."""
    distributions = optuna.distributions
    if tweak.choices:
        return distributions.CategoricalDistribution([each.value for each in tweak.choices])
    if tweak.type == "bool":
        return distributions.CategoricalDistribution([False, True])
    low, high, step = _number(tweak.minimum), _number(tweak.maximum), _number(tweak.step)
    is_log = tweak.scale == "log" and not step
    if tweak.type in ("float", "double"):
        if step > 0:
            return distributions.FloatDistribution(low, low + math.floor((high - low) / step + 1e-9) * step, step=step)
        return distributions.FloatDistribution(low, high, log=is_log and low > 0)
    low, high, step = int(tweak.minimum or 0), int(tweak.maximum or 0), max(int(step), 1)
    if is_log and low >= 1:
        return distributions.IntDistribution(low, high, log=True)
    return distributions.IntDistribution(low, low + (high - low) // step * step, step=step)


def _number(value: Value) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
