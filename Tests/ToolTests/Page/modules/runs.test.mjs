// SPDX-License-Identifier: BSD-3-Clause
import assert from "node:assert/strict";
import test from "node:test";
import {
  allValues,
  compare,
  csvOf,
  measured,
  orderOf,
  runText,
  sorted,
  sweepCommand,
  valuesBetween
} from "../../../../Sources/Page/Files/runs.js";
import { Series } from "../../../../Sources/Page/Files/samples.js";

const gain = { key: "Motor/Control/Gain", type: "double", default: 0.8, minimum: 0, maximum: 5 };
const speed = { id: "p\nSpeed", key: "Motor/State/Speed", type: "double", monitor: true };

test("values lie evenly on the slider, in its steps, with exact ends, each once", () => {
  assert.deepEqual(valuesBetween(gain, 0, 5, 3), [0, 2.5, 5]);
  assert.deepEqual(valuesBetween(gain, 5, 0.1, 2), [0.1, 5]);
  assert.deepEqual(valuesBetween({ ...gain, minimum: 1, maximum: 10000 }, 1, 10000, 5), [1, 10, 100, 1000, 10000]);
  assert.deepEqual(valuesBetween({ ...gain, step: 2 }, 0, 4, 9), [0, 2, 4]);
  assert.deepEqual(valuesBetween({ type: "int32", default: 0, minimum: 0, maximum: 9 }, 0, 2, 9), [0, 1, 2]);
  assert.deepEqual(valuesBetween({ type: "int64", default: 0n }, 2n ** 62n, 2n ** 62n + 2n, 2), [
    2n ** 62n,
    2n ** 62n + 2n
  ]);
  assert.deepEqual(valuesBetween(gain, 2, 2, 5), [2]);
  assert.deepEqual(allValues({ type: "bool" }), [false, true]);
  assert.deepEqual(allValues({ type: "int32", choices: [{ value: 0, label: "a" }, { value: 7 }] }), [0, 7]);
  assert.equal(allValues(gain), undefined);
});

test("all values are tried in random order, with the value before at both ends and after every tenth", () => {
  const values = Array.from({ length: 25 }, (_, index) => index);
  const order = orderOf(values, () => 0);
  assert.deepEqual(order.filter((value) => value !== undefined), values);
  assert.deepEqual([...order.entries()].filter(([, value]) => value === undefined).map(([index]) => index), [
    0,
    11,
    22,
    28
  ]);
  const other = orderOf(values).filter((value) => value !== undefined);
  assert.deepEqual([...other].sort((a, b) => a - b), values);
  assert.deepEqual(orderOf([1, 2, 3], () => 0.999), [undefined, 3, 2, 1, undefined]);
});

test("a run has the samples within its time, and nothing of the value before it", () => {
  const series = new Series();
  for (const [time, value] of [[0, 900], [1, 900], [2, 4], [3, 6], [4, 8], [5, 900]]) series.add(time, value);
  const found = measured(series, speed, 1.5, 5);
  assert.deepEqual([found?.low, found?.high, found?.mean, found?.count], [4, 8, 6, 3]);
  assert.equal(measured(series, speed, 3.2, 3.8), undefined);
  assert.equal(measured(series, speed, 3, 3.5)?.count, 1);
});

const runOf = (number, value, mean, isReference = false) => ({
  number,
  value,
  isReference,
  results: new Map([[speed.id, mean === undefined ? undefined : { mean, deviation: 0.5, low: 1, high: 2, count: 9 }]])
});

test("differences are from the mean of all runs with the value before", () => {
  const runs = [runOf(1, 0.8, 10, true), runOf(2, 1, 15), runOf(3, 2), runOf(4, 0.8, 12, true)];
  compare(runs);
  assert.deepEqual(runs.map(({ results }) => results.get(speed.id)?.difference), [-1, 4, undefined, 1]);
});

test("runs are sorted by any column, and those without a number are last", () => {
  const runs = [runOf(1, 3n, 10), runOf(2, 1n, undefined), runOf(3, 2n, 30), runOf(4, 2n, 10)];
  const numbers = (column, isDescending = false) => sorted(runs, column, isDescending).map(({ number }) => number);
  assert.deepEqual(numbers({ name: "value" }), [2, 3, 4, 1]);
  assert.deepEqual(numbers({ name: "value" }, true), [1, 3, 4, 2]);
  assert.deepEqual(numbers({ name: "number" }, true), [4, 3, 2, 1]);
  assert.deepEqual(numbers({ id: speed.id, name: "mean" }), [1, 4, 3, 2]);
  assert.deepEqual(numbers({ id: speed.id, name: "mean" }, true), [3, 1, 4, 2]);
});

test("the table is saved as CSV, in the order of the runs", () => {
  const runs = [runOf(1, 0.8, 10, true), runOf(2, 1, 15), runOf(3, 2)];
  compare(runs);
  const title = ["mean", "difference", "sd", "min", "max", "n"].map((word) => `"Motor/State/Speed ${word}"`).join(",");
  assert.equal(
    csvOf(gain, [speed], runs),
    `run,Motor/Control/Gain,reference,${title}\n1,0.8,yes,10,0,0.5,1,2,9\n2,1,no,15,5,0.5,1,2,9\n3,2,no,,,,,,\n`
  );
  assert.match(csvOf({ ...gain, type: "string" }, [], [runOf(1, "=1+1", 1)]), /\n1,'=1\+1,no\n/);
});

test("the command tries the same values", () => {
  const program = { id: "motor~2", description: { name: "my motor" } };
  const settings = { monitor: speed, isMaximizing: false, seconds: 2, settle: 0 };
  assert.equal(
    sweepCommand(program, gain, [0, 2.5, 5], settings),
    "tweak sweep 'my motor' Motor/Control/Gain=0,2.5,5 --measure Motor/State/Speed --shuffle --for 2s"
  );
  assert.equal(
    sweepCommand(program, { key: "A/B/On", type: "bool" }, [false, true], {
      ...settings,
      isMaximizing: true,
      settle: 0.5
    }),
    "tweak sweep 'my motor' A/B/On=off,on --measure Motor/State/Speed --maximize --shuffle --for 2s --settle 0.5s"
  );
  const forked = { ...program, description: { ...program.description, pid: 4711, processes: 3 } };
  assert.match(sweepCommand(forked, gain, [0, 5], settings), /^tweak sweep 4711 Motor/);
  // A comma would be between values.
  assert.equal(sweepCommand(program, { key: "A/B/C", type: "string" }, ["a,b", "c"], settings), undefined);
});

test("a run is told by its value", () => {
  assert.equal(runText({ ...gain, unit: "V" }, { value: 2.5, isReference: false }), "2.5 V");
  assert.equal(runText({ type: "bool" }, { value: false, isReference: true }), "off, as before");
});
