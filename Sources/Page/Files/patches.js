// SPDX-License-Identifier: BSD-3-Clause

// Reads differences as `git apply` takes them. Pure.

import { shown } from "./names.js";

const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;
const kinds = { "+": "added", "-": "removed", " ": "context" };

/** The lines of a difference as `{ kind, text }`, with invisible characters other than tabs escaped. */
export function linesOfPatch(text) {
  // A removed line can look like a heading, so the lines of a hunk are counted.
  let [before, after] = [0, 0];
  return text.replace(/\n$/, "").split("\n").map((line) => {
    const counts = before + after > 0 ? undefined : hunk.exec(line);
    let kind = "heading";
    if (counts) [kind, before, after] = ["hunk", Number(counts[1] ?? 1), Number(counts[2] ?? 1)];
    else if (before + after > 0 && !line.startsWith("\\")) {
      kind = kinds[line[0]] ?? "context";
      if (kind !== "added") before -= 1;
      if (kind !== "removed") after -= 1;
    }
    return { kind, text: line.split("\t").map(shown).join("\t") };
  });
}
