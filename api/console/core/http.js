/** Asking and telling the published API, and nothing else. */

import { useCallback, useEffect, useRef, useState } from "./dom.js";
import { here } from "./location.js";
import { lose, token } from "./session.js";
import { shared } from "./store.js";

/** Changes whenever something was refused to whoever asks. */
export const denied = shared(null);

/** Whether the service did not answer the last time. The frame says so, once for the whole page. */
export const away = shared(false);

/** What the service refused, with what it said of it (application/problem+json). */
export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail || problem.title || `HTTP ${status}`);
    this.status = status;
    this.problem = problem;
  }
}

/** A path of the API; each part is percent-encoded. A browser takes `.` and `..` out of a path, so nobody of that name is asked for. */
export function path(...parts) {
  if (parts.some((one) => one === "." || one === "..")) return UNREACHABLE;
  return `/v1/${parts.map(encodeURIComponent).join("/")}`;
}
const UNREACHABLE = "";

const ATTENDED_MS = 60_000;
let touched = Date.now();
for (const kind of ["pointerdown", "pointermove", "keydown", "wheel", "touchstart"]) {
  addEventListener(kind, () => (touched = Date.now()), { capture: true, passive: true });
}
/** Of what the page asks while nobody has touched it for a minute it says so: a session that only a page uses comes to its idle end. */
const unattended = () => (Date.now() - touched > ATTENDED_MS ? { "engramlog-unattended": "1" } : {});

function query(params = {}) {
  const told = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") told.append(name, String(one));
    }
  }
  const text = told.toString();
  return text ? `?${text}` : "";
}

/** Questions that the service has no room for now are asked again when it says; as often at most, and waiting so long each time. */
const TRIES = 8;
const LONGEST_ROOM_MS = 10_000;

/** The same, asked again while the service is busy: what it refused for that it has not begun. */
async function sendUntilHeard(address, options) {
  for (let tried = 1; ; tried += 1) {
    try {
      return await send(address, options);
    } catch (error) {
      if (error.status !== 429 || tried === TRIES) throw error;
      await waited(Math.min(error.after ?? tried * 1_000, LONGEST_ROOM_MS), options.signal);
    }
  }
}

/** Raises what an abort raises, at once. */
function waited(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

async function send(address, { method = "GET", body, params, signal } = {}) {
  if (address === UNREACHABLE) throw new Refused(422, { title: "dots", detail: "" });
  const shown = token.get();
  const headers = { authorization: `Bearer ${shown ?? ""}`, ...unattended() };
  if (body !== undefined) headers["content-type"] = "application/json";
  let answer;
  try {
    answer = await fetch(address + query(params), {
      method,
      headers,
      signal,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    away.set(true);
    throw new Refused(0, { title: "unreachable", detail: "" });
  }
  away.set(false);
  if (answer.status === 401) {
    const { reason } = await problemOf(answer);
    if (shown === token.get()) lose(["revoked", "over"].includes(reason) ? `ended.${reason}` : "ended");
    throw new Refused(401, { title: "session ended", detail: "" });
  }
  if (answer.status === 403) denied.set({}); // what one may do is another thing now
  if (!answer.ok) throw Object.assign(new Refused(answer.status, await problemOf(answer)), { after: waitOf(answer) });
  return answer;
}

/** Milliseconds until when to ask again, where that is told. */
function waitOf(answer) {
  const told = Number(answer.headers.get("retry-after"));
  return told > 0 ? told * 1_000 : undefined;
}

async function problemOf(answer) {
  try {
    return await answer.json();
  } catch {
    return { title: answer.statusText, detail: "" };
  }
}

/** The answer of a question as JSON. */
export const ask = async (address, params, signal) => read(await sendUntilHeard(address, { params, signal }));

/** A body as JSON; a connection that breaks in it is one that did not answer. */
async function read(answer) {
  try {
    return await answer.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, { title: "unreachable", detail: "" });
  }
}

/** The answer of a question that is told in a body: it writes nothing. */
export const askWith = async (address, body, signal) => read(await sendUntilHeard(address, { method: "POST", body, signal }));

/** The answer as text (a picture), or as a Blob (an export). */
export const askText = async (address, params, signal) => (await sendUntilHeard(address, { params, signal })).text();
export const askBlob = async (address, { params, body } = {}) =>
  (await send(address, { params, body, method: body ? "POST" : "GET" })).blob();

/** A key for one thing that is told, however often it is tried. (`randomUUID` is kept from pages that come by http from elsewhere.) */
export const newKey = () => `console/${[...crypto.getRandomValues(new Uint8Array(16))].map((one) => one.toString(16).padStart(2, "0")).join("")}`;

const POSITION = /^\d+:\d+$/;

/**
 * Tell the service something new. In the past nothing can be told: a past view never changes the present.
 * What is told has a key: whoever may try again gives the same one, and a second try writes nothing more. It returns once what was
 * told is folded.
 */
export async function tell(address, body = {}, { keyed = true, key = newKey() } = {}) {
  const { params } = here.get();
  if (params.has("as_of") || params.has("known")) throw new Refused(0, { title: "read-only", detail: "" });
  const told = keyed ? { key, ...body } : body;
  const answer = await read(await send(address, { method: "POST", body: told }));
  const owner = address.match(/^\/v1\/owners\/[^/]+/);
  if (owner && POSITION.test(answer.position ?? "")) {
    await ask(`${owner[0]}/profile`, { after: answer.position }).catch(() => null);
  }
  return answer;
}

/**
 * Ask when the component appears and whenever the address or the parameters change; an older question is given up. Null asks
 * nothing. While a new answer is waited for the old one stays. `reload` asks once more after what is on its way is answered: where
 * news come in faster than answers, giving up each time would never show any.
 * @returns {{data: any, error: Refused|null, loading: boolean, reload: () => void}}
 */
export function useAsk(address, params = {}, asked = ask) {
  const [state, setState] = useState({ data: null, error: null, loading: address !== null });
  const [turn, setTurn] = useState(0);
  const asking = useRef(false);
  const once = useRef(false);
  const key = address === null ? null : address + JSON.stringify(params);
  useEffect(() => {
    if (key === null) {
      asking.current = false;
      setState({ data: null, error: null, loading: false });
      return undefined;
    }
    const leave = new AbortController();
    asking.current = true;
    once.current = false;
    setState((was) => ({ ...was, loading: true }));
    const done = (then) => (what) => {
      if (leave.signal.aborted) return;
      asking.current = false;
      setState(then(what));
      if (once.current) setTurn((was) => was + 1);
    };
    asked(address, params, leave.signal).then(
      done((data) => ({ data, key, error: null, loading: false })),
      done((error) => (was) => ({ data: was.key === key ? was.data : null, key, error, loading: false })),
    );
    return () => leave.abort();
  }, [key, turn]);
  const reload = useCallback(() => {
    if (asking.current) once.current = true;
    else setTurn((was) => was + 1);
  }, []);
  return { ...state, reload };
}

/** The same again and again, while the page is seen; an answer stays while the next is waited for. */
export function useAgain(address, every) {
  const asked = useAsk(address);
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && asked.reload(), every);
    return () => clearInterval(timer);
  }, [address]);
  return asked.data ? { ...asked, loading: false } : asked;
}

/**
 * The same of a list that comes in pages: `rows` are those of `name` so far, `more()` asks for the next page, after a cursor or, without
 * cursors, after so many rows.
 */
export function usePaged(address, question, name) {
  const asked = useAsk(address, question);
  const [more, setMore] = useState({ rows: [], next: null });
  useEffect(() => setMore({ rows: [], next: asked.data?.next ?? null }), [asked.data]);
  const rows = [...(asked.data?.[name] ?? []), ...more.rows];
  const further = async () => {
    setMore((was) => ({ ...was, busy: true, error: null }));
    try {
      const told = await ask(address, { ...question, ...(more.next ? { cursor: more.next } : { offset: rows.length }) });
      setMore((was) => ({ rows: [...was.rows, ...told[name]], next: told.next ?? null }));
    } catch (error) {
      setMore((was) => ({ ...was, busy: false, error }));
    }
  };
  return { asked, rows, next: more.next, busy: more.busy, error: more.error, more: further };
}

/** The same of a question whose parameters go in a body. */
export const useAskWith = (address, body) => useAsk(address, body, askWith);

const SOON_MS = 700;
/** What comes in quick succession is shown together. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/**
 * An owner's change feed by fetch, as the session's token must be sent with it: `onChange({position, changes})`. It comes again by
 * itself where it ends; `onState("open" | "waiting")` tells.
 * @returns {() => void} ends it
 */
export function follow(owner, onChange, onState = () => {}) {
  const leave = new AbortController();
  (async () => {
    let from = null;
    let wait = FIRST_WAIT_MS;
    while (!leave.signal.aborted) {
      try {
        const answer = await send(path("owners", owner, "feed"), { params: { since: from }, signal: leave.signal });
        for await (const { event, data, id } of messages(answer.body)) {
          if (id) from = id;
          wait = FIRST_WAIT_MS;
          if (event === "open") onState("open");
          if (event === "change") onChange(data);
          if (event === "end") break;
        }
      } catch (error) {
        if (error.name === "AbortError" || error.status === 401) return;
      }
      onState("waiting");
      await new Promise((resolve) => setTimeout(resolve, wait));
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    }
  })();
  return () => leave.abort();
}

/** Server-sent events of a stream. */
async function* messages(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let kept = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      kept += value.replaceAll("\r\n", "\n");
      for (let end = kept.indexOf("\n\n"); end >= 0; end = kept.indexOf("\n\n")) {
        const message = {};
        for (const line of kept.slice(0, end).split("\n")) {
          const found = line.match(/^(event|data|id): ?(.*)$/);
          if (found) message[found[1]] = (message[found[1]] ?? "") + found[2];
        }
        kept = kept.slice(end + 2);
        if (message.data) yield { ...message, data: JSON.parse(message.data) };
      }
    }
  } finally {
    reader.cancel().catch(() => null);
  }
}

/** Calls `onChange` when something of the owner is folded, several changes at once as one; only while `live`. */
export function useFeed(owner, onChange, live = true) {
  const latest = useRef(onChange);
  latest.current = onChange;
  const [state, setState] = useState("waiting");
  const shown = useVisible();
  const first = useRef(true);
  useEffect(() => {
    if (!owner || !live || !shown) return undefined;
    if (!first.current) latest.current([]); // what came while nobody looked
    first.current = false;
    let pending = [];
    let timer = null;
    const end = follow(
      owner,
      (change) => {
        pending.push(change);
        timer ??= setTimeout(() => {
          const told = pending;
          pending = [];
          timer = null;
          latest.current(told);
        }, SOON_MS);
      },
      setState,
    );
    return () => {
      end();
      clearTimeout(timer);
    };
  }, [owner, live, shown]);
  return state;
}

/** Whether the page is seen. A browser opens six connections to one service for all tabs together, so hidden ones hold none. */
export function useVisible() {
  const [shown, setShown] = useState(!document.hidden);
  useEffect(() => {
    const look = () => setShown(!document.hidden);
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  return shown;
}
