// SPDX-License-Identifier: BSD-3-Clause

// A sweep: tries values of a tweak one after the other, measures monitors meanwhile, and shows the runs as a table.

import { copyText } from "./copying.js";
import { make, setAttribute, setText, textButton } from "./dom.js";
import { counted, shown } from "./names.js";
import { admitted, exactText, shortText, sliderRange, withPoints } from "./numbers.js";
import { openDialog } from "./popups.js";
import { namePreset } from "./presets.js";
import {
  allValues,
  cellOf,
  columns,
  compare,
  csvOf,
  durationOf,
  measured,
  mostValues,
  orderOf,
  runText,
  sorted,
  sweepCommand,
  valuesBetween
} from "./runs.js";
import { currentValue, equalValues, isMonitored, requestValue, valueFrom, valueText } from "./tweaks.js";

/** How long a value may wait for a gate, and samples may be late, in ms. */
const patience = 2000;
const mostMonitors = 8;
/** The shortest and longest times, in seconds. */
const runTimes = [0.1, 600];
const settlingTimes = [0, 60];

/** The last sweep of each tweak, by its ID, until the page is closed. */
const sweeps = new Map();

/** The runs of a sweep. The values are held for a time, so they go back however it ends. */
class Sweep {
  #parts;
  #id;
  #order;
  #isStopped = false;
  runs = [];
  isRunning = false;
  /** Why it has ended early. */
  problem = "";
  /** Called before each run and at the end. */
  onChange = () => {};

  /**
   * - settings: `{ from, to, count, values, monitors, seconds, settle }`, where the first three are texts of fields.
   */
  constructor(parts, tweak, settings) {
    this.#parts = parts;
    this.#id = tweak.id;
    this.settings = settings;
    this.#order = orderOf(settings.values);
  }

  get total() {
    return this.#order.length;
  }

  /** The value that is tried now, undefined if it is the one before. */
  get value() {
    return this.#order[this.runs.length];
  }

  get #tweak() {
    const tweak = this.#parts.state.tweakOf(this.#id);
    if (!tweak) throw new Error("The program no longer declares the tweak");
    return tweak;
  }

  stop() {
    this.#isStopped = true;
  }

  async run() {
    const { state, api, samples } = this.#parts;
    const { program: id } = this.#tweak;
    const [pid, connections] = [state.programs.get(id).description.pid, api.connections];
    const obstacle = () => {
      const program = state.programs.get(id);
      if (state.connection !== "connected" || api.connections !== connections)
        return "The connection was lost; the original value is restored";
      return program?.state !== "running" || program.description.pid !== pid ? "The program has ended" : undefined;
    };
    const check = () => {
      if (obstacle()) throw new Error(obstacle());
    };
    this.isRunning = true;
    samples.measuring(new Set(this.settings.monitors.map((monitor) => monitor.id)));
    try {
      for (const value of this.#order) {
        if (this.#isStopped) break;
        this.onChange();
        const run = await this.#measure(value, check);
        if (!run) break;
        this.runs.push(run);
        compare(this.runs);
      }
    } catch (error) {
      this.problem = error.message;
    }
    samples.measuring(new Set());
    // Otherwise the server has given the value back, or will when it knows.
    if (!obstacle()) await this.#release(id, obstacle);
    this.isRunning = false;
    this.onChange();
  }

  /** Measures a value, or the one before. Undefined if the sweep was stopped. */
  async #measure(value, check) {
    const { samples, editing } = this.#parts;
    const { monitors, seconds, settle } = this.settings;
    let from = await editing.hold(this.#tweak, value);
    const began = performance.now();
    const isTaken = await this.#wait(
      () => this.#tweak.pendingValue === undefined,
      0,
      check,
      () => `The value waits for the gate ${shown(this.#tweak.gate)}`
    );
    from += (performance.now() - began) / 1000;
    if (!isTaken) return undefined;
    const tweak = this.#tweak;
    if (value !== undefined && !equalValues(tweak.value, value)) {
      throw new Error(
        `${valueText(tweak, value)} cannot be tried, because ${shown(tweak.source)} takes precedence with ${
          valueText(tweak, tweak.value)
        }`
      );
    }
    const isReached = ({ id }) => {
      const series = samples.series(id);
      return series?.length > 0 && series.time(series.length - 1) >= from + settle + seconds;
    };
    const isComplete = await this.#wait(
      () => monitors.every(isReached),
      settle + seconds,
      check,
      () => `The program sends no samples of ${monitors.find((one) => !isReached(one))?.label}`
    );
    if (!isComplete) return undefined;
    const results = new Map(
      monitors.map((monitor) => [
        monitor.id,
        measured(samples.series(monitor.id), monitor, from + settle, from + settle + seconds)
      ])
    );
    return { number: this.runs.length + 1, value: tweak.value, isReference: value === undefined, results };
  }

  /** Waits until something is so. Returns false if the sweep was stopped. */
  async #wait(isSo, seconds, check, problem) {
    const end = performance.now() + seconds * 1000 + patience;
    for (;;) {
      check();
      if (this.#isStopped) return false;
      if (isSo()) return true;
      if (performance.now() > end) throw new Error(problem());
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  }

  async #release(program, obstacle) {
    const { state, api, editing } = this.#parts;
    try {
      await editing.hold(this.#tweak, undefined);
      const answer = await api.post("try/discard", { program, stream: api.stream });
      for (const change of answer.tweaks) state.setValue(program, change);
    } catch (error) {
      this.problem ||= obstacle() ?? `${error.message}; the original value returns at the latest when this page closes`;
    }
  }
}

/**
 * Opens a dialog that sweeps a tweak.
 *
 * @param {import("./page.js").Parts<"api" | "commands" | "editing" | "notices" | "samples" | "state">} parts
 */
export function openSweep({ api, commands, editing, notices, samples, state }, tweak) {
  const program = state.programs.get(tweak.program);
  if (program.state !== "running") {
    notices.say("Values can be tried while the program runs with the Tweaks library");
    return;
  }
  if (state.trying.has(tweak.program)) {
    notices.say("Keep or discard the tried values first");
    return;
  }
  const all = allValues(tweak);
  /** The last one, or the one that runs. */
  let sweep = sweeps.get(tweak.id);
  let column = { id: undefined, name: "value" };
  let isDescending = false;
  /** Whether the settings are others than those of the last sweep. */
  let isEdited = false;

  const range = all ? undefined : sliderRange(tweak, currentValue(tweak));
  const last = sweep?.settings;
  const field = (label, value, attributes = {}) =>
    make("input", { type: "text", autocomplete: "off", "aria-label": label, value, oninput: edit, ...attributes });
  const fields = {
    from: range && field("From", last?.from ?? exactText(range.low), { autofocus: true }),
    to: range && field("To", last?.to ?? exactText(range.high)),
    count: range && field("Values", last?.count ?? "9", { inputmode: "numeric" }),
    seconds: field("Seconds per run", last?.seconds ?? "1", { inputmode: "decimal", autofocus: !range }),
    settle: field("Seconds to settle first", last?.settle ?? "0.5", { inputmode: "decimal" })
  };
  const labelled = (input, unit = "") =>
    input && make("label", { class: "sweep-field" }, make("span", { text: `${nameOf(input)}${unit}` }), input);
  const unit = tweak.unit ? ` (${shown(tweak.unit)})` : "";

  const monitors = [...program.tweaks.values()].filter(isMonitored);
  const isPreset = (monitor) => last ? last.monitors.some(({ id }) => id === monitor.id) : commands.isGraphed(monitor);
  monitors.sort((one, other) => Number(isPreset(other)) - Number(isPreset(one)) || one.order - other.order);
  const boxes = monitors.map((monitor, index) => {
    const box = make("input", {
      type: "checkbox",
      checked: isPreset(monitor) || (index === 0 && !last),
      onchange: edit
    });
    return {
      monitor,
      box,
      element: make(
        "label",
        { class: "check" },
        box,
        make("span", { translate: "no", text: monitor.label, title: monitor.key })
      )
    };
  });

  const status = make("p", { class: "sweep-status", role: "status" });
  const progress = make("progress", { "aria-label": "Runs", hidden: true });
  const head = make("thead", {});
  const body = make("tbody", {});
  const table = make(
    "div",
    { class: "sweep-table", tabindex: "0", role: "region", "aria-label": "The runs" },
    make("table", {}, head, body)
  );
  const goal = make(
    "select",
    { "aria-label": "Better is", onchange: show },
    make("option", { value: "small", text: "the smallest mean" }),
    make("option", { value: "large", text: "the largest mean" })
  );
  const measure = make("select", { "aria-label": "Of the monitor", onchange: show });
  const command = make("pre", {
    class: "copy-preview",
    translate: "no",
    tabindex: "0",
    role: "region",
    "aria-label": "The command"
  });
  const deciding = make(
    "section",
    {},
    make("p", {
      class: "who",
      text:
        "Single runs also differ by chance. This command repeats them, and reports a best value only if it is better " +
        "than the noise explains:"
    }),
    make(
      "div",
      { class: "button-line" },
      goal,
      make("span", { text: "of" }),
      measure,
      textButton("Copy the command", () => copyText(command.textContent, notices, "Command copied"))
    ),
    command
  );
  const form = make(
    "fieldset",
    { class: "sweep-form" },
    make("legend", { class: "off-screen", text: "Settings" }),
    make(
      "div",
      { class: "sweep-fields" },
      all && make("p", { text: `Values: ${all.map((value) => valueText(tweak, value) || "empty").join(", ")}` }),
      labelled(fields.from, unit),
      labelled(fields.to, unit),
      labelled(fields.count),
      labelled(fields.seconds),
      labelled(fields.settle)
    ),
    make(
      "fieldset",
      { class: "sweep-monitors" },
      make("legend", { text: "Measure" }),
      boxes.length > 0
        ? boxes.map(({ element }) => element)
        : make("p", { class: "none", text: "The program has no monitors" })
    )
  );

  const forks = make("p", { class: "who" });
  form.append(forks);

  /** Says which process is measured if the program has forked. */
  function showForks() {
    const { pid, processes: count } = (state.programs.get(tweak.program) ?? program).description;
    forks.hidden = !(count > 1);
    setText(forks, `Values are tried in all ${count} processes; only the first, process ${pid}, is measured.`);
  }

  const chosen = () => boxes.filter(({ box }) => box.checked).map(({ monitor }) => monitor);

  /** The number in a field. Throws if it is not within the limits. */
  function numberIn(input, /** @type {number[]} */ [low, high]) {
    const number = Number(withPoints(input.value.trim() || "nothing"));
    if (number >= low && number <= high) return number;
    throw Object.assign(
      new Error(`${nameOf(input)}: "${shown(input.value)}" is not a number from ${low} to ${high}`),
      { input }
    );
  }

  const times = () => ({ seconds: numberIn(fields.seconds, runTimes), settle: numberIn(fields.settle, settlingTimes) });

  /** The end of the range in a field, which may have arithmetic. */
  async function endIn(input) {
    try {
      const { value } = await api.post("calculate", {
        program: tweak.program,
        tweak: tweak.key,
        text: withPoints(input.value),
        current: exactText(currentValue(tweak))
      });
      const number = admitted(tweak, valueFrom(tweak.type, value));
      if (Number.isFinite(Number(number))) return number;
      throw new Error(`"${shown(input.value)}" is not finite`);
    } catch (error) {
      throw Object.assign(new Error(`${nameOf(input)}: ${error.message}`), { input });
    }
  }

  async function settingsNow() {
    const settings = { ...times(), monitors: chosen() };
    if (settings.monitors.length === 0 || settings.monitors.length > mostMonitors)
      throw Object.assign(new Error(`Choose 1 to ${mostMonitors} monitors`), { input: boxes[0]?.box });
    if (all) return { ...settings, values: all };
    const count = Math.round(numberIn(fields.count, [2, mostValues]));
    const [from, to] = [await endIn(fields.from), await endIn(fields.to)];
    const values = valuesBetween(tweak, from, to, count);
    if (values.length < 2)
      throw Object.assign(new Error("From and To must differ"), { input: fields.to });
    return { ...settings, values, from: exactText(from), to: exactText(to), count: String(count) };
  }

  /** Says how long a sweep takes, with the value before it at the beginning, at the end, and in between. */
  function forecast() {
    try {
      const count = all?.length ?? Math.round(numberIn(fields.count, [2, mostValues]));
      const runs = orderOf(Array(count).fill(0)).length;
      return `${runs} runs in random order, ${
        runs - count
      } of them with the original value, which is restored at the end; ${secondsText(durationOf(runs, times()))}`;
    } catch (error) {
      return error.message;
    }
  }

  function showStatus() {
    const { runs, total, value, settings, problem } = sweep ?? {};
    progress.hidden = !sweep?.isRunning;
    let text = "";
    if (sweep?.isRunning) {
      progress.max = total;
      progress.value = runs.length;
      const left = durationOf(total - runs.length, settings);
      const now = value === undefined ? "the original value" : valueText(tweak, value) || "empty";
      text = `Run ${runs.length + 1} of ${total}: ${now}, ${secondsText(left)} left`;
    } else if (!sweep || isEdited) text = forecast();
    else if (problem) text = `Ended after ${counted(runs.length, "run")}: ${problem}`;
    else if (runs.length < total) text = `Stopped after ${runs.length} of ${total} runs; original value restored`;
    else text = `All ${total} runs are done; original value restored`;
    status.classList.toggle("problem-text", Boolean(problem) && !sweep?.isRunning && !isEdited);
    setText(status, text);
  }

  function showTable() {
    table.hidden = deciding.hidden = !sweep || sweep.runs.length === 0;
    if (table.hidden) return;
    const { monitors: measuring } = sweep.settings;
    const key = measuring.map(({ id }) => id).join();
    if (head.dataset.key !== key) {
      head.dataset.key = key;
      head.replaceChildren(...headRows(measuring));
      measure.replaceChildren(
        ...measuring.map((monitor) => make("option", { value: monitor.id, translate: "no", text: monitor.label }))
      );
    }
    for (const button of head.querySelectorAll("button")) {
      const isColumn = button.dataset.name === column.name && button.dataset.id === (column.id ?? "");
      setAttribute(
        button.closest("th"),
        "aria-sort",
        isColumn ? (isDescending ? "descending" : "ascending") : undefined
      );
    }
    body.replaceChildren(...sorted(sweep.runs, column, isDescending).map((run) => rowOf(run, measuring)));
    const monitor = measuring.find(({ id }) => id === measure.value) ?? measuring[0];
    const text = sweepCommand(state.programs.get(tweak.program) ?? program, tweak, sweep.settings.values, {
      ...sweep.settings,
      monitor,
      isMaximizing: goal.value === "large"
    });
    deciding.hidden = text === undefined;
    setText(command, text ?? "");
  }

  function headRows(measuring) {
    const sortButton = (id, name, label, title) =>
      make("button", {
        text: label,
        "aria-label": `Sort by ${title}`,
        data: { id: id ?? "", name },
        onclick: () => {
          isDescending = column.id === id && column.name === name && !isDescending;
          column = { id, name };
          showTable();
        }
      });
    return [
      make(
        "tr",
        {},
        make("th", { scope: "col", rowspan: 2 }, sortButton(undefined, "number", "Run", "run")),
        make("th", { scope: "col", rowspan: 2 }, sortButton(undefined, "value", "Value", "value")),
        make("td", { rowspan: 2 }),
        measuring.map(({ label, unit: of }) =>
          make(
            "th",
            { scope: "colgroup", colspan: columns.length, class: "sweep-monitor" },
            make("span", { translate: "no", text: label }),
            of ? [" ", make("span", { class: "unit", translate: "no", text: shown(of) })] : undefined
          )
        )
      ),
      make(
        "tr",
        {},
        measuring.map(({ id, label }) =>
          columns.map(([name, text]) => make("th", { scope: "col" }, sortButton(id, name, text, `${text} of ${label}`)))
        )
      )
    ];
  }

  function rowOf(run, measuring) {
    const text = runText(tweak, run);
    const values = [{ tweak: tweak.key, ...requestValue(tweak, run.value) }];
    return make(
      "tr",
      { class: run.isReference ? "is-reference" : "" },
      make("td", { text: String(run.number) }),
      make("th", { scope: "row", translate: "no", text }),
      make(
        "td",
        {},
        run.isReference ? undefined : make(
          "div",
          { class: "button-line" },
          textButton("Use", () => use(run), { "aria-label": `Use ${text}`, disabled: sweep.isRunning }),
          textButton(
            "Preset…",
            () => namePreset({ api, editing, notices }, tweak.program, values, `${tweak.label} ${text}`),
            {
              "aria-label": `Preset… with ${text}`,
              disabled: sweep.isRunning
            }
          )
        )
      ),
      measuring.map(({ id }) =>
        columns.map(([name]) => {
          const cell = cellOf(run, { id, name });
          return make("td", { text: cell === undefined ? "–" : shortText(cell) });
        })
      )
    );
  }

  function use({ value }) {
    const now = state.tweakOf(tweak.id);
    if (!now) return;
    const count = editing.apply([{ tweak: now, value, isSet: true }]);
    notices.say(
      `${now.label}: ${valueText(now, value)}${count === 0 ? " is set already" : ""}`,
      count > 0 && { label: "Undo", run: () => commands.undo() }
    );
  }

  async function startOrStop() {
    if (sweep?.isRunning) {
      sweep.stop();
      return false;
    }
    try {
      startButton.disabled = true;
      await editing.settled();
      sweep = new Sweep({ api, editing, samples, state }, tweak, await settingsNow());
      sweeps.set(tweak.id, sweep);
      column = { id: undefined, name: "value" };
      isDescending = isEdited = false;
      sweep.onChange = show;
      sweep.run();
    } catch (error) {
      status.classList.add("problem-text");
      setText(status, error.message);
      error.input?.focus();
    } finally {
      startButton.disabled = false;
    }
    return false;
  }

  const dialog = openDialog(
    `Sweep ${tweak.label}`,
    make("div", { class: "sweep" }, form, status, progress, table, deciding),
    [
      { label: "Close" },
      {
        label: "Copy as CSV",
        run: async () => {
          await copyText(csvOf(tweak, sweep.settings.monitors, sweep.runs), notices, "Copied as CSV");
          return false;
        }
      },
      { label: "Start", isMain: true, run: startOrStop }
    ],
    { className: "wide sweep-dialog", onclose: () => sweep?.stop() }
  );
  const [, csvButton, startButton] = /** @type {HTMLButtonElement[]} */ ([...dialog.querySelectorAll("footer button")]);

  function edit() {
    isEdited = true;
    show();
  }

  function show() {
    form.disabled = Boolean(sweep?.isRunning);
    setText(startButton, sweep?.isRunning ? "Stop" : "Start");
    csvButton.hidden = !sweep || sweep.runs.length === 0;
    showForks();
    showStatus();
    showTable();
  }
  // One that was just stopped may still run.
  if (sweep) sweep.onChange = show;
  show();
}

const nameOf = (field) => field.getAttribute("aria-label");

/** A time for people, rounded up. */
const secondsText = (seconds) => seconds < 100 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
