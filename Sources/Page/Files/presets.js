// SPDX-License-Identifier: BSD-3-Clause

// Presets and files: save, load, compare, import and export.

import { openComparison } from "./comparing.js";
import { iconButton, make, saveFile, setText, textButton } from "./dom.js";
import { counted, shown } from "./names.js";
import { ask, openDialog } from "./popups.js";
import { currentValue, equalValues, isSettable, valueFrom, valueText } from "./tweaks.js";

/**
 * Opens the presets of a program.
 *
 * @param {import("./page.js").Parts<"api" | "commands" | "editing" | "notices" | "state">} parts
 */
export async function openPresets({ api, commands, editing, notices, state }, programId) {
  const program = state.programs.get(programId);
  const list = make("ul", { class: "preset-list" });
  const name = make("input", {
    type: "text",
    "aria-label": "Name of the preset",
    placeholder: "Name",
    autocomplete: "off",
    maxlength: 100
  });
  const defaults = make("input", { type: "checkbox" });
  let names = [];
  const compare = make("button", {
    class: "button",
    text: "Compare…",
    "aria-label": "Compare two presets",
    disabled: true,
    onclick: () => {
      const loaded = commands.loadedPreset(programId);
      const first = names.includes(loaded) ? loaded : names[0];
      // With the next preset, or with the current values.
      openComparison({ api, editing, notices, state }, programId, names, {
        first,
        second: names.find((one) => one !== first),
        loaded: (chosen) => commands.setLoadedPreset(programId, chosen)
      });
    }
  });

  async function refresh() {
    try {
      const { presets } = await api.post("presets", { program: programId });
      list.replaceChildren(...presets.map(makeItem));
      names = presets.filter(({ problem }) => !problem).map((preset) => preset.name);
      compare.disabled = names.length === 0;
      if (presets.length === 0)
        list.append(make("li", { class: "none", text: "No presets yet. Enter a name to save the current values." }));
    } catch (error) {
      list.replaceChildren(make("li", { class: "problem-text", text: error.message }));
    }
  }

  function makeItem(preset) {
    const count = preset.tweaks === undefined ? "" : counted(preset.tweaks, "value");
    const loaded = commands.loadedPreset(programId);
    return make(
      "li",
      { class: "preset" },
      make("span", { class: "preset-name", translate: "no", text: shown(preset.name) }),
      make("span", {
        class: "who",
        text: [shown(preset.problem) || count, preset.name === loaded ? "loaded" : ""].filter(Boolean).join(" · ")
      }),
      textButton("Load…", () => loadPreset({ api, commands, editing, notices, state }, programId, preset.name), {
        title: "Compare and select values to load",
        "aria-label": `Load ${shown(preset.name)}`,
        disabled: Boolean(preset.problem)
      }),
      textButton("Overwrite", () => save(preset.name), { "aria-label": `Overwrite ${shown(preset.name)}` }),
      iconButton("close", `Delete ${shown(preset.name)}`, () => remove(preset.name))
    );
  }

  async function save(presetName, isNew = false) {
    if (!presetName) {
      name.focus();
      return;
    }
    const request = { name: presetName, defaults: isNew && defaults.checked };
    if (!(await savePreset({ api, editing, notices }, programId, request))) return;
    commands.setLoadedPreset(programId, presetName);
    name.value = "";
    await refresh();
  }

  async function remove(presetName) {
    if (
      !(await ask("Delete the preset?", `This deletes "${shown(presetName)}". The program keeps its values.`, "Delete"))
    ) return;
    try {
      await api.post("preset/delete", { program: programId, name: presetName });
      await refresh();
    } catch (error) {
      notices.problem(error.message);
    }
  }

  const form = make(
    "div",
    { class: "preset-form" },
    name,
    make("label", { class: "check" }, defaults, make("span", { text: "include defaults" })),
    textButton("Save", () => save(name.value.trim(), true), { class: "button main", "aria-label": "Save the preset" }),
    compare
  );
  name.addEventListener("keydown", (event) => event.key === "Enter" && save(name.value.trim(), true));
  const files = make(
    "div",
    { class: "button-line" },
    textButton("Import a file…", () => commands.chooseFile(programId)),
    textButton("Export changed values", () => exportValues({ api, editing, notices }, programId, false)),
    textButton("Export all values", () => exportValues({ api, editing, notices }, programId, true))
  );
  const dialog = openDialog(
    `Presets of ${shown(program.description.name)}`,
    make(
      "div",
      { class: "presets" },
      form,
      list,
      make("h3", { text: "Files" }),
      make("p", {
        class: "who",
        text:
          "Presets, overrides files, and files of Facebook Tweaks, FlipTheSwitch and JustTweak. You can also drop a file on the page."
      }),
      files
    )
  );
  const stop = state.on("presets", (id) => id === programId && refresh());
  dialog.addEventListener("close", stop);
  await refresh();
}

/**
 * Saves a preset, after asking whether to replace one of the name. Returns whether it was saved.
 *
 * @param {import("./page.js").Parts<"api" | "editing" | "notices">} parts
 */
async function savePreset({ api, editing, notices }, program, request) {
  try {
    await editing.settled();
    const { presets } = await api.post("presets", { program });
    const isKnown = presets.some(({ name }) => name === request.name);
    if (isKnown && !(await ask("Overwrite the preset?", `"${shown(request.name)}" already exists.`, "Overwrite")))
      return false;
    const { tweaks } = await api.post("preset/save", { program, ...request, replace: isKnown });
    notices.say(`Saved "${shown(request.name)}" with ${counted(tweaks, "value")}`);
    return true;
  } catch (error) {
    notices.problem(error.message);
    return false;
  }
}

/**
 * Asks for a name, and saves values as a preset.
 *
 * - values: as in a request that sets them, `{ tweak, value }` or `{ tweak, text }`.
 *
 * @param {import("./page.js").Parts<"api" | "editing" | "notices">} parts
 */
export function namePreset({ api, editing, notices }, programId, values, suggested) {
  const name = make("input", {
    type: "text",
    "aria-label": "Name of the preset",
    value: suggested.slice(0, 100),
    autocomplete: "off",
    maxlength: 100,
    autofocus: true
  });
  const save = async () =>
    Boolean(name.value.trim()) &&
    (await savePreset({ api, editing, notices }, programId, { name: name.value.trim(), values }));
  const dialog = openDialog(
    `Save ${counted(values.length, "value")} as a preset`,
    make("div", { class: "form" }, name),
    [
      { label: "Cancel" },
      { label: "Save", isMain: true, run: save }
    ]
  );
  name.addEventListener("keydown", async (event) => {
    if (event.key === "Enter" && (await save())) dialog.close();
  });
  name.select();
}

/**
 * Compares a preset with the values now, and asks which to load.
 *
 * @param {import("./page.js").Parts<"api" | "commands" | "editing" | "notices" | "state">} parts
 */
export async function loadPreset({ api, commands, editing, notices, state }, programId, name) {
  try {
    await editing.settled();
    const { differences } = await api.post("preset/diff", { program: programId, name });
    openDifferences({ editing, notices, state }, programId, `Load "${shown(name)}"`, differences, {
      canReset: true,
      done: () => commands.setLoadedPreset(programId, name)
    });
  } catch (error) {
    notices.problem(error.message);
  }
}

async function exportValues({ api, editing, notices }, program, defaults) {
  try {
    await editing.settled();
    const { file, text } = await api.post("export", { program, defaults });
    saveFile(file, text, "application/json");
  } catch (error) {
    notices.problem(error.message);
  }
}

/**
 * Reads a chosen or dropped file, and asks which values to import.
 *
 * @param {import("./page.js").Parts<"api" | "editing" | "notices" | "state">} parts
 */
export async function importFile({ api, editing, notices, state }, program, file) {
  if (file.size > 11 << 20) {
    notices.problem(`${file.name}: larger than 11 MB`);
    return;
  }
  try {
    const bytes = new Uint8Array(await file.arrayBuffer());
    let content;
    try {
      content = { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
    } catch {
      let binary = "";
      for (let at = 0; at < bytes.length; at += 32768) binary += String.fromCharCode(...bytes.subarray(at, at + 32768));
      content = { base64: btoa(binary) };
    }
    await editing.settled();
    const answer = await api.post("import", { program, ...content, file: file.name });
    openDifferences({ editing, notices, state }, program, `Import ${shown(file.name)}`, answer.differences, {
      leftOut: answer.leftOut,
      same: answer.same
    });
  } catch (error) {
    notices.problem(error.message);
  }
}

/** Shows the values that would change, and sets the selected ones. */
export function openDifferences(
  { editing, notices, state },
  programId,
  title,
  differences,
  /** @type {{ canReset?: boolean, leftOut?: any[], same?: number, done?: () => void }} */ {
    canReset = false,
    leftOut = [],
    same = 0,
    done
  } = {}
) {
  const rows = [];
  const all = make("input", { type: "checkbox", checked: true, "aria-label": "Select all" });
  const count = make("p", { class: "who", role: "status" });

  for (const difference of differences) {
    const tweak = state.tweak(programId, difference.tweak);
    const isReset = difference.newValue === undefined && !difference.problem;
    if (isReset && !canReset) continue;
    const problem = difference.problem ??
      (tweak ? (isSettable(tweak) ? undefined : "read-only") : "the program does not declare this tweak");
    const after = tweak && !isReset ? valueFrom(tweak.type, difference.newValue) : tweak?.default;
    const before = tweak ? currentValue(tweak) : undefined;
    if (!problem && !isReset && equalValues(before, after) && tweak.source === "override") continue;
    const box = make("input", {
      type: "checkbox",
      checked: !problem && !isReset,
      disabled: Boolean(problem),
      "aria-label": tweak ? tweak.key : difference.tweak
    });
    box.addEventListener("change", update);
    const text = (value) => (tweak ? valueText(tweak, value) || "empty" : shown(value));
    const element = make(
      "tr",
      { class: problem ? "is-wrong" : isReset ? "is-reset" : "" },
      make("td", {}, box),
      make("th", { scope: "row", translate: "no", text: shown(difference.tweak) }),
      make("td", { translate: "no", text: before === undefined ? "" : text(before) }),
      make("td", { class: "arrow", text: "→" }),
      make("td", { text: problem ? shown(problem) : isReset ? `${text(after)} (default)` : text(after) })
    );
    rows.push({ box, tweak, after, isReset, problem, element });
  }
  const chosen = () => rows.filter(({ box, problem }) => box.checked && !problem);
  function update() {
    const number = chosen().length;
    setText(count, `${number} of ${rows.filter(({ problem }) => !problem).length} selected`);
    all.checked = number > 0 && rows.every(({ box, problem }) => problem || box.checked);
    all.indeterminate = number > 0 && !all.checked;
  }
  all.addEventListener("change", () => {
    for (const { box, problem } of rows) if (!problem) box.checked = all.checked;
    update();
  });
  const content = [];
  if (rows.length === 0) content.push(make("p", { text: "No differences." }));
  else {
    content.push(
      make(
        "table",
        { class: "difference-table" },
        make(
          "thead",
          {},
          make(
            "tr",
            {},
            make("td", {}, all),
            make("th", { scope: "col", text: "Tweak" }),
            make("th", { scope: "col", text: "Now" }),
            make("td", {}),
            make("th", { scope: "col", text: "After loading" })
          )
        ),
        make("tbody", {}, rows.slice(0, 2000).map(({ element }) => element))
      ),
      count
    );
    if (canReset && rows.some(({ isReset }) => isReset)) {
      content.push(
        make("p", {
          class: "who",
          text: "Tweaks that the preset does not contain stay as they are, unless you select their reset."
        })
      );
    }
  }
  if (same > 0)
    content.push(make("p", { class: "who", text: `${same} value${same === 1 ? " is" : "s are"} already the same.` }));
  if (leftOut.length > 0) {
    content.push(
      make("h3", { text: "Skipped" }),
      make(
        "ul",
        {},
        leftOut.slice(0, 200).map(({ entry, message }) => make("li", { text: `${shown(entry)}: ${shown(message)}` }))
      )
    );
  }
  const buttons = rows.length === 0 ? [{ label: "Close", isMain: true }] : [{ label: "Cancel" }, {
    label: "Load selected",
    isMain: true,
    run: () => {
      const changes = chosen().map(({ tweak, after, isReset }) => ({ tweak, value: after, isSet: !isReset }));
      editing.apply(changes);
      notices.say(`${counted(changes.length, "value")} loaded`);
      done?.();
    }
  }];
  openDialog(title, make("div", {}, content), buttons, { className: "wide" });
  update();
}
