// SPDX-License-Identifier: BSD-3-Clause

// The hosts of an application: a bar in the head, and a dialog with all of them.

import { make } from "../dom.js";
import { counted, linesShown, shown } from "../names.js";
import { openDialog } from "../popups.js";
import { agoText, labelOf, valueText, wordsOf } from "./values.js";

/** More hosts are found with the search. */
const mostHosts = 500;
/** The order of the states of hosts: those to look at come first. */
const order = ["refuses", "behind", "silent", "current"];

const words = {
  current: ["has it", "have it"],
  refuses: ["refuses values", "refuse values"],
  behind: ["lacks it", "lack it"],
  silent: ["is silent", "are silent"]
};

/** A bar of parts as `{ share, state }`, with `marks` in percent. The policy of the page allows no styles in markup. */
export function makeBar(parts, /** @type {{ label?: string, marks?: number[] }} */ { label, marks = [] } = {}) {
  const styled = (tag, attributes, property, value) => {
    const element = make(tag, attributes);
    element.style[property] = value;
    return element;
  };
  return make(
    "span",
    { class: "fleet-bar", role: label && "img", "aria-label": label, "aria-hidden": label ? undefined : "true" },
    parts.map(({ share, state }) => styled("span", { class: "fleet-part", data: { state } }, "flexGrow", share)),
    marks.map((mark) => styled("i", {}, "left", `${mark}%`))
  );
}

/** The number of hosts in each state, as `{ state, count, text }`, those that have the newest change first. */
export function hostCounts(status) {
  return [...order].reverse().map((state) => ({
    state,
    count: status?.hosts.filter((host) => host.state === state).length ?? 0
  }))
    .filter(({ count }) => count > 0).map((one) => ({
      ...one,
      text: `${one.count} ${words[one.state][one.count === 1 ? 0 : 1]}`
    }));
}

/** What is wrong with a host, in lines. */
export function hostProblems({ refused = [], more, sources = [], silentSince, state }) {
  return [
    ...(state === "silent" ? [silentSince ? `silent since ${silentSince}` : "silent"] : []),
    ...refused.map(({ tweak, reason, build }) =>
      `refuses ${tweak}: ${reason}${build ? ` (build ${build.slice(0, 12)})` : ""}`
    ),
    ...(more ? [`refuses ${more} more`] : []),
    ...sources.filter(({ problem }) => problem).map(({ source, problem }) => `cannot load from ${source}: ${problem}`)
  ].map(shown);
}

/** The newest change that a host has. */
export const revisionText = (
  { newestRevision, version }
) => (newestRevision ? `revision ${newestRevision}` : version ? "an older revision" : "no change yet");

/** The builds of the programs on a host. */
export const buildTexts = (
  { builds = [] }
) => builds.map(({ program, build }) => shown(`${program.slice(program.lastIndexOf("/") + 1)} ${build.slice(0, 12)}`));

/** What a host has of a tweak, as far as the fleet decides. */
export function holdingText({ has }) {
  const texts = { killed: "off: killed", none: "no value for it", unknown: "not known" };
  return texts[has?.kind] ?? valueText(has?.value);
}

/** How many hosts have what of a tweak, the commonest first. */
export function holdingCounts(hosts) {
  const counts = new Map();
  for (const text of hosts.map(holdingText)) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one)
    .map(([text, count]) => `${counted(count, "host")}: ${text}`);
}

/** Shows what each host has of a tweak. */
export async function openHoldings(fleet, tweak) {
  try {
    openHosts(fleet, (await fleet.ask("status", { tweak })).answer, tweak);
  } catch (error) {
    fleet.notices.problem(linesShown(error.message));
  }
}

/** Shows the hosts, those with problems first, and what they have of a tweak, if there is one. */
export function openHosts(fleet, status = fleet.status, tweak = "") {
  const { hosts, newestRevision } = status;
  const sorted = [...hosts].sort((one, other) => order.indexOf(one.state) - order.indexOf(other.state));
  const names = {
    current: "up to date",
    refuses: "refuses values",
    behind: "lacks the newest change",
    silent: "silent"
  };
  const list = make("ul", { class: "history-list" });
  const rest = make("p", { class: "who", role: "status" });
  const line = (host) =>
    make(
      "li",
      {},
      make(
        "span",
        { class: "history-line" },
        make("strong", { translate: "no", text: shown(host.host) }),
        make("span"),
        make("span", {
          class: `badge ${host.state === "current" ? "" : "warning"}`,
          text: names[host.state] ?? host.state
        })
      ),
      tweak ? make("span", { class: "history-values", text: holdingText(host) }) : undefined,
      hostProblems(host).map((text) => make("span", { class: "history-values", text })),
      make("span", {
        class: "who",
        title: shown(host.loaded),
        text: [
          revisionText(host),
          host.loaded && `loaded ${agoText(host.loaded)}`,
          host.processes !== undefined && `${host.processes} process${host.processes === 1 ? "" : "es"}`,
          ...buildTexts(host),
          shown(host.agent)
        ].filter(Boolean).join(" · ")
      })
    );
  const search = make("input", {
    type: "search",
    placeholder: "Search",
    "aria-label": "Search hosts, states, builds and problems",
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => show()
  });
  function show() {
    const wanted = wordsOf(search.value);
    const found = sorted.filter((host) => {
      const texts = [host.host, names[host.state], revisionText(host), host.agent, tweak && holdingText(host)];
      const text = [...texts, ...buildTexts(host), ...hostProblems(host)].join("\n").toLowerCase();
      return wanted.every((word) => text.includes(word));
    });
    list.replaceChildren(...found.slice(0, mostHosts).map(line));
    rest.textContent = found.length > mostHosts
      ? `${found.length - mostHosts} more; search for them`
      : wanted.length > 0
      ? `${found.length} of ${hosts.length}`
      : "";
  }
  show();
  openDialog(
    `Hosts of ${shown(fleet.application)}${tweak ? `: ${labelOf(tweak)}` : ""}`,
    make(
      "div",
      { class: "fleet-fields" },
      make("p", {
        class: "who",
        text: newestRevision ? `The newest change is revision ${newestRevision}.` : "There are no changes yet."
      }),
      tweak ? make("p", { text: `${holdingCounts(hosts).join("; ")}.` }) : undefined,
      hosts.length > 8 ? search : undefined,
      list,
      rest
    ),
    [{ label: "Close", isMain: true }],
    { className: "wide" }
  );
}
