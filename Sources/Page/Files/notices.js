// SPDX-License-Identifier: BSD-3-Clause

// Short messages at the edge of the page, also announced by screen readers.

import { iconButton, make } from "./dom.js";

export class Notices {
  #list;
  #spoken;

  constructor(list, spoken) {
    this.#list = list;
    this.#spoken = spoken;
  }

  /** Shows a message for a few seconds, with an optional `action` as `{ label, run }`. */
  say(text, action) {
    this.#show(text, "notice", 5000, action);
  }

  /** Shows an error, for longer. */
  problem(text) {
    this.#show(text, "notice problem", 12000);
  }

  /** Announces a text to screen readers only. */
  whisper(text) {
    this.#spoken.textContent = text;
  }

  #show(text, className, time, action) {
    const notice = make("div", { class: className }, make("p", { text }));
    if (action) {
      notice.append(make("button", {
        text: action.label,
        onclick: () => {
          notice.remove();
          action.run();
        }
      }));
    }
    notice.append(iconButton("close", "Dismiss", () => notice.remove()));
    // The newest, and the newest error.
    for (const other of [...this.#list.children]) if (other.className === className) other.remove();
    this.#list.append(notice);
    // Reopen it to bring it above dialogs.
    if (this.#list.matches(":popover-open")) this.#list.hidePopover();
    this.#list.showPopover();
    this.#spoken.textContent = text;
    const end = () => {
      if (notice.matches(":hover, :focus-within")) setTimeout(end, 2000);
      else notice.remove();
    };
    setTimeout(end, time);
  }
}
