// SPDX-License-Identifier: BSD-3-Clause

// The connection to the server: session, requests and event stream. Independent of the rest of the page.

const folder = new URL(".", location.href).pathname;
/** Pages at different paths of a host have sessions of different servers. */
const sessionName = folder === "/" ? "tweaks.session" : `tweaks.session.${folder}`;
/** How long a hidden page keeps its stream, in ms. A browser shares six connections to a server among all its pages. */
const hiddenPatience = 20000;

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
  /**
   * Called with "connected", "lost", "refused" (no session) or "ended".
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
    document.addEventListener("visibilitychange", () => {
      clearTimeout(this.#hiddenTimer);
      if (document.visibilityState === "visible") this.#comeBack();
      else this.#hiddenTimer = setTimeout(() => !this.isRecording() && this.#leave(), hiddenPatience);
    });
  }

  #leave() {
    this.#isAway = true;
    this.#stopping?.abort();
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

  /** Sends a request, such as "set", and returns the answer. */
  async post(name, body = {}) {
    try {
      return await this.#request(`api/${name}`, body);
    } catch (error) {
      if (error.status !== 410) throw error;
      // The stream has ended and this page has not noticed yet. Send a change again without it.
      this.#stopping?.abort();
      // Without a stream there is no trial, and the values would be kept.
      if (name !== "set" || body.try) throw error;
      return this.#request(`api/${name}`, { ...body, stream: undefined });
    }
  }

  async #request(path, body) {
    let response;
    try {
      response = await fetch(path, {
        method: "POST", headers: this.#headers({ "Content-Type": "application/json" }), body: JSON.stringify(body),
        credentials: "omit", cache: "no-store",
      });
    } catch {
      throw new RequestError(0, "tweak ui is not responding");
    }
    let answer = {};
    try {
      answer = await response.json();
    } catch {
      // The status is all there is to report.
    }
    if (!response.ok) {
      if (response.status === 401 && path !== "api/session") this.#refused();
      throw new RequestError(response.status, answer?.error?.message ?? `the server answered with status ${response.status}`);
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
    for (let pause = 200; ; ) {
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
    try {
      if (!this.#session) {
        this.#refused();
        return false;
      }
      const session = this.#session;
      this.#stopping = new AbortController();
      this.#wake = () => this.#stopping?.abort();
      const response = await fetch("api/events", {
        headers: this.#headers({}), credentials: "omit", cache: "no-store", signal: this.#stopping.signal,
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
      this.onState("connected");
      await this.#read(response.body.pipeThrough(new TextDecoderStream()).getReader());
    } catch {
      // Any failure means that the connection is lost.
    }
    this.#stopping = null;
    if (!this.#isAway) this.onState("lost");
    return began;
  }

  async #read(reader) {
    let text = "";
    for (;;) {
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
        this.stream = content.stream;
        this.connections += 1;
      }
      if (name === "bye") this.onState("ended");
      this.onEvent(name, content);
    } catch (error) {
      console.error(`event ${name}:`, error);
    }
  }
}
