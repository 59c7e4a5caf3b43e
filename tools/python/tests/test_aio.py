# SPDX-License-Identifier: BSD-3-Clause
"""Programs in asyncio."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import traceback

import pytest

import fbtweak
from conftest import HERE, IS_LONG, stop, wait_until
from fbtweak import _aio_waiting

#: Seconds that nothing here takes, unless it blocks.
LONG = 600


async def cancelled(*tasks):
    """Cancels tasks, which must end at once."""
    for task in tasks:
        task.cancel()
    _, pending = await asyncio.wait(tasks, timeout=60)
    assert not pending
    assert all(task.cancelled() for task in tasks)


async def until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "not after 60 s"
        await asyncio.sleep(0.01)


def threads():
    return [each.name for each in threading.enumerate() if each.name.startswith("fbtweak")]


def is_socket(file):
    """Whether a file of this process is a socket."""
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/self/fd/{file}").startswith("socket:")
    return False


def never(_):
    return False


def test_requests(motor):
    async def main():
        aio = motor.aio
        await aio.set({"Gain": 3})
        assert await aio.get("Gain") == 3
        await aio.mark("here")
        async with aio.lease({"Gain": 4, "Damping": 0.5}) as lease:
            assert (await aio.values("Gain"))["Motor/Control/Gain"] == 4
            await lease.set({"Gain": 5})
            assert await aio.get("Gain") == 5
        assert await aio.get("Gain") == 3
        assert await aio.undo() == {"Motor/Control/Gain": (3, 2.5)}
        await aio.set({"Gain": 3, "Count": 1})
        await aio.reset("Gain")
        assert (await aio.tweaks("Gain"))[0].source == "default"
        await aio.revert("here")
        await aio.reset()
        await asyncio.gather(aio.run("Wait"), *(aio.get("Gain") for _ in range(20)))
        assert await aio.wait_for("Gain", lambda gain: gain == 2.5) == 2.5

    asyncio.run(main())


def test_values_with_labels(motor):
    async def change():
        async for change in motor.aio.changes("Control/Mode"):
            return change

    async def main():
        changing = asyncio.ensure_future(change())
        waiting = asyncio.ensure_future(motor.aio.wait_for("Control/Mode", lambda mode: mode == "fast", seconds=30))
        assert await motor.aio.get("Control/Mode") == "slow"
        while not changing.done():
            await motor.aio.set({"Control/Mode": "slow"})
            await motor.aio.set({"Control/Mode": "fast"})
        assert (await waiting).label == "fast"
        return changing.result()

    change = asyncio.run(main())
    assert {change.old_value.label, change.new_value.label} == {"slow", "fast"}


def test_changes_and_samples(motor):
    async def watch(found):
        async for change in motor.aio.changes("Count"):
            found.append(change.new_value)

    async def main():
        found = []
        task = asyncio.ensure_future(watch(found))
        sampling = asyncio.ensure_future(motor.aio.sample("State/*", rate=500, seconds=0.5))
        while not found:
            # Until both have begun.
            await motor.aio.set({"Count": "x+1"})
            await asyncio.sleep(0.02)
        for value in range(90, 95):
            await motor.aio.set({"Count": value})
            while found[-1] != value:
                await asyncio.sleep(0.005)
        samples = await sampling
        assert len(samples) + samples.skipped + samples.dropped >= 240
        assert found[-5:] == [90, 91, 92, 93, 94]
        assert {change.name for change in samples.changes} <= {"Motor/Types/Count"}
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            pass
        return [change async for change in motor.aio.changes(seconds=0.05)]

    assert asyncio.run(main()) == []


def test_a_cancelled_lease_ends(motor):
    async def hold():
        async with motor.aio.lease({"Gain": 4}):
            await asyncio.sleep(60)

    async def main(delay):
        task = asyncio.ensure_future(hold())
        await asyncio.sleep(delay)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert await motor.aio.get("Gain") == 2.5

    for delay in (0, 0.0005, 0.002, 0.1):
        asyncio.run(main(delay))


def test_errors(motor):
    async def main():
        try:
            await motor.aio.set({"Count": "many"})
        except fbtweak.Refused as error:
            return str(error)

    assert "is not an int32" in asyncio.run(main())


# MARK: Waiting


def test_all_that_wait_wake(motor):
    async def main():
        count = 10_000 if IS_LONG else 1_000
        tasks = [
            asyncio.ensure_future(motor.aio.wait_for("Count", lambda count: count == 7, seconds=LONG))
            for _ in range(count)
        ]
        await asyncio.sleep(0.1)
        # The set of one task needs no turn after all that wait.
        await asyncio.wait_for(motor.aio.set({"Count": 7}), 60)
        assert await asyncio.wait_for(asyncio.gather(*tasks), 60) == [7] * count
        await until(lambda: not threads())

    asyncio.run(main())


def test_values_that_wait_need_no_thread(motor):
    async def hold(number):
        async with motor.aio.lease({"Gain": number}):
            await asyncio.sleep(LONG)

    async def watch():
        return [change async for change in motor.aio.changes()]

    async def main():
        motor["Held"] = True
        tasks = [
            asyncio.ensure_future(each)
            for number in range(20)
            for each in (hold(number), watch(), motor.aio.wait_for("Turns", never, seconds=LONG))
        ]
        tasks.append(asyncio.ensure_future(motor.aio.run("Wait")))
        await until(lambda: motor.tweak("Gain").source == "lease")
        await until(lambda: not threads())
        await cancelled(*tasks)
        assert motor["Gain"] == 2.5
        motor["Held"] = False

    asyncio.run(main())


def test_values_of_the_past_do_not_count(motor):
    async def main():
        other = asyncio.ensure_future(motor.aio.wait_for("Count", never, seconds=LONG))
        for _ in range(20):
            motor["Count"] = 7
            motor["Count"] = 3
            with pytest.raises(TimeoutError, match="Count: it is 3 after 0 s"):
                await motor.aio.wait_for("Count", lambda count: count == 7, seconds=0)
        await cancelled(other)

    asyncio.run(main())


def test_a_variable_that_the_program_stores(build, start):
    process = start(build("stored", HERE / "stored.c"))
    with fbtweak.connect(process.pid, wait=60) as program:
        assert asyncio.run(program.aio.wait_for("Count", lambda count: count > 5, seconds=60)) > 5


def test_a_gated_value(build, start):
    process = start(build("stored", HERE / "stored.c"))
    with fbtweak.connect(process.pid, wait=60) as program:

        async def main():
            wait = asyncio.ensure_future(program.aio.wait_for("Width", lambda width: width == 7, seconds=60))
            await program.aio.set({"Width": 7})
            assert await wait == 7

        asyncio.run(main())


def test_a_ramp(motor):
    async def main():
        wait = asyncio.ensure_future(motor.aio.wait_for("Target", lambda target: 300 < target < 700, seconds=60))
        await motor.aio.set({"Target": 1000}, ramp=10)
        assert 300 < await wait < 700

    asyncio.run(main())


def test_monitors_and_their_conditions(motor):
    async def main():
        await motor.aio.set({"Target": 200})
        speeds = await asyncio.gather(
            *(motor.aio.wait_for("Speed", lambda speed: speed > 150, seconds=60) for _ in range(50))
        )
        assert min(speeds) > 150
        with pytest.raises(ZeroDivisionError):
            await motor.aio.wait_for("Gain", lambda gain: gain / 0)
        with pytest.raises(RuntimeError, match="StopIteration"):
            await motor.aio.wait_for("Gain", lambda gain: next(iter([])))
        with pytest.raises(fbtweak.UnknownTweak, match="Nothing"):
            await motor.aio.wait_for("Nothing", never)

    asyncio.run(main())


def test_a_wait_goes_on_when_the_program_is_started_again(start, motor_path):
    process = start(motor_path)
    motor = fbtweak.connect(motor_path, wait=60)

    async def main():
        tasks = [
            asyncio.ensure_future(motor.aio.wait_for("Gain", lambda gain: gain == 9, seconds=LONG)) for _ in range(20)
        ]
        await until(lambda: motor.aio._shared._way is not None and motor.aio._shared._way.done())
        process.kill()
        process.wait()
        again = start(motor_path)
        with fbtweak.connect(again.pid, wait=60) as other:
            other["Gain"] = 9
        assert await asyncio.wait_for(asyncio.gather(*tasks), 60) == [9] * 20

    asyncio.run(main())
    motor.close()


def test_the_end_of_the_program(start, motor_path):
    process = start(motor_path)
    motor = fbtweak.connect(process.pid, wait=60)

    found = []

    async def watch():
        async for change in motor.aio.changes():
            found.append(change)

    async def hold(has_ended):
        async with motor.aio.lease({"Gain": 4}):
            await has_ended.wait()

    async def main():
        has_ended = asyncio.Event()
        watching, holding = asyncio.ensure_future(watch()), asyncio.ensure_future(hold(has_ended))
        tasks = [asyncio.ensure_future(motor.aio.wait_for("Count", never, seconds=LONG)) for _ in range(20)]
        await until(lambda: motor.tweak("Gain").source == "lease")
        while not found:
            # Until the changes are watched.
            await motor.aio.set({"Target": "x+1"})
            await asyncio.sleep(0.02)
        process.kill()
        process.wait()
        has_ended.set()
        errors = await asyncio.gather(*tasks, return_exceptions=True)
        assert {type(error) for error in errors} <= {fbtweak.Ended, fbtweak.LeaseLost}
        # Each has a trace of its own.
        assert len(set(map(id, errors))) == len(errors)
        assert max(len(traceback.extract_tb(error.__traceback__)) for error in errors) < 10
        await watching
        with contextlib.suppress(fbtweak.LeaseLost):
            await holding

    asyncio.run(main())
    motor.close()


def test_a_lost_lease(start, motor_path):
    process = start(motor_path)
    motor = fbtweak.connect(process.pid, wait=60)

    async def main():
        with pytest.raises(fbtweak.LeaseLost, match="it ended while values were leased"):
            async with motor.aio.lease({"Gain": 4}) as lease:
                process.kill()
                process.wait()
        with pytest.raises(fbtweak.LeaseLost, match="ended"):
            await lease.set({"Gain": 5})

    asyncio.run(main())
    motor.close()


def test_leases_of_different_tweaks_share_a_connection(build, start):
    count = 300
    process = start(build("leased", HERE / "leased.c"), str(count))
    with fbtweak.connect(process.pid, wait=60) as program:
        wait_until(lambda: len(list(program)) == count)

        async def hold(number, begun, end):
            async with program.aio.lease({f"Leased/Values/{number}": 1}):
                begun.append(number)
                await end.wait()

        async def main():
            begun, end = [], asyncio.Event()
            tasks = [asyncio.ensure_future(hold(number, begun, end)) for number in range(count)]
            await until(lambda: len(begun) == count)
            # Not one for each.
            assert len([each for each in os.listdir("/proc/self/fd") if is_socket(each)]) < 30
            assert set(program.values("Leased/").values()) == {1}
            await cancelled(*tasks[: count // 2])
            assert list(program.values("Leased/").values()) == [0] * (count // 2) + [1] * (count - count // 2)
            end.set()
            await asyncio.gather(*tasks[count // 2 :])
            assert set(program.values("Leased/").values()) == {0}

        asyncio.run(main())


def test_leases_of_one_tweak(motor):
    async def main():
        aio = motor.aio
        async with aio.lease({"Gain": 4}) as first:
            async with aio.lease({"Gain": 5}) as second:
                assert await aio.get("Gain") == 5
                # The older one does not take precedence when it changes, nor end the newer one.
                await first.end()
                assert await aio.get("Gain") == 5
                await second.set({"Damping": 0.5, "Gain": 6})
                assert await aio.values("Gain", "Damping") == {"Motor/Control/Gain": 6, "Motor/Control/Damping": 0.5}
                await second.set({"Gain": 7})
                assert await aio.get("Gain") == 7
            assert await aio.values("Gain", "Damping") == {"Motor/Control/Gain": 2.5, "Motor/Control/Damping": 0.1}
            with pytest.raises(fbtweak.LeaseLost, match="the lease has ended"):
                await second.set({"Gain": 8})
        async with aio.lease({}) as empty, aio.lease({"Gain": 4}):
            await empty.set({"Gain": 5})
            assert await aio.get("Gain") == 5
            await empty.end()
            assert await aio.get("Gain") == 4
        assert await aio.get("Gain") == 2.5

    asyncio.run(main())


def test_a_lease_that_is_refused(motor):
    async def main():
        with pytest.raises(fbtweak.Refused, match="is not an int32"):
            async with motor.aio.lease({"Count": "many"}):
                pass
        async with motor.aio.lease({"Count": 7}) as lease:
            with pytest.raises(fbtweak.Refused, match="is not an int32"):
                await lease.set({"Count": "many", "Gain": 3})
            assert motor.values("Count", "Gain") == {"Motor/Types/Count": 7, "Motor/Control/Gain": 2.5}
        assert motor["Count"] == 5

    asyncio.run(main())


def test_a_task_that_does_not_read_has_changes_merged(motor, monkeypatch):
    monkeypatch.setattr(_aio_waiting, "_MERGED", 10)

    async def main():
        changes = motor.aio.changes("Count", "Gain")
        first = asyncio.ensure_future(changes.__anext__())
        await asyncio.sleep(0)
        while not first.done():
            await motor.aio.set({"Count": "x+1"})
            await asyncio.sleep(0.01)
        for value in range(100):
            await motor.aio.set({"Count": value, "Gain": value / 4})
        last = {"Motor/Types/Count": 99, "Motor/Control/Gain": 24.75}
        values = {}
        count = 0
        async for change in changes:
            # Nothing is missing in between.
            assert change.old_value == values.get(change.name, change.old_value)
            values[change.name] = change.new_value
            count += 1
            if values == last:
                break
        assert count <= 2 * 10
        await changes.aclose()

    asyncio.run(main())


def test_an_action_that_takes_too_long(motor):
    motor["Held"] = True
    message = "Motor/Control/Wait: it has not returned after 0.2 s; it may still be running"
    with pytest.raises(TimeoutError, match=message):
        motor.run("Wait", seconds=0.2)
    with pytest.raises(TimeoutError, match=message):
        asyncio.run(motor.aio.run("Wait", wait=True, seconds=0.2))
    motor["Held"] = False
    assert motor.run("Wait", seconds=LONG) is None
    assert asyncio.run(motor.aio.run("Wait", seconds=LONG)) is None


# MARK: Ends


def test_a_time_limit_of_asyncio_ends_a_wait(motor):
    async def main():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(motor.aio.wait_for("Count", never, seconds=LONG), 0.2)

    asyncio.run(main())


def test_tasks_of_a_stopped_program_are_cancelled_at_once(motor):
    async def hold():
        async with motor.aio.lease({"Gain": 4}):
            await asyncio.sleep(LONG)

    # Which takes a turn.
    pid = motor.pid

    async def main():
        tasks = [asyncio.ensure_future(each) for each in (hold(), motor.aio.wait_for("Count", never, seconds=LONG))]
        await until(lambda: motor["Gain"] == 4)
        stop(pid)
        try:
            tasks += [
                asyncio.ensure_future(each)
                for each in (
                    motor.aio.get("Gain"), motor.aio.set({"Count": 1}), motor.aio.wait_for("Turns", never), hold(),
                )  # fmt: skip
            ]
            await asyncio.sleep(0.1)
            await cancelled(*tasks)
        finally:
            os.kill(pid, signal.SIGCONT)
        await until(lambda: motor["Gain"] == 2.5)

    asyncio.run(main())


INTERRUPTED = """
import asyncio, fbtweak, signal, sys

# It may be ignored where the tests run.
signal.signal(signal.SIGINT, signal.default_int_handler)

async def hold(motor):
    async with motor.aio.lease({"Gain": 4}):
        await asyncio.sleep(600)

async def watch(motor):
    async for change in motor.aio.changes():
        print("changed", flush=True)

async def main():
    motor = fbtweak.connect(int(sys.argv[1]), wait=60)
    waits = [motor.aio.wait_for("Count", lambda count: count == 99, seconds=600) for _ in range(10)]
    actions = [motor.aio.run("Wait")] if motor.has_library else []
    await asyncio.gather(hold(motor), watch(motor), *actions, *waits)

asyncio.run(main())
"""


def interrupt(pid, is_ready):
    """Runs tasks in a process of their own, which gets Ctrl-C."""
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED, str(pid)], stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_until(is_ready, 60)
            time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
            assert errors.rstrip().endswith("KeyboardInterrupt"), errors
            assert process.returncode == -signal.SIGINT
        finally:
            process.kill()


def test_interrupting(motor):
    motor["Held"] = True
    interrupt(motor.pid, lambda: motor["Gain"] == 4)
    motor["Held"] = False
    wait_until(lambda: motor["Gain"] == 2.5)


# MARK: Without the library


@pytest.fixture
def static_motor(start, static_motor_path):
    process = start(static_motor_path)
    with fbtweak.connect(process.pid, wait=60) as program:
        assert not program.has_library
        yield program


@pytest.mark.filterwarnings("ignore:.*the change lasts for this run only")
def test_waiting_without_the_library(static_motor):
    async def main():
        aio = static_motor.aio
        found = []

        async def watch():
            async for change in aio.changes("Count", seconds=LONG):
                found.append(change.new_value)

        tasks = [
            asyncio.ensure_future(aio.wait_for("Count", lambda count: count == 7, seconds=LONG)) for _ in range(100)
        ]
        watching = asyncio.ensure_future(watch())
        await asyncio.sleep(0.5)
        count = 10
        while not found:
            count += 1
            await aio.set({"Count": count})
            await asyncio.sleep(0.2)
        await asyncio.wait_for(aio.set({"Count": 7}), 60)
        assert await asyncio.wait_for(asyncio.gather(*tasks), 60) == [7] * 100
        await until(lambda: found[-1] == 7)
        await cancelled(watching, asyncio.ensure_future(aio.wait_for("Count", never, seconds=LONG)))
        with pytest.raises(TimeoutError, match="Count: it is 7 after 0.1 s"):
            await aio.wait_for("Count", never, seconds=0.1)
        async with aio.lease({"Gain": 4}) as lease:
            assert await aio.get("Gain") == 4
            await lease.set({"Gain": 5})
            assert await aio.get("Gain") == 5
        assert await aio.get("Gain") == 2.5

    asyncio.run(main())
    # The threads end too.
    wait_until(lambda: not threads())


def test_interrupting_without_the_library(static_motor):
    interrupt(static_motor.pid, lambda: static_motor["Gain"] == 4)
    wait_until(lambda: static_motor["Gain"] == 2.5)


@pytest.mark.filterwarnings("ignore:.*the change lasts for this run only")
def test_a_lease_without_the_library_ends_when_it_is_cancelled(static_motor):
    async def hold():
        async with static_motor.aio.lease({"Gain": 4}):
            await asyncio.sleep(LONG)

    async def main(delay):
        task = asyncio.ensure_future(hold())
        await asyncio.sleep(delay)
        await cancelled(task)
        await until(lambda: not threads())
        assert await static_motor.aio.get("Gain") == 2.5

    for delay in (0, 0.01, 0.1, 1):
        asyncio.run(main(delay))
