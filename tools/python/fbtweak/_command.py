# SPDX-License-Identifier: BSD-3-Clause
"""The command ``tweak``: it finds programs, and reaches those without the library and those that do not run."""

from __future__ import annotations

import contextlib
import json
import os
import select
import selectors
import signal
import struct
import subprocess
import tempfile
import time
from typing import Any, Dict, List, Mapping, Optional, Sequence, Set, Tuple, Type, Union

from ._backend import Backend, Feed, Holder, Outcome, Restored
from ._errors import (
    Clamped, Ended, Forbidden, Garbled, Hidden, Lost, Refused, Silent, TweaksError, TweaksWarning, Unavailable, Waiting,
    not_returned, warn,
)  # fmt: skip
from ._protocol import decode
from ._samples import Samples
from ._values import (
    FORMATS, Change, LoggedChange, Mark, Tweak, Value, member, members, read_change, read_tweak, write_value,
)  # fmt: skip

#: The errors for exit statuses of the command, which are those of sysexits.h.
_ERRORS: Dict[int, Type[TweaksError]] = {
    65: Refused, 66: Unavailable, 69: Unavailable, 76: Garbled, 77: Forbidden,
}  # fmt: skip
#: The status if a program does not answer, or a file is not as it was.
_BUSY = 75
_WARNING = "tweak: warning: "
_SECONDS = 60.0
#: Seconds for a command to end after SIGTERM.
_PATIENCE = 2.0
#: The most bytes that a command prints; those of a million tweaks.
_LARGEST_OUTPUT = 256 << 20
#: The most bytes in a line of samples, and in an answer about the values that were set.
_LARGEST_LINE = 16 << 20
#: The most bytes of messages that are kept.
_LARGEST_MESSAGE = 1 << 20


class Command:
    """The command ``tweak``, by name or path."""

    def __init__(self, path: str = "tweak") -> None:
        self.path = path

    def ask(self, *arguments: str, warns: bool = True) -> Any:
        """Runs the command, and returns the JSON that it prints.

        :param warns: Its warnings become those of Python.
        :raises TweaksError: It failed; the message is its own.
        """
        text = self.run(*arguments, warns=warns)
        try:
            return decode(text.encode())
        except ValueError as error:
            raise Garbled(f"{self.path} {arguments[0]}: its output is malformed: {error}") from None

    def run(self, *arguments: str, warns: bool = True) -> str:
        """Runs the command, and returns what it prints."""
        return self.output(*arguments, warns=warns).decode("utf-8", "backslashreplace")

    def output(
        self, *arguments: str, given: bytes = b"", warns: bool = True, busy: Type[TweaksError] = Silent
    ) -> bytes:
        """Runs the command, and returns the bytes that it prints.

        :param given: The bytes at its standard input.
        :param busy: The error if the command says that something else is in its way.
        """
        with tempfile.TemporaryFile() as file:
            file.write(given)
            file.seek(0)
            try:
                process = subprocess.Popen(
                    [self.path, *arguments],
                    stdin=file if given else subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                )
            except OSError as error:
                raise self._missing(error) from None
        output, errors = self.finish(process, arguments[0], _SECONDS)
        self.check(process.returncode, errors, warns, busy)
        return output

    def finish(self, process: "subprocess.Popen[bytes]", name: str, seconds: Optional[float]) -> Tuple[bytes, str]:
        """Waits until a command has ended, and returns its output and its messages, of which only the end is kept.

        :param name: The name of the command, for messages.
        :param seconds: ``None`` to wait without a limit.
        :raises Silent: It has not ended in time, and was ended.
        :raises Garbled: It prints more than it should, and was ended.
        """
        assert process.stdout is not None and process.stderr is not None
        end = None if seconds is None else time.monotonic() + seconds
        output, errors = bytearray(), bytearray()
        try:
            if process.stdin is not None:
                process.stdin.close()
            with selectors.DefaultSelector() as selector:
                selector.register(process.stdout, selectors.EVENT_READ, output)
                selector.register(process.stderr, selectors.EVENT_READ, errors)
                while selector.get_map():
                    for key, _ in selector.select(_rest(end)):
                        data = os.read(key.fd, 1 << 18)
                        if not data:
                            selector.unregister(key.fileobj)
                        key.data.extend(data)
                    if len(output) > _LARGEST_OUTPUT:
                        raise Garbled(f"{self.path} {name}: it prints more than {_LARGEST_OUTPUT} bytes")
                    if len(errors) > 2 * _LARGEST_MESSAGE:
                        del errors[:-_LARGEST_MESSAGE]
                    if end is not None and time.monotonic() >= end:
                        raise subprocess.TimeoutExpired(self.path, _SECONDS)
            process.wait(_rest(end))
        except subprocess.TimeoutExpired:
            raise Silent(f"{self.path} {name}: it has not ended after {seconds:g} s") from None
        finally:
            if process.poll() is None:
                # It restores leased values first.
                process.terminate()
                try:
                    process.wait(_PATIENCE)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            process.stdout.close()
            process.stderr.close()
        return bytes(output), bytes(errors).decode("utf-8", "backslashreplace")

    def first(self, process: "subprocess.Popen[bytes]", name: str, seconds: float) -> Tuple[bytes, bytes]:
        """Waits for the object that a command prints before it goes on.

        :returns: The object, which is not complete if the command has ended, and the messages so far.
        :raises Silent: It has printed none in time, and was ended.
        :raises Garbled: It prints more than it should, and was ended.
        """
        assert process.stdout is not None and process.stderr is not None
        end = time.monotonic() + seconds
        output, errors = bytearray(), bytearray()
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(process.stdout, selectors.EVENT_READ, output)
                selector.register(process.stderr, selectors.EVENT_READ, errors)
                while not output.endswith(b"\n}\n"):
                    for key, _ in selector.select(_rest(end)):
                        data = os.read(key.fd, 1 << 18)
                        if not data:
                            selector.unregister(key.fileobj)
                        key.data.extend(data)
                    if process.stdout not in (each.fileobj for each in selector.get_map().values()):
                        break
                    if len(output) > _LARGEST_LINE:
                        raise Garbled(f"{self.path} {name}: the answer has more than {_LARGEST_LINE} bytes")
                    if len(errors) > 2 * _LARGEST_MESSAGE:
                        del errors[:-_LARGEST_MESSAGE]
                    if time.monotonic() >= end:
                        raise Silent(f"{self.path} {name}: it has not answered after {seconds:g} s")
        except BaseException:
            with contextlib.suppress(TweaksError):
                self.finish(process, name, 0)
            raise
        return bytes(output), bytes(errors)

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        """Starts the command with pipes."""
        try:
            return subprocess.Popen(
                [self.path, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # Ctrl-C is for this process, which then ends it.
                start_new_session=True,
            )
        except OSError as error:
            raise self._missing(error) from None

    def _missing(self, error: OSError) -> Unavailable:
        return Unavailable(
            f"{self.path}: the command cannot be executed: {error.strerror}; it comes with the Tweaks library, and finds "
            "programs by name, those without the library and those that do not run"
        )

    def check(
        self, status: int, errors: str, warns: bool = True, busy: Type[TweaksError] = Silent
    ) -> None:
        """Passes on warnings, and raises the error if the command failed."""
        lines = []
        for line in errors.splitlines():
            warning = _Warning.read(line)
            if warning is None:
                lines.append(line)
            elif warns:
                warning.show()
        if status == 0:
            return
        said = lines or [f"it exited with status {status}"]
        message = said[0][len("tweak: ") :] if said[0].startswith("tweak: ") else said[0]
        error = busy if status == _BUSY else _ERRORS.get(status, TweaksError)
        raise error(message, [line.strip() for line in said[1:]])


def _rest(end: Optional[float]) -> Optional[float]:
    """The time until then in seconds; ``None`` if there is no end."""
    return None if end is None else max(end - time.monotonic(), 0)


class _Warning:
    """A warning of the command: a line with a JSON object."""

    _CATEGORIES: Dict[str, Type[TweaksWarning]] = {
        "clamped": Clamped, "hidden": Hidden, "waiting": Waiting, "lost": Lost,
    }  # fmt: skip
    #: Words of commands of 1.0.0-beta.1, whose warnings are only text, and the kinds that they have now.
    _WORDS = {"is outside the limits": "clamped", "takes precedence": "hidden", "puts the old value": "restoring"}

    def __init__(self, kind: str, message: str, skipped: int) -> None:
        self.kind = kind
        self.message = message
        #: The samples that were not taken in time.
        self.skipped = skipped

    @classmethod
    def read(cls, line: str) -> "Optional[_Warning]":
        """The warning in a line; ``None`` if it is another message."""
        if line.startswith(_WARNING):
            # By words: those commands have no kinds.
            kinds = [kind for words, kind in cls._WORDS.items() if words in line]
            return cls(kinds[0] if kinds else "other", line[len(_WARNING) :], 0)
        if not line.startswith("{"):
            return None
        try:
            found = members(decode(line.encode()))
            skipped = found.get("skipped")
            return cls(
                member(found, "kind", str), member(found, "message", str), skipped if isinstance(skipped, int) else 0
            )
        except (TweaksError, ValueError):
            return None

    def show(self) -> None:
        # Leases restore values there through a helper process.
        if self.kind == "restoring":
            return
        warn(self.message, self._CATEGORIES.get(self.kind, TweaksWarning))


class CommandBackend(Backend):
    """Each request runs the command once."""

    def __init__(self, command: Command, target: str, described: Mapping[str, Any]) -> None:
        """
        :param described: The output of ``tweak list --format json``.
        """
        self._command = command
        pid = described.get("pid")
        self.pid = pid if isinstance(pid, int) else None
        # A process is meant, and no later one of this name.
        self._target = target if self.pid is None else str(self.pid)
        program = described.get("program") or described.get("application") or target
        #: The path of the executable, if it is known.
        self.executable = program if isinstance(program, str) and "/" in program else None
        name = os.path.basename(str(program))
        self.title = name if self.pid is None else f"{name} ({self.pid})"

    @property
    def has_ended(self) -> bool:
        return self.pid is not None and not os.path.exists(f"/proc/{self.pid}")

    def close(self) -> None:
        pass

    def tweaks(self) -> List[Tweak]:
        answer = self._command.ask("list", "--format", "json", "--", self._target)
        return [read_tweak(each) for each in member(answer, "tweaks", list)]

    def tweak(self, name: str) -> Optional[Tweak]:
        return next((each for each in self.tweaks() if each.name == name), None)

    def set(
        self, values: Mapping[str, Value], tweaks: Mapping[str, Tweak], ramp: Optional[float]
    ) -> List[Outcome]:
        if not values:
            return []
        options = [] if ramp is None else ["--ramp", f"{ramp!r}s"]
        answer = self._command.ask("set", "--format", "json", *options, "--", self._target, *_words(values, tweaks))
        # The command has warned.
        return [Outcome(member(each, "tweak", str), None, False) for each in member(answer, "changes", list)]

    def set_each(self, steps: Sequence[Mapping[str, Value]], tweaks: Mapping[str, Tweak]) -> List[Outcome]:
        return [outcome for values in steps for outcome in self.set(values, tweaks, None)]

    def lease(
        self, values: Mapping[str, Value], tweaks: Mapping[str, Tweak], seconds: Optional[float], ramp: Optional[float]
    ) -> Tuple[Holder, List[Outcome]]:
        holder = _CommandHolder(self._command, self._target, self.pid, seconds)
        return holder, holder.set(values, tweaks, ramp)

    def reset(self, name: Optional[str]) -> List[Outcome]:
        # The command warns.
        words = ["--all", "--", self._target] if name is None else ["--", self._target, name]
        self._command.run("reset", "--format", "json", *words)
        return []

    def run(self, name: str, wait: bool, seconds: Optional[float]) -> Optional[str]:
        self.finish_run(self.begin_run(name), name, seconds)
        # Who runs it is not in the output.
        return None

    def begin_run(self, name: str) -> "subprocess.Popen[bytes]":
        """Starts the command that runs an action."""
        return self._command.start("run", "--wait", "--", self._target, name)

    def finish_run(self, process: "subprocess.Popen[bytes]", name: str, seconds: Optional[float]) -> None:
        """Waits until an action has returned."""
        try:
            _, errors = self._command.finish(process, "run", seconds)
        except Silent:
            raise not_returned(name, seconds) from None
        self._command.check(process.returncode, errors)

    def feed(self, sampled: Sequence[Tweak], rate: float, watched: Optional[Sequence[str]]) -> Feed:
        if not sampled:
            # Changes are seen between samples.
            tweaks = [each for each in self.tweaks() if each.can_be_sampled][:1]
            if not tweaks:
                raise Unavailable(f"{self.title}: it has no tweaks that are numbers or Bools, so changes cannot be seen")
            names = [each.name for each in tweaks]
            rate = 20.0
        else:
            names = [each.name for each in sampled]
        process = self._command.start("watch", "--format", "json", "--rate", f"{rate!r}", "--", self._target, *names)
        return _CommandFeed(self._command, process, sampled, watched, self.title)

    def log(self, since: int, tweaks: Mapping[str, Tweak]) -> Tuple[List[LoggedChange], List[Mark]]:
        raise self._refusal("log")

    def undo(self, number: Optional[int]) -> Tuple[Restored, List[Outcome]]:
        raise self._refusal("undo")

    def revert(self, mark: Optional[str]) -> Tuple[Restored, List[Outcome]]:
        raise self._refusal("revert")

    def mark(self, name: str) -> None:
        raise self._refusal("mark", name)

    def _refusal(self, method: str, *arguments: str) -> TweaksError:
        """The command's reason why a program without the library does not do this."""
        try:
            self._command.run(method, "--", self._target, *arguments)
        except TweaksError as error:
            return error
        return Ended(f"{self.title}: it runs now; connect to it again")


class _CommandHolder(Holder):
    """Each set is a command that holds its leases while ``cat`` reads from a pipe of this process.

    However this process ends, the pipe closes.
    """

    def __init__(self, command: Command, target: str, pid: Optional[int], seconds: Optional[float]) -> None:
        self._command = command
        self._target = target
        self._pid = pid
        self._end = None if seconds is None else time.monotonic() + seconds
        # With the names that each leases.
        self._processes: "List[Tuple[subprocess.Popen[bytes], Set[str]]]" = []

    def set(self, values: Mapping[str, Value], tweaks: Mapping[str, Tweak], ramp: Optional[float]) -> List[Outcome]:
        if not values:
            return []
        # Each lease restores what it found, so the last one goes first if it is replaced.
        if len(self._processes) > 1 and self._processes[-1][1] <= set(values):
            self._finish(self._processes.pop()[0])
        options = [] if ramp is None else ["--ramp", f"{ramp!r}s"]
        attended = ["cat"]
        if self._end is not None:
            attended = ["timeout", f"{max(self._end - time.monotonic(), 0.001):.3f}", "cat"]
        # No word before the names is an option, and a value may begin with a dash.
        words = [
            word
            for name, value in values.items()
            for text in (_text(value, tweaks[name]),)
            for word in ([name, text] if "=" in name else [f"{name}={text}"])
        ]
        process = self._command.start(
            "set", self._target, *words, "--format", "json", *options, "--while", "--", *attended
        )
        text, errors = self._command.first(process, "set", _SECONDS)
        assert process.stderr is not None
        if not text.endswith(b"\n}\n"):
            _, rest = self._command.finish(process, "set", _SECONDS)
            self._command.check(process.returncode or 70, errors.decode(errors="backslashreplace") + rest)
        self._processes.append((process, set(values)))
        os.set_blocking(process.stderr.fileno(), False)
        errors += process.stderr.read(_LARGEST_MESSAGE) or b""
        self._command.check(0, errors.decode(errors="backslashreplace"))
        try:
            changes = member(decode(text), "changes", list)
        except ValueError as error:
            raise Garbled(f"{self._target}: the answer is malformed: {error}") from None
        return [Outcome(member(each, "tweak", str), None, False) for each in changes]

    def end(self) -> None:
        had_ended = self.has_ended
        while self._processes:
            self._finish(self._processes.pop()[0])
        if had_ended:
            raise Ended(f"{self._target}: the process has ended")

    def _finish(self, process: "subprocess.Popen[bytes]") -> None:
        """Closes the pipe, and waits until the former values are back."""
        assert process.stderr is not None
        os.set_blocking(process.stderr.fileno(), True)
        try:
            self._command.finish(process, "set", _SECONDS)
        except Silent:
            pass

    @property
    def has_ended(self) -> bool:
        return self._pid is not None and not os.path.exists(f"/proc/{self._pid}")


class _CommandFeed(Feed):
    """The output of ``tweak watch``, an object per line."""

    def __init__(
        self,
        command: Command,
        process: "subprocess.Popen[bytes]",
        sampled: Sequence[Tweak],
        watched: Optional[Sequence[str]],
        title: str,
    ) -> None:
        self._command = command
        self._process = process
        self._sampled = sampled
        self._watched = None if watched is None else set(watched)
        self._tweaks = {each.name: each for each in sampled}
        self._title = title
        self._received = bytearray()
        self._is_closed = False
        # Changes are seen once it samples.
        data = self._receive(_SECONDS)
        if data is None:
            self.close()
            raise Silent(f"{title}: there is no sample after {_SECONDS:g} s")
        self._received += data

    def read(self, seconds: Optional[float], samples: Optional[Samples]) -> Optional[List[Change]]:
        if b"\n" not in self._received:
            if len(self._received) > _LARGEST_LINE:
                self.close()
                raise Garbled(f"{self._title}: a line of the samples has more than {_LARGEST_LINE} bytes")
            try:
                data = self._receive(seconds)
            except (OSError, ValueError):
                # Another thread has closed it.
                return None
            if data is None:
                return []
            if not data:
                self._finish(samples)
                return None
            self._received += data
        changes: List[Change] = []
        while True:
            end = self._received.find(b"\n")
            if end < 0:
                return changes
            line = self._received[:end]
            del self._received[: end + 1]
            try:
                message = members(decode(bytes(line)))
            except ValueError as error:
                raise Garbled(f"{self._title}: the samples are malformed: {error}") from None
            if "tweak" in message:
                if self._watched is None or message["tweak"] in self._watched:
                    changes.append(read_change(message, self._tweaks))
            elif samples is not None and "values" in message:
                samples._add(*self._frame(message))
            elif samples is not None and "dropped" in message:
                samples.dropped += member(message, "dropped", int)

    def _receive(self, seconds: Optional[float]) -> Optional[bytes]:
        """Output of the command; empty at its end, and ``None`` if there was none in time."""
        assert self._process.stdout is not None
        poll = select.poll()
        poll.register(self._process.stdout, select.POLLIN)
        if not poll.poll(None if seconds is None else seconds * 1000):
            return None
        return os.read(self._process.stdout.fileno(), 1 << 18)

    def _frame(self, message: Mapping[str, Any]) -> Tuple[bytes, List[int]]:
        """The sample as a program with the library would have sent it."""
        values = member(message, "values", dict)
        array = bytearray(8 * (len(self._sampled) + 1))
        struct.pack_into("=d", array, 0, member(message, "time", float))
        missing = []
        for index, tweak in enumerate(self._sampled):
            value = values.get(tweak.name)
            if value is None:
                missing.append(index)
                continue
            try:
                struct.pack_into("=" + FORMATS[tweak.type], array, 8 * (index + 1), _number(value, tweak.type))
            except (struct.error, TypeError, ValueError, OverflowError):
                raise Garbled(f"{self._title}: the samples are malformed: {value!r:.100} is not a number") from None
        return bytes(array), missing

    def _finish(self, samples: Optional[Samples]) -> None:
        """Reads what the command says at its end."""
        try:
            _, text = self._command.finish(self._process, "watch", _SECONDS)
        except TweaksError:
            raise
        except (OSError, ValueError):
            # Another thread has closed it.
            return
        for line in text.splitlines():
            warning = _Warning.read(line)
            if samples is not None and warning is not None:
                samples.skipped += warning.skipped
        if not self._is_closed and self._process.returncode not in (0, -signal.SIGTERM):
            self._command.check(self._process.returncode, text)

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._process.terminate()
            try:
                self._command.finish(self._process, "watch", _SECONDS)
            except (TweaksError, OSError, ValueError):
                # It was ended, or another thread has closed it.
                pass

    def interrupt(self) -> None:
        self._process.terminate()


def _number(value: Any, kind: str) -> Union[int, float]:
    """A sample of a type. The command prints all as floating point, so large integers are rounded to a limit."""
    if kind in ("float", "double"):
        return float(value)
    if kind == "bool" or not isinstance(value, float):
        return int(value)
    bits = int(kind.lstrip("uint"))
    low, high = (0, (1 << bits) - 1) if kind.startswith("u") else (-1 << (bits - 1), (1 << (bits - 1)) - 1)
    return min(max(int(value), low), high)


def _words(values: Mapping[str, Value], tweaks: Mapping[str, Tweak]) -> List[str]:
    return [word for name, value in values.items() for word in (name, _text(value, tweaks[name]))]


def _text(value: Value, tweak: Tweak) -> str:
    written = write_value(value, tweak)
    return json.dumps(written) if isinstance(written, bool) else str(written)
