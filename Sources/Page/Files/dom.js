// SPDX-License-Identifier: BSD-3-Clause

// Creates elements. Strings from programs are always inserted as text, never as markup.

/**
 * Creates an element. A button submits nothing unless its type says so.
 *
 * - attributes: attributes by name, also `class`, `text`, `data` (an object) and handlers such as `onclick`. Those that
 * are
 *   undefined, null or false are left out.
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  if (tag === "button") element.setAttribute("type", "button");
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") element.className = value;
    else if (name === "text") element.textContent = value;
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity))
    if (child !== undefined && child !== null && child !== false) element.append(child);
  return element;
}

export const byID = (id) => document.getElementById(id);

/** Sets the text only if it differs, because each change costs a layout. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Sets or removes an attribute only if it differs. */
export function setAttribute(element, name, value) {
  if (value === undefined || value === null || value === false) {
    if (element.hasAttribute(name)) element.removeAttribute(name);
  } else if (element.getAttribute(name) !== String(value)) {
    element.setAttribute(name, value);
  }
}

const paths = {
  menu: "M3 5h14M3 10h14M3 15h14",
  search: "M9 3.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM13 13l4 4",
  filter: "M3 5h14M6 10h8M8.5 15h3",
  undo: "M7 4 3 8l4 4M3 8h9a5 5 0 0 1 0 10H8",
  redo: "M13 4l4 4-4 4M17 8H8a5 5 0 0 0 0 10h4",
  reset: "M4 10a6 6 0 1 0 2-4.5M6.5 2v4h-4",
  star: "M10 2.5l2.3 4.8 5.2.7-3.8 3.6.9 5.2-4.6-2.5-4.6 2.5.9-5.2L2.5 8l5.2-.7z",
  graph: "M3 3v14h14M6 13l3-4 3 2 4-6",
  more: "M5 10h.01M10 10h.01M15 10h.01",
  close: "M5 5l10 10M15 5 5 15",
  pause: "M7 4v12M13 4v12",
  plus: "M10 4v12M4 10h12",
  minus: "M4 10h12",
  box: "M3 6V3h3M14 3h3v3M17 14v3h-3M6 17H3v-3M7 7h6v6H7z",
  grip: "M7 5h.01M13 5h.01M7 10h.01M13 10h.01M7 15h.01M13 15h.01",
  pad: "M3 3h14v14H3zM3 10h14M10 3v14",
  link: "M8 12l4-4M9 6l2-2a3.5 3.5 0 0 1 5 5l-2 2M11 14l-2 2a3.5 3.5 0 0 1-5-5l2-2",
  copy: "M7 7h10v10H7zM13 7V3H3v10h4",
  camera: "M3 6h3l1.5-2h5L14 6h3v10H3zM10 8.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z",
  layers: "M10 3l7 4-7 4-7-4zM3 11l7 4 7-4",
  run: "M6 4l10 6-10 6z",
  down: "M5 8l5 5 5-5",
  people:
    "M7 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2 17c0-3 2-5 5-5s5 2 5 5M13 3.5a3 3 0 0 1 0 5.5M14.5 12.5c2 .6 3.5 2.300 3.500 4.500",
  clock: "M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM10 6v4l3 2"
};

/** An icon of 20 by 20, hidden from screen readers. */
export function icon(name) {
  if (!icons.has(name)) icons.set(name, makeIcon(name));
  return icons.get(name).cloneNode(true);
}

const icons = new Map();

function makeIcon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", paths[name] ?? "");
  svg.append(path);
  return svg;
}

/** A button with an icon and an accessible name. */
export function iconButton(name, label, onclick, attributes = {}) {
  return make("button", {
    ...attributes,
    class: `icon-button ${attributes.class ?? ""}`,
    "aria-label": label,
    title: label,
    onclick
  }, icon(name));
}

/** A button with a text. */
export const textButton = (text, onclick, attributes = {}) =>
  make("button", { class: "button", text, onclick, ...attributes });

/** A labelled menu for one side of a comparison. The options are attributes, as for `make`. */
export const sideMenu = (label, options, onchange, attributes = {}) =>
  make(
    "label",
    { class: "comparison-side" },
    make("span", { text: label }),
    make("select", { onchange, ...attributes }, options.map((option) => make("option", option)))
  );

/** Whether an element takes typed text, so that single keys are not commands. */
export function isTyping(/** @type {any} */ element = document.activeElement) {
  if (!element) return false;
  if (element.isContentEditable || element.tagName === "TEXTAREA" || element.tagName === "SELECT") return true;
  return element.tagName === "INPUT" && !["checkbox", "radio", "range", "button", "file"].includes(element.type);
}

/** The row that contains the focus. */
export const focusedRow = () => /** @type {HTMLElement | undefined} */ (document.activeElement?.closest(".row"));

let lastNumber = 0;
/** An ID unique on the page. */
export const freshID = (word) => `${word}-${(lastNumber += 1)}`;

/** Downloads a text or a picture as a file. */
export function saveFile(name, content, type) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
