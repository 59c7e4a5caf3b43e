// SPDX-License-Identifier: BSD-3-Clause

// The details of one tweak: description, a large control, the providers of its value, its changes, and ways to copy it.

import { linesOf, timeOf } from "./changes.js";
import { isTurnable } from "./controllers.js";
import { controlFor } from "./controls/all.js";
import { colourControl } from "./controls/colour.js";
import { padControl } from "./controls/pad.js";
import { textControl } from "./controls/text.js";
import { copyText, declarationInC, declarationInSwift, nestedJSON, shellCommand } from "./copying.js";
import { iconButton, isTyping, make, setText } from "./dom.js";
import { tweakCommand } from "./keys.js";
import { shown } from "./names.js";
import { exactText, withPoints } from "./numbers.js";
import { gateText, originLines, sourceText, whyNoEffect } from "./row.js";
import { currentValue, isAlwaysNumber, isDrawable, isExpired, isSettable, limitsText, valueFrom, valueText } from "./tweaks.js";

const mostChanges = 12;

/** Options already shown by another fact or the heading. */
const saidElsewhere = new Set(["minimum", "maximum", "choices", "title", "description", "readOnly"]);
/** Texts for options that need more than their value. */
const optionTexts = {
  scale: ({ scale }) => ({ log: "logarithmic", linear: "linear" })[scale],
  needsRestart: () => "a new value applies at the next start",
  optional: () => "can have no value",
  expires: (tweak) => `${shown(tweak.expires)}${isExpired(tweak) ? ", expired" : ""}`,
};

/** The text of an option, empty if the tweak does not have it. */
function optionText(tweak, name) {
  if (tweak[name] === undefined || saidElsewhere.has(name)) return "";
  return optionTexts[name]?.(tweak) ?? shown(tweak[name]);
}

/** Who holds a lease, and until when. */
const leaseText = ({ by, remaining }) => shown(`${by}, ${remaining === undefined ? "until its connection ends"
  : `for another ${Math.ceil(remaining)} s`}`);

export class Details {
  #page;
  #element;
  #tweak;
  #controls = [];
  #dynamic;
  #copied;
  #knobs;
  #explained = 0;
  /** The changes of the tweak that its program has told; undefined if it tells none. */
  #history;
  #timer = 0;

  /** @param {import("./page.js").Page} page */
  constructor(page, element) {
    this.#page = page;
    this.#element = element;
    element.addEventListener("keydown", (event) => {
      const command = !isTyping() && tweakCommand(event);
      if (!command) return;
      event.preventDefault();
      event.stopPropagation();
      page.commands[command](this.#tweak);
    });
  }

  get tweak() {
    return this.#tweak;
  }

  /** Shows another tweak, or none. */
  show(tweak) {
    this.#tweak = tweak;
    this.#history = undefined;
    this.#element.hidden = !tweak;
    this.#controls = [];
    this.#knobs = undefined;
    if (this.#page.controllers.learning && this.#page.controllers.learning !== tweak) this.#page.controllers.stopLearning();
    if (!tweak) {
      this.#element.replaceChildren();
      return;
    }
    const { commands, state } = this.#page;
    const program = state.programs.get(tweak.program);
    const title = make("h2", { translate: "no", text: shown(tweak.title || tweak.name), tabindex: "-1", id: "details-title" });
    this.#dynamic = { why: make("p", { class: "why" }), opinions: make("div", {}), changes: make("ol", { class: "change-list" }) };
    const sections = [
      make("header", {}, title, iconButton("close", "Close the details", () => commands.select(undefined))),
      make("div", { class: "details-body" },
        make("p", { class: "details-path", translate: "no", text: [program.description.name, tweak.category, tweak.collection, tweak.name].map(shown).join(" › ") }),
        tweak.description ? make("p", { class: "details-text", text: shown(tweak.description) }) : undefined,
        this.#makeControls(tweak), this.#dynamic.why, this.#makeButtons(tweak), this.#makeFacts(tweak), this.#makeCopies(tweak, program),
        isSettable(tweak) ? make("section", {}, make("h3", { text: "Providers" }), this.#dynamic.opinions) : undefined,
        make("section", {}, make("h3", { text: "Changes" }), this.#dynamic.changes)),
    ];
    this.#element.replaceChildren(...sections);
    this.update();
    this.#explain();
  }

  #makeControls(tweak) {
    const box = make("div", { class: "details-control" });
    const add = (control) => {
      this.#controls.push(control);
      box.append(control.element);
    };
    const context = { ...this.#page, tweak };
    if (tweak.type === "color" && isSettable(tweak)) {
      add(colourControl({ ...context, isOpen: true }));
      return box;
    }
    if (tweak.type === "string" && isSettable(tweak) && !tweak.choices) add(textControl({ ...context, isLarge: true }));
    else add(controlFor(context));
    const partner = this.#page.commands.partnerOf(tweak);
    if (partner) {
      add(padControl({
        ...context, horizontal: partner.isFirst ? tweak : partner.tweak, vertical: partner.isFirst ? partner.tweak : tweak,
      }));
    }
    if (isAlwaysNumber(tweak) && isSettable(tweak) && !tweak.choices) box.append(this.#makePairing(tweak), this.#makeRamp(tweak));
    if (isTurnable(tweak) && this.#page.controllers.isPossible) {
      this.#knobs = make("div", {}, this.#page.controllers.makeSection(tweak));
      box.append(this.#knobs);
    }
    return box;
  }

  /** Shows which knobs set the tweak. */
  showKnobs() {
    if (!this.#tweak || !this.#knobs?.isConnected) return;
    const hadFocus = this.#knobs.contains(document.activeElement);
    this.#knobs.replaceChildren(this.#page.controllers.makeSection(this.#tweak));
    if (hadFocus) this.#knobs.querySelector("button")?.focus();
  }

  /** A menu that chooses the tweak on the other axis of the pad. */
  #makePairing(tweak) {
    const { state, commands } = this.#page;
    const others = [...(state.programs.get(tweak.program)?.tweaks.values() ?? [])].filter((other) =>
      other !== tweak && other.collection === tweak.collection && other.category === tweak.category && isAlwaysNumber(other) &&
      isSettable(other) && !other.choices).slice(0, 200);
    const partner = commands.partnerOf(tweak)?.tweak;
    const select = make("select", {
      "aria-label": "Pad with", onchange: () => {
        commands.pair(tweak, select.value || undefined);
        this.show(tweak);
      },
    }, make("option", { value: "", text: "none" }),
      others.map((other) => make("option", { value: other.key, translate: "no", text: other.label, selected: other === partner })));
    return make("label", { class: "pairing" }, make("span", { text: "Pad with" }), select);
  }

  /** Fields for a number that is reached over some seconds. */
  #makeRamp(tweak) {
    const { api, editing, notices } = this.#page;
    const target = make("input", { type: "text", "aria-label": "Ramp to", placeholder: "value", autocomplete: "off" });
    const seconds = make("input", { type: "text", inputmode: "decimal", "aria-label": "Seconds", value: "2", autocomplete: "off" });
    const start = async () => {
      try {
        const current = exactText(currentValue(tweak));
        const { value } = await api.post("calculate", { program: tweak.program, tweak: tweak.key, text: withPoints(target.value), current });
        const duration = Number(withPoints(seconds.value));
        if (!(duration > 0)) throw new Error(`${seconds.value || "nothing"} is not a number of seconds`);
        await editing.ramp(tweak, valueFrom(tweak.type, value), duration);
      } catch (error) {
        notices.problem(error.message);
      }
    };
    return make("form", { class: "ramp", onsubmit: (event) => {
      event.preventDefault();
      start();
    } }, make("span", { text: "Ramp to" }), target, make("span", { text: "over" }), seconds, make("span", { translate: "no", text: "s" }),
      make("button", { class: "button", text: "Start" }));
  }

  #makeButtons(tweak) {
    const { commands } = this.#page;
    const buttons = [];
    if (isSettable(tweak)) buttons.push(make("button", { type: "button", class: "button", text: "Reset", onclick: () => commands.resetTweak(tweak) }),
      make("button", { type: "button", class: "button", text: "Keep in source…", "aria-haspopup": "dialog", data: { role: "keep" }, onclick: () => commands.keepInSource(tweak) }));
    buttons.push(make("button", { type: "button", class: "button", text: "Star", "aria-pressed": "false", data: { role: "star" }, onclick: () => commands.toggleStar(tweak) }));
    if (isDrawable(tweak)) {
      buttons.push(make("button", { type: "button", class: "button", text: "Graph", "aria-pressed": "false", data: { role: "graph" }, onclick: () => commands.toggleGraph(tweak) }));
    }
    buttons.push(make("button", { type: "button", class: "button", text: "Copy link", onclick: () => commands.copyLink(tweak) }));
    return make("div", { class: "button-line" }, buttons);
  }

  #makeFacts(tweak) {
    const facts = [
      ["Default", tweak.type === "action" || tweak.monitor ? "" : valueText(tweak, tweak.default) || "empty"],
      ["Limits", limitsText(tweak)],
      ["Gate", shown(tweak.gate)],
      ["Type", tweak.type + (tweak.monitor ? ", monitor" : "") + (tweak.readOnly && !tweak.monitor ? ", read-only" : "")],
      ...this.#page.state.options.map(({ name, title }) => [title[0].toUpperCase() + title.slice(1), optionText(tweak, name)]),
    ].filter(([, text]) => text);
    return make("dl", { class: "facts" }, facts.map(([name, text]) => [make("dt", { text: name }), make("dd", { translate: "no", text })]));
  }

  #makeCopies(tweak, program) {
    /** @type {[string, () => string][]} */
    const copies = [
      ["Shell", () => shellCommand(program, tweak, currentValue(tweak))],
      ["C", () => declarationInC(tweak, currentValue(tweak), this.#page.state.options)],
      ["Swift", () => declarationInSwift(tweak, currentValue(tweak), this.#page.state.options)],
      ["JSON", () => nestedJSON([{ tweak, value: currentValue(tweak) }])],
    ];
    const preview = make("pre", { class: "copy-preview", tabindex: "0", "aria-label": "Preview" });
    const show = (text) => {
      this.#copied = { preview, text };
      setText(preview, text());
    };
    const buttons = copies.map(([name, text]) => make("button", {
      type: "button", class: "button", text: name, "aria-label": `Copy as ${name}`, onclick: async () => {
        show(text);
        const isDone = await copyText(text());
        if (isDone) this.#page.notices.say(`Copied as ${name}`);
        else this.#page.notices.problem("The browser blocked access to the clipboard; select the text instead");
      }, onmouseenter: () => show(text), onfocus: () => show(text),
    }));
    show(copies[0][1]);
    return make("section", {}, make("h3", { text: "Copy as" }), make("div", { class: "button-line" }, buttons), preview);
  }

  /** Updates the details after a tweak has changed. */
  changed(tweak) {
    if (!this.#tweak) return;
    if (tweak === this.#tweak || this.#page.commands.partnerOf(this.#tweak)?.tweak === tweak || tweak.isFeature) this.update();
    if (tweak === this.#tweak && !this.#timer) {
      this.#timer = setTimeout(() => {
        this.#timer = 0;
        this.#explain();
      }, 300);
    }
  }

  update() {
    const tweak = this.#tweak;
    if (!tweak) return;
    const { commands, state, samples } = this.#page;
    for (const control of this.#controls) control.update();
    setText(this.#copied.preview, this.#copied.text());
    const waits = gateText(tweak);
    setText(this.#dynamic.why, whyNoEffect(tweak, state) ?? (waits && `${waits}; now ${valueText(tweak, tweak.value)}`));
    this.#dynamic.why.hidden = !this.#dynamic.why.textContent;
    const keep = this.#element.querySelector("[data-role=keep]");
    if (keep) keep.hidden = !commands.isKeepable(tweak);
    this.#element.querySelector("[data-role=star]")?.setAttribute("aria-pressed", String(commands.isStarred(tweak)));
    this.#element.querySelector("[data-role=graph]")?.setAttribute("aria-pressed", String(commands.isGraphed(tweak)));
    // Without a history of the program, what this page has seen.
    const changes = (this.#history ?? samples.marks.filter(({ id }) => id === tweak.id).reverse()).slice(0, mostChanges);
    const newest = changes.length > 0 ? `${changes.length} ${changes[0].time} ${changes[0].text}` : "none";
    if (this.#dynamic.changes.dataset.newest === newest) return;
    this.#dynamic.changes.dataset.newest = newest;
    this.#dynamic.changes.replaceChildren(...(changes.length > 0 ? changes : [undefined]).map((mark) => mark
      ? make("li", {}, timeOf(mark.time), make("span", { translate: "no", text: mark.text }), make("span", { class: "who", text: mark.who }))
      : make("li", { class: "none", text: "None yet" })));
  }

  updateLive() {
    for (const control of this.#controls) if (control.isLive) control.update();
  }

  async #loadHistory(tweak) {
    try {
      const { changes } = await this.#page.api.post("history", { program: tweak.program });
      if (tweak !== this.#tweak) return;
      const text = (value) => valueText(tweak, valueFrom(tweak.type, value)) || "empty";
      this.#history = linesOf(changes.filter((change) => change.tweak === tweak.key))
        .map(({ time, oldValue, newValue, by }) => ({ time, text: `${text(oldValue)} → ${text(newValue)}`, who: shown(by) }));
      this.update();
    } catch {
      // The program does not run, has an older library, or keeps no history.
    }
  }

  async #explain() {
    const tweak = this.#tweak;
    if (!tweak || !isSettable(tweak)) return;
    if (this.#page.state.programs.get(tweak.program)?.state === "running") this.#loadHistory(tweak);
    const number = (this.#explained += 1);
    const box = this.#dynamic.opinions;
    try {
      const { opinions, provided = [] } = await this.#page.api.post("explain", { program: tweak.program, tweak: tweak.key });
      if (number !== this.#explained || tweak !== this.#tweak) return;
      const winner = opinions.findIndex(({ error }) => !error);
      box.replaceChildren(make("ol", { class: "opinions" }, opinions.map((opinion, index) => make("li", {
        class: index === winner ? "decides" : opinion.error ? "is-wrong" : "waits",
      }, make("span", { class: "badge source", text: sourceText(opinion.source) }),
        make("span", { class: "opinion-value", translate: "no", text: opinion.error ? shown(opinion.error) : valueText(tweak, valueFrom(tweak.type, opinion.value)) || "empty" }),
        make("span", { class: "who", text: index === winner ? "in effect" : opinion.error ? "invalid" : "lower precedence" }),
        opinion.lease ? make("span", { class: "opinion-place", text: leaseText(opinion.lease) }) : undefined,
        originLines(provided, opinion.source).map((text) => make("span", { class: "opinion-place", text })),
        opinion.location ? make("span", { class: "opinion-place", text: shown([opinion.location].flat().join(", ")) }) : undefined)),
      provided.filter(({ source }) => !opinions.some((opinion) => opinion.source === source)).map(({ source, file }) => make("li", { class: "waits" }, make("span", { class: "badge source", text: sourceText(source) }),
        make("span", { class: "opinion-value", text: "no value" }), originLines(provided, source).map((text) => make("span", { class: "opinion-place", text })), make("span", { class: "opinion-place", text: shown(file) })))));
      const ours = opinions.findIndex(({ source }) => source === "override");
      const hiddenBy = ours > winner && winner >= 0 && tweak.tried !== "here" ? opinions[winner].source : undefined;
      if (hiddenBy !== tweak.hiddenBy) {
        tweak.hiddenBy = hiddenBy;
        this.#page.list.changed(tweak);
        this.update();
      }
    } catch (error) {
      if (number === this.#explained) box.replaceChildren(make("p", { class: "none", text: error.message }));
    }
  }

  focus() {
    this.#element.querySelector("h2")?.focus();
  }
}
