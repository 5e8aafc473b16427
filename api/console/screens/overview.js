/** The first screen of an owner: what an agent is always given, facts by topic, what waits for a person, and the latest events. */

import { html, useState } from "../core/dom.js";
import { path, useAsk, useAskWith } from "../core/http.js";
import { go, To, to } from "../core/location.js";
import { useMoment } from "../core/moment.js";
import { Asked, Button, Empty, Panel, Screen } from "../core/parts.js";
import { may, modeOf } from "../core/rights.js";
import { Age, plain, Said } from "../core/said.js";
import { language, number, t } from "../core/words.js";
import { About, byJob, readOn, useNamed } from "./log.js";
import { State } from "./state.js";
import "../words/overview.js";

const ALWAYS = ["instructions", "core", "profile"];
const LATEST = 10;
/** Jobs write the newest events of most owners. */
const LOOKED_AT = 200;
/** What changes a memory by itself; links and levels follow from it. */
const CHANGES = ["Created", "Mentioned", "Negated", "Merged", "Unmerged", "Revised", "Promoted", "Deleted", "Restored", "Erased"].map((one) => `Memory${one}`).concat("SensitivitySet", "ReviewSettled", "ProfileChosen", "SourceSetAside", "SourceBroughtBack");
const OF_A_TOPIC = 4;
const OF_A_PART = 10;
const HELD = ["live", "fading", "proposed"];
/** Kinds that hold what was said, not what follows from it. */
const RAW = ["episode", "turn", "command_output"];
/** The day that a statement ends with: it stands beside it as its age. */
const DAY = /\s*[（(](?:said on )?\d{4}-\d\d-\d\d说?[)）]$/;

export function Overview({ owner }) {
  const moment = useMoment();
  return html`<${Screen} title=${t("screen.overview")} lead=${t("overview.lead", { owner: plain(owner) })}>
    <div class="overview">
      <div><${Always} owner=${owner} moment=${moment} /><${Topics} owner=${owner} moment=${moment} /></div>
      <div><${Waiting} owner=${owner} moment=${moment} />${may("audit", owner) && html`<${Latest} owner=${owner} moment=${moment} />`}</div>
    </div>
  <//>`;
}

/** A memory in a line: its text, what is not as usual, its age. */
function Line({ owner, id, text, memory = {}, at, now }) {
  const said = html`<${Said} text=${(text ?? "").replace(DAY, "")} lines=${2} />`;
  return html`<li>${id ? html`<${To} class="row-link" title=${plain(id)} parts=${["owners", owner, "memory", id]}>${said}<//>` : said}
    <${State} of=${memory} />${at && html`<span class="line-age"><${Age} at=${at} now=${now} /></span>`}</li>`;
}

/** The stable part of the context block. */
function Always({ owner, moment }) {
  const asked = useAskWith(path("owners", owner, "context"), { text: t("overview.greeting"), budget: 1500, trace: false, language: language.get(), ...moment.query });
  return html`<${Asked} of=${asked}>${(block) => {
    const parts = ALWAYS.filter((name) => block.parts[name]?.length);
    if (!parts.length) return html`<${Panel} title=${t("overview.always")}><${Empty} title=${t("overview.none")} examples=${[[t("screen.memories"), () => go(to(["owners", owner, "memories"]))]]}><p>${t("overview.none.what")}</p><//><//>`;
    return parts.map((name) => html`<${Part} key=${name} name=${name} lines=${block.parts[name]} owner=${owner} now=${moment.query.as_of} />`);
  }}<//>`;
}

function Part({ name, lines, owner, now }) {
  const [all, setAll] = useState(lines.length <= OF_A_PART + 2);
  return html`<${Panel} title=${t(`overview.part.${name}`)}><ul class="plain lines">
    ${lines.slice(0, all ? undefined : OF_A_PART).map((line, index) => html`<${Line} key=${index} owner=${owner} id=${line.id} text=${line.text ?? line} at=${line.note?.match(/^\d{4}-\d\d-\d\d/)?.[0]} now=${now} />`)}
  </ul>${!all && html`<${Button} kind="quiet" onClick=${() => setAll(true)}>${t("memories.facet.more", { count: number(lines.length - OF_A_PART) })}<//>`}<//>`;
}

function Waiting({ owner, moment }) {
  const asked = useAsk(may("review", owner) ? path("owners", owner, "inbox") : null, { ...moment.query, limit: 1 });
  if (!asked.data?.total) return null;
  return html`<${Panel} title=${t("overview.waiting")}><p><${To} parts=${["owners", owner, "memories"]} params=${{ view: "inbox" }}>${t("overview.waiting.count", { count: number(asked.data.total) })}<//></p><//>`;
}

/** Categories with their count and their heaviest memories. */
function Topics({ owner, moment }) {
  const { mode } = modeOf(owner, null, "review");
  const asked = useAsk(path("owners", owner, "counts"), { mode, ...moment.query });
  return html`<${Asked} of=${asked}>${(counts) => {
    const found = counts.by_category?.counts.filter((one) => one.count) ?? [];
    const kinds = (counts.by_kind?.counts ?? []).filter((one) => one.count && !RAW.includes(one.value)).map((one) => one.value);
    return found.length > 0 && html`<${Panel} title=${t("overview.topics")}>${found.map((one) => html`<${Topic} key=${one.value} owner=${owner} moment=${moment} category=${one.value} count=${one.count} question=${{ mode, categories: one.value, kinds }} />`)}<//>`;
  }}<//>`;
}

function Topic({ owner, moment, category, count, question }) {
  const asked = useAsk(path("owners", owner, "memories"), { ...question, statuses: HELD, sort: "weight", limit: OF_A_TOPIC, ...moment.query });
  if (asked.data && !asked.data.memories.length) return null;
  return html`<section class="topic"><div class="line"><h3>${t(`category.${category}`)}</h3><${To} class="figure" parts=${["owners", owner, "memories"]} params=${{ categories: category }}>${t("overview.all", { count: number(count) })}<//></div>
    <${Asked} of=${asked}>${(told) => html`<ul class="plain lines">${told.memories.map((one) => html`<${Line} key=${one.id} owner=${owner} id=${one.id} text=${one.memory} memory=${one} at=${one.last_activated_at} now=${moment.query.as_of} />`)}</ul>`}<//></section>`;
}

function Latest({ owner, moment }) {
  const bySomebody = (one) => !byJob(one);
  const asked = useAsk(path("owners", owner, "events"), { types: CHANGES, order: "newest", limit: LOOKED_AT, ...moment.query }, (address, question, signal) => readOn(address, question, bySomebody, signal));
  const events = (asked.data?.events ?? []).filter(bySomebody).slice(0, LATEST);
  const named = useNamed(events);
  return html`<${Panel} title=${t("overview.latest")} actions=${html`<${To} parts=${["owners", owner, "log"]}>${t("screen.log")}<//>`}><${Asked} of=${asked}>${() =>
    events.length ? html`<ul class="plain lines">${events.map((event) => html`<li key=${event.position}><span><${About} event=${event} named=${named} /></span><span class="line-age"><${Age} at=${event.occurred_at} now=${moment.query.as_of} /></span></li>`)}</ul>` : html`<p class="muted">${t("overview.none")}</p>`}<//><//>`;
}
