# SPDX-License-Identifier: BSD-3-Clause
"""Controls in notebooks."""

import warnings

import pytest

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
        "Count": "IntSlider", "Serial": "IntText", "Float": "FloatText", "Flag": "Checkbox", "Lamp": "ColorPicker",
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


def test_problems_are_shown_as_text(motor):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        box = motor.interact("Byte")
        box.children[0].value = 3
        motor.run("Stop")
        wait_until(lambda: motor._backend.has_ended)
        box.children[0].value = 4
    assert "ended" in box.children[-1].value and "<" not in box.children[-1].value
