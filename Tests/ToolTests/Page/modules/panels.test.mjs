// SPDX-License-Identifier: BSD-3-Clause

// The content of panels: reading it, moving items, and keeping what newer versions wrote. The links to panels.

import assert from "node:assert/strict";
import test from "node:test";
import { linkText, placeOf } from "../../../../Sources/Page/Files/names.js";
import {
  contentText,
  emptyContent,
  inserted,
  isColumn,
  keysOf,
  kindOf,
  linesOf,
  moved,
  nextPlace,
  problemOf,
  removed,
  replaced,
  secondsOf,
  withColumns,
  withoutColumn
} from "../../../../Sources/Page/Files/panels/content.js";

const [a, b, c, d] = ["a", "b", "c", "d"].map((tweak) => ({ tweak }));
const graph = { graph: ["m", "a", "m"], seconds: 30, style: "newer" };
const newer = { dial: "a", size: [2, 2] };

/** Columns as texts, such as "ab c". */
const text = (columns) => columns.map((items) => items.map(({ tweak }) => tweak).join("")).join(" ");

test("an item is a tweak, a graph, a heading, or of a newer version", () => {
  const kinds = [a, graph, { heading: "" }, newer, { tweak: 1 }, { graph: [1] }, { graph: "a" }, null, 7, "a", []].map(
    kindOf
  );
  assert.deepEqual(kinds, ["tweak", "graph", "heading", ...Array(8).fill("newer")]);
});

test("a panel without a list of columns has a problem", () => {
  assert.equal(problemOf(emptyContent()), "");
  for (const content of [undefined, null, {}, { columns: {} }, { columns: "a" }])
    assert.notEqual(problemOf(content), "");
});

test("the tweaks with rows and those on graphs are each named once", () => {
  const columns = [[a, graph, b], { grid: [c] }, [a, newer, { graph: ["b"] }]];
  assert.deepEqual(columns.map(isColumn), [true, false, true]);
  assert.deepEqual(keysOf(columns), ["a", "b"]);
  assert.deepEqual(linesOf(columns), ["m", "a", "b"]);
});

test("the time of a graph has limits and a usual value", () => {
  assert.deepEqual(
    [graph, {}, { seconds: 0 }, { seconds: -1 }, { seconds: "9" }, { seconds: NaN }, { seconds: 1e9 }].map(secondsOf),
    [30, 10, 10, 10, 10, 10, 600]
  );
});

test("an item moves before another one, or to the end of a column", () => {
  const columns = [[a, b, c], [d]];
  const move = (from, to) => {
    const { columns: after, place } = moved(columns, { column: from[0], index: from[1] }, {
      column: to[0],
      index: to[1]
    });
    return [text(after), place.column, place.index];
  };
  assert.deepEqual(move([0, 0], [0, 2]), ["bac d", 0, 1]);
  assert.deepEqual(move([0, 0], [0, 3]), ["bca d", 0, 2]);
  assert.deepEqual(move([0, 2], [0, 0]), ["cab d", 0, 0]);
  assert.deepEqual(move([0, 1], [0, 1]), ["abc d", 0, 1]);
  assert.deepEqual(move([0, 1], [0, 2]), ["abc d", 0, 1]);
  assert.deepEqual(move([0, 1], [1, 0]), ["ac bd", 1, 0]);
  assert.deepEqual(move([0, 1], [1, 9]), ["ac db", 1, 1]);
  assert.deepEqual(move([1, 0], [0, 1]), ["adbc ", 0, 1]);
  assert.equal(text(columns), "abc d");
});

test("arrow keys move an item, and stop at the edges", () => {
  const columns = [[a, b], { grid: [] }, [c, d], []];
  const next = (column, index, key) => {
    const to = nextPlace(columns, { column, index }, key);
    return to && text(moved(columns.map((items) => (isColumn(items) ? items : [])), { column, index }, to).columns);
  };
  assert.equal(next(0, 0, "ArrowUp"), undefined);
  assert.equal(next(0, 1, "ArrowUp"), "ba  cd ");
  assert.equal(next(0, 0, "ArrowDown"), "ba  cd ");
  assert.equal(next(0, 1, "ArrowDown"), undefined);
  assert.equal(next(0, 0, "ArrowLeft"), undefined);
  // Over a column that only newer versions know.
  assert.equal(next(0, 1, "ArrowRight"), "a  cbd ");
  assert.equal(next(2, 1, "ArrowRight"), "ab  c d");
  assert.equal(next(2, 0, "ArrowLeft"), "cab  d ");
  assert.equal(next(2, 0, "Enter"), undefined);
  assert.equal(nextPlace([[a], { grid: [] }], { column: 0, index: 0 }, "ArrowRight"), undefined);
});

test("a removed column leaves its items to another one", () => {
  assert.equal(text(withoutColumn([[a], [b], [c]], 1)), "ab c");
  assert.equal(text(withoutColumn([[a], [b], [c]], 0)), "ba c");
  assert.equal(text(withoutColumn([[a]], 0)), "a");
  assert.deepEqual(withoutColumn([[a], { grid: [] }, [b]], 2), [[a, b], { grid: [] }]);
  assert.deepEqual(withoutColumn([{ grid: [] }, [b]], 1), [{ grid: [] }, [b]]);
});

test("what newer versions wrote is kept", () => {
  const content = {
    version: 2,
    theme: { dark: true },
    application: "spring",
    columns: [[a, newer, graph], { grid: [b] }]
  };
  const before = JSON.stringify(content);
  let { columns } = content;
  columns = inserted(columns, { column: 0, index: 1 }, { tweak: "x" });
  columns = replaced(columns, { column: 0, index: 3 }, { ...graph, seconds: 5 });
  columns = moved(columns, { column: 0, index: 2 }, { column: 0, index: 0 }).columns;
  columns = removed(columns, { column: 0, index: 1 });
  assert.deepEqual(withColumns(content, columns), {
    ...content,
    columns: [[newer, { tweak: "x" }, { ...graph, seconds: 5 }], { grid: [b] }]
  });
  assert.equal(JSON.stringify(content), before);
  assert.equal(withColumns({}, []).version, 1);
});

test("contents are equal whatever the order of their members", () => {
  assert.equal(
    contentText({ version: 1, columns: [[{ graph: ["a"], seconds: 1 }]] }),
    contentText({ columns: [[{ seconds: 1, graph: ["a"] }]], version: 1 })
  );
  assert.notEqual(contentText({ columns: [[a, b]] }), contentText({ columns: [[b, a]] }));
});

test("the link to a saved panel has its name and place, and the link of chosen tweaks has these", () => {
  const saved = { program: "p", panel: "Stage & light", place: "sources", view: "1", row: ["a/b/c"] };
  assert.equal(linkText(saved), "#program=p&panel=Stage+%26+light&place=sources&view=1");
  assert.deepEqual(placeOf(linkText(saved)), { program: "p", panel: "Stage & light", place: "sources", view: "1" });
  assert.equal(
    linkText({ program: "p", panel: "Old", row: ["a/b/c", "d/e/f"] }),
    "#program=p&panel=Old&row=a%2Fb%2Fc&row=d%2Fe%2Ff"
  );
});
