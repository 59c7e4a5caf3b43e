// SPDX-License-Identifier: BSD-3-Clause

// Keys of input methods, and shortcuts on other layouts.

import assert from "node:assert/strict";
import test from "node:test";
import { isComposing, shortcutKey } from "../../../../Sources/Page/Files/keyboard.js";

test("the keys of a composition belong to the input method", () => {
  assert.deepEqual(
    [{ isComposing: true, keyCode: 13 }, { isComposing: false, keyCode: 229 }, { isComposing: false, keyCode: 13 }].map(
      isComposing
    ),
    [true, true, false]
  );
});

test("a shortcut is the position of a key where the layout has no Latin letters", () => {
  for (
    const [key, code, shiftKey, expected] of /** @type {[string, string, boolean, string][]} */ ([
      ["я", "KeyZ", false, "z"],
      ["Т", "KeyN", true, "N"],
      ["ι", "KeyI", false, "i"],
      ["ر", "KeyV", false, "v"],
      ["لا", "KeyB", false, "b"],
      ["ㅎ", "KeyG", false, "g"],
      ["้", "KeyH", false, "h"],
      ["؟", "Slash", true, "?"],
      ["ظ", "Slash", false, "/"],
      // Latin letters count wherever they are: Dvorak, French and Turkish keyboards.
      ["r", "KeyO", false, "r"],
      ["a", "KeyQ", false, "a"],
      ["é", "Digit2", false, "é"],
      ["ğ", "KeyE", false, "ğ"],
      // So do signs that all layouts have, and named keys.
      ["/", "KeyQ", false, "/"],
      ["Enter", "Enter", false, "Enter"],
      ["ж", "Semicolon", false, "ж"],
      [" ", "Space", false, " "]
    ])
  ) assert.equal(shortcutKey({ key, code, shiftKey }), expected, key);
});
