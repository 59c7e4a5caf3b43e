// SPDX-License-Identifier: BSD-3-Clause

// Draws series on canvases: the sparklines of rows and the lines of the graph.

import { block } from "./samples.js";

const sparklineSeconds = 8;

/** The sizes of canvases, in CSS pixels. */
const sizes = new WeakMap();
let observer;

/** Matches the canvas to the resolution of the screen. Returns its context, in CSS pixels, and its size. */
export function prepared(canvas) {
  const ratio = window.devicePixelRatio || 1;
  // Reading a size that no observer told would lay out the page again after each change of a text.
  observer ??= new ResizeObserver((entries) => {
    for (const { target, contentRect } of entries) sizes.set(target, contentRect);
  });
  if (!sizes.has(canvas)) {
    sizes.set(canvas, { width: canvas.clientWidth, height: canvas.clientHeight });
    observer.observe(canvas);
  }
  const { width, height } = sizes.get(canvas);
  const [pixelWidth, pixelHeight] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== pixelWidth || canvas.height !== pixelHeight) {
    canvas.width = pixelWidth;
    canvas.height = pixelHeight;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

/** The current value of a colour variable of the style sheet. */
export function styleColour(name) {
  // A variable resolves to the colour of the current theme only when an element uses it.
  probe ??= document.body.appendChild(Object.assign(document.createElement("span"), { className: "off-screen" }));
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}
let probe;

/** The smallest and largest values between two times, or undefined if there are none. */
export function extent(series, from, to) {
  let low = Infinity;
  let high = -Infinity;
  const [first, last] = series.indices(from, to);
  for (let index = first, step; index < last; index += step) {
    step = series.step(index, last);
    const value = series.value(index);
    if (step === 1 && !Number.isFinite(value)) continue;
    low = Math.min(low, step > 1 ? series.low(index) : value);
    high = Math.max(high, step > 1 ? series.high(index) : value);
  }
  return low <= high ? [low, high] : undefined;
}

/** Draws the last seconds of a series. Returns their range, if there are values. */
export function drawSparkline(canvas, series, tweak, now) {
  const { context, width, height } = prepared(canvas);
  if (width === 0) return undefined;
  const to = Math.max(now - 0.05, series.length > 0 ? series.time(series.length - 1) : 0);
  const from = to - sparklineSeconds;
  const range = extent(series, from, to);
  if (!range) return undefined;
  let [low, high] = range;
  if (low === high) {
    low -= 1;
    high += 1;
  }
  context.strokeStyle = sparkColour();
  context.lineWidth = 1.5;
  context.lineJoin = "round";
  drawLine(context, series, {
    from,
    to,
    isStepped: tweak.type === "bool" || Boolean(tweak.choices),
    right: width,
    y: (value) => height - 3 - ((value - low) / (high - low)) * (height - 6)
  });
  return range;
}

let spark = { theme: undefined, colour: "" };
function sparkColour() {
  const theme = `${document.documentElement.dataset.theme} ${matchMedia("(prefers-color-scheme: dark)").matches}`;
  if (spark.theme !== theme) spark = { theme, colour: styleColour("--accent") };
  return spark.colour;
}

/**
 * Draws a line from `left` to `right`. If there are more values than pixels, each pixel column spans from its smallest
 * to its
 * largest value, so that no peak is lost. Gaps stay empty.
 */
export function drawLine(context, series, { from, to, left = 0, right, y, isStepped = false }) {
  const [first, last] = series.indices(from, to);
  if (last <= first) return;
  const x = (time) => left + ((time - from) / (to - from)) * (right - left);
  const isDense = last - first > (right - left) * 2;
  const thickness = context.lineWidth;
  let isBegun = false;
  let previous = 0;
  let column = 0;
  context.fillStyle = context.strokeStyle;
  context.beginPath();
  /** Draws to a time, and then to a value. */
  const draw = (px, value) => {
    if (isDense && isBegun) context.moveTo(column, y(previous));
    if (!isBegun) context.moveTo(px, y(value));
    else if (isStepped) context.lineTo(px, y(previous));
    if (isBegun && value !== undefined) context.lineTo(px, y(value));
  };
  for (let index = first; index < last;) {
    const time = series.time(index);
    const value = series.value(index);
    const isKnown = Number.isFinite(value);
    const px = isDense ? Math.round(x(time)) : x(time);
    const isNext = isDense && isKnown && isBegun && px - column <= 1;
    if (isKnown && !isNext) draw(px, value);
    else if (isBegun && isStepped && series.isGap(index)) draw(x(time));
    if (isDense) {
      const until = from + ((px + 0.5 - left) / (right - left)) * (to - from);
      let [low, high] = isNext ? [previous, previous] : [Infinity, -Infinity];
      do {
        const step = series.time(index + block - 1) < until ? series.step(index, last) : 1;
        const one = series.value(index);
        if (step > 1 || Number.isFinite(one)) {
          low = Math.min(low, step > 1 ? series.low(index) : one);
          high = Math.max(high, step > 1 ? series.high(index) : one);
        }
        index += step;
      } while (index < last && series.time(index) < until);
      // Rectangles, because paths of many lines are slow.
      if (low <= high)
        context.fillRect(px, Math.min(y(low), y(high)) - thickness / 2, 1, Math.abs(y(high) - y(low)) + thickness);
      column = px;
    } else index += 1;
    previous = series.value(index - 1);
    isBegun = Number.isFinite(previous);
  }
  if (isBegun && isStepped) draw(Math.min(right, x(Math.min(to, series.end))));
  context.stroke();
}
