// SPDX-License-Identifier: BSD-3-Clause

// The values of a fleet as rows, and their texts. Pure.

import { shown } from "../names.js";

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** The category, the collection and the name of a tweak. */
export const levelsOf = (key) => key.split("/").map((level) => level.replaceAll("%2F", "/").replaceAll("%25", "%"));

/** The last level, or for the switch of a feature its collection too. */
export function labelOf(key) {
  const [category, collection, name] = levelsOf(key);
  return shown(category === "Features" && name === "enabled" ? collection : name);
}

/** The heading above a tweak. The switches of features share one. */
export function groupOf(key) {
  const [category, collection, name] = levelsOf(key);
  return (category === "Features" && name === "enabled" ? [category] : [category, collection]).map(shown).join(" › ");
}

/** A value as `tweak fleet list` and `history` show it. */
export function valueText(value) {
  if (value === undefined || value === null) return "none";
  return typeof value === "string" ? `"${shown(value)}"` : String(value);
}

/** The hosts that a value is for, in words as far as there are some. */
export function filtersText(filters) {
  if (!filters) return "";
  const { percentage, ...others } = filters;
  const parts = Object.entries(others).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  if (percentage !== undefined) parts.unshift(`${percentage} %`);
  return shown(`for ${parts.join(", ")}`);
}

/** A value with the hosts it is for, and the value of the others during a rollout. */
export function stateText(value, filters, otherwise) {
  if (value === undefined || value === null) return valueText(value);
  return [valueText(value), filtersText(filters)].filter(Boolean).join(" ") +
    (otherwise ? `, otherwise ${stateText(otherwise.value, otherwise.for)}` : "");
}

/** How long ago a time in the format of RFC 3339 was. */
export function agoText(at, now = Date.now()) {
  const seconds = Math.round((now - Date.parse(at)) / 1000);
  if (!Number.isFinite(seconds)) return shown(at);
  if (seconds < minute) return "just now";
  if (seconds < hour) return `${Math.floor(seconds / minute)} min ago`;
  if (seconds < day) return `${Math.floor(seconds / hour)} h ago`;
  const days = Math.floor(seconds / day);
  return days === 1 ? "yesterday" : days < 60 ? `${days} days ago` : shown(at.slice(0, 10));
}

/**
 * The rows of the list: values and kills, and with `isWhole` also declared tweaks without a value.
 *
 * @returns {{ tweak: string, entry?: any, kill?: any, declaration?: any }[]}
 */
export function rowsOf(
  /** @type {{ tweaks?: any[], kills?: any[] }} */ { tweaks = [], kills = [] } = {},
  declared = new Map(),
  isWhole = false
) {
  /** @type {Map<string, { tweak: string, entry?: any, kill?: any }>} */
  const rows = new Map(tweaks.map((entry) => [entry.tweak, { tweak: entry.tweak, entry }]));
  for (const kill of kills) rows.set(kill.tweak, { tweak: kill.tweak, ...rows.get(kill.tweak), kill });
  if (isWhole) {
    for (const [tweak, { monitor, type }] of declared)
      if (!monitor && type !== "action" && !rows.has(tweak)) rows.set(tweak, { tweak });
  }
  return [...rows.values()].map((row) => ({ ...row, declaration: declared.get(row.tweak) }))
    .sort((one, other) => (one.tweak < other.tweak ? -1 : 1));
}

/** Whether a row contains all words of a search. */
export function matches(/** @type {{ tweak: string, entry?: any, kill?: any }} */ { tweak, entry, kill }, words) {
  const texts = [
    tweak,
    valueText(entry?.value),
    filtersText(entry?.for),
    entry?.by,
    entry?.why,
    kill ? "killed" : "",
    kill?.by,
    kill?.why
  ];
  const text = texts.filter(Boolean).join("\n").toLowerCase();
  return words.every((word) => text.includes(word));
}

export const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

/** The values that a declaration allows, in words. */
export function allowedText(declaration) {
  if (!declaration) return "";
  const { minimum, maximum, type, optional } = declaration;
  const limits = minimum !== undefined && maximum !== undefined
    ? `${minimum} to ${maximum}`
    : minimum !== undefined
    ? `at least ${minimum}`
    : maximum !== undefined
    ? `at most ${maximum}`
    : "";
  return [type, limits, optional && "or none"].filter(Boolean).join(", ");
}

/** The control for a value: "switch", "choice", "number", "text", or "json" if the type is unknown. */
export function controlFor(declaration, value) {
  if (declaration?.choices) return "choice";
  const type = declaration?.type ?? { boolean: "bool", number: "double", string: "string" }[typeof value];
  if (type === "bool") return "switch";
  if (type === undefined) return "json";
  return type === "string" || type === "color" ? "text" : "number";
}

/** A text as the argument of `tweak fleet set`, which reads JSON where a type is not declared. */
export const argumentFor = (
  text,
  control,
  declaration
) => (control === "text" && !declaration ? JSON.stringify(text) : text);

/** The parts of a change, kills last. */
export const partsOf = (
  { changes = [], kills = [] }
) => [...changes, ...kills.map((kill) => ({ ...kill, isKill: true }))];

/** The values of a part before and after. */
export function partTexts(
  { isKill, oldValue: before, newValue: after, oldFor, newFor, oldOtherwise, newOtherwise, oldProblem }
) {
  if (isKill) return after === undefined || after === null ? ["killed", "no longer killed"] : ["not killed", "killed"];
  return [oldProblem ? "unusable" : stateText(before, oldFor, oldOtherwise), stateText(after, newFor, newOtherwise)];
}

/** The stage of an environment by its name: "production", "staging" or empty. */
export function stageOf(environment) {
  const name = environment.toLowerCase();
  return /^(prod|production|live)([^a-z]|$)/.test(name)
    ? "production"
    : /^(stage|staging|preprod|canary|beta)([^a-z]|$)/.test(name)
    ? "staging"
    : "";
}

/** The value that hosts use, as far as the fleet decides: what a kill leaves of it comes first. */
export function effectText({ entry, kill, declaration }) {
  if (kill) return "off";
  if (!entry) return "no value";
  return entry.problem ? "unusable" : valueText(entry.value) + (declaration?.unit ? ` ${shown(declaration.unit)}` : "");
}
