// SPDX-License-Identifier: BSD-3-Clause

// A graph of a panel: a legend with values, and plots of the last seconds.

import { plotsOf } from "../axes.js";
import { iconButton, make, setText } from "../dom.js";
import { extent, prepared } from "../drawing.js";
import { shown } from "../names.js";
import { drawMarks, drawPlots, leastHeight, legendText, mostSeries, placed, themeColours } from "../plotting.js";
import { currentValue, isDrawable, isMonitored, valueText } from "../tweaks.js";
import { spanText, View } from "../zooming.js";
import { secondsOf } from "./content.js";

export class PanelGraph {
  #samples;
  #canvas;
  #times;
  #lines;
  #view = new View();
  element;

  /** @param {import("../page.js").Parts<"commands" | "samples" | "state">} parts */
  constructor({ commands, samples, state }, program, item, { isReading = false } = {}) {
    this.#samples = samples;
    this.#view.seconds = secondsOf(item);
    const found = item.graph.map((key) => ({ key, tweak: state.tweak(program, key) }));
    const drawn = found.filter(({ tweak }) => tweak && isDrawable(tweak)).slice(0, mostSeries);
    this.#lines = drawn.map(({ tweak }, colour) => ({
      id: tweak.id,
      tweak,
      colour,
      output: make("output", { class: "legend-value", translate: "no" })
    }));
    const names = this.#lines.map(({ tweak }) => tweak.label).join(", ");
    const span = spanText(this.#view.seconds);
    this.#canvas = make("canvas", {
      class: "panel-plots",
      role: "img",
      "aria-label": `Graph of ${names || "nothing"}, ${span}`
    });
    this.#times = make("canvas", { class: "panel-times", "aria-hidden": "true" });
    const left = found.filter(({ tweak }) => !this.#lines.some((line) => line.tweak === tweak));
    this.element = make(
      "div",
      { class: "panel-graph" },
      make(
        "div",
        { class: "panel-legend" },
        make(
          "ul",
          { "aria-label": "Lines" },
          this.#lines.map(({ tweak, colour, output }) =>
            make(
              "li",
              {},
              make("span", { class: `legend-colour colour-${colour}`, "aria-hidden": "true" }),
              make("span", { translate: "no", text: tweak.label }),
              output,
              tweak.unit ? make("span", { class: "who", translate: "no", text: shown(tweak.unit) }) : undefined
            )
          ),
          left.map(({ key, tweak }) =>
            make(
              "li",
              { class: "who" },
              make("span", { translate: "no", text: tweak ? tweak.label : shown(key) }),
              make("span", { text: !tweak ? "not declared" : isDrawable(tweak) ? "not drawn" : "has no graph" })
            )
          )
        ),
        make("span", { class: "who", text: span }),
        isReading || this.#lines.length === 0 ? undefined : iconButton(
          "graph",
          `Open the graph of ${names}`,
          () => commands.graph(this.#lines.map(({ tweak }) => tweak))
        )
      ),
      this.#canvas,
      this.#times
    );
  }

  /** The IDs of the tweaks whose samples it needs. */
  get ids() {
    return this.#lines.map(({ id }) => id);
  }

  /** Draws a frame, if it can be seen. */
  draw() {
    if (this.#lines.length === 0 || !this.element.checkVisibility()) return;
    const { top, bottom } = this.#canvas.getBoundingClientRect();
    if (bottom < 0 || top > innerHeight) return;
    const samples = this.#samples;
    const seriesOf = (id) => samples.series(id);
    const end = samples.now() - 0.05;
    const from = end - this.#view.seconds;
    const plots = plotsOf(this.#lines, "units");
    const now = themeColours();
    this.#canvas.style.minHeight = plots.length > 1 ? `${leastHeight(plots.length, now.textSize)}px` : "";
    const { context, width, height } = prepared(this.#canvas);
    const times = prepared(this.#times).context;
    const all = placed(plots, {
      width,
      height,
      text: now.textSize,
      view: this.#view,
      rangeFor: ({ id }) => seriesOf(id) && extent(seriesOf(id), from, end)
    });
    const [first] = all;
    if (!first || first.right - first.left < 20 || first.bottom - first.top < 20) return;
    for (const one of [context, times]) one.font = `${now.textSize}px system-ui, sans-serif`;
    // The times have a canvas of their own, below the plots.
    const options = { times, from, end, now: samples.now(), colours: now, seriesOf };
    drawPlots(context, all, options);
    const own = new Set(this.ids);
    const marks = samples.marks.filter(({ id, time }) => own.has(id) && time >= from && time <= end).reverse().slice(
      0,
      50
    );
    drawMarks(
      context,
      all,
      marks,
      (time) => first.left + ((time - from) / (end - from)) * (first.right - first.left),
      now
    );
    for (const line of this.#lines) {
      const { tweak } = line;
      setText(
        line.output,
        isMonitored(tweak)
          ? legendText(line, seriesOf(line.id)?.last, all)
          : valueText(tweak, currentValue(tweak), { unit: false })
      );
    }
  }
}
