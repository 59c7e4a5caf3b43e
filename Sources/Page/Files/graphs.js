// SPDX-License-Identifier: BSD-3-Clause

// The graph: monitors and tweaks on one time axis, with a mark for each change of a tweak, pause, zoom and a cursor.

import { csvField } from "./copying.js";
import { iconButton, make, setText } from "./dom.js";
import { drawLine, extent, prepared, styleColour } from "./drawing.js";
import { shown } from "./names.js";
import { shortText } from "./numbers.js";
import { valueText } from "./tweaks.js";

const windows = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600];
export const mostSeries = 8;
const edges = { left: 56, right: 12, top: 14, bottom: 22 };

export class Graphs {
  #page;
  #element;
  #canvas;
  #legend;
  #cursorText;
  #marks;
  #pauseButton;
  #scaleButton;
  #shown = [];
  #seconds = 10;
  #pausedAt;
  #cursor;
  #isEachOwn = false;
  #drag;
  #drawn;

  /** @param {import("./page.js").Page} page */
  constructor(page, element) {
    this.#page = page;
    this.#element = element;
    this.#canvas = make("canvas", { class: "graph-canvas", role: "img", tabindex: "0", "aria-label": "Graph", "aria-describedby": "graph-help" });
    this.#legend = make("ul", { class: "graph-legend", "aria-label": "Lines" });
    this.#cursorText = make("output", { class: "graph-cursor", "aria-live": "polite" });
    this.#marks = make("ol", { class: "graph-marks", "aria-label": "Changes, latest first" });
    this.#pauseButton = iconButton("pause", "Pause", () => this.togglePause(), { "aria-pressed": "false" });
    this.#scaleButton = make("button", {
      type: "button", class: "button", text: "Separate scales", "aria-pressed": "false", title: "Scale each line separately",
      onclick: () => {
        this.#isEachOwn = !this.#isEachOwn;
        this.#scaleButton.setAttribute("aria-pressed", String(this.#isEachOwn));
      },
    });
    const bar = make("div", { class: "graph-bar", role: "toolbar", "aria-label": "Graph" }, make("h2", { text: "Graph" }),
      this.#pauseButton, iconButton("plus", "Zoom in", () => this.zoom(-1)), iconButton("minus", "Zoom out", () => this.zoom(1)),
      make("output", { class: "graph-window" }), this.#scaleButton,
      make("button", { type: "button", class: "button", text: "CSV", "aria-label": "Save as CSV", onclick: () => this.saveCSV() }),
      make("button", { type: "button", class: "button", text: "Clear", "aria-label": "Clear the graph", onclick: () => this.clear() }), this.#cursorText,
      iconButton("close", "Close the graph", () => this.#page.commands.closeGraph()));
    element.append(bar, make("div", { class: "graph-main" }, this.#canvas, make("div", { class: "graph-side" }, this.#legend, this.#marks)),
      make("p", { id: "graph-help", class: "off-screen", text: "Press plus or minus to zoom, Space to pause, and the arrow keys to move the cursor." }));
    this.#listen();
  }

  #listen() {
    const canvas = this.#canvas;
    canvas.addEventListener("pointermove", (event) => {
      if (this.#drag) {
        const moved = ((this.#drag.x - event.clientX) / this.#plotWidth()) * this.#seconds;
        this.#pausedAt = Math.min(this.#page.samples.now(), this.#drag.end + moved);
        this.#showPause();
        return;
      }
      this.#cursor = this.#timeAt(event.offsetX);
    });
    canvas.addEventListener("pointerleave", () => {
      if (!this.#drag && document.activeElement !== canvas) this.#cursor = undefined;
    });
    canvas.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "mouse" && event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      this.#drag = { x: event.clientX, end: this.#end() };
    });
    const finish = () => { this.#drag = undefined; };
    canvas.addEventListener("pointerup", finish);
    canvas.addEventListener("pointercancel", finish);
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.sign(event.deltaY));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const step = this.#seconds / (event.shiftKey ? 10 : 100);
      const moves = { ArrowLeft: -step, ArrowRight: step };
      if (event.key in moves) {
        const end = this.#end();
        this.#cursor = Math.min(end, Math.max(end - this.#seconds, (this.#cursor ?? end) + moves[event.key]));
      } else if (event.key === "+" || event.key === "=") this.zoom(-1);
      else if (event.key === "-") this.zoom(1);
      else if (event.key === " ") this.togglePause();
      else if (event.key === "Escape") this.#cursor = undefined;
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  /** Shows lines for these tweaks. A line keeps its colour until it is removed. */
  show(tweaks) {
    const before = new Map(this.#shown.map((line) => [line.id, line]));
    const taken = new Set(tweaks.map(({ id }) => before.get(id)?.colour).filter((colour) => colour !== undefined));
    const free = [...Array(mostSeries).keys()].filter((colour) => !taken.has(colour));
    this.#shown = tweaks.map((tweak) => ({ ...(before.get(tweak.id) ?? { id: tweak.id, colour: free.shift() ?? 0, isHidden: false }), tweak }));
    this.#element.hidden = tweaks.length === 0;
    this.#legend.replaceChildren(...this.#shown.map((line) => this.#makeLegend(line)));
    this.#setZoomText();
  }

  #makeLegend(line) {
    const { tweak } = line;
    line.output = make("output", { class: "legend-value" });
    const several = this.#shown.some((other) => other.tweak.program !== tweak.program);
    return make("li", {}, make("button", {
      type: "button", class: "legend-name", "aria-pressed": String(!line.isHidden), title: "Show or hide the line", onclick: (event) => {
        line.isHidden = !line.isHidden;
        event.currentTarget.setAttribute("aria-pressed", String(!line.isHidden));
      },
    }, make("span", { class: `legend-colour colour-${line.colour}`, "aria-hidden": "true" }),
      make("span", { text: `${several ? `${shown(tweak.program)}: ` : ""}${tweak.label}` })),
    line.output, make("span", { class: "unit", text: shown(tweak.unit) }),
    iconButton("close", `Remove ${tweak.label} from the graph`, () => this.#page.commands.toggleGraph(tweak)));
  }

  togglePause() {
    this.#pausedAt = this.#pausedAt === undefined ? this.#page.samples.now() - 0.05 : undefined;
    this.#showPause();
  }

  get isPaused() {
    return this.#pausedAt !== undefined;
  }

  #showPause() {
    const isPaused = this.isPaused;
    const label = isPaused ? "Resume" : "Pause";
    if (this.#pauseButton.title === label) return;
    this.#pauseButton.title = label;
    this.#pauseButton.setAttribute("aria-label", label);
    this.#pauseButton.setAttribute("aria-pressed", String(isPaused));
    this.#page.notices.whisper(isPaused ? "Graph paused" : "Graph resumed");
  }

  /** Shows less (-1) or more (1) time. */
  zoom(direction) {
    const at = windows.indexOf(this.#seconds);
    const before = this.#seconds;
    this.#seconds = windows[Math.min(windows.length - 1, Math.max(0, at + direction))];
    if (this.isPaused && this.#cursor !== undefined) {
      // Keep the time at the cursor in place.
      const share = (this.#pausedAt - this.#cursor) / before;
      this.#pausedAt = this.#cursor + share * this.#seconds;
    }
    this.#setZoomText();
  }

  #setZoomText() {
    const text = this.#seconds < 60 ? `${this.#seconds} s` : `${this.#seconds / 60} min`;
    setText(this.#element.querySelector(".graph-window"), text);
    this.#canvas.setAttribute("aria-label", `Graph of ${this.#shown.map(({ tweak }) => tweak.label).join(", ")}, ${text}`);
  }

  clear() {
    this.#page.samples.clear(this.#shown.map(({ id }) => id));
    this.#marks.replaceChildren();
  }

  #end() {
    return this.#pausedAt ?? this.#page.samples.now() - 0.05;
  }

  #plotWidth() {
    return Math.max(1, this.#canvas.clientWidth - edges.left - edges.right);
  }

  #timeAt(x) {
    const end = this.#end();
    const time = end - this.#seconds * (1 - (x - edges.left) / this.#plotWidth());
    return Math.min(end, Math.max(end - this.#seconds, time));
  }

  /** Draws a frame. */
  draw() {
    if (this.#element.hidden) return;
    const { samples } = this.#page;
    const { context, width, height } = prepared(this.#canvas);
    const plot = { left: edges.left, top: edges.top, right: width - edges.right, bottom: height - edges.bottom };
    if (plot.right - plot.left < 20 || plot.bottom - plot.top < 20) return;
    const end = this.#end();
    const from = end - this.#seconds;
    const x = (time) => plot.left + ((time - from) / this.#seconds) * (plot.right - plot.left);
    const lines = this.#shown.filter(({ isHidden }) => !isHidden).map((line) => {
      const series = samples.series(line.id);
      return { ...line, series, range: series && extent(series, from, end) };
    });
    const common = rangeOf(lines.map(({ range }) => range));
    const colours = this.#colours();
    context.font = "11px system-ui, sans-serif";
    this.#drawAxes(context, plot, { from, end, x, range: common, colours, isOwn: this.#isEachOwn });
    const marks = this.#visibleMarks(from, end);
    this.#drawMarks(context, plot, marks, x, colours);
    context.save();
    context.beginPath();
    context.rect(plot.left, plot.top - 2, plot.right - plot.left, plot.bottom - plot.top + 4);
    context.clip();
    for (const { series, range, colour, tweak } of lines) {
      if (!series || !range) continue;
      const [low, high] = this.#isEachOwn ? rangeOf([range]) : common;
      context.strokeStyle = colours.series[colour];
      context.lineWidth = 1.75;
      context.lineJoin = "round";
      drawLine(context, series, {
        from, to: end, x, width: plot.right - plot.left, isStepped: !tweak.monitor || tweak.type === "bool" || Boolean(tweak.choices),
        y: (value) => plot.bottom - ((value - low) / (high - low)) * (plot.bottom - plot.top),
      });
    }
    context.restore();
    this.#drawCursor(context, plot, x, from, end, colours);
    this.#showValues(marks);
  }

  #colours() {
    const theme = `${document.documentElement.dataset.theme}${matchMedia("(prefers-color-scheme: dark)").matches}`;
    if (this.#drawn?.theme !== theme) {
      this.#drawn = {
        theme, text: styleColour("--muted"), line: styleColour("--line"), strong: styleColour("--text"), mark: styleColour("--mark"),
        back: styleColour("--panel"), series: [...Array(mostSeries).keys()].map((index) => styleColour(`--series-${index}`)),
      };
    }
    return this.#drawn;
  }

  #drawAxes(context, plot, { from, end, x, range, colours, isOwn }) {
    const [low, high] = range;
    context.strokeStyle = colours.line;
    context.fillStyle = colours.text;
    context.lineWidth = 1;
    context.textBaseline = "middle";
    context.textAlign = "right";
    if (!isOwn) {
      for (const value of ticks(low, high, Math.max(2, Math.floor((plot.bottom - plot.top) / 36)))) {
        const y = Math.round(plot.bottom - ((value - low) / (high - low)) * (plot.bottom - plot.top)) + 0.5;
        line(context, plot.left, y, plot.right, y);
        context.fillText(shortText(value, 4), plot.left - 6, y);
      }
    }
    context.textBaseline = "top";
    context.textAlign = "center";
    const now = this.#page.samples.now();
    for (const offset of ticks(from - now, end - now, Math.max(2, Math.floor((plot.right - plot.left) / 90)))) {
      const at = Math.round(x(now + offset)) + 0.5;
      if (at < plot.left || at > plot.right) continue;
      line(context, at, plot.top, at, plot.bottom);
      context.fillText(offset > -0.0005 ? "now" : `${shortText(offset, 4)} s`, at, plot.bottom + 6);
    }
  }

  #visibleMarks(from, end) {
    const programs = new Set(this.#shown.map(({ tweak }) => tweak.program));
    const marks = [];
    const all = this.#page.samples.marks;
    for (let index = all.length - 1; index >= 0 && marks.length < 200; index -= 1) {
      const mark = all[index];
      if (mark.time < from) break;
      if (mark.time <= end && programs.has(mark.program)) marks.push(mark);
    }
    return marks;
  }

  #drawMarks(context, plot, marks, x, colours) {
    context.textAlign = "left";
    context.textBaseline = "top";
    let free = Infinity;
    for (const mark of marks) {
      const at = Math.round(x(mark.time)) + 0.5;
      context.strokeStyle = colours.mark;
      context.setLineDash([3, 3]);
      line(context, at, plot.top, at, plot.bottom);
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

  #drawCursor(context, plot, x, from, end, colours) {
    if (this.#cursor === undefined || this.#cursor < from || this.#cursor > end) return;
    const at = Math.round(x(this.#cursor)) + 0.5;
    context.strokeStyle = colours.strong;
    line(context, at, plot.top, at, plot.bottom);
  }

  #showValues(marks) {
    const { samples } = this.#page;
    const hasCursor = this.#cursor !== undefined;
    for (const line of this.#shown) {
      const series = samples.series(line.id);
      const value = hasCursor ? series?.valueAt(this.#cursor) : series?.last;
      setText(line.output, value === undefined ? "–" : stateName(line.tweak, value) ?? shortText(value));
    }
    let text = "";
    if (hasCursor) {
      const near = samples.marks.filter((mark) => Math.abs(mark.time - this.#cursor) < this.#seconds / 100).at(-1);
      text = `${(this.#cursor - samples.now()).toFixed(2)} s${near ? ` · ${near.label} ${near.text} · ${near.who}` : ""}`;
    }
    setText(this.#cursorText, text);
    const newest = marks[0] ? `${marks.length} ${marks[0].time} ${marks[0].text}` : "";
    if (this.#marks.dataset.newest === newest) return;
    this.#marks.dataset.newest = newest;
    this.#marks.replaceChildren(...marks.slice(0, 12).map((mark) => make("li", {},
      make("time", { text: new Date(mark.time * 1000).toLocaleTimeString("en-GB") }),
      make("span", { text: `${mark.label} ${mark.text}` }), make("span", { class: "who", text: mark.who }))));
  }

  /** The graph as CSV: time, a column for each line, and the changes. */
  csv() {
    const { samples } = this.#page;
    const columns = this.#shown.map(({ id }) => samples.series(id));
    const times = new Set();
    for (const series of columns) for (let index = 0; series && index < series.length; index += 1) times.add(series.time(index));
    const programs = new Set(this.#shown.map(({ tweak }) => tweak.program));
    const marks = new Map();
    for (const mark of samples.marks) {
      if (!programs.has(mark.program)) continue;
      times.add(mark.time);
      marks.set(mark.time, [...(marks.get(mark.time) ?? []), `${mark.key} ${mark.text} ${mark.who}`]);
    }
    const rows = [["time", ...this.#shown.map(({ tweak }) => tweak.key), "changes"].map(csvField).join(",")];
    for (const time of [...times].sort((a, b) => a - b)) {
      const cells = columns.map((series) => {
        if (!series) return "";
        const index = series.indexAt(time);
        return index < series.length && series.time(index) === time ? series.value(index) : "";
      });
      rows.push([time, ...cells, (marks.get(time) ?? []).join("; ")].map(csvField).join(","));
    }
    return `${rows.join("\n")}\n`;
  }

  saveCSV() {
    this.#page.commands.save("graph.csv", this.csv(), "text/csv");
  }
}

/** The name of the value of a switch or a choice, or undefined if it has none. */
function stateName(tweak, number) {
  if (tweak.type === "bool") return valueText(tweak, number >= 0.5);
  return tweak.choices?.some(({ value, label }) => label && Number(value) === number) ? valueText(tweak, number) : undefined;
}

/** A range that contains all ranges, never empty, with a margin. */
function rangeOf(ranges) {
  let low = Infinity;
  let high = -Infinity;
  for (const range of ranges) {
    if (!range) continue;
    low = Math.min(low, range[0]);
    high = Math.max(high, range[1]);
  }
  if (low > high) return [0, 1];
  if (low === high) {
    const space = Math.abs(low) * 0.1 || 1;
    return [low - space, high + space];
  }
  const space = (high - low) * 0.05;
  return [low - space, high + space];
}

/** About `count` round numbers between two limits. */
function ticks(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough) ?? rough;
  const numbers = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9 && numbers.length < 50; value += step) {
    numbers.push(Math.abs(value) < step * 1e-9 ? 0 : value);
  }
  return numbers;
}

function line(context, fromX, fromY, toX, toY) {
  context.beginPath();
  context.moveTo(fromX, fromY);
  context.lineTo(toX, toY);
  context.stroke();
}
