// SPDX-License-Identifier: BSD-3-Clause

// The panels of a program: open, make and delete.

import { iconButton, make, textButton } from "../dom.js";
import { shown } from "../names.js";
import { openDialog } from "../popups.js";
import { problemOf } from "./content.js";
import { askToDelete, newPanel, placeText } from "./view.js";

/**
 * Opens the list of panels of a program.
 *
 * @param {import("../page.js").Parts<"api" | "commands" | "notices" | "state">} parts
 */
export async function openPanels({ api, commands, notices, state }, programId) {
  const list = make("ul", { class: "preset-list" });
  const name = make("input", {
    type: "text",
    "aria-label": "Name of the new panel",
    placeholder: "Name",
    autocomplete: "off",
    maxlength: 100
  });

  const show = (panels) =>
    list.replaceChildren(
      ...(panels.length > 0
        ? panels.map(makeItem)
        : [make("li", { class: "none", text: "No panels yet. Enter a name to make one." })])
    );

  function makeItem({ name, place, content, problem = problemOf(content) }) {
    const who = placeText(place);
    return make(
      "li",
      { class: "preset" },
      make("span", { class: "preset-name", translate: "no", text: shown(name) }),
      make("span", {
        class: problem ? "who problem-text" : "who",
        text: [who, shown(problem)].filter(Boolean).join(" · ")
      }),
      problem ? undefined : textButton("Open", () => {
        dialog.close();
        commands.showScope({ program: programId, panel: name, place });
      }, { "aria-label": `Open ${shown(name)}, ${who}` }),
      iconButton("close", `Delete ${shown(name)}, ${who}`, () => remove(name, place))
    );
  }

  async function remove(name, place) {
    if (!(await askToDelete(name, place))) return;
    try {
      show((await api.post("panel/delete", { program: programId, name, place })).panels);
    } catch (error) {
      notices.problem(error.message);
    }
  }

  function begin() {
    const wanted = name.value.trim();
    if (!wanted) {
      name.focus();
      return;
    }
    dialog.close();
    newPanel(commands, programId, wanted);
  }

  name.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    begin();
  });
  const dialog = openDialog(
    `Panels of ${shown(state.programs.get(programId)?.description.name ?? programId)}`,
    make(
      "div",
      { class: "presets" },
      make("div", { class: "preset-form" }, name, textButton("New panel", begin, { class: "button main" })),
      list,
      make("p", {
        class: "who",
        text: "Panels beside the sources are files, NAME.panel.json, shared with everyone who works on the program."
      })
    )
  );
  try {
    show((await api.post("panels", { program: programId })).panels);
  } catch (error) {
    list.replaceChildren(make("li", { class: "problem-text", text: error.message }));
  }
}
