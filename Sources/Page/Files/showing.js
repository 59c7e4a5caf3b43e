// SPDX-License-Identifier: BSD-3-Clause

// Decides what the list shows, and explains why it is empty.

import { byID, iconButton, make, textButton } from "./dom.js";
import { dependsOnValues, isEmptyQuery, listItems } from "./finding.js";
import { shown } from "./names.js";
import { stateText } from "./outline.js";

/**
 * Makes the function that makes a heading of the list.
 *
 * @param {import("./page.js").Page} page
 */
export function makeHeadings({ bar, commands }) {
  function makeHeading(item) {
    const { program } = item;
    if (item.kind === "program") {
      return make(
        "div",
        { class: "program-heading" },
        make(
          "h2",
          {},
          make("span", { class: `state-dot ${program.state}`, "aria-hidden": "true" }),
          make("button", {
            class: "heading-link",
            translate: "no",
            text: shown(program.description.name),
            onclick: () => commands.showScope({ program: program.id })
          })
        ),
        make("span", { class: "who", text: program.isLoaded ? stateText(program) : (program.problem ?? "loading…") })
      );
    }
    if (item.isStarred) {
      return make(
        "div",
        { class: "collection-heading" },
        make("h3", {}, make("span", { text: "Starred" })),
        textButton("Panel…", () => commands.openPanel(program.id), {
          class: "button small",
          title: "A link to these tweaks and the graph",
          "aria-haspopup": "dialog"
        })
      );
    }
    const names = item.group !== undefined
      ? [item.group ? shown(item.group) : "No group"]
      : [shown(item.category), shown(item.collection)];
    const scope = item.group !== undefined
      ? { program: program.id, group: item.group }
      : { program: program.id, category: item.category, collection: item.collection };
    return make(
      "div",
      { class: "collection-heading" },
      make(
        "h3",
        {},
        make(
          "button",
          {
            class: "heading-link",
            translate: "no",
            onclick: () => commands.showScope(scope)
          },
          names.map((name, index) =>
            make("span", { class: index === names.length - 1 ? "last" : "first", text: name || "(no name)" })
          )
        )
      ),
      iconButton("more", `More for ${names.join(", ")}`, (event) => bar.scopeMenu(event.currentTarget, scope))
    );
  }

  return makeHeading;
}

/**
 * Makes the functions that fill the list.
 *
 * @param {import("./page.js").Page} page
 * @param {import("./list.js").List} list
 */
export function makeShowing({ bar, commands, palette, preferences, state }, list) {
  const showing = {
    /** The list, or the panel that takes its place. */
    list,
    findAgain,
    findSoon,
    showEmpty,
    /** Called to show the panel that the scope names. */
    onPanel: () => {}
  };

  /**
   * Updates the list. With `keeping`, its rows stay even if they no longer match. With `isStill`, it does not follow
   * the focus.
   */
  function findAgain({ keeping = false, isStill = false } = {}) {
    const context = { stars: preferences.stars, byGroup: preferences.byGroup };
    if (state.scope.place && !state.scope.row?.length) {
      state.scope.row = [];
      showing.onPanel();
    }
    const find = (isLoose) => {
      state.query.isLoose = isLoose;
      state.listed = listItems(
        state.shownPrograms(),
        state.scope,
        state.query,
        context,
        keeping ? state.listed.shownIds : undefined
      );
    };
    find(keeping && state.query.isLoose);
    if (state.listed.count === 0 && state.query.words.length > 0) find(true);
    showing.list.fitNames(state.shownPrograms(), state.scope);
    showing.list.show(state.listed.items, { isStill });
    showEmpty();
    bar.showListHead();
    palette.show();
  }

  let findTimer = 0;
  function findSoon() {
    if (!dependsOnValues(state.query)) return;
    findTimer ||= setTimeout(function again() {
      // Nothing moves during a drag or while typing.
      findTimer = showing.list.isBusy ? setTimeout(again, 300) : 0;
      if (!findTimer) findAgain({ keeping: true });
    }, 300);
  }

  function showEmpty() {
    const empty = byID("empty");
    empty.hidden = state.listed.count > 0 || state.connection === "connecting";
    if (empty.hidden) return;
    const programs = state.shownPrograms();
    let title;
    let text;
    let button;
    if (state.connection === "refused") {
      title = "Session expired";
      text =
        "tweak ui was restarted, or this page was opened without its token. Open the address that tweak ui printed in its terminal.";
    } else if (state.programs.size === 0) {
      title = "No programs";
      text =
        "Programs with tweaks appear here when they start. To open a program that is not running, run tweak ui ./program";
      button = ["Open a program…", () => commands.openProgram()];
    } else if (programs.length === 0) {
      title = `${shown(state.scope.program)} not found`;
      text = "It is not running, and no values are kept for it.";
      button = ["All programs", () => commands.showScope({})];
    } else if (state.scope.place || programs.some(({ isLoaded, problem }) => !isLoaded && !problem)) {
      title = "Loading…";
      text = "";
    } else if (programs.some(({ problem }) => problem)) {
      title = "Cannot read the tweaks";
      text = programs.map(({ problem }) => problem).filter(Boolean).join("\n");
      button = ["Try again", () => programs.forEach(({ id }) => commands.load(id))];
    } else if (!isEmptyQuery(state.query)) {
      title = "No matches";
      text = state.query.shows.includes("changed") && state.query.words.length === 0
        ? "All tweaks here have their defaults."
        : `No tweak here matches ${state.query.text ? `"${state.query.text}"` : "the filters"}.`;
      button = ["Show all", () => commands.clearQuery()];
    } else if (state.scope.row) {
      title = "Empty panel";
      text = "The program declares none of the tweaks in this panel.";
      button = ["All tweaks", () => commands.showScope({ program: state.scope.program })];
    } else if (programs.length === 1 && programs[0].description.isGone) {
      title = "Executable deleted";
      text = `${shown(programs[0].description.executable)} no longer exists, and no values are kept for it.`;
      button = ["Remove from the list", () => commands.forget(programs)];
    } else {
      title = "No tweaks";
      text = "This program declares no tweaks. Was it built with FB_TWEAK_ENABLED or DEBUG?";
    }
    empty.replaceChildren(
      make("h2", { text: title }),
      make("p", { text }),
      button ? make("button", { class: "button main", text: button[0], onclick: button[1] }) : ""
    );
  }

  return showing;
}
