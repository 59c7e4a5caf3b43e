// SPDX-License-Identifier: BSD-3-Clause

// Reads, checks and changes the content of a panel, its columns of tweaks, graphs and headings. Pure.
//
// Members and items of newer versions are kept as they are, so that saving a panel loses nothing of them.

/** The version of the format that this page writes. */
export const version = 1;
/** The most columns that can be added. */
export const mostColumns = 6;
const usualSeconds = 10;
const longestSeconds = 600;

/** The content of a new panel. */
export const emptyContent = () => ({ version, columns: [[], []] });

/** Why the content of a panel cannot be shown; empty if it can. */
export function problemOf(content) {
  if (!Array.isArray(content?.columns)) return "The panel has no list of columns.";
  return "";
}

const isTexts = (list) => Array.isArray(list) && list.every((one) => typeof one === "string");

/** What an item is: "tweak", "graph", "heading", or "newer" if this page does not know it. */
export function kindOf(item) {
  if (typeof item?.tweak === "string") return "tweak";
  if (isTexts(item?.graph)) return "graph";
  if (typeof item?.heading === "string") return "heading";
  return "newer";
}

/** Whether this page can show and change a column. */
export const isColumn = (column) => Array.isArray(column);

/** The time that a graph shows, in seconds. */
export const secondsOf = (
  { seconds }
) => (typeof seconds === "number" && seconds > 0 ? Math.min(seconds, longestSeconds) : usualSeconds);

/** The keys of the tweaks with rows, each once. */
export const keysOf = (
  columns
) => [...new Set(columns.filter(isColumn).flat().filter((item) => kindOf(item) === "tweak").map(({ tweak }) => tweak))];

/** The keys of the tweaks on graphs, each once. */
export const linesOf = (
  columns
) => [
  ...new Set(columns.filter(isColumn).flat().filter((item) => kindOf(item) === "graph").flatMap(({ graph }) => graph))
];

/** Replaces items of one column. Columns are never changed in place. */
const changed = (columns, column, change) =>
  columns.map((items, index) => {
    if (index !== column) return items;
    const copy = [...items];
    change(copy);
    return copy;
  });

/** The columns with items inserted before an index. */
export const inserted = (columns, { column, index }, ...items) =>
  changed(columns, column, (copy) => copy.splice(index, 0, ...items));

/** The columns without an item. */
export const removed = (columns, { column, index }) => changed(columns, column, (copy) => copy.splice(index, 1));

/** The columns with another item in the place of one. */
export const replaced = (columns, { column, index }, item) =>
  changed(columns, column, (copy) => copy.splice(index, 1, item));

/**
 * Moves an item before another one, or to the end of a column. Returns the new columns and the new place.
 *
 * - to: the place, counted while the item is still where it was.
 */
export function moved(columns, from, to) {
  const item = columns[from.column][from.index];
  const isBehind = to.column === from.column && to.index > from.index;
  const rest = removed(columns, from);
  const place = { column: to.column, index: Math.min(rest[to.column].length, to.index - (isBehind ? 1 : 0)) };
  return { columns: inserted(rest, place, item), place };
}

/** The place to which an arrow key moves an item, as `moved` takes it; undefined at the edges. */
export function nextPlace(columns, { column, index }, key) {
  if (key === "ArrowUp") return index > 0 ? { column, index: index - 1 } : undefined;
  if (key === "ArrowDown") return index + 1 < columns[column].length ? { column, index: index + 2 } : undefined;
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (!step) return undefined;
  let other = column + step;
  while (other >= 0 && other < columns.length && !isColumn(columns[other])) other += step;
  return columns[other] && { column: other, index: Math.min(index, columns[other].length) };
}

/** The columns without one, whose items go to the end of the column before it, or of the one after it. */
export function withoutColumn(columns, column) {
  const others = columns.map((_, index) => index).filter((index) => index !== column && isColumn(columns[index]));
  const heir = others.filter((index) => index < column).at(-1) ?? others[0];
  if (heir === undefined) return columns;
  const items = columns[column];
  return changed(columns, heir, (copy) => copy.push(...items)).filter((_, index) => index !== column);
}

/** The content with other columns. Its other members stay. */
export const withColumns = (content, columns) => ({ ...content, version: content.version ?? version, columns });

/** A text that is the same for equal contents, whatever the order of their members. */
export function contentText(content) {
  const sorted = (_, value) =>
    value && typeof value === "object" && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value;
  return JSON.stringify(content, sorted);
}
