// SPDX-License-Identifier: BSD-3-Clause

// Restarts a program, after showing what will be done and asking for confirmation.

import { copyText } from "./copying.js";
import { make, setText } from "./dom.js";
import { counted, shown } from "./names.js";
import { openDialog } from "./popups.js";

/**
 * Shows how the program would be restarted, and restarts it on confirmation.
 *
 * @param {import("./page.js").Parts<"api" | "editing" | "notices" | "state">} parts
 */
export async function openRestart({ api, editing, notices, state }, programId) {
  const name = shown(state.programs.get(programId)?.description.name ?? programId);
  let plan;
  try {
    await editing.settled();
    plan = await api.post("restart/plan", { program: programId });
  } catch (error) {
    notices.problem(`${name}: ${error.message}`);
    return;
  }
  const copy = { label: "Copy the command", run: () => copyCommand(notices, plan.command) };
  if (plan.refusal) {
    openDialog(
      `${name} cannot be restarted from here`,
      make(
        "div",
        { class: "restart" },
        make("p", {
          text: `A restart would change the program: ${
            shown(plan.refusal)
          }. Run this command in its original environment instead:`
        }),
        commandText(plan.command)
      ),
      [copy, { label: "Close", isMain: true }],
      { className: "wide" }
    );
    return;
  }
  const verb = plan.pid ? "Restart" : "Start";
  const status = make("p", { class: "who", role: "status" });
  const dialog = openDialog(
    `${verb} ${name}?`,
    make("div", { class: "restart" }, plan.unit ? unitFacts(plan) : startFacts(plan), status),
    [
      { label: "Cancel" },
      copy,
      {
        label: verb,
        isMain: true,
        isDangerous: Boolean(plan.pid),
        run: async () => {
          const button = dialog.querySelector("footer .main");
          button.disabled = true;
          setText(status, plan.pid && !plan.unit ? `Waiting for process ${plan.pid} to exit…` : "Starting…");
          try {
            const { pid } = await api.post("restart", { program: programId, plan: plan.plan });
            notices.say(`${name} ${plan.pid ? "restarted" : "started"}${pid ? ` as process ${pid}` : ""}`);
            return true;
          } catch (error) {
            status.className = "problem-text";
            setText(status, shown(error.message));
            return false;
          }
        }
      }
    ],
    { className: "wide" }
  );
}

/**
 * Copies the shell command that restarts a program.
 *
 * @param {import("./page.js").Parts<"api" | "notices">} parts
 */
export async function copyRestart({ api, notices }, programId) {
  try {
    const { command } = await api.post("restart/plan", { program: programId });
    await copyCommand(notices, command);
  } catch (error) {
    notices.problem(error.message);
  }
}

async function copyCommand(notices, command) {
  await copyText(command, notices, "Command copied");
  return false;
}

const commandText = (text) =>
  make("pre", {
    class: "copy-preview",
    translate: "no",
    tabindex: "0",
    "aria-label": "The command",
    text: shown(text)
  });

function unitFacts({ unit, command }) {
  return [make("p", { text: `The service manager restarts the service ${shown(unit)}:` }), commandText(command)];
}

function startFacts({ pid, executable, arguments: words, directory, variables, notes }) {
  const facts = [
    [
      "First",
      pid ? `sends SIGTERM to process ${pid} and waits 5 seconds. If it does not exit, nothing is started.` : ""
    ],
    [pid ? "Then" : "Runs", commandText(words)],
    ["Executable", shown(executable)],
    ["Directory", shown(directory)],
    [
      "Environment",
      make(
        "details",
        {},
        make("summary", { text: `unchanged, ${counted(variables.length, "variable")}` }),
        make("p", { class: "who", text: variables.map(shown).join(" ") })
      )
    ],
    ["Terminal", "none. The program runs in its own session and keeps running when tweak ui exits."]
  ].filter(([, content]) => content);
  return [
    make(
      "dl",
      { class: "facts" },
      facts.map(([term, content]) => [make("dt", { text: term }), make("dd", {}, content)])
    ),
    notes.length > 0
      ? make("ul", { class: "restart-notes" }, notes.map((note) => make("li", { text: shown(note) })))
      : undefined
  ];
}
