// What a tweak is on this page: what the server says of it, with numbers of its type and a text to search in. Pure.

import { numberFrom, isNumber, numberText, exactText } from "./numbers.js";
import { shown } from "./names.js";

/** A value of a message as the page has it. */
export function valueFrom(type, raw) {
  return isNumber(type) ? numberFrom(type, raw) : (raw ?? undefined);
}

/** Makes the page's tweak of the server's. */
export function tweakFrom(program, raw, order) {
  const { type } = raw;
  const value = (one) => valueFrom(type, one);
  const tweak = {
    ...raw, program, order, key: raw.tweak, id: `${program}\n${raw.tweak}`, default: value(raw.default),
    minimum: value(raw.minimum), maximum: value(raw.maximum), step: value(raw.step), value: value(raw.value),
    pendingValue: value(raw.pendingValue),
    choices: raw.choices?.map(({ value: one, label }) => ({ value: value(one), label })),
    /** What this page has sent and the server has not confirmed. */
    local: undefined,
    /** What could not be set last, as `{ value, isReset, message }`, until it is changed again. */
    failed: undefined,
    /** How many changes of it the server has told. */
    told: 0,
  };
  if (tweak.step !== undefined && Number(tweak.step) <= 0) tweak.step = undefined;
  tweak.label = shown(raw.title || raw.name);
  tweak.isFeature = raw.category === "Features" && type === "bool";
  tweak.haystack = [raw.title, raw.name, raw.tweak, raw.description, raw.location, raw.group, raw.owner, raw.unit]
    .filter(Boolean).join("\n").toLowerCase();
  return tweak;
}

/** Whether a program declares two tweaks alike, in all options that the server names, whatever their values are. */
export function areAlike(one, other, options) {
  const isAlike = (name) => name === "choices" ? choicesText(one) === choicesText(other) : Object.is(one[name], other[name]);
  return ["type", "order", "default", "monitor"].every(isAlike) && options.every(({ name }) => isAlike(name));
}

const choicesText = ({ choices }) => choices?.map(({ value, label }) => `${typeof value}${value}\n${label}`).join("\n");

/** The value that a control shows: what was typed here, or what the program starts with the next time, or its value. */
export function currentValue(tweak) {
  if (tweak.local) return tweak.local.value;
  return tweak.pendingValue ?? tweak.value;
}

export const isSettable = (tweak) => tweak.type !== "action" && !tweak.readOnly && !tweak.monitor;

export function equalValues(a, b) {
  return a === b || (typeof a === "number" && Number.isNaN(a) && Number.isNaN(b)) ||
    (typeof a === "bigint" && typeof b === "number" && Number(a) === b);
}

/** Whether a person, or a provider, gave it another value than the default, or pinned the default. */
export function isChanged(tweak) {
  if (tweak.type === "action" || tweak.monitor) return false;
  if (tweak.local) return tweak.local.isSet;
  return tweak.source === "override" || tweak.pendingValue !== undefined || !equalValues(tweak.value, tweak.default);
}

/** Whether a reset would take something away. */
export const isSet = (tweak) =>
  tweak.local ? tweak.local.isSet : tweak.source === "override" || Boolean(tweak.hiddenBy) || tweak.pendingValue !== undefined || isPatched(tweak);

// In a program whose memory is written there is nobody who keeps an override.
const isPatched = (tweak) => tweak.source === "memory" || (isSettable(tweak) && tweak.source === "default" &&
  !equalValues(tweak.value, tweak.default));

/** Whether the day has come after which the tweak is forgotten. */
export function isExpired(tweak, today = new Date().toISOString().slice(0, 10)) {
  return Boolean(tweak.expires) && tweak.expires < today;
}

/** A value as a person reads it: the label of a choice, on and off, a number with its decimals. */
export function valueText(tweak, value, { unit = true, label = true } = {}) {
  if (value === undefined || value === null) return "";
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

/** A value as requests have it: as text, in which integers of any size are exact. */
export function requestValue(tweak, value) {
  if (isNumber(tweak.type)) return { text: exactText(value) };
  return { value };
}

/** What limits there are, for a person. */
export function limitsText(tweak) {
  const bound = (limit) => limit !== undefined && (typeof limit === "bigint" || Number.isFinite(limit));
  const text = (limit) => numberText({ ...tweak, precision: undefined }, limit);
  const unit = tweak.unit ? ` ${shown(tweak.unit)}` : "";
  if (bound(tweak.minimum) && bound(tweak.maximum)) return `${text(tweak.minimum)} to ${text(tweak.maximum)}${unit}`;
  if (bound(tweak.minimum)) return `at least ${text(tweak.minimum)}${unit}`;
  if (bound(tweak.maximum)) return `at most ${text(tweak.maximum)}${unit}`;
  return "";
}

/** Whether samples of it can be drawn. */
export const isDrawable = (tweak) => isNumber(tweak.type) || tweak.type === "bool";

/** Whether it changes by itself, so that it is shown as a number with a small graph. */
export const isMonitored = (tweak) => Boolean(tweak.monitor || tweak.readOnly) && isDrawable(tweak);

/**
 * Which tweaks gate a part of a feature: `enabled` of the feature, and the parts around it.
 *
 * - Returns their keys' names, the outermost first.
 */
export function gatesOf(tweak) {
  if (!tweak.isFeature || tweak.name === "enabled") return [];
  const levels = tweak.name.split("/");
  const around = levels.slice(0, -1).map((_, index) => levels.slice(0, index + 1).join("/"));
  return ["enabled", ...around];
}

/** How deep a row of a feature stands inside others. */
export const depthOf = (tweak) => gatesOf(tweak).length;

const pairs = [["x", "y"], ["X", "Y"]];

/** The name of the tweak that is the other axis of a pad, and whether this one is the horizontal axis. */
export function partnerName(tweak) {
  if (!isNumber(tweak.type)) return undefined;
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
