/** Answers: from a turn to what stood in its prompt, to the memories, to their events. */

import { html, useState } from "../core/dom.js";
import { path, useAsk } from "../core/http.js";
import { go, setParams, To, to, useHere } from "../core/location.js";
import { useMoment } from "../core/moment.js";
import { Asked, Button, Chip, Copy, Empty, Pager, Panel, Screen } from "../core/parts.js";
import { Reason, reasonWords, who } from "../core/reason.js";
import { coded, Id, plain, Said, When } from "../core/said.js";
import { has, number, t, weight } from "../core/words.js";
import { TONES } from "./state.js";
import "../words/ask.js";
import "../words/log.js";

const PAGE = 30;

export function Answers({ owner, id }) {
  return html`<${Screen} title=${t("screen.answers")} lead=${id ? html`<${To} parts=${["owners", owner, "answers"]}>← ${t("answers.back")}<//>` : t("answers.lead")}>
    ${id ? html`<${Answer} owner=${owner} id=${id} />` : html`<${List} owner=${owner} />`}<//>`;
}

function List({ owner }) {
  const moment = useMoment();
  const { params } = useHere();
  const offset = Number(params.get("offset") ?? 0) || 0;
  const asked = useAsk(path("owners", owner, "answers"), { limit: PAGE, offset, session: params.get("session") || undefined, ...moment.query });
  return html`<${Asked} of=${asked}>${(told) => told.answers.length
    ? html`<ol class="panel plain rules answers">${told.answers.map((one) => html`<li key=${one.id}>
        <p class="line"><${To} class="row-link" title=${plain(one.id)} parts=${["owners", owner, "answers", one.id]}>${one.turn ? html`<${Said} text=${one.turn.text} lines=${2} />` : html`<${Id} text=${one.id} /> (${t("answers.untold")})`}<//> <span class="line-age"><${When} at=${one.injected_at} /></span></p>
        ${one.replies?.[0] && html`<${Said} as="p" class="muted" text=${`${t("answers.replied")}: ${one.replies[0].text}`} lines=${2} />`}
        <p class="card-small">${t("memories.total", { count: number(one.memories) })} ${one.session && html`· <button type="button" class="as-link" onClick=${() => setParams({ session: one.session, offset: null })}><${Said} text=${one.session} /></button>`}</p></li>`)}</ol>
      <${Pager} offset=${offset} shown=${told.answers.length} total=${told.total} page=${PAGE} onMove=${(next) => setParams({ offset: next || null })} />`
    : html`<${Empty} title=${t("answers.none")} commands=${[`engramlog context ${/^[\w.-]+$/.test(owner) ? owner : `'${owner.replaceAll("'", "'\\''")}'`} "What does she drink?" --turn turn-1 --trace`]} examples=${[[t("answers.none.try"), () => go(to(["owners", owner, "ask"], { q: t("ask.example.likes"), tab: "context" }))]]}><p>${coded(t("answers.none.what"))}</p><//>`}<//>`;
}

function Answer({ owner, id }) {
  const moment = useMoment();
  const asked = useAsk(path("owners", owner, "answers", id), moment.query);
  return html`<${Asked} of=${asked}>${(told) => html`
      <${Panel}>
        <p class="memory-text" title=${plain(told.id)}>${told.turn ? html`<span class="muted">${t("answers.asked")}: </span><${Said} text=${told.turn.text} />` : t("answers.untold")}</p>
        ${(told.replies ?? []).map((one) => html`<p key=${one.turn_id}><span class="muted">${t("answers.replied")}: </span><${Said} text=${one.text} /></p>`)}
        <p class="memory-small"><${When} at=${told.injected_at} /> ${told.session && html`· <${Said} text=${told.session} />`}</p>
        ${told.note && html`<p class="muted">${t("answers.nothing")}</p>`}
      <//>
      <${Panel} title=${t("answers.put-in")}><div class="table-box" tabindex="0" role="group" aria-label=${t("answers.put-in")}><table><thead><tr><th class="figure">${t("answers.rank")}</th><th>${t("answers.then")}</th><th class="wide-only">${t("answers.part")}</th><th class="figure">${t("answers.weight")}</th><th class="wide-only">${t("answers.trust")}</th><th>${t("answers.today")}</th></tr></thead>
        <tbody>${told.injected_memories.map((one) => html`<tr key=${one.id}><td class="figure">${one.rank ?? "–"}</td>
          <td><${To} class="row-link" title=${plain(one.id)} parts=${["owners", owner, "memory", one.id]}><${Said} text=${one.memory ?? one.id} lines=${2} /><//> ${one.withheld && html`<${Chip} tone="bad">${t(has(`mark.${one.withheld}`) ? `mark.${one.withheld}` : `reason.${one.withheld}`)}<//>`}</td>
          <td class="wide-only">${one.part ? t(`ask.context.part.${one.part}`) : "–"}</td><td class="figure">${weight(one.weight)}</td><td class="wide-only">${one.trust ? t(`trust.${one.trust}`) : "–"}</td>
          <td>${one.status === "live" ? html`<span class="muted">${t("status.live")}</span>` : html`<${Chip} tone=${TONES[one.status]}>${t(`status.${one.status}`)}<//>`} ${one.since?.length > 0 && html`<span class="muted">${t("answers.since", { what: one.since.map((what) => t(`reason.${what}`)).join(", ") })}</span>`}</td></tr>`)}</tbody></table></div><//>
      ${told.outcomes.length > 0 && html`<${Panel} title=${t("answers.outcomes")}><ul class="plain">${told.outcomes.map((one, index) => html`<li key=${index}><${When} at=${one.at} /> <${To} parts=${["owners", owner, "memory", one.memory]}><${Said} text=${told.injected_memories.find((other) => other.id === one.memory)?.memory ?? one.memory} lines=${1} /><//> <${Chip} tone=${one.outcome === "task_failure" ? "bad" : "good"}>${t(`outcome.${one.outcome}`)}<//> <span class="muted"><${Said} text=${who(one)} /></span></li>`)}</ul><//>`}
      ${[...told.injected].reverse().map((one) => html`<${Block} key=${one.position} owner=${owner} injected=${one} />`)}`}<//>`;
}

/** A block as it was handed out, and whether that can be proven. */
function Block({ owner, injected }) {
  const { block, made } = injected;
  const same = block.as_it_was === true ? ["good", "same"] : block.as_it_was === false ? ["bad", "differs"] : ["warn", "unknown"];
  const [open, setOpen] = useState(true);
  return html`<${Panel} title=${t("answers.block")} actions=${html`<${Chip} tone=${same[0]} title=${reasonWords(block.why_code) ?? block.why}>${t(`answers.block.${same[1]}`)}<//> <${Copy} text=${block.text} /> <${Button} kind="quiet" aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}>${open ? "▴" : "▾"}<//>`}>
    <p class="muted"><${When} at=${injected.at} /> · <${To} parts=${["owners", owner, "log"]} params=${{ at: injected.position }}><${Id} text=${injected.position} /><//> · <${Reason} text=${block.why} code=${block.why_code} values=${{ memory: block.withheld.map((one) => `${plain(one.id)} (${t(has(`mark.${one.reason}`) ? `mark.${one.reason}` : `reason.${one.reason}`)})`).join(", ") }} /> ${made && html`· ${t("ask.context.used", { tokens: number(block.tokens), budget: number(made.budget) })}`}</p>
    ${open && (typeof block.stable === "string" ? [block.stable, block.turn] : [block.text]).filter(Boolean).map((text, index) => html`<pre key=${index} tabindex="0"><${Said} text=${text} /></pre>`)}
    ${injected.read_at && html`<${Button} onClick=${() => setParams({ as_of: injected.read_at })}>${t("log.then")}<//>`}
  <//>`;
}
