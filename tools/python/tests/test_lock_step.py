# SPDX-License-Identifier: BSD-3-Clause
"""Simulators in lock step."""

import struct
import time

import pytest

import fbtweak
from conftest import HERE

TURNS = ("Clock/Turns", "Clock/Done")


@pytest.fixture(scope="module")
def simulator_path(build):
    return build("simulator", HERE / "simulator.c")


@pytest.fixture
def simulator(start, simulator_path):
    with fbtweak.connect(start(simulator_path).pid, wait=60) as program:
        yield program


def tuned(program):
    """The gain with the lowest cost, and the speeds and costs on the way to it as bytes."""
    seen = bytearray()

    def cost(clock, gain):
        program.run("Restart")
        program["Gain"] = gain
        for _ in range(20):
            clock.step(10)
            state = program.values("State/*")
            seen.extend(struct.pack("=2d", *state.values()))
        return state["Simulator/State/Cost"]

    low, high = 0.0, 100.0
    with fbtweak.LockStep(program, *TURNS) as clock:
        while high - low > 0.5:
            third = (high - low) / 3
            if cost(clock, low + third) < cost(clock, high - third):
                high -= third
            else:
                low += third
        best = (low + high) / 2
        assert cost(clock, best) < cost(clock, 1)
    return best, bytes(seen)


def test_two_runs_of_tuning_have_the_same_bytes(start, simulator_path):
    runs = []
    for _ in range(2):
        with fbtweak.connect(start(simulator_path).pid, wait=60) as program:
            del program["Gain"]
            runs.append(tuned(program))
    (gain, seen), other = runs
    assert 1 < gain < 99 and len(set(struct.iter_unpack("=2d", seen))) > 100
    assert (gain, seen) == other


def test_values_apply_from_the_first_turn_of_a_step(simulator):
    def speeds(clock, lease, changes):
        simulator.run("Restart")
        found = []
        for change in changes:
            # Returns before the program has passed the gate.
            lease.set(change)
            clock.step()
            found.append(simulator["State/Speed"])
        return found

    changes = [{"Gain": 1 + each % 7, "Integral": each % 3} for each in range(60)]
    with fbtweak.LockStep(simulator, *TURNS) as clock, simulator.lease({}) as lease:
        first = speeds(clock, lease, changes)
        assert len(set(first)) == 60
        for _ in range(3):
            assert speeds(clock, lease, changes) == first


def test_nothing_moves_between_steps(simulator):
    with fbtweak.LockStep(simulator, *TURNS) as clock:
        clock.step(3)
        state = simulator.values("State/*", "Clock/Done")
        assert state["Simulator/Clock/Done"] == 3
        clock.step(0)
        time.sleep(0.05)
        assert simulator.values("State/*", "Clock/Done") == state
        assert simulator.tweak("Clock/Turns").source == "lease"
    assert simulator["Clock/Turns"] == 0 and simulator["Clock/Done"] == 3
    with fbtweak.LockStep(simulator, *TURNS) as clock:
        clock.step()
    assert simulator["Clock/Done"] == 4


def test_without_the_library(build, start):
    path = build("static-simulator", HERE / "simulator.c", flags=["-static"], has_library=False)
    runs = []
    for _ in range(2):
        simulator = fbtweak.connect(start(path).pid, wait=60)
        states = []
        with fbtweak.LockStep(simulator, *TURNS) as clock, simulator.lease({}) as lease:
            for gain in (1, 8, 3):
                lease["Gain"] = gain
                clock.step(10)
                states.append(simulator.values("State/*", "Clock/Done"))
        assert [each["Simulator/Clock/Done"] for each in states] == [10, 20, 30]
        runs.append(states)
    assert runs[0] == runs[1]


def test_several_programs_step_together(start, simulator_path):
    programs = [fbtweak.connect(start(simulator_path).pid, wait=60) for _ in range(2)]
    ahead = set()
    with fbtweak.LockStep(programs[0], *TURNS) as clock:
        clock.step(5)
    with fbtweak.LockStep(programs, *TURNS) as clock:
        for _ in range(20):
            clock.step(2)
            ahead.add(programs[0]["Clock/Done"] - programs[1]["Clock/Done"])
    assert ahead == {5} and programs[1]["Clock/Done"] == 40


def test_a_program_that_is_not_made_for_it(motor):
    with pytest.raises(fbtweak.Refused, match="Motor/Control/Target: it is 100.0, and the number of turns an integer"):
        fbtweak.LockStep(motor, "Target", "Count now")
    with pytest.raises(fbtweak.Refused, match="Count: it is 5 and Motor/State/Mode 1, so the program does not wait"):
        fbtweak.LockStep(motor, "Types/Count", "State/Mode")
    with fbtweak.LockStep(motor, "Short", "Count now") as clock:
        with pytest.raises(ValueError, match="-1: a step has 0 or more turns"):
            clock.step(-1)
        with pytest.raises(TimeoutError, match="Motor/Copies/Count now: it is 5 and not 6, after "):
            clock.step(seconds=0.05)
        motor["Count"] = 30
        with pytest.raises(fbtweak.TweaksError, match="Count now: it is 30, but the loop may only have made 7 turns"):
            clock.step()


def test_the_program_ends(start, simulator_path):
    process = start(simulator_path)
    simulator = fbtweak.connect(process.pid, wait=60)
    with pytest.raises(fbtweak.Ended), fbtweak.LockStep(simulator, *TURNS) as clock:
        clock.step(2)
        process.kill()
        process.wait()
        clock.step(2)
