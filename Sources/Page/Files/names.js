// SPDX-License-Identifier: BSD-3-Clause

// Keys of tweaks, display of untrusted text, and links to places on this page. Pure.

/** Escapes one level of a key. */
export const encodeLevel = (level) => level.replaceAll("%", "%25").replaceAll("/", "%2F");
export const keyOf = (category, collection, name) => [category, collection, name].map(encodeLevel).join("/");

// The characters that are also escaped in terminals (PrintableText.swift): those that are invisible, change the writing
// direction or stand for bytes that are not UTF-8. Joiners stay between two non-ASCII characters, as in emoji and
// Persian.
const unseen = new RegExp(
  "[\\p{Cc}\\p{Zl}\\p{Zp}\\ufffd\\u{10fe80}-\\u{10feff}]|(?![\\u200c\\u200d])\\p{Cf}|" +
    "(?<![^\\u0000-\\u007f\\u200c\\u200d])[\\u200c\\u200d]|[\\u200c\\u200d](?![^\\u0000-\\u007f\\u200c\\u200d])",
  "gu"
);
const named = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0" };

/** Whether a text contains invisible characters. */
export const hasUnseen = (text) => text.search(unseen) >= 0;

/** A text with invisible characters escaped. */
export function shown(text) {
  if (text === undefined || text === null) return "";
  return String(text).replace(
    unseen,
    (character) => named[character] ?? `\\u{${character.codePointAt(0)?.toString(16)}}`
  );
}

/** A number of things: `1 value`, `2 values`. */
export const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** A text of several lines with invisible characters escaped. */
export const linesShown = (text) => text.split("\n").map(shown).join("\n");

/** A text to edit in one line, with invisible characters and backslashes escaped. */
export const escaped = (text) => shown(text.replaceAll("\\", "\\\\"));

/** Reverses `escaped`. */
export function unescaped(text) {
  return text.replace(/\\(?:u\{([0-9a-f]{1,6})\}|(.))/gi, (all, code, character) => {
    if (code !== undefined) {
      const number = Number.parseInt(code, 16);
      return number <= 0x10ffff ? String.fromCodePoint(number) : all;
    }
    return { n: "\n", r: "\r", t: "\t", 0: "\0", "\\": "\\" }[character] ?? all;
  });
}

/** The parameters that can be there several times, in an order: the tweaks of a panel, and the lines of the graph. */
const lists = ["row", "line"];

/** The address fragment of a place on this page. */
export function linkText(place) {
  const parameters = new URLSearchParams();
  for (
    const name of [
      "program",
      "tweak",
      "category",
      "collection",
      "group",
      "panel",
      "place",
      "view",
      "row",
      "line",
      "plots",
      "across",
      "seconds",
      "rate",
      "q",
      "show"
    ]
  ) {
    if (lists.includes(name)) {
      for (const one of (name === "row" && place.place ? [] : place[name]) ?? []) parameters.append(name, one);
    } else if (place[name]) parameters.set(name, place[name]);
  }
  const text = parameters.toString();
  return text ? `#${text}` : "";
}

/** The place that a fragment names; reverses `linkText`. */
export function placeOf(fragment) {
  const parameters = new URLSearchParams(fragment.replace(/^#/, ""));
  /** @type {Record<string, any>} */
  const place = Object.fromEntries([...parameters].filter(([, value]) => value !== ""));
  for (const name of lists) if (place[name]) place[name] = parameters.getAll(name).filter(Boolean);
  return place;
}
