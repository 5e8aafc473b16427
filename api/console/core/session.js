/**
 * Who may ask. The link that `engramlog up` or `engramlog console` shows holds a code that works once, and whoever has a key types
 * it; either is exchanged for a token of this service's process, which stays in sessionStorage, is sent as Authorization alone, and dies with the service.
 * Other tabs of this very origin are given it by the tab that has it.
 */

import { shared } from "./store.js";

const NAME = "engramlog.session";
const ASKED_FOR_MS = 400;
const REASONS = ["used", "over", "unknown", "revoked", "limited"];

export const token = shared(sessionStorage.getItem(NAME));
/** Why there is none: "none" (never had one), "ended" (refused; "ended.revoked", "ended.over": its key is), what was said of its code or key ("used", "key.revoked" ...), "unreachable". */
export const without = shared("none");

const tabs = "BroadcastChannel" in globalThis ? new BroadcastChannel("engramlog") : null;
let signedOut = false;
tabs?.addEventListener("message", ({ data }) => {
  if (data?.ask === "session" && token.get()) tabs.postMessage({ session: token.get() });
  if (typeof data?.session === "string" && !token.get() && !signedOut) keep(data.session);
  if (data?.ended && data.ended === token.get()) lose("none");
});

/** A link with a code, opened where the console is already. */
addEventListener("hashchange", (event) => {
  if (!location.hash.startsWith("#code=")) return;
  event.stopImmediatePropagation();
  begin();
});

export function keep(session) {
  sessionStorage.setItem(NAME, session);
  token.set(session);
}

/** The session is over: it was refused. */
export function lose(why = "ended") {
  sessionStorage.removeItem(NAME);
  without.set(why);
  token.set(null);
}

/** End it at the service too. */
export async function end() {
  const shown = token.get();
  signedOut = true;
  if (shown) {
    tabs?.postMessage({ ended: shown });
    await fetch("/v1/console/session/end", {
      method: "POST",
      headers: { authorization: `Bearer ${shown}`, "content-type": "application/json" },
      body: "{}",
    }).catch(() => null);
  }
  lose("none");
}

/**
 * Take the code out of the address before anything else reads it, and exchange it.
 * @returns {Promise<void>}
 */
export async function begin() {
  const told = new URLSearchParams(location.hash.slice(1));
  const code = location.hash.startsWith("#code=") ? told.get("code") : null;
  if (code) {
    const wanted = told.get("to") ?? "/";
    history.replaceState(null, "", wanted.startsWith("/") ? `#${wanted}` : "#/");
    dispatchEvent(new HashChangeEvent("hashchange"));
    await exchange(code);
  }
  if (!token.get()) await askOtherTabs();
}

/** A code in exchange for a session: whether it opened. */
export const exchange = (code) => opened({ code }, "");

/** The same of a key, or of a token made of one, which is not kept. */
export const signIn = (key) => opened({ key }, "key.");

async function opened(told, kind) {
  const answer = await fetch("/v1/console/session", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(told),
  }).catch(() => null);
  if (!answer?.ok) {
    const refused = await answer?.json().catch(() => null);
    const why = REASONS.includes(refused?.reason) ? kind + refused.reason : "unreachable";
    if (token.get()) return true; // an old link, in a tab whose session goes on
    lose(why);
    return false;
  }
  signedOut = false;
  keep((await answer.json()).token);
  tabs?.postMessage({ session: token.get() });
  return true;
}

function askOtherTabs() {
  if (!tabs) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = token.listen(() => {
      stop();
      resolve();
    });
    tabs.postMessage({ ask: "session" });
    setTimeout(() => {
      stop();
      resolve();
    }, ASKED_FOR_MS);
  });
}
