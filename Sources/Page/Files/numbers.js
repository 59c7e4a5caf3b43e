// SPDX-License-Identifier: BSD-3-Clause

// Types, ranges, steps, scales and texts of numbers. Pure.
//
// 64-bit integers are BigInts, all other numbers are Numbers. Slider positions range from 0 to 1.

const integerTypes = new Map([
  ["int8", [-(2 ** 7), 2 ** 7 - 1]],
  ["int16", [-(2 ** 15), 2 ** 15 - 1]],
  ["int32", [-(2 ** 31), 2 ** 31 - 1]],
  ["int64", [-(2n ** 63n), 2n ** 63n - 1n]],
  ["uint8", [0, 2 ** 8 - 1]],
  ["uint16", [0, 2 ** 16 - 1]],
  ["uint32", [0, 2 ** 32 - 1]],
  ["uint64", [0n, 2n ** 64n - 1n]]
]);
const largestFloat = 3.4028234663852886e38;

/** The value of an optional tweak that has none, as in messages. */
export const none = "none";

export const isInteger = (type) => integerTypes.has(type);
export const isReal = (type) => type === "float" || type === "double";
export const isNumber = (type) => isInteger(type) || isReal(type);
export const isWide = (type) => type === "int64" || type === "uint64";

/**
 * The smallest and largest values of a type.
 *
 * @returns {any[]}
 */
export function typeLimits(type) {
  if (type === "float") return [-largestFloat, largestFloat];
  return integerTypes.get(type) ?? [-Number.MAX_VALUE, Number.MAX_VALUE];
}

/** A number in a message, which may be `"inf"`, as a value of a type. */
export function numberFrom(type, raw) {
  if (raw === undefined || raw === null) return undefined;
  if (isWide(type)) {
    try {
      return BigInt(raw);
    } catch {
      return undefined;
    }
  }
  if (typeof raw === "string") {
    if (/^[-+]?inf/i.test(raw)) return raw.startsWith("-") ? -Infinity : Infinity;
    if (/^-?nan/i.test(raw)) return NaN;
  }
  const number = Number(raw);
  return Number.isNaN(number) ? undefined : number;
}

/** The number from which sliders and keys move a value: of no value the default, or the number nearest to 0. */
export function numberOf(tweak, value) {
  if (value !== none) return value;
  return (tweak.default ?? none) === none ? admitted(tweak, isWide(tweak.type) ? 0n : 0) : tweak.default;
}

/** The smallest and largest values that the tweak allows. */
export function limitsOf(tweak) {
  const [low, high] = isReal(tweak.type) ? [-Infinity, Infinity] : typeLimits(tweak.type);
  return [tweak.minimum ?? low, tweak.maximum ?? high];
}

/** The nearest value that the type and the limits allow; an integer is rounded. */
export function admitted(tweak, number) {
  const { type } = tweak;
  const [low, high] = limitsOf(tweak);
  let value = number;
  if (isWide(type)) {
    if (typeof value !== "bigint") value = bigFrom(value, low, high);
  } else {
    value = Number(value);
    if (isInteger(type)) value = roundHalfAway(value);
    if (type === "float" && Number.isFinite(value)) value = shortestFloat(value);
  }
  if (value < low) return low;
  if (value > high) return high;
  return value;
}

/** @returns {any} a BigInt */
function bigFrom(number, low, high) {
  if (Number.isNaN(number)) return low > 0n ? low : 0n;
  if (number === Infinity) return high;
  if (number === -Infinity) return low;
  return BigInt(roundHalfAway(number));
}

const roundHalfAway = (number) => (number < 0 ? -Math.round(-number) : Math.round(number));

/** The number with the fewest digits that rounds to the same float. */
export function shortestFloat(number) {
  const float = Math.fround(number);
  if (!Number.isFinite(float)) return number < 0 ? -largestFloat : largestFloat;
  for (let digits = 1; digits < 10; digits += 1) {
    const short = Number(float.toPrecision(digits));
    if (Math.fround(short) === float) return short;
  }
  return float;
}

/**
 * Typed arithmetic with decimal points in place of decimal commas. Left as it is: a comma that can separate thousands
 * or
 * arguments, and a number that has several.
 */
export function withPoints(text) {
  /** Whether each open parenthesis is that of a function. */
  const open = [];
  let result = "";
  for (const part of text.match(/[\d_.,]+|\p{L}[\p{L}\d_]*\s*\(|./gsu) ?? []) {
    if (part.endsWith("(")) open.push(part !== "(");
    else if (part === ")") open.pop();
    const isDecimal = /^\d*,\d+$/.test(part) && !/^[1-9]\d{0,2},\d{3}$/.test(part) && !open.includes(true);
    result += isDecimal ? part.replace(",", ".") : part;
  }
  return result;
}

/** The next round number: 1, 2, 2.5 or 5 times a power of ten. */
export function roundUp(number) {
  if (!(number > 0) || !Number.isFinite(number)) return number;
  const power = 10 ** Math.floor(Math.log10(number));
  for (const factor of [1, 2, 2.5, 5, 10]) {
    const candidate = cleaned(factor * power);
    if (candidate >= number) return candidate;
  }
  return number;
}

/** Removes rounding errors of binary fractions: 0.30000000000000004 becomes 0.3. */
export function cleaned(number) {
  if (!Number.isFinite(number) || Number.isInteger(number)) return number;
  return Number(number.toPrecision(14));
}

/**
 * The range of a slider: the limits if declared, otherwise a guess around the default and the current value.
 *
 * @returns {{ low: any, high: any, isGuess: boolean }} numbers of the tweak's type
 */
export function sliderRange(tweak, value = tweak.value) {
  const { type } = tweak;
  const [typeLow, typeHigh] = typeLimits(type);
  const hasLow = isBound(tweak.minimum);
  const hasHigh = isBound(tweak.maximum);
  if (hasLow && hasHigh) return { low: tweak.minimum, high: tweak.maximum, isGuess: false };
  if (type === "int8" || type === "uint8") {
    return { low: hasLow ? tweak.minimum : typeLow, high: hasHigh ? tweak.maximum : typeHigh, isGuess: false };
  }
  const numbers = [tweak.default, value].filter((number) => number !== undefined).map(Number);
  const finite = numbers.filter(Number.isFinite);
  const largest = Math.max(0, ...finite.map(Math.abs));
  const reach = largest === 0 ? (isInteger(type) ? 100 : 1) : Math.max(roundUp(largest * 2), isInteger(type) ? 10 : 0);
  const lowest = Math.min(...finite, 0);
  let low = hasLow ? Number(tweak.minimum) : lowest < 0 ? -reach : 0;
  let high = hasHigh ? Number(tweak.maximum) : reach;
  if (!hasLow && !hasHigh && largest === 0 && !type.startsWith("u")) low = -reach;
  if (hasLow && !hasHigh) high = low + Math.max(reach, reach - low);
  if (hasHigh && !hasLow && low >= high) low = high - reach;
  if (isReal(type)) {
    low = Math.max(low, typeLow);
    high = Math.min(high, typeHigh);
  }
  if (isWide(type)) {
    const lowest = hasLow ? tweak.minimum : maximum(bigFrom(low, typeLow, typeHigh), typeLow);
    const highest = hasHigh ? tweak.maximum : minimum(bigFrom(high, typeLow, typeHigh), typeHigh);
    return { low: lowest, high: highest, isGuess: true };
  }
  if (isInteger(type)) {
    low = Math.max(low, Number(typeLow));
    high = Math.min(high, Number(typeHigh));
  }
  return { low, high, isGuess: true };
}

const maximum = (a, b) => (a > b ? a : b);
const minimum = (a, b) => (a < b ? a : b);
const isBound = (limit) => limit !== undefined && (typeof limit === "bigint" || Number.isFinite(limit));

/** Whether a slider is logarithmic: the tweak declares it, or its limits span three decades. */
export function isLogarithmic(tweak) {
  if (tweak.scale === "linear") return false;
  const { low, high, isGuess } = sliderRange(tweak);
  if (tweak.scale === "log") return Number(low) > 0;
  return !isGuess && Number(low) > 0 && Number(high) / Number(low) >= 1000;
}

/** The position of a value on a slider. */
export function positionOf(tweak, value, range = sliderRange(tweak)) {
  const [low, high, number] = [Number(range.low), Number(range.high), Number(numberOf(tweak, value))];
  if (!(high > low)) return 0;
  if (!(number > low)) return 0;
  if (number >= high) return 1;
  if (!isLogarithmic(tweak)) {
    // Halved, because the difference of the largest doubles overflows.
    return (number / 2 - low / 2) / (high / 2 - low / 2);
  }
  return Math.log(number / low) / Math.log(high / low);
}

/** The positions of the powers of ten on a logarithmic slider, or of some if there are many. */
export function decades(tweak, range) {
  const [first, last] = [Math.ceil(Math.log10(Number(range.low))), Math.floor(Math.log10(Number(range.high)))];
  const step = Math.ceil((last - first + 1) / 12);
  const positions = [];
  for (let power = first; power <= last; power += step) positions.push(positionOf(tweak, 10 ** power, range));
  return positions;
}

/** The value at a slider position, rounded to the step of the tweak. */
export function valueAt(tweak, position, range = sliderRange(tweak), quanta = 1000) {
  if (position <= 0) return range.low;
  if (position >= 1) return range.high;
  const [low, high] = [Number(range.low), Number(range.high)];
  let number;
  let quantum;
  if (isLogarithmic(tweak)) {
    number = low * (high / low) ** position;
    quantum = (number * Math.log(high / low)) / quanta;
  } else {
    number = low * (1 - position) + high * position;
    quantum = high / quanta - low / quanta;
  }
  if (tweak.step !== undefined && Number(tweak.step) > 0) return onStep(tweak, number, range);
  if (isReal(tweak.type)) {
    const digits = tweak.precision ?? Math.min(17, Math.max(0, Math.ceil(-Math.log10(quantum))));
    number = digits <= 17 && Math.abs(number) < 1e15 ? Number(number.toFixed(Math.min(digits, 17))) : number;
    if (number === 0) number = 0;
  }
  if (isWide(tweak.type)) return wideValueAt(number, range);
  return clamp(admitted(tweak, number), range);
}

function wideValueAt(number, range) {
  return clamp(bigFrom(number, range.low, range.high), range);
}

/** The nearest value a whole number of steps from the minimum, or from the default if there is none. */
export function onStep(tweak, value, range = sliderRange(tweak)) {
  const base = isBound(tweak.minimum) ? tweak.minimum : numberOf(tweak, tweak.default ?? none);
  if (isWide(tweak.type)) {
    const step = tweak.step;
    const number = typeof value === "bigint" ? value : bigFrom(value, range.low, range.high);
    const offset = BigInt(number - base);
    const half = BigInt(step) / 2n;
    const steps = offset >= 0n ? (offset + half) / step : -((-offset + half) / step);
    let result = base + steps * step;
    if (result > range.high) result -= step;
    if (result < range.low) result += step;
    return clamp(result, range);
  }
  const step = Number(tweak.step);
  let steps = Math.round((Number(value) - Number(base)) / step);
  if (Number(base) + steps * step > Number(range.high) * (1 + 1e-12) + step * 1e-9) steps -= 1;
  let number = cleaned(Number(base) + steps * step);
  const decimals = Math.max(decimalsOf(step), decimalsOf(Number(base)));
  if (decimals <= 15 && Math.abs(number) < 1e15) number = Number(number.toFixed(decimals));
  return clamp(admitted(tweak, number), range);
}

function decimalsOf(number) {
  const [mantissa, exponent] = String(number).split("e");
  const places = mantissa.includes(".") ? mantissa.length - mantissa.indexOf(".") - 1 : 0;
  return Math.max(0, places - Number(exponent ?? 0));
}

const clamp = (value, range) => (value < range.low ? range.low : value > range.high ? range.high : value);

/** The change made by one press of an arrow key, without Shift or Alt. */
export function pressStep(tweak) {
  if (tweak.step !== undefined && Number(tweak.step) > 0) return tweak.step;
  if (isWide(tweak.type)) {
    const range = sliderRange(tweak);
    const step = isBound(tweak.minimum) && isBound(tweak.maximum) ? BigInt(range.high - range.low) / 100n : 1n;
    return bigPower(step);
  }
  if (isInteger(tweak.type)) {
    const range = sliderRange(tweak);
    return range.isGuess ? 1 : Math.max(1, powerBelow((range.high - range.low) / 100));
  }
  if (tweak.precision !== undefined && sliderRange(tweak).isGuess) return 10 ** -tweak.precision;
  const range = sliderRange(tweak);
  return powerBelow(Number(range.high) / 100 - Number(range.low) / 100) || 0.01;
}

function bigPower(step) {
  let power = 1n;
  while (power * 10n <= step) power *= 10n;
  return power;
}

const powerBelow = (number) => (number > 0 ? cleaned(10 ** Math.floor(Math.log10(number) + 1e-9)) : 0);

/**
 * The value after a number of presses.
 *
 * - size: "fine" is a tenth of a step, "coarse" is ten steps. Integers change by at least 1.
 */
export function stepped(tweak, from, presses, size = "normal") {
  const value = numberOf(tweak, from);
  const step = pressStep(tweak);
  if (isWide(tweak.type)) {
    let width = size === "coarse" ? step * 10n : size === "fine" ? step / 10n : step;
    if (width < 1n) width = 1n;
    const moved = value + BigInt(presses) * width;
    return admitted(tweak, moved);
  }
  if (isLogarithmic(tweak) && tweak.step === undefined && !isInteger(tweak.type)) {
    return steppedByFactor(tweak, value, presses, size);
  }
  let width = Number(step) * (size === "coarse" ? 10 : size === "fine" ? 0.1 : 1);
  if (isInteger(tweak.type)) width = Math.max(1, Math.round(width));
  const moved = Number(value) + presses * width;
  if (!isReal(tweak.type)) return admitted(tweak, moved);
  const decimals = Math.max(decimalsOf(cleaned(width)), decimalsOf(Number(value)));
  return admitted(tweak, decimals <= 15 && Math.abs(moved) < 1e15 ? Number(moved.toFixed(decimals)) : moved);
}

/** On a logarithmic scale a press changes a value by a hundredth of its power of ten. */
function steppedByFactor(tweak, value, presses, size) {
  const number = Number(value);
  const power = Math.floor(Math.log10(Math.max(Math.abs(number), Number(sliderRange(tweak).low))) + 1e-9);
  const width = 10 ** (power - 2) * (size === "coarse" ? 10 : size === "fine" ? 0.1 : 1);
  return admitted(tweak, cleaned(Number((number + presses * width).toPrecision(12))));
}

/** A number to display, with the decimals declared by the tweak. */
export function numberText(tweak, value) {
  if (value === undefined || value === null) return "";
  if (typeof value === "bigint" || value === none) return String(value);
  const number = Number(value);
  if (!Number.isFinite(number)) return Number.isNaN(number) ? "nan" : number < 0 ? "-inf" : "inf";
  if (!isReal(tweak.type)) return String(number);
  if (tweak.precision !== undefined && Math.abs(number) < 1e15) {
    const text = number.toFixed(Math.min(tweak.precision, 17));
    // Show all digits of a value that more decimals were set for, because the text can be edited.
    if (tweak.monitor || Number(text) === number) return text;
  }
  return plainText(number);
}

/** A short text of a number, for axes and monitors. */
export function shortText(number, digits = 5) {
  if (typeof number === "bigint") return String(number);
  if (!Number.isFinite(number)) return Number.isNaN(number) ? "nan" : number < 0 ? "-inf" : "inf";
  return plainText(Number(number.toPrecision(digits)));
}

/** A short text of a number that changes within a range: all of them have the same decimals. */
export function fixedText(number, [low, high]) {
  const largest = Math.max(Math.abs(low), Math.abs(high));
  if (low === high || !(largest >= 1e-4 && largest < 1e9) || !(Math.abs(number) < 1e9)) return shortText(number);
  return number.toFixed(Math.max(0, 4 - Math.floor(Math.log10(largest)))).replace(/^-(?=[0.]*$)/, "");
}

function plainText(number) {
  if (Object.is(number, -0)) return "0";
  return String(number).replace("e+", "e");
}

/** The exact text of a value, as commands and programs parse it. */
export function exactText(value) {
  if (typeof value === "number" && !Number.isFinite(value)) {
    return Number.isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf";
  }
  return String(value);
}
