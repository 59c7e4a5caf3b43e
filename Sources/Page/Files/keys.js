// SPDX-License-Identifier: BSD-3-Clause

// Handles keys for the whole page, and files dropped on it.

import { byID, focusedRow, isTyping } from "./dom.js";
import { ignoreComposing, shortcutKey } from "./keyboard.js";

/** The command for a key pressed on the name of a tweak or in its details. */
export function tweakCommand(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  return {
    r: "resetTweak",
    s: "toggleStar",
    g: "toggleGraph",
    c: "copyCommand",
    l: "copyLink",
    b: "keepInSource",
    w: "openSweep"
  }[shortcutKey(event)];
}

/**
 * Handles keys and dropped files.
 *
 * @param {import("./page.js").Page} page
 */
export function addKeys(
  { bar, changes, commands, details, following, graphs, palette, preferences, showing, state }
) {
  ignoreComposing();

  /** The ID of the row that had the focus before a search. */
  let cameFrom;
  bar.parts.search.addEventListener("focus", () => palette.begin());
  bar.parts.search.addEventListener("input", () => commands.setQuery({ text: bar.parts.search.value }));
  bar.parts.search.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      if (bar.parts.search.value) {
        bar.parts.search.value = "";
        commands.setQuery({ text: "" });
      } else if (!(cameFrom && showing.list.reveal(cameFrom, { focus: "name" }))) bar.parts.search.blur();
      event.preventDefault();
      event.stopPropagation();
    } else if (event.key === "ArrowDown" || event.key === "Enter") {
      event.preventDefault();
      if (state.listed.count > 0 && !(state.query.isLoose && palette.first())) showing.list.focusFirst();
      else if (event.key === "Enter") palette.first()?.click();
      else palette.first()?.focus();
    }
  });

  /** Moves the focus from a field to its row or to the details. */
  function leaveField(field) {
    const row = field.closest(".row");
    if (row) showing.list.reveal(`${row.dataset.program}\n${row.dataset.tweak}`, { focus: "name" });
    else if (byID("details").contains(field)) details.focus();
    else field.blur();
  }

  const isDark = () =>
    preferences.theme === "dark" ||
    (preferences.theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  const keys = {
    "/": () => {
      const row = focusedRow();
      cameFrom = row && `${row.dataset.program}\n${row.dataset.tweak}`;
      bar.parts.search.focus();
      bar.parts.search.select();
    },
    "?": () => commands.openHelp(),
    f: bar.openFilters,
    x: () => commands.toggleSides(),
    y: () => commands.toggleTry(),
    n: () => commands.takeSnapshot(),
    N: () => commands.restoreSnapshot(),
    p: () => commands.openPresets(),
    e: () => commands.openExport(),
    k: () => state.graphed.size > 0 && graphs.togglePause(),
    o: () => commands.toggleOutline(true),
    h: () => commands.toggleHistory(),
    t: () => commands.setTheme(isDark() ? "light" : "dark")
  };
  addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]")) return;
    const isField = isTyping();
    if ((event.ctrlKey || event.metaKey) && !event.altKey) {
      const key = shortcutKey(event).toLowerCase();
      const isRedo = (key === "z" && event.shiftKey) || key === "y";
      if (key !== "z" && key !== "y") return;
      // A field with unsaved text has its own undo.
      if (isField && showing.list.isBusy) return;
      if (isField && document.activeElement === bar.parts.search) return;
      event.preventDefault();
      if (isRedo) commands.redo();
      else commands.undo();
      return;
    }
    if (event.altKey || event.metaKey || event.ctrlKey) return;
    if (event.key === "Escape" && !document.querySelector(".popover:popover-open")) {
      if (document.body.classList.contains("has-outline")) commands.toggleOutline(false);
      else if (isField) leaveField(document.activeElement);
      else if (state.selected) commands.select(undefined);
      else if (changes.isOpen) commands.toggleHistory(false);
      return;
    }
    if (isField || document.querySelector(".popover:popover-open")) return;
    const run = keys[shortcutKey(event)];
    if (!run) return;
    event.preventDefault();
    run();
  });
  document.addEventListener("focusin", () => {
    const row = focusedRow();
    if (row) state.lastTouched = row.dataset.program;
    following.tellPresence();
  });
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
    const program = state.currentProgram();
    if (program) commands.importFile(program.id, file);
  });
}
