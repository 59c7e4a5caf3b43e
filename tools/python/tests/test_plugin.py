# SPDX-License-Identifier: BSD-3-Clause
"""The fixture for tests of programs."""

import os
import textwrap

import pytest

import fbtweak
from conftest import HERE


def outcome(pytester, text, **counts):
    pytester.makepyfile(text)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider" if is_installed() else "fbtweak.pytest_plugin")
    result.assert_outcomes(**counts)
    return result


def is_installed():
    from importlib.metadata import entry_points

    found = entry_points()
    plugins = found.select(group="pytest11") if hasattr(found, "select") else found.get("pytest11", [])
    return any(each.value == "fbtweak.pytest_plugin" for each in plugins)


def test_a_program_is_started_and_ended(pytester, motor_path):
    outcome(
        pytester,
        f"""
        processes = []

        def test_first(tweaked):
            motor = tweaked.start([{str(motor_path)!r}], {{"Gain": 4, "Control/Mode": 2}})
            processes.append(motor.process)
            assert (motor["Gain"], motor["Control/Mode"]) == (4, 2)
            motor["Gain"] = 5
            assert motor.tweak("Gain").source == "lease"
            assert motor.output == "started\\n"
            motor.wait_for("State/Turns", lambda turns: turns >= 0)

        def test_second(tweaked):
            assert processes[0].poll() == -15
            motor = tweaked.start([{str(motor_path)!r}, "100"])
            other = tweaked.start([{str(motor_path)!r}])
            assert motor.pid != other.pid
            other["Gain"] = 1
            assert motor["Gain"] == 2.5
            motor.run("Stop")
            assert motor.process.wait() == 0
            assert motor.end() == 0
        """,
        passed=2,
    )


def test_programs_in_lock_step(pytester, build):
    simulator = build("simulator", HERE / "simulator.c")
    outcome(
        pytester,
        f"""
        turns = ("Clock/Turns", "Clock/Done")

        def test_two(tweaked):
            calm = tweaked.start([{str(simulator)!r}], {{"Gain": 1}})
            fast = tweaked.start([{str(simulator)!r}], {{"Gain": 4}})
            clock = tweaked.lock_step(*turns)
            clock.step(100)
            assert calm["Clock/Done"] == fast["Clock/Done"] == 100
            assert fast["State/Cost"] < calm["State/Cost"]
            calm["Gain"] = 4
            clock.step(100)
            assert fast["State/Cost"] < calm["State/Cost"]

        def test_it_ends_in_the_middle(tweaked):
            simulator = tweaked.start([{str(simulator)!r}])
            clock = tweaked.lock_step(*turns)
            clock.step()
            simulator.process.kill()
            simulator.process.wait()
        """,
        passed=2,
    )


def test_the_lock_step_of_a_running_program_ends_with_the_test(pytester, build, start):
    with fbtweak.connect(start(build("simulator", HERE / "simulator.c")).pid, wait=30) as simulator:
        outcome(
            pytester,
            f"""
            def test_it(tweaked):
                simulator = tweaked.connect({simulator.pid}, {{"Gain": 4}})
                tweaked.lock_step("Clock/Turns", "Clock/Done").step(3)
                assert simulator.tweak("Clock/Turns").source == "lease"
            """,
            passed=1,
        )
        assert (simulator["Clock/Turns"], simulator["Gain"], simulator["Clock/Done"]) == (0, 1, 3)


def test_a_static_program(pytester, static_motor_path):
    outcome(
        pytester,
        f"""
        def test_it(tweaked):
            motor = tweaked.start([{str(static_motor_path)!r}], {{"Gain": 4}})
            assert not motor.has_library
            motor["Damping"] = 0.5
            assert motor.values("Gain", "Damping") == {{"Motor/Control/Gain": 4, "Motor/Control/Damping": 0.5}}
        """,
        passed=1,
    )


def test_a_running_program_keeps_its_values(pytester, motor):
    motor["Gain"] = 3
    outcome(
        pytester,
        f"""
        def test_it(tweaked):
            motor = tweaked.connect({motor.pid}, {{"Gain": 4}})
            motor["Count"] = 9
            assert (motor["Gain"], motor["Count"]) == (4, 9)
        """,
        passed=1,
    )
    assert (motor["Gain"], motor["Count"]) == (3, 5)


def test_a_failure_is_reported_with_the_values(pytester, motor_path):
    result = outcome(
        pytester,
        f"""
        def test_it(tweaked):
            motor = tweaked.start([{str(motor_path)!r}], {{"Gain": 4}})
            motor["Label"] = "right"
            assert False

        def test_its_end(tweaked):
            motor = tweaked.start([{str(motor_path)!r}], {{"Gain": 4}})
            motor.process.kill()
            motor.process.wait()
            motor["Gain"]
        """,
        failed=2,
    )
    text = result.stdout.str()
    assert "tweaks of motor (" in text
    assert "Motor/Control/Gain = 4.0 1/s (lease)" in text and "Motor/Types/Label = 'right' (lease)" in text
    assert "rpm (monitor)" in text and "last output:\nstarted" in text
    assert "it has ended with SIGKILL" in text


INTERRUPTED = """
    import os, pathlib, signal, subprocess
    from fbtweak import pytest_plugin

    PIDS = pathlib.Path({pids!r})
    # A run in the background of a shell inherits that the signal is ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def note(process):
        with PIDS.open("a") as file:
            print(process.pid, file=file)
        return process

    def interrupt(*_, **__):
        os.kill(os.getpid(), signal.SIGINT)
"""


def interrupted(pytester, tmp_path, text):
    """Runs tests that are interrupted, and looks whether the programs have ended whose ids they have written."""
    pids = tmp_path / "pids"
    pytester.makepyfile(textwrap.dedent(INTERRUPTED.format(pids=str(pids))) + textwrap.dedent(text))
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider" if is_installed() else "fbtweak.pytest_plugin")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    started = [int(line) for line in pids.read_text().split()]
    assert started
    for pid in started:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_an_interrupt_while_a_program_is_started_leaves_none(pytester, tmp_path):
    interrupted(
        pytester,
        tmp_path,
        """
        def test_it(tweaked, monkeypatch):
            start = subprocess.Popen

            def interrupted(*arguments, **options):
                process = note(start(*arguments, **options))
                interrupt()
                return process

            monkeypatch.setattr(pytest_plugin.subprocess, "Popen", interrupted)
            tweaked.start(["sleep", "1000"])
        """,
    )


def test_an_interrupt_while_a_program_is_awaited_leaves_none(pytester, tmp_path):
    interrupted(
        pytester,
        tmp_path,
        """
        def test_it(tweaked, monkeypatch):
            start = subprocess.Popen
            monkeypatch.setattr(pytest_plugin.subprocess, "Popen", lambda *a, **b: note(start(*a, **b)))
            monkeypatch.setattr(pytest_plugin, "TestedProgram", interrupt)
            tweaked.start(["sleep", "1000"])
        """,
    )


def test_an_interrupt_at_the_end_leaves_no_other_program(pytester, tmp_path, motor_path):
    interrupted(
        pytester,
        tmp_path,
        f"""
        def test_it(tweaked):
            for _ in range(3):
                note(tweaked.start([{str(motor_path)!r}]).process)
            tweaked.programs[1].close = interrupt
        """,
    )


def test_a_program_that_cannot_be_asked(pytester):
    result = outcome(
        pytester,
        """
        def test_it(tweaked):
            tweaked.start(["sh", "-c", "echo no license; exit 3"])
        """,
        failed=1,
    )
    assert "it cannot be queried" in result.stdout.str() and "no license" in result.stdout.str()
