// Starting a program again. What would be done is shown, and somebody agrees, before it is done.

import { copyText } from "./copying.js";
import { make, setText } from "./dom.js";
import { shown } from "./names.js";
import { openDialog } from "./popups.js";

/** Opens a dialog that says what would run, and does it if somebody agrees. */
export async function openRestart(page, programId) {
  const { api, notices, state, editing } = page;
  const name = shown(state.programs.get(programId)?.description.name ?? programId);
  let plan;
  try {
    await editing.settled();
    plan = await api.post("restart/plan", { program: programId });
  } catch (error) {
    notices.problem(`${name}: ${error.message}`);
    return;
  }
  const copy = { label: "Copy the command", run: () => copyCommand(page, plan.command) };
  if (plan.refusal) {
    openDialog(`${name} is not restarted from here`, make("div", { class: "restart" },
      make("p", { text: `That cannot be done as it was: ${shown(plan.refusal)}. Where it belongs, this does it:` }), commandText(plan.command)),
    [copy, { label: "Close", isMain: true }], { className: "wide" });
    return;
  }
  const verb = plan.pid ? "Restart" : "Start";
  const status = make("p", { class: "who", role: "status" });
  const dialog = openDialog(`${verb} ${name}?`, make("div", { class: "restart" }, plan.unit ? unitFacts(plan) : startFacts(plan), status), [
    { label: "Cancel" }, copy, {
      label: verb, isMain: true, isDangerous: Boolean(plan.pid), run: async () => {
        const button = dialog.querySelector("footer .main");
        button.disabled = true;
        setText(status, plan.pid && !plan.unit ? `Waiting for the end of process ${plan.pid}…` : "Starting…");
        try {
          const { pid } = await api.post("restart", { program: programId, plan: plan.plan });
          notices.say(`${name} was started again${pid ? `, as process ${pid}` : ""}`);
          return true;
        } catch (error) {
          status.className = "problem-text";
          setText(status, shown(error.message));
          return false;
        }
      },
    },
  ], { className: "wide" });
}

/** Copies what a person can tell a shell instead. */
export async function copyRestart(page, programId) {
  try {
    const { command } = await page.api.post("restart/plan", { program: programId });
    await copyCommand(page, command);
  } catch (error) {
    page.notices.problem(error.message);
  }
}

async function copyCommand(page, command) {
  if (await copyText(command)) page.notices.say("The command is copied");
  else page.notices.problem("The browser does not let this page copy; select the text");
  return false;
}

const commandText = (text) => make("pre", { class: "copy-preview", tabindex: "0", "aria-label": "The command", text: shown(text) });

function unitFacts({ unit, command }) {
  return [make("p", { text: `It is the service ${shown(unit)}, which your service manager restarts:` }), commandText(command)];
}

function startFacts({ pid, executable, arguments: words, directory, variables, notes }) {
  const facts = [
    ["First", pid ? `process ${pid} is told to end (SIGTERM). It has 5 seconds for that, and else nothing is started.` : ""],
    [pid ? "Then" : "Runs", commandText(words)],
    ["Executable", shown(executable)],
    ["In", shown(directory)],
    ["Environment", make("details", {}, make("summary", { text: `as it was, ${variables.length} variables` }),
      make("p", { class: "who", text: variables.map(shown).join(" ") }))],
    ["Terminal", "none. It has a session of its own, and goes on when tweak ui ends."],
  ].filter(([, content]) => content);
  return [make("dl", { class: "facts" }, facts.map(([term, content]) => [make("dt", { text: term }), make("dd", {}, content)])),
    notes.length > 0 ? make("ul", { class: "restart-notes" }, notes.map((note) => make("li", { text: shown(note) }))) : undefined];
}
