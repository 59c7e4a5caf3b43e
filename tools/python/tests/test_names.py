# SPDX-License-Identifier: BSD-3-Clause
"""Names are those of the command."""

import subprocess

import pytest

from fbtweak import TweaksError, UnknownTweak
from fbtweak._names import Key, parse, resolve, select

KEYS = [
    Key(*each)
    for each in [
        ("Test", "Values", "Frame count"), ("Test", "Values", "Count"), ("Test", "Values", "count"),
        ("Test", "Values", "COUNT/2"), ("Test", "Values", "Größe"), ("Test", "Values", "Frame rate"),
        ("Test", "Values", "Speed"), ("Test", "Values", "Ink color"), ("Features", "instant-search", "enabled"),
        ("Motor", "Control", "Gain"), ("Motor", "Control", "Damping"), ("Motor", "State", "Speed of it"),
    ]
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("Test/Values/Count", 1), ("Values/Count", 1), ("Count", 1), ("count", 2), ("frame count", 0),
        ("COUNT%2F2", 3), ("count%2f2", 3), ("Frame c", 0), ("rate", 5), ("T/V/rate", 5), ("test/values/SPEED", 6),
        ("Val/Sp", 6), ("ues/eed", 6), ("größe", 4), ("ink colour", 7), ("Colour", 7), ("instant", 8),
        ("Features/instant-search", 8), ("instant-search/enabled", 8), ("Control/Gain", 9), ("gain", 9),
    ],
)  # fmt: skip
def test_a_clear_name(name, index):
    assert resolve(name, KEYS) == KEYS[index]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Frame", "Frame: 2 tweaks match; give more of the name\n  Test/Values/Frame count\n"
         "  Test/Values/Frame rate"),
        ("Sped", "Sped: no such tweak; did you mean Test/Values/Speed?"),
        ("Values/Sped", "Values/Sped: no such tweak; did you mean Test/Values/Speed?"),
        ("nosuch", "nosuch: no such tweak; tweak list shows all"),
        ("Test.Values.Speed", "Test.Values.Speed: the levels of a name have slashes between them; write "
         "Test/Values/Speed"),
        ("Control", "Control: it is 2 tweaks; name one\n  Motor/Control/Gain\n  Motor/Control/Damping"),
    ],
)  # fmt: skip
def test_another_is_an_error(name, message):
    with pytest.raises(UnknownTweak) as error:
        resolve(name, KEYS)
    assert str(error.value) == message


@pytest.mark.parametrize("name", ["A/Test/Values/Speed", "Spe%ed", "Values/%zz"])
def test_what_cannot_be_a_name(name):
    with pytest.raises(TweaksError, match="a tweak is named Category/Collection/Name"):
        parse(name)


@pytest.mark.parametrize(
    ("pattern", "indices"),
    [
        ("Motor/*", [9, 10, 11]), ("Control/*", [9, 10]), ("control/*", [9, 10]), ("*/Control/*", [9, 10]),
        ("Control/", [9, 10]), ("Motor/Control/", [9, 10]), ("Motor/", [9, 10, 11]), ("State/*", [11]), ("Gain", [9]),
        ("[GD]a*", [9, 10]), ("[!D]ain", [9]), ("Values/?ount", [1, 2]), ("Values/[a-z]ount", [2]),
        (r"Values/\Count*", [1]), ("Count*", [1]), ("*", range(12)),
    ],
)  # fmt: skip
def test_patterns_and_groups(pattern, indices):
    assert select(pattern, KEYS) == [KEYS[index] for index in indices]


def test_unknown_patterns_and_groups():
    with pytest.raises(UnknownTweak, match=r"Nothing/\*: no such tweaks"):
        select("Nothing/*", KEYS)
    with pytest.raises(UnknownTweak, match="Contrl/: no such tweaks; did you mean Control/?"):
        select("Contrl/", KEYS)


NAMES = [
    "Motor/Control/Gain", "Gain", "gain", "Control/gain", "ain", "Spe", "Speed", "Err", "Control", "Contrl/Gain", "Gian",
    "Motor.Control.Gain", "State/Speed", "100%25 = all", "100", "", "/", "//", "M/C/G", "M/C/D", "Mode", "State/Mode",
    "copies/byte", "Byte", "nosuch", "Types/Lamp", "Odd%2Fnames/100%25 = all", "a%zz", "a/b/c/d", "t", "Targets",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_the_command_means_the_same(name, motor_path, shared_motor):
    done = subprocess.run(
        ["tweak", "explain", str(shared_motor.pid), name, "--format", "json"], capture_output=True, text=True)  # fmt: skip
    try:
        found = shared_motor.tweak(name).name
    except TweaksError as error:
        assert done.returncode != 0
        ours, commands = str(error), done.stderr
        if "it is 0 tweaks" not in commands:
            assert f"tweak: {ours}\n" == commands
    else:
        assert f'"tweak" : "{found}"' in done.stdout.replace("\\/", "/"), done.stderr


@pytest.fixture(scope="module")
def shared_motor(motor_path):
    import fbtweak

    process = subprocess.Popen([motor_path], stdout=subprocess.DEVNULL)
    with fbtweak.connect(process.pid, wait=30) as program:
        yield program
    process.kill()
    process.wait()
