// SPDX-License-Identifier: BSD-3-Clause

// The details of one tweak: a large control, its description and facts, the providers of its value, its changes, and
// tools.

import { linesOf, timeOf, whoText } from "./changes.js";
import { isTurnable } from "./controllers.js";
import { controlFor } from "./controls/all.js";
import { colourControl } from "./controls/colour.js";
import { padControl } from "./controls/pad.js";
import { textControl } from "./controls/text.js";
import { copyText, declarationInC, declarationInSwift, nestedJSON, shellCommand } from "./copying.js";
import { iconButton, isTyping, make, setAttribute, setText, textButton } from "./dom.js";
import { tweakCommand } from "./keys.js";
import { shown } from "./names.js";
import { exactText, withPoints } from "./numbers.js";
import { gateText, originLines, sourceText, whyNoEffect } from "./row.js";
import {
  currentValue,
  isAlwaysNumber,
  isDrawable,
  isExpired,
  isSet,
  isSettable,
  isSweepable,
  limitsText,
  valueFrom,
  valueText,
  waitsForRestart
} from "./tweaks.js";

const mostChanges = 12;

/** Options already shown by another fact or the heading. */
const saidElsewhere = new Set([
  "minimum",
  "maximum",
  "choices",
  "title",
  "description",
  "readOnly",
  "unit",
  "location"
]);
/** Texts for options that need more than their value. */
const optionTexts = {
  scale: ({ scale }) => ({ log: "logarithmic", linear: "linear" })[scale],
  needsRestart: () => "a new value applies at the next start",
  optional: () => "can have no value",
  expires: (tweak) => `${shown(tweak.expires)}${isExpired(tweak) ? ", expired" : ""}`
};

/** The text of an option, empty if the tweak does not have it. */
function optionText(tweak, name) {
  if (tweak[name] === undefined || saidElsewhere.has(name)) return "";
  return optionTexts[name]?.(tweak) ?? shown(tweak[name]);
}

/** Who holds a lease, and until when. */
const leaseText = ({ by, remaining }) =>
  shown(`${by}, ${remaining === undefined ? "until its connection ends" : `for another ${Math.ceil(remaining)} s`}`);

/** What the deciding provider's value is for the program. */
const effectText = (tweak) => gateText(tweak) || (waitsForRestart(tweak) ? "applies at the next start" : "in effect");

export class Details {
  /** The parts of the page that it uses. */
  #uses;
  #element;
  #tweak;
  #controls = [];
  #dynamic;
  #copied;
  #knobs;
  #buttons;
  /** Whether the tools are open, for all tweaks. */
  #hasTools = false;
  #explained = 0;
  /** The changes of the tweak that its program has told; undefined if it tells none. */
  #history;
  #timer = 0;
  /**
   * Called when another provider hides the value of a tweak, or no longer does.
   *
   * @type {(tweak: any) => void}
   */
  onHidden = () => {};

  /** @param {import("./page.js").Page} page */
  constructor({ api, commands, controllers, editing, notices, preferences, samples, state }, element) {
    this.#uses = { api, commands, controllers, editing, notices, preferences, samples, state };
    this.#element = element;
    element.addEventListener("keydown", (event) => {
      const command = !isTyping() && tweakCommand(event);
      if (!command) return;
      event.preventDefault();
      event.stopPropagation();
      commands[command](this.#tweak);
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
    if (this.#uses.controllers.learning && this.#uses.controllers.learning !== tweak)
      this.#uses.controllers.stopLearning();
    if (!tweak) {
      this.#element.replaceChildren();
      return;
    }
    const { commands, state } = this.#uses;
    const program = state.programs.get(tweak.program);
    const path = [program.description.name, tweak.category, tweak.collection, tweak.name].map(shown).join(" › ");
    this.#dynamic = {
      why: make("p", { class: "why" }),
      opinions: make("div", {}),
      changes: make("ol", { class: "change-list" })
    };
    this.#element.replaceChildren(
      make(
        "header",
        {},
        make("h2", { translate: "no", text: shown(tweak.title || tweak.name), tabindex: "-1", id: "details-title" }),
        iconButton("close", "Close the details", () => commands.select(undefined))
      ),
      make(
        "div",
        { class: "details-head" },
        make("p", { class: "details-path", translate: "no", text: path }),
        this.#makeButtons(tweak)
      ),
      make(
        "div",
        { class: "details-body" },
        make("div", { class: "details-control" }, this.#makeControl(tweak)),
        this.#dynamic.why,
        tweak.description ? make("p", { class: "details-text", text: shown(tweak.description) }) : undefined,
        this.#makeFacts(tweak),
        this.#buttons.keep,
        isSettable(tweak) ? make("section", {}, make("h3", { text: "Providers" }), this.#dynamic.opinions) : undefined,
        make("section", {}, make("h3", { text: "Changes" }), this.#dynamic.changes),
        this.#makeTools(tweak, program)
      )
    );
    this.update();
    this.#explain();
  }

  /** Makes a part with a control, which is updated with the others. */
  #add(control) {
    this.#controls.push(control);
    return control.element;
  }

  #makeControl(tweak) {
    const { api, editing, notices, samples } = this.#uses;
    const context = { api, editing, notices, samples, tweak };
    if (!isSettable(tweak)) return this.#add(controlFor(context));
    if (tweak.type === "color") return this.#add(colourControl({ ...context, isOpen: true }));
    return this.#add(
      tweak.type === "string" && !tweak.choices ? textControl({ ...context, isLarge: true }) : controlFor(context)
    );
  }

  /** What is used less often: the pad, the ramp, knobs, and copies in other forms. */
  #makeTools(tweak, program) {
    const partner = this.#uses.commands.partnerOf(tweak);
    if (isTurnable(tweak) && this.#uses.controllers.isPossible)
      this.#knobs = make("div", {}, this.#uses.controllers.makeSection(tweak));
    return make(
      "details",
      {
        class: "tools",
        open: this.#hasTools,
        ontoggle: ({ target }) => {
          this.#hasTools = target.open;
        }
      },
      make("summary", { text: "More tools" }),
      make(
        "div",
        { class: "details-control" },
        partner &&
          this.#add(
            padControl({
              editing: this.#uses.editing,
              horizontal: partner.isFirst ? tweak : partner.tweak,
              vertical: partner.isFirst ? partner.tweak : tweak
            })
          ),
        isAlwaysNumber(tweak) && isSettable(tweak) && !tweak.choices &&
          [this.#makePairing(tweak), this.#makeRamp(tweak)],
        isSweepable(tweak) &&
          make(
            "div",
            { class: "button-line" },
            textButton("Sweep…", () => this.#uses.commands.openSweep(tweak), {
              title: "Try values one after the other, and measure each",
              "aria-haspopup": "dialog"
            })
          ),
        this.#knobs,
        this.#makeCopies(tweak, program)
      )
    );
  }

  /** Shows which knobs set the tweak. */
  showKnobs() {
    if (!this.#tweak || !this.#knobs?.isConnected) return;
    const hadFocus = this.#knobs.contains(document.activeElement);
    this.#knobs.replaceChildren(this.#uses.controllers.makeSection(this.#tweak));
    if (hadFocus) this.#knobs.querySelector("button")?.focus();
  }

  /** A menu that chooses the tweak on the other axis of the pad. */
  #makePairing(tweak) {
    const { state, commands } = this.#uses;
    const others = [...(state.programs.get(tweak.program)?.tweaks.values() ?? [])].filter((other) =>
      other !== tweak && other.collection === tweak.collection && other.category === tweak.category &&
      isAlwaysNumber(other) &&
      isSettable(other) && !other.choices
    ).slice(0, 200);
    const partner = commands.partnerOf(tweak)?.tweak;
    const select = make(
      "select",
      {
        "aria-label": "Pad with",
        onchange: () => {
          commands.pair(tweak, select.value || undefined);
          this.show(tweak);
        }
      },
      make("option", { value: "", text: "None" }),
      others.map((other) =>
        make("option", { value: other.key, translate: "no", text: other.label, selected: other === partner })
      )
    );
    return make("label", { class: "pairing" }, make("span", { text: "Pad with" }), select);
  }

  /** Fields for a number that is reached over some seconds. */
  #makeRamp(tweak) {
    const { api, editing, notices } = this.#uses;
    const target = make("input", { type: "text", "aria-label": "Ramp to", placeholder: "value", autocomplete: "off" });
    const seconds = make("input", {
      type: "text",
      inputmode: "decimal",
      "aria-label": "Seconds",
      value: "2",
      autocomplete: "off"
    });
    const start = async () => {
      try {
        const current = exactText(currentValue(tweak));
        const { value } = await api.post("calculate", {
          program: tweak.program,
          tweak: tweak.key,
          text: withPoints(target.value),
          current
        });
        const duration = Number(withPoints(seconds.value));
        if (!(duration > 0)) throw new Error(`${seconds.value || "nothing"} is not a number of seconds`);
        await editing.ramp(tweak, valueFrom(tweak.type, value), duration);
      } catch (error) {
        notices.problem(error.message);
      }
    };
    return make(
      "form",
      {
        class: "ramp",
        onsubmit: (event) => {
          event.preventDefault();
          start();
        }
      },
      make("span", { text: "Ramp to" }),
      target,
      make("span", { text: "over" }),
      seconds,
      make("span", { translate: "no", text: "s" }),
      make("button", { type: "submit", class: "button", text: "Start" })
    );
  }

  /** The buttons of the commonest commands. */
  #makeButtons(tweak) {
    const { commands } = this.#uses;
    const button = (icon, label, command, more) => iconButton(icon, label, () => commands[command](tweak), more);
    const keep = {
      class: "button",
      text: "Write to source…",
      "aria-haspopup": "dialog",
      data: { role: "keep" },
      onclick: () => commands.keepInSource(tweak)
    };
    this.#buttons = {
      star: button("star", "Star", "toggleStar", { class: "row-star" }),
      graph: isDrawable(tweak) && button("graph", "Graph", "toggleGraph"),
      reset: isSettable(tweak) && button("reset", "Reset", "resetTweak"),
      keep: isSettable(tweak) && make("button", keep)
    };
    const { star, graph, reset } = this.#buttons;
    return make(
      "div",
      { class: "details-buttons" },
      star,
      graph,
      button("copy", "Copy as a command", "copyCommand"),
      button("link", "Copy link", "copyLink"),
      reset
    );
  }

  #makeFacts(tweak) {
    const facts = [
      ["Default", tweak.type === "action" || tweak.monitor ? "" : valueText(tweak, tweak.default) || "empty"],
      ["Limits", limitsText(tweak)],
      ["Unit", shown(tweak.unit)],
      [
        "Type",
        tweak.type + (tweak.monitor ? ", monitor" : "") + (tweak.readOnly && !tweak.monitor ? ", read-only" : "")
      ],
      ["Declared at", shown(tweak.location)],
      ["Gate", shown(tweak.gate)],
      ...this.#uses.state.options.map((
        { name, title }
      ) => [title[0].toUpperCase() + title.slice(1), optionText(tweak, name)])
    ].filter(([, text]) => text);
    return make(
      "dl",
      { class: "facts" },
      facts.map(([name, text]) => [make("dt", { text: name }), make("dd", { translate: "no", text })])
    );
  }

  #makeCopies(tweak, program) {
    /** @type {[string, () => string][]} */
    const copies = [
      ["Shell", () => shellCommand(program, tweak, currentValue(tweak))],
      ["C", () => declarationInC(tweak, currentValue(tweak), this.#uses.state.options)],
      ["Swift", () => declarationInSwift(tweak, currentValue(tweak), this.#uses.state.options)],
      ["JSON", () => nestedJSON([{ tweak, value: currentValue(tweak) }])]
    ];
    const preview = make("pre", { class: "copy-preview", translate: "no", tabindex: "0", "aria-label": "Preview" });
    const show = (text) => {
      this.#copied = { preview, text };
      setText(preview, text());
    };
    const buttons = copies.map(([name, text]) =>
      make("button", {
        class: "button",
        text: name,
        "aria-label": `Copy as ${name}`,
        onclick: async () => {
          show(text);
          await copyText(text(), this.#uses.notices, `Copied as ${name}`);
        },
        onmouseenter: () => show(text),
        onfocus: () => show(text)
      })
    );
    show(copies[0][1]);
    return make(
      "section",
      {},
      make("h3", { text: "Copy as" }),
      make("div", { class: "button-line" }, buttons),
      preview
    );
  }

  /** Updates the details after a tweak has changed. */
  changed(tweak) {
    if (!this.#tweak) return;
    if (tweak === this.#tweak || this.#uses.commands.partnerOf(this.#tweak)?.tweak === tweak || tweak.isFeature)
      this.update();
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
    const { commands, state, samples } = this.#uses;
    for (const control of this.#controls) control.update();
    setText(this.#copied.preview, this.#copied.text());
    const waits = gateText(tweak);
    setText(
      this.#dynamic.why,
      whyNoEffect(tweak, state) ?? (waits && `${waits}; now ${valueText(tweak, tweak.value)}`)
    );
    this.#dynamic.why.hidden = !this.#dynamic.why.textContent;
    const { star, graph, reset, keep } = this.#buttons;
    if (keep) keep.hidden = !commands.isKeepable(tweak);
    setAttribute(star, "aria-pressed", String(commands.isStarred(tweak)));
    if (graph) setAttribute(graph, "aria-pressed", String(commands.isGraphed(tweak)));
    if (reset) setAttribute(reset, "aria-disabled", isSet(tweak) ? undefined : "true");
    // Without a history of the program, what this page has seen.
    const changes = (this.#history ?? samples.marks.filter(({ id }) => id === tweak.id).reverse()).slice(
      0,
      mostChanges
    );
    const newest = changes.length > 0 ? `${changes.length} ${changes[0].time} ${changes[0].text}` : "none";
    if (this.#dynamic.changes.dataset.newest === newest) return;
    this.#dynamic.changes.dataset.newest = newest;
    this.#dynamic.changes.replaceChildren(
      ...(changes.length > 0 ? changes : [undefined]).map((mark) =>
        mark
          ? make(
            "li",
            {},
            timeOf(mark.time),
            make("span", { class: "history-values", translate: "no", text: mark.text, title: mark.text }),
            make("span", { class: "who", translate: "no", text: mark.who, title: mark.who })
          )
          : make("li", { class: "none", text: "None yet" })
      )
    );
  }

  updateLive() {
    for (const control of this.#controls) if (control.isLive) control.update();
  }

  async #loadHistory(tweak) {
    try {
      const { changes } = await this.#uses.api.post("history", { program: tweak.program });
      if (tweak !== this.#tweak) return;
      const text = (value) => valueText(tweak, valueFrom(tweak.type, value)) || "empty";
      this.#history = linesOf(changes.filter((change) => change.tweak === tweak.key))
        .map((line) => ({
          time: line.time,
          text: `${text(line.oldValue)} → ${text(line.newValue)}`,
          who: whoText(line, this.#uses.preferences.name)
        }));
      this.update();
    } catch {
      // The program does not run, has an older library, or keeps no history.
    }
  }

  async #explain() {
    const tweak = this.#tweak;
    if (!tweak || !isSettable(tweak)) return;
    if (this.#uses.state.programs.get(tweak.program)?.state === "running") this.#loadHistory(tweak);
    const number = (this.#explained += 1);
    const box = this.#dynamic.opinions;
    try {
      const { opinions, provided = [] } = await this.#uses.api.post("explain", {
        program: tweak.program,
        tweak: tweak.key
      });
      if (number !== this.#explained || tweak !== this.#tweak) return;
      const winner = opinions.findIndex(({ error }) => !error);
      box.replaceChildren(make(
        "ol",
        { class: "opinions" },
        opinions.map((opinion, index) =>
          make(
            "li",
            {
              class: index === winner && tweak.pendingValue === undefined
                ? "decides"
                : opinion.error
                ? "is-wrong"
                : "waits"
            },
            make("span", { class: "badge source", text: sourceText(opinion.source) }),
            make("span", {
              class: "opinion-value",
              translate: "no",
              text: opinion.error
                ? shown(opinion.error)
                : valueText(tweak, valueFrom(tweak.type, opinion.value)) || "empty"
            }),
            make("span", {
              class: "who",
              text: index === winner ? effectText(tweak) : opinion.error ? "invalid" : "lower precedence"
            }),
            opinion.lease ? make("span", { class: "opinion-place", text: leaseText(opinion.lease) }) : undefined,
            originLines(provided, opinion.source).map((text) => make("span", { class: "opinion-place", text })),
            opinion.location
              ? make("span", {
                class: "opinion-place",
                translate: "no",
                text: shown([opinion.location].flat().join(", "))
              })
              : undefined
          )
        ),
        provided.filter(({ source }) => !opinions.some((opinion) => opinion.source === source)).map((
          { source, file }
        ) =>
          make(
            "li",
            { class: "waits" },
            make("span", { class: "badge source", text: sourceText(source) }),
            make("span", { class: "opinion-value", text: "no value" }),
            originLines(provided, source).map((text) => make("span", { class: "opinion-place", text })),
            make("span", { class: "opinion-place", translate: "no", text: shown(file) })
          )
        )
      ));
      const ours = opinions.findIndex(({ source }) => source === "override");
      const hiddenBy = ours > winner && winner >= 0 && tweak.tried !== "here" ? opinions[winner].source : undefined;
      if (hiddenBy !== tweak.hiddenBy) {
        tweak.hiddenBy = hiddenBy;
        this.onHidden(tweak);
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
