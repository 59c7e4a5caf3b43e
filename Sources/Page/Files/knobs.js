// SPDX-License-Identifier: BSD-3-Clause

// Knobs of MIDI controllers and gamepads: their names, and how they move values. Pure.
//
// A knob is named by its kind and numbers, such as `midi 1 21` for controller 21 on channel 1, a line feed, and its
// device.

import { shown } from "./names.js";
import { none, positionOf, sliderRange, valueAt } from "./numbers.js";
import { currentValue, equalValues } from "./tweaks.js";

/** A stick that deflects less is at rest. */
const rest = 0.15;
/** The share of a range that a fully deflected stick crosses in a second. */
const speed = 0.5;
/** A knob this close to a value has reached it. */
const near = 1.5 / 127;

/** The part of its way that a knob must move to be learned. */
const leastMove = 0.05;

/**
 * A MIDI message as `{ kind, channel, number, value }`; undefined if it is not that of a knob, a key or a pitch wheel.
 * The value
 * of a key is 0 when it is released.
 *
 * - bytes: the bytes of the message.
 */
export function midiMessage([status, first, second]) {
  if (second === undefined) return undefined;
  const channel = (status & 0x0f) + 1;
  // Controllers from 120 on are commands to the channel.
  if ((status & 0xf0) === 0xb0 && first < 120) return { kind: "midi", channel, number: first, value: second };
  if ((status & 0xf0) === 0x80) return { kind: "note", channel, number: first, value: 0 };
  if ((status & 0xf0) === 0x90) return { kind: "note", channel, number: first, value: second };
  if ((status & 0xf0) === 0xe0) return { kind: "bend", channel, number: 0, value: fine(second, first) };
  return undefined;
}

/** A value of 14 bits. */
const fine = (high, low) => high * 128 + low;
const largestFine = fine(127, 127);
const knobOf = ({ kind, channel, number }) => `${kind} ${channel} ${number}`;
/** Controllers from 32 to 63 can be the low 7 bits of those from 0 to 31. */
const isLow = ({ kind, number }) => kind === "midi" && number >= 32 && number < 64;
const highOf = (message) => knobOf({ ...message, number: message.number - 32 });

/** How far an encoder was turned, in steps. Encoders send 1 for a step up, and 127 or 65 for one down; or 65 and 63. */
function turnOf(encoding, value) {
  if (encoding === "offset") return value - 64;
  return value < 64 ? value : value < 96 ? 64 - value : value - 128;
}

/** Finds what the messages of a MIDI device move. */
export class Decoder {
  /** The last high 7 bits of controllers, by knob. */
  #high = new Map();

  /**
   * The knob that a message moves, with its `position` from 0 to 1, or the steps of its `turn`; undefined for unknown
   * knobs.
   *
   * - isKnown: whether a knob is in use.
   */
  movement(message, isKnown) {
    const knob = knobOf(message);
    const { kind, value } = message;
    if (kind === "bend") return isKnown(knob) ? { knob, position: value / largestFine } : undefined;
    if (isKnown(knob)) return { knob, position: value / 127 };
    const encoding = encodings.find((one) => isKnown(`${knob} ${one}`));
    if (encoding) return { knob: `${knob} ${encoding}`, turn: turnOf(encoding, value) };
    if (!isLow(message)) {
      this.#high.set(knob, value);
      return undefined;
    }
    const high = highOf(message);
    if (!this.#high.has(high) || !isKnown(`${high} fine`)) return undefined;
    return { knob: `${high} fine`, position: fine(this.#high.get(high), value) / largestFine };
  }
}

const encodings = ["relative", "offset"];

/** Finds which knob of a MIDI device is moved, and what it sends. */
export class Learner {
  /** The values of each knob. */
  #values = new Map();
  /** The knobs that send 14 bits. */
  #fine = new Set();
  /** The channels on which parameters are sent. */
  #parameters = new Set();
  #previous = "";

  /**
   * Takes a message. Returns the `knob` if it is known now, or a `hint` for people.
   *
   * - isSwitch: whether the knob is to set a switch.
   */
  learn(message, isSwitch) {
    const knob = knobOf(message);
    const { kind, channel, number, value } = message;
    if (kind === "note") {
      if (value === 0) return {};
      return isSwitch ? { knob } : { hint: "Keys and pads send notes, which set only switches. Move a knob" };
    }
    if (kind === "midi" && number >= 98 && number <= 101) this.#parameters.add(channel);
    if (kind === "midi" && this.#parameters.has(channel) && [6, 38, 96, 97, 98, 99, 100, 101].includes(number)) {
      return { hint: "This knob sends NRPN messages. Set its device to send control changes" };
    }
    const previous = this.#previous;
    this.#previous = knob;
    if (isLow(message) && (previous === highOf(message) || this.#fine.has(highOf(message)))) {
      this.#fine.add(highOf(message));
      this.#values.delete(knob);
      return {};
    }
    const values = [...(this.#values.get(knob) ?? []), value].slice(-mostValues);
    this.#values.set(knob, values);
    const isFine = this.#fine.has(knob);
    const encoding = kind === "bend" || isFine || isSwitch ? undefined : encodingOf(values);
    if (encoding === "unclear") return { hint: "Turn it the other way, too" };
    if (encoding) return { knob: `${knob} ${encoding}` };
    const isMoved = Math.max(...values) - Math.min(...values) >= leastMove * (kind === "bend" ? largestFine : 127);
    return isMoved ? { knob: isFine ? `${knob} fine` : knob } : {};
  }
}

const mostValues = 64;

/** What an encoder sends, `unclear` if it may be one, undefined for values of a knob with two ends. */
function encodingOf(values) {
  // A knob with two ends repeats nothing and does not jump.
  const repeats = values.filter((value, index) => value === values[index - 1]).length;
  const most = repeats >= 2 ? 16 : 3;
  const up = (value) => value >= 1 && value <= most;
  const down = (value) => value >= 128 - most;
  const above = (value) => value > 64 && value <= 64 + most;
  const below = (value) => value < 64 && value >= 64 - most;
  const isAll = (...parts) => values.every((value) => parts.some((part) => part(value)));
  const hasBoth = (one, other) => values.some(one) && values.some(other);
  if (isAll(up, down) && (repeats >= 2 || hasBoth(up, down))) return "relative";
  if (isAll(up, above) && hasBoth(up, above)) return "relative";
  if (repeats < 2 || !isAll(above, below)) return undefined;
  return values.some(below) ? "offset" : "unclear";
}

/** Names of devices, of which those of one model differ. A device keeps its name when another one is unplugged. */
export class DeviceNames {
  /** The names of the connected devices, by handle. */
  #names = new Map();

  /** The names of the connected devices, given as `{ handle, model }`, in their order. */
  of(devices) {
    const kept = new Map(
      devices.filter(({ handle }) => this.#names.has(handle)).map(({ handle }) => [handle, this.#names.get(handle)])
    );
    this.#names = kept;
    for (const { handle, model } of devices) {
      if (kept.has(handle)) continue;
      const taken = new Set(kept.values());
      const names = [model, ...devices.map((_, index) => `${model} (${index + 2})`)];
      kept.set(handle, names.find((name) => !taken.has(name)));
    }
    return devices.map(({ handle }) => kept.get(handle));
  }
}

/** The model of a gamepad, without the numbers of its vendor and product. */
export const gamepadModel = (id) =>
  id.replace(/\s*\([^()]*\bVendor: [^()]*\)$/, "").replace(/^[0-9a-f]{1,4}-[0-9a-f]{1,4}-/, "");

/** Whether two names are of one knob that sends in different ways. */
export function isSameKnob(one, other) {
  const [words, device] = one.split("\n");
  const [otherWords, otherDevice] = other.split("\n");
  const place = (text) => text.split(" ").slice(0, 3).join(" ");
  return device === otherDevice && place(words) === place(otherWords);
}

/** The name of a knob for people. */
export function knobName(knob) {
  const [words, device] = knob.split("\n");
  const [kind, first, second, form] = words.split(" ");
  const name = {
    midi: `MIDI ${encodings.includes(form) ? "encoder" : "controller"} ${second}, channel ${first}`,
    note: `MIDI note ${second}, channel ${first}`,
    bend: `MIDI pitch bend, channel ${first}`
  }[kind] ?? `gamepad ${kind} ${Number(first) + 1}`;
  return device ? `${name} of ${shown(device)}` : name;
}

/** How far a stick is deflected beyond its rest, from -1 to 1. */
export function deflection(value) {
  return Math.abs(value) < rest ? 0 : (Math.sign(value) * (Math.abs(value) - rest)) / (1 - rest);
}

/** The value of a tweak after a stick was deflected for some seconds, and the exact position, from which it goes on. */
export function driven(tweak, at, amount, seconds) {
  const range = sliderRange(tweak);
  const here = at ?? positionOf(tweak, currentValue(tweak), range);
  const position = Math.min(1, Math.max(0, here + amount * speed * seconds));
  return { position, value: valueAt(tweak, position, range) };
}

/** Lets a knob move a value only from where the value is, so that the value does not jump. */
export class Takeover {
  /** The last position of the knob. */
  #last;
  /** The last value that the knob has set. */
  #set;

  /** The value for a position of the knob; undefined while the knob has not reached the value. */
  value(tweak, position) {
    const before = this.#last;
    this.#last = position;
    const current = currentValue(tweak);
    const range = sliderRange(tweak, current);
    const at = positionOf(tweak, current, range);
    const isReached = current === none || Math.abs(position - at) <= near ||
      (before !== undefined && (before - at) * (position - at) < 0);
    if (!isReached && !(this.#set !== undefined && equalValues(current, this.#set))) {
      this.#set = undefined;
      return undefined;
    }
    this.#set = valueAt(tweak, position, range);
    return this.#set;
  }
}
