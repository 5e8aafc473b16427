/**
 * Rows without end: only those that are seen exist. Pages are asked for as they are scrolled to, and kept.
 */

import { html, useEffect, useLayoutEffect, useRef, useState } from "./dom.js";
import { Problem } from "./parts.js";
import { t } from "./words.js";

const PAGE = 100;
const BEYOND = 8;
/** Rows that are built above and below what is seen. */
const KEPT_PAGES = 30;

/**
 * @param {object} told
 * @param {string} told.of what is listed: another value begins anew
 * @param {(offset: number, limit: number, signal: AbortSignal) => Promise<{rows: any[], total: number}>} told.page
 * @param {{name: string, title: any, class?: string}[]} told.columns
 * @param {(row: any, index: number) => any[]} told.cells one for each column
 * @param {number} [told.height] of a row, in pixels
 * @param {(row: any) => void} [told.onOpen] Enter or a double click
 * @param {(row: any, event: Event) => void} [told.onPick] space
 */
export function Rows({ of, page, columns, cells, height = 44, label, onOpen, onPick, isPicked, empty, template, refreshed = 0 }) {
  const box = useRef(null);
  const pages = useRef(new Map());
  const asked = useRef(new Map());
  const [total, setTotal] = useState(null);
  const [error, setError] = useState(null);
  const [seen, setSeen] = useState({ top: 0, tall: 600 });
  const [active, setActive] = useState(0);
  const [, redraw] = useState(0);
  const turn = useRef(0);

  useEffect(() => {
    turn.current += 1;
    for (const one of asked.current.values()) one.abort();
    asked.current.clear();
    pages.current = new Map();
    setError(null);
    setTotal(null);
    setActive(0);
    if (box.current) box.current.scrollTop = 0;
    setSeen((was) => ({ ...was, top: 0 }));
    need(0);
  }, [of]);

  useEffect(() => {
    if (!refreshed) return;
    const wanted = [...new Set([first, last].map((row) => Math.floor(Math.max(row, 0) / PAGE)))];
    for (const one of asked.current.values()) one.abort();
    asked.current.clear();
    for (const one of wanted) need(one, true);
    for (const one of [...pages.current.keys()]) if (!wanted.includes(one)) pages.current.delete(one);
  }, [refreshed]);

  function need(number, anew = false) {
    if (asked.current.has(number) || (!anew && pages.current.has(number))) return;
    const leave = new AbortController();
    const now = turn.current;
    asked.current.set(number, leave);
    page(number * PAGE, PAGE, leave.signal).then(
      (answer) => {
        if (now !== turn.current) return;
        if (asked.current.get(number) !== leave) return;
        asked.current.delete(number);
        setError(null);
        pages.current.delete(number);
        pages.current.set(number, answer.rows);
        while (pages.current.size > KEPT_PAGES) pages.current.delete(pages.current.keys().next().value);
        setTotal(answer.total);
        redraw((was) => was + 1);
      },
      (refused) => {
        if (now !== turn.current || asked.current.get(number) !== leave) return;
        asked.current.delete(number);
        if (refused.name !== "AbortError") setError(refused);
      },
    );
  }

  useLayoutEffect(() => {
    const place = box.current;
    if (!place) return undefined;
    const look = () => setSeen({ top: place.scrollTop, tall: place.clientHeight });
    const watch = new ResizeObserver(look);
    watch.observe(place);
    place.addEventListener("scroll", look, { passive: true });
    return () => {
      watch.disconnect();
      place.removeEventListener("scroll", look);
    };
  }, [total === 0, error !== null && total === null]);

  const first = Math.max(0, Math.floor(seen.top / height) - BEYOND);
  const last = Math.min((total ?? 0) - 1, Math.ceil((seen.top + seen.tall) / height) + BEYOND);
  useEffect(() => {
    if (total === null) return;
    for (let number = Math.floor(first / PAGE); number <= Math.floor(last / PAGE); number += 1) need(number);
  }, [first, last, total]);

  const rowAt = (index) => pages.current.get(Math.floor(index / PAGE))?.[index % PAGE];

  function move(event) {
    const step = Math.max(1, Math.floor(seen.tall / height) - 1);
    const next = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + step,
      PageUp: active - step,
      Home: 0,
      End: total - 1,
    }[event.key];
    if (event.target !== event.currentTarget) return;
    if (next !== undefined) {
      event.preventDefault();
      const to = Math.max(0, Math.min((total ?? 1) - 1, next));
      setActive(to);
      const place = box.current;
      if (to * height < place.scrollTop) place.scrollTop = to * height;
      if ((to + 1) * height > place.scrollTop + place.clientHeight - height) place.scrollTop = (to + 2) * height - place.clientHeight;
      return;
    }
    const row = rowAt(active);
    if (!row) return;
    if (event.key === "Enter" && onOpen) {
      event.preventDefault();
      onOpen(row);
    }
    if (event.key === " " && onPick) {
      event.preventDefault();
      onPick(row, event);
    }
  }

  const again = () => {
    setError(null);
    for (let number = Math.floor(first / PAGE); number <= Math.floor(Math.max(last, 0) / PAGE); number += 1) need(number);
  };
  if (error && total === null) return html`<${Problem} error=${error} again=${again} />`;
  if (total === 0) return empty ?? html`<p class="muted">${t("rows.none")}</p>`;
  const shown = [];
  if (total !== null) for (let index = first; index <= last; index += 1) shown.push(index);
  const style = { gridTemplateColumns: template };
  return html`<${Problem} error=${error} again=${again} /><div class="rows" role="grid" aria-label=${label} aria-rowcount=${(total ?? 0) + 1} aria-colcount=${columns.length}
    aria-busy=${asked.current.size > 0} ref=${box} tabindex="0" onKeyDown=${move}
    aria-activedescendant=${total && rowAt(active) ? `row-${active}` : undefined}>
    <div role="rowgroup" class="rows-head"><div class="row head" role="row" aria-rowindex="1" style=${style}>
      ${columns.map((one) => html`<div role="columnheader" class=${one.class} aria-sort=${one.sort}>${one.title}</div>`)}
    </div></div>
    <div class="rows-space" role="rowgroup" style=${{ height: `${Math.max((total ?? 0) * height, height)}px` }}>
      ${total === null && html`<div class="row" role="row" style=${{ height: `${height}px` }}><span role="gridcell" class="loading">${t("loading")}</span></div>`}
      ${shown.map((index) => {
        const row = rowAt(index);
        const state = `row ${index === active ? "active" : ""} ${row && isPicked?.(row) ? "picked" : ""}`;
        return html`<div key=${index} id=${`row-${index}`} class=${state} role="row" aria-rowindex=${index + 2}
          aria-selected=${row && isPicked ? String(isPicked(row)) : undefined}
          style=${{ ...style, height: `${height}px`, transform: `translateY(${index * height}px)` }}
          onClick=${() => setActive(index)} onDblClick=${() => row && onOpen?.(row)}>
          ${row
            ? cells(row, index).map((cell, column) => html`<div role="gridcell" class=${columns[column].class}>${cell}</div>`)
            : html`<div role="gridcell" class="waiting" aria-colspan=${columns.length}>…</div>`}
        </div>`;
      })}
    </div>
  </div>`;
}
