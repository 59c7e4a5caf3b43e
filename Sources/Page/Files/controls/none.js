// SPDX-License-Identifier: BSD-3-Clause

// The button of an optional tweak that sets no value, or a value again.

import { make, setAttribute } from "../dom.js";
import { none } from "../numbers.js";
import { currentValue, isNone } from "../tweaks.js";

/** The button. `start` returns the value to set while there is none. */
export function noneButton({ tweak, editing }, start) {
  const button = make("button", {
    class: "button small none-button",
    text: "None",
    "aria-label": `${tweak.label}, none`,
    onclick: () => editing.set(tweak, isNone(tweak, currentValue(tweak)) ? start() : none)
  });
  return {
    element: button,
    update: () => setAttribute(button, "aria-pressed", String(isNone(tweak, currentValue(tweak))))
  };
}
