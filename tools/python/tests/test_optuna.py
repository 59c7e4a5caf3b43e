# SPDX-License-Identifier: BSD-3-Clause
"""Optuna finds good values."""

import warnings

import pytest

import fbtweak
from conftest import HERE, IS_LONG, PACKAGE

optuna = pytest.importorskip("optuna")
from fbtweak.optuna import optimize  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.WARNING)
SEEDS = range(20 if IS_LONG else 3)


@pytest.fixture(scope="module")
def trial_path(build):
    physics = PACKAGE / "tools/example/SpringPhysics/Sources/SpringPhysics"
    return build("trial", HERE / "trial.c", physics / "spring_physics.c", flags=["-O2", f"-I{physics}/include"])


def badness(spring):
    """The result of a whole trial with the current values."""
    count = spring["Trial/Count"]
    spring.wait_for("Trial/Count", lambda now: now > count + 1)
    return spring["Badness"]


def test_the_spring_of_the_example(trial_path, start):
    with fbtweak.connect(start(trial_path).pid, wait=30) as spring:
        best = min(
            measured(spring, damping) for damping in [each / 10 for each in range(100, 220, 1 if IS_LONG else 4)])
        successes = 0
        for seed in SEEDS:
            study = optimize(spring, "Damping", measure=badness, trials=40, seed=seed)
            assert len(study.trials) == 40 and study.trials[0].params == {"Spring/Physics/Damping": 1.5}
            successes += study.best_value <= best * 1.05
            assert spring["Damping"] == 1.5 and spring.tweak("Damping").source == "default"
        assert successes >= len(SEEDS) * 0.95


def measured(spring, damping):
    with spring.lease({"Damping": damping}):
        return badness(spring)


def test_all_kinds_of_tweaks(motor):
    tried = []

    def measure(program):
        tried.append(program.values("Control/*", "Types/*"))
        return float("nan") if len(tried) == 3 else len(tried)

    with pytest.warns(fbtweak.Lost) as caught:
        study = optimize(motor, ["Control/*", "Types/*"], measure=measure, trials=12, direction="maximize", seed=1)
    left_out = sorted(str(each.message).split(":")[0] for each in caught if each.category is fbtweak.Lost)
    assert left_out == [f"Motor/Types/{each}" for each in ("Byte", "Float", "Kept", "Label", "Lamp", "Serial")]
    assert [each.state.name for each in study.trials].count("FAIL") == 1
    assert study.best_value == 12
    assert sorted(study.best_params) == [
        "Motor/Control/Damping", "Motor/Control/Enabled", "Motor/Control/Gain", "Motor/Control/Mode",
        "Motor/Control/Target", "Motor/Types/Count", "Motor/Types/Flag", "Motor/Types/Short"]  # fmt: skip
    assert tried[0]["Motor/Control/Gain"] == 2.5
    for trial, values in zip(study.trials, tried):
        assert all(values[name] == value for name, value in trial.params.items())
    assert motor["Gain"] == 2.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motor.set(study.best_params)
    assert motor["Gain"] == study.best_params["Motor/Control/Gain"]


def test_errors_end_it_with_the_former_values(motor):
    def measure(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        optimize(motor, "Gain", measure=measure)
    assert motor["Gain"] == 2.5
    with pytest.raises(fbtweak.Refused, match="Motor/Types/Label: it cannot be tried, because a string without choices"):
        optimize(motor, "Label", measure=measure)
    with pytest.raises(fbtweak.Refused, match="none of these tweaks can be tried"):
        optimize(motor, "State/*", measure=measure)


def test_a_study_is_continued(motor):
    study = optuna.create_study()
    for _ in range(2):
        optimize(motor, ["Gain", "Control/Mode"], measure=lambda program: program["Gain"], trials=3, study=study)
    assert len(study.trials) == 6
