# SPDX-License-Identifier: BSD-3-Clause
"""Tasks that wait for values, changes and actions of a program: any number share one connection."""

from __future__ import annotations

import asyncio
import collections
import dataclasses
import threading
from typing import Awaitable, Callable, Deque, Dict, List, Mapping, Optional, Sequence, Set

from ._aio_connection import AsyncConnection
from ._aio_leases import LeaseConnections
from ._aio_threads import Worker
from ._backend import Backend
from ._errors import Garbled, TweaksError, again
from ._live import LiveBackend
from ._protocol import Message
from ._program import typed, typed_change
from ._values import Change, Tweak, Value, member, members, read_change

#: The pause in seconds between two looks at a value whose changes are not reported, and at one whose changes are: a
#: program does not report what it stores itself in a variable that is a tweak.
_PAUSE, _LONG_PAUSE = 0.005, 0.05
#: The number of changes from which those of one tweak are merged, for a task that does not read them.
_MERGED = 1000
#: The most tweaks whose changes are kept for a task that does not read them.
_MOST_TWEAKS = 250_000


class Shared:
    """What the tasks of one event loop share that wait for one program."""

    def __init__(self) -> None:
        #: For requests that block for a moment. They take turns anyway.
        self.worker = Worker()
        self.leases = LeaseConnections()
        #: Names that are being looked up.
        self._lookups: "Dict[str, asyncio.Future[Tweak]]" = {}
        self._users = 0
        self._way: "Optional[asyncio.Task[Way]]" = None

    async def resolve(self, name: str, resolve: Callable[[str], Tweak]) -> Tweak:
        """The declaration of a tweak, in one request for all tasks that want it.

        :param resolve: Finds it, on another thread.
        """
        lookup = self._lookups.get(name)
        if lookup is None:
            lookup = self._lookups[name] = self.worker.submit(lambda: resolve(name))
            lookup.add_done_callback(lambda _: self._lookups.pop(name, None))
        try:
            return await asyncio.shield(lookup)
        except Exception as error:
            raise again(error)

    async def enter(self, find: Callable[[], Backend]) -> "Way":
        """The way to the program, which is open until as many tasks have left as have entered.

        :param find: Finds the program, on another thread.
        :raises TweaksError: It has ended; no task has entered.
        """
        self._users += 1
        try:
            if self._way is None or self._way.done() and not self._is_open(self._way):
                self._way = asyncio.get_running_loop().create_task(self._open(find))
            return self._way.result() if self._way.done() else await asyncio.shield(self._way)
        except Exception as error:
            self.leave()
            raise again(error)
        except BaseException:
            self.leave()
            raise

    @staticmethod
    def _is_open(way: "asyncio.Task[Way]") -> bool:
        return not way.cancelled() and way.exception() is None and way.result().is_open

    def leave(self) -> None:
        self._users -= 1
        if self._users or self._way is None:
            return
        way, self._way = self._way, None
        if not way.done():
            way.cancel()
        elif self._is_open(way):
            way.result().close()

    async def _open(self, find: Callable[[], Backend]) -> "Way":
        backend = await self.worker.submit(find)
        if not isinstance(backend, LiveBackend):
            return Way(backend, None)
        connection = await AsyncConnection.open(backend.pid, backend.title)
        way = Way(backend, connection)
        try:
            # One subscription to everything, so that none is lost or reported twice when tasks come and go.
            await connection.ask("subscribe", {})
        except BaseException:
            connection.close()
            raise
        return way


class Way:
    """A way to the process of a program, and the tasks that wait there."""

    def __init__(self, backend: Backend, connection: Optional[AsyncConnection]) -> None:
        self.backend = backend
        #: ``None`` if only the command reaches the process.
        self.connection = connection
        self._watches: Dict[str, Watch] = {}
        self._feeds: Set[Buffer] = set()
        if connection is not None:
            connection.on_message = self._tell
            connection.on_end = self._end

    @property
    def is_open(self) -> bool:
        return not (self.backend.has_ended if self.connection is None else self.connection.has_ended)

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()

    def watch(self, tweak: Tweak, read_by_command: Callable[[], Awaitable[Value]]) -> "Watch":
        """The tasks that wait for the value of a tweak."""
        found = self._watches.get(tweak.name)
        if found is None:
            connection = self.connection

            async def read(is_answered: Callable[[], None]) -> Value:
                if connection is None:
                    return await read_by_command()
                answer = await connection.ask("get", {"tweak": tweak.name}, is_answered=is_answered)
                return tweak._read(answer.get("value"))

            # Monitors change too often to be reported; what waits for a gate, when the program's loop passes it.
            is_reported = connection is not None and not tweak.is_monitor and tweak.gate is None
            found = self._watches[tweak.name] = Watch(tweak, read, _LONG_PAUSE if is_reported else _PAUSE)
        return found

    def add(self, feed: "Buffer") -> None:
        """Gives a buffer the changes from now on."""
        if self.is_open:
            self._feeds.add(feed)
        else:
            feed.end()

    def remove(self, feed: "Buffer") -> None:
        self._feeds.discard(feed)

    def _tell(self, message: Message) -> None:
        if message["method"] != "changed":
            return
        told = members(message.get("params"))
        changes = [read_change(each, {}) for each in member(told, "changes", list)]
        for change in changes:
            watch = self._watches.get(change.name)
            if watch is not None:
                watch.tell(change)
        for feed in list(self._feeds):
            feed.add(changes)

    def _end(self, error: TweaksError) -> None:
        for watch in self._watches.values():
            watch.fail(error)
        for feed in self._feeds:
            feed.end(error if isinstance(error, Garbled) else None)


class _Waiter:
    """A task that waits for a value."""

    def __init__(self, name: str, condition: Callable[[Value], bool], seconds: float) -> None:
        self.future: "asyncio.Future[Value]" = asyncio.get_running_loop().create_future()
        #: Whether it has seen the value; a report that arrives before may be of a change that is long past.
        self.has_value = False
        self._name = name
        self._condition = condition
        self._seconds = seconds
        self._value: Value = None
        self._is_late = False

    def show(self, value: Value) -> None:
        if self.future.done():
            return
        self._value, self.has_value = value, True
        try:
            is_fulfilled = self._condition(value)
        except StopIteration as error:
            # No future can have it.
            problem = RuntimeError(f"{self._name}: the condition raised StopIteration")
            problem.__cause__ = error
            self.fail(problem)
        except Exception as error:
            self.fail(error)
        else:
            if is_fulfilled:
                self.future.set_result(value)
            elif self._is_late:
                self.expire()

    def expire(self) -> None:
        """Ends the wait; a value is seen at least once."""
        self._is_late = True
        if self.has_value:
            self.fail(TimeoutError(f"{self._name}: it is {self._value!r} after {self._seconds:g} s"))

    def fail(self, error: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(error)


class Watch:
    """The tasks that wait for the value of one tweak."""

    def __init__(
        self, tweak: Tweak, read: Callable[[Callable[[], None]], Awaitable[Value]], pause: float
    ) -> None:
        """
        :param read: Reads the value, and calls a function before a later change is told.
        :param pause: The seconds between two looks at the value.
        """
        self._tweak = tweak
        self._read = read
        self._pause = pause
        self._value: Value = None
        #: The values that were told between the answer to a look and its end, if it has been answered.
        self._later: Optional[List[Value]] = None
        self._waiters: Dict[_Waiter, None] = {}
        self._reader: "Optional[asyncio.Task[None]]" = None
        self._joined = asyncio.Event()

    async def wait(self, name: str, condition: Callable[[Value], bool], seconds: float, end: float) -> Value:
        """Waits until the value fulfils a condition.

        :param end: The latest time of the event loop.
        """
        loop = asyncio.get_running_loop()
        waiter = _Waiter(name, condition, seconds)
        self._waiters[waiter] = None
        self._joined.set()
        if self._reader is None:
            self._reader = loop.create_task(self._look())
        timer = loop.call_at(end, waiter.expire)
        try:
            return await waiter.future
        finally:
            timer.cancel()
            del self._waiters[waiter]
            if not self._waiters and self._reader is not None:
                self._reader.cancel()
                self._reader = None

    def tell(self, change: Change) -> None:
        """Shows the tasks a value that was reported."""
        if change.new_value is None:
            # It is gone, or came again: who reads it knows.
            for waiter in self._waiters:
                waiter.has_value = False
            self._joined.set()
            return
        value = typed(change.new_value, self._tweak)
        self._show(value, [each for each in self._waiters if each.has_value])
        if self._later is not None:
            self._later.append(value)

    def _begin_later(self) -> None:
        self._later = []

    def _show(self, value: Value, waiters: Sequence[_Waiter]) -> None:
        self._value = value
        for waiter in waiters:
            waiter.show(value)

    def fail(self, error: Exception) -> None:
        for waiter in self._waiters:
            waiter.fail(again(error))

    async def _look(self) -> None:
        """Looks at the value: at once when a task has joined, which must see a value that is not older."""
        loop = asyncio.get_running_loop()
        timer: Optional[asyncio.TimerHandle] = None
        try:
            while True:
                self._joined.clear()
                every, new = list(self._waiters), [each for each in self._waiters if not each.has_value]
                start = loop.time()
                value = await self._read(self._begin_later)
                later, self._later = self._later or [], None
                # Of a change the others know, unless it was not reported.
                self._show(value, new if later or value == self._value else every)
                for each in later:
                    self._show(each, new)
                # At least as long as it took, so that many do not keep the program busy.
                timer = loop.call_later(max(self._pause, loop.time() - start), self._joined.set)
                await self._joined.wait()
                timer.cancel()
        except Exception as error:
            self.fail(error)
        finally:
            if timer is not None:
                timer.cancel()
            if self._reader is asyncio.current_task():
                self._reader = None


class Buffer:
    """Changes for a task that reads them at its own speed; may be filled on any thread.

    From a thousand on, those of one tweak are merged into one, so there are never more than two for each tweak.
    """

    def __init__(self, watched: Optional[Sequence[str]], tweaks: Mapping[str, Tweak]) -> None:
        """
        :param watched: The names of the tweaks; ``None`` for all.
        :param tweaks: Declarations by name.
        """
        self._watched = None if watched is None else frozenset(watched)
        self._tweaks = tweaks
        self._loop = asyncio.get_running_loop()
        self._wakes = asyncio.Event()
        # Guards everything below.
        self._lock = threading.Lock()
        self._changes: Deque[Change] = collections.deque()
        self._limit = _MERGED
        self._has_ended = False
        self._problem: Optional[BaseException] = None

    def add(self, changes: Sequence[Change]) -> None:
        with self._lock:
            was_empty = not self._changes
            for change in changes:
                if not self._has_ended and (self._watched is None or change.name in self._watched):
                    self._changes.append(change)
                    if len(self._changes) > self._limit:
                        self._merge()
            if was_empty and self._changes:
                self._wake()

    def _merge(self) -> None:
        merged: Dict[str, Change] = {}
        for each in self._changes:
            earlier = merged.pop(each.name, each)
            merged[each.name] = dataclasses.replace(each, old_value=earlier.old_value)
        self._changes = collections.deque(merged.values())
        self._limit = max(2 * len(merged), _MERGED)
        if len(merged) > _MOST_TWEAKS:
            self._changes.clear()
            self._has_ended = True
            self._problem = Garbled(f"changes of more than {_MOST_TWEAKS} tweaks have not been read")

    def end(self, problem: Optional[BaseException] = None) -> None:
        """Ends it behind the changes that were added."""
        with self._lock:
            if not self._has_ended:
                self._has_ended, self._problem = True, problem
            self._wake()

    def _wake(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._wakes.set)
        except RuntimeError:
            # The event loop is closed.
            pass

    async def next(self, end: Optional[float]) -> Optional[Change]:
        """Waits for the next change; ``None`` at the end.

        :param end: The latest time of the event loop.
        """
        is_late = False

        def expire() -> None:
            nonlocal is_late
            is_late = True
            self._wakes.set()

        timer = None if end is None else self._loop.call_at(end, expire)
        try:
            while True:
                if is_late or end is not None and self._loop.time() >= end:
                    return None
                self._wakes.clear()
                with self._lock:
                    if self._changes:
                        return typed_change(self._changes.popleft(), self._tweaks)
                    if self._has_ended:
                        if self._problem is not None:
                            raise self._problem
                        return None
                await self._wakes.wait()
        finally:
            if timer is not None:
                timer.cancel()
