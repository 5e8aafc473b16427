/** One result of a question: rank, words, the parts of its score, the factors of its weight, why it stands above the next. */

import { html, useLayoutEffect, useRef, useState } from "../core/dom.js";
import { path, useAsk } from "../core/http.js";
import { To } from "../core/location.js";
import { Asked, Button, Chip } from "../core/parts.js";
import { Id, Said, When } from "../core/said.js";
import { language, t, weight } from "../core/words.js";

/** A card moves to its new place instead of jumping there. */
function useMoved(rank) {
  const place = useRef(null);
  const was = useRef(null);
  useLayoutEffect(() => {
    const top = place.current?.offsetTop;
    if (was.current !== null && top !== was.current && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
      place.current.animate([{ transform: `translateY(${was.current - top}px)` }, { transform: "none" }], { duration: 180, easing: "ease-out" });
    }
    was.current = top;
  }, [rank]);
  return place;
}

export function Card({ owner, card, rank, best, weight: now, next, question, mode, moment }) {
  const [open, setOpen] = useState(false);
  const [above, setAbove] = useState(false);
  const place = useMoved(rank);
  const explain = card.explain ?? {};
  const parts = Object.entries(explain.score ?? {}).filter(([, value]) => Math.abs(value) >= 0.0005).sort((a, b) => b[1] - a[1]);
  const gone = rank === null;
  return html`<li ref=${place} class=${`card ${gone ? "gone" : ""}`}>
    <div class="card-rank" aria-label=${gone ? t("ask.moved.gone") : t("ask.rank", { rank })}>${gone ? "–" : rank}</div>
    <div class="card-body">
      <p class="card-text"><${To} parts=${["owners", owner, "memory", card.id]}><${Said} text=${card.memory} lines=${3} /><//></p>
      <p class="card-small"><${Id} text=${card.id} /> ${card.created_at && html`· <${When} at=${card.created_at} />`} ${card.speaker && html`· <${Said} text=${card.speaker} />`}
        ${card.trust && html`<${Chip}>${t(`trust.${card.trust}`)}<//>`} ${card.level !== "full" && html`<${Chip}>${t(`level.${card.level}`)}<//>`}
        ${card.long_ago && html`<${Chip} tone="warn">${t("ask.long-ago")}<//>`} ${card.is_negated && html`<${Chip} tone="warn">${t("reason.negated")}<//>`}
        ${card.status && card.status !== "live" && card.status !== card.trust && html`<${Chip}>${t(`status.${card.status}`)}<//>`}</p>
      <${Parts} parts=${parts} best=${best} />
      <div class="actions">
        <span class="figure muted">${card.score !== undefined ? `${t("ask.score", { score: weight(card.score) })} · ` : ""}${t("ask.weight", { weight: weight(now) })}</span>
        <${Button} kind="quiet" aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}>${t("ask.parts")}<//>
        ${next && html`<${Button} kind="quiet" aria-expanded=${above ? "true" : "false"} onClick=${() => setAbove(!above)}>${t(above ? "ask.above.hide" : "ask.above")}<//>`}
      </div>
      ${open && html`<${Details} parts=${parts} explain=${explain} />`}
      ${above && next && html`<${Above} owner=${owner} id=${card.id} other=${next.id} question=${question} mode=${mode} moment=${moment} />`}
    </div>
  </li>`;
}

/** The parts of a score as one bar; what takes away is told beside. */
function Parts({ parts, best }) {
  const added = parts.filter(([, value]) => value > 0);
  const told = parts.map(([name, value]) => `${t(`part.${name}`)} ${value.toFixed(2)}`).join(", ");
  return html`<div class="score" role="img" aria-label=${told} title=${told}>${added.map(([name, value], index) => html`<span key=${name} class=${`p${index % 6}`} style=${{ width: `${(value / best) * 82}%` }}>${value / best > 0.13 ? t(`part.${name}`) : ""}</span>`)}</div>`;
}

function Details({ parts, explain }) {
  const factors = Object.entries(explain.factors ?? {});
  return html`<div class="columns card-details">
    <table><caption>${t("ask.parts")}</caption><tbody>${parts.map(([name, value]) => html`<tr key=${name}><th scope="row">${t(`part.${name}`)}</th><td class="figure">${value.toFixed(3)}</td></tr>`)}</tbody></table>
    ${factors.length > 0 && html`<table><caption>${t("ask.factors", { law: t(`law.${explain.law}`) })}</caption><tbody>${factors.map(([name, value]) => html`<tr key=${name}><th scope="row">${t(`factor.${name}`)}</th><td class="figure">${value.toFixed(4)}</td></tr>`)}</tbody></table>`}
    ${explain.terms && Object.keys(explain.terms).length > 0 && html`<table><caption>${t("ask.terms")}</caption><tbody>${Object.entries(explain.terms).map(([name, value]) => html`<tr key=${name}><th scope="row"><${Said} text=${name} /></th><td class="figure">${value.toFixed(3)}</td></tr>`)}</tbody></table>`}
  </div>`;
}

function Above({ owner, id, other, question, mode, moment }) {
  const asked = useAsk(path("owners", owner, "memories", id, "above"), { other, query: question, mode, language: language.get(), ...moment.query });
  return html`<${Asked} of=${asked}>${(told) => html`<p class="sentence"><${Said} text=${told.sentence} /></p>`}<//>`;
}
