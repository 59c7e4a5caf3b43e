// SPDX-License-Identifier: BSD-3-Clause

// The top bar, the line above the list, and their menus and filters.

import { patience } from "./clock.js";
import { byID, icon, iconButton, make, setAttribute, setText, textButton } from "./dom.js";
import { filters, isEmptyQuery, typeKinds } from "./finding.js";
import { counted, shown } from "./names.js";
import { endText, whose } from "./outline.js";
import { openMenu, openPopover } from "./popups.js";
import { sourceText } from "./row.js";
import { snapshotName } from "./sets.js";
import { isMonitored, isSet, isSettable, waitsForRestart } from "./tweaks.js";

/** The snapshots in the menu; the dialog has all. */
const mostInMenu = 6;

/**
 * Makes the bar and the functions that update it.
 *
 * @param {import("./page.js").Page} page
 */
export function makeBar({ commands, controllers, graphs, history, preferences, sets, state }) {
  const parts = {};
  parts.search = make("input", {
    type: "search",
    class: "search",
    id: "search",
    placeholder: "Search",
    "aria-label": "Search names, descriptions and values",
    autocomplete: "off",
    spellcheck: "false",
    "aria-keyshortcuts": "/",
    enterkeyhint: "search"
  });
  parts.undo = iconButton("undo", "Undo", () => commands.undo(), { "aria-keyshortcuts": "Control+Z" });
  parts.redo = iconButton("redo", "Redo", () => commands.redo(), { "aria-keyshortcuts": "Control+Shift+Z" });
  parts.filter = make(
    "button",
    {
      class: "button with-icon",
      "aria-label": "Filters",
      title: "Filters",
      "aria-haspopup": "dialog",
      "aria-expanded": "false",
      onclick: () => openFilters()
    },
    icon("filter"),
    make("span", { class: "filter-text", text: "Filter" })
  );
  parts.a = make("button", { class: "side", text: "A", onclick: () => commands.toggleSides("A") });
  parts.b = make("button", { class: "side", text: "B", onclick: () => commands.toggleSides("B") });
  parts.sides = make("div", { class: "sides", id: "sides", role: "group", "aria-label": "A and B" }, parts.a, parts.b);
  parts.tryButton = make("button", {
    class: "button try",
    text: "Try",
    "aria-pressed": "false",
    "aria-keyshortcuts": "y",
    onclick: () => commands.toggleTry()
  });
  parts.snapshot = iconButton(
    "camera",
    "Snapshot",
    (event) => openMenu(event.currentTarget, "Snapshot", snapshotEntries()),
    { "aria-haspopup": "menu", "aria-expanded": "false" }
  );
  parts.presets = make(
    "button",
    {
      class: "button with-icon",
      "aria-label": "Presets",
      title: "Presets",
      onclick: () => commands.openPresets()
    },
    icon("layers"),
    make("span", { class: "preset-text", text: "Presets" })
  );
  parts.people = make(
    "button",
    {
      class: "button with-icon people",
      hidden: true,
      "aria-haspopup": "dialog",
      "aria-expanded": "false",
      onclick: () => openPeople()
    },
    icon("people"),
    make("span", { text: "" })
  );
  parts.more = iconButton("more", "More", (event) => openMenu(event.currentTarget, "More", moreEntries()), {
    id: "more",
    "aria-haspopup": "menu",
    "aria-expanded": "false"
  });
  parts.outlineButton = iconButton("menu", "Outline", () => commands.toggleOutline(), {
    class: "outline-button",
    id: "outline-button",
    "aria-expanded": "false",
    "aria-controls": "outline-panel"
  });
  byID("top").replaceChildren(
    parts.outlineButton,
    make("h1", { class: "brand", text: "Tweaks" }),
    make(
      "div",
      { class: "search-box", role: "search" },
      icon("search"),
      parts.search,
      make("kbd", { text: "/", "aria-hidden": "true" })
    ),
    parts.filter,
    make(
      "div",
      { class: "top-buttons", role: "toolbar", "aria-label": "Values" },
      parts.undo,
      parts.redo,
      parts.tryButton,
      parts.sides,
      parts.snapshot,
      parts.presets
    ),
    parts.people,
    parts.more
  );

  parts.byGroup = make(
    "select",
    {
      "aria-label": "Outline by",
      class: "outline-by",
      onchange: () => commands.setByGroup(parts.byGroup.value === "groups")
    },
    make("option", { value: "categories", text: "By category" }),
    make("option", { value: "groups", text: "By group" })
  );
  byID("outline-head").append(
    parts.byGroup,
    iconButton("close", "Close the outline", () => commands.toggleOutline(false), { class: "outline-close" })
  );

  parts.scopeTitle = make("h2", { class: "scope-title", translate: "no", id: "scope-title" });
  parts.scopeState = make("span", { class: "scope-state" });
  parts.count = make("span", { class: "scope-count", role: "status" });
  parts.waiting = make("span", { class: "waiting" });
  parts.scopeMenu = iconButton(
    "more",
    "More actions",
    (event) => scopeMenu(event.currentTarget, { ...state.scope, program: state.currentProgram()?.id }),
    { "aria-haspopup": "menu", "aria-expanded": "false" }
  );
  parts.trying = make(
    "div",
    { class: "trying", hidden: true },
    make("span", { role: "status" }),
    textButton("Keep", () => commands.endTrial(true)),
    textButton("Discard", () => commands.endTrial(false))
  );
  parts.palette = make("div", {
    class: "chips",
    role: "group",
    "aria-label": "Filters and commands found",
    hidden: true
  });
  parts.chips = make("div", { class: "chips", role: "group", "aria-label": "Active filters" });
  byID("list-head").append(
    make(
      "div",
      { class: "scope-line" },
      parts.scopeTitle,
      parts.scopeState,
      parts.count,
      parts.waiting,
      parts.scopeMenu
    ),
    parts.trying,
    parts.chips,
    parts.palette
  );

  parts.byGroup.value = preferences.byGroup ? "groups" : "categories";

  function showListHead() {
    const { scope } = state;
    const program = scope.program === undefined && state.programs.size !== 1 ? undefined : state.currentProgram();
    const names = scope.group !== undefined
      ? [scope.group || "No group"]
      : [scope.category, scope.collection, scope.panel].filter((name) => name !== undefined);
    const title = [program ? program.description.name : (scope.program ?? "All programs"), ...names].map(shown).join(
      " › "
    );
    setText(parts.scopeTitle, title);
    document.title = `${title} – Tweaks`;
    setText(parts.scopeState, program ? whose(program) + programText(program) : "");
    parts.scopeState.dataset.state = program?.state ?? "";
    showCount();
    showWaiting(program);
    showTrying();
    showChips();
  }

  /** Shows how many tweaks are listed, and how many of them are changed or found. */
  function showCount() {
    const { count, total, items } = state.listed;
    const changed = items.filter(({ kind, tweak }) => kind === "row" && isSet(tweak)).length;
    setText(
      parts.count,
      !isEmptyQuery(state.query)
        ? `${state.query.isLoose ? "no matches; similar: " : ""}${count} of ${total}`
        : changed > 0
        ? `${changed} of ${count} changed`
        : counted(count, "tweak")
    );
  }

  function programText(program) {
    const { description } = program;
    switch (program.state) {
      case "running":
        return description.processes > 1
          ? `running, ${description.processes} processes`
          : `running, process ${description.pid}`;
      case "offline":
        return `${endText(description) || "not running"}; ${
          description.isGone ? "executable deleted" : "changes apply at the next start"
        }`;
      case "memory":
        return "without the library; changes last until it exits";
      case "silent":
        return "not responding; showing the last known values";
      default:
        return program.state;
    }
  }

  /** Shows how many values need a restart, with a button for it, or offers to start a program that has ended. */
  function showWaiting(program) {
    const isRunning = program?.state === "running" || program?.state === "silent";
    const waiting = isRunning ? [...program.tweaks.values()].filter(waitsForRestart).length : 0;
    const isStartable = Boolean(program?.description.isStartable);
    parts.waiting.hidden = waiting === 0 && !isStartable;
    const shownFor = parts.waiting.hidden ? "" : `${program.id} ${waiting}`;
    if (parts.waiting.dataset.shownFor === shownFor) return;
    parts.waiting.dataset.shownFor = shownFor;
    if (waiting === 0) {
      parts.waiting.replaceChildren(
        ...(isStartable ? [textButton("Start again…", () => commands.restart(program))] : [])
      );
      return;
    }
    parts.waiting.replaceChildren(make("button", {
      class: "badge warning",
      text: `${waiting} need${waiting === 1 ? "s" : ""} a restart`,
      title: "Restart the program…",
      "aria-haspopup": "dialog",
      onclick: () => commands.restart(program)
    }));
  }

  /** Shows whether changes are tried, and how many values are. */
  function showTrying() {
    const program = state.currentProgram();
    const isTrying = program !== undefined && state.trying.has(program.id);
    const canTry = isTrying || program?.state === "running";
    setAttribute(parts.tryButton, "aria-pressed", String(isTrying));
    setAttribute(parts.tryButton, "aria-disabled", canTry ? undefined : "true");
    parts.tryButton.title = isTrying
      ? "Stop, and discard the tried values"
      : canTry
      ? "Change values without keeping them"
      : "Values can be tried while the program runs with the Tweaks library";
    parts.trying.hidden = !isTrying;
    if (!isTrying) return;
    const count = state.triedCount(program.id);
    const [text, keep] = parts.trying.children;
    setText(text, count === 0 ? "Trying: changes are reverted when this page closes" : counted(count, "tried value"));
    for (const button of [keep, keep.nextSibling]) button.hidden = count === 0;
  }

  function showChips() {
    const chips = state.query.shows.map((
      name
    ) => [
      filters.find((filter) => filter[0] === name)?.[1] ?? name,
      () => commands.setQuery({ shows: state.query.shows.filter((one) => one !== name) })
    ]);
    if (state.query.source)
      chips.push([`From: ${sourceText(state.query.source)}`, () => commands.setQuery({ source: undefined })]);
    if (state.query.kind)
      chips.push([
        typeKinds.find(([kind]) => kind === state.query.kind)?.[1] ?? state.query.kind,
        () => commands.setQuery({ kind: undefined })
      ]);
    parts.chips.hidden = chips.length === 0;
    const text = JSON.stringify(chips.map(([label]) => label));
    if (parts.chips.dataset.text !== text) {
      parts.chips.dataset.text = text;
      parts.chips.replaceChildren(
        ...chips.map(([label, remove]) =>
          make(
            "button",
            { class: "chip", "aria-label": `Filter ${label}, remove`, onclick: remove },
            make("span", { text: label }),
            icon("close")
          )
        )
      );
    }
    setText(parts.filter.querySelector("span"), chips.length > 0 ? `Filter ${chips.length}` : "Filter");
    parts.filter.title = chips.length > 0
      ? `Filter ${chips.length}: ${chips.map(([label]) => label).join(", ")}`
      : "Filters";
    setAttribute(parts.filter, "aria-label", parts.filter.title);
    parts.filter.classList.toggle("is-on", chips.length > 0);
  }

  function openFilters() {
    const sources = new Set(["default", "override"]);
    for (const program of state.shownPrograms())
      for (const { source } of program.tweaks.values()) if (source) sources.add(source);
    const boxes = filters.map(([name, label]) =>
      make(
        "label",
        { class: "check" },
        make("input", {
          type: "checkbox",
          checked: state.query.shows.includes(name),
          onchange: (event) =>
            commands.setQuery({
              shows: event.target.checked
                ? [...state.query.shows, name]
                : state.query.shows.filter((one) => one !== name)
            })
        }),
        make("span", { text: label })
      )
    );
    const chooser = (label, name, entries) =>
      make(
        "label",
        { class: "filter-choice" },
        make("span", { text: label }),
        make(
          "select",
          {
            onchange: (event) => commands.setQuery({ [name]: event.target.value || undefined })
          },
          make("option", { value: "", text: "any" }),
          entries.map(([value, text]) => make("option", { value, text, selected: state.query[name] === value }))
        )
      );
    openPopover(
      parts.filter,
      make(
        "div",
        { class: "filters" },
        boxes,
        chooser("From", "source", [...sources].map((source) => [source, sourceText(source)])),
        chooser("Type", "kind", typeKinds),
        textButton("Show all", () => commands.clearQuery())
      ),
      { label: "Filters" }
    );
  }

  function openPeople() {
    const name = make("input", {
      type: "text",
      value: preferences.name,
      maxlength: 40,
      placeholder: "Your name",
      "aria-label": "Your name, shown to others",
      onchange: () => {
        preferences.name = name.value.trim();
        state.tell("name");
      }
    });
    openPopover(
      parts.people,
      make(
        "div",
        { class: "people-list" },
        make(
          "ul",
          {},
          state.viewers.map((viewer) => {
            const tweak = viewer.tweak && state.tweak(viewer.program, viewer.tweak);
            return make("li", {
              translate: "no",
              text: `${
                viewer.stream === state.stream ? "You" : viewer.name ? shown(viewer.name) : `Page ${viewer.stream}`
              }${tweak ? `: ${tweak.label}` : ""}`
            });
          })
        ),
        make("label", {}, make("span", { class: "who", text: "Your name" }), name)
      ),
      { label: "People on this page" }
    );
  }

  function moreEntries() {
    const program = state.currentProgram();
    const theme = (value, label) => ({
      label,
      isChecked: preferences.theme === value,
      run: () => commands.setTheme(value)
    });
    return [
      { label: "Open a program…", run: () => commands.openProgram() },
      ...(state.hasFleet ? [{ label: "Fleet", run: () => location.assign("fleet.html") }] : []),
      { label: "History", key: "h", isDisabled: !program, run: () => commands.toggleHistory(true) },
      { label: "Copy or export…", key: "e", isDisabled: !program, run: () => commands.openExport() },
      { label: "Import a file…", isDisabled: !program, run: () => commands.chooseFile(program.id) },
      { label: "Knobs…", isDisabled: !controllers.isPossible, run: () => controllers.openList() },
      { label: "Reset all…", isDisabled: !program, run: () => commands.resetScope({ program: program.id }) },
      null,
      theme("auto", "Match the system"),
      theme("light", "Light"),
      theme("dark", "Dark"),
      null,
      {
        label: "Your name…",
        run: () => {
          parts.people.hidden = false;
          openPeople();
        }
      },
      { label: "Keyboard shortcuts", key: "?", run: () => commands.openHelp() }
    ];
  }

  function snapshotEntries() {
    const program = state.currentProgram();
    const snapshots = program ? [...sets.snapshots(program.id)].reverse() : [];
    const entry = (snapshot, index) => ({
      label: `Restore ${shown(snapshotName(snapshot))} (${sets.since(program.id, snapshot).length} changed)`,
      key: index === 0 ? "Shift N" : undefined,
      run: () => commands.restoreSnapshot(snapshot)
    });
    return [
      { label: "Take a snapshot", key: "n", isDisabled: !program?.isLoaded, run: () => commands.takeSnapshot() },
      ...(snapshots.length > 0
        ? snapshots.slice(0, mostInMenu).map(entry)
        : [{ label: "Restore the snapshot", key: "Shift N", isDisabled: true, run: () => {} }]),
      {
        label: "Move from A to B…",
        isDisabled: !program || sets.otherDifferences(program.id) === 0,
        run: () => commands.openMorph()
      },
      { label: "Snapshots…", isDisabled: !program?.isLoaded, run: () => commands.openSnapshots() }
    ];
  }

  function scopeMenu(anchor, scope) {
    const program = state.programs.get(scope.program);
    if (!program) return;
    const tweaks = state.tweaksIn(scope);
    const set = tweaks.filter((tweak) => isSettable(tweak) && isSet(tweak)).length;
    const keepable = tweaks.filter(commands.isKeepable).length;
    openMenu(anchor, "More actions", [
      { label: `Reset ${set} of ${tweaks.length}…`, isDisabled: set === 0, run: () => commands.resetScope(scope) },
      { label: `Write ${keepable} to the sources…`, isDisabled: keepable === 0, run: () => commands.keepScope(scope) },
      {
        label: "Graph the monitors",
        isDisabled: !tweaks.some(isMonitored),
        run: () => commands.graph(tweaks.filter(isMonitored))
      },
      { label: "Copy link", run: () => commands.copyPlace({ ...scope, ...graphs.placeIn(program.id) }) },
      { label: "Make a panel…", run: () => commands.openPanel(program.id) },
      { label: "Panels…", run: () => commands.openPanels(program.id) },
      { label: "Copy or export…", run: () => commands.openExport(program.id) },
      null,
      ...(program.state === "offline"
        ? [
          { label: "Start again…", isDisabled: !program.description.isStartable, run: () => commands.restart(program) },
          { label: "Remove from the list", run: () => commands.forget([program]) }
        ]
        : [
          { label: "Restart the program…", run: () => commands.restart(program) },
          { label: "Copy the restart command", run: () => commands.copyRestart(program) }
        ])
    ]);
  }

  /** Updates the buttons for undo, A and B, and presets. */
  function show() {
    const program = state.currentProgram();
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
      button.title = side === one
        ? `Showing ${one} of ${name}; press x for the other`
        : `Show ${one} of ${name}${count ? `, ${count} different` : ""}`;
    }
    parts.sides.classList.toggle("is-different", count > 0);
    const loaded = program && state.loadedPresets.get(program.id);
    const unsaved = loaded ? state.differences(program.id, loaded.values).length : 0;
    setText(parts.presets.querySelector("span"), loaded ? `${shown(loaded.name)}${unsaved ? " •" : ""}` : "Presets");
    parts.presets.title = loaded
      ? (unsaved
        ? `${counted(unsaved, "unsaved value")} in "${shown(loaded.name)}"`
        : `Saved as "${shown(loaded.name)}"`)
      : "Presets";
  }

  let barTimer = 0;
  const showSoon = () => {
    if (barTimer) return;
    barTimer = setTimeout(() => {
      barTimer = 0;
      show();
      showCount();
      showWaiting(state.currentProgram());
      showTrying();
    }, 150);
  };

  function showBanner() {
    const banner = byID("banner");
    const texts = {
      silent: `No answer for ${patience / 1000} s; values may be old`,
      lost: "Lost the connection to tweak ui. Reconnecting…",
      ended: state.comesBack
        ? "tweak ui has exited. This page reconnects when it is started again."
        : "tweak ui has exited. Start it again and open the address that it prints.",
      refused: "tweak ui does not recognise this page. Open the address that it printed."
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
    parts.people.title = count === 1 ? "1 page is open" : `${count} pages are open`;
    setAttribute(parts.people, "aria-label", parts.people.title);
  }

  return Object.freeze({
    showListHead,
    showTrying,
    scopeMenu,
    openFilters,
    show,
    showSoon,
    showBanner,
    showTheme,
    showPeople,
    parts
  });
}
