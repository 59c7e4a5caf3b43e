// SPDX-License-Identifier: BSD-3-Clause

// Popovers, menus and dialogs.

import { freshID, iconButton, make } from "./dom.js";

/**
 * Opens content beside a button, until Escape or a click elsewhere.
 *
 * - Returns a function that closes it.
 */
export function openPopover(
  anchor,
  content,
  /** @type {{ label?: string, onclose?: () => void, className?: string }} */ { label, onclose, className = "" } = {}
) {
  const popover = make(
    "div",
    { class: `popover ${className}`, popover: "auto", role: "dialog", "aria-label": label },
    content
  );
  (anchor.closest("dialog, header, main, nav, aside") ?? document.body).append(popover);
  const place = () => placeBeside(popover, anchor);
  const close = () => popover.isConnected && popover.hidePopover();
  popover.addEventListener("toggle", (event) => {
    if (event.newState !== "closed") return;
    const hadFocus = popover.contains(document.activeElement) || document.activeElement === document.body;
    popover.remove();
    removeEventListener("resize", place);
    anchor.setAttribute("aria-expanded", "false");
    if (hadFocus && anchor.isConnected) anchor.focus();
    onclose?.();
  });
  popover.showPopover();
  anchor.setAttribute("aria-expanded", "true");
  addEventListener("resize", place);
  place();
  popover.querySelector("[autofocus], input, button, [tabindex='0']")?.focus({ preventScroll: true });
  return close;
}

function placeBeside(popover, anchor) {
  const margin = 8;
  const box = anchor.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = popover;
  const below = innerHeight - box.bottom;
  const top = below >= height + margin || below >= box.top ? box.bottom + 4 : box.top - height - 4;
  const left = Math.min(Math.max(margin, box.right - width), innerWidth - width - margin);
  popover.style.left = `${Math.max(0, left)}px`;
  popover.style.top = `${Math.max(margin, Math.min(top, innerHeight - height - margin))}px`;
}

/** Opens a menu of `{ label, run, isChecked, isDisabled, key }`; `null` is a separator. */
export function openMenu(anchor, label, entries) {
  const menu = make("div", { role: "menu", "aria-label": label, class: "menu" });
  let close = () => {};
  for (const entry of entries) {
    if (!entry) {
      menu.append(make("div", { role: "separator", class: "menu-line" }));
      continue;
    }
    const isCheckable = entry.isChecked !== undefined;
    menu.append(make(
      "button",
      {
        class: "menu-item",
        role: isCheckable ? "menuitemradio" : "menuitem",
        "aria-checked": isCheckable ? String(entry.isChecked) : undefined,
        disabled: entry.isDisabled,
        "aria-keyshortcuts": entry.shortcut,
        onclick: () => {
          close();
          entry.run();
        }
      },
      make("span", { text: entry.label }),
      entry.key ? make("kbd", { text: entry.key }) : undefined
    ));
  }
  menu.addEventListener("keydown", (event) => {
    const items = /** @type {HTMLElement[]} */ ([...menu.querySelectorAll("button:not(:disabled)")]);
    const at = items.findIndex((item) => item === document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    items[(to + items.length) % items.length]?.focus();
  });
  close = openPopover(anchor, menu, { className: "menu-popover" });
  menu.parentElement.removeAttribute("role");
}

/**
 * Opens a dialog with `buttons` as `{ label, isMain, isDangerous, run }`. A button awaits its `run`, then closes the
 * dialog
 * unless the result was false.
 */
export function openDialog(
  title,
  content,
  buttons = [],
  /** @type {{ className?: string, onclose?: () => void }} */ { className = "", onclose } = {}
) {
  const id = freshID("dialog");
  const footer = make("footer");
  const dialog = make(
    "dialog",
    { class: className, "aria-labelledby": id },
    make("header", {}, make("h2", { id, text: title }), iconButton("close", "Close", () => dialog.close())),
    make("div", { class: "dialog-body", tabindex: "-1" }, content),
    buttons.length > 0 ? footer : undefined
  );
  for (const button of buttons) {
    footer.append(make("button", {
      text: button.label,
      autofocus: button.isMain && !button.isDangerous,
      class: `button ${button.isMain ? "main" : ""} ${button.isDangerous ? "dangerous" : ""}`,
      onclick: async () => {
        if ((await button.run?.()) !== false) dialog.close();
      }
    }));
  }
  const focused = /** @type {HTMLElement} */ (document.activeElement);
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (focused?.isConnected) focused.focus();
    onclose?.();
  });
  dialog.addEventListener("click", (event) => {
    if (event.target !== dialog) return;
    const box = dialog.getBoundingClientRect();
    const isInside = event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top &&
      event.clientY <= box.bottom;
    if (!isInside) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Asks for confirmation. Resolves to whether it was given. */
export function ask(title, text, action) {
  return new Promise((resolve) => {
    let answer = false;
    openDialog(title, make("p", { text }), [
      { label: "Cancel" },
      {
        label: action,
        isMain: true,
        isDangerous: true,
        run: () => {
          answer = true;
        }
      }
    ], { className: "question", onclose: () => resolve(answer) });
  });
}
