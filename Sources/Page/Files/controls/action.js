// SPDX-License-Identifier: BSD-3-Clause

// An action: a button, and the result of the last run.

import { icon, make, setText } from "../dom.js";

export function actionControl({ tweak, api, notices }) {
  const text = make("span", { class: "action-result", role: "status" });
  const button = make(
    "button",
    { class: "button action", "aria-label": `Run ${tweak.label}` },
    icon("run"),
    make("span", { text: "Run" })
  );
  let isRunning = false;

  button.addEventListener("click", async () => {
    if (isRunning) return;
    isRunning = true;
    // Not `disabled`, which would lose the focus.
    button.setAttribute("aria-disabled", "true");
    text.classList.remove("is-wrong");
    setText(text, "running…");
    const began = performance.now();
    try {
      const { handedTo } = await api.post("run", { program: tweak.program, tweak: tweak.key });
      const time = performance.now() - began;
      const now = new Date().toLocaleTimeString("en-GB");
      setText(
        text,
        handedTo
          ? `handed to ${handedTo} at ${now}`
          : `done at ${now}, ${time < 1000 ? `${Math.round(time)} ms` : `${(time / 1000).toFixed(1)} s`}`
      );
    } catch (error) {
      text.classList.add("is-wrong");
      setText(text, error.message);
      text.title = error.message;
      notices.problem(error.message);
    }
    isRunning = false;
    button.removeAttribute("aria-disabled");
  });
  return {
    element: make("div", { class: "action-control" }, button, text),
    update() {},
    focus: () => button.focus(),
    isBusy: () => isRunning
  };
}
