/**
 * What changed between two moments: two dates, or the hands of the time bar; memories with what moved, by which events and whose.
 */

import { html, useEffect, useState } from "../core/dom.js";
import { path, usePaged } from "../core/http.js";
import { setParams, To, useHere } from "../core/location.js";
import { parsed, useMoment } from "../core/moment.js";
import { Asked, Button, Check, Chip, Empty, Field, Problem, Screen } from "../core/parts.js";
import { EventName, who } from "../core/reason.js";
import { modeOf } from "../core/rights.js";
import { Id, plain, Said, When } from "../core/said.js";
import { shownMoment } from "../core/timebar.js";
import { number, t, weight } from "../core/words.js";
import "../words/between.js";

const PAGE = 50;
const DAY = 86_400_000;
const TONES = { made: "good", gone: "bad", changed: "cool", crossed: "warn", weight: "none" };
const AGO = [["day", 1], ["week", 7], ["month", 30]];

/**
 * The two hands as `diff` asks for them: one line on which they differ, the earlier one first, and what both have on the other line.
 * `both`: they differ on both lines, which one answer cannot tell apart; `same`: they do not differ; `ahead`: one stands beyond now.
 */
function sidesOf({ a, b }) {
  const other = b ?? {};
  const apart = ["as_of", "known"].filter((line) => a[line] !== other[line]);
  if (apart.length !== 1) return { [apart.length ? "both" : "same"]: true };
  const [line] = apart;
  if ([a, other].some((hand) => parsed(hand[line]) > Date.now())) return { ahead: true };
  const rest = line === "as_of" ? "known" : "as_of";
  const [first, last] = after(a[line], other[line]) ? [other, a] : [a, other];
  const question = { since: first[line], until: last[line], line: line === "as_of" ? "happened" : "known", [rest]: a[rest] };
  return { line, first, last, question };
}

/** Whether one moment is later than another; nothing is now. Of an instant and a position nobody here can tell: the service says so. */
function after(one, other) {
  if (!one || !other) return !one;
  const [at, than] = [parsed(one), parsed(other)];
  if (at !== null && than !== null) return at > than;
  return at === null && than === null && Number(one.split(":")[1]) > Number(other.split(":")[1]);
}

/** Two days of the address as `diff` asks for them; null without them. */
function daysOf(params) {
  const [from, to] = [params.get("from"), params.get("to")];
  if (!from) return null;
  return { line: "as_of", first: { as_of: from }, last: { as_of: to || undefined }, question: { since: from, until: to || undefined, line: "happened" } };
}

export function Compare({ owner }) {
  const { params } = useHere();
  const today = new Date().toISOString().slice(0, 10);
  const [from, setFrom] = useState(params.get("from") ?? "");
  const [to, setTo] = useState(params.get("to") ?? today);
  useEffect(() => {
    setFrom(params.get("from") ?? "");
    setTo(params.get("to") ?? today);
  }, [params]);
  const { mode, options } = modeOf(owner, params.get("mode"), "normal", "replay");
  const go = (event) => {
    event.preventDefault();
    setParams({ from: from || null, to: to && to !== today ? to : null });
  };
  return html`<${Screen} title=${t("screen.compare")} lead=${t("between.what", { owner: plain(owner) })}>
    <form class="form manager-bar" onSubmit=${go}>
      <${Field} label=${t("between.from")} kind="date" value=${from} onChange=${setFrom} max=${today} data-first />
      <${Field} label=${t("between.to")} kind="date" value=${to} onChange=${setTo} max=${today} />
      <${Button} kind="main" type="submit" disabled=${!from}>${t("screen.compare")}<//>
      <${Field} label=${t("memories.mode")} value=${mode} options=${options} onChange=${(one) => setParams({ mode: one === "normal" ? null : one })} />
      <${Check} label=${t("between.weights")} checked=${params.get("weights") === "true"} onChange=${(value) => setParams({ weights: value ? "true" : null })} />
    </form>
    <${Between} owner=${owner} mode=${mode} everything=${params.get("weights") === "true"} />
  <//>`;
}

function Between({ owner, mode, everything }) {
  const { params } = useHere();
  const moment = useMoment();
  const sides = daysOf(params) ?? sidesOf(moment);
  const question = { ...sides.question, mode, everything: everything || undefined };
  if (sides.same) return html`<${Nothing} />`;
  if (sides.both) return html`<${Empty} title=${t("between.both")}><p>${t("between.both.what")}</p><//>`;
  if (sides.ahead) return html`<${Empty} title=${t("between.ahead")}><p>${t("between.ahead.what")}</p><//>`;
  return html`<p class="lead">${t(sides.last[sides.line] ? "between.lead" : "between.lead.now", { from: shownMoment(sides.first[sides.line]), to: shownMoment(sides.last[sides.line]), line: t(sides.line === "as_of" ? "bar.happened" : "bar.known") })}</p>
    <${Found} key=${JSON.stringify(question)} owner=${owner} question=${question} sides=${sides} />`;
}

/** Nothing is chosen yet. */
function Nothing() {
  const back = (days) => setParams({ from: new Date(Date.now() - days * DAY).toISOString().slice(0, 10), to: null });
  return html`<${Empty} title=${t("between.same")} examples=${AGO.map(([name, days]) => [t(`between.since.${name}`), () => back(days)])}><p>${t("between.same.what")}</p><//>`;
}

function Found({ owner, question, sides }) {
  const { asked, rows: all, ...page } = usePaged(path("owners", owner, "diff"), { ...question, limit: PAGE }, "memories");
  return html`<${Asked} of=${asked} what=${t("between.looking")}>${(told) => html`<${Counts} told=${told} />
      ${told.hint && told.on_other_line > 0 && html`<p class="sentence"><${Said} text=${t("between.other-line", { count: number(told.on_other_line) })} /></p>`}
      ${told.owner_changes.profile && html`<p>${t("between.law", { before: t(`law.${told.owner_changes.profile.before}`), after: t(`law.${told.owner_changes.profile.after}`) })}</p>`}
      ${Object.keys(told.owner_changes.parameters).length > 0 && html`<p>${t("between.parameters")}: ${Object.entries(told.owner_changes.parameters).map(([name, one]) => html`<span key=${name} class="figure"><${Id} text=${name} /> ${String(one.before)} → ${String(one.after)} </span>`)}</p>`}
      ${all.length ? html`<ol class="panel plain rules between">${all.map((one) => html`<${Changed} key=${one.id} owner=${owner} one=${one} sides=${sides} />`)}</ol>` : html`<${Empty} title=${t("between.none")}><p>${t("between.none.what")}</p><//>`}
      <${Problem} error=${page.error} />
      ${all.length < told.total && html`<p><${Button} disabled=${page.busy} onClick=${page.more}>${t("between.more", { left: number(told.total - all.length) })}<//></p>`}`}<//>`;
}

function Counts({ told }) {
  const { counts } = told;
  const moved = counts.by_time + counts.by_access + counts.by_owner + counts.by_others;
  return html`<p class="between-counts" role="status">
      ${["made", "gone", "changed", "crossed"].filter((kind) => counts[kind]).map((kind) => html`<${Chip} key=${kind} tone=${TONES[kind]}>${number(counts[kind])} ${t(`between.kind.${kind}`)}<//> `)}
      ${moved > 0 && html`<span class="muted">${t("between.moved", { count: number(moved) })}</span>`}
    ${told.by_principal.length > 0 && html`<span class="muted"> · ${t("between.by")}: ${told.by_principal.slice(0, 8).map((one, index) => html`<span key=${`${one.actor}/${one.principal}`}>${index ? " · " : ""}<${Said} text=${who(one)} /> <span class="figure">${number(one.events)}</span></span>`)}</span>`}</p>`;
}

/** A hand's place in the address; the other one stands as hand B. */
function placed(one, other) {
  const b = { "b.as_of": other.as_of, "b.known": other.known };
  return { ...one, ...(other.as_of || other.known ? b : { b: "now" }) };
}

/** A memory that differs: the link leads to the moment that has it. */
function Changed({ owner, one, sides }) {
  const params = one.kind === "gone" ? placed(sides.first, sides.last) : placed(sides.last, sides.first);
  const { before, after: now } = one;
  return html`<li>
    <p class="line"><${To} now=${true} class="row-link" title=${plain(one.id)} parts=${["owners", owner, "memory", one.id]} params=${params}><${Said} text=${one.memory ?? one.id} lines=${2} /><//>
      <span class="line-age figure">${weight(before?.weight)} → ${weight(now?.weight)}</span></p>
    ${one.was !== null && html`<${Said} as="p" class="muted" text=${`${t("between.was")}: ${one.was}`} lines=${2} />`}
    <p class="card-small"><${Chip} tone=${TONES[one.kind]}>${t(`between.kind.${one.kind}`)}<//>
      ${differences(before, now).map(([name, told]) => html`<span key=${name}>${told}</span>`)}${one.deleted_since && html`<${Chip} tone="bad">${t("between.deleted-since")}<//>`}
      ${one.causes.map((cause) => html`<span key=${cause.position} class="between-cause"><${To} now=${true} title=${cause.position} parts=${["owners", owner, "log"]} params=${{ at: cause.position }}><${EventName} type=${cause.event} /><//> <${When} at=${cause.time} /> · <${Said} text=${who(cause)} />${cause.said_reason && html` · “<${Said} text=${cause.said_reason} />”`}</span>`)}
      ${one.more_causes > 0 && html`<span>${t("memories.facet.more", { count: number(one.more_causes) })}</span>`}
      ${one.cause !== "events" && html`<span>${t(`between.cause.${one.cause}`)}</span>`}</p>
  </li>`;
}

/** What is another on the two sides, in words: states, levels, whether normal mode shows it. */
function differences(before, now) {
  if (!before || !now) return [];
  const told = [];
  for (const [name, of] of [["status", (one) => t(`status.${one.status}`)], ["level", (one) => t(`level.${one.level}`)], ["trust", (one) => t(`trust.${one.trust}`)], ["shown", (one) => (one.shown ? t("field.shown") : t(`reason.${one.reason}`))]]) {
    if (of(before) !== of(now)) told.push([name, `${of(before)} → ${of(now)}`]);
  }
  return told;
}
