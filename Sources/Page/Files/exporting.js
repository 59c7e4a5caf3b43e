// SPDX-License-Identifier: BSD-3-Clause

// Copies and saves values as shell commands, JSON, C or Swift.

import { copyText, declarationInC, declarationInSwift, nestedJSON, shellCommand } from "./copying.js";
import { make, saveFile } from "./dom.js";
import { openDialog } from "./popups.js";
import { sortedTweaks } from "./finding.js";
import { shown } from "./names.js";
import { currentValue, isChanged, isSettable } from "./tweaks.js";

/** @type {[string, (program: any, tweaks: any[], options: any[]) => string][]} */
const forms = [
  ["Shell", (program, tweaks) => tweaks.map((tweak) => shellCommand(program, tweak, currentValue(tweak))).join("\n")],
  ["JSON", (_program, tweaks) => nestedJSON(tweaks.map((tweak) => ({ tweak, value: currentValue(tweak) })))],
  [
    "C",
    (_program, tweaks, options) => tweaks.map((tweak) => declarationInC(tweak, currentValue(tweak), options)).join("\n")
  ],
  [
    "Swift",
    (_program, tweaks, options) =>
      tweaks.map((tweak) => declarationInSwift(tweak, currentValue(tweak), options)).join("\n")
  ]
];

/**
 * Opens a dialog with the changed values of a program, or all of them.
 *
 * @param {import("./page.js").Parts<"notices" | "state">} parts
 */
export function openExport({ notices, state }, programId) {
  const program = state.programs.get(programId);
  let form = forms[0];
  const text = make("textarea", {
    class: "export-text",
    translate: "no",
    rows: 14,
    readonly: true,
    spellcheck: "false",
    "aria-label": "Preview"
  });
  const which = make(
    "select",
    { "aria-label": "Which values" },
    make("option", { value: "changed", text: "Changed values" }),
    make("option", { value: "all", text: "All values" })
  );
  const radios = forms.map((one, index) =>
    make(
      "label",
      { class: "segment" },
      make("input", {
        type: "radio",
        name: "export-form",
        checked: index === 0,
        onchange: () => {
          form = one;
          show();
        }
      }),
      make("span", { text: one[0] })
    )
  );

  function show() {
    const tweaks = sortedTweaks(program).filter((tweak) =>
      isSettable(tweak) && (which.value === "all" || isChanged(tweak))
    );
    text.value = tweaks.length === 0 ? "" : form[1](program, tweaks, state.options);
    text.placeholder = "No changed values.";
  }
  which.addEventListener("change", show);
  show();
  openDialog(
    `Values of ${shown(program.description.name)}`,
    make(
      "div",
      { class: "export" },
      make(
        "div",
        { class: "button-line" },
        make("div", { class: "segments", role: "radiogroup", "aria-label": "Format" }, radios),
        which
      ),
      text
    ),
    [
      {
        label: "Save",
        run: () => {
          const suffix = { Shell: "sh", JSON: "json", C: "c", Swift: "swift" }[form[0]];
          saveFile(`${program.description.name}.${suffix}`, `${text.value}\n`, "text/plain");
          return false;
        }
      },
      {
        label: "Copy",
        isMain: true,
        run: async () => {
          await copyText(text.value, notices, `Copied as ${form[0]}`);
          return false;
        }
      }
    ],
    { className: "wide" }
  );
}
