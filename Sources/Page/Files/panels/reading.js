// SPDX-License-Identifier: BSD-3-Clause

// A row that only shows the value of a tweak.

import { monitorControl } from "../controls/monitor.js";
import { make, setText } from "../dom.js";
import { shown } from "../names.js";
import { currentValue, isMonitored, valueText } from "../tweaks.js";

/** Has the functions of `Row` that a panel needs. */
export class ReadingRow {
  #output = make("output", { class: "monitor-value", translate: "no" });
  #swatch;
  #monitor;
  tweak;
  element;
  isBusy = false;

  /** @param {import("../samples.js").Samples} samples */
  constructor(samples, tweak) {
    this.tweak = tweak;
    this.#monitor = isMonitored(tweak) ? monitorControl({ samples, tweak }) : undefined;
    this.#output.setAttribute("aria-label", `${tweak.label}, value`);
    this.#swatch = tweak.type === "color"
      ? make("span", { class: "swatch" }, make("span", { class: "swatch-fill" }))
      : undefined;
    this.element = make(
      "div",
      { class: "row", data: { tweak: tweak.key, program: tweak.program, type: tweak.type } },
      make(
        "div",
        { class: "row-name" },
        make("span", { class: "row-label", translate: "no", text: tweak.label }),
        make("span", {
          class: "row-under",
          text: [tweak.category, tweak.collection].map(shown).filter(Boolean).join(" › ")
        })
      ),
      make(
        "div",
        { class: "row-control" },
        this.#monitor?.element ?? make("div", { class: "monitor-control" }, this.#swatch, this.#output)
      )
    );
    this.update();
  }

  get isLive() {
    return Boolean(this.#monitor);
  }

  update() {
    if (this.#monitor) this.#monitor.update();
    else setText(this.#output, this.tweak.type === "action" ? "" : valueText(this.tweak, currentValue(this.tweak)));
    if (this.#swatch)
      /** @type {HTMLElement} */ (this.#swatch.firstChild).style.backgroundColor = currentValue(this.tweak) ?? "";
  }

  updateLive() {
    this.update();
  }

  focusName() {}

  focusControl() {}
}
