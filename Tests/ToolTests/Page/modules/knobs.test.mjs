// SPDX-License-Identifier: BSD-3-Clause

// Knobs of controllers.

import assert from "node:assert/strict";
import test from "node:test";
import { controlChange, deflection, driven, knobName, Takeover } from "../../../../Sources/Page/Files/knobs.js";
import { keyOf } from "../../../../Sources/Page/Files/names.js";
import { tweakFrom } from "../../../../Sources/Page/Files/tweaks.js";

const made = (name, more = {}) =>
  tweakFrom("p", { tweak: keyOf("A", "B", name), category: "A", collection: "B", name, type: "double", default: 0, value: 0, minimum: 0, maximum: 100, ...more }, 0);

test("a control change is a knob and a position", () => {
  assert.deepEqual(controlChange([0xb0, 21, 127]), { knob: "midi 1 21", position: 1 });
  assert.deepEqual(controlChange([0xbf, 1, 0]), { knob: "midi 16 1", position: 0 });
  for (const other of [[0x90, 21, 127], [0xb0, 123, 0], [0xb0, 21], [0xf8]]) assert.equal(controlChange(other), undefined);
  assert.equal(knobName("midi 16 1"), "MIDI controller 1, channel 16");
  assert.equal(knobName("axis 0"), "gamepad axis 1");
});

test("a knob moves a value only after it has reached it", () => {
  const tweak = made("Gain", { value: 50 });
  const takeover = new Takeover();
  assert.equal(takeover.value(tweak, 0.1), undefined);
  assert.equal(takeover.value(tweak, 0.3), undefined);
  // It passes the value between two messages.
  const first = takeover.value(tweak, 0.6);
  assert.equal(first, 60);
  tweak.value = first;
  assert.equal(takeover.value(tweak, 0.9), 90);
  // The program, or somebody else, sets another value.
  tweak.value = 10;
  assert.equal(takeover.value(tweak, 0.8), undefined);
  assert.equal(takeover.value(tweak, 0.105), 10.5);
});

test("a knob keeps a value that is rounded to steps", () => {
  const tweak = made("Stepped", { value: 50, step: 25 });
  const takeover = new Takeover();
  assert.equal(takeover.value(tweak, 0.5), 50);
  for (const [position, value] of [[0.58, 50], [0.7, 75], [0.95, 100], [1, 100], [0.3, 25]]) {
    assert.equal(takeover.value(tweak, position), value);
    tweak.value = value;
  }
});

test("a knob goes over the whole range of integers and logarithmic numbers", () => {
  const wide = made("Wide", { type: "int64", minimum: 0, maximum: 1000, default: 0, value: 0 });
  assert.equal(new Takeover().value(wide, 0), 0n);
  const log = made("Frequency", { minimum: 20, maximum: 20000, value: 20 });
  const takeover = new Takeover();
  takeover.value(log, 0);
  assert(Math.abs(takeover.value(log, 0.5) - 632) < 5);
});

test("a stick moves a value from where it is", () => {
  assert.deepEqual([0, 0.1, -0.14, 1, -1].map(deflection), [0, 0, 0, 1, -1]);
  const tweak = made("Gain", { value: 50 });
  let { position, value } = driven(tweak, undefined, 1, 0.5);
  assert.deepEqual([position, value], [0.75, 75]);
  // Movements smaller than a step add up.
  const stepped = made("Stepped", { value: 50, step: 25 });
  position = undefined;
  for (let frame = 0; frame < 30; frame += 1) ({ position, value } = driven(stepped, position, 1, 1 / 60));
  assert.equal(value, 75);
  assert.equal(driven(tweak, undefined, -1, 10).value, 0);
});
