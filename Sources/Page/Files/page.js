// SPDX-License-Identifier: BSD-3-Clause

// Creates the parts of the page and connects them.

import { makeAddress } from "./address.js";
import { API } from "./api.js";
import { makeBar } from "./bar.js";
import { Changes } from "./changes.js";
import { makeCommands } from "./commands.js";
import { Controllers } from "./controllers.js";
import { Details } from "./details.js";
import { byID } from "./dom.js";
import { Editing } from "./editing.js";
import { makeFollowing } from "./following.js";
import { Graphs } from "./graphs.js";
import { UndoHistory } from "./undo.js";
import { addKeys } from "./keys.js";
import { List } from "./list.js";
import { Notices } from "./notices.js";
import { Outline } from "./outline.js";
import { makePalette } from "./palette.js";
import { Preferences } from "./preferences.js";
import { Samples } from "./samples.js";
import { Sets } from "./sets.js";
import { makeHeadings, makeShowing } from "./showing.js";
import { State } from "./state.js";
import { isMonitored } from "./tweaks.js";

/**
 * Some parts of the page, by name.
 *
 * @template {keyof Page} Name
 * @typedef {Pick<Page, Name>} Parts
 */

/**
 * The parts of the page. A part takes, by name, only parts above it. It reaches those below it through topics of the
 * state and through callbacks, most of which `makeFollowing` connects.
 */
export class Page {
  state = new State();
  api = new API();
  notices = new Notices(byID("notices"), byID("spoken"));
  preferences = new Preferences();
  history = new UndoHistory(this.state);
  editing = new Editing(this.state, this.api, this.notices, this.history);
  sets = new Sets(this.state, this.editing);
  samples = new Samples(this.api, this.state);
  controllers = new Controllers(this);
  graphs = new Graphs(this, byID("graphs"));
  changes = new Changes(this, byID("history"));
  commands = makeCommands(this);
  bar = makeBar(this);
  palette = makePalette(this, this.bar.parts.palette);
  showing = makeShowing(this, new List(this, byID("scroller"), byID("list"), makeHeadings(this)));
  outline = new Outline(this, byID("outline"));
  details = new Details(this, byID("details"));
  address = makeAddress(this);
  following = makeFollowing(this);

  // For tests and measurements.
  get list() {
    return this.showing.list;
  }

  get listed() {
    return this.state.listed;
  }

  get graphed() {
    return this.state.graphed;
  }
}

const page = new Page();
addKeys(page);
page.list.onShown = () => page.samples.showing(new Set(page.list.shownTweaks.filter(isMonitored).map(({ id }) => id)));
page.bar.showTheme();
page.bar.show();
page.address.follow().then(() => page.api.listen());
// For tests and measurements.
globalThis.tweaksPage = page;
