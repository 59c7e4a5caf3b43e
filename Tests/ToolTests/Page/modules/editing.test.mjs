// SPDX-License-Identifier: BSD-3-Clause

// Values that are shown while a change, its answer and the events of the program are on their way.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Editing } from "../../../../Sources/Page/Files/editing.js";
import { State } from "../../../../Sources/Page/Files/state.js";
import { currentValue } from "../../../../Sources/Page/Files/tweaks.js";

const key = "A/B/C";

/** A page with one tweak, whose requests wait for `answer`. */
function makePage(declaration = {}) {
  globalThis.requestAnimationFrame = () => 1;
  globalThis.document = /** @type {any} */ ({ visibilityState: "visible" });
  const state = new State();
  state.setProgram({ id: "p", state: "running" });
  state.setTweaks("p", [{ tweak: key, category: "A", collection: "B", name: "C", type: "double", default: 1, value: 1, source: "default", ...declaration }]);
  const tweak = state.tweak("p", key);
  const shown = [];
  state.on("value", () => { if (shown.at(-1) !== currentValue(tweak)) shown.push(currentValue(tweak)); });
  /** @type {(_: object) => void} */
  let answer;
  const api = { post: () => new Promise((resolve) => { answer = resolve; }) };
  const editing = new Editing(state, api, { problem: assert.fail }, { add() {} });
  const tell = (value, time, rest) => state.setValue("p", { tweak: key, value, time, source: "override", ...rest });
  return { state, tweak, shown, editing, tell, answer: (change) => answer({ tweaks: [{ tweak: key, source: "override", ...change }] }) };
}

const wait = () => new Promise((resolve) => { setTimeout(resolve); });

test("a value does not jump back, in whatever order its answer and the events arrive", async () => {
  for (const order of ["ABa", "AaB", "aAB"]) {
    const page = makePage();
    page.editing.set(page.tweak, 3);
    await wait();
    for (const what of order) {
      if (what === "A") page.tell(2, 10);
      if (what === "B") page.tell(3, 11);
      if (what === "a") page.answer({ value: 3, time: 11.5 });
      await wait();
    }
    assert.deepEqual(page.shown, [3], order);
    page.tell(4, 12);
    assert.deepEqual(page.shown, [3, 4], order);
  }
});

test("a value that passed its gate after the answer was read does not wait again", async () => {
  for (const isEventFirst of [true, false]) {
    const page = makePage({ gate: "Loop" });
    page.editing.set(page.tweak, 3);
    await wait();
    if (isEventFirst) page.tell(3, 12);
    page.answer({ value: 1, pendingValue: 3, time: 11 });
    await wait();
    page.tell(3, 12);
    assert.deepEqual([page.tweak.value, page.tweak.pendingValue], [3, undefined]);
    assert.deepEqual(page.shown, [3]);
  }
});

test("an answer that waits for a gate counts after the event of the value before", async () => {
  const page = makePage({ gate: "Loop" });
  page.editing.set(page.tweak, 3);
  await wait();
  page.tell(2, 10);
  page.answer({ value: 2, pendingValue: 3, time: 11 });
  await wait();
  assert.deepEqual([page.tweak.value, page.tweak.pendingValue], [2, 3]);
  assert.deepEqual(page.shown, [3]);
});

test("changes count after the clock was set back", () => {
  const page = makePage();
  page.tell(2, 10000);
  page.tell(3, 6400);
  assert.equal(page.tweak.value, 3);
});

test("events missed while a list was loaded count after it", () => {
  const page = makePage();
  page.tell(2, 10);
  page.state.setTweaks("p", [{ ...page.tweak, tweak: key, value: 1 }]);
  page.tell(3, 9);
  assert.equal(page.tweak.value, 3);
});

test("a cancelled drag gives the value back, and sends nothing if it moved nothing", async () => {
  const page = makePage();
  page.editing.begin(page.tweak);
  page.editing.cancel(page.tweak);
  // It would wait for an answer.
  await page.editing.settled();
  page.editing.move(page.tweak, 3);
  page.editing.cancel(page.tweak);
  await wait();
  assert.deepEqual([page.shown, currentValue(page.tweak), page.editing.isDragged(page.tweak)], [[3, 1], 1, false]);
});
