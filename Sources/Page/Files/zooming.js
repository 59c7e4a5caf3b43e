// SPDX-License-Identifier: BSD-3-Clause

// The part of a graph that is shown: a span of time, and the ranges chosen for its axes. Pure.

import { restingRange } from "./axes.js";

/** The durations to choose from, in seconds. */
export const spans = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600];
const shortest = 0.001;
const mostSteps = 50;

export class View {
  seconds = 10;
  /** The time at the right edge, undefined while the graph follows the newest values. */
  end;
  /** The ranges chosen by zooming, by the key of the axis, as `[low, high]`. */
  ranges = new Map();
  /** The ranges last found for the other axes. */
  rested = new Map();
  /** The views to go back to. */
  #before = [];

  /** Shows less (-1) or more (1) time. A time in view keeps its place if the graph is paused. */
  zoom(direction, anchor) {
    const { seconds } = this;
    this.showSpan(
      (direction < 0 ? [...spans].reverse().find((one) => one < seconds) : spans.find((one) => one > seconds)) ??
        seconds,
      anchor
    );
  }

  /** Shows a duration. A time in view keeps its place if the graph is paused. */
  showSpan(seconds, anchor) {
    const before = this.seconds;
    this.seconds = seconds;
    this.rested.clear();
    if (this.end === undefined || anchor === undefined) return;
    this.end = anchor + ((this.end - anchor) / before) * this.seconds;
  }

  /**
   * Shows a part of what is shown, until `back`.
   *
   * - from, to: the times; undefined to keep them.
   * - ranges: the new ranges of axes, as entries of a map.
   */
  zoomTo(/** @type {{ from?: number, to?: number, ranges?: [string, number[]][] }} */ { from, to, ranges = [] }) {
    this.#before.push({
      seconds: this.seconds,
      end: this.end,
      ranges: new Map(this.ranges),
      rested: new Map(this.rested)
    });
    if (this.#before.length > mostSteps) this.#before.shift();
    if (from !== undefined && to !== undefined) {
      this.seconds = Math.max(shortest, to - from);
      this.end = to;
    }
    for (const [key, range] of ranges) if (range[1] > range[0]) this.ranges.set(key, range);
  }

  /** The range of an axis for these ranges of its lines: the last one if it still fits, so that the numbers rest. */
  rest(key, ranges) {
    const range = restingRange(this.rested.get(key), ranges);
    this.rested.set(key, range);
    return range;
  }

  get canGoBack() {
    return this.#before.length > 0;
  }

  /** Shows what was shown before the last box. */
  back() {
    Object.assign(this, this.#before.pop() ?? {});
  }

  /** Moves the chosen ranges of axes by a share of their width. */
  shift(keys, share) {
    for (const key of keys) {
      const range = this.ranges.get(key);
      if (range) this.ranges.set(key, range.map((limit) => limit + share * (range[1] - range[0])));
    }
  }

  /** The duration for people. */
  get text() {
    return spanText(this.seconds);
  }
}

export const spanText = (
  seconds
) => (seconds >= 60 && seconds % 60 === 0 ? `${seconds / 60} min` : `${Number(seconds.toPrecision(3))} s`);
