// SPDX-License-Identifier: BSD-3-Clause

// Statistics of a series between two times, and its values against those of another one. Pure.

/** The names of the statistics, in display order: the member and its label. */
export const statisticNames = [["low", "min"], ["high", "max"], ["mean", "mean"], ["rms", "rms"], ["deviation", "sd"], [
  "rate",
  "per second"
]];

/**
 * The smallest and largest value between two times, the mean, the root mean square, the standard deviation, the change
 * per second, and the number of values. Values are weighted by time, so that the rate of the samples does not matter;
 * gaps have no weight. Undefined if there are no values.
 *
 * - isStepped: whether a value holds until the next one; otherwise values between samples are interpolated.
 */
export function statisticsOf(series, from, to, isStepped) {
  let [low, high, duration, sum, squares, count] = [Infinity, -Infinity, 0, 0, 0, 0];
  /** @type {{ time: number, value: number } | undefined} */
  let first;
  /** @type {{ time: number, value: number } | undefined} */
  let last;
  const see = (time, value) => {
    low = Math.min(low, value);
    high = Math.max(high, value);
    first ??= { time, value };
    last = { time, value };
  };
  const [begin, end] = series.indices(from, to);
  for (let index = begin; index < end; index += 1) {
    const [time, value] = [series.time(index), series.value(index)];
    if (!Number.isFinite(value)) continue;
    if (time >= from && time <= to) {
      see(time, value);
      count += 1;
    }
    const hasNext = index + 1 < series.length;
    const [nextTime, next] = hasNext
      ? [series.time(index + 1), series.value(index + 1)]
      : [isStepped ? series.end : time, value];
    const [start, finish] = [Math.max(from, time), Math.min(to, nextTime)];
    if (!(finish > start) || !(isStepped || Number.isFinite(next))) continue;
    const at = (moment) => (isStepped ? value : value + (next - value) * ((moment - time) / (nextTime - time)));
    see(start, at(start));
    see(finish, at(finish));
    // Relative to the first value, because squares of large numbers lose small differences.
    const [a, b] = [at(start) - (first?.value ?? 0), at(finish) - (first?.value ?? 0)];
    duration += finish - start;
    sum += ((a + b) / 2) * (finish - start);
    squares += ((a * a + a * b + b * b) / 3) * (finish - start);
  }
  if (!first || !last) return undefined;
  const offset = duration > 0 ? sum / duration : 0;
  const variance = duration > 0 ? Math.max(0, squares / duration - offset * offset) : 0;
  const mean = first.value + offset;
  return {
    low,
    high,
    mean,
    rms: Math.sqrt(mean * mean + variance),
    deviation: Math.sqrt(variance),
    rate: last.time > first.time ? (last.value - first.value) / (last.time - first.time) : undefined,
    count
  };
}

/**
 * The values of one series against those of another one at the same times, oldest first: runs of `[x, y]` between gaps.
 */
export function pairsOf(horizontal, vertical, from, to) {
  /** @type {[number, number][][]} */
  const runs = [];
  let isBegun = false;
  let at = horizontal.indexAt(from);
  for (let index = vertical.indexAt(from); index < vertical.length && vertical.time(index) <= to; index += 1) {
    const time = vertical.time(index);
    while (at < horizontal.length && horizontal.time(at) <= time) at += 1;
    /** @type {[number, number]} */
    const pair = [at > 0 && time <= horizontal.end ? horizontal.value(at - 1) : NaN, vertical.value(index)];
    const isWhole = pair.every(Number.isFinite);
    if (isWhole && isBegun) runs[runs.length - 1].push(pair);
    else if (isWhole) runs.push([pair]);
    isBegun = isWhole;
  }
  return runs;
}
