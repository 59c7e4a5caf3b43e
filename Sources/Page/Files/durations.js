// Durations: numbers whose unit is one of time, shown in the unit in which they are short. Pure.

const seconds = new Map([
  ["ns", 1e-9], ["µs", 1e-6], ["μs", 1e-6], ["us", 1e-6], ["ms", 1e-3], ["s", 1], ["sec", 1], ["second", 1],
  ["seconds", 1], ["min", 60], ["minute", 60], ["minutes", 60], ["h", 3600], ["hour", 3600], ["hours", 3600],
  ["d", 86400], ["day", 86400], ["days", 86400],
]);
/** The units that a person is offered. */
export const durationUnits = ["ns", "µs", "ms", "s", "min", "h", "d"];

/** Whether the tweak counts time. */
export const isDuration = (tweak) =>
  (tweak.type === "double" || tweak.type === "float" || tweak.type?.includes("int")) && seconds.has(tweak.unit);

/** The seconds of a unit of time, which it has to be. */
const secondsOf = (unit) => seconds.get(unit) ?? NaN;

/** The unit in which a number is short to read. */
export function niceUnit(tweak, value) {
  const inSeconds = Math.abs(Number(value)) * secondsOf(tweak.unit);
  if (inSeconds === 0 || !Number.isFinite(inSeconds)) return canonical(tweak.unit);
  let best = "ns";
  for (const unit of durationUnits) if (inSeconds >= secondsOf(unit) * 0.9999) best = unit;
  return best;
}

export const canonical = (unit) => durationUnits.find((one) => seconds.get(one) === seconds.get(unit)) ?? unit;

/** A number of the tweak's unit in another one. */
export function converted(tweak, value, unit) {
  const factor = secondsOf(tweak.unit) / secondsOf(unit);
  return factor === 1 ? Number(value) : Number((Number(value) * factor).toPrecision(15));
}
