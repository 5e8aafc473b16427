/**
 * Where somebody is. All that makes a finding stands in the address's fragment, so that a link leads to it again; a fragment
 * is never sent to any server, so no owner and no question stands in a log.
 *
 *     #/owners/mei/memories?states=live&as_of=2025-04-20T00:00:00Z
 */

import { html } from "./dom.js";
import { shared, useShared } from "./store.js";

/** Of the moment: what other screens are given too. */
const MOMENT = ["as_of", "known", "b.as_of", "b.known", "b"];

/** @param {string} fragment */
export function read(fragment) {
  const bare = fragment.replace(/^#/, "");
  const cut = bare.indexOf("?");
  const path = cut < 0 ? bare : bare.slice(0, cut);
  const parts = path.split("/").filter(Boolean).map(decoded);
  return { parts, params: new URLSearchParams(cut < 0 ? "" : bare.slice(cut + 1)) };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The fragment of a place. Of `params` what is null, undefined or empty is left out; a list stands several times. */
export function written(parts, params = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "" && one !== false) query.append(name, String(one));
    }
  }
  const text = query.toString();
  return `#/${parts.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

export const here = shared(read(location.hash));
addEventListener("hashchange", () => here.set(read(location.hash)));

/** Parts and parameters of the address, in a component. */
export const useHere = () => useShared(here);

/** The moment's parameters of a place, as an object. */
function momentParams(params = here.get().params) {
  return Object.fromEntries(MOMENT.filter((name) => params.has(name)).map((name) => [name, params.get(name)]));
}

/** The address of another place; the moment goes along unless `now`. */
export const to = (parts, params = {}, { now = false } = {}) =>
  written(parts, { ...(now ? {} : momentParams()), ...params });

/** Go there. `replace`: as if the present place had never been. */
export function go(fragment, { replace = false } = {}) {
  if (replace) history.replaceState(null, "", fragment);
  else history.pushState(null, "", fragment);
  here.set(read(fragment));
}

/** Other parameters at the same place; null takes one away. */
export function setParams(changed, options) {
  const { parts, params } = here.get();
  const all = {};
  for (const name of new Set(params.keys())) all[name] = params.getAll(name);
  go(written(parts, { ...all, ...changed }), options);
}

/** A link to a place: `parts`, `params`; the moment goes along. */
export function To({ parts, params, now = false, children, ...rest }) {
  useHere(); // a new moment makes new links
  return html`<a href=${to(parts, params, { now })} ...${rest}>${children}</a>`;
}
