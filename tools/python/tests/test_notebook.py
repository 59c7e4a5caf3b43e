# SPDX-License-Identifier: BSD-3-Clause
"""Controls in notebooks."""

import warnings

import pytest

import fbtweak
from conftest import wait_until

ipywidgets = pytest.importorskip("ipywidgets")


def named(box):
    return {each.description: each for each in box.children}


def test_each_kind_of_tweak_has_its_control(motor):
    controls = named(motor.interact())
    kinds = {name: type(each).__name__ for name, each in controls.items() if name}
    assert kinds == {
        "Stop": "Button", "Wait": "Button", "Target (rpm)": "FloatSlider", "Gain (1/s)": "FloatSlider",
        "Damping": "FloatLogSlider", "Mode": "Dropdown", "Enabled": "Checkbox", "Byte": "IntText", "Short": "IntSlider",
        "Count": "IntSlider", "Serial": "Text", "Float": "FloatText", "Flag": "Checkbox", "Lamp": "ColorPicker",
        "Label": "Text", "Kept": "IntSlider", "Held": "Checkbox", "100%25 = all": "FloatSlider",
    }  # fmt: skip
    assert controls["Gain (1/s)"].max == 50 and controls["Gain (1/s)"].value == 2.5
    assert controls["Mode"].options == (("off", 0), ("slow", 1), ("fast", 2))


def test_a_control_changes_the_tweak(motor):
    controls = named(motor.interact("Control/*", "Types/*"))
    for name, tweak, value in [
        ("Gain (1/s)", "Gain", 7.5), ("Mode", "Control/Mode", 2), ("Enabled", "Enabled", False), ("Lamp", "Lamp", "#010203"),
        ("Count", "Count", 8), ("Damping", "Damping", 0.01), ("Label", "Label", "right"),
    ]:  # fmt: skip
        controls[name].value = value
        assert motor[tweak] == pytest.approx(value)
    controls["Stop"].click()


def test_large_integers_are_exact(motor):
    box = motor.interact("Serial")
    control = box.children[0]
    assert control.value == "9007199254740993"
    control.value = "18446744073709551615"
    assert motor["Serial"] == 2**64 - 1
    control.value = "-=1"
    assert motor["Serial"] == 2**64 - 2
    wait_until(lambda: control.value == "18446744073709551614")


def test_steps_are_short_numbers(motor):
    controls = named(motor.interact())
    steps = {name: controls[name].step for name in ("Gain (1/s)", "Target (rpm)", "Damping", "100%25 = all", "Count", "Byte")}
    assert steps == {
        "Gain (1/s)": 0.05, "Target (rpm)": 1, "Damping": 0.002, "100%25 = all": 0.01, "Count": 1, "Byte": 1,
    }  # fmt: skip


def test_controls_follow_changes_from_elsewhere(motor):
    boxes = [motor.interact("Control/*", "Serial") for _ in range(2)]
    with fbtweak.connect(motor.pid) as other:
        other.set({"Gain": 7.5, "Control/Mode": 2, "Enabled": False, "Serial": 2**63 + 1})
        count = len(motor.log())
        for controls in map(named, boxes):
            shown = [controls[name] for name in ("Gain (1/s)", "Mode", "Enabled", "Serial")]
            wait_until(lambda: [each.value for each in shown] == [7.5, 2, False, str(2**63 + 1)])
        with other.lease({"Gain": 8}):
            wait_until(lambda: named(boxes[0])["Gain (1/s)"].value == 8)
        wait_until(lambda: named(boxes[0])["Gain (1/s)"].value == 7.5)
        # What a control shows is not set again.
        assert len([each for each in motor.log() if not each.is_of_lease]) == count
        named(boxes[0])["Gain (1/s)"].value = 9
        assert motor["Gain"] == 9
        wait_until(lambda: named(boxes[1])["Gain (1/s)"].value == 9)
    thread = motor._following._thread
    motor.run("Stop")
    wait_until(lambda: not thread.is_alive())


def test_problems_are_shown_as_text(motor):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        box = motor.interact("Byte")
        box.children[0].value = 3
        motor.run("Stop")
        wait_until(lambda: motor._backend.has_ended)
        box.children[0].value = 4
    assert "ended" in box.children[-1].value and "<" not in box.children[-1].value
