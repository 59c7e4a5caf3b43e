// SPDX-License-Identifier: BSD-3-Clause

// The connection to the server: session, requests and event stream. Independent of the rest of the page.

import { noAnswer, patience, ServerClock } from "./clock.js";

const folder = new URL(".", location.href).pathname;
/** Pages at different paths of a host have sessions of different servers. */
const sessionName = folder === "/" ? "tweaks.session" : `tweaks.session.${folder}`;
/** How long a hidden page keeps its stream, in ms. A browser shares six connections to a server among all its pages. */
const hiddenPatience = 20000;
/** With this many streams in the browser, a hidden page gives up its own at once. */
const manyStreams = 4;
/** The lock that pages with a stream share, by which they are counted. */
const lockName = "tweaks.stream";

/** A failed request, with a message to show. */
export class RequestError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export class API {
  #session = sessionStorage.getItem(sessionName) ?? localStorage.getItem(sessionName);
  #stopping = null;
  #isAway = false;
  #hiddenTimer = 0;
  #isListening = false;
  #wake = () => {};
  #clock = new ServerClock();
  /** When the server was last heard, or asked for a stream. */
  #heard = 0;
  #isSilent = false;
  /** What stops the requests that are not answered yet. */
  #requests = new Set();
  /**
   * Called with "connected", "silent" (not heard for some time), "lost", "away" (this page has left), "refused" (no
   * session)
   * or "ended".
   *
   * @type {(state: string) => void}
   */
  onState = () => {};
  /**
   * Called with the name and data of each event.
   *
   * @type {(name: string, data: any) => void}
   */
  onEvent = () => {};
  /**
   * Called with each problem of a change that was made nevertheless.
   *
   * @type {(message: string) => void}
   */
  onWarning = () => {};
  /** Returns the name of the person, for histories. */
  person = () => "";
  /** Returns whether to keep the stream while the page is hidden. */
  isRecording = () => false;
  /** The number of streams opened so far; the server may reuse stream numbers. */
  connections = 0;
  /** The number of this page's stream of events. */
  stream;

  constructor() {
    // Another page in this browser may have a session of a newer server.
    addEventListener("storage", (event) => {
      if (event.key !== sessionName || !event.newValue || event.newValue === this.#session) return;
      this.#session = event.newValue;
      this.#wake();
    });
    // Browsers keep a page that was left, with its connection, unless the page closes it.
    addEventListener("pagehide", () => this.#leave());
    addEventListener("pageshow", (event) => event.persisted && this.#comeBack());
    const isVisible = () => document.visibilityState === "visible";
    const see = async () => {
      clearTimeout(this.#hiddenTimer);
      if (isVisible()) {
        this.#comeBack();
        return;
      }
      // Only a page at a secure address can count them.
      const locks = await navigator.locks?.query();
      const count = locks?.held.filter(({ name }) => name === lockName).length ?? 0;
      if (isVisible()) return;
      // Another call may have waited as well.
      clearTimeout(this.#hiddenTimer);
      this.#hiddenTimer = setTimeout(
        () => !this.isRecording() && this.#leave(),
        count < manyStreams ? hiddenPatience : 0
      );
    };
    document.addEventListener("visibilitychange", see);
    if (!isVisible()) see();
    // A frozen page hears nothing, and its timers have run out when it goes on.
    document.addEventListener("freeze", () => this.#leave());
    document.addEventListener("resume", () => {
      this.#comeBack();
      see();
    });
  }

  #leave() {
    this.#isAway = true;
    this.#stopping?.abort();
    if (this.#isListening) this.onState("away");
  }

  /** Ends a stream on which the server is silent, and what was asked. */
  #look() {
    if (!this.#stopping || performance.now() - this.#heard < patience) return;
    this.#isSilent = true;
    this.#stopping.abort();
    for (const request of this.#requests) request.abort();
  }

  #comeBack() {
    if (!this.#isAway) return;
    this.#isAway = false;
    this.#wake();
  }

  /** Exchanges the token in the address for a session. */
  async exchange(token) {
    const { session } = await this.#request("api/session", { token });
    this.#session = session;
    sessionStorage.setItem(sessionName, session);
    localStorage.setItem(sessionName, session);
    this.#wake();
  }

  get hasSession() {
    return Boolean(this.#session);
  }

  /**
   * Sends a request, such as "set", and returns the answer.
   *
   * - time: When the user made it, as of `performance.now()`. The server refuses what is older than `patience`.
   * - limit: How long to wait for the answer, in ms. Without it, as long as the server is heard.
   *
   * @returns {Promise<any>}
   */
  async post(name, body = {}, options = {}) {
    try {
      return await this.#request(`api/${name}`, body, options);
    } catch (error) {
      if (error.status !== 410) throw error;
      // The stream has ended and this page has not noticed yet. Send a change again without it.
      this.#stopping?.abort();
      // Without a stream there is no trial, and the values would be kept.
      if (name !== "set" || body.try) throw error;
      return this.#request(`api/${name}`, { ...body, stream: undefined }, options);
    }
  }

  async #request(path, body, { time = performance.now(), limit = 0 } = {}) {
    if (this.#isSilent) throw new RequestError(0, noAnswer);
    const stopping = new AbortController();
    const timer = limit && setTimeout(() => stopping.abort(), limit);
    this.#requests.add(stopping);
    /** @type {any} */
    let headers = { "Content-Type": "application/json" };
    const sent = this.#clock.at(time);
    // A file may take long, and importing it changes nothing.
    if (sent && path !== "api/import") headers = { ...headers, "Tweaks-Time": sent };
    const person = this.person();
    if (person) headers = { ...headers, "Tweaks-Person": encodeURIComponent(person.replaceAll(/\p{Surrogate}/gu, "")) };
    let response;
    let answer = {};
    try {
      response = await fetch(path, {
        method: "POST",
        headers: this.#headers(headers),
        body: JSON.stringify(body),
        credentials: "omit",
        cache: "no-store",
        signal: stopping.signal
      });
      const clock = Number(response.headers.get("Tweaks-Time"));
      if (clock) this.#clock.hear(clock, performance.now());
      // Without JSON, the status is all there is to report.
      answer = await response.json().catch((error) => {
        if (stopping.signal.aborted) throw error;
        return {};
      });
    } catch {
      throw new RequestError(0, stopping.signal.aborted ? noAnswer : "tweak ui is not responding");
    } finally {
      clearTimeout(timer);
      this.#requests.delete(stopping);
    }
    if (!response.ok) {
      if (response.status === 401 && path !== "api/session") this.#refused();
      throw new RequestError(
        response.status,
        answer?.error?.message ?? `the server answered with status ${response.status}`
      );
    }
    for (const { message } of answer.warnings ?? []) this.onWarning(message);
    return answer;
  }

  #headers(headers) {
    return this.#session ? { ...headers, Authorization: `Bearer ${this.#session}` } : headers;
  }

  #refused() {
    this.onState("refused");
  }

  /** Reads events until the page is closed, reconnecting whenever the stream ends. */
  async listen() {
    if (this.#isListening) return;
    this.#isListening = true;
    setInterval(() => this.#look(), 100);
    for (let pause = 200;;) {
      const began = await this.#listenOnce();
      this.stream = undefined;
      pause = began ? 200 : Math.min(pause * 2, 3000);
      await this.#sleep(this.#isAway ? 1 << 30 : this.#session ? pause : 3000);
    }
  }

  async #sleep(milliseconds) {
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #listenOnce() {
    let began = false;
    /** @type {any} */
    let release;
    const held = new Promise((resolve) => {
      release = resolve;
    });
    try {
      if (this.#isAway) return false;
      if (!this.#session) {
        this.#refused();
        return false;
      }
      const session = this.#session;
      this.#heard = performance.now();
      this.#stopping = new AbortController();
      navigator.locks?.request(lockName, { mode: "shared" }, () => held);
      this.#wake = () => this.#stopping?.abort();
      const response = await fetch("api/events", {
        headers: this.#headers({}),
        credentials: "omit",
        cache: "no-store",
        signal: this.#stopping.signal
      });
      if (response.status === 401) {
        // Another page may have a newer session.
        const other = localStorage.getItem(sessionName);
        if (other && other !== session) {
          this.#session = other;
          return true;
        }
        this.#refused();
        return false;
      }
      if (!response.ok) throw new Error(`${response.status}`);
      began = true;
      this.#isSilent = false;
      this.onState("connected");
      await this.#read(response.body.pipeThrough(new TextDecoderStream()).getReader());
    } catch {
      // Any failure means that the connection is lost.
    } finally {
      release();
    }
    this.#stopping = null;
    if (!this.#isAway) this.onState(this.#isSilent ? "silent" : "lost");
    return began;
  }

  async #read(reader) {
    let text = "";
    for (;;) {
      this.#heard = performance.now();
      const { value, done } = await reader.read();
      if (done) return;
      text += value;
      const end = text.lastIndexOf("\n\n");
      if (end < 0) continue;
      const events = text.slice(0, end).split("\n\n");
      text = text.slice(end + 2);
      for (const event of events) this.#deliver(event);
    }
  }

  #deliver(event) {
    let name = "";
    let data = "";
    for (const line of event.split("\n")) {
      if (line.startsWith("event: ")) name = line.slice(7);
      else if (line.startsWith("data: ")) data += line.slice(6);
    }
    if (!name) return;
    try {
      const content = JSON.parse(data);
      if (name === "hello") {
        this.#clock.forget();
        this.stream = content.stream;
        this.connections += 1;
      }
      if (name === "hello" || name === "beat") this.#clock.hear(content.time, performance.now());
      if (name === "bye") this.onState("ended");
      this.onEvent(name, content);
    } catch (error) {
      console.error(`event ${name}:`, error);
    }
  }
}
