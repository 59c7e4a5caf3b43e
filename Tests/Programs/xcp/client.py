# SPDX-License-Identifier: BSD-3-Clause
"""client.py PORT COMMAND…: an independent client of XCP. Each command prints a line.

COMMAND is `text KIND` (of GET_ID), `read ADDRESS FORMAT` or `write ADDRESS FORMAT VALUE`. FORMAT is one of
the module struct, ADDRESS `IMAGE:OFFSET` in hexadecimal.
"""

import logging
import struct
import sys

from pyxcp import Master
from pyxcp.config import create_application_from_config, set_application
from pyxcp.types import XcpResponseError


def place(text):
    image, offset = (int(part, 16) for part in text.split(":"))
    return image, offset


def do(master, words):
    command, *rest = words
    if command == "text":
        return master.identifier(int(rest[0]))
    if command == "read":
        (image, offset), form = place(rest[0]), "<" + rest[1]
        data = master.shortUpload(struct.calcsize(form), offset, image)
        return " ".join(str(value) for value in struct.unpack(form, data))
    if command == "write":
        (image, offset), form = place(rest[0]), "<" + rest[1]
        number = float if rest[1] in "fd" else int
        data = struct.pack(form, number(rest[2]))
        master.setMta(offset, image)
        master.download(data)
        return "done"
    raise SystemExit(f"{command}: no such command")


def main():
    port, *words = sys.argv[1:]
    settings = {"host": "127.0.0.1", "port": int(port), "protocol": "TCP"}
    # Errors are printed, and not handled by further commands.
    general = {"disable_error_handling": True, "diagnostics_on_failure": False}
    application = create_application_from_config(
        {"Transport": {"timeout": 60.0, "Eth": settings}, "General": general}, log_level=logging.CRITICAL
    )
    set_application(application)
    counts = {"text": 1, "read": 2, "write": 3}
    with Master("eth", config=application) as master:
        master.connect()
        while words:
            count = counts.get(words[0], 0) + 1
            command, words = words[:count], words[count:]
            try:
                print(do(master, command), flush=True)
            except XcpResponseError as error:
                print(error.get_error_code(), flush=True)
        master.disconnect()


main()
