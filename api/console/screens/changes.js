/** The change log of a memory, and one of its events in full. */

import { LAWS } from "../core/choices.js";
import { html, useEffect, useState } from "../core/dom.js";
import { ask, path, usePaged } from "../core/http.js";
import { setParams, To } from "../core/location.js";
import { Asked, Button, Chip, Dialog, Field, Problem } from "../core/parts.js";
import { EventName, Reason, who } from "../core/reason.js";
import { may } from "../core/rights.js";
import { Id, Said, When } from "../core/said.js";
import { has, t, weight } from "../core/words.js";
import "../words/whatif.js";

const PAGE = 25;
/** Changes that are looked through for that of one event: more were hardly recorded at one instant. */
const NEAR = 20;

export function Changes({ address, moment, turn, onOpen }) {
  const [law, setLaw] = useState("");
  const { asked, rows: changes, ...page } = usePaged(`${address}/history`, { order: "newest", limit: PAGE, law: law || undefined, ...moment.query }, "changes");
  useEffect(() => {
    if (turn) asked.reload();
  }, [turn]);
  return html`<div class="form"><${Field} label=${t("memory.changes.law")} value=${law} onChange=${setLaw} options=${[["", t("memory.changes.stored")], ...LAWS.map((one) => [one, t(`law.${one}`)])]} /></div>
    <${Asked} of=${asked}>${() => {
      if (!changes.length) return html`<p class="muted">${t("memory.changes.none")}</p>`;
      return html`<div class="table-box" tabindex="0" role="group" aria-label=${t("memory.changes")}><table class="changes"><thead><tr><th>${t("memory.changes.time")}</th><th>${t("memory.changes.event")}</th><th>${t("memory.changes.decision")}</th><th>${t("log.column.by")}</th><th class="figure">${t("memories.column.weight")}</th><th>${t("memory.changes.reason")}</th></tr></thead>
        <tbody>${changes.map((one, index) => html`<tr key=${index}><td><${When} at=${one.time} /> ${one.late_by !== null && html`<${Chip} tone="warn">${t("memory.late")}<//>`}</td>
          <td><button type="button" class="as-link" onClick=${() => onOpen({ ...one, before: changes[index + 1] })}><${EventName} type=${one.event} /></button></td><td>${t(`decision.${one.decision}`)}</td><td><${Said} text=${who(one)} /></td>
          <td class="figure">${weight(one.old_weight)} → ${weight(one.new_weight)}</td><td><${Why} of=${one} /></td></tr>`)}</tbody></table></div>
        ${page.next && html`<${Button} disabled=${page.busy} onClick=${page.more}>${t("memory.changes.more")}<//>`}<${Problem} error=${page.error} />`;
    }}<//>`;
}

/** Why: as its sender said, else what became of it. */
const Why = ({ of }) =>
  of.said_reason
    ? html`<${Reason} text=${of.said_reason} ours=${!["user", "assistant"].includes(of.actor)} />`
    : html`<${Reason} text=${of.reason} code=${of.reason_code} values=${of.reason_values} />`;

/** An event's change of this memory: principal, reason, factors before and after. `event`: a change, or `{position}` of a mark. */
export function EventDialog({ owner, address, moment, event, onClose }) {
  const [found, setFound] = useState(event.decision ? event : null);
  const [error, setError] = useState(null);
  useEffect(() => {
    if (!found) look(owner, address, moment, event.position).then(setFound, setError);
  }, []);
  const before = found?.before;
  const names = [...new Set([...Object.keys(before?.factors ?? {}), ...Object.keys(found?.factors ?? {})])];
  return html`<${Dialog} title=${t("memory.event")} onClose=${onClose} wide=${true}>
    <${Problem} error=${error} />
    ${found && html`<h3><${EventName} type=${found.event} /> · ${t(`decision.${found.decision}`)}</h3>
      ${(found.said_reason || found.reason) && html`<p class="sentence"><${Why} of=${found} /></p>`}
      <table><tbody>
        <tr><th scope="row">${t("access.position")}</th><td><${To} parts=${["owners", owner, "log"]} params=${{ at: found.position }} onClick=${onClose}><${Id} text=${found.position} /><//></td></tr>
        <tr><th scope="row">${t("bar.happened")}</th><td><${When} at=${found.time} /></td></tr>
        <tr><th scope="row">${t("bar.known")}</th><td><${When} at=${found.recorded_at} /> ${found.late_by !== null && html`<${Chip} tone="warn">${t("memory.late")}<//>`}</td></tr>
        <tr><th scope="row">${t("log.column.by")}</th><td><${Said} text=${who(found)} /></td></tr>
        <tr><th scope="row">${t("memories.column.weight")}</th><td class="figure">${weight(found.old_weight)} → ${weight(found.new_weight)} (${t(`law.${found.law}`)})</td></tr>
        ${found.fields?.length > 0 && html`<tr><th scope="row">${t("memory.event.fields")}</th><td>${found.fields.map((one) => html`<${Chip} key=${one}>${has(`field.${one}`) ? t(`field.${one}`) : html`<code>${one}</code>`}<//> `)}</td></tr>`}
      </tbody></table>
      ${names.length > 0 && html`<table><thead><tr><th>${t("memory.factor")}</th><th class="figure">${t("memory.event.before")}</th><th class="figure">${t("memory.event.after")}</th></tr></thead><tbody>
        ${names.map((name) => html`<tr key=${name} class=${before && before.factors[name] !== found.factors[name] ? "differs" : ""}><th scope="row">${t(`factor.${name}`)}</th><td class="figure">${before?.factors[name]?.toFixed(4) ?? "–"}</td><td class="figure">${found.factors[name]?.toFixed(4) ?? "–"}</td></tr>`)}</tbody></table>`}
      <div class="dialog-foot"><${Button} onClick=${() => { onClose(); setParams({ as_of: found.position }); }}>${t("log.then")}<//></div>`}
  <//>`;
}

/** The change at a position, with the one before it: the log says when its event was recorded, and few changes were by then as new. */
async function look(owner, address, moment, position) {
  const { events } = may("audit", owner) ? await ask(path("owners", owner, "events"), { known: position, order: "newest", limit: 1 }) : { events: [] };
  const upto = events[0]?.position === position ? { recorded_until: events[0].recorded_at } : {};
  let cursor;
  let found = null;
  do {
    const told = await ask(`${address}/history`, { order: "newest", limit: NEAR, cursor, ...upto, ...moment.query });
    for (const one of told.changes) {
      if (found) return { ...found, before: one };
      if (one.position === position) found = one;
    }
    cursor = told.next;
  } while (cursor);
  if (found) return found;
  throw Object.assign(new Error(position), { problem: { detail: t("memory.event.none", { position }) } });
}
