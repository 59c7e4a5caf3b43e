# SPDX-License-Identifier: BSD-3-Clause
"""The examples of the article run: as a notebook, and the test in it by pytest."""

import re
import shutil
import subprocess
import sys

import pytest

import fbtweak
from conftest import HERE, INSTALLED, PACKAGE

ARTICLE = PACKAGE / "Sources/Library/Tweaks/Tweaks.docc/UsingPython.md"
BLOCKS = re.findall(r"(?:`(\w+\.\w+)`:\n\n)?```(?:python|c)\n(.*?)```\n", ARTICLE.read_text(), re.DOTALL)


@pytest.fixture
def motor(start, tmp_path):
    """A running motor whose source is in the working directory of the notebook."""
    shutil.copy(HERE / "motor.c", tmp_path)
    subprocess.run(
        ["gcc", "-g", "-DDEBUG", f"-I{PACKAGE}/CSupport/include", "motor.c", "-o", "motor", "-Wl,--no-as-needed",
         f"-L{INSTALLED}/lib", "-ltweaks", "-lm"], cwd=tmp_path, check=True)  # fmt: skip
    with fbtweak.connect(start(tmp_path / "motor").pid, wait=60) as program:
        yield program


def test_its_examples_run_in_a_notebook(motor, surroundings, tmp_path):
    nbformat, nbconvert = pytest.importorskip("nbformat"), pytest.importorskip("nbconvert.preprocessors")
    traitlets = pytest.importorskip("traitlets.config")
    pytest.importorskip("ipykernel")
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(text) for name, text in BLOCKS if not name]
    assert len(notebook.cells) >= 7
    # Not with TCP: if another program takes a port before the kernel opens it, the wait for the kernel never ends.
    config = traitlets.Config(KernelManager={"transport": "ipc", "ip": str(surroundings / "kernel")})
    resources = {"metadata": {"path": str(tmp_path)}}
    executor = nbconvert.ExecutePreprocessor(timeout=300, resources=resources, config=config)
    executor.preprocess(notebook)
    outputs = [output for cell in notebook.cells for output in cell.outputs]
    assert "'Motor/State/Speed'" in str(outputs)
    assert "--- a/motor.c\\n+++ b/motor.c\\n" in str(outputs)
    shown = [each for each in outputs if "application/vnd.jupyter.widget-view+json" in each.get("data", {})]
    assert len(shown) == 1
    assert (tmp_path / "run.csv").read_text().startswith("time,Motor/State/Speed,")
    assert motor.tweak("Gain").source == "override"


def test_its_tests_pass(motor_path, build, tmp_path):
    shutil.copy(motor_path, tmp_path / "motor")
    files = [(name, text) for name, text in BLOCKS if name]
    for name, text in files:
        (tmp_path / name).write_text(text)
    simulator = build("article-simulator", tmp_path / "simulator.c", flags=["-Wall", "-Werror"])
    shutil.copy(simulator, tmp_path / "simulator")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "fbtweak.pytest_plugin"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert f"{len([name for name, _ in files if name.endswith('.py')])} passed" in done.stdout, done.stdout + done.stderr
