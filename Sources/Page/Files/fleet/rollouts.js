// SPDX-License-Identifier: BSD-3-Clause

// The rollouts of an application: their progress above the list, and the dialogs that start, pause, resume and abort
// one.

import { make } from "../dom.js";
import { linesShown, shown } from "../names.js";
import { openDialog } from "../popups.js";
import { makeControl, makeReasonForm, warningsText } from "./changing.js";
import { makeBar } from "./hosts.js";
import { argumentFor, controlFor, labelOf, stateText } from "./values.js";

const isOpen = ({ state }) => state === "running" || state === "paused";

/** A time in seconds, in words. */
export const timeText = (
  seconds
) => (seconds < 120
  ? `${seconds} s`
  : seconds < 7200
  ? `${Math.round(seconds / 60)} min`
  : `${Math.round(seconds / 3600)} h`);

/** What comes next, in words. */
export function nextText({ state, nextIn, leader, attended, reason, done, steps }) {
  if (state !== "running") return shown([state, reason].filter(Boolean).join(": "));
  if (!leader) return attended ? "no process is running it" : "no agent is running it yet";
  if (nextIn === undefined) return "";
  return `${done < steps.length ? `${steps[done]} %` : "the end"} ${nextIn > 0 ? `in ${timeText(nextIn)}` : "now"}`;
}

/** A line for each rollout that has not ended. */
export function makeRollouts(fleet) {
  return (fleet.rollouts ?? []).filter(isOpen).map((rollout) => {
    const { tweak, value, percentage = 0, steps, state } = rollout;
    const label = labelOf(tweak);
    const button = (text, request, more = {}) =>
      make("button", {
        class: "button small",
        text: `${text}…`,
        "aria-label": `${text} the rollout of ${label}`,
        data: { of: `${request} ${tweak}` },
        onclick: () => openEnding(fleet, rollout, request, text, more)
      });
    return make(
      "li",
      { class: "fleet-rollout", data: { state } },
      make("span", { translate: "no", title: shown(tweak), text: `${label} → ${stateText(value, rollout.for)}` }),
      makeBar([{ share: percentage, state: "current" }, { share: 100 - percentage, state: "rest" }], {
        label: `${percentage} % of the hosts`,
        marks: steps
      }),
      make("span", { text: `${percentage} %` }),
      make("span", { class: "who", text: nextText(rollout) }),
      state === "running" ? button("Pause", "pause") : button("Resume", "resume"),
      button("Abort", "abort", { isDangerous: true, hint: "Restores the value from before the rollout." })
    );
  });
}

/** Opens a dialog whose main button asks the fleet for something, with a reason. */
function openReason(fleet, /** @type {any} */ { title, fields, hint, action, isDangerous, request, body }) {
  const { environment, application } = fleet;
  const { form, force, forceLine, say, givenReason } = makeReasonForm({
    where: `${shown(application)} in ${shown(environment)}`,
    fields,
    hint,
    action,
    anyway: "Do it anyway"
  });
  const run = async () => {
    const why = givenReason();
    if (!why) return false;
    try {
      const { messages } = await fleet.ask(request, {
        environment,
        application,
        ...body(),
        why,
        isForced: force.checked || undefined
      });
      if (warningsText(messages)) fleet.notices.problem(warningsText(messages));
      fleet.load();
      return true;
    } catch (error) {
      say(linesShown(error.message), true);
      forceLine.hidden = error.status !== 409 || request === "pause" || request === "resume";
      return false;
    }
  };
  openDialog(title, form, [{ label: "Cancel" }, { label: action, isMain: true, isDangerous, run }], {
    className: "wide"
  });
}

function openEnding(fleet, { tweak }, request, action, more) {
  openReason(fleet, {
    title: `${action} the rollout of ${labelOf(tweak)}?`,
    request,
    action,
    body: () => ({ tweak }),
    ...more
  });
}

/** Opens the dialog that starts a rollout of a new value. */
export function openRollout(fleet, tweak) {
  const { declaration, entry } = fleet.rowOf(tweak);
  const control = controlFor(declaration, entry?.value);
  const { element, read } = makeControl(control, declaration, undefined, true);
  const field = (name, value, more = {}) => {
    const input = make("input", { type: "text", autocomplete: "off", spellcheck: "false", ...more });
    input.value = value;
    return { input, label: make("label", { class: "fleet-field" }, make("span", { text: name }), input) };
  };
  const [steps, every, at, check] = [
    field("Shares of hosts, in %", "1, 10, 50, 100"),
    field("Time between steps", "10m", { placeholder: "10m" }),
    field("First step at", "", { placeholder: "now" }),
    field("Check of the agents", "", { placeholder: "none" })
  ];
  const text = ({ input }) => input.value.trim() || undefined;
  openReason(fleet, {
    title: `Roll out ${labelOf(tweak)}`,
    request: "rollout",
    action: "Start",
    fields: make(
      "div",
      { class: "fleet-fields" },
      make("p", { class: "details-path", text: shown(tweak) }),
      element,
      [steps, every, at, check].map(({ label }) => label)
    ),
    hint: "More and more hosts get the value. If a check fails or a host refuses it, the previous value is restored.",
    body: () => ({
      tweak,
      value: argumentFor(read(), control, declaration),
      steps: steps.input.value.replace(/\s/g, ""),
      every: text(every),
      at: text(at),
      check: text(check)
    })
  });
}
