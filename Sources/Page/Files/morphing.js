// SPDX-License-Identifier: BSD-3-Clause

// A slider from A to B, which moves all values that differ between them.

import { hexText, parseHex } from "./colours.js";
import { followSlider } from "./controls/sliding.js";
import { make, setText } from "./dom.js";
import { counted } from "./names.js";
import { isNumber, positionOf, sliderRange, valueAt } from "./numbers.js";
import { openPopover } from "./popups.js";

/**
 * A value on the way from one to another: numbers as on their slider, colours by their parts. Others change half way.
 */
export function valueBetween(tweak, from, to, /** @type {number} */ part) {
  if (part <= 0) return from;
  if (part >= 1) return to;
  if (tweak.type === "color") {
    const [first, second] = [parseHex(from), parseHex(to)];
    if (first && second)
      return hexText(
        /** @type {any} */ (Object.fromEntries(
          Object.entries(first).map(([name, byte]) => [name, byte + (second[name] - byte) * part])
        ))
      );
  }
  if (!isNumber(tweak.type) || tweak.choices || ![from, to].map(Number).every(Number.isFinite))
    return part < 0.5 ? from : to;
  const ranges = [from, to].map((value) => sliderRange(tweak, value));
  const [low, high] = [ranges.map((one) => one.low), ranges.map((one) => one.high)];
  const range = { isGuess: true, low: low[0] < low[1] ? low[0] : low[1], high: high[0] > high[1] ? high[0] : high[1] };
  const [start, end] = [from, to].map((value) => positionOf(tweak, value, range));
  return valueAt(tweak, start + (end - start) * part, range);
}

/**
 * Opens the slider beside the buttons of A and B.
 *
 * @param {import("./page.js").Parts<"editing" | "history" | "sets" | "state">} parts
 */
export function openMorph({ editing, history, sets, state }, programId, anchor) {
  const { first, second, keys } = sets.pair(programId);
  const slider = make("input", {
    type: "range",
    min: 0,
    max: 100,
    value: sets.side(programId) === "A" ? 0 : 100,
    "aria-label": "From A to B",
    autofocus: true
  });
  const text = make("output", {});
  /** The values before a movement, as changes. */
  let before;
  const show = () => {
    const words = { 0: "A", 100: "B" }[slider.value] ?? `${slider.value} % of the way to B`;
    setText(text, words);
    slider.setAttribute("aria-valuetext", words);
  };
  const tweaks = () => keys.map((key) => state.tweak(programId, key)).filter(Boolean);
  const move = () => {
    before ??= tweaks().map((tweak) => ({ tweak, ...state.remembered(tweak) }));
    const part = Number(slider.value) / 100;
    editing.apply(
      tweaks().map((tweak) => {
        const [from, to] = [first.get(tweak.key), second.get(tweak.key)];
        const isSet = part <= 0 ? from.isSet : part < 1 || to.isSet;
        return { tweak, value: valueBetween(tweak, from.value, to.value, part), isSet };
      }),
      { isUndo: true }
    );
    show();
  };
  // A movement is one step of undo.
  const release = () => {
    history.add(
      (before ?? []).map(({ tweak, value, isSet }) => ({
        tweak,
        before: { value, isSet },
        after: state.remembered(tweak)
      }))
    );
    before = undefined;
  };
  const cancel = () => {
    editing.apply(before ?? [], { isUndo: true });
    before = undefined;
  };
  followSlider(slider, { move, release, cancel });
  show();
  openPopover(
    anchor,
    make(
      "div",
      { class: "form" },
      make(
        "label",
        { class: "field" },
        make("span", { text: `From A to B, ${counted(keys.length, "value")}` }),
        slider
      ),
      text
    ),
    { label: "From A to B" }
  );
}
