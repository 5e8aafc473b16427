/** What would be put into the model's prompt for a question, part by part and whole. */

import { html, useState } from "../core/dom.js";
import { path, useAskWith } from "../core/http.js";
import { To } from "../core/location.js";
import { Asked, Bar, Copy, Field, Panel, useQuiet } from "../core/parts.js";
import { plain, Said } from "../core/said.js";
import { language, number, t } from "../core/words.js";

const PARTS = ["instructions", "core", "profile", "remembered", "earlier", "retrieved", "tools", "unconfirmed"];

export function Context({ owner, owners, question, moment }) {
  const [budget, setBudget] = useState("1500");
  const quiet = useQuiet(budget, 500);
  const asked = useAskWith(path("owners", owner, "context"), { text: question, budget: Number(quiet) || 1500, owners, trace: false, language: language.get(), ...moment.query });
  return html`<div class="form"><${Field} label=${t("ask.context.budget")} kind="number" min="50" max="20000" step="100" value=${budget} onChange=${setBudget} /></div>
    <${Asked} of=${asked}>${(told) => html`<div class="columns context">
      <div><${Half} name="stable" text=${told.stable} told=${told} /><${Half} name="turn" text=${told.turn} told=${told} />
        ${told.others?.length ? html`<p class="muted figure">${t("ask.context.used", { tokens: number(told.tokens), budget: number(told.budget) })}</p>
          ${[told, ...told.others].map((of) => html`<p key=${of.owner} class="muted figure">${t("ask.context.of", { owner: plain(of.owner), stable: number(of.sizes.stable), turn: number(of.sizes.turn) })}</p>`)}`
          : html`<p class="muted figure">${t("ask.context.sizes", { stable: number(told.sizes.stable), turn: number(told.sizes.turn), conversation: number(told.sizes.conversation) })}</p>`}
        ${Object.keys(told.dropped).length > 0 && html`<p class="muted">${t("ask.context.dropped", { what: Object.entries(told.dropped).map(([name, count]) => `${t(`ask.context.part.${name}`)}: ${count}`).join(", ") })}</p>`}
      </div>
      <div>${[{ owner, parts: told.parts }, ...(told.others ?? [])].map((of) => PARTS.filter((name) => of.parts[name]?.length).map((name) => html`<${Panel} key=${`${of.owner}/${name}`} title=${of.owner === owner ? t(`ask.context.part.${name}`) : `${plain(of.owner)}: ${t(`ask.context.part.${name}`)}`}><ul class="plain">
        ${of.parts[name].map((one, index) => html`<li key=${index}>${one.id ? html`<${To} class="row-link" title=${plain(one.id)} parts=${["owners", of.owner, "memory", one.id]}><${Said} text=${one.text} lines=${3} /><//>` : html`<${Said} text=${one.text ?? one} lines=${3} />`} ${one.note && html`<span class="muted"><${Said} text=${one.note} /></span>`}</li>`)}
      </ul><//>`))}</div>
    </div>`}<//>`;
}

/** One of two parts: what stays the same from turn to turn, or what is of this turn. */
function Half({ name, text, told }) {
  const tokens = [told, ...(told.others ?? [])].reduce((sum, of) => sum + of.sizes[name], 0);
  return html`<${Panel} title=${t(`ask.context.${name}`)} actions=${html`<${Used} tokens=${tokens} budget=${told.budget} /><${Copy} text=${text} />`}>
    <p class="muted">${t(`ask.context.${name}.what`)}</p><${Text} text=${text} /><//>`;
}

function Used({ tokens, budget }) {
  return html`<span class="muted figure">${t("ask.context.used", { tokens: number(tokens), budget: number(budget) })}</span> <${Bar} share=${tokens / budget} label=${t("ask.context.used", { tokens, budget })} />`;
}

function Text({ text }) {
  return text ? html`<pre tabindex="0"><${Said} text=${text} /></pre>` : html`<p class="muted">${t("ask.context.empty")}</p>`;
}
