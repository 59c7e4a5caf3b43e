// SPDX-License-Identifier: BSD-3-Clause

// A choice: segments if there are few short labels, otherwise a list.

import { freshID, make } from "../dom.js";
import { currentValue, equalValues, valueText } from "../tweaks.js";

const mostSegments = 4;
const longestSegments = 26;

export function choiceControl({ tweak, editing }) {
  const labels = tweak.choices.map(({ value }) => valueText(tweak, value));
  const areFew = labels.length <= mostSegments && labels.join("").length + labels.length * 2 <= longestSegments;
  return areFew ? segments(tweak, editing, labels) : list(tweak, editing, labels);
}

function segments(tweak, editing, labels) {
  const name = freshID("choice");
  const inputs = tweak.choices.map((choice) => make("input", {
    type: "radio", name, onchange: (event) => event.target.checked && editing.set(tweak, choice.value, { merging: true }),
  }));
  const element = make("div", { class: "segments", role: "radiogroup", "aria-label": tweak.label },
    inputs.map((input, index) => make("label", { class: "segment", title: String(tweak.choices[index].value) }, input,
      make("span", { text: labels[index] || "(empty)" }))));
  return {
    element,
    update() {
      const value = currentValue(tweak);
      tweak.choices.forEach((choice, index) => {
        const isChosen = equalValues(choice.value, value);
        if (inputs[index].checked !== isChosen) inputs[index].checked = isChosen;
      });
    },
    focus: () => (inputs.find(({ checked }) => checked) ?? inputs[0])?.focus(),
    isBusy: () => false,
  };
}

function list(tweak, editing, labels) {
  const select = make("select", { class: "choice-list", "aria-label": tweak.label },
    labels.map((label, index) => make("option", { value: index, text: label || "(empty)" })));
  const other = make("option", { value: "other", disabled: true, hidden: true });
  select.append(other);
  select.addEventListener("change", () => {
    const choice = tweak.choices[Number(select.value)];
    if (choice) editing.set(tweak, choice.value, { merging: true });
  });
  return {
    element: select,
    update() {
      const value = currentValue(tweak);
      const index = tweak.choices.findIndex((choice) => equalValues(choice.value, value));
      other.textContent = valueText(tweak, value);
      const wanted = index < 0 ? "other" : String(index);
      if (select.value !== wanted) select.value = wanted;
    },
    focus: () => select.focus(),
    isBusy: () => false,
  };
}
