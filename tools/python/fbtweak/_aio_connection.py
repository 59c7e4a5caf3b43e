# SPDX-License-Identifier: BSD-3-Clause
"""The control protocol for asyncio."""

from __future__ import annotations

import asyncio
import os
import socket
from typing import Callable, Dict, Optional, Tuple, cast

from . import _protocol, _sockets
from ._errors import TweaksError, again
from ._live import unreachable
from ._protocol import Message, Messages


class AsyncConnection(Messages, asyncio.Protocol):
    """A connection to a process with the library, for one event loop. Any number of requests may be under way."""

    def __init__(self, title: str) -> None:
        super().__init__(title)
        self.has_ended = False
        #: Called with each message that is not an answer.
        self.on_message: Callable[[Message], None] = lambda _: None
        #: Called once, when the connection has ended.
        self.on_end: Callable[[TweaksError], None] = lambda _: None
        self._loop = asyncio.get_running_loop()
        self._client: Optional[socket.socket] = None
        self._transport: Optional[asyncio.Transport] = None
        #: By number, with what is called when they arrive.
        self._answers: "Dict[int, Tuple[asyncio.Future[Message], Optional[Callable[[], None]]]]" = {}
        self._last_data = self._loop.time()

    @classmethod
    async def open(cls, pid: int, title: str) -> "AsyncConnection":
        """Connects to a process that has been connected to before.

        :raises Ended: The process does not listen.
        :raises Silent: It accepts no connection, because it is stopped.
        """
        connection = cls(title)
        client = connection._client = await connection._connect(pid)
        data, first = b"", None
        try:
            if os.geteuid() == 0 and _sockets.user_of(pid) != 0:
                # As Connection does, with a request that changes nothing.
                first, data = connection._request("describe", {})
                try:
                    data = data[_sockets.send_as(client, data, pid) :]
                except PermissionError:
                    # Not every root may do so.
                    pass
        except OSError:
            client.close()
            raise unreachable(title) from None
        await connection._loop.create_unix_connection(lambda: connection, sock=client)
        try:
            if first is not None:
                await connection._answer_of(first, data)
        except BaseException:
            connection.close()
            raise
        return connection

    async def _connect(self, pid: int) -> socket.socket:
        end = self._loop.time() + _protocol._SILENCE
        try:
            while (connected := self._try_to_connect(pid)) is None:
                if self._loop.time() > end:
                    raise self._silent()
                await asyncio.sleep(_protocol._PAUSE)
        except ConnectionRefusedError:
            raise unreachable(self.title) from None
        return connected

    def close(self) -> None:
        """Closes the connection at once, which ends its leases and subscriptions. Requests fail."""
        self._end(self._ended())

    async def ask(
        self,
        method: str,
        params: Message,
        *,
        is_endless: bool = False,
        seconds: Optional[float] = None,
        is_large: bool = False,
        is_answered: Optional[Callable[[], None]] = None,
    ) -> Message:
        """Sends a request and waits for its result, as :meth:`Connection.ask` does.

        If the task is cancelled, the program executes the request nevertheless.

        :param is_answered: Called when the answer arrives, before later messages are told.
        """
        number, data = self._request(method, params)
        answer = await self._answer_of(number, data, is_endless, seconds, is_large, is_answered)
        return self._warned(self._result(answer))

    async def _answer_of(
        self,
        number: int,
        data: bytes,
        is_endless: bool = False,
        seconds: Optional[float] = None,
        is_large: bool = False,
        is_answered: Optional[Callable[[], None]] = None,
    ) -> Message:
        if self._transport is None or self.has_ended:
            raise self._ended()
        answer: "asyncio.Future[Message]" = self._loop.create_future()
        self._answers[number] = answer, is_answered
        self._transport.write(data)
        start = self._loop.time()
        timer: Optional[asyncio.TimerHandle] = None

        def check() -> None:
            nonlocal timer
            now = self._loop.time()
            silence = now - max(start, self._last_data)
            if silence >= _protocol._SILENCE and not is_large or now - start >= _protocol._WHOLE:
                _fail(answer, self._silent())
            else:
                rest = _protocol._WHOLE - (now - start)
                timer = self._loop.call_later(rest if is_large else min(_protocol._SILENCE - silence, rest), check)

        def expire() -> None:
            _fail(answer, TimeoutError(f"{self.title}: it has not answered in time"))

        if not is_endless:
            check()
        elif seconds is not None:
            timer = self._loop.call_later(max(seconds, 0), expire)
        try:
            return await answer
        finally:
            del self._answers[number]
            if timer is not None:
                timer.cancel()

    # MARK: Called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Transports of other event loops are of other classes.
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._last_data = self._loop.time()
        self._received += data
        try:
            while not self.has_ended and (received := self._next_message()) is not None:
                message, _ = received
                if "method" in message:
                    self.on_message(message)
                    continue
                number = message.get("id")
                # A program that could not read a request does not know its id.
                for each in list(self._answers) if number is None else [number]:
                    if isinstance(each, int) and each in self._answers:
                        self._arrived(message, *self._answers[each])
        except TweaksError as error:
            self._end(error)

    @staticmethod
    def _arrived(
        message: Message, answer: "asyncio.Future[Message]", is_answered: Optional[Callable[[], None]]
    ) -> None:
        if not answer.done():
            answer.set_result(message)
            if is_answered is not None:
                is_answered()

    def connection_lost(self, error: Optional[Exception]) -> None:
        if error is not None and self._client is not None and not self.has_ended:
            # The program may have said why it closed the connection, such as that it has too many clients.
            try:
                self.data_received(self._client.recv(1 << 18, socket.MSG_DONTWAIT))
            except OSError:
                pass
        self._end(self._ended())

    def _end(self, error: TweaksError) -> None:
        if self.has_ended:
            return
        self.has_ended = True
        if self._transport is not None and self._client is not None:
            try:
                # The event loop closes it later.
                self._client.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            self._transport.abort()
        for answer, _ in self._answers.values():
            _fail(answer, again(error))
        self.on_end(error)


def _fail(answer: "asyncio.Future[Message]", error: Exception) -> None:
    if not answer.done():
        answer.set_exception(error)
