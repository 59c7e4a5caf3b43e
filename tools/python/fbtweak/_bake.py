# SPDX-License-Identifier: BSD-3-Clause
"""Values that become the defaults in sources."""

from __future__ import annotations

import json
import tempfile
from typing import Any, List, Mapping, Optional

from ._command import Command
from ._errors import Refused


def bake(command: Command, words: List[str], values: Optional[Mapping[str, Any]], write: bool) -> str:
    """The difference that ``tweak bake`` makes; see :meth:`Program.bake`.

    :param words: Further arguments of the command.
    :param values: By category, collection and name; by default those of the program.
    """
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        if values is not None:
            file.write(json.dumps(values).encode())
            file.flush()
            words = [f"--values={file.name}", *words]
        difference = command.output("bake", *words)
        if write and difference:
            # So that all of what is returned is written, or nothing.
            options = ["--write", "--if-difference=-"]
            command.output("bake", *options, *words, given=difference, warns=False, busy=Refused)
    return difference.decode("utf-8", "surrogateescape")
