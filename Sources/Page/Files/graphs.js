// SPDX-License-Identifier: BSD-3-Clause

// The graph: monitors and tweaks in plots with one time axis, marks of changes, pause, zoom, cursors and statistics.

import { hasStates, layoutNamed, layouts, plotsOf, rangeOf } from "./axes.js";
import { csvField } from "./copying.js";
import { icon, iconButton, make, saveFile, setAttribute, setText } from "./dom.js";
import { extent, prepared } from "./drawing.js";
import { shortcutKey } from "./keyboard.js";
import { shown } from "./names.js";
import { shortText } from "./numbers.js";
import {
  drawBox,
  drawCursors,
  drawMarks,
  drawPairs,
  drawPlots,
  isStepped,
  leastHeight,
  legendText,
  mostSeries,
  pictureOf,
  placed,
  themeColours
} from "./plotting.js";
import { rates } from "./samples.js";
import { pairsOf, statisticNames, statisticsOf } from "./statistics.js";
import { openMenu } from "./popups.js";
import { spans, spanText, View } from "./zooming.js";

/** The most lines in the legend, of which the graph draws some. */
export const mostLines = 32;
/** The least and the greatest height, in percent of the window. */
const heights = [15, 75];
/** A pointer that moves less, in CSS pixels, has not dragged. */
const leastDrag = 5;

export class Graphs {
  /** The parts of the page that it uses. */
  #uses;
  #element;
  #canvas;
  #parts;
  #shown = [];
  #view = new View();
  #layout = "units";
  /** The ID of the horizontal line of an XY plot. */
  #horizontal;
  #cursor;
  /** The times between which statistics are shown: none, one, or two. */
  #measured = [];
  #drag;
  /** The plots as last drawn. */
  #plots = [];
  #nextStatistics = 0;
  /** Called when what the address holds has changed. */
  onChange = () => {};
  /** Called when the graph is to be drawn at once, because it is used. */
  onUse = () => {};
  /** Called to close the graph. */
  onClose = () => {};
  /**
   * Called to remove the line of a tweak.
   *
   * @type {(tweak: any) => void}
   */
  onRemove = () => {};

  /** @param {import("./page.js").Page} page */
  constructor({ notices, preferences, samples, state }, element) {
    this.#uses = { notices, preferences, samples, state };
    this.#element = element;
    this.#canvas = make("canvas", {
      class: "graph-canvas",
      role: "img",
      tabindex: "0",
      "aria-label": "Graph",
      "aria-describedby": "graph-help"
    });
    const button = (text, label, onclick) =>
      make("button", { type: "button", class: "button", text, "aria-label": label, title: label, onclick });
    const parts = (this.#parts = {
      pause: iconButton("pause", "Pause", () => this.togglePause(), { "aria-pressed": "false" }),
      window: make(
        "button",
        {
          type: "button",
          class: "button graph-window",
          "aria-haspopup": "menu",
          "aria-expanded": "false",
          onclick: () => this.#openSpans()
        },
        make("output"),
        icon("down")
      ),
      box: iconButton("box", "Zoom to a box", () => this.#toggleBox(), { "aria-pressed": "false" }),
      back: iconButton("undo", "Zoom back", () => this.#goBack(), { class: "graph-back", "aria-disabled": "true" }),
      rate: make("select", {
        "aria-label": "Samples per second",
        onchange: () => {
          this.#uses.samples.setRate(Number(parts.rate.value));
          this.onChange();
        }
      }, rates.map((rate) => make("option", { value: rate, text: `${rate}/s` }))),
      times: make("canvas", { class: "graph-times", "aria-hidden": "true" }),
      layout: make(
        "select",
        { "aria-label": "Plots", onchange: () => this.#setLayout(parts.layout.value) },
        layouts.map(([value, text]) => make("option", { value, text }))
      ),
      horizontal: make("select", {
        "aria-label": "Horizontal axis",
        onchange: () => this.#setLayout("xy", parts.horizontal.value)
      }),
      cursorText: make("output", { class: "graph-cursor", "aria-live": "polite" }),
      legend: make("ul", { class: "graph-legend", "aria-label": "Lines" }),
      count: make("p", { class: "who", role: "status" }),
      marks: make("ol", { class: "graph-marks", "aria-label": "Changes, latest first" }),
      statistics: make("div", {
        class: "graph-statistics",
        tabindex: "0",
        role: "region",
        "aria-label": "Statistics",
        hidden: true
      })
    });
    const bar = make(
      "div",
      { class: "graph-bar", role: "toolbar", "aria-label": "Graph" },
      make("h2", { text: "Graph" }),
      parts.pause,
      iconButton("plus", "Zoom in", () => this.zoom(-1), { class: "graph-zoom" }),
      iconButton("minus", "Zoom out", () => this.zoom(1), { class: "graph-zoom" }),
      parts.box,
      parts.back,
      parts.window,
      [parts.layout, parts.horizontal, parts.rate].map((select) =>
        make("span", { class: "graph-menu" }, select, icon("down"))
      ),
      parts.cursorText,
      button("CSV", "Save as CSV", () => this.saveCSV()),
      button("PNG", "Save as PNG", () => this.savePNG()),
      button("Clear", "Clear the graph", () => this.clear()),
      iconButton("close", "Close the graph", () => this.onClose())
    );
    element.append(
      bar,
      make(
        "div",
        { class: "graph-main" },
        make("div", { class: "graph-drawing" }, make("div", { class: "graph-plots" }, this.#canvas), parts.times),
        make("div", { class: "graph-side" }, parts.legend, parts.count, parts.marks)
      ),
      parts.statistics,
      make("p", {
        id: "graph-help",
        class: "off-screen",
        text:
          "Plus and minus zoom in time, the up and down arrows in values, Backspace zooms back, Space pauses. The left and right arrows move the cursor, Enter places it for statistics, and z zooms to the range between two cursors."
      })
    );
    this.#listen();
    this.#parts.edge = this.#makeEdge();
    element.prepend(this.#parts.edge);
  }

  /** The edge that is dragged to change the height. */
  #makeEdge() {
    const { preferences } = this.#uses;
    const keep = (height) => {
      preferences.graphHeight = height;
    };
    let wanted;
    const edge = make("div", {
      class: "graph-edge",
      role: "separator",
      tabindex: "0",
      "aria-orientation": "horizontal",
      "aria-label": "Height of the graph",
      "aria-valuemin": heights[0],
      "aria-valuemax": heights[1],
      title: "Height; double-click for the default",
      ondblclick: () => keep(0),
      onpointerdown: (event) => event.button === 0 && edge.setPointerCapture(event.pointerId),
      onpointermove: (event) => {
        if (!edge.hasPointerCapture(event.pointerId)) return;
        wanted = (1 - event.clientY / innerHeight) * 100;
        this.showHeight(wanted);
      },
      onlostpointercapture: () => {
        if (wanted) keep(wanted);
        wanted = undefined;
      },
      onkeydown: (event) => {
        const by = event.shiftKey ? 10 : 2;
        const now = Number(edge.getAttribute("aria-valuenow"));
        const to = { ArrowUp: now + by, ArrowDown: now - by, Home: heights[0], End: heights[1], Enter: 0 }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        keep(to);
      }
    });
    return edge;
  }

  /** Shows the height that the user prefers, in percent of the window; 0 for the default. */
  showHeight(height = this.#uses.preferences.graphHeight) {
    const [least, most] = heights;
    document.documentElement.style.setProperty(
      "--graph-height",
      height ? `${Math.min(most, Math.max(least, height))}vh` : ""
    );
    setAttribute(this.#parts.edge, "aria-valuenow", Math.round((this.#element.offsetHeight / innerHeight) * 100));
  }

  #listen() {
    const canvas = this.#canvas;
    for (const name of ["pointermove", "wheel", "keydown", "click"])
      this.#element.addEventListener(name, () => this.onUse(), { passive: true });
    canvas.addEventListener("pointermove", (event) => {
      if (this.#drag) this.#dragTo(event);
      else this.#cursor = this.#timeAt(event.offsetX);
    });
    canvas.addEventListener("pointerleave", () => {
      if (!this.#drag && document.activeElement !== canvas) this.#cursor = undefined;
    });
    canvas.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "mouse" && event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      const plot = this.#plots.find(({ bottom }) => event.offsetY <= bottom) ?? this.#plots.at(-1);
      const isBox = event.shiftKey || this.#parts.box.getAttribute("aria-pressed") === "true";
      const at = { x: event.offsetX, y: event.offsetY };
      this.#drag = {
        plot,
        isBox,
        start: at,
        last: at,
        before: { end: this.#view.end, ranges: new Map(this.#view.ranges) }
      };
    });
    canvas.addEventListener("pointerup", (event) => {
      const drag = this.#drag;
      this.#drag = undefined;
      if (!drag?.plot) return;
      if (!drag.isMoved) this.#place(this.#timeAt(event.offsetX));
      else if (drag.isBox) this.#zoomToBox(drag);
    });
    canvas.addEventListener("pointercancel", () => {
      // The finger scrolls the page.
      Object.assign(this.#view, this.#drag?.before);
      this.#drag = undefined;
      this.#showPause();
    });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.sign(event.deltaY));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const { seconds } = this.#view;
      const step = seconds / (event.shiftKey ? 10 : 100);
      const end = this.end;
      const move = (by) => {
        this.#cursor = Math.min(end, Math.max(end - seconds, (this.#cursor ?? end) + by));
      };
      const run = {
        ArrowLeft: () => move(-step),
        ArrowRight: () => move(step),
        ArrowUp: () => this.#zoomValues(0.8),
        ArrowDown: () => this.#zoomValues(1.25),
        "+": () => this.zoom(-1),
        "=": () => this.zoom(-1),
        "-": () => this.zoom(1),
        " ": () => this.togglePause(),
        Backspace: () => this.#goBack(),
        Enter: () => this.#place(this.#cursor ?? end),
        z: () => this.#zoomToCursors(),
        Escape: () => {
          this.#cursor = undefined;
          this.#measured = [];
        }
      }[shortcutKey(event)];
      if (!run) return;
      event.preventDefault();
      event.stopPropagation();
      run();
    });
  }

  #dragTo(event) {
    const { plot, isBox, start, last } = this.#drag;
    const now = { x: event.offsetX, y: event.offsetY };
    if (!plot || (!this.#drag.isMoved && Math.hypot(now.x - start.x, now.y - start.y) < leastDrag)) return;
    this.#drag.isMoved = true;
    this.#drag.last = now;
    if (isBox) return;
    const isPairs = this.#layout === "xy";
    const across = (last.x - now.x) / (plot.right - plot.left);
    const up = (now.y - last.y) / (plot.bottom - plot.top);
    if (isPairs) this.#view.shift([plot.horizontalKey], across);
    else this.#view.end = Math.min(this.#uses.samples.now(), this.end + across * this.#view.seconds);
    this.#view.shift(plot.axes.map(({ key }) => key), up);
    this.#showPause();
  }

  /** Zooms to a box in one plot. A flat or narrow box zooms in one direction only. */
  #zoomToBox({ plot, start, last }) {
    const { left, right, top, bottom } = boxIn(plot, start, last);
    const share = {
      left: (left - plot.left) / (plot.right - plot.left),
      right: (right - plot.left) / (plot.right - plot.left),
      low: (plot.bottom - bottom) / (plot.bottom - plot.top),
      high: (plot.bottom - top) / (plot.bottom - plot.top)
    };
    const part = ([low, high], from, to) => [low + (high - low) * from, low + (high - low) * to];
    const [isWide, isTall] = [right - left >= leastDrag, bottom - top >= leastDrag];
    const ranges = isTall ? plot.axes.map(({ key, range }) => [key, part(range, share.low, share.high)]) : [];
    const end = this.end;
    if (plot.horizontalKey && isWide)
      ranges.push([plot.horizontalKey, part(plot.horizontalRange, share.left, share.right)]);
    const times = isWide && !plot.horizontalKey ? part([end - this.#view.seconds, end], share.left, share.right) : [];
    if (!isWide && !isTall) return;
    this.#view.zoomTo({ from: times[0], to: times[1], ranges });
    if (this.#parts.box.getAttribute("aria-pressed") === "true") this.#toggleBox();
    this.#zoomed();
  }

  #zoomToCursors() {
    const [from, to] = this.#span() ?? [];
    if (!(to > from)) return;
    this.#view.zoomTo({ from, to });
    this.#zoomed();
  }

  /** Scales all axes of values about their middle. */
  #zoomValues(factor) {
    const scaled = (
      [low, high]
    ) => [(low + high) / 2 - ((high - low) / 2) * factor, (low + high) / 2 + ((high - low) / 2) * factor];
    this.#view.zoomTo({
      ranges: this.#plots.flatMap(({ axes }) => axes.map(({ key, range }) => [key, scaled(range)]))
    });
    this.#zoomed();
  }

  #goBack() {
    if (!this.#view.canGoBack) return;
    this.#view.back();
    this.#zoomed();
  }

  #zoomed() {
    setAttribute(this.#parts.back, "aria-disabled", this.#view.canGoBack ? undefined : "true");
    this.#showPause();
    this.#setZoomText();
  }

  #toggleBox() {
    const isOn = this.#parts.box.getAttribute("aria-pressed") !== "true";
    this.#parts.box.setAttribute("aria-pressed", String(isOn));
    this.#canvas.classList.toggle("is-boxing", isOn);
  }

  #setLayout(layout, horizontal = this.#horizontal) {
    this.#layout = layoutNamed(layout);
    this.#horizontal = horizontal;
    this.#view.rested.clear();
    this.#measured = [];
    this.#showLayout();
    this.onChange();
  }

  #showLayout() {
    const { layout, horizontal, rate } = this.#parts;
    layout.value = this.#layout;
    rate.value = this.#uses.samples.rate;
    horizontal.parentElement.hidden = this.#layout !== "xy";
    const lines = this.#lines();
    horizontal.replaceChildren(
      ...lines.map(({ id, tweak }) =>
        make("option", {
          value: id,
          translate: "no",
          text: `Horizontal: ${tweak.label}`,
          selected: id === this.#horizontal
        })
      )
    );
    this.#setZoomText();
  }

  /** Places a cursor for statistics. The third one begins again. */
  #place(time) {
    if (this.#layout === "xy") return;
    this.#measured = this.#measured.length === 1 ? [this.#measured[0], time] : [time];
    this.#nextStatistics = 0;
    if (this.#measured.length === 1)
      this.#uses.notices.whisper("First cursor placed. Place a second one for statistics");
  }

  /** The times between which statistics are shown, or undefined. */
  #span() {
    const [first, second = this.#cursor] = this.#measured;
    return first === undefined || second === undefined ? undefined : [Math.min(first, second), Math.max(first, second)];
  }

  /**
   * Shows lines for these tweaks. A line keeps its colour until it is hidden or removed. Returns the tweaks in the
   * legend whose
   * lines are not drawn, because the graph draws only some.
   */
  show(tweaks) {
    const before = new Map(this.#shown.map((line) => [line.id, line]));
    this.#shown = tweaks.map((tweak) => ({
      ...(before.get(tweak.id) ?? { id: tweak.id, colour: undefined, isHidden: false }),
      tweak
    }));
    for (const line of this.#shown) this.#giveColour(line);
    this.#element.hidden = tweaks.length === 0;
    this.showHeight();
    this.#showLegend();
    return this.#shown.filter((line) => !line.isHidden && line.colour === undefined).map(({ tweak }) => tweak);
  }

  /** The lines that are drawn. */
  #lines() {
    return this.#shown.filter(({ colour }) => colour !== undefined);
  }

  /** Gives a line a colour, unless it is hidden or there is none left. */
  #giveColour(line) {
    if (line.isHidden || line.colour !== undefined) return;
    const taken = new Set(this.#shown.map(({ colour }) => colour));
    line.colour = [...Array(mostSeries).keys()].find((colour) => !taken.has(colour));
  }

  #showLegend() {
    const { legend } = this.#parts;
    const focused = /** @type {HTMLElement} */ (document.activeElement)?.dataset.line;
    legend.replaceChildren(...this.#shown.map((line) => this.#makeLegend(line)));
    if (focused) [...legend.querySelectorAll("[data-line]")].find(({ dataset }) => dataset.line === focused)?.focus();
    this.#showCount();
    this.#showLayout();
  }

  /** Says how many lines are drawn, and which programs give fewer samples than wanted. */
  #showCount() {
    const drawn = this.#lines().length;
    const texts = drawn === this.#shown.length
      ? []
      : [`${drawn} of ${this.#shown.length} lines drawn${drawn === mostSeries ? "; hide one to draw another" : ""}`];
    for (const id of new Set(this.#shown.map(({ tweak }) => tweak.program))) {
      const found = this.#uses.samples.shortage(id);
      if (found)
        texts.push(
          `${shown(this.#uses.state.programs.get(id)?.description.name)} gives ${
            shortText(found.given, 2)
          } of ${found.rate} samples per second`
        );
    }
    setText(this.#parts.count, texts.join(". "));
  }

  #makeLegend(line) {
    const { tweak } = line;
    const isDrawn = line.colour !== undefined;
    line.output = make("output", { class: "legend-value", translate: "no" });
    const several = this.#shown.some((other) => other.tweak.program !== tweak.program);
    return make(
      "li",
      {},
      make(
        "button",
        {
          type: "button",
          class: "legend-name",
          "aria-pressed": String(isDrawn),
          title: isDrawn ? "Hide the line" : "Draw the line",
          data: { line: line.id },
          onclick: () => this.#toggleLine(line)
        },
        make("span", { class: `legend-colour ${isDrawn ? `colour-${line.colour}` : ""}`, "aria-hidden": "true" }),
        make("span", { translate: "no", text: `${several ? `${shown(tweak.program)}: ` : ""}${tweak.label}` })
      ),
      line.output,
      make("span", { class: "unit", translate: "no", text: shown(tweak.unit) }),
      iconButton("close", `Remove ${tweak.label} from the graph`, () => this.onRemove(tweak))
    );
  }

  #toggleLine(line) {
    line.isHidden = line.colour !== undefined;
    line.colour = undefined;
    this.#giveColour(line);
    if (!line.isHidden && line.colour === undefined) {
      this.#uses.notices.say(`A graph draws at most ${mostSeries} lines. Hide one to draw ${line.tweak.label}`);
    }
    this.#showLegend();
  }

  togglePause() {
    this.#view.end = this.#view.end === undefined ? this.#uses.samples.now() - 0.05 : undefined;
    this.#showPause();
  }

  get isPaused() {
    return this.#view.end !== undefined;
  }

  #showPause() {
    const { isPaused } = this;
    const label = isPaused ? "Resume" : "Pause";
    const { pause } = this.#parts;
    if (pause.title === label) return;
    pause.title = label;
    pause.setAttribute("aria-label", label);
    pause.setAttribute("aria-pressed", String(isPaused));
    this.#uses.notices.whisper(isPaused ? "Graph paused" : "Graph resumed");
  }

  /** Shows less (-1) or more (1) time. */
  zoom(direction) {
    this.#view.zoom(direction, this.#cursor);
    this.#setZoomText();
    this.onChange();
  }

  #openSpans() {
    openMenu(
      this.#parts.window,
      "Time shown",
      spans.map((seconds) => ({
        label: spanText(seconds),
        isChecked: this.#view.seconds === seconds,
        run: () => {
          this.#view.showSpan(seconds, this.#cursor);
          this.#setZoomText();
          this.onChange();
        }
      }))
    );
  }

  #setZoomText() {
    const { text } = this.#view;
    setText(this.#parts.window.firstChild, text);
    setAttribute(this.#parts.window, "aria-label", `Time shown: ${text}`);
    this.#canvas.setAttribute(
      "aria-label",
      `Graph of ${this.#lines().map(({ tweak }) => tweak.label).join(", ")}, ${text}`
    );
  }

  clear() {
    this.#uses.samples.clear(this.#shown.map(({ id }) => id));
    this.#parts.marks.replaceChildren();
    this.#measured = [];
  }

  /** The time at the right edge. */
  get end() {
    return this.#view.end ?? this.#uses.samples.now() - 0.05;
  }

  #timeAt(x) {
    const { left, right } = this.#plots[0] ?? { left: 0, right: 1 };
    const end = this.end;
    const { seconds } = this.#view;
    return Math.min(end, Math.max(end - seconds, end - seconds * (1 - (x - left) / (right - left))));
  }

  /** Draws a frame. */
  draw() {
    if (this.#element.hidden) return;
    const { samples } = this.#uses;
    const seriesOf = (id) => samples.series(id);
    const lines = this.#lines();
    const end = this.end;
    const from = end - this.#view.seconds;
    const isPairs = this.#layout === "xy";
    const pairs = isPairs ? this.#pairs(lines, from, end, seriesOf) : undefined;
    const plots = pairs ? plotsOf(pairs.lines, "together") : plotsOf(lines, this.#layout);
    const colours = themeColours();
    this.#canvas.style.minHeight = plots.length > 1 ? `${leastHeight(plots.length, colours.textSize)}px` : "";
    const { context, width, height } = prepared(this.#canvas);
    const { context: times } = prepared(this.#parts.times);
    const rangeFor = pairs?.rangeFor ?? (({ id }) => seriesOf(id) && extent(seriesOf(id), from, end));
    this.#plots = placed(plots, { width, height, text: colours.textSize, view: this.#view, rangeFor });
    const [first] = this.#plots;
    const marks = this.#visibleMarks(from, end);
    this.#showValues(marks, isPairs && lines.length < 2 ? "An XY plot needs two lines" : "");
    if (!first || first.right - first.left < 20 || first.bottom - first.top < 20) return;
    context.font = times.font = `${colours.textSize}px system-ui, sans-serif`;
    if (pairs) {
      const horizontalRange = this.#view.ranges.get(pairs.horizontalKey) ?? pairs.horizontalRange;
      Object.assign(first, { horizontalKey: pairs.horizontalKey, horizontalRange });
      drawPairs(context, first, { times, horizontal: pairs.horizontal, runsOf: pairs.of, colours });
    } else {
      drawPlots(context, this.#plots, { times, from, end, now: samples.now(), colours, seriesOf });
      const x = (time) => first.left + ((time - from) / this.#view.seconds) * (first.right - first.left);
      drawMarks(context, this.#plots, marks, x, colours);
      const span = this.#span();
      drawCursors(
        context,
        this.#plots,
        [...this.#measured, this.#cursor].filter((time) => time >= from && time <= end).map(x),
        span?.map(x),
        colours
      );
    }
    if (this.#drag?.isBox && this.#drag.isMoved)
      drawBox(context, boxIn(this.#drag.plot, this.#drag.start, this.#drag.last), colours);
    this.#showStatistics(lines, seriesOf);
  }

  /** What an XY plot shows: its horizontal line, the other lines, and their runs of pairs and ranges. */
  #pairs(lines, from, end, seriesOf) {
    const horizontal = lines.find(({ id }) => id === this.#horizontal) ?? lines[0];
    const base = horizontal && seriesOf(horizontal.id);
    const others = lines.filter((line) => line !== horizontal);
    const runs = new Map(
      others.map(({ id }) => [id, base && seriesOf(id) ? pairsOf(base, seriesOf(id), from, end) : []])
    );
    const limits = (runs, index) =>
      runs.length > 0 &&
      runs.flat().reduce(([low, high], pair) => [Math.min(low, pair[index]), Math.max(high, pair[index])], [
        Infinity,
        -Infinity
      ]);
    return {
      horizontal,
      lines: others,
      horizontalKey: `x\n${horizontal?.id}`,
      horizontalRange: rangeOf([...runs.values()].map((one) => limits(one, 0))),
      of: ({ id }) => runs.get(id),
      rangeFor: ({ id }) => limits(runs.get(id), 1)
    };
  }

  #visibleMarks(from, end) {
    const programs = new Set(this.#shown.map(({ tweak }) => tweak.program));
    const marks = [];
    const all = this.#uses.samples.marks;
    for (let index = all.length - 1; index >= 0 && marks.length < 200; index -= 1) {
      const mark = all[index];
      if (mark.time < from) break;
      if (mark.time <= end && programs.has(mark.program)) marks.push(mark);
    }
    return marks;
  }

  #showValues(marks, problem) {
    const { samples } = this.#uses;
    const hasCursor = this.#cursor !== undefined;
    for (const line of this.#shown) {
      const series = samples.series(line.id);
      const value = hasCursor ? series?.valueAt(this.#cursor) : series?.last;
      setText(line.output, legendText(line, value, this.#plots));
    }
    let text = problem;
    if (hasCursor && !problem) {
      const near = samples.marks.filter((mark) => Math.abs(mark.time - this.#cursor) < this.#view.seconds / 100).at(-1);
      text = `${(this.#cursor - samples.now()).toFixed(2)} s${
        near ? ` · ${near.label} ${near.text} · ${near.who}` : ""
      }`;
    }
    setText(this.#parts.cursorText, text);
    this.#showCount();
    const newest = marks[0] ? `${marks.length} ${marks[0].time} ${marks[0].text}` : "";
    if (this.#parts.marks.dataset.newest === newest) return;
    this.#parts.marks.dataset.newest = newest;
    this.#parts.marks.replaceChildren(
      ...marks.slice(0, 12).map((mark) =>
        make(
          "li",
          {},
          make("time", { text: new Date(mark.time * 1000).toLocaleTimeString("en-GB") }),
          make("span", { translate: "no", text: `${mark.label} ${mark.text}` }),
          make("span", { class: "who", text: mark.who })
        )
      )
    );
  }

  /** Shows the statistics between the cursors, at most ten times a second. */
  #showStatistics(lines, seriesOf) {
    const { statistics } = this.#parts;
    const span = this.#layout === "xy" ? undefined : this.#span();
    statistics.hidden = !span;
    const now = performance.now();
    if (!span || now < this.#nextStatistics) return;
    const [from, to] = span;
    const cells = lines.map((line) => {
      const series = seriesOf(line.id);
      const found = series && statisticsOf(series, from, to, isStepped(line));
      return statisticNames.map(([name]) => (found?.[name] === undefined ? "–" : shortText(found[name])));
    });
    this.#nextStatistics = performance.now() + Math.max(100, (performance.now() - now) * 8);
    const title = `${shortText(to - from, 4)} s between the cursors`;
    const text = JSON.stringify([title, lines.map(({ id, colour }) => [id, colour]), cells]);
    if (statistics.dataset.text === text) return;
    statistics.dataset.text = text;
    statistics.replaceChildren(
      make(
        "table",
        {},
        make("caption", { text: title }),
        make(
          "thead",
          {},
          make(
            "tr",
            {},
            make("td", {}),
            statisticNames.map(([, label]) => make("th", { scope: "col", text: label }))
          )
        ),
        make(
          "tbody",
          {},
          lines.map(({ tweak, colour }, index) =>
            make(
              "tr",
              {},
              make(
                "th",
                { scope: "row" },
                make("span", { class: `legend-colour colour-${colour}`, "aria-hidden": "true" }),
                make("span", { translate: "no", text: tweak.label }),
                tweak.unit && !hasStates(tweak)
                  ? [" ", make("span", { class: "unit", translate: "no", text: shown(tweak.unit) })]
                  : undefined
              ),
              cells[index].map((cell) => make("td", { text: cell }))
            )
          )
        )
      )
    );
  }

  /** The plots as last drawn, from top to bottom. */
  get plots() {
    return this.#plots;
  }

  /** What the address holds: the IDs of the lines, the layout, the horizontal line and the time shown. */
  get place() {
    return {
      lines: this.#shown.map(({ id }) => id),
      plots: this.#layout === "units" ? undefined : this.#layout,
      across: this.#layout === "xy" ? this.#horizontal : undefined,
      rate: this.#uses.samples.rate === rates[0] ? undefined : String(this.#uses.samples.rate),
      seconds: this.#view.seconds === 10 ? undefined : String(Number(this.#view.seconds.toPrecision(4)))
    };
  }

  /** What the address of a program holds: keys of the program's tweaks, and IDs of others. */
  placeIn(program) {
    if (this.#uses.state.graphed.size === 0) return {};
    const { lines, across, ...rest } = this.place;
    const nameOf = (id) => (id?.startsWith(`${program}\n`) ? id.slice(program.length + 1) : id);
    return { ...rest, line: lines.map(nameOf), across: nameOf(across) };
  }

  set place({ plots, across, seconds, rate }) {
    this.#uses.samples.setRate(Number(rate));
    this.#layout = layoutNamed(plots);
    this.#horizontal = across;
    const wanted = Number(seconds ?? 10);
    if (wanted >= 0.001 && wanted <= 600) this.#view.seconds = wanted;
    this.#showLayout();
  }

  /** The graph as CSV: time, a column for each line, and the changes. */
  csv() {
    const { samples } = this.#uses;
    const columns = this.#shown.map(({ id }) => samples.series(id));
    const times = new Set();
    for (const series of columns) {
      for (let index = 0; series && index < series.length; index += 1)
        if (!series.isGap(index)) times.add(series.time(index));
    }
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
        return index < series.length && series.time(index) === time && !series.isGap(index) ? series.value(index) : "";
      });
      rows.push([time, ...cells, (marks.get(time) ?? []).join("; ")].map(csvField).join(","));
    }
    return `${rows.join("\n")}\n`;
  }

  saveCSV() {
    saveFile("graph.csv", this.csv(), "text/csv");
  }

  /** Saves the plots with a legend as a picture. */
  async savePNG() {
    const legend = this.#lines().map(({ tweak, colour, output }) => {
      const unit = shown(tweak.unit);
      return { colour, text: `${tweak.label}: ${output.textContent}${unit && !hasStates(tweak) ? ` ${unit}` : ""}` };
    });
    const programs = [...new Set(this.#lines().map(({ tweak }) => shown(tweak.program)))].join(", ");
    const title = { colour: undefined, text: `${programs}, ${new Date(this.end * 1000).toLocaleString("en-GB")}` };
    saveFile(
      "graph.png",
      await pictureOf([this.#canvas, this.#parts.times], [...legend, title], themeColours()),
      "image/png"
    );
  }
}

/** The part of a plot between two points. */
function boxIn({ left, right, top, bottom }, one, other) {
  const inside = (low, high, number) => Math.min(high, Math.max(low, number));
  return {
    left: inside(left, right, Math.min(one.x, other.x)),
    right: inside(left, right, Math.max(one.x, other.x)),
    top: inside(top, bottom, Math.min(one.y, other.y)),
    bottom: inside(top, bottom, Math.max(one.y, other.y))
  };
}
