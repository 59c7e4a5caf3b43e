// SPDX-License-Identifier: BSD-3-Clause

// The virtual list of tweaks: only visible rows, and a few above and below, are in the document.

import { focusedRow, make, setAttribute } from "./dom.js";
import { isInScope } from "./finding.js";
import { tweakCommand } from "./keys.js";
import { shown } from "./names.js";
import { Row } from "./row.js";
import { depthOf } from "./tweaks.js";

const overscan = 6;
/** Below these widths, in multiples of the text size, a row has two lines, or less space in one. */
const narrowWidth = 46;
const mediumWidth = 62;

/** The layout of rows in a width in CSS pixels, for a size of text. */
export const shapeOf = (
  width,
  size
) => (width < narrowWidth * size ? "narrow" : width < mediumWidth * size ? "medium" : "wide");

export class List {
  /** The parts of the page that it uses. */
  #uses;
  #scroller;
  #list;
  #items = [];
  #offsets = new Float64Array(1);
  #places = new Map();
  #views = new Map();
  #frame = 0;
  #beyondTimer = 0;
  #dirty = new Set();
  /** The measured heights of items by ID, and the smallest by kind, assumed for items not yet measured. */
  #measured = new Map();
  #usual = {};
  #seen = new Set();
  #viewOf = new WeakMap();
  #sizes = new ResizeObserver((entries) => this.#remeasure(entries));
  #height = 0;
  #text = { font: "", size: 0 };
  /** What the column of names was fitted to: programs, scope, and all on which its width depends. */
  #fitted = { programs: /** @type {any[]} */ ([]), scope: /** @type {any} */ ({}), parts: /** @type {any[]} */ ([]) };
  #isDragging = false;
  #makeHeading;
  /** Called when different rows become visible. */
  onShown = () => {};

  /** @param {import("./page.js").Page} page */
  constructor({ api, commands, editing, notices, samples, state }, scroller, list, makeHeading) {
    this.#uses = { api, commands, editing, notices, samples, state };
    this.#scroller = scroller;
    this.#list = list;
    this.#makeHeading = makeHeading;
    this.#measure();
    scroller.addEventListener("scroll", () => this.#schedule(), { passive: true });
    new ResizeObserver(() => {
      this.fit();
      this.#schedule();
    }).observe(scroller);
    list.addEventListener("keydown", (event) => this.#onKey(event));
    list.addEventListener("focusout", () => this.#schedule());
  }

  /** Chooses the layout again, after a change of the width or of the height of rows. */
  fit() {
    if (this.#measure()) {
      this.fitNames();
      this.#layOut();
      // A row whose height is the same is measured again, too.
      for (const { element } of this.#views.values()) {
        this.#sizes.unobserve(element);
        this.#sizes.observe(element);
      }
    }
    this.#schedule();
  }

  /**
   * Chooses the layout for the width, the text size and the height of rows. Returns whether it has changed, and with it
   * the heights.
   */
  #measure() {
    const width = this.#scroller.clientWidth;
    this.#height = this.#scroller.clientHeight;
    const isCoarse = matchMedia("(pointer: coarse)").matches;
    const { fontSize, fontFamily } = getComputedStyle(document.documentElement);
    const size = Number.parseFloat(fontSize);
    this.#text = { font: fontFamily, size };
    const shape = shapeOf(width, size);
    const layout = `${shape} ${isCoarse ? "coarse" : "fine"} ${size}`;
    if (this.#list.dataset.layout === layout) return false;
    this.#list.dataset.layout = layout;
    this.#measured.clear();
    // Estimates until an item of each kind is measured.
    this.#usual = { row: (shape === "narrow" ? 5 : 2.3077) * size, heading: 2 * size, program: 4.5 * size };
    this.#seen.clear();
    return true;
  }

  /** Records the new heights of items before the browser paints them. */
  #remeasure(entries) {
    const anchor = this.#anchor();
    let isOther = false;
    for (const { target, borderBoxSize } of entries) {
      const item = this.#viewOf.get(target)?.item;
      const height = Math.ceil(borderBoxSize[0].blockSize);
      if (!item || height === 0) continue;
      const usual = this.#usual[item.kind];
      const least = this.#seen.has(item.kind) ? Math.min(usual, height) : height;
      isOther ||= height !== this.#heightOf(item) || least !== usual;
      this.#measured.set(item.id, height);
      this.#usual[item.kind] = least;
      this.#seen.add(item.kind);
    }
    if (!isOther) return;
    this.#layOut();
    this.#keep(anchor);
    for (const [id, view] of this.#views) if (this.#places.has(id)) this.#place(view, this.#places.get(id));
    this.#schedule();
  }

  /**
   * Makes the column of names as wide as the longest name or description in a scope, within limits that the style sets.
   * A search
   * does not change it, and costs no measuring.
   */
  fitNames(programs = this.#fitted.programs, scope = this.#fitted.scope) {
    const { font, size } = this.#text;
    const parts = [font, size, JSON.stringify(scope), ...programs.map(({ tweaks }) => tweaks)];
    if (parts.length === this.#fitted.parts.length && parts.every((part, index) => part === this.#fitted.parts[index]))
      return;
    this.#fitted = { programs, scope, parts };
    const context = document.createElement("canvas").getContext("2d");
    const widest = (texts, weight, share) => {
      context.font = `${weight} ${size * share}px ${font}`;
      // Few of the longest in characters, because measuring takes long.
      return Math.max(
        0,
        ...texts.sort((one, other) => other.length - one.length).slice(0, 20).map((text) =>
          context.measureText(text).width
        )
      );
    };
    const tweaks = programs.flatMap((program) => [...program.tweaks.values()]).filter((tweak) =>
      isInScope(tweak, scope)
    );
    const names = widest(tweaks.map((tweak) => tweak.label + "m".repeat(scope.row ? 0 : depthOf(tweak) * 2)), 600, 1);
    const descriptions = widest(
      tweaks.flatMap(({ description }) => description ? [shown(description)] : []),
      400,
      0.923
    );
    this.#list.style.setProperty("--names", `${Math.ceil(Math.max(names, descriptions)) + 16}px`);
  }

  /** Replaces the items. The anchor keeps its place, so that nothing jumps. */
  show(items, { isStill = false } = {}) {
    // Read positions before changing the document, because reading later would force a layout.
    const anchor = this.#anchor(isStill);
    let top = 0;
    this.#items = items;
    const ids = new Map();
    for (let index = 0; index < items.length; index += 1) ids.set(items[index].id, index);
    for (const [id, view] of this.#views) {
      const index = ids.get(id);
      if (index !== undefined && items[index].tweak === view.item.tweak && items[index].kind === view.item.kind) {
        const isOther = view.item.kind !== "row" && items[index] !== view.item;
        view.item = items[index];
        if (!isOther) continue;
      }
      this.#remove(id, view);
    }
    this.#places = ids;
    this.#layOut();
    if (anchor) top = this.#keep(anchor);
    // Render the visible rows first, and those beyond once they are on the screen.
    this.#render(0, top);
    this.#reorder();
    clearTimeout(this.#beyondTimer);
    this.#beyondTimer = setTimeout(() => this.#schedule(), 50);
  }

  /** Matches the order in the document to that on the screen, after rows have changed places. */
  #reorder() {
    // Moving an element takes its focus, which would accept what is being typed.
    if (this.#isDragging || this.isBusy) return;
    const placed = [...this.#views].filter(([id]) => this.#places.has(id)).sort(([one], [other]) =>
      this.#places.get(one) - this.#places.get(other)
    );
    const inDocument = [...this.#list.children];
    if (placed.every(([, { element }], index) => inDocument[index] === element)) return;
    const focused = /** @type {HTMLElement} */ (document.activeElement);
    const hadFocus = this.#list.contains(focused);
    this.#list.append(...placed.map(([, { element }]) => element));
    if (hadFocus && document.activeElement !== focused) focused.focus({ preventScroll: true });
  }

  /**
   * Lets the pointer, now at this height, move a starred row to the places of others; `move` takes the tweak at such a
   * place.
   */
  drag(tweak, from, move) {
    this.#isDragging = true;
    const ending = new AbortController();
    const { signal } = ending;
    let last = from;
    addEventListener("pointermove", ({ clientY }) => {
      const index = this.#indexAt(clientY - this.#list.getBoundingClientRect().top);
      // A row passes a taller one only once, although the pointer is still above that.
      const isAhead = (index - this.#places.get(tweak.id)) * (clientY - last) > 0;
      last = clientY;
      const { kind, tweak: other } = this.#items[index] ?? {};
      if (isAhead && kind === "row" && other.program === tweak.program) move(other);
    }, { signal });
    const end = () => {
      ending.abort();
      this.#isDragging = false;
      this.#reorder();
    };
    addEventListener("pointerup", end, { signal });
    addEventListener("pointercancel", end, { signal });
  }

  /**
   * The item that keeps its place on the screen when heights change: the focused row, or the first visible one.
   *
   * - isStill: whether the focused row may leave.
   */
  #anchor(isStill = false) {
    const { scrollTop } = this.#scroller;
    if (scrollTop <= 0 || this.#items.length === 0) return undefined;
    const focused = this.#places.get(this.#viewOf.get(focusedRow())?.item.id);
    const isSeen = this.#offsets[focused] >= scrollTop && this.#offsets[focused] < scrollTop + this.#height;
    const first = this.#indexAt(scrollTop);
    const item = this.#items[!isStill ? (isSeen ? focused : first) : first === focused ? first + 1 : first];
    return item && { id: item.id, distance: scrollTop - this.#offsets[this.#places.get(item.id)] };
  }

  /** Scrolls the anchor back to its place. Returns the scroll position. */
  #keep(anchor) {
    const index = anchor && this.#places.get(anchor.id);
    if (index !== undefined) this.#scroller.scrollTop = this.#offsets[index] + anchor.distance;
    return this.#scroller.scrollTop;
  }

  #remove(id, view) {
    this.#sizes.unobserve(view.element);
    view.element.remove();
    this.#views.delete(id);
  }

  #heightOf({ id, kind }) {
    return this.#measured.get(id) ?? this.#usual[kind];
  }

  #layOut() {
    const offsets = new Float64Array(this.#items.length + 1);
    this.#items.forEach((item, index) => {
      offsets[index + 1] = offsets[index] + this.#heightOf(item);
    });
    this.#offsets = offsets;
    this.#list.style.height = `${offsets[this.#items.length]}px`;
    for (const view of this.#views.values()) view.top = undefined;
  }

  #indexAt(top) {
    let low = 0;
    let high = this.#items.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#offsets[middle] <= top) low = middle;
      else high = middle - 1;
    }
    return Math.max(0, low);
  }

  #schedule() {
    if (this.#frame) return;
    const run = () => {
      this.#frame = 0;
      this.#render();
    };
    this.#frame = document.visibilityState === "hidden" ? setTimeout(run, 50) : requestAnimationFrame(run);
  }

  #render(beyond = overscan, top = this.#scroller.scrollTop) {
    const from = Math.max(0, this.#indexAt(top) - beyond);
    const to = Math.min(this.#items.length, this.#indexAt(top + this.#height) + 1 + beyond);
    const wanted = new Set();
    for (let index = from; index < to; index += 1) wanted.add(this.#items[index].id);
    for (const [id, view] of this.#views) {
      if (wanted.has(id)) continue;
      // Keep a row that is in use.
      if (view.element.contains(document.activeElement) || view.row?.isBusy) {
        wanted.add(id);
        continue;
      }
      this.#remove(id, view);
    }
    let isOther = false;
    let previous = null;
    for (let index = from; index < to; index += 1) {
      const item = this.#items[index];
      let view = this.#views.get(item.id);
      if (!view) {
        view = this.#makeView(item);
        this.#views.set(item.id, view);
        // Match the order on the screen, for Tab and screen readers.
        if (previous) previous.after(view.element);
        else this.#list.prepend(view.element);
        isOther = true;
      }
      previous = view.element;
      this.#place(view, index);
    }
    for (const [id, view] of this.#views) {
      const index = this.#places.get(id);
      if (index !== undefined && (index < from || index >= to)) this.#place(view, index);
    }
    for (const id of this.#dirty) this.#views.get(id)?.row?.update();
    this.#dirty.clear();
    this.#emphasise();
    if (isOther) this.onShown();
  }

  /** Marks what a search has found in the names and the lines below them. */
  #emphasise() {
    const { Highlight, CSS } = /** @type {any} */ (globalThis);
    // Not in all browsers.
    if (!Highlight) return;
    const found = new Highlight();
    const { words } = this.#uses.state.query;
    if (words.length > 0) {
      for (const text of this.#list.querySelectorAll(".row-label, .row-under")) {
        const node = text.firstChild;
        const content = node?.nodeValue.toLowerCase();
        // A letter that has another length in lower case would shift what follows it.
        if (!content || content.length !== node.nodeValue.length) continue;
        for (const word of words) {
          for (let at = content.indexOf(word); at >= 0; at = content.indexOf(word, at + word.length)) {
            found.add(
              new StaticRange({
                startContainer: node,
                startOffset: at,
                endContainer: node,
                endOffset: at + word.length
              })
            );
          }
        }
      }
    }
    CSS.highlights.set("found", found);
  }

  #place(view, index) {
    const top = this.#offsets[index];
    if (view.top !== top) {
      view.top = top;
      view.element.style.transform = `translateY(${top}px)`;
    }
    setAttribute(view.element, "aria-setsize", this.#items.length);
    setAttribute(view.element, "aria-posinset", index + 1);
  }

  #makeView(item) {
    const row = item.kind === "row" ? new Row(this.#uses, item.tweak, item.depth, this) : undefined;
    const element = row?.element ?? make("li", { class: `list-${item.kind}` }, this.#makeHeading(item));
    const view = { item, row, element };
    this.#viewOf.set(element, view);
    this.#sizes.observe(element);
    return view;
  }

  /** Updates the row of a tweak that has changed. */
  changed(tweak) {
    if (!this.#views.has(tweak.id)) return;
    this.#dirty.add(tweak.id);
    this.#schedule();
  }

  /** Updates all rows. */
  refresh() {
    for (const id of this.#views.keys()) this.#dirty.add(id);
    this.#schedule();
  }

  /** Recreates all rows, as after a change of pairs. */
  rebuild() {
    for (const [id, view] of this.#views) this.#remove(id, view);
    this.#render();
  }

  /** Whether there are graphs to draw, as in a panel, which takes the place of the list. */
  hasGraphs = false;
  drawGraphs() {}

  /** Updates the rows that show samples. */
  updateLive() {
    for (const { row } of this.#views.values()) if (row?.isLive) row.updateLive();
  }

  /** The tweaks whose rows are in the document. */
  get shownTweaks() {
    return [...this.#views.values()].filter(({ row }) => row).map(({ row }) => row.tweak);
  }

  get isBusy() {
    return [...this.#views.values()].some(({ row }) => row?.isBusy);
  }

  /** Scrolls a row into view. Returns `false` if there is none. */
  reveal(id, /** @type {{ focus?: boolean | "name" }} */ { focus = false } = {}) {
    const index = this.#places.get(id);
    if (index === undefined) return false;
    const { scrollTop, clientHeight } = this.#scroller;
    const top = this.#offsets[index];
    const bottom = this.#offsets[index + 1];
    if (top < scrollTop + 8 || bottom > scrollTop + clientHeight - 8) {
      this.#scroller.scrollTop = Math.max(
        0,
        focus === "name" ? (top < scrollTop ? top - 50 : bottom - clientHeight + 50) : top - clientHeight / 3
      );
    }
    this.#render();
    const row = this.#views.get(id)?.row;
    if (focus === "name") row?.focusName();
    else if (focus) row?.focusControl();
    return true;
  }

  focusFirst() {
    const item = this.#items.find(({ kind }) => kind === "row");
    if (item) this.reveal(item.id, { focus: "name" });
  }

  /** Handles keys on the name of a row: arrows move to other rows, single keys are commands. */
  #onKey(event) {
    const element = event.target.closest(".row");
    if (!element || event.ctrlKey || event.metaKey) return;
    const id = `${element.dataset.program}\n${element.dataset.tweak}`;
    const index = this.#places.get(id);
    const tweak = this.#items[index]?.tweak;
    if (!tweak) return;
    const isGrip = event.target.classList.contains("row-grip");
    if (isGrip || (event.altKey && event.target.classList.contains("row-name"))) {
      const way = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!way || !this.#uses.commands.isStarred(tweak)) return;
      event.preventDefault();
      this.#uses.commands.moveStar(tweak, way);
      return;
    }
    if (event.altKey || !event.target.classList.contains("row-name")) return;
    const page = Math.max(1, Math.floor(this.#scroller.clientHeight / this.#usual.row) - 1);
    const steps = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -this.#items.length,
      End: this.#items.length
    };
    if (event.key in steps) {
      event.preventDefault();
      const next = this.#nextRow(index, steps[event.key]);
      if (next) this.reveal(next.id, { focus: "name" });
      return;
    }
    if (event.key === "ArrowRight") {
      event.preventDefault();
      this.#views.get(id)?.row?.focusControl();
      return;
    }
    const command = tweakCommand(event);
    if (!command) return;
    event.preventDefault();
    event.stopPropagation();
    this.#uses.commands[command](tweak);
  }

  #nextRow(index, steps) {
    const last = this.#items.length - 1;
    const direction = Math.sign(steps);
    let at = Math.min(last, Math.max(0, index + steps));
    while (at >= 0 && at <= last && this.#items[at].kind !== "row") at += direction;
    if (this.#items[at]?.kind === "row") return this.#items[at];
    at = Math.min(last, Math.max(0, index + steps));
    while (at >= 0 && at <= last && this.#items[at].kind !== "row") at -= direction;
    return this.#items[at];
  }
}
