// SPDX-License-Identifier: BSD-3-Clause

// The recorded values of monitors and tweaks over time, and the changes of tweaks.

/** The most values of a series, and of a line of the graph: a bit more than four minutes at the highest rate. */
const longest = 1 << 15;
const longestLine = 1 << 18;
const mostSeries = 128;
/** The values whose smallest and largest are known. */
export const block = 16;
const mostMarks = 2000;
/** The rates to choose from, in samples per second. */
export const rates = [30, 100, 1000];
/** A sample counts for at most this many intervals of sampling. After that there is a gap until the next one. */
const mostIntervals = 5;
/** Without gaps, in seconds, because samples arrive in groups and some of them late. */
const shortestGap = 0.05;
/** For how long samples are counted, in seconds. */
const countedSeconds = 2;

/**
 * The values of one tweak over time. Beyond the limit the oldest are dropped. Where nothing was sampled there is a gap,
 * which is a value of its own: not a number, from the time at which it begins.
 */
export class Series {
  // The sizes are powers of two.
  #times = new Float64Array(256);
  #values = new Float64Array(256);
  #gaps = new Uint8Array(256);
  /** The smallest and largest values of blocks. */
  #lows = new Float64Array(256 / block);
  #highs = new Float64Array(256 / block);
  #begin = 0;
  #limit;
  /** The time until which the last value counts. */
  end = -Infinity;
  length = 0;
  /** The number of values ever added. */
  total = 0;

  /** @param {number} limit The most values: a power of two, at least 256. */
  constructor(limit = longest) {
    this.#limit = limit;
  }

  set limit(limit) {
    this.#limit = limit;
    if (this.#times.length > limit) this.#resize(limit);
  }

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
      if (this.length < this.#limit) this.#resize(this.length * 2);
      else {
        this.#begin = this.#at(1);
        this.length -= 1;
      }
    }
    const at = this.#at(this.length);
    this.#times[at] = time;
    this.#values[at] = value;
    this.#gaps[at] = Number(isGap);
    this.#summarize(at);
    this.length += 1;
    this.total += 1;
  }

  #at(index) {
    return (this.#begin + index) & (this.#times.length - 1);
  }

  #summarize(at) {
    const place = Math.floor(at / block);
    if (at % block === 0) [this.#lows[place], this.#highs[place]] = [Infinity, -Infinity];
    const value = this.#values[at];
    if (!Number.isFinite(value)) return;
    this.#lows[place] = Math.min(this.#lows[place], value);
    this.#highs[place] = Math.max(this.#highs[place], value);
  }

  /** Keeps as many of the newest values as there is room for. */
  #resize(size) {
    const first = Math.max(0, this.length - size);
    const copy = (from) => {
      const to = new from.constructor(size);
      for (let index = first; index < this.length; index += 1) to[index - first] = from[this.#at(index)];
      return to;
    };
    [this.#times, this.#values, this.#gaps] = [copy(this.#times), copy(this.#values), copy(this.#gaps)];
    [this.#lows, this.#highs] = [new Float64Array(size / block), new Float64Array(size / block)];
    this.#begin = 0;
    this.length -= first;
    for (let at = 0; at < this.length; at += 1) this.#summarize(at);
  }

  time(index) {
    return this.#times[this.#at(index)];
  }

  value(index) {
    return this.#values[this.#at(index)];
  }

  /** Whether nothing was sampled from the time at an index to the next one. */
  isGap(index) {
    return this.#gaps[this.#at(index)] === 1;
  }

  /** The number of values from an index on, before another one, of which `low` and `high` tell: a block, or one. */
  step(index, last) {
    return index + block <= last && this.#at(index) % block === 0 ? block : 1;
  }

  /** The smallest finite value of the block that begins at an index. */
  low(index) {
    return this.#lows[this.#at(index) / block];
  }

  high(index) {
    return this.#highs[this.#at(index) / block];
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
  #measured = new Set();
  #asked = new Map();
  #timer = 0;
  #clockOffset = 0;
  /** The samples per second of programs on the graph. */
  rate = rates[0];
  /** How many samples a program gave: since a time, and per second. */
  #counts = new Map();

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
    this.#prefer();
  }

  /** Sets which tweaks are measured. They have priority, too, and are sampled as often as those on the graph. */
  measuring(ids) {
    this.#measured = ids;
    this.#prefer();
  }

  get isMeasuring() {
    return this.#measured.size > 0;
  }

  #prefer() {
    for (const [id, series] of this.#series) series.limit = this.#limitOf(id);
    this.#askSoon();
  }

  #hasPriority(id) {
    return this.#graphed.has(id) || this.#measured.has(id);
  }

  #limitOf(id) {
    return this.#hasPriority(id) ? longestLine : longest;
  }

  setRate(rate) {
    this.rate = rates.includes(rate) ? rate : rates[0];
    this.#askSoon();
  }

  /** How many samples a program gives in a second, if it cannot give as many as wanted. */
  shortage(program) {
    const { rate } = this.#asked.get(program) ?? {};
    const { given } = this.#counts.get(program) ?? {};
    return given < rate * 0.9 ? { given, rate } : undefined;
  }

  #count(program, times) {
    const last = times.at(-1);
    const count = this.#counts.get(program);
    // The first samples may still have another rate.
    if (!count || last < count.since) this.#counts.set(program, { since: last, number: NaN });
    else if (last - count.since < countedSeconds) count.number += times.length;
    else this.#counts.set(program, {
        since: last,
        number: 0,
        given: (count.number + times.length) / (last - count.since)
      });
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
    for (const id of [...this.#measured, ...this.#graphed, ...this.#shown]) {
      const tweak = this.#state.tweakOf(id);
      const program = tweak && this.#state.programs.get(tweak.program);
      if (!program || program.state === "offline") continue;
      if (!wanted.has(program.id)) wanted.set(program.id, new Set());
      wanted.get(program.id).add(tweak.key);
    }
    for (const program of this.#asked.keys()) if (!wanted.has(program)) wanted.set(program, new Set());
    for (const [program, keys] of wanted) {
      const tweaks = [...keys].slice(0, 64);
      const rate = tweaks.some((key) => this.#hasPriority(`${program}\n${key}`)) ? this.rate : rates[0];
      const text = `${rate} ${JSON.stringify(tweaks)}`;
      if (this.#asked.get(program)?.text === text) continue;
      this.#asked.set(program, { text, rate });
      this.#counts.delete(program);
      try {
        await this.#api.post("watch", { program, stream: this.#api.stream, tweaks, rate });
      } catch {
        // Asked again when the program is back.
        this.#asked.delete(program);
      }
    }
  }

  /** Stores samples received from the server. */
  take({ program, tweaks, times, values }) {
    if (times.length > 0) {
      this.#count(program, times);
      const offset = times.at(-1) - Date.now() / 1000;
      // The largest offset seen is closest to the clock difference, because messages only arrive late.
      if (Math.abs(offset) > 2) this.#clockOffset = Math.max(offset, this.#clockOffset || -Infinity);
    }
    const duration = Math.max(shortestGap, mostIntervals / (this.#asked.get(program)?.rate ?? rates[0]));
    tweaks.forEach((key, index) => {
      const id = `${program}\n${key}`;
      let series = this.#series.get(id);
      if (!series) {
        this.#makeRoom();
        this.#series.set(id, series = new Series(this.#limitOf(id)));
      }
      const column = values[index];
      for (let row = 0; row < times.length; row += 1) {
        const value = column[row];
        if (value === null || value === undefined) continue;
        const number = typeof value === "string" ? Number(value.replace("inf", "Infinity")) : value;
        series.add(times[row], number, duration);
      }
    });
  }

  /** Forgets the first series that is not shown, if there are many. */
  #makeRoom() {
    if (this.#series.size >= mostSeries)
      this.#series.delete([...this.#series.keys()].find((id) => !this.#hasPriority(id) && !this.#shown.has(id)));
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
