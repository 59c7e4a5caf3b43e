// SPDX-License-Identifier: BSD-3-Clause

// Ranges, steps, limits and texts of numbers.

import assert from "node:assert/strict";
import test from "node:test";
import { converted, isDuration, niceUnit } from "../../../../Sources/Page/Files/durations.js";
import {
  admitted,
  decades,
  exactText,
  fixedText,
  limitsOf,
  numberFrom,
  numberText,
  onStep,
  positionOf,
  shortestFloat,
  sliderRange,
  stepped,
  typeLimits,
  valueAt,
  withPoints
} from "../../../../Sources/Page/Files/numbers.js";

const types = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float", "double"];

test("a range without limits contains the value and fits the type", () => {
  for (const type of types) {
    const [least, most] = typeLimits(type);
    for (const raw of [0, 1, 60, -5, least, most]) {
      const value = type.endsWith("64") ? BigInt(raw) : raw;
      if (value < least) continue;
      const tweak = { type, default: value, value };
      const range = sliderRange(tweak);
      const name = `${type} ${value}`;
      assert(range.low < range.high, name);
      assert(range.low <= value && value <= range.high, name);
      assert(range.low >= least && range.high <= most, name);
      const at = positionOf(tweak, value, range);
      assert(at >= 0 && at <= 1, name);
      const middle = valueAt(tweak, 0.5, range);
      assert(middle >= range.low && middle <= range.high, name);
    }
  }
});

test("a logarithmic slider has ticks at the powers of ten, and few", () => {
  const tweak = { type: "double", minimum: 0.5, maximum: 2000, default: 1, value: 1, scale: "log" };
  const at = decades(tweak, sliderRange(tweak));
  assert.deepEqual(at.map((place) => Math.round(valueAt(tweak, place, sliderRange(tweak)) * 10) / 10), [
    1,
    10,
    100,
    1000
  ]);
  assert(decades(tweak, { low: 1e-300, high: 1e300 }).length <= 13);
});

test("the limits are the range, and both ends of the slider are exact", () => {
  const tweak = { type: "double", minimum: 0.1, maximum: 0.7, default: 0.3, value: 0.3 };
  assert.deepEqual(sliderRange(tweak), { low: 0.1, high: 0.7, isGuess: false });
  assert.equal(valueAt(tweak, 0, sliderRange(tweak)), 0.1);
  assert.equal(valueAt(tweak, 1, sliderRange(tweak)), 0.7);
  assert.deepEqual(limitsOf({ type: "uint8" }), [0, 255]);
  assert.deepEqual(limitsOf({ type: "uint64", minimum: 3n }), [3n, 2n ** 64n - 1n]);
});

test("a number outside the limits is clamped", () => {
  assert.equal(admitted({ type: "int8" }, 200), 127);
  assert.equal(admitted({ type: "int32", maximum: 10 }, 1e9), 10);
  assert.equal(admitted({ type: "double", minimum: 1 }, -Infinity), 1);
  assert.equal(admitted({ type: "int32" }, -2.5), -3);
  assert.equal(admitted({ type: "uint64" }, 2n ** 70n), 2n ** 64n - 1n);
});

test("steps are counted from the minimum", () => {
  const tweak = { type: "double", minimum: 0.5, maximum: 2, step: 0.25, default: 1, value: 1 };
  assert.equal(onStep(tweak, 1.13), 1.25);
  assert.equal(onStep(tweak, 5), 2);
  const wide = { type: "int64", minimum: 1n, maximum: 2n ** 62n, step: 10n, default: 1n, value: 1n };
  assert.equal(onStep(wide, 2n ** 61n), 2305843009213693951n);
});

test("arrows change by one step, ten with Shift, a tenth with Alt", () => {
  const tweak = { type: "double", minimum: 0, maximum: 1000, default: 120, value: 120, step: 1 };
  assert.equal(stepped(tweak, 120, 1), 121);
  assert.equal(stepped(tweak, 121, 1, "coarse"), 131);
  assert.equal(stepped(tweak, 131, -1, "fine"), 130.9);
  assert.equal(stepped({ ...tweak, type: "int32" }, 5, 1, "fine"), 6);
});

test("a number that changes keeps its decimals", () => {
  assert.deepEqual([4026, 4025.73, 9.5, -0.01].map((number) => fixedText(number, [0, 4100])), [
    "4026.0",
    "4025.7",
    "9.5",
    "0.0"
  ]);
  assert.deepEqual([0.1, 0.123456, -0.00001].map((number) => fixedText(number, [-0.2, 0.3])), [
    "0.10000",
    "0.12346",
    "-0.00001"
  ]);
  // Without a range, and beyond what digits can show.
  assert.deepEqual([
    fixedText(3, [3, 3]),
    fixedText(1e12, [0, 2e12]),
    fixedText(2e-7, [0, 5e-7]),
    fixedText(NaN, [0, 1])
  ], ["3", "1000000000000", "2e-7", "nan"]);
});

test("texts show the exact value", () => {
  assert.equal(numberText({ type: "double", precision: 2 }, 0.5), "0.50");
  assert.equal(numberText({ type: "double", precision: 2 }, 0.505), "0.505");
  assert.equal(numberText({ type: "double" }, -0), "0");
  assert.equal(numberText({ type: "double" }, -Infinity), "-inf");
  assert.equal(exactText(2n ** 63n), "9223372036854775808");
  assert.equal(numberFrom("uint64", "18446744073709551615"), 2n ** 64n - 1n);
  assert.equal(shortestFloat(Math.fround(0.1)), 0.1);
});

test("durations are shown in a readable unit", () => {
  const tweak = { type: "double", unit: "s" };
  assert(
    isDuration(tweak) && !isDuration({ type: "string", unit: "s" }) && !isDuration({ type: "double", unit: "kg" })
  );
  for (
    const [value, unit, number] of [[0.25, "ms", 250], [90, "min", 1.5], [0, "s", 0], [86400, "d", 1], [
      3e-7,
      "ns",
      300
    ]]
  ) {
    assert.equal(niceUnit(tweak, value), unit);
    assert.equal(converted(tweak, value, unit), number);
  }
});

test("a decimal comma is a point, where it cannot separate anything else", () => {
  for (
    const [typed, meant] of [
      ["1,5", "1.5"],
      ["-0,25", "-0.25"],
      ["+=1,5", "+=1.5"],
      ["1,5*2,25 ms", "1.5*2.25 ms"],
      [",5", ".5"],
      ["(1,5+2)*3", "(1.5+2)*3"],
      ["0,125", "0.125"],
      ["1234,567", "1234.567"],
      ["1,5e3", "1.5e3"],
      ["2,5%", "2.5%"],
      // Thousands, arguments, lists and mistakes.
      ["1,500", "1,500"],
      ["12,345", "12,345"],
      ["sqrt(1,5)", "sqrt(1,5)"],
      ["max (1,5)", "max (1,5)"],
      ["min((1,5),2)", "min((1,5),2)"],
      ["1,5,6", "1,5,6"],
      ["1.234,5", "1.234,5"],
      ["1, 5", "1, 5"],
      ["1,", "1,"],
      ["", ""],
      ["2*pi", "2*pi"]
    ]
  ) assert.equal(withPoints(typed), meant);
  assert.equal(withPoints("sqrt(4)+1,5"), "sqrt(4)+1.5");
});
