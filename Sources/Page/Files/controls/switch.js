// SPDX-License-Identifier: BSD-3-Clause

// A bool: a switch.

import { make, setAttribute } from "../dom.js";
import { currentValue } from "../tweaks.js";

export function switchControl({ tweak, editing }) {
  const input = make("input", {
    type: "checkbox",
    role: "switch",
    class: "switch",
    "aria-label": tweak.label,
    onchange: () => editing.set(tweak, input.checked)
  });
  const text = make("span", { class: "switch-text", "aria-hidden": "true" });
  return {
    element: make("label", { class: "switch-control" }, input, text),
    update() {
      const value = currentValue(tweak) === true;
      if (input.checked !== value) input.checked = value;
      setAttribute(input, "aria-checked", String(value));
      text.textContent = value ? "on" : "off";
    },
    focus: () => input.focus(),
    isBusy: () => false
  };
}
