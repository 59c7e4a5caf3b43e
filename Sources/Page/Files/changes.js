// SPDX-License-Identifier: BSD-3-Clause

// The history of a program, which the program keeps itself: its last changes, undo of one, marks, and the way back to
// them.

import { iconButton, make, setText, textButton } from "./dom.js";
import { counted, shown } from "./names.js";
import { ask } from "./popups.js";
import { gateText, sourceText } from "./row.js";
import { currentValue, equalValues, isSettable, valueFrom, valueText } from "./tweaks.js";

const most = 400;
/** Changes of one slider that follow each other within this time, in seconds, are one, as for the program's undo. */
const burstGap = 0.5;
/** How long a hand may rest, in seconds, that moves one slider and nothing else meanwhile. */
const restGap = 2;

/**
 * The changes as lines, newest first: those of a hand on a slider are one line, those made together have one number.
 * `numbers` has the bursts in it, which the program undoes one by one, oldest first.
 */
export function linesOf(changes, marks = []) {
  const lines = [];
  const last = new Map();
  /** The last line of each author. */
  const lastOf = new Map();
  for (const change of changes) {
    const author = JSON.stringify([change.by, change.person]);
    const earlier = last.get(change.tweak);
    const gap = change.time - earlier?.time;
    const isSame = earlier && !change.undoes && !earlier.undoes && !change.isOfLease && !earlier.isOfLease &&
      earlier.by === change.by && earlier.person === change.person &&
      !marks.some(({ number }) => number >= earlier.number && number < change.number);
    if (isSame && (gap <= burstGap || (gap <= restGap && lastOf.get(author) === earlier))) {
      const { newValue, time, number, source, isPending } = change;
      if (gap <= burstGap) earlier.numbers.pop();
      earlier.numbers.push(number);
      Object.assign(earlier, { newValue, time, number, source, isPending });
    } else {
      const line = { ...change, numbers: [change.number] };
      lines.push(line);
      last.set(change.tweak, line);
    }
    lastOf.set(author, last.get(change.tweak));
  }
  return lines.sort((one, other) => other.number - one.number);
}

/**
 * The values from just after a change, by key, of the tweaks that were set or reset later. What other providers
 * changed, and
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

/**
 * The numbers of the lines whose values still wait. A later change of a tweak replaces an earlier one, and what a tweak
 * no longer
 * waits for has passed or been dropped. `tweakOf` has the tweak of a key.
 */
export function waitingLines(lines, tweakOf) {
  const newest = new Map();
  for (const line of lines) if (!newest.has(line.tweak)) newest.set(line.tweak, line);
  return new Set(
    [...newest.values()].filter(({ tweak: key, newValue, isPending }) => {
      const tweak = isPending && tweakOf(key);
      return Boolean(tweak) && tweak.pendingValue !== undefined &&
        equalValues(valueFrom(tweak.type, newValue), tweak.pendingValue);
    }).map(({ number }) => number)
  );
}

/** The hour of a time in seconds since 1970, with the date if that is not today. */
export function hourText(seconds, now = new Date()) {
  const time = new Date(seconds * 1000);
  const hour = `${String(time.getHours()).padStart(2, "0")}:00`;
  return time.toDateString() === now.toDateString()
    ? hour
    : `${time.toLocaleDateString("en-GB", { day: "numeric", month: "long" })}, ${hour}`;
}

export class Changes {
  /** The parts of the page that it uses. */
  #uses;
  #element;
  #program;
  #changes = [];
  #marks = [];
  #timer = 0;
  #parts;
  #shownFor = "";
  /** Called to close it. */
  onClose = () => {};
  /**
   * Called to show the details of a tweak.
   *
   * @type {(tweak: any) => void}
   */
  onSelect = () => {};

  /** @param {import("./page.js").Page} page */
  constructor({ api, editing, notices, preferences, state }, element) {
    this.#uses = { api, editing, notices, preferences, state };
    this.#element = element;
  }

  get isOpen() {
    return !this.#element.hidden;
  }

  open(program) {
    this.#program = program.id;
    this.#changes = [];
    this.#shownFor = "";
    const name = make("input", {
      type: "text",
      maxlength: 100,
      autocomplete: "off",
      placeholder: "Name of a mark",
      "aria-label": "Name of a mark"
    });
    this.#parts = { list: make("div", {}), message: make("p", { class: "none", role: "status" }) };
    const form = make(
      "form",
      {
        class: "button-line",
        onsubmit: (event) => {
          event.preventDefault();
          if (name.value.trim())
            this.#ask("mark", { name: name.value.trim() }, () => {
              name.value = "";
            });
          else name.focus();
        }
      },
      name,
      make("button", { type: "submit", class: "button", text: "Mark" }),
      textButton("Revert to the start…", () => this.#revert())
    );
    this.#element.replaceChildren(
      make(
        "header",
        {},
        make("h2", { id: "history-title", tabindex: "-1", text: `History of ${shown(program.description.name)}` }),
        iconButton("close", "Close the history", () => this.onClose())
      ),
      make("div", { class: "details-body" }, form, this.#parts.message, this.#parts.list)
    );
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
      const answer = await this.#uses.api.post("history", { program, since: last, limit: most });
      if (program !== this.#program) return;
      if (answer.last < last) {
        // Another process, which begins again.
        this.#changes = [];
        this.changed(program);
        return;
      }
      this.#changes = [...this.#changes, ...answer.changes].slice(-4 * most).filter(({ number }) =>
        number >= (answer.first ?? 0)
      );
      this.#marks = answer.marks;
      this.#show();
      if ((answer.changes.at(-1)?.number ?? answer.last) < answer.last) this.changed(program);
    } catch (error) {
      if (program !== this.#program) return;
      this.#show();
      setText(this.#parts.message, error.message);
    }
  }

  #show() {
    const { list, message } = this.#parts;
    const lines = linesOf(this.#changes, this.#marks);
    const waiting = waitingLines(lines, (key) => this.#uses.state.tweak(this.#program, key));
    const shownFor = JSON.stringify([
      lines[0]?.number,
      lines[0]?.time,
      lines.length,
      this.#marks,
      [...waiting],
      new Date().toDateString()
    ]);
    if (shownFor === this.#shownFor) return;
    this.#shownFor = shownFor;
    setText(message, lines.length === 0 ? "No changes since the program started." : "");
    const undone = new Set(lines.map(({ undoes }) => undoes).filter(Boolean));
    const items = [
      ...lines.slice(0, most).map((line) => ({
        at: line.number,
        time: line.time,
        item: this.#makeLine(line, line.numbers.every((number) => undone.has(number)), waiting.has(line.number))
      })),
      ...this.#marks.map((mark) => ({ at: mark.number + 0.5, time: mark.time, item: this.#makeMark(mark) }))
    ];
    const focused = /** @type {HTMLElement} */ (document.activeElement)?.dataset.of;
    const hours = new Map();
    for (const { time, item } of items.sort((one, other) => other.at - one.at)) {
      const hour = hourText(time);
      if (!hours.has(hour))
        hours.set(hour, make("ol", { class: "change-list history-list", "aria-label": `Changes, ${hour}` }));
      hours.get(hour).append(item);
    }
    list.replaceChildren(...[...hours].map(([hour, ol]) => make("section", {}, make("h3", { text: hour }), ol)));
    if (focused) /** @type {HTMLElement} */ (list.querySelector(`[data-of="${focused}"]`))?.focus();
  }

  #makeLine(line, isUndone, isWaiting) {
    const { state } = this.#uses;
    const tweak = state.tweak(this.#program, line.tweak);
    const text = (value) => (tweak ? valueText(tweak, valueFrom(tweak.type, value)) || "empty" : shown(String(value)));
    const label = tweak?.label ?? shown(line.tweak);
    const values = `${text(line.oldValue)} → ${text(line.newValue)}`;
    const who = [
      line.undoes ? "undo" : "",
      line.isOfLease && line.source !== "lease" ? "end of a lease" : "",
      ["override", "default"].includes(line.source) ? "" : sourceText(line.source),
      whoText(line, this.#uses.preferences.name)
    ].filter(Boolean).join(" · ");
    return make(
      "li",
      { class: `${isUndone ? "is-undone" : ""} ${isWaiting ? "has-note" : ""}` },
      timeOf(line.time),
      make("button", {
        class: "heading-link",
        translate: "no",
        text: label,
        title: shown(line.tweak),
        disabled: !tweak,
        onclick: () => this.onSelect(tweak)
      }),
      make("span", { class: "history-values", translate: "no", text: values, title: values }),
      make("span", {
        class: "who",
        translate: "no",
        text: who,
        title: line.person ? `${who} (${shown(line.by)})` : who
      }),
      isWaiting && make("span", { class: "history-waits", text: gateText(tweak) || "waits for a restart" }),
      make(
        "span",
        { class: "history-buttons" },
        (this.#changes.at(-1)?.number ?? 0) > line.number &&
          iconButton("clock", `Restore the state after ${label}, change ${line.number}`, () => this.#goBack(line), {
            data: { of: `back ${line.number}` }
          }),
        !line.isOfLease &&
          iconButton("undo", `Undo ${label}, change ${line.number}`, () => this.#undo(line, label), {
            data: { of: line.number }
          })
      )
    );
  }

  #makeMark(mark) {
    return make(
      "li",
      { class: "history-mark" },
      timeOf(mark.time),
      make("strong", { translate: "no", text: shown(mark.name) }),
      textButton("Revert…", () => this.#revert(mark.name), {
        class: "button small",
        "aria-label": `Revert to ${shown(mark.name)}`
      })
    );
  }

  async #undo({ numbers }, label) {
    const [first, ...later] = numbers;
    for (const number of later.reverse()) if (!(await this.#ask("undo", { number }, () => {}))) return;
    await this.#ask(
      "undo",
      { number: first },
      ({ changes }) => this.#uses.notices.say(`Undone: ${changes.length === 1 ? label : `${changes.length} values`}`)
    );
  }

  /** Goes back to the values from just after a change, as one step to undo. */
  async #goBack({ number, time }) {
    const { state, editing, notices } = this.#uses;
    const changes = [];
    for (const [key, raw] of valuesAfter(this.#changes, number)) {
      const tweak = state.tweak(this.#program, key);
      if (!tweak || !isSettable(tweak)) continue;
      const value = valueFrom(tweak.type, raw);
      if (!equalValues(value, currentValue(tweak)))
        changes.push({ tweak, value, isSet: !equalValues(value, tweak.default) });
    }
    if (changes.length === 0) {
      notices.say("No values have changed since");
      return;
    }
    const count = counted(changes.length, "value");
    const names = changes.slice(0, 5).map(({ tweak }) => tweak.label).join(", ");
    const text = `Restores ${count} from ${new Date(time * 1000).toLocaleTimeString("en-GB")}: ${names}${
      changes.length > 5 ? ", …" : ""
    }. You can undo this.`;
    if (!(await ask("Restore?", text, "Restore"))) return;
    editing.apply(changes);
    notices.say(`${count} restored`);
  }

  async #revert(name) {
    const place = name === undefined ? "the start of the program" : `the mark "${shown(name)}"`;
    if (
      !(await ask(
        "Revert?",
        `All values set since ${place} return to their previous values. You can undo this in the history.`,
        "Revert"
      ))
    ) return;
    await this.#ask(
      "revert",
      { name },
      ({ changes }) =>
        this.#uses.notices.say(
          changes.length === 0 ? "Nothing to revert" : `${counted(changes.length, "value")} reverted`
        )
    );
  }

  /** Returns whether it is done. */
  async #ask(request, body, done) {
    try {
      await this.#uses.editing.settled();
      done(await this.#uses.api.post(request, { program: this.#program, ...body }));
      this.changed(this.#program);
      return true;
    } catch (error) {
      this.#uses.notices.problem(error.message);
      return false;
    }
  }
}

/** Who made a change: the person whom the client names, or else the client. */
export function whoText({ by, person }, you) {
  if (!person) return shown(by);
  return person === you ? "you" : shown(person);
}

/** A time in seconds since 1970. */
export function timeOf(seconds) {
  const time = new Date(seconds * 1000);
  return make("time", { text: time.toLocaleTimeString("en-GB"), title: time.toLocaleString("en-GB") });
}
