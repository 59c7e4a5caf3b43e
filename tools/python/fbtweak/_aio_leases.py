# SPDX-License-Identifier: BSD-3-Clause
"""Leases for asyncio."""

from __future__ import annotations

import abc
import asyncio
import contextlib
from typing import List, Mapping, Optional, Set

from . import _sockets
from ._aio_connection import AsyncConnection
from ._aio_threads import Worker
from ._errors import Ended, TweaksError, UnknownTweak, again
from ._live import ALL_OWN_LEASES, MANY, LiveBackend, change_request, lease_terms, outcomes_of
from ._program import Interruptible, Lease, Program
from ._protocol import Message
from ._values import Tweak, Value

#: The longest time in seconds for which a cancelled task waits for the end of its lease.
_PATIENCE = 0.5
#: The most leases of a connection; a program takes 4096.
_MOST = 4000


class AsyncLease(abc.ABC):
    """Leased values; they apply until the block ends or :meth:`end`."""

    @abc.abstractmethod
    async def set(self, values: Mapping[str, Value], *, ramp: Optional[float] = None) -> None:
        """See :meth:`Lease.set`."""

    @abc.abstractmethod
    async def end(self) -> None:
        """See :meth:`Lease.end`."""

    @abc.abstractmethod
    async def _end_soon(self) -> None:
        """Ends it in a task that was cancelled; never raises an error of the program."""


class SharedConnection:
    """A connection with leases of different tweaks."""

    def __init__(self, backend: LiveBackend) -> None:
        self.started = backend.started
        #: The tweaks that are leased.
        self.names: Set[str] = set()
        self._opening = asyncio.get_running_loop().create_task(AsyncConnection.open(backend.pid, backend.title))

    @property
    def connection(self) -> Optional[AsyncConnection]:
        """``None`` unless it has been opened."""
        opening = self._opening
        return opening.result() if opening.done() and not opening.cancelled() and not opening.exception() else None

    @property
    def has_ended(self) -> bool:
        """Whether it can have no more leases."""
        return self._opening.done() and (self.connection is None or self.connection.has_ended)

    async def opened(self) -> AsyncConnection:
        try:
            return await asyncio.shield(self._opening)
        except Exception as error:
            raise again(error)

    def close(self) -> None:
        self._opening.cancel()
        if self.connection is not None:
            self.connection.close()


class LeaseConnections:
    """The connections of leases of one tweak each, for one event loop."""

    def __init__(self) -> None:
        self._all: List[SharedConnection] = []

    def enter(self, name: str, backend: LiveBackend) -> SharedConnection:
        """A connection on which the tweak is not leased; two leases of a tweak need two connections."""
        for each in self._all:
            is_free = name not in each.names and len(each.names) < _MOST
            if is_free and each.started == backend.started and not each.has_ended:
                break
        else:
            each = SharedConnection(backend)
            self._all.append(each)
        each.names.add(name)
        return each

    def leave(self, name: str, shared: SharedConnection) -> None:
        shared.names.remove(name)
        if not shared.names:
            self._all.remove(shared)
            shared.close()


class LiveLease(AsyncLease, Interruptible):
    """A lease that the program ends when the connection closes.

    One of a single tweak shares the connection. One of several has its own, on which they end as one change.
    """

    def __init__(
        self,
        program: Program,
        worker: Worker,
        connections: LeaseConnections,
        backend: LiveBackend,
        seconds: Optional[float],
    ) -> None:
        self._worker = worker
        self._connections = connections
        self._backend = backend
        self._terms = lease_terms(seconds)
        self._name: Optional[str] = None
        self._shared: Optional[SharedConnection] = None
        self._own: Optional[AsyncConnection] = None
        self._opening = asyncio.Lock()
        Interruptible.__init__(self, program)

    @property
    def _was_closed(self) -> bool:
        if self._shared is not None and self._shared.has_ended or self._own is not None and self._own.has_ended:
            return True
        # The event loop may not have noticed it yet.
        return _sockets.start_of(self._backend.pid) != self._backend.started

    async def set(self, values: Mapping[str, Value], *, ramp: Optional[float] = None) -> None:
        self._check()
        tweaks, whole = await self._worker.submit(lambda: self._program._named(values))
        self._check()
        try:
            await self._add(whole, tweaks, ramp)
        except Ended as error:
            raise self._lost() from error

    async def _add(self, values: Mapping[str, Value], tweaks: Mapping[str, Tweak], ramp: Optional[float]) -> None:
        if not values:
            return
        connection = await self._connection(list(values))
        terms = self._terms if ramp is None else {**self._terms, "ramp": ramp}
        method, params = change_request(values, tweaks, terms, self._backend.has_change)
        answer = await connection.ask(method, params, is_large=len(values) > MANY)
        Program._warn(tweaks, outcomes_of(answer, values, tweaks), "leased")

    async def _connection(self, names: List[str]) -> AsyncConnection:
        """The connection on which tweaks are leased together. The own one is newer, so its leases take precedence."""
        if self._own is None and len(names) == 1 and self._name in (None, names[0]):
            if self._shared is None:
                self._name = names[0]
                self._shared = self._connections.enter(self._name, self._backend)
            return await self._shared.opened()
        async with self._opening:
            if self._own is None:
                self._own = await AsyncConnection.open(self._backend.pid, self._backend.title)
                if self._has_ended:
                    self._own.close()
            return self._own

    async def end(self) -> None:
        await self._end(None)

    async def _end(self, seconds: Optional[float]) -> None:
        if self._has_ended:
            return
        self._leave()
        was_lost = self._is_lost
        try:
            # First, because it is sent at once, however that ends; the own connection is closed.
            if self._shared is not None and self._shared.connection is not None:
                with contextlib.suppress(UnknownTweak):
                    await self._ask(self._shared.connection, {"tweak": self._name, "leases": "own"}, seconds)
            if self._own is not None:
                # Closing would end them too, but at an unknown moment.
                await self._ask(self._own, ALL_OWN_LEASES, seconds)
        except Ended as error:
            if not was_lost:
                raise self._lost() from error
        finally:
            if self._own is not None:
                self._own.close()
            if self._shared is not None and self._name is not None:
                self._connections.leave(self._name, self._shared)

    @staticmethod
    async def _ask(connection: AsyncConnection, params: Message, seconds: Optional[float]) -> None:
        await connection.ask("reset", params, is_endless=seconds is not None, seconds=seconds)

    async def _end_soon(self) -> None:
        with contextlib.suppress(TweaksError, TimeoutError):
            await self._end(_PATIENCE)


class CommandLease(AsyncLease):
    """A lease of a program that only the command reaches."""

    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        self._worker = Worker()

    async def set(self, values: Mapping[str, Value], *, ramp: Optional[float] = None) -> None:
        await self._worker.submit(lambda: self._lease.set(values, ramp=ramp))

    async def end(self) -> None:
        await self._worker.submit(self._lease.end)

    async def _end_soon(self) -> None:
        ends = self._worker.submit(self._lease.end)
        # Nobody wants its error.
        ends.add_done_callback(lambda ends: ends.cancelled() or ends.exception())
        # The thread goes on after that.
        await asyncio.wait([ends], timeout=_PATIENCE)
