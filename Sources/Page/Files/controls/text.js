// SPDX-License-Identifier: BSD-3-Clause

// A string: a field that grows with its lines. Invisible characters are escaped.

import { make, setAttribute, setText } from "../dom.js";
import { escaped, hasUnseen, unescaped } from "../names.js";
import { none } from "../numbers.js";
import { currentValue, isNone } from "../tweaks.js";
import { noneButton } from "./none.js";

const mostLines = 8;

const hasLines = (text) => text.includes("\n");
/** Whether a text can be edited unescaped. Tabs are allowed in texts of several lines. */
const isPlain = (text) => !hasUnseen(hasLines(text) ? text.replaceAll(/[\n\t]/g, "") : text);

export function textControl({ tweak, editing, isLarge = false }) {
  const input = make("textarea", {
    class: "text-field",
    autocomplete: "off",
    spellcheck: "false",
    autocapitalize: "off",
    rows: 1,
    "aria-label": tweak.label
  });
  const outside = make("span", { class: "outside", role: "status" });
  const empty = tweak.optional
    ? noneButton({ tweak, editing }, () => (tweak.default === none ? "" : tweak.default))
    : undefined;
  const element = make("span", { class: "field text-control" }, input, outside, empty?.element);
  let isDirty = false;
  let isEscaped = false;
  let shownText = "";

  function show() {
    const value = String(currentValue(tweak) ?? "");
    element.classList.toggle("is-none", isNone(tweak, value));
    empty?.update();
    const needsEscapes = !isPlain(value);
    const text = needsEscapes ? escaped(value) : value;
    if (isDirty) {
      setText(outside, text === shownText ? "" : "changed elsewhere");
      return;
    }
    isEscaped = needsEscapes;
    input.title = isEscaped
      ? "Escaped: \\n is a new line, \\t a tab, \\\\ a backslash"
      : hasLines(text)
      ? "Ctrl Enter accepts the text"
      : "Enter accepts the text, Shift Enter starts a new line";
    setText(outside, "");
    shownText = text;
    if (input.value !== text) input.value = text;
    fit();
  }

  function fit() {
    const lines = input.value.split("\n").length;
    setAttribute(input, "rows", Math.min(mostLines, Math.max(lines, isLarge ? 4 : 1)));
    input.classList.toggle("has-lines", input.rows > 1);
  }

  function commit() {
    if (!isDirty) return;
    isDirty = false;
    const text = isEscaped ? unescaped(input.value) : input.value;
    editing.set(tweak, text);
    show();
  }

  input.addEventListener("input", () => {
    isDirty = true;
    fit();
  });
  input.addEventListener("blur", () => {
    if (input.value === shownText) isDirty = false;
    commit();
    show();
  });
  input.addEventListener("keydown", (event) => {
    const takes = event.ctrlKey || event.metaKey || !(isLarge || event.shiftKey || hasLines(shownText + input.value));
    if (event.key === "Enter" && takes) {
      event.preventDefault();
      commit();
      if (!hasLines(input.value)) input.select();
    } else if (event.key === "Escape" && isDirty) {
      event.stopPropagation();
      isDirty = false;
      show();
    }
  });
  return { element, update: show, focus: () => input.focus(), isBusy: () => isDirty };
}
