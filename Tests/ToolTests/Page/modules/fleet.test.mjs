// SPDX-License-Identifier: BSD-3-Clause

// The rows and the texts of a fleet.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  buildTexts,
  holdingCounts,
  holdingText,
  hostCounts,
  hostProblems,
  revisionText
} from "../../../../Sources/Page/Files/fleet/hosts.js";
import { nextText } from "../../../../Sources/Page/Files/fleet/rollouts.js";
import {
  agoText,
  allowedText,
  argumentFor,
  controlFor,
  effectText,
  groupOf,
  labelOf,
  matches,
  partsOf,
  partTexts,
  rowsOf,
  stageOf,
  stateText
} from "../../../../Sources/Page/Files/fleet/values.js";

const contents = {
  tweaks: [{ tweak: "Search/Index/Limit", value: 5, for: { percentage: 10 }, by: "ann", why: "go live" }, {
    tweak: "A/B/C",
    value: "x"
  }],
  kills: [{ tweak: "Features/fast/enabled", value: false, by: "bob", why: "broken" }]
};
const declared = new Map([["Search/Index/Limit", { type: "int32", minimum: 0, maximum: 10 }], ["Search/Index/Mode", {
  type: "string",
  choices: []
}], ["Search/State/Load", { type: "double", monitor: true }]]);

test("rows are values and kills, and on request what is declared", () => {
  assert.deepEqual(rowsOf(contents, declared).map(({ tweak }) => tweak), [
    "A/B/C",
    "Features/fast/enabled",
    "Search/Index/Limit"
  ]);
  assert.deepEqual(rowsOf(contents, declared, true).map(({ tweak }) => tweak), [
    "A/B/C",
    "Features/fast/enabled",
    "Search/Index/Limit",
    "Search/Index/Mode"
  ]);
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
  const parts = partsOf({
    changes: [{ tweak: "A/B/C", oldValue: 1, newValue: null }],
    kills: [{ tweak: "A/B/D", oldValue: null, newValue: false }, { tweak: "A/B/E", oldValue: false, newValue: null }]
  });
  assert.deepEqual(parts.map(partTexts), [["1", "none"], ["not killed", "killed"], ["killed", "no longer killed"]]);
  assert.deepEqual(partTexts({ oldProblem: "[] is no value", newValue: 1 }), ["unusable", "1"]);
});

test("hosts are counted by their states, and their problems told", () => {
  assert.deepEqual(hostCounts(undefined), []);
  assert.deepEqual(
    hostCounts({ hosts: ["silent", "current", "refuses", "current"].map((state) => ({ state })) }).map((
      { state, text }
    ) => [state, text]),
    [["current", "2 have it"], ["silent", "1 is silent"], ["refuses", "1 refuses values"]]
  );
  assert.deepEqual(
    hostProblems({
      state: "silent",
      refused: [{ tweak: "A/B/C", reason: "too large", build: "0123456789abcdef.77" }],
      more: 2,
      sources: [{ source: "remote", problem: "no answer" }, { source: "fleet" }]
    }),
    ["silent", "refuses A/B/C: too large (build 0123456789ab)", "refuses 2 more", "cannot load from remote: no answer"]
  );
});

test("what hosts have of a tweak is told and counted, and their builds", () => {
  const hosts = [{ kind: "value", value: 5 }, { kind: "killed" }, { kind: "none" }, { kind: "unknown" }, {
    kind: "value",
    value: 5
  }].map((has) => ({ has }));
  assert.deepEqual(hosts.map(holdingText), ["5", "off: killed", "no value for it", "not known", "5"]);
  assert.deepEqual(holdingCounts(hosts), [
    "2 hosts: 5",
    "1 host: off: killed",
    "1 host: no value for it",
    "1 host: not known"
  ]);
  assert.deepEqual(buildTexts({ builds: [{ program: "/usr/bin/search", build: "0123456789abcdef.77" }] }), [
    "search 0123456789ab"
  ]);
});

test("the next step of a rollout is told, or why there is none", () => {
  const running = { state: "running", steps: [1, 10, 100], done: 1, nextIn: 90, leader: "root@web1" };
  assert.equal(nextText(running), "10 % in 90 s");
  assert.equal(nextText({ ...running, nextIn: 0, done: 3 }), "the end now");
  assert.equal(nextText({ ...running, leader: undefined }), "no agent is running it yet");
  assert.equal(nextText({ ...running, leader: undefined, attended: true }), "no process is running it");
  assert.equal(nextText({ ...running, state: "paused", reason: "a host is silent" }), "paused: a host is silent");
});

test("the stage of an environment is known from its name", () => {
  assert.deepEqual(["production", "Prod-eu", "live", "staging", "product", "test"].map(stageOf), [
    "production",
    "production",
    "production",
    "staging",
    "",
    ""
  ]);
});

test("a kill decides before a value", () => {
  assert.equal(effectText({ entry: { value: true }, kill: { value: false } }), "off");
  assert.equal(effectText({ entry: { value: 5 }, declaration: { unit: "MB" } }), "5 MB");
  assert.equal(effectText({}), "no value");
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
  assert.deepEqual(
    [
      "2026-11-25T11:59:50Z",
      "2026-11-25T11:20:00Z",
      "2026-11-25T02:00:00Z",
      "2026-11-24T02:00:00Z",
      "2026-11-20T12:00:00Z",
      "2025-11-20T12:00:00Z",
      "soon"
    ].map((at) => agoText(at, now)),
    ["just now", "40 min ago", "10 h ago", "yesterday", "5 days ago", "2025-11-20", "soon"]
  );
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
