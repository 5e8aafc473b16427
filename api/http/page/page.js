// The filter, and trying out. Every text goes onto the page by textContent or value: answers hold what strangers said.
// The token is read from its field when a request is sent, and is nowhere else.

import { MOST_BYTES, curlOf, filterOf, hashOf, matches, requestOf, shown } from "./request.js";

const TOLD = /^(content-type|retry-after|www-authenticate|engramlog-.+)$/;
const byId = (id) => document.getElementById(id);
const routes = [...document.querySelectorAll("details.route")];
const [filter, token] = [byId("filter"), byId("token")];
const running = new Map(); // form -> AbortController

document.documentElement.classList.add("scripted");

// --- the filter ---

function narrow(wanted) {
  const found = routes.filter((route) => {
    route.hidden = !matches(route.dataset.find, wanted);
    return !route.hidden;
  });
  for (const section of document.querySelectorAll("section:has(details.route)")) {
    section.hidden = !section.querySelector("details.route:not([hidden])");
  }
  byId("none").hidden = found.length > 0;
  byId("count").textContent = wanted.trim() ? `${found.length} of ${routes.length} routes` : `${routes.length} routes`;
  return found;
}

function told(wanted) {
  filter.value = wanted;
  narrow(wanted);
}

/** Show what the address ends with: a filter, or a place, which no filter hides. */
function follow() {
  const wanted = filterOf(location.hash);
  if (wanted !== null) {
    told(wanted);
    return;
  }
  const place = byId(location.hash.slice(1));
  if (!place) return;
  if (place.closest("[hidden]")) told("");
  const folded = place.closest("details");
  if (folded) folded.open = true;
  (folded ?? place).scrollIntoView();
}

filter.addEventListener("input", () => {
  narrow(filter.value);
  history.replaceState(null, "", location.pathname + hashOf(filter.value));
});
filter.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  if (event.key === "Enter") {
    event.preventDefault(); // or the same key would fold the route again
    const found = routes.filter((route) => !route.hidden);
    const first = found.find((route) => matches(route.querySelector("form").dataset.path, filter.value)) ?? found[0]; // by its path before its words
    if (first) first.open = true;
    first?.querySelector("summary").focus();
  } else if (event.key === "Escape") {
    filter.value = "";
    filter.dispatchEvent(new Event("input"));
  }
});
document.addEventListener("keydown", (event) => {
  const written = event.target.closest?.("input, textarea, select");
  if (event.key === "/" && !written && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    filter.focus();
    filter.select();
  }
});
byId("none").querySelector("button").addEventListener("click", () => {
  filter.value = "";
  filter.dispatchEvent(new Event("input"));
  filter.focus();
});
window.addEventListener("hashchange", follow);
window.addEventListener("pagehide", () => {
  token.value = "";
});

// --- trying out ---

function part(form, name) {
  return form.querySelector(`[data-${name}]`);
}

function asked(form) {
  const values = [...form.querySelectorAll("[data-in]")].map((control) => ({
    in: control.dataset.in,
    name: control.dataset.name,
    value: "many" in control.dataset ? control.value.split("\n") : control.value,
  }));
  const body = part(form, "body");
  return requestOf(form.dataset, values, body && { text: body.value, kind: body.dataset.kind });
}

function retell(form) {
  const curl = part(form, "curl");
  try {
    curl.textContent = curlOf(asked(form), location.origin, { open: "open" in form.dataset, stream: "stream" in form.dataset });
    note(form, "");
  } catch (error) {
    curl.textContent = "";
    note(form, error.message);
  }
}

function note(form, text) {
  part(form, "note").textContent = text;
}

function prepare(form) {
  const body = part(form, "body");
  if (body) {
    const examples = [...form.querySelectorAll("pre[data-kind]")];
    const choice = part(form, "examples");
    const choose = (example) => {
      body.value = example.textContent;
      body.dataset.kind = example.dataset.kind;
      body.rows = Math.min(Math.max(body.value.split("\n").length, 3), 24);
    };
    for (const example of examples) {
      choice.add(new Option(`${example.dataset.kind}: ${example.dataset.title}`));
    }
    choice.hidden = examples.length < 2;
    choice.addEventListener("change", () => choose(examples[choice.selectedIndex]));
    choose(examples[0]);
  }
  form.addEventListener("input", () => {
    calm(form);
    retell(form);
  });
  form.addEventListener("focusout", () => calm(form));
  retell(form);
}

function calm(form) {
  const button = form.querySelector("[type=submit]");
  if (!button || !("armed" in button.dataset)) return;
  delete button.dataset.armed;
  button.textContent = `Send ${form.dataset.method}`;
  note(form, "");
}

/** Whether this is the second wish to send what may write. */
function meant(form, button) {
  if (form.dataset.method === "GET" || "armed" in button.dataset) {
    calm(form);
    return true;
  }
  button.dataset.armed = "";
  button.textContent = `Send ${form.dataset.method}: again to confirm`;
  note(form, "It may change what is stored.");
  return false;
}

async function send(form) {
  const button = form.querySelector("[type=submit]");
  if (running.has(form) || !button || !meant(form, button)) return;
  const leaving = new AbortController();
  let wanted;
  try {
    wanted = sendable(form, leaving.signal);
  } catch (error) {
    tell(form, `Not sent. ${error.message}`, "bad");
    return;
  }
  running.set(form, leaving);
  button.ariaDisabled = "true"; // not disabled: who works by the keyboard keeps the place
  part(form, "abort").hidden = false;
  const began = performance.now();
  try {
    tell(form, "Sent; no answer yet.");
    const answer = await fetch(...wanted);
    const taken = () => `${Math.round(performance.now() - began)} ms`;
    tell(form, `${answer.status} ${answer.statusText} · ${taken()}, still reading`);
    const [text, bytes, cut] = await read(answer);
    const size = `${bytes.toLocaleString("en")} bytes${cut ? ", cut off there: the curl line shows all of it" : ""}`;
    tell(form, `${answer.status} ${answer.statusText} · ${taken()} · ${size}`, answer.ok ? "good" : "bad", answer.headers, text);
  } catch (error) {
    tell(form, leaving.signal.aborted ? "Aborted. What was sent may still be carried out." : `No answer. ${error.message}`, "bad");
  } finally {
    running.delete(form);
    button.ariaDisabled = "false";
    part(form, "abort").hidden = true;
  }
}

/** The arguments of a fetch that goes to this origin alone, follows nothing, and is kept by nobody. */
function sendable(form, signal) {
  const { url, ...request } = asked(form);
  if (new URL(url, location.origin).href !== location.origin + url) throw new Error("a browser would send it to another path");
  const shownToken = token.value.trim();
  if (/[^\x21-\x7e]/.test(shownToken)) throw new Error("Token: it has characters that no token has");
  if (shownToken && !("open" in form.dataset)) request.headers.authorization = `Bearer ${shownToken}`;
  const manner = { mode: "same-origin", credentials: "omit", cache: "no-store", redirect: "error", referrerPolicy: "same-origin" };
  return [url, { ...request, ...manner, signal }];
}

/** The text of an answer, how many bytes of it were read, and whether there was more. */
async function read(answer) {
  const [decoder, reader] = [new TextDecoder(), answer.body?.getReader()];
  let [text, bytes] = ["", 0];
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    const kept = value.subarray(0, MOST_BYTES - bytes);
    bytes += kept.length;
    text += decoder.decode(kept, { stream: true });
    if (kept.length < value.length) {
      await reader.cancel();
      return [text, bytes, true];
    }
  }
  return [text + decoder.decode(), bytes, false];
}

function tell(form, status, mood = "", headers = new Headers(), text = "") {
  part(form, "answer").hidden = false;
  part(form, "status").textContent = status;
  part(form, "status").className = mood;
  const lines = [...headers].filter(([name]) => TOLD.test(name)).map(([name, value]) => `${name}: ${value}`);
  part(form, "headers").textContent = shown(lines.join("\n"), "");
  part(form, "shown").textContent = shown(text, headers.get("content-type") ?? "");
  part(form, "answer").scrollIntoView({ block: "nearest" });
}

async function copy(form) {
  const curl = part(form, "curl");
  try {
    await navigator.clipboard.writeText(curl.textContent);
    note(form, "Copied.");
  } catch {
    getSelection().selectAllChildren(curl);
    note(form, "Selected: copy it by the keyboard.");
  }
}

const prepared = new WeakSet();
document.addEventListener(
  "toggle",
  ({ target }) => {
    const form = target.matches("details.route[open]") && target.querySelector("form");
    if (!form || prepared.has(form)) return;
    prepared.add(form);
    prepare(form);
  },
  true, // it does not bubble
);
document.addEventListener("submit", (event) => {
  event.preventDefault();
  send(event.target);
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  const form = button?.form;
  if (!form) return;
  if (button.type === "submit" && event.detail > 1) event.preventDefault(); // one double click is not two wishes
  if ("abort" in button.dataset) running.get(form)?.abort();
  if ("copy" in button.dataset) copy(form);
});

narrow("");
follow();
