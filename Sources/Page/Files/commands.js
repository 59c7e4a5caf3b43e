// SPDX-License-Identifier: BSD-3-Clause

// The commands behind buttons and keys.

import { copyText, shellCommand } from "./copying.js";
import { byID, make, setAttribute } from "./dom.js";
import { wordsOf } from "./finding.js";
import { mostLines } from "./graphs.js";
import { counted, keyOf, linkText, shown } from "./names.js";
import { ask, openDialog } from "./popups.js";
import { mostSnapshots, snapshotName } from "./sets.js";
import { currentValue, equalValues, isDrawable, isSet, isSettable, isSweepable, partnerName } from "./tweaks.js";

/** Resetting this many tweaks or more needs confirmation. */
const manyResets = 2;

/** The names of tweaks, shortened. */
const namesOf = (tweaks) =>
  `${tweaks.slice(0, 8).map(({ label }) => label).join(", ")}${
    tweaks.length > 8 ? ` and ${tweaks.length - 8} more` : ""
  }`;

/**
 * Makes the commands.
 *
 * @param {import("./page.js").Page} page
 */
export function makeCommands({ api, changes, editing, graphs, history, notices, preferences, samples, sets, state }) {
  let isEndingTrial = false;
  /** The programs whose tweaks are being loaded, and whether to load them again afterwards. */
  const loading = new Map();

  /**
   * Runs something of a module that is loaded when it is first needed.
   *
   * @template T
   * @param {Promise<T>} module
   * @param {(module: T) => void} run
   */
  async function using(module, run) {
    let loaded;
    try {
      loaded = await module;
    } catch {
      notices.problem("tweak ui did not send this part of the page; try again");
      return;
    }
    await run(loaded);
  }

  const openKeeping = (program, title, /** @type {any[] | undefined} */ tweaks) =>
    using(import("./keeping.js"), ({ openKeeping }) => openKeeping({ api, editing, notices }, program, title, tweaks));

  const commands = Object.freeze({
    showGraphs,
    select(tweak) {
      const before = state.tweakOf(state.selected);
      state.selected = tweak && tweak.id === state.selected ? undefined : tweak?.id;
      const selected = state.tweakOf(state.selected);
      if (selected) state.lastTouched = selected.program;
      state.tell("selected", before);
    },
    showScope(scope) {
      state.scope = { ...scope };
      if (scope.program) state.lastTouched = scope.program;
      const selected = state.tweakOf(state.selected);
      if (selected && scope.program && selected.program !== scope.program) commands.select(undefined);
      byID("scroller").scrollTop = 0;
      state.tell("scope");
    },
    /** Loads the tweaks of a program, one request at a time. */
    async load(id, { again = false } = {}) {
      const program = state.programs.get(id);
      if (!program || (!again && program.isLoaded && program.followedBy === api.connections)) return;
      if (loading.has(id)) {
        if (again) loading.set(id, true);
        return;
      }
      loading.set(id, false);
      const { stream, connections } = api;
      state.changesWhileLoading.set(id, new Map());
      try {
        const answer = await api.post("tweaks", { program: id, stream });
        state.setTweaks(id, answer.tweaks, answer.undeclared, answer.baked);
        const now = state.programs.get(id);
        if (now) now.followedBy = connections;
        if (answer.program) state.setProgram(answer.program);
        sets.restore(id);
        if (history.hasRestorable(id))
          api.post("history", { program: id }).then(({ changes }) => history.restore(id, changes), () => {});
      } catch (error) {
        const now = state.programs.get(id);
        if (now && !now.isLoaded) now.problem = error.message;
        if (error.status === 429) setTimeout(() => commands.load(id, { again: true }), 500);
        state.tell("problem");
      }
      // The server does not follow a program for a stream that has ended.
      state.changesWhileLoading.delete(id);
      const isStale = loading.get(id) || connections !== api.connections;
      loading.delete(id);
      if (isStale) commands.load(id, { again: true });
    },
    resetTweak(tweak) {
      if (!isSettable(tweak)) return;
      if (editing.reset([tweak]) > 0) notices.whisper(`${tweak.label} reset to its default`);
    },
    async resetScope(scope) {
      const tweaks = state.tweaksIn(scope).filter((tweak) => isSettable(tweak) && isSet(tweak));
      if (tweaks.length === 0) {
        notices.say("Nothing to reset");
        return;
      }
      const place = scope.collection ?? scope.category ?? scope.group ??
        state.programs.get(scope.program)?.description.name;
      if (tweaks.length >= manyResets) {
        const names = tweaks.slice(0, 5).map(({ label }) => label).join(", ");
        const isWanted = await ask(
          `Reset ${shown(place)}?`,
          `Resets ${tweaks.length} values to their defaults: ${names}${
            tweaks.length > 5 ? ", …" : ""
          }. You can undo this.`,
          `Reset ${tweaks.length}`
        );
        if (!isWanted) return;
      }
      const count = editing.reset(tweaks);
      notices.say(`${counted(count, "value")} reset`, { label: "Undo", run: () => commands.undo() });
    },
    isStarred: (tweak) => preferences.stars.has(tweak.id),
    toggleStar(tweak) {
      preferences.toggleStar(tweak.id);
      notices.whisper(commands.isStarred(tweak) ? `${tweak.label} starred` : `${tweak.label} unstarred`);
    },
    /** Moves a starred tweak to the place of another one, or of the one before (-1) or after (1) it. */
    moveStar(tweak, place) {
      const order = state.listed.items.filter((item) =>
        item.kind === "row" && item.tweak.program === tweak.program && commands.isStarred(item.tweak)
      ).map((item) => item.tweak);
      const other = typeof place === "number" ? order[order.indexOf(tweak) + place] : place;
      if (!other || !commands.isStarred(other)) return;
      preferences.moveStar(tweak.id, other.id);
      notices.whisper(`${tweak.label}, ${order.indexOf(other) + 1} of ${order.length}`);
    },
    isGraphed: (tweak) => state.graphed.has(tweak.id),
    toggleGraph(tweak) {
      if (!isDrawable(tweak)) return;
      if (!state.graphed.delete(tweak.id)) {
        commands.graph([tweak]);
        return;
      }
      showGraphs();
      graphs.onChange();
    },
    /** Adds lines to the graph, and says which of them it does not draw. */
    graph(tweaks) {
      const added = tweaks.filter(({ id }) => !state.graphed.has(id));
      const left = added.splice(Math.max(0, mostLines - state.graphed.size));
      for (const { id } of added) state.graphed.add(id);
      const waiting = showGraphs().filter((tweak) => added.includes(tweak));
      if (waiting.length > 0)
        notices.say(`Listed in the legend but not drawn: ${namesOf(waiting)}. Hide a line to draw another`);
      if (left.length > 0) notices.problem(`A graph has at most ${mostLines} lines. Not added: ${namesOf(left)}`);
      graphs.onChange();
    },
    closeGraph() {
      state.graphed.clear();
      showGraphs();
      graphs.onChange();
    },
    /** The tweak on the other axis of the pad: chosen in the details, declared by the program, or matched by name. */
    partnerOf(tweak) {
      if (!isSettable(tweak) || tweak.choices) return undefined;
      const find = (key) => {
        const other = state.tweak(tweak.program, key);
        return other && other !== tweak && isSettable(other) && !other.choices && partnerName({ ...other, name: "x" })
          ? other
          : undefined;
      };
      if (!partnerName({ ...tweak, name: "x" })) return undefined;
      const chosen = preferences.pair(tweak.id);
      if (chosen !== undefined) {
        const other = chosen && find(chosen);
        return other ? { tweak: other, isFirst: tweak.order < other.order } : undefined;
      }
      const declared = find(tweak.pair && keyOf(tweak.category, tweak.collection, tweak.pair));
      // If each names the other, the first declared is the horizontal axis.
      if (declared) return { tweak: declared, isFirst: declared.pair !== tweak.name || tweak.order < declared.order };
      const naming = find(state.namingOf(tweak));
      if (naming) return { tweak: naming, isFirst: false };
      const byName = partnerName(tweak);
      const other = byName && find(keyOf(tweak.category, tweak.collection, byName.name));
      return other ? { tweak: other, isFirst: byName.isFirst } : undefined;
    },
    pair(tweak, key) {
      const before = commands.partnerOf(tweak)?.tweak;
      preferences.setPair(tweak.id, key ?? "");
      if (before) preferences.setPair(before.id, "");
      if (key) preferences.setPair(`${tweak.program}\n${key}`, tweak.key);
      state.tell("pairs");
    },
    /** Switches between changes that are kept and changes that are only tried. */
    async toggleTry() {
      const program = state.currentProgram();
      if (!program) return;
      if (state.trying.has(program.id)) {
        await commands.endTrial(false);
        return;
      }
      if (program.state !== "running") {
        notices.say("Values can be tried while the program runs with the Tweaks library");
        return;
      }
      await editing.settled();
      state.trying.add(program.id);
      state.tell("trying", program.id);
      notices.whisper("Trying: changes are reverted when this page closes");
    },
    /** Shows the history of the current program beside the list, or closes it. */
    toggleHistory(isWanted = !changes.isOpen) {
      const program = state.currentProgram();
      if (isWanted && program) {
        if (state.selected) commands.select(undefined);
        changes.open(program);
      } else {
        changes.close();
        byID("more").focus();
      }
      document.body.classList.toggle("has-details", changes.isOpen);
    },
    isEndingTrial: () => isEndingTrial,
    /** Keeps tried values that go back as a snapshot, and returns its name. */
    keepTried(id) {
      const name = `tried ${new Date().toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })}`;
      sets.take(id, name, state.triedTweaks(id));
      return name;
    },
    /** Keeps or discards the tried values, and stops trying. Discarded values stay in a snapshot. */
    async endTrial(isKept) {
      const id = state.currentProgram()?.id;
      if (!id || isEndingTrial) return;
      isEndingTrial = true;
      const tried = state.triedTweaks(id);
      if (
        !isKept && tried.length > 1 &&
        !(await ask(
          `Discard ${tried.length} tried values?`,
          `The previous values return; the tried ones are saved in a snapshot: ${namesOf(tried)}. You can undo this.`,
          "Discard"
        ))
      ) {
        isEndingTrial = false;
        return;
      }
      try {
        const snapshot = !isKept && tried.length > 0 ? commands.keepTried(id) : "";
        const count = tried.length > 0 ? await editing.endTrial(id, isKept) : 0;
        state.trying.delete(id);
        // The event about it may come later, and tells of no other end.
        state.setTrials(id, (state.trials.get(id) ?? []).filter(({ stream }) => stream !== state.stream));
        const text = counted(count, "tried value");
        if (count > 0 && isKept) notices.say(`${text} kept`);
        else if (count > 0)
          notices.say(`${text} reverted; saved as the snapshot "${snapshot}"`, {
            label: "Undo",
            run: () => commands.undo()
          });
      } catch (error) {
        notices.problem(error.message);
      } finally {
        isEndingTrial = false;
      }
      state.tell("trying", id);
    },
    undo() {
      tellMove("Undone", history.undo(editing), "Nothing to undo");
    },
    redo() {
      tellMove("Redone", history.redo(editing), "Nothing to redo");
    },
    takeSnapshot() {
      const program = state.currentProgram();
      if (!program?.isLoaded) return;
      const { dropped } = sets.take(program.id);
      notices.say(
        `Snapshot of ${shown(program.description.name)} taken${
          dropped ? `; ${shown(snapshotName(dropped))}, the oldest of ${mostSnapshots}, is removed` : ""
        }`
      );
    },
    /** Restores a snapshot, or the last one. */
    restoreSnapshot(wanted) {
      const program = state.currentProgram();
      const snapshot = wanted ?? (program && sets.snapshots(program.id).at(-1));
      if (!snapshot) {
        notices.say("No snapshot yet");
        return;
      }
      const count = sets.goTo(program.id, snapshot);
      notices.say(count === 0 ? "No differences from the snapshot" : `${counted(count, "value")} restored`);
    },
    openSnapshots: (id = state.currentProgram()?.id) =>
      id &&
      using(
        import("./snapshots.js"),
        ({ openSnapshots }) => openSnapshots({ api, commands, editing, notices, sets, state }, id)
      ),
    toggleSides(wanted) {
      const program = state.currentProgram();
      if (!program?.isLoaded || wanted === sets.side(program.id)) return;
      const isFirst = !sets.hasOther(program.id);
      const count = sets.toggle(program.id);
      notices.say(
        isFirst
          ? "B is a copy of A. Change B, and press x to compare"
          : `${sets.side(program.id)}: ${counted(count, "value")} changed`
      );
    },
    openMorph: (id = state.currentProgram()?.id) =>
      id && sets.otherDifferences(id) > 0 &&
      using(
        import("./morphing.js"),
        ({ openMorph }) => openMorph({ editing, history, sets, state }, id, byID("sides"))
      ),
    openSweep: (tweak) =>
      isSweepable(tweak) &&
      using(import("./sweeping.js"), ({ openSweep }) =>
        openSweep({ api, commands, editing, notices, samples, state }, tweak)),
    openPresets: (id = state.currentProgram()?.id) =>
      id &&
      using(import("./presets.js"), ({ openPresets }) => openPresets({ api, commands, editing, notices, state }, id)),
    loadPreset: (id, name) =>
      using(
        import("./presets.js"),
        ({ loadPreset }) => loadPreset({ api, commands, editing, notices, state }, id, name)
      ),
    importFile: (id, file) =>
      using(import("./presets.js"), ({ importFile }) => importFile({ api, editing, notices, state }, id, file)),
    openHelp: () => using(import("./help.js"), ({ openHelp }) => openHelp()),
    openPanel: (id) =>
      using(import("./panels.js"), ({ openPanel }) => openPanel({ commands, graphs, notices, state }, id)),
    openPanels: (id) =>
      using(import("./panels/list.js"), ({ openPanels }) => openPanels({ api, commands, notices, state }, id)),
    showPanel: (parts) => using(import("./panels/view.js"), ({ showPanel }) => showPanel(parts)),
    openExport: (id = state.currentProgram()?.id) =>
      id && using(import("./exporting.js"), ({ openExport }) => openExport({ notices, state }, id)),
    loadedPreset: (program) => state.loadedPresets.get(program)?.name,
    setLoadedPreset(program, name) {
      editing.settled().then(() => {
        state.loadedPresets.set(program, { name, values: state.snapshot(program) });
        state.tell("loadedPreset");
      });
    },
    chooseFile(program) {
      const input = /** @type {HTMLInputElement} */ (byID("file"));
      input.onchange = () => {
        const [file] = input.files;
        input.value = "";
        if (file) commands.importFile(program, file);
      };
      input.click();
    },
    async copyCommand(tweak) {
      const command = shellCommand(state.programs.get(tweak.program), tweak, currentValue(tweak));
      await copyText(command, notices, `Copied: ${command}`);
    },
    copyLink: (tweak) => commands.copyPlace({ program: tweak.program, tweak: tweak.key }),
    async copyPlace(place) {
      const address = `${location.origin}${location.pathname}${linkText(place)}`;
      await copyText(address, notices, "Link copied");
    },
    /** Removes stopped programs from the list until they run or the server restarts. */
    async forget(programs) {
      const isWanted = programs.length === 1 ||
        (await ask(
          `Remove ${programs.length} programs from the list?`,
          "Their values and presets are kept. The programs reappear when they run or tweak ui is restarted.",
          "Remove"
        ));
      if (!isWanted) return;
      try {
        for (const { id } of programs) await api.post("forget", { program: id });
        const name = programs.length === 1 ? shown(programs[0].description.name) : `${programs.length} programs`;
        notices.say(`${name} removed from the list; values are kept`);
      } catch (error) {
        notices.problem(error.message);
      }
    },
    /** Whether the value of a tweak can become its default in the sources. What is only tried or leased goes back. */
    isKeepable: (tweak) =>
      isSettable(tweak) && !equalValues(currentValue(tweak), tweak.default) && !tweak.tried &&
      tweak.source !== "lease" &&
      !state.programs.get(tweak.program)?.description.user,
    keepInSource(tweak) {
      if (commands.isKeepable(tweak)) openKeeping(tweak.program, `Write ${tweak.label} to the source`, [tweak]);
    },
    keepScope(scope) {
      const tweaks = state.tweaksIn(scope).filter(commands.isKeepable);
      const isProgram = [scope.category, scope.group, scope.row].every((part) => part === undefined);
      openKeeping(
        scope.program,
        `Write ${counted(tweaks.length, "value")} to the sources`,
        isProgram ? undefined : tweaks
      );
    },
    restart: ({ id }) =>
      using(import("./restarting.js"), ({ openRestart }) => openRestart({ api, editing, notices, state }, id)),
    copyRestart: ({ id }) => using(import("./restarting.js"), ({ copyRestart }) => copyRestart({ api, notices }, id)),
    async openProgram() {
      const input = make("input", {
        type: "text",
        "aria-label": "Path, name or process ID",
        placeholder: "./program, name or process ID",
        autocomplete: "off",
        autofocus: true
      });
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
      const dialog = openDialog("Open a program", make("div", { class: "form" }, input), [{ label: "Cancel" }, {
        label: "Open",
        isMain: true,
        run: open
      }]);
      input.addEventListener("keydown", async (event) => {
        if (event.key === "Enter" && (await open())) dialog.close();
      });
      input.focus();
    },
    setQuery(changes) {
      Object.assign(state.query, changes);
      if (changes.text !== undefined) state.query.words = wordsOf(changes.text);
      byID("scroller").scrollTop = 0;
      state.tell("query");
    },
    clearQuery() {
      /** @type {HTMLInputElement} */ (byID("search")).value = "";
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
      setAttribute(byID("outline-button"), "aria-expanded", String(isOpen));
      if (quiet) return;
      const node = byID("outline").querySelector("button[aria-current]") ?? byID("outline").querySelector("button");
      if (isOpen) /** @type {HTMLElement} */ (node)?.focus();
      else byID("outline-button").focus();
    }
  });

  function tellMove(word, moved, nothing) {
    if (!moved) {
      notices.say(nothing);
      return;
    }
    const foreign = moved.foreign > 0 ? `; ${moved.foreign} had since changed elsewhere` : "";
    notices.say(`${word}: ${moved.label}${foreign}`);
    if (moved.tweaks.length === 1) state.tell("reveal", moved.tweaks[0].id);
  }

  /** Shows the lines of the graph. Returns the tweaks whose lines are not drawn. */
  function showGraphs() {
    const tweaks = [...state.graphed].map((id) => state.tweakOf(id)).filter(Boolean);
    const waiting = graphs.show(tweaks);
    samples.graphing(new Set(tweaks.map(({ id }) => id)));
    state.tell("graphed");
    return waiting;
  }

  graphs.onClose = commands.closeGraph;
  graphs.onRemove = commands.toggleGraph;
  changes.onClose = () => commands.toggleHistory(false);
  changes.onSelect = commands.select;
  return commands;
}
