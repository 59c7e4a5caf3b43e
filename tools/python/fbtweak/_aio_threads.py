# SPDX-License-Identifier: BSD-3-Clause
"""Threads for requests of asyncio that block."""

from __future__ import annotations

import asyncio
import collections
import contextvars
import threading
from typing import Any, Callable, Deque, Generic, Optional, TypeVar

Result = TypeVar("Result")


class _Job(Generic[Result]):
    def __init__(self, body: Callable[[], Result], discard: Optional[Callable[[Result], object]]) -> None:
        self._body = body
        self._discard = discard
        self._context = contextvars.copy_context()
        self._loop = asyncio.get_running_loop()
        self.future: "asyncio.Future[Result]" = self._loop.create_future()

    def run(self) -> None:
        if self.future.cancelled():
            return
        try:
            result = self._context.run(self._body)
        except BaseException as error:
            self._deliver(self._fail, error)
        else:
            if self.future.cancelled() or not self._deliver(self._finish, result):
                self._drop(result)

    def _deliver(self, body: Callable[[Any], None], argument: object) -> bool:
        """Calls something on the thread of the event loop. Returns whether there still is one."""
        try:
            self._loop.call_soon_threadsafe(body, argument)
        except RuntimeError:
            return False
        return True

    def _fail(self, error: BaseException) -> None:
        if not self.future.done():
            self.future.set_exception(error)

    def _finish(self, result: Result) -> None:
        if not self.future.done():
            self.future.set_result(result)
        elif self._discard is not None:
            # The task was cancelled at the last moment.
            threading.Thread(target=self._drop, args=(result,), name="fbtweak request", daemon=True).start()

    def _drop(self, result: Result) -> None:
        if self._discard is not None:
            self._discard(result)


class Worker:
    """Calls functions one after the other on a thread of its own, which exists while there are some.

    Neither the end of the event loop nor that of this process waits for the thread, unlike for those of an executor.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: Deque[_Job[Any]] = collections.deque()
        self._is_running = False

    def submit(
        self, body: Callable[[], Result], discard: Optional[Callable[[Result], object]] = None
    ) -> "asyncio.Future[Result]":
        """Calls a function soon. If the future is cancelled before, it is not called.

        :param discard: Called on a thread with the result if the future was cancelled meanwhile.
        """
        job = _Job(body, discard)
        with self._lock:
            self._jobs.append(job)
            if self._is_running:
                return job.future
            self._is_running = True
        threading.Thread(target=self._run, name="fbtweak request", daemon=True).start()
        return job.future

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._jobs:
                    self._is_running = False
                    return
                job = self._jobs.popleft()
            job.run()
