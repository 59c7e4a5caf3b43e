// SPDX-License-Identifier: BSD-3-Clause

// Plots, axes, statistics and zooming of the graph.

import assert from "node:assert/strict";
import test from "node:test";
import { axisTicks, layoutNamed, plotsOf, rangeOf, restingRange, ticks } from "../../../../Sources/Page/Files/axes.js";
import { drawLine, extent } from "../../../../Sources/Page/Files/drawing.js";
import { isStepped } from "../../../../Sources/Page/Files/plotting.js";
import { Samples, Series } from "../../../../Sources/Page/Files/samples.js";
import { pairsOf, statisticsOf } from "../../../../Sources/Page/Files/statistics.js";
import { View } from "../../../../Sources/Page/Files/zooming.js";

const line = (id, tweak) => ({ id, tweak: { id, type: "double", ...tweak } });
const phase = line("Phase", {
  type: "int32",
  choices: [{ value: 0, label: "idle" }, { value: 1, label: "" }, { value: 2, label: "running" }]
});
const lines = [
  line("Speed", { unit: "rpm" }),
  line("Target", { unit: "rpm" }),
  line("Temperature", { unit: "°C" }),
  line("On", { type: "bool" }),
  phase
];

/** A series of values at times. */
function series(...values) {
  const made = new Series();
  for (const [time, value] of values) made.add(time, value);
  return made;
}

test("lines share a plot, or an axis, if they have the same unit", () => {
  const shape = (layout) =>
    plotsOf(lines, layout).map(({ axes }) => axes.map((axis) => axis.lines.map(({ id }) => id).join()));
  assert.deepEqual(shape("units"), [["Speed,Target"], ["Temperature"], ["On"], ["Phase"]]);
  assert.deepEqual(shape("together"), [["Speed,Target", "Temperature", "On", "Phase"]]);
  assert.deepEqual(shape("lines"), [["Speed"], ["Target"], ["Temperature"], ["On"], ["Phase"]]);
  const keys = plotsOf(lines, "lines").flatMap(({ axes }) => axes.map(({ key }) => key));
  assert.equal(new Set(keys).size, keys.length);
  assert.deepEqual(plotsOf([], "units"), []);
  assert.equal(layoutNamed("nonsense"), "units");
});

test("an axis has round numbers, or the names of states", () => {
  assert.deepEqual(ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(axisTicks(lines[0].tweak, -0.5, 1, 3), [[-0.5, "-0.5"], [0, "0.0"], [0.5, "0.5"], [1, "1.0"]]);
  assert.deepEqual(axisTicks(phase.tweak, -0.1, 2.1, 3), [[0, "idle"], [1, "1"], [2, "running"]]);
  assert.deepEqual(axisTicks(lines[3].tweak, 0.5, 2, 3), [[1, "on"]]);
  assert.deepEqual(rangeOf([[0, 10], undefined, [-10, 5]]), [-12, 12].map((limit) => limit - Math.sign(limit)));
  for (const ranges of [[], [[0, 0]], [[5, 5]], [[-1.7e308, 1.7e308]]]) {
    const [low, high] = rangeOf(ranges);
    assert(low < high, JSON.stringify(ranges));
  }
});

test("ticks are never twice the same", () => {
  assert.deepEqual(axisTicks(lines[0].tweak, 1000.01, 1000.05, 4).map(([, text]) => text), [
    "1000.01",
    "1000.02",
    "1000.03",
    "1000.04",
    "1000.05"
  ]);
  assert.deepEqual(axisTicks(lines[0].tweak, 1e6, 1.3e6, 3).map(([, text]) => text), [
    "1000000",
    "1100000",
    "1200000",
    "1300000"
  ]);
  for (
    const [low, high] of [
      [-345.1235, -345.1233],
      [0, 1e-9],
      [1e17, 1e17 + 64],
      [1e12, 1e12 + 1e-3],
      [-1.7e308, 1.7e308],
      [1e-300, 3e-300],
      [123456.7891, 123456.7892],
      [5, 5]
    ]
  ) {
    const texts = axisTicks(lines[0].tweak, low, high, 6).map(([, text]) => text);
    assert.equal(new Set(texts).size, texts.length, `${low} to ${high}: ${texts}`);
    assert(texts.length > 1 || low === high, `${low} to ${high}: ${texts}`);
    assert(texts.every((text) => text.length < 24), String(texts));
  }
});

test("ticks of integers are integers, and states with one name differ", () => {
  assert.deepEqual(axisTicks(lines[0].tweak, 0, 2, 5, true).map(([, text]) => text), ["0", "1", "2"]);
  const choices = [{ value: 0, label: "off" }, { value: 1, label: "on" }, { value: 2, label: "on" }];
  assert.deepEqual(axisTicks({ type: "int32", choices }, 0, 2, 3).map(([, text]) => text), ["off", "on (1)", "on (2)"]);
  // A low plot has more than one number.
  assert(axisTicks(lines[0].tweak, 43, 59, 2).length > 1);
});

test("an axis rests while its values stay inside and take most of it", () => {
  const first = restingRange(undefined, [[0, 10]]);
  assert.deepEqual(first, rangeOf([[0, 10]]));
  assert.equal(restingRange(first, [[0.5, 9.7]]), first);
  assert.equal(restingRange(first, [undefined, [0, 10.4]]), first);
  assert.deepEqual(restingRange(first, [[0, 20]]), rangeOf([[0, 20]]));
  assert.deepEqual(restingRange(first, [[0, 4]]), rangeOf([[0, 4]]));
});

test("statistics are weighted by time", () => {
  // 0 for a second, then 10 for three.
  const stepped = statisticsOf(series([0, 0], [1, 10]), 0, 4, true);
  assert(stepped);
  assert.deepEqual([stepped.low, stepped.high, stepped.mean, stepped.rms], [0, 10, 7.5, Math.sqrt(75)]);
  assert(Math.abs(stepped.deviation - Math.sqrt(75 - 7.5 ** 2)) < 1e-12);
  assert.equal(stepped.rate, 2.5);
  // A ramp, of which a part is between the cursors; samples are dense at its end.
  const ramp = statisticsOf(series([0, 0], [2, 20], [2.1, 21], [2.2, 22], [4, 40]), 1, 3, false);
  assert(ramp);
  for (
    const [name, expected] of [["low", 10], ["high", 30], ["mean", 20], ["deviation", 10 / Math.sqrt(3)], ["rate", 10]]
  ) {
    assert(Math.abs(ramp[name] - expected) < 1e-9, `${name} is ${ramp[name]}`);
  }
});

test("statistics of large numbers keep small differences, and leave out what is not finite", () => {
  const large = statisticsOf(series([0, 1e9], [1, 1e9 + 2], [2, 1e9]), 0, 2, true);
  assert(large);
  assert(Math.abs(large.deviation - 1) < 1e-6);
  const gap = statisticsOf(series([0, 1], [1, NaN], [2, 3], [3, 3]), 0, 3, false);
  assert.deepEqual([gap?.low, gap?.high, gap?.mean, gap?.count], [1, 3, 3, 3]);
  assert.equal(statisticsOf(series([0, NaN]), 0, 1, true), undefined);
  assert.equal(statisticsOf(series(), 0, 1, true), undefined);
  assert.equal(statisticsOf(series([5, 1]), 0, 4, true), undefined);
  assert.deepEqual(statisticsOf(series([1, 7]), 0, 2, false), {
    low: 7,
    high: 7,
    mean: 7,
    rms: 7,
    deviation: 0,
    rate: undefined,
    count: 1
  });
});

test("an XY plot has pairs of values at the same times", () => {
  const x = series([1, 10], [2, 20], [3, 30], [4, 40]);
  assert.deepEqual(pairsOf(x, series([0, 0], [1, 1], [2.5, 2], [3, NaN], [4, 4], [9, 9]), 1, 4), [[[10, 1], [20, 2]], [[
    40,
    4
  ]]]);
  assert.deepEqual(pairsOf(x, series([3, 3], [4, 4]), 3.5, 5), [[[40, 4]]]);
  assert.deepEqual(pairsOf(series(), series([1, 1]), 0, 5), []);
});

/** Samples each 0.1 s of `time + offset`, a pause of 7 s, and samples again; each counts for 0.5 s. */
function paused(offset = 0) {
  const made = new Series();
  for (const start of [0, 8])
    for (let step = 0; step <= 10; step += 1) made.add(start + step / 10, start + step / 10 + offset, 0.5);
  return made;
}

test("there is a gap where nothing was sampled", () => {
  const series = paused();
  assert.equal(series.length, 23);
  assert.deepEqual([[10, false], [11, true], [12, false]].map(([index, isGap]) => series.isGap(index) === isGap), [
    true,
    true,
    true
  ]);
  assert.deepEqual([1, 1.4, 1.5, 1.6, 7.9, 8, 9, 9.4, 9.6].map((time) => series.valueAt(time)), [
    1,
    1,
    undefined,
    undefined,
    undefined,
    8,
    9,
    9,
    undefined
  ]);
  assert.deepEqual(extent(series, 2, 7), undefined);
  assert.deepEqual(extent(series, 20, 30), undefined);
  assert.deepEqual(extent(series, 1.2, 8), [1, 8]);
  assert.equal(statisticsOf(series, 2, 7, true), undefined);
  const [stepped, joined] = [true, false].map((isStepped) => statisticsOf(series, 0, 20, isStepped));
  // Without a weight for the pause, the mean is the middle of both ramps.
  assert(joined && Math.abs(joined.mean - 4.5) < 1e-9);
  // Steps of 0 to 0.9 and 8 to 8.9 for 0.1 s each, and 1 and 9 for 0.5 s.
  assert(stepped && Math.abs(stepped.mean - (0.1 * (4.5 + 84.5) + 0.5 * 10) / 3) < 1e-9);
  assert.deepEqual(pairsOf(series, paused(1), 0, 20).map((run) => [run[0], run.at(-1)]), [[[0, 1], [1, 2]], [[8, 9], [
    9,
    10
  ]]]);
});

test("gaps stay when the oldest values are dropped", () => {
  const made = new Series();
  for (let index = 0; index < 100000; index += 1) made.add(index, index, index % 1000 === 999 ? 0.5 : 2);
  assert.equal(made.length, 1 << 15);
  const gaps = [...Array(made.length).keys()].filter((index) => made.isGap(index));
  assert.equal(gaps.length, 32);
  assert(gaps.every((index) => made.time(index) % 1000 === 999.5 && Number.isNaN(made.value(index))));
});

/**
 * What a line draws on a plot of 100 by 100, or as wide as `right`: points, breaks, and columns with their lowest and
 * highest values.
 */
function drawn(series, from, to, options = {}) {
  const calls = [];
  const note = (name) => (x, y) => calls.push(`${name}${Number(x.toFixed(2))} ${Number(y.toFixed(2))}`);
  const context = {
    lineWidth: 1,
    beginPath() {},
    stroke() {},
    moveTo: note("M"),
    lineTo: note("L"),
    fillRect: (x, y, width, height) =>
      calls.push(`R${x} ${Number((y + 0.5).toFixed(2))} ${Number((y + height - 0.5).toFixed(2))}`)
  };
  drawLine(/** @type {any} */ (context), series, { from, to, right: 100, y: (value) => value, ...options });
  return calls;
}

test("lines have gaps, and steps end where nothing is known", () => {
  const made = new Series();
  for (const [time, value] of [[1, 5], [2, 6], [6, 7], [7, 8]]) made.add(time, value, 1.5);
  assert.deepEqual(drawn(made, 0, 10), ["M10 5", "L20 6", "M60 7", "L70 8"]);
  assert.deepEqual(drawn(made, 0, 10, { isStepped: true }), [
    "M10 5",
    "L20 5",
    "L20 6",
    "L35 6",
    "M60 7",
    "L70 7",
    "L70 8",
    "L85 8"
  ]);
  // More values than pixels.
  const dense = drawn(paused(), 0, 10, { right: 10 });
  assert.deepEqual(dense.filter((call) => call.startsWith("R")), ["R0 0 0.4", "R1 0.4 1", "R8 8 8.4", "R9 8.4 9"]);
  assert(!dense.some((call) => call.startsWith("L")), String(dense));
});

test("zooming to a box can be undone, step by step", () => {
  const view = new View();
  view.zoomTo({ from: 100, to: 103, ranges: [["a", [1, 2]]] });
  view.zoomTo({ ranges: [["a", [1.2, 1.4]], ["b", [5, 5]]] });
  assert.deepEqual([view.seconds, view.end, view.ranges.get("a"), view.ranges.has("b"), view.text], [
    3,
    103,
    [1.2, 1.4],
    false,
    "3 s"
  ]);
  view.shift(["a", "c"], 0.5);
  assert.deepEqual(view.ranges.get("a")?.map((limit) => limit.toFixed(2)), ["1.30", "1.50"]);
  view.back();
  assert.deepEqual([view.seconds, view.ranges.get("a")], [3, [1, 2]]);
  view.back();
  assert.deepEqual([view.seconds, view.end, view.ranges.size, view.canGoBack], [10, undefined, 0, false]);
  view.back();
  assert.equal(view.seconds, 10);
});

test("zooming in time keeps the time at the cursor in its place", () => {
  const view = new View();
  view.end = 100;
  view.zoom(-1, 95);
  assert.deepEqual([view.seconds, view.end, view.text], [5, 97.5, "5 s"]);
  view.zoomTo({ from: 1, to: 4 });
  view.zoom(1);
  assert.equal(view.seconds, 5);
  view.zoom(-1);
  assert.equal(view.seconds, 2);
  for (let count = 0; count < 20; count += 1) view.zoom(1);
  assert.equal(view.text, "10 min");
});

test("a spike of one sample is drawn at every zoom, and is in the range", () => {
  // As long as the memory of a line, so that the oldest have been dropped.
  const spike = 290000;
  const made = new Series(1 << 18);
  for (let index = 0; index < 300000; index += 1) made.add(index / 1000, index === spike ? 50 : index % 2, 0.05);
  assert.equal(made.length, 1 << 18);
  for (const seconds of [0.05, 1, 7, 10, 61, 250]) {
    const to = Math.min(300, spike / 1000 + seconds / 2);
    const from = to - seconds;
    assert.deepEqual(extent(made, from, to), [0, 50], `${seconds} s`);
    const calls = drawn(made, from, to, { right: 997 });
    const points = calls.map((call) => call.slice(1).split(" ").map(Number));
    const peak = points.filter(([, low, high = low]) => high === 50);
    assert(peak.length > 0, `${seconds} s`);
    assert(
      peak.every(([x]) => Math.abs(x - ((spike / 1000 - from) / (to - from)) * 997) <= 1),
      `${seconds} s: ${JSON.stringify(peak)}`
    );
    // Each column has the smallest and the largest of its values.
    const columns = points.filter((_, index) => calls[index].startsWith("R"));
    if (seconds >= 7)
      assert(
        columns.length >= 997 && columns.slice(1, -1).every(([, low, high]) => low === 0 && high >= 1),
        `${seconds} s: ${columns.length}`
      );
  }
});

test("the extent of any part of a series is that of its values", () => {
  const made = new Series(1 << 10);
  const random = ((seed) => () => (seed = (seed * 16807) % 2147483647) / 2147483647)(7);
  for (let index = 0; index < 5000; index += 1)
    made.add(index, random() < 0.01 ? NaN : random(), random() < 0.01 ? 0.5 : 2);
  for (let round = 0; round < 300; round += 1) {
    const [from, to] = [0, 1].map(() => made.time(0) + random() * 1100).sort((one, other) => one - other);
    const [first, last] = made.indices(from, to);
    const values = [...Array(Math.max(0, last - first)).keys()].map((at) => made.value(first + at)).filter(
      Number.isFinite
    );
    assert.deepEqual(
      extent(made, from, to),
      values.length > 0 ? [Math.min(...values), Math.max(...values)] : undefined
    );
  }
});

test("a series keeps the newest values when its limit changes", () => {
  const made = new Series(1 << 12);
  for (let index = 0; index < 5000; index += 1) made.add(index, index);
  made.limit = 1 << 10;
  assert.deepEqual([made.length, made.time(0), made.last, made.valueAt(4000), made.valueAt(3000)], [
    1 << 10,
    5000 - (1 << 10),
    4999,
    4000,
    undefined
  ]);
  made.limit = 1 << 11;
  for (let index = 5000; index < 6500; index += 1) made.add(index, index);
  assert.deepEqual([made.length, made.time(0), made.last], [1 << 11, 6500 - (1 << 11), 6499]);
  assert.deepEqual(extent(made, 5000.5, 6000), [5000, 6000]);
});

test("values of tweaks are steps, also where there are more than pixels", () => {
  assert.deepEqual(
    [{ type: "double" }, { type: "double", monitor: true }, { type: "bool", monitor: true }].map((tweak) =>
      isStepped({ tweak })
    ),
    [true, false, true]
  );
  const made = new Series();
  for (let index = 0; index < 300; index += 1) made.add(5 + index / 1000, 1, 10);
  made.add(8, 30, 1);
  const calls = drawn(made, 0, 10, { isStepped: true });
  assert.deepEqual(calls.filter((call) => !/[ML]5\d /.test(call)), [
    "R50 1 1",
    "R51 1 1",
    "R52 1 1",
    "R53 1 1",
    "L80 1",
    "L80 30",
    "R80 30 30",
    "M80 30",
    "L90 30"
  ]);
});

/** Samples of a program with monitors, and what was asked of the server. */
async function sampled(run) {
  const asked = [];
  const tweaks = new Map(["m", "n"].map((key) => [`p\n${key}`, { program: "p", key, id: `p\n${key}` }]));
  const samples = new Samples({ stream: "1", post: async (name, body) => asked.push([name, body.tweaks, body.rate]) }, {
    tweakOf: (id) => tweaks.get(id),
    programs: new Map([["p", { id: "p", state: "running" }]])
  });
  const wait = () =>
    new Promise((done) => {
      setTimeout(done, 80);
    });
  await run(samples, asked, wait);
}

/** Gives samples for seconds at a rate, in groups of 50 ms. */
function give(samples, from, seconds, rate) {
  for (let group = from; group < from + seconds; group += 0.05) {
    const times = [...Array(Math.round(rate / 20)).keys()].map((index) => group + index / rate);
    samples.take({ program: "p", tweaks: ["m"], times, values: [times.map(Math.sin)] });
  }
}

test("the rate is asked for programs on the graph only", () =>
  sampled(async (samples, asked, wait) => {
    samples.showing(new Set(["p\nn"]));
    samples.setRate(1000);
    await wait();
    samples.graphing(new Set(["p\nm"]));
    await wait();
    samples.setRate(17);
    await wait();
    assert.deepEqual(asked, [["watch", ["n"], 30], ["watch", ["m", "n"], 1000], ["watch", ["m", "n"], 30]]);
  }));

test("it is known how many samples a program does not give", () =>
  sampled(async (samples, asked, wait) => {
    samples.graphing(new Set(["p\nm"]));
    samples.setRate(1000);
    await wait();
    const now = Date.now() / 1000;
    give(samples, now, 10, 1000);
    assert.equal(samples.shortage("p"), undefined);
    give(samples, now + 10, 10, 600);
    const { given, rate } = samples.shortage("p") ?? {};
    assert(rate === 1000 && Math.abs(given - 600) < 30, `${given}`);
    give(samples, now + 20, 10, 1000);
    assert.equal(samples.shortage("p"), undefined);
    // A line keeps more samples than a row.
    assert(samples.series("p\nm").length > 25000);
    give(samples, now + 30, 20, 1000);
    assert(samples.series("p\nm").length > 45000);
    samples.graphing(new Set());
    assert.equal(samples.series("p\nm").length, 1 << 15);
  }));

test("few series are kept of many", () =>
  sampled(async (samples) => {
    samples.graphing(new Set(["p\n3"]));
    for (let index = 0; index < 1000; index += 1)
      samples.take({ program: "p", tweaks: [`${index}`], times: [index], values: [[index]] });
    const kept = [...Array(1000).keys()].filter((index) => samples.series(`p\n${index}`));
    assert.equal(kept.length, 128);
    assert.deepEqual([kept[0], kept[1], kept.at(-1)], [3, 873, 999]);
  }));
