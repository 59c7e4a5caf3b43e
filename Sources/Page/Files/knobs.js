// SPDX-License-Identifier: BSD-3-Clause

// Knobs of MIDI controllers and gamepads: their names, and how they move values. Pure.

import { none, positionOf, sliderRange, valueAt } from "./numbers.js";
import { currentValue, equalValues } from "./tweaks.js";

/** A stick that deflects less is at rest. */
const rest = 0.15;
/** The share of a range that a fully deflected stick crosses in a second. */
const speed = 0.5;
/** A knob this close to a value has reached it. */
const near = 1.5 / 127;

/**
 * The knob and the position (0 to 1) in a MIDI message; undefined if it is not a control change.
 *
 * - message: its bytes.
 */
export function controlChange(message) {
  const [status, number, value] = message;
  // Controllers from 120 on are commands to the channel.
  if ((status & 0xf0) !== 0xb0 || number >= 120 || value === undefined) return undefined;
  return { knob: `midi ${(status & 0x0f) + 1} ${number}`, position: value / 127 };
}

/** The name of a knob for people. */
export function knobName(knob) {
  const [kind, first, second] = knob.split(" ");
  if (kind === "midi") return `MIDI controller ${second}, channel ${first}`;
  return `gamepad ${kind} ${Number(first) + 1}`;
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
    const isReached = current === none || Math.abs(position - at) <= near || (before !== undefined && (before - at) * (position - at) < 0);
    if (!isReached && !(this.#set !== undefined && equalValues(current, this.#set))) {
      this.#set = undefined;
      return undefined;
    }
    this.#set = valueAt(tweak, position, range);
    return this.#set;
  }
}
