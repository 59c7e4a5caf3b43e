# SPDX-License-Identifier: BSD-3-Clause
"""Samples of monitors."""

import csv
import io
import math
import struct
import subprocess
import time

import pytest

import fbtweak
from conftest import HERE, IS_LONG
from fbtweak import Change, Samples, Tweak
from fbtweak._values import FORMATS

VALUES = {
    "bool": [True, False], "int8": [-128, 127], "int16": [-32768, 5], "int32": [-(2**31), 7],
    "int64": [-(2**63), 2**53 + 1], "uint8": [0, 255], "uint16": [1, 65535], "uint32": [2, 2**32 - 1],
    "uint64": [3, 2**64 - 1], "float": [0.5, -1.5], "double": [math.pi, 1e300],
}  # fmt: skip


def made(missing=()):
    samples = Samples([Tweak(f"A/B/{kind}", kind, None, None, "") for kind in VALUES], 100)
    for row in range(2):
        frame = bytearray(8 * (len(VALUES) + 1))
        struct.pack_into("=d", frame, 0, 1000.25 + row)
        for column, (kind, values) in enumerate(VALUES.items()):
            struct.pack_into("=" + FORMATS[kind], frame, 8 * (column + 1), values[row])
        samples._add(bytes(frame), missing if row else ())
    samples.changes.append(Change("A/B/C", 1, 2.5, "override", "me", 1000.5))
    return samples


def test_all_types_are_exact():
    samples = made()
    assert len(samples) == 2 and samples.times == [1000.25, 1001.25] and samples.start == 1000.25
    for kind, values in VALUES.items():
        assert samples[kind] == values
        assert samples[f"A/B/{kind}"] == values
    with pytest.raises(fbtweak.UnknownTweak):
        samples["nothing"]


def test_numpy_and_pandas():
    numpy, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    array = made().to_numpy()
    for kind, values in VALUES.items():
        assert array[f"A/B/{kind}"].tolist() == values
    array["A/B/double"] += 1
    frame = made().to_pandas()
    assert frame.index.tolist() == [1000.25, 1001.25] and frame.index.name == "time"
    assert made().to_pandas(relative=True).index.tolist() == [0, 1]
    dated = made().to_pandas(dates=True)
    assert [str(each) for each in dated.index] == [f"1970-01-01 00:16:{second}.250000+00:00" for second in (40, 41)]
    assert dated.index.name == "time" and len(dated.resample("1min").mean()) == 1
    assert dated["A/B/double"].tolist() == frame["A/B/double"].tolist()
    with pytest.raises(ValueError, match="either relative or has dates"):
        made().to_pandas(relative=True, dates=True)
    assert frame["A/B/uint64"].tolist() == VALUES["uint64"]
    assert frame.attrs["changes"][0].new_value == 2.5
    array = made(missing=[10, 4]).to_numpy()
    assert numpy.isnan(array["A/B/double"]).tolist() == [False, True]
    frame = made(missing=[10, 4]).to_pandas()
    assert pandas.isna(frame["A/B/int64"]).tolist() == [False, True]
    assert frame["A/B/int64"].iloc[0] == -(2**63)
    empty = Samples([Tweak("A/B/C", "double", None, None, "")], 1)
    assert len(empty.to_pandas(relative=True)) == len(empty.to_pandas(dates=True)) == 0 and empty.times == []
    with pytest.raises(ValueError):
        empty.start


def test_missing_values():
    samples = made(missing=[0, 10])
    assert samples["bool"] == [True, None] and samples["double"] == [math.pi, None]
    assert samples["int8"] == VALUES["int8"]


def test_csv(tmp_path):
    text = io.StringIO()
    made(missing=[0]).to_csv(text)
    rows = list(csv.reader(io.StringIO(text.getvalue())))
    assert rows[0] == ["time", *(f"A/B/{kind}" for kind in VALUES), "mark"]
    assert rows[1][:3] == ["1000.250000", "1", "-128"] and rows[1][11] == "3.141592653589793"
    assert rows[2] == ["1000.500000", *[""] * 11, "A/B/C: 1 → 2.5 (override)"]
    assert rows[3][:3] == ["1001.250000", "", "127"]
    made().to_csv(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text().count("\n") == 4


def test_csv_has_no_formulas():
    text = io.StringIO()
    samples = Samples([Tweak(f"{each}1+2/B/C", "double", None, None, "") for each in "=+-@x"], 1)
    samples._add(struct.pack("=6d", 1000, -1, 2, 3, 4, 5))
    samples.changes.append(Change("=1/B/C", 1, 2, "override", "", 1000))
    samples.to_csv(text)
    names, row, mark = csv.reader(io.StringIO(text.getvalue()))
    assert [each[:2] for each in names[1:-1]] == ["'=", "'+", "'-", "'@", "x1"]
    assert row[1] == "-1" and mark[-1].startswith("'=1/B/C")


def test_a_late_sample_is_kept_and_later_ones_go():
    def shortened(*times):
        samples = Samples([Tweak("A/B/C", "double", None, None, "")], 500)
        samples._add(b"".join(struct.pack("=2d", time, 1) for time in times))
        samples._shorten(4)
        return samples.times

    # The program takes a sample up to 20 ms late, and the next ones at once.
    for late in (0, 0.001, 0.005, 0.0195):
        assert shortened(7, 7.002, 7.004, 7.006 + late) == [7, 7.002, 7.004, 7.006 + late]
    assert shortened(7, 7.002, 7.019, 7.019, 7.019) == [7, 7.002, 7.019, 7.019]
    # Those at 7.004 and 7.006 were skipped.
    assert shortened(7, 7.002, 7.028) == [7, 7.002]
    assert shortened() == []


def test_sampling_a_program(motor):
    begin = time.time()
    samples = motor.sample("State/*", "Gain", rate=500, seconds=0.4)
    assert samples.names == (
        "Motor/State/Speed", "Motor/State/Error", "Motor/State/Turns", "Motor/State/Mode", "Motor/Control/Gain")  # fmt: skip
    assert len(samples) <= 200 <= len(samples) + samples.skipped and samples.dropped == 0
    assert samples.units[0] == "rpm"
    assert samples["Gain"][0] == 2.5 and isinstance(samples["Turns"][0], int)
    assert samples.changes == []
    assert begin - 1 < samples.start < time.time() + 1
    steps = [later - sooner for sooner, later in zip(samples.times, samples.times[1:])]
    assert all(step > 0 for step in steps)


def test_all_monitors_are_the_default(motor):
    assert "Motor/State/Speed" in motor.sample(seconds=0.05).names


def test_changes_while_sampling(motor):
    with motor.sampling("Speed", "Gain", rate=1000) as sampling:
        time.sleep(1)
        motor["Gain"] = 5
        motor["Enabled"] = False
        time.sleep(1)
    samples = sampling.samples
    assert [each.name for each in samples.changes] == ["Motor/Control/Gain", "Motor/Control/Enabled"]
    change = samples.changes[0]
    assert isinstance(change.new_value, float)
    before = [value for when, value in zip(samples.times, samples["Gain"]) if when < change.time - 0.5]
    after = [value for when, value in zip(samples.times, samples["Gain"]) if when > change.time + 0.5]
    assert set(before) == {2.5} and set(after) == {5.0}
    samples = motor.sample("Gain", rate=100, seconds=1, during=lambda: motor.set({"Gain": 6}))
    assert [each.new_value for each in samples.changes] == [6.0]


def test_what_cannot_be_sampled(motor):
    with pytest.raises(fbtweak.Refused, match="Motor/Types/Label: a tweak of type string cannot be sampled"):
        motor.sample("Label")
    assert "Motor/Types/Label" not in motor.sample("Types/*", seconds=0.02).names
    with pytest.raises(fbtweak.TweaksError, match="rate"):
        motor.sample("Speed", rate=5000)


def test_the_program_ends_while_it_is_sampled(motor):
    samples = motor.sample("Speed", rate=100, seconds=30, during=lambda: motor.run("Stop"))
    assert len(samples) < 3000


def test_an_error_ends_the_sampling(motor):
    for _ in range(6):
        # At most four for each client, and each has a connection of its own.
        with pytest.raises(RuntimeError), motor.sampling("Speed"):
            raise RuntimeError


def test_it_is_what_the_command_writes(motor, tmp_path):
    pandas = pytest.importorskip("pandas")
    motor["Enabled"] = False
    path = tmp_path / "command.csv"
    subprocess.run(
        ["tweak", "watch", str(motor.pid), "Speed", "Count", "Serial", "Flag", "--rate", "200", "--duration", "0.3",
         "--format", "csv", "-o", path], check=True)  # fmt: skip
    commands = pandas.read_csv(path, float_precision="round_trip")
    samples = motor.sample("State/Speed", "Types/Count", "Types/Serial", "Types/Flag", rate=200, seconds=0.2)
    samples.to_csv(tmp_path / "ours.csv")
    ours = pandas.read_csv(tmp_path / "ours.csv", float_precision="round_trip")
    assert list(ours.columns)[0] == "time" and list(ours.columns)[-1] == "mark"
    assert ours["Motor/State/Speed"].iloc[0] == commands.filter(like="Speed").iloc[0, 0]
    frame = samples.to_pandas()
    assert frame["Motor/State/Speed"].tolist() == ours["Motor/State/Speed"].tolist()
    assert frame["Motor/Types/Serial"].iloc[0] == 2**53 + 1


def test_a_thousand_monitors_without_loss(build, start, surroundings):
    monitors = surroundings / "monitors.h"
    monitors.write_text(
        "".join(f'FBTweakMonitor("Crowd", "State", "{each}", value + {each});\n' for each in range(1000)))  # fmt: skip
    path = build("crowd", HERE / "crowd.c", flags=[f'-DMONITORS="{monitors}"'])
    with fbtweak.connect(start(path).pid, wait=60) as program:
        seconds = 10 if IS_LONG else 1
        samples = program.sample(rate=500, seconds=seconds)
        assert len(samples.names) == 1000
        assert samples.dropped == 0
        assert len(samples) <= 500 * seconds <= len(samples) + samples.skipped
        # The program goes on while a row is read, so the values of a row are between those of its neighbours.
        first, last = (list(samples[f"State/{each}"]) for each in (0, 999))
        assert all(earlier - 1 <= value - 999 for earlier, value in zip(first, last[1:]))
        assert all(value - 999 <= later for value, later in zip(last, first[1:]))
