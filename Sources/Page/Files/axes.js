// SPDX-License-Identifier: BSD-3-Clause

// The plots of a graph: which lines share a plot and an axis, ranges and ticks. Pure.

import { shortText } from "./numbers.js";

/**
 * The layouts: name and label.
 *
 * @type {[string, string][]}
 */
export const layouts = [["units", "By unit"], ["together", "One plot"], ["lines", "By line"], ["xy", "XY"]];

/** The layout with a name; the first one for other names. */
export const layoutNamed = (name) => (layouts.some(([one]) => one === name) ? name : layouts[0][0]);

/** Whether the values of a tweak are states with names. */
export const hasStates = (tweak) => tweak.type === "bool" || Boolean(tweak.choices?.some(({ label }) => label));

/** What an axis shows: a unit, the states of one tweak, or off and on. */
function measureOf(tweak) {
  if (tweak.type === "bool") return "bool";
  return hasStates(tweak) ? `states\n${tweak.id}` : `unit\n${tweak.unit ?? ""}`;
}

/**
 * The plots of lines, from top to bottom, as `{ key, axes }`, where an axis is `{ key, tweak, lines }`.
 *
 * - lines: the lines as `{ id, tweak }`.
 */
export function plotsOf(lines, layout) {
  const plots = new Map();
  for (const line of lines) {
    const measure = measureOf(line.tweak);
    const key = layout === "together" ? "" : layout === "lines" ? line.id : measure;
    if (!plots.has(key)) plots.set(key, new Map());
    const axes = plots.get(key);
    if (!axes.has(measure)) axes.set(measure, { key: `${key}\n${measure}`, tweak: line.tweak, lines: [] });
    axes.get(measure).lines.push(line);
  }
  return [...plots].map(([key, axes]) => ({ key, axes: [...axes.values()] }));
}

/** A range that contains all ranges, never empty, with a margin. */
export function rangeOf(ranges) {
  let low = Infinity;
  let high = -Infinity;
  for (const range of ranges) {
    if (!range) continue;
    low = Math.min(low, range[0]);
    high = Math.max(high, range[1]);
  }
  if (low > high) return [0, 1];
  if (low === high) {
    const space = Math.abs(low) * 0.1 || 1;
    return [low - space, high + space];
  }
  // Halved, because the difference of the largest doubles overflows.
  const space = (high / 2 - low / 2) * 0.1;
  return [low - space, high + space];
}

/**
 * The range of an axis: the last one while it contains all ranges and they take most of it, so that its numbers rest.
 */
export function restingRange(before, ranges) {
  const range = rangeOf(ranges);
  const isInside = before && ranges.every((one) => !one || (one[0] >= before[0] && one[1] <= before[1]));
  return isInside && range[1] - range[0] > 0.6 * (before[1] - before[0]) ? before : range;
}

/** About `count` round numbers between two limits, at least `least` apart. */
export function ticks(low, high, count, least = 0) {
  const rough = Math.max(least, high / count - low / count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough) ?? rough;
  const numbers = [];
  for (let index = Math.ceil(low / step); index * step <= high + step * 1e-9 && numbers.length < 50; index += 1) {
    // Large numbers have neighbours further away than a small step.
    if (index * step !== numbers.at(-1)) numbers.push(index === 0 ? 0 : index * step);
  }
  return numbers;
}

/** The texts of different numbers in order, with the same decimals and never twice the same. */
export function tickTexts(numbers) {
  const largest = Math.max(...numbers.map(Math.abs));
  const step = numbers.length > 1 ? numbers[1] - numbers[0] : largest;
  const decimals = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  if (largest < 1e9 && decimals <= 6) return numbers.map((number) => number.toFixed(decimals));
  for (let digits = 4; digits < 17; digits += 1) {
    const texts = numbers.map((number) => shortText(number, digits));
    if (new Set(texts).size === texts.length) return texts;
  }
  return numbers.map((number) => shortText(number, 17));
}

/**
 * The ticks of an axis as `[value, text]`: names for states, otherwise round numbers, and only integers if `isWhole`.
 */
export function axisTicks(tweak, low, high, count, isWhole = false) {
  if (!hasStates(tweak)) {
    let numbers = ticks(low, high, count, Number(isWhole));
    // One number is no scale.
    for (let more = 2; numbers.length < 2 && more < 5; more += 1)
      numbers = ticks(low, high, count * more, Number(isWhole));
    const texts = tickTexts(numbers);
    return numbers.map((value, index) => [value, texts[index]]);
  }
  const isUsed = (text, count = 0) => tweak.choices.filter(({ label }) => label === text).length > count;
  const states = tweak.type === "bool" ? [[0, "off"], [1, "on"]] : tweak.choices.map((
    { value, label }
  ) => [Number(value), !label ? String(value) : isUsed(label, 1) ? `${label} (${value})` : label]);
  return states.filter(([value]) => value >= low && value <= high);
}
