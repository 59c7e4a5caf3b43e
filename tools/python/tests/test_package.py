# SPDX-License-Identifier: BSD-3-Clause
"""The package is built, installed and removed."""

import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

from conftest import HERE, IS_LONG, PACKAGE

PYTHON = HERE.parent


def test_its_version_is_that_of_the_library():
    version = (PACKAGE / "tools/development/packaging/VERSION").read_text().strip()
    found = re.search(r'^version = "(.*)"$', (PYTHON / "pyproject.toml").read_text(), re.MULTILINE)
    assert found[1] == version.replace("-beta.", "b")


def test_its_modules_import_no_package_but_the_standard_library():
    code = "import sys; sys.modules.update(dict.fromkeys(['numpy', 'pandas', 'optuna', 'ipywidgets', 'pytest'])); import fbtweak"
    subprocess.run([sys.executable, "-S", "-c", code], check=True)


@pytest.mark.skipif(not IS_LONG, reason="it takes long, and downloads setuptools")
def test_a_wheel(tmp_path, motor):
    source = tmp_path / "source"
    shutil.copytree(PYTHON, source, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    folder = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [folder / "bin/python", "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", tmp_path, source], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("fbtweak-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "fbtweak/py.typed" in names and not any("test" in each for each in names if "pytest_plugin" not in each)
    subprocess.run([*pip, "install", "--no-index", wheel], check=True, capture_output=True)
    code = (
        f"import fbtweak, importlib.metadata as m; print(fbtweak.__file__, fbtweak.connect({motor.pid})['Gain'], "
        "m.version('fbtweak'), [e.name for e in m.distribution('fbtweak').entry_points])"
    )
    run = [folder / "bin/python", "-I", "-c", code]
    done = subprocess.run(run, check=True, capture_output=True, text=True)
    assert str(folder) in done.stdout and " 2.5 " in done.stdout and "['fbtweak']" in done.stdout
    subprocess.run([*pip, "uninstall", "-y", "fbtweak"], check=True, capture_output=True)
    assert subprocess.run(run, capture_output=True).returncode != 0
    assert list(pathlib.Path(folder).rglob("*fbtweak*")) == []
