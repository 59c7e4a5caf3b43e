// SPDX-License-Identifier: BSD-3-Clause

// Environments side by side with the promotion of values, and the published builds.

import { make, setText, sideMenu } from "../dom.js";
import { counted, linesShown, shown } from "../names.js";
import { openDialog } from "../popups.js";
import { openChange } from "./changing.js";
import { stateText } from "./values.js";

/** Compares two environments of the application, and offers to copy values from the first to the second. */
export function openComparison(fleet) {
  const names = [...new Set([...fleet.environments.map(({ environment }) => environment), fleet.environment])];
  const choose = (label, selected) =>
    sideMenu(
      label,
      names.map((name) => ({ value: name, translate: "no", text: shown(name), selected: name === selected })),
      compare
    );
  const other = names.find((name) => name !== fleet.environment) ?? fleet.environment;
  const [first, second] = [choose("From", other), choose("To", fleet.environment)];
  const valueOf = (side) => side.querySelector("select").value;
  const status = make("p", { class: "fleet-status", role: "status" });
  const place = make("div");
  let boxes = [];
  const dialog = openDialog(
    `${shown(fleet.application)} in two environments`,
    make("div", { class: "comparison-dialog" }, make("div", { class: "preset-form" }, first, second), status, place),
    [{ label: "Close" }, { label: "Promote the selected…", isMain: true, run: promote }],
    { className: "wide" }
  );
  const button = dialog.querySelector("footer .main");
  compare();

  function chosen() {
    return boxes.filter(({ box }) => box.checked);
  }

  function showButton() {
    button.disabled = chosen().length === 0;
  }

  async function compare() {
    const [from, to] = [valueOf(first), valueOf(second)];
    boxes = [];
    place.replaceChildren();
    showButton();
    status.className = "fleet-status";
    if (from === to) {
      setText(status, names.length > 1 ? "Choose two environments." : "There is only one environment.");
      return;
    }
    setText(status, "Comparing…");
    try {
      const { answer } = await fleet.ask("diff", { from, to });
      if (from !== valueOf(first) || to !== valueOf(second)) return;
      const { differences, kills = [] } = answer;
      setText(
        status,
        differences.length + kills.length === 0
          ? "No differences."
          : `Different: ${counted(differences.length, "value")}${
            kills.length > 0 ? `, ${counted(kills.length, "kill")}` : ""
          }`
      );
      if (differences.length + kills.length > 0) place.append(tableOf(answer, from, to));
      showButton();
    } catch (error) {
      status.className = "fleet-status problem-text";
      setText(status, linesShown(error.message));
    }
  }

  function tableOf({ differences, kills = [] }, from, to) {
    const textOf = (
      state,
      isKill
    ) => (!state
      ? (isKill ? "not killed" : "none")
      : state.problem
      ? "unusable"
      : isKill
      ? "killed"
      : stateText(state.value, state.for, state.otherwise));
    const row = (difference, isKill) => {
      const box = make("input", {
        type: "checkbox",
        checked: Boolean(difference.from),
        "aria-label": shown(difference.tweak),
        onchange: showButton
      });
      if (!isKill) boxes.push({ box, tweak: difference.tweak, isRemoval: !difference.from });
      return make(
        "tr",
        {},
        make("td", {}, isKill ? undefined : box),
        make("th", { scope: "row", translate: "no", text: shown(difference.tweak) }),
        make("td", { text: textOf(difference.from, isKill) }),
        make("td", { text: textOf(difference.to, isKill) })
      );
    };
    return make(
      "table",
      { class: "difference-table comparison fleet-comparison" },
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          make("td"),
          ["Tweak", shown(from), shown(to)].map((text) => make("th", { scope: "col", text }))
        )
      ),
      make("tbody", {}, kills.map((kill) => row(kill, true)), differences.map((difference) => row(difference, false)))
    );
  }

  function promote() {
    const tweaks = chosen();
    const [from, to] = [valueOf(first), valueOf(second)];
    // Above the comparison, which is there again after Cancel.
    openChange(fleet, {
      title: `Promote ${counted(tweaks.length, "value")} to ${shown(to)}?`,
      request: "promote",
      action: "Promote",
      canForce: true,
      where: `${shown(from)} → ${shown(to)}`,
      body: {
        from,
        to,
        tweaks: tweaks.map(({ tweak }) => tweak),
        isRemoving: tweaks.some(({ isRemoval }) => isRemoval)
      },
      hint: `Values are checked against the builds published in ${shown(to)}, and set there as one change.`,
      onDone: compare
    });
    return false;
  }
}

/** Shows the builds whose declarations are published. */
export async function openBuilds(fleet) {
  try {
    const { answer: { builds } } = await fleet.ask("builds");
    const list = make(
      "ul",
      { class: "history-list" },
      builds.map(({ build, program, tweaks, at, by }) =>
        make(
          "li",
          {},
          make(
            "span",
            { class: "history-line" },
            make("strong", { translate: "no", text: shown(program) }),
            make("span"),
            make("span", { class: "badge", text: shown(build.slice(0, 12)), title: shown(build) })
          ),
          make("span", { class: "who", text: shown(`${counted(tweaks.length, "tweak")} · published ${at} by ${by}`) })
        )
      )
    );
    openDialog(
      `Builds of ${shown(fleet.application)}`,
      make(
        "div",
        {},
        builds.length > 0
          ? [
            make("p", { class: "who", text: "Values are checked against what these builds declare, newest first." }),
            list
          ]
          : make("p", {
            text:
              "No build is published, so values are not checked. Publish one with tweak fleet declare, or name the programs in the agents' configuration."
          })
      ),
      [{ label: "Close", isMain: true }],
      { className: "wide" }
    );
  } catch (error) {
    fleet.notices.problem(linesShown(error.message));
  }
}
