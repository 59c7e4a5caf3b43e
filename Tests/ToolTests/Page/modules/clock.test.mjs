// SPDX-License-Identifier: BSD-3-Clause

// The server's clock as the page estimates it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ServerClock } from "../../../../Sources/Page/Files/clock.js";

test("the server's clock is unknown until it is heard, and again with another server", () => {
  const clock = new ServerClock();
  assert.equal(clock.at(100), undefined);
  clock.hear(5000, 100);
  assert.equal(clock.at(100), 5000);
  clock.forget();
  assert.equal(clock.at(200), undefined);
  clock.hear(70, 200);
  assert.equal(clock.at(201), 71);
});

test("a time that was held up on the way does not set the clock back", () => {
  const clock = new ServerClock();
  clock.hear(5000, 100);
  // Sent two seconds after the first, and 30 s on its way.
  clock.hear(7000, 32100);
  const late = 5000 + 32000 - clock.at(32100);
  assert.ok(late >= 0 && late < 100, `${late}`);
});

test("the estimate follows a page whose clock is fast, and is never in the future for long", () => {
  const clock = new ServerClock();
  let worst = 0;
  for (let time = 0; time < 86400000; time += 2000) {
    // 200 parts in a million.
    const now = time * 1.0002;
    clock.hear(time, now);
    worst = Math.max(worst, clock.at(now) - time);
  }
  assert.ok(worst <= 2, `${worst}`);
});
