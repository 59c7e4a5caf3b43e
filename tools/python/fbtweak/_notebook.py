# SPDX-License-Identifier: BSD-3-Clause
"""Controls for notebooks, made of ipywidgets."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Sequence

from ._errors import TweaksError
from ._values import Tweak, Value, read_value, write_value

if TYPE_CHECKING:
    from ._program import Program

_COLOUR = re.compile("#[0-9a-fA-F]{6}")


def controls(program: "Program", names: Sequence[str], continuous: bool) -> Any:
    """A box with a control for each tweak that can be set, and a button for each action."""
    import ipywidgets

    tweaks = [each for each in program.tweaks(*names) if each.is_settable or each.type == "action"]
    # The last level is enough for people, unless two are the same.
    ends = [each.name.rsplit("/", 1)[-1] for each in tweaks]
    message = ipywidgets.HTML()
    rows: List[Any] = []
    for tweak, end in zip(tweaks, ends):
        label = tweak.title or (end if ends.count(end) == 1 else tweak.name)
        if tweak.unit:
            label += f" ({tweak.unit})"
        rows.append(_control(ipywidgets, program, tweak, label, continuous, message))
    return ipywidgets.VBox([*rows, message])


def _control(
    widgets: Any, program: "Program", tweak: Tweak, label: str, continuous: bool, message: Any
) -> Any:
    def show(problem: str) -> None:
        # Plain text, whatever a program says.
        message.value = problem.replace("&", "&amp;").replace("<", "&lt;")

    if tweak.type == "action":
        button = widgets.Button(description=label, tooltip=tweak.description or tweak.name)

        def press(_: object) -> None:
            try:
                program.run(tweak.name)
                show("")
            except TweaksError as error:
                show(str(error))

        button.on_click(press)
        return button

    widget = _widget(widgets, tweak, continuous)
    widget.description = label
    widget.style.description_width = "initial"

    def changed(change: Dict[str, Any]) -> None:
        if change["new"] == change["old"]:
            return
        try:
            new = change["new"]
            program[tweak.name] = read_value(new, tweak._kind) if tweak._kind == "string?" else new
            show("")
        except TweaksError as error:
            show(str(error))

    widget.observe(changed, "value")
    return widget


def _widget(widgets: Any, tweak: Tweak, continuous: bool) -> Any:
    value, low, high = tweak.value, tweak.minimum, tweak.maximum
    common = {"value": value, "continuous_update": continuous}
    if tweak.choices:
        return widgets.Dropdown(options=[(each.label or str(each.value), each.value) for each in tweak.choices], value=value)
    if tweak.optional:
        # Texts, as those of the command.
        text = str(write_value(value, tweak))
        if tweak.type == "bool":
            return widgets.Dropdown(options=["none", "false", "true"], value=text.lower())
        return widgets.Text(value=text, continuous_update=False)
    if tweak.type == "bool":
        return widgets.Checkbox(value=value)
    if tweak.type == "color" and isinstance(value, str) and _COLOUR.fullmatch(value):
        return widgets.ColorPicker(value=value)
    if tweak.type in ("string", "color"):
        return widgets.Text(value=value, continuous_update=False)
    is_whole = tweak.type not in ("float", "double")
    if not (_is_finite(low) and _is_finite(high)):
        return (widgets.IntText if is_whole else widgets.FloatText)(**common)
    step: Callable[[float], Any] = int if is_whole else float
    if is_whole:
        # The front end has numbers of 53 bits.
        if max(abs(int(low or 0)), abs(int(high or 0))) >= 2**53:
            return widgets.Text(value=str(value), continuous_update=False)
        return widgets.IntSlider(min=low, max=high, step=step(_number(tweak.step) or 1), **common)
    if tweak.scale == "log" and _number(low) > 0:
        return widgets.FloatLogSlider(
            min=math.log10(_number(low)), max=math.log10(_number(high)), step=0.01, readout_format=".4g", **common
        )
    span = _number(high) - _number(low)
    return widgets.FloatSlider(
        min=low, max=high, step=_number(tweak.step) or span / 1000, readout_format=".4g", **common
    )


def _is_finite(value: Value) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


def _number(value: Value) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
