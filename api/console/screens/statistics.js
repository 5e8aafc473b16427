/** Counts of an owner's memories, how their weights are spread, and what happened to them. */

import { html, useEffect } from "../core/dom.js";
import { path, useAsk } from "../core/http.js";
import { useMoment } from "../core/moment.js";
import { Asked, Bar, Panel } from "../core/parts.js";
import { number, t, weight } from "../core/words.js";

export function Statistics({ owner, refreshed }) {
  const asked = useAsk(path("owners", owner, "stats"), useMoment().query);
  useEffect(() => {
    if (refreshed) asked.reload();
  }, [refreshed]);
  return html`<${Asked} of=${asked}>${(told) => html`
    <div class="figures">
      <${Figure} value=${number(told.memories)} name=${t("operate.memories")} />
      <${Figure} value=${number(told.shown_in_normal_mode)} name=${t("stats.shown")} />
      <${Figure} value=${number(told.events)} name=${t("operate.events")} />
      <${Figure} value=${number(told.secret)} name=${t("memory.secret")} />
      <${Figure} value=${weight(told.weights.median)} name=${t("stats.mean")} />
      <${Figure} value=${t(`law.${told.profile}`)} name=${t("stats.profile")} />
    </div>
    <div class="columns">
      <${Counts} title=${t("stats.by_state")} counts=${told.by_state} words="status" />
      <${Counts} title=${t("stats.by_level")} counts=${told.by_level} words="level" />
      <${Counts} title=${t("stats.by_category")} counts=${told.by_category} words="category" />
      <${Weights} told=${told.weights} />
      <${Counts} title=${t("stats.figures")} counts=${onlyNumbers(told.figures)} words="figure" />
    </div>`}<//>`;
}

const onlyNumbers = (told) => Object.fromEntries(Object.entries(told).filter(([, value]) => typeof value === "number"));

export const Figure = ({ value, name }) => html`<div class="figure-box"><strong class="figure">${value}</strong><span class="muted">${name}</span></div>`;

function Counts({ title, counts, words }) {
  const entries = Object.entries(counts).filter(([, count]) => count);
  if (!entries.length) return null;
  const most = Math.max(...entries.map(([, count]) => count), 1);
  return html`<${Panel} title=${title}><table><tbody>${entries.map(([name, count]) => html`<tr key=${name}><th scope="row">${t(`${words}.${name}`)}</th>
    <td class="figure">${number(count)}</td><td><${Bar} share=${count / most} label=${`${count}`} /></td></tr>`)}</tbody></table><//>`;
}

function Weights({ told }) {
  const most = Math.max(...told.buckets.map((one) => one.memories), 1);
  return html`<${Panel} title=${t("stats.weights", { law: t(`law.${told.law}`) })}><table><tbody>${told.buckets.map((one, index) => html`<tr key=${index}>
    <th scope="row" class="figure">${one.up_to === null ? t("stats.over", { from: told.buckets[index - 1].up_to }) : `≤ ${one.up_to}`}</th>
    <td class="figure">${number(one.memories)}</td><td><${Bar} share=${one.memories / most} label=${`${one.memories}`} /></td></tr>`)}</tbody></table><//>`;
}
