# SPDX-License-Identifier: BSD-3-Clause
"""A program with the library, through its socket."""

from __future__ import annotations

import binascii
import dataclasses
import math
import time
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from . import _sockets
from ._backend import Backend, Feed, Holder, Outcome, Restored
from ._errors import Ended, Garbled, Refused, Silent, TweaksError, UnknownTweak, not_returned
from ._protocol import Connection, Message
from ._samples import Samples
from ._values import (
    Change, LoggedChange, Mark, Tweak, Value, member, members, read_change, read_logged, read_mark, read_tweak, read_value,
    write_value, write_values,
)  # fmt: skip


#: More values than that may take long to set.
MANY = 1000
#: The seconds for which the number of forks is known.
_FORKS_AGE = 0.1
#: The parameters of a request ``reset`` that ends the leases of a connection.
ALL_OWN_LEASES: Message = {"all": True, "leases": "own"}


class LiveBackend(Backend):
    """Requests of :class:`Program` go over one connection; each lease and each feed has one of its own."""

    def __init__(self, pid: int) -> None:
        """Connects.

        :raises ConnectionRefusedError: The process does not listen.
        """
        self.pid: int = pid
        self.title = str(pid)
        self.started = _sockets.start_of(pid)
        self._forks_at, self._forks = -math.inf, 0
        self._connection = Connection(pid, self.title)
        described = self._connection.ask("describe", {})
        #: The path of the executable.
        self.executable: str = member(described, "executable", str)
        #: Whether the program evaluates names and texts itself; older libraries do not.
        self.has_change = "change" in (described.get("methods") or [])
        self.title = self._connection.title = f"{self.executable.rsplit('/', 1)[-1]} ({pid})"

    @property
    def has_ended(self) -> bool:
        return self._connection.has_ended

    def close(self) -> None:
        self._connection.close()

    def tweaks(self) -> List[Tweak]:
        answer = _ask_for_much(self._connection, "list", {})
        return [read_tweak(each) for each in member(answer, "tweaks", list)]

    def tweak(self, name: str) -> Optional[Tweak]:
        try:
            return read_tweak(self._connection.ask("get", {"tweak": name}))
        except UnknownTweak:
            return None

    def value(self, tweak: Tweak) -> Value:
        """The value of a tweak, in one request."""
        return tweak._read(self._connection.ask("get", {"tweak": tweak.name}).get("value"))

    def set(
        self, values: Mapping[str, Value], tweaks: Mapping[str, Tweak], ramp: Optional[float]
    ) -> List[Outcome]:
        return _set(self._connection, values, tweaks, {} if ramp is None else {"ramp": ramp}, self.has_change)

    def set_each(self, steps: Sequence[Mapping[str, Value]], tweaks: Mapping[str, Tweak]) -> List[Outcome]:
        answers = self._connection.ask_each([change_request(values, tweaks, {}, self.has_change) for values in steps])
        return [each for values, answer in zip(steps, answers) for each in outcomes_of(answer, values, tweaks)]

    def lease(
        self, values: Mapping[str, Value], tweaks: Mapping[str, Tweak], seconds: Optional[float], ramp: Optional[float]
    ) -> Tuple[Holder, List[Outcome]]:
        holder = _LiveHolder(self._another(), seconds, self.has_change)
        try:
            return holder, holder.set(values, tweaks, ramp)
        except BaseException:
            holder.close()
            raise

    def forks(self) -> int:
        # All processes are looked at, which takes milliseconds, and there may be many leases at once.
        now = time.monotonic()
        if now - self._forks_at > _FORKS_AGE:
            self._forks_at, self._forks = now, len(_sockets.forks_of(self.pid))
        return self._forks

    def reset(self, name: Optional[str]) -> List[Outcome]:
        return _ineffective(self._connection.ask("reset", {"all": True} if name is None else {"tweak": name}))

    def run(self, name: str, wait: bool, seconds: Optional[float]) -> Optional[str]:
        connection = self._another()
        try:
            answer = connection.ask("run", run_request(name, wait), is_endless=True, seconds=seconds)
            return answer.get("handedTo")
        except Silent:
            raise
        except TimeoutError:
            raise not_returned(name, seconds) from None
        finally:
            connection.close()

    def feed(self, sampled: Sequence[Tweak], rate: float, watched: Optional[Sequence[str]]) -> Feed:
        connection = self._another()
        try:
            return _LiveFeed(connection, sampled, rate, watched)
        except BaseException:
            connection.close()
            raise

    def log(self, since: int, tweaks: Mapping[str, Tweak]) -> Tuple[List[LoggedChange], List[Mark]]:
        answer = _ask_for_much(self._connection, "history", {"since": since})
        changes = [read_logged(each, tweaks) for each in member(answer, "changes", list)]
        return changes, [read_mark(each) for each in answer.get("marks") or []]

    def undo(self, number: Optional[int]) -> Tuple[Restored, List[Outcome]]:
        answer = self._connection.ask("undo", {} if number is None else {"number": number})
        return _restored(answer), _ineffective(answer)

    def revert(self, mark: Optional[str]) -> Tuple[Restored, List[Outcome]]:
        answer = self._connection.ask("revert", {} if mark is None else {"mark": mark})
        return _restored(answer), _ineffective(answer)

    def mark(self, name: str) -> None:
        self._connection.ask("mark", {"name": name})

    def _another(self) -> Connection:
        try:
            return Connection(self.pid, self.title)
        except ConnectionRefusedError:
            raise unreachable(self.title) from None


def unreachable(title: str) -> Ended:
    """The error of a program that had a socket before."""
    return Ended(f"{title}: it is no longer running, or does not accept connections")


def run_request(name: str, wait: bool) -> Message:
    """The parameters that run an action."""
    return {"tweak": name, "wait": True} if wait else {"tweak": name}


def lease_terms(seconds: Optional[float]) -> Message:
    """The parameters that make a change a lease, which ends with the connection and after some seconds."""
    return {"until": "closed"} if seconds is None else {"until": "closed", "for": seconds}


class _LiveHolder(Holder):
    """The program ends the leases when this connection closes, however that happens."""

    def __init__(self, connection: Connection, seconds: Optional[float], has_change: bool) -> None:
        self._connection = connection
        self._has_change = has_change
        self._terms = lease_terms(seconds)

    def set(self, values: Mapping[str, Value], tweaks: Mapping[str, Tweak], ramp: Optional[float]) -> List[Outcome]:
        terms = self._terms if ramp is None else {**self._terms, "ramp": ramp}
        return _set(self._connection, values, tweaks, terms, self._has_change)

    def end(self) -> None:
        try:
            # Closing would end them too, but at an unknown moment.
            self._connection.ask("reset", ALL_OWN_LEASES)
        finally:
            self._connection.close()

    def close(self) -> None:
        self._connection.close()

    @property
    def has_ended(self) -> bool:
        return self._connection.has_ended


class _LiveFeed(Feed):
    def __init__(
        self, connection: Connection, sampled: Sequence[Tweak], rate: float, watched: Optional[Sequence[str]]
    ) -> None:
        self._connection = connection
        self._tweaks = {each.name: each for each in sampled}
        # Samples may come before the answer.
        connection.keeps_told = True
        connection.ask("subscribe", {} if watched is None else {"tweaks": list(watched)})
        self._sampled = 0
        self._frame_size = 8 * (len(sampled) + 1)
        self._count = len(sampled)
        if sampled:
            answer = connection.ask("sample", {"tweaks": [each.name for each in sampled], "rate": rate})
            self._sampled = member(answer, "subscription", int)
            if member(answer, "types", list) != [each.type for each in sampled]:
                raise Garbled(f"{connection.title}: it samples other tweaks than requested")

    def read(self, seconds: Optional[float], samples: Optional[Samples]) -> Optional[List[Change]]:
        try:
            message = self._connection.wait(seconds)
        except Ended:
            return None
        if message is None:
            return []
        told = members(message.get("params"))
        if message["method"] == "changed":
            return [read_change(each, self._tweaks) for each in member(told, "changes", list)]
        if message["method"] == "samples" and samples is not None and told.get("subscription") == self._sampled:
            samples.dropped += member(told, "dropped", int)
            samples.skipped += member(told, "skipped", int)
            try:
                frames = binascii.a2b_base64(member(told, "frames", str))
            except (binascii.Error, ValueError) as error:
                raise Garbled(f"{self._connection.title}: its samples are malformed: {error}") from None
            missing = [each for each in member(told, "missing", list) if each in range(self._count)]
            if len(frames) % self._frame_size:
                raise Garbled(f"{self._connection.title}: its samples are malformed: a part is missing")
            samples._add(frames, missing)
        return []

    def close(self) -> None:
        self._connection.close()

    def interrupt(self) -> None:
        self._connection.close()


def _ask_for_much(connection: Connection, method: str, params: Message) -> Message:
    """Asks for something that may take long, of a program that has shown that it responds."""
    connection.ask("describe", {})
    return connection.ask(method, params, is_large=True)


def _set(
    connection: Connection, values: Mapping[str, Value], tweaks: Mapping[str, Tweak], terms: Message, has_change: bool
) -> List[Outcome]:
    if not values:
        return []
    method, params = change_request(values, tweaks, terms, has_change)
    if len(values) > MANY:
        answer = _ask_for_much(connection, method, params)
    else:
        answer = connection.ask(method, params)
    return outcomes_of(answer, values, tweaks)


def _written(value: Value, tweak: Tweak) -> Message:
    """A value as the program takes it. A text for another type is an expression, such as "+=10%"."""
    written = write_value(value, tweak)
    is_text = isinstance(written, str) and (tweak.type != "string" or bool(tweak.choices))
    return {"text" if is_text else "value": written}


def change_request(
    values: Mapping[str, Value], tweaks: Mapping[str, Tweak], terms: Message, has_change: bool
) -> Tuple[str, Message]:
    """The method and the parameters that set values as one change.

    :raises TweaksError: The library in the program knows neither leases nor ramps, as that of 1.0.0-beta.1.
    """
    if has_change:
        changes = [{"tweak": name, **_written(value, tweaks[name])} for name, value in values.items()]
        return "change", {"changes": changes, **terms}
    if terms:
        raise TweaksError(
            "the Tweaks library in the process is too old for leases and ramps"
        )
    if len(values) == 1:
        ((name, value),) = values.items()
        return "set", {"tweak": name, **_written(value, tweaks[name])}
    return "setMany", {"values": write_values(values, tweaks), "allOrNothing": True}


def outcomes_of(answer: Message, values: Mapping[str, Value], tweaks: Mapping[str, Tweak]) -> List[Outcome]:
    if "changes" in answer:
        return _changed(answer, values, tweaks)
    if len(values) == 1:
        ((name, given),) = values.items()
        outcome = Outcome(
            name,
            given,
            was_clamped=answer.get("wasClamped") is True,
            value=read_value(answer.get("value"), tweaks[name]._kind),
            source=str(answer.get("source", "")),
            is_coming="pendingValue" in answer or "ramp" in answer,
        )
        return [outcome]
    unknown = [f"{each}: no such tweak" for each in member(answer, "unknown", list)]
    refused = [str(members(each).get("message")) for each in member(answer, "refused", list)]
    if unknown or refused:
        raise (Refused if refused else UnknownTweak)("nothing was set:", unknown + refused)
    clamped = member(answer, "clamped", list)
    ineffective = {each.name: each for each in _ineffective(answer)}
    outcomes = [Outcome(name, given, name in clamped) for name, given in values.items()]
    return [
        dataclasses.replace(ineffective[each.name], given=each.given, was_clamped=each.was_clamped)
        if each.name in ineffective
        else each
        for each in outcomes
    ]


def _changed(answer: Message, values: Mapping[str, Value], tweaks: Mapping[str, Tweak]) -> List[Outcome]:
    refused = [members(each) for each in member(answer, "refused", list)]
    if refused:
        is_unknown = all(each.get("kind") == "unknownTweak" for each in refused)
        messages = [str(each.get("message")) for each in refused]
        error = UnknownTweak if is_unknown else Refused
        raise error(messages[0]) if len(values) == 1 else error("nothing was set:", messages)
    outcomes = []
    for each in map(members, member(answer, "changes", list)):
        name = member(each, "tweak", str)
        if name in values:
            outcomes.append(
                Outcome(
                    name,
                    values[name],
                    was_clamped="clampedTo" in each,
                    value=read_value(each.get("newValue"), tweaks[name]._kind),
                    source=str(each.get("source", "")),
                    is_coming="pendingValue" in each or "ramp" in each,
                )
            )
    return outcomes


def _ineffective(answer: Message) -> List[Outcome]:
    """The tweaks that do not have the value that a change gave them."""
    return [
        Outcome(
            member(each, "tweak", str),
            None,
            False,
            value=read_value(each.get("value"), None),
            source=str(each.get("source", "")),
            is_coming="pendingValue" in each,
        )
        for each in map(members, answer.get("ineffective") or [])
    ]


def _restored(answer: Message) -> Restored:
    return {
        member(each, "tweak", str): (read_value(each.get("oldValue"), None), read_value(each.get("newValue"), None))
        for each in member(answer, "changes", list)
    }
