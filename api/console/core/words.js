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
