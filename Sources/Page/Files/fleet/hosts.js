// SPDX-License-Identifier: BSD-3-Clause

// The dialogs with the hosts and the rollouts of an application.

import { make } from "../dom.js";
import { shown } from "../names.js";
import { openDialog } from "../popups.js";
import { labelOf, stateText } from "./values.js";

/** More hosts are left to `tweak fleet status`. */
const mostHosts = 500;
/** The order of the states of hosts: those to look at come first. */
const order = ["refuses", "behind", "silent", "current"];

/** How many hosts have the newest change, as `{ text, isWarning }`; undefined if none has reported. */
export function hostsSummary(status) {
  if (!status?.known) return undefined;
  return { text: `${status.current} of ${status.known} host${status.known === 1 ? "" : "s"} up to date`, isWarning: status.current < status.known };
}

/** How many rollouts have not ended; undefined if none. */
export function rolloutsSummary(rollouts = []) {
  const open = rollouts.filter(({ state }) => ["running", "paused"].includes(state)).length;
  return open > 0 ? { text: `${open} rollout${open === 1 ? "" : "s"}`, isWarning: rollouts.some(({ state }) => state === "paused") } : undefined;
}

/** What is wrong with a host, in lines. */
export function hostProblems({ refused = [], more, sources = [], silentSince, state }) {
  return [
    ...(state === "silent" ? [silentSince ? `silent since ${silentSince}` : "silent"] : []),
    ...refused.map(({ tweak, reason, build }) => `refuses ${tweak}: ${reason}${build ? ` (build ${build.slice(0, 12)})` : ""}`),
    ...(more ? [`refuses ${more} more`] : []),
    ...sources.filter(({ problem }) => problem).map(({ source, problem }) => `cannot load from ${source}: ${problem}`),
  ].map(shown);
}

/** The newest change that a host has. */
export const revisionText = ({ newestRevision, version }) => (newestRevision ? `revision ${newestRevision}` : version ? "an older revision" : "no change yet");

/** Shows the hosts, those with problems first. */
export function openHosts(fleet) {
  const { hosts, newestRevision } = fleet.status;
  const sorted = [...hosts].sort((one, other) => order.indexOf(one.state) - order.indexOf(other.state));
  const names = { current: "up to date", refuses: "refuses values", behind: "lacks the newest change", silent: "silent" };
  const list = make("ul", { class: "history-list" }, sorted.slice(0, mostHosts).map((host) => make("li", {},
    make("span", { class: "history-line" }, make("strong", { translate: "no", text: shown(host.host) }), make("span"),
      make("span", { class: `badge ${host.state === "current" ? "" : "warning"}`, text: names[host.state] ?? host.state })),
    hostProblems(host).map((text) => make("span", { class: "history-values", text })), make("span", { class: "who", text: revisionText(host) }))));
  openDialog(`Hosts of ${shown(fleet.application)}`, make("div", {}, make("p", { class: "who", text: newestRevision ? `The newest change is revision ${newestRevision}.` : "There are no changes yet." }), list,
    sorted.length > mostHosts ? make("p", { class: "who", text: `${sorted.length - mostHosts} more; tweak fleet status lists all` }) : undefined), [{ label: "Close", isMain: true }], { className: "wide" });
}

/** Shows the rollouts and their progress. */
export function openRollouts(fleet) {
  const nextText = (seconds) => (seconds === undefined ? "" : seconds > 0 ? `next step in ${seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`}` : "next step now");
  openDialog(`Rollouts of ${shown(fleet.application)}`, make("ul", { class: "history-list" }, fleet.rollouts.map((rollout) => make("li", {},
    make("span", { class: "history-line" }, make("strong", { translate: "no", text: labelOf(rollout.tweak), title: shown(rollout.tweak) }), make("span"), make("span", { class: `badge ${rollout.state === "running" ? "is-set" : rollout.state === "paused" ? "warning" : ""}`, text: rollout.state })),
    make("span", { class: "history-values", text: `${stateText(rollout.value, rollout.for)} on ${rollout.percentage ?? 0} % of the hosts, step ${rollout.done} of ${rollout.steps.length}` }),
    make("span", { class: "history-why", text: shown(rollout.why) }),
    make("span", { class: "who", text: [nextText(rollout.nextIn), rollout.state === "running" && !rollout.leader && (rollout.attended ? "unattended" : "no agent carries it out yet"), shown(rollout.reason), shown(rollout.by)].filter(Boolean).join(" · ") })))), [{ label: "Close", isMain: true }], { className: "wide" });
}
