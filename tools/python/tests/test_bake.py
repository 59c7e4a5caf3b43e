# SPDX-License-Identifier: BSD-3-Clause
"""Values become the defaults in sources."""

import subprocess

import pytest

import fbtweak
from conftest import INSTALLED, PACKAGE

SOURCE = """#include <fbtweak.h>
#include <unistd.h>
#define LIMIT 5

/* Caf\xe9 */
int main(void) {
  double gain = FBTweakValue("Loop", "Control", "Gain", 1.50, 0, 10);
  int limit = FBTweakValue("Loop", "Control", "Limit", LIMIT);
  const char *name = FBTweakValue("Loop", "Names", "First", "one");
  if (gain < 0 || limit < 0 || !name) return 1;
  for (;;) pause();
}
"""


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "loop.c"
    # In the bytes of an older editor.
    file.write_text(SOURCE, encoding="latin-1")
    subprocess.run(
        ["gcc", "-g", "-DDEBUG", f"-I{PACKAGE}/CSupport/include", "loop.c", "-o", "loop", "-Wl,--no-as-needed",
         f"-L{INSTALLED}/lib", "-ltweaks"], check=True)  # fmt: skip
    return file


@pytest.fixture
def loop(start, source, tmp_path):
    with fbtweak.connect(start(tmp_path / "loop").pid, wait=30) as program:
        yield program


def lines(difference):
    return [line for line in difference.splitlines() if line[:1] in "+-" and line[1:3] not in ("++", "--")]


GAIN = ['-  double gain = FBTweakValue("Loop", "Control", "Gain", 1.50, 0, 10);',
        '+  double gain = FBTweakValue("Loop", "Control", "Gain", 2.25, 0, 10);']  # fmt: skip
FIRST = ['-  const char *name = FBTweakValue("Loop", "Names", "First", "one");',
         '+  const char *name = FBTweakValue("Loop", "Names", "First", "two");']  # fmt: skip


def test_the_values_of_a_program(loop, source):
    assert loop.bake() == ""
    loop["Gain"] = 2.25
    with loop.lease({"First": "two"}):
        difference = loop.bake()
    assert difference.startswith("--- a/loop.c\n+++ b/loop.c\n") and lines(difference) == GAIN
    loop["First"] = "two"
    assert lines(loop.bake("Names/")) == FIRST and lines(loop.bake("Gain")) == GAIN
    assert source.read_text(encoding="latin-1") == SOURCE
    assert lines(loop.bake(write=True)) == [*GAIN, *FIRST]
    assert source.read_text(encoding="latin-1") == SOURCE.replace("1.50", "2.25").replace('"one"', '"two"')
    assert loop.bake(write=True) == ""


def test_the_difference_is_one_for_patch(loop, source, tmp_path):
    difference = loop.bake(values={"Gain": 2.25})
    subprocess.run(["patch", "-p1"], input=difference.encode("utf-8", "surrogateescape"), check=True, cwd=tmp_path,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    assert source.read_text(encoding="latin-1") == SOURCE.replace("1.50", "2.25")


def test_values_and_presets(loop, source):
    loop.set({"Gain": 2.25, "First": "two"})
    loop.presets.save("good")
    loop.reset()
    assert lines(loop.bake(preset="good")) == [*GAIN, *FIRST]
    assert lines(loop.bake("Control/", preset="good")) == GAIN
    assert loop.bake(values={}) == ""
    assert lines(loop.bake("Gain", values={"Control/Gain": 2.25, "First": "two"}, write=True)) == GAIN
    with pytest.raises(fbtweak.TweaksError, match="either --preset or --values"):
        loop.bake(values={}, preset="good")


def test_a_program_that_does_not_run(source):
    program = fbtweak.connect("./loop")
    program["Gain"] = 2.25
    assert lines(program.bake()) == GAIN


def test_all_or_nothing(loop, source):
    values = {"Gain": 2.25, "Limit": 6}
    for write in (False, True):
        with pytest.raises(fbtweak.Refused, match="1 tweak skipped\n  .*loop.c:8: Loop/Control/Limit is skipped: .* LIMIT"):
            loop.bake(values=values, write=write)
    with pytest.raises(fbtweak.Refused, match="Loop/Control/Gain is skipped: .*0.0 to 10.0"):
        loop.bake(values={"Gain": 11})
    source.chmod(0o444)
    with pytest.raises(fbtweak.Refused, match="nothing was written"):
        loop.bake(values={"Gain": 2.25}, write=True)
    assert source.read_text(encoding="latin-1") == SOURCE


def test_places_and_names(loop, tmp_path):
    with pytest.raises(fbtweak.UnknownTweak, match="did you mean Loop/Control/Gain"):
        loop.bake("Gian")
    with pytest.raises(fbtweak.UnknownTweak, match="no such tweak"):
        loop.bake(values={"No/Such/Tweak": 1})
    with pytest.raises(fbtweak.TweaksError, match="nowhere"):
        loop.bake("Gain", sources="nowhere")
    (tmp_path / "other").mkdir()
    with pytest.raises(fbtweak.Refused, match="Loop/Control/Gain is skipped"):
        loop.bake(values={"Gain": 2.25}, within=tmp_path / "other")
    assert lines(loop.bake(values={"Gain": 2.25}, sources=tmp_path, within=tmp_path)) == GAIN
