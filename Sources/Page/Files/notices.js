// Short messages at the edge of the page, which a screen reader says too.

import { iconButton, make } from "./dom.js";

const mostNotices = 4;

export class Notices {
  #list;
  #spoken;

  constructor(list, spoken) {
    this.#list = list;
    this.#spoken = spoken;
  }

  /** Says something for a few seconds; `action` is `{ label, run }`. */
  say(text, action) {
    this.#show(text, "notice", 5000, action);
  }

  /** Says what went wrong, and stays longer. */
  problem(text) {
    for (const other of this.#list.children) if (other.firstChild.textContent === text) other.remove();
    this.#show(text, "notice problem", 12000);
  }

  /** For the screen reader only. */
  whisper(text) {
    this.#spoken.textContent = text;
  }

  #show(text, className, time, action) {
    const notice = make("div", { class: className }, make("p", { text }));
    if (action) {
      notice.append(make("button", {
        type: "button", text: action.label, onclick: () => {
          notice.remove();
          action.run();
        },
      }));
    }
    notice.append(iconButton("close", "Close this message", () => notice.remove()));
    this.#list.append(notice);
    // The last that was opened is on top, of dialogs too.
    if (this.#list.matches(":popover-open")) this.#list.hidePopover();
    this.#list.showPopover();
    while (this.#list.children.length > mostNotices) this.#list.firstChild.remove();
    this.#spoken.textContent = text;
    const end = () => {
      if (notice.matches(":hover, :focus-within")) setTimeout(end, 2000);
      else notice.remove();
    };
    setTimeout(end, time);
  }
}
