// SPDX-License-Identifier: BSD-3-Clause

// Draws series on canvases: the sparklines of rows and the lines of the graph.

const sparklineSeconds = 8;

/** Matches the canvas to the resolution of the screen. Returns its context, in CSS pixels, and its size. */
export function prepared(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
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
  for (let index = first; index < last; index += 1) {
    const value = series.value(index);
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
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
    from, to, isStepped: tweak.type === "bool" || Boolean(tweak.choices),
    x: (time) => ((time - from) / (to - from)) * width, y: (value) => height - 3 - ((value - low) / (high - low)) * (height - 6),
    width,
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
 * Draws a line. If there are more values than pixels, each pixel column spans from its smallest to its largest value, so that
 * no peak is lost. Gaps stay empty.
 */
export function drawLine(context, series, { from, to, x, y, width, isStepped = false }) {
  const [first, last] = series.indices(from, to);
  if (last <= first) return;
  context.beginPath();
  const isDense = (last - first) > width * 2;
  let isBegun = false;
  let previousY;
  let column = NaN;
  let low;
  let high;
  const finishColumn = () => {
    if (low === undefined) return;
    context.moveTo(column, low);
    context.lineTo(column, high + 0.5);
    low = undefined;
  };
  for (let index = first; index < last; index += 1) {
    const value = series.value(index);
    if (!Number.isFinite(value)) {
      // A step ends where a gap begins.
      if (isBegun && isStepped && !isDense && series.isGap(index)) context.lineTo(x(series.time(index)), previousY);
      isBegun = false;
      continue;
    }
    const [px, py] = [x(series.time(index)), y(value)];
    if (isDense) {
      const here = Math.round(px);
      if (here !== column) {
        finishColumn();
        if (isBegun) {
          context.moveTo(column, previousY);
          context.lineTo(here, py);
        }
        column = here;
      }
      if (low === undefined) [low, high] = [py, py];
      else [low, high] = [Math.min(low, py), Math.max(high, py)];
      previousY = py;
      isBegun = true;
      continue;
    }
    if (!isBegun) context.moveTo(px, py);
    else {
      if (isStepped) context.lineTo(px, previousY);
      context.lineTo(px, py);
    }
    isBegun = true;
    previousY = py;
  }
  if (isDense) finishColumn();
  else if (isBegun && isStepped && previousY !== undefined) context.lineTo(Math.min(width, x(Math.min(to, series.end))), previousY);
  context.stroke();
}
