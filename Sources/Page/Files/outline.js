// SPDX-License-Identifier: BSD-3-Clause

// The outline beside the list: programs with their categories and collections, or their groups.

import { iconButton, make } from "./dom.js";
import { outlineOf, sortedPrograms } from "./finding.js";
import { counted, shown } from "./names.js";

const mostNodes = 400;
const mostOpen = 40;
/** The key of the node of stopped programs. No program has this ID. */
const stoppedKey = "\n";

/** The state of a program in a few words. */
export const stateText = (program) =>
  whose(program) + ({
    running: "running",
    silent: "not responding",
    memory: "without the library",
    offline: endText(program.description ?? program) || "not running"
  }[program.state] ?? program.state);

/** When a program ended, and its process ID; empty if unknown. */
export function endText({ ended, lastPid }) {
  if (!ended) return "";
  const time = new Date(ended * 1000);
  const isToday = time.toDateString() === new Date().toDateString();
  const text = isToday
    ? time.toLocaleTimeString("en-GB")
    : time.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
  return `ended ${isToday ? "at" : "on"} ${text}${lastPid ? `, process ${lastPid}` : ""}`;
}

/** The user of a program that belongs to another user. */
export const whose = ({ description, user = description?.user }) => (user ? `of ${shown(user)}, ` : "");

export class Outline {
  /** The parts of the page that it uses. */
  #uses;
  #element;
  #open = new Map();
  #timer = 0;
  #isPressed = false;

  /** @param {import("./page.js").Page} page */
  constructor({ commands, preferences, state }, element) {
    this.#uses = { commands, preferences, state };
    this.#element = element;
    element.addEventListener("keydown", (event) => this.#onKey(event));
    element.addEventListener("pointerdown", () => {
      this.#isPressed = true;
    });
    for (const name of ["pointerup", "pointercancel"])
      addEventListener(name, () => {
        this.#isPressed = false;
      });
  }

  /** Schedules an update. */
  update() {
    if (this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      // Do not replace a node while it is pressed.
      if (this.#isPressed) this.update();
      else this.#render();
    }, 80);
  }

  #render() {
    const { state } = this.#uses;
    const focused = this.#element.contains(document.activeElement)
      ? /** @type {HTMLElement} */ (document.activeElement).dataset.place
      : undefined;
    const list = make("ul", { class: "outline-list" });
    if (state.programs.size > 1) list.append(this.#node({ label: "All programs", scope: {}, level: 0 }));
    const programs = sortedPrograms(state.programs.values());
    const stopped = programs.filter((program) => program.state === "offline");
    list.append(...this.#programNodes(programs.filter((program) => program.state !== "offline")));
    if (stopped.length > 0) list.append(this.#stoppedNode(stopped, stopped.length === programs.length));
    const fleet = state.hasFleet
      ? [
        make(
          "div",
          { class: "outline-line" },
          make("a", { class: "outline-node", href: "fleet.html", text: "Fleet", data: { place: "fleet" } })
        )
      ]
      : [];
    this.#element.replaceChildren(list, ...fleet);
    if (focused !== undefined) {
      [...this.#element.querySelectorAll("[data-place]")].find(({ dataset }) => dataset.place === focused)?.focus();
    }
  }

  /** The stopped programs, collapsed unless one of them is shown. */
  #stoppedNode(programs, areAll) {
    const { commands, state } = this.#uses;
    const isOpen = this.#open.get(stoppedKey) ?? (areAll || programs.some(({ id }) => id === state.scope.program));
    const toggle = () => this.#toggle(stoppedKey, !isOpen);
    const item = this.#node({
      label: "Not running",
      state: "offline",
      level: 0,
      key: stoppedKey,
      isOpen,
      canOpen: true,
      count: programs.length,
      run: toggle,
      remove: { label: "Remove all stopped programs from the list", run: () => commands.forget(programs) }
    });
    if (isOpen)
      item.append(make("ul", { class: "outline-stopped" }, programs.map((program) => this.#programNode(program))));
    return item;
  }

  /**
   * The nodes of programs in the order of their names. Those of one name are below a node of their own, open if one is
   * shown.
   */
  #programNodes(programs) {
    const named = new Map();
    for (const program of programs)
      named.set(program.description.name, [...(named.get(program.description.name) ?? []), program]);
    return [...named].map(([name, same]) => {
      if (same.length === 1) return this.#programNode(same[0]);
      const key = `\n${name}`;
      const isOpen = this.#open.get(key) ?? same.some(({ id }) => id === this.#uses.state.scope.program);
      // The state that asks for attention, if there is one.
      const { state } = same.find((program) => program.state !== "running") ?? same[0];
      const item = this.#node({
        label: `${shown(name)} ×${same.length}`,
        isName: true,
        title: counted(same.length, "program"),
        state,
        level: 0,
        key,
        isOpen,
        canOpen: true,
        run: () => this.#toggle(key, !isOpen)
      });
      if (isOpen)
        item.append(make("ul", { class: "outline-stopped" }, same.map((program) => this.#programNode(program))));
      return item;
    });
  }

  #programNode(program) {
    const { byGroup } = this.#uses.preferences;
    const isShown = this.#uses.state.scope.program === program.id || this.#uses.state.programs.size === 1;
    const isOpen = program.isLoaded && (this.#open.get(program.id) ?? isShown);
    const nodes = isOpen ? outlineOf(program, byGroup) : [];
    const total = nodes.reduce((sum, node) => sum + 1 + node.children.length, 0);
    const changed = nodes.reduce((sum, node) => sum + node.changed, 0);
    const { name, executable, pid, isGone } = program.description;
    const isStopped = program.state === "offline";
    const hasDouble = [...this.#uses.state.programs.values()].some((other) =>
      other !== program && other.description.name === name
    );
    const under = [
      isStopped ? endText(program.description) : hasDouble && pid ? `process ${pid}` : "",
      isGone ? "executable deleted" : "",
      (isStopped || hasDouble) && executable ? shown(executable) : ""
    ].filter(Boolean).join(" · ");
    const item = this.#node({
      label: shown(name),
      detail: isStopped ? "" : stateText(program),
      under,
      state: program.state,
      scope: { program: program.id },
      level: 0,
      key: program.id,
      isOpen,
      canOpen: true,
      changed,
      remove: isStopped
        ? { label: `Remove ${shown(name)} from the list`, run: () => this.#uses.commands.forget([program]) }
        : undefined
    });
    if (isOpen) {
      item.append(
        make(
          "ul",
          {},
          nodes.slice(0, mostNodes).map((node) => this.#branch(program, node, total <= mostOpen)),
          nodes.length > mostNodes
            ? make("li", { class: "outline-more", text: `${nodes.length - mostNodes} more; use search` })
            : undefined
        )
      );
    }
    return item;
  }

  #branch(program, node, opensAll) {
    const scope = node.group !== undefined
      ? { program: program.id, group: node.group }
      : { program: program.id, category: node.category };
    const key = `${program.id}\n${node.label}`;
    const isChosen = this.#uses.state.scope.program === program.id &&
      this.#uses.state.scope.category === node.category &&
      node.category !== undefined;
    const canOpen = node.children.length > 0;
    const isOpen = canOpen && (this.#open.get(key) ?? (opensAll || isChosen));
    const item = this.#node({ ...node, total: node.count, count: undefined, scope, level: 1, key, canOpen, isOpen });
    if (isOpen) {
      item.append(make(
        "ul",
        {},
        node.children.slice(0, mostNodes).map((child) =>
          this.#node({
            ...child,
            total: child.count,
            count: undefined,
            scope: { program: program.id, category: child.category, collection: child.collection },
            level: 2
          })
        )
      ));
    }
    return item;
  }

  #node(
    /** @type {any} */ {
      label,
      detail,
      total,
      under,
      state,
      scope,
      level,
      key,
      isOpen,
      canOpen,
      count,
      changed,
      run,
      remove,
      title,
      isName = scope?.program !== undefined
    }
  ) {
    const current = this.#uses.state.scope;
    const place = scope ? JSON.stringify(scope) : key;
    const isCurrent = scope &&
      ["program", "category", "collection", "group"].every((name) => current[name] === scope[name]);
    const button = make(
      "button",
      {
        class: "outline-node",
        "aria-current": isCurrent ? "true" : undefined,
        data: { place, key, state: state ?? "" },
        title: title ?? (total ? counted(total, "tweak") : under || undefined),
        onclick: run ?? (() => this.#uses.commands.showScope(scope))
      },
      state ? make("span", { class: `state-dot ${state}`, "aria-hidden": "true" }) : undefined,
      make(
        "span",
        { class: "outline-texts" },
        make("span", { class: "outline-label", text: label, translate: isName && "no" }),
        under ? make("span", { class: "outline-under", text: under }) : undefined
      ),
      detail && state !== "running" ? make("span", { class: "outline-detail", text: detail }) : undefined,
      changed ? make("span", { class: "count is-changed", text: changed, title: `${changed} changed` }) : undefined,
      count ? make("span", { class: "count", text: count, title: counted(count, "program") }) : undefined
    );
    const toggle = canOpen
      ? make("button", {
        class: "outline-toggle",
        tabindex: "-1",
        "aria-label": `${isOpen ? "Collapse" : "Expand"} ${label}`,
        "aria-expanded": String(isOpen),
        onclick: () => this.#toggle(key, !isOpen)
      })
      : undefined;
    return make(
      "li",
      { class: `outline-item level-${level}` },
      make(
        "div",
        { class: "outline-line" },
        toggle,
        button,
        remove ? iconButton("close", remove.label, remove.run, { class: "outline-remove" }) : undefined
      )
    );
  }

  #toggle(key, isOpen) {
    this.#open.set(key, isOpen);
    const program = this.#uses.state.programs.get(key);
    if (program && isOpen && !program.isLoaded) this.#uses.commands.load(program.id);
    this.#render();
  }

  #onKey(event) {
    const node = event.target.closest(".outline-node");
    if (!node) return;
    const nodes = [...this.#element.querySelectorAll(".outline-node")];
    const at = nodes.indexOf(node);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: nodes.length - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      nodes[Math.min(nodes.length - 1, Math.max(0, to))].focus();
    } else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      const toggle = node.parentElement.querySelector(".outline-toggle");
      if (!toggle) return;
      event.preventDefault();
      if ((toggle.getAttribute("aria-expanded") === "true") !== (event.key === "ArrowRight")) toggle.click();
    }
  }
}
