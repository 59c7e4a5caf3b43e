# SPDX-License-Identifier: BSD-3-Clause
"""What the protocol's method `change` does, beside a model that was written from its documentation."""

import copy
import dataclasses
import itertools
import json
import math
import os
import pathlib
import random
import socket
import subprocess

import pytest

from conftest import HERE, IS_LONG, wait_until

STEPS = 100_000 if IS_LONG else 2_000
CLIENTS = 4


@dataclasses.dataclass
class Tweak:
    key: str
    default: object
    low: object = None
    high: object = None
    is_fixed: bool = False
    kept: object = None
    """The values of leases and their clients, the newest last."""
    leases: list = dataclasses.field(default_factory=list)
    """The value that the program took at its gate, and its source."""
    taken: object = None
    taken_source: str = "default"

    def __post_init__(self):
        self.taken = self.default

    def settle(self):
        """A value that the program has already need not wait."""
        if self.taken == self.next:
            self.take()

    def take(self):
        self.taken, self.taken_source = self.next, self.next_source

    @property
    def is_gated(self):
        return self.key.startswith("Gated/")

    @property
    def next(self):
        """The value when nothing waits any more."""
        return self.leases[-1][1] if self.leases else self.default if self.kept is None else self.kept

    @property
    def value(self):
        return self.taken if self.is_gated else self.next

    @property
    def source(self):
        return self.taken_source if self.is_gated else self.next_source

    @property
    def next_source(self):
        return "lease" if self.leases else "default" if self.kept is None else "override"

    @property
    def waits(self):
        return self.is_gated and self.next != self.taken

    @property
    def state(self):
        return self.value, self.source, self.next if self.waits else None

    def admit(self, value):
        """The value within the limits, and the limit that it was moved to."""
        number = (int, float)
        fits = (
            isinstance(value, bool) if isinstance(self.default, bool)
            else isinstance(value, str) if isinstance(self.default, str)
            else isinstance(value, number) and not isinstance(value, bool)
            and (isinstance(self.default, float) or value == math.floor(value))
        )  # fmt: skip
        if not fits:
            raise Refused("refusedValue")
        if self.low is not None and value < self.low:
            return self.low, "minimum"
        if self.high is not None and value > self.high:
            return self.high, "maximum"
        return value, None

    def end_leases(self, client):
        self.leases = [lease for lease in self.leases if lease[0] != client]


class Refused(Exception):
    pass


def tweaks():
    return [
        Tweak("Model/Numbers/Count", 5, 0, 100),
        Tweak("Model/Numbers/Ratio", 0.5, 0.0, 1.0),
        Tweak("Model/Other/Count", 0, -1000, 1000),
        Tweak("Model/Other/Flag", False),
        Tweak("Model/Other/Text", "hello"),
        Tweak("Model/Other/Fixed", 7, is_fixed=True),
        Tweak("Gated/Gains/P", 1.0, -8.0, 8.0),
        Tweak("Gated/Gains/I", 2, -100, 100),
    ]


NAMES = {
    "Model/Numbers/Count": ["Model/Numbers/Count", "Numbers/Count", "numbers/count"],
    "Model/Numbers/Ratio": ["Model/Numbers/Ratio", "Ratio", "ratio"],
    "Model/Other/Count": ["Model/Other/Count", "other/count"],
    "Model/Other/Flag": ["Model/Other/Flag", "flag"],
    "Model/Other/Text": ["Model/Other/Text", "Other/Text"],
    "Model/Other/Fixed": ["Fixed"],
    "Gated/Gains/P": ["Gated/Gains/P", "gains/p"],
    "Gated/Gains/I": ["Gated/Gains/I", "I"],
}
NO_TWEAK = {"Count": "ambiguousName", "Nobody": "unknownTweak", "A/B/C": "unknownTweak", "a/b/c/d": "malformedName"}

# What people type, and the value that it gives to a number.
TEXTS = {
    "7": lambda x, t: 7,
    "-3": lambda x, t: -3,
    "250": lambda x, t: 250,
    "+=1": lambda x, t: x + 1,
    "-=2": lambda x, t: x - 2,
    "*=2": lambda x, t: x * 2,
    "x*2+1": lambda x, t: x * 2 + 1,
    "max": lambda x, t: t.high,
    "min": lambda x, t: t.low,
    "def": lambda x, t: t.default,
    "(max+min)*x": lambda x, t: (t.high + t.low) * x,
}
VALUES = [3, 0, 1, 1e6, -1e6, 0.25, True, False, "hello", "", "two words", None, [], {"a": 1}]


class Model:
    def __init__(self):
        self.tweaks = {tweak.key: tweak for tweak in tweaks()}

    def pass_gate(self):
        for tweak in self.tweaks.values():
            tweak.take()

    def end_leases(self, client):
        for tweak in self.tweaks.values():
            tweak.end_leases(client)
            tweak.settle()

    def change(self, request, client):
        """The answer, and what the tweaks are afterwards."""
        after = copy.deepcopy(self.tweaks)
        is_leased = "until" in request
        changed, refused, given = [], [], {}
        for index, change in enumerate(request["changes"]):
            try:
                key, value, limit = self.evaluate(change, request, given, after, client)
            except Refused as error:
                refused.append({"index": index, "kind": str(error)})
                continue
            if key not in changed:
                changed.append(key)
            given[key] = (value, limit)
            tweak = after[key]
            tweak.end_leases(client)
            if is_leased:
                # Its place is that of the request; the same client's former lease has ended.
                tweak.leases.append((client, value))
            else:
                tweak.kept = value
        if refused and request.get("allOrNothing", True):
            return {"changes": [], "refused": refused}, self.tweaks
        # Also tweaks whose values were refused.
        others = [key for key in self.tweaks if key not in changed] if request.get("resettingOthers") else []
        for key in others:
            after[key].end_leases(client)
            after[key].kept = None
        answers = []
        for key in changed + others:
            old, new = self.tweaks[key], after[key]
            new.settle()
            answer = {"tweak": key, "oldValue": old.value, "oldSource": old.source,
                      "newValue": new.value, "source": new.source}  # fmt: skip
            if old.waits:
                answer["oldPendingValue"] = old.next
            if new.waits:
                answer["pendingValue"] = new.next
            if key in given:
                value, limit = given[key]
                if value is not None:
                    answer["givenValue"] = value
                if limit:
                    answer["clampedTo"] = limit
            elif old.state == new.state:
                continue
            answers.append(answer)
        return {"changes": answers, "refused": refused}, self.tweaks if request.get("dryRun") else after

    def evaluate(self, change, request, given, after, client):
        name = change["tweak"]
        if name in NO_TWEAK and not (request.get("exactNames") and NO_TWEAK[name] != "malformedName"):
            raise Refused(NO_TWEAK[name])
        key = next((key for key in NAMES if name in NAMES[key]), None)
        if key is None or request.get("exactNames") and name != key:
            raise Refused("unknownTweak" if request.get("exactNames") else NO_TWEAK[name])
        tweak = after[key]
        if "reset" in change:
            if "until" in request:
                raise Refused("refusedTerms")
            return key, None, None
        if tweak.is_fixed:
            is_scalar = "text" in change or isinstance(change["value"], (bool, int, float, str))
            raise Refused("notSettable" if is_scalar else "refusedValue")
        if "text" in change:
            # A value that was given before in this request counts, whatever takes precedence over it.
            current = given[key][0] if key in given and given[key][0] is not None else tweak.next
            value = self.evaluated(change["text"], current, tweak)
        else:
            value = change["value"]
        return key, *tweak.admit(value)

    @staticmethod
    def evaluated(text, current, tweak):
        if isinstance(tweak.default, bool):
            if text in ("toggle", "def"):
                return not current if text == "toggle" else tweak.default
            raise Refused("refusedValue")
        if isinstance(tweak.default, str):
            return text
        if text not in TEXTS:
            raise Refused("refusedValue")
        return TEXTS[text](current, tweak)


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.lines = self.socket.makefile("rb")
        self.number = 0

    def ask(self, method, **parameters):
        self.number += 1
        request = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters}
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        for line in self.lines:
            answer = json.loads(line)
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]
        raise AssertionError("the program has closed the connection")

    def close(self):
        self.lines.close()
        self.socket.close()


def random_change(chance):
    key = chance.choice(list(NAMES))
    name = chance.choice(NAMES[key]) if chance.random() < 0.95 else chance.choice(list(NO_TWEAK))
    kind = chance.random()
    if kind < 0.15:
        return {"tweak": name, "reset": True}
    if kind < 0.6:
        return {"tweak": name, "text": chance.choice([*TEXTS, "toggle", "+=1", "nothing"])}
    return {"tweak": name, "value": chance.choice(VALUES)}


def random_request(chance):
    request = {"changes": [random_change(chance) for _ in range(chance.choice([1, 1, 1, 2, 3, 5]))]}
    for member, value, likelihood in [
        ("allOrNothing", False, 0.3), ("dryRun", True, 0.1), ("resettingOthers", True, 0.05),
        ("exactNames", True, 0.05), ("until", "closed", 0.3),
    ]:  # fmt: skip
        if chance.random() < likelihood and not (member == "until" and "resettingOthers" in request):
            request[member] = value
    return request


def without_words(answer):
    """The members of an answer that the model knows."""
    changes = [
        {name: change[name] for name in
         ["tweak", "oldValue", "oldSource", "oldPendingValue", "newValue", "source", "pendingValue", "givenValue",
          "clampedTo"] if name in change}
        for change in answer["changes"]
    ]  # fmt: skip
    refused = [{"index": problem["index"], "kind": problem["kind"]} for problem in answer["refused"]]
    return {"changes": changes, "refused": refused}


def test_change_does_what_a_model_does(build, start, surroundings):
    seed = int(os.environ.get("TWEAKS_SEED") or random.randrange(1 << 32))
    print(f"TWEAKS_SEED={seed}")
    chance = random.Random(seed)
    program = subprocess.Popen([build("model", HERE / "model.c")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert program.stdout.read(1)
        path = str(surroundings / f"tweaks/{program.pid}.sock")
        wait_until(lambda: pathlib.Path(path).exists())
        model, clients, last = Model(), [Client(path) for _ in range(CLIENTS)], 0
        for step in range(STEPS):
            number = chance.randrange(CLIENTS)
            kind = chance.random()
            if kind < 0.05:
                program.stdin.write(b"p")
                program.stdin.flush()
                assert program.stdout.read(1)
                model.pass_gate()
            elif kind < 0.08:
                clients[number].ask("reset", all=True, leases="own")
                model.end_leases(number)
            elif kind < 0.085:
                clients[number].close()
                clients[number] = Client(path)
                model.end_leases(number)
                expected = {tweak.key: tweak.source for tweak in model.tweaks.values()}
                wait_until(lambda: {key: own["source"] for key, own in listed(clients[0]).items()} == expected)
            else:
                request = random_request(chance)
                expected, model.tweaks = model.change(request, number)
                answer = clients[number].ask("change", **request)
                found = without_words(answer)
                different = [pair for member in found for pair in itertools.zip_longest(found[member], expected[member])
                             if pair[0] != pair[1]]  # fmt: skip
                assert not different, f"step {step}: client {number}: {request}: {different}"
                assert answer.get("number", last + 1) > last
                last = answer.get("number", last)
            if step % 20 == 0:
                check(model, listed(clients[0]), step)
        for client in clients:
            client.close()
        for number in range(CLIENTS):
            model.end_leases(number)
        kept = {tweak.key: tweak.kept for tweak in model.tweaks.values() if tweak.kept is not None}
        file = surroundings / ".config/tweaks/model/overrides.json"
        wait_until(lambda: kept_values(file) == kept)
    finally:
        program.kill()
        program.wait()
        program.stdin.close()
        program.stdout.close()


def listed(client):
    return {tweak["tweak"]: tweak for tweak in client.ask("list")["tweaks"]}


def check(model, tweaks, step):
    for key, tweak in model.tweaks.items():
        expected = [tweak.value, tweak.source, tweak.next if tweak.next != tweak.value else None]
        found = [tweaks[key]["value"], tweaks[key]["source"], tweaks[key].get("pendingValue")]
        assert found == expected, f"step {step}: {key}"


def kept_values(file):
    try:
        document = json.loads(file.read_text())
    except FileNotFoundError:
        return {}
    return {
        f"{category}/{collection}/{name}": value
        for category, collections in document.items()
        for collection, names in collections.items()
        for name, value in names.items()
    }
