# SPDX-License-Identifier: BSD-3-Clause
"""Programs with tweaks for the tests, in an environment of their own."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

import fbtweak

pytest_plugins = ["pytester"]

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE.parents[2]
INSTALLED = pathlib.Path(os.environ.get("TWEAKS_INSTALLED") or PACKAGE / ".build/installed").resolve()
IS_LONG = bool(os.environ.get("TWEAKS_LONG"))


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not after {seconds} s"
        time.sleep(0.01)


def stop(pid):
    """Stops a program and each of its threads, which have stopped when this returns."""
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: all(state(each) == "T" for each in pathlib.Path(f"/proc/{pid}/task").iterdir()))


def state(task):
    """The letter for what a thread does, by its folder in /proc; see proc(5)."""
    return (task / "stat").read_text().rpartition(")")[2].split()[0]


@pytest.fixture(scope="session", autouse=True)
def surroundings():
    """A home and a runtime folder without other programs. Socket paths are short, so it is directly in /tmp."""
    folder = tempfile.mkdtemp(prefix="fbtweak-", dir="/tmp")
    kept = dict(os.environ)
    os.environ.update(
        HOME=folder,
        XDG_CONFIG_HOME=f"{folder}/.config",
        XDG_RUNTIME_DIR=folder,
        PATH=f"{INSTALLED}/bin:{os.environ['PATH']}",
        LD_LIBRARY_PATH=f"{INSTALLED}/lib",
    )
    yield pathlib.Path(folder)
    os.environ.clear()
    os.environ.update(kept)
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def build(surroundings):
    """Compiles a program, once."""
    built = {}

    def build(name, *sources, compiler="gcc", flags=(), has_library=True):
        if name not in built:
            program = surroundings / "bin" / name
            program.parent.mkdir(exist_ok=True)
            library = ["-Wl,--no-as-needed", f"-L{INSTALLED}/lib", "-ltweaks"] if has_library else []
            subprocess.run(
                [compiler, "-O1", "-DDEBUG", f"-I{PACKAGE}/CSupport/include", *flags, *map(str, sources),
                 "-o", program, *library, "-lm"],
                check=True)  # fmt: skip
            built[name] = program
        return built[name]

    return build


@pytest.fixture(scope="session")
def motor_path(build):
    return build("motor", HERE / "motor.c")


@pytest.fixture
def start(surroundings):
    """Starts programs that end with the test; the home is shared, and emptied."""
    processes = []

    def start(path, *arguments, **options):
        process = subprocess.Popen([path, *arguments], stdout=subprocess.DEVNULL, **options)
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.wait()
    shutil.rmtree(surroundings / ".config", ignore_errors=True)


@pytest.fixture
def motor(start, motor_path):
    """A running motor."""
    process = start(motor_path)
    with fbtweak.connect(process.pid, wait=60) as program:
        yield program


@pytest.fixture(scope="session")
def static_motor_path(build):
    """A program without the library."""
    return build("static-motor", HERE / "motor.c", flags=["-static"], has_library=False)
