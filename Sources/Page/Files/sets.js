// SPDX-License-Identifier: BSD-3-Clause

// Snapshots of values, and the sets A and B, of each program. They survive a reload of the page.

import { exactText } from "./numbers.js";
import { equalValues, isSettable, valueFrom } from "./tweaks.js";

const place = "tweaks.sets";
export const mostSnapshots = 20;

export class Sets {
  #state;
  #editing;
  /** The snapshots by program, oldest first, as `{ name, time, values }`. */
  #snapshots = new Map();
  #pairs = new Map();
  /** What was kept before a reload, by program, until the tweaks of the program are loaded. */
  #restorable = {};
  onChange = () => {};

  constructor(state, editing) {
    this.#state = state;
    this.#editing = editing;
    try {
      const kept = JSON.parse(sessionStorage.getItem(place) ?? "{}");
      if (kept && typeof kept === "object") this.#restorable = kept;
    } catch {
      // Nothing is restored.
    }
    addEventListener("pagehide", () => this.#keep());
  }

  #keep() {
    const kept = { ...this.#restorable };
    for (const program of new Set([...this.#snapshots.keys(), ...this.#pairs.keys()])) {
      const pair = this.#pairs.get(program);
      kept[program] = {
        snapshots: this.snapshots(program).map((one) => ({ ...one, values: this.#written(program, one) })),
        pair: pair && { side: pair.side, other: this.#written(program, { values: pair.other }) }
      };
    }
    try {
      sessionStorage.setItem(place, JSON.stringify(kept));
    } catch {
      // The page also works without storage.
    }
  }

  /** The values other than defaults, or all of a part, as `[key, value, isSet]`. */
  #written(program, { values, isPart = false }) {
    const written = [];
    for (const [key, { value, isSet: wasSet }] of values) {
      const tweak = this.#state.tweak(program, key);
      if (!isPart && tweak && !wasSet && equalValues(value, tweak.default)) continue;
      written.push([key, typeof value === "number" || typeof value === "bigint" ? exactText(value) : value, wasSet]);
    }
    return written;
  }

  /** Restores what was kept of a program before a reload, once its tweaks are loaded. */
  restore(program) {
    const kept = this.#restorable[program];
    if (!kept) return;
    delete this.#restorable[program];
    const read = (written, isPart = false) => {
      const values = new Map();
      /** @type {any[]} */
      const settable = [...this.#state.programs.get(program).tweaks.values()].filter(isSettable);
      for (const tweak of isPart ? [] : settable) values.set(tweak.key, { value: tweak.default, isSet: false });
      const keys = new Set(settable.map(({ key }) => key));
      for (const [key, value, wasSet] of written)
        if (keys.has(key))
          values.set(key, {
            value: valueFrom(this.#state.tweak(program, key).type, value),
            isSet: wasSet
          });
      return values;
    };
    this.#snapshots.set(program, kept.snapshots.map((one) => ({ ...one, values: read(one.values, one.isPart) })));
    if (kept.pair) this.#pairs.set(program, { side: kept.pair.side, other: read(kept.pair.other) });
    this.onChange();
  }

  /** The snapshots of a program, oldest first. */
  snapshots(program) {
    return this.#snapshots.get(program) ?? [];
  }

  /** Takes a snapshot, of all tweaks or of some. Returns it and the oldest one if there was no room for that. */
  take(program, name = "", /** @type {any[] | undefined} */ tweaks = undefined) {
    const values = tweaks
      ? new Map(tweaks.map((tweak) => [tweak.key, { ...this.#state.remembered(tweak), isTried: false }]))
      : this.#state.snapshot(program);
    const snapshot = { name, time: Date.now(), values, isPart: Boolean(tweaks) };
    const all = [...this.snapshots(program), snapshot];
    const dropped = all.length > mostSnapshots ? all.shift() : undefined;
    this.#snapshots.set(program, all);
    this.onChange();
    return { snapshot, dropped };
  }

  remove(program, snapshot) {
    this.#snapshots.set(program, this.snapshots(program).filter((one) => one !== snapshot));
    this.onChange();
  }

  /** The changes that restore a snapshot. */
  since(program, snapshot) {
    return this.#state.differences(program, snapshot.values);
  }

  /** Restores a snapshot, as one undo step. Returns the number of values. */
  goTo(program, snapshot) {
    return this.#editing.apply(this.since(program, snapshot));
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

  /** The values of A and of B, by key, and the keys of those that differ. */
  pair(program) {
    const { side, other } = this.#pairs.get(program);
    const present = this.#state.snapshot(program);
    const keys = this.#state.differences(program, other).map(({ tweak }) => tweak.key);
    return side === "A" ? { first: present, second: other, keys } : { first: other, second: present, keys };
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

  /** Forgets the snapshots and both sides of a program. */
  forget(program) {
    this.#snapshots.delete(program);
    this.#pairs.delete(program);
    delete this.#restorable[program];
    this.onChange();
  }
}

/** The name of a snapshot for people. */
export const snapshotName = ({ name, time }) => name || new Date(time).toLocaleTimeString("en-GB");
