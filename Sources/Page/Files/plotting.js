// SPDX-License-Identifier: BSD-3-Clause

// Draws the plots of a graph: axes, lines, marks of changes and cursors. Positions are in CSS pixels.

import { axisTicks, hasStates, ticks, tickTexts } from "./axes.js";
import { drawLine, styleColour } from "./drawing.js";
import { shown } from "./names.js";
import { fixedText, isInteger, isReal, numberText } from "./numbers.js";
import { valueText } from "./tweaks.js";

/** Sizes in multiples of the text size. */
const margins = { right: 1, top: 2.1, bottom: 0.7 };
const axisWidth = 4.9;
const smallestPlot = 5.8;
export const mostSeries = 8;
/** The height that plots of the smallest size need. */
export const leastHeight = (count, text) => (count * (smallestPlot + margins.top) + margins.bottom) * text;

/** Whether a value of the line holds until the next one. */
export const isStepped = ({ tweak }) => !tweak.monitor || tweak.type === "bool" || Boolean(tweak.choices);

/** The name of the value of a switch or a choice, or undefined if it has none. */
function stateName(tweak, number) {
  if (tweak.type === "bool") return valueText(tweak, number >= 0.5);
  return tweak.choices?.some(({ value, label }) => label && Number(value) === number)
    ? valueText(tweak, number)
    : undefined;
}

/** The value of a line in the legend, a number with as many digits as those before. */
export function legendText(line, value, plots) {
  const { tweak } = line;
  if (value === undefined) return "–";
  const name = stateName(tweak, value);
  if (name !== undefined) return name;
  if (tweak.precision !== undefined) return numberText(tweak, value);
  const axis = plots.flatMap(({ axes }) => axes).find(({ lines }) => lines.includes(line));
  return isReal(tweak.type) ? fixedText(value, axis?.range ?? [0, value]) : String(value);
}

/** @type {any} */
let colours = { theme: "" };

/** The colours and the text size of the current theme. */
export function themeColours() {
  const { fontSize } = getComputedStyle(document.documentElement);
  const theme = `${document.documentElement.dataset.theme}${
    matchMedia("(prefers-color-scheme: dark)").matches
  }${fontSize}`;
  if (colours.theme === theme) return colours;
  colours = {
    theme,
    textSize: Number.parseFloat(fontSize) * 0.846,
    text: styleColour("--muted"),
    line: styleColour("--line"),
    strong: styleColour("--text"),
    mark: styleColour("--mark"),
    back: styleColour("--panel"),
    accent: styleColour("--accent"),
    series: [...Array(mostSeries).keys()].map((index) => styleColour(`--series-${index}`))
  };
  return colours;
}

/**
 * The places of plots on a canvas: each with `left`, `right`, `top`, `bottom`, and its axes with their ranges and
 * edges.
 *
 * - rangeFor: returns the range of the values of a line, if it has any.
 */
export function placed(plots, { width, height, text, view, rangeFor }) {
  // A narrow canvas has room for the lines only if some axes are left out.
  const most = Math.max(
    1,
    Math.min(Math.max(1, ...plots.map(({ axes }) => axes.length)), Math.floor((width * 0.4) / (axisWidth * text)))
  );
  const left = most * axisWidth * text;
  const each = (height - margins.bottom * text) / Math.max(1, plots.length);
  return plots.map((plot, index) => ({
    ...plot,
    text,
    left,
    right: width - margins.right * text,
    top: index * each + margins.top * text,
    bottom: (index + 1) * each,
    axes: plot.axes.map((axis, at) => ({
      ...axis,
      edge: at < most ? left - at * axisWidth * text : undefined,
      range: view.ranges.get(axis.key) ?? view.rest(axis.key, axis.lines.map(rangeFor))
    }))
  }));
}

/** The vertical position of a value. */
const heightOf = (plot, [low, high], value) => plot.bottom - ((value - low) / (high - low)) * (plot.bottom - plot.top);

/** Draws the axes and lines of plots over time, and the times below them, on a canvas of their own. */
export function drawPlots(context, plots, { times, from, end, now, colours, seriesOf }) {
  const x = (plot, time) => plot.left + ((time - from) / (end - from)) * (plot.right - plot.left);
  plots.forEach((plot, index) => {
    drawTimeAxis(context, plot, { times: index === 0 ? times : undefined, from, end, now, x, colours });
    for (const [at, axis] of plot.axes.entries()) drawAxis(context, plot, axis, colours, at === 0);
    clipped(context, plot, () => {
      for (const { lines, range } of plot.axes) {
        for (const line of lines) {
          const series = seriesOf(line.id);
          if (!series) continue;
          begin(context, colours.series[line.colour]);
          drawLine(context, series, {
            from,
            to: end,
            left: plot.left,
            right: plot.right,
            y: (value) => heightOf(plot, range, value),
            isStepped: isStepped(line)
          });
        }
      }
    });
  });
}

/** The number of ticks for which there is room. */
const acrossCount = ({ left, right, text }) => Math.max(2, Math.floor((right - left) / (8 * text)));

function drawTimeAxis(context, plot, { times, from, end, now, x, colours }) {
  context.strokeStyle = colours.line;
  context.lineWidth = 1;
  beginTexts(times, colours);
  const offsets = ticks(from - now, end - now, acrossCount(plot));
  const texts = tickTexts(offsets);
  for (const [index, offset] of offsets.entries()) {
    const at = Math.round(x(plot, now + offset)) + 0.5;
    if (at < plot.left || at > plot.right) continue;
    stroke(context, at, plot.top, at, plot.bottom);
    times?.fillText(offset > -1e-9 ? "now" : `${texts[index]} s`, at, 4);
  }
}

function beginTexts(context, colours) {
  if (context) Object.assign(context, { fillStyle: colours.text, textBaseline: "top", textAlign: "center" });
}

/** Draws a vertical axis with its unit; only the first one of a plot has lines across. */
function drawAxis(context, plot, axis, colours, isFirst) {
  const { edge, range: [low, high], lines, tweak } = axis;
  const room = (axisWidth - 0.8) * plot.text;
  if (edge === undefined) return;
  // Beside other axes, the axis of one line has its colour.
  context.fillStyle = plot.axes.length > 1 && lines.length === 1 ? colours.series[lines[0].colour] : colours.text;
  context.strokeStyle = colours.line;
  context.lineWidth = 1;
  context.textBaseline = "middle";
  context.textAlign = "right";
  const count = Math.max(2, Math.floor((plot.bottom - plot.top) / (3.2 * plot.text)));
  for (const [value, text] of axisTicks(tweak, low, high, count, lines.every((line) => isInteger(line.tweak.type)))) {
    const y = Math.round(heightOf(plot, [low, high], value)) + 0.5;
    if (isFirst) stroke(context, plot.left, y, plot.right, y);
    context.fillText(text, edge - 6, y, room);
  }
  if (!isFirst) stroke(context, edge + 0.5, plot.top, edge + 0.5, plot.bottom);
  const unit = shown(tweak.unit);
  if (unit && !hasStates(tweak)) context.fillText(unit, edge - 6, plot.top - 0.75 * plot.text, room);
}

/** Draws runs of values against those of the horizontal line, each unit with an axis of its own. */
export function drawPairs(context, plot, { times, horizontal, runsOf, colours }) {
  const [low, high] = plot.horizontalRange;
  const x = (value) => plot.left + ((value - low) / (high - low)) * (plot.right - plot.left);
  context.strokeStyle = colours.line;
  context.lineWidth = 1;
  beginTexts(times, colours);
  for (const [value, text] of axisTicks(horizontal.tweak, low, high, acrossCount(plot))) {
    const at = Math.round(x(value)) + 0.5;
    stroke(context, at, plot.top, at, plot.bottom);
    times.fillText(text, at, 4);
  }
  for (const [at, axis] of plot.axes.entries()) drawAxis(context, plot, axis, colours, at === 0);
  clipped(context, plot, () => {
    for (const { lines, range } of plot.axes) {
      for (const line of lines) {
        const runs = runsOf(line);
        begin(context, colours.series[line.colour]);
        for (const run of runs) {
          run.forEach(([one, other], at) => {
            if (at === 0) context.moveTo(x(one), heightOf(plot, range, other));
            else context.lineTo(x(one), heightOf(plot, range, other));
          });
        }
        context.stroke();
        const last = runs.at(-1)?.at(-1);
        if (!last) continue;
        context.fillStyle = colours.series[line.colour];
        context.beginPath();
        context.arc(x(last[0]), heightOf(plot, range, last[1]), 4, 0, 7);
        context.fill();
      }
    }
  });
  const unit = shown(horizontal.tweak.unit);
  drawLabel(
    context,
    `${horizontal.tweak.label}${unit && !hasStates(horizontal.tweak) ? `, ${unit}` : ""}`,
    plot.right,
    plot.bottom - 1.6 * plot.text,
    colours,
    plot.text,
    "right"
  );
}

/** Draws a text that stays readable on lines. */
function drawLabel(context, text, x, y, colours, size, align = "left") {
  const width = context.measureText(text).width;
  context.globalAlpha = 0.85;
  context.fillStyle = colours.back;
  context.fillRect(align === "left" ? x - 2 : x - width - 2, y - 1, width + 4, 1.25 * size);
  context.globalAlpha = 1;
  context.fillStyle = colours.text;
  context.textAlign = align;
  context.textBaseline = "top";
  context.fillText(text, x, y);
}

function begin(context, colour) {
  context.strokeStyle = colour;
  context.lineWidth = 1.75;
  context.lineJoin = "round";
  context.beginPath();
}

function clipped(context, plot, draw) {
  context.save();
  context.beginPath();
  context.rect(plot.left, plot.top - 2, plot.right - plot.left, plot.bottom - plot.top + 4);
  context.clip();
  draw();
  context.restore();
}

/** Draws marks of changes through all plots, with texts in the first one. */
export function drawMarks(context, plots, marks, x, colours) {
  const [plot] = plots;
  const { bottom } = plots.at(-1);
  let free = Infinity;
  for (const mark of marks) {
    const at = Math.round(x(mark.time)) + 0.5;
    context.strokeStyle = colours.mark;
    context.setLineDash([3, 3]);
    stroke(context, at, plot.top, at, bottom);
    context.setLineDash([]);
    context.fillStyle = colours.mark;
    context.beginPath();
    context.moveTo(at - 4, plot.top - 6);
    context.lineTo(at + 4, plot.top - 6);
    context.lineTo(at, plot.top);
    context.fill();
    const text = `${mark.label} ${mark.newText} · ${mark.who}`;
    const width = context.measureText(text).width;
    if (at + width + 8 > free || at + width + 8 > plot.right) {
      free = Math.min(free, at);
      continue;
    }
    drawLabel(context, text, at + 6, plot.top + 2, colours, plot.text);
    free = at;
  }
}

/** Draws cursors as lines through all plots, and what is between two of them as a band. */
export function drawCursors(context, plots, positions, band, colours) {
  const { left, right, top } = plots[0];
  const { bottom } = plots.at(-1);
  const inside = (at) => Math.min(right, Math.max(left, at));
  if (band && inside(band[1]) > inside(band[0]))
    drawArea(context, inside(band[0]), top, inside(band[1]), bottom, colours);
  context.strokeStyle = colours.strong;
  context.lineWidth = 1;
  for (const position of positions) {
    const at = Math.round(position) + 0.5;
    if (at >= left && at <= right + 1) stroke(context, at, top, at, bottom);
  }
}

/** Draws a box that is being dragged. */
export function drawBox(context, { left, top, right, bottom }, colours) {
  drawArea(context, left, top, right, bottom, colours);
  context.strokeStyle = colours.accent;
  context.lineWidth = 1;
  context.strokeRect(left + 0.5, top + 0.5, right - left, bottom - top);
}

function drawArea(context, left, top, right, bottom, colours) {
  context.globalAlpha = 0.12;
  context.fillStyle = colours.accent;
  context.fillRect(left, top, right - left, bottom - top);
  context.globalAlpha = 1;
}

function stroke(context, fromX, fromY, toX, toY) {
  context.beginPath();
  context.moveTo(fromX, fromY);
  context.lineTo(toX, toY);
  context.stroke();
}

/** A picture of the plots and their times with a legend below them, as texts with colours. Resolves to a PNG file. */
export function pictureOf([canvas, times], legend, colours) {
  const ratio = canvas.width / canvas.clientWidth;
  const lineHeight = 18;
  const picture = document.createElement("canvas");
  picture.width = canvas.width;
  picture.height = canvas.height + times.height + Math.round((legend.length * lineHeight + 10) * ratio);
  const context = picture.getContext("2d");
  context.fillStyle = colours.back;
  context.fillRect(0, 0, picture.width, picture.height);
  context.drawImage(canvas, 0, 0);
  context.drawImage(times, 0, canvas.height);
  context.scale(ratio, ratio);
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  legend.forEach(({ text, colour }, index) => {
    const y = canvas.clientHeight + times.clientHeight + (index + 0.5) * lineHeight;
    if (colour !== undefined) {
      context.fillStyle = colours.series[colour];
      context.fillRect(12, y - 2, 14, 4);
    }
    context.fillStyle = colours.strong;
    context.fillText(text, colour === undefined ? 12 : 34, y);
  });
  return new Promise((resolve) => picture.toBlob(resolve, "image/png"));
}
