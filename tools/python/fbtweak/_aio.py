# SPDX-License-Identifier: BSD-3-Clause
"""Programs for asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import AsyncIterator, Callable, Dict, List, Mapping, Optional, Tuple, TypeVar

from ._aio_leases import AsyncLease, CommandLease, LiveLease
from ._aio_threads import Worker
from ._aio_waiting import Buffer, Shared, Way
from ._backend import Backend
from ._command import CommandBackend
from ._errors import Ended, LeaseLost, Silent, not_returned
from ._live import LiveBackend, run_request
from ._program import Changes, Program
from ._samples import Samples
from ._values import Change, LoggedChange, Tweak, Value

Result = TypeVar("Result")


class AsyncProgram:
    """The methods of :class:`Program` as coroutines.

    The event loop never blocks, and a cancelled task ends at once; a request that was sent is executed nevertheless.

    Any number of tasks can wait for values, changes and actions: they share one connection. So do leases of one tweak
    each, if the tweaks differ; other leases have connections of their own, of which a program takes 128. None of these
    needs a thread, unless only the command reaches the process. Other requests take turns on a thread, which is no
    thread of the event loop's executor.
    """

    def __init__(self, program: Program) -> None:
        #: The same program for other threads.
        self.program = program

    async def get(self, name: str) -> Value:
        """See :meth:`Program.__getitem__`."""
        return await self._call(lambda: self.program[name])

    async def set(self, values: Mapping[str, Value], *, ramp: Optional[float] = None) -> None:
        """See :meth:`Program.set`."""
        await self._call(lambda: self.program.set(values, ramp=ramp))

    async def reset(self, name: Optional[str] = None) -> None:
        """Removes the kept value of a tweak, or of all."""
        await self._call(self.program.reset if name is None else lambda: self.program.__delitem__(name))

    async def values(self, *names: str) -> Dict[str, Value]:
        """See :meth:`Program.values`."""
        return await self._call(lambda: self.program.values(*names))

    async def tweaks(self, *names: str) -> List[Tweak]:
        """See :meth:`Program.tweaks`."""
        return await self._call(lambda: self.program.tweaks(*names))

    async def log(self, *, since: int = 0) -> List[LoggedChange]:
        """See :meth:`Program.log`."""
        return await self._call(lambda: self.program.log(since=since))

    async def undo(self, number: Optional[int] = None) -> Dict[str, Tuple[Value, Value]]:
        """See :meth:`Program.undo`."""
        return await self._call(lambda: self.program.undo(number))

    async def revert(self, mark: Optional[str] = None) -> Dict[str, Tuple[Value, Value]]:
        """See :meth:`Program.revert`."""
        return await self._call(lambda: self.program.revert(mark))

    async def mark(self, name: str) -> None:
        """See :meth:`Program.mark`."""
        await self._call(lambda: self.program.mark(name))

    async def run(self, action: str, *, wait: bool = False, seconds: Optional[float] = None) -> Optional[str]:
        """See :meth:`Program.run`. If the task is cancelled, the action goes on."""
        async with self._entered() as way:
            name = (await self._resolve(action)).name
            if way.connection is not None:
                try:
                    answer = await way.connection.ask(
                        "run", run_request(name, wait), is_endless=True, seconds=seconds
                    )
                except Silent:
                    raise
                except TimeoutError:
                    raise not_returned(name, seconds) from None
                return answer.get("handedTo")
            assert isinstance(way.backend, CommandBackend)
            await _run_by_command(way.backend, name, seconds)
            return None

    async def wait_for(self, name: str, condition: Callable[[Value], bool], *, seconds: float = 5) -> Value:
        """See :meth:`Program.wait_for`; ``condition`` is called on the thread of the event loop.

        It is called when the value changes. Changes that the program does not report are seen a little later: those of
        monitors, of values that wait for a gate, and of processes without the library after a few milliseconds, those
        of a variable that the program itself has stored after 0.05 s.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while True:
            async with self._entered() as way:
                tweak = await self._resolve(name)
                try:
                    return await way.watch(tweak, lambda: self.get(name)).wait(name, condition, seconds, end)
                except LeaseLost:
                    raise
                except Ended:
                    # It may have been started again.
                    if loop.time() >= end:
                        raise

    async def changes(self, *names: str, seconds: Optional[float] = None) -> AsyncIterator[Change]:
        """See :meth:`Program.changes`; for ``async for``.

        If the task is slow, up to a thousand changes wait for it; beyond that, those of one tweak are merged into one.
        """
        loop = asyncio.get_running_loop()
        end = None if seconds is None else loop.time() + seconds
        async with self._entered() as way:
            if way.connection is None:
                feed = _FeedByCommand(self.program, names)
                try:
                    while (change := await feed.buffer.next(end)) is not None:
                        yield change
                finally:
                    feed.interrupt()
                return
            tweaks = await self.tweaks(*names)
            watched = [each.name for each in tweaks] if names else None
            buffer = Buffer(watched, {each.name: each for each in tweaks})
            way.add(buffer)
            try:
                while (change := await buffer.next(end)) is not None:
                    yield change
            finally:
                way.remove(buffer)

    @contextlib.asynccontextmanager
    async def lease(
        self, values: Mapping[str, Value], *, seconds: Optional[float] = None, ramp: Optional[float] = None
    ) -> AsyncIterator["AsyncLease"]:
        """See :meth:`Program.lease`; for ``async with``.

        A task that is cancelled waits at most half a second for the former values; they are back when the program
        answers.
        """
        lease = await self._begun(values, seconds, ramp)
        try:
            yield lease
        except Exception:
            # The error of the block says more.
            with contextlib.suppress(LeaseLost):
                await lease.end()
            raise
        except BaseException:
            await lease._end_soon()
            raise
        await lease.end()

    async def _begun(
        self, values: Mapping[str, Value], seconds: Optional[float], ramp: Optional[float]
    ) -> "AsyncLease":
        def find() -> Tuple[Dict[str, Tweak], Dict[str, Value], Backend]:
            return (*self.program._leased(values), self.program._way())

        tweaks, whole, backend = await self._call(find)
        if not isinstance(backend, LiveBackend):
            begins = Worker().submit(
                lambda: self.program.lease(whole, seconds=seconds, ramp=ramp), lambda lease: lease.end()
            )
            return CommandLease(await begins)
        lease = LiveLease(self.program, self._shared.worker, self._shared.leases, backend, seconds)
        try:
            await lease._add(whole, tweaks, ramp)
        except BaseException:
            await lease._end_soon()
            raise
        return lease

    async def sample(self, *names: str, rate: float = 100, seconds: float = 1) -> Samples:
        """See :meth:`Program.sample`. Other tasks run meanwhile, and may change tweaks. A thread takes the samples."""
        sampling = await Worker().submit(
            lambda: self.program.sampling(*names, rate=rate), lambda sampling: sampling.__exit__(asyncio.CancelledError)
        )
        try:
            await asyncio.sleep(seconds)
        except BaseException as error:
            kind = type(error)
            Worker().submit(lambda: sampling.__exit__(kind))
            raise
        await Worker().submit(lambda: sampling.__exit__(None))
        return sampling.samples

    # MARK: What tasks share

    @property
    def _shared(self) -> Shared:
        program, loop = self.program, asyncio.get_running_loop()
        with program._shared_lock:
            shared = program._shared.get(loop)
            if shared is None:
                shared = program._shared[loop] = Shared()
            return shared

    async def _call(self, body: Callable[[], Result]) -> Result:
        return await self._shared.worker.submit(body)

    def _entered(self) -> "_Entered":
        """Enters the way to the program; for ``async with``."""
        return _Entered(self._shared, self.program)

    async def _resolve(self, name: str) -> Tweak:
        """The declaration of a tweak of the program that was entered."""
        known = self.program._known.get(name)
        return known if known is not None else await self._shared.resolve(name, self.program._resolve)


class _Entered:
    """What a generator would do, in a third of the time: thousands of tasks may enter together."""

    __slots__ = ("_shared", "_program")

    def __init__(self, shared: Shared, program: Program) -> None:
        self._shared = shared
        self._program = program

    async def __aenter__(self) -> Way:
        return await self._shared.enter(self._program._way)

    async def __aexit__(self, *_: object) -> None:
        self._shared.leave()


async def _run_by_command(backend: CommandBackend, name: str, seconds: Optional[float]) -> None:
    process = backend.begin_run(name)
    try:
        await Worker().submit(lambda: backend.finish_run(process, name, seconds))
    except asyncio.CancelledError:
        # The thread sees its end.
        process.terminate()
        raise


class _FeedByCommand:
    """A thread that reads changes from the command."""

    def __init__(self, program: Program, names: Tuple[str, ...]) -> None:
        self.buffer = Buffer(None, {})
        self._program = program
        self._names = names
        self._lock = threading.Lock()
        self._changes: Optional[Changes] = None
        self._is_interrupted = False
        self._thread = Worker().submit(self._read)

    def _read(self) -> None:
        problem: Optional[BaseException] = None
        try:
            with self._program.changes(*self._names) as changes:
                with self._lock:
                    if self._is_interrupted:
                        return
                    self._changes = changes
                for change in changes:
                    self.buffer.add([change])
        except Exception as error:
            problem = error
        finally:
            self.buffer.end(problem)

    def interrupt(self) -> None:
        """Ends the thread soon."""
        with self._lock:
            self._is_interrupted = True
            if self._changes is not None:
                self._changes._interrupt()
