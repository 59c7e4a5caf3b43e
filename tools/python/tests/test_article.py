# SPDX-License-Identifier: BSD-3-Clause
"""The examples of the article run: as a notebook, and the test in it by pytest."""

import re
import shutil
import subprocess
import sys

import pytest

from conftest import PACKAGE

ARTICLE = PACKAGE / "Sources/Library/Tweaks/Tweaks.docc/UsingPython.md"
BLOCKS = re.findall(r"(?:`(\w+\.py)`:\n\n)?```python\n(.*?)```\n", ARTICLE.read_text(), re.DOTALL)


def test_its_examples_run_in_a_notebook(motor, tmp_path):
    nbformat, nbconvert = pytest.importorskip("nbformat"), pytest.importorskip("nbconvert.preprocessors")
    pytest.importorskip("ipykernel")
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(text) for name, text in BLOCKS if not name]
    assert len(notebook.cells) >= 7
    executor = nbconvert.ExecutePreprocessor(timeout=60, resources={"metadata": {"path": str(tmp_path)}})
    executor.preprocess(notebook)
    outputs = [output for cell in notebook.cells for output in cell.outputs]
    assert "'Motor/State/Speed'" in str(outputs)
    shown = [each for each in outputs if "application/vnd.jupyter.widget-view+json" in each.get("data", {})]
    assert len(shown) == 1
    assert (tmp_path / "run.csv").read_text().startswith("time,Motor/State/Speed,")
    assert motor.tweak("Gain").source == "override"


def test_its_test_passes(motor_path, tmp_path):
    shutil.copy(motor_path, tmp_path / "motor")
    files = [(name, text) for name, text in BLOCKS if name]
    assert files != []
    for name, text in files:
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "fbtweak.pytest_plugin"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "1 passed" in done.stdout, done.stdout + done.stderr
