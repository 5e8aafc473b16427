/** What if: the same history without something, or by other numbers, beside what holds; and from there to a retraction for good. */

import { KINDS, LAWS } from "../core/choices.js";
import { html, useState } from "../core/dom.js";
import { askWith, path, tell, useAsk, useAskWith } from "../core/http.js";
import { setParams, To, useHere } from "../core/location.js";
import { useMoment } from "../core/moment.js";
import { Asked, Button, Check, Chip, Confirm, Copy, Empty, Field, note, Panel, Screen, Typed } from "../core/parts.js";
import { may, modeOf, useWhyNot, whyNot } from "../core/rights.js";
import { plain, Said } from "../core/said.js";
import { number, t, weight } from "../core/words.js";
import { RankLines } from "./ranklines.js";
import { ByText, Named } from "./verbs.js";
import { ParameterPicker } from "./parameters.js";
import "../words/ask.js";
import "../words/whatif.js";

const PAGE = 40;

/** What stands in the address, as the service is asked. Null: nothing is changed. */
function wanted(params, owner) {
  const body = {};
  for (const name of ["without", "without_turns", ...KINDS.map((kind) => `without_${kind}`)]) if (params.has(name)) body[name] = params.getAll(name);
  const struck = Object.keys(body).length > 0;
  if (params.get("law")) body.profile = params.get("law");
  if (params.has("set")) body.parameters = Object.fromEntries(params.getAll("set").map(setting).filter(Boolean));
  const changed = Boolean(body.profile || body.parameters);
  if (!struck && !changed) return null;
  if (params.get("alone")) body.alone = true;
  body.mode = modeOf(owner, params.get("mode"), "normal", "replay").mode;
  const questions = params.getAll("q").filter(Boolean);
  if (questions.length) body.queries = questions;
  return { body, struck, changed };
}

/** `name=value`, as numbers and truths are meant. */
function setting(text) {
  const at = text.indexOf("=");
  if (at < 1) return null;
  const value = text.slice(at + 1);
  const meant = value === "true" ? true : value === "false" ? false : value !== "" && !Number.isNaN(Number(value)) ? Number(value) : value;
  return [text.slice(0, at), meant];
}

export function WhatIf({ owner }) {
  const { params } = useHere();
  const moment = useMoment();
  const asked = wanted(params, owner);
  return html`<${Screen} title=${t("screen.whatif")} lead=${t("whatif.lead")} actions=${asked && html`<${Copy} text=${location.href} label=${t("whatif.link")} /><${Button} onClick=${() => setParams(Object.fromEntries([...new Set(params.keys())].filter((one) => !["as_of", "known", "b", "b.as_of", "b.known"].includes(one)).map((one) => [one, null])))}>${t("whatif.clear")}<//>`}>
    <div class="whatif">
      <div>
        <${Panel} title=${t("whatif.strike")}><${Strikes} owner=${owner} params=${params} moment=${moment} /><//>
        <${Panel} title=${t("whatif.change")}><${Numbers} params=${params} /><//>
        <${Panel} title=${t("whatif.questions")}><${Questions} owner=${owner} params=${params} /><//>
      </div>
      <div>${asked ? html`<${Outcome} owner=${owner} asked=${asked} moment=${moment} />` : html`<${Empty} title=${t("whatif.start")} examples=${[[t("whatif.example.actor"), () => setParams({ without_actors: "assistant" })], [t("whatif.example.law"), () => setParams({ law: "ebbinghaus" })]]}><p>${t("whatif.start.what")}</p><//>`}</div>
    </div>
  <//>`;
}

function Strikes({ owner, params, moment }) {
  return html`<div class="form stacked">
    ${[["without", "events"], ["without_turns", "turns"]].map(([name, word]) => html`<${Typed} key=${name} label=${t(`whatif.${word}`)} value=${params.getAll(name).join(" ")} onChange=${(text) => setParams({ [name]: text.split(/\s+/).filter(Boolean) })} />`)}
    ${KINDS.map((kind) => html`<${Picker} key=${kind} owner=${owner} kind=${kind} params=${params} moment=${moment} />`)}
    <${Check} label=${t("whatif.alone")} checked=${params.get("alone") === "true"} onChange=${(value) => setParams({ alone: value ? "true" : null })} />
  </div>`;
}

/** Names that spoke to the owner, to strike: those chosen, and a list to add from. */
function Picker({ owner, kind, params, moment }) {
  const name = `without_${kind}`;
  const chosen = params.getAll(name);
  const [wants, setWants] = useState(false);
  const asked = useAsk(wants && may("audit", owner) ? path("owners", owner, "sources") : null, { by: kind.slice(0, -1), limit: 200, ...moment.query });
  const rest = (asked.data?.sources ?? []).filter((one) => !chosen.includes(one.name));
  return html`<div onFocusIn=${() => setWants(true)} onPointerEnter=${() => setWants(true)}>
    <${Field} label=${t(`whatif.${kind}`)} value="" options=${[["", t("whatif.add")], ...rest.map((one) => [one.name, `${plain(one.name)} (${number(one.events)})`])]} onChange=${(one) => one && setParams({ [name]: [...chosen, one] })} />
    ${chosen.map((one) => html`<span key=${one} class="chosen-name"><${Said} text=${one} /><${Button} kind="quiet" aria-label=${`${t("close")}: ${plain(one)}`} onClick=${() => setParams({ [name]: chosen.filter((other) => other !== one) })}>✕<//></span>`)}</div>`;
}

function Numbers({ params }) {
  const set = params.getAll("set");
  return html`<div class="form stacked">
    <${Field} label=${t("memory.law")} value=${params.get("law") ?? ""} options=${[["", t("whatif.law.own")], ...LAWS.map((one) => [one, t(`law.${one}`)])]} onChange=${(one) => setParams({ law: one || null })} />
    ${set.map((one) => html`<span key=${one} class="chosen-name"><code><${Said} text=${one} /></code><${Button} kind="quiet" aria-label=${`${t("close")}: ${plain(one)}`} onClick=${() => setParams({ set: set.filter((other) => other !== one) })}>✕<//></span>`)}
    <${ParameterPicker} onSet=${(name, value) => setParams({ set: [...set.filter((one) => !one.startsWith(`${name}=`)), `${name}=${value}`] })} />
  </div>`;
}

function Questions({ owner, params }) {
  const { mode, options } = modeOf(owner, params.get("mode"), "normal", "replay");
  return html`<div class="form stacked"><${Typed} hideLabel=${true} label=${t("whatif.questions")} kind="textarea" value=${params.getAll("q").join("\n")} onChange=${(text) => setParams({ q: text.split("\n").map((one) => one.trim()).filter(Boolean).slice(0, 20) })} />
    <${Field} label=${t("whatif.mode")} value=${mode} options=${options} onChange=${(one) => setParams({ mode: one === "normal" ? null : one })} /></div>`;
}

function Outcome({ owner, asked, moment }) {
  const [limit, setLimit] = useState(PAGE);
  const why = useWhyNot("correct", owner) ?? whyNot("audit", owner);
  const [retracts, setRetracts] = useState(false);
  const told = useAskWith(path("owners", owner, "replay"), { ...asked.body, limit, ...moment.query });
  return html`<${Asked} of=${told}>${(found) => html`
    <div class="outcome-head"><strong>${t("whatif.differences", { count: number(found.total) })}</strong>
      ${found.struck_total > 0 && html`<span>${t("whatif.struck", { count: number(found.struck_total) })} (${Object.entries(found.struck_because).map(([name, count]) => t("whatif.struck.because", { count: number(count), why: t(`because.${name}`) })).join(", ")})</span>`}
      <span class="muted">${t("whatif.events.told", { replayed: number(found.events.replayed), today: number(found.events.today) })}</span>
      ${asked.struck && html`<${Button} kind="danger" why=${why ?? (asked.changed ? t("whatif.retract.why-not") : undefined)} onClick=${() => setRetracts(true)}>${t("whatif.retract")}<//>`}</div>
    ${found.without_effect.length > 0 && html`<p class="muted">${t("whatif.without-effect", { what: found.without_effect.map((one) => `${t(`event.${one.kind}`)} (${number(one.events)})`).join(", ") })}</p>`}
    ${found.questions?.map((one) => html`<${Question} key=${one.query} owner=${owner} told=${one} differences=${found.differences} mode=${asked.body.mode} moment=${moment} />`)}
    ${found.total ? html`<${Differences} owner=${owner} found=${found} />` : html`<${Empty} title=${t("whatif.none")}><p>${t("whatif.none.what")}</p><//>`}
    ${found.total > found.differences.length && html`<${Button} onClick=${() => setLimit(Math.min(limit * 3, 1000))}>${t("memory.changes.more")}<//>`}
    ${retracts && html`<${Retract} owner=${owner} body=${asked.body} onClose=${() => setRetracts(false)} onDone=${told.reload} />`}`}<//>`;
}

function Question({ owner, told, differences, mode, moment }) {
  // What does not differ stands in no list of differences: its words are asked for as a look, which leaves no trace.
  const found = useAsk(path("owners", owner, "search"), { query: told.query, mode, limit: 20, trace: "false", ...moment.query });
  const texts = new Map([...(found.data?.results ?? []).map((one) => [one.id, { id: one.id, memory: one.memory }]), ...differences.map((one) => [one.id, one])]);
  const row = (id) => texts.get(id) ?? { id };
  const same = told.moved.length === 0;
  return html`<${Panel} title=${plain(told.query)}>${!told.before.length && !told.after.length ? html`<p class="muted">${t("whatif.rank.none")}</p>` : same ? html`<p class="muted">${t("whatif.rank.same")}</p>` : ""}
    ${!same && html`<${RankLines} owner=${owner} left=${told.before.map(row)} right=${told.after.map(row)} moved=${told.moved} leftTitle=${t("whatif.column.now")} rightTitle=${t("screen.whatif")} />`}<//>`;
}

function Differences({ owner, found }) {
  const side = (one) => (one ? html`<span class="figure">${weight(one.weight)}</span> ${t(`status.${one.status}`)}, ${t(`level.${one.level}`)}${one.shown ? "" : html` <${Chip} tone="warn">${one.reason ? t(`reason.${one.reason}`) : t("whatif.hidden")}<//>`}` : html`<span class="muted">${t("whatif.absent")}</span>`);
  const fields = ({ today, replayed, fields: others }) => {
    if (!today || !replayed) return [];
    return [...new Set([...Object.keys(today).filter((name) => today[name] !== replayed[name]), ...(others ?? [])])];
  };
  return html`<div class="table-box" tabindex="0" role="group" aria-label=${t("whatif.differences", { count: "" })}><table><thead><tr><th>${t("memories.column.memory")}</th><th>${t("whatif.column.now")}</th><th>${t("whatif.column.then")}</th><th>${t("whatif.column.fields")}</th></tr></thead>
    <tbody>${found.differences.map((one) => html`<tr key=${one.id} class=${one.today?.shown !== one.replayed?.shown ? "turned" : ""}><td><${To} class="row-link" title=${plain(one.id)} parts=${["owners", owner, "memory", one.id]}><${Said} text=${one.memory ?? one.id} lines=${2} /><//></td>
      <td>${side(one.today)}</td><td>${side(one.replayed)}</td><td class="muted">${fields(one).map((name) => t(`field.${name}`)).join(", ")}</td></tr>`)}</tbody></table></div>`;
}

function Retract({ owner, body, onClose, onDone }) {
  const address = path("owners", owner, "retract");
  const { mode, profile, set, queries, ...strikes } = body;
  const [reason, setReason] = useState("");
  const first = () => askWith(address, { ...strikes, mode, queries, dry_run: true, limit: 20 });
  const act = async (_key, would) => {
    const told = await tell(address, { ...strikes, dry_run: false, reach: would.reach, reason }, { keyed: false });
    note(t("whatif.retract.done", { count: number(told.changes?.length ?? would.undoes_total) }));
    onDone();
  };
  return html`<${Confirm} kind="danger" forGood=${true} title=${t("whatif.retract.title")} verb=${t("whatif.retract.go")} first=${first} act=${act} onClose=${onClose}>
    ${(would) => html`<p>${t("whatif.retract.what")}</p>
      <ul><li>${t("whatif.retract.undoes", { count: number(would.undoes_total) })}</li>
        ${[["goes", "goes"], ["comes_back", "back"], ["changed", "changed"]].map(([name, word]) => html`<li key=${name}>${t(`whatif.retract.${word}`, { count: number(would[name].total) })} ${would[name].ids.slice(0, 6).map((one) => html`<br /><${ByText} key=${one} owner=${owner} id=${one} />`)}</li>`)}
        ${would.remains_total > 0 && html`<li>${t("whatif.retract.remains", { count: number(would.remains_total) })}</li>`}</ul>
      <${Named} title=${t("whatif.retract.not")} ones=${would.not_undone.map((one) => ({ id: `${t(`event.${one.kind}`)} (${one.events})`, reason: one.why, reason_code: one.why_code }))} />
      <${Field} label=${t("delete.reason")} value=${reason} onChange=${setReason} />`}<//>`;
}
