// SPDX-License-Identifier: BSD-3-Clause

// Compares two presets, or a preset with the current values.

import { copyText, nestedJSON } from "./copying.js";
import { make, setText, sideMenu, textButton } from "./dom.js";
import { counted, shown } from "./names.js";
import { openDialog } from "./popups.js";
import { currentValue, equalValues, isSet, isSettable, valueFrom, valueText } from "./tweaks.js";

const mostRows = 2000;
const now = "Current values";

/**
 * Opens a dialog with the differences between two presets, to load or copy selected values from either side.
 *
 * @param {import("./page.js").Parts<"api" | "editing" | "notices" | "state">} parts
 */
export function openComparison(
  { api, editing, notices, state },
  programId,
  names,
  /** @type {{ first?: string, second?: string, loaded?: (name?: string) => void }} */ {
    first = names[0],
    second,
    loaded
  } = {}
) {
  const chooser = (label, chosen) =>
    sideMenu(
      label,
      [undefined, ...names].map((name) => ({
        value: name === undefined ? "" : `=${name}`,
        text: name === undefined ? now : shown(name),
        translate: name !== undefined && "no",
        selected: name === chosen
      })),
      compare,
      { "aria-label": `${label} is` }
    );
  const labels = [chooser("A", first), chooser("B", second)];
  const selects = labels.map((label) => label.querySelector("select"));
  const nameOf = (select) => (select.value ? select.value.slice(1) : undefined);
  const content = make("div", {});
  const count = make("p", { class: "who", role: "status" });
  let rows = [];
  let turn = 0;

  /** The values of a preset that differ from the current ones, by key, as `{ value, isSet, problem }`. */
  async function differences(name) {
    const all = new Map();
    if (name === undefined) return all;
    const answer = await api.post("preset/diff", { program: programId, name });
    for (const { tweak: key, newValue, problem } of answer.differences) {
      const tweak = state.tweak(programId, key);
      const isThere = newValue !== undefined;
      all.set(key, { value: isThere ? valueFrom(tweak?.type, newValue) : tweak?.default, isSet: isThere, problem });
    }
    return all;
  }

  async function compare() {
    const mine = (turn += 1);
    try {
      await editing.settled();
      const sides = await Promise.all(selects.map((select) => differences(nameOf(select))));
      if (mine === turn) show(sides);
    } catch (error) {
      if (mine === turn) content.replaceChildren(make("p", { class: "problem-text", text: error.message }));
    }
  }

  function show(sides) {
    rows = [];
    for (const key of [...new Set(sides.flatMap((side) => [...side.keys()]))].sort()) {
      const tweak = state.tweak(programId, key);
      const current = tweak ? { value: currentValue(tweak), isSet: isSet(tweak) } : {};
      const [a, b] = sides.map((side) => side.get(key) ?? current);
      if (!a.problem && !b.problem && equalValues(a.value, b.value)) continue;
      const problem = tweak && isSettable(tweak)
        ? undefined
        : tweak
        ? "read-only"
        : "the program does not declare this tweak";
      const box = make("input", {
        type: "checkbox",
        checked: !problem,
        disabled: Boolean(problem),
        "aria-label": shown(key),
        onchange: update
      });
      rows.push({
        tweak,
        sides: [a, b],
        box,
        problem,
        element: make(
          "tr",
          { class: problem ? "is-wrong" : "" },
          make("td", {}, box),
          make("th", { scope: "row", translate: "no", text: shown(key) }),
          [a, b].map((side) => cell(tweak, side, problem))
        )
      });
    }
    all.disabled = rows.every(({ problem }) => problem);
    content.replaceChildren(
      rows.length === 0 ? make("p", { text: "No differences." }) : make(
        "table",
        { class: "difference-table comparison" },
        make(
          "thead",
          {},
          make(
            "tr",
            {},
            make("td", {}, all),
            make("th", { scope: "col", text: "Tweak" }),
            selects.map((select, index) =>
              make("th", { scope: "col", text: `${"AB"[index]}: ${shown(nameOf(select) ?? now)}` })
            )
          )
        ),
        make("tbody", {}, rows.slice(0, mostRows).map(({ element }) => element))
      )
    );
    update();
  }

  function cell(tweak, side, problem) {
    const text = side.value === undefined
      ? "not declared"
      : tweak
      ? valueText(tweak, side.value) || "empty"
      : shown(side.value);
    const remark = problem ?? side.problem ?? (side.isSet || side.value === undefined ? "" : "default");
    return make(
      "td",
      {},
      text,
      remark ? make("span", { class: side.problem ? "problem-text" : "who", text: ` ${shown(remark)}` }) : undefined
    );
  }

  const all = make("input", {
    type: "checkbox",
    checked: true,
    "aria-label": "Select all",
    onchange: () => {
      for (const { box, problem } of rows) if (!problem) box.checked = all.checked;
      update();
    }
  });
  const chosen = () => rows.filter(({ box, problem }) => box.checked && !problem);
  /** The selected rows whose value on this side is valid for the tweak. */
  const usable = (index) => chosen().filter(({ sides }) => !sides[index].problem && sides[index].value !== undefined);

  function update() {
    const possible = rows.filter(({ problem }) => !problem).length;
    setText(count, rows.length === 0 ? "" : `${chosen().length} of ${possible} selected`);
    all.checked = possible > 0 && chosen().length === possible;
    all.indeterminate = chosen().length > 0 && !all.checked;
    for (const index of [0, 1]) {
      const isNow = nameOf(selects[index]) === undefined;
      for (const button of buttons[index])
        button.disabled = usable(index).length === 0 || (isNow && button.dataset.role === "load");
    }
  }

  function load(index) {
    const changes = usable(index).map(({ tweak, sides }) => ({
      tweak,
      value: sides[index].value,
      isSet: sides[index].isSet
    }));
    editing.apply(changes);
    notices.say(`${counted(changes.length, "value")} loaded from ${"AB"[index]}`);
    if (changes.length === rows.length) loaded?.(nameOf(selects[index]));
    dialog.close();
  }

  async function copy(index) {
    const text = nestedJSON(usable(index).map(({ tweak, sides }) => ({ tweak, value: sides[index].value })));
    await copyText(text, notices, `Copied the selected values of ${"AB"[index]} as JSON`);
  }

  const buttons = [0, 1].map((index) => [
    textButton(`Load from ${"AB"[index]}`, () => load(index), { data: { role: "load" } }),
    textButton(`Copy ${"AB"[index]}`, () => copy(index), {
      "aria-label": `Copy the selected values of ${"AB"[index]} as JSON`
    })
  ]);
  const swap = make("button", {
    class: "button",
    text: "Swap",
    onclick: () => {
      [selects[0].value, selects[1].value] = [selects[1].value, selects[0].value];
      compare();
    }
  });
  const dialog = openDialog(
    `Compare presets of ${shown(state.programs.get(programId)?.description.name ?? programId)}`,
    make(
      "div",
      { class: "comparison-dialog" },
      make("div", { class: "button-line" }, labels, swap),
      content,
      count,
      make("div", { class: "button-line" }, buttons)
    ),
    [{ label: "Close", isMain: true }],
    { className: "wide" }
  );
  return compare();
}
