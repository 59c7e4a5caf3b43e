// SPDX-License-Identifier: BSD-3-Clause

// Undo and redo of this page's changes.

import { currentValue, equalValues, isSet, valueFrom } from "./tweaks.js";
import { exactText } from "./numbers.js";

const mostSteps = 500;
const mergeTime = 800;
const place = "tweaks.undo";
/** The number of steps that survive a reload. */
const mostKept = 100;

export class UndoHistory {
  #done = [];
  #undone = [];
  #state;
  /** Steps from before a reload, until their programs are loaded, as `{ isDone, at, process, changes }`. */
  #restorable = [];
  /** Called when the undo or redo step changes. */
  onChange = () => {};

  constructor(state) {
    this.#state = state;
    try {
      this.#restorable = JSON.parse(sessionStorage.getItem(place) ?? "[]");
    } catch {
      // Nothing is restored.
    }
    addEventListener("pagehide", () => this.#keep());
  }

  /** Keeps the last steps for this page after a reload. */
  #keep() {
    const kept = (steps, isDone) =>
      steps.filter(({ changes }) => !changes.some(({ isTried, isDiscard }) => isTried || isDiscard)).slice(-mostKept)
        .map(({ at, changes }) => ({ isDone, at, process: this.#processOf(changes[0].program), changes }));
    const text = (
      _,
      value
    ) => (typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value))
      ? exactText(value)
      : value);
    try {
      sessionStorage.setItem(
        place,
        JSON.stringify([...this.#restorable, ...kept(this.#done, true), ...kept(this.#undone, false)], text)
      );
    } catch {
      // The page also works without storage.
    }
  }

  #processOf(program) {
    return this.#state.programs.get(program)?.description.pid;
  }

  /** Whether there are steps of a program from before a reload. */
  hasRestorable(program) {
    return this.#restorable.some(({ changes }) => changes[0].program === program);
  }

  /** Restores the steps of a program from before a reload whose changes its process still has in its history. */
  restore(program, made) {
    const known = new Set(made.map(({ tweak, newValue }) => JSON.stringify([tweak, String(newValue)])));
    const isOf = (step) => step.changes[0].program === program;
    const found = this.#restorable.filter(isOf).filter(({ process, changes }) =>
      process === this.#processOf(program) &&
      changes.every(({ key, after }) =>
        this.#state.tweak(program, key) && known.has(JSON.stringify([key, String(after.value)]))
      )
    );
    this.#restorable = this.#restorable.filter((step) => !isOf(step));
    for (const { isDone, at, changes } of found) {
      for (const { key, before, after } of changes) {
        const { type } = this.#state.tweak(program, key);
        before.value = valueFrom(type, before.value);
        after.value = valueFrom(type, after.value);
      }
      (isDone ? this.#done : this.#undone).push({ time: 0, at, merging: false, changes });
    }
    this.#done.sort((one, other) => one.at - other.at);
    this.#undone.sort((one, other) => other.at - one.at);
    this.onChange();
  }

  /**
   * Adds changes as one step, as `{ tweak, before, after }`, where before and after are `{ value, isSet }`. With
   * `isDiscard`,
   * tried values went back, and undo tries them again.
   */
  add(changes, { merging = false, isDiscard = false } = {}) {
    if (changes.length === 0) return;
    const step = {
      time: performance.now(),
      at: Date.now(),
      merging,
      changes: changes.map(({ tweak, before, after }) => ({
        program: tweak.program,
        key: tweak.key,
        label: tweak.label,
        before,
        after,
        isDiscard,
        isTried: !isDiscard && this.#state.trying.has(tweak.program)
      }))
    };
    const last = this.#done.at(-1);
    const canMerge = merging && last?.merging && this.#undone.length === 0 && changes.length === 1 &&
      last.changes.length === 1 && last.changes[0].key === changes[0].tweak.key &&
      last.changes[0].program === changes[0].tweak.program && step.time - last.time < mergeTime;
    if (canMerge) {
      last.changes[0].after = changes[0].after;
      last.time = step.time;
    } else {
      this.#done.push(step);
      if (this.#done.length > mostSteps) this.#done.shift();
    }
    this.#undone = [];
    this.onChange();
  }

  /** Forgets the steps of a trial, or makes them usual ones. */
  endTrial(program, isKept) {
    const isOver = (change) => change.isTried && change.program === program;
    const steps = [...this.#done, ...this.#undone];
    if (isKept) {
      for (const change of steps.flatMap(({ changes }) => changes)) if (isOver(change)) change.isTried = false;
    }
    const isLeft = ({ changes }) => !changes.every(isOver);
    this.#done = this.#done.filter(isLeft);
    this.#undone = this.#undone.filter(isLeft);
    this.onChange();
  }

  /** A description of the next undo step. */
  get undoLabel() {
    return labelOf(this.#done.at(-1));
  }

  /** A description of the next redo step. */
  get redoLabel() {
    return labelOf(this.#undone.at(-1));
  }

  /** Undoes a step. Returns its label, its tweaks, and the number of values changed elsewhere since. */
  undo(editing) {
    return this.#move(this.#done, this.#undone, "before", "after", editing);
  }

  redo(editing) {
    return this.#move(this.#undone, this.#done, "after", "before", editing);
  }

  #move(from, to, wanted, expected, editing) {
    const step = from.pop();
    if (!step) return undefined;
    step.merging = false;
    to.push(step);
    for (const { isDiscard, program } of step.changes) {
      if (!isDiscard || wanted !== "before" || this.#state.trying.has(program)) continue;
      this.#state.trying.add(program);
      this.#state.tell("trying", program);
    }
    let foreign = 0;
    const changes = [];
    for (const change of step.changes) {
      const tweak = this.#state.tweak(change.program, change.key);
      if (!tweak) continue;
      const was = change[expected];
      if (!equalValues(currentValue(tweak), was.value) && isSet(tweak) === was.isSet) foreign += 1;
      changes.push({
        tweak,
        ...change[wanted],
        endsTrial: change.isDiscard
          ? wanted === "after"
          : change.isTried && !change[wanted].isTried && wanted === "before"
      });
    }
    editing.apply(changes, { isUndo: true });
    this.onChange();
    return { label: labelOf(step), foreign, tweaks: changes.map(({ tweak }) => tweak) };
  }
}

function labelOf(step) {
  if (!step) return "";
  return step.changes.length === 1 ? step.changes[0].label : `${step.changes.length} values`;
}
