// SPDX-License-Identifier: BSD-3-Clause

// The filters, commands and presets that a search finds, as buttons above the list.

import { make } from "./dom.js";
import { filters, isMeant, typeKinds } from "./finding.js";
import { shown } from "./names.js";
import { isMonitored, isSet, isSettable } from "./tweaks.js";

const mostShown = 6;

/**
 * Makes the functions that show what a search finds besides tweaks.
 *
 * @param {import("./page.js").Page} page
 */
export function makePalette({ api, bar, commands, history, sets, state }, element) {
  /** A program's presets and panels, asked for when a search begins. */
  const presets = { program: "", names: /** @type {string[]} */ ([]), panels: [] };

  /** Finds presets that were saved meanwhile. */
  async function begin() {
    const program = state.currentProgram()?.id;
    if (!program) return;
    try {
      const { presets: found } = await api.post("presets", { program });
      const { panels } = await api.post("panels", { program });
      Object.assign(presets, {
        program,
        panels,
        names: found.filter(({ problem }) => !problem).map(({ name }) => name)
      });
      show();
    } catch {
      // The dialog of presets tells what is wrong.
    }
  }

  /** All entries: their labels, and what they do. */
  function entries() {
    const program = state.currentProgram();
    const found = [];
    const add = (label, run, isPossible = true) => isPossible && found.push({ label, run });
    for (const [name, label] of filters) add(label, () => commands.setQuery({ shows: [name] }));
    for (const [name, label] of typeKinds) add(label, () => commands.setQuery({ kind: name }));
    add("Undo", () => commands.undo(), Boolean(history.undoLabel));
    add("Redo", () => commands.redo(), Boolean(history.redoLabel));
    add("Open a program…", () => commands.openProgram());
    add("Keyboard shortcuts", () => commands.openHelp());
    add("Dark theme", () => commands.setTheme("dark"));
    add("Light theme", () => commands.setTheme("light"));
    if (!program) return found;
    const { id, description: { name } } = program;
    const tweaks = [...program.tweaks.values()];
    if (program.state !== "offline") add(`Restart ${shown(name)}…`, () => commands.restart(program));
    else add(`Start ${shown(name)} again…`, () => commands.restart(program), program.description.isStartable);
    add(
      state.trying.has(id) ? "Stop trying" : "Try",
      () => commands.toggleTry(),
      state.trying.has(id) || program.state === "running"
    );
    add("Take a snapshot", () => commands.takeSnapshot());
    add("Snapshots…", () => commands.openSnapshots());
    add("Move from A to B…", () => commands.openMorph(), sets.otherDifferences(id) > 0);
    add("Presets…", () => commands.openPresets());
    if (presets.program === id) {
      for (const preset of presets.names) add(`Preset ${shown(preset)}…`, () => commands.loadPreset(id, preset));
      for (const { name, place } of presets.panels)
        add(`Panel ${shown(name)}`, () => commands.showScope({ program: id, panel: name, place }));
    }
    add("History", () => commands.toggleHistory(true));
    add("Graph the monitors", () => commands.graph(tweaks.filter(isMonitored)), tweaks.some(isMonitored));
    add("Copy or export…", () => commands.openExport(id));
    add("Import a file…", () => commands.chooseFile(id));
    add("Make a panel…", () => commands.openPanel(id));
    add("Panels…", () => commands.openPanels(id));
    add(
      "Reset all…",
      () => commands.resetScope({ program: id }),
      tweaks.some((tweak) => isSettable(tweak) && isSet(tweak))
    );
    return found;
  }

  /** Shows the entries whose names have the words of the search. */
  function show() {
    const { words } = state.query;
    const found = words.length === 0 ? [] : entries().filter(({ label }) => isMeant(label, words)).slice(0, mostShown);
    element.hidden = found.length === 0;
    const text = JSON.stringify(found.map(({ label }) => label));
    if (element.dataset.text === text) return;
    element.dataset.text = text;
    element.replaceChildren(
      ...found.map(({ label, run }) =>
        make("button", {
          class: "chip",
          text: label,
          onclick: () => {
            bar.parts.search.value = "";
            commands.setQuery({ text: "" });
            run();
          }
        })
      )
    );
  }

  return Object.freeze({
    begin,
    show,
    first: () => /** @type {HTMLElement | null} */ (element.querySelector("button"))
  });
}
