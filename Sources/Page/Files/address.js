// The address is where one is, so that it can be sent to somebody; and Back closes what was opened above the list.

import { filters, isEmptyQuery, wordsOf } from "./finding.js";
import { linkText, placeOf, shown } from "./names.js";

/** Adds to the page what follows its address. */
export function addAddress(page) {
  const { state, api, notices, commands } = page;

  let isFollowing = false;
  let timer = 0;
  /**
   * What is open above the list, in the order in which it was opened, as `{ name, isOwn }`: details, graph, filter. What was
   * opened here has an entry of its own in the history of the browser.
   */
  let layers = [];
  /** How many entries of ours were below this one when the page began, and whether we are on the way to another one. */
  let base = window.history.state?.depth ?? 0;
  let isGoing = false;
  const depth = () => base + layers.filter(({ isOwn }) => isOwn).length;
  const close = { details: () => commands.select(undefined), graph: () => commands.closeGraph(), filter: () => commands.clearQuery() };

  /** Takes note of what is open now. Returns how many entries are over. */
  function findLayers(isOwn) {
    const before = depth();
    const isOpen = { details: Boolean(state.selected), graph: page.graphed.size > 0, filter: !isEmptyQuery(page.query) };
    layers = layers.filter(({ name }) => isOpen[name]);
    const over = before - depth();
    for (const name of Object.keys(close)) {
      if (!isOpen[name] || layers.some((layer) => layer.name === name)) continue;
      layers.push({ name, isOwn: isOwn && over === 0 });
      if (isOwn && over === 0) window.history.pushState({ depth: depth() }, "", addressText());
    }
    return over;
  }

  /** Soon has the address say where one is; a browser does not like to be told with each key. */
  function showAddress() {
    if (isFollowing || isGoing) return;
    const over = findLayers(true);
    if (over > 0) {
      isGoing = true;
      window.history.go(-over);
    } else timer ||= setTimeout(writeAddress, 150);
  }

  /** Follows Back and Forward of the browser, to an entry with so many of ours below it. */
  async function followHistory(wanted) {
    if (isGoing) {
      isGoing = false;
      base += wanted - depth();
      showAddress();
    } else {
      if (wanted > depth()) await followAddress();
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
      ...state.scope, ...(tweak ? { program: tweak.program, tweak: tweak.key } : {}), q: page.query.text, show: page.query.shows.join(" "),
    };
    return `${location.pathname}${linkText(place)}`;
  }

  function writeAddress() {
    clearTimeout(timer);
    timer = 0;
    if (isGoing) return;
    const text = addressText();
    if (text === `${location.pathname}${location.hash}` && window.history.state?.depth === depth()) return;
    window.history.replaceState({ depth: depth() }, "", text);
  }

  async function followAddress() {
    const { token, ...place } = placeOf(location.hash);
    if (token) {
      // A token does not stay in the address, where it would get into the history of the browser.
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
    page.query.text = place.q ?? "";
    page.query.words = wordsOf(page.query.text);
    page.query.shows = (place.show ?? "").split(" ").filter((name) => filters.some((filter) => filter[0] === name));
    page.parts.search.value = page.query.text;
    state.scope = {};
    for (const name of ["program", "category", "collection", "group"]) if (place[name] !== undefined) state.scope[name] = place[name];
    page.wantedPlace = place;
    if (!place.tweak && state.selected) commands.select(undefined);
    isFollowing = false;
    findLayers(false);
    if (!window.history.state) window.history.replaceState({ depth: depth() }, "");
    if (state.connection === "connected") {
      for (const program of page.shownPrograms()) commands.load(program.id);
      page.findAgain();
      page.outline.update();
      goToPlace();
    }
  }

  /** Goes to the tweak of the address as soon as it is there. */
  function goToPlace() {
    const place = page.wantedPlace;
    if (!place) return;
    if (place.program && !state.programs.has(place.program)) return;
    if (!place.tweak) {
      page.wantedPlace = undefined;
      return;
    }
    const tweak = state.tweak(place.program, place.tweak);
    if (!tweak) {
      if (!state.programs.get(place.program)?.isLoaded) return;
      page.wantedPlace = undefined;
      notices.problem(`${shown(place.tweak)}: the program has no such tweak`);
      return;
    }
    page.wantedPlace = undefined;
    isFollowing = true;
    if (state.selected !== tweak.id) commands.select(tweak);
    isFollowing = false;
    findLayers(false);
    writeAddress();
    page.list.reveal(tweak.id, { focus: "name" });
  }

  addEventListener("popstate", (event) => event.state && followHistory(event.state.depth));
  // An address that somebody typed has no state yet.
  addEventListener("hashchange", () => {
    if (window.history.state) return;
    base = 0;
    layers = [];
    followAddress();
  });

  Object.assign(page, { showAddress, followAddress, goToPlace });
}
