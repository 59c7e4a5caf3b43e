// SPDX-License-Identifier: BSD-3-Clause

// Names, colours, copied text and search.

import assert from "node:assert/strict";
import test from "node:test";
import { fromHSB, hexText, parseHex, toHSB } from "../../../../Sources/Page/Files/colours.js";
import {
  csvField,
  declarationInC,
  declarationInSwift,
  literalInC,
  nestedJSON,
  shellCommand,
  shellWord
} from "../../../../Sources/Page/Files/copying.js";
import {
  isMeant,
  isWanted,
  listItems,
  movedTo,
  sortedPrograms,
  typingErrors,
  wordsOf
} from "../../../../Sources/Page/Files/finding.js";
import { counted, escaped, keyOf, linkText, placeOf, shown, unescaped } from "../../../../Sources/Page/Files/names.js";
import { linesOfPatch } from "../../../../Sources/Page/Files/patches.js";
import { originLines } from "../../../../Sources/Page/Files/row.js";
import { gatesOf, isChanged, limitsText, partnerName, tweakFrom } from "../../../../Sources/Page/Files/tweaks.js";

/** Some of the options listed by the server. */
const options = [{ name: "unit", title: "unit", form: "text" }, { name: "pair", title: "pair", form: "text" }, {
  name: "needsRestart",
  title: "needs restart",
  form: "flag"
}];

/** A tweak as the server describes it. */
const made = (name, type, more = {}) =>
  tweakFrom("program", {
    tweak: keyOf("A", "B", name),
    category: "A",
    collection: "B",
    name,
    type,
    default: 1,
    value: 1,
    ...more
  }, 0);

test("one thing is not several", () => {
  assert.deepEqual([0, 1, 2].map((count) => counted(count, "tried value")), [
    "0 tried values",
    "1 tried value",
    "2 tried values"
  ]);
});

test("a value of an agent says who set it, and why nothing is newer", () => {
  const provided = [{ source: "kill", reason: "killed by bob: \u202ebroken", agentRuns: true }, {
    source: "fleet",
    problem: "no answer",
    agentRuns: false
  }];
  assert.deepEqual(originLines(provided, "kill"), ["killed by bob: \\u{202e}broken"]);
  assert.deepEqual(originLines(provided, "fleet"), [
    "nothing newer: no answer",
    "no tweak-agent is running, so nothing newer arrives"
  ]);
  assert.deepEqual(originLines(provided, "override"), []);
});

test("a key has slashes only between its levels", () => {
  assert.equal(keyOf("50%", "a/b", "c"), "50%25/a%2Fb/c");
});

test("invisible characters are escaped, except joiners within emoji", () => {
  assert.equal(shown("a\u202eb\nc"), "a\\u{202e}b\\nc");
  assert.equal(shown("👩\u200d👧"), "👩\u200d👧");
  assert.equal(shown("a\u200db"), "a\\u{200d}b");
  for (const text of ["a\\b\n\t\0", "\u202e", "plain"]) assert.equal(unescaped(escaped(text)), text);
});

test("an address restores its place", () => {
  const place = { program: "p", tweak: "A/B%2F/C", q: "a b&c=d" };
  assert.deepEqual(placeOf(linkText(place)), place);
  assert.equal(linkText({}), "");
  const panel = {
    program: "p",
    panel: "Stage & light",
    row: ["A/B/C", "A/B%2F/D"],
    line: ["A/B/C", "q\nA/B/C"],
    plots: "xy",
    across: "A/B/C",
    seconds: "30"
  };
  assert.deepEqual(placeOf(linkText(panel)), panel);
  assert.deepEqual(placeOf("#row=&line=a"), { line: ["a"] });
});

test("all forms of colours are parsed, and survive the picker", () => {
  assert.deepEqual(parseHex("f80"), { red: 255, green: 136, blue: 0, alpha: 255 });
  assert.equal(parseHex("#12345"), undefined);
  for (const hex of ["#000000", "#ffffff", "#3366cc", "#ff880080"]) {
    const colour = parseHex(hex);
    assert(colour);
    assert.equal(hexText({ ...fromHSB(toHSB(colour)), alpha: colour.alpha }), hex);
  }
});

test("copied text is one word, one field or one literal", () => {
  assert.equal(shellWord("it's"), "'it'\\''s'");
  assert.equal(shellWord("-x"), "'-x'");
  assert.equal(shellWord("a\nb"), "$'a\\nb'");
  assert.equal(csvField('a "b",c'), '"a ""b"",c"');
  for (const text of ["=1+2", "+1+2", "-1+2", "@SUM(1)", "＝1", "\t=1"]) assert.match(csvField(text), /^"?'/u);
  for (const text of ["-1", "+1", "-0.5", "-1e-5", "-Infinity", "-Inf"]) assert.equal(csvField(text), text);
  assert.equal(literalInC('"\\\u00e9?1'), '"\\"\\\\\\303\\251?1"');
  assert.equal(shellCommand({ id: "p", description: {} }, made("C", "int32"), -5), "tweak set p A/B/C -- '-5'");
  assert.equal(
    declarationInC(made("C", "int32", { minimum: 0, maximum: 9, unit: "kg", needsRestart: true }), 3, options),
    'FBTweakValue("A", "B", "C", 3, 0, 9, FBTweakUnit("kg"), FBTweakNeedsRestart)'
  );
});

test("an array is copied as one of Swift", () => {
  const ports = made("C", "string", { element: "int64 min=1 max=65535" });
  assert.equal(
    declarationInSwift(ports, "[80, 443]", options),
    '#tweak("A", "B", "C", default: [80, 443], in: 1...65535)'
  );
  const hosts = made("C", "string", { element: "string" });
  assert.equal(
    declarationInSwift(hosts, '["a", "\\u0007"]', options),
    '#tweak("A", "B", "C", default: ["a", "\\u{7}"])'
  );
});

test("names of object members are ordinary names, and integers keep all digits", () => {
  const tweak = { category: "__proto__", collection: "constructor", name: "toString" };
  assert.equal(
    nestedJSON([{ tweak, value: 2n ** 64n - 1n }]),
    '{\n  "__proto__": {\n    "constructor": {\n      "toString": 18446744073709551615\n    }\n  }\n}'
  );
});

test("a search matches all its words", () => {
  assert.deepEqual(wordsOf('Spring "two words" x'), ["spring", "two words", "x"]);
  const query = (text) => ({ words: wordsOf(text), shows: [], source: undefined, kind: undefined });
  const tweak = made("Stiffness", "double", { description: "How hard the spring pulls" });
  assert(isWanted(tweak, query("spring hard"), {}));
  assert(!isWanted(tweak, query("spring soft"), {}));
  assert(!isWanted(tweak, { ...query(""), shows: ["changed"] }, {}));
  for (const text of ["sprnig", "haard"]) {
    assert(!isWanted(tweak, query(text), {}));
    assert(isWanted(tweak, { ...query(text), isLoose: true }, {}));
  }
  assert(!isWanted(tweak, { ...query("sp"), words: ["spt"], isLoose: true }, {}));
});

test("typing errors are counted against the beginning of a word", () => {
  assert.deepEqual(
    [["stifness", "stiffness"], ["stfi", "stiffness"], ["stif", "stiffness"], ["sharp", "shard"], ["gain", "motor"]]
      .map(([word, other]) => typingErrors(word, other)),
    [1, 1, 0, 1, 4]
  );
});

test("a search means commands whose words it begins", () => {
  assert(isMeant("Restart studio…", ["rest"]));
  assert(isMeant("Restart studio…", ["studio", "re"]));
  assert(!isMeant("Restart studio…", ["start"]));
});

test("a list has a heading for each collection", () => {
  const tweaks = [made("One", "int32"), made("Two", "int32", { tweak: "A/C/Two", collection: "C" })];
  const program = { id: "program", tweaks: new Map(tweaks.map((tweak) => [tweak.key, tweak])) };
  const { items, count } = listItems([program], {}, { words: [], shows: [] }, { stars: new Set() }, undefined);
  assert.deepEqual(items.map(({ kind }) => kind), ["heading", "row", "heading", "row"]);
  assert.equal(count, 2);
});

test("a tweak has limits, gates and a partner, and knows whether it is changed", () => {
  assert.equal(limitsText(made("C", "double", { minimum: 1, unit: "kg" })), "at least 1 kg");
  assert.deepEqual(gatesOf(made("Bass/Boost", "bool", { category: "Features" })), ["enabled", "Bass"]);
  assert.deepEqual(partnerName(made("Offset X", "double")), { name: "Offset Y", isFirst: true });
  assert.deepEqual(partnerName(made("offsetY", "double")), { name: "offsetX", isFirst: false });
  assert.equal(partnerName(made("Max", "double")), undefined);
  assert(!isChanged(made("C", "int32")) && isChanged(made("C", "int32", { value: 2, source: "override" })));
});

test("starred tweaks are first, in an order of their own", () => {
  const tweaks = ["One", "Two", "Three"].map((name) => made(name, "double"));
  const program = { id: "program", tweaks: new Map(tweaks.map((tweak) => [tweak.key, tweak])) };
  const stars = new Set(["program\nA/B/Three", "program\nA/B/One"]);
  const shape = (scope, context) =>
    listItems([program], scope, { words: [], shows: [] }, context, undefined).items
      .map(({ kind, isStarred, tweak }) => tweak?.name ?? (isStarred ? "starred" : kind));
  assert.deepEqual(shape({}, { stars }), ["starred", "Three", "One", "heading", "Two"]);
  assert.deepEqual(shape({}, { stars, byGroup: true }), ["starred", "Three", "One", "heading", "Two"]);
  // A panel has its tweaks in its order, without headings.
  assert.deepEqual(shape({ row: ["A/B/Two", "A/B/Gone", "A/B/One"] }, { stars }), ["Two", "One"]);
});

test("an element moves to the place of another one", () => {
  assert.deepEqual(movedTo(["a", "b", "c", "d"], "a", "c"), ["b", "c", "a", "d"]);
  assert.deepEqual(movedTo(["a", "b", "c", "d"], "d", "b"), ["a", "d", "b", "c"]);
  assert.deepEqual(movedTo(["a", "b"], "a", "x"), ["a", "b"]);
  assert.deepEqual(movedTo(["a", "b"], "b", "b"), ["a", "b"]);
});

test("the lines of a difference have their kinds, also where a removed line looks like a heading", () => {
  const patch = [
    "diff --git a/a.c b/a.c",
    "--- a/a.c",
    "+++ b/a.c",
    "@@ -1,3 +1,2 @@",
    " one",
    "--- two",
    "-\tthree\u202e",
    "+++ four",
    "@@ -9 +8 @@",
    "-<b>",
    "\\ No newline at end of file",
    "+5",
    "\\ No newline at end of file",
    "--- a/b.c",
    "+++ b/b.c"
  ];
  const lines = linesOfPatch(`${patch.join("\n")}\n`);
  assert.deepEqual(lines.map(({ kind }) => kind), [
    "heading",
    "heading",
    "heading",
    "hunk",
    "context",
    "removed",
    "removed",
    "added",
    "hunk",
    "removed",
    "heading",
    "added",
    "heading",
    "heading",
    "heading"
  ]);
  assert.deepEqual(lines.map(({ text }) => text), patch.map((line) => line.replace("\u202e", "\\u{202e}")));
});

test("running programs are listed first, by name, and equal ones together", () => {
  const programs = [
    ["search", 40, "running"],
    ["ended", 0, "offline"],
    ["gateway 10", 9, "running"],
    ["search", 7, "silent"],
    ["gateway 9", 12, "memory"],
    ["a", 0, "offline"]
  ]
    .map(([name, pid, state]) => ({ id: `${name}~${pid}`, state, description: { name, pid } }));
  assert.deepEqual(sortedPrograms(programs).map(({ id }) => id), [
    "gateway 9~12",
    "gateway 10~9",
    "search~7",
    "search~40",
    "a~0",
    "ended~0"
  ]);
});
