/** What an operator looks at: alarms, folding, workers, jobs, quarantine, room, models. It is asked again every few seconds. */

import { html, useState } from "../core/dom.js";
import { path, tell, useAgain, useAsk } from "../core/http.js";
import { To } from "../core/location.js";
import { Asked, Bar, Button, Chip, Confirm, Field, note, Panel, Screen, told as refusal } from "../core/parts.js";
import { ByService, EventName, reasonWords } from "../core/reason.js";
import { coded, Id, plain, Said, When } from "../core/said.js";
import { number, t } from "../core/words.js";
import { duration } from "./log.js";
import { Figure } from "./statistics.js";
import "../words/log.js";
import "../words/alarms.js";
import "../words/operate.js";

const SOON_MS = 2_000;
const LATER_MS = 15_000;

/** Bytes as people say them. */
export function bytes(count) {
  if (count === null || count === undefined) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let size = count;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${number(size, size < 10 && unit ? 1 : 0)} ${units[unit]}`;
}

export function Operate() {
  const status = useAgain(path("status"), SOON_MS);
  return html`<${Screen} title=${t("screen.operate")} lead=${t("operate.lead")}>
    <${Asked} of=${status}>${(told) => html`<div class="figures">
      <${Figure} value=${number(told.events)} name=${t("operate.events")} />
      <${Figure} value=${number(told.memories)} name=${t("operate.memories")} />
      <${Figure} value=${number(told.lag)} name=${t("operate.lag")} />
      <${Figure} value=${number(told.workers.length)} name=${t("operate.workers")} />
      <${Figure} value=${number(told.partitions.reduce((sum, one) => sum + one.quarantined.length, 0))} name=${t("operate.quarantined")} />
      <${Figure} value=${number(told.inboxes?.waiting ?? 0)} name=${t("operate.waiting")} />
    </div>
    <${Sealing} told=${told.sealing} />
    <${Away} told=${told} />`}<//>
    <${Alarms} />
    <${Quarantine} />
    <div class="columns">
      <${Panel} title=${t("operate.folding")}><${Asked} of=${status}>${(told) => html`<${Folding} told=${told} />`}<//><//>
      <div><${Panel} title=${t("operate.working")}><${Asked} of=${status}>${(told) => html`<${Workers} told=${told} />`}<//><//>
      <${Room} /></div>
    </div>
    <${Asked} of=${status}>${(told) => html`<${Nodes} nodes=${told.nodes} />`}<//>
    <${Jobs} />
    <${Models} />
  <//>`;
}

/** What of a cluster cannot be read now. */
function Away({ told }) {
  const away = told.unreachable.flatMap((one) => one.partitions);
  return html`${away.length > 0 && html`<p class="problem">${t("operate.unreachable", { count: away.length, which: away.sort((a, b) => a - b).join(", ") })}</p>`}
    ${told.unread.length > 0 && html`<p class="problem">${t("operate.unread")}</p>`}`;
}

const STATES = { online: "online", "not linked": "not-linked" };

/** The servers of a cluster, or one with replicas; one alone says nothing that is not said elsewhere. */
function Nodes({ nodes }) {
  if (nodes.length < 2 && !nodes.some((one) => one.replicas.length)) return null;
  const known = (value) => (value === null || value === undefined ? "–" : t(value ? "operate.node.yes" : "operate.node.no"));
  const state = (one) => (STATES[one.state] || one.state === "unknown" ? t(`operate.node.${STATES[one.state] ?? "unknown"}`) : one.state);
  return html`<${Panel} title=${t("operate.nodes")}><div class="table-box" tabindex="0" role="group" aria-label=${t("operate.nodes")}><table class="tight"><thead><tr><th>${t("operate.node")}</th><th class="figure">${t("operate.node.slots")}</th><th class="figure">${t("operate.node.partitions")}</th><th class="figure">${t("operate.node.memory")}</th><th>${t("operate.node.synced")}</th><th>${t("operate.node.replicas")}</th></tr></thead>
    <tbody>${nodes.map((one) => html`<tr key=${one.name}><td><${Id} text=${one.name} /> ${!one.reachable && html`<${Chip} tone="bad">${t("operate.node.away")}<//> <${ByService} text=${one.problem} />`}</td><td class="figure">${one.slots === null ? "–" : number(one.slots)}</td><td class="figure">${number(one.partitions.length)}</td>
      <td class="figure">${one.max_bytes ? t("operate.used-of", { used: bytes(one.used_bytes), all: bytes(one.max_bytes) }) : bytes(one.used_bytes)} ${one.used_share !== null && one.used_share !== undefined && html`<${Bar} share=${one.used_share} tone=${one.used_share > 0.8 ? "bad" : one.used_share > 0.7 ? "warn" : "cool"} label=${`${one.name}: ${Math.round(one.used_share * 100)} %`} />`}</td>
      <td>${known(one.fsynced)}</td><td>${one.replicas.length ? one.replicas.map((replica) => html`<div key=${replica.name}><${Id} text=${replica.name} /> <${Chip} tone=${replica.state === "online" ? "good" : "warn"}>${state(replica)}<//> ${replica.behind_bytes > 0 && html`<span class="muted">${bytes(replica.behind_bytes)}</span>`}</div>`) : html`<span class="muted">${t("operate.node.alone")}</span>`}</td></tr>`)}</tbody></table></div><//>`;
}

/** Whether contents are sealed, under which master key, and what is amiss with it. */
function Sealing({ told }) {
  if (!told) return null;
  if (!told.on) return html`<p class="sealing muted">${t("operate.open")}</p>`;
  const locked = told.owners_locked ? t("operate.locked", { count: number(told.owners_locked) }) : "";
  if (told.problem) return html`<p class="sealing problem">${t("operate.sealed.away")} <${ByService} text=${told.problem} /> ${locked}</p>`;
  return html`<p class="sealing muted">${t("operate.sealed", { key: plain(told.key) })} ${locked}</p>`;
}

function Alarms() {
  const asked = useAgain(path("alarms"), LATER_MS);
  const clear = (one) => tell(path("alarms", "clear"), { name: one.name, subject: one.subject ?? "" }, { keyed: false }).then(
    () => { note(t("operate.alarm.cleared")); asked.reload(); }, (error) => note(refusal(error), { tone: "bad" }));
  return html`<${Panel} title=${t("operate.alarms")}><${Asked} of=${asked}>${({ alarms }) => alarms.length
    ? html`<ul class="plain">${alarms.map((one) => html`<li key=${one.name + one.subject} class="alarm"><${Chip} tone=${one.severity === "stopped" ? "bad" : "warn"}>${t(`operate.alarm.${one.severity}`)}<//> <strong title=${one.name}>${t(`alarm.${one.name}`)}</strong> <${Said} text=${one.subject} />
        <br />${coded(t(`alarm.${one.name}.what`))} ${one.text && html`<span class="muted"><${ByService} text=${one.text} /></span>`}
        <span class="muted">${t("operate.alarm.since", { at: one.first.slice(0, 16).replace("T", " ") })}</span> <${Button} onClick=${() => clear(one)}>${t("operate.alarm.clear")}<//></li>`)}</ul>`
    : html`<p class="muted">✓ ${t("operate.alarms.none")}</p>`}<//><//>`;
}

function Folding({ told }) {
  const [all, setAll] = useState(false);
  const most = Math.max(...told.partitions.map((one) => one.lag), 1);
  const shown = all ? told.partitions : told.partitions.filter((one) => one.head || one.lag);
  return html`<div class="table-box" tabindex="0" role="group" aria-label=${t("operate.folding")}><table class="tight"><thead><tr><th class="figure">${t("operate.partition")}</th><th class="figure">${t("operate.head")}</th><th class="figure">${t("operate.behind")}</th><th><span class="out-of-sight">${t("operate.lag")}</span></th><th>${t("operate.worker")}</th><th class="figure">${t("operate.lease")}</th></tr></thead>
    <tbody>${shown.map((one) => html`<tr key=${one.partition}><td class="figure"><${To} parts=${["partitions", String(one.partition)]} aria-label=${`${t("operate.partition")} ${one.partition}: ${t("operate.to-log")}`}>${one.partition}<//></td><td class="figure">${number(one.head)}</td>
      <td class="figure">${number(one.lag)}</td><td>${one.lag > 0 && html`<${Bar} share=${one.lag / most} tone=${one.lag > 1000 ? "warn" : "cool"} label=${t("operate.lag.told", { partition: one.partition, lag: one.lag })} />`}</td>
      <td>${one.holder ? html`<${Id} text=${one.holder} />` : html`<${Chip} tone="bad">${t("operate.nobody")}<//>`}</td><td class="figure">${one.lease_seconds === undefined || one.lease_seconds === null ? "–" : t("duration.seconds", { count: number(one.lease_seconds, 1) })}</td></tr>`)}</tbody></table></div>
    <${Button} kind="quiet" onClick=${() => setAll(!all)}>${all ? t("operate.busy-partitions") : t("operate.all-partitions", { count: told.partitions.length })}<//>`;
}

function Workers({ told }) {
  const workers = [...told.workers, ...told.silent.map((one) => ({ ...one, isSilent: true }))];
  return html`<div class="table-box" tabindex="0" role="group" aria-label=${t("operate.workers")}><table class="tight"><thead><tr><th>${t("operate.worker")}</th><th class="figure">${t("operate.worker.holds")}</th><th class="figure">${t("operate.worker.rate")}</th><th class="figure">${t("operate.worker.seen")}</th></tr></thead>
    <tbody>${workers.map((one) => html`<tr key=${one.worker}><td><${Id} text=${one.worker} /> ${one.isSilent && html`<${Chip} tone="bad">${t("operate.worker.silent")}<//>`}</td><td class="figure">${number(one.partitions.length)}</td><td class="figure">${number(one.rate, 1)}</td><td class="figure">${t("operate.ago", { time: duration(one.seen_seconds) })}</td></tr>`)}</tbody></table></div>`;
}

function Room() {
  const asked = useAgain(path("capacity"), LATER_MS);
  return html`<${Panel} title=${t("operate.room")}><${Asked} of=${asked}>${({ memory, disk, aof, growth }) => html`
    <${Kind} name="memory" share=${memory.used_share} told=${memory.max_bytes ? t("operate.used-of", { used: bytes(memory.used_bytes), all: bytes(memory.max_bytes) }) : bytes(memory.used_bytes)} of=${memory} growth=${growth} />
    <${Kind} name="disk" share=${disk.total_bytes ? 1 - disk.free_bytes / disk.total_bytes : null} told=${disk.total_bytes ? t("operate.free", { free: bytes(disk.free_bytes), all: bytes(disk.total_bytes) }) : "–"} of=${disk} growth=${growth} />
    <p><strong>${t("operate.aof")}</strong> ${aof?.enabled ? bytes(aof.bytes) : t("operate.aof.off")} ${aof && (aof.write_ok === false || aof.rewrite_ok === false) ? html`<${Chip} tone="bad">${t("operate.aof.bad")}<//>` : ""}</p>
    ${growth?.events_a_day ? html`<p class="muted">${t("operate.growth", { count: number(growth.events_a_day) })} ${measured(growth)}</p>` : ""}`}<//><//>`;
}

/** In how long so many events were recorded. */
const measured = (growth) => t("operate.growth.measured", { count: number(growth.events), time: duration(growth.days * 86_400) });

function Kind({ name, share, told, of, growth }) {
  const { days_until_full: days, full_at: at, bytes_an_event: each, unknown, unknown_code: code } = of;
  const known = days !== null && days !== undefined;
  return html`<div class="room"><p><strong>${t(`operate.${name}`)}</strong> <span class="figure">${told}</span> ${share !== null && share !== undefined && html`<${Bar} share=${share} tone=${share > 0.9 ? "bad" : share > 0.7 ? "warn" : "cool"} label=${`${t(`operate.${name}`)}: ${Math.round(share * 100)} %`} />`}</p>
    <p class="muted">${known ? lasting(days, at) : t("operate.full.unknown")} ${known && each && growth.events_a_day ? `${t("operate.basis", { bytes: number(each), count: number(growth.events_a_day) })} ${measured(growth)}` : unknown && (reasonWords(code) ?? html`<${ByService} text=${unknown} />`)}</p></div>`;
}

/** For how long there is room. */
const lasting = (days, at) => (days > 0 ? t("operate.full-in", { days: number(days, days < 10 ? 1 : 0), day: at?.slice(0, 10) ?? "–" }) : t("operate.full.now"));

function Jobs() {
  const asked = useAgain(path("jobs"), LATER_MS / 3);
  return html`<${Panel} title=${t("operate.jobs")}><${Asked} of=${asked}>${(told) => html`
    ${told.problem && html`<p class="problem">${t("operate.jobs.silent")} <${ByService} text=${told.problem} /></p>`}
    <div class="table-box" tabindex="0" role="group" aria-label=${t("operate.jobs")}><table class="tight"><thead><tr><th>${t("operate.job.kind")}</th><th>${t("operate.job.every")}</th><th>${t("operate.job.last")}</th><th>${t("operate.job.next")}</th><th>${t("operate.job.state")}</th><th>${t("operate.job.why")}</th></tr></thead>
      <tbody>${told.kinds.map((one) => html`<tr key=${one.kind}><td><strong title=${one.kind}>${t(`job.${one.kind}`)}</strong><br /><span class="muted">${t(`job.${one.kind}.what`)}</span></td><td>${one.every_minutes ? duration(one.every_minutes * 60) : "–"}</td><td><${When} at=${one.last_done} /></td><td><${When} at=${one.next_tick} /></td>
        <td>${["running", "queued", "again", "failed"].filter((state) => one[state]).map((state) => html`<${Chip} key=${state} tone=${state === "failed" ? "bad" : state === "again" ? "warn" : "cool"}>${one[state]} ${t(`operate.job.${state}`)}<//> `)}</td>
        <td>${(one.stopped ?? []).map((why, index) => html`<p key=${index}><${ByService} text=${why.reason} /> <span class="muted">(${(why.partitions ?? []).join(", ")})</span></p>`)}</td></tr>`)}</tbody></table></div>
    ${told.jobs.length ? html`<ul class="plain">${told.jobs.slice(0, 20).map((one) => html`<li key=${one.id}><${Chip} tone=${one.state === "failed" ? "bad" : one.state === "again" ? "warn" : "cool"}>${t(`operate.job.${one.state}`)}<//> <${Id} text=${one.id} /> ${one.error && html`<span class="muted"><${ByService} text=${one.error} lines=${2} /></span>`}</li>`)}</ul>` : html`<p class="muted">${t("operate.jobs.none")}</p>`}`}<//><//>`;
}

function Quarantine() {
  const asked = useAgain(path("dead"), LATER_MS);
  const owners = asked.data?.quarantined ?? [];
  if (!owners.length) return null;
  return html`<${Panel} title=${t("operate.dead")}><p class="muted">${t("operate.dead.what")}</p>${owners.map((one) => html`<${DeadOwner} key=${one.owner} owner=${one.owner} again=${asked.reload} />`)}<//>`;
}

function DeadOwner({ owner, again }) {
  const asked = useAsk(path("dead", owner));
  const [drop, setDrop] = useState(null);
  const retry = () => tell(path("dead", owner, "retry"), {}, { keyed: false }).then(() => { note(t("operate.dead.retried")); again(); asked.reload(); }, (error) => { note(refusal(error), { tone: "bad" }); asked.reload(); });
  return html`<section class="dead"><h3><${To} parts=${["owners", owner, "log"]}><${Said} text=${owner} /><//></h3>
    <${Asked} of=${asked}>${(told) => html`<ul class="plain">${told.parked.map((one) => html`<li key=${one.position}><${Id} text=${one.position} /> <${EventName} type=${one.kind} /> <span class="muted"><${ByService} text=${one.problem ?? (one.position === told.position ? told.reason : "")} /></span> <${Button} kind="danger" onClick=${() => setDrop(one.position)}>${t("operate.dead.discard")}<//></li>`)}</ul>`}<//>
    <${Button} onClick=${retry}>${t("operate.dead.retry")}<//>
    ${drop && html`<${Discard} owner=${owner} position=${drop} onClose=${() => setDrop(null)} onDone=${() => { again(); asked.reload(); }} />`}</section>`;
}

function Discard({ owner, position, onClose, onDone }) {
  const [reason, setReason] = useState("");
  const act = async () => {
    await tell(path("dead", owner, "discard"), { position, reason }, { keyed: false });
    note(t("operate.dead.discarded"));
    onDone();
  };
  return html`<${Confirm} kind="danger" forGood=${true} title=${t("operate.dead.discard.title")} verb=${t("operate.dead.discard")} act=${act} onClose=${onClose}>${() => html`<p><${Id} text=${position} /></p><p>${t("operate.dead.discard.what")}</p><${Field} label=${t("delete.reason")} value=${reason} onChange=${setReason} />`}<//>`;
}

function Models() {
  const asked = useAgain(path("models"), LATER_MS * 4);
  return html`<${Panel} title=${t("operate.models")}><${Asked} of=${asked}>${(told) => html`
    ${!told.chat && !told.embedder && html`<p class="muted">${t("operate.models.none")}</p>`}
    ${told.chat && html`<p>${t("operate.model.chat", { model: plain(told.chat.model) })} <span class="muted"><${Said} text=${told.chat.host ?? ""} /></span></p>`}
    ${told.embedder && html`<p>${t("operate.model.embedder", { model: plain(told.embedder.name) })} <span class="muted"><${Said} text=${told.embedder.host ?? ""} /></span></p>`}
    ${told.used.length > 0 ? html`<div class="table-box" tabindex="0" role="group" aria-label=${t("operate.models")}><table class="tight"><thead><tr><th>${t("operate.model")}</th><th>${t("operate.model.use")}</th><th class="figure">${t("operate.model.asked")}</th><th class="figure">${t("operate.model.failed")}</th><th class="figure">${t("operate.model.tokens")}</th></tr></thead>
      <tbody>${told.used.map((one) => html`<tr key=${one.model + one.use}><td><${Said} text=${one.model} /></td><td>${t(`use.${one.use}`)}</td><td class="figure">${number(one.asked)}</td><td class="figure">${number(one.failed)}</td><td class="figure">${number(one.input_tokens)}, ${number(one.output_tokens)}</td></tr>`)}</tbody></table></div>`
      : (told.chat || told.embedder) && html`<p class="muted">${t("operate.models.unused")}</p>`}`}<//><//>`;
}
