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
  state.connection = "connected";
  state.setProgram({ id: "p", state: "running" });
  state.setTweaks("p", [{
    tweak: key,
    category: "A",
    collection: "B",
    name: "C",
    type: "double",
    default: 1,
    value: 1,
    source: "default",
    ...declaration
  }]);
  const tweak = state.tweak("p", key);
  const shown = [];
  state.on("value", () => {
    if (shown.at(-1) !== currentValue(tweak)) shown.push(currentValue(tweak));
  });
  /** @type {(_: object) => void} */
  let answer;
  const api = {
    post: () =>
      new Promise((resolve) => {
        answer = resolve;
      })
  };
  const editing = new Editing(state, api, { problem: assert.fail }, { add() {} });
  const tell = (value, time, rest) => state.setValue("p", { tweak: key, value, time, source: "override", ...rest });
  return {
    state,
    tweak,
    shown,
    editing,
    tell,
    answer: (change) => answer({ tweaks: [{ tweak: key, source: "override", ...change }] })
  };
}

const wait = () =>
  new Promise((resolve) => {
    setTimeout(resolve);
  });

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

test("an answer and events that come while a list is loaded are newer than it", async () => {
  for (const order of ["Aa", "aA"]) {
    const page = makePage();
    page.state.on("tweaks", () => page.shown.push(currentValue(page.tweak)));
    page.state.changesWhileLoading.set("p", new Map());
    page.editing.set(page.tweak, 3);
    await wait();
    for (const what of order) {
      if (what === "A") page.tell(2, 10);
      if (what === "a") page.answer({ value: 3, time: 11 });
      await wait();
    }
    page.state.setTweaks("p", [{ ...page.tweak, tweak: key, value: 1 }]);
    assert.deepEqual([new Set(page.shown), currentValue(page.tweak)], [new Set([3]), 3], order);
  }
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
  // While it waits, timers go on.
  page.answer({ value: 1 });
});

/** A page and its clock, which `pass` moves on, in ms. */
function makeTimedPage() {
  const [setTimer, measure] = [globalThis.setTimeout, performance.now];
  let now = 1000;
  let timers = [];
  globalThis.setTimeout = /** @type {any} */ ((run, time) => timers.push({ run, due: now + time }));
  performance.now = () => now;
  const page = makePage();
  // A frame is a timer, too.
  globalThis.requestAnimationFrame = (next) => Number(setTimeout(next, 16));
  const [sent, problems] = [[], []];
  let refuse = () => {};
  let answer = () => {};
  const api = {
    post: (_, body, options) =>
      new Promise((resolve, reject) => {
        sent.push({
          values: body.values.map(({ text }) => Number(text)),
          time: options.time,
          left: Math.round(options.limit + now - options.time)
        });
        [answer, refuse] = [resolve, reject];
      })
  };
  const editing = new Editing(page.state, api, { problem: (text) => problems.push(text), say() {} }, { add() {} });
  const turn = async () => {
    for (let index = 0; index < 10; index += 1) await Promise.resolve();
  };
  const pass = async (time) => {
    for (const end = now + time; now < end; now += 50) {
      const due = timers.filter((timer) => timer.due <= now);
      timers = timers.filter((timer) => timer.due > now);
      for (const { run } of due) run();
      await turn();
    }
  };
  const row = () => [currentValue(page.tweak), Boolean(page.tweak.local?.isUnsent), page.tweak.failed?.message];
  return {
    ...page,
    editing,
    sent,
    problems,
    pass,
    row,
    answer: (...all) => answer(...all),
    refuse: (...all) => refuse(...all),
    end: () => {
      globalThis.setTimeout = setTimer;
      performance.now = measure;
    }
  };
}

test("a change without an answer is shown as not sent, and its request has what is left of five seconds", async () => {
  const page = makeTimedPage();
  page.editing.set(page.tweak, 3);
  await page.pass(200);
  assert.deepEqual(page.row(), [3, false, undefined]);
  await page.pass(800);
  assert.deepEqual(page.row(), [3, true, undefined]);
  page.editing.set(page.tweak, 4);
  assert.deepEqual(page.row(), [4, true, undefined]);
  page.refuse(new Error("no answer"));
  await page.pass(100);
  assert.deepEqual(page.sent, [{ values: [3], time: 1000, left: 5001 }, { values: [4], time: 2000, left: 5001 }]);
  page.answer({ tweaks: [{ tweak: key, source: "override", value: 4 }] });
  await page.pass(100);
  assert.deepEqual(page.row(), [4, false, undefined]);
  page.end();
});

test("a change that waits for an earlier one is given up after five seconds and never sent", async () => {
  const page = makeTimedPage();
  page.editing.set(page.tweak, 3);
  await page.pass(1000);
  page.editing.set(page.tweak, 4);
  await page.pass(5500);
  assert.deepEqual(page.row(), [1, false, "tweak ui did not answer for 5 s"]);
  page.answer({ tweaks: [] });
  await page.editing.settled();
  assert.deepEqual(page.sent.map(({ values }) => values), [[3]]);
  page.end();
});

test("nothing is sent without a connection, and later only what is still new", async () => {
  const page = makeTimedPage();
  page.state.set("connection", "silent");
  page.editing.set(page.tweak, 3);
  assert.deepEqual(page.row(), [3, true, undefined]);
  await page.pass(5500);
  assert.deepEqual([page.row(), page.problems.length], [[1, false, "tweak ui did not answer for 5 s"], 1]);
  await page.editing.settled();
  page.editing.set(page.tweak, 4);
  await page.pass(3000);
  page.state.set("connection", "connected");
  await page.pass(100);
  assert.deepEqual(page.sent.map(({ values, time }) => [values, time]), [[[4], 6500]]);
  page.end();
});

test("a change counts as made when only its answer was lost", async () => {
  const page = makeTimedPage();
  page.editing.set(page.tweak, 3);
  await page.pass(100);
  page.refuse(new Error("no answer"));
  await page.pass(100);
  assert.equal(page.row()[2], "no answer");
  page.tell(2, 10);
  assert.equal(page.row()[2], "no answer");
  page.tell(3, 11);
  assert.deepEqual(page.row(), [3, false, undefined]);
  page.end();
});
