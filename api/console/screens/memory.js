/** One memory: its words and weights over time, why, where it comes from, which answers used it, and what can be done to it. */

import { html, useState } from "../core/dom.js";
import { path, useAsk, useFeed } from "../core/http.js";
import { To } from "../core/location.js";
import { useMoment } from "../core/moment.js";
import { Asked, Bar, Button, Chip, Panel, Screen, useReadOnly } from "../core/parts.js";
import { may, modeOf, useMe, whyNot } from "../core/rights.js";
import { Age, Id, plain, Said, When } from "../core/said.js";
import { has, number, t, weight } from "../core/words.js";
import { Changes, EventDialog } from "./changes.js";
import { Curves } from "./curves.js";
import { State, TONES } from "./state.js";
import { Origins } from "./origins.js";
import { DeleteDialog, EditDialog } from "./verbs.js";
import { ConfirmHolds, Negate, RestoreDialog, Reveal, Sensitivity, Unmerge } from "./memory_verbs.js";
import "../words/memory.js";
import "../words/names.js";

/** Letters of a text that is no headline any more; all of it is among its versions. */
const LONG = 240;

export function Memory({ owner, id }) {
  const moment = useMoment();
  const address = path("owners", owner, "memories", id);
  const found = useAsk(address, { trace: "false", ...moment.query });
  const [turn, setTurn] = useState(0);
  const again = () => {
    found.reload();
    setTurn((was) => was + 1);
  };
  useFeed(owner, (told) => told.some((one) => one.changes?.some((change) => change.memory === id)) && again(), !moment.past);
  if (!found.data) return html`<${Screen} title=${t("screen.memory")} lead=${html`<${Back} owner=${owner} />`}><${Asked} of=${found} /><//>`;
  return html`<${Asked} of=${found}>${(memory) => html`<${Told} key=${memory.id} owner=${owner} memory=${memory} address=${address} moment=${moment} turn=${turn} again=${again} />`}<//>`;
}

const Back = ({ owner }) => html`<${To} parts=${["owners", owner, "memories"]}>← ${t("memory.back")}<//>`;

function Told({ owner, memory, address, moment, turn, again }) {
  const why = useAsk(address + "/why", { limit: 1, ...moment.query });
  const [event, setEvent] = useState(null);
  const [revealed, setRevealed] = useState(null);
  const text = (moment.past ? null : revealed) ?? memory.content;
  return html`<${Screen} title=${t("screen.memory")} lead=${html`<${Back} owner=${owner} />`} actions=${html`<${Verbs} owner=${owner} memory=${memory} again=${again} onRevealed=${setRevealed} />`}>
    <${Panel} class="memory-head">
      <p class=${`memory-text ${text?.length > LONG ? "long" : ""}`} title=${plain(memory.id)}><${Said} text=${text} lines=${text?.length > LONG ? 6 : undefined} /></p>
      <p class="memory-small"><span class="figure">${t("memory.weight")} ${weight(memory.weight)}</span> <${Bar} share=${memory.weight} label=${`${t("memory.weight")} ${weight(memory.weight)}`} /> <${Age} at=${memory.last_activated_at} now=${moment.query.as_of} /> <${State} of=${memory} />
        ${memory.sensitivity > 0 && html`<${Chip} tone=${memory.sensitivity > 2 ? "bad" : "warn"}>${t(memory.sensitivity > 2 ? "memory.secret" : `reason.sensitive`)} ${memory.sensitivity}<//>`}</p>
      ${memory.successor && html`<p>${t("memory.successor")}: <${To} parts=${["owners", owner, "memory", memory.successor]}><${Said} text=${memory.corrected?.[0]?.now ?? memory.successor} /><//></p>`}
      ${memory.until && html`<p class="muted">${t("memory.until", { at: memory.until.slice(0, 16).replace("T", " ") })}</p>`}
      ${memory.waiting?.length > 0 && html`<p><${Chip} tone="warn">${t("memory.waits", { count: number(memory.waiting.length) })}<//> <${To} parts=${["owners", owner, "memories"]} params=${{ view: "inbox" }}>${t("memory.to-inbox")}<//></p>`}
      ${memory.conflicting?.length > 0 && html`<p>${t("memory.conflicts")}: ${memory.conflicting.map((one) => html`<${To} key=${one.id} parts=${["owners", owner, "memory", one.id]}><${Said} text=${one.memory ?? one.id} /><//> <span class="muted"><${Said} text=${one.reason ?? ""} /></span> `)}</p>`}
      ${why.data?.aside && html`<p><${Chip} tone="warn">${t("memory.aside")}<//> <span class="muted"><${Said} text=${[why.data.aside.since, why.data.aside.reason].filter(Boolean).join(" · ")} /></span></p>`}
    <//>
    ${may("replay", owner) && html`<${Panel} title=${t("memory.curves")}><${Curves} address=${address} moment=${moment} turn=${turn} onMark=${setEvent} /><//>`}
    <div class="masonry">
      <${Panel} title=${t("memory.why", { weight: weight(memory.weight) })}><${Asked} of=${why}>${(told) => html`<${Why} told=${told} />`}<//><//>
      <${Panel} title=${t("memory.text")}><${Texts} memory=${memory} owner=${owner} now=${text} /><//>
      <${Panel} title=${t("memory.provenance")}><${Origins} owner=${owner} address=${address} moment=${moment} turn=${turn} /><//>
      <${Panel} title=${t("memory.edges")}><${Edges} owner=${owner} address=${address} moment=${moment} turn=${turn} /><//>
      ${may("audit", owner) && html`<${Panel} title=${t("memory.uses")}><${Uses} owner=${owner} address=${address} moment=${moment} turn=${turn} /><//>`}
      <${Panel} title=${t("memory.details")}><${Details} memory=${memory} /><//>
      ${["evidence", "patterns"].map((name) => memory[name]?.length > 0 && html`<${Panel} key=${name} title=${t(`memory.${name}`)}><ul class="plain">
        ${memory[name].map((one) => html`<li key=${one.id}><${To} parts=${["owners", owner, "memory", one.id]}><${Said} text=${one.memory ?? one.id} /><//> ${one.status && html`<${Chip} tone=${TONES[one.status]}>${t(`status.${one.status}`)}<//>`} ${one.said_on && html`<${When} at=${one.said_on} day=${true} />`}</li>`)}</ul><//>`)}
    </div>
    <${Panel} title=${t("memory.changes")}><${Changes} owner=${owner} address=${address} moment=${moment} turn=${turn} onOpen=${setEvent} /><//>
    ${event && html`<${EventDialog} owner=${owner} address=${address} moment=${moment} event=${event} onClose=${() => setEvent(null)} />`}
  <//>`;
}

/** The law's formula as the service tells it, with the page's words for its factors. */
function formulaOf(law) {
  return law.formula.replace(/[a-z_]+/g, (name) => (name === "weight" ? t("memory.weight") : t(`factor.${name}`))).replace(/ \* /g, " × ");
}

function Why({ told }) {
  const laws = useAsk(path("laws"));
  const law = laws.data?.laws.find((one) => one.name === told.law);
  return html`${law && html`<p class="sentence">${t("memory.law-of", { law: t(`law.${told.law}`) })}: <${Said} text=${formulaOf(law)} /></p>`}
    <table><thead><tr><th>${t("memory.factor")}</th><th class="figure">${t("memory.value")}</th></tr></thead><tbody>
      ${Object.entries(told.factors).map(([name, value]) => html`<tr key=${name}><th scope="row" title=${has(`law.${told.law}.${name}`) ? t(`law.${told.law}.${name}`) : null}>${t(`factor.${name}`)}</th><td class="figure">${value.toFixed(4)}</td></tr>`)}
    </tbody></table>
    <table><thead><tr><th>${t("memory.law")}</th><th class="figure">${t("memory.weight")}</th></tr></thead><tbody>
      ${Object.entries(told.laws).map(([name, value]) => html`<tr key=${name} class=${name === told.law ? "chosen" : ""}><th scope="row">${t(`law.${name}`)}</th><td class="figure">${weight(value)}</td></tr>`)}
    </tbody></table>`;
}

function Texts({ memory, owner, now }) {
  const older = [...(memory.versions ?? [])].reverse();
  return html`<ol class="texts">
    <li><span class="muted">${t("bar.now")}</span><br /><${Said} text=${now} /></li>
    ${older.map((one) => html`<li key=${one.version}><span class="muted">${t("memory.text.until", { at: one.until.slice(0, 16).replace("T", " ") })}</span><br /><${Said} text=${one.content} /></li>`)}
    ${!older.length && html`<li class="muted">${t("memory.text.one")}</li>`}
  </ol>
  ${(memory.correction_history ?? []).map((one, index) => html`<p key=${index} class="sentence"><${When} at=${one.time} /> ${t("reason.negated")} ${one.reason && html`“<${Said} text=${one.reason} />”`}
    ${one.new_preference && html` → ${one.replaced_by ? html`<${To} parts=${["owners", owner, "memory", one.replaced_by]}><${Said} text=${one.new_preference} /><//>` : html`<${Said} text=${one.new_preference} />`}`}</p>`)}`;
}

function Edges({ owner, address, moment }) {
  const asked = useAsk(address + "/associations", { depth: 1, mode: modeOf(owner, null, "review").mode, ...moment.query });
  return html`<${Asked} of=${asked}>${(told) => told.associations.length
    ? html`<ul class="plain edges">${told.associations.slice(0, 12).map((one) => html`<li key=${one.id}><span class="figure">${one.weight.toFixed(2)}</span> <${Chip}>${t(`link.${one.link}`)}<//> <${To} parts=${["owners", owner, "memory", one.id]}><${Said} text=${one.memory} lines=${1} /><//></li>`)}</ul>`
    : html`<p class="muted">${t("memory.edges.none")}</p>`}<//>`;
}

function Uses({ owner, address, moment }) {
  const asked = useAsk(address + "/uses", { limit: 8, ...moment.query });
  return html`<${Asked} of=${asked}>${(told) => told.total
    ? html`<ul class="plain">${told.uses.map((one, index) => html`<li key=${index}><${When} at=${one.injected_at} /> ${one.turn_id ? html`<${To} parts=${["owners", owner, "answers", one.turn_id]}><${Said} text=${one.turn?.text ?? one.turn_id} lines=${1} /><//>` : ""}
      ${one.replies?.[0] && html`<br /><span class="muted">${t("memory.uses.reply")}: <${Said} text=${one.replies[0].text} lines=${1} /></span>`}</li>`)}</ul>
      ${told.total > told.uses.length && html`<p class="muted">${t("memories.facet.more", { count: number(told.total - told.uses.length) })}</p>`}`
    : html`<p class="muted">${t("memory.uses.none")}</p>`}<//>`;
}

const DETAILS = ["id", "kind", "category", "tier", "level", "trust", "source", "speaker", "because", "project", "confidence", "importance", "mention_count", "access_count", "created_at", "updated_at", "last_activated_at"];

/** Details that are of a list which the page has words for. */
const LISTED = { kind: "kind", category: "category", tier: "tier", level: "level", trust: "trust", source: "source" };

function Details({ memory }) {
  const shown = (name, value) => (name === "id" ? html`<${Id} text=${value} />` : name.endsWith("_at") ? html`<${When} at=${value} />` : LISTED[name] && value ? t(`${LISTED[name]}.${value}`) : html`<${Said} text=${value} />`);
  const keywords = (memory.extracted_keywords ?? []).map((one) => one.word);
  const tags = memory.context?.tags ?? [];
  return html`<table><tbody>
    ${DETAILS.filter((name) => memory[name] !== null && memory[name] !== undefined).map((name) => html`<tr key=${name}><th scope="row">${t(`detail.${name}`)}</th><td>${shown(name, memory[name])}</td></tr>`)}
    ${keywords.length > 0 && html`<tr><th scope="row">${t("detail.keywords")}</th><td>${keywords.map((one) => html`<${Chip} key=${one}><${Said} text=${one} /><//> `)}</td></tr>`}
    ${tags.length > 0 && html`<tr><th scope="row">${t("detail.tags")}</th><td>${tags.map((one) => html`<${Chip} key=${one}><${Said} text=${one} /><//> `)}</td></tr>`}
  </tbody></table>`;
}

/** What other verbs than "correct" an action needs. */
const VERBS = { delete: "delete", restore: "delete", reveal: "reveal" };

/** What can be done, by the memory's state. */
function Verbs({ owner, memory, again, onRevealed }) {
  const past = useReadOnly();
  useMe();
  const why = (name) => past ?? whyNot(VERBS[name] ?? "correct", owner, { actor: "user" });
  const [open, setOpen] = useState(null);
  const dialogs = { edit: EditDialog, negate: Negate, confirm: ConfirmHolds, sensitivity: Sensitivity, restore: RestoreDialog, unmerge: Unmerge, reveal: Reveal };
  const secret = memory.sensitivity > 2;
  const gone = memory.status === "deleted";
  const names = memory.status === "purged" ? [] : gone ? ["restore"]
    : [...(secret ? ["reveal"] : ["edit"]), "negate", ...(memory.is_negated || memory.trust === "rejected" || memory.trust === "disputed" ? ["confirm"] : []), "sensitivity", ...(memory.merged_from?.length ? ["unmerge"] : [])];
  const word = (name) => (name === "edit" ? t("memories.edit") : t(`memory.${name}`));
  const Open = dialogs[open];
  return html`${names.map((name) => html`<${Button} key=${name} why=${why(name)} title=${name === "negate" ? t("memory.negate.hint") : undefined} onClick=${() => setOpen(name)}>${word(name)}<//>`)}
    ${!gone && memory.status !== "purged" && html`<${Button} kind="danger" why=${why("delete")} onClick=${() => setOpen("delete")}>${t("delete.go")}<//>`}
    ${open === "delete" && html`<${DeleteDialog} owner=${owner} ids=${[memory.id]} onClose=${() => setOpen(null)} onDone=${again} />`}
    ${Open && html`<${Open} owner=${owner} memory=${memory} onClose=${() => setOpen(null)} onDone=${again} onRevealed=${onRevealed} />`}`;
}
