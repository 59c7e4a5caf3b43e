# SPDX-License-Identifier: BSD-3-Clause
"""A service that speaks OFREP, with flagd's evaluator of flags.

    evaluator.py FLAGS LOG      prints its port, and follows the file FLAGS, in the format of flagd

Each request is a line of JSON in LOG. Who reads its stream of events is told when FLAGS has changed.
"""

import hashlib
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from openfeature.contrib.tools.flagd.core import FlagdCore
from openfeature.evaluation_context import EvaluationContext
from openfeature.exception import OpenFeatureError

PATH, LOG = sys.argv[1:]
KINDS = {bool: "boolean", int: "integer", float: "float", str: "string", dict: "object"}


def load():
    with open(PATH) as file:
        return json.load(file)


def evaluate(context):
    """All flags for a context. A flag whose targeting returns nothing has no value."""
    flags = load()["flags"]
    core = FlagdCore()
    core.set_flags({"flags": flags})
    context = EvaluationContext(context.pop("targetingKey", None), context)
    nothing = object()
    results = []
    for key, flag in flags.items():
        kind = KINDS[type(next(iter(flag["variants"].values())))]
        try:
            details = getattr(core, f"resolve_{kind}_value")(key, nothing, context)
        except OpenFeatureError as error:
            results.append({"key": key, "errorCode": error.error_code.value, "errorDetails": error.error_message})
            continue
        result = {"key": key, "reason": str(details.reason), "metadata": {}}
        if details.variant:
            result["variant"] = details.variant
        if details.value is not nothing:
            result["value"] = details.value
        results.append(result)
    return results


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def note(self, **members):
        with open(LOG, "a") as file:
            file.write(json.dumps({"path": self.path, "headers": {k.lower(): v for k, v in self.headers.items()}, **members}) + "\n")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = {
            "flags": evaluate(dict(body["context"])),
            "eventStreams": [{"type": "sse", "endpoint": {"requestUri": "/events?key=secret"}}, {"type": "other"}],
        }
        data = json.dumps(answer).encode()
        tag = f'"{hashlib.sha256(data).hexdigest()[:16]}"'
        status = 304 if self.headers.get("If-None-Match") == tag else 200
        self.note(body=body, status=status)
        self.send_response(status)
        self.send_header("ETag", tag)
        if status == 200:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if status == 200:
            self.wfile.write(data)

    def do_GET(self):
        self.note()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        last = os.stat(PATH).st_mtime_ns
        try:
            while True:
                self.wfile.write(b": alive\n\n")
                now = os.stat(PATH).st_mtime_ns
                if now != last:
                    last = now
                    self.wfile.write(b'id: 1\ndata: {"type": "refetchEvaluation", "etag": "\\"new\\"", "lastModified": 7}\n\n')
                self.wfile.flush()
                time.sleep(0.05)
        except OSError:
            pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
