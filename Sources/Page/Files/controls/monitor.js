// SPDX-License-Identifier: BSD-3-Clause

// A monitor: its value, and a sparkline of the last seconds.

import { make, setText } from "../dom.js";
import { drawSparkline } from "../drawing.js";
import { fixedText, isNumber, isReal, shortText } from "../numbers.js";
import { shown } from "../names.js";
import { currentValue, isDrawable, valueText } from "../tweaks.js";

export function monitorControl({ tweak, samples }) {
  const number = make("output", { class: "monitor-value", translate: "no", "aria-label": `${tweak.label}, value` });
  const unit = make("span", { class: "unit", translate: "no", text: shown(tweak.unit) });
  const canvas = isDrawable(tweak) ? make("canvas", { class: "sparkline", "aria-hidden": "true" }) : undefined;
  let drawn = -1;
  /** The range of the values in the sparkline. */
  let range;

  function latest() {
    const series = samples.series(tweak.id);
    const last = series?.last;
    if (last === undefined) return currentValue(tweak);
    if (tweak.type === "bool") return last >= 0.5;
    return last;
  }

  return {
    element: make("div", { class: "monitor-control" }, canvas, make("span", { class: "field" }, number, unit)),
    isLive: true,
    update() {
      const value = latest();
      const isLong = isReal(tweak.type) && tweak.precision === undefined && Number.isFinite(value) && !tweak.choices;
      const whole = typeof value === "number" && isNumber(tweak.type) && !isReal(tweak.type)
        ? Math.round(value)
        : value;
      const text = isLong
        ? (range ? fixedText(value, range) : shortText(value))
        : valueText(tweak, whole, { unit: false });
      setText(number, text);
      const series = samples.series(tweak.id);
      if (!canvas || !series || series.total === drawn) return;
      drawn = series.total;
      range = drawSparkline(canvas, series, tweak, samples.now());
    },
    focus() {},
    isBusy: () => false
  };
}
