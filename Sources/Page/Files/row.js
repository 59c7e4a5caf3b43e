// SPDX-License-Identifier: BSD-3-Clause

// A row of the list: the name of a tweak, its control, badges and buttons.

import { controlFor } from "./controls/all.js";
import { padControl } from "./controls/pad.js";
import { iconButton, make, setAttribute, setText } from "./dom.js";
import { shown } from "./names.js";
import { openPopover } from "./popups.js";
import {
  currentValue,
  equalValues,
  gatesOf,
  isChanged,
  isDrawable,
  isExpired,
  isMonitored,
  isSet,
  isSettable,
  valueText,
  waitsForBuild,
  waitsForGate,
  waitsForRestart
} from "./tweaks.js";

/** Why the value that was set has no effect, or undefined if it has. */
export function whyNoEffect(tweak, state) {
  const program = state.programs.get(tweak.program);
  if (tweak.local?.isUnsent) return "not sent";
  if (tweak.failed) {
    const { isReset, value, message, text = valueText(tweak, value) } = tweak.failed;
    return `${isReset ? "not reset" : `not set to ${shown(text) || "empty"}`}: ${shown(message)}`;
  }
  if (waitsForRestart(tweak) && !tweak.local) {
    return program?.state === "offline" ? undefined : `applies at the next start; now ${valueText(tweak, tweak.value)}`;
  }
  if (tweak.overwrittenValue !== undefined && !tweak.local) {
    return `overwritten by the program; before ${valueText(tweak, tweak.overwrittenValue) || "empty"}`;
  }
  if (waitsForBuild(tweak)) return "in the source; waits for a build";
  if (tweak.hiddenBy) return `no effect, because ${tweak.hiddenBy} takes precedence`;
  const gate = closedGate(tweak, state);
  if (gate) return `no effect while ${gate.name === "enabled" ? shown(gate.collection) : shown(gate.name)} is off`;
  return undefined;
}

/** The gate that a value waits for, as a text; empty if there is none. */
export const gateText = (
  tweak
) => (waitsForGate(tweak) && !tweak.local ? `waits for the gate ${shown(tweak.gate)}` : "");
/** A gate that is passed within this time, in ms, is not worth a word. */
const shortWait = 150;

/** The outermost enclosing feature that is off. */
export function closedGate(tweak, state) {
  for (const name of gatesOf(tweak)) {
    const gate = state.sibling(tweak, name);
    if (gate && currentValue(gate) === false) return gate;
  }
  return undefined;
}

/** The provider of the value, as a badge shows it. */
export const sourceText = (source) => (source === "override" ? "set" : shown(source ?? ""));

/** Who set the value of an agent's provider, when and why, or why there is none, in lines. */
export const originLines = (provided, source) =>
  provided.filter((origin) => origin.source === source)
    .flatMap((
      { reason, difference, problem, agentRuns }
    ) => [
      reason,
      difference,
      problem && `nothing newer: ${problem}`,
      agentRuns === false && "no tweak-agent is running, so nothing newer arrives"
    ])
    .filter(Boolean).map((text) => shown(text));

export class Row {
  /** The parts of the page that it uses. */
  #uses;
  #list;
  #control;
  #parts;
  #depth;
  /** The value shown last, and when it was last changed elsewhere. */
  #value;
  #changed = -Infinity;
  /** How often the tweak's local value had changed then. */
  #localChanges = 0;
  #waitsSince;
  tweak;
  element;

  /**
   * - list: the list in which a starred row is dragged; undefined in a panel.
   *
   * @param {import("./page.js").Parts<"api" | "commands" | "editing" | "notices" | "samples" | "state">} parts
   */
  constructor(
    { api, commands, editing, notices, samples, state },
    tweak,
    depth,
    /** @type {import("./list.js").List | undefined} */ list = undefined
  ) {
    this.#uses = { commands, editing, state };
    this.#list = list;
    this.tweak = tweak;
    this.#control = controlFor({ api, editing, notices, samples, tweak });
    const parts = (this.#parts = {
      label: make("span", { class: "row-label", translate: "no", text: rowLabel(tweak) }),
      under: make("span", { class: "row-under" }),
      badges: make("span", { class: "row-badges" }),
      reset: iconButton("reset", `Reset ${tweak.label}`, () => commands.resetTweak(tweak), { class: "row-reset" }),
      star: iconButton("star", `Star ${tweak.label}`, () => commands.toggleStar(tweak), { class: "row-star" })
    });
    parts.name = make(
      "button",
      {
        class: "row-name",
        onclick: () => commands.select(tweak),
        title: [tweak.key, tweak.description, tweak.location].filter(Boolean).map(shown).join("\n")
      },
      parts.label,
      parts.under
    );
    parts.graph = isDrawable(tweak)
      ? iconButton("graph", `Graph of ${tweak.label}`, () => commands.toggleGraph(tweak), { class: "row-graph" })
      : undefined;
    const partner = commands.partnerOf(tweak);
    parts.pad = partner
      ? iconButton("pad", `Pad of ${tweak.label} and ${partner.tweak.label}`, () => this.#openPad(), {
        class: "row-pad",
        "aria-haspopup": "dialog",
        "aria-expanded": "false"
      })
      : undefined;
    this.#depth = depth;
    this.element = make(
      "li",
      { class: "row", data: { tweak: tweak.key, program: tweak.program, type: tweak.type } },
      parts.name,
      make("div", { class: "row-control" }, this.#control.element),
      parts.badges,
      make("div", { class: "row-buttons" }, parts.pad, parts.graph, parts.star, parts.reset)
    );
    this.update();
  }

  #openPad() {
    const partner = this.#uses.commands.partnerOf(this.tweak);
    if (!partner) return;
    const pad = padControl({
      horizontal: partner.isFirst ? this.tweak : partner.tweak,
      vertical: partner.isFirst ? partner.tweak : this.tweak,
      editing: this.#uses.editing
    });
    pad.update();
    const stop = this.#uses.state.on("value", (tweak) => {
      if (tweak === this.tweak || tweak === partner.tweak) pad.update();
    });
    openPopover(this.#parts.pad, pad.element, { label: "Pad", className: "pad-popover", onclose: stop });
  }

  update() {
    const { tweak } = this;
    const { state, commands } = this.#uses;
    const parts = this.#parts;
    this.#control.update();
    const changed = isChanged(tweak);
    const reason = whyNoEffect(tweak, state);
    const { classList } = this.element;
    classList.toggle("is-changed", changed);
    classList.toggle("is-tried", tweak.tried === "here");
    classList.toggle("is-unsent", Boolean(tweak.local?.isUnsent));
    classList.toggle("is-failed", Boolean(tweak.failed));
    this.#showPlace();
    classList.toggle("is-selected", state.selected === tweak.id);
    classList.toggle("is-gated", Boolean(tweak.isFeature && closedGate(tweak, state)));
    const isDefaultTold = changed && isSettable(tweak);
    const waits = this.#waitingText();
    const under = [
      reason,
      waits,
      this.#isApart ? [tweak.category, tweak.collection].map(shown).filter(Boolean).join(" › ") : undefined,
      isDefaultTold ? `default ${valueText(tweak, tweak.default) || "empty"}` : undefined,
      tweak.description ? shown(tweak.description) : undefined
    ].filter(Boolean);
    setText(parts.under, under.join(" · "));
    parts.under.classList.toggle("is-warning", Boolean(reason || waits));
    setAttribute(
      parts.name,
      "aria-label",
      `${tweak.label}${changed ? ", changed" : ""}${tweak.tried === "here" ? ", tried" : ""}${
        under[0] ? `, ${under.join(", ")}` : ""
      }, details`
    );
    this.#flash();
    this.#showBadges();
    const canReset = isSettable(tweak) && isSet(tweak);
    // Never hidden, so that nothing moves and the focus stays.
    parts.reset.classList.toggle("is-idle", !canReset);
    setAttribute(parts.reset, "aria-disabled", canReset ? undefined : "true");
    setAttribute(parts.reset, "tabindex", canReset ? undefined : "-1");
    setAttribute(parts.star, "aria-pressed", String(commands.isStarred(tweak)));
    if (parts.graph) setAttribute(parts.graph, "aria-pressed", String(commands.isGraphed(tweak)));
  }

  /** Lights up for a moment if the value was changed elsewhere; not for each of many changes. */
  #flash() {
    const { tweak } = this;
    const value = currentValue(tweak);
    // An own change may be made and answered between two frames.
    const isOwn = tweak.local !== undefined || tweak.localChanges !== this.#localChanges;
    const isOutside = this.#value !== undefined && !isOwn && !isMonitored(tweak) && !equalValues(value, this.#value);
    this.#value = value;
    this.#localChanges = tweak.localChanges;
    if (!isOutside) return;
    const now = performance.now();
    if (now - this.#changed > 1000 && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.element.animate([{ backgroundColor: "var(--warning-soft)" }, {}], 600);
    }
    this.#changed = now;
  }

  /** The value that waits for a gate, and the gate. */
  #waitingText() {
    const text = gateText(this.tweak);
    const began = (this.#waitsSince = text ? (this.#waitsSince ?? performance.now()) : undefined);
    if (!text) return "";
    const left = began + shortWait - performance.now();
    if (left > 0) setTimeout(() => this.#waitsSince === began && this.update(), left + 1);
    return left > 0 ? "" : `${valueText(this.tweak, currentValue(this.tweak))}, ${text}`;
  }

  /** Whether the row is not below the heading of its collection. */
  get #isApart() {
    return Boolean(this.#uses.state.scope.row) || this.#uses.commands.isStarred(this.tweak);
  }

  /** Shows the depth of a part of a feature, and a handle that moves a starred tweak. */
  #showPlace() {
    const { tweak, element } = this;
    const { commands, state } = this.#uses;
    element.style.setProperty("--depth", this.#isApart ? 0 : Math.min(this.#depth, 6));
    const isMovable = commands.isStarred(tweak) && !state.scope.row;
    element.classList.toggle("is-movable", isMovable);
    if (!isMovable) {
      this.#parts.grip?.remove();
      this.#parts.grip = undefined;
      return;
    }
    if (this.#parts.grip) return;
    this.#parts.grip = iconButton("grip", `Move ${tweak.label}`, undefined, {
      class: "row-grip",
      onpointerdown: (event) => {
        if (event.button !== 0) return;
        this.#list.drag(tweak, event.clientY, (other) => commands.moveStar(tweak, other));
      }
    });
    this.#parts.grip.title = "Drag, or press the up and down arrows";
    element.prepend(this.#parts.grip);
  }

  #showBadges() {
    const { tweak } = this;
    const { commands, state } = this.#uses;
    const badges = [];
    const { source } = tweak;
    if (tweak.tried === "here") {
      badges.push(["tried", "badge tried", "Reverts when Try is switched off or this page closes"]);
    } else if (source && source !== "default" && source !== "override" && !isMonitored(tweak)) {
      badges.push([sourceText(source), "badge source", `Provider: ${sourceText(source)}`]);
    }
    if (waitsForRestart(tweak)) {
      badges.push([
        "restart",
        "badge warning",
        "The new value applies at the next start. Restart the program…",
        () => commands.restart(state.programs.get(tweak.program))
      ]);
    } else if (tweak.needsRestart) badges.push(["restart", "badge", "A new value applies at the next start"]);
    if (tweak.readOnly && !tweak.monitor) badges.push(["read-only", "badge", "Cannot be set"]);
    if (isExpired(tweak)) badges.push(["expired", "badge warning", `Expired after ${shown(tweak.expires)}`]);
    for (const viewer of state.others) {
      if (viewer.program === tweak.program && viewer.tweak === tweak.key) {
        badges.push([
          viewer.name ? shown(viewer.name) : `page ${viewer.stream}`,
          "badge person",
          "Also viewing this tweak"
        ]);
      }
    }
    const text = JSON.stringify(badges);
    if (text === this.#parts.badgeText) return;
    this.#parts.badgeText = text;
    this.#parts.badges.replaceChildren(
      ...badges.map(([label, className, title, onclick]) =>
        make(onclick ? "button" : "span", {
          class: className,
          text: label,
          title,
          "aria-label": onclick && title,
          onclick
        })
      )
    );
  }

  get isBusy() {
    return this.#control.isBusy();
  }

  /** Whether the row shows samples, which arrive without change events. */
  get isLive() {
    return Boolean(this.#control.isLive);
  }

  updateLive() {
    this.#control.update();
  }

  focusName() {
    this.#parts.name.focus({ preventScroll: true });
  }

  focusControl() {
    this.#control.focus();
  }
}

/** The label of a tweak; a part of a feature is named without what encloses it. */
function rowLabel(tweak) {
  if (!tweak.isFeature) return tweak.label;
  if (tweak.name === "enabled") return shown(tweak.title || tweak.collection);
  return shown(tweak.title || tweak.name.split("/").at(-1));
}
