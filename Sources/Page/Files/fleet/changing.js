// SPDX-License-Identifier: BSD-3-Clause

// Changes of a fleet: a dialog that asks for the reason, checks the change, shows the difference, and only then makes
// it.

import { make, setText } from "../dom.js";
import { linesShown, shown } from "../names.js";
import { openDialog } from "../popups.js";
import {
  allowedText,
  argumentFor,
  controlFor,
  labelOf,
  partsOf,
  partTexts,
  stageOf,
  stateText,
  valueText,
  wordsOf
} from "./values.js";

/** The revision that may not have passed, of each kind of change. Kills are the same however often they are made. */
const revisionOf = {
  set: (change) => change.changes[0]?.oldRevision ?? 0,
  reset: (change) => change.changes[0]?.oldRevision ?? 0,
  rollback: (change) => change.revision,
  promote: (change) => change.revision
};

/** More declared tweaks are found by typing. */
const mostFound = 8;

/**
 * Makes the form of a dialog that asks for a reason: where the change is made, its fields, a hint, the reason, a box
 * that forces it,
 * more elements, and what became of it. Enter presses the main button of the dialog.
 */
export function makeReasonForm(/** @type {any} */ { where, fields, hint, action, anyway, reason = "", more = [] }) {
  const why = make("input", {
    type: "text",
    name: "why",
    required: true,
    maxlength: 1000,
    autocomplete: "off",
    placeholder: "For the history",
    autofocus: !fields
  });
  why.value = reason;
  const force = make("input", { type: "checkbox" });
  const forceLine = make("label", { class: "check", hidden: true }, force, make("span", { text: anyway }));
  const status = make("div", { class: "fleet-status", role: "status" });
  const form = make(
    "form",
    {
      class: "fleet-form",
      novalidate: true,
      onsubmit: (event) => {
        event.preventDefault();
        /** @type {HTMLElement} */ (form.closest("dialog").querySelector("footer .main")).click();
      }
    },
    make("p", { class: "fleet-where", text: where }),
    fields,
    hint ? make("p", { class: "who", text: hint }) : undefined,
    make("label", { class: "fleet-field" }, make("span", { text: "Reason" }), why),
    forceLine,
    more,
    status,
    make("button", { type: "submit", hidden: true, text: action })
  );

  function say(text, isProblem = false) {
    status.className = isProblem ? "fleet-status problem-text" : "fleet-status";
    setText(status, text);
    status.scrollIntoView({ block: "nearest" });
  }

  form.addEventListener("input", ({ target }) => /** @type {HTMLElement} */ (target).removeAttribute("aria-invalid"));

  /** Says what is wrong in a field, and goes there. */
  function refuse(input, text) {
    input.setAttribute("aria-invalid", "true");
    input.focus();
    say(text, true);
  }

  /** The reason; empty if none is given, which is then said. */
  function givenReason() {
    const text = why.value.trim();
    if (!text) refuse(why, "Give a reason for the history.");
    return text;
  }

  return { form, why, force, forceLine, say, refuse, givenReason };
}

/** The tweaks of a change with their values before and after. */
export function differenceTable(change) {
  return make(
    "table",
    { class: "difference-table fleet-difference" },
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        ["Tweak", "Now", "", "Afterwards"].map((text) => (text ? make("th", { scope: "col", text }) : make("td")))
      )
    ),
    make(
      "tbody",
      {},
      partsOf(change).map((part) => {
        const [before, after] = partTexts(part);
        return make(
          "tr",
          {},
          make("th", { scope: "row", translate: "no", text: shown(part.tweak) }),
          make("td", { translate: "no", text: before }),
          make("td", { class: "arrow", text: "→" }),
          make("td", { translate: "no", text: after })
        );
      })
    )
  );
}

/**
 * Opens the dialog of a change.
 *
 * - request: the subcommand, and `body` its arguments, or a function that returns them from the fields.
 * - fields: an element whose inputs change the arguments; without one the difference is shown at once.
 * - action: the verb on the button that makes the change.
 * - where: the environments in words, instead of the one that is shown.
 * - onDone: called when it is made.
 */
export function openChange(
  fleet,
  /** @type {any} */ {
    title,
    request,
    body,
    fields,
    action,
    isDangerous = false,
    canForce = false,
    hint,
    where,
    reason = "",
    onDone = () => {}
  }
) {
  // The view behind the dialog may change.
  const { environment, application } = fleet;
  const bodyOf = typeof body === "function" ? body : () => body;
  /** In production, what many people would notice is confirmed by a name. */
  const name = request === "kill" ? labelOf(body.tweak) : shown(application);
  const confirmation = make("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  const confirmationLine = make(
    "label",
    { class: "fleet-field", hidden: true },
    make("span", { text: `Type ${name} to confirm` }),
    confirmation
  );
  const difference = make("div");
  const { form, why, force, forceLine, say, refuse, givenReason } = makeReasonForm({
    where: `${shown(application)} in ${where ?? shown(environment)}`,
    fields,
    hint,
    action,
    anyway: "Set it anyway",
    reason,
    more: [confirmationLine, difference]
  });
  /** The difference shown last, with the arguments it was made from. */
  let reviewed;
  let isBusy = false;

  const dialog = openDialog(title, form, [{ label: "Cancel" }, {
    label: action,
    isMain: true,
    isDangerous,
    run: () => (reviewed ? apply() : review())
  }], { className: "wide" });
  const button = dialog.querySelector("footer .main");
  form.addEventListener("input", (event) => {
    if (event.target !== why && event.target !== confirmation) forget();
  });

  function showButton() {
    setText(button, reviewed ? action : "Show the difference");
    button.disabled = isBusy || (reviewed && !reviewed.change);
  }

  function forget() {
    reviewed = undefined;
    difference.replaceChildren();
    say("");
    showButton();
  }

  async function asking(run, refused = async () => {}) {
    if (isBusy) return false;
    isBusy = true;
    showButton();
    try {
      return await run();
    } catch (error) {
      reviewed = undefined;
      difference.replaceChildren();
      say(linesShown(error.message), true);
      await refused();
      return false;
    } finally {
      isBusy = false;
      showButton();
    }
  }

  const given = () => ({ environment, application, ...bodyOf(), isForced: force.checked, isDryRun: true });

  /** Checks the change and shows what it would do. The dialog stays open. */
  const review = () =>
    asking(async () => {
      const asked = given();
      say("Checking…");
      const { answer, messages } = await fleet.ask(request, asked);
      reviewed = { asked, change: answer };
      confirmationLine.hidden = !answer || stageOf(environment) !== "production" ||
        !(request === "kill" || (request === "rollback" && partsOf(answer).length > 1));
      difference.replaceChildren(answer ? differenceTable(answer) : "");
      say([answer ? "" : "Nothing would change.", warningsText(messages)].filter(Boolean).join("\n"));
      fleet.notices.whisper(answer ? `${partsOf(answer).length} would change` : "");
      return false;
    }, offerForce);

  /** Offers to force a change that is only refused without that. */
  async function offerForce() {
    if (!canForce || force.checked) return;
    forceLine.hidden = !(await fleet.ask(request, { ...given(), isForced: true }).then(() => true, () => false));
  }

  const apply = () =>
    asking(async () => {
      const text = givenReason();
      if (!text) return false;
      if (!confirmationLine.hidden && confirmation.value.trim() !== name) {
        refuse(confirmation, `Type ${name} to confirm.`);
        return false;
      }
      const { asked, change } = reviewed;
      const { answer, messages } = await fleet.ask(request, {
        ...asked,
        isDryRun: false,
        why: text,
        ifRevision: revisionOf[request]?.(change)
      });
      const parts = answer ? partsOf(answer) : [];
      const told = parts.length === 1
        ? `${labelOf(parts[0].tweak)}: ${partTexts(parts[0]).join(" → ")}`
        : `${parts.length} values changed`;
      fleet.notices.say(answer ? `${told} (revision ${answer.revision})` : "Nothing to change");
      if (warningsText(messages)) fleet.notices.problem(warningsText(messages));
      fleet.load();
      onDone();
      return true;
    });

  showButton();
  if (!fields) {
    why.focus();
    review();
  }
}

/** The warnings of a command. */
export const warningsText = (messages) => messages.split("\n").map(shown).filter(Boolean).join("\n");

/** Opens the dialog to set a value; of a tweak that is typed if none is given. */
export function openSet(fleet, tweak) {
  const name = make("input", {
    type: "text",
    autocomplete: "off",
    spellcheck: "false",
    autofocus: true,
    placeholder: "Search, or Category/Collection/Name"
  });
  const found = make("div", { class: "menu" });
  const box = make("div", { class: "fleet-fields" });
  const filters = make("textarea", {
    rows: 2,
    spellcheck: "false",
    placeholder: '{ "percentage": 10, "only-os": ["debian 12"] }',
    "aria-describedby": "fleet-filters-help"
  });
  const targets = make(
    "details",
    {},
    make("summary", { text: "Only for some hosts" }),
    make("label", { class: "fleet-field" }, make("span", { text: "Filters" }), filters),
    make("p", {
      class: "who",
      id: "fleet-filters-help",
      text: "A JSON object with the filters of a feature. Empty means all hosts."
    })
  );
  let field = () => "";

  function showControl() {
    const key = tweak ?? name.value.trim();
    const row = fleet.rowOf(key);
    const { declaration, entry } = row;
    const control = controlFor(declaration, entry?.value);
    const { element, read } = makeControl(control, declaration, entry?.value, Boolean(tweak));
    field = () => argumentFor(read(), control, declaration);
    filters.value = entry?.for ? JSON.stringify(entry.for) : "";
    if (entry?.for) targets.open = true;
    box.replaceChildren(
      element,
      make("p", {
        class: "who",
        text: [
          entry && `now ${stateText(entry.value, entry.for, entry.otherwise)}`,
          allowedText(declaration),
          control === "json" && "true, false, a number, or a text in quotation marks"
        ].filter(Boolean).join("; ")
      })
    );
  }

  /** Shows the declared tweaks that are meant, until one is. */
  function showFound() {
    const typed = name.value.trim();
    const words = wordsOf(typed);
    const isChosen = fleet.declared.has(typed);
    const keys = isChosen
      ? []
      : [...fleet.declared].filter(([key, { type, monitor }]) =>
        type !== "action" && !monitor && words.every((word) => key.toLowerCase().includes(word))
      );
    found.replaceChildren(
      ...keys.slice(0, mostFound).map(([key]) =>
        make("button", {
          class: "menu-item",
          translate: "no",
          text: shown(key),
          onclick: () => {
            name.value = key;
            name.dispatchEvent(new Event("input", { bubbles: true }));
            box.querySelector("input, select, textarea")?.focus();
          }
        })
      )
    );
    if (isChosen) showControl();
  }

  if (!tweak) {
    name.addEventListener("change", showControl);
    name.addEventListener("input", showFound);
    showFound();
  }
  showControl();
  const fields = make(
    "div",
    { class: "fleet-fields" },
    tweak
      ? make("p", { class: "details-path", text: shown(tweak) })
      : [make("label", { class: "fleet-field" }, make("span", { text: "Tweak" }), name), found],
    box,
    targets
  );
  openChange(fleet, {
    title: tweak ? `Set ${labelOf(tweak)}` : "Set a value",
    request: "set",
    action: "Set",
    canForce: true,
    fields,
    body: () => ({ tweak: tweak ?? name.value.trim(), value: field(), filters: filters.value.trim() || undefined })
  });
}

/** A control for a value, as `{ element, read }`. */
export function makeControl(control, declaration, value, isFocused) {
  const field = (input, ...more) =>
    make(
      "label",
      { class: "fleet-field" },
      make("span", { text: "Value" }),
      make("span", { class: "fleet-input" }, input, ...more)
    );
  if (control === "switch") {
    const group = make(
      "fieldset",
      { class: "fleet-switch" },
      make("legend", { text: "Value" }),
      make(
        "span",
        { class: "segments" },
        ["true", "false", ...(declaration?.optional ? ["none"] : [])].map((text, index) =>
          make(
            "label",
            { class: "segment" },
            make("input", {
              type: "radio",
              name: "value",
              value: text,
              checked: String(value) === text,
              autofocus: isFocused && (value === undefined ? index === 0 : String(value) === text)
            }),
            make("span", { text: { true: "On", false: "Off", none: "None" }[text] })
          )
        )
      )
    );
    return { element: group, read: () => group.querySelector("input:checked")?.value ?? "" };
  }
  if (control === "choice") {
    const select = make(
      "select",
      { autofocus: isFocused },
      declaration.choices.map((choice) =>
        make("option", {
          value: String(choice.value),
          text: choice.label ? `${shown(choice.label)} (${valueText(choice.value)})` : valueText(choice.value),
          selected: choice.value === value
        })
      )
    );
    return { element: field(select), read: () => select.value };
  }
  if (control === "text") {
    const area = make("textarea", { rows: 1, spellcheck: "false", autofocus: isFocused });
    area.value = value ?? "";
    return { element: field(area), read: () => area.value };
  }
  const input = make("input", {
    type: "text",
    spellcheck: "false",
    autocomplete: "off",
    autofocus: isFocused,
    inputmode: control === "number" ? "decimal" : undefined
  });
  input.value = value === undefined || value === null ? "" : control === "json" ? JSON.stringify(value) : String(value);
  const { minimum, maximum, unit, type } = declaration ?? {};
  const parts = [unit ? make("span", { class: "unit", text: shown(unit) }) : undefined];
  if (Number.isFinite(minimum) && Number.isFinite(maximum) && maximum > minimum) {
    const slider = make("input", {
      type: "range",
      class: "slider",
      min: minimum,
      max: maximum,
      step: type === "float" || type === "double" ? (maximum - minimum) / 200 : 1,
      "aria-label": "Value, as a slider"
    });
    slider.value = input.value || minimum;
    // The mark is at the value now.
    slider.style.setProperty("--default", String((Number(slider.value) - minimum) / (maximum - minimum)));
    const fill = () => slider.style.setProperty("--at", String((Number(slider.value) - minimum) / (maximum - minimum)));
    slider.addEventListener("input", () => {
      input.value = String(Number(slider.value));
      fill();
    });
    input.addEventListener("input", () => {
      slider.value = input.value;
      fill();
    });
    fill();
    parts.push(slider);
  }
  return { element: field(input, ...parts), read: () => input.value };
}

export const openReset = (fleet, tweak) =>
  openChange(fleet, {
    title: `Remove the value of ${labelOf(tweak)}?`,
    request: "reset",
    action: "Remove",
    isDangerous: true,
    body: { tweak },
    hint: "The next provider on each host then decides."
  });

export const openKill = (fleet, tweak) =>
  openChange(fleet, {
    title: `Kill ${labelOf(tweak)}?`,
    request: "kill",
    action: "Kill",
    isDangerous: true,
    canForce: true,
    body: { tweak },
    hint:
      "Switches it off on all hosts at once, regardless of overrides, web servers and environment variables, until the kill ends."
  });

export const openUnkill = (fleet, tweak) =>
  openChange(fleet, {
    title: `End the kill of ${labelOf(tweak)}?`,
    request: "unkill",
    action: "End the kill",
    body: { tweak },
    hint: "The next provider on each host then decides."
  });

/** Opens the dialog to go back to a revision, for the whole application or one tweak. */
export const openRollback = (fleet, revision, tweak) =>
  openChange(fleet, {
    title: `Restore revision ${revision}?`,
    request: "rollback",
    action: "Restore",
    canForce: true,
    reason: `back to revision ${revision}`,
    body: { revision, tweaks: tweak ? [tweak] : [] },
    hint: tweak ? `Restores only ${shown(tweak)}.` : "Restores all values of the application; kills stay."
  });
