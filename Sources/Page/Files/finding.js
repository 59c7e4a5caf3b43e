// SPDX-License-Identifier: BSD-3-Clause

// Decides which tweaks the list shows, in which order and under which headings. Pure.

import { currentValue, depthOf, isChanged, isExpired, isSet, valueText } from "./tweaks.js";
import { isInteger, isReal } from "./numbers.js";
import { shown } from "./names.js";

/**
 * The filters: name, label, and whether a tweak passes.
 *
 * @type {[string, string, (tweak: any, context: any) => boolean][]}
 */
export const filters = [
  ["changed", "Changed", isChanged],
  ["starred", "Starred", (tweak, { stars }) => stars.has(tweak.id)],
  ["restart", "Needs restart", (tweak) => Boolean(tweak.needsRestart)],
  ["waiting", "Waiting for a restart", (tweak) => tweak.pendingValue !== undefined],
  ["expired", "Expired", (tweak) => isExpired(tweak)],
  ["monitors", "Monitors", (tweak) => Boolean(tweak.monitor)],
  ["readonly", "Read-only", (tweak) => Boolean(tweak.readOnly) && !tweak.monitor],
  ["actions", "Actions", (tweak) => tweak.type === "action"]
];
const filterByName = new Map(filters.map((filter) => [filter[0], filter]));

/**
 * The kinds of types to filter by: name, label, and whether a type belongs to the kind.
 *
 * @type {[string, string, (type: string) => boolean][]}
 */
export const typeKinds = [
  ["bool", "Switches", (type) => type === "bool"],
  ["integer", "Integers", isInteger],
  ["real", "Real numbers", isReal],
  ["string", "Strings", (type) => type === "string"],
  ["color", "Colours", (type) => type === "color"],
  ["action", "Actions", (type) => type === "action"]
];

/** The words of a search, all of which must match. Quotes keep words together. */
export function wordsOf(text) {
  return [...text.toLowerCase().matchAll(/"([^"]*)"?|(\S+)/g)].map((match) => match[1] ?? match[2]).filter(Boolean);
}

/** Whether a tweak matches all words, in its description or its value; with `isLoose` also if they are mistyped. */
export function hasWords(tweak, words, isLoose = false) {
  return words.every((word) =>
    tweak.haystack.includes(word) || valueHaystack(tweak).includes(word) || (isLoose && isLike(tweak, word))
  );
}

const tokensOf = (text) => text.split(/[^\p{L}\p{N}]+/u).filter(Boolean);

/** Whether all words of a search begin words of a label. */
export function isMeant(label, words) {
  const tokens = tokensOf(label.toLowerCase());
  return words.every((word) => tokens.some((token) => token.startsWith(word)));
}

/** Whether a word is like the beginning of one that describes a tweak: one letter of four differs, or two of eight. */
function isLike(tweak, word) {
  const most = word.length < 4 ? 0 : word.length < 8 ? 1 : 2;
  tweak.tokens ??= tokensOf(tweak.haystack);
  return most > 0 && tweak.tokens.some((token) => typingErrors(word, token) <= most);
}

/**
 * The letters missing, added, replaced or swapped in a word, compared with the beginning of another one that is
 * nearest.
 */
export function typingErrors(word, other) {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  let before = row;
  for (let at = 1; at <= word.length; at += 1) {
    const next = [at];
    for (let to = 1; to <= other.length; to += 1) {
      next[to] = Math.min(row[to] + 1, next[to - 1] + 1, row[to - 1] + (word[at - 1] === other[to - 1] ? 0 : 1));
      if (at > 1 && to > 1 && word[at - 1] === other[to - 2] && word[at - 2] === other[to - 1])
        next[to] = Math.min(next[to], before[to - 2] + 1);
    }
    [before, row] = [row, next];
  }
  return Math.min(...row);
}

/** The searchable text of the current value, cached until the value changes. */
function valueHaystack(tweak) {
  const value = currentValue(tweak);
  if (tweak.searched === undefined || tweak.searchedValue !== value) {
    tweak.searchedValue = value;
    tweak.searched = valueText(tweak, value).toLowerCase();
    if (tweak.choices) tweak.searched += `\n${valueText(tweak, value, { label: false }).toLowerCase()}`;
  }
  return tweak.searched;
}

/** Whether a tweak matches a query of words, shows (names of filters), source and kind. */
export function isWanted(tweak, query, context) {
  for (const name of query.shows) {
    const filter = filterByName.get(name);
    if (filter && !filter[2](tweak, context)) return false;
  }
  if (query.source && tweak.source !== query.source) return false;
  if (query.kind) {
    const kind = typeKinds.find(([name]) => name === query.kind);
    if (kind && !kind[2](tweak.type)) return false;
  }
  return hasWords(tweak, query.words, query.isLoose);
}

/** Whether a tweak can start or stop matching when its value changes. */
export const dependsOnValues = (query) =>
  query.words.length > 0 || Boolean(query.source) ||
  query.shows.some((name) => name === "changed" || name === "waiting");

export const isEmptyQuery = (query) =>
  query.words.length === 0 && query.shows.length === 0 && !query.source && !query.kind;

export function isInScope(tweak, scope) {
  if (scope.row) return scope.row.includes(tweak.key);
  if (scope.group !== undefined) return (tweak.group ?? "") === scope.group;
  if (scope.category !== undefined && tweak.category !== scope.category) return false;
  return scope.collection === undefined || tweak.collection === scope.collection;
}

const collator = new Intl.Collator("en", { numeric: true });

/** Programs as they are listed: running ones first, in the order of their names and processes. */
export const sortedPrograms = (programs) =>
  [...programs].sort((one, other) =>
    Number(one.state === "offline") - Number(other.state === "offline") ||
    compareTexts(one.description.name, other.description.name) ||
    (one.description.pid ?? 0) - (other.description.pid ?? 0) || compareTexts(one.id, other.id)
  );

const sorters = new WeakMap();

/**
 * The tweaks of a program sorted by category and collection, or by group, cached until the program's tweaks are
 * replaced.
 */
export function sortedTweaks(program, byGroup = false) {
  let kept = sorters.get(program.tweaks);
  if (!kept) sorters.set(program.tweaks, kept = {});
  kept[byGroup ? "groups" : "categories"] ??= sorted([...program.tweaks.values()], byGroup);
  return kept[byGroup ? "groups" : "categories"];
}

/** Sorts by the ranks of names, because there are few names among many tweaks. */
function sorted(tweaks, byGroup) {
  const groups = ranksOf(tweaks, byGroup ? (tweak) => tweak.group ?? "" : () => "");
  const categories = ranksOf(tweaks, (tweak) => tweak.category);
  const collections = ranksOf(tweaks, (tweak) => tweak.collection);
  return tweaks.map((tweak) => ({
    tweak,
    group: groups.get(tweak.group ?? "") ?? 0,
    category: categories.get(tweak.category),
    collection: collections.get(tweak.collection)
  })).sort((a, b) =>
    a.group - b.group || a.category - b.category || a.collection - b.collection ||
    compareInside(a.tweak, b.tweak)
  ).map(({ tweak }) => tweak);
}

/** The position of each name in sorted order, the empty name last. */
function ranksOf(tweaks, nameOf) {
  const names = [...new Set(tweaks.map(nameOf))].sort((a, b) =>
    Number(a === "") - Number(b === "") || compareTexts(a, b)
  );
  return new Map(names.map((name, rank) => [name, rank]));
}

function compareTexts(a, b) {
  return a === b ? 0 : collator.compare(a, b) || (a < b ? -1 : 1);
}

/** Compares by declaration order, except that parts of a feature follow the feature. */
function compareInside(a, b) {
  if (!a.isFeature || !b.isFeature) return a.order - b.order;
  if (a.name === "enabled" || b.name === "enabled") return a.name === "enabled" ? -1 : 1;
  const [one, other] = [a.name.split("/"), b.name.split("/")];
  for (let level = 0; level < Math.min(one.length, other.length); level += 1) {
    const order = compareTexts(one[level], other[level]);
    if (order !== 0) return order;
  }
  return one.length - other.length;
}

/** A list in which one element has moved to the place of another one. */
export function movedTo(list, element, other) {
  const [from, to] = [list.indexOf(element), list.indexOf(other)];
  if (from < 0 || to < 0) return list;
  const rest = list.filter((one) => one !== element);
  rest.splice(to, 0, element);
  return rest;
}

/** Sorts tweaks by the place of their name in a list. */
function ordered(tweaks, names, nameOf) {
  const places = new Map([...names].map((name, index) => [name, index]));
  return [...tweaks].sort((a, b) => (places.get(nameOf(a)) ?? 0) - (places.get(nameOf(b)) ?? 0));
}

/**
 * The headings and rows of the list, from top to bottom: starred tweaks first, in their order. A panel has no headings.
 *
 * - programs: the programs to show.
 * - keep: IDs of tweaks to show even if they no longer match, so that no row vanishes while it is in use.
 */
export function listItems(programs, scope, query, context, keep) {
  const items = [];
  const shownIds = new Set();
  let [count, total] = [0, 0];
  const byGroup = context.byGroup;
  for (const program of programs) {
    const wanted = [];
    for (const tweak of sortedTweaks(program, byGroup)) {
      if (!isInScope(tweak, scope)) continue;
      total += 1;
      if (!(keep?.has(tweak.id) || isWanted(tweak, query, context))) continue;
      wanted.push(tweak);
    }
    if (programs.length > 1 && (wanted.length > 0 || isEmptyQuery(query))) {
      items.push({ kind: "program", id: `p\n${program.id}`, program, count: wanted.length });
    }
    const add = (tweak, isApart) => {
      items.push({ kind: "row", id: tweak.id, tweak, depth: isApart ? 0 : depthOf(tweak) });
      shownIds.add(tweak.id);
      count += 1;
    };
    if (scope.row) {
      for (const tweak of ordered(wanted, scope.row, ({ key }) => key)) add(tweak, true);
      continue;
    }
    const isStarred = ({ id }) => context.stars.has(id);
    const starred = ordered(wanted.filter(isStarred), context.stars, ({ id }) => id);
    if (starred.length > 0) items.push({ kind: "heading", id: `s\n${program.id}`, program, isStarred: true });
    for (const tweak of starred) add(tweak, true);
    let heading;
    for (const tweak of wanted) {
      if (isStarred(tweak)) continue;
      const name = byGroup ? (tweak.group ?? "") : `${tweak.category}\n${tweak.collection}`;
      if (name !== heading) {
        heading = name;
        items.push({
          kind: "heading",
          id: `h\n${program.id}\n${name}`,
          program,
          category: tweak.category,
          collection: tweak.collection,
          group: byGroup ? (tweak.group ?? "") : undefined
        });
      }
      add(tweak, false);
    }
  }
  return { items, shownIds, count, total };
}

/** The outline of a program: categories with their collections, or groups, each with the number of changed tweaks. */
export function outlineOf(program, byGroup) {
  /** @type {any[]} */
  const nodes = [];
  /** @type {any} */
  let category;
  /** @type {any} */
  let collection;
  for (const tweak of sortedTweaks(program, byGroup)) {
    const changed = isSet(tweak) ? 1 : 0;
    if (byGroup) {
      const group = tweak.group ?? "";
      if (category?.group !== group) {
        category = { group, label: group ? shown(group) : "No group", count: 0, changed: 0, children: [] };
        nodes.push(category);
      }
    } else {
      if (category?.category !== tweak.category) {
        category = {
          category: tweak.category,
          label: shown(tweak.category) || "(no name)",
          count: 0,
          changed: 0,
          children: []
        };
        collection = undefined;
        nodes.push(category);
      }
      if (collection?.collection !== tweak.collection) {
        collection = {
          category: tweak.category,
          collection: tweak.collection,
          label: shown(tweak.collection) || "(no name)",
          count: 0,
          changed: 0,
          children: []
        };
        category.children.push(collection);
      }
      collection.count += 1;
      collection.changed += changed;
    }
    category.count += 1;
    category.changed += changed;
  }
  return nodes;
}
