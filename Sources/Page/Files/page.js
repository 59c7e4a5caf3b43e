// Creates the parts of the page and connects them.

import { addAddress } from "./address.js";
import { API } from "./api.js";
import { addBar } from "./bar.js";
import { addCommands } from "./commands.js";
import { Details } from "./details.js";
import { Editing } from "./editing.js";
import { addFollowing } from "./following.js";
import { Graphs } from "./graphs.js";
import { History, Sets } from "./history.js";
import { addKeys } from "./keys.js";
import { List } from "./list.js";
import { Notices } from "./notices.js";
import { Outline } from "./outline.js";
import { Preferences } from "./preferences.js";
import { Samples } from "./samples.js";
import { addShowing } from "./showing.js";
import { State } from "./state.js";
import { isMonitored } from "./tweaks.js";

const byID = (id) => document.getElementById(id);

const state = new State();
const api = new API();
const notices = new Notices(byID("notices"), byID("spoken"));
const history = new History(state);
const editing = new Editing({ state, api, notices, history });

/** The parts of the page. Each part adds the functions that others call. */
const page = {
  state, api, notices, history, editing, preferences: new Preferences(), sets: new Sets(state, editing),
  samples: new Samples(api, state),
  /** The commands behind buttons and keys. */
  commands: {},
  /** The search and the filters. */
  query: { words: [], shows: [], source: undefined, kind: undefined, text: "" },
  /** The items of the list, from top to bottom. */
  listed: { items: [], shownIds: new Set(), count: 0 },
  /** The IDs of the tweaks on the graph. */
  graphed: new Set(),
  /** The preset last loaded or saved, by program, with its values at that time. */
  loadedPresets: new Map(),
  /** The programs whose tweaks are being loaded, and whether to load them again afterwards. */
  loading: new Map(),
  /** Changes received while the tweaks of a program are being loaded, by program and key; the answer may be older. */
  changesWhileLoading: new Map(),
  /** The program last used. */
  lastTouched: undefined,
  /** The place that the address names, until it is loaded. */
  wantedPlace: undefined,
};

page.list = new List(page, byID("scroller"), byID("list"), (item) => page.makeHeading(item));
page.outline = new Outline(page, byID("outline"));
page.details = new Details(page, byID("details"));
page.graphs = new Graphs(page, byID("graphs"));
page.list.onShown = () =>
  page.samples.showing(new Set(page.list.shownTweaks.filter(isMonitored).map(({ id }) => id)));

for (const add of [addShowing, addBar, addCommands, addAddress, addFollowing, addKeys]) add(page);

page.showTheme();
page.showBar();
await page.followAddress();
api.listen();
// For tests and measurements.
globalThis.tweaksPage = page;
