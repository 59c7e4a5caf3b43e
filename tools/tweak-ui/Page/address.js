// The address is where one is, so that it can be sent to somebody.

import { filters, wordsOf } from "./finding.js";
import { linkText, placeOf, shown } from "./names.js";

/** Adds to the page what follows its address. */
export function addAddress(page) {
  const { state, api, notices, commands } = page;

  let isFollowing = false;
  let timer = 0;
  /** Soon has the address say where one is; a browser does not like to be told with each key. */
  function showAddress() {
    if (!isFollowing) timer ||= setTimeout(writeAddress, 150);
  }

  function writeAddress() {
    timer = 0;
    const tweak = state.tweakOf(state.selected);
    const place = {
      ...state.scope, ...(tweak ? { program: tweak.program, tweak: tweak.key } : {}), q: page.query.text, show: page.query.shows.join(" "),
    };
    const text = linkText(place);
    if (text === location.hash) return;
    window.history.replaceState(null, "", `${location.pathname}${text}`);
  }

  async function followAddress() {
    const { token, ...place } = placeOf(location.hash);
    if (token) {
      // A token does not stay in the address, where it would get into the history of the browser.
      window.history.replaceState(null, "", `${location.pathname}${linkText(place)}`);
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
    isFollowing = false;
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
    if (state.selected !== tweak.id) commands.select(tweak);
    page.list.reveal(tweak.id, { focus: "name" });
  }

  Object.assign(page, { showAddress, followAddress, goToPlace });
}
