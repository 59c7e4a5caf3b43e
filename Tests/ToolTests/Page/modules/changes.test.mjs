// SPDX-License-Identifier: BSD-3-Clause

// The lines of a history, and undo after a reload.

import assert from "node:assert/strict";
import { test } from "node:test";
import { linesOf } from "../../../../Sources/Page/Files/changes.js";
import { History } from "../../../../Sources/Page/Files/history.js";

const change = (number, time, rest) => ({ number, time, tweak: "A/B/C", by: "tweak-ui 1 ada", source: "override", ...rest });

test("the changes of a slider are one line", () => {
  const lines = linesOf([
    change(1, 10, { oldValue: 1, newValue: 2 }), change(2, 10.3, { oldValue: 2, newValue: 3 }), change(3, 10.7, { oldValue: 3, newValue: 4 }),
    change(4, 12, { oldValue: 4, newValue: 5 }),
  ]);
  assert.deepEqual(lines.map(({ number, oldValue, newValue }) => [number, oldValue, newValue]), [[4, 4, 5], [3, 1, 4]]);
});

test("changes of others and undone changes are lines of their own", () => {
  const lines = linesOf([
    change(1, 10, { oldValue: 1, newValue: 2 }), change(2, 10.1, { oldValue: 2, newValue: 3, by: "tweak 2 ada" }),
    change(3, 10.2, { oldValue: 3, newValue: 2, undoes: 2, by: "tweak 2 ada" }), change(3, 10.2, { tweak: "A/B/D", oldValue: 0, newValue: 1 }),
  ]);
  assert.equal(lines.length, 4);
});

/** A page whose session storage outlives it. */
function makePage(storage, process = 7) {
  globalThis.sessionStorage = { getItem: (name) => storage.get(name) ?? null, setItem: (name, text) => storage.set(name, text) };
  let leave = () => {};
  globalThis.addEventListener = (_, listener) => { leave = listener; };
  const tweak = { program: "p", key: "A/B/C", label: "C", type: "double", value: 3, source: "override" };
  const state = {
    trying: new Set(), programs: new Map([["p", { description: { pid: process } }]]), tweak: (_, key) => (key === tweak.key ? tweak : undefined),
  };
  const history = new History(state);
  return { history, tweak, state, leave: () => leave() };
}

test("undo survives a reload if the program has the change in its history", () => {
  const storage = new Map();
  const page = makePage(storage);
  const step = (before, after) => page.history.add([{ tweak: page.tweak, before: { value: before, isSet: false }, after: { value: after, isSet: true } }]);
  step(1, 2);
  step(2, Infinity);
  step(2, 3);
  page.state.trying.add("p");
  step(3, 4);
  page.leave();
  const made = [change(1, 1, { newValue: 2 }), change(2, 2, { newValue: "inf" }), change(3, 3, { newValue: 4 })];

  const again = makePage(storage);
  assert.equal(again.history.undoLabel, "");
  assert(again.history.hasRestorable("p"));
  again.history.restore("p", made);
  const undone = [];
  const editing = { apply: (changes) => undone.push(...changes) };
  // The step to 3 is not in the history, and the one to 4 was only tried.
  for (let count = 0; count < 2; count += 1) assert.equal(again.history.undo(editing).label, "C");
  assert.equal(again.history.undo(editing), undefined);
  assert.deepEqual(undone.map(({ value }) => value), [2, 1]);

  const restarted = makePage(storage, 8);
  restarted.history.restore("p", made);
  assert.equal(restarted.history.undoLabel, "");
});
