// SPDX-License-Identifier: BSD-3-Clause

// Preferences stored in this browser: stars, pairs, knobs, theme and name. Programs never see them.

import { movedTo } from "./finding.js";

const place = "tweaks.preferences";

export class Preferences {
  #kept = { stars: [], pairs: {}, knobs: {}, theme: "auto", byGroup: false, name: "", graphHeight: 0 };
  /** The IDs of starred tweaks, in the order chosen. */
  stars;
  onChange = () => {};

  constructor() {
    this.#read();
    addEventListener("storage", (event) => {
      if (event.key !== place) return;
      this.#read();
      this.onChange();
    });
  }

  #read() {
    try {
      const kept = JSON.parse(localStorage.getItem(place) ?? "{}");
      if (kept && typeof kept === "object") this.#kept = { ...this.#kept, ...kept };
    } catch {
      // Start over if the stored preferences are damaged.
    }
    this.stars = new Set(Array.isArray(this.#kept.stars) ? this.#kept.stars : []);
  }

  #write() {
    this.#kept.stars = [...this.stars];
    try {
      localStorage.setItem(place, JSON.stringify(this.#kept));
    } catch {
      // The page also works without storage.
    }
    this.onChange();
  }

  toggleStar(id) {
    if (!this.stars.delete(id)) this.stars.add(id);
    this.#write();
  }

  /** Moves a star to the place of another one. */
  moveStar(id, other) {
    this.stars = new Set(movedTo([...this.stars], id, other));
    this.#write();
  }

  /** The key of the tweak paired with this one in the details, empty for none, undefined if not chosen. */
  pair(id) {
    return Object.hasOwn(this.#kept.pairs, id) ? this.#kept.pairs[id] : undefined;
  }

  setPair(id, key) {
    this.#kept.pairs[id] = key;
    this.#write();
  }

  get theme() {
    return ["light", "dark"].includes(this.#kept.theme) ? this.#kept.theme : "auto";
  }

  set theme(theme) {
    this.#kept.theme = theme;
    this.#write();
  }

  /** The IDs of tweaks by the knob that sets them. */
  get knobs() {
    const { knobs } = this.#kept;
    return new Map(knobs && typeof knobs === "object" ? Object.entries(knobs) : []);
  }

  set knobs(knobs) {
    this.#kept.knobs = Object.fromEntries(knobs);
    this.#write();
  }

  get byGroup() {
    return Boolean(this.#kept.byGroup);
  }

  set byGroup(byGroup) {
    this.#kept.byGroup = byGroup;
    this.#write();
  }

  /** The height of the graph in percent of the window, 0 for the default. */
  get graphHeight() {
    return Number(this.#kept.graphHeight) || 0;
  }

  set graphHeight(height) {
    this.#kept.graphHeight = height;
    this.#write();
  }

  get name() {
    return String(this.#kept.name ?? "");
  }

  set name(name) {
    this.#kept.name = name;
    this.#write();
  }
}
