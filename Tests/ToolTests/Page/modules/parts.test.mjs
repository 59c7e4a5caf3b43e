// SPDX-License-Identifier: BSD-3-Clause

// Which parts of the page use which.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const folder = new URL("../../../../Sources/Page/Files/", import.meta.url);
const textOf = (path) => readFileSync(new URL(path, folder), "utf8");
const page = textOf("page.js");

/** The parts by name, in the order in which they are made, each with the names of the parts that it takes. */
function partsOfPage() {
  const modules = new Map(
    [...page.matchAll(/^import \{ ([^}]+) \} from "\.\/([^"]+)";/gm)].flatMap(([, names, path]) =>
      names.split(", ").map((name) => [name, path])
    )
  );
  const parts = new Map();
  for (const [, name, made] of page.matchAll(/^ {2}(\w+) = (.+?);$/gms)) {
    const taken = [...made.matchAll(/\bthis\.(\w+)/g)].map(([, part]) => part);
    for (const [, maker] of made.matchAll(/(\w+)\(this[,)]/g)) {
      const pattern = new RegExp(`(?:function ${maker}|class ${maker} .*?constructor)\\(\\s*\\{([^}]*)\\}`, "s");
      const found = pattern.exec(textOf(modules.get(maker)));
      assert.ok(found, `${maker} does not say which parts it takes`);
      taken.push(...found[1].split(",").map((part) => part.trim()).filter(Boolean));
    }
    parts.set(name, taken);
  }
  return parts;
}

test("a part of the page takes only parts that are made before it", () => {
  const parts = partsOfPage();
  assert.ok(parts.size > 15, [...parts.keys()].join());
  const before = new Set();
  for (const [name, taken] of parts) {
    assert.deepEqual(taken.filter((part) => !before.has(part)), [], name);
    before.add(name);
  }
});

test("no part takes the whole page", () => {
  const paths = /** @type {string[]} */ (readdirSync(folder, { recursive: true }));
  const modules = paths.filter((path) => /\.js$/.test(path) && path !== "page.js" && !path.startsWith("fleet/"));
  assert.ok(modules.length > 40);
  for (const path of modules)
    assert.doesNotMatch(textOf(path), /#page\b|\(page[,)]|(?<![\w./"])page\.(?!js\b)\w/, path);
});
