/**
 * The moment that is looked at: two lines (what had happened, what was recorded), two hands (A, and B to compare). A's stand in
 * the address as `as_of` and `known`, B's as `b.as_of` and `b.known`. Nothing of A's: the present, and only there can anything
 * be changed.
 */

import { here, setParams, useHere } from "./location.js";
import { shared, useShared } from "./store.js";

/** While a hand is dragged: `{hand: "a"|"b", line: "as_of"|"known", at: milliseconds|null}`; null otherwise. */
export const preview = shared(null);
export const usePreview = () => useShared(preview);

const NAMES = { a: { as_of: "as_of", known: "known" }, b: { as_of: "b.as_of", known: "b.known" } };

/** Hands and what follows from them. `query` and `queryB` are what a question is told. */
export function useMoment() {
  return momentOf(useHere().params);
}

function momentOf(params) {
  const a = hand(params, "a");
  const b = hand(params, "b");
  const hasB = params.has("b.as_of") || params.has("b.known") || params.get("b") === "now";
  return { a, b: hasB ? b : null, past: Boolean(a.as_of || a.known), query: a, queryB: b };
}

function hand(params, name) {
  const told = {};
  for (const [line, param] of Object.entries(NAMES[name])) if (params.get(param)) told[line] = params.get(param);
  return told;
}

/** Let go of a hand: the address says so, and whoever looks asks once. Milliseconds, a position, or null: the line's present end. */
export function setHand(name, line, at) {
  preview.set(null);
  const changed = { [NAMES[name][line]]: at === null || typeof at === "string" ? at : instant(at) };
  if (name === "b") {
    const { params } = here.get();
    const other = line === "as_of" ? "b.known" : "b.as_of";
    changed.b = at === null && !params.get(other) ? "now" : null;
  }
  setParams(changed);
}

export const backToNow = () => setParams({ as_of: null, known: null });
export const dropB = () => setParams({ "b.as_of": null, "b.known": null, b: null });
/** Hand B appears, at the present. */
export const takeB = () => setParams({ b: "now" });

const DAY = /^\d{4}-\d{2}-\d{2}$/;
/** Whether it is a day. Its end is the owner's midnight, which the service knows; a line of time has it at UTC's. */
export const isDay = (text) => DAY.test(text ?? "");

/** Milliseconds as the API has instants: seconds are enough for a hand. */
export const instant = (at) => new Date(at).toISOString().replace(/\.\d+Z$/, "Z");

/** Milliseconds of what stands in an address: an instant or a day (its end in UTC); null of a position. */
export function parsed(text) {
  if (!text) return null;
  const at = Date.parse(isDay(text) ? `${text}T23:59:59Z` : text);
  return Number.isNaN(at) ? null : at;
}
