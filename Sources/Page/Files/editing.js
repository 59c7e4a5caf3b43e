// SPDX-License-Identifier: BSD-3-Clause

// Changes values: shows them at once, sends at most one request a frame and always the last value, and records undo
// steps.

import { noAnswer, patience } from "./clock.js";
import { counted } from "./names.js";
import { currentValue, equalValues, isSet, isSettable, requestValue } from "./tweaks.js";

/** After this time without an answer a change is shown as not sent, in ms. */
export const usualTime = 500;

export class Editing {
  #state;
  #api;
  #notices;
  #history;
  /** The changes to send, by program and key, as `{ tweak, value, isSet }`. */
  #waiting = new Map();
  /** The changes that the server has not answered, by program, as `{ began, entries }`. */
  #inFlight = new Map();
  #frame = 0;
  #watchTimer = 0;
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
    state.on("connection", () => this.#waiting.size > 0 && this.#schedule());
  }

  /** Whether the server is known to answer. */
  get #isConnected() {
    // Without a session the server says so.
    return ["connected", "refused"].includes(this.#state.connection);
  }

  /** Begins a drag, which becomes one undo step. */
  begin(tweak) {
    if (!this.#gestures.has(tweak.id))
      this.#gestures.set(tweak.id, { ...this.#state.remembered(tweak), isMoved: false });
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
  set(tweak, value, options = {}) {
    this.apply([{ tweak, value, isSet: true }], options);
  }

  /**
   * Sets and resets several tweaks as one change.
   *
   * - changes: `{ tweak, value, isSet, endsTrial }`. Without `isSet` the tweak is reset. With `endsTrial` a value that
   * this
   *   page tries is given back.
   * - time: When the user made the change, as of `performance.now()`; now by default.
   */
  apply(changes, { merging = false, isUndo = false, time = undefined } = {}) {
    const recorded = [];
    for (const { tweak, value, isSet: willBeSet, endsTrial } of changes) {
      if (!isSettable(tweak)) continue;
      const before = this.#state.remembered(tweak);
      const after = willBeSet ? { value, isSet: true } : { value: tweak.default, isSet: false };
      if (before.isSet === after.isSet && equalValues(before.value, after.value)) continue;
      this.#put(tweak, { ...after, endsTrial, time });
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
    const time = performance.now();
    await this.settled();
    const before = this.#state.remembered(tweak);
    const entry = { tweak, value, isSet: true, time };
    tweak.failed = undefined;
    await this.#sendPart(tweak.program, [entry], time, { ramp: seconds });
    if (!tweak.failed) this.#history.add([{ tweak, before, after: { value, isSet: true } }]);
  }

  /**
   * Sets a tweak for a time, until it is set again without a value, or this page ends; no step of undo. Returns the
   * server's time since 1970 from which the program has the value, unless it waits for a gate, in seconds.
   */
  async hold(tweak, value) {
    await this.settled();
    const time = performance.now();
    const entry = { tweak, value, isSet: true, endsTrial: value === undefined, time };
    tweak.failed = undefined;
    const answer = await this.#sendPart(tweak.program, [entry], time, { isTried: true });
    if (!answer?.tweaks[0]) throw new Error(tweak.failed?.message ?? "the program does not declare the tweak");
    if (tweak.failed) throw new Error(tweak.failed.message);
    // The server has noted the time of the change at some moment between the request and the answer.
    return answer.tweaks[0].time + (performance.now() - time) / 1000;
  }

  /** Keeps or discards what this page tries in a program. Returns the number of values. */
  async endTrial(program, isKept) {
    const time = performance.now();
    await this.settled();
    const tried = isKept
      ? []
      : this.#state.triedTweaks(program).map((tweak) => ({ tweak, before: this.#state.remembered(tweak) }));
    const answer = await this.#api.post(isKept ? "try/keep" : "try/discard", { program, stream: this.#api.stream }, {
      time
    });
    for (const change of answer.tweaks ?? []) this.#state.setValue(program, change);
    this.#report(program, answer);
    this.#history.endTrial(program, isKept);
    const after = (tweak) => ({ value: currentValue(tweak), isSet: isSet({ ...tweak, tried: undefined }) });
    this.#history.add(tried.map(({ tweak, before }) => ({ tweak, before, after: after(tweak) })), { isDiscard: true });
    return answer.applied?.length ?? answer.reset ?? 0;
  }

  /** Resolves when the server has received all changes. */
  settled() {
    if (this.#inFlight.size === 0 && this.#waiting.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #put(tweak, local) {
    const entry = { ...local, tweak, time: local.time ?? performance.now(), isUnsent: this.#isLate(tweak.program) };
    if (!this.#waiting.has(tweak.program)) this.#waiting.set(tweak.program, new Map());
    this.#waiting.get(tweak.program).set(tweak.key, entry);
    tweak.failed = undefined;
    this.#state.setLocal(tweak, entry);
    this.#schedule();
  }

  /**
   * Sends the first change of a frame at once, so that a drag is not a frame late, and later ones with the next frame.
   */
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
    this.#giveUp();
    for (const [program, entries] of this.#waiting) {
      if (this.#inFlight.has(program) || !this.#isConnected) continue;
      this.#waiting.delete(program);
      this.#send(program, [...entries.values()]);
    }
    if (!this.#watchTimer && (this.#waiting.size > 0 || this.#inFlight.size > 0))
      this.#watchTimer = setTimeout(() => this.#watch(), 250);
  }

  async #send(program, entries) {
    const began = performance.now();
    this.#inFlight.set(program, { began, entries });
    try {
      let time = Math.min(...entries.map((entry) => entry.time));
      // The size of a request is limited, and a preset may have many values.
      for (let at = 0; at < entries.length; at += 2000) {
        await this.#sendPart(program, entries.slice(at, at + 2000), time);
        time = performance.now();
      }
    } finally {
      this.#inFlight.delete(program);
      if (this.#waiting.size > 0) this.#schedule();
      else this.#tellIdle();
    }
  }

  #tellIdle() {
    if (this.#waiting.size === 0 && this.#inFlight.size === 0) {
      for (const resolve of this.#idle.splice(0))
        resolve();
    }
  }

  /** Whether a change of a program is not sent now, or its answer takes long. */
  #isLate(program) {
    const asked = this.#inFlight.get(program);
    return asked ? performance.now() - asked.began > usualTime : !this.#isConnected;
  }

  /** Marks changes that are not answered, and gives up those that wait too long. */
  #watch() {
    this.#watchTimer = 0;
    const all = [
      ...[...this.#waiting].map(([program, entries]) => [program, [...entries.values()]]),
      ...[...this.#inFlight].map(([program, { entries }]) => [program, entries])
    ];
    for (const [program, entries] of all) {
      for (const entry of this.#isLate(program) ? entries : []) {
        if (entry.isUnsent) continue;
        entry.isUnsent = true;
        this.#state.tell("value", entry.tweak);
      }
    }
    this.#flush();
  }

  #giveUp() {
    const now = performance.now();
    for (const [program, entries] of this.#waiting) {
      const old = [...entries.values()].filter(({ time }) => now - time >= patience);
      for (const { tweak } of old) entries.delete(tweak.key);
      if (entries.size === 0) this.#waiting.delete(program);
      if (old.length > 0) this.#failAll(old, noAnswer);
    }
    this.#tellIdle();
  }

  /** A change as the server takes it. A reset ends what this page tries, and otherwise tries the default. */
  #item({ tweak, value, isSet: willBeSet, endsTrial }, isTried) {
    const isReset = isTried ? endsTrial || (!willBeSet && tweak.tried === "here") : !willBeSet;
    return isReset ? { tweak: tweak.key, reset: true } : { tweak: tweak.key, ...requestValue(tweak, value) };
  }

  /** Sends changes. Returns the answer, undefined if there was none. */
  async #sendPart(
    program,
    entries,
    time,
    /** @type {{ ramp?: number, isTried?: boolean }} */ {
      ramp,
      isTried = this.#state.trying.has(program) || undefined
    } = {}
  ) {
    const values = entries.map((entry) => this.#item(entry, isTried));
    for (const [index, { tweak }] of entries.entries()) {
      if (isTried && values[index].reset) this.#givenBack.add(tweak.id);
      else this.#givenBack.delete(tweak.id);
    }
    try {
      const limit = Math.max(0, time + patience - performance.now()) + 1;
      const answer = await this.#api.post("set", { program, stream: this.#api.stream, values, try: isTried, ramp }, {
        time,
        limit
      });
      for (const change of answer.tweaks ?? []) this.#state.setValue(program, change);
      this.#confirm(entries);
      this.#findHidden(entries, isTried);
      this.#report(program, answer);
      for (const { tweak: key, message } of answer.refused ?? [])
        this.#fail(entries.find(({ tweak }) => tweak.key === key), message);
      return answer;
    } catch (error) {
      this.#failAll(entries, error.message);
      return undefined;
    }
  }

  #failAll(entries, message) {
    this.#confirm(entries);
    for (const entry of entries) this.#fail(entry, message);
    this.#notices.problem(message);
  }

  /** Marks a tweak whose typed value could not be read. */
  giveUp(tweak, text, message) {
    tweak.failed = { message, text };
    this.#state.tell("value", tweak);
    this.#notices.problem(message);
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
      const decider =
        wasSet && source && !["override", "default", "memory", "program", isTried && "lease"].includes(source)
          ? source
          : undefined;
      if (decider === tweak.hiddenBy) continue;
      tweak.hiddenBy = decider;
      this.#state.tell("value", tweak);
      if (decider) this.#notices.say(`${tweak.label}: no effect, because ${decider} takes precedence`);
    }
  }

  #report(program, { refused = [], unknown = [], clamped = [], missed = [] }) {
    for (const { pid, message } of missed.slice(0, 3)) this.#notices.problem(`Process ${pid}: ${message}`);
    for (const { message } of refused.slice(0, 3)) this.#notices.problem(message);
    if (refused.length > 3) this.#notices.problem(`${counted(refused.length - 3, "more value")} refused`);
    if (unknown.length > 0)
      this.#notices.problem(`${counted(unknown.length, "tweak")} no longer exist${unknown.length === 1 ? "s" : ""}`);
    if (clamped.length === 0 || [...this.#gestures.keys()].some((id) => id.startsWith(`${program}\n`))) return;
    const tweak = this.#state.tweak(program, clamped[0]);
    const one = tweak ? `${tweak.label}: clamped to its limits` : "1 value was clamped to its limits";
    this.#notices.say(clamped.length === 1 ? one : `${clamped.length} values were clamped to their limits`);
  }
}
