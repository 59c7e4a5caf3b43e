// SPDX-License-Identifier: BSD-3-Clause

// The snapshots of a program: names, what has changed since, restoring and removing.

import { iconButton, make, setText } from "./dom.js";
import { shown } from "./names.js";
import { openDialog } from "./popups.js";
import { namePreset } from "./presets.js";
import { snapshotName } from "./sets.js";
import { requestValue } from "./tweaks.js";

/**
 * Opens a dialog with the snapshots of a program.
 *
 * @param {import("./page.js").Parts<"api" | "commands" | "editing" | "notices" | "sets" | "state">} parts
 */
export function openSnapshots({ api, commands, editing, notices, sets, state }, programId) {
  const list = make("ol", { class: "snapshot-list", reversed: true });
  const none = make("p", { class: "none" });

  /** What was set in a snapshot, for a preset. */
  const valuesOf = ({ values }) =>
    [...values].filter(([key, { isSet }]) => isSet && state.tweak(programId, key)).map(([key, { value }]) => ({
      tweak: key,
      ...requestValue(state.tweak(programId, key), value)
    }));

  function show() {
    const snapshots = [...sets.snapshots(programId)].reverse();
    setText(none, snapshots.length === 0 ? "No snapshots yet. They are kept until this page is closed." : "");
    list.replaceChildren(...snapshots.map((snapshot) => {
      const time = new Date(snapshot.time).toLocaleTimeString("en-GB");
      const count = sets.since(programId, snapshot).length;
      const input = make("input", {
        type: "text",
        maxlength: 60,
        autocomplete: "off",
        value: snapshot.name,
        placeholder: time,
        "aria-label": `Name of the snapshot of ${time}`,
        onchange: () => {
          snapshot.name = input.value.trim();
        }
      });
      return make(
        "li",
        { class: "preset" },
        input,
        make("time", { class: "who", text: `${time}, ${count === 0 ? "no differences" : `${count} changed since`}` }),
        make("button", {
          class: "button",
          text: "Restore",
          disabled: count === 0,
          "aria-label": `Restore ${shown(snapshotName(snapshot))}`,
          onclick: () => {
            commands.restoreSnapshot(snapshot);
            dialog.close();
          }
        }),
        make("button", {
          class: "button",
          text: "Preset…",
          disabled: valuesOf(snapshot).length === 0,
          "aria-label": `Preset… with ${shown(snapshotName(snapshot))}`,
          onclick: () => namePreset({ api, editing, notices }, programId, valuesOf(snapshot), snapshot.name)
        }),
        iconButton("close", `Remove ${shown(snapshotName(snapshot))}`, () => {
          sets.remove(programId, snapshot);
          show();
        })
      );
    }));
  }
  show();
  const dialog = openDialog(
    `Snapshots of ${shown(state.programs.get(programId)?.description.name ?? programId)}`,
    make("div", {}, none, list),
    [
      {
        label: "Take a snapshot",
        run: () => {
          commands.takeSnapshot();
          show();
          list.querySelector("input")?.focus();
          return false;
        }
      },
      { label: "Close", isMain: true }
    ],
    { className: "wide" }
  );
}
