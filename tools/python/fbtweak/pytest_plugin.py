# SPDX-License-Identifier: BSD-3-Clause
"""A fixture of pytest for programs with tweaks.

::

    def test_it_settles(tweaked):
        motor = tweaked.start(["./motor", "--simulate"], {"Control/Gain": 4})
        motor["Damping"] = 0.2
        motor.wait_for("State/Error", lambda error: error < 0.01)
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import subprocess
import threading
import time
from typing import Any, Generator, Iterator, List, Mapping, Optional, Sequence, Union

import pytest

from ._errors import TweaksError, Unavailable
from ._lock_step import LockStep
from ._program import Lease, Program, Target
from ._values import Value

_STASH = "_tweaked_programs"
_MOST_LINES = 20
#: The most bytes at the end of a program's output that a report of a failure is made of.
_MOST_BYTES = 1 << 20
#: Seconds for a program to end after SIGTERM.
_PATIENCE = 5.0


class TestedProgram(Program):
    """A program whose tweaks are set by lease, until the test ends."""

    __test__ = False

    def __init__(
        self,
        target: Target,
        *,
        wait: float,
        command: str,
        process: "Optional[subprocess.Popen[bytes]]" = None,
        output: Optional[pathlib.Path] = None,
    ) -> None:
        super().__init__(target, wait=wait, command=command)
        #: The process that the fixture has started.
        self.process = process
        self._output = output
        self._test_lease: Optional[Lease] = None

    def set(self, values: Mapping[str, Value], *, ramp: Optional[float] = None) -> None:
        """Leases values until the test ends. See :meth:`Program.set`."""
        if self._test_lease is None:
            self._test_lease = self.lease(values, ramp=ramp)
        else:
            self._test_lease.set(values, ramp=ramp)

    @property
    def output(self) -> str:
        """What a started program has written so far, to standard output and standard error."""
        return self._output.read_text(errors="backslashreplace") if self._output is not None else ""

    def end(self) -> Optional[int]:
        """Ends the leases, and a started program by SIGTERM.

        :returns: The exit status of a started program; negative for a signal.
        """
        lease, self._test_lease = self._test_lease, None
        try:
            try:
                if lease is not None:
                    lease.end()
            except TweaksError:
                # The test has ended, or it has ended the program itself.
                pass
            self.close()
        except BaseException:
            if self.process is not None:
                _kill(self.process)
            raise
        return None if self.process is None else _end(self.process)

    def _report(self) -> str:
        """The values and the last output, for the report of a failure."""
        lines: List[str] = []
        status = None if self.process is None else self.process.poll()
        if status is not None:
            name = signal.Signals(-status).name if status < 0 else status
            lines.append(f"it has ended with {name}")
        else:
            try:
                for tweak in self.tweaks():
                    if tweak.type != "action":
                        unit = f" {tweak.unit}" if tweak.unit else ""
                        source = "monitor" if tweak.is_monitor else tweak.source
                        lines.append(f"{tweak.name} = {tweak.value!r}{unit} ({source})")
            except TweaksError as error:
                lines.append(str(error))
        output = _last_lines(self._output)
        if output:
            lines += ["", "last output:", *output]
        return "\n".join(lines)


def _last_lines(path: Optional[pathlib.Path]) -> List[str]:
    """The last lines of a file, which may be large."""
    if path is None:
        return []
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - _MOST_BYTES, 0))
        return file.read(_MOST_BYTES).decode(errors="backslashreplace").splitlines()[-_MOST_LINES:]


def _kill(process: "subprocess.Popen[bytes]") -> None:
    with _without_interrupts():
        process.kill()
        process.wait()


def _end(process: "subprocess.Popen[bytes]") -> int:
    """Ends a process by SIGTERM, and by SIGKILL if it does not end, or if Ctrl-C ends the wait."""
    if process.poll() is None:
        try:
            process.terminate()
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
        except BaseException:
            _kill(process)
            raise
    return process.wait()


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Holds Ctrl-C back until the end of the block.

    It is not blocked, because a program that is started in the block would inherit that.
    """
    former = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(former):
        yield
        return
    came: List[Any] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)
        if came:
            former(*came[0])


class Tweaked:
    """Starts programs, and connects to running ones; ends all that when the test ends."""

    def __init__(self, folder: pathlib.Path, command: str) -> None:
        self._folder = folder
        self._command = command
        self.programs: List[TestedProgram] = []
        self._lock_steps: List[LockStep] = []

    def start(
        self,
        arguments: Sequence[Union[str, "os.PathLike[str]"]],
        values: Optional[Mapping[str, Value]] = None,
        *,
        environment: Optional[Mapping[str, str]] = None,
        wait: float = 10,
    ) -> TestedProgram:
        """Starts a program, and waits until its tweaks can be read.

        Its home folder is empty, so that it finds no kept values. It is ended after the test.

        :param arguments: The executable and its arguments.
        :param values: Values to lease at once.
        :param environment: More variables of its environment.
        :param wait: The seconds to wait for it.
        :raises Unavailable: It has ended, or has no tweaks; the message has its output.
        """
        home = self._folder / f"home-{len(self.programs)}"
        home.mkdir()
        output = self._folder / f"output-{len(self.programs)}"
        variables = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"), **(environment or {})}
        process: "Optional[subprocess.Popen[bytes]]" = None
        try:
            with open(output, "wb") as file, _without_interrupts():
                process = subprocess.Popen(
                    [os.fspath(each) for each in arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    env=variables,
                )
            program = self._connected(process, os.fspath(arguments[0]), output, wait)
            self.programs.append(program)
        except BaseException:
            # Also at Ctrl-C, when nobody else knows of it.
            if process is not None:
                _kill(process)
            raise
        if values:
            program.set(values)
        return program

    def _connected(
        self, process: "subprocess.Popen[bytes]", name: Union[str, bytes], output: pathlib.Path, wait: float
    ) -> TestedProgram:
        end = time.monotonic() + wait
        while True:
            # Short, so that the end of the process is noticed.
            patience = min(max(end - time.monotonic(), 0.01), 0.1)
            try:
                return TestedProgram(process.pid, wait=patience, command=self._command, process=process, output=output)
            except TweaksError as error:
                if process.poll() is None and time.monotonic() < end:
                    continue
                _kill(process)
                raise Unavailable(f"{os.fsdecode(name)}: it cannot be queried: {error}", _last_lines(output)) from error

    def connect(self, target: Target, values: Optional[Mapping[str, Value]] = None, *, wait: float = 0) -> TestedProgram:
        """Connects to a running program, which keeps running after the test, with its former values.

        :param target: As for :func:`fbtweak.connect`.
        :param values: Values to lease at once.
        """
        program = TestedProgram(target, wait=wait, command=self._command)
        self.programs.append(program)
        if values:
            program.set(values)
        return program

    def lock_step(self, turns: str, done: str) -> LockStep:
        """Steps all programs of the test together, until it ends. See :class:`fbtweak.LockStep`.

        ::

            def test_more_gain_is_faster(tweaked):
                calm = tweaked.start(["./simulator"], {"Gain": 1})
                fast = tweaked.start(["./simulator"], {"Gain": 4})
                tweaked.lock_step("Clock/Turns", "Clock/Done").step(100)
                assert fast["State/Error"] < calm["State/Error"]
        """
        lock_step = LockStep(self.programs, turns, done)
        self._lock_steps.append(lock_step)
        return lock_step

    def end(self) -> None:
        """Ends all leases, and the started programs."""
        # Whatever happens with one, also at Ctrl-C, the others end.
        with contextlib.ExitStack() as stack:
            for program in self.programs:
                stack.callback(program.end)
            for lock_step in self._lock_steps:
                stack.callback(lock_step.end)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tweaks")
    group.addoption("--tweak", default="tweak", metavar="COMMAND", help="the command tweak, by name or path")


@pytest.fixture
def tweaked(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> Generator[Tweaked, None, None]:
    """Programs with tweaks, see :class:`Tweaked`."""
    programs = Tweaked(tmp_path, request.config.getoption("--tweak"))
    setattr(request.node, _STASH, programs)
    yield programs
    programs.end()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: "pytest.CallInfo[None]") -> Generator[None, Any, None]:
    """Adds the values of tweaks and monitors to the report of a failure."""
    outcome = yield
    report = outcome.get_result()
    programs: Optional[Tweaked] = getattr(item, _STASH, None)
    if programs is None or report.when != "call" or not report.failed:
        return
    for program in programs.programs:
        report.sections.append((f"tweaks of {program.title}", program._report()))
