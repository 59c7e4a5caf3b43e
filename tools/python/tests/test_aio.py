# SPDX-License-Identifier: BSD-3-Clause
"""Programs in asyncio."""

import asyncio

import fbtweak


def test_requests(motor):
    async def main():
        aio = motor.aio
        await aio.set({"Gain": 3})
        assert await aio.get("Gain") == 3
        await aio.mark("here")
        async with aio.lease({"Gain": 4, "Damping": 0.5}) as lease:
            assert (await aio.values("Gain"))["Motor/Control/Gain"] == 4
            assert lease is not None
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
