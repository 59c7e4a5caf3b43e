// SPDX-License-Identifier: BSD-3-Clause

// The history of an application: who changed what, when and why, and the way back.

import { iconButton, make, setText, textButton } from "../dom.js";
import { shown } from "../names.js";
import { openRollback } from "./changing.js";
import { labelOf, partsOf, partTexts } from "./values.js";

const most = 400;

export class FleetHistory {
  #fleet;
  #element;
  #tweak;
  #parts;
  #loads = 0;

  /** @param {any} fleet */
  constructor(fleet, element) {
    this.#fleet = fleet;
    this.#element = element;
  }

  get isOpen() {
    return !this.#element.hidden;
  }

  /** Opens the history of the application, or of one tweak. */
  open(tweak) {
    this.#tweak = tweak;
    this.#parts = {
      list: make("ol", { class: "history-list", "aria-label": "Changes" }),
      message: make("p", { class: "none", role: "status", text: "Loading…" })
    };
    const of = tweak ? labelOf(tweak) : shown(this.#fleet.application);
    this.#element.replaceChildren(
      make(
        "header",
        {},
        make("h2", { id: "history-title", tabindex: "-1", text: `History of ${of}` }),
        iconButton("close", "Close the history", () => this.close())
      ),
      make(
        "div",
        { class: "details-body" },
        tweak
          ? make(
            "div",
            { class: "button-line" },
            textButton("All changes", () => this.open(), { class: "button small" })
          )
          : undefined,
        this.#parts.message,
        this.#parts.list
      )
    );
    this.#element.hidden = false;
    document.body.classList.add("has-details");
    this.#element.querySelector("h2").focus();
    this.load();
  }

  close() {
    if (!this.isOpen) return;
    const hadFocus = this.#element.contains(document.activeElement);
    this.#element.hidden = true;
    this.#element.replaceChildren();
    document.body.classList.remove("has-details");
    if (hadFocus) document.getElementById("list").focus();
  }

  /** Reads it again if it is open. */
  async load() {
    if (!this.isOpen) return;
    this.#loads += 1;
    const load = this.#loads;
    const { list, message } = this.#parts;
    try {
      const { answer } = await this.#fleet.ask("history", { last: most });
      if (load !== this.#loads) return;
      const changes = answer.changes.map((change) => ({
        ...change,
        parts: partsOf(change).filter(({ tweak }) => !this.#tweak || tweak === this.#tweak)
      })).filter(({ parts }) => parts.length > 0).reverse();
      setText(message, changes.length === 0 ? "No changes." : "");
      const focused = /** @type {HTMLElement} */ (document.activeElement)?.dataset.of;
      list.replaceChildren(...changes.map((change, index) => this.#makeLine(change, index === 0)));
      if (focused) /** @type {HTMLElement} */ (list.querySelector(`[data-of="${focused}"]`))?.focus();
    } catch (error) {
      if (load === this.#loads) setText(message, error.message.split("\n").map(shown).join("\n"));
    }
  }

  #makeLine({ revision, at, by, why, parts }, isLast) {
    const time = new Date(at);
    const isKnown = !Number.isNaN(time.getTime());
    return make(
      "li",
      {},
      make(
        "span",
        { class: "history-line" },
        make("time", {
          datetime: isKnown ? at : undefined,
          text: isKnown ? time.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" }) : shown(at)
        }),
        make("span"),
        !isLast &&
          textButton("Restore…", () => openRollback(this.#fleet, revision, this.#tweak), {
            class: "button small",
            "aria-label": `Restore revision ${revision}`,
            data: { of: revision }
          })
      ),
      make("strong", { class: "history-why", text: shown(why ?? "no reason") }),
      parts.map((part) =>
        make(
          "span",
          { class: "history-values" },
          this.#tweak ? undefined : make("button", {
            class: "heading-link",
            translate: "no",
            text: labelOf(part.tweak),
            title: shown(part.tweak),
            onclick: () => this.open(part.tweak)
          }),
          make("span", { translate: "no", text: partTexts(part).join(" → ") })
        )
      ),
      make("span", { class: "who", text: `${shown(by)} · revision ${revision}` })
    );
  }
}
