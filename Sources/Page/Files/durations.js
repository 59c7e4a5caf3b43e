// SPDX-License-Identifier: BSD-3-Clause

// Durations: numbers with a unit of time, shown in the most readable unit. Pure.

const seconds = new Map([
  ["ns", 1e-9],
  ["µs", 1e-6],
  ["μs", 1e-6],
  ["us", 1e-6],
  ["ms", 1e-3],
  ["s", 1],
  ["sec", 1],
  ["second", 1],
  ["seconds", 1],
  ["min", 60],
  ["minute", 60],
  ["minutes", 60],
  ["h", 3600],
  ["hour", 3600],
  ["hours", 3600],
  ["d", 86400],
  ["day", 86400],
  ["days", 86400]
]);
/** The units to choose from. */
export const durationUnits = ["ns", "µs", "ms", "s", "min", "h", "d"];

/** Whether the tweak is a duration. */
export const isDuration = (tweak) =>
  (tweak.type === "double" || tweak.type === "float" || tweak.type?.includes("int")) && seconds.has(tweak.unit);

/** The seconds in a unit of time. */
const secondsOf = (unit) => seconds.get(unit) ?? NaN;

/** The largest unit in which the value is at least 1. */
export function niceUnit(tweak, value) {
  const inSeconds = Math.abs(Number(value)) * secondsOf(tweak.unit);
  if (inSeconds === 0 || !Number.isFinite(inSeconds)) return canonical(tweak.unit);
  let best = "ns";
  for (const unit of durationUnits) if (inSeconds >= secondsOf(unit) * 0.9999) best = unit;
  return best;
}

/** The symbol of a unit, such as `min` for `minutes`. */
export const canonical = (unit) => durationUnits.find((one) => seconds.get(one) === seconds.get(unit)) ?? unit;

/** Converts a number from the tweak's unit to another one. */
export function converted(tweak, value, unit) {
  const factor = secondsOf(tweak.unit) / secondsOf(unit);
  return factor === 1 ? Number(value) : Number((Number(value) * factor).toPrecision(15));
}
