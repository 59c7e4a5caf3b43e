// SPDX-License-Identifier: BSD-3-Clause

// The bar, the environments beside the list, and the list of values.

import { copyText, shellWord } from "../copying.js";
import { byID, icon, iconButton, make, setAttribute, setText, textButton } from "../dom.js";
import { counted, shown } from "../names.js";
import { openDialog, openMenu } from "../popups.js";
import { openKill, openReset, openSet, openUnkill } from "./changing.js";
import { openBuilds, openComparison } from "./environments.js";
import { hostCounts, makeBar, openHoldings, openHosts } from "./hosts.js";
import { makeRollouts, openRollout } from "./rollouts.js";
import {
  agoText,
  effectText,
  filtersText,
  groupOf,
  labelOf,
  matches,
  partsOf,
  rowsOf,
  stageOf,
  stateText,
  valueText,
  wordsOf
} from "./values.js";

/** More rows are found with the search. */
const mostRows = 500;

export class Listing {
  #fleet;
  #parts;
  #isWhole = false;
  #shownFor = "";
  #rowsFor = "";
  #isPressed = false;

  /** @param {any} fleet */
  constructor(fleet) {
    this.#fleet = fleet;
    const search = make("input", {
      type: "search",
      class: "search",
      id: "search",
      placeholder: "Search",
      "aria-label": "Search tweaks, values, authors and reasons",
      autocomplete: "off",
      spellcheck: "false",
      "aria-keyshortcuts": "/",
      oninput: () => this.#showRows()
    });
    const outlineButton = iconButton("menu", "Environments", () => this.toggleOutline(), {
      class: "outline-button",
      "aria-expanded": "false",
      "aria-controls": "outline-panel"
    });
    byID("top").replaceChildren(
      outlineButton,
      make("h1", { class: "brand", text: "Fleet" }),
      make(
        "div",
        { class: "search-box", role: "search" },
        icon("search"),
        search,
        make("kbd", { text: "/", "aria-hidden": "true" })
      ),
      make(
        "div",
        { class: "top-buttons" },
        make("a", { class: "button", href: "./", text: "Programs" }),
        iconButton("reset", "Refresh", () => Promise.all([fleet.loadEnvironments(), fleet.load(true)])),
        iconButton("more", "More", (event) => this.#openMore(event.currentTarget), {
          "aria-haspopup": "menu",
          "aria-expanded": "false"
        })
      )
    );
    byID("outline-head").append(
      make("h2", { class: "outline-by", text: "Environments" }),
      iconButton("close", "Close the environments", () => this.toggleOutline(false), { class: "outline-close" })
    );
    byID("list").addEventListener("pointerdown", () => {
      this.#isPressed = true;
    });
    for (const name of ["pointerup", "pointercancel"]) {
      addEventListener(name, () => {
        this.#isPressed = false;
        setTimeout(() => this.#showRows());
      });
    }
    byID("outline").addEventListener("keydown", (event) => this.#onOutlineKey(event));
    const title = make("h2", { class: "scope-title", translate: "no" });
    const count = make("span", { class: "scope-state", role: "status" });
    const hosts = make("button", { class: "fleet-hosts", "aria-haspopup": "dialog", onclick: () => openHosts(fleet) });
    const last = make("p", { class: "who" });
    const rollouts = make("ul", { class: "fleet-rollouts", "aria-label": "Rollouts" });
    const whole = make("input", {
      type: "checkbox",
      onchange: () => {
        this.#isWhole = whole.checked;
        this.#showRows();
      }
    });
    const buttons = make(
      "div",
      { class: "button-line" },
      textButton("Set a value…", () => openSet(fleet), { class: "button main", "aria-keyshortcuts": "n" }),
      textButton("History", () => fleet.history.open(), { "aria-keyshortcuts": "h" }),
      textButton("Compare…", () => openComparison(fleet)),
      textButton("Builds…", () => openBuilds(fleet)),
      make("label", { class: "check" }, whole, make("span", { text: "Show tweaks without a value" }))
    );
    byID("list-head").append(make("div", { class: "scope-line" }, title, count, hosts), last, rollouts, buttons);
    this.#parts = { search, outlineButton, title, count, hosts, last, rollouts, buttons, whole };
  }

  toggleOutline(isOpen = !document.body.classList.contains("has-outline")) {
    document.body.classList.toggle("has-outline", isOpen);
    setAttribute(this.#parts.outlineButton, "aria-expanded", String(isOpen));
    if (isOpen) byID("outline").querySelector("button")?.focus();
    else this.#parts.outlineButton.focus();
  }

  /** Shows everything again. */
  show() {
    this.#showOutline();
    this.#showRows();
  }

  #showOutline() {
    const { environments, environment, application } = this.#fleet;
    const shownFor = JSON.stringify([environments, environment, application]);
    if (shownFor === this.#shownFor) return;
    this.#shownFor = shownFor;
    const focused = /** @type {HTMLElement} */ (document.activeElement)?.dataset.place;
    const known = environments.some((one) =>
      one.environment === environment && one.applications.some((other) => other.application === application)
    );
    const all = known || !application
      ? environments
      : [...environments.filter((one) => one.environment !== environment), {
        environment,
        applications: [...(environments.find((one) => one.environment === environment)?.applications ?? []), {
          application
        }]
      }];
    byID("outline").replaceChildren(
      make(
        "ul",
        { class: "outline-list" },
        all.map((one) =>
          make(
            "li",
            { class: "outline-item level-0" },
            make(
              "div",
              { class: "outline-line fleet-environment", data: { stage: stageOf(one.environment) } },
              make("span", { class: "outline-label", translate: "no", text: shown(one.environment) })
            ),
            make(
              "ul",
              {},
              one.applications.map((other) =>
                make(
                  "li",
                  { class: "outline-item level-1" },
                  make(
                    "div",
                    { class: "outline-line" },
                    make("button", {
                      class: "outline-node",
                      "aria-label": `${shown(other.application)} in ${shown(one.environment)}`,
                      data: { place: JSON.stringify([one.environment, other.application]) },
                      "aria-current": one.environment === environment && other.application === application
                        ? "true"
                        : undefined,
                      onclick: () => this.#fleet.go(one.environment, other.application)
                    }, make("span", { class: "outline-label", translate: "no", text: shown(other.application) }))
                  )
                )
              )
            )
          )
        )
      ),
      textButton("Another application…", () => this.#openOther(), { class: "button small" })
    );
    if (focused)
      [.../** @type {NodeListOf<HTMLElement>} */ (byID("outline").querySelectorAll("[data-place]"))].find((
        { dataset }
      ) => dataset.place === focused)?.focus();
  }

  #onOutlineKey(event) {
    const nodes = /** @type {HTMLElement[]} */ ([...byID("outline").querySelectorAll("button")]);
    const at = nodes.indexOf(event.target);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: nodes.length - 1 }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    nodes[Math.min(nodes.length - 1, Math.max(0, to))].focus();
  }

  #openOther() {
    const fleet = this.#fleet;
    const [environment, application] = ["environment", "application"].map((name) =>
      make("input", {
        type: "text",
        autocomplete: "off",
        spellcheck: "false",
        required: true,
        autofocus: name === "application"
      })
    );
    environment.value = fleet.environment;
    const form = make(
      "form",
      {
        class: "fleet-form",
        onsubmit: (event) => {
          event.preventDefault();
          dialog.querySelector("footer .main").click();
        }
      },
      make("label", { class: "fleet-field" }, make("span", { text: "Application" }), application),
      make("label", { class: "fleet-field" }, make("span", { text: "Environment" }), environment),
      make("button", { type: "submit", hidden: true, text: "Show" })
    );
    const dialog = openDialog("Another application", form, [{ label: "Cancel" }, {
      label: "Show",
      isMain: true,
      run: () => {
        if (!form.reportValidity()) return false;
        fleet.go(environment.value.trim(), application.value.trim());
        return true;
      }
    }]);
  }

  #openMore(anchor) {
    const { preferences } = this.#fleet;
    const theme = (value, label) => ({
      label,
      isChecked: preferences.theme === value,
      run: () => {
        preferences.theme = value;
      }
    });
    openMenu(anchor, "More", [theme("auto", "Match the system"), theme("light", "Light"), theme("dark", "Dark"), null, {
      label: "Your name…",
      run: () => this.#openName()
    }]);
  }

  #openName() {
    const { preferences } = this.#fleet;
    const name = make("input", { type: "text", value: preferences.name, maxlength: 40, autofocus: true });
    openDialog(
      "Your name",
      make(
        "div",
        { class: "fleet-form" },
        make("label", { class: "fleet-field" }, make("span", { text: "Name" }), name),
        make("p", {
          class: "who",
          text: "The history shows it with the author, which is the etcd user, or else the user and host of tweak ui."
        })
      ),
      [{ label: "Cancel" }, {
        label: "Save",
        isMain: true,
        run: () => {
          preferences.name = name.value.trim();
        }
      }]
    );
  }

  #showRows() {
    const fleet = this.#fleet;
    const { title, count, buttons, whole, search } = this.#parts;
    setText(title, fleet.application ? `${shown(fleet.environment)} › ${shown(fleet.application)}` : "Fleet");
    buttons.hidden = !fleet.application;
    this.#showHead();
    whole.parentElement.hidden = fleet.declared.size === 0;
    const words = wordsOf(search.value);
    const all = fleet.contents ? rowsOf(fleet.contents, fleet.declared, this.#isWhole) : [];
    const rows = all.filter((row) => matches(row, words));
    setText(
      count,
      !fleet.contents
        ? ""
        : `${words.length > 0 ? `${rows.length} of ${all.length}` : counted(rows.length, "tweak")}${
          fleet.contents.newestRevision ? `, revision ${fleet.contents.newestRevision}` : ""
        }`
    );
    this.#fill(rows);
    this.#showEmpty(rows.length, words.length > 0);
  }

  #headFor = "";
  /** Shows the hosts, the last change and the rollouts. */
  #showHead() {
    const { status, lastChange, rollouts, isOld } = this.#fleet;
    const parts = this.#parts;
    const counts = hostCounts(status);
    const ago = lastChange ? agoText(lastChange.at) : "";
    const headFor = JSON.stringify([counts, lastChange, ago, rollouts, isOld]);
    if (this.#isPressed || headFor === this.#headFor) return;
    this.#headFor = headFor;
    parts.hosts.hidden = counts.length === 0;
    parts.hosts.replaceChildren(
      makeBar(counts.map(({ state, count }) => ({ state, share: count }))),
      make("span", { text: counts.map(({ text }) => text).join(", ") })
    );
    const changed = lastChange ? partsOf(lastChange) : [];
    const what = changed.length === 1 ? labelOf(changed[0].tweak) : `${changed.length} values`;
    setText(
      parts.last,
      lastChange
        ? `Last change: ${what}, ${ago} by ${shown(lastChange.by)}${lastChange.why ? `: ${shown(lastChange.why)}` : ""}`
        : ""
    );
    parts.last.hidden = !lastChange;
    const focused = /** @type {HTMLElement} */ (document.activeElement)?.dataset.of;
    parts.rollouts.replaceChildren(...makeRollouts(this.#fleet));
    parts.rollouts.hidden = parts.rollouts.children.length === 0;
    if (focused)
      [.../** @type {NodeListOf<HTMLElement>} */ (parts.rollouts.querySelectorAll("[data-of]"))].find(({ dataset }) =>
        dataset.of === focused
      )?.focus();
  }

  #fill(rows) {
    const list = byID("list");
    const { warnings } = this.#fleet;
    const rowsFor = warnings +
      JSON.stringify(rows.map((row) => [row, row.entry && agoText(row.entry.at), row.kill && agoText(row.kill.at)]));
    // A row that is replaced while it is pressed is not clicked.
    if (this.#isPressed || rowsFor === this.#rowsFor) return;
    this.#rowsFor = rowsFor;
    const focused = /** @type {HTMLElement} */ (document.activeElement)?.dataset.of;
    const groups = new Map();
    for (const row of rows.slice(0, mostRows)) {
      const name = groupOf(row.tweak);
      groups.set(name, [...(groups.get(name) ?? []), row]);
    }
    list.replaceChildren(
      ...[...groups].map(([name, members]) =>
        make(
          "section",
          {},
          make("div", { class: "collection-heading" }, make("h3", { translate: "no", text: name })),
          make("ul", { class: "fleet-rows", "aria-label": name }, members.map((row) => this.#makeRow(row)))
        )
      ),
      ...(rows.length > mostRows
        ? [make("p", { class: "who", text: `${rows.length - mostRows} more; use search` })]
        : []),
      ...(warnings ? [make("p", { class: "who fleet-lines", text: warnings })] : [])
    );
    if (focused)
      [.../** @type {NodeListOf<HTMLElement>} */ (list.querySelectorAll("[data-of]"))].find(({ dataset }) =>
        dataset.of === focused
      )?.focus();
  }

  #makeRow(row) {
    const { tweak, entry, kill } = row;
    const fleet = this.#fleet;
    const label = labelOf(tweak);
    const last = kill ?? entry;
    return make(
      "li",
      {
        class: `fleet-row ${entry ? "is-set" : ""} ${kill ? "is-killed" : ""} ${entry?.problem ? "is-failed" : ""}`,
        data: { tweak }
      },
      make(
        "div",
        { class: "fleet-name" },
        make("button", {
          class: "heading-link",
          translate: "no",
          text: label,
          title: `History of ${shown(tweak)}`,
          data: { of: `name ${tweak}` },
          onclick: () => fleet.history.open(tweak)
        })
      ),
      make(
        "div",
        { class: "fleet-value" },
        make("span", { class: "fleet-now", text: effectText(row) }),
        kill && make("span", { class: "badge warning", text: "killed" }),
        kill && entry && make("span", { class: "who", text: `instead of ${valueText(entry.value)}` }),
        entry?.for &&
          make("span", { class: "badge is-set", text: filtersText(entry.for), title: JSON.stringify(entry.for) }),
        entry?.otherwise &&
          make("span", { class: "badge", text: `otherwise ${stateText(entry.otherwise.value, entry.otherwise.for)}` })
      ),
      make(
        "div",
        { class: "fleet-last who" },
        last
          ? [
            make("span", {
              class: "fleet-why",
              text: shown(last.why ?? (entry?.problem && last === entry ? entry.problem : ""))
            }),
            make(
              "span",
              {},
              make("time", { datetime: last.at, title: shown(last.at), text: last.at ? agoText(last.at) : "" }),
              last.by ? ` · ${shown(last.by)}` : ""
            )
          ]
          : undefined
      ),
      make(
        "div",
        { class: "fleet-buttons" },
        make("button", {
          class: "button small",
          text: "Set…",
          "aria-label": `Set ${label}`,
          data: { of: `set ${tweak}` },
          onclick: () => openSet(fleet, tweak)
        }),
        iconButton("more", `More for ${label}`, (event) => this.#openRowMenu(event.currentTarget, row), {
          "aria-haspopup": "menu",
          "aria-expanded": "false",
          data: { of: `more ${tweak}` }
        })
      )
    );
  }

  #openRowMenu(anchor, { tweak, entry, kill, declaration }) {
    const fleet = this.#fleet;
    const canKill = (declaration?.type ?? (typeof entry?.value === "boolean" ? "bool" : "")) === "bool";
    const words = entry && !entry.problem
      ? [
        "tweak",
        "fleet",
        "set",
        "--environment",
        fleet.environment,
        ...(entry.for ? ["--for", JSON.stringify(entry.for)] : []),
        "--why",
        "…",
        fleet.application,
        tweak,
        "--",
        String(entry.value)
      ]
      : [];
    openMenu(anchor, "More actions", [
      { label: "History", run: () => fleet.history.open(tweak) },
      { label: "Hosts…", isDisabled: !fleet.status?.known, run: () => openHoldings(fleet, tweak) },
      { label: "Roll out…", run: () => openRollout(fleet, tweak) },
      { label: "Remove the value…", isDisabled: !entry, run: () => openReset(fleet, tweak) },
      kill
        ? { label: "End the kill…", run: () => openUnkill(fleet, tweak) }
        : { label: "Kill…", isDisabled: !canKill, run: () => openKill(fleet, tweak) },
      {
        label: "Copy as a command",
        isDisabled: words.length === 0,
        run: () => copyText(words.map(shellWord).join(" "), fleet.notices, "Command copied")
      }
    ]);
  }

  #showEmpty(count, isSearch) {
    const { contents, problem, application, environments } = this.#fleet;
    const empty = byID("empty");
    byID("list").hidden = Boolean(problem);
    empty.hidden = count > 0 && !problem;
    if (empty.hidden) return;
    const [title, text] = problem
      ? ["Cannot read the fleet", problem.split("\n").map(shown).join("\n")]
      : !application
      ? (environments.length > 0
        ? ["Loading…", ""]
        : ["No applications", "Set a value with tweak fleet set, or open an application that has none yet."])
      : !contents
      ? ["Loading…", ""]
      : isSearch
      ? ["No matches", "No tweak here matches the search."]
      : [
        "No values",
        "This application has no values in this environment. Its hosts use the values of other providers."
      ];
    empty.replaceChildren(
      make("h2", { text: title }),
      make("p", { text }),
      problem
        ? textButton("Try again", () => this.#fleet.loadEnvironments().then(() => this.#fleet.load(true)), {
          class: "button main"
        })
        : ""
    );
  }
}
