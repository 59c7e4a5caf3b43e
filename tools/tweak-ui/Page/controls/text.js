// A text: a field of one line, in which what cannot be seen is written out, or an area of several.

import { make, setText } from "../dom.js";
import { escaped, hasUnseen, unescaped } from "../names.js";
import { currentValue } from "../tweaks.js";

export function textControl({ tweak, editing, isLarge = false }) {
  const input = make(isLarge ? "textarea" : "input", {
    type: isLarge ? undefined : "text", class: "text-field", autocomplete: "off", spellcheck: "false", autocapitalize: "off",
    enterkeyhint: isLarge ? undefined : "done", rows: isLarge ? 4 : undefined, "aria-label": tweak.label,
  });
  const outside = make("span", { class: "outside", role: "status" });
  const element = make("span", { class: "field text-control" }, input, outside);
  let isDirty = false;
  let isEscaped = false;
  let shownText = "";

  function show() {
    const value = String(currentValue(tweak) ?? "");
    const needsEscapes = !isLarge && hasUnseen(value);
    const text = needsEscapes ? escaped(value) : value;
    if (isDirty) {
      setText(outside, text === shownText ? "" : "changed elsewhere");
      return;
    }
    isEscaped = needsEscapes;
    input.title = isEscaped ? "Escaped: \\n is a new line, \\t a tab, \\\\ a backslash" : "";
    setText(outside, "");
    shownText = text;
    if (input.value !== text) input.value = text;
  }

  function commit() {
    if (!isDirty) return;
    isDirty = false;
    const text = isEscaped ? unescaped(input.value) : input.value;
    editing.set(tweak, text);
    show();
  }

  input.addEventListener("input", () => { isDirty = true; });
  input.addEventListener("blur", () => {
    if (input.value === shownText) isDirty = false;
    commit();
    show();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (!isLarge || event.ctrlKey || event.metaKey) && !event.isComposing) {
      event.preventDefault();
      commit();
      if (!isLarge) input.select();
    } else if (event.key === "Escape" && isDirty) {
      event.stopPropagation();
      isDirty = false;
      show();
    }
  });
  return { element, update: show, focus: () => input.focus(), isBusy: () => isDirty };
}
