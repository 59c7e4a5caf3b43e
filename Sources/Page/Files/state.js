// The one state of the page: programs, their tweaks, who else looks, and what is selected. Views follow it.

import { areAlike, tweakFrom, valueFrom, currentValue, equalValues, isSet } from "./tweaks.js";
import { keyOf } from "./names.js";

export class State {
  /** Programs by id, in the order in which the server named them. */
  programs = new Map();
  viewers = [];
  /** "connecting", "connected", "lost", "refused" or "ended". */
  connection = "connecting";
  /** Whether this page goes on when the server was started again: its address and its token stay. */
  comesBack = false;
  stream;
  /** The options of tweaks, as `{ name, title, form }`, in the order in which details show them. */
  options = [];
  /** What the list shows: `{ program, category, collection, group }`, each of which may be missing. */
  scope = {};
  /** The id of the tweak whose details are shown. */
  selected;
  #listeners = new Map();

  /** Calls a function when something of a topic has changed: programs, tweaks, value, viewers, connection, scope, selected. */
  on(topic, listener) {
    if (!this.#listeners.has(topic)) this.#listeners.set(topic, new Set());
    this.#listeners.get(topic).add(listener);
    return () => this.#listeners.get(topic).delete(listener);
  }

  tell(topic, detail) {
    for (const listener of this.#listeners.get(topic) ?? []) listener(detail);
  }

  /** Takes over what the server says of a program. */
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

  /** Takes over all tweaks of a program. What this page is about to send stays. */
  setTweaks(id, rawTweaks, undeclared = []) {
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
        // It stays the same one, so that its row stays, and what somebody types there.
        Object.assign(known, { value: tweak.value, source: tweak.source, pendingValue: tweak.pendingValue });
        program.tweaks.set(key, known);
      } else {
        tweak.local = known.local;
      }
    }
    this.tell("tweaks", id);
  }

  tweak(program, key) {
    return this.programs.get(program)?.tweaks.get(key);
  }

  /** The key of the tweak that the program declares as the pair of this one. */
  namingOf(tweak) {
    const program = this.programs.get(tweak.program);
    if (!program) return undefined;
    program.naming ??= new Map([...program.tweaks.values()].filter(({ pair }) => pair).reverse()
      .map((one) => [keyOf(one.category, one.collection, one.pair), one.key]));
    return program.naming.get(tweak.key);
  }

  /** The tweak of an id, which is its program and its key. */
  tweakOf(id) {
    if (!id) return undefined;
    const at = id.indexOf("\n");
    return this.tweak(id.slice(0, at), id.slice(at + 1));
  }

  sibling(tweak, name) {
    return this.tweak(tweak.program, keyOf(tweak.category, tweak.collection, name));
  }

  /** Takes over what changed; `change` has value, source and perhaps pendingValue. */
  setValue(programId, change) {
    const tweak = this.tweak(programId, change.tweak);
    if (!tweak) return;
    const value = valueFrom(tweak.type, change.value);
    tweak.value = value;
    tweak.source = change.source ?? tweak.source;
    if (tweak.source === "override" || tweak.source === "default") tweak.hiddenBy = undefined;
    tweak.pendingValue = valueFrom(tweak.type, change.pendingValue);
    this.tell("value", tweak);
    if (tweak.isFeature) this.#tellParts(tweak);
  }

  /** What this page wants a tweak to be, until the server has said what it is. */
  setLocal(tweak, local) {
    tweak.local = local;
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

  /** What a tweak has now, to come back to. */
  remembered(tweak) {
    return { value: currentValue(tweak), isSet: isSet(tweak) };
  }

  /** The values that were set in a program, by key. */
  snapshot(programId) {
    const values = new Map();
    for (const tweak of this.programs.get(programId)?.tweaks.values() ?? []) {
      if (tweak.type === "action" || tweak.readOnly || tweak.monitor) continue;
      values.set(tweak.key, this.remembered(tweak));
    }
    return values;
  }

  /** What has to change for a program to be as it was, as `{ tweak, value, isSet }`. */
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

  /** The other pages that look at this. */
  get others() {
    return this.viewers.filter(({ stream }) => stream !== this.stream);
  }
}
