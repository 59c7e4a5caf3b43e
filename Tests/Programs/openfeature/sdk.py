# SPDX-License-Identifier: BSD-3-Clause
"""Evaluates flags as a program does that uses OpenFeature's SDK and its OFREP provider.

    sdk.py ADDRESS TOKEN TYPE:KEY…          prints a line of JSON for each flag
    sdk.py ADDRESS TOKEN TYPE:KEY=VALUE     the same, when the flag has this value; it asks for a minute
"""

import json
import sys
import time

from openfeature import api
from openfeature.contrib.provider.ofrep import OFREPProvider

DEFAULTS = {"boolean": None, "integer": -1, "float": -1.0, "string": "none", "object": {}}


def evaluate(client, kind, key):
    details = getattr(client, f"get_{kind}_details")(key, DEFAULTS[kind])
    return {
        "value": details.value,
        "type": type(details.value).__name__,
        "reason": details.reason,
        "variant": details.variant,
        "error": details.error_code,
        "message": details.error_message,
        "metadata": dict(details.flag_metadata),
    }


def main(address, token, *flags):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    api.set_provider(OFREPProvider(address, headers_factory=lambda: headers))
    client = api.get_client()
    for flag in flags:
        flag, _, wanted = flag.partition("=")
        kind, key = flag.split(":", 1)
        result = evaluate(client, kind, key)
        for _ in range(1200):
            if not wanted or str(result["value"]) == wanted:
                break
            time.sleep(0.05)
            result = evaluate(client, kind, key)
        print(json.dumps(result), flush=True)


main(*sys.argv[1:])
