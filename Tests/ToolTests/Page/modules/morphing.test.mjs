// SPDX-License-Identifier: BSD-3-Clause
import assert from "node:assert/strict";
import test from "node:test";
import { valueBetween } from "../../../../Sources/Page/Files/morphing.js";

const double = { type: "double", default: 0, minimum: 0, maximum: 10 };

test("both ends are exact", () => {
  for (
    const [tweak, from, to] of [[double, 0.1 + 0.2, 1 / 3], [{ ...double, step: 1 }, 0.5, 2.25], [
      { type: "int64", default: 0n },
      1n,
      2n ** 62n + 1n
    ]]
  ) {
    assert.equal(valueBetween(tweak, from, to, 0), from);
    assert.equal(valueBetween(tweak, from, to, 1), to);
  }
});

test("numbers move as on their slider, in both directions", () => {
  assert.equal(valueBetween(double, 2, 6, 0.25), 3);
  assert.equal(valueBetween(double, 6, 2, 0.25), 5);
  assert.equal(valueBetween({ ...double, minimum: 1, maximum: 10000 }, 1, 10000, 0.5), 100);
  assert.equal(valueBetween({ ...double, minimum: undefined, maximum: undefined }, -8, 40, 0.5), 16);
  assert.equal(valueBetween({ ...double, step: 0.5 }, 0, 5, 0.33), 1.5);
  assert.equal(valueBetween({ type: "int32", default: 0, minimum: 0, maximum: 9 }, 0, 9, 0.5), 5);
  assert.equal(valueBetween({ type: "uint64", default: 0n, minimum: 0n, maximum: 100n }, 10n, 20n, 0.5), 15n);
});

test("colours mix, and all others change half way", () => {
  assert.equal(valueBetween({ type: "color" }, "#000000", "#ff8000", 0.5), "#804000");
  assert.equal(valueBetween({ type: "color" }, "#00000000", "#000000", 0.5), "#00000080");
  const choices = [{ value: 0, label: "a" }, { value: 1, label: "b" }, { value: 2, label: "c" }];
  for (
    const [tweak, from, to] of [
      [{ type: "bool" }, false, true],
      [{ type: "string" }, "a", "b"],
      [{ type: "int32", choices }, 0, 2],
      [double, 1, Infinity],
      [{ ...double, optional: true }, "none", 3]
    ]
  ) {
    assert.equal(valueBetween(tweak, from, to, 0.49), from);
    assert.equal(valueBetween(tweak, from, to, 0.5), to);
  }
});
