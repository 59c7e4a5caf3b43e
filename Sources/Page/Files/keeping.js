// SPDX-License-Identifier: BSD-3-Clause

// Keeps values in the sources of a program: shows the difference that `tweak bake` would make, and writes it on
// confirmation.

import { copyText } from "./copying.js";
import { make, setText } from "./dom.js";
import { linesShown, shown } from "./names.js";
import { linesOfPatch } from "./patches.js";
import { openDialog } from "./popups.js";

/**
 * Shows what would change in the sources, and writes it on confirmation.
 *
 * - tweaks: undefined for all that have other values than their defaults.
 *
 * @param {import("./page.js").Parts<"api" | "editing" | "notices">} parts
 */
export function openKeeping({ api, editing, notices }, programId, title, /** @type {any[] | undefined} */ tweaks) {
  const status = make("p", { role: "status" });
  const content = make("div", { class: "restart" });
  /** The difference that is shown. */
  let plan;
  const copy = (name, text) => ({
    label: `Copy the ${name}`,
    run: async () => {
      await copyText(text(plan), notices, `${name[0].toUpperCase()}${name.slice(1)} copied`);
      return false;
    }
  });
  const dialog = openDialog(title, make("div", { class: "restart" }, status, content), [
    { label: "Cancel" },
    copy("command", ({ command }) => command),
    copy("difference", ({ difference }) => difference),
    { label: "Write", isMain: true, run: write }
  ], { className: "wide" });
  const [cancel, ...buttons] = /** @type {HTMLButtonElement[]} */ ([...dialog.querySelectorAll("footer button")]);
  const writeButton = buttons[2];

  function show(text, parts = [], isProblem = false) {
    status.className = isProblem ? "lines problem-text" : "lines";
    setText(status, text);
    content.replaceChildren(...parts);
    for (const one of buttons) one.hidden = !plan?.difference;
    writeButton.hidden = !plan?.plan;
    setText(cancel, plan?.plan ? "Cancel" : "Close");
  }

  /** Asks for the difference. A `problem` says why it is asked for again. */
  async function review(problem = "") {
    plan = undefined;
    show(problem || "Reading the sources…", [], Boolean(problem));
    try {
      await editing.settled();
      plan = await api.post("bake/plan", { program: programId, tweaks: tweaks?.map(({ key }) => key) });
      const { difference, messages } = plan;
      show(
        problem ||
          (difference
            ? ""
            : messages
            ? "No source can be changed."
            : "The sources have these values already. The program has them after its next build."),
        planParts(plan),
        Boolean(problem)
      );
      /** @type {HTMLElement} */ (difference ? content.querySelector("pre") : cancel).focus();
    } catch (error) {
      show([problem, messageText(error.message)].filter(Boolean).join("\n"), [], true);
    }
  }

  async function write() {
    const { plan: name } = plan;
    plan = undefined;
    show("Writing…");
    try {
      const { answer, messages } = await api.post("bake", { program: programId, plan: name });
      show(
        `Written. The program has ${
          answer.changes.length === 1 ? "this default" : "these defaults"
        } after its next build.`,
        writtenParts(answer, messages)
      );
      cancel.focus();
    } catch (error) {
      await review(messageText(error.message));
    }
    return false;
  }

  review();
}

/** What `tweak bake` has said, without its name. */
const messageText = (messages) => linesShown(messages.replaceAll(/^tweak: /gm, "").trimEnd());

const messagePart = (messages) => (messages ? [make("p", { class: "why lines", text: messageText(messages) })] : []);

function planParts({ plan, difference, messages, command }) {
  const parts = messagePart(messages);
  if (!difference) return parts;
  parts.unshift(
    make("pre", {
      class: "copy-preview patch",
      translate: "no",
      tabindex: "0",
      role: "region",
      "aria-label": "The difference"
    }, linesOfPatch(difference).map(({ kind, text }) => make("span", { class: kind, text: `${text}\n` })))
  );
  if (!plan) {
    parts.push(
      make("p", {
        text:
          "To let this page write sources, start tweak ui with --sources. Until then, apply the diff yourself, or run:"
      }),
      make("pre", {
        class: "copy-preview",
        translate: "no",
        tabindex: "0",
        role: "region",
        "aria-label": "The command",
        text: shown(command)
      })
    );
  }
  return parts;
}

const writtenParts = ({ changes }, messages) => [
  make(
    "ul",
    { class: "written" },
    changes.map(({ file, line, tweak, oldText, newText }) =>
      make(
        "li",
        {},
        make("span", { translate: "no", text: `${shown(tweak)}: ${shown(oldText)} → ${shown(newText)}` }),
        make("span", { class: "who", text: `${shown(file)}:${line}` })
      )
    )
  ),
  ...messagePart(messages)
];
