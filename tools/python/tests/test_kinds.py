# SPDX-License-Identifier: BSD-3-Clause
"""The same script for programs in C, C++ and Swift, for a static one without the library, and for one that does not run."""

import os
import pathlib
import subprocess
import warnings

import pytest

import fbtweak
from conftest import PACKAGE, wait_until

SPRING = PACKAGE / "Tests/Programs/articles/spring.c"
EXAMPLE = os.environ.get("TWEAKS_EXAMPLE_BUILT")


def path_of(kind, build):
    if kind == "C":
        return [build("spring-c", SPRING)]
    if kind == "C++":
        return [build("spring-cxx", "-x", "c++", SPRING, "-x", "none", compiler="g++")]
    if kind == "file":
        return [build("spring-file", SPRING)]
    if kind == "static":
        return [build("spring-static", SPRING, flags=["-static"], has_library=False)]
    if EXAMPLE is None or not pathlib.Path(EXAMPLE, "spring").exists():
        pytest.skip("TWEAKS_EXAMPLE_BUILT is not the folder of a built example")
    return [pathlib.Path(EXAMPLE, "spring"), "100000"]


@pytest.mark.filterwarnings("ignore:.*the change lasts for this run only")
@pytest.mark.parametrize("kind", ["C", "C++", "Swift", "static", "file"])
def test_the_same_script(kind, build, start, surroundings):
    arguments = path_of(kind, build)
    if kind != "file":
        start(*arguments)
    with fbtweak.connect(arguments[0], wait=0 if kind == "file" else 30) as spring:
        assert spring.has_library == (kind in ("C", "C++", "Swift"))
        assert (spring.pid is None) == (kind == "file")
        assert spring["Stiffness"] == 120.0
        assert spring.tweak("Physics/Mass").maximum == 100
        assert "Spring/Physics/Mass" in spring.values("Physics/*")

        spring["Stiffness"] = 240
        assert spring["Stiffness"] == 240
        spring.set({"Stiffness": 300.5, "Mass": 2})
        assert spring.values("Stiffness", "Mass") == {"Spring/Physics/Stiffness": 300.5, "Spring/Physics/Mass": 2}
        spring["Mass"] = "*=2"
        assert spring["Mass"] == 4
        with pytest.warns(fbtweak.Clamped, match="Spring/Physics/Mass: 1000 is outside the limits; allowed: a number"):
            spring["Mass"] = 1000
        with pytest.raises(fbtweak.Refused, match='Spring/Physics/Mass: "heavy" is not a double'):
            spring["Mass"] = "heavy"
        with pytest.raises(fbtweak.UnknownTweak, match="Mess: no such tweak; did you mean Spring/Physics/Mass"):
            spring["Mess"]
        spring.presets.save("heavy")
        assert spring.presets.names() == ["heavy"]
        del spring["Mass"]
        assert spring["Mass"] == 1
        spring.presets.load("heavy")
        assert spring["Mass"] == 100
        spring.presets.remove("heavy")

        if kind == "file":
            with pytest.raises(fbtweak.Unavailable, match="it is not running"):
                spring.lease({"Mass": 2})
        else:
            with spring.lease({"Mass": 2, "Stiffness": 100}) as lease:
                assert spring.values("Stiffness", "Mass") == {"Spring/Physics/Stiffness": 100, "Spring/Physics/Mass": 2}
                lease["Mass"] = 3
                assert spring["Mass"] == 3
            assert spring.values("Stiffness", "Mass") == {"Spring/Physics/Stiffness": 300.5, "Spring/Physics/Mass": 100}
            with spring.sampling("Mass", "Stiffness", rate=200) as sampling:
                spring["Mass"] = 5
                wait_until(lambda: len(sampling.samples) and sampling.samples["Mass"][-1] == 5)
            samples = sampling.samples
            assert samples["Mass"][-1] == 5 and samples["Stiffness"] == [300.5] * len(samples)
            assert [(each.name, each.new_value) for each in samples.changes] == [("Spring/Physics/Mass", 5.0)]
        if kind in ("static", "file"):
            with pytest.raises(fbtweak.Unavailable, match="this needs the Tweaks library in the process|it is not running"):
                spring.undo()
        spring.reset()
        assert spring.values("Stiffness", "Mass") == {"Spring/Physics/Stiffness": 120, "Spring/Physics/Mass": 1}


@pytest.mark.filterwarnings("ignore:.*the change lasts for this run only")
def test_a_static_program_that_was_started_again(build, start):
    (path,) = path_of("static", build)
    process = start(path)
    with fbtweak.connect(path, wait=60) as spring:
        first = spring.pid
        process.kill()
        process.wait()
        start(path)
        assert spring["Mass"] == 1 and spring.pid != first


@pytest.mark.filterwarnings("ignore:.*the change lasts for this run only")
def test_a_lease_in_a_static_program_does_not_outlast_its_process(build, start):
    import signal
    import sys

    (path,) = path_of("static", build)
    process = start(path)
    with fbtweak.connect(path, wait=60) as spring:
        code = f"""
import fbtweak, time
lease = fbtweak.connect({process.pid}).lease({{"Mass": -4 + 8}})
print("leased", flush=True)
time.sleep(60)
"""
        holder = subprocess.Popen([sys.executable, "-W", "ignore", "-c", code], stdout=subprocess.PIPE)
        assert holder.stdout.readline() == b"leased\n"
        assert spring["Mass"] == 4
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        spring.wait_for("Mass", lambda mass: mass == 1)


def test_all_types_without_the_library(static_motor_path, start):
    start(static_motor_path)
    with fbtweak.connect("static-motor", wait=60) as motor, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, value in [
            ("Byte", 255), ("Short", -1000), ("Types/Serial", 2**64 - 1), ("Types/Float", 0.5), ("Enabled", False),
            ("Lamp", "#112233"), ("Control/Mode", 2), ("Odd%2Fnames/100%25 = all", 2.5),
        ]:  # fmt: skip
            motor[name] = value
            assert motor[name] == value
            with motor.lease({name: motor.tweak(name).default}):
                assert motor[name] == motor.tweak(name).default
            assert motor[name] == value
        samples = motor.sample("Copies/*", rate=100, seconds=1)
        assert samples["Byte now"][-1] == 255 and samples["Flag now"][-1] is True
        with motor.changes(seconds=60) as changes:
            motor["Byte"] = 7
            assert next(changes).new_value == 7
        with pytest.raises(fbtweak.TweaksError, match="library"):
            motor.run("Stop")
