// SPDX-License-Identifier: BSD-3-Clause

// Knobs of controllers.

import assert from "node:assert/strict";
import test from "node:test";
import {
  Decoder,
  deflection,
  DeviceNames,
  driven,
  gamepadModel,
  isSameKnob,
  knobName,
  Learner,
  midiMessage,
  Takeover
} from "../../../../Sources/Page/Files/knobs.js";
import { keyOf } from "../../../../Sources/Page/Files/names.js";
import { tweakFrom } from "../../../../Sources/Page/Files/tweaks.js";

const made = (name, more = {}) =>
  tweakFrom("p", {
    tweak: keyOf("A", "B", name),
    category: "A",
    collection: "B",
    name,
    type: "double",
    default: 0,
    value: 0,
    minimum: 0,
    maximum: 100,
    ...more
  }, 0);

test("a MIDI message is that of a knob, a key or a pitch wheel", () => {
  const parts = (bytes) => Object.values(midiMessage(bytes) ?? {});
  assert.deepEqual(parts([0xb0, 21, 127]), ["midi", 1, 21, 127]);
  assert.deepEqual(parts([0xbf, 1, 0]), ["midi", 16, 1, 0]);
  assert.deepEqual(parts([0x92, 60, 100]), ["note", 3, 60, 100]);
  assert.deepEqual(parts([0x82, 60, 100]), ["note", 3, 60, 0]);
  assert.deepEqual(parts([0xe0, 0, 64]), ["bend", 1, 0, 8192]);
  for (const other of [[0xb0, 123, 0], [0xb0, 21], [0xf8], [0xd0, 1], [0xa0, 1, 1], []])
    assert.equal(midiMessage(other), undefined);
  const names = [
    "midi 16 1\nnano",
    "midi 1 7 fine\nnano",
    "midi 1 16 relative\nnano",
    "note 1 36\nnano",
    "bend 2 0\nnano",
    "axis 0\nPad (2)",
    "button 3\nPad"
  ];
  assert.deepEqual(names.map(knobName), [
    "MIDI controller 1, channel 16 of nano",
    "MIDI controller 7, channel 1 of nano",
    "MIDI encoder 16, channel 1 of nano",
    "MIDI note 36, channel 1 of nano",
    "MIDI pitch bend, channel 2 of nano",
    "gamepad axis 1 of Pad (2)",
    "gamepad button 4 of Pad"
  ]);
});

const control = (number, value, channel = 1) => ({ kind: "midi", channel, number, value });

/** What a person who moves a knob is told, and the knob learned at last. */
function learn(messages, isSwitch = false) {
  const learner = new Learner();
  const hints = [];
  for (const message of messages) {
    const { knob, hint } = learner.learn(message, isSwitch);
    if (hint && hints.at(-1) !== hint) hints.push(hint);
    if (knob) return { knob, hints };
  }
  return { hints };
}

test("a knob with two ends is learned when it has moved", () => {
  assert.deepEqual(learn([control(21, 100), control(21, 101)]), { hints: [] });
  assert.equal(learn([20, 22, 24, 27].map((value) => control(21, value))).knob, "midi 1 21");
  assert.equal(learn([control(5, 64), control(21, 3), control(5, 60), control(5, 57)]).knob, "midi 1 5");
  // Buttons, also those that send the same each time.
  assert.equal(learn([127, 0].map((value) => control(21, value))).knob, "midi 1 21");
  assert.equal(learn([127, 127, 0].map((value) => control(21, value)), true).knob, "midi 1 21");
});

test("encoders are recognised by what they send", () => {
  const learned = (...values) => learn(values.map((value) => control(16, value)));
  for (const values of [[1, 1, 1], [1, 127], [127, 127, 127], [1, 2, 1, 1, 3, 1, 1], [1, 1, 126], [1, 65], [66, 1]]) {
    assert.equal(learned(...values).knob, "midi 1 16 relative", String(values));
  }
  for (const values of [[63, 63, 63], [65, 65, 65, 63], [63, 65, 65, 66, 66]])
    assert.equal(learned(...values).knob, "midi 1 16 offset", String(values));
  // One direction says nothing about whether 65 is a step up or down.
  assert.deepEqual(learned(65, 65, 65, 66), { hints: ["Turn it the other way, too"] });
  assert.equal(learned(65, 65, 65, 1).knob, "midi 1 16 relative");
  for (
    const [encoding, steps] of /** @type {[string, [number, number][]][]} */ ([
      ["relative", [[1, 1], [3, 3], [127, -1], [125, -3], [65, -1], [67, -3], [0, 0], [64, 0]]],
      ["offset", [[65, 1], [63, -1], [60, -4], [64, 0]]]
    ])
  ) {
    for (const [value, turn] of steps) {
      const movement = new Decoder().movement(control(16, value), (knob) => knob === `midi 1 16 ${encoding}`);
      assert.equal((movement?.turn ?? NaN) + 0, turn, `${encoding} ${value}`);
    }
  }
});

test("controllers with 14 bits, and faders that send pitch bend, are one knob", () => {
  const turned = [[5, 0], [5, 32], [5, 96], [6, 0], [7, 64], [9, 1], [12, 3]].flatMap((
    [high, low]
  ) => [control(7, high), control(39, low)]);
  assert.equal(learn(turned).knob, "midi 1 7 fine");
  const decoder = new Decoder();
  const isKnown = (knob) => knob === "midi 1 7 fine";
  assert.equal(decoder.movement(control(39, 1), isKnown), undefined);
  assert.equal(decoder.movement(control(7, 64), isKnown), undefined);
  assert.deepEqual(decoder.movement(control(39, 0), isKnown), { knob: "midi 1 7 fine", position: 8192 / 16383 });
  assert.deepEqual(decoder.movement(control(39, 1), isKnown), { knob: "midi 1 7 fine", position: 8193 / 16383 });
  assert.equal(decoder.movement(control(39, 1, 2), isKnown), undefined);
  // Alone, a controller from 32 to 63 is a knob like others.
  assert.equal(learn([control(39, 1), control(39, 20)]).knob, "midi 1 39");
  const bends = [0, 4000].map((value) => ({ kind: "bend", channel: 2, number: 0, value }));
  assert.equal(learn(bends).knob, "bend 2 0");
  assert.deepEqual(decoder.movement({ ...bends[0], value: 16383 }, (knob) => knob === "bend 2 0"), {
    knob: "bend 2 0",
    position: 1
  });
});

test("what cannot be learned is refused with words", () => {
  const note = { kind: "note", channel: 1, number: 36, value: 90 };
  assert.deepEqual(learn([note, { ...note, value: 0 }]), {
    hints: ["Keys and pads send notes, which set only switches. Move a knob"]
  });
  assert.equal(learn([{ ...note, value: 0 }, note], true).knob, "note 1 36");
  const parameter = [[99, 1], [98, 5], [6, 10], [38, 0], [6, 40], [38, 0], [6, 90]].map(([number, value]) =>
    control(number, value)
  );
  assert.deepEqual(learn(parameter), {
    hints: ["This knob sends NRPN messages. Set its device to send control changes"]
  });
});

test("devices of one model have names of their own, and keep them", () => {
  const names = new DeviceNames();
  const [one, two, other] = [{ handle: "1", model: "Pad" }, { handle: "2", model: "Pad" }, {
    handle: "3",
    model: "nano"
  }];
  assert.deepEqual(names.of([one, two, other]), ["Pad", "Pad (2)", "nano"]);
  assert.deepEqual(names.of([two]), ["Pad (2)"]);
  assert.deepEqual(names.of([two, { handle: "4", model: "Pad" }]), ["Pad (2)", "Pad"]);
  const ids = [
    "Xbox 360 Controller (STANDARD GAMEPAD Vendor: 045e Product: 028e)",
    "045e-028e-Microsoft X-Box 360 pad",
    "T.16000M (left)"
  ];
  assert.deepEqual(ids.map(gamepadModel), ["Xbox 360 Controller", "Microsoft X-Box 360 pad", "T.16000M (left)"]);
  assert(isSameKnob("midi 1 21\nA", "midi 1 21 relative\nA"));
  for (const different of ["midi 1 21\nB", "midi 1 2\nA", "midi 2 21\nA", "note 1 21\nA"])
    assert(!isSameKnob("midi 1 21\nA", different), different);
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
