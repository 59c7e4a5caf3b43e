// SPDX-License-Identifier: BSD-3-Clause

// Draws the plots of a graph: axes, lines, marks of changes and cursors. Positions are in CSS pixels.

import { axisTicks, hasStates, rangeOf, ticks } from "./axes.js";
import { drawLine, extent, styleColour } from "./drawing.js";
import { shown } from "./names.js";
import { shortText } from "./numbers.js";

const margins = { right: 12, top: 16, bottom: 22 };
const axisWidth = 54;
export const smallestPlot = 64;
export const mostSeries = 8;
/** The height that plots of the smallest size need. */
export const leastHeight = (count) => count * (smallestPlot + margins.top) + margins.bottom;

/** Whether a value of the line holds until the next one. */
export const isStepped = ({ tweak }) => !tweak.monitor || tweak.type === "bool" || Boolean(tweak.choices);

/** The colours of the current theme. */
export function themeColours() {
  return {
    text: styleColour("--muted"), line: styleColour("--line"), strong: styleColour("--text"), mark: styleColour("--mark"),
    back: styleColour("--panel"), accent: styleColour("--accent"),
    series: [...Array(mostSeries).keys()].map((index) => styleColour(`--series-${index}`)),
  };
}

/** The places of plots on a canvas: each with `left`, `right`, `top`, `bottom`, and its axes with their ranges and edges. */
export function placed(plots, { width, height, view, from, end, seriesOf }) {
  // A narrow canvas has room for the lines only if some axes are left out.
  const most = Math.max(1, Math.min(Math.max(1, ...plots.map(({ axes }) => axes.length)), Math.floor((width * 0.4) / axisWidth)));
  const left = most * axisWidth;
  const each = (height - margins.bottom) / Math.max(1, plots.length);
  return plots.map((plot, index) => ({
    ...plot, left, right: width - margins.right, top: index * each + margins.top, bottom: (index + 1) * each,
    axes: plot.axes.map((axis, at) => ({
      ...axis, edge: at < most ? left - at * axisWidth : undefined, isZoomed: view.ranges.has(axis.key),
      range: view.ranges.get(axis.key) ?? rangeOf(axis.lines.map(({ id }) => {
        const series = seriesOf(id);
        return series && extent(series, from, end);
      })),
    })),
  }));
}

/** The vertical position of a value. */
const heightOf = (plot, [low, high], value) => plot.bottom - ((value - low) / (high - low)) * (plot.bottom - plot.top);

/** Draws the axes and lines of plots over time. */
export function drawPlots(context, plots, { from, end, now, colours, seriesOf }) {
  const x = (plot, time) => plot.left + ((time - from) / (end - from)) * (plot.right - plot.left);
  plots.forEach((plot, index) => {
    drawTimeAxis(context, plot, { from, end, now, x, colours, isLast: index === plots.length - 1 });
    for (const [at, axis] of plot.axes.entries()) drawAxis(context, plot, axis, colours, at === 0);
    clipped(context, plot, () => {
      for (const { lines, range } of plot.axes) {
        for (const line of lines) {
          const series = seriesOf(line.id);
          if (!series) continue;
          begin(context, colours.series[line.colour]);
          drawLine(context, series, {
            from, to: end, x: (time) => x(plot, time), y: (value) => heightOf(plot, range, value), width: plot.right, isStepped: isStepped(line),
          });
        }
      }
    });
  });
}

function drawTimeAxis(context, plot, { from, end, now, x, colours, isLast }) {
  context.strokeStyle = colours.line;
  context.fillStyle = colours.text;
  context.lineWidth = 1;
  context.textBaseline = "top";
  context.textAlign = "center";
  for (const offset of ticks(from - now, end - now, Math.max(2, Math.floor((plot.right - plot.left) / 90)))) {
    const at = Math.round(x(plot, now + offset)) + 0.5;
    if (at < plot.left || at > plot.right) continue;
    stroke(context, at, plot.top, at, plot.bottom);
    if (isLast) context.fillText(offset > -1e-9 ? "now" : `${shortText(offset, 6)} s`, at, plot.bottom + 6);
  }
}

/** Draws a vertical axis with its unit; only the first one of a plot has lines across. */
function drawAxis(context, plot, axis, colours, isFirst) {
  const { edge, range: [low, high], lines, tweak } = axis;
  if (edge === undefined) return;
  // Beside other axes, the axis of one line has its colour.
  context.fillStyle = plot.axes.length > 1 && lines.length === 1 ? colours.series[lines[0].colour] : colours.text;
  context.strokeStyle = colours.line;
  context.lineWidth = 1;
  context.textBaseline = "middle";
  context.textAlign = "right";
  const count = Math.max(2, Math.floor((plot.bottom - plot.top) / 36));
  for (const [value, text] of axisTicks(tweak, low, high, count)) {
    const y = Math.round(heightOf(plot, [low, high], value)) + 0.5;
    if (isFirst) stroke(context, plot.left, y, plot.right, y);
    context.fillText(text, edge - 6, y, axisWidth - 8);
  }
  if (!isFirst) stroke(context, edge + 0.5, plot.top, edge + 0.5, plot.bottom);
  const unit = shown(tweak.unit);
  if (unit && !hasStates(tweak)) context.fillText(unit, edge - 6, plot.top - 9, axisWidth - 8);
}

/** Draws values against those of the horizontal line. */
export function drawPairs(context, plot, { horizontal, lines, ranges, pairs, colours }) {
  const x = (value) => plot.left + ((value - ranges.x[0]) / (ranges.x[1] - ranges.x[0])) * (plot.right - plot.left);
  const y = (value) => heightOf(plot, ranges.y, value);
  context.strokeStyle = colours.line;
  context.fillStyle = colours.text;
  context.lineWidth = 1;
  context.textBaseline = "top";
  context.textAlign = "center";
  for (const [value, text] of axisTicks(horizontal.tweak, ...ranges.x, Math.max(2, Math.floor((plot.right - plot.left) / 90)))) {
    const at = Math.round(x(value)) + 0.5;
    stroke(context, at, plot.top, at, plot.bottom);
    context.fillText(text, at, plot.bottom + 6);
  }
  context.textAlign = "right";
  const unit = shown(horizontal.tweak.unit);
  context.fillText(`${horizontal.tweak.label}${unit ? `, ${unit}` : ""}`, plot.right, plot.bottom - 16);
  const [first] = lines;
  const isAlike = lines.every(({ tweak }) => tweak.unit === first.tweak.unit && !hasStates(tweak));
  drawAxis(context, { ...plot, axes: [] }, { edge: plot.left, range: ranges.y, lines, tweak: isAlike || lines.length === 1 ? first.tweak : {} }, colours, true);
  clipped(context, plot, () => {
    lines.forEach((line, index) => {
      begin(context, colours.series[line.colour]);
      pairs[index].forEach(([one, other], at) => (at === 0 ? context.moveTo(x(one), y(other)) : context.lineTo(x(one), y(other))));
      context.stroke();
      const last = pairs[index].at(-1);
      if (!last) return;
      context.fillStyle = colours.series[line.colour];
      context.beginPath();
      context.arc(x(last[0]), y(last[1]), 4, 0, 7);
      context.fill();
    });
  });
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
  context.textAlign = "left";
  context.textBaseline = "top";
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
    context.globalAlpha = 0.85;
    context.fillStyle = colours.back;
    context.fillRect(at + 4, plot.top + 1, width + 4, 13);
    context.globalAlpha = 1;
    context.fillStyle = colours.text;
    context.fillText(text, at + 6, plot.top + 2);
    free = at;
  }
}

/** Draws cursors as lines through all plots, and what is between two of them as a band. */
export function drawCursors(context, plots, positions, band, colours) {
  const { left, right, top } = plots[0];
  const { bottom } = plots.at(-1);
  const inside = (at) => Math.min(right, Math.max(left, at));
  if (band && inside(band[1]) > inside(band[0])) drawArea(context, inside(band[0]), top, inside(band[1]), bottom, colours);
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

/** A picture of a canvas with a legend below it, as texts with colours. Resolves to a PNG file. */
export function pictureOf(canvas, legend, colours) {
  const ratio = canvas.width / canvas.clientWidth;
  const lineHeight = 18;
  const picture = document.createElement("canvas");
  picture.width = canvas.width;
  picture.height = canvas.height + Math.round((legend.length * lineHeight + 10) * ratio);
  const context = picture.getContext("2d");
  context.fillStyle = colours.back;
  context.fillRect(0, 0, picture.width, picture.height);
  context.drawImage(canvas, 0, 0);
  context.scale(ratio, ratio);
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  legend.forEach(({ text, colour }, index) => {
    const y = canvas.clientHeight + (index + 0.5) * lineHeight;
    if (colour !== undefined) {
      context.fillStyle = colours.series[colour];
      context.fillRect(12, y - 2, 14, 4);
    }
    context.fillStyle = colours.strong;
    context.fillText(text, colour === undefined ? 12 : 34, y);
  });
  return new Promise((resolve) => picture.toBlob(resolve, "image/png"));
}
