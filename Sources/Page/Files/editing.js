// SPDX-License-Identifier: BSD-3-Clause

// Changes values: shows them at once, sends at most one request a frame and always the last value, and records undo steps.

import { equalValues, isSet, isSettable, requestValue } from "./tweaks.js";

export class Editing {
  #state;
  #api;
  #notices;
  #history;
  /** The changes to send, by program and key, as `{ tweak, value, isSet }`. */
  #waiting = new Map();
  #inFlight = new Set();
  #frame = 0;
  /** The values before each drag, and whether it has moved them, by the tweak's ID. */
  #gestures = new Map();
  /** The IDs of tweaks with a tried value that this page gave back. */
  #givenBack = new Set();
  #idle = [];

  constructor(state, api, notices, history) {
    this.#state = state;
    this.#api = api;
    this.#notices = notices;
    this.#history = history;
  }

  /** Begins a drag, which becomes one undo step. */
  begin(tweak) {
    if (!this.#gestures.has(tweak.id)) this.#gestures.set(tweak.id, { ...this.#state.remembered(tweak), isMoved: false });
  }

  /** Sets an intermediate value of a drag. */
  move(tweak, value) {
    this.begin(tweak);
    this.#gestures.get(tweak.id).isMoved = true;
    this.#put(tweak, { value, isSet: true });
  }

  /** Ends the drags of tweaks. */
  end(...tweaks) {
    const changes = [];
    for (const tweak of tweaks) {
      const before = this.#gestures.get(tweak.id);
      this.#gestures.delete(tweak.id);
      if (!before) continue;
      const after = this.#state.remembered(tweak);
      if (equalValues(before.value, after.value) && before.isSet === after.isSet) continue;
      changes.push({ tweak, before, after });
    }
    this.#history.add(changes);
  }

  /** Cancels the drags of tweaks and restores their values. */
  cancel(...tweaks) {
    for (const tweak of tweaks) {
      const before = this.#gestures.get(tweak.id);
      this.#gestures.delete(tweak.id);
      if (before?.isMoved) this.#put(tweak, { ...before, endsTrial: this.#isTrying(tweak) && !before.isTried });
    }
  }

  #isTrying(tweak) {
    return this.#state.trying.has(tweak.program);
  }

  /** Whether this page itself ended what it tried for a tweak. */
  gaveBack(tweak) {
    return tweak !== undefined && this.#givenBack.has(tweak.id);
  }

  isDragged(tweak) {
    return this.#gestures.has(tweak.id);
  }

  /** Sets one tweak. With `merging`, changes in quick succession become one undo step. */
  set(tweak, value, { merging = false } = {}) {
    this.apply([{ tweak, value, isSet: true }], { merging });
  }

  /**
   * Sets and resets several tweaks as one change.
   *
   * - changes: `{ tweak, value, isSet, endsTrial }`. Without `isSet` the tweak is reset. With `endsTrial` a value that this
   *   page tries is given back.
   */
  apply(changes, { merging = false, isUndo = false } = {}) {
    const recorded = [];
    for (const { tweak, value, isSet: willBeSet, endsTrial } of changes) {
      if (!isSettable(tweak)) continue;
      const before = this.#state.remembered(tweak);
      const after = willBeSet ? { value, isSet: true } : { value: tweak.default, isSet: false };
      if (before.isSet === after.isSet && equalValues(before.value, after.value)) continue;
      this.#put(tweak, { ...after, endsTrial });
      recorded.push({ tweak, before, after });
    }
    if (!isUndo) this.#history.add(recorded, { merging });
    return recorded.length;
  }

  reset(tweaks) {
    const set = tweaks.filter((tweak) => isSettable(tweak) && isSet(tweak));
    return this.apply(set.map((tweak) => ({ tweak, isSet: false })));
  }

  /** Sets a number, which the program reaches gradually. */
  async ramp(tweak, value, seconds) {
    await this.settled();
    const before = this.#state.remembered(tweak);
    const entry = { tweak, value, isSet: true };
    tweak.failed = undefined;
    await this.#sendPart(tweak.program, [entry], seconds);
    if (!tweak.failed) this.#history.add([{ tweak, before, after: { value, isSet: true } }]);
  }

  /** Keeps or discards what this page tries in a program. Returns the number of values. */
  async endTrial(program, isKept) {
    await this.settled();
    const answer = await this.#api.post(isKept ? "try/keep" : "try/discard", { program, stream: this.#api.stream });
    for (const change of answer.tweaks ?? []) this.#state.setValue(program, change);
    this.#report(program, answer);
    this.#history.endTrial(program, isKept);
    return answer.applied?.length ?? answer.reset ?? 0;
  }

  /** Resolves when the server has received all changes. */
  settled() {
    if (this.#inFlight.size === 0 && this.#waiting.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #put(tweak, local) {
    const entry = { ...local, tweak };
    if (!this.#waiting.has(tweak.program)) this.#waiting.set(tweak.program, new Map());
    this.#waiting.get(tweak.program).set(tweak.key, entry);
    tweak.failed = undefined;
    this.#state.setLocal(tweak, entry);
    this.#schedule();
  }

  /** Sends the first change of a frame at once, so that a drag is not a frame late, and later ones with the next frame. */
  #schedule() {
    if (this.#frame) return;
    const next = () => {
      this.#frame = 0;
      if (this.#waiting.size > 0) this.#schedule();
    };
    this.#frame = document.visibilityState === "hidden" ? setTimeout(next, 16) : requestAnimationFrame(next);
    queueMicrotask(() => this.#flush());
  }

  #flush() {
    for (const [program, entries] of this.#waiting) {
      if (this.#inFlight.has(program)) continue;
      this.#waiting.delete(program);
      this.#send(program, [...entries.values()]);
    }
  }

  async #send(program, entries) {
    this.#inFlight.add(program);
    try {
      // The size of a request is limited, and a preset may have many values.
      for (let at = 0; at < entries.length; at += 2000) await this.#sendPart(program, entries.slice(at, at + 2000));
    } finally {
      this.#inFlight.delete(program);
      if (this.#waiting.size > 0) this.#schedule();
      else if (this.#inFlight.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
    }
  }

  /** A change as the server takes it. A reset ends what this page tries, and otherwise tries the default. */
  #item({ tweak, value, isSet: willBeSet, endsTrial }, isTried) {
    const isReset = isTried ? endsTrial || (!willBeSet && tweak.tried === "here") : !willBeSet;
    return isReset ? { tweak: tweak.key, reset: true } : { tweak: tweak.key, ...requestValue(tweak, value) };
  }

  async #sendPart(program, entries, ramp) {
    const isTried = this.#state.trying.has(program) || undefined;
    const values = entries.map((entry) => this.#item(entry, isTried));
    for (const [index, { tweak }] of entries.entries()) {
      if (isTried && values[index].reset) this.#givenBack.add(tweak.id);
      else this.#givenBack.delete(tweak.id);
    }
    try {
      const answer = await this.#api.post("set", { program, stream: this.#api.stream, values, try: isTried, ramp });
      for (const change of answer.tweaks ?? []) this.#state.setValue(program, change);
      this.#confirm(entries);
      this.#findHidden(entries, isTried);
      this.#report(program, answer);
      for (const { tweak: key, message } of answer.refused ?? []) this.#fail(entries.find(({ tweak }) => tweak.key === key), message);
    } catch (error) {
      this.#confirm(entries);
      for (const entry of entries) this.#fail(entry, error.message);
      this.#notices.problem(error.message);
    }
  }

  /** Marks a tweak that could not be changed, until the next change of it. */
  #fail(entry, message) {
    const tweak = entry && this.#state.tweak(entry.tweak.program, entry.tweak.key);
    if (!tweak || tweak.local) return;
    tweak.failed = { message, isReset: !entry.isSet, value: entry.value };
    this.#state.tell("value", tweak);
  }

  /** Drops the local values of changes that were sent, unless there are newer ones. */
  #confirm(entries) {
    for (const entry of entries) {
      const tweak = this.#state.tweak(entry.tweak.program, entry.tweak.key) ?? entry.tweak;
      if (tweak.local !== entry) continue;
      this.#state.setLocal(tweak, undefined);
    }
  }

  /** Marks tweaks whose new value has no effect because another provider takes precedence. */
  #findHidden(entries, isTried) {
    for (const { tweak, isSet: wasSet } of entries) {
      const { source } = tweak;
      const decider = wasSet && source && !["override", "default", "memory", "program", isTried && "lease"].includes(source) ? source : undefined;
      if (decider === tweak.hiddenBy) continue;
      tweak.hiddenBy = decider;
      this.#state.tell("value", tweak);
      if (decider) this.#notices.say(`${tweak.label}: no effect, because ${decider} takes precedence`);
    }
  }

  #report(program, { refused = [], unknown = [], clamped = [], missed = [] }) {
    for (const { pid, message } of missed.slice(0, 3)) this.#notices.problem(`Process ${pid}: ${message}`);
    for (const { message } of refused.slice(0, 3)) this.#notices.problem(message);
    if (refused.length > 3) this.#notices.problem(`${refused.length - 3} more values were refused`);
    if (unknown.length > 0) this.#notices.problem(`${unknown.length} tweaks no longer exist`);
    if (clamped.length === 0 || [...this.#gestures.keys()].some((id) => id.startsWith(`${program}\n`))) return;
    const tweak = this.#state.tweak(program, clamped[0]);
    const one = tweak ? `${tweak.label}: clamped to its limits` : "1 value was clamped to its limits";
    this.#notices.say(clamped.length === 1 ? one : `${clamped.length} values were clamped to their limits`);
  }
}
