// The page: makes its parts, and puts them together.

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

/** What the parts need of each other. Each part adds the functions that others call. */
const page = {
  state, api, notices, history, editing, preferences: new Preferences(), sets: new Sets(state, editing),
  samples: new Samples(api, state),
  /** What buttons and keys do. */
  commands: {},
  /** What is looked for. */
  query: { words: [], shows: [], source: undefined, kind: undefined, text: "" },
  /** What the list shows, from top to bottom. */
  listed: { items: [], shownIds: new Set(), count: 0 },
  /** The ids of the tweaks that are drawn. */
  graphed: new Set(),
  /** By program, the preset that was loaded or saved last, with the values of that time. */
  loadedPresets: new Map(),
  /** The programs whose tweaks are asked for, and whether they have to be asked for again. */
  loading: new Map(),
  /** By program whose tweaks are asked for, the changes that were told meanwhile, by key: the answer may be older. */
  changesWhileLoading: new Map(),
  /** The program that somebody did something with last. */
  lastTouched: undefined,
  /** Where the address leads, until that is there. */
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
