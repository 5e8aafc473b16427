/**
 * What whoever signed in may do, as `/v1/me` tells it. By it screens, actions and modes are offered or not; what is refused all
 * the same is told as the service says it. It is asked anew each while, and where something was refused: grants change.
 */

import { MODES } from "./choices.js";
import { ask, denied, path } from "./http.js";
import { useReadOnly } from "./parts.js";
import { token } from "./session.js";
import { shared, useShared } from "./store.js";
import { t } from "./words.js";
import "../words/rights.js";

/** Who asks, as the service told; null until it has. */
export const me = shared(null);
export const AGAIN_MS = 20_000;

let asking = null;

/** Ask who one is. Rights that are as they were change nothing. */
export function learn() {
  asking ??= ask(path("me"))
    .then((told) => {
      if (JSON.stringify(told) !== JSON.stringify(me.get())) me.set(told);
      return told;
    })
    .finally(() => (asking = null));
  return asking;
}
token.listen(() => me.set(null));
denied.listen(() => me.get() && learn().catch(() => null));

export const useMe = () => useShared(me);

/** Whether a pattern of a grant covers an owner; no name of the store's own is covered by any. */
function covers(pattern, owner) {
  if (owner.startsWith(":")) return false;
  return pattern === "*" || (pattern.endsWith("/*") ? owner.startsWith(pattern.slice(0, -1)) : owner === pattern);
}

function grants(one, verb, owner, { mode, actor }) {
  if (!one.verbs.includes(verb) || (mode && !one.modes.includes(mode)) || (actor && !one.actors.includes(actor))) return false;
  return owner === null ? one.owners.includes("*") : one.owners.some((pattern) => covers(pattern, owner));
}

/** What is asked of each: the key's grants, and what a token made of it narrows them to. */
const layersOf = (told) => [told.grants, ...(told.narrowed_to ? [told.narrowed_to] : [])];

/** Whether one may do this to an owner; null: to the store as a whole. `how`: by which mode, as which actor. */
export function may(verb, owner, how = {}) {
  const told = me.get();
  if (!told || told.unlimited) return Boolean(told);
  return layersOf(told).every((layer) => layer.some((one) => grants(one, verb, owner, how)));
}

/** Why one may not, in words; undefined where one may. */
export const whyNot = (verb, owner, how) => (may(verb, owner, how) ? undefined : t("rights.needs", { verb: t(`verb.${verb}`) }));

/** Why something cannot be changed now: the past is read-only, and who may not may not. Said by the user. */
export function useWhyNot(verb, owner) {
  const past = useReadOnly();
  useMe();
  return past ?? whyNot(verb, owner, { actor: "user" });
}

/** The modes by which one may do this. */
export const modesOf = (owner, verb = "read") => MODES.filter((mode) => may(verb, owner, { mode }));

/** The mode that is told, else the usual one, else one that one may read by; and all there are to choose from. */
export function modeOf(owner, told, usual, verb = "read") {
  const allowed = modesOf(owner, verb);
  const mode = told ?? (allowed.includes(usual) || !allowed.length ? usual : allowed[0]);
  const modes = allowed.includes(mode) ? allowed : [...allowed, mode];
  return { mode, options: modes.map((one) => [one, t(`mode.${one}`)]) };
}

/** The one owner that all grants name; null where there are others. */
export function onlyOwner() {
  const told = me.get();
  if (!told || told.unlimited) return null;
  const names = new Set(layersOf(told)[0].flatMap((one) => one.owners));
  const [name] = names;
  return names.size === 1 && name !== "*" && !name.endsWith("/*") ? name : null;
}
