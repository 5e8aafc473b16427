/** What would be put into the model's prompt for a question, part by part and whole. */

import { html, useState } from "../core/dom.js";
import { path, useAskWith } from "../core/http.js";
import { To } from "../core/location.js";
import { Asked, Bar, Copy, Field, Panel, useQuiet } from "../core/parts.js";
import { Id, Said } from "../core/said.js";
import { language, number, t } from "../core/words.js";

const PARTS = ["core", "instructions", "remembered", "retrieved", "tools"];

export function Context({ owner, question, moment }) {
  const [budget, setBudget] = useState("1500");
  const quiet = useQuiet(budget, 500);
  const asked = useAskWith(path("owners", owner, "context"), { text: question, budget: Number(quiet) || 1500, trace: false, language: language.get(), ...moment.query });
  return html`<div class="form"><${Field} label=${t("ask.context.budget")} kind="number" min="50" max="20000" step="100" value=${budget} onChange=${setBudget} /></div>
    <${Asked} of=${asked}>${(told) => html`<div class="columns context">
      <${Panel} title=${t("ask.context.block")} actions=${html`<span class="muted figure">${t("ask.context.used", { tokens: number(told.tokens), budget: number(told.budget) })}</span> <${Bar} share=${told.tokens / told.budget} label=${t("ask.context.used", { tokens: told.tokens, budget: told.budget })} /><${Copy} text=${told.block} />`}>
        ${told.block ? html`<pre tabindex="0"><${Said} text=${told.block} /></pre>` : html`<p class="muted">${t("ask.context.empty")}</p>`}
        ${Object.keys(told.dropped).length > 0 && html`<p class="muted">${t("ask.context.dropped", { what: Object.entries(told.dropped).map(([name, count]) => `${t(`ask.context.part.${name}`)}: ${count}`).join(", ") })}</p>`}
      <//>
      <div>${PARTS.filter((name) => told.parts[name]?.length).map((name) => html`<${Panel} key=${name} title=${t(`ask.context.part.${name}`)}><ul class="plain">
        ${told.parts[name].map((one, index) => html`<li key=${index}>${one.id ? html`<${To} parts=${["owners", owner, "memory", one.id]}><${Id} text=${one.id} /><//> ` : ""}<${Said} text=${one.text ?? one} lines=${3} /> ${one.note && html`<span class="muted"><${Said} text=${one.note} /></span>`}</li>`)}
      </ul><//>`)}</div>
    </div>`}<//>`;
}
