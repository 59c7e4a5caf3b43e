// SPDX-License-Identifier: BSD-3-Clause

// Arranges a panel: items are added, removed, and moved with the pointer or with arrow keys.

import { icon, iconButton, make, setAttribute, setText, textButton } from "../dom.js";
import { hasWords, sortedTweaks, wordsOf } from "../finding.js";
import { shown } from "../names.js";
import { mostSeries } from "../plotting.js";
import { openDialog, openMenu } from "../popups.js";
import { isDrawable } from "../tweaks.js";
import { spans, spanText } from "../zooming.js";
import {
  inserted,
  isColumn,
  kindOf,
  mostColumns,
  moved,
  nextPlace,
  removed,
  replaced,
  secondsOf,
  withoutColumn
} from "./content.js";

/** A pointer that moves less, in CSS pixels, has not dragged. */
const leastDrag = 5;
/** Near an edge of this height, in CSS pixels, the panel scrolls during a drag. */
const edge = 40;
/** The most tweaks to choose from without another search. */
const mostChoices = 100;

/** The names under which the item at a place is announced. */
const placeName = (columns, { column, index }) => `column ${column + 1}, ${index + 1} of ${columns[column].length}`;

export class Arranging {
  #notices;
  #state;
  #view;
  #parts;
  isDragging = false;

  /** @param {import("../page.js").Parts<"notices" | "state">} parts */
  constructor({ notices, state }, view, element, { name, place }) {
    this.#notices = notices;
    this.#state = state;
    this.#view = view;
    const option = (value, text) => make("option", { value, text, selected: value === place });
    const parts = (this.#parts = {
      name: make("input", {
        type: "text",
        maxlength: 100,
        autocomplete: "off",
        "aria-label": "Name of the panel",
        value: name,
        onkeydown: (event) => {
          if (event.key !== "Enter") return;
          // A question that is asked now would be answered.
          event.preventDefault();
          this.#save();
        }
      }),
      place: make(
        "select",
        { "aria-label": "Where it is saved", title: "Where it is saved" },
        option("user", "For me"),
        option("sources", "Beside the sources")
      ),
      addColumn: textButton("Add a column", () => this.#addColumn())
    });
    element.replaceChildren(
      parts.name,
      parts.place,
      textButton("Save", () => this.#save(), { class: "button main" }),
      textButton("Discard", () => view.discard()),
      parts.addColumn,
      make("p", { class: "who", text: "Drag a handle, or focus it and press the arrow keys; Delete removes." })
    );
  }

  get name() {
    return this.#parts.name.value.trim();
  }

  get place() {
    return this.#parts.place.value;
  }

  focus() {
    this.#parts.name.focus();
  }

  #save() {
    if (this.name) this.#view.save();
    else this.focus();
  }

  #addColumn() {
    const { columns } = this.#view;
    this.#view.change([...columns, []]);
    this.#notices.whisper(`Column ${columns.length + 1} added`);
  }

  /** The head of a column, with a button that removes it. */
  columnHead(items, column) {
    setAttribute(this.#parts.addColumn, "disabled", this.#view.columns.length >= mostColumns ? "" : undefined);
    const canGo = isColumn(items) && this.#view.columns.filter(isColumn).length > 1;
    return make(
      "div",
      { class: "panel-column-head" },
      make("span", { class: "who", text: `Column ${column + 1}` }),
      canGo
        ? iconButton("close", `Remove column ${column + 1}`, () => {
          this.#view.change(withoutColumn(this.#view.columns, column));
          this.#notices.say(
            items.length > 0
              ? `Column ${column + 1} removed; its items are in the next one`
              : `Column ${column + 1} removed`
          );
          this.focus();
        })
        : undefined
    );
  }

  /** The button that adds items to a column. */
  columnFoot(column) {
    return make(
      "button",
      {
        type: "button",
        class: "button with-icon panel-add",
        "aria-haspopup": "menu",
        "aria-expanded": "false",
        "aria-label": `Add to column ${column + 1}`,
        onclick: (event) =>
          openMenu(event.currentTarget, "Add", [
            { label: "Tweaks…", run: () => this.#addTweaks(column) },
            {
              label: "Graph…",
              run: () => this.#chooseGraph("Add a graph", "Add", { graph: [] }, (item) => this.#add(column, item))
            },
            { label: "Heading", run: () => this.#add(column, { heading: "" }) }
          ])
      },
      icon("plus"),
      make("span", { text: "Add" })
    );
  }

  /** The parts of an item: a handle, what it shows, and buttons. */
  itemParts(view, name, body) {
    const { place, item } = view;
    const grip = iconButton("grip", `Move ${name}`, undefined, {
      class: "panel-grip",
      onpointerdown: (event) => event.button === 0 && this.#drag(event, view, name)
    });
    grip.title = "Drag, or press the arrow keys";
    grip.addEventListener("keydown", (event) => this.#onKey(event, view, name));
    return [
      grip,
      body,
      make(
        "span",
        { class: "panel-item-buttons" },
        kindOf(item) === "graph"
          ? iconButton("graph", `Edit ${name}`, () =>
            this.#chooseGraph("Edit the graph", "Apply", item, (next) => {
              this.#view.change(replaced(this.#view.columns, place, next));
              this.#focusAt(place);
            }))
          : undefined,
        iconButton("close", `Remove ${name}`, () => this.#remove(place, name))
      )
    ];
  }

  /** The field with the text of a heading. */
  headingField(item, place) {
    return make("input", {
      type: "text",
      class: "panel-heading-field",
      maxlength: 100,
      autocomplete: "off",
      placeholder: "Heading",
      "aria-label": "Heading",
      value: item.heading,
      oninput: (event) =>
        this.#view.put(
          replaced(this.#view.columns, place, {
            ...this.#view.columns[place.column][place.index],
            heading: event.target.value
          })
        )
    });
  }

  #add(column, ...items) {
    if (items.length === 0) return;
    const index = this.#view.columns[column].length;
    this.#view.change(inserted(this.#view.columns, { column, index }, ...items));
    this.#focusAt({ column, index }, kindOf(items[0]) === "heading" ? ".panel-heading-field" : undefined);
    this.#notices.whisper(
      `${items.length === 1 ? "Item" : `${items.length} items`} added, ${
        placeName(this.#view.columns, { column, index })
      }`
    );
  }

  #remove(place, name) {
    const { columns } = this.#view;
    this.#view.change(removed(columns, place));
    const left = this.#view.columns[place.column].length;
    if (left > 0) this.#focusAt({ ...place, index: Math.min(place.index, left - 1) });
    else this.#view.columnElement(place.column).querySelector(".panel-add").focus();
    this.#notices.say(`${name} removed`, {
      label: "Undo",
      run: () => this.#view.arranging === this && this.#view.change(columns)
    });
  }

  #focusAt({ column, index }, selector = ".panel-grip") {
    const element = this.#view.columnElement(column).querySelectorAll(".panel-item")[index];
    element?.querySelector(selector)?.focus({ preventScroll: true });
    element?.scrollIntoView({ block: "nearest" });
  }

  #move(from, to, name) {
    const { columns, place } = moved(this.#view.columns, from, to);
    this.#view.change(columns);
    this.#focusAt(place);
    this.#notices.whisper(`${name}: ${placeName(columns, place)}`);
  }

  #onKey(event, { place }, name) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Delete" || event.key === "Backspace") {
      event.preventDefault();
      this.#remove(place, name);
      return;
    }
    if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    const to = nextPlace(this.#view.columns, place, event.key);
    if (to) this.#move(place, to, name);
  }

  /** Follows the pointer with a line where the item would go, and moves it at the end. Escape cancels. */
  #drag(event, { place, element }, name) {
    const ending = new AbortController();
    const { signal } = ending;
    const start = { x: event.clientX, y: event.clientY };
    const line = make("li", { class: "panel-drop", "aria-hidden": "true" });
    let to;
    const end = () => {
      ending.abort();
      line.remove();
      this.isDragging = false;
      element.classList.remove("is-dragged");
    };
    addEventListener("pointermove", ({ clientX, clientY, pointerId }) => {
      if (pointerId !== event.pointerId) return;
      if (!this.isDragging && Math.hypot(clientX - start.x, clientY - start.y) < leastDrag) return;
      this.isDragging = true;
      element.classList.add("is-dragged");
      this.#view.scrollNear(clientY, edge);
      to = this.#showDrop(line, clientX, clientY);
    }, { signal });
    addEventListener("pointerup", ({ pointerId }) => {
      if (pointerId !== event.pointerId) return;
      const wanted = this.isDragging && to;
      end();
      if (wanted) this.#move(place, wanted, name);
    }, { signal });
    addEventListener("pointercancel", end, { signal });
    addEventListener("keydown", (key) => {
      if (key.key !== "Escape") return;
      key.stopImmediatePropagation();
      end();
    }, { signal, capture: true });
  }

  /** Shows the line for a position of the pointer. Returns the place. */
  #showDrop(line, x, y) {
    /** @type {any} */
    let nearest;
    this.#view.columns.forEach((items, column) => {
      if (!isColumn(items)) return;
      const element = this.#view.columnElement(column);
      const { left, right, top, bottom } = element.getBoundingClientRect();
      const distance = Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom));
      if (!nearest || distance < nearest.distance) nearest = { column, distance, element };
    });
    if (!nearest) return undefined;
    const elements = [...nearest.element.querySelectorAll(".panel-item")];
    const found = elements.findIndex((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      return y < (top + bottom) / 2;
    });
    const index = found < 0 ? elements.length : found;
    if (elements[index]) elements[index].before(line);
    else nearest.element.querySelector(".list").append(line);
    return { column: nearest.column, index };
  }

  #addTweaks(column) {
    const { program } = this.#view;
    chooseTweaks({ notices: this.#notices, state: this.#state }, program, {
      title: "Add tweaks",
      action: "Add",
      done: (keys) => this.#add(column, ...keys.map((tweak) => ({ tweak })))
    });
  }

  #chooseGraph(title, action, item, done) {
    const { program } = this.#view;
    const times = [...new Set([...spans, secondsOf(item)])].sort((one, other) => one - other);
    const seconds = make(
      "select",
      { "aria-label": "Time shown" },
      times.map((time) =>
        make("option", { value: String(time), text: spanText(time), selected: time === secondsOf(item) })
      )
    );
    chooseTweaks({ notices: this.#notices, state: this.#state }, program, {
      title,
      action,
      isWanted: isDrawable,
      chosen: item.graph,
      most: mostSeries,
      extra: make("label", { class: "check" }, make("span", { text: "Time shown" }), seconds),
      done: (graph) => done({ ...item, graph, seconds: Number(seconds.value) })
    });
  }
}

/**
 * Asks for tweaks of a program, in the order in which they are chosen.
 *
 * - chosen: the keys of tweaks that are chosen already.
 * - most: how many can be chosen.
 * - done: called with the keys.
 */
function chooseTweaks(
  { notices, state },
  programId,
  /** @type {any} */ { title, action, isWanted = () => true, chosen = [], most = Infinity, extra, done }
) {
  const program = state.programs.get(programId);
  const keys = [...chosen];
  const before = new Set(chosen);
  const missing = chosen.filter((key) => !program.tweaks.has(key)).map((key) => ({
    key,
    label: shown(key),
    isMissing: true
  }));
  const search = make("input", {
    type: "search",
    placeholder: "Search",
    "aria-label": "Search tweaks",
    autocomplete: "off",
    spellcheck: "false",
    autofocus: true
  });
  const list = make("ul", { class: "panel-choices", "aria-label": "Tweaks" });
  const status = make("p", { class: "who", role: "status" });
  const all = [...sortedTweaks(program).filter(isWanted)];
  const isChosen = ({ key }) => before.has(key);
  const choices = [...missing, ...all.filter(isChosen), ...all.filter((tweak) => !isChosen(tweak))];
  let found = [];

  function toggle(key, isOn) {
    if (!isOn) keys.splice(keys.indexOf(key), 1);
    else if (keys.length < most) keys.push(key);
    else notices.say(`A graph draws at most ${most} lines`);
    show();
  }

  function show() {
    const words = wordsOf(search.value);
    found = choices.filter((tweak) => (tweak.isMissing ? words.length === 0 : hasWords(tweak, words)));
    const focused = /** @type {HTMLElement} */ (document.activeElement)?.dataset.key;
    list.replaceChildren(
      ...found.slice(0, mostChoices).map((tweak) =>
        make(
          "li",
          {},
          make(
            "label",
            { class: "check" },
            make("input", {
              type: "checkbox",
              checked: keys.includes(tweak.key),
              data: { key: tweak.key },
              onchange: (event) => toggle(tweak.key, event.target.checked)
            }),
            make("span", { translate: "no", text: tweak.label }),
            make("span", {
              class: "who",
              translate: tweak.isMissing ? undefined : "no",
              text: tweak.isMissing ? "not declared" : [tweak.category, tweak.collection].map(shown).join(" › ")
            })
          )
        )
      )
    );
    if (focused !== undefined)
      [...list.querySelectorAll("input")].find(({ dataset }) => dataset.key === focused)?.focus();
    const left = found.length - mostChoices;
    setText(
      status,
      found.length === 0 ? "No matches" : `${keys.length} chosen${left > 0 ? `; ${left} more, search for them` : ""}`
    );
  }

  search.addEventListener("input", show);
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || found.length === 0) return;
    event.preventDefault();
    toggle(found[0].key, !keys.includes(found[0].key));
    search.select();
  });
  show();
  openDialog(title, make("div", { class: "panel-form" }, make("div", { class: "form" }, search), extra, list, status), [
    { label: "Cancel" },
    {
      label: action,
      isMain: true,
      run: () => {
        if (keys.length === 0) {
          notices.say("Choose at least one tweak");
          return false;
        }
        // After the dialog has given the focus back.
        setTimeout(() => done(keys));
        return true;
      }
    }
  ]);
  search.focus();
}
