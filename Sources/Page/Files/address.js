// SPDX-License-Identifier: BSD-3-Clause

// Keeps the address in step with what is shown, so that it can be shared, and lets Back close what is open above the
// list.

import { filters, isEmptyQuery, wordsOf } from "./finding.js";
import { linkText, placeOf, shown } from "./names.js";
import { isDrawable } from "./tweaks.js";

/**
 * Makes the functions that write and follow the address.
 *
 * @param {import("./page.js").Page} page
 */
export function makeAddress({ api, bar, commands, graphs, notices, outline, showing, state }) {
  /** The place that the address names, until it is loaded. */
  let wantedPlace;
  let isFollowing = false;
  let timer = 0;
  /**
   * The layers open above the list (details, graph, filter), oldest first, as `{ name, isOwn }`. A layer opened on this
   * page
   * has its own entry in the browser's history.
   */
  let layers = [];
  /**
   * The number of this page's history entries below the current one at the start, and whether the browser is
   * navigating.
   */
  let base = window.history.state?.depth ?? 0;
  let isGoing = false;
  const depth = () => base + layers.filter(({ isOwn }) => isOwn).length;
  const close = {
    details: () => commands.select(undefined),
    graph: () => commands.closeGraph(),
    filter: () => commands.clearQuery()
  };

  /** Updates the layers from what is open now. Returns the number of surplus history entries. */
  function findLayers(isOwn) {
    const before = depth();
    const isOpen = {
      details: Boolean(state.selected),
      graph: state.graphed.size > 0,
      filter: !isEmptyQuery(state.query)
    };
    layers = layers.filter(({ name }) => isOpen[name]);
    const over = before - depth();
    for (const name of Object.keys(close)) {
      if (!isOpen[name] || layers.some((layer) => layer.name === name)) continue;
      layers.push({ name, isOwn: isOwn && over === 0 });
      if (isOwn && over === 0) window.history.pushState({ depth: depth() }, "", addressText());
    }
    return over;
  }

  /**
   * Whether the address was typed, or came with a link, and is not followed yet: the browser announces it in a later
   * task, and what this page writes meanwhile would replace it.
   */
  const isNew = () => !window.history.state;

  /** Schedules an update of the address. Browsers limit how often it may change. */
  function show() {
    if (isFollowing || isGoing || isNew()) return;
    const over = findLayers(true);
    if (over > 0) {
      isGoing = true;
      window.history.go(-over);
    } else timer ||= setTimeout(writeAddress, 150);
  }

  /** Handles Back and Forward. `wanted` is the number of this page's entries below the new one. */
  async function followHistory(wanted) {
    if (isGoing) {
      isGoing = false;
      base += wanted - depth();
      show();
    } else {
      if (wanted > depth()) await follow();
      isFollowing = true;
      for (let over = depth() - wanted; over > 0 && layers.length > 0; over -= 1) close[layers.pop().name]();
      isFollowing = false;
      findLayers(false);
      base += wanted - depth();
    }
    writeAddress();
  }

  function addressText() {
    const tweak = state.tweakOf(state.selected);
    const place = {
      ...state.scope,
      ...(tweak ? { program: tweak.program, tweak: tweak.key } : {}),
      ...graphs.placeIn(state.scope.program),
      q: state.query.text,
      show: state.query.shows.join(" ")
    };
    return `${location.pathname}${linkText(place)}`;
  }

  /** Shows the graph that the address names, once the tweaks of its programs are loaded. */
  function showGraph(place) {
    const idOf = (name) => (name?.includes("\n") ? name : name && `${place.program}\n${name}`);
    const ids = place.line.map(idOf);
    const programs = [...new Set(ids.map((id) => id.slice(0, id.indexOf("\n"))))].map((id) => state.programs.get(id))
      .filter(Boolean);
    for (const { id } of programs) commands.load(id);
    if (programs.some(({ isLoaded }) => !isLoaded)) return;
    delete place.line;
    const wanted = ids.map((id) => state.tweakOf(id)).filter((tweak) => tweak && isDrawable(tweak));
    const missing = ids.filter((id) => !state.tweakOf(id));
    if (missing.length > 0)
      notices.problem(
        `Not on the graph, because not declared: ${
          missing.map((id) => shown(id.slice(id.indexOf("\n") + 1))).join(", ")
        }`
      );
    graphs.place = { ...place, across: idOf(place.across) };
    isFollowing = true;
    state.graphed.clear();
    commands.graph(wanted);
    isFollowing = false;
    findLayers(false);
  }

  function writeAddress() {
    clearTimeout(timer);
    timer = 0;
    if (isGoing || isNew()) return;
    const text = addressText();
    if (text === `${location.pathname}${location.hash}` && window.history.state?.depth === depth()) return;
    window.history.replaceState({ depth: depth() }, "", text);
  }

  async function follow() {
    const { token, ...place } = placeOf(location.hash);
    if (token) {
      // Keep the token out of the browser's history.
      window.history.replaceState(window.history.state, "", `${location.pathname}${linkText(place)}`);
      try {
        await api.exchange(token);
      } catch (error) {
        if (!api.hasSession) state.set("connection", "refused");
        notices.problem(error.message);
      }
    }
    isFollowing = true;
    clearTimeout(timer);
    timer = 0;
    state.query.text = place.q ?? "";
    state.query.words = wordsOf(state.query.text);
    state.query.shows = (place.show ?? "").split(" ").filter((name) => filters.some((filter) => filter[0] === name));
    // The address has no other filters, and what it names would be hidden by them.
    Object.assign(state.query, { source: undefined, kind: undefined });
    bar.parts.search.value = state.query.text;
    state.scope = {};
    for (const name of ["program", "category", "collection", "group", "panel", "place", "view", "row"])
      if (place[name] !== undefined) state.scope[name] = place[name];
    wantedPlace = place;
    if (!place.tweak && state.selected) commands.select(undefined);
    isFollowing = false;
    findLayers(false);
    if (!window.history.state) window.history.replaceState({ depth: depth() }, "");
    if (state.connection === "connected") {
      for (const program of state.shownPrograms()) commands.load(program.id);
      showing.findAgain();
      outline.update();
      goToPlace();
    }
  }

  /** Selects the tweak that the address names, once it is loaded. */
  function goToPlace() {
    const place = wantedPlace;
    if (!place) return;
    if (place.program && !state.programs.has(place.program)) return;
    if (place.line) showGraph(place);
    if (place.row && state.programs.get(place.program)?.isLoaded) {
      const missing = place.row.filter((key) => !state.tweak(place.program, key));
      if (missing.length > 0) notices.problem(`The program does not declare ${missing.map(shown).join(", ")}`);
      delete place.row;
    }
    if (!place.tweak && !place.line && !place.row) {
      wantedPlace = undefined;
      return;
    }
    if (!place.tweak) return;
    const tweak = state.tweak(place.program, place.tweak);
    if (!tweak) {
      if (!state.programs.get(place.program)?.isLoaded) return;
      wantedPlace = undefined;
      notices.problem(`${shown(place.tweak)}: the program does not declare this tweak`);
      return;
    }
    wantedPlace = undefined;
    isFollowing = true;
    if (state.selected !== tweak.id) commands.select(tweak);
    isFollowing = false;
    findLayers(false);
    writeAddress();
    showing.list.reveal(tweak.id, { focus: "name" });
  }

  addEventListener("popstate", (event) => event.state && followHistory(event.state.depth));
  addEventListener("hashchange", () => {
    if (!isNew()) return;
    // The browser gives up going to another entry.
    isGoing = false;
    base = 0;
    layers = [];
    follow();
  });

  graphs.onChange = show;

  return Object.freeze({
    show,
    follow,
    goToPlace,
    /** The program that the address names, until it is loaded. */
    get wantedProgram() {
      return wantedPlace?.program;
    }
  });
}
