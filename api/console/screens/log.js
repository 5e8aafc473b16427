/** The log itself: an owner's events or a partition's, filtered, live, raw. */

import { html, useEffect, useRef, useState } from "../core/dom.js";
import { ask, path, useAsk, useVisible } from "../core/http.js";
import { go, setParams, To, to, useHere } from "../core/location.js";
import { useMoment } from "../core/moment.js";
import { Button, Check, Chip, Copy, Dialog, Empty, Field, Problem, Screen, Typed } from "../core/parts.js";
import { ByService, EventName, who } from "../core/reason.js";
import { may } from "../core/rights.js";
import { plain, Said, When } from "../core/said.js";
import { has, number, t } from "../core/words.js";
import "../words/log.js";

const PAGE = 60;
const MOST = 600;
/** Rows that stay on the page; older ones are asked for again. */
const WAIT_S = 15;
const ACTORS = ["user", "assistant", "judge", "system", "operator"];
const TEXTS = ["session", "principal", "memory", "turn", "since", "until"];

/** Seconds as people say them, in one unit. */
export function duration(seconds) {
  for (const [unit, size] of [["days", 86_400], ["hours", 3_600], ["minutes", 60]]) {
    if (seconds >= size) return t(`duration.${unit}`, { count: number(seconds / size, seconds / size < 10 ? 1 : 0) });
  }
  return t("duration.seconds", { count: number(seconds, 0) });
}

export function Log({ owner, id }) {
  const { params } = useHere();
  const moment = useMoment();
  const address = owner ? path("owners", owner, "events") : path("partitions", id ?? "0", "events");
  const jobs = params.get("jobs") === "true" || params.has("principal");
  const filters = { order: params.get("order") ?? "newest" };
  for (const name of [...TEXTS, "actor"]) if (params.get(name)) filters[name] = params.get(name);
  if (params.has("types")) filters.types = params.getAll("types");
  if (params.get("late")) filters.late = "true";
  if (params.get("at")) Object.assign(filters, { known: params.get("at"), order: "newest" });
  return html`<${Screen} title=${t("screen.log")} lead=${owner ? t("log.lead", { owner: plain(owner) }) : t("log.lead.partition", { partition: id })}>
    <${Filters} params=${params} />
    <${Events} key=${address + JSON.stringify([filters, moment.query])} owner=${owner} address=${address} jobs=${jobs} question=${{ ...filters, ...moment.query, ...(filters.known ? { known: filters.known } : {}) }} live=${!moment.past && !filters.known && filters.order === "newest"} focus=${params.get("at")} />
  <//>`;
}

function Filters({ params }) {
  const schema = useAsk("/v1/schema");
  const types = schema.data ? Object.keys(schema.data).sort() : [];
  const [open, setOpen] = useState(TEXTS.some((name) => params.has(name)));
  const set = (name) => (value) => setParams({ [name]: value || null, at: null });
  return html`<div class="form log-bar">
    <${Field} label=${t("log.types")} value=${params.get("types") ?? ""} options=${[["", t("log.types.any")], ...types.map((one) => [one, t(`event.${one}`)])]} onChange=${set("types")} />
    <${Field} label=${t("log.actor")} value=${params.get("actor") ?? ""} options=${[["", t("log.actor.any")], ...ACTORS.map((one) => [one, t(`actor.${one}`)])]} onChange=${set("actor")} />
    <${Field} label=${t("log.order")} value=${params.get("order") ?? "newest"} options=${["newest", "oldest"].map((one) => [one, t(`log.order.${one}`)])} onChange=${(value) => set("order")(value === "newest" ? null : value)} />
    <${Check} label=${t("log.late")} checked=${params.get("late") === "true"} onChange=${(value) => set("late")(value ? "true" : null)} />
    <${Check} label=${t("log.jobs")} checked=${params.get("jobs") === "true"} onChange=${(value) => setParams({ jobs: value ? "true" : null })} />
    <${Button} kind="quiet" aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}>${t("log.more-filters")}<//>
    ${open && TEXTS.map((name) => html`<${Typed} key=${name} label=${t(`log.${name}`)} maxlength="400" placeholder=${["since", "until"].includes(name) ? t("log.day") : undefined} value=${params.get(name) ?? ""} onChange=${set(name)} />`)}
  </div>`;
}

/** Whether a job of the store wrote an event. */
export const byJob = (event) => event.principal?.startsWith("job:");

function Events({ owner, address, question, jobs, live, focus }) {
  const [state, setState] = useState({ events: [], next: undefined, error: null, looked: null });
  const [held, setHeld] = useState(false);
  const [raw, setRaw] = useState(null);
  const [busy, setBusy] = useState(true);
  const follow = useRef(null);
  const read = async (cursor, signal) => {
    setBusy(true);
    try {
      const told = await ask(address, { ...question, limit: PAGE, cursor }, signal);
      setState((was) => ({ events: [...(cursor ? was.events : []), ...told.events], next: told.next, error: null, looked: told }));
      if (!cursor) follow.current = told.follow;
      if (!cursor && focus) setRaw(told.events.find((one) => one.position === focus) ?? null);
    } catch (error) {
      if (error.name !== "AbortError") setState((was) => ({ ...was, error }));
    }
    setBusy(false);
  };
  useEffect(() => {
    const leave = new AbortController();
    read(undefined, leave.signal);
    return () => leave.abort();
  }, []);
  const shown = useVisible();
  useEffect(() => {
    if (!live || held || busy || !shown || !follow.current) return undefined;
    const leave = new AbortController();
    (async () => {
      while (!leave.signal.aborted) {
        try {
          const told = await ask(address, { ...question, order: "oldest", limit: PAGE, cursor: follow.current, wait: WAIT_S }, leave.signal);
          follow.current = told.follow;
          if (told.events.length) setState((was) => {
            const known = new Set(was.events.map((one) => one.position));
            const news = told.events.filter((one) => !known.has(one.position)).map((one) => ({ ...one, isNew: true })).reverse();
            const all = [...news, ...was.events];
            // Rows are let go only where nobody paged: what is behind a page's cursor would be a gap.
            return { ...was, events: was.events.length > PAGE ? all : all.slice(0, MOST), next: was.events.length > PAGE || all.length <= MOST ? was.next : undefined };
          });
        } catch (error) {
          if (error.name === "AbortError" || error.status === 401) return;
          await new Promise((resolve) => setTimeout(resolve, 1_000));
        }
      }
    })();
    return () => leave.abort();
  }, [live, held, busy, shown]);
  const { next, error, looked } = state;
  const events = jobs ? state.events : state.events.filter((one) => !byJob(one) || one.position === focus);
  const hidden = state.events.length - events.length;
  return html`${live && html`<p class="live-line" role="status"><span class=${`live ${held ? "" : "open"}`}>${t(held ? "log.live.held" : "log.live")}</span> <${Button} kind="quiet" onClick=${() => setHeld(!held)}>${t(held ? "log.live.go" : "log.live.hold")}<//></p>`}
    <${Problem} error=${error} again=${() => read()} />
    ${!events.length && !busy && !error && html`<${Empty} title=${t("log.none")}><p>${t("log.none.what")}</p><//>`}
    ${events.length > 0 && html`<div class="table-box" tabindex="0" role="group" aria-label=${t("screen.log")}><table class="log"><thead><tr>${["happened", "about", "by", "position"].map((name) => html`<th key=${name} class=${`l-${name}`}>${t(`log.column.${name}`)}</th>`)}</tr></thead>
      <tbody>${events.map((one) => html`<${Row} key=${one.position} owner=${owner} event=${one} focus=${focus === one.position} onRaw=${() => setRaw(one)} />`)}</tbody></table></div>`}
    ${hidden > 0 && html`<p class="muted">${t("log.hidden", { count: number(hidden) })} <${Button} kind="quiet" onClick=${() => setParams({ jobs: "true" })}>${t("log.hidden.show")}<//></p>`}
    ${next && html`<p><${Button} disabled=${busy} onClick=${() => read(next)}>${t("log.more")}<//> <span class="muted">${looked && t("log.looked", { count: number(looked.looked), position: looked.looked_to ?? "–" })}</span></p>`}
    ${raw && html`<${Raw} owner=${owner ?? raw.owner} event=${raw} onClose=${() => setRaw(null)} />`}`;
}

/** What an event is about: its own words as far as they may be told, else the ids that it names. */
function about({ type, data }) {
  if (!data) return "";
  if (type === "MemoriesAccessed") return String(data.query ?? data.accesses?.[0]?.query ?? data.turn_id ?? "");
  const text = data.content ?? data.text ?? data.summary ?? data.correction ?? data.reason;
  const ids = data.memory_id ?? data.into ?? data.turn_id ?? (data.memory_ids ?? data.memories ?? data.sources ?? [])[0];
  return [text, ids].find((one) => typeof one === "string" && one) ?? "";
}

/** What happened, in words. A negation that names what holds instead is a correction. */
export function About({ event }) {
  const key = event.type === "MemoryNegated" && event.data?.correction ? "happened.corrected" : `happened.${event.type}`;
  return html`<span class="muted" title=${plain(event.type)}>${has(key) ? t(key) : html`<${EventName} type=${event.type} />`}</span> <${Said} text=${about(event)} lines=${2} />`;
}

function Row({ owner, event, focus, onRaw }) {
  return html`<tr class=${`${event.isNew ? "is-new" : ""} ${focus ? "chosen" : ""}`}>
    <td class="l-happened" title=${`${t("log.column.recorded")}: ${event.recorded_at?.slice(0, 19).replace("T", " ")}`}><${When} at=${event.occurred_at} /></td>
    <td class="l-about"><${About} event=${event} />
      ${event.folded === false && html` <${Chip} tone="bad">${t("log.waiting")}<//>`}${event.late_by !== null && html` <${Chip}>${t("log.late.by", { time: duration(event.late_by) })}<//>`}${event.withheld && html` <${Chip} tone="warn">${t("log.withheld", { why: t(`mark.${event.withheld}`) })}<//>`}${event.problem && html` <${Chip} tone="bad"><${ByService} text=${event.problem} /><//>`}</td>
    <td class="l-by"><${Said} text=${who(event)} />${!owner && html`<br /><${To} parts=${["owners", event.owner, "log"]}><${Said} text=${event.owner} /><//>`}</td>
    <td class="l-position"><button type="button" class="as-link id" onClick=${onRaw}>${event.position}</button></td>
  </tr>`;
}

function Raw({ owner, event, onClose }) {
  const { isNew, ...told } = event;
  const text = JSON.stringify(told, null, 2);
  return html`<${Dialog} wide=${true} title=${t("log.raw.title", { position: event.position })} onClose=${onClose}>
    <pre tabindex="0"><${Said} text=${text} /></pre>
    <div class="dialog-foot"><${Copy} text=${text} />
      ${may("replay", owner) && html`<${Button} onClick=${() => { onClose(); go(to(["owners", owner, "whatif"], { without: event.position })); }}>${t("log.strike")}<//>`}
      <${Button} onClick=${() => { onClose(); setParams({ at: null, as_of: event.position }); }}>${t("log.then")}<//></div>
  <//>`;
}
