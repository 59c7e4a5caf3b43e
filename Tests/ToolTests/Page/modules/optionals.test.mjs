// SPDX-License-Identifier: BSD-3-Clause

// Tweaks that can have no value.

import assert from "node:assert/strict";
import test from "node:test";
import {
  declarationInC,
  declarationInSwift,
  nestedJSON,
  shellCommand
} from "../../../../Sources/Page/Files/copying.js";
import { driven, Takeover } from "../../../../Sources/Page/Files/knobs.js";
import { none, onStep, positionOf, sliderRange, stepped } from "../../../../Sources/Page/Files/numbers.js";
import {
  currentValue,
  isChanged,
  isDrawable,
  isNone,
  partnerName,
  requestValue,
  tweakFrom,
  valueFrom,
  valueText
} from "../../../../Sources/Page/Files/tweaks.js";

const made = (type, more = {}) =>
  tweakFrom("p", {
    tweak: "A/B/X",
    category: "A",
    collection: "B",
    name: "X",
    type,
    default: none,
    value: none,
    optional: true,
    ...more
  }, 0);

test("no value is none, whatever the type", () => {
  for (const type of ["double", "float", "int64", "bool", "string"]) {
    const tweak = made(type);
    assert.equal(tweak.value, none);
    assert(isNone(tweak, currentValue(tweak)) && !isChanged(tweak) && !isDrawable(tweak));
    assert.equal(valueText(tweak, none), "none");
    assert.equal(partnerName(tweak), undefined);
    assert(isChanged({ ...tweak, value: 1 }));
    assert(isNone(tweak, currentValue({ ...tweak, value: 1, pendingValue: valueFrom(type, none) })));
  }
  assert.deepEqual(requestValue(made("double"), none), { text: none });
  assert.deepEqual(requestValue(made("bool"), none), { value: none });
  assert(!isNone(made("string", { optional: undefined }), none));
});

test("sliders, keys and knobs move no value from the default, or the number nearest to 0", () => {
  const limit = made("double", { minimum: 2, maximum: 10, unit: "A" });
  assert.equal(positionOf(limit, none), 0);
  assert.equal(stepped(limit, none, 1), 2.01);
  assert.equal(stepped(made("double", { default: 5 }), none, 1, "coarse"), 6);
  assert.equal(valueText(limit, none), "none");
  const wide = made("int64", { step: 2 });
  assert.equal(stepped(wide, none, 1), 2n);
  assert.equal(onStep(wide, 5n), 6n);
  assert.deepEqual(sliderRange(made("double")), { low: -1, high: 1, isGuess: true });
  assert.equal(new Takeover().value(limit, 0.5), 6);
  assert.equal(driven(limit, undefined, 1, 1).value, 6);
});

test("no value is copied as nil, and as the text none", () => {
  const limit = made("double", { minimum: 0.1, maximum: 2 });
  assert.equal(declarationInSwift(limit, none, []), '#tweak("A", "B", "X", default: nil, in: 0.1...2) as Double?');
  assert.equal(declarationInSwift(made("float"), 0.5, []), '#tweak("A", "B", "X", default: .some(0.5)) as Float?');
  assert.equal(declarationInSwift(made("bool"), true, []), '#tweak("A", "B", "X", default: .some(true)) as Bool?');
  assert.equal(
    declarationInSwift(made("string"), "\\none", []),
    '#tweak("A", "B", "X", default: .some("none")) as String?'
  );
  assert.equal(declarationInC(limit, none, []), '// "A/B/X" is optional, which only Swift can declare.');
  assert.equal(
    nestedJSON([{ tweak: limit, value: none }]),
    '{\n  "A": {\n    "B": {\n      "X": "none"\n    }\n  }\n}'
  );
  assert.equal(shellCommand({ id: "p", description: {} }, limit, none), "tweak set p A/B/X none");
});
