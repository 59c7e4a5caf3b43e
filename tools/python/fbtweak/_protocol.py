# SPDX-License-Identifier: BSD-3-Clause
"""The control protocol: one JSON message per line, over a socket."""

from __future__ import annotations

import collections
import errno
import json
import os
import select
import socket
import struct
import time
from typing import Any, Deque, Dict, List, Optional, Sequence, Tuple

from . import _sockets
from ._errors import (
    Ended, Forbidden, Garbled, Refused, Silent, TweaksError, TweaksWarning, Unavailable, UnknownTweak, warn,
)  # fmt: skip

Message = Dict[str, Any]

#: The largest answer in bytes. A larger one would be a million tweaks, or an attempt to exhaust our memory.
_LARGEST_ANSWER = 256 << 20
#: The largest request in bytes that a program takes, with its newline.
_LARGEST_REQUEST = 1 << 20
#: The most bytes of notifications that are kept while an answer is awaited. A program sends a few; one that goes on
#: sending them instead of the answer would exhaust our memory.
_MOST_TOLD = 8 << 20
#: The longest time in seconds without any data, and until a whole answer.
_SILENCE, _WHOLE = 3.0, 30.0
#: The pause in seconds before connecting again to a program that accepts no connection at the moment.
_PAUSE = 0.005

_UNKNOWN_METHOD, _UNKNOWN_TWEAK, _REFUSED, _NO_ACTION, _NOT_UNDONE = -32601, 1, 2, 3, 6


def decode(line: bytes) -> Any:
    """The value of a JSON text.

    :raises ValueError: It is not JSON, or nested too deeply.
    """
    try:
        return json.loads(line)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


class Messages:
    """The messages of a connection, apart from its socket."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._received = bytearray()
        self._searched = 0
        self._last_id = 0

    def _try_to_connect(self, pid: int) -> Optional[socket.socket]:
        """A socket that does not block; ``None`` if the program accepts no connection at the moment.

        :raises ConnectionRefusedError: The process does not listen.
        """
        try:
            return _sockets.connect(pid)
        except BlockingIOError:
            return None
        except PermissionError as error:
            raise Forbidden(f"{self.title}: cannot connect to it: {error.strerror}") from error
        except ConnectionRefusedError:
            raise
        except OSError as error:
            raise Unavailable(f"{self.title}: cannot connect to it: {error.strerror}") from error

    def _request(self, method: str, params: Message) -> Tuple[int, bytes]:
        """The number and the line of a request."""
        self._last_id += 1
        request = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}
        data = json.dumps(request, separators=(",", ":")).encode() + b"\n"
        if len(data) > _LARGEST_REQUEST:
            raise Refused(
                f"{self.title}: a program takes at most {_LARGEST_REQUEST} bytes per request, and the values have {len(data)}"
            )
        return self._last_id, data

    def _warned(self, result: Message) -> Message:
        """Passes on the problems of a change that was made, when all of the answer is read: a warning may raise."""
        problems = result.get("warnings")
        for each in problems if isinstance(problems, list) else []:
            if isinstance(each, dict):
                warn(f"{self.title}: {each.get('message')}", TweaksWarning)
        return result

    def _next_message(self) -> Optional[Tuple[Message, int]]:
        """The next message that has been received, and its size; ``None`` if it is not complete.

        :raises Garbled: It is malformed, and no message can follow.
        """
        line = self._next_line()
        return None if line is None else (self._message(line), len(line))

    def _next_line(self) -> Optional[bytes]:
        end = self._received.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._received)
            if self._searched > _LARGEST_ANSWER:
                raise self._garbled(f"a message has more than {_LARGEST_ANSWER} bytes")
            return None
        line = bytes(memoryview(self._received)[:end])
        del self._received[: end + 1]
        self._searched = 0
        return line

    def _message(self, line: bytes) -> Message:
        try:
            message = decode(line)
        except ValueError as error:
            raise self._garbled(str(error)) from None
        if not isinstance(message, dict):
            raise self._garbled("it is not an object")
        return message

    def _result(self, message: Message) -> Message:
        error = message.get("error")
        if error is None:
            result = message.get("result")
            if not isinstance(result, dict):
                raise self._garbled("it holds neither a result nor an error")
            return result
        if not isinstance(error, dict) or not isinstance(error.get("code"), int):
            raise self._garbled("its error has no code")
        code, text = error["code"], str(error.get("message"))
        if code == _UNKNOWN_TWEAK:
            raise UnknownTweak(text, code=code)
        if code in (_REFUSED, _NO_ACTION, _NOT_UNDONE):
            raise Refused(text, code=code)
        if code == _UNKNOWN_METHOD:
            raise Unavailable(f"{self.title}: its Tweaks library is too old: {text}", code=code)
        raise TweaksError(text, code=code)

    def _silent(self) -> Silent:
        return Silent(f"{self.title}: it does not answer; it may be stopped or hung")

    def _ended(self) -> Ended:
        return Ended(f"{self.title}: it ended or closed the connection before it answered")

    def _garbled(self, reason: str) -> Garbled:
        return Garbled(f"{self.title}: its answer is malformed: {reason}")


class Connection(Messages):
    """A connection to a process with the library. One thread at a time may use it; any may :meth:`close` it."""

    def __init__(self, pid: int, title: str) -> None:
        """Connects.

        :raises ConnectionRefusedError: The process does not listen.
        :raises Silent: It accepts no connection, because it is stopped.
        """
        super().__init__(title)
        self.pid = pid
        #: Whether messages that arrive while an answer is awaited are kept.
        self.keeps_told = False
        # With their sizes in bytes.
        self._told: Deque[Tuple[Message, int]] = collections.deque()
        self._told_size = 0
        self._owner = os.getpid()
        end = time.monotonic() + _SILENCE
        while (connected := self._try_to_connect(pid)) is None:
            if time.monotonic() > end:
                raise self._silent()
            time.sleep(_PAUSE)
        self._socket = connected
        self._socket.setblocking(True)
        # The kernel's timeouts cost no system calls.
        timeout = struct.pack("ll", int(_SILENCE), int(_SILENCE % 1 * 1e6))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeout)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeout)
        self._is_foreign = os.geteuid() == 0 and _sockets.user_of(pid) != 0

    def close(self) -> None:
        """Closes the connection, which ends its leases and subscriptions. A thread that waits for messages wakes up."""
        try:
            # A forked child has the same socket, and leaves it to its parent.
            if os.getpid() == self._owner:
                self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._socket.close()

    @property
    def has_ended(self) -> bool:
        """Whether the program has closed the connection, or it belongs to the parent of this process."""
        if os.getpid() != self._owner:
            return True
        try:
            return self._socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    def ask(
        self,
        method: str,
        params: Message,
        *,
        is_endless: bool = False,
        seconds: Optional[float] = None,
        is_large: bool = False,
    ) -> Message:
        """Sends a request and waits for its result.

        :param is_endless: The program may be silent for any time.
        :param seconds: The limit for an endless request; ``None`` for no limit.
        :param is_large: The answer may take as long to begin as to arrive.
        :raises TimeoutError: An endless request was not answered within ``seconds``.
        :raises TweaksError: The program refused the request, ended, or does not answer.
        """
        if os.getpid() != self._owner:
            # A forked child must not disturb its parent.
            raise self._ended()
        number, data = self._request(method, params)
        self._send(data)
        end = None if seconds is None else time.monotonic() + seconds
        return self._warned(self._awaited(number, is_endless, is_large, end))

    def ask_each(self, requests: Sequence[Tuple[str, Message]]) -> List[Message]:
        """Sends requests together, at most 100, and waits for their results. The first error ends it; the program may
        have executed the requests behind it."""
        if os.getpid() != self._owner:
            raise self._ended()
        sent = [self._request(method, params) for method, params in requests]
        self._send(b"".join(data for _, data in sent))
        return [self._warned(each) for each in [self._awaited(number, False, False, None) for number, _ in sent]]

    def _awaited(self, number: int, is_endless: bool, is_large: bool, end: Optional[float]) -> Message:
        try:
            return self._answer(number, is_endless, is_large, end)
        except TweaksError:
            raise
        except BaseException:
            # Bytes may have been lost.
            self.close()
            raise

    def _answer(self, number: int, is_endless: bool, is_large: bool, end: Optional[float]) -> Message:
        start = time.monotonic()
        while True:
            received = self._next_message()
            if received is not None:
                message, size = received
                # A program that could not read the request does not know its id.
                if "method" not in message and message.get("id") in (number, None):
                    return self._result(message)
                if self.keeps_told and "method" in message:
                    self._keep(message, size)
                continue
            if end is not None and not self._has_data(end):
                raise TimeoutError(f"{self.title}: it has not answered in time")
            try:
                self._receive()
            except BlockingIOError:
                if not is_endless and not (is_large and time.monotonic() - start < _WHOLE):
                    raise self._silent() from None
            if not is_endless and time.monotonic() - start > _WHOLE:
                raise self._silent()

    def _keep(self, message: Message, size: int) -> None:
        self._told_size += size
        if self._told_size > _MOST_TOLD:
            self.close()
            raise Garbled(f"{self.title}: it sent more than {_MOST_TOLD} bytes of notifications instead of an answer")
        self._told.append((message, size))

    def wait(self, seconds: Optional[float]) -> Optional[Message]:
        """The next message that is not an answer; ``None`` if none has arrived in time.

        :param seconds: ``None`` to wait without a limit.
        :raises Ended: The program has closed the connection.
        """
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            if self._told:
                message, size = self._told.popleft()
                self._told_size -= size
                return message
            received = self._next_message()
            if received is not None:
                message, _ = received
                if "method" in message:
                    return message
                if end is not None and time.monotonic() > end:
                    return None
                continue
            if not self._has_data(end):
                return None
            try:
                self._receive()
            except BlockingIOError:
                continue

    # MARK: Bytes

    def _next_message(self) -> Optional[Tuple[Message, int]]:
        try:
            return super()._next_message()
        except Garbled:
            self.close()
            raise

    def _has_data(self, end: Optional[float]) -> bool:
        """Waits until there is something to receive; ``False`` if there is nothing by then."""
        rest = None if end is None else max(end - time.monotonic(), 0) * 1000
        try:
            poll = select.poll()
            poll.register(self._socket, select.POLLIN)
            return bool(poll.poll(rest))
        except (OSError, ValueError):
            # Another thread has closed it.
            raise self._ended() from None

    def _send(self, data: bytes) -> None:
        try:
            if self._is_foreign:
                self._is_foreign = False
                try:
                    data = data[_sockets.send_as(self._socket, data, self.pid) :]
                except PermissionError:
                    # Not every root may do so.
                    pass
            end = time.monotonic() + _WHOLE
            rest = memoryview(data)
            while rest:
                # A program that takes a byte at a time is silent too.
                if time.monotonic() > end:
                    raise BlockingIOError
                rest = rest[self._socket.send(rest) :]
        except BlockingIOError:
            self.close()
            raise self._silent() from None
        except (BrokenPipeError, ConnectionResetError):
            # The program may have said why it closed the connection, such as that it has too many clients.
            pass
        except OSError as error:
            self.close()
            if error.errno in (errno.EBADF, errno.ENOENT):
                raise self._ended() from None
            raise Unavailable(f"{self.title}: cannot connect to it: {error.strerror}") from error
        except BaseException:
            # Half a request would spoil the next one.
            self.close()
            raise

    def _receive(self) -> None:
        try:
            data = self._socket.recv(1 << 18)
        except BlockingIOError:
            raise
        except OSError:
            raise self._ended() from None
        if not data:
            raise self._ended()
        self._received += data
