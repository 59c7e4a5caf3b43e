// SPDX-License-Identifier: BSD-3-Clause

// A number: a slider, and a field with arithmetic, arrow keys and dragging. Shift multiplies steps by ten, Alt divides
// them.
// The server evaluates the text, so that the field accepts the same input as `tweak set`.

import { freshID, make, setAttribute, setText } from "../dom.js";
import { canonical, converted, durationUnits, isDuration, niceUnit } from "../durations.js";
import {
  decades,
  exactText,
  isLogarithmic,
  limitsOf,
  none,
  numberOf,
  numberText,
  positionOf,
  sliderRange,
  stepped,
  valueAt,
  withPoints
} from "../numbers.js";
import { patience } from "../clock.js";
import { usualTime } from "../editing.js";
import { currentValue, equalValues, limitsText, valueFrom, valueText } from "../tweaks.js";
import { shown } from "../names.js";
import { noneButton } from "./none.js";
import { followSlider, isSideways } from "./sliding.js";

const positions = 10000;
/** Longer texts, such as 64-bit integers, take space from the slider. */
const longestNarrow = 11;

/** The step size for the modifier keys of an event. */
export const sizeOf = (event) => (event.shiftKey ? "coarse" : event.altKey ? "fine" : "normal");

/** The number of steps for a key, or undefined for other keys. */
function pressesOf(event, isSlider) {
  const steps = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 };
  if (isSlider) Object.assign(steps, { ArrowRight: 1, ArrowLeft: -1 });
  return steps[event.key];
}

export function numberControl({ tweak, editing, api }) {
  const hasSlider = !(tweak.choices?.length);
  const slider = makeSlider(tweak, editing);
  const field = makeField(tweak, editing, api);
  const empty = tweak.optional ? noneButton({ tweak, editing }, () => numberOf(tweak, none)) : undefined;
  if (empty) field.element.append(empty.element);
  const element = make("div", { class: "number-control" }, hasSlider ? slider.element : undefined, field.element);
  return {
    element,
    update() {
      element.classList.toggle("is-none", currentValue(tweak) === none);
      empty?.update();
      slider.update();
      field.update();
      element.classList.toggle("is-wide", field.text.length > longestNarrow);
    },
    focus: () => field.focus(),
    isBusy: () => field.isBusy() || editing.isDragged(tweak)
  };
}

function makeSlider(tweak, editing) {
  const isLog = isLogarithmic(tweak);
  const input = make("input", {
    type: "range",
    class: "slider",
    min: 0,
    max: positions,
    step: "any",
    "aria-label": `${tweak.label}, ${isLog ? "logarithmic slider" : "slider"}`,
    "data-scale": isLog ? "log" : "linear",
    title: isLog && "Logarithmic"
  });
  let range = sliderRange(tweak);
  let isHeld = false;
  let held;

  function show() {
    const value = held ?? currentValue(tweak);
    if (!isHeld) range = sliderRange(tweak, value);
    const at = positionOf(tweak, value ?? tweak.default, range);
    if (!isHeld) {
      input.value = at * positions;
      if (isLog)
        input.style.background = decades(tweak, range).map((at) =>
          `linear-gradient(var(--strong-line) 0 0) calc(7px + ${at} * (100% - 14px)) / 1px 12px no-repeat`
        ).join();
    }
    input.style.setProperty("--at", at.toFixed(4));
    input.style.setProperty("--default", positionOf(tweak, tweak.default, range).toFixed(4));
    setAttribute(input, "aria-valuetext", valueText(tweak, value));
  }

  const finish = (end) => {
    if (!isHeld && held === undefined) return;
    isHeld = false;
    held = undefined;
    end();
    show();
  };
  const cancel = () => finish(() => editing.cancel(tweak));
  followSlider(input, {
    press() {
      isHeld = true;
      range = sliderRange(tweak, currentValue(tweak));
      editing.begin(tweak);
    },
    move() {
      held = valueAt(
        tweak,
        Number(input.value) / positions,
        range,
        Math.max(200, Math.min(2000, input.clientWidth * 2))
      );
      editing.move(tweak, held);
      show();
    },
    release: () => finish(() => editing.end(tweak)),
    cancel
  });
  input.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey) return;
    const presses = pressesOf(event, true);
    if (presses !== undefined) {
      event.preventDefault();
      editing.set(tweak, stepped(tweak, currentValue(tweak), presses, sizeOf(event)), { merging: true });
    } else if (event.key === "Home" || event.key === "End") {
      event.preventDefault();
      editing.set(tweak, event.key === "Home" ? range.low : range.high, { merging: true });
    } else if (event.key === "Escape" && isHeld) {
      event.stopPropagation();
      cancel();
    }
  });
  return { element: input, update: show };
}

function makeField(tweak, editing, api) {
  const hasUnits = isDuration(tweak);
  let unit = hasUnits ? niceUnit(tweak, numberOf(tweak, currentValue(tweak)) || tweak.default) : undefined;
  const input = make("input", {
    type: "text",
    class: "number-field",
    role: "spinbutton",
    inputmode: "text",
    autocomplete: "off",
    spellcheck: "false",
    autocapitalize: "off",
    enterkeyhint: "done",
    "aria-label": tweak.label,
    title: `${limitsText(tweak)}${
      limitsText(tweak) ? "\n" : ""
    }Drag, press the arrow keys, or enter arithmetic: 2*pi, +=10%, max/2${tweak.optional ? ", or none" : ""}`
  });
  const units = hasUnits
    ? make(
      "select",
      { class: "unit-select", "aria-label": `${tweak.label}, unit` },
      durationUnits.map((one) => make("option", { value: one, text: one }))
    )
    : undefined;
  const unitText = hasUnits
    ? undefined
    : make("span", { class: "unit", translate: "no", text: shown(tweak.unit), title: shown(tweak.unit) || undefined });
  const outside = make("span", { class: "outside", role: "status", id: freshID("said") });
  const element = make("span", { class: "field" }, input, units, unitText, outside);
  let isDirty = false;
  /**
   * The text that the server is evaluating, a promise of whether it was valid, and whether the answer is to be ignored.
   *
   * @type {{ text: string, isTaken?: Promise<boolean>, isDropped?: boolean } | undefined}
   */
  let asked;
  /** The message shown after a number was clamped. */
  let limited = "";
  let shownText = "";
  let dragged;

  function fieldText(value) {
    if (value === undefined) return "";
    if (!hasUnits || !Number.isFinite(Number(value))) return numberText(tweak, value);
    if (canonical(tweak.unit) === unit) return numberText(tweak, value);
    return numberText({ type: "double" }, converted(tweak, value, unit));
  }

  function show() {
    const value = currentValue(tweak);
    const text = fieldText(value);
    if (units && units.value !== unit) units.value = unit;
    if (isDirty) {
      // Keep the typed text, and show the new value beside it.
      setText(outside, text === shownText ? "" : `now ${text}`);
      return;
    }
    setText(outside, limited);
    shownText = text;
    if (input.value !== text) {
      const isWhole = document.activeElement === input && input.selectionStart === 0 &&
        input.selectionEnd === input.value.length;
      input.value = text;
      if (isWhole) input.select();
    }
    const ticks = (number) => (typeof number === "bigint" || Number.isFinite(number) ? String(number) : undefined);
    // Screen readers take a number; the text says what it is.
    const number = numberOf(tweak, value);
    setAttribute(
      input,
      "aria-valuenow",
      ticks(number) ?? (number === Infinity ? Number.MAX_VALUE : number === -Infinity ? -Number.MAX_VALUE : 0)
    );
    setAttribute(input, "aria-valuetext", valueText(tweak, value));
    setAttribute(input, "aria-valuemin", ticks(tweak.minimum));
    setAttribute(input, "aria-valuemax", ticks(tweak.maximum));
  }

  function clean() {
    isDirty = false;
    tellMistake();
    input.title = input.dataset.title ?? input.title;
  }

  /** Shows an error in the typed text, or clears it. */
  function tellMistake(message) {
    setAttribute(input, "aria-invalid", message && "true");
    setAttribute(input, "aria-describedby", message && outside.id);
    element.classList.toggle("is-wrong", Boolean(message));
    setText(outside, message ?? "");
  }

  /** Accepts the typed text. Resolves to whether it was valid. */
  async function commit() {
    if (!isDirty) return true;
    // Enter followed by leaving the field sets the value only once.
    if (asked?.text !== input.value) {
      asked = { text: input.value };
      asked.isTaken = take(asked);
    }
    return asked.isTaken;
  }

  async function take(question) {
    const { text } = question;
    const time = performance.now();
    const late = setTimeout(() => setUnsent(true), usualTime);
    try {
      const { value, wasClamped } = await api.post("calculate", {
        program: tweak.program,
        tweak: tweak.key,
        text: withPoints(text),
        unit,
        current: exactText(currentValue(tweak))
      }, { time, limit: patience });
      // Escape was pressed meanwhile.
      if (question.isDropped) return false;
      if (input.value === text) clean();
      const number = valueFrom(tweak.type, value);
      // The typed number is not rounded to the declared decimals.
      editing.set(tweak, number, { time });
      if (wasClamped) sayLimits(number);
      show();
      return true;
    } catch (error) {
      if (input.value !== text || question.isDropped) return false;
      if (error.status === 0) {
        // Leaving the field later must not set it then.
        clean();
        show();
        editing.giveUp(tweak, text, error.message);
        return false;
      }
      input.dataset.title ??= input.title;
      input.title = error.message;
      tellMistake(error.message);
      return false;
    } finally {
      clearTimeout(late);
      setUnsent(false);
      if (asked === question) asked = undefined;
    }
  }

  function setUnsent(isUnsent) {
    element.classList.toggle("is-unsent", isUnsent);
    if (isUnsent || outside.textContent === "not sent") setText(outside, isUnsent ? "not sent" : "");
  }

  function sayLimits(number) {
    const [low, high] = limitsOf(tweak);
    limited = equalValues(number, low) ? `the minimum is ${fieldText(low)}` : `the maximum is ${fieldText(high)}`;
    setTimeout(() => {
      limited = "";
      show();
    }, 5000);
  }

  input.addEventListener("focus", () => {
    if (!dragged) input.select();
  });
  input.addEventListener("input", () => {
    isDirty = true;
    limited = "";
    tellMistake();
  });
  input.addEventListener("blur", () => {
    if (isDirty && input.value === shownText) clean();
    commit();
    show();
  });
  input.addEventListener("keydown", async (event) => {
    if (event.ctrlKey || event.metaKey) return;
    const presses = pressesOf(event, false);
    if (event.key === "Enter") {
      if (await commit() && !isDirty && document.activeElement === input) input.select();
    } else if (event.key === "Escape") {
      if (!isDirty) return;
      event.stopPropagation();
      if (asked) asked.isDropped = true;
      clean();
      show();
      input.select();
    } else if (presses !== undefined) {
      event.preventDefault();
      if (!await commit()) return;
      editing.set(tweak, stepped(tweak, currentValue(tweak), presses, sizeOf(event)), { merging: true });
    }
  });
  units?.addEventListener("change", () => {
    unit = units.value;
    show();
  });
  dragNumber(input, tweak, editing, {
    canBegin: () => !isDirty,
    begin: () => {
      dragged = true;
    },
    end: () => {
      dragged = false;
    }
  });
  return {
    element,
    update: show,
    focus: () => input.focus(),
    isBusy: () => isDirty,
    get text() {
      return shownText;
    }
  };
}

/** Lets a number be dragged sideways; a click focuses the field for typing. */
function dragNumber(input, tweak, editing, { canBegin, begin, end }) {
  let start;
  input.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || document.activeElement === input || !canBegin()) return;
    // Focus only on a click, so that a drag does not open the on-screen keyboard.
    event.preventDefault();
    start = { clientX: event.clientX, clientY: event.clientY, carried: 0, last: event.clientX, moved: false };
    input.setPointerCapture(event.pointerId);
  });
  input.addEventListener("pointermove", (event) => {
    if (!start) return;
    if (!start.moved) {
      if (!isSideways(event, start)) return;
      start.moved = true;
      input.classList.add("is-dragged");
      begin();
      editing.begin(tweak);
    }
    start.carried += event.clientX - start.last;
    start.last = event.clientX;
    const presses = Math.trunc(start.carried / 2);
    if (presses === 0) return;
    start.carried -= presses * 2;
    const moved = stepped(tweak, currentValue(tweak), presses, sizeOf(event));
    editing.move(tweak, moved);
  });
  const finish = (event) => {
    if (!start) return;
    const { moved } = start;
    start = undefined;
    input.classList.remove("is-dragged");
    if (input.hasPointerCapture(event.pointerId)) input.releasePointerCapture(event.pointerId);
    if (moved) {
      end();
      if (event.type === "pointercancel") editing.cancel(tweak);
      else editing.end(tweak);
    } else if (event.type === "pointerup") {
      input.focus();
    }
  };
  input.addEventListener("pointerup", finish);
  input.addEventListener("pointercancel", finish);
}
