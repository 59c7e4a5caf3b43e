// SPDX-License-Identifier: BSD-3-Clause

// A choice, or a bool that can be none: segments if there are few short labels, otherwise a list.

import { freshID, make } from "../dom.js";
import { none } from "../numbers.js";
import { currentValue, equalValues, valueText } from "../tweaks.js";

const mostSegments = 4;
const longestSegments = 26;

/** The choices; those of a bool are off and on. An optional tweak has none, too. */
function choicesOf(tweak) {
  const choices = tweak.choices ?? [{ value: false }, { value: true }];
  return tweak.optional && !choices.some(({ value }) => value === none) ? [{ value: none }, ...choices] : choices;
}

export function choiceControl({ tweak, editing }) {
  const choices = choicesOf(tweak);
  const labels = choices.map(({ value }) => valueText(tweak, value));
  const areFew = labels.length <= mostSegments && labels.join("").length + labels.length * 2 <= longestSegments;
  return (areFew ? segments : list)(tweak, choices, editing, labels);
}

function segments(tweak, choices, editing, labels) {
  const name = freshID("choice");
  const inputs = choices.map((choice) =>
    make("input", {
      type: "radio",
      name,
      onchange: (event) => event.target.checked && editing.set(tweak, choice.value, { merging: true })
    })
  );
  const element = make(
    "div",
    { class: "segments", role: "radiogroup", translate: "no", "aria-label": tweak.label },
    inputs.map((input, index) =>
      make(
        "label",
        { class: "segment", title: String(choices[index].value) },
        input,
        make("span", { text: labels[index] || "(empty)" })
      )
    )
  );
  return {
    element,
    update() {
      const value = currentValue(tweak);
      choices.forEach((choice, index) => {
        const isChosen = equalValues(choice.value, value);
        if (inputs[index].checked !== isChosen) inputs[index].checked = isChosen;
      });
    },
    focus: () => (inputs.find(({ checked }) => checked) ?? inputs[0])?.focus(),
    isBusy: () => false
  };
}

function list(tweak, choices, editing, labels) {
  const select = make(
    "select",
    { class: "choice-list", translate: "no", "aria-label": tweak.label },
    labels.map((label, index) => make("option", { value: index, translate: "no", text: label || "(empty)" }))
  );
  const other = make("option", { value: "other", disabled: true, hidden: true });
  select.append(other);
  select.addEventListener("change", () => {
    const choice = choices[Number(select.value)];
    if (choice) editing.set(tweak, choice.value, { merging: true });
  });
  return {
    element: select,
    update() {
      const value = currentValue(tweak);
      const index = choices.findIndex((choice) => equalValues(choice.value, value));
      other.textContent = valueText(tweak, value);
      const wanted = index < 0 ? "other" : String(index);
      if (select.value !== wanted) select.value = wanted;
    },
    focus: () => select.focus(),
    isBusy: () => false
  };
}
