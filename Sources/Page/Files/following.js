// SPDX-License-Identifier: BSD-3-Clause

// Applies events from the server to the state, and updates the parts of the page when the state changes.

import { byID, focusedRow } from "./dom.js";
import { counted, shown } from "./names.js";
import { stateText } from "./outline.js";
import { equalValues, valueFrom, valueText } from "./tweaks.js";

/** How much longer than a frame takes, with what the browser does for it, is the time until the next one. */
const rest = 5;
/** In ms: the longest time between frames, the time of one of the screen, and that between sparklines. */
const longestRest = 200;
const frameTime = 16;
const liveTime = 96;

/**
 * Handles server events and state changes.
 *
 * @param {import("./page.js").Page} page
 */
export function makeFollowing({
  address,
  api,
  bar,
  changes,
  commands,
  controllers,
  details,
  editing,
  graphs,
  history,
  notices,
  outline,
  preferences,
  samples,
  sets,
  showing,
  state
}) {
  api.onState = (connection) => {
    if (
      ["lost", "silent", "away"].includes(connection) &&
      (state.connection === "ended" || state.connection === "refused")
    ) return;
    if (connection === "connected") return;
    state.set("connection", connection);
  };
  api.person = () => preferences.name;
  api.onWarning = (message) => notices.problem(message);

  const receive = {
    hello({ stream, programs, viewers, options, first, comesBack, hasFleet }) {
      const tried = new Map();
      // A sweep tries values, too, but they are not the user's.
      for (const id of state.trying) if (state.triedCount(id) > 0) tried.set(id, state.triedCount(id));
      state.stream = stream;
      state.options = options;
      Object.assign(state, { comesBack, hasFleet });
      state.set("connection", "connected");
      if (first && !state.scope.program && state.programs.size === 0 && !address.wantedProgram)
        state.scope = { program: first };
      // The server has ended what the last stream tried, and this page still shows it; this stream is told of the
      // others.
      for (const id of [...state.trials.keys()]) {
        if (tried.has(id)) {
          commands.keepTried(id);
          tellTrialIsOver(id, tried.get(id));
        }
        state.setTrials(id, []);
      }
      state.setPrograms(programs);
      state.set("viewers", viewers);
      for (const program of state.shownPrograms()) commands.load(program.id);
      samples.askAgain();
      tellPresence();
      showing.findAgain({ keeping: true });
      address.goToPlace();
    },
    program({ program }) {
      const before = state.programs.get(program.id);
      state.setProgram(program);
      const isOther = before && (before.state !== program.state || before.description.pid !== program.pid);
      if (isOther) {
        notices.whisper(`${shown(program.name)}: ${stateText(program)}`);
        samples.askAgain();
      }
      if (isOther) changes.changed(program.id);
      const isShown = state.scope.program === undefined || state.scope.program === program.id;
      if (isShown && (isOther || !before)) commands.load(program.id, { again: true });
    },
    gone({ program }) {
      state.removeProgram(program);
      if (state.scope.program === program) commands.showScope({});
    },
    tweaks({ program }) {
      if (state.programs.get(program)?.isLoaded) commands.load(program, { again: true });
    },
    changes({ program, changes: made }) {
      changes.changed(program);
      for (const change of made) {
        const tweak = state.tweak(program, change.tweak);
        if (tweak) remember(tweak, change);
        state.setValue(program, { ...change, value: change.newValue });
      }
    },
    samples(message) {
      samples.take(message);
      drawSoon();
    },
    trials({ program, trials }) {
      const before = state.triedKeys(program);
      state.setTrials(program, trials);
      // What this page gave back, as by undo, can be tried again.
      const isLost = before.some((key) => !editing.gaveBack(state.tweak(program, key)));
      if (isLost && state.triedCount(program) === 0 && !commands.isEndingTrial())
        tellTrialIsOver(program, before.length);
    },
    ping() {
      api.post("pong", { stream: api.stream }).catch(() => {});
    },
    viewers({ viewers }) {
      state.set("viewers", viewers);
    },
    preset({ program }) {
      state.tell("presets", program);
    },
    bye() {}
  };
  function tellTrialIsOver(program, count) {
    history.endTrial(program, false);
    const name = shown(state.programs.get(program)?.description.name);
    notices.say(`${name}: ${counted(count, "tried value")} reverted`);
  }

  api.isRecording = () => state.graphed.size > 0 || state.trying.size > 0 || samples.isMeasuring || controllers.isInUse;
  api.onEvent = (name, data) => receive[name]?.(data);

  /** Records a change and its author for the graph and the details. */
  function remember(tweak, change) {
    if (tweak.monitor || tweak.type === "action") return;
    const [old, value] = [
      valueFrom(tweak.type, change.oldValue),
      valueFrom(tweak.type, change.pendingValue ?? change.newValue)
    ];
    if (equalValues(old, value)) return;
    const newText = valueText(tweak, value);
    samples.mark({
      time: change.time ?? samples.now(),
      id: tweak.id,
      program: tweak.program,
      key: tweak.key,
      label: tweak.label,
      newText,
      text: `${valueText(tweak, old)} → ${newText}`,
      who: whoText(change)
    });
  }

  function whoText({ by, source, stream }) {
    if (stream !== undefined && stream === state.stream) return "this page";
    if (stream !== undefined) {
      const viewer = state.viewers.find((each) => each.stream === stream);
      return viewer?.name ? shown(viewer.name) : `page ${stream}`;
    }
    if (by) return shown(by);
    return source === "override" || source === "default" ? "elsewhere" : shown(source ?? "elsewhere");
  }

  let presence = "";
  function tellPresence() {
    if (!api.stream || state.connection !== "connected") return;
    const focused = focusedRow();
    const selected = state.tweakOf(state.selected);
    const body = {
      stream: api.stream,
      program: focused?.dataset.program ?? selected?.program ?? state.currentProgram()?.id,
      tweak: focused?.dataset.tweak ?? selected?.key
    };
    if (preferences.name) body.name = preferences.name;
    const text = JSON.stringify(body);
    if (text === presence) return;
    presence = text;
    api.post("presence", body).catch(() => {
      presence = "";
    });
  }

  state.on("programs", () => {
    outline.update();
    bar.showListHead();
    bar.showSoon();
    if (state.programs.size !== listedPrograms) {
      listedPrograms = state.programs.size;
      for (const program of state.shownPrograms()) commands.load(program.id);
      showing.findAgain({ keeping: true });
    } else showing.list.refresh();
  });
  let listedPrograms = 0;
  state.on("tweaks", (program) => {
    changes.changed(program);
    showing.findAgain({ keeping: true });
    showing.list.refresh();
    outline.update();
    bar.showSoon();
    const selected = state.tweakOf(state.selected);
    if (selected?.program === program && details.tweak !== selected) details.show(selected);
    else if (selected?.program === program) details.update();
    else if (state.selected && !selected && state.selected.startsWith(`${program}\n`)) commands.select(undefined);
    if (state.graphed.size > 0) commands.showGraphs();
    address.goToPlace();
  });
  let outlineTimer = 0;
  state.on("value", (tweak) => {
    showing.list.changed(tweak);
    if (state.selected) details.changed(tweak);
    showing.findSoon();
    bar.showSoon();
    if (outlineTimer) return;
    outlineTimer = setTimeout(() => {
      outlineTimer = 0;
      outline.update();
    }, 600);
  });
  state.on("trying", () => {
    bar.showTrying();
    showing.list.refresh();
  });
  state.on("viewers", () => {
    bar.showPeople();
    showing.list.refresh();
  });
  state.on("connection", () => {
    bar.showBanner();
    showing.showEmpty();
  });
  state.on("selected", (before) => {
    const focused = document.activeElement;
    const selected = state.tweakOf(state.selected);
    if (selected) changes.close();
    document.body.classList.toggle("has-details", Boolean(selected) || changes.isOpen);
    const hadFocus = byID("details").contains(focused);
    details.show(selected);
    for (const one of [before, selected]) if (one) showing.list.changed(one);
    address.show();
    if (selected && focused?.classList.contains("row-name")) details.focus();
    if (!selected && before && (hadFocus || focused === document.body))
      showing.list.reveal(before.id, { focus: "name" });
    tellPresence();
  });
  state.on("scope", () => {
    for (const program of state.shownPrograms()) commands.load(program.id);
    showing.findAgain();
    outline.update();
    bar.show();
    address.show();
    commands.toggleOutline(false, { quiet: true });
    tellPresence();
  });
  state.on("query", () => {
    showing.findAgain();
    address.show();
  });
  state.on("graphed", () => {
    drawSoon();
    showing.list.refresh();
    details.update();
  });
  state.on("problem", () => showing.findAgain({ keeping: true }));
  state.on("pairs", () => showing.list.rebuild());
  state.on("reveal", (id) => showing.list.reveal(id));
  state.on("loadedPreset", bar.show);
  state.on("name", tellPresence);
  graphs.onUse = hurry;
  details.onHidden = (tweak) => showing.list.changed(tweak);
  showing.onPanel = () =>
    commands.showPanel({ address, api, bar, commands, drawSoon, editing, notices, samples, showing, state });
  history.onChange = bar.showSoon;
  sets.onChange = bar.show;
  controllers.onChange = () => details.showKnobs();
  let stars = [...preferences.stars].join();
  preferences.onChange = () => {
    bar.showTheme();
    graphs.showHeight();
    showing.list.fit();
    showing.list.refresh();
    details.update();
    controllers.update();
    const before = stars;
    stars = [...preferences.stars].join();
    // A row starred with the mouse leaves, and the list stays where it is.
    if (stars !== before)
      showing.findAgain({ keeping: true, isStill: !document.activeElement?.matches(":focus-visible") });
  };

  let timer = 0;
  let frame = 0;
  let isWaiting = false;
  let nextLive = 0;
  /**
   * Draws the graph, and sparklines at most ten times a second, when samples have arrived and while there is a graph.
   */
  function drawSoon() {
    isWaiting = true;
    if (!timer && !frame) frame = requestAnimationFrame(draw);
  }

  function draw() {
    frame = 0;
    isWaiting = state.graphed.size > 0 || showing.list.hasGraphs;
    const began = performance.now();
    if (began >= nextLive) {
      nextLive = began + liveTime;
      showing.list.updateLive();
      details.updateLive();
    }
    if (state.graphed.size > 0) graphs.draw();
    showing.list.drawGraphs();
    // The browser paints before it runs this.
    timer = setTimeout(() => {
      timer = setTimeout(() => {
        timer = 0;
        if (isWaiting) drawSoon();
      }, Math.min(longestRest, (performance.now() - began) * rest - frameTime));
    });
  }

  /** Has the next frame drawn at once. */
  function hurry() {
    clearTimeout(timer);
    timer = 0;
    drawSoon();
  }

  return Object.freeze({ tellPresence });
}
