# SPDX-License-Identifier: BSD-3-Clause
"""Tweaks, their values and changes, read from JSON that a program sent: nothing in it is taken for granted."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Dict, Mapping, NoReturn, Optional, Tuple, Union

from ._errors import Garbled, TweaksError, UnknownLabel, warn
from ._names import Key, did_you_mean, nearest, parse

#: The value of a tweak: a colour is a string such as ``"#3366cc"``; an action, and an optional tweak without one, have ``None``.
#: Integers whose choices have labels are read as :class:`LabelledInt`.
Value = Union[bool, int, float, str, None]
#: The kinds of C that can be sampled, as formats of ``struct``.
FORMATS = {
    "bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H", "uint32": "I",
    "uint64": "Q", "float": "f", "double": "d",
}  # fmt: skip
#: What a program sends for no value.
_NONE = "none"
#: The last letters of the forms of numbers in :func:`format`.
_NUMBER_FORMS = tuple("bcdoxXneEfFgG%")


@dataclasses.dataclass(frozen=True)
class Choice:
    """A value that a tweak can take, and its name for people."""

    value: Value
    label: Optional[str] = None


class LabelledInt(int):
    """The value of an integer tweak whose choices have labels: a number that also equals its label.

    ::

        mode = motor["Control/Mode"]        # <Mode.fast: 2>
        mode == "fast" and mode == 2        # True
        f"{mode} is {mode:d}"               # 'fast is 2'

    It calculates, compares, and is written as JSON like the number. :class:`str` is the label, and the number if there is none.
    A comparison with a text that is no label of the tweak is false, with the warning :class:`UnknownLabel`.

    It has no hash, because its label and its number have different ones: ``mode in {"slow", "fast"}`` would be false.
    Use ``mode.label`` or ``int(mode)`` in sets and as keys.
    """

    #: The name of the tweak.
    tweak: str
    #: The choices of the tweak.
    choices: Tuple[Choice, ...]
    #: The label of the number; ``None`` if it has none.
    label: Optional[str]

    def __new__(cls, value: int, tweak: str, choices: Tuple[Choice, ...]) -> "LabelledInt":
        self = super().__new__(cls, value)
        self.tweak, self.choices = tweak, choices
        self.label = next((each.label for each in choices if each.value == value), None)
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, str):
            return super().__eq__(other)
        labels = [each.label for each in self.choices if each.label is not None]
        if other not in labels:
            hint = did_you_mean(nearest(other, labels)) or f"; allowed: {', '.join(labels)}"
            warn(f"{self.tweak}: no choice has the label {other!r:.100}{hint}", UnknownLabel)
        return other == self.label

    def __ne__(self, other: object) -> bool:
        return not self == other if isinstance(other, str) else super().__ne__(other)

    def __hash__(self) -> NoReturn:
        raise TypeError(
            f"{self.tweak}: {self!r} equals a number and a text, so it has no hash; use its .label or int() of it instead"
        )

    def __repr__(self) -> str:
        name = self.tweak.rsplit("/", 1)[-1]
        return f"<{name}: {int(self)}>" if self.label is None else f"<{name}.{self.label}: {int(self)}>"

    def __str__(self) -> str:
        return str(int(self)) if self.label is None else self.label

    def __format__(self, form: str) -> str:
        """Formats the number if the form is one for numbers, such as ``d``, otherwise the label."""
        return format(int(self) if form.endswith(_NUMBER_FORMS) else str(self), form)

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (int(self), self.tweak, self.choices)


def labelled(value: Value, tweak: str, choices: Tuple[Choice, ...]) -> Value:
    """A value of a tweak; a :class:`LabelledInt` if it is an integer and the choices have labels."""
    if not isinstance(value, int) or isinstance(value, bool) or all(each.label is None for each in choices):
        return value
    return LabelledInt(value, tweak, choices)


@dataclasses.dataclass(frozen=True)
class Tweak:
    """A tweak of a program: its declaration, and its state when it was read.

    Values of an integer whose choices have labels are a :class:`LabelledInt`, except in ``choices`` and limits.
    """

    #: ``Category/Collection/Name``.
    name: str
    #: ``bool``, ``int8`` to ``int64``, ``uint8`` to ``uint64``, ``float``, ``double``, ``string``, ``color``, ``action``.
    type: str
    value: Value = dataclasses.field(hash=False)
    default: Value = dataclasses.field(hash=False)
    #: What the value is from: ``default``, ``override``, ``lease``, or another provider.
    source: str
    #: The value after a restart, or when the program's loop has passed the gate.
    pending_value: Value = dataclasses.field(default=None, hash=False)
    #: Whether there is one, which may be ``None`` for an optional tweak.
    is_pending: bool = False
    minimum: Value = None
    maximum: Value = None
    step: Value = None
    #: Digits after the decimal point.
    precision: Optional[int] = None
    #: ``linear`` or ``log``.
    scale: Optional[str] = None
    #: The name of the tweak for the vertical axis of a pad, in the same collection.
    pair: Optional[str] = None
    unit: Optional[str] = None
    choices: Tuple[Choice, ...] = ()
    #: Of a text that is a JSON array: the type of its elements and their limits, such as ``int64 min=1 max=65535``.
    element: Optional[str] = None
    #: Whether the value can be ``None``.
    optional: bool = False
    title: Optional[str] = None
    description: Optional[str] = None
    group: Optional[str] = None
    #: The person or team responsible.
    owner: Optional[str] = None
    #: The date after which the tweak should be gone, such as ``2027-06-30``.
    expires: Optional[str] = None
    #: Whether only the program stores it.
    is_monitor: bool = False
    is_read_only: bool = False
    needs_restart: bool = False
    #: The gate that new values wait for.
    gate: Optional[str] = None
    #: The client that leased the current value.
    leased_by: Optional[str] = None
    #: The value when all leases and ramps have ended.
    lasting_value: Value = dataclasses.field(default=None, hash=False)
    #: The file and line of the declaration.
    location: Optional[str] = None

    @property
    def label(self) -> Optional[str]:
        """The label of the choice that is the value, by which it can be set; ``None`` if it has none."""
        return next((each.label for each in self.choices if each.value == self.value), None)

    @property
    def is_settable(self) -> bool:
        return not (self.is_monitor or self.is_read_only or self.type == "action")

    @property
    def can_be_sampled(self) -> bool:
        return self._kind in FORMATS

    @property
    def _kind(self) -> str:
        """The type, followed by ``?`` for an optional tweak."""
        return self.type + "?" * self.optional

    def _read(self, json: Any) -> Value:
        """A value of the tweak that a program sent."""
        return labelled(read_value(json, self._kind), self.name, self.choices)


@dataclasses.dataclass(frozen=True)
class Change:
    """A change of a tweak."""

    #: ``Category/Collection/Name``.
    name: str
    old_value: Value = dataclasses.field(hash=False)
    new_value: Value = dataclasses.field(hash=False)
    source: str
    #: The client by executable, process and user; or ``program``, ``file``, or a provider. Empty if it is not known.
    by: str
    #: In seconds since 1970.
    time: float


@dataclasses.dataclass(frozen=True)
class LoggedChange(Change):
    """A change in the history of a program. Changes with one number were made together."""

    number: int
    #: The number of the change that this one undoes.
    undoes: Optional[int] = None
    is_pending: bool = False
    is_of_lease: bool = False


@dataclasses.dataclass(frozen=True)
class Mark:
    """A named moment of the history, after the change with this number."""

    name: str
    number: int
    time: float
    by: str


def members(json: Any) -> Dict[str, Any]:
    """The members of an object."""
    if not isinstance(json, dict):
        raise Garbled("the answer is malformed: an object is missing")
    return json


def member(json: Any, name: str, kind: type) -> Any:
    """A member that must be there, and of a type."""
    value = members(json).get(name)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or isinstance(value, bool) and kind is not bool:
        raise Garbled(f"the answer is malformed: its {name} is {value!r:.100}")
    return value


def read_value(json: Any, kind: Optional[str]) -> Value:
    """The value of a tweak.

    :param kind: Its type, followed by ``?`` for an optional tweak; ``None`` for an unknown type.
    """
    if json is None:
        return None
    if kind is not None and kind.endswith("?"):
        if json == _NONE:
            return None
        value = read_value(json, kind[:-1])
        return value[1:] if isinstance(value, str) and _is_none(value) else value
    if kind in ("float", "double"):
        if isinstance(json, str) or isinstance(json, int) and not isinstance(json, bool):
            # Infinite values, which JSON does not have, are strings.
            try:
                return float(json)
            except (ValueError, OverflowError):
                pass
        elif isinstance(json, float):
            return json
    elif kind == "bool":
        if isinstance(json, bool):
            return json
    elif kind in FORMATS:
        if isinstance(json, int) and not isinstance(json, bool):
            return json
    elif isinstance(json, (bool, int, float, str)):
        return json
    raise Garbled(f"the answer is malformed: {json!r:.100} is not a value of type {kind}")


def _is_none(text: str) -> bool:
    """Whether a text is ``none`` after any number of backslashes, and has one more as a value of an optional tweak."""
    return text.lstrip("\\") == _NONE


def write_value(value: Any, tweak: Tweak) -> Union[bool, int, float, str]:
    """A value of a tweak as JSON has it. Numbers of NumPy become those of Python.

    :raises TypeError: No tweak has such values.
    """
    if value is None and tweak.optional:
        return _NONE
    if not isinstance(value, (bool, int, float, str)) and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return value
    # A subclass, such as of an enumeration, might print itself in another way.
    if isinstance(value, str):
        text = str.__str__(value)
        return "\\" + text if tweak._kind == "string?" and _is_none(text) else text
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        # JSON has no infinite numbers; the program says what is allowed.
        return float.__float__(value) if math.isfinite(value) else str(float(value))
    what = ", a text or None" if tweak.optional else " or a text"
    raise TypeError(f"a tweak is a bool, a number{what}, not {type(value).__name__}")


def write_values(values: Mapping[str, Value], tweaks: Mapping[str, Tweak]) -> Dict[str, Dict[str, Dict[str, Any]]]:
    """Values by whole name as JSON has those of several tweaks: by category, collection and name."""
    nested: Dict[str, Dict[str, Dict[str, Any]]] = {}
    for name, value in values.items():
        key = read_key(name)
        nested.setdefault(key.category, {}).setdefault(key.collection, {})[key.name] = write_value(value, tweaks[name])
    return nested


def read_tweak(json: Any) -> Tweak:
    """A tweak in the form of ``list``, ``get`` and of ``tweak list --format json``."""
    values = members(json)
    type_, whole, optional = member(values, "type", str), member(values, "tweak", str), values.get("optional") is True
    kind = type_ + "?" * optional

    def unlabelled(name: str, of: Mapping[str, Any] = values) -> Value:
        return read_value(of.get(name), kind)

    def text(name: str) -> Optional[str]:
        found = values.get(name)
        return found if isinstance(found, str) else None

    def choice(each: Any) -> Choice:
        label = members(each).get("label")
        return Choice(unlabelled("value", each), label if isinstance(label, str) else None)

    listed = values.get("choices")
    choices = tuple(map(choice, listed)) if isinstance(listed, list) else ()

    def value(name: str, of: Mapping[str, Any] = values) -> Value:
        return labelled(unlabelled(name, of), whole, choices)

    lease, ramp = values.get("lease"), values.get("ramp")
    lasting = value("value")
    if isinstance(ramp, dict):
        lasting = value("target", ramp)
    if isinstance(lease, dict) and "hiddenValue" in lease:
        lasting = value("hiddenValue", lease)
    precision = values.get("precision")
    return Tweak(
        name=whole,
        type=type_,
        value=value("value"),
        default=value("default"),
        source=text("source") or "",
        pending_value=value("pendingValue"),
        is_pending="pendingValue" in values,
        minimum=unlabelled("minimum"),
        maximum=unlabelled("maximum"),
        step=unlabelled("step"),
        precision=precision if isinstance(precision, int) else None,
        scale=text("scale"),
        pair=text("pair"),
        unit=text("unit"),
        choices=choices,
        element=text("element"),
        optional=optional,
        title=text("title"),
        description=text("description"),
        group=text("group"),
        owner=text("owner"),
        expires=text("expires"),
        is_monitor=values.get("monitor") is True,
        is_read_only=values.get("readOnly") is True,
        needs_restart=values.get("needsRestart") is True,
        gate=text("gate"),
        leased_by=str(lease.get("by")) if isinstance(lease, dict) else None,
        lasting_value=lasting,
        location=text("location"),
    )

def read_key(text: str) -> Key:
    """The key of a whole name that a program sent."""
    try:
        levels = parse(text)
    except TweaksError:
        levels = ()
    if len(levels) != 3:
        raise Garbled(f"the answer is malformed: {text:.100} is not the name of a tweak")
    return Key(*levels)


def read_change(json: Any, tweaks: Mapping[str, Tweak]) -> Change:
    """A change in a notification, or in the output of ``tweak watch``.

    :param tweaks: Declarations by name. Values of others are read without their type.
    """
    name = member(json, "tweak", str)
    tweak = tweaks.get(name)
    old, new = json.get("oldValue"), json.get("newValue")
    return Change(
        name=name,
        old_value=tweak._read(old) if tweak else read_value(old, None),
        new_value=tweak._read(new) if tweak else read_value(new, None),
        source=str(json.get("source", "")),
        by=str(json.get("by", "")),
        time=member(json, "time", float),
    )


def read_logged(json: Any, tweaks: Mapping[str, Tweak]) -> LoggedChange:
    """A change in the history."""
    undoes = members(json).get("undoes")
    return LoggedChange(
        **vars(read_change(json, tweaks)),
        number=member(json, "number", int),
        undoes=undoes if isinstance(undoes, int) else None,
        is_pending=json.get("isPending") is True,
        is_of_lease=json.get("isOfLease") is True,
    )


def read_mark(json: Any) -> Mark:
    """A mark in the history."""
    return Mark(
        member(json, "name", str), member(json, "number", int), member(json, "time", float), str(json.get("by", ""))
    )
