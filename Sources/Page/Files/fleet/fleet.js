// SPDX-License-Identifier: BSD-3-Clause

// The view of a fleet: environments and applications, their values in etcd, and their history. The server answers each
// request as `tweak fleet` does.

import { API } from "../api.js";
import { byID, isTyping, setText } from "../dom.js";
import { ignoreComposing, shortcutKey } from "../keyboard.js";
import { shown } from "../names.js";
import { Notices } from "../notices.js";
import { Preferences } from "../preferences.js";
import { openSet, warningsText } from "./changing.js";
import { Listing } from "./listing.js";
import { FleetHistory } from "./history.js";
import { rowsOf, stageOf } from "./values.js";

/**
 * How often the hosts are looked at again while the page is visible, in ms: usually, and while something is on its way.
 */
const [period, shortPeriod] = [10000, 1000];

class Fleet {
  api = new API();
  notices = new Notices(byID("notices"), byID("spoken"));
  preferences = new Preferences();
  /** The environments as `{ environment, applications }`. */
  environments = [];
  /** What is shown. */
  environment = "";
  application = "";
  /** The answer of the last `tweak fleet list`; undefined until it is there. */
  contents;
  /** The warnings beside it. */
  warnings = "";
  /** The reason why there is none. */
  problem = "";
  /** The answers of the last `tweak fleet status` and `rollouts`; undefined if there are none. */
  status;
  rollouts;
  /** The newest change; undefined if there is none. */
  lastChange;
  /** Whether the values may be old, because etcd does not answer. */
  isOld = false;
  /** The declarations of the published builds, by tweak. */
  declared = new Map();
  history = new FleetHistory(this, byID("history"));
  listing = new Listing(this);
  #timer = 0;
  #loads = 0;
  #impossible = new Set();

  constructor() {
    this.api.onState = (state) =>
      this.#showBanner(
        state === "refused" ? "tweak ui does not recognise this page. Open the address that it printed." : ""
      );
    this.api.person = () => this.preferences.name;
    this.preferences.onChange = () => this.showTheme();
    addEventListener("hashchange", () => this.follow());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState !== "visible") return;
      this.load();
      this.#watch();
    });
    document.addEventListener("keydown", (event) => this.#onKey(event));
    ignoreComposing();
    this.showTheme();
  }

  /** Asks `tweak fleet`. Returns `{ answer, messages }`. */
  async ask(request, body = {}) {
    const { environment, application } = this;
    try {
      const answer = await this.api.post(`fleet/${request}`, { environment, application, ...body });
      this.#showBanner("");
      return answer;
    } catch (error) {
      if (error.status === 0)
        this.#showBanner("tweak ui is not responding. Start it again and open the address that it prints.");
      throw error;
    }
  }

  #showBanner(text) {
    byID("banner").hidden = !text;
    setText(byID("banner"), text);
  }

  showTheme() {
    const { theme } = this.preferences;
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }

  /** The row of a tweak, also of one without a value. */
  rowOf(tweak) {
    return rowsOf(this.contents, this.declared).find((row) => row.tweak === tweak) ??
      { tweak, declaration: this.declared.get(tweak) };
  }

  /** Shows an application. */
  go(environment, application) {
    location.hash = `#${new URLSearchParams({ environment, application })}`;
  }

  /** Shows what the address names. */
  follow() {
    const place = new URLSearchParams(location.hash.slice(1));
    const [environment, application] = [place.get("environment") ?? "", place.get("application") ?? ""];
    document.body.classList.remove("has-outline");
    if (environment === this.environment && application === this.application) return;
    Object.assign(this, {
      environment,
      application,
      contents: undefined,
      problem: "",
      status: undefined,
      rollouts: undefined,
      lastChange: undefined,
      declared: new Map()
    });
    this.#setOld(false);
    document.body.dataset.stage = stageOf(environment);
    this.history.close();
    for (const dialog of document.querySelectorAll("dialog")) dialog.close();
    document.title = application ? `${shown(application)} › ${shown(environment)} – Fleet – Tweaks` : "Fleet – Tweaks";
    this.listing.show();
    this.load(true).then(() => this.#watch());
  }

  #setOld(isOld) {
    this.isOld = isOld;
    document.body.classList.toggle("is-old", isOld);
  }

  #watches = 0;
  /** Reads the values again as soon as somebody changes them, while the page is visible. */
  async #watch() {
    this.#watches += 1;
    const watch = this.#watches;
    const isCurrent = () => watch === this.#watches && document.visibilityState === "visible";
    while (isCurrent() && this.application) {
      const { application, contents } = this;
      try {
        if (!contents) throw new Error("nothing is known");
        const { isChanged } = await this.api.post("fleet/wait", {
          environment: this.environment,
          application,
          revision: contents.revision
        });
        if (!isChanged || !isCurrent()) continue;
        await this.load();
        if (this.contents === contents) throw new Error("nothing was read");
      } catch {
        await new Promise((resolve) => {
          setTimeout(resolve, shortPeriod);
        });
      }
    }
  }

  /** Reads the environments and their applications. */
  async loadEnvironments() {
    try {
      const { answer } = await this.ask("applications", { application: undefined, environment: undefined });
      this.environments = answer.environments;
      if (!this.application) {
        const own = answer.environments.find(({ environment }) => environment === answer.environment) ??
          answer.environments[0];
        const first = own?.applications[0];
        if (first)
          location.replace(`#${new URLSearchParams({ environment: own.environment, application: first.application })}`);
        else this.environment = answer.environment;
      }
    } catch (error) {
      this.problem = error.message;
    }
    this.listing.show();
  }

  /** Reads the values again. With `isWhole`, also what the builds declare. */
  async load(isWhole = false) {
    clearTimeout(this.#timer);
    this.#loads += 1;
    const load = this.#loads;
    const isCurrent = () => load === this.#loads;
    if (this.application) {
      try {
        const [{ answer, messages }, tweaks, status, rollouts, history] = await Promise.all([
          this.ask("list"),
          isWhole ? this.ask("tweaks") : undefined,
          this.#askIfPossible("status"),
          this.#askIfPossible("rollouts"),
          this.#askIfPossible("history", { last: 1 })
        ]);
        if (!isCurrent()) return;
        this.#setOld(false);
        Object.assign(this, { status, rollouts: rollouts?.rollouts, lastChange: history?.changes[0] });
        const before = this.contents?.newestRevision;
        Object.assign(this, { contents: answer, warnings: warningsText(messages), problem: "" });
        this.#showBanner("");
        if (tweaks)
          this.declared = new Map(tweaks.answer.tweaks.map((declaration) => [declaration.tweak, declaration]));
        this.listing.show();
        if (before !== undefined && before !== answer.newestRevision) this.history.load();
      } catch (error) {
        if (!isCurrent()) return;
        // Keep the values that were read before.
        if (this.contents) {
          this.status = undefined;
          this.#setOld(true);
          this.#showBanner(`No answer from etcd; values may be old. ${error.message.split("\n").map(shown).join(" ")}`);
        } else this.problem = error.message;
        this.listing.show();
      }
    }
    const isMoving = this.isOld || (this.status && this.status.current < this.status.known) ||
      this.rollouts?.some(({ state }) => state === "running");
    this.#timer = setTimeout(
      () => (document.visibilityState === "visible" ? this.load() : undefined),
      isMoving ? shortPeriod : period
    );
  }

  /** Asks what not every version of `tweak fleet` answers, and not every user of etcd may read. */
  async #askIfPossible(request, body = {}) {
    if (this.#impossible.has(request)) return undefined;
    try {
      return (await this.ask(request, body)).answer;
    } catch (error) {
      if (error.status === 400) this.#impossible.add(request);
      return undefined;
    }
  }

  #onKey(event) {
    if (document.querySelector("dialog[open], .popover:popover-open")) return;
    if (event.key === "Escape") {
      if (document.body.classList.contains("has-outline")) this.listing.toggleOutline(false);
      else if (isTyping()) /** @type {HTMLElement} */ (document.activeElement).blur();
      else this.history.close();
      return;
    }
    if (isTyping() || event.altKey || event.ctrlKey || event.metaKey) return;
    const run = {
      "/": () => byID("search").focus(),
      h: () => this.application && this.history.open(),
      n: () => this.application && openSet(this)
    }[shortcutKey(event)];
    if (!run) return;
    event.preventDefault();
    run();
  }
}

const fleet = new Fleet();
fleet.follow();
fleet.listing.show();
fleet.loadEnvironments();
// For tests and measurements.
globalThis.tweaksPage = fleet;
