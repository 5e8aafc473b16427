/** Who may do what: keys and grants now or on any day, what was said of them, who looked at what; for everybody else one's own rights. */

import { html, useState } from "../core/dom.js";
import { path, useAsk, usePaged } from "../core/http.js";
import { setParams, To, useHere } from "../core/location.js";
import { isDay } from "../core/moment.js";
import { Asked, Button, Chip, Empty, Field, Panel, Problem, Screen, useReadOnly } from "../core/parts.js";
import { EventName } from "../core/reason.js";
import { may, useMe, whyNot } from "../core/rights.js";
import { Id, plain, Said, When } from "../core/said.js";
import { number, t } from "../core/words.js";
import { Grants } from "./access_grants.js";
import { ChangeGrants, MakeKey, RevokeKey } from "./access_keys.js";
import "../words/access.js";

const TONES = { live: "good", expired: "warn", revoked: "bad", denied: "bad", reveal: "warn", export: "warn", debug: "warn", past: "cool" };
const READS = 50;

export function Access() {
  const { params } = useHere();
  const who = useMe();
  const sees = may("audit", null) || may("admin", null);
  const view = params.get("view") ?? "who";
  const past = useReadOnly();
  const why = past ?? whyNot("admin", null) ?? (who.narrowed_to ? t("access.token") : undefined);
  const [dialog, setDialog] = useState(null);
  if (!sees) return html`<${Screen} title=${t("screen.access")} lead=${t("access.lead.own")}><${Own} who=${who} /><//>`;
  return html`<${Screen} title=${t("screen.access")} lead=${t("access.lead")} actions=${html`
      <div class="tabs" role="group" aria-label=${t("screen.access")}>${["who", "said", "reads"].map((name) => html`<${Button} key=${name} aria-pressed=${view === name ? "true" : "false"}
        onClick=${() => setParams({ view: name === "who" ? null : name })}>${t(`access.view.${name}`)}<//>`)}</div>
      ${may("admin", null) && html`<${Button} kind="main" why=${why} onClick=${() => setDialog({ kind: "make" })}>＋ ${t("access.make")}<//>`}`}>
    ${view === "reads" ? html`<${Reads} order=${params.get("order") ?? "newest"} />` : html`<${Book} said=${view === "said"} params=${params} who=${who} why=${why} dialog=${dialog} setDialog=${setDialog} />`}
  <//>`;
}

/** One's own rights. */
function Own({ who, verbose = true }) {
  const named = { principal: plain(who.principal), key: who.key, token: plain(who.token) };
  const kind = who.token === null ? "key" : who.token ? "token" : "token.unnamed";
  return html`<${Panel} title=${t("rights.mine")}>
    ${who.unlimited ? html`<p>${t("access.own.full")}</p>` : html`<p><strong>${t(`access.own.${kind}`, named)}</strong> ${who.expires_at && html`<span class="muted">${t("session.until", { at: `${who.expires_at.slice(0, 16).replace("T", " ")} UTC` })}</span>`}</p>
      <${Grants} grants=${who.grants} none=${t("access.own.none")} verbose=${verbose} />
      ${who.narrowed_to && html`<p>${t("access.own.narrowed")}</p><${Grants} grants=${who.narrowed_to} verbose=${verbose} />`}`}
  <//>`;
}

/** Keys and grants, and what was said of them, as of a moment. */
function Book({ said, params, who, why, dialog, setDialog }) {
  const written = params.get("as_of");
  const asked = useAsk(path("access"), { as_of: isDay(written) ? `${written}T23:59:59Z` : written });
  const close = () => setDialog(null);
  const known = asked.data?.principals ?? [];
  return html`
    <div class="form manager-bar"><${Field} label=${t("access.as-of")} kind="date" value=${written?.slice(0, 10) ?? ""} onChange=${(day) => setParams({ as_of: day || null })} /></div>
    ${!who.unlimited && !said && html`<${Own} who=${who} verbose=${false} />`}
    <${Asked} of=${asked}>${(told) => said ? html`<${Events} events=${told.events} />`
      : told.principals.length ? told.principals.map((one) => html`<${Principal} key=${one.principal} of=${one} why=${why} setDialog=${setDialog} />`)
      : html`<${Empty} title=${t(written ? "access.none.then" : "access.none")}>${!written && html`<p>${t("access.none.what")}</p>${may("admin", null) && html`<${Button} kind="main" why=${why} onClick=${() => setDialog({ kind: "make" })}>${t("access.make")}<//>`}`}<//>`}<//>
    ${dialog?.kind === "make" && html`<${MakeKey} principal=${dialog.principal} known=${known.map((one) => one.principal)} onClose=${close} onDone=${asked.reload} />`}
    ${dialog?.kind === "change" && html`<${ChangeGrants} of=${known.find((one) => one.principal === dialog.principal)} onClose=${close} onDone=${asked.reload} />`}
    ${dialog?.kind === "revoke" && html`<${RevokeKey} principal=${dialog.principal} keyId=${dialog.keyId} onClose=${close} onDone=${asked.reload} />`}`;
}

function Principal({ of, why, setDialog }) {
  const { principal, keys, grants } = of;
  const admin = may("admin", null);
  return html`<${Panel} class="principal" title=${plain(principal)} actions=${admin && html`
      <${Button} why=${why} aria-label=${t("access.make.for", { principal: plain(principal) })} onClick=${() => setDialog({ kind: "make", principal })}>${t("access.make")}<//>
      <${Button} why=${why} aria-label=${t("access.change.label", { principal: plain(principal) })} onClick=${() => setDialog({ kind: "change", principal })}>${t("access.change")}<//>`}>
    <${Grants} grants=${grants} />
    ${keys.length ? html`<div class="table-box" tabindex="0" role="group" aria-label=${`${t("access.keys")}: ${plain(principal)}`}><table class="tight keys"><thead><tr><th>${t("access.key")}</th><th>${t("operate.job.state")}</th>${admin && html`<th><span class="out-of-sight">${t("access.revoke")}</span></th>`}<th>${t("access.issued")}</th><th>${t("access.ends")}</th></tr></thead>
      <tbody>${keys.map((one) => html`<tr key=${one.key_id}><td><${Id} text=${one.key_id} /></td><td><${Chip} tone=${TONES[one.state]}>${t(`access.state.${one.state}`)}<//> ${one.revoked_at && html`<${When} at=${one.revoked_at} />`}</td>${admin && html`<td>${one.state === "live" && html`<${Button} kind="danger" why=${why} aria-label=${t("access.revoke.label", { key: one.key_id })} onClick=${() => setDialog({ kind: "revoke", principal, keyId: one.key_id })}>${t("access.revoke")}<//>`}</td>`}<td><${When} at=${one.issued_at} /></td>
        <td>${one.expires_at ? html`<${When} at=${one.expires_at} />` : html`<span class="muted">${t("access.ends.never")}</span>`}</td></tr>`)}</tbody></table></div>`
      : html`<p class="muted">${t("access.keys.none")}</p>`}
  <//>`;
}

/** Whoever said it: the store's own side has no key. */
const By = ({ name }) => (name === null || name === "local" ? html`<span class="muted">${t("access.by.store")}</span>` : html`<${Said} text=${name} />`);

/** A position, which leads to the log for whoever may read it. */
const Place = ({ at }) => (may("audit", null) ? html`<${To} parts=${["partitions", at.split(":")[0]]} now=${true} params=${{ at }}><${Id} text=${at} /><//>` : html`<${Id} text=${at} />`);

function Events({ events }) {
  if (!events.length) return html`<${Empty} title=${t("access.said.none")} />`;
  return html`<div class="table-box" tabindex="0" role="group" aria-label=${t("access.view.said")}><table class="log"><thead><tr><th>${t("access.when")}</th><th>${t("export.what")}</th><th>${t("access.about")}</th><th>${t("access.key")}</th><th>${t("access.by")}</th><th>${t("access.why")}</th><th>${t("access.position")}</th></tr></thead>
    <tbody>${[...events].reverse().map((one) => html`<tr key=${one.position}><td><${When} at=${one.recorded_at} /></td><td><${EventName} type=${one.event} /></td><td><${Said} text=${one.principal ?? "–"} /></td><td>${one.key ? html`<${Id} text=${one.key} />` : "–"}</td><td><${By} name=${one.by} /></td><td><${Said} text=${one.reason} lines=${2} /></td><td><${Place} at=${one.position} /></td></tr>`)}</tbody></table></div>`;
}

/** Who looked at what, page by page. */
function Reads({ order }) {
  const { asked, rows: reads, ...page } = usePaged(path("reads"), { limit: READS, order }, "reads");
  return html`<p class="lead">${t("access.reads.lead")}</p>
    <div class="form manager-bar"><${Field} label=${t("memories.order")} value=${order} options=${["newest", "oldest"].map((one) => [one, t(`log.order.${one}`)])} onChange=${(one) => setParams({ order: one === "newest" ? null : one })} />
      <${Button} onClick=${asked.reload}>${t("access.reads.again")}<//></div>
    <${Asked} of=${asked}>${() => {
      if (!reads.length) return html`<${Empty} title=${t("access.reads.none")} />`;
      return html`<div class="table-box" tabindex="0" role="group" aria-label=${t("access.view.reads")}><table class="log"><thead><tr><th>${t("access.when")}</th><th>${t("access.reads.who")}</th><th>${t("export.what")}</th><th>${t("owner")}</th><th>${t("access.reads.call")}</th><th class="figure">${t("access.reads.times")}</th><th>${t("access.position")}</th></tr></thead>
        <tbody>${reads.map((one) => html`<tr key=${one.position}><td><${When} at=${one.recorded_at} /></td>
          <td><${Said} text=${one.principal ?? "–"} /> ${one.key_id && html`<${Id} text=${one.key_id} class="muted" />`} ${one.token && html`<br /><span class="muted"><${Said} text=${one.token} /></span>`}</td>
          <td>${one.what ? html`<${Chip} tone=${TONES[one.what]}>${t(`looked.${one.what}`)}<//>` : "–"}</td><td>${one.whose === null ? html`<span class="muted">${t("access.reads.store")}</span>` : html`<${Said} text=${one.whose} />`}</td>
          <td><${Id} text=${one.call ?? "–"} /></td><td class="figure">${number(one.times)}</td><td><${Place} at=${one.position} /></td></tr>`)}</tbody></table></div>
        <${Problem} error=${page.error} />
        ${page.next && html`<p><${Button} disabled=${page.busy} onClick=${page.more}>${t("memory.changes.more")}<//></p>`}`;
    }}<//>`;
}
