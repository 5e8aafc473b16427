/** The manager: all memories of an owner in a table with filters, what waits for a person, statistics, export. */

import { html, useEffect, useState } from "../core/dom.js";
import { ask, path, useAsk, useFeed } from "../core/http.js";
import { go, setParams, To, to, useHere } from "../core/location.js";
import { useMoment } from "../core/moment.js";
import { Bar, Button, Chip, Empty, Field, note, Problem, Screen, told, useQuiet, useReadOnly } from "../core/parts.js";
import { may, modeOf, useWhyNot, whyNot } from "../core/rights.js";
import { Rows } from "../core/rows.js";
import { Age, plain, Said } from "../core/said.js";
import { number, t, weight } from "../core/words.js";
import { ExportDialog } from "./exporting.js";
import { Inbox } from "./inbox.js";
import { State } from "./state.js";
import { Statistics } from "./statistics.js";
import { AddDialog, DeleteDialog, EditDialog, restore } from "./verbs.js";
import "../words/memories.js";

/** Facets: the name of the counts, of the filter, and of the words of its values. */
const FACETS = [
  ["by_flag", "flags", "flag"],
  ["by_status", "statuses", "status"],
  ["by_level", "levels", "level"],
  ["by_trust", "trusts", "trust"],
  ["by_tier", "tiers", "tier"],
  ["by_category", "categories", "category"],
  ["by_kind", "kinds", "kind"],
  ["by_source", "sources", "source"],
  ["by_sensitivity", "sensitivities", null],
  ["by_tag", "tags", null],
];
const FILTERS = FACETS.map(([, filter]) => filter);
const SORTS = ["activated", "created", "updated", "weight", "id"];
const MOST_PICKED = 1000;
const MOST_OF_A_FACET = 12;
const clearFilters = () => setParams(Object.fromEntries([...FILTERS, "words"].map((name) => [name, null])));

/** The filters of the address, as the service is asked. */
function filtersOf(params, owner) {
  const told = { mode: modeOf(owner, params.get("mode"), "review").mode };
  for (const name of FILTERS) if (params.has(name)) told[name] = params.getAll(name);
  if (params.get("words")) told.words = params.get("words");
  return told;
}

export function Memories({ owner }) {
  const { params } = useHere();
  const moment = useMoment();
  const view = params.get("view") ?? "all";
  const inbox = useAsk(may("review", owner) ? path("owners", owner, "inbox") : null, { ...moment.query, limit: 1 });
  const [dialog, setDialog] = useState(null);
  const [refreshed, setRefreshed] = useState(0);
  const past = useReadOnly();
  const why = useWhyNot("produce", owner);
  const again = () => {
    setRefreshed((was) => was + 1);
    inbox.reload();
  };
  const live = useFeed(owner, again, !past);
  const views = [["all"], ["inbox", "review"], ["stats"]].filter(([, verb]) => !verb || may(verb, owner)).map(([name]) => name);
  const waiting = inbox.data?.total ?? 0;
  return html`<${Screen} title=${t("screen.memories")} lead=${t("memories.lead", { owner: plain(owner) })}
    actions=${html`
      <div class="tabs" role="group" aria-label=${t("screens")}>
        ${views.map((name) => html`<${Button} key=${name} aria-pressed=${view === name ? "true" : "false"}
          onClick=${() => setParams({ view: name === "all" ? null : name })}>${t(`memories.view.${name}`)}${name === "inbox" && waiting ? html` <${Chip} tone="warn">${number(waiting)}<//>` : ""}<//>`)}
      </div>
      <${Button} onClick=${() => setDialog({ kind: "export" })}>${t("export.title")}<//>
      <${Button} kind="main" why=${why} onClick=${() => setDialog({ kind: "add" })}>＋ ${t("memories.add")}<//>`}>
    ${view === "inbox" ? html`<${Inbox} owner=${owner} refreshed=${refreshed} onDone=${again} />`
      : view === "stats" ? html`<${Statistics} owner=${owner} refreshed=${refreshed} />`
      : html`<${Table} owner=${owner} refreshed=${refreshed} live=${live} setDialog=${setDialog} onDone=${again} past=${past} why=${why} />`}
    ${dialog?.kind === "add" && html`<${AddDialog} owner=${owner} onClose=${() => setDialog(null)} onDone=${again} />`}
    ${dialog?.kind === "edit" && html`<${EditDialog} owner=${owner} memory=${dialog.memory} onClose=${() => setDialog(null)} onDone=${again} />`}
    ${dialog?.kind === "delete" && html`<${DeleteDialog} owner=${owner} ids=${dialog.ids} onClose=${() => setDialog(null)} onDone=${(answer) => { again(); if (answer) dialog.picked?.(); }} />`}
    ${dialog?.kind === "export" && html`<${ExportDialog} owner=${owner} picked=${dialog.picked} filtered=${FILTERS.some((name) => params.has(name)) || params.has("words")} onClose=${() => setDialog(null)} />`}
  <//>`;
}

function Table({ owner, refreshed, live, setDialog, onDone, past, why }) {
  const { params } = useHere();
  const moment = useMoment();
  const [picked, setPicked] = useState(new Map());
  const [shown, setShown] = useState(null);
  const [words, setWords] = useState(params.get("words") ?? "");
  const quiet = useQuiet(words);
  const written = params.get("words") ?? "";
  useEffect(() => setWords(written), [written]);
  useEffect(() => {
    if (quiet !== written) setParams({ words: quiet || null }, { replace: true });
  }, [quiet]);
  const filters = filtersOf(params, owner);
  const whyDelete = useWhyNot("delete", owner);
  const sort = params.get("sort") ?? "activated";
  const order = params.get("order") ?? (sort === "id" ? "ascending" : "descending");
  const question = { ...filters, sort, order, ...moment.query };
  const address = path("owners", owner, "memories");
  const page = async (offset, limit, signal) => {
    const answer = await ask(address, { ...question, offset, limit }, signal);
    setShown((was) => ({ ...answer, most: Math.max(was?.most ?? 1, ...answer.memories.map((one) => one.weight ?? 0)) }));
    return { rows: answer.memories, total: answer.total };
  };
  const pick = (row) => {
    const next = new Map(picked);
    if (!next.delete(row.id)) next.set(row.id, row);
    if (next.size > MOST_PICKED) note(t("memories.pick.full", { most: number(MOST_PICKED) }), { tone: "bad" });
    setPicked(next.size > MOST_PICKED ? new Map(picked) : next); // drawn anew all the same: its box has the tick already
  };
  const pickAll = async () => {
    const answer = await ask(address, { ...question, offset: 0, limit: MOST_PICKED }).catch(() => null);
    if (answer) setPicked(new Map(answer.memories.map((row) => [row.id, row])));
    if (answer?.total > MOST_PICKED) note(t("memories.pick.most", { most: number(MOST_PICKED) }), { tone: "bad" });
  };
  const open = (row) => go(to(["owners", owner, "memory", row.id]));
  const filtered = FILTERS.some((name) => params.has(name)) || params.has("words");
  const deleted = [...picked.values()].filter((row) => ["deleted"].includes(row.status)).map((row) => row.id);
  const standing = [...picked.values()].filter((row) => !["deleted", "purged"].includes(row.status)).map((row) => row.id);
  return html`<div class="manager">
    <${Facets} owner=${owner} filters=${filters} moment=${moment} refreshed=${refreshed} />
    <div class="manager-main">
      <div class="form manager-bar">
        <${Field} wide label=${t("memories.words")} kind="search" value=${words} onChange=${setWords} maxlength="400" />
        <${Field} label=${t("memories.mode")} value=${filters.mode} options=${modeOf(owner, params.get("mode"), "review").options} onChange=${(mode) => setParams({ mode: mode === "review" ? null : mode })} />
        <${Field} label=${t("memories.sort")} value=${sort} options=${SORTS.map((one) => [one, t(`memories.sort.${one}`)])} onChange=${(value) => setParams({ sort: value === "activated" ? null : value, order: null })} />
        <${Field} label=${t("memories.order")} value=${order} options=${["descending", "ascending"].map((one) => [one, t(`memories.order.${one}`)])} onChange=${(value) => setParams({ order: value })} />
      </div>
      <div class="manager-told" role="status">
        <span>${shown ? t("memories.total", { count: number(shown.total) }) : ""}${shown?.withheld?.length ? ` · ${withheldTold(shown.withheld)}` : ""}</span>
        ${!past && html`<span class=${`live ${live}`}>${t(live === "open" ? "live" : "live.waiting")}</span>`}
        ${picked.size > 0 && html`<span class="picked-told"><strong>${t("memories.picked", { count: number(picked.size) })}</strong>
          ${standing.length > 0 && html`<${Button} kind="danger" why=${whyDelete} onClick=${() => setDialog({ kind: "delete", ids: standing, picked: () => setPicked(new Map()) })}>${t("delete.go")}<//>`}
          ${deleted.length > 0 && html`<${Button} why=${whyDelete} onClick=${() => restore(owner, deleted).then(() => { setPicked(new Map()); onDone(); }, (error) => note(told(error), { tone: "bad" }))}>${t("memory.restore")}<//>`}
          <${Button} onClick=${() => setDialog({ kind: "export", picked: [...picked.keys()] })}>${t("export.title")}: ${number(picked.size)}<//>
          <${Button} kind="quiet" onClick=${() => setPicked(new Map())}>${t("memories.pick.none")}<//></span>`}
        ${shown?.total > 0 && html`<${Button} kind="quiet" onClick=${pickAll}>${t("memories.pick.page")}<//>`}
      </div>
      <${Rows} of=${address + JSON.stringify(question)} page=${page} refreshed=${refreshed} label=${t("screen.memories")} height=${innerWidth <= 480 ? 60 : 38}
        template="1.4rem minmax(14rem, 1fr) 7.6rem 8rem 5.6rem" onPick=${pick} isPicked=${(row) => picked.has(row.id)} onOpen=${open}
        columns=${[
          { name: "pick", title: html`<span class="out-of-sight">${t("memories.column.pick")}</span>`, class: "c-pick" },
          { name: "memory", title: t("memories.column.memory"), class: "c-memory" },
          { name: "weight", title: t("memories.column.weight"), class: "c-weight" },
          { name: "when", title: t("memories.column.when"), class: "c-when" },
          { name: "actions", title: html`<span class="out-of-sight">${t("memories.column.actions")}</span>`, class: "c-actions" },
        ]}
        cells=${(row) => cellsOf(row, { owner, now: moment.query.as_of, picked, pick, most: shown?.most ?? 1, whyEdit: past ?? whyNot("correct", owner, { actor: "user" }), whyDelete, setDialog })}
        empty=${html`<${None} owner=${owner} filtered=${filtered} past=${moment.past} withheld=${shown?.withheld} add=${() => setDialog({ kind: "add" })} why=${why} />`} />
    </div>
  </div>`;
}

function cellsOf(row, { owner, now, picked, pick, most, whyEdit, whyDelete, setDialog }) {
  return [
    html`<input type="checkbox" tabindex="-1" checked=${picked.has(row.id)} aria-label=${t("memories.pick", { id: plain(row.id) })} onChange=${() => pick(row)} />`,
    html`<span class="row-text"><${To} class="row-link" tabindex="-1" data-id=${row.id} title=${plain(row.id)} parts=${["owners", owner, "memory", row.id]}><${Said} text=${row.memory} lines=${1} /><//>
      <${State} of=${row} /></span>`,
    html`<span class="figure">${weight(row.weight)}</span> <${Bar} share=${row.weight / most} label=${`${t("memories.column.weight")} ${weight(row.weight)}`} />`,
    html`<span class="muted"><${Age} at=${row.last_activated_at} now=${now} /></span>`,
    row.status === "deleted" || row.status === "purged" ? "" : html`<span class="row-actions"><${Button} kind="quiet" tabindex="-1" why=${whyEdit} onClick=${() => setDialog({ kind: "edit", memory: row })}>${t("memories.edit")}<//>
      <${Button} kind="quiet" tabindex="-1" why=${whyDelete} aria-label=${`${t("delete.go")}: ${plain(row.id)}`} onClick=${() => setDialog({ kind: "delete", ids: [row.id] })}>✕<//></span>`,
  ];
}

function Facets({ owner, filters, moment, refreshed }) {
  const { params } = useHere();
  const asked = useAsk(path("owners", owner, "counts"), { ...filters, ...moment.query });
  const [turn, setTurn] = useState(refreshed);
  if (turn !== refreshed) {
    setTurn(refreshed);
    asked.reload();
  }
  const [open, setOpen] = useState(false);
  const toggle = (filter, value) => {
    const had = params.getAll(filter);
    setParams({ [filter]: had.includes(value) ? had.filter((one) => one !== value) : [...had, value] });
  };
  const any = FILTERS.some((name) => params.has(name));
  return html`<aside class="facets" aria-label=${t("memories.filters")}>
    <${Button} class="facets-open" aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}>${t("memories.filters")}${any ? " ●" : ""}<//>
    <div class=${`facets-all ${open ? "open" : ""} ${asked.loading ? "stale" : ""}`}>
      ${any && html`<${Button} kind="quiet" onClick=${clearFilters}>${t("memories.filters.clear")}<//>`}
      <${Problem} error=${asked.data ? null : asked.error} again=${asked.reload} />
      ${asked.data && FACETS.map(([name, filter, vocabulary]) => html`<${Facet} key=${name} name=${name} of=${asked.data[name]} chosen=${params.getAll(filter)} vocabulary=${vocabulary} onToggle=${(value) => toggle(filter, value)} />`)}
      ${asked.data?.by_law && html`<section class="facet"><h2>${t("memories.by.law")}</h2><ul>${asked.data.by_law.counts.map((one) => html`<li key=${one.value} class="facet-told"><span>${t(`law.${one.value}`)}</span><span class="figure">${number(one.count)}</span></li>`)}</ul></section>`}
    </div>
  </aside>`;
}

function Facet({ name, of, chosen, vocabulary, onToggle }) {
  const [all, setAll] = useState(false);
  if (!of) return null;
  const counts = of.counts.filter((one) => one.count || chosen.includes(one.value));
  if (!counts.length || (counts.length === 1 && !chosen.length && name !== "by_flag")) return null;
  const shown = all ? counts : counts.slice(0, MOST_OF_A_FACET);
  return html`<section class="facet"><h2>${t(`memories.by.${name.slice(3)}`)}</h2><ul>
    ${shown.map((one) => html`<li key=${one.value}><button type="button" class="facet-button" aria-pressed=${chosen.includes(one.value) ? "true" : "false"} onClick=${() => onToggle(one.value)}>
      <${Said} text=${vocabulary ? t(`${vocabulary}.${one.value}`) : one.value} /><span class="figure">${number(one.count)}</span></button></li>`)}
    ${!all && counts.length > shown.length && html`<li><${Button} kind="quiet" onClick=${() => setAll(true)}>${t("memories.facet.more", { count: counts.length - shown.length })}<//></li>`}
    ${of.left_out > 0 && (all || counts.length === shown.length) && html`<li class="muted">${t("memories.facet.more", { count: number(of.left_out) })}</li>`}
  </ul></section>`;
}

/** What the mode leaves out of the owner, in words; nothing of nothing. */
function withheldTold(withheld) {
  const what = (withheld ?? []).map((one) => `${number(one.count)} ${t(`reason.${one.reason}`)}`).join(", ");
  return what && t("memories.withheld", { what });
}

function None({ owner, filtered, past, withheld, add, why }) {
  const told = withheldTold(withheld);
  if (filtered) return html`<${Empty} title=${t("memories.none")} examples=${[[t("memories.filters.clear"), clearFilters]]}><p>${t("memories.none.what")}</p><//>`;
  return html`<${Empty} title=${t("memories.empty", { owner: plain(owner) })}>
    <p>${told ? `${told}. ${t("memories.none.what")}` : t(past ? "memories.empty.past" : "memories.empty.what")}</p>
    ${!past && html`<p><${Button} kind="main" why=${why} onClick=${add}>＋ ${t("memories.add")}<//></p>`}
  <//>`;
}
