// SPDX-License-Identifier: BSD-3-Clause

// Rules that the page shares with the commands and the library. SharedRuleTests checks them in Swift.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { keyOf, shown } from "../../../../Sources/Page/Files/names.js";
import { admitted } from "../../../../Sources/Page/Files/numbers.js";
import { gatesOf, isExpired } from "../../../../Sources/Page/Files/tweaks.js";

const rules = JSON.parse(readFileSync(new URL("rules.json", import.meta.url), "utf8"));

test("invisible characters are escaped", () => {
  for (const rule of rules.shown) assert.equal(shown(rule.text), rule.shown);
});

test("a slash and a percent sign in a name are escaped in a key", () => {
  for (const { levels, key } of rules.keys) assert.equal(keyOf(...levels), key);
});

test("the enclosing features of a part are its gates", () => {
  for (const { name, gates } of rules.gates) assert.deepEqual(gatesOf({ isFeature: true, name }), gates);
});

test("a tweak expires after its last day", () => {
  for (const { expires, today, isExpired: expected } of rules.expiry)
    assert.equal(isExpired({ expires }, today), expected);
});

test("a number is clamped to its limits and the range of its type", () => {
  for (const { value, admitted: expected, ...tweak } of rules.limits)
    assert.equal(admitted(tweak, value), expected, JSON.stringify(tweak));
});
