/** The log itself: an owner's events or a partition's, filtered, live, raw. */

import { html, useEffect, useRef, useState } from "../core/dom.js";
import { ask, path, useAsk, useVisible } from "../core/http.js";
import { go, here, setParams, To, to, useHere } from "../core/location.js";
import { useMoment } from "../core/moment.js";
import { Button, Check, Chip, Copy, Dialog, Empty, Field, Loading, Problem, Screen, Typed } from "../core/parts.js";
import { ByService, who } from "../core/reason.js";
import { may } from "../core/rights.js";
import { plain, Said, When } from "../core/said.js";
import { number, t } from "../core/words.js";
import "../words/log.js";
import "../words/memories.js";

const PAGE = 60;
const MOST = 600;
/** Rows that stay on the page; older ones are asked for again. */
const WAIT_S = 15;
/** Pages that are read on where all of one was written by jobs. */
const MOST_READS = 8;
/** Memories of a page whose texts are asked for. */
const MOST_NAMED = 40;
const ACTORS = ["user", "assistant", "judge", "system", "operator"];
const TEXTS = ["session", "principal", "memory", "turn", "since", "until"];

/** Seconds as people say them, in one unit. */
export function duration(seconds) {
  for (const [unit, size] of [["days", 86_400], ["hours", 3_600], ["minutes", 60]]) {
    const count = seconds / size;
    if (count >= 1) return t(`duration.${unit}`, { count: number(count, count < 10 && count % 1 >= 0.05 ? 1 : 0) });
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
  const types = schema.data ? Object.keys(schema.data) : [];
  const [open, setOpen] = useState(TEXTS.some((name) => params.has(name)));
  const set = (name) => (value) => setParams({ [name]: value || null, at: null });
  return html`<div class="form manager-bar">
    <${Field} label=${t("log.types")} value=${params.get("types") ?? ""} options=${[["", t("log.types.any")], ...types.map((one) => [one, t(`event.${one}`)]).sort((a, b) => a[1].localeCompare(b[1]))]} onChange=${set("types")} />
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
  const isShown = (one) => jobs || !byJob(one) || one.position === focus;
  const read = async (cursor, signal) => {
    setBusy(true);
    try {
      const told = await readOn(address, { ...question, limit: PAGE, cursor }, isShown, signal);
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
  const events = state.events.filter(isShown);
  const hidden = state.events.length - events.length;
  const named = useNamed(events);
  return html`${live && html`<p class="live-line" role="status"><span class=${`live ${held ? "" : "open"}`}>${t(held ? "log.live.held" : "log.live")}</span> <${Button} kind="quiet" onClick=${() => setHeld(!held)}>${t(held ? "log.live.go" : "log.live.hold")}<//></p>`}
    <${Problem} error=${error} again=${() => read()} />
    ${!events.length && !busy && !error && html`<${Empty} title=${t("log.none")} examples=${[[t("memories.filters.clear"), () => go(to(here.get().parts))]]}><p>${t("log.none.what")}</p><//>`}
    ${!events.length && busy && html`<${Loading} />`}
    ${events.length > 0 && html`<div class="table-box" tabindex="0" role="group" aria-label=${t("screen.log")}><table class="log"><thead><tr>${["happened", "about", "by", "position"].map((name) => html`<th key=${name} class=${`l-${name}`}>${t(`log.column.${name}`)}</th>`)}</tr></thead>
      <tbody>${events.map((one) => html`<${Row} key=${one.position} owner=${owner} event=${one} named=${named} focus=${focus === one.position} onRaw=${() => setRaw(one)} />`)}</tbody></table></div>`}
    ${hidden > 0 && html`<p class="muted">${t("log.hidden", { count: number(hidden) })} <${Button} kind="quiet" onClick=${() => setParams({ jobs: "true" })}>${t("log.hidden.show")}<//></p>`}
    ${next && html`<p><${Button} disabled=${busy} onClick=${() => read(next)}>${t("log.more")}<//> <span class="muted">${looked && t("log.looked", { count: number(looked.looked), position: looked.looked_to ?? "–" })}</span></p>`}
    ${raw && html`<${Raw} owner=${owner ?? raw.owner} event=${raw} onClose=${() => setRaw(null)} />`}`;
}

/** A page of events, and further ones while none of them is to be shown. */
export async function readOn(address, question, isShown, signal) {
  let told = await ask(address, question, signal);
  for (let read = 1; read < MOST_READS && told.next && !told.events.some(isShown); read += 1) {
    const more = await ask(address, { ...question, cursor: told.next }, signal);
    told = { ...told, ...more, events: [...told.events, ...more.events], follow: told.follow };
  }
  return told;
}

/** What an event says in its own words. */
const wordsOf = ({ data }) => data?.content ?? data?.text ?? data?.summary ?? data?.correction ?? data?.query ?? data?.accesses?.[0]?.query ?? (data?.object && `${data.subject} ${data.predicate} ${data.object}`);

/** The memories that it names. */
const idsOf = ({ data }) => [data?.memory_id ?? data?.into, data?.a, data?.b, ...(data?.memory_ids ?? data?.memories ?? data?.accesses?.[0]?.shown ?? data?.block?.retrieved?.map((one) => one.memory_id) ?? data?.block?.stable?.profile ?? [])].filter((one) => typeof one === "string");

const MOST_LETTERS = 240;
const cut = (text) => ([...text].length > MOST_LETTERS ? `${[...text].slice(0, MOST_LETTERS).join("")} …` : text);
const keyOf = (owner, id) => JSON.stringify([owner, id]);

/** Texts of memories that events name without saying them: of events that said them, else asked for. */
export function useNamed(events) {
  const { query } = useMoment();
  const [asked, setAsked] = useState({});
  const said = Object.fromEntries([...events].reverse().filter((one) => /Created|Revised|Merged/.test(one.type) && wordsOf(one)).map((one) => [keyOf(one.owner, idsOf(one)[0]), wordsOf(one)]));
  const named = events.filter((one) => !wordsOf(one) && may("read", one.owner)).flatMap((one) => idsOf(one).slice(0, 2).map((id) => keyOf(one.owner, id)));
  const wanted = [...new Set(named)].filter((key) => !(key in said)).slice(0, MOST_NAMED);
  useEffect(() => {
    const leave = new AbortController();
    (async () => {
      for (const key of wanted.filter((one) => !(one in asked))) {
        const [owner, id] = JSON.parse(key);
        const told = await ask(path("owners", owner, "memories", id), { trace: "false", ...query }, leave.signal).catch(() => null);
        if (leave.signal.aborted) return;
        setAsked((was) => ({ ...was, [key]: told?.content }));
      }
    })();
    return () => leave.abort();
  }, [wanted.join()]);
  return { ...asked, ...said };
}

/** What happened, in words. A negation that names what is true instead is a correction. */
export function About({ event, named }) {
  const what = t(`event.${event.type === "MemoryNegated" && event.data?.correction ? "corrected" : event.type}`);
  const words = wordsOf(event);
  const ids = words ? [] : idsOf(event);
  const reason = event.data?.reason;
  return html`<span class="muted" title=${plain(event.type)}>${words || ids.length ? t("event.names", { event: what }) : what}</span>${words && html`<${Said} text=${cut(words)} />`}
    ${ids.slice(0, 2).map((id, index) => html`${index > 0 && html`<span class="muted"> · </span>`}<span title=${plain(id)}><${Said} text=${cut(named[keyOf(event.owner, id)] ?? id)} /></span>`)}${ids.length > 2 && html` <span class="muted">${t("memories.facet.more", { count: number(ids.length - 2) })}</span>`}
    ${event.trust === "proposed" && html` <span class="muted">(${t("trust.proposed")})</span>`}
    ${reason && html` <span class="muted">“<${Said} text=${reason} />”</span>`}`;
}

function Row({ owner, event, named, focus, onRaw }) {
  return html`<tr class=${`${event.isNew ? "is-new" : ""} ${focus ? "chosen" : ""}`}>
    <td class="l-happened" title=${`${t("log.column.recorded")}: ${event.recorded_at?.slice(0, 19).replace("T", " ")}`}><${When} at=${event.occurred_at} /></td>
    <td class="l-about"><${About} event=${event} named=${named} />
      ${event.folded === false && html` <${Chip} tone="bad">${t("log.waiting")}<//>`}${event.late_by !== null && html` <small class="muted">${t("log.late.by", { time: duration(event.late_by) })}</small>`}${event.withheld && html` <${Chip} tone="warn">${t("log.withheld", { why: t(`mark.${event.withheld}`) })}<//>`}${event.problem && html` <${Chip} tone="bad"><${ByService} text=${event.problem} /><//>`}</td>
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
