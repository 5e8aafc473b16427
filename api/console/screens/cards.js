/** One result of a question: rank, words, the parts of its score, the factors of its weight, why it stands above the next. */

import { html, useLayoutEffect, useRef, useState } from "../core/dom.js";
import { path, useAsk } from "../core/http.js";
import { To } from "../core/location.js";
import { Asked, Button, Chip } from "../core/parts.js";
import { Age, plain, Said } from "../core/said.js";
import { language, t, weight } from "../core/words.js";
import { State } from "./state.js";

/** Parts of a score in groups that a reader knows, in the order of the bar. What is in none of them is `other`. */
const GROUPS = {
  words: ["text", "keyword", "phrase", "overlap", "many", "focus"],
  meaning: ["meaning", "asked"],
  talk: ["thread", "neighbour", "session", "opening", "window", "answer", "asks", "context", "project"],
  who: ["speaker", "user", "assistant", "self", "date", "when", "time", "current", "standing", "prefers"],
  weight: ["weight", "strength", "activation", "confidence", "interaction"],
};
const GROUP_OF = Object.fromEntries(Object.entries(GROUPS).flatMap(([group, names]) => names.map((name) => [name, group])));

/** What each group adds to a score; a group that takes away is left to the table of parts. */
const grouped = (parts) =>
  [...Object.keys(GROUPS), "other"].map((group) => [group, parts.reduce((sum, [name, value]) => sum + ((GROUP_OF[name] ?? "other") === group ? value : 0), 0)]).filter(([, value]) => value >= 0.0005);

/** What the colours of these cards' bars mean. */
export function Legend({ cards, children }) {
  const shown = new Set(cards.flatMap((card) => grouped(Object.entries(card.explain?.score ?? {})).map(([group]) => group)));
  return html`<p class="legend"><span>${children}</span>${[...shown].map((group) => html`<span key=${group}><i class=${`g-${group}`}></i>${t(`group.${group}`)}</span>`)}</p>`;
}

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

/** `owner`: whose memory it is. The next card may be another owner's, and is not compared then. */
export function Card({ owner, card, rank, best, weight: now, next, question, mode, moment }) {
  const [open, setOpen] = useState(false);
  const [above, setAbove] = useState(false);
  const place = useMoved(rank);
  const explain = card.explain ?? {};
  const parts = Object.entries(explain.score ?? {}).filter(([, value]) => Math.abs(value) >= 0.0005).sort((a, b) => b[1] - a[1]);
  const gone = rank === null;
  const compared = next && (next.owner ?? owner) === owner;
  return html`<li ref=${place} class=${`card ${gone ? "gone" : ""}`}>
    <div class="card-rank" aria-label=${gone ? t("ask.moved.gone") : t("ask.rank", { rank })}>${gone ? "–" : rank}</div>
    <div class="card-body">
      <p class="card-text"><${To} class="row-link" title=${plain(card.id)} parts=${["owners", owner, "memory", card.id]}><${Said} text=${card.memory} lines=${3} /><//></p>
      <p class="card-small">${card.owner && html`<${Chip} tone="cool" title=${t("owner")}><${Said} text=${card.owner} /><//>`} ${card.created_at && html`<${Age} at=${card.created_at} now=${moment.query.as_of} />`} ${card.speaker && html`· <${Said} text=${card.speaker} />`} <${State} of=${card} />
        <${Button} kind="quiet" aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}>${t("ask.parts")}<//>
        ${compared && html`<${Button} kind="quiet" aria-expanded=${above ? "true" : "false"} onClick=${() => setAbove(!above)}>${t(above ? "ask.above.hide" : "ask.above")}<//>`}</p>
      ${open && html`<${Details} parts=${parts} explain=${explain} />`}
      ${above && compared && html`<${Above} owner=${owner} id=${card.id} other=${next.id} question=${question} mode=${mode} moment=${moment} />`}
    </div>
    <div class="card-score"><${Parts} parts=${parts} best=${best} />
      <span class="figure muted">${card.score !== undefined ? `${t("ask.score", { score: weight(card.score) })} · ` : ""}${t("ask.weight", { weight: weight(now) })}</span></div>
  </li>`;
}

/** The groups of a score as one bar. */
function Parts({ parts, best }) {
  const told = parts.map(([name, value]) => `${t(`part.${name}`)} ${value.toFixed(2)}`).join(", ");
  return html`<div class="score" role="img" aria-label=${told} title=${told}>${grouped(parts).map(([group, value]) => html`<span key=${group} class=${`g-${group}`} style=${{ width: `${(value / best) * 100}%` }}></span>`)}</div>`;
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
  const asked = useAsk(path("owners", owner, "memories", id, "why"), { above: other, query: question, mode, language: language.get(), limit: 1, ...moment.query });
  return html`<${Asked} of=${asked}>${(told) => html`<p class="sentence"><${Said} text=${told.above.sentence} /></p>`}<//>`;
}
