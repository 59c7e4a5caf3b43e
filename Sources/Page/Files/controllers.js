// SPDX-License-Identifier: BSD-3-Clause

// Knobs of MIDI controllers, and sticks and buttons of gamepads, that set tweaks. Which knob sets which tweak is kept
// in this
// browser.

import { iconButton, make, textButton } from "./dom.js";
import {
  Decoder,
  deflection,
  DeviceNames,
  driven,
  gamepadModel,
  isSameKnob,
  knobName,
  Learner,
  midiMessage,
  Takeover
} from "./knobs.js";
import { shown } from "./names.js";
import { isNumber, stepped } from "./numbers.js";
import { openDialog } from "./popups.js";
import { currentValue, equalValues, isSettable, valueText } from "./tweaks.js";

/** After this time without a movement, in ms, what a knob did is one step to undo. */
const quiet = 600;
/** @type {any} */
const midi = navigator;

const isMIDI = (knob) => !/^(axis|button) /.test(knob);

/** Whether a knob can set a tweak. */
export const isTurnable = (tweak) =>
  isSettable(tweak) && !tweak.choices && (isNumber(tweak.type) || tweak.type === "bool");

export class Controllers {
  /** The parts of the page that it uses. */
  #uses;
  /** The tweak that waits for a knob to learn. */
  #learning;
  /** What is said to a person who moves a knob. */
  #hint = "";
  /** The first positions of sticks while learning. */
  #first = new Map();
  /** What is known of MIDI devices while learning, by name. */
  #learners = new Map();
  /** @type {Map<string, Decoder>} */
  #decoders = new Map();
  #deviceNames = { midi: new DeviceNames(), gamepad: new DeviceNames() };
  #access;
  #takeovers = new Map();
  #ends = new Map();
  /** The knobs of which was said that they have not reached their value. */
  #told = new Set();
  #pads = new Map();
  /** Exact positions of values that sticks move. */
  #driven = new Map();
  #frame = 0;
  #time = 0;
  /** Called when a knob was learned or forgotten, or learning has begun or ended. */
  onChange = () => {};

  /** @param {import("./page.js").Page} page */
  constructor({ editing, notices, preferences, state }) {
    this.#uses = { editing, notices, preferences, state };
    addEventListener("gamepadconnected", () => this.update());
    this.update();
  }

  /** Whether this browser has an interface for MIDI or gamepads. */
  get isPossible() {
    return Boolean(midi.requestMIDIAccess || navigator.getGamepads);
  }

  get isInUse() {
    return this.#uses.preferences.knobs.size > 0;
  }

  get learning() {
    return this.#learning;
  }

  /** The knobs that set a tweak. */
  knobsOf(tweak) {
    return [...this.#uses.preferences.knobs].filter(([, id]) => id === tweak.id).map(([knob]) => knob);
  }

  /** Waits for the movement of a knob, which then sets this tweak. */
  async learn(tweak) {
    this.#learning = tweak;
    this.#first.clear();
    this.#learners.clear();
    this.#hint = "Move a knob or a stick…";
    this.onChange();
    this.#poll();
    await this.#openMIDI();
  }

  stopLearning() {
    this.#learning = undefined;
    this.onChange();
  }

  forget(knob) {
    const { preferences } = this.#uses;
    const knobs = preferences.knobs;
    knobs.delete(knob);
    preferences.knobs = knobs;
    this.#takeovers.delete(knob);
    this.onChange();
  }

  /** Follows the devices of known knobs. The browser's permission is only asked for in `learn`. */
  async update() {
    const knobs = [...this.#uses.preferences.knobs.keys()];
    if (!knobs.every(isMIDI)) this.#poll();
    if (this.#access || !midi.requestMIDIAccess || !knobs.some(isMIDI)) return;
    try {
      const { state } = await navigator.permissions.query(/** @type {any} */ ({ name: "midi" }));
      if (state === "granted") await this.#openMIDI();
    } catch {
      // A browser without this permission opens MIDI when a knob is learned.
    }
  }

  async #openMIDI() {
    if (this.#access || !midi.requestMIDIAccess) return;
    try {
      this.#access = await midi.requestMIDIAccess();
    } catch {
      // No permission; gamepads can still be learned.
      if (this.#learning && !navigator.getGamepads) this.stopLearning();
      this.#uses.notices.problem("The browser blocked access to MIDI");
      return;
    }
    const follow = () => {
      const inputs = [...this.#access.inputs.values()].filter(({ state }) => state !== "disconnected");
      const names = this.#deviceNames.midi.of(
        inputs.map(({ id, name }) => ({ handle: id, model: name || "MIDI device" }))
      );
      inputs.forEach((input, index) => {
        input.onmidimessage = ({ data }) => {
          const message = midiMessage(data);
          if (message) this.#take(names[index], message);
        };
      });
    };
    this.#access.onstatechange = follow;
    follow();
  }

  /** Reads gamepads in each frame while there is one in use. */
  #poll() {
    if (this.#frame || !navigator.getGamepads) return;
    const isWanted = this.#learning || ![...this.#uses.preferences.knobs.keys()].every(isMIDI);
    const pads = [...navigator.getGamepads()].filter(Boolean);
    if (!isWanted || (pads.length === 0 && !this.#learning)) return;
    this.#frame = requestAnimationFrame((time) => {
      this.#frame = 0;
      // A frame after a long pause moves nothing far.
      const seconds = Math.min(0.1, (time - this.#time) / 1000);
      this.#time = time;
      const names = this.#deviceNames.gamepad.of(
        pads.map(({ index, id }) => ({ handle: `${index} ${id}`, model: gamepadModel(id) }))
      );
      pads.forEach((pad, index) => this.#read(pad, names[index], seconds));
      this.#poll();
    });
  }

  /** Handles a message of a MIDI device. */
  #take(device, message) {
    if (this.#learning) {
      if (!this.#learners.has(device)) this.#learners.set(device, new Learner());
      const { knob, hint } = this.#learners.get(device).learn(message, this.#learning.type === "bool");
      if (knob) this.#learnt(`${knob}\n${device}`);
      else if (hint) this.#say(hint);
      return;
    }
    if (!this.#decoders.has(device)) this.#decoders.set(device, new Decoder());
    const { knobs } = this.#uses.preferences;
    const movement = this.#decoders.get(device).movement(message, (knob) => knobs.has(`${knob}\n${device}`));
    if (!movement) return;
    const knob = `${movement.knob}\n${device}`;
    if (movement.turn !== undefined) this.#turn(knob, movement.turn);
    else if (message.kind !== "note") this.#moved(knob, movement.position);
    else if (movement.position > 0) this.#toggle(knob);
  }

  #read({ axes, buttons }, device, seconds) {
    axes.forEach((value, index) => {
      const amount = deflection(value);
      const knob = `axis ${index}\n${device}`;
      if (amount === 0) this.#driven.delete(knob);
      else if (!this.#learning) this.#drive(knob, amount, seconds);
      if (!this.#learning) return;
      // An axis at rest need not be in the middle.
      if (!this.#first.has(knob)) this.#first.set(knob, value);
      if (Math.abs(value - this.#first.get(knob)) > 0.5) this.#learnt(knob);
    });
    buttons.forEach(({ value, pressed }, index) => {
      const knob = `button ${index}\n${device}`;
      const before = this.#pads.get(knob);
      this.#pads.set(knob, value);
      if (before === undefined || before === value) return;
      if (this.#learning) this.#learnButton(knob, value);
      else if (this.#tweakOf(knob)?.type !== "bool") this.#moved(knob, value);
      else if (pressed && before < 0.5) this.#toggle(knob);
    });
  }

  #learnButton(knob, value) {
    if (value <= 0.3) return;
    // Triggers send what is between.
    if (this.#learning.type === "bool" || value < 1) this.#learnt(knob);
    else this.#say("Buttons set only switches. Move a knob, a stick or a trigger");
  }

  #learnt(knob) {
    const tweak = this.#learning;
    this.#learning = undefined;
    const { preferences, notices } = this.#uses;
    const others = [...preferences.knobs].filter(([other]) => !isSameKnob(knob, other));
    preferences.knobs = new Map([...others, [knob, tweak.id]]);
    this.#takeovers.delete(knob);
    notices.say(`${tweak.label} is controlled by ${knobName(knob)}`);
    this.onChange();
  }

  /** Says something to a person who moves a knob to be learned. */
  #say(hint) {
    if (this.#hint === hint) return;
    this.#hint = hint;
    this.onChange();
  }

  /** The tweak that a knob sets, if it can be set now. */
  #tweakOf(knob) {
    const tweak = this.#uses.state.tweakOf(this.#uses.preferences.knobs.get(knob));
    return tweak && isTurnable(tweak) ? tweak : undefined;
  }

  /** Handles a knob that is at another position. */
  #moved(knob, position) {
    const tweak = this.#tweakOf(knob);
    if (!tweak) return;
    if (tweak.type === "bool") {
      this.#put(knob, position >= 0.5);
      return;
    }
    if (!this.#takeovers.has(knob)) this.#takeovers.set(knob, new Takeover());
    const value = this.#takeovers.get(knob).value(tweak, position);
    if (value !== undefined) {
      this.#told.delete(knob);
      this.#put(knob, value);
    } else if (!this.#told.has(knob)) {
      this.#told.add(knob);
      this.#uses.notices.say(
        `Turn ${knobName(knob)} to ${valueText(tweak, currentValue(tweak))} to move ${tweak.label}`
      );
    }
  }

  #drive(knob, amount, seconds) {
    const tweak = this.#tweakOf(knob);
    if (!tweak) return;
    if (tweak.type === "bool") {
      if (Math.abs(amount) > 0.5) this.#put(knob, amount > 0);
      return;
    }
    const { position, value } = driven(tweak, this.#driven.get(knob), amount, seconds);
    this.#driven.set(knob, position);
    this.#put(knob, value);
  }

  /** Handles an encoder that was turned by some steps. */
  #turn(knob, steps) {
    const tweak = this.#tweakOf(knob);
    if (tweak && steps !== 0)
      this.#put(knob, tweak.type === "bool" ? steps > 0 : stepped(tweak, currentValue(tweak), steps));
  }

  #toggle(knob) {
    const tweak = this.#tweakOf(knob);
    if (tweak?.type === "bool") this.#put(knob, currentValue(tweak) !== true);
  }

  #put(knob, value) {
    const { editing } = this.#uses;
    const tweak = this.#tweakOf(knob);
    if (equalValues(currentValue(tweak), value)) return;
    editing.move(tweak, value);
    clearTimeout(this.#ends.get(tweak.id));
    this.#ends.set(tweak.id, setTimeout(() => editing.end(tweak), quiet));
  }

  /** The part of the details that tells and learns the knobs of a tweak. */
  makeSection(tweak) {
    const learn = (label) => textButton(label, () => this.learn(tweak));
    if (this.#learning === tweak) {
      return make(
        "div",
        { class: "knobs" },
        make("span", { role: "status", text: this.#hint }),
        textButton("Cancel", () => this.stopLearning())
      );
    }
    const knobs = this.knobsOf(tweak);
    return make(
      "div",
      { class: "knobs" },
      make("span", { text: "Knob" }),
      knobs.length === 0 ? learn("Learn…") : knobs.map((knob) => this.#item(knob))
    );
  }

  #item(knob) {
    return make(
      "span",
      { class: "knob" },
      make("span", { text: knobName(knob) }),
      iconButton("close", `Forget ${knobName(knob)}`, () => this.forget(knob))
    );
  }

  /** Opens a dialog with all knobs. */
  openList() {
    const { preferences, state } = this.#uses;
    const list = make("ul", { class: "knob-list" });
    const show = () =>
      list.replaceChildren(
        ...[...preferences.knobs].map(([knob, id]) =>
          make(
            "li",
            { class: "knobs" },
            make("span", { translate: "no", text: state.tweakOf(id)?.label ?? shown(id.split("\n").join(": ")) }),
            make("span", { class: "who", text: shown(id.split("\n")[0]) }),
            make(
              "span",
              { class: "knob" },
              make("span", { text: knobName(knob) }),
              iconButton("close", `Forget ${knobName(knob)}`, () => {
                this.forget(knob);
                show();
              })
            )
          )
        )
      );
    show();
    openDialog(
      "Knobs",
      make(
        "div",
        {},
        make("p", {
          text:
            "Choose Learn in the details of a tweak, then move a knob of a MIDI controller or gamepad. A knob takes over when it reaches the current value; a stick or an encoder changes the value from where it is."
        }),
        list
      ),
      [{ label: "Close", isMain: true }]
    );
  }
}
