// SPDX-License-Identifier: BSD-3-Clause

// The state of the page: programs and their tweaks, other viewers, and what is searched, listed, graphed and selected.
// Views observe it.

import { isInScope, sortedPrograms, sortedTweaks } from "./finding.js";
import { areAlike, currentValue, equalValues, isSet, tweakFrom, valueFrom } from "./tweaks.js";
import { keyOf } from "./names.js";

/**
 * Whether a change is older than what is known of its tweak, because an answer and the events of a program overtake
 * each
 * other. After more than some seconds the clock was set back.
 */
const isOutrun = ({ time }, tweak) => time < tweak.time && tweak.time - time < 10;

/** Drops the mark of a change that has been made after all: only its answer was lost. */
function dropFailure(tweak) {
  const { failed } = tweak;
  if (failed && (failed.isReset ? !isSet(tweak) : equalValues(tweak.pendingValue ?? tweak.value, failed.value)))
    tweak.failed = undefined;
}

export class State {
  /** Programs by ID, in the server's order. */
  programs = new Map();
  /** Changes made while the tweaks of a program are being loaded, by program and key; the answer may be older. */
  changesWhileLoading = new Map();
  viewers = [];
  /** "connecting", "connected", "silent", "lost", "away", "refused" or "ended". */
  connection = "connecting";
  /** Whether this page can reconnect after the server restarts, because the port and the token are fixed. */
  comesBack = false;
  /** Whether the server has a view of a fleet. */
  hasFleet = false;
  stream;
  /** The options of tweaks as `{ name, title, form }`, in display order. */
  options = [];
  /** The IDs of programs whose changes on this page are only tried. */
  trying = new Set();
  /** The tweaks that pages try, by program, as `{ stream, tweaks }`. */
  trials = new Map();
  /** The scope of the list: `{ program, category, collection, group }`, all optional. */
  scope = {};
  /** The ID of the tweak whose details are shown. */
  selected;
  /** The search and the filters. */
  query = { words: [], shows: [], source: undefined, kind: undefined, text: "", isLoose: false };
  /** The items of the list, from top to bottom. */
  listed = { items: [], shownIds: new Set(), count: 0, total: 0 };
  /** The IDs of the tweaks on the graph. */
  graphed = new Set();
  /** The preset last loaded or saved, by program, with its values at that time. */
  loadedPresets = new Map();
  /** The ID of the program last used. */
  lastTouched;
  #listeners = new Map();

  /**
   * Observes a topic. Returns a function that stops.
   *
   * - What the server tells: programs, tweaks, value, viewers, connection, presets, trying.
   * - What commands change here: selected, scope, query, graphed, pairs, loadedPreset, name.
   * - problem: the tweaks of a program could not be loaded.
   * - reveal: the row of a tweak is to be scrolled into view.
   */
  on(topic, listener) {
    if (!this.#listeners.has(topic)) this.#listeners.set(topic, new Set());
    this.#listeners.get(topic).add(listener);
    return () => this.#listeners.get(topic).delete(listener);
  }

  /** Notifies the observers of a topic. */
  tell(topic, detail) {
    for (const listener of this.#listeners.get(topic) ?? []) listener(detail);
  }

  /** Adds or updates a program received from the server. */
  setProgram(raw) {
    const known = this.programs.get(raw.id);
    const program = { tweaks: new Map(), isLoaded: false, ...known, description: raw, id: raw.id, state: raw.state };
    this.programs.set(raw.id, program);
    this.tell("programs", program);
    return program;
  }

  setPrograms(list) {
    const ids = new Set(list.map(({ id }) => id));
    for (const id of this.programs.keys()) if (!ids.has(id)) this.programs.delete(id);
    for (const raw of list) this.setProgram(raw);
    this.tell("programs");
  }

  removeProgram(id) {
    this.programs.delete(id);
    this.tell("programs");
    this.tell("tweaks", id);
  }

  /** Replaces the tweaks of a program, except for values that this page is sending. */
  setTweaks(id, rawTweaks, undeclared = [], baked = []) {
    const program = this.programs.get(id);
    if (!program) return;
    const before = program.tweaks;
    program.tweaks = new Map(rawTweaks.map((raw, order) => [raw.tweak, tweakFrom(id, raw, order)]));
    program.undeclared = undeclared;
    program.naming = undefined;
    program.isLoaded = true;
    program.problem = undefined;
    for (const [key, tweak] of program.tweaks) {
      const known = before.get(key);
      if (!known) continue;
      if (areAlike(known, tweak, this.options)) {
        // Keep the object, so that its row stays, with any text being typed.
        Object.assign(known, {
          value: tweak.value,
          source: tweak.source,
          pendingValue: tweak.pendingValue,
          overwrittenValue: tweak.overwrittenValue,
          time: undefined
        });
        program.tweaks.set(key, known);
      } else {
        tweak.local = known.local;
        tweak.localChanges = known.localChanges;
      }
      dropFailure(known);
    }
    for (const tweak of program.tweaks.values()) tweak.isBaked = baked.includes(tweak.key);
    for (const change of this.changesWhileLoading.get(id)?.values() ?? []) {
      const tweak = program.tweaks.get(change.tweak);
      if (tweak) this.#apply(change, tweak);
    }
    this.#markTried(id);
    this.tell("tweaks", id);
  }

  /** Replaces the tweaks of a program that pages try. */
  setTrials(id, trials) {
    this.trials.set(id, trials);
    for (const tweak of this.#markTried(id)) this.tell("value", tweak);
    this.tell("trying", id);
  }

  /** Marks tried tweaks. Returns those with another mark than before. */
  #markTried(id) {
    const marks = new Map();
    for (const { stream, tweaks } of this.trials.get(id) ?? []) {
      for (const key of tweaks)
        if (marks.get(key) !== "here") marks.set(key, stream === this.stream ? "here" : "elsewhere");
    }
    const changed = [...(this.programs.get(id)?.tweaks.values() ?? [])].filter(({ key, tried }) =>
      tried !== marks.get(key)
    );
    for (const tweak of changed) tweak.tried = marks.get(tweak.key);
    return changed;
  }

  /** The keys of the values that this page tries in a program. */
  triedKeys(id) {
    return this.trials.get(id)?.find(({ stream }) => stream === this.stream)?.tweaks ?? [];
  }

  triedTweaks(id) {
    return this.triedKeys(id).map((key) => this.tweak(id, key)).filter(Boolean);
  }

  /** Their number. */
  triedCount(id) {
    return this.triedKeys(id).length;
  }

  tweak(program, key) {
    return this.programs.get(program)?.tweaks.get(key);
  }

  /** The key of the tweak whose declaration names this one as its pair. */
  namingOf(tweak) {
    const program = this.programs.get(tweak.program);
    if (!program) return undefined;
    program.naming ??= new Map(
      [...program.tweaks.values()].filter(({ pair }) => pair).reverse()
        .map((one) => [keyOf(one.category, one.collection, one.pair), one.key])
    );
    return program.naming.get(tweak.key);
  }

  /** The tweak with an ID, which consists of its program and its key. */
  tweakOf(id) {
    if (!id) return undefined;
    const at = id.indexOf("\n");
    return this.tweak(id.slice(0, at), id.slice(at + 1));
  }

  /** The programs that the list shows, in its order. */
  shownPrograms() {
    const { scope } = this;
    const programs = sortedPrograms(this.programs.values());
    if (scope.program !== undefined) return programs.filter(({ id }) => id === scope.program);
    // Include stopped programs only once they have been viewed.
    const listed = programs.filter((program) => program.state !== "offline" || program.isLoaded);
    return listed.length > 0 ? listed : programs;
  }

  /** The program that commands apply to by default. */
  currentProgram() {
    const id = this.scope.program ?? (this.programs.size === 1 ? [...this.programs.keys()][0] : undefined);
    const selected = this.tweakOf(this.selected);
    return this.programs.get(id ?? selected?.program ?? this.lastTouched ?? [...this.programs.keys()][0]);
  }

  /** The tweaks in a scope of one program. */
  tweaksIn(scope) {
    const program = this.programs.get(scope.program);
    return program ? sortedTweaks(program).filter((tweak) => isInScope(tweak, scope)) : [];
  }

  sibling(tweak, name) {
    return this.tweak(tweak.program, keyOf(tweak.category, tweak.collection, name));
  }

  /** Applies a change with value, source, time and optionally pendingValue, unless a newer one has come before it. */
  setValue(programId, change) {
    const tweak = this.tweak(programId, change.tweak);
    if (tweak && isOutrun(change, tweak)) return;
    this.changesWhileLoading.get(programId)?.set(change.tweak, change);
    if (!tweak) return;
    this.#apply(change, tweak);
    this.tell("value", tweak);
    if (tweak.isFeature) this.#tellParts(tweak);
  }

  #apply(change, tweak) {
    tweak.time = change.time;
    const value = valueFrom(tweak.type, change.value);
    // The sources have the value before.
    if (!equalValues(value, tweak.value)) tweak.isBaked = false;
    tweak.value = value;
    tweak.source = change.source ?? tweak.source;
    if (tweak.source === "override" || tweak.source === "default") tweak.hiddenBy = undefined;
    tweak.pendingValue = valueFrom(tweak.type, change.pendingValue);
    tweak.overwrittenValue = undefined;
    dropFailure(tweak);
  }

  /** Sets the local value of a tweak, shown until the server confirms it. */
  setLocal(tweak, local) {
    tweak.local = local;
    tweak.localChanges += 1;
    this.tell("value", tweak);
    if (tweak.isFeature) this.#tellParts(tweak);
  }

  #tellParts(feature) {
    for (const tweak of this.programs.get(feature.program)?.tweaks.values() ?? []) {
      if (tweak !== feature && tweak.isFeature && tweak.collection === feature.collection) this.tell("value", tweak);
    }
  }

  set(topic, value) {
    this[topic] = value;
    this.tell(topic, value);
  }

  /** The current value of a tweak, to restore later. */
  remembered(tweak) {
    return { value: currentValue(tweak), isSet: isSet(tweak), isTried: tweak.tried === "here" };
  }

  /** The values of all settable tweaks of a program, by key. */
  snapshot(programId) {
    const values = new Map();
    for (const tweak of this.programs.get(programId)?.tweaks.values() ?? []) {
      if (tweak.type === "action" || tweak.readOnly || tweak.monitor) continue;
      values.set(tweak.key, this.remembered(tweak));
    }
    return values;
  }

  /** The changes that restore a snapshot, as `{ tweak, value, isSet }`. */
  differences(programId, snapshot) {
    const differences = [];
    for (const [key, { value, isSet: wasSet }] of snapshot) {
      const tweak = this.tweak(programId, key);
      if (!tweak) continue;
      if (isSet(tweak) === wasSet && equalValues(currentValue(tweak), value)) continue;
      differences.push({ tweak, value, isSet: wasSet });
    }
    return differences;
  }

  /** The other pages connected to the server. */
  get others() {
    return this.viewers.filter(({ stream }) => stream !== this.stream);
  }
}
