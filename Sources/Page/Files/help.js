// SPDX-License-Identifier: BSD-3-Clause

// The help on keys and input.

import { make } from "./dom.js";
import { openDialog } from "./popups.js";

/** @type {[string, string[][]][]} */
const sections = [
  ["Everywhere", [
    ["/", "search"],
    ["Esc", "leave the search, close panels"],
    ["f", "filters"],
    ["?", "help"],
    ["Ctrl Z", "undo"],
    ["Ctrl Shift Z", "redo"],
    ["x", "switch between A and B"],
    ["y", "try changes without keeping them"],
    ["n", "take a snapshot"],
    ["Shift N", "restore the last snapshot"],
    ["p", "presets"],
    ["e", "copy or export"],
    ["Space on the graph, or k", "pause the graph"],
    ["t", "light or dark"],
    ["o", "outline"],
    ["h", "history"]
  ]],
  ["On the name of a tweak", [
    ["↑ ↓ Page Home End", "move to another row"],
    ["→", "move to its control"],
    ["Enter", "details"],
    ["r", "reset"],
    ["s", "star"],
    ["Alt ↑ ↓", "move a starred tweak"],
    ["g", "graph"],
    ["c", "copy as a command"],
    ["l", "copy the link"],
    ["b", "write the value to the source"],
    ["w", "sweep: try values, and measure"]
  ]],
  ["In a number", [
    ["↑ ↓", "one step"],
    ["Shift", "ten steps"],
    ["Alt", "a tenth of a step"],
    ["drag sideways", "change the value"],
    ["1.5 or 1,5", "a decimal point or comma"],
    ["2*pi, 1/60, max/2", "arithmetic; x is the current value, def the default"],
    ["+=10%, *=2, -=0.5", "change relative to the current value"],
    ["300 ms, 1:30, 2 min 5 s", "durations"],
    ["Esc", "cancel"]
  ]],
  ["In a text", [["Enter", "accept"], ["Shift Enter", "start a new line"], ["Ctrl Enter", "accept several lines"], [
    "Esc",
    "cancel"
  ]]],
  ["On the graph", [
    ["← →", "move the cursor; faster with Shift"],
    ["Enter, or click", "place a cursor; two show statistics"],
    ["z", "zoom to the range between the cursors"],
    ["+ −", "zoom in time"],
    ["↑ ↓", "zoom in values"],
    ["Shift and drag", "zoom to a box"],
    ["Backspace", "zoom back"],
    ["Space", "pause"],
    ["drag", "go back in time"]
  ]],
  ["On a handle of a panel", [["← → ↑ ↓", "move the item"], ["Delete", "remove it"], ["Esc", "cancel a drag"]]]
];

export function openHelp() {
  openDialog(
    "Keyboard shortcuts",
    make(
      "div",
      { class: "help", tabindex: "0", role: "group", "aria-label": "Keys" },
      sections.map(([title, keys]) =>
        make(
          "section",
          {},
          make("h3", { text: title }),
          make(
            "dl",
            { class: "keys" },
            keys.map(([key, text]) => [make("dt", {}, make("kbd", { text: key })), make("dd", { text })])
          )
        )
      )
    ),
    [],
    { className: "wide" }
  );
}
