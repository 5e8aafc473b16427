/**
 * A question: ranked cards with the parts of their score, why one stands above the next, what was withheld, the context block;
 * beside it the same question at another moment, under another law, or without a source.
 */

import { KINDS, LAWS, MODES } from "../core/choices.js";
import { html, useEffect, useId, useState } from "../core/dom.js";
import { ask, path, useAsk, useAskWith } from "../core/http.js";
import { setParams, useHere } from "../core/location.js";
import { instant, useMoment, usePreview } from "../core/moment.js";
import { Asked, Button, Chip, Empty, Field, note, Screen, told as refusal, useQuiet, useReadOnly } from "../core/parts.js";
import { may, modeOf } from "../core/rights.js";
import { plain, Said } from "../core/said.js";
import { shownMoment } from "../core/timebar.js";
import { number, t } from "../core/words.js";
import { Card, Legend } from "./cards.js";
import { Context } from "./context.js";
import { RankLines } from "./ranklines.js";
import "../words/ask.js";

const MOST = 10;
const MOST_OTHERS = 7;
const REST_MS = 150;

export function Ask({ owner }) {
  const { params } = useHere();
  const moment = useRested(useMoment());
  const why = useReadOnly();
  const asked = params.get("q") ?? "";
  const [question, setQuestion] = useState(asked);
  useEffect(() => setQuestion(asked), [asked]);
  const { mode, options } = modeOf(owner, params.get("mode"), "normal");
  const owners = params.getAll("with");
  const beside = owners.length ? "" : params.get("beside") ?? (moment.b ? "moment" : "");
  const tab = params.get("tab") ?? "ranked";
  const address = path("owners", owner, "search");
  const terms = { query: asked, mode, owners, limit: MOST, trace: "false" };
  const found = useAsk(asked ? address : null, { ...terms, ...moment.query });
  const go = (event) => {
    event.preventDefault();
    setParams({ q: question.trim() || null });
  };
  const asAgent = async () => {
    try {
      const told = await ask(address, { query: question.trim(), owners, limit: MOST, trace: "true" });
      if (question.trim() === asked && mode === "normal") found.reload();
      else setParams({ q: question.trim(), mode: null });
      note(t("ask.agent.done", { count: number(told.results.length) }));
    } catch (error) {
      note(refusal(error), { tone: "bad" });
    }
  };
  return html`<${Screen} title=${t("screen.ask")} lead=${t("ask.lead")}>
    <form class="form ask-bar" onSubmit=${go} role="search">
      <${Field} wide label=${t("ask.question")} kind="search" value=${question} onChange=${setQuestion} placeholder=${t("ask.placeholder")} maxlength="2000" data-first />
      <${Button} kind="main" type="submit" disabled=${!question.trim()}>${t("screen.ask")}<//>
      <${Button} why=${why} disabled=${!question.trim()} title=${t("ask.agent.hint")} onClick=${asAgent}>${t("ask.agent")}<//>
      <${Field} label=${t("memories.mode")} value=${mode} options=${options} onChange=${(one) => setParams({ mode: one === "normal" ? null : one })} />
      ${!owners.length && html`<${Beside} owner=${owner} beside=${beside} moment=${moment} />`}
      <${Others} owner=${owner} owners=${owners} />
    </form>
    <div class="tabs" role="group" aria-label=${t("screen.ask")}>${["ranked", "context"].map((name) => html`<${Button} key=${name} aria-pressed=${tab === name ? "true" : "false"}
      onClick=${() => setParams({ tab: name === "ranked" ? null : name })}>${t(`ask.tab.${name}`)}<//>`)}</div>
    ${!asked ? html`<${Empty} title=${t("ask.start")} examples=${["who", "likes", "plans"].map((one) => [t(`ask.example.${one}`), () => setParams({ q: t(`ask.example.${one}`) })])}><p>${t("ask.start.what")}</p><//>`
      : tab === "context" ? html`<${Context} owner=${owner} owners=${owners} question=${asked} moment=${moment} />`
      : html`<${Asked} of=${found}>${(told) => html`<${Ranking} owner=${owner} question=${asked} mode=${mode} told=${told} moment=${moment} beside=${beside} />`}<//>`}
  <//>`;
}

/** Other owners who are asked too: each with a button that takes the owner away, and a field for one more. */
function Others({ owner, owners }) {
  const list = useId();
  const [part, setPart] = useState("");
  const asked = useAsk(path("owners"), { search: useQuiet(part) || undefined, limit: 20 });
  const add = () => {
    const name = part.trim();
    setPart("");
    if (name && name !== owner && !owners.includes(name)) setParams({ with: [...owners, name] });
  };
  return html`${owners.map((one) => html`<${Button} key=${one} aria-label=${t("ask.others.remove", { owner: plain(one) })} title=${t("ask.others.remove", { owner: plain(one) })}
      onClick=${() => setParams({ with: owners.filter((other) => other !== one) })}><${Said} text=${one} /> <span aria-hidden="true">×</span><//>`)}
    ${owners.length < MOST_OTHERS && html`<${Field} label=${t("ask.others")} value=${part} onChange=${setPart} onBlur=${add} onKeyDown=${(event) => event.key === "Enter" && add()} list=${list} maxlength="200" placeholder=${t("ask.others.placeholder")} spellcheck=${false} />
      <datalist id=${list}>${(asked.data?.owners ?? []).filter((one) => one.owner !== owner && !owners.includes(one.owner)).map((one) => html`<option key=${one.owner} value=${one.owner} />`)}</datalist>`}`;
}

/** The moment of hand A: where the address has it; while it is dragged, where it last rested. */
function useRested(moment) {
  const dragged = usePreview();
  const moves = dragged?.hand === "a";
  const [rested, setRested] = useState(null);
  useEffect(() => {
    if (!moves) setRested(null);
    else {
      const query = { ...moment.query };
      if (dragged.at === null) delete query[dragged.line];
      else query[dragged.line] = instant(dragged.at);
      const timer = setTimeout(() => setRested(query), REST_MS);
      return () => clearTimeout(timer);
    }
    return undefined;
  }, [moves, dragged?.line, dragged?.at]);
  return moves && rested ? { ...moment, a: rested, query: rested } : moment;
}

/** What the ranking is compared with: hand B, another law, or a history without somebody. */
function Beside({ owner, beside, moment }) {
  const [kind, name] = split(beside);
  const options = [["", t("ask.beside.none")]];
  if (moment.b) options.push(["moment", t("ask.beside.moment")]);
  if (may("replay", owner)) options.push(...LAWS.map((law) => [`law:${law}`, t("ask.beside.law", { law: t(`law.${law}`) })]));
  if (may("replay", owner) && may("audit", owner)) options.push(...KINDS.map((one) => [`without_${one}`, t("ask.beside.without", { kind: t(`ask.kind.${one}`) })]));
  const without = kind.startsWith("without_") ? kind.slice(8) : null;
  return html`<${Field} label=${t("ask.beside")} value=${kind === "law" ? beside : kind === "none" || (kind === "moment" && !moment.b) ? "" : kind} options=${options} onChange=${(one) => setParams({ beside: one === (moment.b ? "moment" : "") ? null : one || "none" })} />
    ${without && html`<${Names} owner=${owner} kind=${without} name=${name} moment=${moment} />`}`;
}

function Names({ owner, kind, name, moment }) {
  const asked = useAsk(path("owners", owner, "sources"), { by: kind.slice(0, -1), limit: 200, ...moment.query });
  const names = (asked.data?.sources ?? []).map((one) => one.name);
  const all = name && !names.includes(name) ? [name, ...names] : names;
  return html`<${Field} label=${t("ask.without.name", { kind: t(`ask.kind.${kind}`) })} value=${name ?? ""} options=${[["", t("ask.without.choose")], ...all.map((one) => [one, plain(one)])]}
    onChange=${(one) => setParams({ beside: one ? `without_${kind}:${one}` : `without_${kind}` })} />`;
}

/** `law:ebbinghaus`, `without_sessions:s1`, `moment`: the kind and the name. */
function split(beside) {
  const at = beside.indexOf(":");
  return at < 0 ? [beside, null] : [beside.slice(0, at), beside.slice(at + 1)];
}

function Ranking({ owner, question, mode, told, moment, beside }) {
  const [kind, name] = split(beside);
  const withMoment = kind === "moment" && moment.b;
  const withReplay = (kind === "law" || kind.startsWith("without_")) && name;
  const extra = told.expanded?.synonyms ? [...new Set(Object.values(told.expanded.synonyms).flatMap((one) => Object.keys(one)))] : [];
  const others = told.understood?.parts ?? [];
  return html`
    ${others.length > 0 && html`<p class="muted">${t("ask.asked", { questions: others.map(plain).join(" | ") })}</p>`}
    ${extra.length > 0 && html`<p class="muted">${t("ask.synonyms", { words: extra.slice(0, 12).map(plain).join(", ") })}</p>`}
    ${withMoment ? html`<${MomentBeside} owner=${owner} question=${question} mode=${mode} told=${told} moment=${moment} />`
      : withReplay ? html`<${ReplayBeside} owner=${owner} question=${question} mode=${mode} told=${told} moment=${moment} kind=${kind} name=${name} />`
      : told.results.length
        ? html`<${Legend} cards=${told.results}>${t("ask.total", { shown: number(told.results.length), total: number(told.total) })}<//>
          <${Cards} owner=${owner} question=${question} mode=${mode} told=${told} moment=${moment} />`
        : html`<${Empty} title=${t("ask.none")} examples=${mode === "normal" && may("read", owner, { mode: "review" }) ? [[t("ask.withheld.show", { mode: t("mode-name.review") }), () => setParams({ mode: "review" })]] : []}><p>${t(told.withheld.length ? "ask.none.withheld" : "ask.none.what")}</p><//>`}
    <${Shelf} owner=${owner} withheld=${told.withheld} mode=${mode} />`;
}

/** Cards in the order of the service. */
function Cards({ owner, question, mode, told, moment }) {
  const best = Math.max(...told.results.map((one) => one.score), 0.001);
  return html`<ol class="panel cards">${told.results.map((one, index) => html`<${Card} key=${`${one.owner ?? owner}/${one.id}`} owner=${one.owner ?? owner} card=${one} rank=${told.offset + index + 1} best=${best}
    weight=${one.weight} next=${told.results[index + 1]} question=${question} mode=${mode} moment=${moment} />`)}</ol>`;
}

/** A column's hand and where it stands. */
function headed(hand, { as_of: happened, known }) {
  const at = [happened, known].filter(Boolean).map((one) => shownMoment(one));
  return `${hand}: ${at.length ? at.join(" · ") : t("bar.now")}`;
}

function MomentBeside({ owner, question, mode, told, moment }) {
  const asked = useAsk(path("owners", owner, "search"), { query: question, mode, limit: MOST, trace: "false", ...moment.queryB });
  return html`<${Asked} of=${asked}>${(other) => html`<${RankLines} owner=${owner} left=${told.results} right=${other.results}
    leftTitle=${headed(t("ask.column.a"), moment.a)} rightTitle=${headed(t("ask.column.b"), moment.b)} />`}<//>`;
}

function ReplayBeside({ owner, question, mode, told, moment, kind, name }) {
  const body = { queries: [question], mode, limit: 50, most: MOST, ...moment.query, ...(kind === "law" ? { profile: name } : { [kind]: [name] }) };
  const asked = useAskWith(path("owners", owner, "replay"), body);
  const title = kind === "law" ? t("ask.column.law", { law: t(`law.${name}`) }) : t("ask.column.without", { name: plain(name) });
  return html`<${Asked} of=${asked}>${(replayed) => {
    const { before, after, moved } = replayed.questions[0];
    const texts = new Map([...told.results, ...replayed.differences].map((one) => [one.id, one]));
    const row = (id) => texts.get(id) ?? { id };
    return html`<${RankLines} owner=${owner} left=${before.map(row)} right=${after.map(row)} moved=${moved} leftTitle=${t(moment.past ? "ask.column.a" : "ask.column.now")} rightTitle=${title} />`;
  }}<//>`;
}

/** What matched and is not shown, and why. */
function Shelf({ owner, withheld, mode }) {
  if (!withheld?.length) return null;
  const shown = (by) => MODES.find((one) => by === one);
  return html`<section class="shelf" aria-label=${t("ask.withheld")}><h2>${t("ask.withheld")}</h2>
    <ul>${withheld.map((one) => html`<li key=${one.reason}><${Chip} tone=${one.reason === "sensitive" ? "bad" : "warn"}>${t("ask.withheld.count", { count: number(one.count), reason: t(`reason.${one.reason}`) })}<//>
      ${shown(one.shown_by) && shown(one.shown_by) !== mode && may("read", owner, { mode: one.shown_by }) ? html`<${Button} kind="quiet" onClick=${() => setParams({ mode: one.shown_by })}>${t("ask.withheld.show", { mode: t(`mode-name.${one.shown_by}`) })}<//>` : html`<span class="muted">${one.reason === "sensitive" ? t("ask.withheld.secret") : t("ask.withheld.shown-by", { mode: shown(one.shown_by) ? t(`mode-name.${one.shown_by}`) : one.shown_by })}</span>`}
      ${one.ids?.length > 0 && html`<span class="id muted">${one.ids.slice(0, 5).map(plain).join(", ")}${one.ids.length > 5 ? " …" : ""}</span>`}</li>`)}</ul></section>`;
}
