# SPDX-License-Identifier: BSD-3-Clause
"""Optional tweaks, whose value can be None."""

import pytest

import fbtweak
from conftest import HERE
from fbtweak._command import CommandBackend


@pytest.fixture
def robot(start, build):
    process = start(build("optionals", HERE / "optionals.c"))
    with fbtweak.connect(process.pid, wait=60) as program:
        program.wait_for("Speed", lambda speed: speed == 1.5)
        yield program


def through_the_command(program):
    """Has requests go through the command, as for a process without the library."""
    program._backend = CommandBackend(program._command, str(program.pid), {"pid": program.pid})


@pytest.mark.parametrize("is_direct", [True, False])
def test_no_value_is_none(robot, is_direct):
    if not is_direct:
        through_the_command(robot)
    assert robot.tweak("Limit").optional and robot.tweak("Host").default is None
    assert robot.values("Limit", "Host") == {"Robot/Arm/Limit": 0.5, "Robot/Arm/Host": None}
    values = [
        ("Limit", [None, 2, 0.25]), ("Retries", [None, -1]), ("Quiet", [None, True, False]),
        ("Host", ["web", None, "none", "\\none", ""]),
    ]  # fmt: skip
    for name, each in values:
        for value in each:
            robot[name] = value
            assert robot[name] == value and robot.tweak(name).value == value
    robot["Limit"] = "none"
    assert robot["Limit"] is None and robot.wait_for("Limit", lambda limit: limit is None) is None
    with robot.lease({"Limit": 1, "Host": "none"}) as lease:
        assert robot["Limit"] == 1 and robot["Host"] == "none"
        lease["Limit"] = None
        assert robot["Limit"] is None and robot.tweak("Limit").lasting_value is None
    with pytest.raises(TypeError, match="a bool, a number, a text or None, not list"):
        robot["Limit"] = []
    with pytest.raises(fbtweak.Refused, match=r"a tweak of type double\? cannot be sampled"):
        robot.sample("Limit", seconds=0.1)
    assert robot.sample(seconds=0.1).names == ("Robot/Arm/Speed",)


def test_changes_and_the_history_have_none(robot):
    with robot.changes("Arm/*", seconds=60) as changes:
        robot.set({"Limit": None, "Host": "none"})
        told = {each.name: (each.old_value, each.new_value) for each in (next(changes), next(changes))}
    assert told == {"Robot/Arm/Limit": (0.5, None), "Robot/Arm/Host": (None, "none")}
    assert [(each.old_value, each.new_value) for each in robot.log()] == [(0.5, None), (None, "none")]
    robot.presets.save("free")
    assert robot.undo() == {"Robot/Arm/Limit": (None, 0.5), "Robot/Arm/Host": ("none", None)}
    assert robot.presets.differences("free") == {"Robot/Arm/Limit": (0.5, None), "Robot/Arm/Host": (None, "none")}


def test_controls_have_no_value(robot):
    pytest.importorskip("ipywidgets")
    robot.set({"Limit": None, "Quiet": None})
    controls = {each.description: each for each in robot.interact("Arm/*").children}
    assert [controls[name].value for name in ("Limit", "Retries", "Quiet", "Host")] == ["none", "3", "none", "none"]
    steps = [("Limit", "1.5", 1.5), ("Limit", "none", None), ("Quiet", "true", True), ("Quiet", "none", None),
             ("Host", "\\none", "none"), ("Host", "none", None)]  # fmt: skip
    for name, text, value in steps:
        controls[name].value = text
        assert robot[name] == value
