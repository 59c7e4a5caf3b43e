# SPDX-License-Identifier: BSD-3-Clause
"""A program with the library."""

import copy
import csv
import dataclasses
import enum
import itertools
import json
import operator
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings

import pytest

import fbtweak
from conftest import IS_LONG, stop, wait_until
from fbtweak._live import change_request
from fbtweak._values import read_tweak


def tweak(*arguments):
    return subprocess.run(["tweak", *map(str, arguments)], capture_output=True, text=True, check=True).stdout.strip()


def test_reading(motor):
    assert motor.has_library
    assert motor.title == f"motor ({motor.pid})"
    assert motor["Control/Gain"] == 2.5
    assert motor["gain"] == 2.5 and isinstance(motor["Target"], float)
    assert motor["Enabled"] is True
    assert motor["Serial"] == 2**53 + 1
    assert motor["Types/Label"] == "left"
    assert motor["Lamp"] == "#3366cc"
    assert motor["Odd%2Fnames/100%25 = all"] == 1.5
    assert "Gain" in motor and "Nothing" not in motor and 3 not in motor
    assert "Motor/Control/Gain" in list(motor)
    assert motor.values("Control/*")["Motor/Control/Damping"] == 0.1
    assert "Motor/Control/Stop" not in motor.values()


def test_declarations(motor):
    gain = motor.tweak("Gain")
    assert (gain.name, gain.type, gain.default) == ("Motor/Control/Gain", "double", 2.5)
    assert (gain.minimum, gain.maximum, gain.unit, gain.source) == (0, 50, "1/s", "default")
    assert gain.is_settable and gain.can_be_sampled and not gain.is_monitor
    assert gain.location is not None and "motor.c:" in gain.location
    mode = motor.tweak("Control/Mode")
    assert mode.choices == tuple(map(fbtweak.Choice, (0, 1, 2), ("off", "slow", "fast")))
    assert motor.tweak("State/Speed").is_monitor and not motor.tweak("State/Speed").is_settable
    assert motor.tweak("Damping").scale == "log"
    assert motor.tweak("Kept").needs_restart and motor.tweak("Fixed").is_read_only
    assert not motor.tweak("Stop").is_settable
    assert motor.tweak("Short").pair == "Count"
    assert (motor.tweak("Fixed").owner, motor.tweak("Fixed").expires) == ("motors", "2099-12-31")


def test_every_option_is_there(motor_path):
    dump = subprocess.run(["tweak-dump", "--format", "csv", motor_path], capture_output=True, text=True, check=True)
    columns = set(next(csv.reader(dump.stdout.splitlines()))) - {"path", "category", "collection", "kind"}
    names = {"readOnly": "is_read_only", "needsRestart": "needs_restart"}
    fields = {field.name: field for field in dataclasses.fields(fbtweak.Tweak)}
    assert {names.get(column, column) for column in columns} <= set(fields)
    samples = {"bool": True, "Value": 1.5, "Optional[int]": 3, "Tuple[Choice, ...]": [{"value": 1.5}]}
    members = {column: samples.get(fields[names.get(column, column)].type, "text") for column in columns}
    read = read_tweak({**members, "tweak": "A/B/C", "type": "double"})
    assert [column for column in columns if getattr(read, names.get(column, column)) in (None, False, ())] == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Gain", 4), ("Gain", 0.1), ("Byte", 255), ("Short", -1000), ("Count", 7), ("Types/Serial", 2**64 - 1),
        ("Types/Float", 0.5), ("Enabled", False), ("Lamp", "#112233"), ("Label", "röchts \"%/\\\n"), ("Label", "toggle"),
        ("Control/Mode", 2), ("Odd%2Fnames/100%25 = all", 2.5),
    ],
)  # fmt: skip
def test_setting(motor, name, value):
    motor[name] = value
    assert motor[name] == value
    assert motor.tweak(name).source == "override"
    del motor[name]
    assert motor.tweak(name).source == "default"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("Gain", "+=10%", 2.75), ("Gain", "max/2", 25), ("Enabled", "toggle", False), ("Control/Mode", "fast", 2),
        ("Lamp", "teal", "#008080"), ("Count", "0x10", 16),
    ],
)  # fmt: skip
def test_texts_are_expressions(motor, name, text, value):
    motor[name] = text
    assert motor[name] == value


def test_labels(motor):
    assert (motor["Control/Mode"], motor.tweak("Control/Mode").label) == (1, "slow")
    motor["Control/Mode"] = "fast"
    assert motor["Control/Mode"] == "fast" == motor.tweak("Control/Mode").label
    assert motor["Control/Mode"] != "slow" and motor["Control/Mode"] == 2
    assert motor.tweak("Gain").label is None


def test_values_with_labels_are_read_everywhere(motor):
    tweak = motor.tweak("Control/Mode")
    assert tweak.value == tweak.default == tweak.lasting_value == "slow" and tweak.choices[2].value == 2
    assert motor.values("Control/Mode")["Motor/Control/Mode"] == "slow"
    with motor.changes("Control/Mode", seconds=10) as changes:
        motor["Control/Mode"] = motor["Control/Mode"] + 1
        change = next(changes)
    assert (change.old_value, change.new_value) == ("slow", "fast")
    assert motor.log()[-1].new_value == "fast"
    assert motor.undo() == {"Motor/Control/Mode": ("fast", "slow")}
    with motor.lease({"Control/Mode": change.new_value}):
        assert motor.wait_for("Control/Mode", lambda mode: mode == "fast").label == "fast"
    run = motor.sample("Control/Mode", seconds=0.05)
    assert set(run["Control/Mode"]) == {1}
    assert len({tweak, motor.tweak("Control/Mode")}) == 1
    assert {change: 1}[change] == 1


def test_a_value_with_a_label_is_a_number_and_a_text(motor):
    numpy, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    motor["Control/Mode"] = "fast"
    mode = motor["Control/Mode"]
    assert isinstance(mode, fbtweak.LabelledInt) and isinstance(mode, int)
    assert (repr(mode), str(mode), f"{mode} {mode:>5} {mode:d}", json.dumps(mode)) == (
        "<Mode.fast: 2>", "fast", "fast  fast 2", "2",
    )  # fmt: skip
    assert mode in ("slow", "fast") and mode not in ("slow", "off") and "fast" == mode
    assert type(mode + 1) is int and mode > 1 and "abc"[mode] == "c"
    for copied in (pickle.loads(pickle.dumps(mode)), copy.deepcopy(mode), motor.values("Control/Mode").popitem()[1]):
        assert copied == "fast" and copied == 2 and repr(copied) == repr(mode)
    assert numpy.array([mode]).dtype == int and list(numpy.array([1, 2]) == mode) == [False, True]
    frame = pandas.DataFrame([motor.values("Control/Mode")])
    assert frame["Motor/Control/Mode"].dtype == int and list(frame["Motor/Control/Mode"] == mode) == [True]
    # Its label and its number have different hashes, so this would be false.
    for body in (lambda: mode in {"slow", "fast"}, lambda: {2: "b"}[mode]):
        with pytest.raises(TypeError, match=r"Motor/Control/Mode: <Mode.fast: 2> .* has no hash; use its \.label or int"):
            body()


@pytest.mark.parametrize(
    "text, hint", [("fsat", "did you mean fast?"), ("Slow", "did you mean slow?"), ("2", "allowed: off, slow, fast")]
)
def test_a_comparison_with_a_label_that_does_not_exist_warns(motor, text, hint):
    mode = motor["Control/Mode"]
    for compare, result in ((operator.eq, False), (operator.ne, True)):
        with pytest.warns(fbtweak.UnknownLabel) as caught:
            assert compare(mode, text) is result
        assert str(caught[0].message) == f"Motor/Control/Mode: no choice has the label '{text}'; {hint}"
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mode != "off" and mode == "slow" and mode is not None and mode != 7


def test_an_integer_without_a_label_among_choices_with_labels():
    choices = (fbtweak.Choice(1, "one"), fbtweak.Choice(3))
    three = fbtweak.LabelledInt(3, "A/B/C", choices)
    assert (repr(three), str(three), three.label) == ("<C: 3>", "3", None)
    assert three == 3 and three != "one"


def test_a_program_is_not_pickled(motor):
    for copy_of in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be copied or pickled; call fbtweak.connect in the other process"):
            copy_of(motor)
    assert pickle.loads(pickle.dumps(motor.tweak("Gain"))) == motor.tweak("Gain")


def test_values_of_other_types(motor):
    class Level(enum.IntEnum):
        HIGH = 9

    motor["Count"] = Level.HIGH
    assert motor["Count"] == 9
    numpy = pytest.importorskip("numpy")
    motor["Gain"] = numpy.float32(0.5)
    motor.set({"Count": numpy.int64(3), "Enabled": numpy.bool_(False)})
    assert (motor["Gain"], motor["Count"], motor["Enabled"]) == (0.5, 3, False)
    for value in ([1], None, {}, object()):
        with pytest.raises(TypeError):
            motor["Gain"] = value


def test_several_at_once(motor):
    motor.set({"Gain": 3, "Damping": 0.5, "Label": "both"})
    assert motor.values("Gain", "Damping", "Label") == {
        "Motor/Control/Gain": 3, "Motor/Control/Damping": 0.5, "Motor/Types/Label": "both"}  # fmt: skip
    assert len({each.number for each in motor.log()}) == 1
    with pytest.raises(fbtweak.Refused, match="nothing was set:\n  Motor/Types/Count: 1.5 is not an int32"):
        motor.set({"Gain": 1, "Count": 1.5})
    assert motor["Gain"] == 3
    motor.reset()
    assert motor["Gain"] == 2.5


def test_many_changes_one_after_the_other(motor):
    last = motor.log()
    assert motor.set_each({"Count": each % 100, "Gain": each % 40} for each in range(200)) == 200
    assert (motor["Count"], motor["Gain"]) == (99, 39)
    assert motor.set_each({"Count": each % 100} for each in range(500)) == 500
    log = [each.new_value for each in motor.log() if each.name == "Motor/Types/Count"]
    assert last == [] and log[-150:] == [each % 100 for each in range(350, 500)]
    with pytest.warns(fbtweak.Clamped, match="Count: 300 is outside"):
        motor.set_each([{"Count": 300}, {"Count": 3}])
    with pytest.raises(fbtweak.Refused, match='"many" is not an int32'):
        motor.set_each([{"Count": 3}, {"Count": "many"}, {"Gain": 2}])
    assert motor["Count"] == 3 and motor.set_each([]) == 0


def test_refused_values(motor):
    with pytest.raises(ValueError, match="Motor/Types/Count: 1.5 is not an int32; allowed: an integer from 0 to 100"):
        motor["Count"] = 1.5
    with pytest.raises(fbtweak.Refused, match='"abc" is not a double'):
        motor["Gain"] = "abc"
    with pytest.raises(fbtweak.Refused, match="is not finite|is not a double"):
        motor["Gain"] = float("nan")
    with pytest.raises(fbtweak.Refused, match="among the choices"):
        motor["Control/Mode"] = 7
    with pytest.raises(fbtweak.Refused, match="a monitor is stored by the program and cannot be set"):
        motor["State/Speed"] = 7
    with pytest.raises(fbtweak.Refused, match="read-only"):
        motor["Fixed"] = 8
    with pytest.raises(fbtweak.Refused, match="an action has no value"):
        motor["Stop"]
    with pytest.raises(LookupError, match=r"Gian: no such tweak; did you mean Motor/Control/Gain\?"):
        motor["Gian"] = 1
    with pytest.raises(fbtweak.Refused):
        del motor["State/Speed"]


def test_clamped_values_warn(motor):
    message = "Motor/Control/Gain: 1000 is outside the limits; allowed: a number from 0.0 to 50.0"
    with pytest.warns(fbtweak.Clamped, match=message) as caught:
        motor["Gain"] = 1000
    assert caught[0].filename == __file__
    assert motor["Gain"] == 50
    with pytest.warns(fbtweak.Clamped, match="Motor/Types/Count: -1 is outside"):
        motor.set({"Gain": 3, "Count": -1})
    with pytest.warns(fbtweak.Clamped), motor.lease({"Count": 101}):
        assert motor["Count"] == 100


def test_hidden_values_warn(motor):
    with motor.lease({"Gain": 4}):
        with pytest.warns(fbtweak.Hidden, match="the value is kept, but lease takes precedence with 4.0"):
            motor["Gain"] = 3
        assert motor["Gain"] == 4
    assert motor["Gain"] == 3
    with motor.lease({"Gain": 4}):
        with pytest.warns(fbtweak.Hidden, match="Motor/Control/Gain: lease takes precedence with 4"):
            del motor["Gain"]
        with pytest.warns(fbtweak.Hidden, match="Motor/Control/Gain: lease takes precedence with 4"):
            motor.undo()
    assert motor["Gain"] == 3
    # One that waits for a restart is not hidden.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motor["Kept"] = 2
    assert motor.tweak("Kept").pending_value == 2


def test_leases(motor):
    motor["Gain"] = 3
    with motor.lease({"Gain": 4, "Damping": 0.2}) as lease:
        assert (motor["Gain"], motor["Damping"]) == (4, 0.2)
        assert motor.tweak("Gain").lasting_value == 3
        assert f" {os.getpid()} " in motor.tweak("Gain").leased_by
        lease["Gain"] = 5
        with motor.lease({"Gain": 6}):
            assert motor["Gain"] == 6
        assert motor["Gain"] == 5
    assert (motor["Gain"], motor["Damping"]) == (3, 0.1)
    lease.end()
    with pytest.raises(fbtweak.LeaseLost):
        lease["Gain"] = 1
    with pytest.raises(RuntimeError), motor.lease({"Gain": 4}):
        raise RuntimeError
    assert motor["Gain"] == 3
    with pytest.raises(fbtweak.Refused):
        motor.lease({"Gain": 4, "Count": "many"})
    assert motor["Gain"] == 3


def test_a_lease_with_a_time(motor):
    with motor.lease({"Gain": 4}, seconds=0.2):
        motor.wait_for("Gain", lambda gain: gain == 2.5)
    assert [(each.old_value, each.new_value) for each in motor.log()] == [(2.5, 4), (4, 2.5)]


def test_a_forgotten_lease_ends(motor):
    lease = motor.lease({"Gain": 4})
    del lease
    motor.wait_for("Gain", lambda gain: gain == 2.5)


def test_a_ramp(motor):
    motor.set({"Target": 200.0}, ramp=60)
    assert motor["Target"] < 200
    motor.set({"Target": 200.0}, ramp=0.2)
    motor.wait_for("Target", lambda target: target == 200)


@pytest.mark.parametrize("number", range(200 if IS_LONG else 5))
def test_a_lease_does_not_outlast_its_process(motor, number):
    code = f"""
import fbtweak, time
lease = fbtweak.connect({motor.pid}).lease({{"Gain": 4, "Damping": 0.5}})
print("leased", flush=True)
time.sleep(60)
"""
    holder = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"leased\n"
    assert motor["Gain"] == 4
    holder.kill()
    holder.wait()
    motor.wait_for("Gain", lambda gain: gain == 2.5)
    assert motor["Damping"] == 0.1


def test_actions(motor):
    motor.run("Wait")
    with pytest.raises(fbtweak.Refused, match="it cannot be run: it is not an action"):
        motor.run("Gain")
    motor.run("Control/Stop")


def test_several_threads(motor):
    motor["Count"] = 0
    problems = []

    def work(number):
        try:
            for index in range(100):
                motor["Count"] = index % 50
                assert 0 <= motor["Count"] < 50
                if index % 20 == 0:
                    with motor.lease({"Gain": number}):
                        motor.values("Control/*")
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(each,)) for each in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert problems == []
    assert motor["Gain"] == 2.5


def test_a_running_action_does_not_block_other_threads(motor):
    motor["Held"] = True
    thread = threading.Thread(target=motor.run, args=("Wait",))
    thread.start()
    motor["Gain"] = 3
    time.sleep(0.05)
    assert thread.is_alive()
    motor["Held"] = False
    thread.join()


def test_a_forked_child_has_its_own_connection(motor):
    with motor.lease({"Gain": 4}):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                status = 0 if motor["Gain"] == 4 else 2
            except fbtweak.LeaseLost:
                # Its parent holds the lease.
                status = 3
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert motor["Gain"] == 4
    assert motor["Gain"] == 2.5


def test_changes(motor):
    begin = time.time()
    with motor.changes("Control/*", seconds=60) as changes:
        motor["Count"] = 1
        motor["Gain"] = 3
        change = next(changes)
    assert (change.name, change.old_value, change.new_value) == ("Motor/Control/Gain", 2.5, 3.0)
    assert change.source == "override" and f" {os.getpid()} " in change.by
    assert begin - 1 < change.time < time.time() + 1
    assert list(motor.changes(seconds=0.05)) == []


def test_changes_end_with_the_program(motor):
    changes = motor.changes()
    motor.run("Stop")
    assert list(changes) == []


def test_changes_can_be_closed_by_another_thread(motor):
    changes = motor.changes()
    threading.Timer(0.1, changes.close).start()
    assert list(changes) == []


def test_history(motor):
    motor["Gain"] = 3
    motor.mark("calm")
    motor.set({"Gain": 4, "Damping": 0.5})
    log = motor.log()
    assert sorted(each.name for each in log) == ["Motor/Control/Damping", "Motor/Control/Gain", "Motor/Control/Gain"]
    assert log[0].number == 1 and isinstance(log[0].new_value, float)
    assert [each.name for each in motor.marks()] == ["calm"]
    assert motor.log(since=log[-1].number) == []
    assert motor.undo()["Motor/Control/Gain"] == (4, 3)
    assert (motor["Gain"], motor["Damping"]) == (3, 0.1)
    motor.undo(motor.log()[-1].number)
    assert motor["Gain"] == 4
    assert motor.revert("calm")["Motor/Control/Damping"] == (0.5, 0.1)
    motor.revert()
    assert motor["Gain"] == 2.5
    with pytest.raises(fbtweak.Refused):
        motor.undo(99)


def test_presets(motor):
    motor["Gain"] = 3
    motor.presets.save("Quick and/or dirty")
    assert motor.presets.names() == ["Quick and/or dirty"]
    motor["Gain"] = 4
    assert motor.presets.differences("Quick and/or dirty") == {"Motor/Control/Gain": (4, 3)}
    motor["Count"] = 6
    motor.presets.load("Quick and/or dirty", reset_others=True)
    assert (motor["Gain"], motor["Count"]) == (3, 5)
    motor["Count"] = 6
    motor.presets.save("Quick and/or dirty")
    del motor["Count"]
    with pytest.raises(fbtweak.TweaksError, match="a value that would be lost"):
        motor.presets.save("Quick and/or dirty")
    motor.presets.save("Quick and/or dirty", replace=True)
    motor.presets.remove("Quick and/or dirty")
    assert motor.presets.names() == []
    with pytest.raises(fbtweak.Unavailable, match="no such preset"):
        motor.presets.load("none")


def test_a_broken_overrides_file_is_a_warning(motor, surroundings):
    motor["Gain"] = 3
    [file] = surroundings.glob(".config/tweaks/*/overrides.json")
    file.write_text("{")
    counts = itertools.cycle((6, 7))
    with pytest.warns(fbtweak.TweaksWarning, match="it is now ") as warned:

        def has_warned():
            motor["Count"] = next(counts)
            return bool(warned)

        # The answer that follows the next write.
        wait_until(has_warned)
    motor["Count"] = 8
    kept = {"Motor": {"Control": {"Gain": 3}, "Types": {"Count": 8}}}
    wait_until(lambda: json.loads(file.read_text()) == kept)


def test_the_command_sees_the_same(motor):
    motor["Gain"] = 3.25
    assert tweak("get", motor.pid, "Gain") == "3.25"
    tweak("set", motor.pid, "Gain", "1.5")
    assert motor["Gain"] == 1.5


# MARK: Finding programs


def test_a_program_by_name_and_path(motor, motor_path):
    for target in ["motor", str(motor_path), motor_path, str(motor.pid)]:
        with fbtweak.connect(target) as program:
            assert program.pid == motor.pid and program.has_library
    assert motor.pid in [each["pid"] for each in fbtweak.programs()]


def test_several_processes(motor, start, motor_path):
    start(motor_path)
    with pytest.raises(fbtweak.TweaksError, match=r"motor: 2 processes are running; give the id of one.*\n  motor \("):
        wait_until(lambda: fbtweak.connect("motor") is None)


def test_a_program_that_does_not_exist():
    with pytest.raises(fbtweak.Unavailable, match="no such process"):
        fbtweak.connect(2**22 + 1)
    with pytest.raises(fbtweak.TweaksError, match="nosuchprogram: no program of this name is running"):
        fbtweak.connect("nosuchprogram")
    with pytest.raises(fbtweak.Unavailable, match="nocommand: the command cannot be executed"):
        fbtweak.connect("motor", command="nocommand")


def test_waiting_for_a_program(start, motor_path):
    threading.Timer(0.3, start, (motor_path,)).start()
    with fbtweak.connect(motor_path, wait=10) as program:
        assert program.has_library
    with pytest.raises(fbtweak.Unavailable):
        fbtweak.connect("nosuchprogram", wait=0.1)


def test_no_command_is_needed_by_process_id(motor):
    with fbtweak.connect(motor.pid, command="nocommand") as program:
        program["Gain"] = 4
        assert program["Gain"] == 4


# MARK: Programs that end


def restarted(start, motor_path, process):
    process.send_signal(signal.SIGKILL)
    process.wait()
    return start(motor_path)


def test_a_program_that_was_started_again(start, motor_path):
    first = start(motor_path)
    with fbtweak.connect("motor", wait=60) as program:
        program["Gain"] = 3
        pid = program.pid
        second = restarted(start, motor_path, first)
        assert program["Gain"] == 3
        assert program.pid == second.pid != pid
        third = restarted(start, motor_path, second)
        program["Gain"] = 4
        with program.lease({"Gain": 5}):
            assert program["Gain"] == 5
        assert program["Gain"] == 4 and program.title == f"motor ({third.pid})"


def test_a_restart_during_a_lease(start, motor_path):
    process = start(motor_path)
    with fbtweak.connect("motor", wait=60) as program:
        with pytest.raises(fbtweak.LeaseLost, match="it ended while values were leased, so they no longer apply"):
            with program.lease({"Gain": 4}):
                process = restarted(start, motor_path, process)
                program["Gain"]
        assert program["Gain"] == 2.5
        with pytest.raises(fbtweak.LeaseLost):
            with program.lease({"Gain": 4}):
                process = restarted(start, motor_path, process)
        assert program["Gain"] == 2.5
        with pytest.raises(fbtweak.LeaseLost):
            with program.lease({"Gain": 4}) as lease:
                process = restarted(start, motor_path, process)
                lease["Gain"] = 5
        # The error of the block is not replaced.
        with pytest.raises(ZeroDivisionError):
            with program.lease({"Gain": 4}):
                process = restarted(start, motor_path, process)
                1 / 0


def test_a_process_that_was_named_by_id(start, motor_path):
    process = start(motor_path)
    with fbtweak.connect(process.pid, wait=60) as program:
        restarted(start, motor_path, process)
        with pytest.raises(fbtweak.Ended, match="the process has ended"):
            program["Gain"]


def test_a_program_that_was_not_started_again(start, motor_path):
    process = start(motor_path)
    fbtweak.connect("motor", wait=60).close()
    with fbtweak.connect("motor") as program:
        process.kill()
        process.wait()
        for _ in range(2):
            with pytest.raises(fbtweak.TweaksError, match="not started again|no program of this name"):
                program["Gain"]
        start(motor_path)
        fbtweak.connect("motor", wait=60).close()
        assert program["Gain"] == 2.5


def test_a_stopped_program_is_silent(motor, monkeypatch):
    from fbtweak import _protocol

    monkeypatch.setattr(_protocol, "_SILENCE", 1.0)
    with fbtweak.connect(motor.pid) as program:
        stop(motor.pid)
        with pytest.raises(TimeoutError, match="it does not answer; it may be stopped or hung"):
            program["Gain"]
        os.kill(motor.pid, signal.SIGCONT)
        assert program["Gain"] == 2.5


def test_interrupting_a_request(motor):
    def interrupt(*_):
        raise KeyboardInterrupt

    kept = signal.signal(signal.SIGALRM, interrupt)
    try:
        for index in range(50):
            with pytest.raises(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 0.0003 + index * 1e-5)
                while True:
                    motor["Count"] = index
            assert motor["Count"] <= 50 and motor["Gain"] == 2.5
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, kept)


def test_leases_and_ramps_do_not_reach_forks_with_a_warning(build, start, tmp_path):
    source = tmp_path / "workers.c"
    source.write_text(
        """
        #include <fbtweak.h>
        #include <signal.h>
        #include <sys/prctl.h>
        #include <sys/wait.h>
        #include <unistd.h>
        int main(void) {
          for (int worker = 0; worker < 2; worker++)
            if (fork() == 0) {
              prctl(PR_SET_PDEATHSIG, SIGKILL);
              for (;;)
                usleep(1000 + FBTweakValue("Pool", "Worker", "Pause", 5, 0, 100));
            }
          wait(NULL);
        }
        """
    )
    process = start(build("workers", source))
    workers = fbtweak.connect(process.pid, wait=10)
    with pytest.warns(fbtweak.TweaksWarning, match=r"its forks \(2\) do not get leased values"):
        workers.lease({"Pause": 6}).end()
    with pytest.warns(fbtweak.TweaksWarning, match=r"its forks \(2\) get the values at once"):
        workers.set({"Pause": 7}, ramp=0.01)


@pytest.mark.parametrize("terms", [{"until": "closed"}, {"for": 1}, {"ramp": 1}])
@pytest.mark.parametrize("values", [{"A/B/C": 1}, {"A/B/C": 1, "A/B/D": 2}])
def test_a_library_that_knows_no_leases_is_too_old(values, terms):
    with pytest.raises(fbtweak.TweaksError, match="too old"):
        change_request(values, {}, terms, has_change=False)
