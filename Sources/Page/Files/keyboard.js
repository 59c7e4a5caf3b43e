// SPDX-License-Identifier: BSD-3-Clause

// Keyboards: keys of input methods, and layouts without Latin letters.

/**
 * Whether a key belongs to an input method. Safari sends the Enter that ends a composition after it, but with this
 * code.
 */
export const isComposing = ({ isComposing: isPart, keyCode }) => isPart || keyCode === 229;

/** Keeps the keys of input methods, such as the Enter that accepts a word, from all other handlers. */
export function ignoreComposing() {
  addEventListener("keydown", (event) => {
    if (!isComposing(event)) return;
    event.stopImmediatePropagation();
    // Escape would clear a search field and close a dialog.
    if (event.key === "Escape") event.preventDefault();
  }, { capture: true });
}

const isForeign = (key) => /^[^\0-\x7f]/u.test(key) && !/^\p{Script=Latin}/u.test(key);

/**
 * The key of a shortcut: the character that the event types, or the one at the same position of a US keyboard if the
 * layout
 * has no Latin letters, such as `z` for `я` and `b` for `لا`.
 */
export function shortcutKey({ key, code, shiftKey }) {
  if (!isForeign(key)) return key;
  if (code === "Slash") return shiftKey ? "?" : "/";
  const letter = /^Key([A-Z])$/.exec(code)?.[1];
  return (shiftKey ? letter : letter?.toLowerCase()) ?? key;
}
