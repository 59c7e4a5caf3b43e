// SPDX-License-Identifier: BSD-3-Clause

// Makes a panel of chosen tweaks and the graph: as a link, or to arrange and save it.

import { copyText } from "./copying.js";
import { make } from "./dom.js";
import { counted, linkText, shown } from "./names.js";
import { version } from "./panels/content.js";
import { newPanel } from "./panels/view.js";
import { openDialog } from "./popups.js";

/** The most tweaks to choose from beside the starred ones. */
const mostOthers = 100;

/**
 * Opens a dialog that makes a panel of a program.
 *
 * @param {import("./page.js").Parts<"commands" | "graphs" | "notices" | "state">} parts
 */
export function openPanel({ commands, graphs, notices, state }, programId) {
  const rows = state.listed.items.filter(({ kind, tweak }) => kind === "row" && tweak.program === programId).map((
    { tweak }
  ) => tweak);
  const isChosen = (tweak) => commands.isStarred(tweak) || Boolean(state.scope.row);
  const choices = [...rows.filter(isChosen), ...rows.filter((tweak) => !isChosen(tweak)).slice(0, mostOthers)];
  const name = make("input", {
    type: "text",
    maxlength: 60,
    autocomplete: "off",
    placeholder: "Name",
    "aria-label": "Name of the panel",
    value: state.scope.panel ?? "",
    autofocus: true
  });
  const boxes = choices.map((tweak) => ({ tweak, box: make("input", { type: "checkbox", checked: isChosen(tweak) }) }));
  const lines = state.graphed.size;
  const withGraph = make("input", { type: "checkbox", checked: lines > 0, disabled: lines === 0 });
  const left = rows.length - choices.length;

  /** The content of the panel to arrange: a column of rows, and one of the graph. */
  function content({ row }) {
    const { lines, seconds } = graphs.place;
    const graph = lines.filter((id) => id.startsWith(`${programId}\n`)).map((id) => id.slice(programId.length + 1));
    const hasGraph = withGraph.checked && graph.length > 0;
    return {
      version,
      columns: [row.map((tweak) => ({ tweak })), ...(hasGraph ? [[{ graph, seconds: Number(seconds ?? 10) }]] : [])]
    };
  }

  /** The scope of the panel, and with it what the address holds of the graph; undefined if nothing is chosen. */
  function panel() {
    const row = boxes.filter(({ box }) => box.checked).map(({ tweak }) => tweak.key);
    if (row.length > 0) return { program: programId, panel: name.value.trim() || "Panel", row };
    notices.say("Choose at least one tweak");
    return undefined;
  }

  openDialog(
    `Panel of ${shown(state.programs.get(programId)?.description.name ?? programId)}`,
    make(
      "div",
      { class: "panel-form" },
      make("div", { class: "form" }, name),
      make(
        "fieldset",
        {},
        make("legend", { text: "Tweaks" }),
        boxes.map(({ tweak, box }) =>
          make(
            "label",
            { class: "check" },
            box,
            make("span", { translate: "no", text: tweak.label }),
            make("span", {
              class: "who",
              translate: "no",
              text: [tweak.category, tweak.collection].map(shown).join(" › ")
            })
          )
        ),
        left > 0
          ? make("p", { class: "who", text: `${left} more: search for them, or star them, before making the panel` })
          : undefined
      ),
      make(
        "label",
        { class: "check" },
        withGraph,
        make("span", { text: lines > 0 ? `The graph with ${counted(lines, "line")}` : "The graph, which is closed" })
      )
    ),
    [
      {
        label: "Copy link",
        run: async () => {
          const scope = panel();
          if (!scope) return false;
          const address = `${location.origin}${location.pathname}${
            linkText({ ...scope, ...(withGraph.checked ? graphs.placeIn(programId) : {}) })
          }`;
          await copyText(address, notices, "Link copied");
          return false;
        }
      },
      {
        label: "Arrange and save…",
        run: () => {
          const scope = panel();
          if (!scope) return false;
          newPanel(commands, programId, scope.panel, content(scope));
          return true;
        }
      },
      {
        label: "Open",
        isMain: true,
        run: () => {
          const scope = panel();
          if (!scope) return false;
          if (!withGraph.checked) commands.closeGraph();
          commands.showScope(scope);
          return true;
        }
      }
    ]
  );
}
