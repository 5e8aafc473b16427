// What the page of routes works out without touching the page: what the filter finds, what is sent, what is shown of an answer.

export const MOST_BYTES = 128 * 1024; // of an answer that are read
const DEEPEST = 12; // levels that are indented

/** Whether every word of a filter stands in `find`, which is in lower case. */
export function matches(find, filter) {
  return filter.toLowerCase().split(/\s+/).every((word) => find.includes(word));
}

/** The filter that an address ends with, or null where it tells none. */
export function filterOf(hash) {
  return new URLSearchParams(hash.slice(1)).get("filter");
}

/** How an address ends that tells this filter. */
export function hashOf(filter) {
  return filter.trim() ? `#filter=${encodeURIComponent(filter.trim())}` : "";
}

/**
 * What is sent: method, address, headers and body. `values` are {in, name, value}, of which empty ones are not sent; a list is
 * sent as the same parameter several times. Throws an Error that says which value cannot be sent.
 */
export function requestOf(route, values, body) {
  let path = route.path;
  const query = [];
  const headers = {};
  for (const { in: where, name, value } of values) {
    const several = [value].flat().filter((one) => one !== "");
    if (where === "path") {
      path = path.replace(`{${name}}`, () => segment(name, several[0] ?? ""));
    } else if (where === "query") {
      query.push(...several.map((one) => `${encoded(name)}=${encoded(one)}`));
    } else if (several.length) {
      headers[name] = line(name, several[0]);
    }
  }
  const sent = body && body.text.trim() ? body.text : undefined;
  if (sent !== undefined) headers["content-type"] = body.kind;
  else if (route.method !== "GET") headers["engramlog-request"] = "1";
  return { method: route.method, url: path + (query.length ? `?${query.join("&")}` : ""), headers, body: sent };
}

function segment(name, value) {
  if (value === "") throw new Error(`${name}: got nothing; the path needs it`);
  if (value === "." || value === "..") throw new Error(`${name}: got ${value}, which a browser takes out of a path`);
  return encoded(value);
}

function line(name, value) {
  if (/[^\x20-\x7e]/.test(value)) throw new Error(`${name}: a header has visible ASCII characters alone`);
  return value;
}

/** Percent-encoded, also what a shell or a path could read otherwise. */
function encoded(value) {
  return encodeURIComponent(value.toWellFormed ? value.toWellFormed() : value).replace(
    /[!'()*]/g,
    (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The same request for bash and zsh. The token is named, never told, and stands in no list of processes: printf is the shell's own. */
export function curlOf(request, origin, { open = false, stream = false } = {}) {
  const parts = [stream ? "curl -sSN" : "curl -sS"];
  if (!open) parts.push(`-H @<(printf 'Authorization: Bearer %s' "$ENGRAMLOG_TOKEN")`);
  for (const [name, value] of Object.entries(request.headers)) parts.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (request.body !== undefined) parts.push(`--data-raw ${quoted(visible(request.body))}`); // in JSON an escape says the same
  else if (request.method !== "GET") parts.push(`-X ${request.method}`);
  return [...parts, quoted(origin + request.url)].join(" \\\n  ");
}

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** What is shown of an answer: JSON indented, its numbers and texts as they were sent, also where the end is cut off. */
export function shown(text, kind) {
  return visible(/[/+]json\b/.test(kind) ? indented(text) : text);
}

function indented(text) {
  const parts = [];
  let depth = 0;
  const turn = () => parts.push("\n", "  ".repeat(Math.min(Math.max(depth, 0), DEEPEST)));
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"?|\{\s*\}|\[\s*\]|[{}[\],:]|[^\s"{}[\],:]+/gs)) {
    if (token === "{" || token === "[") {
      parts.push(token);
      depth += 1;
      turn();
    } else if (token === "}" || token === "]") {
      depth -= 1;
      turn();
      parts.push(token);
    } else if (token === ",") {
      parts.push(token);
      turn();
    } else {
      parts.push(token === ":" ? ": " : token);
    }
  }
  return parts.join("");
}

/** Characters that hide, or turn the text around them, as \uXXXX: what a memory says is shown as it is written. */
function visible(text) {
  return text.replace(
    /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\udb40[\udc00-\udc7f]/g,
    (found) => [...Array(found.length).keys()].map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""),
  );
}
