// The list of tweaks. Only what is seen is in the document, with a little above and below, however many there are.

import { make, setAttribute } from "./dom.js";
import { Row } from "./row.js";

const overscan = 6;
const narrowWidth = 600;
const mediumWidth = 800;

export class List {
  #page;
  #scroller;
  #list;
  #items = [];
  #offsets = new Float64Array(1);
  #places = new Map();
  #views = new Map();
  #frame = 0;
  #beyondTimer = 0;
  #dirty = new Set();
  #heights;
  #height = 0;
  #makeHeading;
  /** Is called when other rows are on the screen. */
  onShown = () => {};

  constructor(page, scroller, list, makeHeading) {
    this.#page = page;
    this.#scroller = scroller;
    this.#list = list;
    this.#makeHeading = makeHeading;
    this.#measure();
    scroller.addEventListener("scroll", () => this.#schedule(), { passive: true });
    new ResizeObserver(() => {
      if (this.#measure()) this.#layOut();
      this.#schedule();
    }).observe(scroller);
    list.addEventListener("keydown", (event) => this.#onKey(event));
    list.addEventListener("focusout", () => this.#schedule());
  }

  /** Takes the heights of the width that there is. Returns whether they are others. */
  #measure() {
    const width = this.#scroller.clientWidth;
    this.#height = this.#scroller.clientHeight;
    const isNarrow = width < narrowWidth;
    const isCoarse = matchMedia("(pointer: coarse)").matches;
    const layout = `${isNarrow ? "narrow" : width < mediumWidth ? "medium" : "wide"} ${isCoarse ? "coarse" : "fine"}`;
    if (this.#list.dataset.layout === layout) return false;
    this.#list.dataset.layout = layout;
    this.#heights = { row: isNarrow ? (isCoarse ? 100 : 84) : (isCoarse ? 56 : 46), heading: 40, program: 60 };
    return true;
  }

  /** Shows other items. What was at the top stays there, so that nothing jumps. */
  show(items) {
    // From here on to ask where anything is would have the browser lay out what is half done.
    const anchor = this.#anchor();
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
      view.element.remove();
      this.#views.delete(id);
    }
    this.#places = ids;
    this.#layOut();
    if (anchor) {
      const index = ids.get(anchor.id);
      if (index !== undefined) this.#scroller.scrollTop = this.#offsets[index] + anchor.distance;
      top = this.#scroller.scrollTop;
    }
    // What is seen comes first, and what is beyond when that is on the screen.
    this.#render(0, top);
    clearTimeout(this.#beyondTimer);
    this.#beyondTimer = setTimeout(() => this.#schedule(), 50);
  }

  #anchor() {
    const { scrollTop } = this.#scroller;
    if (scrollTop <= 0 || this.#items.length === 0) return undefined;
    const item = this.#items[this.#indexAt(scrollTop)];
    return item && { id: item.id, distance: scrollTop - this.#offsets[this.#places.get(item.id)] };
  }

  #layOut() {
    const offsets = new Float64Array(this.#items.length + 1);
    this.#items.forEach((item, index) => { offsets[index + 1] = offsets[index] + this.#heights[item.kind]; });
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
      // Where somebody is at work nothing is taken away.
      if (view.element.contains(document.activeElement) || view.row?.isBusy) {
        wanted.add(id);
        continue;
      }
      view.element.remove();
      this.#views.delete(id);
    }
    let isOther = false;
    let previous = null;
    for (let index = from; index < to; index += 1) {
      const item = this.#items[index];
      let view = this.#views.get(item.id);
      if (!view) {
        view = this.#makeView(item);
        this.#views.set(item.id, view);
        // The order in the document is the order on the screen, for Tab and for screen readers.
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
    if (isOther) this.onShown();
  }

  #place(view, index) {
    const top = this.#offsets[index];
    if (view.top !== top) {
      view.top = top;
      view.element.style.transform = `translateY(${top}px)`;
      view.element.style.height = `${this.#heights[view.item.kind]}px`;
    }
    setAttribute(view.element, "aria-setsize", this.#items.length);
    setAttribute(view.element, "aria-posinset", index + 1);
  }

  #makeView(item) {
    if (item.kind === "row") {
      const row = new Row(this.#page, item.tweak, item.depth);
      return { item, row, element: row.element };
    }
    return { item, element: make("li", { class: `list-${item.kind}` }, this.#makeHeading(item)) };
  }

  /** A tweak has another value. */
  changed(tweak) {
    if (!this.#views.has(tweak.id)) return;
    this.#dirty.add(tweak.id);
    this.#schedule();
  }

  /** Everything may look otherwise, as with another star. */
  refresh() {
    for (const id of this.#views.keys()) this.#dirty.add(id);
    this.#schedule();
  }

  /** Makes all rows anew, as when others belong together. */
  rebuild() {
    for (const view of this.#views.values()) view.element.remove();
    this.#views.clear();
    this.#render();
  }

  /** Follows the samples of rows that show them. */
  updateLive() {
    for (const { row } of this.#views.values()) if (row?.isLive) row.updateLive();
  }

  /** The ids of the tweaks whose rows are there. */
  get shownTweaks() {
    return [...this.#views.values()].filter(({ row }) => row).map(({ row }) => row.tweak);
  }

  get isBusy() {
    return [...this.#views.values()].some(({ row }) => row?.isBusy);
  }

  /** Brings a row to the screen. Returns whether there is one. */
  reveal(id, { focus = false } = {}) {
    const index = this.#places.get(id);
    if (index === undefined) return false;
    const { scrollTop, clientHeight } = this.#scroller;
    const top = this.#offsets[index];
    const bottom = this.#offsets[index + 1];
    if (top < scrollTop + 8 || bottom > scrollTop + clientHeight - 8) {
      this.#scroller.scrollTop = Math.max(0, focus === "name" ? (top < scrollTop ? top - 50 : bottom - clientHeight + 50)
        : top - clientHeight / 3);
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

  /** Arrows on the name of a row go to the next one; single keys are commands for the row. */
  #onKey(event) {
    const element = event.target.closest(".row");
    if (!element || event.ctrlKey || event.metaKey || event.altKey) return;
    const id = `${element.dataset.program}\n${element.dataset.tweak}`;
    const index = this.#places.get(id);
    const tweak = this.#items[index]?.tweak;
    if (!tweak) return;
    if (!event.target.classList.contains("row-name")) return;
    const page = Math.max(1, Math.floor(this.#scroller.clientHeight / this.#heights.row) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.#items.length, End: this.#items.length };
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
    const command = {
      r: "resetTweak", s: "toggleStar", g: "toggleGraph", c: "copyCommand", l: "copyLink",
    }[event.key];
    if (!command) return;
    event.preventDefault();
    event.stopPropagation();
    this.#page.commands[command](tweak);
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
