// SPDX-License-Identifier: BSD-3-Clause

// The lines of a history, and undo after a reload.

import assert from "node:assert/strict";
import { test } from "node:test";
import { hourText, linesOf, valuesAfter, waitingLines } from "../../../../Sources/Page/Files/changes.js";
import { UndoHistory } from "../../../../Sources/Page/Files/undo.js";
import { mostSnapshots, Sets, snapshotName } from "../../../../Sources/Page/Files/sets.js";
import { State } from "../../../../Sources/Page/Files/state.js";

const change = (number, time, rest) => ({
  number,
  time,
  tweak: "A/B/C",
  by: "tweak-ui 1 ada",
  source: "override",
  ...rest
});

test("the changes of a slider are one line", () => {
  const lines = linesOf([
    change(1, 10, { oldValue: 1, newValue: 2 }),
    change(2, 10.3, { oldValue: 2, newValue: 3 }),
    change(3, 10.7, { oldValue: 3, newValue: 4 }),
    change(4, 13, { oldValue: 4, newValue: 5 })
  ]);
  assert.deepEqual(lines.map(({ numbers, oldValue, newValue }) => [numbers, oldValue, newValue]), [[[4], 4, 5], [
    [3],
    1,
    4
  ]]);
});

test("a hand that rests on a slider makes one line, unless it moves something else meanwhile", () => {
  const [first, rest] = [change(1, 10, { oldValue: 1, newValue: 2 }), change(3, 11.5, { oldValue: 2, newValue: 3 })];
  const other = (by) => change(2, 11, { tweak: "A/B/D", oldValue: 0, newValue: 1, by });
  // The program undoes each burst of its own.
  assert.deepEqual(
    linesOf([first, change(2, 10.2, { oldValue: 2, newValue: 2.5 }), rest]).map((
      { numbers, oldValue, newValue }
    ) => [numbers, oldValue, newValue]),
    [[[2, 3], 1, 3]]
  );
  assert.deepEqual(linesOf([first, rest], [{ number: 2 }]).map(({ numbers }) => numbers), [[3], [1]]);
  assert.deepEqual(linesOf([first, other("tweak 2 bob"), rest]).map(({ numbers }) => numbers), [[1, 3], [2]]);
  assert.deepEqual(linesOf([first, other(first.by), rest]).map(({ numbers }) => numbers), [[3], [2], [1]]);
});

test("changes of others and undone changes are lines of their own", () => {
  const lines = linesOf([
    change(1, 10, { oldValue: 1, newValue: 2 }),
    change(2, 10.1, { oldValue: 2, newValue: 3, by: "tweak 2 ada" }),
    change(3, 10.2, { oldValue: 3, newValue: 2, undoes: 2, by: "tweak 2 ada" }),
    change(3, 10.2, { tweak: "A/B/D", oldValue: 0, newValue: 1 })
  ]);
  assert.equal(lines.length, 4);
});

test("only the newest change of a tweak waits, as long as the tweak does", () => {
  const lines = linesOf([
    change(1, 10, { oldValue: 1, newValue: 3, isPending: true }),
    change(2, 20, { oldValue: 3, newValue: 4, isPending: true }),
    change(3, 30, { oldValue: 4, newValue: 3, isPending: true }),
    change(4, 40, { tweak: "A/B/D", oldValue: 0, newValue: 1, isPending: true }),
    change(5, 50, { tweak: "A/B/E", oldValue: 0, newValue: 1 })
  ]);
  const tweaks = {
    "A/B/C": { type: "double", pendingValue: 3 },
    "A/B/D": { type: "double" },
    "A/B/E": { type: "double", pendingValue: 1 }
  };
  assert.deepEqual([...waitingLines(lines, (key) => tweaks[key])], [3]);
  // Reset, or passed.
  assert.deepEqual([...waitingLines(lines, (key) => ({ ...tweaks[key], pendingValue: undefined }))], []);
  // The program has ended, and declares it no longer.
  assert.deepEqual([...waitingLines(lines, () => undefined)], []);
});

test("the heading of an hour names the day if it is not today", () => {
  const at = (day, hour, minute) => new Date(2026, 0, day, hour, minute);
  assert.equal(hourText(at(3, 14, 59).getTime() / 1000, at(3, 23, 0)), "14:00");
  assert.equal(hourText(at(2, 9, 1).getTime() / 1000, at(3, 0, 30)), "2 January, 09:00");
});

/** A page whose session storage outlives it. */
function makePage(storage, process = 7) {
  globalThis.sessionStorage = {
    getItem: (name) => storage.get(name) ?? null,
    setItem: (name, text) => storage.set(name, text)
  };
  let leave = () => {};
  globalThis.addEventListener = (_, listener) => {
    leave = listener;
  };
  const tweak = { program: "p", key: "A/B/C", label: "C", type: "double", value: 3, source: "override" };
  const state = {
    trying: new Set(),
    programs: new Map([["p", { description: { pid: process } }]]),
    tweak: (_, key) => (key === tweak.key ? tweak : undefined)
  };
  const history = new UndoHistory(state);
  return { history, tweak, state, leave: () => leave() };
}

test("undo survives a reload if the program has the change in its history", () => {
  const storage = new Map();
  const page = makePage(storage);
  const step = (before, after) =>
    page.history.add([{
      tweak: page.tweak,
      before: { value: before, isSet: false },
      after: { value: after, isSet: true }
    }]);
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

test("snapshots and the sets A and B survive a reload", () => {
  const storage = new Map();
  makePage(storage);
  /** @type {(() => void)[]} */
  const leaving = [];
  globalThis.addEventListener = (_, listener) => leaving.push(listener);
  const load = () => {
    const raw = { category: "A", collection: "B", source: "override" };
    const state = new State();
    state.setProgram({ id: "p", state: "running" });
    state.setTweaks("p", [{ ...raw, tweak: "A/B/C", name: "C", type: "int64", default: 0, value: 1 }, {
      ...raw,
      tweak: "A/B/D",
      name: "D",
      type: "double",
      default: 5,
      value: 5,
      source: "default"
    }]);
    const applied = [];
    const sets = new Sets(state, { apply: (changes) => applied.push(...changes) });
    return {
      state,
      sets,
      applied,
      set: (key, value) => state.setValue("p", { tweak: key, value, source: "override" })
    };
  };
  const first = load();
  const { snapshot } = first.sets.take("p", "one");
  first.set("A/B/C", String(2n ** 60n));
  first.sets.take("p");
  first.sets.toggle("p");
  first.set("A/B/C", 3);
  assert.equal(first.sets.since("p", snapshot).length, 1);
  for (const leave of leaving.splice(0)) leave();

  const again = load();
  assert.deepEqual(again.sets.snapshots("p"), []);
  again.sets.restore("p");
  assert.equal(snapshotName(again.sets.snapshots("p")[0]), "one");
  assert.equal(again.sets.side("p"), "B");
  again.set("A/B/C", 3);
  again.set("A/B/D", 6);
  again.sets.goTo("p", again.sets.snapshots("p")[1]);
  assert.deepEqual(again.applied.map(({ tweak, value, isSet }) => [tweak.key, value, isSet]), [[
    "A/B/C",
    2n ** 60n,
    true
  ], ["A/B/D", 5, false]]);
  // What is not loaded yet is kept for the next reload.
  load();
  for (const leave of leaving.splice(0)) leave();
  const later = load();
  later.sets.restore("p");
  assert.equal(later.sets.snapshots("p").length, 2);
});

test("a snapshot of some tweaks leaves the others as they are, also after a reload", () => {
  const storage = new Map();
  makePage(storage);
  /** @type {(() => void)[]} */
  const leaving = [];
  globalThis.addEventListener = (_, listener) => leaving.push(listener);
  const load = () => {
    const raw = { category: "A", collection: "B", type: "double", default: 5 };
    const state = new State();
    state.setProgram({ id: "p", state: "running" });
    state.setTweaks("p", [{ ...raw, tweak: "A/B/C", name: "C", value: 1, source: "override" }, {
      ...raw,
      tweak: "A/B/D",
      name: "D",
      value: 5,
      source: "default"
    }]);
    const applied = [];
    return { state, applied, sets: new Sets(state, { apply: (changes) => applied.push(...changes) }) };
  };
  const first = load();
  // A tried value that is the default is kept, too.
  first.sets.take("p", "tried", [first.state.tweak("p", "A/B/D")]);
  for (const leave of leaving.splice(0)) leave();
  const again = load();
  again.sets.restore("p");
  again.state.setValue("p", { tweak: "A/B/D", value: 7, source: "override" });
  again.sets.goTo("p", again.sets.snapshots("p")[0]);
  assert.deepEqual(again.applied.map(({ tweak, value }) => [tweak.key, value]), [["A/B/D", 5]]);
});

test("undo of a discarded trial tries its values again", () => {
  const page = makePage(new Map());
  const told = [];
  const state = Object.assign(page.state, { tell: (topic) => told.push(topic) });
  page.history.add([{
    tweak: page.tweak,
    before: { value: 4, isSet: true, isTried: true },
    after: { value: 3, isSet: true }
  }], { isDiscard: true });
  const applied = [];
  const editing = { apply: (changes) => applied.push(...changes) };
  page.history.undo(editing);
  assert.deepEqual([[...state.trying], told], [["p"], ["trying"]]);
  page.history.redo(editing);
  assert.deepEqual(applied.map(({ value, endsTrial }) => [value, endsTrial]), [[4, false], [3, true]]);
});

test("the oldest snapshot makes room, and is told", () => {
  const { state } = makePage(new Map());
  const sets = new Sets(Object.assign(state, { snapshot: () => new Map() }), {});
  let dropped;
  for (let count = 0; count <= mostSnapshots; count += 1) ({ dropped } = sets.take("p", `${count}`));
  assert.equal(dropped?.name, "0");
  assert.equal(sets.snapshots("p").length, mostSnapshots);
  sets.remove("p", sets.snapshots("p")[0]);
  assert.equal(sets.snapshots("p")[0].name, "2");
});

test("the values after a change are the oldest ones of what changed later", () => {
  const changes = [
    change(1, 1, { oldValue: 0, newValue: 1 }),
    change(2, 2, { tweak: "A/B/D", oldValue: 10, newValue: 11 }),
    change(3, 3, { oldValue: 1, newValue: 2 }),
    change(4, 4, { oldValue: 2, newValue: 3, source: "default" }),
    change(5, 5, { tweak: "A/B/E", oldValue: 7, newValue: 8, source: "environment" }),
    change(6, 6, { tweak: "A/B/F", oldValue: 7, newValue: 8, isOfLease: true })
  ];
  assert.deepEqual([...valuesAfter(changes, 2)], [["A/B/C", 1]]);
  assert.deepEqual([...valuesAfter(changes, 0)], [["A/B/C", 0], ["A/B/D", 10]]);
  assert.deepEqual([...valuesAfter(changes, 4)], []);
});
