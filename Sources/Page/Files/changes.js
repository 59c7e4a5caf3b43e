// SPDX-License-Identifier: BSD-3-Clause

// The history of a program, which the program keeps itself: its last changes, undo of one, marks, and the way back to them.

import { iconButton, make, setText } from "./dom.js";
import { shown } from "./names.js";
import { ask } from "./popups.js";
import { sourceText } from "./row.js";
import { currentValue, equalValues, isSettable, valueFrom, valueText } from "./tweaks.js";

const most = 400;
/** Changes of one slider that follow each other within this time are one, as for the program's undo. */
const burstGap = 0.5;

/** The changes as lines, newest first: those of a burst are one line, those made together have one number. */
export function linesOf(changes) {
  const lines = [];
  const last = new Map();
  for (const change of changes) {
    const earlier = last.get(change.tweak);
    const isBurst = earlier && !change.undoes && !earlier.undoes && !change.isOfLease && !earlier.isOfLease && earlier.by === change.by && change.time - earlier.time <= burstGap;
    if (isBurst) Object.assign(earlier, { newValue: change.newValue, time: change.time, number: change.number, source: change.source });
    else {
      const line = { ...change };
      lines.push(line);
      last.set(change.tweak, line);
    }
  }
  return lines.sort((one, other) => other.number - one.number);
}

/**
 * The values from just after a change, by key, of the tweaks that were set or reset later. What other providers changed, and
 * what leases changed for a time, is left as it is.
 */
export function valuesAfter(changes, number) {
  const values = new Map();
  for (const change of changes) {
    const isOurs = ["override", "default"].includes(change.source) && !change.isOfLease;
    if (change.number > number && isOurs && !values.has(change.tweak)) values.set(change.tweak, change.oldValue);
  }
  return values;
}

export class Changes {
  #page;
  #element;
  #program;
  #changes = [];
  #marks = [];
  #timer = 0;
  #parts;
  #shownFor = "";

  /** @param {import("./page.js").Page} page */
  constructor(page, element) {
    this.#page = page;
    this.#element = element;
  }

  get isOpen() {
    return !this.#element.hidden;
  }

  open(program) {
    this.#program = program.id;
    this.#changes = [];
    this.#shownFor = "";
    const name = make("input", { type: "text", maxlength: 100, autocomplete: "off", placeholder: "Name of a mark", "aria-label": "Name of a mark" });
    this.#parts = { list: make("ol", { class: "history-list", "aria-label": "Changes" }), message: make("p", { class: "none", role: "status" }) };
    const form = make("form", { class: "button-line", onsubmit: (event) => {
      event.preventDefault();
      if (name.value.trim()) this.#ask("mark", { name: name.value.trim() }, () => { name.value = ""; });
      else name.focus();
    } }, name, make("button", { class: "button", text: "Mark" }),
      make("button", { type: "button", class: "button", text: "Revert to the start…", onclick: () => this.#revert() }));
    this.#element.replaceChildren(
      make("header", {}, make("h2", { id: "history-title", tabindex: "-1", text: `History of ${shown(program.description.name)}` }),
        iconButton("close", "Close the history", () => this.#page.commands.toggleHistory(false))),
      make("div", { class: "details-body" }, form, this.#parts.message, this.#parts.list));
    this.#element.hidden = false;
    this.#element.querySelector("h2").focus();
    this.#load();
  }

  close() {
    this.#element.hidden = true;
    this.#element.replaceChildren();
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#program = undefined;
  }

  /** Loads the changes again soon if the panel shows this program. */
  changed(program) {
    if (program !== this.#program || this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      this.#load();
    }, 200);
  }

  async #load() {
    const program = this.#program;
    const last = this.#changes.at(-1)?.number ?? 0;
    try {
      const answer = await this.#page.api.post("history", { program, since: last, limit: most });
      if (program !== this.#program) return;
      if (answer.last < last) {
        // Another process, which begins again.
        this.#changes = [];
        this.changed(program);
        return;
      }
      this.#changes = [...this.#changes, ...answer.changes].slice(-4 * most).filter(({ number }) => number >= (answer.first ?? 0));
      this.#marks = answer.marks;
      this.#show();
      if ((answer.changes.at(-1)?.number ?? answer.last) < answer.last) this.changed(program);
    } catch (error) {
      if (program === this.#program) setText(this.#parts.message, error.message);
    }
  }

  #show() {
    const { list, message } = this.#parts;
    const lines = linesOf(this.#changes);
    const shownFor = JSON.stringify([lines[0]?.number, lines[0]?.time, lines.length, this.#marks]);
    if (shownFor === this.#shownFor) return;
    this.#shownFor = shownFor;
    setText(message, lines.length === 0 ? "No changes since the program started." : "");
    const undone = new Set(lines.map(({ undoes }) => undoes).filter(Boolean));
    const items = lines.slice(0, most).map((line) => [line.number, this.#makeLine(line, undone.has(line.number))]);
    const marks = this.#marks.map((mark) => [mark.number + 0.5, this.#makeMark(mark)]);
    const focused = /** @type {HTMLElement} */ (document.activeElement)?.dataset.of;
    list.replaceChildren(...[...items, ...marks].sort(([one], [other]) => other - one).map(([, item]) => item));
    if (focused) /** @type {HTMLElement} */ (list.querySelector(`[data-of="${focused}"]`) ?? list).focus();
  }

  #makeLine(line, isUndone) {
    const { state, commands } = this.#page;
    const tweak = state.tweak(this.#program, line.tweak);
    const text = (value) => (tweak ? valueText(tweak, valueFrom(tweak.type, value)) || "empty" : shown(String(value)));
    const label = tweak?.label ?? shown(line.tweak);
    return make("li", { class: isUndone ? "is-undone" : "" },
      make("span", { class: "history-line" }, timeOf(line.time),
        make("button", { type: "button", class: "heading-link", translate: "no", text: label, title: shown(line.tweak), disabled: !tweak, onclick: () => commands.select(tweak) }),
        (this.#changes.at(-1)?.number ?? 0) > line.number && iconButton("clock", `Go back to after ${label}, change ${line.number}`, () => this.#goBack(line), { data: { of: `back ${line.number}` } }),
        !line.isOfLease && make("button", { type: "button", class: "button small", text: "Undo", "aria-label": `Undo ${label}, change ${line.number}`, data: { of: line.number },
          onclick: () => this.#ask("undo", { number: line.number }, ({ changes }) => this.#page.notices.say(`Undone: ${changes.length === 1 ? label : `${changes.length} values`}`)) })),
      make("span", { class: "history-values", translate: "no", text: `${text(line.oldValue)} → ${text(line.newValue)}` }),
      make("span", { class: "who", text: [line.undoes ? "undo" : "", line.isPending ? "waits" : "", line.isOfLease && line.source !== "lease" ? "end of a lease" : "", ["override", "default"].includes(line.source) ? "" : sourceText(line.source), shown(line.by)].filter(Boolean).join(" · ") }));
  }

  #makeMark(mark) {
    return make("li", { class: "history-mark" }, make("span", { class: "history-line" }, timeOf(mark.time), make("strong", { translate: "no", text: shown(mark.name) }),
      make("button", { type: "button", class: "button small", text: "Revert…", "aria-label": `Revert to ${shown(mark.name)}`, onclick: () => this.#revert(mark.name) })));
  }

  /** Goes back to the values from just after a change, as one step to undo. */
  async #goBack({ number, time }) {
    const { state, editing, notices } = this.#page;
    const changes = [];
    for (const [key, raw] of valuesAfter(this.#changes, number)) {
      const tweak = state.tweak(this.#program, key);
      if (!tweak || !isSettable(tweak)) continue;
      const value = valueFrom(tweak.type, raw);
      if (!equalValues(value, currentValue(tweak))) changes.push({ tweak, value, isSet: !equalValues(value, tweak.default) });
    }
    if (changes.length === 0) {
      notices.say("No values have changed since");
      return;
    }
    const count = `${changes.length} value${changes.length === 1 ? "" : "s"}`;
    const names = changes.slice(0, 5).map(({ tweak }) => tweak.label).join(", ");
    const text = `${count} return${changes.length === 1 ? "s" : ""} to what ${changes.length === 1 ? "it was" : "they were"} at ${new Date(time * 1000).toLocaleTimeString("en-GB")}: ${names}${changes.length > 5 ? ", …" : ""}. You can undo this.`;
    if (!(await ask("Go back?", text, "Go back"))) return;
    editing.apply(changes);
    notices.say(`${count} went back`);
  }

  async #revert(name) {
    const place = name === undefined ? "the start of the program" : `the mark "${shown(name)}"`;
    if (!(await ask("Revert?", `All values set since ${place} return to their previous values. You can undo this in the history.`, "Revert"))) return;
    await this.#ask("revert", { name }, ({ changes }) => this.#page.notices.say(changes.length === 0 ? "Nothing to revert" : `${changes.length} value${changes.length === 1 ? "" : "s"} reverted`));
  }

  async #ask(request, body, done) {
    try {
      await this.#page.editing.settled();
      done(await this.#page.api.post(request, { program: this.#program, ...body }));
      this.changed(this.#program);
    } catch (error) {
      this.#page.notices.problem(error.message);
    }
  }
}

/** A time in seconds since 1970. */
export function timeOf(seconds) {
  const time = new Date(seconds * 1000);
  return make("time", { text: time.toLocaleTimeString("en-GB"), title: time.toLocaleString("en-GB") });
}
