# SPDX-License-Identifier: BSD-3-Clause
"""Optuna reads the space that the command writes, and it is that of the package."""

import json
import subprocess

import pytest

from conftest import INSTALLED

optuna = pytest.importorskip("optuna")
from fbtweak.optuna import _chosen, _distribution  # noqa: E402


@pytest.mark.filterwarnings("ignore::fbtweak.Lost")
def test_optuna_reads_the_space_of_the_command(motor):
    listed = subprocess.run(
        [INSTALLED / "bin/tweak", "list", str(motor.pid), "--format", "optuna"], stdout=subprocess.PIPE, check=True)
    read = {
        name: optuna.distributions.json_to_distribution(json.dumps(each)) for name, each in json.loads(listed.stdout).items()}
    # The package leaves out what needs a restart.
    del read["Motor/Types/Kept"]
    assert read == {each.name: _distribution(optuna, each) for each in _chosen(motor, ["*"])}
    assert len(read) > 9
