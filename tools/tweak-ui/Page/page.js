// The page: makes its parts, connects them with the server, and has the commands that keys and buttons call.

import { API } from "./api.js";
import { copyText, shellCommand } from "./copying.js";
import { Details } from "./details.js";
import { icon, iconButton, isTyping, make, setAttribute, setText } from "./dom.js";
import { Editing } from "./editing.js";
import { openExport } from "./exporting.js";
import { dependsOnValues, filters, isEmptyQuery, isInScope, listItems, sortedTweaks, typeKinds, wordsOf } from "./finding.js";
import { Graphs, mostSeries } from "./graphs.js";
import { openHelp } from "./help.js";
import { History, Sets } from "./history.js";
import { List } from "./list.js";
import { linkText, placeOf, shown, keyOf } from "./names.js";
import { Notices } from "./notices.js";
import { Outline, stateText } from "./outline.js";
import { ask, openMenu, openPopover } from "./popups.js";
import { Preferences } from "./preferences.js";
import { importFile, openPresets } from "./presets.js";
import { sourceText } from "./row.js";
import { Samples } from "./samples.js";
import { State } from "./state.js";
import { currentValue, equalValues, isDrawable, isMonitored, isSet, isSettable, partnerName, valueFrom, valueText } from "./tweaks.js";

const byID = (id) => document.getElementById(id);
/** From how many resets on somebody is asked. */
const manyResets = 2;

const state = new State();
const api = new API();
const preferences = new Preferences();
const notices = new Notices(byID("notices"), byID("spoken"));
const history = new History(state);
const editing = new Editing({ state, api, notices, history });
const sets = new Sets(state, editing);
const samples = new Samples(api, state);
const commands = {};
/** What the parts of the page need of each other. */
const page = { state, api, preferences, notices, history, editing, sets, samples, commands };

const query = { words: [], shows: [], source: undefined, kind: undefined, text: "" };
let listed = { items: [], shownIds: new Set(), count: 0 };
const graphed = new Set();
const loadedPresets = new Map();
const loading = new Map();

// The list, the outline and the details.

const list = (page.list = new List(page, byID("scroller"), byID("list"), makeHeading));
const outline = new Outline(page, byID("outline"));
const details = new Details(page, byID("details"));
const graphs = new Graphs(page, byID("graphs"));
list.onShown = () => samples.showing(new Set(list.shownTweaks.filter(isMonitored).map(({ id }) => id)));

function makeHeading(item) {
  const { program } = item;
  if (item.kind === "program") {
    return make("div", { class: "program-heading" }, make("h2", {}, make("span", { class: `state-dot ${program.state}`, "aria-hidden": "true" }),
      make("button", { type: "button", class: "heading-link", text: shown(program.description.name), onclick: () => commands.showScope({ program: program.id }) })),
      make("span", { class: "who", text: program.isLoaded ? stateText(program) : (program.problem ?? "loading…") }));
  }
  const names = item.group !== undefined ? [item.group ? shown(item.group) : "No group"] : [shown(item.category), shown(item.collection)];
  const scope = item.group !== undefined ? { program: program.id, group: item.group }
    : { program: program.id, category: item.category, collection: item.collection };
  return make("div", { class: "collection-heading" }, make("h3", {},
    make("button", { type: "button", class: "heading-link", onclick: () => commands.showScope(scope) },
      names.map((name, index) => make("span", { class: index === names.length - 1 ? "last" : "first", text: name || "(no name)" })))),
    iconButton("more", `More for ${names.join(", ")}`, (event) => scopeMenu(event.currentTarget, scope)));
}

function shownPrograms() {
  const { scope } = state;
  const programs = [...state.programs.values()];
  return scope.program === undefined ? programs : programs.filter(({ id }) => id === scope.program);
}

/** The program that commands without another one are about. */
function currentProgram() {
  const id = state.scope.program ?? (state.programs.size === 1 ? [...state.programs.keys()][0] : undefined);
  const selected = state.tweakOf(state.selected);
  return state.programs.get(id ?? selected?.program ?? lastTouched ?? [...state.programs.keys()][0]);
}
let lastTouched;

/** Finds out again what the list shows. `keeping`: rows that were there stay, although they are not wanted any more. */
function findAgain({ keeping = false } = {}) {
  const began = performance.now();
  const context = { stars: preferences.stars, byGroup: preferences.byGroup };
  listed = listItems(shownPrograms(), state.scope, query, context, keeping ? listed.shownIds : undefined);
  list.show(listed.items);
  showEmpty();
  showListHead();
  page.lastSearch = performance.now() - began;
}

let findTimer = 0;
function findSoon() {
  if (!dependsOnValues(query)) return;
  findTimer ||= setTimeout(function again() {
    // Nothing moves while somebody drags or types.
    findTimer = list.isBusy ? setTimeout(again, 300) : 0;
    if (!findTimer) findAgain({ keeping: true });
  }, 300);
}

function showEmpty() {
  const empty = byID("empty");
  empty.hidden = listed.count > 0 || state.connection === "connecting";
  if (empty.hidden) return;
  const programs = shownPrograms();
  let title;
  let text;
  let button;
  if (state.connection === "refused") {
    title = "This page needs its address again";
    text = "tweak ui was started anew, or this page was opened without its token. Open the address that tweak ui printed in its terminal.";
  } else if (state.programs.size === 0) {
    title = "No program is there";
    text = "A program with tweaks shows up here as soon as it runs. One that does not run can be opened by its path: tweak ui ./program";
    button = ["Open a program…", () => commands.openProgram()];
  } else if (programs.some(({ isLoaded, problem }) => !isLoaded && !problem)) {
    title = "Loading…";
    text = "";
  } else if (programs.some(({ problem }) => problem)) {
    title = "The tweaks cannot be read";
    text = programs.map(({ problem }) => problem).filter(Boolean).join("\n");
    button = ["Try again", () => programs.forEach(({ id }) => commands.load(id))];
  } else if (!isEmptyQuery(query)) {
    title = "Nothing is like that";
    text = query.shows.includes("changed") && query.words.length === 0 ? "Every tweak here has its default." :
      `No tweak here fits ${query.text ? `"${query.text}"` : "the filters"}.`;
    button = ["Show all", () => commands.clearQuery()];
  } else {
    title = "There are no tweaks";
    text = "The program declares none here. Was it built with FB_TWEAK_ENABLED or DEBUG?";
  }
  empty.replaceChildren(make("h2", { text: title }), make("p", { text }),
    button ? make("button", { type: "button", class: "button main", text: button[0], onclick: button[1] }) : "");
}

// The bar at the top.

const parts = {};
parts.search = make("input", {
  type: "search", class: "search", id: "search", placeholder: "Search", "aria-label": "Search names, descriptions and values",
  autocomplete: "off", spellcheck: "false", "aria-keyshortcuts": "/", enterkeyhint: "search",
});
parts.undo = iconButton("undo", "Undo", () => commands.undo(), { "aria-keyshortcuts": "Control+Z" });
parts.redo = iconButton("redo", "Redo", () => commands.redo(), { "aria-keyshortcuts": "Control+Shift+Z" });
parts.filter = make("button", {
  type: "button", class: "button with-icon", "aria-label": "Filters", title: "Filters", "aria-haspopup": "dialog", "aria-expanded": "false", onclick: () => openFilters(),
}, icon("filter"), make("span", { class: "filter-text", text: "Filter" }));
parts.a = make("button", { type: "button", class: "side", text: "A", onclick: () => commands.toggleSides("A") });
parts.b = make("button", { type: "button", class: "side", text: "B", onclick: () => commands.toggleSides("B") });
parts.sides = make("div", { class: "sides", role: "group", "aria-label": "A and B" }, parts.a, parts.b);
parts.snapshot = iconButton("camera", "Snapshot", (event) => openMenu(event.currentTarget, "Snapshot", snapshotEntries()), { "aria-haspopup": "menu", "aria-expanded": "false" });
parts.presets = make("button", { type: "button", class: "button with-icon", "aria-label": "Presets", title: "Presets", onclick: () => commands.openPresets() },
  icon("layers"), make("span", { class: "preset-text", text: "Presets" }));
parts.people = make("button", { type: "button", class: "button with-icon people", hidden: true, "aria-haspopup": "dialog", "aria-expanded": "false", onclick: () => openPeople() },
  icon("people"), make("span", { text: "" }));
parts.more = iconButton("more", "More", (event) => openMenu(event.currentTarget, "More", moreEntries()), { "aria-haspopup": "menu", "aria-expanded": "false" });
parts.outlineButton = iconButton("menu", "Outline", () => commands.toggleOutline(), { class: "outline-button", "aria-expanded": "false", "aria-controls": "outline-panel" });
byID("top").append(parts.outlineButton, make("h1", { class: "brand", text: "Tweaks" }),
  make("div", { class: "search-box", role: "search" }, icon("search"), parts.search, make("kbd", { text: "/", "aria-hidden": "true" })), parts.filter,
  make("div", { class: "top-buttons", role: "toolbar", "aria-label": "Values" }, parts.undo, parts.redo, parts.sides, parts.snapshot, parts.presets),
  parts.people, parts.more);

parts.byGroup = make("select", { "aria-label": "Outline by", class: "outline-by", onchange: () => commands.setByGroup(parts.byGroup.value === "groups") },
  make("option", { value: "categories", text: "By category" }), make("option", { value: "groups", text: "By group" }));
byID("outline-head").append(parts.byGroup, iconButton("close", "Close the outline", () => commands.toggleOutline(false), { class: "outline-close" }));

parts.scopeTitle = make("h2", { class: "scope-title", id: "scope-title" });
parts.scopeState = make("span", { class: "scope-state" });
parts.count = make("span", { class: "scope-count", role: "status" });
parts.waiting = make("span", { class: "waiting" });
parts.scopeMenu = iconButton("more", "More for what is shown", (event) => scopeMenu(event.currentTarget, { ...state.scope, program: currentProgram()?.id }), { "aria-haspopup": "menu", "aria-expanded": "false" });
parts.chips = make("div", { class: "chips", role: "group", "aria-label": "Filters that are on" });
byID("list-head").append(make("div", { class: "scope-line" }, parts.scopeTitle, parts.scopeState, parts.count, parts.waiting, parts.scopeMenu), parts.chips);

function showListHead() {
  const { scope } = state;
  const program = scope.program === undefined && state.programs.size !== 1 ? undefined : currentProgram();
  const names = scope.group !== undefined ? [scope.group || "No group"] : [scope.category, scope.collection].filter((name) => name !== undefined);
  const title = [program ? program.description.name : "All programs", ...names].map(shown).join(" › ");
  setText(parts.scopeTitle, title);
  document.title = `${title} – Tweaks`;
  setText(parts.scopeState, program ? programText(program) : "");
  parts.scopeState.dataset.state = program?.state ?? "";
  setText(parts.count, isEmptyQuery(query) ? `${listed.count}` : `${listed.count} found`);
  parts.count.title = `${listed.count} tweak${listed.count === 1 ? "" : "s"}`;
  showWaiting(program);
  showChips();
}

function programText(program) {
  const { description } = program;
  switch (program.state) {
    case "running": return description.processes > 1 ? `running, ${description.processes} processes` : `running, process ${description.pid}`;
    case "offline": return description.ended ? "has ended; values are those of its next start" : "not running; values are those of its next start";
    case "memory": return "without the library: nothing is kept";
    case "silent": return "does not answer; values are the last that it told";
    default: return program.state;
  }
}

/** How many values wait for a restart of the program, and how to restart it. */
function showWaiting(program) {
  const waiting = program?.state === "running" || program?.state === "silent"
    ? [...program.tweaks.values()].filter(({ pendingValue }) => pendingValue !== undefined).length : 0;
  parts.waiting.hidden = waiting === 0;
  if (waiting === 0 || parts.waiting.dataset.count === String(waiting)) return;
  parts.waiting.dataset.count = waiting;
  parts.waiting.replaceChildren(make("button", {
    type: "button", class: "badge warning", text: `${waiting} need${waiting === 1 ? "s" : ""} a restart`, "aria-haspopup": "menu", "aria-expanded": "false",
    onclick: (event) => openMenu(event.currentTarget, "Restart", [
      { label: "Show what waits for the restart", run: () => commands.setQuery({ shows: ["waiting"] }) },
      { label: "Copy the command that restarts it", isDisabled: !program.description.executable, run: () => commands.copyRestart(program) },
    ]),
  }));
}

function showChips() {
  const chips = query.shows.map((name) => [filters.find((filter) => filter[0] === name)?.[1] ?? name, () => commands.setQuery({ shows: query.shows.filter((one) => one !== name) })]);
  if (query.source) chips.push([`From: ${sourceText(query.source)}`, () => commands.setQuery({ source: undefined })]);
  if (query.kind) chips.push([typeKinds.find(([kind]) => kind === query.kind)?.[1] ?? query.kind, () => commands.setQuery({ kind: undefined })]);
  parts.chips.hidden = chips.length === 0;
  const text = JSON.stringify(chips.map(([label]) => label));
  if (parts.chips.dataset.text !== text) {
    parts.chips.dataset.text = text;
    parts.chips.replaceChildren(...chips.map(([label, remove]) => make("button", { type: "button", class: "chip", "aria-label": `Filter ${label}, remove`, onclick: remove },
      make("span", { text: label }), icon("close"))));
  }
  setText(parts.filter.querySelector("span"), chips.length > 0 ? `Filter ${chips.length}` : "Filter");
  parts.filter.classList.toggle("is-on", chips.length > 0);
}

function openFilters() {
  const sources = new Set(["default", "override"]);
  for (const program of shownPrograms()) for (const { source } of program.tweaks.values()) if (source) sources.add(source);
  const boxes = filters.map(([name, label]) => make("label", { class: "check" }, make("input", {
    type: "checkbox", checked: query.shows.includes(name), onchange: (event) =>
      commands.setQuery({ shows: event.target.checked ? [...query.shows, name] : query.shows.filter((one) => one !== name) }),
  }), make("span", { text: label })));
  const chooser = (label, name, entries) => make("label", { class: "filter-choice" }, make("span", { text: label }), make("select", {
    onchange: (event) => commands.setQuery({ [name]: event.target.value || undefined }),
  }, make("option", { value: "", text: "any" }), entries.map(([value, text]) => make("option", { value, text, selected: query[name] === value }))));
  openPopover(parts.filter, make("div", { class: "filters" }, boxes, chooser("From", "source", [...sources].map((source) => [source, sourceText(source)])),
    chooser("Type", "kind", typeKinds), make("button", { type: "button", class: "button", text: "Show all", onclick: () => commands.clearQuery() })), { label: "Filters" });
}

function openPeople() {
  const name = make("input", { type: "text", value: preferences.name, maxlength: 40, placeholder: "Your name", "aria-label": "Your name, as others see it",
    onchange: () => {
      preferences.name = name.value.trim();
      tellPresence();
    } });
  openPopover(parts.people, make("div", { class: "people-list" }, make("ul", {}, state.viewers.map((viewer) => {
    const tweak = viewer.tweak && state.tweak(viewer.program, viewer.tweak);
    return make("li", { text: `${viewer.stream === state.stream ? "You" : viewer.name ? shown(viewer.name) : `Page ${viewer.stream}`}${tweak ? `: ${tweak.label}` : ""}` });
  })), make("label", {}, make("span", { class: "who", text: "Your name" }), name)), { label: "Who else is here" });
}

function moreEntries() {
  const program = currentProgram();
  const theme = (value, label) => ({ label, isChecked: preferences.theme === value, run: () => commands.setTheme(value) });
  return [
    { label: "Open a program…", run: () => commands.openProgram() },
    { label: "Copy or export…", key: "e", isDisabled: !program, run: () => commands.openExport() },
    { label: "Import a file…", isDisabled: !program, run: () => commands.chooseFile(program.id) },
    { label: "Reset all…", isDisabled: !program, run: () => commands.resetScope({ program: program.id }) },
    null, theme("auto", "Light or dark, as the system"), theme("light", "Light"), theme("dark", "Dark"), null,
    { label: "Your name…", run: () => {
      parts.people.hidden = false;
      openPeople();
    } },
    { label: "Keys", key: "?", run: openHelp },
  ];
}

function snapshotEntries() {
  const program = currentProgram();
  const time = program && sets.snapshotTime(program.id);
  const count = program ? sets.sinceSnapshot(program.id).length : 0;
  return [
    { label: "Take a snapshot", key: "n", isDisabled: !program?.isLoaded, run: () => commands.takeSnapshot() },
    { label: time ? `Back to ${time.toLocaleTimeString("en-GB")} (${count} different)` : "Back to the snapshot", key: "Shift N", isDisabled: !time, run: () => commands.restoreSnapshot() },
  ];
}

function scopeMenu(anchor, scope) {
  const program = state.programs.get(scope.program);
  if (!program) return;
  const tweaks = tweaksIn(scope);
  const set = tweaks.filter((tweak) => isSettable(tweak) && isSet(tweak)).length;
  openMenu(anchor, "What is shown", [
    { label: `Reset ${set} of ${tweaks.length}…`, isDisabled: set === 0, run: () => commands.resetScope(scope) },
    { label: "Graph of its monitors", isDisabled: !tweaks.some(({ monitor }) => monitor), run: () => {
      for (const tweak of tweaks.filter((one) => isMonitored(one) && !graphed.has(one.id)).slice(0, mostSeries)) commands.toggleGraph(tweak);
    } },
    { label: "Copy a link", run: () => commands.copyPlace(scope) },
    { label: "Copy or export…", run: () => commands.openExport(program.id) },
  ]);
}

const tweaksIn = (scope) => {
  const program = state.programs.get(scope.program);
  return program ? sortedTweaks(program).filter((tweak) => isInScope(tweak, scope)) : [];
};

// Commands.

Object.assign(commands, {
  select(tweak) {
    const before = state.tweakOf(state.selected);
    const focused = document.activeElement;
    state.selected = tweak && tweak.id === state.selected ? undefined : tweak?.id;
    const selected = state.tweakOf(state.selected);
    document.body.classList.toggle("has-details", Boolean(selected));
    const hadFocus = byID("details").contains(focused);
    details.show(selected);
    for (const one of [before, selected]) if (one) list.changed(one);
    showAddress();
    if (selected) lastTouched = selected.program;
    if (selected && !hadFocus && focused?.classList.contains("row-name")) {
      if (matchMedia("(max-width: 1000px)").matches) details.focus();
    }
    if (!selected && before && hadFocus) list.reveal(before.id, { focus: "name" });
    tellPresence();
  },
  showScope(scope) {
    state.scope = { ...scope };
    if (scope.program) lastTouched = scope.program;
    byID("scroller").scrollTop = 0;
    for (const program of shownPrograms()) commands.load(program.id);
    findAgain();
    outline.update();
    showBar();
    showAddress();
    commands.toggleOutline(false, { quiet: true });
    tellPresence();
  },
  /** Loads the tweaks of a program, once at a time. */
  async load(id, { again = false } = {}) {
    const program = state.programs.get(id);
    if (!program || (!again && program.isLoaded && program.followedBy === api.stream)) return;
    if (loading.has(id)) {
      if (again) loading.set(id, true);
      return;
    }
    loading.set(id, false);
    const stream = api.stream;
    try {
      const answer = await api.post("tweaks", { program: id, stream });
      state.setTweaks(id, answer.tweaks, answer.undeclared);
      const now = state.programs.get(id);
      if (now) now.followedBy = stream;
      if (answer.program) state.setProgram(answer.program);
    } catch (error) {
      const now = state.programs.get(id);
      if (now && !now.isLoaded) now.problem = error.message;
      if (error.status === 429) setTimeout(() => commands.load(id, { again: true }), 500);
      findAgain({ keeping: true });
    }
    const isStale = loading.get(id);
    loading.delete(id);
    if (isStale) commands.load(id, { again: true });
  },
  resetTweak(tweak) {
    if (!isSettable(tweak)) return;
    if (editing.reset([tweak]) > 0) notices.whisper(`${tweak.label} has its default again`);
  },
  async resetScope(scope) {
    const tweaks = tweaksIn(scope).filter((tweak) => isSettable(tweak) && isSet(tweak));
    if (tweaks.length === 0) {
      notices.say("Nothing was set here");
      return;
    }
    const place = scope.collection ?? scope.category ?? scope.group ?? state.programs.get(scope.program)?.description.name;
    if (tweaks.length >= manyResets) {
      const names = tweaks.slice(0, 5).map(({ label }) => label).join(", ");
      const isWanted = await ask(`Reset ${shown(place)}?`, `${tweaks.length} values get their defaults: ${names}${tweaks.length > 5 ? ", …" : ""}. It can be undone.`, `Reset ${tweaks.length}`);
      if (!isWanted) return;
    }
    const count = editing.reset(tweaks);
    notices.say(`${count} reset`, { label: "Undo", run: () => commands.undo() });
  },
  isStarred: (tweak) => preferences.stars.has(tweak.id),
  toggleStar(tweak) {
    preferences.toggleStar(tweak.id);
    notices.whisper(commands.isStarred(tweak) ? `${tweak.label} is starred` : `${tweak.label} is not starred any more`);
  },
  isGraphed: (tweak) => graphed.has(tweak.id),
  toggleGraph(tweak) {
    if (!isDrawable(tweak)) return;
    if (!graphed.delete(tweak.id)) {
      if (graphed.size >= mostSeries) {
        notices.say(`A graph has ${mostSeries} lines at most`);
        return;
      }
      graphed.add(tweak.id);
    }
    showGraphs();
  },
  closeGraph() {
    graphed.clear();
    showGraphs();
  },
  /** The tweak that is the other axis of a pad: what the program or a person says, or what the names say. */
  partnerOf(tweak) {
    if (!isSettable(tweak) || tweak.choices) return undefined;
    const find = (key) => {
      const other = state.tweak(tweak.program, key);
      return other && other !== tweak && isSettable(other) && !other.choices && partnerName({ ...other, name: "x" }) ? other : undefined;
    };
    if (!partnerName({ ...tweak, name: "x" })) return undefined;
    const chosen = preferences.pair(tweak.id);
    if (chosen !== undefined) {
      const other = chosen && find(chosen);
      return other ? { tweak: other, isFirst: tweak.order < other.order } : undefined;
    }
    if (tweak.pair) {
      const other = find(tweak.pair) ?? find(keyOf(tweak.category, tweak.collection, tweak.pair));
      if (other) return { tweak: other, isFirst: tweak.order < other.order };
    }
    const byName = partnerName(tweak);
    const other = byName && find(keyOf(tweak.category, tweak.collection, byName.name));
    return other ? { tweak: other, isFirst: byName.isFirst } : undefined;
  },
  pair(tweak, key) {
    const before = commands.partnerOf(tweak)?.tweak;
    preferences.setPair(tweak.id, key ?? "");
    if (before) preferences.setPair(before.id, "");
    if (key) preferences.setPair(`${tweak.program}\n${key}`, tweak.key);
    list.rebuild();
  },
  undo() {
    tellMove("Undone", history.undo(editing), "There is nothing to undo");
  },
  redo() {
    tellMove("Done again", history.redo(editing), "There is nothing to do again");
  },
  takeSnapshot() {
    const program = currentProgram();
    if (!program?.isLoaded) return;
    sets.take(program.id);
    notices.say(`Snapshot of ${shown(program.description.name)}`);
  },
  restoreSnapshot() {
    const program = currentProgram();
    if (!program || !sets.snapshotTime(program.id)) {
      notices.say("There is no snapshot yet");
      return;
    }
    const count = sets.restore(program.id);
    notices.say(count === 0 ? "Everything is as it was" : `${count} value${count === 1 ? " is" : "s are"} as in the snapshot`);
  },
  toggleSides(wanted) {
    const program = currentProgram();
    if (!program?.isLoaded || wanted === sets.side(program.id)) return;
    const isFirst = !sets.hasOther(program.id);
    const count = sets.toggle(program.id);
    notices.say(isFirst ? "This is B now, and as A is. Change it, and compare with x" : `${sets.side(program.id)}: ${count} value${count === 1 ? "" : "s"} changed`);
  },
  openPresets: () => currentProgram() && openPresets(page, currentProgram().id),
  openExport: (id = currentProgram()?.id) => id && openExport(page, id),
  loadedPreset: (program) => loadedPresets.get(program)?.name,
  setLoadedPreset(program, name) {
    editing.settled().then(() => {
      loadedPresets.set(program, { name, values: state.snapshot(program) });
      showBar();
    });
  },
  chooseFile(program) {
    const input = byID("file");
    input.onchange = () => {
      const [file] = input.files;
      input.value = "";
      if (file) importFile(page, program, file);
    };
    input.click();
  },
  /** Saves a text as a file of the browser. */
  save(name, text, type) {
    const address = URL.createObjectURL(new Blob([text], { type }));
    const link = make("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  },
  async copyCommand(tweak) {
    const command = shellCommand(state.programs.get(tweak.program), tweak, currentValue(tweak));
    if (await copyText(command)) notices.say(`Copied: ${command}`);
  },
  copyLink: (tweak) => commands.copyPlace({ program: tweak.program, tweak: tweak.key }),
  async copyPlace(place) {
    const address = `${location.origin}${location.pathname}${linkText(place)}`;
    if (await copyText(address)) notices.say("The link is copied");
    else notices.problem("The browser does not let this page copy");
  },
  async copyRestart(program) {
    const { pid, executable } = program.description;
    const word = /^[\w/.+-]+$/.test(executable) ? executable : `'${executable.replaceAll("'", "'\\''")}'`;
    if (await copyText(`kill ${pid} && ${word}`)) notices.say("The command is copied; add the arguments of the program");
  },
  async openProgram() {
    const input = make("input", { type: "text", "aria-label": "Path, name or process id", placeholder: "./program, name or process id", autocomplete: "off", autofocus: true });
    const { openDialog } = await import("./popups.js");
    const open = async () => {
      if (!input.value.trim()) return false;
      try {
        const { program } = await api.post("open", { name: input.value.trim() });
        state.setProgram(program);
        commands.showScope({ program: program.id });
        return true;
      } catch (error) {
        notices.problem(error.message);
        return false;
      }
    };
    const dialog = openDialog("Open a program", make("div", { class: "form" }, input), [{ label: "Cancel" }, { label: "Open", isMain: true, run: open }]);
    input.addEventListener("keydown", async (event) => {
      if (event.key === "Enter" && (await open())) dialog.close();
    });
    input.focus();
  },
  setQuery(changes) {
    Object.assign(query, changes);
    if (changes.text !== undefined) query.words = wordsOf(changes.text);
    byID("scroller").scrollTop = 0;
    findAgain();
    showAddress();
  },
  clearQuery() {
    parts.search.value = "";
    commands.setQuery({ text: "", shows: [], source: undefined, kind: undefined });
  },
  setByGroup(byGroup) {
    preferences.byGroup = byGroup;
    commands.showScope(state.scope.program ? { program: state.scope.program } : {});
  },
  setTheme(theme) {
    preferences.theme = theme;
  },
  toggleOutline(isOpen = !document.body.classList.contains("has-outline"), { quiet = false } = {}) {
    document.body.classList.toggle("has-outline", isOpen);
    setAttribute(parts.outlineButton, "aria-expanded", String(isOpen));
    if (quiet) return;
    if (isOpen) (byID("outline").querySelector("[aria-current]") ?? byID("outline").querySelector("button"))?.focus();
    else parts.outlineButton.focus();
  },
});

function tellMove(word, moved, nothing) {
  if (!moved) {
    notices.say(nothing);
    return;
  }
  const foreign = moved.foreign > 0 ? `; ${moved.foreign} had been changed elsewhere since` : "";
  notices.say(`${word}: ${moved.label}${foreign}`);
  if (moved.tweaks.length === 1) list.reveal(moved.tweaks[0].id);
}

function showGraphs() {
  const tweaks = [...graphed].map((id) => state.tweakOf(id)).filter(Boolean);
  graphs.show(tweaks);
  samples.graphing(new Set(tweaks.map(({ id }) => id)));
  drawSoon();
  list.refresh();
  details.update();
}

/** What of the bar depends on the program and on what was done. */
function showBar() {
  const program = currentProgram();
  const name = program ? shown(program.description.name) : "";
  const buttons = [[parts.undo, "Undo", history.undoLabel], [parts.redo, "Redo", history.redoLabel]];
  for (const [button, word, label] of buttons) {
    setAttribute(button, "aria-disabled", label ? undefined : "true");
    button.title = label ? `${word}: ${label}` : word;
  }
  const side = program ? sets.side(program.id) : "A";
  const count = program ? sets.otherDifferences(program.id) : 0;
  for (const [button, one] of [[parts.a, "A"], [parts.b, "B"]]) {
    setAttribute(button, "aria-pressed", String(side === one));
    button.title = side === one ? `${one} of ${name} is shown; x for the other` : `Show ${one} of ${name}${count ? `, ${count} different` : ""}`;
  }
  parts.sides.classList.toggle("is-different", count > 0);
  const loaded = program && loadedPresets.get(program.id);
  const unsaved = loaded ? state.differences(program.id, loaded.values).length : 0;
  setText(parts.presets.querySelector("span"), loaded ? `${shown(loaded.name)}${unsaved ? " •" : ""}` : "Presets");
  parts.presets.title = loaded ? (unsaved ? `${unsaved} not saved in "${shown(loaded.name)}"` : `As saved in "${shown(loaded.name)}"`) : "Presets";
}

let barTimer = 0;
const showBarSoon = () => {
  barTimer ||= setTimeout(() => {
    barTimer = 0;
    showBar();
    showWaiting(currentProgram());
  }, 150);
};

function showBanner() {
  const banner = byID("banner");
  const texts = {
    lost: "The connection to tweak ui is lost. Trying again…", ended: "tweak ui has ended. This page comes back when it is started again.",
    refused: "tweak ui does not know this page. Open the address that it printed.",
  };
  const text = texts[state.connection];
  banner.hidden = !text;
  setText(banner, text ?? "");
  document.body.dataset.connection = state.connection;
}

function showTheme() {
  const { theme } = preferences;
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

function showPeople() {
  const count = state.viewers.length;
  parts.people.hidden = count < 2;
  setText(parts.people.querySelector("span"), String(count));
  parts.people.title = `${count} pages are open`;
  setAttribute(parts.people, "aria-label", `${count} pages are open`);
  list.refresh();
}

// The address is where one is, so that it can be sent to somebody.

let isFollowing = false;
function showAddress() {
  if (isFollowing) return;
  const tweak = state.tweakOf(state.selected);
  const place = {
    ...state.scope, ...(tweak ? { program: tweak.program, tweak: tweak.key } : {}), q: query.text, show: query.shows.join(" "),
  };
  const text = linkText(place);
  if (text === location.hash) return;
  window.history.replaceState(null, "", `${location.pathname}${text}`);
}

let wantedPlace;
async function followAddress() {
  const { token, ...place } = placeOf(location.hash);
  if (token) {
    // A token does not stay in the address, where it would get into the history of the browser.
    window.history.replaceState(null, "", `${location.pathname}${linkText(place)}`);
    try {
      await api.exchange(token);
    } catch (error) {
      if (!api.hasSession) state.set("connection", "refused");
      notices.problem(error.message);
    }
  }
  isFollowing = true;
  query.text = place.q ?? "";
  query.words = wordsOf(query.text);
  query.shows = (place.show ?? "").split(" ").filter((name) => filters.some((filter) => filter[0] === name));
  parts.search.value = query.text;
  state.scope = {};
  for (const name of ["program", "category", "collection", "group"]) if (place[name] !== undefined) state.scope[name] = place[name];
  wantedPlace = place;
  isFollowing = false;
  if (state.connection === "connected") {
    for (const program of shownPrograms()) commands.load(program.id);
    findAgain();
    outline.update();
    goToPlace();
  }
}

/** Goes to the tweak of the address as soon as it is there. */
function goToPlace() {
  const place = wantedPlace;
  if (!place) return;
  if (place.program && !state.programs.has(place.program)) return;
  if (!place.tweak) {
    wantedPlace = undefined;
    return;
  }
  const tweak = state.tweak(place.program, place.tweak);
  if (!tweak) {
    if (!state.programs.get(place.program)?.isLoaded) return;
    wantedPlace = undefined;
    notices.problem(`${shown(place.tweak)}: the program has no such tweak`);
    return;
  }
  wantedPlace = undefined;
  if (state.selected !== tweak.id) commands.select(tweak);
  list.reveal(tweak.id, { focus: "name" });
}

// What the server says.

api.onState = (connection) => {
  if (connection === "lost" && (state.connection === "ended" || state.connection === "refused")) return;
  if (connection === "connected") return;
  state.set("connection", connection);
};

const receive = {
  hello({ stream, programs, viewers, first }) {
    state.stream = stream;
    state.set("connection", "connected");
    if (first && !state.scope.program && state.programs.size === 0 && !wantedPlace?.program) state.scope = { program: first };
    state.setPrograms(programs);
    state.set("viewers", viewers);
    for (const program of shownPrograms()) commands.load(program.id, { again: true });
    samples.askAgain();
    tellPresence();
    findAgain({ keeping: true });
    goToPlace();
  },
  program({ program }) {
    const before = state.programs.get(program.id);
    state.setProgram(program);
    const isOther = before && (before.state !== program.state || before.description.pid !== program.pid);
    if (isOther) {
      notices.whisper(`${shown(program.name)}: ${stateText(program)}`);
      samples.askAgain();
    }
    const isShown = state.scope.program === undefined || state.scope.program === program.id;
    if (isShown && (isOther || !before)) commands.load(program.id, { again: true });
  },
  gone({ program }) {
    state.removeProgram(program);
  },
  tweaks({ program }) {
    if (state.programs.get(program)?.isLoaded) commands.load(program, { again: true });
  },
  changes({ program, changes }) {
    for (const change of changes) {
      const tweak = state.tweak(program, change.tweak);
      if (!tweak) continue;
      remember(tweak, change);
      state.setValue(program, change);
    }
  },
  samples(message) {
    samples.take(message);
    drawSoon();
  },
  viewers({ viewers }) {
    state.set("viewers", viewers);
  },
  preset({ program }) {
    state.tell("presets", program);
  },
  bye() {},
};
api.isRecording = () => graphed.size > 0;
api.onEvent = (name, data) => receive[name]?.(data);

/** Keeps a change for the graph and the details, with who made it. */
function remember(tweak, change) {
  if (tweak.monitor || tweak.type === "action") return;
  const [old, value] = [valueFrom(tweak.type, change.oldValue), valueFrom(tweak.type, change.pendingValue ?? change.value)];
  if (equalValues(old, value)) return;
  const newText = valueText(tweak, value);
  samples.mark({
    time: change.time ?? samples.now(), id: tweak.id, program: tweak.program, key: tweak.key, label: tweak.label, newText,
    text: `${valueText(tweak, old)} → ${newText}`, who: whoText(change),
  });
}

function whoText({ by, source }) {
  if (by !== undefined && by === state.stream) return "this page";
  if (by !== undefined) {
    const viewer = state.viewers.find(({ stream }) => stream === by);
    return viewer?.name ? shown(viewer.name) : `page ${by}`;
  }
  return source === "override" || source === "default" ? "elsewhere" : shown(source ?? "elsewhere");
}

let presence = "";
function tellPresence() {
  if (!api.stream || state.connection !== "connected") return;
  const focused = document.activeElement?.closest?.(".row");
  const selected = state.tweakOf(state.selected);
  const body = { stream: api.stream, program: focused?.dataset.program ?? selected?.program ?? currentProgram()?.id, tweak: focused?.dataset.tweak ?? selected?.key };
  if (preferences.name) body.name = preferences.name;
  const text = JSON.stringify(body);
  if (text === presence) return;
  presence = text;
  api.post("presence", body).catch(() => { presence = ""; });
}

// How the parts follow the state.

state.on("programs", () => {
  outline.update();
  showListHead();
  showBarSoon();
  if (state.programs.size !== listedPrograms) {
    listedPrograms = state.programs.size;
    for (const program of shownPrograms()) commands.load(program.id);
    findAgain({ keeping: true });
  } else list.refresh();
});
let listedPrograms = 0;
state.on("tweaks", (program) => {
  findAgain({ keeping: true });
  list.refresh();
  outline.update();
  showBarSoon();
  const selected = state.tweakOf(state.selected);
  if (selected?.program === program && details.tweak !== selected) details.show(selected);
  else if (selected?.program === program) details.update();
  else if (state.selected && !selected && state.selected.startsWith(`${program}\n`)) commands.select(undefined);
  if (graphed.size > 0) showGraphs();
  goToPlace();
});
let outlineTimer = 0;
state.on("value", (tweak) => {
  list.changed(tweak);
  if (state.selected) details.changed(tweak);
  findSoon();
  showBarSoon();
  outlineTimer ||= setTimeout(() => {
    outlineTimer = 0;
    outline.update();
  }, 600);
});
state.on("viewers", showPeople);
state.on("connection", () => {
  showBanner();
  showEmpty();
});
history.onChange = showBarSoon;
sets.onChange = showBar;
preferences.onChange = () => {
  showTheme();
  list.refresh();
  details.update();
  if (query.shows.includes("starred")) findAgain({ keeping: true });
};

// Keys, and what comes from outside.

parts.search.addEventListener("input", () => commands.setQuery({ text: parts.search.value }));
parts.search.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    if (parts.search.value) {
      parts.search.value = "";
      commands.setQuery({ text: "" });
    } else parts.search.blur();
    event.preventDefault();
    event.stopPropagation();
  } else if (event.key === "ArrowDown" || event.key === "Enter") {
    event.preventDefault();
    list.focusFirst();
  }
});

const isDark = () => preferences.theme === "dark" ||
  (preferences.theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
const keys = {
  "/": () => {
    parts.search.focus();
    parts.search.select();
  },
  "?": openHelp, f: openFilters, x: () => commands.toggleSides(), n: () => commands.takeSnapshot(), N: () => commands.restoreSnapshot(),
  p: () => commands.openPresets(), e: () => commands.openExport(), k: () => graphed.size > 0 && graphs.togglePause(),
  o: () => commands.toggleOutline(true),
  t: () => commands.setTheme(isDark() ? "light" : "dark"),
};
addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]")) return;
  const isField = isTyping();
  if ((event.ctrlKey || event.metaKey) && !event.altKey) {
    const key = event.key.toLowerCase();
    const isRedo = (key === "z" && event.shiftKey) || key === "y";
    if (key !== "z" && key !== "y") return;
    // In a field that is being typed into, the keys are the field's.
    if (isField && list.isBusy) return;
    if (isField && document.activeElement === parts.search) return;
    event.preventDefault();
    if (isRedo) commands.redo();
    else commands.undo();
    return;
  }
  if (event.altKey || event.metaKey || event.ctrlKey) return;
  if (event.key === "Escape" && !document.querySelector(".popover:popover-open")) {
    if (document.body.classList.contains("has-outline")) commands.toggleOutline(false);
    else if (isField) document.activeElement.blur();
    else if (state.selected) commands.select(undefined);
    return;
  }
  if (isField || document.querySelector(".popover:popover-open")) return;
  const run = keys[event.key];
  if (!run) return;
  event.preventDefault();
  run();
});
document.addEventListener("focusin", () => {
  const row = document.activeElement?.closest?.(".row");
  if (row) lastTouched = row.dataset.program;
  tellPresence();
});
addEventListener("hashchange", followAddress);
addEventListener("dragover", (event) => {
  if (![...(event.dataTransfer?.types ?? [])].includes("Files")) return;
  event.preventDefault();
  byID("drop-hint").hidden = false;
});
addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) byID("drop-hint").hidden = true;
});
addEventListener("drop", (event) => {
  byID("drop-hint").hidden = true;
  const [file] = event.dataTransfer?.files ?? [];
  if (!file) return;
  event.preventDefault();
  const program = currentProgram();
  if (program) importFile(page, program.id, file);
});

/** Small graphs are drawn when samples come, at most twenty times in a second; the large one with every frame. */
let lastLive = 0;
let liveFrame = 0;
function drawSoon() {
  liveFrame ||= requestAnimationFrame((time) => {
    liveFrame = 0;
    if (time - lastLive > 48) {
      lastLive = time;
      list.updateLive();
      details.updateLive();
    }
    if (graphed.size === 0) return;
    graphs.draw();
    drawSoon();
  });
}

parts.byGroup.value = preferences.byGroup ? "groups" : "categories";
showTheme();
showBar();
await followAddress();
api.listen();
// For tests and measurements.
globalThis.tweaksPage = page;
