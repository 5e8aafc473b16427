/** The first screen of an owner: what an agent is always given, what waits for a person, topics, and the latest events. */

import { html } from "../core/dom.js";
import { path, useAsk, useAskWith } from "../core/http.js";
import { To } from "../core/location.js";
import { useMoment } from "../core/moment.js";
import { Asked, Empty, Panel, Screen } from "../core/parts.js";
import { may } from "../core/rights.js";
import { Age, plain, Said } from "../core/said.js";
import { language, number, t } from "../core/words.js";
import { About, byJob } from "./log.js";
import "../words/overview.js";

const ALWAYS = ["instructions", "core", "profile"];
const LATEST = 8;
const LOOKED_AT = 40;

export function Overview({ owner }) {
  const moment = useMoment();
  return html`<${Screen} title=${t("screen.overview")} lead=${t("overview.lead", { owner: plain(owner) })}>
    <div class="columns">
      <${Always} owner=${owner} moment=${moment} />
      <div><${Waiting} owner=${owner} moment=${moment} /><${Topics} owner=${owner} moment=${moment} /></div>
      ${may("audit", owner) && html`<${Latest} owner=${owner} moment=${moment} />`}
    </div>
  <//>`;
}

/** The stable part of the context block. */
function Always({ owner, moment }) {
  const asked = useAskWith(path("owners", owner, "context"), { text: t("overview.greeting"), budget: 1500, trace: false, language: language.get(), ...moment.query });
  return html`<div><${Asked} of=${asked}>${(block) => {
    const parts = ALWAYS.filter((name) => block.parts[name]?.length);
    if (!parts.length) return html`<${Panel} title=${t("overview.always")}><${Empty} title=${t("overview.none")}><p>${t("overview.none.what")} <${To} parts=${["owners", owner, "memories"]}>${t("screen.memories")}<//></p><//><//>`;
    return parts.map((name) => html`<${Panel} key=${name} title=${t(`overview.part.${name}`)}><ul class="plain">
      ${block.parts[name].map((line, index) => html`<li key=${index}>${line.id ? html`<${To} class="row-link" title=${plain(line.id)} parts=${["owners", owner, "memory", line.id]}><${Said} text=${line.text} lines=${2} /><//>` : html`<${Said} text=${line.text ?? line} lines=${2} />`}</li>`)}
    </ul><//>`);
  }}<//></div>`;
}

function Waiting({ owner, moment }) {
  const asked = useAsk(may("review", owner) ? path("owners", owner, "inbox") : null, { ...moment.query, limit: 1 });
  if (!asked.data?.total) return null;
  return html`<${Panel} title=${t("overview.waiting")}><p><${To} parts=${["owners", owner, "memories"]} params=${{ view: "inbox" }}>${t("overview.waiting.count", { count: number(asked.data.total) })}<//></p><//>`;
}

/** Categories with their counts, each a filter of the memories. */
function Topics({ owner, moment }) {
  const asked = useAsk(path("owners", owner, "counts"), { mode: "normal", ...moment.query });
  return html`<${Panel} title=${t("overview.topics")}><${Asked} of=${asked}>${(counts) => {
    const rows = counts.by_category?.counts.filter((one) => one.count) ?? [];
    if (!rows.length) return html`<p class="muted">${t("overview.none")}</p>`;
    return html`<p class="topics">${rows.map((one) => html`<${To} key=${one.value} class="chip" parts=${["owners", owner, "memories"]} params=${{ categories: one.value }}>${t(`category.${one.value}`)} <span class="figure">${number(one.count)}</span><//>`)}</p>`;
  }}<//><//>`;
}

function Latest({ owner, moment }) {
  const asked = useAsk(path("owners", owner, "events"), { order: "newest", limit: LOOKED_AT, ...moment.query });
  return html`<${Panel} title=${t("overview.latest")} actions=${html`<${To} parts=${["owners", owner, "log"]}>${t("screen.log")}<//>`}><${Asked} of=${asked}>${(answer) => {
    const events = answer.events.filter((one) => !byJob(one) && one.type !== "MemoriesAccessed").slice(0, LATEST);
    if (!events.length) return html`<p class="muted">${t("overview.none")}</p>`;
    return html`<ul class="plain happened">${events.map((event) => html`<li key=${event.position}><${About} event=${event} /> <span class="muted">· <${Age} at=${event.occurred_at} now=${moment.query.as_of} /></span></li>`)}</ul>`;
  }}<//><//>`;
}
