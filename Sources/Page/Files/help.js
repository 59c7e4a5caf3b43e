// What the keys do, and what can be typed.

import { make } from "./dom.js";
import { openDialog } from "./popups.js";

const sections = [
  ["Everywhere", [
    ["/", "search"], ["Esc", "leave the search, close what is open"], ["f", "filters"], ["?", "this help"],
    ["Ctrl Z", "undo"], ["Ctrl Shift Z", "redo"], ["x", "the other of A and B"], ["n", "take a snapshot"],
    ["Shift N", "back to the snapshot"], ["p", "presets"], ["e", "copy or export"], ["Space on the graph, or k", "pause the graph"],
    ["t", "light or dark"], ["o", "the outline"],
  ]],
  ["On the name of a tweak", [
    ["↑ ↓ Page Home End", "another row"], ["→", "to its control"], ["Enter", "details"], ["r", "reset"], ["s", "star"],
    ["g", "graph"], ["c", "copy as a command"], ["l", "copy a link"],
  ]],
  ["In a number", [
    ["↑ ↓", "one step"], ["Shift", "ten steps"], ["Alt", "a tenth of a step"], ["drag sideways", "turn it"],
    ["2*pi, 1/60, max/2", "arithmetic; x is the value, def the default"], ["+=10%, *=2, -=0.5", "from the value that there is"],
    ["300 ms, 1:30, 2 min 5 s", "in durations"], ["Esc", "what it was"],
  ]],
  ["In a text", [["Enter", "take it"], ["Shift Enter", "begin another line"], ["Ctrl Enter", "take one with several lines"], ["Esc", "what it was"]]],
  ["On the graph", [["← →", "the cursor; with Shift faster"], ["+ −", "zoom"], ["Space", "pause"], ["drag", "go back in time"]]],
];

export function openHelp() {
  openDialog("Keys", make("div", { class: "help" }, sections.map(([title, keys]) => make("section", {}, make("h3", { text: title }),
    make("dl", { class: "keys" }, keys.map(([key, text]) => [make("dt", {}, make("kbd", { text: key })), make("dd", { text })]))))),
  [], { className: "wide" });
}
