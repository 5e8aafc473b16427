/**
 * The time bar: two lines (what had happened, what was recorded), two hands on each. Dragging a hand shows a preview to whoever
 * listens; letting it go puts the moment into the address.
 */

import { html, useEffect, useRef, useState } from "./dom.js";
import { path, useAsk } from "./http.js";
import { backToNow, dropB, instant, isDay, parsed, preview, setHand, takeB, useMoment, usePreview } from "./moment.js";
import { Button } from "./parts.js";
import { number, t, useLanguage } from "./words.js";

const DAY = 86_400_000;
const LET_GO_MS = 500;
const LINES = [
  ["as_of", "happened"],
  ["known", "known"],
];

/** An instant as the bar shows it. */
export const shownInstant = (at) => instant(at).slice(0, 16).replace("T", " ");
/** The same of what stands in the address: a day stays a day, whose end is by the owner's clocks, and a position a position. */
export const shownMoment = (written, at = parsed(written)) => (isDay(written) && at === parsed(written) ? written : at === null ? written : shownInstant(at));

/** Axes of both lines, in milliseconds; `now` is where the present stands, `to` lies ahead of it where weights can be foreseen. */
function axes(times) {
  const now = Date.now();
  const span = (first, last) => {
    const from = parsed(first) ?? now - DAY;
    const end = Math.max(parsed(last) ?? now, now);
    return { from, now: end, to: end };
  };
  const happened = span(times?.happened?.first, times?.happened?.last);
  happened.to = happened.now + Math.max((happened.now - happened.from) * 0.12, 30 * DAY);
  const known = span(times?.recorded?.first, times?.recorded?.last);
  return { as_of: happened, known };
}

/** `twoHands`: whether this screen does something with hand B; elsewhere it is kept, and not drawn. */
export function TimeBar({ owner, twoHands }) {
  useLanguage();
  const [open, setOpen] = useState(false);
  const { b: kept, ...rest } = useMoment();
  const moment = { ...rest, b: twoHands ? kept : null };
  const dragged = usePreview();
  const asked = useAsk(owner ? path("owners", owner, "times") : null, {});
  const axis = axes(asked.data);
  const place = (hand, line) => {
    if (dragged?.hand === hand && dragged.line === line) return dragged.at;
    return parsed((hand === "a" ? moment.a : moment.b)?.[line]);
  };
  const written = (hand, line) => (dragged?.hand === hand && dragged.line === line ? null : (hand === "a" ? moment.a : moment.b)?.[line]);
  const shownPast = Boolean(moment.past || (dragged?.hand === "a" && dragged.at !== null));
  useEffect(() => {
    document.documentElement.classList.toggle("past", shownPast);
    return () => document.documentElement.classList.remove("past");
  }, [shownPast]);
  if (!owner && !shownPast) return null;
  const drawn = open || shownPast || moment.b;
  return html`<section class=${`timebar ${shownPast ? "in-past" : ""}`} aria-label=${t("bar.label")}>
    <div class="timebar-lead">
      ${shownPast
        ? html`<p role="status" class="past-told"><strong class="badge">${t("past.badge")}</strong> <${Told} place=${place} axis=${axis} written=${written} /></p>
            <${Button} onClick=${backToNow}>${t("past.back")}<//>`
        : html`<${Button} kind="quiet" aria-expanded=${drawn ? "true" : "false"} onClick=${() => setOpen(!open)}>◷ ${t("bar.show")}: <strong>${t("bar.now")}</strong><//>
            <span class="muted span-told">${asked.data?.happened?.first
              ? t("bar.events", { count: number(asked.data.events), first: asked.data.happened.first.slice(0, 10), last: asked.data.happened.last.slice(0, 10) })
              : asked.data ? t("bar.none") : ""}</span>`}
      ${moment.b
        ? html`<${Button} kind="quiet" onClick=${dropB}>${t("bar.drop")}<//>`
        : kept ? html`<span class="muted" role="note">${t("bar.b.elsewhere")}</span>` : twoHands && html`<${Button} kind="quiet" onClick=${() => { setOpen(true); takeB(); }}>${t("bar.compare")}<//>`}
    </div>
    ${owner && drawn && LINES.map(
      ([line, name]) => html`<${Line} key=${line} line=${line} name=${name} axis=${axis[line]} times=${asked.data}
        counts=${asked.data?.buckets?.[line === "as_of" ? "happened" : "recorded"]}
        written=${(hand) => written(hand, line)}
        hands=${[["a", place("a", line)], ...(moment.b ? [["b", place("b", line)]] : [])]} />`,
    )}
  </section>`;
}

function Told({ place, axis, written }) {
  const told = [];
  for (const [line, word] of [["as_of", "past.happened"], ["known", "past.known"]]) {
    const at = place("a", line);
    const key = line === "as_of" && at !== null && at > axis.as_of.now ? "ahead.happened" : word;
    if (at !== null || written("a", line)) told.push(t(key, { at: shownMoment(written("a", line), at) }));
  }
  return told.join(" · ");
}

function Line({ line, name, axis, counts, hands, written }) {
  const track = useRef(null);
  const share = (at) => (at === null ? share(axis.now) : Math.max(0, Math.min(1, (at - axis.from) / (axis.to - axis.from || 1))));
  const at = (event) => {
    const box = track.current.getBoundingClientRect();
    const part = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
    const found = axis.from + part * (axis.to - axis.from);
    // The present has some room of its own, so that one can get back to it by hand.
    return Math.abs(found - axis.now) < (axis.to - axis.from) * 0.008 ? null : found;
  };
  const pressed = (event) => {
    if (event.button || event.target.closest("[role=slider]")) return;
    event.preventDefault();
    drag("a", event);
  };
  function drag(hand, event) {
    const place = track.current;
    place.setPointerCapture(event.pointerId);
    preview.set({ hand, line, at: at(event) });
    const moved = (one) => preview.set({ hand, line, at: at(one) });
    const ended = (one) => {
      place.removeEventListener("pointermove", moved);
      place.removeEventListener("pointerup", ended);
      place.removeEventListener("pointercancel", ended);
      if (one.type === "pointerup") setHand(hand, line, at(one));
      else preview.set(null);
    };
    place.addEventListener("pointermove", moved);
    place.addEventListener("pointerup", ended);
    place.addEventListener("pointercancel", ended);
  }
  return html`<div class="timeline">
    <span class="timeline-name" title=${t(`bar.${name}.hint`)}>${t(`bar.${name}`)}</span>
    <div class="track" ref=${track} onPointerDown=${pressed}>
      <${Histogram} counts=${counts} axis=${axis} />
      <span class="track-now" style=${{ left: `${share(null) * 100}%` }} aria-hidden="true"></span>
      ${axis.to > axis.now && html`<span class="track-ahead" aria-hidden="true" style=${{ left: `${share(null) * 100}%`, right: "0" }}></span>`}
      ${hands.map(([hand, shown]) => html`<${Hand} key=${hand} hand=${hand} line=${line} name=${name} at=${shown} left=${share(shown)} axis=${axis} written=${written(hand)}
        onDrag=${(event) => drag(hand, event)} />`)}
    </div>
    <span class="exacts">${hands.map(([hand, shown]) => html`<${Exact} key=${hand} hand=${hand} line=${line} name=${name} at=${shown} written=${written(hand)} two=${hands.length > 1} />`)}</span>
  </div>`;
}

function Hand({ hand, line, name, at, left, axis, written, onDrag }) {
  const timer = useRef(null);
  useEffect(() => () => {
    clearTimeout(timer.current);
    if (preview.get()?.hand === hand && preview.get().line === line) preview.set(null);
  }, []);
  const pressed = (event) => {
    const span = axis.to - axis.from;
    const from = at ?? axis.now;
    const to = {
      ArrowLeft: from - span / 100,
      ArrowDown: from - span / 100,
      ArrowRight: from + span / 100,
      ArrowUp: from + span / 100,
      PageDown: from - span / 10,
      PageUp: from + span / 10,
      Home: axis.from,
      End: null,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const bound = to === null || Math.abs(to - axis.now) < span * 0.005 ? null : Math.max(axis.from, Math.min(axis.to, to));
    preview.set({ hand, line, at: bound });
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setHand(hand, line, bound), LET_GO_MS);
  };
  const shown = at === null && !written ? t("bar.now") : shownMoment(written, at);
  return html`<span class=${`hand ${hand}`} role="slider" tabindex="0" style=${{ left: `${left * 100}%` }}
    aria-label=${t("bar.hand", { hand: hand.toUpperCase(), line: t(`bar.${name}`) })}
    aria-valuemin=${Math.round(axis.from / 1000)} aria-valuemax=${Math.round(axis.to / 1000)} aria-valuenow=${Math.round((at ?? axis.now) / 1000)} aria-valuetext=${shown}
    onKeyDown=${pressed} onPointerDown=${(event) => { if (!event.button) { event.preventDefault(); event.currentTarget.focus(); onDrag(event); } }}>${hand.toUpperCase()}</span>`;
}

/** A moment typed: an instant, a day (its end by the owner's clocks), or a position of the log. */
function Exact({ hand, line, name, at, written, two }) {
  const shown = shownMoment(written, at) ?? "";
  const change = (event) => {
    const told = event.currentTarget.value.trim();
    if (told === shown) return;
    const place = /^\d+:\d+$/.test(told) || (isDay(told) && parsed(told)) ? told : typed(told);
    if (place === undefined) event.currentTarget.value = shown;
    else setHand(hand, line, place);
  };
  return html`<span class="exact">${two && html`<b class=${`hand-name ${hand}`} aria-hidden="true">${hand.toUpperCase()}</b>`}
    <input value=${shown} onChange=${change} placeholder=${t("bar.now")} spellcheck=${false} autocomplete="off" title=${t("bar.exact")}
      aria-label=${t("bar.exact.label", { hand: hand.toUpperCase(), line: t(`bar.${name}`) })} /></span>`;
}

/** Milliseconds of `2025-04-20 08:00` or an instant with its zone; null of nothing; undefined of anything else. */
function typed(text) {
  if (!text) return null;
  const found = text.match(/^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}(?::\d{2})?)(?: ?(?:UTC|Z))?$/);
  if (found) return parsed(`${found[1]}T${found[2]}Z`) ?? undefined;
  return /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})$/.test(text) ? (parsed(text) ?? undefined) : undefined;
}

function Histogram({ counts, axis }) {
  if (!counts?.counts?.length || !counts.since) return null;
  const most = Math.max(...counts.counts, 1);
  const from = Date.parse(counts.since);
  const step = (counts.seconds || 0) * 1000;
  const place = (at) => ((at - axis.from) / (axis.to - axis.from || 1)) * 1000;
  return html`<svg class="histogram" viewBox="0 0 1000 24" preserveAspectRatio="none" aria-hidden="true">
    ${counts.counts.map((count, index) => {
      if (!count) return null;
      const tall = 3 + (Math.log1p(count) / Math.log1p(most)) * 20;
      return html`<rect x=${place(from + index * step)} width=${Math.max(place(from + step) - place(from) - 0.6, 1.6)} y=${24 - tall} height=${tall} />`;
    })}
  </svg>`;
}
