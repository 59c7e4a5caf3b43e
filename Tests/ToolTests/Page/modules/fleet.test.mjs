// SPDX-License-Identifier: BSD-3-Clause

// The rows and the texts of a fleet.

import assert from "node:assert/strict";
import { test } from "node:test";
import { hostProblems, hostsSummary, revisionText, rolloutsSummary } from "../../../../Sources/Page/Files/fleet/hosts.js";
import { agoText, allowedText, argumentFor, controlFor, groupOf, labelOf, matches, partsOf, partTexts, rowsOf, stateText } from "../../../../Sources/Page/Files/fleet/values.js";

const contents = {
  tweaks: [{ tweak: "Search/Index/Limit", value: 5, for: { percentage: 10 }, by: "ann", why: "go live" }, { tweak: "A/B/C", value: "x" }],
  kills: [{ tweak: "Features/fast/enabled", value: false, by: "bob", why: "broken" }],
};
const declared = new Map([["Search/Index/Limit", { type: "int32", minimum: 0, maximum: 10 }], ["Search/Index/Mode", { type: "string", choices: [] }], ["Search/State/Load", { type: "double", monitor: true }]]);

test("rows are values and kills, and on request what is declared", () => {
  assert.deepEqual(rowsOf(contents, declared).map(({ tweak }) => tweak), ["A/B/C", "Features/fast/enabled", "Search/Index/Limit"]);
  assert.deepEqual(rowsOf(contents, declared, true).map(({ tweak }) => tweak), ["A/B/C", "Features/fast/enabled", "Search/Index/Limit", "Search/Index/Mode"]);
  assert.equal(rowsOf(contents, declared)[2].declaration.maximum, 10);
  assert.deepEqual(rowsOf(undefined), []);
});

test("a search finds names, values, authors and reasons", () => {
  const found = (...words) => rowsOf(contents).filter((row) => matches(row, words)).map(({ tweak }) => tweak);
  assert.deepEqual(found("limit"), ["Search/Index/Limit"]);
  assert.deepEqual(found("ann", "live"), ["Search/Index/Limit"]);
  assert.deepEqual(found("killed"), ["Features/fast/enabled"]);
  assert.deepEqual(found("ann", "bob"), []);
});

test("values have the hosts they are for", () => {
  assert.equal(stateText(5, { percentage: 10, "only-os": ["debian 12"] }), '5 for 10 %, only-os ["debian 12"]');
  assert.equal(stateText("a\u202eb"), '"a\\u{202e}b"');
  assert.equal(stateText(undefined, undefined), "none");
  assert.equal(stateText(5, { percentage: 10 }, { value: 4 }), "5 for 10 %, otherwise 4");
});

test("a change has its kills last, in words", () => {
  const parts = partsOf({ changes: [{ tweak: "A/B/C", oldValue: 1, newValue: null }], kills: [{ tweak: "A/B/D", oldValue: null, newValue: false }, { tweak: "A/B/E", oldValue: false, newValue: null }] });
  assert.deepEqual(parts.map(partTexts), [["1", "none"], ["not killed", "killed"], ["killed", "no longer killed"]]);
  assert.deepEqual(partTexts({ oldProblem: "[] is no value", newValue: 1 }), ["unusable", "1"]);
});

test("hosts and rollouts are summarized, and their problems told", () => {
  assert.equal(hostsSummary(undefined), undefined);
  assert.equal(hostsSummary({ known: 0, current: 0 }), undefined);
  assert.deepEqual(hostsSummary({ known: 3, current: 2 }), { text: "2 of 3 hosts up to date", isWarning: true });
  assert.deepEqual(rolloutsSummary([{ state: "running" }, { state: "finished" }]), { text: "1 rollout", isWarning: false });
  assert.equal(rolloutsSummary([{ state: "aborted" }]), undefined);
  assert.deepEqual(hostProblems({ state: "silent", refused: [{ tweak: "A/B/C", reason: "too large", build: "0123456789abcdef.77" }], more: 2, sources: [{ source: "remote", problem: "no answer" }, { source: "fleet" }] }),
    ["silent", "refuses A/B/C: too large (build 0123456789ab)", "refuses 2 more", "cannot load from remote: no answer"]);
});

test("a host is told by the revision of its newest change", () => {
  assert.equal(revisionText({ version: 17, revision: 110, newestRevision: 98 }), "revision 98");
  assert.equal(revisionText({ version: 3, revision: 20 }), "an older revision");
  assert.equal(revisionText({ version: 0, revision: 20 }), "no change yet");
});

test("the switch of a feature is named as the feature", () => {
  assert.equal(labelOf("Features/fast/enabled"), "fast");
  assert.equal(labelOf("A/B/50%25%2Fday"), "50%/day");
  assert.deepEqual(["Features/fast/enabled", "Features/fast/Depth"].map(groupOf), ["Features", "Features › fast"]);
});

test("times are told as how long ago they are", () => {
  const now = Date.parse("2026-11-25T12:00:00Z");
  assert.deepEqual(["2026-11-25T11:59:50Z", "2026-11-25T11:20:00Z", "2026-11-25T02:00:00Z", "2026-11-24T02:00:00Z", "2026-11-20T12:00:00Z", "2025-11-20T12:00:00Z", "soon"].map((at) => agoText(at, now)),
    ["just now", "40 min ago", "10 h ago", "yesterday", "5 days ago", "2025-11-20", "soon"]);
});

test("a control follows the declaration, or else the value", () => {
  assert.equal(controlFor({ type: "bool" }), "switch");
  assert.equal(controlFor({ type: "string", choices: [] }), "choice");
  assert.equal(controlFor(undefined, 5), "number");
  assert.equal(controlFor(undefined, "red"), "text");
  assert.equal(controlFor(undefined, undefined), "json");
  assert.equal(argumentFor('say "x"', "text"), '"say \\"x\\""');
  assert.equal(argumentFor("red", "text", { type: "string" }), "red");
  assert.equal(allowedText({ type: "int32", minimum: 0, maximum: 10 }), "int32, 0 to 10");
  assert.equal(allowedText({ type: "double", maximum: 2, optional: true }), "double, at most 2, or none");
});
