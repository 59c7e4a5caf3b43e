// What the list shows: which programs, which tweaks, and why there are none.

import { iconButton, make } from "./dom.js";
import { dependsOnValues, isEmptyQuery, isInScope, listItems, sortedTweaks } from "./finding.js";
import { shown } from "./names.js";
import { stateText } from "./outline.js";

const byID = (id) => document.getElementById(id);

/** Adds to the page what finds out what the list shows. */
export function addShowing(page) {
  const { state, preferences, commands } = page;

  function makeHeading(item) {
    const { program } = item;
    if (item.kind === "program") {
      return make("div", { class: "program-heading" }, make("h2", {}, make("span", { class: `state-dot ${program.state}`, "aria-hidden": "true" }),
        make("button", { type: "button", class: "heading-link", text: shown(program.description.name), onclick: () => commands.showScope({ program: program.id }) })),
        make("span", { class: "who", text: program.isLoaded ? stateText(program) : (program.problem ?? "loading…") }));
    }
    const names = item.group !== undefined ? [item.group ? shown(item.group) : "No group"] : [shown(item.category), shown(item.collection)];
    const scope = item.group !== undefined ? { program: program.id, group: item.group }
      : { program: program.id, category: item.category, collection: item.collection };
    return make("div", { class: "collection-heading" }, make("h3", {},
      make("button", { type: "button", class: "heading-link", onclick: () => commands.showScope(scope) },
        names.map((name, index) => make("span", { class: index === names.length - 1 ? "last" : "first", text: name || "(no name)" })))),
      iconButton("more", `More for ${names.join(", ")}`, (event) => page.scopeMenu(event.currentTarget, scope)));
  }

  function shownPrograms() {
    const { scope } = state;
    const programs = [...state.programs.values()];
    if (scope.program !== undefined) return programs.filter(({ id }) => id === scope.program);
    // Of those that do not run only what somebody has looked at is listed with the others.
    const listed = programs.filter((program) => program.state !== "offline" || program.isLoaded);
    return listed.length > 0 ? listed : programs;
  }

  /** The program that commands without another one are about. */
  function currentProgram() {
    const id = state.scope.program ?? (state.programs.size === 1 ? [...state.programs.keys()][0] : undefined);
    const selected = state.tweakOf(state.selected);
    return state.programs.get(id ?? selected?.program ?? page.lastTouched ?? [...state.programs.keys()][0]);
  }

  /** Finds out again what the list shows. `keeping`: rows that were there stay, although they are not wanted any more. */
  function findAgain({ keeping = false } = {}) {
    const began = performance.now();
    const context = { stars: preferences.stars, byGroup: preferences.byGroup };
    page.listed = listItems(shownPrograms(), state.scope, page.query, context, keeping ? page.listed.shownIds : undefined);
    page.list.show(page.listed.items);
    showEmpty();
    page.showListHead();
    page.lastSearch = performance.now() - began;
  }

  let findTimer = 0;
  function findSoon() {
    if (!dependsOnValues(page.query)) return;
    findTimer ||= setTimeout(function again() {
      // Nothing moves while somebody drags or types.
      findTimer = page.list.isBusy ? setTimeout(again, 300) : 0;
      if (!findTimer) findAgain({ keeping: true });
    }, 300);
  }

  function showEmpty() {
    const empty = byID("empty");
    empty.hidden = page.listed.count > 0 || state.connection === "connecting";
    if (empty.hidden) return;
    const programs = shownPrograms();
    let title;
    let text;
    let button;
    if (state.connection === "refused") {
      title = "This page needs its address again";
      text = "tweak ui was started anew, or this page was opened without its token. Open the address that tweak ui printed in its terminal.";
    } else if (state.programs.size === 0) {
      title = "No program is there";
      text = "A program with tweaks shows up here as soon as it runs. One that does not run can be opened by its path: tweak ui ./program";
      button = ["Open a program…", () => commands.openProgram()];
    } else if (programs.length === 0) {
      title = `${shown(state.scope.program)} is not there`;
      text = "It does not run, and nothing is kept of it.";
      button = ["All programs", () => commands.showScope({})];
    } else if (programs.some(({ isLoaded, problem }) => !isLoaded && !problem)) {
      title = "Loading…";
      text = "";
    } else if (programs.some(({ problem }) => problem)) {
      title = "The tweaks cannot be read";
      text = programs.map(({ problem }) => problem).filter(Boolean).join("\n");
      button = ["Try again", () => programs.forEach(({ id }) => commands.load(id))];
    } else if (!isEmptyQuery(page.query)) {
      title = "Nothing is like that";
      text = page.query.shows.includes("changed") && page.query.words.length === 0 ? "Every tweak here has its default." :
        `No tweak here fits ${page.query.text ? `"${page.query.text}"` : "the filters"}.`;
      button = ["Show all", () => commands.clearQuery()];
    } else if (programs.length === 1 && programs[0].description.isGone) {
      title = "Its file is gone";
      text = `${shown(programs[0].description.executable)} is not there any more, and no value is kept of it.`;
      button = ["Take it off the list", () => commands.forget(programs)];
    } else {
      title = "There are no tweaks";
      text = "The program declares none here. Was it built with FB_TWEAK_ENABLED or DEBUG?";
    }
    empty.replaceChildren(make("h2", { text: title }), make("p", { text }),
      button ? make("button", { type: "button", class: "button main", text: button[0], onclick: button[1] }) : "");
  }

  const tweaksIn = (scope) => {
    const program = state.programs.get(scope.program);
    return program ? sortedTweaks(program).filter((tweak) => isInScope(tweak, scope)) : [];
  };

  Object.assign(page, { makeHeading, shownPrograms, currentProgram, findAgain, findSoon, showEmpty, tweaksIn });
}
