// SPDX-License-Identifier: BSD-3-Clause

// The recorded values of monitors and tweaks over time, and the changes of tweaks.

const longest = 1 << 15;
const mostMarks = 2000;
/** A sample counts for at most this many intervals of sampling. After that there is a gap until the next one. */
const mostIntervals = 5;

/**
 * The values of one tweak over time. Beyond 32,768 values the oldest are dropped. Where nothing was sampled there is a gap,
 * which is a value of its own: not a number, from the time at which it begins.
 */
export class Series {
  #times = new Float64Array(256);
  #values = new Float64Array(256);
  #gaps = new Uint8Array(256);
  #begin = 0;
  /** The time until which the last value counts. */
  end = -Infinity;
  length = 0;
  /** The number of values ever added. */
  total = 0;

  /**
   * Adds a value.
   *
   * - duration: how long it counts, in seconds, if there is no later one.
   */
  add(time, value, duration = Infinity) {
    if (this.length > 0 && time > this.end) this.#put(this.end, NaN, true);
    this.#put(time, value, false);
    this.end = time + duration;
  }

  #put(time, value, isGap) {
    if (this.length === this.#times.length) {
      if (this.length < longest) this.#grow();
      else {
        this.#begin = (this.#begin + 1) % this.length;
        this.length -= 1;
      }
    }
    const at = (this.#begin + this.length) % this.#times.length;
    this.#times[at] = time;
    this.#values[at] = value;
    this.#gaps[at] = Number(isGap);
    this.length += 1;
    this.total += 1;
  }

  #grow() {
    const copy = (from) => {
      const to = new from.constructor(from.length * 2);
      to.set(from.subarray(this.#begin));
      to.set(from.subarray(0, this.#begin), from.length - this.#begin);
      return to;
    };
    this.#times = copy(this.#times);
    this.#values = copy(this.#values);
    this.#gaps = copy(this.#gaps);
    this.#begin = 0;
  }

  time(index) {
    return this.#times[(this.#begin + index) % this.#times.length];
  }

  value(index) {
    return this.#values[(this.#begin + index) % this.#values.length];
  }

  /** Whether nothing was sampled from the time at an index to the next one. */
  isGap(index) {
    return this.#gaps[(this.#begin + index) % this.#gaps.length] === 1;
  }

  get last() {
    return this.length > 0 ? this.value(this.length - 1) : undefined;
  }

  /** The index of the first value at or after a time. */
  indexAt(time) {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.time(middle) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The indices of the values that count between two times: the first one, and the one after the last. */
  indices(from, to) {
    if (this.end < from) return [0, 0];
    const next = this.indexAt(to);
    // A line leads to the next value, unless a gap is before it.
    const isReached = next < this.length && (this.time(next) === to || (next > 0 && !this.isGap(next - 1)));
    return [Math.max(0, this.indexAt(from) - 1), isReached ? next + 1 : next];
  }

  /** The value at a time, undefined if there is none. */
  valueAt(time) {
    const next = this.indexAt(time);
    const index = next < this.length && this.time(next) === time ? next : next - 1;
    return index < 0 || time > this.end || this.isGap(index) ? undefined : this.value(index);
  }
}

export class Samples {
  #series = new Map();
  /** Changes of tweaks, oldest first, as `{ time, program, key, label, text, who }`. */
  marks = [];
  #api;
  #state;
  #shown = new Set();
  #graphed = new Set();
  #asked = new Map();
  #timer = 0;
  #clockOffset = 0;
  rate = 30;
  dropped = 0;

  constructor(api, state) {
    this.#api = api;
    this.#state = state;
  }

  series(id) {
    return this.#series.get(id);
  }

  /** The time on the server, in seconds since 1970, which may differ from the clock of this machine. */
  now() {
    return Date.now() / 1000 + this.#clockOffset;
  }

  /** Sets which tweaks are visible as sparklines. */
  showing(ids) {
    this.#shown = ids;
    this.#askSoon();
  }

  /** Sets which tweaks are on the graph. They have priority. */
  graphing(ids) {
    this.#graphed = ids;
    this.#askSoon();
  }

  #askSoon() {
    if (this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      this.#ask();
    }, 60);
  }

  /** Requests all samples again, after the server has lost this page's requests. */
  askAgain() {
    this.#asked.clear();
    this.#askSoon();
  }

  async #ask() {
    if (!this.#api.stream) return;
    const wanted = new Map();
    for (const id of [...this.#graphed, ...this.#shown]) {
      const tweak = this.#state.tweakOf(id);
      const program = tweak && this.#state.programs.get(tweak.program);
      if (!program || program.state === "offline") continue;
      if (!wanted.has(program.id)) wanted.set(program.id, new Set());
      wanted.get(program.id).add(tweak.key);
    }
    for (const program of this.#asked.keys()) if (!wanted.has(program)) wanted.set(program, new Set());
    for (const [program, keys] of wanted) {
      const tweaks = [...keys].slice(0, 64);
      const text = `${this.rate} ${JSON.stringify(tweaks)}`;
      if (this.#asked.get(program) === text) continue;
      this.#asked.set(program, text);
      try {
        await this.#api.post("watch", { program, stream: this.#api.stream, tweaks, rate: this.rate });
      } catch {
        // Asked again when the program is back.
        this.#asked.delete(program);
      }
    }
  }

  /** Stores samples received from the server. */
  take({ program, tweaks, times, values, dropped = 0 }) {
    this.dropped += dropped;
    if (times.length > 0) {
      const offset = times.at(-1) - Date.now() / 1000;
      // The largest offset seen is closest to the clock difference, because messages only arrive late.
      if (Math.abs(offset) > 2) this.#clockOffset = Math.max(offset, this.#clockOffset || -Infinity);
    }
    tweaks.forEach((key, index) => {
      const id = `${program}\n${key}`;
      let series = this.#series.get(id);
      if (!series) this.#series.set(id, (series = new Series()));
      const column = values[index];
      for (let row = 0; row < times.length; row += 1) {
        const value = column[row];
        if (value === null || value === undefined) continue;
        const number = typeof value === "string" ? Number(value.replace("inf", "Infinity")) : value;
        series.add(times[row], number, mostIntervals / this.rate);
      }
    });
  }

  mark(mark) {
    this.marks.push(mark);
    if (this.marks.length > mostMarks) this.marks.splice(0, this.marks.length - mostMarks);
  }

  clear(ids) {
    for (const id of ids) this.#series.delete(id);
    this.marks = [];
  }
}
