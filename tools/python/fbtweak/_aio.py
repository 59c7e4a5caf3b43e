# SPDX-License-Identifier: BSD-3-Clause
"""Programs for asyncio."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
from typing import AsyncIterator, Callable, Dict, List, Mapping, Optional, Tuple

from ._program import Lease, Program
from ._samples import Samples
from ._values import Change, LoggedChange, Tweak, Value


class AsyncProgram:
    """The methods of :class:`Program` as coroutines.

    Requests run on threads of the event loop's executor, so the loop never blocks. If a task is cancelled, a request
    that was sent is executed nevertheless.
    """

    def __init__(self, program: Program) -> None:
        #: The same program for other threads.
        self.program = program

    async def get(self, name: str) -> Value:
        """See :meth:`Program.__getitem__`."""
        return await asyncio.to_thread(self.program.__getitem__, name)

    async def set(self, values: Mapping[str, Value], *, ramp: Optional[float] = None) -> None:
        """See :meth:`Program.set`."""
        await asyncio.to_thread(self.program.set, values, ramp=ramp)

    async def reset(self, name: Optional[str] = None) -> None:
        """Removes the kept value of a tweak, or of all."""
        if name is None:
            await asyncio.to_thread(self.program.reset)
        else:
            await asyncio.to_thread(self.program.__delitem__, name)

    async def values(self, *names: str) -> Dict[str, Value]:
        """See :meth:`Program.values`."""
        return await asyncio.to_thread(self.program.values, *names)

    async def tweaks(self, *names: str) -> List[Tweak]:
        """See :meth:`Program.tweaks`."""
        return await asyncio.to_thread(self.program.tweaks, *names)

    async def run(self, action: str, *, wait: bool = False) -> Optional[str]:
        """See :meth:`Program.run`."""
        return await asyncio.to_thread(self.program.run, action, wait=wait)

    async def wait_for(self, name: str, condition: Callable[[Value], bool], *, seconds: float = 5) -> Value:
        """See :meth:`Program.wait_for`; ``condition`` is called on another thread."""
        return await asyncio.to_thread(self.program.wait_for, name, condition, seconds=seconds)

    async def log(self, *, since: int = 0) -> List[LoggedChange]:
        """See :meth:`Program.log`."""
        return await asyncio.to_thread(self.program.log, since=since)

    async def undo(self, number: Optional[int] = None) -> Dict[str, Tuple[Value, Value]]:
        """See :meth:`Program.undo`."""
        return await asyncio.to_thread(self.program.undo, number)

    async def revert(self, mark: Optional[str] = None) -> Dict[str, Tuple[Value, Value]]:
        """See :meth:`Program.revert`."""
        return await asyncio.to_thread(self.program.revert, mark)

    async def mark(self, name: str) -> None:
        """See :meth:`Program.mark`."""
        await asyncio.to_thread(self.program.mark, name)

    @contextlib.asynccontextmanager
    async def lease(
        self, values: Mapping[str, Value], *, seconds: Optional[float] = None, ramp: Optional[float] = None
    ) -> AsyncIterator[Lease]:
        """See :meth:`Program.lease`; for ``async with``."""
        begin = asyncio.ensure_future(asyncio.to_thread(self.program.lease, values, seconds=seconds, ramp=ramp))
        try:
            lease = await asyncio.shield(begin)
        except asyncio.CancelledError:
            # It may be about to begin.
            with contextlib.suppress(Exception):
                (await begin).end()
            raise
        try:
            yield lease
        except BaseException as error:
            await asyncio.shield(asyncio.to_thread(lease.__exit__, type(error), error, None))
            raise
        await asyncio.shield(asyncio.to_thread(lease.__exit__, None, None, None))

    async def sample(self, *names: str, rate: float = 100, seconds: float = 1) -> Samples:
        """See :meth:`Program.sample`. Other tasks run meanwhile, and may change tweaks."""
        sampling = await asyncio.to_thread(self.program.sampling, *names, rate=rate)
        try:
            await asyncio.sleep(seconds)
        except BaseException as error:
            sampling.__exit__(type(error))
            raise
        await asyncio.to_thread(sampling.__exit__, None)
        return sampling.samples

    async def changes(self, *names: str, seconds: Optional[float] = None) -> AsyncIterator[Change]:
        """See :meth:`Program.changes`; for ``async for``."""
        loop = asyncio.get_running_loop()
        changes = await asyncio.to_thread(self.program.changes, *names, seconds=seconds)
        # One thread reads only when more is wanted, so a slow reader has changes merged by the program.
        reader = concurrent.futures.ThreadPoolExecutor(1, "fbtweak changes")
        try:
            while True:
                change = await loop.run_in_executor(reader, next, changes, None)
                if change is None:
                    return
                yield change
        finally:
            changes.close()
            reader.shutdown(wait=False)
