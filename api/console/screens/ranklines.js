/** Two rankings side by side, with a line for each memory between its ranks. */

import { html } from "../core/dom.js";
import { To } from "../core/location.js";
import { Chip } from "../core/parts.js";
import { plain, Said } from "../core/said.js";
import { t, weight } from "../core/words.js";
import { ByText } from "./verbs.js";

const ROW = 52;

/** @param {{left: {id: string, memory?: string, weight?: number}[], right: object[], moved?: {id: string, passed?: string | null}[]}} told */
export function RankLines({ owner, left, right, leftTitle, rightTitle, moved = [] }) {
  const atLeft = new Map(left.map((one, index) => [one.id, index]));
  const atRight = new Map(right.map((one, index) => [one.id, index]));
  const texts = new Map([...left, ...right].map((one) => [one.id, one]));
  const passed = new Map(moved.map((one) => [one.id, [one.passed ?? []].flat().filter((id) => texts.get(id)?.memory)]));
  const named = (id) => `“${plain(texts.get(id).memory).slice(0, 24)}”`;
  const tall = Math.max(left.length, right.length, 1) * ROW;
  const both = left.filter((one) => atRight.has(one.id));
  const describe = (index, other) => (other === undefined ? t("ask.moved.gone") : other === index ? t("ask.moved.same") : `→ ${other + 1}`);
  const column = (ones, title, others, mine) => html`<section class=${`rank-column ${mine}`} aria-label=${title}><h2>${title}</h2><ol>
    ${ones.map((one, index) => html`<li key=${one.id} title=${plain(one.id)} style=${{ height: `${ROW}px` }} class=${others.has(one.id) ? (others.get(one.id) === index ? "" : "moves") : "alone"}>
      <span class="card-rank">${index + 1}</span>
      <div><${To} parts=${["owners", owner, "memory", one.id]}>${texts.get(one.id)?.memory ? html`<${Said} text=${texts.get(one.id).memory} lines=${1} />` : html`<${ByText} owner=${owner} id=${one.id} lines=${1} />`}<//>
      <span class="row-small">${one.weight !== undefined && html`<span class="figure">${t("ask.weight", { weight: weight(one.weight) })}</span>`}
        ${mine === "right" && !others.has(one.id) ? html`<${Chip} tone="good">${t("ask.moved.new")}<//>` : ""}
        ${mine === "left" ? html`<span class="out-of-sight">${describe(index, others.get(one.id))}</span>` : ""}
        ${mine === "left" && !others.has(one.id) ? html`<${Chip} tone="bad">${t("ask.moved.gone")}<//>` : ""}
        ${mine === "right" && passed.get(one.id)?.length ? html`<span>${t("ask.passed", { ids: passed.get(one.id).slice(0, 3).map(named).join(", ") })}</span>` : ""}</span></div></li>`)}
  </ol></section>`;
  return html`<div class="rank-lines">
    ${column(left, leftTitle, atRight, "left")}
    <svg viewBox=${`0 0 100 ${tall}`} preserveAspectRatio="none" style=${{ height: `${tall}px` }} aria-hidden="true">
      ${both.map((one) => {
        const from = (atLeft.get(one.id) + 0.5) * ROW;
        const to = (atRight.get(one.id) + 0.5) * ROW;
        return html`<path key=${one.id} class=${to < from ? "up" : to > from ? "down" : "same"} d=${`M0 ${from} C 50 ${from} 50 ${to} 100 ${to}`} />`;
      })}
    </svg>
    ${column(right, rightTitle, atLeft, "right")}
  </div>`;
}
