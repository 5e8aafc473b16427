/** What the service says in sentences, in the page's words where it names them, else as it stands there, marked as English. */

import { html } from "./dom.js";
import { coded, plain, Said } from "./said.js";
import { has, language, like, t } from "./words.js";
import "../words/log.js";
import "../words/memory.js";
import "../words/names.js";
import "../words/reasons.js";
import "../words/refusals.js";
import "../words/rights.js";

/** Values that are names of closed lists, by the place they stand in. */
const NAMES = { level: "level", trust: "trust", known: "trust", tier: "tier", outcome: "outcome", link: "link", actor: "actor", event: "event", resolution: "memory.negate.resolution", face: "face" };

/** A sentence of the service in its own words. */
export const ByService = ({ text, lines }) =>
  language.get() === "en"
    ? html`<${Said} text=${text} lines=${lines} class="by-service" />`
    : html`<span lang="en" class="by-service" title=${t("said.by-service")}><${Said} text=${text} lines=${lines} /></span>`;

/** The words of a code, or null where the page has none. */
export function reasonWords(code, values = {}) {
  if (!code || !has(`why.${code}`)) return null;
  const told = Object.entries(values ?? {}).map(([name, value]) => [name, NAMES[name] ? t(`${NAMES[name]}.${value}`) : value]);
  return t(`why.${code}`, Object.fromEntries(told));
}

/**
 * Why. `code`, `values`: which of the service's sentences `text` is. Without a code it is somebody's own words: `ours` says that a
 * program wrote them.
 */
export function Reason({ text, code, values, ours = true, ...rest }) {
  if (!text) return null;
  const told = reasonWords(code, values);
  if (told !== null) return html`<span dir="auto" class=${`told ${rest.class ?? ""}`}>${plain(told)}</span>`;
  return ours ? html`<${ByService} text=${text} />` : html`<${Said} text=${text} />`;
}

/** The type of an event: its words, and its name as programs know it. */
export const EventName = ({ type }) => html`<span class="told" title=${plain(type)}>${plain(t(`event.${type}`))}</span>`;

/** Who: by the list of actors, with the principal as it is called. */
export const who = (one) => (one.principal ? `${t(`actor.${one.actor}`)} (${one.principal})` : one.actor ? t(`actor.${one.actor}`) : "–");

const NAMED = /^[\w.:/+*#@-]+(?:(?:, | or |, or )[\w.:/+*#@-]+)+$/;
const ONE = /^[\w.:/+*#@-]+$/;

/** What is allowed, in the page's words; null where it has none for it. */
function allowedWords(allowed) {
  const text = String(allowed);
  if (ONE.test(text)) return text;
  if (NAMED.test(text)) return text.split(/, or |, | or /).join(t("list.comma"));
  return like("allowed.", text);
}

/** What went wrong, in a sentence or two. The lead is the page's, what follows is the service's, in words where it has any. */
export function Refusal({ error }) {
  const { detail, field, got, allowed, error: kind } = error.problem ?? {};
  const first = lead(error);
  if (kind === "AccessDenied") return html`<p><strong>${t("rights.denied")}</strong></p>${needed(error.problem) && html`<p>${needed(error.problem)}</p>`}
    ${(!error.problem.verb || language.get() === "en") && html`<p class="muted"><${ByService} text=${detail} /></p>`}`;
  if (!detail) return html`<p><strong>${coded(first ?? error.message)}</strong></p>`;
  const english = language.get() === "en";
  const named = first ?? (!english && has(`error.${kind}`) ? t(`error.${kind}`) : null);
  const said = field !== undefined && allowed !== undefined && allowedWords(allowed) !== null;
  return html`${named && html`<p><strong>${named}</strong></p>`}
    ${(english || !said) && html`<p><${ByService} text=${detail} /></p>`}
    ${field && html`<p class="muted">${t("problem.field")} ${has(`field-name.${field}`) ? `${t(`field-name.${field}`)} ` : ""}<code>${field}</code>
      ${got !== undefined && html` · ${t("problem.got")} <code><${Said} text=${JSON.stringify(got)} /></code>`}
      ${allowed !== undefined && html` · ${t("problem.allowed")} ${said ? html`<span class="told">${allowedWords(allowed)}</span>` : html`<${ByService} text=${String(allowed)} />`}`}</p>`}`;
}

/** Which verb on whom is needed for what was refused; null where it is not told. */
function needed({ verb, owner, mode, actor }) {
  if (!verb) return null;
  const told = { verb: t(`verb.${verb}`), owner: owner ? plain(owner) : t("rights.store") };
  if (mode) return t("rights.denied.mode", { ...told, mode: t(`mode-name.${mode}`) });
  return actor ? t("rights.denied.actor", { ...told, actor: t(`actor.${actor}`) }) : t("rights.denied.needs", told);
}

/** What a listener does not answer: what is about the store as a whole, beyond this machine. */
const isElsewhere = (error) => error?.status === 403 && error.problem?.error === "Forbidden";

function lead(error) {
  if (isElsewhere(error)) return t("rights.elsewhere");
  if (error.problem?.title === "read-only") return t("past.read-only");
  if (error.problem?.title === "dots") return t("problem.dots");
  const known = { 0: "problem.unreachable", 401: "problem.session", 429: "problem.busy", 504: "problem.slow" }[error.status];
  return known ? t(known) : null;
}
