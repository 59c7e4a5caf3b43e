// SPDX-License-Identifier: BSD-3-Clause

// The server's clock, so that it can refuse requests that were held up. Pure.

/** How long the server may be silent, and a change unanswered, in ms. The server sends an event every 2 s. */
export const patience = 5000;
export const noAnswer = `tweak ui did not answer for ${patience / 1000} s`;
/** By how much the clocks of two machines may drift apart, in ms for each ms. */
const drift = 0.001;

/**
 * Estimates the server's clock from the times that it sends. The estimate is never late, and early by the time on the
 * way.
 */
export class ServerClock {
  #offset;
  #heard = 0;

  /** Notes that the server's clock showed `time` at the moment `now` or before, both in ms. */
  hear(time, now) {
    const kept = this.#offset - (now - this.#heard) * drift;
    this.#offset = kept > time - now ? kept : time - now;
    this.#heard = now;
  }

  /** Forgets the times of another server. */
  forget() {
    this.#offset = undefined;
  }

  /** What the server's clock shows at a moment; undefined before it was heard. */
  at(now) {
    return this.#offset === undefined ? undefined : Math.floor(now + this.#offset);
  }
}
