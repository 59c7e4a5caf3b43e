// SPDX-License-Identifier: BSD-3-Clause

import assert from "node:assert/strict";
import { test } from "node:test";

/** The listeners of the page, by event. */
const listeners = new Map();
/** What the timers that run would do. */
const timers = new Map();
const queries = [];
const { setTimeout: later } = globalThis;
const page = {
  visibilityState: "visible",
  addEventListener: (name, listener) => listeners.set(name, listener)
};

const names = {
  location: { href: "http://localhost/" },
  sessionStorage: { getItem: () => "session" },
  localStorage: { getItem: () => null },
  document: page,
  addEventListener: () => {},
  navigator: {
    locks: { query: () => new Promise((resolve) => queries.push(() => resolve({ held: [] }))), request: () => {} }
  },
  fetch: () => new Promise(() => {}),
  setInterval: () => 0,
  setTimeout: (run) => {
    timers.set(timers.size + 1, run);
    return timers.size;
  },
  clearTimeout: (number) => timers.delete(number)
};
for (const [name, value] of Object.entries(names)) {
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}
const { API } = await import("../../../../Sources/Page/Files/api.js");

const change = (visibility, event) => {
  page.visibilityState = visibility;
  listeners.get(event)();
};

test("a page that was frozen while it looked for others, and is shown again, stays", async () => {
  const states = [];
  const api = new API();
  api.onState = (state) => states.push(state);
  api.listen();
  change("hidden", "visibilitychange");
  change("hidden", "freeze");
  change("hidden", "resume");
  // Both look for other pages, and are answered.
  assert.equal(queries.length, 2);
  for (const answer of queries) answer();
  await new Promise((resolve) => later(resolve));
  assert.equal(timers.size, 1);
  change("visible", "visibilitychange");
  assert.equal(timers.size, 0);
  assert.deepEqual(states, ["away"]);
});
