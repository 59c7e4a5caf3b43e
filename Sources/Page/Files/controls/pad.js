// SPDX-License-Identifier: BSD-3-Clause

// A pad for two numbers: one horizontal, one vertical.

import { make, setText } from "../dom.js";
import { positionOf, shortText, sliderRange, stepped, valueAt } from "../numbers.js";
import { shown } from "../names.js";
import { currentValue, valueText } from "../tweaks.js";
import { sizeOf } from "./number.js";

export function padControl({ horizontal, vertical, editing }) {
  const thumb = make("span", { class: "area-thumb" });
  const cross = make("span", { class: "pad-default", "aria-hidden": "true" });
  const pad = make(
    "div",
    {
      class: "pad",
      role: "slider",
      tabindex: "0",
      "aria-label": `${horizontal.label} and ${vertical.label}, pad`,
      "aria-valuemin": 0,
      "aria-valuemax": 100
    },
    cross,
    thumb
  );
  const text = make("output", { class: "pad-text", translate: "no" });
  const axes = [horizontal, vertical].map((tweak, index) => {
    const [low, high] = [make("span"), make("span")];
    const name = make("span", {
      class: "pad-name",
      translate: "no",
      text: `${tweak.label}${tweak.unit ? `, ${shown(tweak.unit)}` : ""}`
    });
    return {
      low,
      high,
      element: make(
        "div",
        { class: `pad-axis ${index === 0 ? "is-horizontal" : "is-vertical"}`, "aria-hidden": "true" },
        low,
        name,
        high
      )
    };
  });
  let ranges;

  function show() {
    const isDragged = editing.isDragged(horizontal) || editing.isDragged(vertical);
    if (!ranges || !isDragged) ranges = [horizontal, vertical].map((tweak) => sliderRange(tweak, currentValue(tweak)));
    const [x, y] = [horizontal, vertical].map((tweak, index) => positionOf(tweak, currentValue(tweak), ranges[index]));
    axes.forEach(({ low, high }, index) => {
      setText(low, shortText(ranges[index].low));
      setText(high, shortText(ranges[index].high));
    });
    const defaults = [horizontal, vertical].map((tweak, index) => positionOf(tweak, tweak.default, ranges[index]));
    thumb.style.left = `${x * 100}%`;
    thumb.style.top = `${(1 - y) * 100}%`;
    cross.style.left = `${defaults[0] * 100}%`;
    cross.style.top = `${(1 - defaults[1]) * 100}%`;
    const words = [horizontal, vertical].map((tweak) => `${tweak.label} ${valueText(tweak, currentValue(tweak))}`).join(
      ", "
    );
    pad.setAttribute("aria-valuenow", Math.round(x * 100));
    pad.setAttribute("aria-valuetext", words);
    setText(text, words);
  }

  function move(event) {
    const box = pad.getBoundingClientRect();
    const share = (at, from, size) => Math.min(1, Math.max(0, (at - from) / size));
    const quanta = Math.max(200, box.width);
    editing.move(horizontal, valueAt(horizontal, share(event.clientX, box.left, box.width), ranges[0], quanta));
    editing.move(vertical, valueAt(vertical, 1 - share(event.clientY, box.top, box.height), ranges[1], quanta));
    show();
  }

  pad.addEventListener("pointerdown", (event) => {
    show();
    pad.setPointerCapture(event.pointerId);
    move(event);
  });
  pad.addEventListener("pointermove", (event) => pad.hasPointerCapture(event.pointerId) && move(event));
  pad.addEventListener("pointerup", () => editing.end(horizontal, vertical));
  pad.addEventListener("pointercancel", () => editing.cancel(horizontal, vertical));
  pad.addEventListener("keydown", (event) => {
    const [tweak, presses] = {
      ArrowLeft: [horizontal, -1],
      ArrowRight: [horizontal, 1],
      ArrowUp: [vertical, 1],
      ArrowDown: [vertical, -1]
    }[event.key] ?? [];
    if (!tweak || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    editing.set(tweak, stepped(tweak, currentValue(tweak), presses, sizeOf(event)), { merging: true });
  });
  return {
    element: make("div", { class: "pad-control" }, axes[1].element, pad, axes[0].element, text),
    update: show,
    focus: () => pad.focus(),
    isBusy: () => false
  };
}
