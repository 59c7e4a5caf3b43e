# SPDX-License-Identifier: BSD-3-Clause
"""Programs with tweaks."""

from __future__ import annotations

import abc
import dataclasses
import itertools
import os
import threading
import time
import weakref
from types import TracebackType
from typing import (
    TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Mapping, NoReturn, Optional, Sequence, Tuple, Type, TypeVar,
    Union,
)  # fmt: skip

from . import _names, _sockets
from ._backend import Backend, Feed, Holder, Outcome, Restored
from ._command import Command, CommandBackend
from ._errors import (
    Clamped, Ended, Garbled, Hidden, LeaseLost, Lost, Refused, TweaksError, TweaksWarning, Unavailable, UnknownTweak,
    Waiting, warn,
)  # fmt: skip
from ._live import LiveBackend
from ._samples import Samples
from ._values import Change, LoggedChange, Mark, Tweak, Value, member, read_key, write_values

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from ._aio import AsyncProgram
    from ._aio_waiting import Shared
    from ._notebook import Following

Result = TypeVar("Result")
Target = Union[str, int, "os.PathLike[str]"]

#: The pause in seconds between two looks for a program, and for a tweak's value.
_PAUSE = 0.02
#: The seconds that a program has to pass a gate.
_GATE_PATIENCE = 0.2
#: The number of changes that are under way together; a program reads no more than 128 of a client.
_GROUP = 64


def connect(target: Target, *, wait: float = 0, command: str = "tweak") -> "Program":
    """Finds a program by the rules of the command ``tweak``.

    :param target: The name of an executable or an application, a path, or a process id. The library's socket is used
        if it listens there, and otherwise the command: for the memory of a process without the library, and for the
        files of a program that does not run, whose values count at its next start.
    :param wait: Seconds to wait until the program runs, also when it has ended and is started again. With 0, a program
        that does not run is found by its files.
    :param command: The name or path of the command. It is not needed to connect to the library by process id.
    :raises Unavailable: There is no such program, or it has not started in time.
    :raises Forbidden: It belongs to another user.
    :raises TweaksError: Several processes run.
    """
    return Program(target, wait=wait, command=command)


def programs(*, command: str = "tweak") -> List[Dict[str, Any]]:
    """The running programs with tweaks, as ``tweak ps --all --format json`` lists them.

    ``pid`` and ``executable`` are always there; ``memory`` is true for those without the library.
    """
    return list(member(Command(command).ask("ps", "--all", "--format", "json"), "programs", list))


class Program:
    """The tweaks of a program.

    A tweak is named as for the command: ``Category/Collection/Name``, or the end of that, whose levels may be
    abbreviated. All methods may be called on every thread; requests take turns.

    If a program that was found by name or path has been started again, the next request goes to its new process.
    """

    def __init__(self, target: Target, *, wait: float = 0, command: str = "tweak") -> None:
        """See :func:`connect`."""
        self._target = target if isinstance(target, int) else os.fspath(target)
        self._is_by_id = isinstance(target, int) or self._target_text.isdecimal()
        self._command = Command(command)
        self._wait = wait
        # Guards everything below.
        self._lock = threading.RLock()
        self._known: Dict[str, Tweak] = {}
        # With a lock of its own, because leases begin and end while a request is under way.
        self._leases: "weakref.WeakSet[Interruptible]" = weakref.WeakSet()
        self._leases_lock = threading.Lock()
        # By event loop.
        self._shared: "weakref.WeakKeyDictionary[AbstractEventLoop, Shared]" = weakref.WeakKeyDictionary()
        self._shared_lock = threading.Lock()
        #: Keeps the controls of a notebook up to date.
        self._following: "Optional[Following]" = None
        self._backend: Optional[Backend] = self._find(self._target)
        self._was_running = self._backend.pid is not None
        self._remember(self._backend)
        self._executable = getattr(self._backend, "executable", None)

    # MARK: Finding it

    @property
    def _target_text(self) -> str:
        return str(self._target)

    def _find(self, target: Union[str, int]) -> Backend:
        wait = self._wait
        end = time.monotonic() + wait
        text = str(target)
        while True:
            problem: Optional[TweaksError] = None
            try:
                # The library listens a quarter of a second after the start, for which the command waits.
                found = (text.isdecimal() and self._listening(int(text))) or self._found_by_command(text, wait <= 0)
                if found.pid is not None or wait <= 0:
                    return found
            except Unavailable as error:
                problem = error
            if time.monotonic() >= end:
                raise problem or Unavailable(f"{text}: it has not started after {wait:g} s")
            time.sleep(_PAUSE)

    def _found_by_command(self, target: str, warns: bool) -> Backend:
        described = self._command.ask("list", "--changed", "--format", "json", "--", target, warns=warns)
        pid = described.get("pid")
        listening = self._listening(pid) if isinstance(pid, int) else None
        return listening or CommandBackend(self._command, target, described)

    @staticmethod
    def _listening(pid: int) -> Optional[Backend]:
        try:
            return LiveBackend(pid)
        except ConnectionRefusedError:
            return None

    def _current(self) -> Backend:
        """The way into the program; into its new process, if it was started again."""
        if self._backend is None or self._backend.has_ended:
            self._backend = self._found_again()
        return self._backend

    def _found_again(self) -> Backend:
        self._forget()
        if self._started is not None and _sockets.start_of(self._pid) == self._started:
            # The same process; this one was forked, or has given up a connection.
            listening = self._listening(self._pid)
            if listening is not None:
                return listening
        with self._leases_lock:
            leases = [lease for lease in self._leases if lease._is_interrupted]
        if leases:
            for lease in leases:
                lease._is_lost = True
            raise LeaseLost(f"{self._title}: it ended while values were leased, so they no longer apply")
        if self._is_by_id:
            raise Ended(f"{self._title}: the process has ended")
        found = self._find(self._executable or self._target)
        if self._was_running and found.pid is None:
            raise Ended(f"{self._title}: it has ended, and was not started again")
        self._remember(found)
        return found

    def _remember(self, found: Backend) -> None:
        self._title = found.title
        self._pid = found.pid or 0
        self._started = found.started

    def _forget(self) -> None:
        if self._backend is not None:
            self._backend.close()
        self._backend = None
        self._known.clear()

    def _way(self) -> Backend:
        """The way into the program, for what has a connection of its own, so that other threads need not wait."""
        with self._lock:
            return self._current()

    def _do(self, body: Callable[[Backend], Result], *, is_reading: bool = False) -> Result:
        """Calls ``body`` with the way into the program.

        :param is_reading: It may be called again if the program ends meanwhile and was started again.
        """
        with self._lock:
            try:
                return body(self._current())
            except LeaseLost:
                raise
            except Unavailable as error:
                has_ended = self._backend is not None and self._backend.has_ended
                if not has_ended and not isinstance(error, Ended):
                    raise
                if not is_reading:
                    # The request may have been executed, so the caller decides.
                    raise
                return body(self._current())
            except UnknownTweak:
                # A library with tweaks may have been closed.
                self._known.clear()
                raise

    def close(self) -> None:
        """Closes the connection. A later request connects again."""
        with self._lock:
            self._forget()

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._title}>"

    def __reduce__(self) -> NoReturn:
        # A connection and its leases belong to one process.
        raise TypeError(
            f"{self._title}: a connection cannot be copied or pickled; call fbtweak.connect in the other process"
        )

    @property
    def title(self) -> str:
        """The program for people, such as ``motor (4711)``."""
        return self._title

    @property
    def pid(self) -> Optional[int]:
        """The process id; ``None`` if the program does not run.

        :raises Ended: The process has ended, and the program was not started again.
        """
        return self._do(lambda backend: backend.pid)

    @property
    def has_library(self) -> bool:
        """Whether the library answers in the process. Otherwise the command reads its memory or its files."""
        return self._do(lambda backend: isinstance(backend, LiveBackend))

    # MARK: Reading

    def tweaks(self, *names: str) -> List[Tweak]:
        """Tweaks with their values, in the order of declaration.

        :param names: Names, groups such as ``Control/``, or patterns such as ``Control/*``; none for all tweaks.
        :raises UnknownTweak: A name stands for no tweak.
        """
        found = self._do(lambda backend: backend.tweaks(), is_reading=True)
        with self._lock:
            self._known.update((each.name, each) for each in found)
        if not names:
            return found
        by_key = {read_key(each.name): each for each in found}
        keys = list(by_key)
        chosen = dict.fromkeys(key for name in names for key in _names.select(name, keys))
        return [by_key[key] for key in chosen]

    def tweak(self, name: str) -> Tweak:
        """A tweak with its current value.

        :raises UnknownTweak: No tweak, or more than one, has this name.
        """
        whole = self._resolve(name).name
        found = self._do(lambda backend: backend.tweak(whole), is_reading=True)
        if found is None:
            raise Unavailable(f"{whole}: the tweak no longer exists; its library was unloaded")
        return found

    def _resolve(self, name: str) -> Tweak:
        """The declaration of a tweak, which does not change while the program runs."""
        with self._lock:
            self._do(lambda backend: None, is_reading=True)
            if name in self._known:
                return self._known[name]
            levels = _names.parse(name)
            if len(levels) == 3:
                # One request is enough for most, and a program may have many tweaks.
                found = self._do(lambda backend: backend.tweak(name), is_reading=True)
                if found is not None:
                    self._known[name] = self._known[found.name] = found
                    return found
            by_key = {read_key(each.name): each for each in self.tweaks()}
            if not by_key:
                raise UnknownTweak(f"{self._title}: it has no tweaks")
            tweak = by_key[_names.resolve(name, list(by_key))]
            self._known[name] = tweak
            return tweak

    def __getitem__(self, name: str) -> Value:
        """The current value of a tweak or monitor.

        :raises UnknownTweak: No tweak, or more than one, has this name.
        :raises Refused: It is an action, which has no value.
        """
        tweak = self._resolve(name)
        if tweak.type == "action":
            raise Refused(f"{tweak.name}: an action has no value")

        def read(backend: Backend) -> Value:
            if isinstance(backend, LiveBackend):
                return backend.value(tweak)
            found = backend.tweak(tweak.name)
            if found is None:
                raise UnknownTweak(f"{tweak.name}: no such tweak")
            return found.value

        return self._do(read, is_reading=True)

    def __contains__(self, name: object) -> bool:
        """Whether a name stands for one tweak."""
        if not isinstance(name, str):
            return False
        try:
            self._resolve(name)
        except UnknownTweak:
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        """The names of all tweaks, in the order of declaration."""
        return iter([each.name for each in self.tweaks()])

    def values(self, *names: str) -> Dict[str, Value]:
        """The values of tweaks and monitors by whole name, in one request. See :meth:`tweaks`."""
        return {each.name: each.value for each in self.tweaks(*names) if each.type != "action"}

    def wait_for(self, name: str, condition: Callable[[Value], bool], *, seconds: float = 5) -> Value:
        """Waits until the value of a tweak or monitor fulfils a condition, and returns it.

        :raises TimeoutError: It has not after so many seconds.
        """
        end = time.monotonic() + seconds
        while True:
            value = self[name]
            if condition(value):
                return value
            if time.monotonic() > end:
                raise TimeoutError(f"{name}: it is {value!r} after {seconds:g} s")
            time.sleep(_PAUSE / 4)

    # MARK: Changing

    def __setitem__(self, name: str, value: Value) -> None:
        """Sets a tweak; see :meth:`set`."""
        self.set({name: value})

    def set(self, values: Mapping[str, Value], *, ramp: Optional[float] = None) -> None:
        """Sets tweaks as one change: all of them or, if one is refused, none. The values are kept for later starts.

        A value outside the limits is clamped, with the warning :class:`Clamped`. If something else takes precedence,
        such as a lease of another client, there is the warning :class:`Hidden`; if the program has not passed a gate that the
        value waits for after 0.2 s, :class:`Waiting`.

        :param values: The values by name. A text for a tweak may be an expression as for ``tweak set``, such as
            ``"+=10%"``, ``"toggle"`` or ``"300 ms"``, or the label of a choice. ``None`` is no value of an optional tweak.
        :param ramp: The seconds, 0.001 to 3600, in which numbers and colours gradually reach their values. Forked
            processes of the program jump to the values, with a warning.
        :raises UnknownTweak: No tweak, or more than one, has a name.
        :raises Refused: A tweak does not take its value.
        :raises Ended: The program ended; it may have taken the values before.
        """
        tweaks, whole = self._named(values)
        if whole:
            if ramp is not None:
                self._warn_of_forks("get the values at once")
            outcomes = self._do(lambda backend: backend.set(whole, tweaks, ramp))
            self._warn(tweaks, outcomes, "kept")
            if ramp is None:
                self._warn_of_waiting(outcomes)

    def set_each(self, steps: Iterable[Mapping[str, Value]]) -> int:
        """Makes changes one after the other as :meth:`set` does, but many times faster: up to 64 are under way.

        :param steps: The values by name, for each change.
        :returns: The number of changes.
        :raises Refused: A tweak does not take its value. The changes before are made, and up to 63 behind it may be.
        """
        count = 0
        rest = iter(steps)
        while group := list(itertools.islice(rest, _GROUP)):
            tweaks: Dict[str, Tweak] = {}
            named: List[Dict[str, Value]] = []
            for values in group:
                found, whole = self._named(values)
                tweaks.update(found)
                if whole:
                    named.append(whole)
            outcomes = self._do(lambda backend: backend.set_each(named, tweaks))
            self._warn(tweaks, [each for each in outcomes if each.was_clamped], "kept")
            count += len(group)
        return count

    def lease(
        self, values: Mapping[str, Value], *, seconds: Optional[float] = None, ramp: Optional[float] = None
    ) -> "Lease":
        """Sets tweaks as one change, until the lease ends. Leased values are never kept.

        ::

            with motor.lease({"Gain": 4, "Damping": 0.2}):
                ...

        However this process ends, even by ``kill -9``, the former values are back within milliseconds. Processes that the
        program has forked keep their values, with a warning.

        :param values: As for :meth:`set`.
        :param seconds: End it after this time at the latest: 0.001 to 604,800.
        :param ramp: As for :meth:`set`.
        :raises LeaseLost: The program ended before.
        """
        tweaks, whole = self._leased(values)

        def begin(backend: Backend) -> "Lease":
            holder, outcomes = backend.lease(whole, tweaks, seconds, ramp)
            self._warn(tweaks, outcomes, "leased")
            return Lease(self, holder)

        return self._do(begin)

    def _leased(self, values: Mapping[str, Value]) -> Tuple[Dict[str, Tweak], Dict[str, Value]]:
        """As :meth:`_named`, with the warning that a lease needs."""
        named = self._named(values)
        self._warn_of_forks("do not get leased values; connect to them by process id")
        return named

    def _warn_of_forks(self, what: str) -> None:
        count = self._do(lambda backend: backend.forks())
        if count:
            warn(f"{self.title}: its forks ({count}) {what}", TweaksWarning)

    def __delitem__(self, name: str) -> None:
        """Removes the kept value of a tweak, which gets its default."""
        tweak = self._resolve(name)
        if not tweak.is_settable:
            raise Refused(f"{tweak.name}: it has no kept value")
        self._warn_of_hidden(self._do(lambda backend: backend.reset(tweak.name)))

    def reset(self) -> None:
        """Removes the kept values of all tweaks."""
        self._warn_of_hidden(self._do(lambda backend: backend.reset(None)))

    def _named(self, values: Mapping[str, Value]) -> Tuple[Dict[str, Tweak], Dict[str, Value]]:
        tweaks: Dict[str, Tweak] = {}
        whole: Dict[str, Value] = {}
        for name, value in values.items():
            tweak = self._resolve(name)
            tweaks[tweak.name], whole[tweak.name] = tweak, value
        return tweaks, whole

    @staticmethod
    def _warn(tweaks: Mapping[str, Tweak], outcomes: Sequence[Outcome], how: str) -> None:
        for outcome in outcomes:
            name, given = outcome.name, outcome.given
            if outcome.was_clamped:
                warn(f"{name}: {given} is outside the limits; allowed: {_allowed(tweaks[name])}", Clamped)
            elif outcome.source not in (None, "override" if how == "kept" else "lease") and not outcome.is_coming:
                if not isinstance(given, str) and outcome.value != given:
                    warn(
                        f"{name}: the value is {how}, but {outcome.source} takes precedence with {outcome.value}", Hidden
                    )

    def _warn_of_hidden(self, outcomes: Sequence[Outcome]) -> None:
        for outcome in outcomes:
            if not outcome.is_coming:
                warn(f"{outcome.name}: {outcome.source} takes precedence with {outcome.value}", Hidden)
        self._warn_of_waiting(outcomes)

    def _warn_of_waiting(self, outcomes: Sequence[Outcome]) -> None:
        waiting = [each.name for each in outcomes if each.is_coming]
        end = time.monotonic() + _GATE_PATIENCE
        while waiting:
            found = [self._do(lambda backend: backend.tweak(name), is_reading=True) for name in waiting]
            waits = [each for each in found if each is not None and each.is_pending]
            # A restart is nothing to wait for.
            waits = [each for each in waits if not each.needs_restart]
            waiting = [each.name for each in waits]
            if waiting and time.monotonic() < end:
                time.sleep(_PAUSE / 8)
                continue
            for each in waits:
                warn(f"{each.name}: {each.pending_value} waits for the gate {each.gate}", Waiting)
            return

    def run(self, action: str, *, wait: bool = False, seconds: Optional[float] = None) -> Optional[str]:
        """Runs an action, and waits until it has returned.

        :param wait: Waits also for what the action hands to an actor or a queue of the program.
        :param seconds: The longest time to wait; by default, however long it takes.
        :returns: What will run it, ``mainActor``, ``actor`` or ``queue``; ``None`` if it is done.
        :raises Refused: It is not an action.
        :raises TimeoutError: It has not returned after so many seconds. It is not interrupted.
        """
        tweak = self._resolve(action)
        return self._way().run(tweak.name, wait, seconds)

    # MARK: Watching

    def sample(
        self, *names: str, rate: float = 100, seconds: float = 1, during: Optional[Callable[[], object]] = None
    ) -> Samples:
        """Samples monitors and tweaks that are numbers or bools, and the changes of all tweaks meanwhile.

        The program itself takes the samples, so their times are exact even if this process is slow.

        :param names: As for :meth:`tweaks`; none for all monitors. Groups and patterns leave out what cannot be sampled.
        :param rate: Samples per second, 0.001 to 1000.
        :param seconds: The duration. If the program ends before, there are fewer samples.
        :param during: Called on this thread when sampling has begun, to change tweaks, for example.
        :raises Refused: A named tweak cannot be sampled.
        """
        with Sampling(self, self._sampled(names), rate, round(rate * seconds)) as sampling:
            if during is not None:
                during()
            sampling._thread.join()
        return sampling.samples

    def sampling(self, *names: str, rate: float = 100) -> "Sampling":
        """Samples while a block runs. See :meth:`sample`.

        ::

            with motor.sampling("State/*", rate=500) as sampling:
                motor["Gain"] = 4
                time.sleep(0.5)
            frame = sampling.samples.to_pandas()
        """
        return Sampling(self, self._sampled(names), rate, None)

    def _sampled(self, names: Sequence[str]) -> List[Tweak]:
        if not names:
            monitors = [each for each in self.tweaks() if each.is_monitor and each.can_be_sampled]
            if not monitors:
                raise UnknownTweak(f"{self._title}: it has no monitors; name tweaks that are numbers or Bools")
            return monitors
        chosen: Dict[str, Tweak] = {}
        for name in names:
            found = self.tweaks(name)
            usable = [each for each in found if each.can_be_sampled]
            if not usable:
                raise Refused(f"{found[0].name}: a tweak of type {found[0]._kind} cannot be sampled, only numbers and Bools")
            chosen.update((each.name, each) for each in usable)
        return list(chosen.values())

    def changes(self, *names: str, seconds: Optional[float] = None) -> "Changes":
        """Changes of tweaks as they happen, by whomever; see :class:`Changes`.

        For a slow reader, changes of one tweak are merged. A process without the library is looked at every 50 ms.

        :param names: As for :meth:`tweaks`; none for all tweaks, also those that come later.
        :param seconds: End after this time; by default when the program ends.
        """
        tweaks = self.tweaks(*names)
        watched = [each.name for each in tweaks] if names else None
        feed = self._way().feed([], 0, watched)
        return Changes(feed, seconds, {each.name: each for each in tweaks})

    # MARK: History

    def log(self, *, since: int = 0) -> List[LoggedChange]:
        """The last changes and who made them, oldest first.

        :param since: Only changes after this number.
        """
        return self._log(since)[0]

    def marks(self) -> List[Mark]:
        """The marks of the history."""
        return self._log(2**31)[1]

    def _log(self, since: int) -> Tuple[List[LoggedChange], List[Mark]]:
        tweaks = self._by_name()
        return self._do(lambda backend: backend.log(since, tweaks), is_reading=True)

    def _by_name(self) -> Dict[str, Tweak]:
        return {each.name: each for each in self.tweaks()}

    def _restored(self, restored: Restored) -> Restored:
        tweaks = self._by_name()
        return {name: (typed(old, tweaks.get(name)), typed(new, tweaks.get(name))) for name, (old, new) in restored.items()}

    def undo(self, number: Optional[int] = None) -> Dict[str, Tuple[Value, Value]]:
        """Undoes the change with a number, or the last one that is not undone.

        :returns: The old and the new value of each tweak that changed.
        :raises Refused: There is no such change, or a tweak has changed since; the message says by whom.
        """
        restored, outcomes = self._do(lambda backend: backend.undo(number))
        self._warn_of_hidden(outcomes)
        return self._restored(restored)

    def revert(self, mark: Optional[str] = None) -> Dict[str, Tuple[Value, Value]]:
        """Returns to a mark, or to the start of the program, as one change.

        :returns: The old and the new value of each tweak that changed.
        """
        restored, outcomes = self._do(lambda backend: backend.revert(mark))
        self._warn_of_hidden(outcomes)
        return self._restored(restored)

    def mark(self, name: str) -> None:
        """Names this moment for :meth:`revert`, or moves the mark of this name. A program has at most 16."""
        self._do(lambda backend: backend.mark(name))

    # MARK: Others

    def bake(
        self,
        *names: str,
        values: Optional[Mapping[str, Value]] = None,
        preset: Optional[str] = None,
        sources: "Union[str, os.PathLike[str], None]" = None,
        within: "Union[str, os.PathLike[str], None]" = None,
        write: bool = False,
    ) -> str:
        """Makes values the defaults in the sources, as ``tweak bake`` does, and returns the difference.

        ::

            study = optimize(motor, "Control/*", measure=error)
            print(motor.bake(values=study.best_params, write=True))

        :param names: Tweaks, or groups such as ``Control/``; none for all that differ from their defaults.
        :param values: Values by name, no expressions; by default those of the next start, to which leased ones do not
            belong.
        :param preset: Take the values of a preset instead.
        :param sources: The folder where the compiler ran, or with the sources of a program that was built elsewhere.
        :param within: Read and change only sources below this folder.
        :param write: Change the sources, all or none. By default only the difference is returned.
        :returns: A unified difference for ``git apply`` and ``patch -p1``, whose paths begin in the working directory
            unless a warning names another folder; empty if the sources have the values. Bytes of the sources that are not
            UTF-8 are those of the error handler ``surrogateescape``.
        :raises UnknownTweak: No tweak, or more than one, has a name.
        :raises Refused: The default of a tweak cannot be changed, or a source has changed meanwhile; the message says
            which and why. Nothing was written.
        """
        from ._bake import bake

        whole = [name if name.endswith("/") else self._resolve(name).name for name in names]
        written = None
        if values is not None:
            tweaks, by_name = self._named(values)
            written = write_values(by_name, tweaks)
        command, target = self._command_target()
        options = {"--preset": preset, "--from": sources, "--within": within}
        given = [f"{option}={os.fspath(value)}" for option, value in options.items() if value is not None]
        return bake(command, [*given, "--", target, *whole], written, write)

    @property
    def presets(self) -> "Presets":
        """Named sets of values."""
        return Presets(self)

    @property
    def aio(self) -> "AsyncProgram":
        """The same program for asyncio."""
        from ._aio import AsyncProgram

        return AsyncProgram(self)

    def interact(self, *names: str, continuous: bool = False) -> Any:
        """Controls for tweaks in a notebook: sliders, menus, check boxes, fields, and buttons for actions.

        With the library, they follow what changes elsewhere.

        :param names: As for :meth:`tweaks`; none for all that can be set.
        :param continuous: Set values while a slider moves, not only when it is released.
        :returns: A box of ipywidgets, which a notebook shows if it is the last value of a cell.
        :raises ImportError: ipywidgets is not installed.
        """
        from ._notebook import Following, controls

        with self._lock:
            if self._following is None:
                self._following = Following(self)
        return controls(self, names, continuous, self._following)

    def _command_target(self) -> Tuple[Command, str]:
        pid = self.pid
        return self._command, self._target_text if pid is None else str(pid)


def _allowed(tweak: Tweak) -> str:
    return _limits(tweak) + (", or None" if tweak.optional else "")


def _limits(tweak: Tweak) -> str:
    minimum, maximum = tweak.minimum, tweak.maximum
    what = "a number" if tweak.type in ("float", "double") else "an integer"
    if minimum is None and maximum is None:
        return what + (f" of type {tweak.type}" if what == "an integer" else "")
    if maximum is None:
        return f"{what} of at least {minimum}"
    return f"{what} of at most {maximum}" if minimum is None else f"{what} from {minimum} to {maximum}"


class Interruptible(abc.ABC):
    """Leased values, which are lost when the program ends."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._is_lost = False
        self._has_ended = False
        self._owner = os.getpid()
        with program._leases_lock:
            program._leases.add(self)

    @property
    @abc.abstractmethod
    def _was_closed(self) -> bool:
        """Whether the program has ended."""

    @property
    def _is_interrupted(self) -> bool:
        """Whether the program has ended without it. A forked child leaves the leases to its parent."""
        return not self._is_lost and os.getpid() == self._owner and self._was_closed

    def _leave(self) -> None:
        """Notes that the program no longer has to hold the values."""
        self._has_ended = True
        with self._program._leases_lock:
            self._program._leases.discard(self)

    def _check(self) -> None:
        if self._has_ended or self._is_lost:
            raise LeaseLost(f"{self._program.title}: the lease has ended")

    def _lost(self) -> LeaseLost:
        self._is_lost = True
        return LeaseLost(f"{self._program.title}: it ended while values were leased, so they no longer apply")


class Lease(Interruptible):
    """Leased values; they apply from the beginning, and until the block or :meth:`end`."""

    def __init__(self, program: Program, holder: Holder) -> None:
        self._holder = holder
        super().__init__(program)

    @property
    def _was_closed(self) -> bool:
        return self._holder.has_ended

    def set(self, values: Mapping[str, Value], *, ramp: Optional[float] = None) -> None:
        """Leases more or other values as one change. See :meth:`Program.lease`.

        :raises LeaseLost: The program has ended.
        """
        self._check()
        tweaks, whole = self._program._named(values)
        try:
            if whole:
                outcomes = self._holder.set(whole, tweaks, ramp)
                Program._warn(tweaks, outcomes, "leased")
        except Ended as error:
            raise self._lost() from error

    def __setitem__(self, name: str, value: Value) -> None:
        """Leases another value; see :meth:`set`."""
        self.set({name: value})

    def end(self) -> None:
        """Ends the lease. The former values are back when this returns.

        :raises LeaseLost: The program ended before, so the values did not apply all the time.
        """
        if self._has_ended:
            return
        self._leave()
        was_lost = self._is_lost
        try:
            self._holder.end()
        except Ended as error:
            if not was_lost:
                raise self._lost() from error

    def __enter__(self) -> "Lease":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        try:
            self.end()
        except LeaseLost:
            # The error of the block says more.
            if error is None:
                raise


class Sampling:
    """Samples that are being taken; :attr:`samples` is complete after the block."""

    #: The time in seconds for which the end of the samples is awaited.
    _PATIENCE = 3.0
    #: The longest time in seconds until the end, also if samples with older times keep coming.
    _LONGEST_END = 30.0
    #: The most changes that are kept, about a hundred megabytes.
    _MOST_CHANGES = 250_000
    #: The seconds by which a program may be ahead with its samples.
    _MOST_AHEAD = 60.0

    def __init__(self, program: Program, tweaks: Sequence[Tweak], rate: float, count: Optional[int]) -> None:
        self.samples = Samples(tweaks, rate)
        self._count = count
        self._problem: Optional[BaseException] = None
        self._lost_changes = 0
        # The time at which the last sample is due, in seconds since 1970.
        self._end: Optional[float] = None
        self._tweaks = dict(program._known)
        self._feed = program._way().feed(tweaks, rate, None)
        self._thread = threading.Thread(target=self._run, name="fbtweak samples", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            start = silent_since = time.monotonic()
            ends_since: Optional[float] = None
            while not self._is_complete():
                count = len(self.samples)
                changes = self._feed.read(0.05, self.samples)
                if changes is None:
                    return
                free = max(self._MOST_CHANGES - len(self.samples.changes), 0)
                self.samples.changes += [typed_change(each, self._tweaks) for each in changes[:free]]
                self._lost_changes += len(changes[free:])
                if len(self.samples) > self.samples.rate * (time.monotonic() - start + self._MOST_AHEAD):
                    raise Garbled("the program sends more samples than it was asked for")
                if ends_since is None and self._end is not None:
                    ends_since = time.monotonic()
                if ends_since is not None and time.monotonic() - ends_since > self._LONGEST_END:
                    return
                if len(self.samples) > count or self._end is None and self._count is None:
                    silent_since = time.monotonic()
                elif time.monotonic() - silent_since > max(self._PATIENCE, 2 / self.samples.rate):
                    return
        except BaseException as error:
            self._problem = error

    def _is_complete(self) -> bool:
        samples = self.samples
        if self._count is not None:
            # Those that were not taken may have been the last ones.
            return len(samples) >= self._count or samples._is_over(self._count)
        return self._end is not None and len(samples) > 0 and samples._last >= self._end - 1 / samples.rate

    def __enter__(self) -> "Sampling":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], *_: object) -> None:
        if kind is None:
            self._end = time.time()
            self._thread.join()
        self._feed.close()
        self._thread.join()
        if kind is None and self._problem is not None:
            raise self._problem
        samples = self.samples
        if self._count is not None:
            samples._shorten(self._count)
        samples.changes.sort(key=lambda change: change.time)
        if samples.dropped + samples.skipped > 0:
            warn(
                f"{len(samples)} samples, {samples.dropped} dropped, {samples.skipped} not taken in time", Lost
            )
        if self._lost_changes > 0:
            warn(f"{len(samples.changes)} changes; {self._lost_changes} more were not kept", Lost)


class Changes:
    """Changes as an iterator; also usable in ``with``. Ends with the program, the time, or :meth:`close`."""

    def __init__(self, feed: Feed, seconds: Optional[float], tweaks: Mapping[str, Tweak]) -> None:
        self._feed = feed
        self._end = None if seconds is None else time.monotonic() + seconds
        self._tweaks = tweaks
        self._waiting: List[Change] = []
        self._is_closed = False

    def __iter__(self) -> "Changes":
        return self

    def __next__(self) -> Change:
        while not self._waiting:
            rest = None if self._end is None else self._end - time.monotonic()
            if self._is_closed or rest is not None and rest <= 0:
                self.close()
                raise StopIteration
            changes = self._feed.read(rest, None)
            if changes is None:
                self.close()
                raise StopIteration
            self._waiting += [typed_change(each, self._tweaks) for each in changes]
        return self._waiting.pop(0)

    def close(self) -> None:
        """Ends it. May be called on any thread."""
        self._is_closed = True
        self._feed.close()

    def _interrupt(self) -> None:
        """Makes a thread that waits for a change end it, without waiting for that."""
        self._is_closed = True
        self._feed.interrupt()

    def __enter__(self) -> "Changes":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def typed(value: Value, tweak: Optional[Tweak]) -> Value:
    """A value that was read without its type, as one of the tweak if it is one."""
    try:
        return value if tweak is None else tweak._read(value)
    except Garbled:
        return value


def typed_change(change: Change, tweaks: Mapping[str, Tweak]) -> Change:
    tweak = tweaks.get(change.name)
    return dataclasses.replace(
        change, old_value=typed(change.old_value, tweak), new_value=typed(change.new_value, tweak)
    )


class Presets:
    """The presets of a program: files with named sets of values. Uses the command."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def names(self) -> List[str]:
        """The names of the presets."""
        command, target = self._program._command_target()
        answer = command.ask("preset", "list", "--format", "json", "--", target)
        return [member(each, "name", str) for each in member(answer, "presets", list)]

    def save(self, name: str, *, defaults: bool = False, replace: bool = False) -> None:
        """Saves the values that differ from their defaults.

        :param defaults: Also save the defaults of all other tweaks.
        :param replace: Replace a preset of this name, whatever it has. Otherwise only one without other values is replaced.
        :raises TweaksError: The preset has values for other tweaks.
        """
        command, target = self._program._command_target()
        options = (["--defaults"] if defaults else []) + (["--replace"] if replace else [])
        command.run("preset", "save", *options, "--", target, name)

    def load(self, name: str, *, reset_others: bool = False) -> None:
        """Sets tweaks to the values of a preset, as one change.

        :param reset_others: Reset all other tweaks, also those whose values are not allowed.
        :raises Refused: Some values were not applied; the others were.
        """
        command, target = self._program._command_target()
        command.run("preset", "load", *(["--reset-others"] if reset_others else []), "--", target, name)

    def remove(self, name: str) -> None:
        """Removes a preset."""
        command, target = self._program._command_target()
        command.run("preset", "remove", "--", target, name)

    def differences(self, name: str) -> Dict[str, Tuple[Value, Value]]:
        """The tweaks whose values differ from a preset: the value of each, and that of the preset.

        The latter is ``None`` if the preset has no value for it, or that an optional tweak has none.
        """
        command, target = self._program._command_target()
        answer = command.ask("preset", "diff", "--format", "json", "--", target, name)
        return self._program._restored(
            {
                member(each, "tweak", str): (each.get("oldValue"), each.get("newValue"))
                for each in member(answer, "differences", list)
            }
        )
