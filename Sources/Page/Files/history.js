// Undo and redo of this page's changes, snapshots, and the sets A and B.

import { currentValue, equalValues, isSet } from "./tweaks.js";

const mostSteps = 500;
const mergeTime = 800;

export class History {
  #done = [];
  #undone = [];
  #state;
  /** Called when the undo or redo step changes. */
  onChange = () => {};

  constructor(state) {
    this.#state = state;
  }

  /** Adds changes as one step, as `{ tweak, before, after }`, where before and after are `{ value, isSet }`. */
  add(changes, { merging = false } = {}) {
    if (changes.length === 0) return;
    const step = {
      time: performance.now(), merging,
      changes: changes.map(({ tweak, before, after }) => ({
        program: tweak.program, key: tweak.key, label: tweak.label, before, after,
      })),
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
    let foreign = 0;
    const changes = [];
    for (const change of step.changes) {
      const tweak = this.#state.tweak(change.program, change.key);
      if (!tweak) continue;
      const was = change[expected];
      if (!equalValues(currentValue(tweak), was.value) && isSet(tweak) === was.isSet) foreign += 1;
      changes.push({ tweak, ...change[wanted] });
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

/** The snapshots and the sets A and B of each program, kept until the page is closed. */
export class Sets {
  #state;
  #editing;
  #snapshots = new Map();
  #pairs = new Map();
  onChange = () => {};

  constructor(state, editing) {
    this.#state = state;
    this.#editing = editing;
  }

  take(program) {
    this.#snapshots.set(program, { time: new Date(), values: this.#state.snapshot(program) });
    this.onChange();
  }

  snapshotTime(program) {
    return this.#snapshots.get(program)?.time;
  }

  /** The differences from the snapshot. */
  sinceSnapshot(program) {
    const snapshot = this.#snapshots.get(program);
    return snapshot ? this.#state.differences(program, snapshot.values) : [];
  }

  /** Restores the snapshot, as one undo step. */
  restore(program) {
    return this.#editing.apply(this.sinceSnapshot(program));
  }

  /** "A" or "B". */
  side(program) {
    return this.#pairs.get(program)?.side ?? "A";
  }

  hasOther(program) {
    return this.#pairs.has(program);
  }

  /** The number of values that differ on the other side. */
  otherDifferences(program) {
    const pair = this.#pairs.get(program);
    return pair ? this.#state.differences(program, pair.other).length : 0;
  }

  /** Saves this side and shows the other one. B starts as a copy of A. */
  toggle(program) {
    const present = this.#state.snapshot(program);
    const pair = this.#pairs.get(program) ?? { side: "A", other: present };
    const count = this.#editing.apply(this.#state.differences(program, pair.other));
    this.#pairs.set(program, { side: pair.side === "A" ? "B" : "A", other: present });
    this.onChange();
    return count;
  }

  forget(program) {
    this.#pairs.delete(program);
    this.onChange();
  }
}
