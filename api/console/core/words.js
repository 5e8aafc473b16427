/** Words in two languages, equals of each other: every key has both, and a test looks. */

import { shared, useShared } from "./store.js";

const LANGUAGE = "engramlog.language";
const LANGUAGES = ["en", "zh"];
const all = {};

function first() {
  const kept = localStorage.getItem(LANGUAGE);
  if (LANGUAGES.includes(kept)) return kept;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

export const language = shared(first());
const shown = () => document.documentElement.setAttribute("lang", language.get() === "zh" ? "zh-CN" : "en");
shown();
language.listen((chosen) => {
  localStorage.setItem(LANGUAGE, chosen);
  shown();
});

/** Add words: `{key: [English, Chinese]}`. */
export function words(more) {
  Object.assign(all, more);
}

/**
 * The words of a key, `{name}` filled from `values`; a key that nobody knows is shown as its last part, as the service told it.
 * `[one|many]` is the first where `values.count` is one: `{count} [memory|memories]`.
 */
export function t(key, values = {}) {
  const pair = all[key];
  if (!pair) return key.slice(key.indexOf(".") + 1);
  const form = String(values.count) === "1" ? "$1" : "$2";
  return pair[LANGUAGES.indexOf(language.get())].replace(/\[([^\]|]*)\|([^\]]*)\]/g, form).replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/** Whether there are words of a key. */
export const has = (key) => Object.hasOwn(all, key);

const patterns = new Map();
const PLACE = /\\\{(\w+)\\\}/g;

/** The words of the key, among those that begin so, whose English is this text but for its places; null where there is none. */
export function like(beginning, text) {
  if (!patterns.has(beginning)) {
    const keys = Object.keys(all).filter((key) => key.startsWith(beginning));
    const escaped = (key) => all[key][0].replace(/[\\^$.*+?()[\]{}|]/g, "\\$&").replace(PLACE, "(?<$1>[^\\s]+?)");
    patterns.set(beginning, keys.map((key) => [key, new RegExp(`^${escaped(key)}$`)]));
  }
  for (const [key, pattern] of patterns.get(beginning)) {
    const found = text.match(pattern);
    if (found) return t(key, found.groups);
  }
  return null;
}

/** Draw anew when the language changes. */
export const useLanguage = () => useShared(language);

/** A number as people of the language write it. */
export const number = (value, digits = 0) =>
  value === null || value === undefined
    ? "–"
    : value.toLocaleString(language.get() === "zh" ? "zh-CN" : "en-GB", {
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
      });

/** A weight or score, always with as many digits. */
export const weight = (value) => (value === null || value === undefined ? "–" : value.toFixed(3));
