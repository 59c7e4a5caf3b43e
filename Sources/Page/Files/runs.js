// SPDX-License-Identifier: BSD-3-Clause

// The runs of a sweep: the values of a tweak that are tried, their order, the statistics of each run, and the table.
// Pure.

import { csvField, shellWord } from "./copying.js";
import { exactText, valueAt } from "./numbers.js";
import { isStepped } from "./plotting.js";
import { statisticsOf } from "./statistics.js";
import { equalValues, valueText } from "./tweaks.js";

/** The most values of a range. */
export const mostValues = 50;
/** The runs after which the value before the sweep is measured again, as by `tweak sweep`. */
const referenceInterval = 10;

/** The columns of a monitor: the statistic and its label. */
export const columns = [["mean", "mean"], ["difference", "difference"], ["deviation", "sd"], ["low", "min"], [
  "high",
  "max"
], ["count", "n"]];

/** All values of a tweak, if it has choices or is a bool. */
export const allValues = (tweak) =>
  tweak.choices?.map(({ value }) => value) ?? (tweak.type === "bool" ? [false, true] : undefined);

/** The values from one to another at equal distances on the slider of the tweak, lowest first, each once. */
export function valuesBetween(tweak, from, to, count) {
  const [low, high] = from < to ? [from, to] : [to, from];
  const range = { low, high, isGuess: true };
  const values = [];
  for (let index = 0; index < count; index += 1) {
    const value = valueAt(tweak, index / (count - 1), range);
    if (!values.some((one) => equalValues(one, value))) values.push(value);
  }
  return values;
}

/**
 * The values in random order. Undefined stands for the value before the sweep, which is first, last, and in between, so
 * that the table shows a drift.
 */
export function orderOf(values, random = Math.random) {
  const rest = [...values];
  const order = [undefined];
  for (let number = 0; rest.length > 0; number += 1) {
    if (number > 0 && number % referenceInterval === 0) order.push(undefined);
    order.push(...rest.splice(Math.floor(random() * rest.length), 1));
  }
  return [...order, undefined];
}

/**
 * The statistics of the samples of a monitor between two times, without the later one, and their number. Undefined if
 * there are none.
 */
export function measured(series, tweak, from, to) {
  const [begin, end] = [series.indexAt(from), series.indexAt(to)];
  if (begin === end) return undefined;
  // From the first sample to the last one, because a line from outside has the value before the run.
  return statisticsOf(series, series.time(begin), series.time(end - 1), isStepped({ tweak }));
}

/**
 * Adds to the statistics of each run their differences from the value before the sweep: from the mean of all its runs.
 *
 * - runs: as `{ value, isReference, results }`, where `results` has the statistics by the ID of the monitor.
 */
export function compare(runs) {
  const levels = new Map();
  for (const { isReference, results } of runs) {
    for (const [id, found] of isReference ? results : [])
      if (found) levels.set(id, [...(levels.get(id) ?? []), found.mean]);
  }
  for (const { results } of runs) {
    for (const [id, found] of results) {
      const means = levels.get(id);
      if (found && means) found.difference = found.mean - means.reduce((sum, mean) => sum + mean, 0) / means.length;
    }
  }
}

/** A cell by which runs are sorted: the run's number, its value, or a statistic of a monitor. */
export function cellOf(run, { id, name }) {
  if (name === "number") return run.number;
  if (name === "value") return run.value;
  return run.results.get(id)?.[name];
}

/** The runs sorted by a column. Those without a number in it are last, and of equal ones the earlier first. */
export function sorted(runs, column, isDescending) {
  const before = (one, other) => {
    const [a, b] = [one, other].map((run) => cellOf(run, column));
    const known = [a, b].map((cell) => cell !== undefined && !Number.isNaN(cell));
    if (!known[0] || !known[1]) return Number(known[1]) - Number(known[0]);
    const order = a < b ? -1 : a > b ? 1 : 0;
    return (isDescending ? -order : order) || one.number - other.number;
  };
  return [...runs].sort(before);
}

/** The table of all monitors as CSV, in the order of the runs. */
export function csvOf(tweak, monitors, runs) {
  const head = [
    "run",
    tweak.key,
    "reference",
    ...monitors.flatMap(({ key }) => columns.map(([, label]) => `${key} ${label}`))
  ];
  const rows = runs.map((run) => [
    run.number,
    valueWord(run.value),
    run.isReference ? "yes" : "no",
    ...monitors.flatMap(({ id }) =>
      columns.map(([name]) => {
        const cell = cellOf(run, { id, name });
        return cell === undefined ? "" : exactText(cell);
      })
    )
  ]);
  return `${[head, ...rows].map((row) => row.map(csvField).join(",")).join("\n")}\n`;
}

const valueWord = (value) => (typeof value === "boolean" ? (value ? "on" : "off") : exactText(value));

/**
 * The command that tries the same values and decides beyond the noise. Undefined if it cannot name them, because a
 * value has a comma.
 *
 * - goal: the monitor, and whether its mean is to be large.
 */
export function sweepCommand(program, tweak, values, { monitor, isMaximizing, seconds, settle }) {
  const words = values.map(valueWord);
  if (words.some((word) => word.includes(",") || word.trim() !== word)) return undefined;
  const { name, pid, processes } = program.description;
  return [
    "tweak sweep",
    // The command takes the name only of a single process.
    shellWord(processes > 1 ? String(pid) : name ?? program.id),
    shellWord(`${tweak.key}=${words.join(",")}`),
    `--measure ${shellWord(monitor.key)}`,
    isMaximizing ? "--maximize" : "",
    "--shuffle",
    `--for ${seconds}s`,
    settle > 0 ? `--settle ${settle}s` : ""
  ].filter(Boolean).join(" ");
}

/** The longest a sweep takes if nothing is late, in seconds. */
export const durationOf = (count, { seconds, settle }) => count * (seconds + settle);

/** A run for people: its value, and whether that is the one before the sweep. */
export const runText = (tweak, { value, isReference }) =>
  `${valueText(tweak, value) || "empty"}${isReference ? ", as before" : ""}`;
