// SPDX-License-Identifier: BSD-3-Clause

// Shows a saved panel in place of the list: columns of rows and graphs, to use, to arrange, or only to read.

import { byID, iconButton, isTyping, make, setText, textButton } from "../dom.js";
import { isEmptyQuery } from "../finding.js";
import { shortcutKey } from "../keyboard.js";
import { tweakCommand } from "../keys.js";
import { shapeOf } from "../list.js";
import { linkText, shown } from "../names.js";
import { ask, openMenu } from "../popups.js";
import { Row } from "../row.js";
import { isMonitored } from "../tweaks.js";
import { Arranging } from "./arranging.js";
import { contentText, emptyContent, isColumn, keysOf, kindOf, linesOf, problemOf, withColumns } from "./content.js";
import { PanelGraph } from "./graph.js";
import { ReadingRow } from "./reading.js";

/** Where a panel is kept, for people. */
export const placeText = (place) => (place === "sources" ? "beside the sources" : "for me");

/** Asks whether to delete a panel, and returns the answer. */
export const askToDelete = (name, place) =>
  ask(
    "Delete the panel?",
    `This deletes "${shown(name)}", ${placeText(place)}. The program keeps its values.`,
    "Delete"
  );

/** The requests that change nothing. */
const readingRequests = new Set(["tweaks", "panels", "watch", "pong", "presence", "history"]);

/**
 * The parts of the page that a panel uses, and a function that draws its graphs when samples arrive.
 *
 * @typedef {"address" | "api" | "bar" | "commands" | "editing" | "notices" | "samples" | "showing" | "state"} Names
 * @typedef {import("../page.js").Parts<Names> & { drawSoon: () => void }} Uses
 */

/** The panel that is shown. */
let open;
/** Changes of panels that are not saved, by panel, as `{ content, name, place, original }`. */
const drafts = new Map();
const draftName = ({ program, panel, place }) => JSON.stringify([program, panel, place]);
let styles;

/** Loads the style sheet. */
function loadStyles() {
  styles ??= new Promise((resolve) => {
    const link = make("link", { rel: "stylesheet", href: "panels/panels.css" });
    link.onload = link.onerror = resolve;
    document.head.append(link);
  });
  return styles;
}

/**
 * Shows the panel that the scope names, unless it is shown already.
 *
 * @param {Uses} uses
 */
export function showPanel(uses) {
  const { scope, programs } = uses.state;
  if (!scope.place || !programs.has(scope.program)) return;
  if (open?.isOf(scope)) {
    open.loadAgain();
    return;
  }
  open?.close();
  open = new PanelView(uses, scope);
  open.begin();
}

/**
 * Opens a panel that is not saved yet, to be arranged.
 *
 * @param {import("../page.js").Page["commands"]} commands
 */
export function newPanel(commands, program, name, content = emptyContent()) {
  const scope = { program, panel: name, place: "user" };
  if (open?.isOf(scope)) open.close();
  drafts.set(draftName(scope), { content, name, place: "user", original: undefined });
  commands.showScope(scope);
}

/** Asks before the page is left with changes that are not saved. */
function stay(event) {
  if (open?.isDirty) event.preventDefault();
}

/** Has the functions of `List`, which it replaces while it is shown. */
class PanelView {
  #uses;
  #list;
  #scope;
  #element;
  #parts;
  /** The items in the document, as `{ item, place, element, row, graph }`. */
  #views = [];
  /** What the list is to fit its names to. */
  #names = [];
  /** Which lines of graphs the program declares, as last shown. */
  #lines = "[]";
  #problem = "";
  #isUnanswered = false;
  /** The columns before each step of arranging, and those that were undone. */
  #steps = [];
  #undone = [];
  #before = {};
  #isClosed = false;
  #sizes = new ResizeObserver((entries) =>
    entries.forEach(({ target, contentRect }) => this.#fitColumn(target, contentRect.width))
  );
  /** The panel as it was saved, as `{ name, place, content }`; undefined if it is new. */
  original;
  /** The content that is shown; undefined until it is loaded. */
  content;
  /** The functions to arrange it, while it is arranged. */
  arranging;
  onShown = () => {};

  /** @param {Uses} uses */
  constructor(uses, scope) {
    this.#uses = uses;
    this.#scope = { ...scope };
    const parts = (this.#parts = {
      title: make("h1", { class: "panel-title", translate: "no", text: shown(scope.panel) }),
      state: make("span", { class: "who panel-state" }),
      edit: textButton("Edit", () => this.edit()),
      full: textButton("Full screen", () => this.#toggleFull()),
      more: iconButton(
        "more",
        "More for the panel",
        (event) => openMenu(event.currentTarget, "Panel", this.#entries()),
        { "aria-haspopup": "menu", "aria-expanded": "false" }
      ),
      head: make("div", { class: "panel-head" }),
      arranging: make("div", { class: "panel-arranging", hidden: true }),
      message: make("div", { class: "panel-message" }),
      columns: make("div", { class: "panel-columns" })
    });
    parts.head.append(
      parts.title,
      parts.state,
      ...(this.#isReading ? [make("span", { class: "badge", text: "Read-only" })] : []),
      make(
        "span",
        { class: "panel-buttons" },
        ...(this.#isReading ? [parts.full] : [parts.edit, parts.full, parts.more])
      )
    );
    this.#element = make(
      "section",
      { class: "panel", id: "panel", tabindex: "-1", "aria-label": `Panel ${shown(scope.panel)}` },
      parts.head,
      parts.arranging,
      parts.message,
      parts.columns
    );
    parts.columns.addEventListener("keydown", (event) => this.#onKey(event));
    this.#element.addEventListener("keydown", (event) => this.#onUndoKey(event));
    this.#list = uses.showing.list;
  }

  /** Whether it is the panel that a scope names. */
  isOf(/** @type {any} */ { program, panel, place, view }) {
    const own = this.#scope;
    return !this.#isClosed && own.program === program && own.panel === panel && own.place === place &&
      own.view === view;
  }

  get #isReading() {
    return Boolean(this.#scope.view);
  }

  get program() {
    return this.#scope.program;
  }

  get columns() {
    return this.content.columns;
  }

  /** Whether it has changes that are not saved. */
  get isDirty() {
    const { arranging, original, content } = this;
    return Boolean(arranging) &&
      (!original || arranging.name !== original.name || arranging.place !== original.place ||
        contentText(content) !== contentText(original.content));
  }

  /** Takes the place of the list, and loads the panel. */
  async begin() {
    const { api, showing } = /** @type {any} */ (this.#uses);
    this.#before = { onShown: this.#list.onShown, isRecording: api.isRecording };
    // Samples are for the panel.
    this.#list.onShown = () => {};
    api.isRecording = () => this.#graphs.length > 0 || this.#before.isRecording();
    showing.list = this;
    if (this.#isReading) this.#beginReading();
    await loadStyles();
    if (this.#isClosed) return;
    byID("scroller").hidden = true;
    byID("scroller").before(this.#element);
    document.querySelector(".skip").setAttribute("href", "#panel");
    document.addEventListener("fullscreenchange", this.#showFull);
    this.#showFull();
    await this.#load();
  }

  /** Loads the panel again if the server did not answer. */
  loadAgain() {
    if (!this.#isUnanswered) return;
    this.#isUnanswered = false;
    this.#load();
  }

  async #load() {
    const { program, panel: name, place } = this.#scope;
    const draft = drafts.get(draftName(this.#scope));
    if (draft && !this.#isReading) {
      this.content = draft.content;
      this.original = draft.original;
      this.edit(draft);
      return;
    }
    try {
      const { panels } = await this.#uses.api.post("panels", { program });
      const found = panels.find((panel) => panel.name === name && panel.place === place);
      this.#problem = !found
        ? `There is no panel "${shown(name)}" ${
          place === "sources" ? "beside the sources of this program" : "saved for this user"
        }.`
        : shown(found.problem) || problemOf(found.content);
      if (this.#isClosed) return;
      if (found && !this.#problem) {
        this.original = found;
        this.content = found.content;
      }
    } catch (error) {
      this.#problem = error.message;
      this.#isUnanswered = true;
    }
    if (!this.#isClosed) this.render();
  }

  /** Gives the list its place back. Changes that are not saved are kept until the panel is opened again. */
  close() {
    if (this.#isClosed) return;
    const { api, commands, notices, showing } = this.#uses;
    const isDirty = this.isDirty;
    if (isDirty) {
      drafts.set(draftName(this.#scope), {
        content: this.content,
        original: this.original,
        name: this.arranging.name,
        place: this.arranging.place
      });
    }
    this.#isClosed = true;
    removeEventListener("beforeunload", stay);
    if (open === this) open = undefined;
    this.#sizes.disconnect();
    showing.list = this.#list;
    this.#list.onShown = this.#before.onShown;
    api.isRecording = this.#before.isRecording;
    if (this.#isReading) this.#endReading();
    document.removeEventListener("fullscreenchange", this.#showFull);
    document.body.classList.remove("is-full");
    document.querySelector(".skip").setAttribute("href", "#list");
    this.#element.remove();
    byID("scroller").hidden = false;
    this.#list.fit();
    this.#list.onShown();
    if (isDirty) {
      const scope = { ...this.#scope };
      notices.say(`The changes of the panel "${shown(scope.panel)}" are not saved`, {
        label: "Go back",
        run: () => commands.showScope(scope)
      });
    }
  }

  // Reading

  #beginReading() {
    const { api, commands, editing, state } = /** @type {any} */ (this.#uses);
    if (state.selected) commands.select(undefined);
    const post = api.post.bind(api);
    api.post = async (name, ...rest) => {
      if (!readingRequests.has(name)) throw new Error("This page is read-only");
      return post(name, ...rest);
    };
    // Also what knobs send.
    editing.move = () => {};
    editing.apply = () => 0;
    document.body.classList.add("is-reading");
    for (const name of ["keydown", "dragover", "drop"]) addEventListener(name, this.#ignore, { capture: true });
  }

  #endReading() {
    const { api, editing } = /** @type {any} */ (this.#uses);
    delete api.post;
    delete editing.move;
    delete editing.apply;
    document.body.classList.remove("is-reading");
    for (const name of ["keydown", "dragover", "drop"]) removeEventListener(name, this.#ignore, { capture: true });
  }

  /** Keeps keys and files from the page. What the browser does with keys, such as scrolling, stays. */
  #ignore = (event) => {
    event.stopImmediatePropagation();
    if (event.type !== "keydown") event.preventDefault();
  };

  // The head

  async #toggleFull() {
    try {
      if (document.fullscreenElement) await document.exitFullscreen();
      else await document.documentElement.requestFullscreen();
    } catch {
      this.#uses.notices.problem("The browser did not allow full screen");
    }
  }

  #showFull = () => {
    const isFull = Boolean(document.fullscreenElement);
    document.body.classList.toggle("is-full", isFull);
    setText(this.#parts.full, isFull ? "Leave full screen" : "Full screen");
  };

  #entries() {
    const { commands } = this.#uses;
    const { program, panel, place } = this.#scope;
    const link = { program, panel, place };
    const isKept = Boolean(this.original);
    return [
      { label: "Copy link", isDisabled: !isKept, run: () => commands.copyPlace(link) },
      { label: "Copy read-only link", isDisabled: !isKept, run: () => commands.copyPlace({ ...link, view: "1" }) },
      {
        label: "Open read-only",
        isDisabled: !isKept,
        run: () => window.open(`${location.pathname}${linkText({ ...link, view: "1" })}`, "_blank", "noopener")
      },
      null,
      {
        label: "Save a copy…",
        isDisabled: !isKept || Boolean(this.arranging),
        run: () => newPanel(commands, program, `${panel} copy`, this.content)
      },
      { label: "Delete…", isDisabled: !isKept, run: () => this.#delete() },
      { label: "Panels…", run: () => commands.openPanels(program) }
    ];
  }

  async #delete() {
    const { program, panel: name, place } = this.#scope;
    if (!(await askToDelete(name, place))) return;
    try {
      await this.#uses.api.post("panel/delete", { program, name, place });
      this.leave();
    } catch (error) {
      this.#uses.notices.problem(error.message);
    }
  }

  /** Shows all tweaks of the program. What is not saved is lost. */
  leave() {
    this.#endArranging();
    this.#uses.commands.showScope({ program: this.program });
  }

  // Arranging

  /** Begins to arrange it. */
  edit(draft = this.original) {
    if (!draft || this.arranging) return;
    addEventListener("beforeunload", stay);
    this.arranging = new Arranging(this.#uses, this, this.#parts.arranging, draft);
    this.render();
    if (this.original) this.#uses.notices.whisper("Editing the panel");
    this.arranging.focus();
  }

  #endArranging() {
    removeEventListener("beforeunload", stay);
    [this.#steps, this.#undone] = [[], []];
    this.arranging = undefined;
    drafts.delete(draftName(this.#scope));
  }

  /** Shows other columns, while it is arranged. */
  change(columns) {
    this.#steps.push(this.columns);
    this.#undone = [];
    this.put(columns);
    this.render();
  }

  /**
   * Undoes steps of arranging, rather than changes of values, while the panel has the focus. Fields have their own
   * undo.
   */
  #onUndoKey(event) {
    const key = shortcutKey(event).toLowerCase();
    if (!this.arranging || !(event.ctrlKey || event.metaKey) || event.altKey || !["y", "z"].includes(key)) return;
    event.stopPropagation();
    if (isTyping()) return;
    event.preventDefault();
    const isRedo = key === "y" || event.shiftKey;
    const [from, to] = isRedo ? [this.#undone, this.#steps] : [this.#steps, this.#undone];
    if (from.length > 0) {
      to.push(this.columns);
      this.put(from.pop());
      this.render();
    }
    this.#uses.notices.whisper(isRedo ? "Redone" : "Undone");
  }

  /** Takes over columns that are shown already. */
  put(columns) {
    this.content = withColumns(this.content, columns);
  }

  columnElement(column) {
    return /** @type {HTMLElement} */ (this.#parts.columns.children[column]);
  }

  /** Scrolls if the pointer is near the upper or the lower edge. */
  scrollNear(y, edge) {
    const { top, bottom } = this.#element.getBoundingClientRect();
    if (y < top + edge) this.#element.scrollTop -= edge / 4;
    else if (y > bottom - edge) this.#element.scrollTop += edge / 4;
  }

  /** Goes back to what is saved. */
  async discard() {
    if (this.isDirty && !(await ask("Discard the changes?", "The panel returns to its saved state.", "Discard")))
      return;
    if (!this.original) {
      this.leave();
      return;
    }
    this.content = this.original.content;
    this.#endArranging();
    this.render();
    this.#parts.edit.focus();
  }

  /** Saves it with the name and in the place that were entered. */
  async save() {
    const { api, notices, state, address, bar } = this.#uses;
    const { program } = this;
    const { name, place } = this.arranging;
    const { original, content } = this;
    const isSame = original?.name === name && original.place === place;
    const isRenamed = original && original.place === place && !isSame;
    try {
      const { panels } = await api.post("panels", { program });
      const there = panels.find((panel) => panel.name === name && panel.place === place);
      const isForeign = there &&
        !(isSame && there.content && contentText(there.content) === contentText(original.content));
      if (
        isForeign &&
        !(await ask(
          "Overwrite the panel?",
          isSame ? `"${shown(name)}" was changed elsewhere.` : `"${shown(name)}" already exists, ${placeText(place)}.`,
          "Overwrite"
        ))
      ) return;
      const answer = await api.post("panel/save", { program, name, place, content, replace: Boolean(there) });
      if (isRenamed) await api.post("panel/delete", { program, name: original.name, place });
      this.original = answer.panels.find((panel) => panel.name === name && panel.place === place) ??
        { name, place, content };
      this.content = this.original.content ?? content;
      this.#endArranging();
      Object.assign(this.#scope, { panel: name, place });
      Object.assign(state.scope, { panel: name, place });
      setText(this.#parts.title, shown(name));
      this.#element.setAttribute("aria-label", `Panel ${shown(name)}`);
      notices.say(`Panel "${shown(name)}" saved ${placeText(place)}`);
      this.render();
      bar.showListHead();
      address.show();
      this.#parts.edit.focus();
    } catch (error) {
      notices.problem(error.message);
    }
  }

  // The items

  get #graphs() {
    return this.#views.filter(({ graph }) => graph).map(({ graph }) => graph);
  }

  get #rows() {
    return this.#views.filter(({ row }) => row).map(({ row }) => row);
  }

  /** Shows the items anew. */
  render() {
    const { columns, message, arranging, edit, state } = this.#parts;
    const isArranging = Boolean(this.arranging);
    arranging.hidden = !isArranging;
    edit.hidden = isArranging || !this.original;
    setText(state, this.#problem || this.#isReading || isArranging ? "" : placeText(this.#scope.place));
    this.#element.classList.toggle("is-arranging", isArranging);
    const focused = this.#focusedPart();
    this.#sizes.disconnect();
    this.#views = [];
    if (!this.content) {
      columns.replaceChildren();
      message.replaceChildren(
        make("p", { text: this.#problem || "Loading…" }),
        ...(this.#problem && !this.#isReading
          ? [textButton("Panels…", () => this.#uses.commands.openPanels(this.program))]
          : [])
      );
      return;
    }
    columns.style.setProperty("--columns", String(Math.max(1, this.columns.length)));
    columns.replaceChildren(...this.columns.map((items, column) => this.#makeColumn(items, column)));
    for (const list of columns.querySelectorAll(".list")) this.#sizes.observe(list);
    focused?.();
    this.#follow();
    this.#filter();
  }

  /** A function that focuses again what has the focus. */
  #focusedPart() {
    const parts = (
      { element }
    ) => /** @type {HTMLElement[]} */ ([...element.querySelectorAll("button, input, select, textarea")]);
    const focused = /** @type {HTMLElement} */ (document.activeElement);
    const at = this.#views.findIndex(({ element }) => element.contains(focused));
    if (at < 0) return undefined;
    const part = parts(this.#views[at]).indexOf(focused);
    return () => this.#views[at] && parts(this.#views[at])[part]?.focus({ preventScroll: true });
  }

  /** Follows the tweaks of the items: their samples, and the scope that counts and resets them. */
  #follow() {
    const { state, samples, showing } = this.#uses;
    const keys = keysOf(this.columns);
    samples.showing(
      new Set([
        ...this.#rows.filter(({ tweak }) => isMonitored(tweak)).map(({ tweak }) => tweak.id),
        ...this.#graphs.flatMap(({ ids }) => ids)
      ])
    );
    if (this.hasGraphs) this.#uses.drawSoon();
    if (this.isOf(state.scope) && JSON.stringify(state.scope.row) !== JSON.stringify(keys)) {
      state.scope.row = keys;
      showing.findAgain();
    }
  }

  #makeColumn(items, column) {
    const name = `Column ${column + 1}`;
    const list = make("ul", { class: "list", "aria-label": name });
    if (isColumn(items)) items.forEach((item, index) => list.append(this.#makeItem(item, { column, index })));
    else list.append(make("li", { class: "panel-item panel-newer", text: "Made by a newer version" }));
    return make(
      "div",
      { class: "panel-column", data: { column: String(column) } },
      ...(this.arranging ? [this.arranging.columnHead(items, column)] : []),
      list,
      ...(this.arranging && isColumn(items) ? [this.arranging.columnFoot(column)] : [])
    );
  }

  #makeItem(item, place) {
    const kind = kindOf(item);
    const view = {
      item,
      place,
      row: undefined,
      graph: undefined,
      element: make("li", { class: `panel-item panel-${kind}` })
    };
    const isArranged = Boolean(this.arranging);
    const tweak = kind === "tweak" ? this.#uses.state.tweak(this.program, item.tweak) : undefined;
    let body;
    let name = "Item of a newer version";
    if (tweak) {
      view.row = this.#isReading ? new ReadingRow(this.#uses.samples, tweak) : new Row(this.#uses, tweak, 0);
      body = view.row.element;
      // The item is the one of the list.
      body.setAttribute("role", "none");
      name = tweak.label;
    } else if (kind === "tweak") {
      name = shown(item.tweak);
      const isLoaded = this.#uses.state.programs.get(this.program)?.isLoaded;
      body = make(
        "p",
        { class: "panel-missing" },
        make("span", { translate: "no", text: name }),
        make("span", { class: "who", text: isLoaded ? "The program does not declare this tweak" : "Loading…" })
      );
    } else if (kind === "graph") {
      view.graph = new PanelGraph(this.#uses, this.program, item, { isReading: this.#isReading || isArranged });
      body = view.graph.element;
      name = `Graph of ${
        item.graph.map((key) => this.#uses.state.tweak(this.program, key)?.label ?? shown(key)).join(", ")
      }`;
    } else if (kind === "heading") {
      name = `Heading ${shown(item.heading)}`;
      body = this.arranging
        ? this.arranging.headingField(item, place)
        : make("h2", { translate: "no", text: shown(item.heading) });
    } else {
      body = make("p", { class: "who", text: "Made by a newer version" });
    }
    // While the panel is arranged, a click sets nothing.
    if (isArranged && kind !== "heading") body.toggleAttribute("inert", true);
    view.element.append(...(this.arranging ? this.arranging.itemParts(view, name, body) : [body]));
    this.#views.push(view);
    return view.element;
  }

  #fitColumn(list, width) {
    const shape = shapeOf(width, Number.parseFloat(getComputedStyle(document.documentElement).fontSize));
    if (list.dataset.layout !== shape) list.dataset.layout = shape;
  }

  /** Hides rows that a search does not find. */
  #filter() {
    const { state: { query, listed }, commands } = this.#uses;
    const isAll = isEmptyQuery(query) || Boolean(this.arranging);
    let count = 0;
    for (const { element, row } of this.#views) {
      element.hidden = !isAll && !(row && listed.shownIds.has(row.tweak.id));
      if (!element.hidden) count += 1;
    }
    const isEmpty = this.#views.length === 0 && !this.arranging;
    const text = isEmpty ? "This panel is empty." : count === 0 && !isAll ? "No matches in this panel." : "";
    if (this.#parts.message.dataset.text === text && text) return;
    this.#parts.message.dataset.text = text;
    this.#parts.message.replaceChildren(
      ...(text ? [make("p", { text })] : []),
      ...(text && !isEmpty ? [textButton("Show all", () => commands.clearQuery())] : [])
    );
  }

  // The functions of the list, which the page calls

  show(items, options) {
    if (!this.isOf(this.#uses.state.scope)) {
      this.close();
      this.#uses.showing.list.fitNames(...this.#names);
      this.#uses.showing.list.show(items, options);
      return;
    }
    if (!this.content) return;
    const isOther = this.#views.some(({ item, row }) =>
      kindOf(item) === "tweak" && row?.tweak !== this.#uses.state.tweak(this.program, item.tweak)
    );
    const lines = JSON.stringify(
      linesOf(this.columns).map((key) => Boolean(this.#uses.state.tweak(this.program, key)))
    );
    if (isOther || lines !== this.#lines) {
      this.#lines = lines;
      this.render();
    } else this.#filter();
  }

  changed(tweak) {
    for (const row of this.#rows) if (row.tweak === tweak) row.update();
  }

  refresh() {
    for (const row of this.#rows) row.update();
  }

  rebuild() {
    if (this.content) this.render();
  }

  updateLive() {
    for (const row of this.#rows) if (row.isLive) row.updateLive();
  }

  get shownTweaks() {
    return this.#rows.map(({ tweak }) => tweak);
  }

  get isBusy() {
    return Boolean(this.arranging?.isDragging) || this.#rows.some((row) => row.isBusy);
  }

  get hasGraphs() {
    return this.#graphs.length > 0;
  }

  drawGraphs() {
    for (const graph of this.#graphs) graph.draw();
  }

  fit() {}

  /** The rows of a panel fill their columns. The list fits its names when it is back. */
  fitNames(...names) {
    this.#names = names;
  }

  /**
   * Scrolls the row of a tweak into view: the one that has the focus, or the first. Returns `false` if there is none.
   */
  reveal(id, /** @type {{ focus?: boolean | "name" }} */ { focus = false } = {}) {
    const views = this.#views.filter(({ row, element }) => row?.tweak.id === id && !element.hidden);
    const view = views.find(({ element }) => element.contains(document.activeElement)) ?? views[0];
    if (!view) return false;
    view.element.scrollIntoView({ block: "nearest" });
    if (focus === "name") view.row.focusName();
    else if (focus) view.row.focusControl();
    return true;
  }

  focusFirst() {
    this.#views.find(({ row, element }) => row && !element.hidden)?.row.focusName();
  }

  /** Handles keys on the name of a row, as in the list. Arrows go on in the next column. */
  #onKey(event) {
    const views = this.#views.filter(({ row, element }) => row && !element.hidden);
    const at = views.findIndex(({ element }) => element.contains(event.target));
    if (
      at < 0 || this.arranging || event.ctrlKey || event.metaKey || event.altKey ||
      !event.target.classList.contains("row-name")
    ) return;
    const to = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + 10,
      PageUp: at - 10,
      Home: 0,
      End: views.length - 1
    }[event.key];
    const command = tweakCommand(event);
    if (to === undefined && event.key !== "ArrowRight" && !command) return;
    event.preventDefault();
    event.stopPropagation();
    if (command) this.#uses.commands[command](views[at].row.tweak);
    else if (to === undefined) views[at].row.focusControl();
    else {
      const next = views[Math.min(views.length - 1, Math.max(0, to))];
      next.element.scrollIntoView({ block: "nearest" });
      next.row.focusName();
    }
  }
}
