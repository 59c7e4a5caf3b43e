// SPDX-License-Identifier: BSD-3-Clause

// Chooses the control of a tweak by its type and options.

import { actionControl } from "./action.js";
import { choiceControl } from "./choice.js";
import { colourControl } from "./colour.js";
import { monitorControl } from "./monitor.js";
import { numberControl } from "./number.js";
import { switchControl } from "./switch.js";
import { textControl } from "./text.js";
import { make, setText } from "../dom.js";
import { isNumber } from "../numbers.js";
import { currentValue, isMonitored, isSettable, valueText } from "../tweaks.js";

/**
 * The control of a tweak: `element`, `update()` to show the current value, `focus()`, and `isBusy()` during input.
 *
 * - context: the tweak, and the parts of the page that controls need: editing, api, notices, samples.
 */
export function controlFor(context) {
  const { tweak } = context;
  if (tweak.type === "action") return actionControl(context);
  if (isMonitored(tweak)) return monitorControl(context);
  if (!isSettable(tweak)) return readOnlyControl(context);
  if (tweak.choices?.length || (tweak.type === "bool" && tweak.optional)) return choiceControl(context);
  if (tweak.type === "bool") return switchControl(context);
  if (tweak.type === "string") return textControl(context);
  if (tweak.type === "color") return colourControl(context);
  if (isNumber(tweak.type)) return numberControl(context);
  return readOnlyControl(context);
}

function readOnlyControl({ tweak }) {
  const output = make("output", { class: "monitor-value", "aria-label": `${tweak.label}, value` });
  const swatch = tweak.type === "color"
    ? make("span", { class: "swatch" }, make("span", { class: "swatch-fill" }))
    : undefined;
  return {
    element: make("div", { class: "monitor-control" }, swatch, output),
    update() {
      setText(output, valueText(tweak, currentValue(tweak)));
      if (swatch) swatch.firstChild.style.backgroundColor = currentValue(tweak) ?? "";
    },
    focus() {},
    isBusy: () => false
  };
}
