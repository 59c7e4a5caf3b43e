// Durations: numbers whose unit is one of time, typed and read as a person says them. Pure.

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

/** The unit in which a number is short to read. */
export function niceUnit(tweak, value) {
  const inSeconds = Math.abs(Number(value)) * seconds.get(tweak.unit);
  if (inSeconds === 0 || !Number.isFinite(inSeconds)) return canonical(tweak.unit);
  let best = "ns";
  for (const unit of durationUnits) if (inSeconds >= seconds.get(unit) * 0.9999) best = unit;
  return best;
}

export const canonical = (unit) => durationUnits.find((one) => seconds.get(one) === seconds.get(unit)) ?? unit;

/** A number of the tweak's unit in another one. */
export function converted(tweak, value, unit) {
  const factor = seconds.get(tweak.unit) / seconds.get(unit);
  return factor === 1 ? Number(value) : Number((Number(value) * factor).toPrecision(15));
}

/** A number in another unit, in the tweak's. */
export function convertedBack(tweak, value, unit) {
  const factor = seconds.get(unit) / seconds.get(tweak.unit);
  return factor === 1 ? Number(value) : Number((Number(value) * factor).toPrecision(15));
}

/**
 * What a person typed, such as `300 ms`, `1:30`, `2 min 5 s` or `1.5h`, in the tweak's unit; `undefined` if it names no
 * unit of time.
 */
export function parseDuration(tweak, text) {
  const clock = /^\s*(-?)(?:([0-9]+):)?([0-9]+):([0-9]+(?:\.[0-9]+)?)\s*$/.exec(text);
  if (clock) {
    const [, sign, hours, minutes, rest] = clock;
    const total = Number(hours ?? 0) * 3600 + Number(minutes) * 60 + Number(rest);
    return convertedBack(tweak, sign ? -total : total, "s");
  }
  const parts = [...text.matchAll(/([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?)\s*([\p{L}µμ]+)/giu)];
  const left = text.replaceAll(/([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?)\s*([\p{L}µμ]+)/giu, "").trim();
  if (parts.length === 0 || left !== "") return undefined;
  let total = 0;
  for (const [, number, unit] of parts) {
    const factor = seconds.get(unit) ?? seconds.get(unit.toLowerCase());
    if (factor === undefined) return undefined;
    total += Number(number) * factor;
  }
  return convertedBack(tweak, total, "s");
}
