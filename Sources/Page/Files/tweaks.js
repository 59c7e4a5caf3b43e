// SPDX-License-Identifier: BSD-3-Clause

// The page's representation of a tweak: the server's, with typed numbers and a search text. Pure.

import { exactText, isNumber, none, numberFrom, numberText } from "./numbers.js";
import { shown } from "./names.js";

/** Converts a value in a message to the page's representation. No value of an optional tweak stays `none`. */
export function valueFrom(type, raw) {
  return isNumber(type) && raw !== none ? numberFrom(type, raw) : (raw ?? undefined);
}

/** Creates the page's tweak from the server's. */
export function tweakFrom(program, raw, order) {
  const { type } = raw;
  const value = (one) => valueFrom(type, one);
  const tweak = {
    ...raw,
    program,
    order,
    key: raw.tweak,
    id: `${program}\n${raw.tweak}`,
    default: value(raw.default),
    minimum: value(raw.minimum),
    maximum: value(raw.maximum),
    step: value(raw.step),
    value: value(raw.value),
    pendingValue: value(raw.pendingValue),
    overwrittenValue: value(raw.overwrittenValue),
    choices: raw.choices?.map(({ value: one, label }) => ({ value: value(one), label })),
    /** The change that the server has not confirmed yet, as `{ tweak, value, isSet }`. */
    local: undefined,
    /** How often it was set and dropped. */
    localChanges: 0,
    /** The last change that failed, as `{ value, text, isReset, message }`, until the next one. */
    failed: undefined,
    /** Who tries a value, "here" or "elsewhere", or undefined. */
    tried: undefined,
    isBaked: false,
    /** The time of the last change, in seconds since 1970; undefined if the list is newer. */
    time: undefined
  };
  if (tweak.step !== undefined && Number(tweak.step) <= 0) tweak.step = undefined;
  tweak.label = shown(raw.title || raw.name);
  tweak.isFeature = raw.category === "Features" && type === "bool";
  tweak.haystack = [raw.title, raw.name, raw.tweak, raw.description, raw.location, raw.group, raw.owner, raw.unit]
    .filter(Boolean).join("\n").toLowerCase();
  return tweak;
}

/** Whether two declarations of a tweak are equal in all options listed by the server. */
export function areAlike(one, other, options) {
  const isAlike = (name) =>
    name === "choices" ? choicesText(one) === choicesText(other) : Object.is(one[name], other[name]);
  return ["type", "order", "default", "monitor", "gate"].every(isAlike) && options.every(({ name }) => isAlike(name));
}

const choicesText = ({ choices }) => choices?.map(({ value, label }) => `${typeof value}${value}\n${label}`).join("\n");

/**
 * The value that a control shows: the local value, the one that waits for the next start or a gate, or the current one.
 */
export function currentValue(tweak) {
  if (tweak.local) return tweak.local.value;
  return tweak.pendingValue ?? tweak.value;
}

export const isSettable = (tweak) => tweak.type !== "action" && !tweak.readOnly && !tweak.monitor;

/** Whether a value is none, which an optional tweak can have. */
export const isNone = (tweak, value) => Boolean(tweak.optional) && value === none;

export function equalValues(a, b) {
  return a === b || (typeof a === "number" && Number.isNaN(a) && Number.isNaN(b)) ||
    (typeof a === "bigint" && typeof b === "number" && Number(a) === b);
}

/** Whether the value differs from the default, or the default was set explicitly. */
export function isChanged(tweak) {
  if (tweak.type === "action" || tweak.monitor) return false;
  if (tweak.local) return tweak.local.isSet;
  return tweak.source === "override" || tweak.pendingValue !== undefined || !equalValues(tweak.value, tweak.default);
}

/** Whether a reset would have an effect. */
export const isSet = (tweak) =>
  tweak.local ? tweak.local.isSet : tweak.source === "override" || tweak.tried === "here" || Boolean(tweak.hiddenBy) ||
    tweak.pendingValue !== undefined || isPatched(tweak);

// A program without the library has no overrides; its memory is written instead.
const isPatched = (tweak) =>
  tweak.source === "memory" || (isSettable(tweak) && tweak.source === "default" &&
    !equalValues(tweak.value, tweak.default));

/** Whether its value waits for a gate of the program. */
export const waitsForGate = (tweak) => tweak.pendingValue !== undefined && Boolean(tweak.gate) && !tweak.needsRestart;

/** Whether its value waits for the next start of the program. */
export const waitsForRestart = (tweak) => tweak.pendingValue !== undefined && !waitsForGate(tweak);

/** Whether the sources have its value, and the program has it as the default after its next build. */
export const waitsForBuild = (tweak) =>
  tweak.isBaked && !tweak.local && !equalValues(currentValue(tweak), tweak.default);

/** Whether the expiry date of the tweak has passed. */
export function isExpired(tweak, today = new Date().toISOString().slice(0, 10)) {
  return Boolean(tweak.expires) && tweak.expires < today;
}

/** A value to display: the label of a choice, on or off, a number with its decimals and unit. */
export function valueText(tweak, value, { unit = true, label = true } = {}) {
  if (value === undefined || value === null) return "";
  if (isNone(tweak, value)) return none;
  if (label && tweak.choices) {
    const choice = tweak.choices.find((one) => equalValues(one.value, value));
    if (choice?.label) return shown(choice.label);
  }
  if (typeof value === "boolean") return value ? "on" : "off";
  if (isNumber(tweak.type)) {
    const text = numberText(tweak, value);
    return unit && tweak.unit ? `${text} ${shown(tweak.unit)}` : text;
  }
  return shown(value);
}

/** A value for a request; numbers are sent as text, so that large integers stay exact. */
export function requestValue(tweak, value) {
  if (isNumber(tweak.type)) return { text: exactText(value) };
  return { value };
}

/** A description of the limits. */
export function limitsText(tweak) {
  const bound = (limit) => limit !== undefined && (typeof limit === "bigint" || Number.isFinite(limit));
  const text = (limit) => numberText({ ...tweak, precision: undefined }, limit);
  const unit = tweak.unit ? ` ${shown(tweak.unit)}` : "";
  if (bound(tweak.minimum) && bound(tweak.maximum)) return `${text(tweak.minimum)} to ${text(tweak.maximum)}${unit}`;
  if (bound(tweak.minimum)) return `at least ${text(tweak.minimum)}${unit}`;
  if (bound(tweak.maximum)) return `at most ${text(tweak.maximum)}${unit}`;
  return "";
}

/** Whether its values can be plotted. Those of an optional tweak cannot be sampled. */
export const isDrawable = (tweak) => (isNumber(tweak.type) || tweak.type === "bool") && !tweak.optional;

/** Whether its values can be tried one after the other while the program runs. */
export const isSweepable = (tweak) =>
  isSettable(tweak) && !tweak.needsRestart && (Boolean(tweak.choices) || tweak.type === "bool" || isNumber(tweak.type));

/** Whether it is a number at all times, which a pad and a ramp need. */
export const isAlwaysNumber = (tweak) => isNumber(tweak.type) && !tweak.optional;

/** Whether it is shown as a number with a sparkline, because only the program changes it. */
export const isMonitored = (tweak) => Boolean(tweak.monitor || tweak.readOnly) && isDrawable(tweak);

/**
 * The names of the tweaks that gate a part of a feature, outermost first: `enabled` of the feature, and the enclosing
 * parts.
 */
export function gatesOf(tweak) {
  if (!tweak.isFeature || tweak.name === "enabled") return [];
  const levels = tweak.name.split("/");
  const around = levels.slice(0, -1).map((_, index) => levels.slice(0, index + 1).join("/"));
  return ["enabled", ...around];
}

/** The nesting depth of a part of a feature. */
export const depthOf = (tweak) => gatesOf(tweak).length;

const pairs = [["x", "y"], ["X", "Y"]];

/** The name of the tweak on the other axis of a pad, and whether this one is the horizontal axis. */
export function partnerName(tweak) {
  if (!isAlwaysNumber(tweak)) return undefined;
  for (const [first, second] of pairs) {
    for (const mine of [first, second]) {
      const isFirst = mine === first;
      const other = isFirst ? second : first;
      if (tweak.name === mine) return { name: other, isFirst };
      if (!tweak.name.endsWith(mine)) continue;
      const before = tweak.name.at(-mine.length - 1);
      if (/[\s_.\-/]/.test(before) || (mine === mine.toUpperCase() && /[\p{Ll}0-9]/u.test(before))) {
        return { name: tweak.name.slice(0, -mine.length) + other, isFirst };
      }
    }
  }
  return undefined;
}
