# SPDX-License-Identifier: BSD-3-Clause
"""Controls for notebooks, made of ipywidgets."""

from __future__ import annotations

import contextlib
import math
import re
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Tuple

from ._errors import TweaksError
from ._values import Tweak, Value, read_value, write_value

if TYPE_CHECKING:
    from ._program import Changes, Program

_COLOUR = re.compile("#[0-9a-fA-F]{6}")
#: The largest integer up to which the numbers of the front end have all others.
_LARGEST_INTEGER = 2**53
#: The steps of a slider, about.
_STEPS = 1000


def controls(program: "Program", names: Sequence[str], continuous: bool, following: "Following") -> Any:
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
        rows.append(_control(ipywidgets, program, tweak, label, continuous, message, following))
    following.begin()
    return ipywidgets.VBox([*rows, message])


def _control(
    widgets: Any, program: "Program", tweak: Tweak, label: str, continuous: bool, message: Any, following: "Following"
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
        if change["new"] == change["old"] or following.is_showing:
            return
        try:
            new = change["new"]
            program[tweak.name] = read_value(new, tweak._kind) if tweak._kind == "string?" else new
            following.begin()
            show("")
        except TweaksError as error:
            show(str(error))

    widget.observe(changed, "value")
    following.add(tweak, widget)
    return widget


class Following:
    """Shows in the controls of a program what changes elsewhere, on one thread and one connection for all of them.

    It ends with the program. The next use of a control begins again.
    """

    def __init__(self, program: "Program") -> None:
        self._program = program
        # Guards everything below.
        self._lock = threading.Lock()
        self._controls: Dict[str, List[Tuple[Tweak, Any]]] = {}
        self._thread: Optional[threading.Thread] = None

    @property
    def is_showing(self) -> bool:
        """Whether the calling thread shows what has changed, which is no input."""
        return threading.current_thread() is self._thread

    def add(self, tweak: Tweak, widget: Any) -> None:
        with self._lock:
            self._controls.setdefault(tweak.name, []).append((tweak, widget))

    def begin(self) -> None:
        """Starts the thread, unless it runs. Without the library nothing is followed, which would need a process.

        :raises TweaksError: The program has ended. The thread itself requests nothing, so the caller gets all errors.
        """
        with self._lock:
            if self._thread is not None and self._thread.is_alive() or not self._program.has_library:
                return
            changes = self._program.changes()
            try:
                values = self._program.values()
            except BaseException:
                changes.close()
                raise
            self._thread = threading.Thread(
                target=self._run, args=(changes, values), name="fbtweak controls", daemon=True
            )
            self._thread.start()

    def _run(self, changes: "Changes", values: Dict[str, Value]) -> None:
        with changes:
            for name, value in values.items():
                self._show(name, value)
            # What a program sends that is not the protocol also ends it.
            with contextlib.suppress(TweaksError):
                for change in changes:
                    self._show(change.name, change.new_value)

    def _show(self, name: str, value: Value) -> None:
        import traitlets

        with self._lock:
            controls = self._controls.get(name, [])
            # Closed ones have no connection to the front end.
            controls[:] = shown = [(tweak, widget) for tweak, widget in controls if widget.comm is not None]
        for tweak, widget in shown:
            # A colour with an alpha is none of a picker.
            with contextlib.suppress(traitlets.TraitError):
                widget.value = _shown(value, tweak)


def _shown(value: Value, tweak: Tweak) -> Any:
    """A value as its control has it."""
    if tweak.choices:
        return value
    if tweak.optional:
        # Texts, as those of the command.
        text = str(write_value(value, tweak))
        return text.lower() if tweak.type == "bool" else text
    return value if _fits_front_end(tweak) else str(value)


def _fits_front_end(tweak: Tweak) -> bool:
    """Whether the front end has numbers for all values."""
    limits = (tweak.minimum, tweak.maximum)
    return tweak.type not in ("int64", "uint64") or all(
        isinstance(each, int) and abs(each) <= _LARGEST_INTEGER for each in limits
    )


def _widget(widgets: Any, tweak: Tweak, continuous: bool) -> Any:
    value, low, high = _shown(tweak.value, tweak), tweak.minimum, tweak.maximum
    common = {"value": value, "continuous_update": continuous}
    if tweak.choices:
        return widgets.Dropdown(options=[(each.label or str(each.value), each.value) for each in tweak.choices], value=value)
    if tweak.optional and tweak.type == "bool":
        return widgets.Dropdown(options=["none", "false", "true"], value=value)
    if tweak.optional or not _fits_front_end(tweak):
        return widgets.Text(value=value, continuous_update=False)
    if tweak.type == "bool":
        return widgets.Checkbox(value=value)
    if tweak.type == "color" and isinstance(value, str) and _COLOUR.fullmatch(value):
        return widgets.ColorPicker(value=value)
    if tweak.type in ("string", "color"):
        return widgets.Text(value=value, continuous_update=False)
    step, digit = _number(tweak.step), 0.0 if tweak.precision is None else 10.0**-tweak.precision
    span = _number(high) - _number(low)
    is_limited = _is_finite(low) and _is_finite(high) and 0 < span < math.inf
    if tweak.type not in ("float", "double"):
        if is_limited:
            return widgets.IntSlider(min=low, max=high, step=int(step) or 1, **common)
        return widgets.IntText(step=int(step) or 1, **common)
    if not is_limited:
        return widgets.FloatText(step=step or digit or None, **common)
    if tweak.scale == "log" and _number(low) > 0:
        low, high = math.log10(_number(low)), math.log10(_number(high))
        return widgets.FloatLogSlider(min=low, max=high, step=_even_step(high - low), readout_format=".4g", **common)
    step = step or max(_even_step(span), digit)
    return widgets.FloatSlider(min=low, max=high, step=step, readout_format=".4g", **common)


def _even_step(span: float) -> float:
    """A step of one digit, 1, 2 or 5, for a slider, so that its values are short numbers."""
    most = span / _STEPS * (1 + 1e-9)
    power = 10.0 ** math.floor(math.log10(most))
    return max(each * power for each in (1, 2, 5) if each * power <= most)


def _is_finite(value: Value) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


def _number(value: Value) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
